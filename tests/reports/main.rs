//! The report of a whole made-up run: its bytes, what it must say, and what no text may become.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod checklist;
mod made;
mod observed;
mod others;
mod planted;

use std::collections::BTreeMap;

use loadlab::report::Templates;
use made::Made;

fn text(files: &BTreeMap<String, Vec<u8>>, path: &str) -> String {
    String::from_utf8(files[path].clone()).unwrap()
}

/// Keeps the rendered files where a person can look at them, when asked to by the environment.
fn keep_to_look_at(files: &BTreeMap<String, Vec<u8>>) {
    let Some(folder) = std::env::var_os("LOADLAB_LOOK") else {
        return;
    };
    for (path, bytes) in files {
        let path = std::path::Path::new(&folder).join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
}

#[test]
fn the_files_of_a_whole_run() {
    let files = Made::new().render().unwrap();
    keep_to_look_at(&files);
    for path in [
        "report/entry.md",
        "report/entry.html",
        "report/charts/fixed-rate.cpu-per-request.svg",
        "report/charts/ceiling.page.achieved.svg",
        "report/tables/estimates.csv",
        "report/tables/comparisons.csv",
        "CITATION.cff",
        "ro-crate-metadata.json",
    ] {
        insta::assert_snapshot!(path.replace('/', "_"), text(&files, path));
    }
    let names: Vec<&String> = files.keys().collect();
    insta::assert_debug_snapshot!("names", names);
}

#[test]
fn two_renders_give_the_same_bytes() {
    assert_eq!(Made::new().render().unwrap(), Made::new().render().unwrap());
}

#[test]
fn a_page_loads_and_runs_nothing() {
    let files = Made::new().render().unwrap();
    for (path, bytes) in &files {
        assert!(!bytes.contains(&b'\r'), "{path}");
        assert_eq!(bytes.last(), Some(&b'\n'), "{path}");
    }
    let page = text(&files, "report/entry.html");
    for loading in [
        "<script", "<link", "<img", "<iframe", "src=", "url(", "@import", "onload", "<base",
    ] {
        assert!(!page.contains(loading), "{loading}");
    }
    for (path, bytes) in files.iter().filter(|(path, _)| path.ends_with(".svg")) {
        let drawing = String::from_utf8(bytes.clone()).unwrap();
        assert!(
            !drawing.contains(" id=") && !drawing.contains("href"),
            "{path}"
        );
    }
}

#[test]
fn every_part_of_the_page_is_there() {
    let files = Made::new().render().unwrap();
    for path in ["report/entry.md", "report/entry.html"] {
        let page = text(&files, path);
        let parts = [
            "Measurement",
            "What gzip costs nginx",
            "How much CPU",
            "Finding",
            "Confidence: low",
            "Measured on",
            "Status at publication",
            "Programme",
            "Environment",
            "Technologies",
            "To reproduce",
            "Source code",
            "Raw data",
            "Licence",
            "cannot be told apart",
            "How it was measured",
            "Limits and honesty notes",
            "Caveats that loadlab adds",
            "Exclusions and blocks measured again",
            "Open questions",
            "How to cite",
            "Every measurement",
            "The probe",
            "The machine",
            "With and without exclusions",
            "True coverage",
            "Who ran out",
            "Generator busy",
            "Foreign CPU",
            "Steal",
            "Softirq per request",
            "Burst",
            "Not steady",
            "Largest median",
            "Best single repetition",
            "corrected for 2 comparisons",
            "primary",
            "Core split",
            "Interrupts served",
            "Network",
            "Database maintenance",
            "before the data",
            "After the data",
            "Counters of the candidate",
            "at least",
            "5 of 6",
            "unknown",
            "calculated",
        ];
        for part in parts {
            assert!(page.contains(part), "{path} has no `{part}`");
        }
    }
}

#[test]
fn what_is_not_written_yet_is_said() {
    let mut made = Made::new();
    made.prose = None;
    made.lock = None;
    made.opened.lock = None;
    made.experiment.page.finding = None;
    made.experiment.page.limits.clear();
    made.experiment.page.questions.clear();
    made.experiment.page.licence = None;
    made.summary.exclusions.clear();
    made.summary.timeline.clear();
    made.summary.complete = false;
    let page = text(
        &made.render_with(&Templates::default(), false).unwrap(),
        "report/entry.md",
    );
    for said in [
        "draft of a run that is not complete",
        "Draft, not complete",
        "has not written a finding yet",
        "has not written any limits yet",
        "The author names none",
        "not named yet: not publishable",
        "Nothing was excluded",
        "Nothing was measured yet",
        "measured without a lock",
    ] {
        assert!(page.contains(said), "{said}");
    }
}

#[test]
fn an_experiment_brings_its_own_templates() {
    let made = Made::new();
    let own = |name: &str, text: &str| {
        Templates::with(&BTreeMap::from([(name.to_owned(), text.to_owned())]))
    };
    let files = made
        .render_with(&own("page.md.j2", "only {{ head.title }}\n"), true)
        .unwrap();
    assert_eq!(
        text(&files, "report/entry.md"),
        "only What gzip costs nginx\n"
    );
    let fault = |name: &str, text: &str| {
        made.render_with(&own(name, text), true)
            .unwrap_err()
            .to_string()
    };
    let faults = [
        fault("page.md.j2", "a\n{{ head.titel }}"),
        fault("page.html.j2", "{{ head.draft }}"),
        fault("page.md.j2", "{% for it in phases %}"),
        fault("chart.svg.j2", "{{ 1 + chart.width }}"),
    ];
    insta::assert_snapshot!("faults_of_templates", without_debug(&faults.join("\n")));
}

#[test]
fn faults_of_the_authors_words_say_where_and_what_instead() {
    let fault = |prose: &str| {
        let mut made = Made::new();
        made.prose = Some(prose.to_owned());
        made.render().unwrap_err().to_string()
    };
    let faults = [
        fault("one\ntwo 64 µs"),
        fault("{{ value(candidate=\"plane\", metric=\"p99\") }}"),
        fault("{{ value(candidate=\"plain\", metric=\"achieved\") }}"),
        fault("{{ value(metric=\"cpu\") }}"),
        fault("{{ value(metric=\"p99\", candidat=\"plain\") }}"),
        fault("{{ ratio(compare=\"level-6\", against=\"nginx\", metric=\"cpu_per_request\") }}"),
        fault("{{ derived(\"price\") }}"),
        fault("{{ planned(\"speed\", phase=\"ceiling\") }}"),
        fault("{{ 2 * 3 }}"),
        fault("{{ nothing }}"),
        fault("[a](javascript:alert(1))"),
        fault("![a](https://example.org/a.png)"),
    ];
    insta::assert_snapshot!("faults_of_words", without_debug(&faults.join("\n")));
}

#[test]
fn a_long_run_gives_a_page_that_can_be_read() {
    let mut made = Made::new();
    let row = made.summary.timeline[0].clone();
    made.summary.timeline = vec![row; 100_000];
    for estimate in &mut made.summary.estimates {
        let repetition = estimate.values[0].clone();
        estimate.values = vec![repetition; 2_000];
    }
    let files = made.render().unwrap();
    assert!(
        files["report/entry.html"].len() < 1_000_000,
        "{}",
        files["report/entry.html"].len()
    );
    assert!(text(&files, "report/entry.html").contains("The first 150 of 100,000 measurements"));
    assert_eq!(
        text(&files, "report/tables/timeline.csv").lines().count(),
        100_001
    );
}

/// From records to pages with nothing made up in between.
#[test]
fn a_run_of_records_becomes_a_report() {
    let sample = loadlab::record::sample::Sample::default().with_ceiling(&[4, 16]);
    let (records, inputs) = (sample.records(), sample.inputs());
    let summary = loadlab::estimate::estimate(&records, &inputs.experiment, &inputs.plan, &[]);
    let summary = std::sync::Arc::new(summary);
    let context = loadlab::report::Context {
        experiment: &inputs.experiment,
        opened: records.opened().unwrap(),
        sessions: &records.sessions(),
        host: &inputs.host,
        lock: None,
        prose: Some("One {{ value(candidate=\"gzip\", phase=\"fixed-rate\", metric=\"p50\") }}."),
        files: &[],
        published: false,
    };
    let render = |summary| {
        let files = loadlab::report::render(summary, &context, &Templates::default());
        made::whole(&files.unwrap())
    };
    let files = render(&summary);
    let read: loadlab::estimate::Summary = serde_json::from_slice(&files["summary.json"]).unwrap();
    assert_eq!(read, *summary);
    let again = render(&std::sync::Arc::new(read));
    assert_eq!(
        files, again,
        "a summary that was read back gives the same bytes"
    );
}

/// The template engine names an undefined value in builds with debug assertions only.
fn without_debug(text: &str) -> String {
    text.lines()
        .map(|line| match line.split_once(": undefined value: ") {
            Some((before, _)) => format!("{before}: undefined value"),
            None => line.to_owned(),
        })
        .collect::<Vec<_>>()
        .join("\n")
}
