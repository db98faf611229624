//! The opening of a page: what came back of what was planted.

use std::collections::BTreeMap;
use std::sync::Arc;

use loadlab::estimate::estimate;
use loadlab::model::Share;
use loadlab::record::sample::Sample;
use loadlab::report::{Context, Templates, render};

fn rendered(sample: &Sample) -> BTreeMap<String, Vec<u8>> {
    let (records, inputs) = (sample.records(), sample.inputs());
    let summary = estimate(&records, &inputs.experiment, &inputs.plan, &[]);
    let context = Context {
        experiment: &inputs.experiment,
        opened: records.opened().unwrap(),
        sessions: &records.sessions(),
        host: &inputs.host,
        lock: None,
        prose: None,
        files: &[],
        published: false,
    };
    let files = render(&Arc::new(summary), &context, &Templates::default());
    super::made::whole(&files.unwrap())
}

fn planted(percent: &[u64], noise: u64, rounds: u32) -> Sample {
    Sample {
        standards: percent.iter().copied().map(Share::percent).collect(),
        noise,
        rounds,
        ..Sample::default()
    }
}

fn part<'t>(page: &'t str, from: &str, to: &str) -> &'t str {
    let after = page.split_once(from).unwrap().1;
    after.split_once(to).unwrap().0
}

#[test]
fn a_page_opens_with_what_came_back() {
    let files = rendered(&planted(&[0, 5, 20], 5_000, 6));
    super::keep_to_look_at(&files);
    let page = super::text(&files, "report/entry.md");
    let opening = part(&page, "**Question.**", "## Finding");
    insta::assert_snapshot!("standards_opening_md", opening);
    let page = super::text(&files, "report/entry.html");
    let opening = part(&page, "<main id=\"main\">", "<section class=\"finding\"");
    insta::assert_snapshot!("standards_opening_html", opening);
    assert!(files.contains_key("report/charts/standards.svg"));
    assert!(!page.contains("No standards were planted"));
}

#[test]
fn what_did_not_come_back_is_said_as_plainly() {
    let lead = |sample: &Sample| {
        let page = super::text(&rendered(sample), "report/entry.md");
        part(&page, "**Standards.** ", "\n").to_owned()
    };
    let noisy = lead(&planted(&[0, 1], 60_000, 6));
    let few = lead(&planted(&[0, 5], 5_000, 3));
    insta::assert_snapshot!("standards_not_recovered", format!("{noisy}\n{few}"));
}

#[test]
fn a_page_without_standards_has_no_such_opening() {
    let files = rendered(&planted(&[], 5_000, 6));
    let page = super::text(&files, "report/entry.md");
    assert!(page.contains("No standards were planted in this run"));
    assert!(!page.contains("**Standards.**"));
    assert!(!files.contains_key("report/charts/standards.svg"));
}
