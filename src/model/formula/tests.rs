use super::*;

const PRICE: &str = r#"(value(candidate="level-6", scenario="page", metric="cpu_per_request")
 - value(candidate='level-1', scenario="page", metric="cpu_per_request"))
/ (value(candidate="level-1", metric="bytes_per_answer", at="1000/s") - value(candidate="level-6", metric="bytes_per_answer", at=64))"#;

#[test]
fn a_formula_knows_its_values_and_its_unit() {
    let formula = parse(PRICE).unwrap();
    assert!(formula.has_unit(Unit::NanosecondsPerByte));
    assert!(!formula.has_unit(Unit::Nanoseconds));
    let values = formula.values();
    let shown: Vec<_> = values
        .iter()
        .map(|(name, range)| (name.metric.to_string(), &PRICE[range.clone()][..6]))
        .collect();
    let expected = [
        "cpu_per_request",
        "cpu_per_request",
        "bytes_per_answer",
        "bytes_per_answer",
    ];
    assert_eq!(shown, expected.map(|metric| (metric.to_owned(), "value(")));
    assert_eq!(values[3].0.at, Some("64".parse().unwrap()));
}

#[test]
fn units_multiply_and_divide() {
    for (text, unit) in [
        ("50000/s * value(metric=\"cpu_per_request\")", Unit::Cores),
        ("1/s", Unit::PerSecond),
        ("3 / 2", Unit::One),
        ("-(2ms + 1.5s) * 2", Unit::Nanoseconds),
        ("value(metric=\"memory_peak\") - 1MiB", Unit::Bytes),
        ("value(metric=\"cores_used\") + 1", Unit::One),
    ] {
        assert!(parse(text).unwrap().has_unit(unit), "{text}");
    }
}

#[test]
fn multiplication_binds_closer_and_order_is_from_the_left() {
    let shown = |text: &str| format!("{:?}", parse(text).unwrap().expression);
    assert_eq!(shown("1 - 2 - 3 * 4"), shown("(1 - 2) - (3 * 4)"));
    assert_eq!(shown("8 / 4 / 2"), shown("(8 / 4) / 2"));
}

/// A formula, the place of its fault, and what is said of it.
const FAULTS: [(&str, std::ops::Range<usize>, &str); 13] = [
    (
        "",
        0..0,
        "expected a number, `value(…)`, `-` or `(`, found the end",
    ),
    (
        "1 +",
        3..3,
        "expected a number, `value(…)`, `-` or `(`, found the end",
    ),
    ("(1", 2..2, "expected `)`, found the end"),
    (
        "1 2",
        2..3,
        "expected `+`, `-`, `*`, `/` or the end, found `2`",
    ),
    (
        "1.",
        0..2,
        "expected a number such as `2` or `0.5`, found `1.`",
    ),
    ("sqrt(2)", 0..4, "expected `value(…)`, found `sqrt`"),
    (
        "value(metric=\"p99\") + 1",
        0..23,
        "cannot add a time and a pure number",
    ),
    (
        "value(scenario=\"a\")",
        0..19,
        "expected `metric=` in `value(…)`",
    ),
    (
        "value(colour=\"a\")",
        6..12,
        "`value(…)` has no part `colour`",
    ),
    (
        "value(phase=\"a\", phase=\"b\")",
        17..22,
        "`phase` is given twice",
    ),
    ("value(metric=\"p99)", 13..18, "the text has no closing \""),
    (
        "value(metric=p99)",
        13..14,
        "expected a text in quotes or a whole number, found `p`",
    ),
    (
        "value(at=0)",
        9..10,
        "at: expected a rate such as `1000/s` or a number of connections, found `0`",
    ),
];

#[test]
fn a_fault_has_its_place() {
    for (text, place, message) in FAULTS {
        let fault = parse(text).unwrap_err();
        assert_eq!(
            (fault.range, fault.message.as_str()),
            (place, message),
            "{text}"
        );
    }
}

#[test]
fn depth_and_length_are_bounded() {
    assert!(
        parse(&"(".repeat(10_000))
            .unwrap_err()
            .message
            .contains("nested deeper")
    );
    assert!(
        parse(&"-".repeat(10_000))
            .unwrap_err()
            .message
            .contains("nested deeper")
    );
    assert!(
        parse(&"1+".repeat(10_000))
            .unwrap_err()
            .message
            .contains("at most")
    );
}
