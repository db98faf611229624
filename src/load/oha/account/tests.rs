//! Each account is made from what the real generator wrote; see `tests/data/oha/README.md`.

use proptest::prelude::*;

use super::*;
use crate::model::account::BoundRequest;
use crate::model::{LoadPoint, Nanoseconds, Rate};

fn shot(at: &str, duration: &str, connections: u32) -> Shot {
    Shot {
        request: BoundRequest {
            method: "GET".to_owned(),
            path: "/".to_owned(),
            headers: BTreeMap::new(),
            body: None,
        },
        at: at.parse().unwrap(),
        connections,
        duration: duration.parse().unwrap(),
        timeout: Nanoseconds::seconds(1),
        threads: 1,
        keep_requests: false,
        status: 200,
        quantiles: vec!["p98".parse().unwrap()],
    }
}

fn keeping(at: &str, duration: &str, connections: u32) -> Shot {
    Shot {
        keep_requests: true,
        ..shot(at, duration, connections)
    }
}

fn bytes(file: &str) -> Option<Vec<u8>> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/oha/");
    std::fs::read(format!("{folder}{file}")).ok()
}

fn raw(name: &str) -> RawOutput {
    let result = bytes(&format!("{name}.json")).map(|bytes| (RESULT_FILE.to_owned(), bytes));
    let kept = bytes(&format!("{name}.requests.csv.gz"));
    let kept = kept.map(|bytes| (REQUESTS_FILE.to_owned(), bytes));
    result.into_iter().chain(kept).collect()
}

fn shown(name: &str, shot: &Shot) -> String {
    match account(&raw(name), shot) {
        Ok(account) => serde_json::to_string_pretty(&account).unwrap(),
        Err(fault) => fault,
    }
}

macro_rules! accounts {
    ($($test:ident: $file:literal, $shot:expr;)*) => {$(
        #[test]
        fn $test() {
            insta::assert_snapshot!(shown($file, &$shot));
        }
    )*};
}

accounts! {
    open_loop: "open", shot("1000/s", "2s", 10);
    open_loop_kept: "kept", keeping("1000/s", "500ms", 10);
    closed_loop: "closed", shot("16", "1s", 16);
    closed_loop_kept: "kept-closed", keeping("2", "50ms", 2);
    one_answer: "one", shot("10/s", "100ms", 1);
    all_answers_500: "all-500", shot("200/s", "1s", 10);
    answers_without_body: "no-body", shot("200/s", "1s", 10);
    only_timeouts: "timeouts", shot("10/s", "2s", 4);
    only_timeouts_kept: "kept-timeouts", keeping("4/s", "1s", 2);
    rate_not_held: "not-held", shot("40/s", "2s", 1);
    rate_not_held_kept: "kept-not-held", keeping("40/s", "2s", 1);
    connections_refused: "refused", shot("50/s", "1s", 4);
    interrupted_open_loop: "interrupted-open", shot("200/s", "5s", 10);
    interrupted_closed_loop: "interrupted-closed", shot("4", "5s", 4);
    terminated: "terminated", shot("4", "5s", 4);
    never_written: "none", shot("4", "5s", 4);
    requests_not_kept: "open", keeping("1000/s", "2s", 10);
}

/// The bounds that printed percentiles give hold what every kept request shows.
#[test]
fn bounds_hold_the_exact_values() {
    for (name, at, duration, connections) in [
        ("kept", "1000/s", "500ms", 10),
        ("kept-not-held", "40/s", "2s", 1),
        ("kept-closed", "2", "50ms", 2),
    ] {
        let exact = account(&raw(name), &keeping(at, duration, connections)).unwrap();
        let bounds = account(&raw(name), &shot(at, duration, connections)).unwrap();
        let late = match (exact.late, bounds.late) {
            (Late::Exactly(exact), Late::AtMost(most) | Late::Exactly(most)) => exact <= most,
            _ => false,
        };
        assert!(late, "{name}: {:?} and {:?}", exact.late, bounds.late);
        for (quantile, value) in &exact.latency {
            let bound = &bounds.latency[quantile];
            let holds = match (value, bound) {
                (LatencyValue::Exactly(value), LatencyValue::Exactly(bound)) => value == bound,
                (LatencyValue::Exactly(value), LatencyValue::Between(low, high)) => {
                    (low..=high).contains(&value)
                }
                (LatencyValue::Absent(_), LatencyValue::Absent(_)) => true,
                _ => false,
            };
            assert!(holds, "{name} {quantile}: {value:?} and {bound:?}");
        }
    }
}

