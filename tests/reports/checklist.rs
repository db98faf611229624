//! What a page must carry, line by line: the rule, and the words by which a made entry shows it.
//!
//! A line stands for a sentence of METHODOLOGY.md or of the description of the page. Who takes one out
//! takes a promise back.

use super::made::Made;
use super::text;

/// The rule, and what the page says for it. Words stand in both outputs.
const LINES: &[(&str, &[&str])] = &[
    ("kind", &["Measurement"]),
    ("question", &["How much CPU does one 20 KB page need"]),
    ("finding", &["Level 6 costs"]),
    (
        "confidence and the reason for it",
        &["Confidence: low", "one machine with two cores"],
    ),
    (
        "method in a paragraph",
        &["candidates (gzip off, gzip level 1 and gzip level 6) answered"],
    ),
    (
        "headline metrics",
        &["CPU per request: gzip level 6 / gzip level 1"],
    ),
    ("measured on", &["measured on 2026-11-30", "Measured on"]),
    ("status at publication", &["Current at publication"]),
    ("programme", &["Programme", "Service and load"]),
    ("technologies", &["Technologies", "nginx, gzip"]),
    (
        "to reproduce",
        &["loadlab reproduce results/", "loadlab run experiments/"],
    ),
    ("source with its commit", &["Source code", "commit "]),
    ("raw data", &["Raw data", "records.jsonl and raw/"]),
    ("licence", &["CC-BY-4.0"]),
    (
        "environment from what was pinned and observed",
        &[
            "Hardware",
            "System",
            "Programs",
            "Load generator",
            "Engine",
            "Core split",
            "Budgets",
            "Network",
            "Repetitions",
        ],
    ),
    (
        "limits and honesty notes, the tool adds its own",
        &[
            "Limits and honesty notes",
            "One small virtual machine",
            "Caveats that loadlab adds",
        ],
    ),
    ("open questions", &["Does a dictionary change the order?"]),
    (
        "how to cite",
        &["How to cite", "Data set, entry", "CITATION.cff"],
    ),
    (
        "a named result has a heading of its own, with setup, measure, fix and state",
        &[
            "Level 6 saves little",
            "nginx with one worker",
            "State: shown",
            "Use level 1.",
            "result-level-six",
        ],
    ),
    (
        "smallest resolvable ratio with its evidence",
        &[
            "closer than a ratio of",
            "cannot be told apart",
            "Evidence: ",
        ],
    ),
    (
        "planned, kept, excluded, tried again for each candidate",
        &["Planned", "Kept", "Attempts excluded", "Tried again"],
    ),
    (
        "the result with and without exclusions",
        &["With and without exclusions", "With everything kept"],
    ),
    (
        "every exclusion with evidence and who decided",
        &["What does not count", "Evidence or reason", "Decided by"],
    ),
    ("held k of n", &["6 of 6", "5 of 6", "1 not held"]),
    (
        "every repetition in time order",
        &[
            "Every repetition, in the order of time",
            "Every measurement in the order of time",
        ],
    ),
    (
        "n, kind of interval, true coverage",
        &[
            "Kind of interval: order statistics of the median",
            "True coverage",
            "96.87%",
        ],
    ),
    (
        "number of comparisons, which is primary, correction",
        &[
            "comparisons. The primary one, named before any data",
            "corrected for 2 comparisons",
            "exact two-sample ranks",
        ],
    ),
    (
        "absolute values beside every ratio, achieved rate beside every CPU cost",
        &["at 1,000/s against "],
    ),
    (
        "idle CPU stands beside CPU per request and is not subtracted",
        &["idle before: ", "it is not subtracted"],
    ),
    (
        "who ran out, in each measurement",
        &["Who ran out", "nobody"],
    ),
    (
        "utilisation of generator and candidate",
        &["Candidate busy", "Generator busy"],
    ),
    ("burst and connections", &["Burst", "Connections"]),
    (
        "the probe's readings and the fixed-work range",
        &[
            "The reference nginx on the candidate",
            "Fixed work on CPU 0",
            "Lowest",
            "Highest",
        ],
    ),
    (
        "the probe is a gate, never a divisor",
        &["a gate, never a divisor"],
    ),
    (
        "foreign CPU, as bounds where counters are not exact",
        &["Foreign CPU", "between 0.012 and 0.061"],
    ),
    (
        "steal that a virtual machine never showed is unknown, and said",
        &[
            "Steal is unknown on a virtual machine that never showed any",
            "steal_unknown",
        ],
    ),
    (
        "source, granularity and uncertainty of counters",
        &[
            "Counters of the candidate",
            "cgroup v2 cpu.stat",
            "Counters of the machine",
            "read within 40000 ns",
        ],
    ),
    (
        "softirq per request, and whether interrupt time is charged apart",
        &["Softirq per request", "Interrupt time charged apart"],
    ),
    (
        "network mode, core split, sharing, interrupts",
        &[
            "Network",
            "Core split",
            "is shared",
            "Interrupts served since boot",
        ],
    ),
    ("steady or not", &["Not steady", "1 of 6"]),
    ("database maintenance", &["Database maintenance"]),
    (
        "what was decided before the data, and what after",
        &["Lock (every input), before the data", "After the data"],
    ),
    (
        "planned, sent, answered by status, given up, errors, late",
        &[
            "what became of every request",
            "200: ",
            "503: 3",
            "Given up",
            "connection closed before message completed",
            "at most 4",
        ],
    ),
    ("a number obtained by subtraction is marked", &["derived"]),
    (
        "an independent witness checks the answers",
        &["Independent count"],
    ),
    (
        "answers in total over the run",
        &["Answers in total", "5,200,001 in all windows"],
    ),
    (
        "memory: samples at a stated period, kernel and sockets beside",
        &[
            "Peak of samples",
            "Mean of samples",
            "once a second",
            "Kernel and sockets",
        ],
    ),
    (
        "the kernel's own peak is printed as what it is",
        &["own peak includes page cache and start-up"],
    ),
    (
        "limits as read back from the kernel",
        &["Limits as read back from the kernel", "edges", "256"],
    ),
    (
        "a response time at the rig's own floor is printed as such",
        &["own floor"],
    ),
    (
        "at a ceiling whose generator ran out the value is at least",
        &["at least"],
    ),
    (
        "the load point with the largest median and the best single value",
        &["Largest median", "Best single repetition"],
    ),
    (
        "each declared number is marked, with its assumption",
        &["How sure", "calculated", "Assumption"],
    ),
    (
        "latency of a rate that was not held is queueing",
        &["latency is queueing and is not printed"],
    ),
    (
        "what is watched in every window",
        &[
            "Context switches",
            "Stalled for a CPU",
            "Pages swapped",
            "Retransmitted",
            "Listen overflows",
            "Throttled",
        ],
    ),
    (
        "the machine",
        &[
            "Hyper-thread siblings",
            "Frequency governor",
            "Turbo",
            "Kernel command line",
            "Timer",
            "Control groups",
            "Virtualisation",
            "Clock source",
            "Power",
        ],
    ),
    (
        "how much of the wall time was load",
        &["Where the time went", "of load ("],
    ),
    (
        "thresholds, fixed before any data",
        &["Thresholds, fixed before any data"],
    ),
    ("what a body check cannot see", &["not one by one"]),
    ("seed of the order", &["; seed "]),
];

