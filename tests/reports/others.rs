//! Texts that others wrote, put wherever a text can stand: none becomes markup, none reaches a page alive.

use std::collections::BTreeMap;

use loadlab::model::Known;
use loadlab::model::derived::DerivedRule;
use loadlab::model::experiment::{Author, OrderRule};
use proptest::prelude::*;

use super::made::Made;

const NASTY: [&str; 13] = [
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "' onmouseover='alert(1)",
    "\u{1b}[31mred\u{1b}[0m\u{7}",
    "a\u{202e}b\u{2066}c\u{200b}",
    "[click](javascript:alert(1))",
    "![x](https://evil.example/x.png)",
    "`code` *em* __strong__ ~~gone~~ | cell",
    "# heading\n\n- item\n\n1. first",
    "=HYPERLINK(\"https://evil.example\")",
    "</svg></style></title><!--",
    "{{ value() }}{% include 'x' %}{# gone",
    "&lt;b&gt; $x^2$ :smile: <https://evil.example>",
];

/// A made-up run in which every text that is no template and no name is this one.
fn with(text: &str) -> Made {
    let mut made = Made::new();
    let own = || text.to_owned();
    let page = &mut made.experiment.page;
    (page.title, page.question, page.programme) = (own(), own(), Some(own()));
    page.authors = vec![Author {
        name: own(),
        id: Some(own()),
    }];
    page.technologies = vec![own(), own()];
    page.licence = Some(own());
    page.results[0].id = own();
    page.results[0].title = own();
    for candidate in made.experiment.candidates.values_mut() {
        candidate.title = own();
        candidate.definition.departures = vec![loadlab::model::candidate::Departure {
            setting: own(),
            default: own(),
            value: own(),
            because: own(),
        }];
    }
    made.experiment
        .scenarios
        .values_mut()
        .for_each(|it| it.title = own());
    made.experiment
        .phases
        .values_mut()
        .for_each(|it| it.title = own());
    made.experiment.order.rule = OrderRule::Random;
    records(&mut made, text);
    numbers(&mut made, text);
    made
}

fn records(made: &mut Made, text: &str) {
    let own = || text.to_owned();
    made.opened.version = own();
    if let Known::Value(source) = &mut made.opened.source {
        source.repository = Some(own());
        source.commit = own();
    }
    for session in &mut made.sessions {
        session.generator.version = own();
        session.engines.values_mut().for_each(|it| {
            it.cpu_source = own();
            it.enforces.memory = Known::Absent(own());
        });
    }
    made.host.cpu_model = Known::Value(own());
    made.host.kernel = own();
    made.host.command_line = Known::Value(own());
    made.host.turbo = Known::Absent(own());
    if let Some(lock) = &mut made.lock {
        let pin = lock.programs.values().next().cloned();
        lock.programs = pin
            .into_iter()
            .map(|mut pin| {
                pin.version = Some(own());
                (own(), pin)
            })
            .collect();
    }
    made.files[1].path = format!("raw/{text}");
}

fn numbers(made: &mut Made, text: &str) {
    let own = || text.to_owned();
    let summary = &mut made.summary;
    for estimate in &mut summary.estimates {
        estimate.because = Some(own());
        estimate.values[0].value = None;
        estimate.values[0].because = Some(own());
        if let Some(interval) = &mut estimate.interval {
            interval.kind = own();
        }
    }
    for cell in &mut summary.cells {
        if let Some(requests) = &mut cell.requests {
            requests.errors = BTreeMap::from([(own(), 2)]);
        }
    }
    summary.limits[0].because = vec![own()];
    summary.limits[0].cpus = Some(own());
    summary.machine_counters = own();
    summary.estimates[0].value = None;
    summary.comparisons[0].because = Some(own());
    summary.derived[0].title = own();
    summary.derived[0].rows[0].note = Some(own());
    if let DerivedRule::Formula { formula, .. } = &mut summary.derived[0].rule {
        *formula = own();
    }
    summary.probe.resolves_because = own();
    summary.exclusions[0].evidence = own();
    summary.exclusions[0].by = Some(own());
    summary.exclusions[0].on = Some(own());
    summary.caveats.iter_mut().for_each(|it| it.detail = own());
    summary.counters.values_mut().for_each(|it| *it = own());
}

