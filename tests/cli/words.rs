//! Words that are no verb, no flag, no code.

use crate::support::Story;

#[test]
fn a_code_that_is_none_names_the_nearest() {
    Story::new().tell(&["explain", "probe_drfit"]).is(
        2,
        "",
        "error: there is no code `probe_drfit`\nhint: the nearest is `probe_drift`\n",
    );
}

#[test]
fn escape_sequences_in_words_reach_no_terminal() {
    let told = Story::new().tell(&["explain", "\u{1b}[31mred"]);
    assert_eq!(told.code, 2);
    assert!(!told.stderr.contains('\u{1b}'), "{:?}", told.stderr);
}

#[test]
fn every_code_explains_itself() {
    let list = Story::new().tell(&["explain"]);
    assert_eq!((list.code, list.stderr.as_str()), (0, ""));
    let codes: Vec<&str> = list
        .stdout
        .lines()
        .map(|line| line.split_whitespace().next().unwrap())
        .collect();
    assert!(codes.len() > 60, "{} codes", codes.len());
    for code in codes.iter().step_by(9) {
        let told = Story::new().tell(&["explain", code]);
        assert_eq!(told.code, 0, "{code}");
        assert!(
            told.stdout.starts_with(&format!("{code} (")),
            "{}",
            told.stdout
        );
        assert!(told.stdout.lines().count() >= 5, "{}", told.stdout);
    }
}

#[test]
fn no_verb_at_all_is_wrong_usage_and_shows_the_help() {
    let told = Story::new().tell(&[]);
    assert_eq!(told.code, 2);
    assert!(told.stderr.contains("Exit codes:"), "{}", told.stderr);
}

#[test]
fn completions_for_every_shell() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let told = Story::new().tell(&["completions", shell]);
        assert_eq!((told.code, told.stderr.as_str()), (0, ""), "{shell}");
        assert!(told.stdout.contains("reproduce"), "{shell}");
    }
}
