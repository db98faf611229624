//! A stranger's template in place of the page's, over a small report: it prints, or is refused; it
//! reads nothing, it ends (fuel), and stays small. 20 s and 1 GB an input.

#![no_main]

use std::collections::BTreeMap;
use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use loadlab::estimate::Summary;
use loadlab::model::Experiment;
use loadlab::model::facts::HostFacts;
use loadlab::record::event::{Opened, Session};
use loadlab::record::sample::Sample;
use loadlab::report::{Context, Templates, render};

struct Small {
    experiment: Experiment,
    summary: Summary,
    opened: Opened,
    sessions: Vec<Session>,
    host: HostFacts,
}

fn small() -> &'static Small {
    static SMALL: OnceLock<Small> = OnceLock::new();
    SMALL.get_or_init(|| {
        let sample = Sample {
            rounds: 1,
            ..Sample::default()
        };
        let (records, experiment) = (sample.records(), sample.experiment());
        Small {
            summary: loadlab::estimate::estimate(&records, &experiment, &sample.plan(), &[]),
            opened: records.opened().expect("a sample was opened").clone(),
            sessions: records.sessions().into_iter().cloned().collect(),
            host: sample.inputs().host,
            experiment,
        }
    })
}

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let small = small();
    let sessions: Vec<&Session> = small.sessions.iter().collect();
    let context = Context {
        experiment: &small.experiment,
        opened: &small.opened,
        sessions: &sessions,
        host: &small.host,
        lock: None,
        prose: Some(text),
        files: &[],
        published: false,
    };
    let own = BTreeMap::from([
        ("page.html.j2".to_owned(), text.to_owned()),
        ("page.md.j2".to_owned(), text.to_owned()),
    ]);
    if let Err(error) = render(&small.summary, &context, &Templates::with(&own)) {
        loadlab_fuzz::said(&error.to_string());
    }
});