/// How often each element with its attributes stands in a page, whatever the attributes' values.
fn elements(page: &str) -> BTreeMap<String, usize> {
    let element = regex::Regex::new(r#"<[!/]?[A-Za-z-](?:[^"'>]|"[^"]*"|'[^']*')*>|<!--"#).unwrap();
    let value = regex::Regex::new(r#""[^"]*"|'[^']*'"#).unwrap();
    let mut found = BTreeMap::new();
    for it in element.find_iter(page) {
        *found
            .entry(value.replace_all(it.as_str(), "").into_owned())
            .or_insert(0) += 1;
    }
    found
}

/// How often each construct stands in a Markdown page, whatever its words.
fn constructs(page: &str) -> BTreeMap<String, usize> {
    use pulldown_cmark::{Event, Options, Parser};
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_MATH
        | Options::ENABLE_FOOTNOTES;
    let mut found = BTreeMap::new();
    for event in Parser::new_ext(page, options) {
        let kind = match event {
            Event::Text(_) => continue,
            Event::Start(pulldown_cmark::Tag::Image { dest_url, .. }) => {
                format!("image {dest_url}")
            }
            Event::Start(tag) => format!("{:?}", tag.to_end()),
            Event::InlineHtml(html) | Event::Html(html) => {
                html.chars().take_while(|it| *it != '-').collect()
            }
            Event::Code(code) => format!("code {code}"),
            other => format!("{:?}", std::mem::discriminant(&other)),
        };
        *found.entry(kind).or_insert(0) += 1;
    }
    found
}

#[test]
fn no_text_becomes_markup_in_any_page() {
    let plain = with("x").render().unwrap();
    for nasty in NASTY {
        let files = with(nasty).render().unwrap();
        assert_eq!(
            files.keys().collect::<Vec<_>>(),
            plain.keys().collect::<Vec<_>>()
        );
        for (path, bytes) in &files {
            let (page, same) = (
                String::from_utf8_lossy(bytes),
                String::from_utf8_lossy(&plain[path]),
            );
            if path.ends_with(".html") || path.ends_with(".svg") {
                assert_eq!(elements(&page), elements(&same), "{path} with {nasty:?}");
            }
            if path.ends_with(".md") {
                assert_eq!(
                    constructs(&page),
                    constructs(&same),
                    "{path} with {nasty:?}"
                );
            }
            if path != "summary.json" {
                let alive = page.chars().find(|it| {
                    *it != '\n' && (it.is_control() || loadlab::model::text::is_treacherous(*it))
                });
                assert_eq!(alive, None, "{path} with {nasty:?}");
            }
        }
    }
}

#[test]
fn a_spreadsheet_runs_nothing_of_a_table() {
    let files = with("=HYPERLINK(\"https://evil.example\")")
        .render()
        .unwrap();
    for (path, bytes) in files.iter().filter(|(path, _)| path.ends_with(".csv")) {
        let mut table = csv::Reader::from_reader(bytes.as_slice());
        for row in table.records() {
            for cell in &row.unwrap() {
                let runs = cell.starts_with(['=', '+', '-', '@']) && cell.parse::<f64>().is_err();
                assert!(!runs, "{path}: {cell}");
            }
        }
    }
}

#[test]
fn metadata_stays_readable_by_its_readers() {
    for nasty in NASTY {
        let files = with(nasty).render().unwrap();
        let metadata: serde_json::Value =
            serde_json::from_slice(&files["ro-crate-metadata.json"]).unwrap();
        assert_eq!(
            metadata["@graph"][0]["conformsTo"]["@id"],
            "https://w3id.org/ro/crate/1.1"
        );
        let citation: serde_json::Value = yaml_serde::from_slice(&files["CITATION.cff"]).unwrap();
        assert_eq!(citation["cff-version"], "1.2.0");
        assert_eq!(citation["authors"].as_array().unwrap().len(), 1);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn any_numbers_and_any_gaps_are_printed_plainly(
        numbers in proptest::collection::vec(proptest::option::of(-1e18_f64..1e18), 8..40),
    ) {
        use loadlab::estimate::summary::Decimal;
        let mut made = Made::new();
        let mut next = numbers.iter().cycle();
        let mut number = || next.next().copied().flatten().map(Decimal::from);
        for it in &mut made.summary.estimates {
            it.value = number();
            it.at_most = number();
            it.min = number();
            it.max = number();
            it.median = number();
            it.achieved = number();
            it.with_everything = number();
            it.values.iter_mut().for_each(|it| it.value = number());
            if let (Some(interval), Some(low), Some(high)) = (&mut it.interval, number(), number()) {
                (interval.low, interval.high) = (low, high);
            }
        }
        for it in &mut made.summary.comparisons {
            (it.ratio, it.compare_value, it.p_value) = (number(), number(), number());
        }
        for it in &mut made.summary.timeline {
            (it.cpu_per_request, it.p99) = (number(), number());
        }
        for it in &mut made.summary.cells {
            (it.candidate_busy, it.foreign_cores, it.steal) = (number(), number(), number());
        }
        let files = made.render().unwrap();
        let page = String::from_utf8(files["report/entry.html"].clone()).unwrap();
        for never in ["NaN", ">inf", "\u{2212}0<"] {
            prop_assert!(!page.contains(never), "{}", never);
        }
    }
}
