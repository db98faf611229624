//! The table, gone through.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use crate::bench::{self, Came};
use crate::cases::clean;
use crate::rows::{self, ELSEWHERE, Row};
use loadlab::model::{GuardCode, Outcome};

/// One run at a time on the cores of this machine.
static CORES: Mutex<()> = Mutex::new(());

/// How often each row is repeated; absent: an everyday run, each row once that a busy machine leaves right.
fn times() -> Option<u32> {
    let times = std::env::var("LOADLAB_FAULTS").ok()?;
    Some(times.parse().expect("LOADLAB_FAULTS is a number"))
}

/// The rows that are asked for.
fn chosen() -> impl Iterator<Item = &'static Row> {
    let only = std::env::var("LOADLAB_FAULTS_ONLY").ok();
    let nightly = times().is_some();
    rows::all().filter(move |row| match &only {
        Some(only) => row.fault.contains(only) || row.code == only,
        None => nightly || !row.quiet,
    })
}

/// Why a row is not what it should be; absent: it is.
fn differs(row: &Row, came: &Came) -> Option<String> {
    let has = |code: &str| came.codes.contains(code);
    let right = has(row.code) || row.or.is_some_and(has);
    let known = |code: &&str| *code == row.code || row.or == Some(*code) || row.also.contains(code);
    let others = came
        .codes
        .iter()
        .map(String::as_str)
        .any(|code| !known(&code));
    if right && !others && (row.seen)(&came.measured) {
        return None;
    }
    let details: Vec<String> = came
        .measured
        .iter()
        .map(|measured| format!("{}: {:?}", measured.outcome.code(), measured.detail))
        .collect();
    Some(format!("{:?} {details:?}", came.codes))
}

#[test]
fn every_fault_is_recorded_under_its_code_and_no_other() {
    if let Some(because) = bench::unfit() {
        return eprintln!("skipped: {because}");
    }
    let _cores = CORES.lock().unwrap_or_else(PoisonError::into_inner);
    let (times, mut wrong) = (times().unwrap_or(1), Vec::new());
    for row in chosen() {
        let mut right = 0;
        for _ in 0..times {
            match differs(row, &(row.case)().run(None).unwrap()) {
                None => right += 1,
                Some(found) => wrong.push(format!("{} ({}): {found}", row.code, row.fault)),
            }
        }
        eprintln!("{:<20} {right} of {times}  {}", row.code, row.fault);
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The mutation check: a row whose guard is taken out is no longer right.
#[test]
fn a_guard_that_is_taken_out_is_missed() {
    if let Some(because) = unfit_tonight() {
        return eprintln!("skipped: {because}");
    }
    let _cores = CORES.lock().unwrap_or_else(PoisonError::into_inner);
    let mut blind = Vec::new();
    for row in chosen() {
        let Some(guard) = judged_by(row.code) else {
            continue;
        };
        let came = (row.case)().run(Some(guard)).unwrap();
        let missed = differs(row, &came).is_some();
        eprintln!(
            "{:<20} {} without its guard  {}",
            row.code,
            if missed { "missed" } else { "SEEN" },
            row.fault
        );
        if !missed {
            blind.push(row.fault);
        }
    }
    assert!(blind.is_empty(), "seen without the guard: {blind:?}");
}

/// The guard of a code; absent: an outcome, or what only the run itself can see.
fn judged_by(code: &str) -> Option<GuardCode> {
    let mut guards = GuardCode::ALL.iter();
    let guard = guards.find(|guard| guard.code() == code)?;
    let by_the_run = ["service_lost", "interrupted", "harness_error"];
    (!by_the_run.contains(&code)).then_some(*guard)
}

/// Twenty blocks that nothing is done to, by the thresholds of every manifest.
#[test]
fn of_twenty_clean_blocks_at_most_one_is_invalid() {
    if let Some(because) = unfit_tonight() {
        return eprintln!("skipped: {because}");
    }
    let _cores = CORES.lock().unwrap_or_else(PoisonError::into_inner);
    let blocks = clean().blocks().unwrap();
    assert_eq!(blocks.len(), 20);
    let invalid: Vec<_> = blocks.iter().filter(|codes| !codes.is_empty()).collect();
    eprintln!("clean blocks: {} of 20 invalid {invalid:?}", invalid.len());
    assert!(invalid.len() <= 1, "{invalid:?}");
}

/// Why what takes long is not done now.
fn unfit_tonight() -> Option<String> {
    let everyday = times().is_none();
    let because = everyday.then(|| "LOADLAB_FAULTS is not set".to_owned());
    because.or_else(bench::unfit)
}

#[test]
fn every_code_has_a_fault_or_a_reason_to_have_none() {
    let guards = GuardCode::ALL.iter().map(|guard| guard.code());
    let outcomes = Outcome::ALL.iter().map(|outcome| outcome.code());
    let codes: BTreeSet<&str> = guards.chain(outcomes).collect();
    let rows: BTreeSet<&str> = rows::all().map(|row| row.code).collect();
    let elsewhere: BTreeSet<&str> = ELSEWHERE.iter().map(|(code, _)| *code).collect();
    assert!(rows.is_disjoint(&elsewhere), "{rows:?}");
    let named: BTreeSet<&str> = rows.union(&elsewhere).copied().collect();
    assert_eq!(named, codes);
}