/// The text of a real result with one part replaced.
fn changed(from: &str, to: &str) -> RawOutput {
    let text = String::from_utf8(bytes("open.json").unwrap()).unwrap();
    assert!(text.contains(from), "{from}");
    let text = text.replacen(from, to, 1);
    RawOutput::from([(RESULT_FILE.to_owned(), text.into_bytes())])
}

#[test]
fn a_result_that_cannot_be_is_refused() {
    let text = String::from_utf8(bytes("open.json").unwrap()).unwrap();
    let total = "\"total\": 2.000908491";
    let status = "\"200\": 2000";
    let cut = RawOutput::from([(
        RESULT_FILE.to_owned(),
        text.as_bytes()[..text.len() / 2].to_vec(),
    )]);
    let twice = RawOutput::from([(RESULT_FILE.to_owned(), text.repeat(2).into_bytes())]);
    let deep = RawOutput::from([(RESULT_FILE.to_owned(), b"[".repeat(1 << 20))]);
    let large = RawOutput::from([(RESULT_FILE.to_owned(), b" ".repeat(5 << 20))]);
    let cases = [
        cut,
        twice,
        deep,
        large,
        RawOutput::from([(RESULT_FILE.to_owned(), b"\xff\x1b[31m".to_vec())]),
        RawOutput::from([(RESULT_FILE.to_owned(), b"NaN".to_vec())]),
        changed("\"metrics\"", "\"measures\""),
        changed(total, "\"total\": null"),
        changed(total, "\"total\": NaN"),
        changed(total, "\"total\": -2.5"),
        changed(total, "\"total\": 1e400"),
        changed(total, "\"total\": 1.999999999"),
        changed(total, "\"total\": 13.1"),
        changed(total, "\"total\": \"\\u001b[31m\""),
        changed(status, "\"200\": 1999"),
        changed(status, "\"200\": 2000.0"),
        changed(status, "\"200\": 99999999999999999999"),
        changed(status, "\"200\": 18446744073709551615, \"500\": 1"),
        changed(status, "\"2000\": 2000"),
        changed("\"totalData\": 128000", "\"totalData\": 127999"),
        changed(
            "\"errorDistribution\": {}",
            "\"errorDistribution\": {\"x\": 2}",
        ),
        changed("\"p99.9\"", "\"p99.8\""),
        changed("\"p50\": 0.000052057", "\"p50\": 5.2057"),
        changed("\"slowest\": 0.001076696", "\"slowest\": null"),
    ];
    let faults = cases.map(|raw| account(&raw, &shot("1000/s", "2s", 10)).unwrap_err());
    insta::assert_snapshot!(faults.join("\n"));
}

#[test]
fn kept_requests_that_contradict_the_result_are_refused() {
    let good = raw("kept");
    let shot = keeping("1000/s", "500ms", 10);
    let answered = account(&good, &shot).unwrap().answered.get();
    let kept = requests::read(&good[REQUESTS_FILE], answered).unwrap();
    let changes: [fn(&mut Vec<KeptRequest>); 5] = [
        |kept| kept.truncate(kept.len() - 1),
        |kept| kept[7].status = 500,
        |kept| kept[7].body_bytes += 1,
        |kept| kept[7].ended_ns = kept[7].released_ns - 1,
        |kept| kept[7].ended_ns = u64::MAX,
    ];
    let faults = changes.map(|change| {
        let mut kept = kept.clone();
        change(&mut kept);
        let mut raw = good.clone();
        let bytes = requests::write(Vec::new(), kept).unwrap();
        raw.insert(REQUESTS_FILE.to_owned(), bytes);
        account(&raw, &shot).unwrap_err()
    });
    insta::assert_snapshot!(faults.join("\n"));
}

fn release_at(released_ns: u64) -> KeptRequest {
    KeptRequest {
        released_ns,
        started_ns: released_ns,
        ended_ns: released_ns,
        status: 200,
        body_bytes: 0,
    }
}

#[test]
fn a_burst_is_what_falls_into_one_millisecond() {
    let burst_of = |times: &[u64]| {
        burst(
            &times
                .iter()
                .map(|time| release_at(*time))
                .collect::<Vec<_>>(),
        )
    };
    assert_eq!(burst_of(&[]), None);
    assert_eq!(burst_of(&[5]), Some(1));
    assert_eq!(burst_of(&[0, 999_999, 1_000_000, 1_999_998]), Some(3));
    assert_eq!(burst_of(&[0, 1_000_000, 2_000_000]), Some(1));
}