/// Lines of the list whose words are not on a page.
fn missing(page: &str) -> Vec<String> {
    let page = page.replace("&#39;", "'").replace('\\', "");
    let absent = |(rule, words): &(&str, &[&str])| -> Vec<String> {
        words
            .iter()
            .filter(|word| !page.contains(**word))
            .map(|word| format!("{rule}: `{word}`"))
            .collect()
    };
    LINES.iter().flat_map(absent).collect()
}

#[test]
fn each_promise_stands_on_the_page() {
    let files = Made::new().render().unwrap();
    for path in ["report/entry.md", "report/entry.html"] {
        assert_eq!(missing(&text(&files, path)), Vec::<String>::new(), "{path}");
    }
}

#[test]
fn accepted_of_attempted_and_what_was_not_accepted() {
    let mut made = Made::new();
    let phase = made.experiment.phases.values_mut().next().unwrap();
    phase.accept = Some(loadlab::model::phase::Accept { held: true });
    for cell in &mut made.summary.cells {
        if cell.candidate.as_str() == "level-6" && cell.accepted == 6 {
            cell.accepted = 5;
        }
    }
    for it in &mut made.summary.estimates {
        it.values[0].accepted = it.candidate.as_str() != "level-6";
    }
    for path in ["report/entry.md", "report/entry.html"] {
        let page = text(&made.render().unwrap(), path);
        assert!(page.contains("accepted 5 of 6 attempted"), "{path}");
        assert!(page.contains("accepted 6 of 7 attempted"), "{path}");
        let note = "A repetition in brackets was kept but does not enter";
        assert!(page.contains(note), "{path}");
    }
}

/// The answer, then how sure, then tables, then method.
#[test]
fn the_parts_stand_in_the_order_in_which_they_are_read() {
    let page = text(&Made::new().render().unwrap(), "report/entry.md");
    let parts = [
        "# What gzip costs nginx",
        "## Finding",
        "## Headline metrics",
        "## What this run resolves",
        "## Ratios",
        "## Declared numbers",
        "## Results by name",
        "## Limits and honesty notes",
        "## Exclusions and blocks measured again",
        "## Open questions",
        "## How it was measured",
        "## Every measurement",
        "## The probe",
        "## Environment",
        "## About this entry",
        "## To reproduce",
        "## How to cite",
    ];
    let places: Vec<Option<usize>> = parts.iter().map(|it| page.find(it)).collect();
    assert!(places.iter().all(Option::is_some), "{places:?}");
    assert!(places.is_sorted(), "{places:?}");
}
