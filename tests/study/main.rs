//! The tables of a published study come out of its published medians.
//!
//! `data/php-go-oauth2.figures.json` holds the medians and derived tables that were published at
//! <https://www.muhammetsafak.com.tr/en/research/php-vs-go-oauth2-postgres-load-test/>, rounded as
//! there. A cell agrees when the ranges that the rounding of its inputs and of itself allow overlap.

#![allow(clippy::unwrap_used, reason = "a test ends where it fails")]

mod declared;
mod figures;

use loadlab::estimate::summary::{DerivedResult, DerivedRow, Mark, Summary};
use loadlab::model::Outcome;
use serde_json::Value;

use figures::{figures, study};

fn rows<'a>(summary: &'a Summary, key: &str) -> &'a [DerivedRow] {
    let ours = |it: &&DerivedResult| it.name.as_str() == key;
    &summary.derived.iter().find(ours).unwrap().rows
}

/// Ours from rounded inputs against what was published, half a unit of its last digit either way.
#[track_caller]
fn agrees(ours: f64, input_error: f64, published: f64, half_unit: f64) {
    let off = (ours - published).abs();
    assert!(
        off <= half_unit + ours.abs() * input_error + 1e-9,
        "{ours} for {published}"
    );
}

fn number(row: &DerivedRow) -> f64 {
    row.value
        .as_ref()
        .unwrap_or_else(|| panic!("{row:?}"))
        .get()
}

#[test]
fn every_derived_cell_of_the_study_comes_out() {
    let (summary, figures) = (study(), figures());
    assert!(summary.complete, "{:?}", summary.exclusions);
    let expected = &figures["expected"];
    for (key, table, versus, error) in [
        (
            "by-cpu-time",
            "cores_by_cpu_time_read_50000",
            "cores_by_cpu_time_vs_go",
            0.5 / 64.0,
        ),
        (
            "by-instance",
            "cores_by_instance_read_50000",
            "cores_by_instance_vs_go",
            0.0,
        ),
    ] {
        for row in rows(&summary, key) {
            let candidate = row.candidate.as_ref().unwrap().as_str();
            agrees(
                number(row),
                error,
                expected[table][candidate].as_f64().unwrap(),
                0.05,
            );
            let relative = row.relative.as_ref().unwrap().get();
            agrees(
                relative,
                2.0 * error,
                expected[versus][candidate].as_f64().unwrap(),
                0.05,
            );
        }
    }
    for row in rows(&summary, "token-share") {
        let candidate = row.candidate.as_ref().unwrap().as_str();
        let published = expected["token_share_of_read_percent"][candidate]
            .as_f64()
            .unwrap();
        agrees(100.0 * number(row), 0.5 / 47.0 + 0.5 / 64.0, published, 0.5);
    }
    for scenario in ["read", "write"] {
        let row = &rows(&summary, &format!("database-{scenario}"))[0];
        let published = expected["postgres_php_fpm_over_go_percent"][scenario]
            .as_f64()
            .unwrap();
        let over = 100.0 * (1.0 + number(row));
        agrees(over, 0.5 / 34.0 + 0.5 / 53.0, 100.0 + published, 0.5);
    }
}

#[test]
fn what_was_held_marks_the_cells() {
    let (summary, figures) = (study(), figures());
    for cell in summary
        .cells
        .iter()
        .filter(|cell| cell.phase.as_str() == "fixed-rate")
    {
        let held = figures["expected"]["held"][cell.candidate.as_str()]
            .as_array()
            .unwrap();
        let published = held.contains(&Value::from(cell.scenario.as_str()));
        let ours = cell.outcomes.get(&Outcome::Held) == Some(&5);
        assert_eq!(ours, published, "{} {}", cell.candidate, cell.scenario);
    }
    let marks: Vec<_> = rows(&summary, "by-cpu-time")
        .iter()
        .map(|row| (row.candidate.as_ref().unwrap().to_string(), row.mark))
        .collect();
    let expected = [
        ("go".to_owned(), Mark::Measured),
        ("php-fpm".to_owned(), Mark::Extrapolated),
        ("frankenphp".to_owned(), Mark::Extrapolated),
    ];
    assert_eq!(marks, expected);
}

#[test]
fn both_phases_agree_where_a_target_was_not_held() {
    let summary = study();
    let agreeing: Vec<_> = rows(&summary, "phases-agree")
        .iter()
        .filter_map(|row| {
            let cell = (
                row.scenario.as_ref()?.to_string(),
                row.candidate.as_ref()?.to_string(),
            );
            Some((cell, row.agrees?))
        })
        .collect();
    let cell =
        |scenario: &str, candidate: &str| ((scenario.to_owned(), candidate.to_owned()), true);
    let expected = [
        cell("token-check", "php-fpm"),
        cell("token-check", "frankenphp"),
        cell("read", "php-fpm"),
        cell("read", "frankenphp"),
    ];
    assert_eq!(agreeing, expected);
}
