//! loadlab is killed (-9) at random moments of a real run: while it measures, resumes, reports and
//! publishes. What was finished stays byte for byte, nothing is left that `gc` does not find, and the
//! run comes to the plan it began with.
//!
//! `LOADLAB_KILLS` says how often (default 3), `LOADLAB_SEED` from which seed (default 1). Skipped, with
//! the reason, where a program is missing.

#![allow(clippy::print_stderr, reason = "a skipped test says why")]
#![allow(clippy::unwrap_used, reason = "a test ends where it fails")]
#![allow(clippy::panic, reason = "a test ends where it fails")]

mod asked;
mod kills;
mod place;
#[path = "../programs/mod.rs"]
mod programs;

use std::fs;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use kills::{Kills, Moments, killed_publish, killed_report, killed_run};
use place::{Place, STUB, ends_within, finished, number, records};

/// One run at a time on the cores of this machine.
static CORES: Mutex<()> = Mutex::new(());

#[test]
fn what_is_killed_at_any_moment_loses_nothing_and_leaves_nothing() {
    let _cores = CORES.lock().unwrap_or_else(PoisonError::into_inner);
    let (all, seed) = (number("LOADLAB_KILLS", 3), number("LOADLAB_SEED", 1));
    eprintln!("{all} kills from seed {seed}");
    let (mut moments, mut kills) = (Moments(seed), Kills::default());
    while kills.count() < all {
        let place = match Place::new(STUB) {
            Ok(place) => place,
            Err(because) => return eprintln!("skipped: {because}"),
        };
        let runs = 3.min(all - kills.count());
        let draft = killed_run(&place, &mut moments, &mut kills, runs);
        let draft = draft.to_str().unwrap();
        let took = killed_report(&place, draft, &mut moments, &mut kills);
        // Publishing renders, and copies what it rendered.
        killed_publish(&place, draft, took * 2, &mut moments, &mut kills);
    }
    for (what, (count, found)) in &kills.0 {
        eprintln!("{what}: killed {count} times, gc found something {found} times, nothing lost");
    }
}

/// A package that is upgraded in the middle of a run.
#[test]
fn a_program_that_changes_while_it_is_measured_ends_the_run() {
    let _cores = CORES.lock().unwrap_or_else(PoisonError::into_inner);
    let programs = tempfile::tempdir().unwrap();
    let server = programs.path().join("server");
    fs::copy(env!("CARGO_BIN_EXE_loadlab-stub"), &server).unwrap();
    let command = format!(
        "{{kind: process, command: [{}, --listen, \"127.0.0.1:{{{{ port }}}}\"]}}",
        server.display()
    );
    let place = match Place::new(&command) {
        Ok(place) => place,
        Err(because) => return eprintln!("skipped: {because}"),
    };
    let words = place.run_words(None);
    let mut run = place
        .command(&words)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let measured = |draft: &PathBuf| !finished(&records(draft)).is_empty();
    let deadline = Instant::now() + Duration::from_secs(60);
    while !place.drafts().iter().any(measured) && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(10));
    }
    // Other bytes, that still run.
    let mut bytes = fs::read(&server).unwrap();
    bytes.push(0);
    let upgraded = programs.path().join("upgraded");
    fs::write(&upgraded, bytes).unwrap();
    fs::set_permissions(&upgraded, fs::metadata(&server).unwrap().permissions()).unwrap();
    fs::rename(&upgraded, &server).unwrap();
    let ended = ends_within(&mut run, Duration::from_secs(60));
    let output = run.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(ended.and_then(|status| status.code()), Some(5), "{said}");
    assert!(
        said.contains("had other bytes when the session began"),
        "{said}"
    );
    let draft = place.drafts().pop().unwrap();
    let text = String::from_utf8(records(&draft)).unwrap();
    assert!(text.contains("\"code\":\"image_mismatch\""), "{text}");
    // The lock has the bytes of the first: without a version they must be the same.
    let resumed = place.tell(&place.run_words(draft.to_str()));
    assert_eq!(resumed.status.code(), Some(4), "{resumed:?}");
}