#[test]
fn the_lag_is_counted_from_the_plan() {
    let kept: Vec<KeptRequest> = (0..200)
        .map(|index| release_at(index * 5_000_000 + index * 1_000))
        .collect();
    assert_eq!(release_lag_p99(200, &kept), Some(198_000));
    assert_eq!(release_lag_p99(200, &[]), None);
    assert_eq!(release_lag_p99(1, &[release_at(3)]), Some(3));
}

#[test]
fn one_request_more_than_planned_can_be_sent_where_the_plan_is_no_whole_number() {
    let mut shot = shot("1000/s", "2s", 10);
    shot.duration = Nanoseconds(1_999_500_000);
    assert_eq!(shot.planned(), Some(1999));
    let account = account(&raw("open"), &shot).unwrap();
    assert_eq!(
        (account.planned, account.sent),
        (Some(1999), Count::Derived(2000))
    );
    assert!(matches!(
        account.latency[&Quantile::P50],
        LatencyValue::Exactly(_)
    ));
}

proptest! {
    #[test]
    fn no_bytes_are_too_much(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let raw = RawOutput::from([(RESULT_FILE.to_owned(), bytes.clone()), (REQUESTS_FILE.to_owned(), bytes)]);
        prop_assert!(account(&raw, &keeping("10/s", "1s", 1)).is_err());
    }

    #[test]
    fn a_damaged_result_is_read_or_refused(
        at in 0_usize..2600,
        put in "[-0-9a-z.\"{}\\[\\], ]{0,12}",
        rate in 1_u64..u64::MAX,
        duration in 0_u64..u64::MAX,
        connections in any::<u32>(),
        closed in any::<bool>(),
    ) {
        let mut text = bytes("open.json").unwrap();
        let at = at.min(text.len());
        let end = (at + put.len()).min(text.len());
        text.splice(at..end, put.bytes());
        let raw = RawOutput::from([(RESULT_FILE.to_owned(), text)]);
        let mut shot = shot("1000/s", "2s", connections);
        shot.duration = Nanoseconds(duration);
        shot.at = if closed {
            LoadPoint::Connections(connections)
        } else {
            LoadPoint::Rate(Rate::per_second(rate).unwrap())
        };
        let _ = account(&raw, &shot);
        shot.duration = Nanoseconds::seconds(2);
        let _ = account(&raw, &shot);
    }

    #[test]
    fn the_identity_holds_whatever_was_counted(
        ok in 0_u64..50, bad in 0_u64..50, timeouts in 0_u64..50, aborted in 0_u64..50,
    ) {
        let answered = ok + bad;
        let text = String::from_utf8(bytes("open.json").unwrap()).unwrap();
        let mut result: serde_json::Value = serde_json::from_str(&text).unwrap();
        let bars = result["responseTimeHistogram"].as_object_mut().unwrap();
        for (index, (_, bar)) in bars.iter_mut().enumerate() {
            *bar = serde_json::json!(if index == 0 { answered } else { 0 });
        }
        result["statusCodeDistribution"] = serde_json::json!({"200": ok, "500": bad});
        result["errorDistribution"] =
            serde_json::json!({"timeout": timeouts, "aborted due to deadline": aborted});
        result["summary"]["totalData"] = serde_json::json!(answered * 64);
        result["summary"]["sizePerRequest"] = serde_json::json!((answered > 0).then_some(64));
        let time = serde_json::json!((answered > 0).then_some(0.001));
        for percentile in result["latencyPercentiles"].as_object_mut().unwrap().values_mut() {
            *percentile = time.clone();
        }
        result["summary"]["fastest"] = time.clone();
        result["summary"]["slowest"] = time;
        let raw = RawOutput::from([(RESULT_FILE.to_owned(), result.to_string().into_bytes())]);
        let account = account(&raw, &shot("100/s", "2s", 10)).unwrap();
        prop_assert_eq!(account.answered, Count::Observed(answered));
        prop_assert_eq!(account.sent.get(), answered + timeouts + aborted);
        prop_assert_eq!(account.by_status.values().sum::<u64>(), answered);
        prop_assert_eq!(account.error_count(), timeouts);
        for (quantile, value) in &account.latency {
            let reached = quantile.rank(200) < answered && quantile.needs() <= 200;
            prop_assert_eq!(reached, !matches!(value, LatencyValue::Absent(_)));
        }
        match account.late {
            Late::Exactly(late) | Late::AtMost(late) => prop_assert!(late <= answered),
        }
    }
}
