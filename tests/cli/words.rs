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

/// Every verb of the help, with the text of its own help.
fn verbs() -> Vec<(String, String)> {
    let story = Story::new();
    let help = story.tell(&["--help"]).stdout;
    let listed = help.split("Commands:\n").nth(1).unwrap();
    let listed = listed.split("\n\n").next().unwrap().lines();
    // A verb stands two columns in; the second line of its sentence stands further.
    let names = listed.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let names = names.map(|line| line.split_whitespace().next().unwrap().to_owned());
    names
        .map(|verb| {
            let help = story.tell(&[&verb, "--help"]).stdout;
            (verb, help)
        })
        .collect()
}

#[test]
fn the_help_of_every_verb_shows_how_it_is_used() {
    let verbs = verbs();
    assert!(verbs.len() >= 19, "{}", verbs.len());
    for (verb, help) in verbs {
        let examples = help.split("Example").nth(1);
        let shown = examples.is_some_and(|text| text.contains(&format!("loadlab {verb}")));
        assert!(shown, "{verb}: {help}");
    }
}

#[test]
fn manual_pages_hold_every_verb_and_every_flag() {
    let story = Story::new();
    let main = story.tell(&["man"]);
    assert_eq!((main.code, main.stderr.as_str()), (0, ""));
    assert!(main.stdout.starts_with(".ie") && main.stdout.contains(".TH loadlab 1"));
    assert!(main.stdout.contains("Exit codes:"), "{}", main.stdout);
    let plain = |roff: &str| roff.replace('\\', "");
    for (verb, help) in verbs() {
        assert!(
            plain(&main.stdout).contains(&format!("loadlab-{verb}(1)")),
            "{verb}"
        );
        let page = plain(&story.tell(&["man", &verb]).stdout);
        assert!(page.contains(&format!(".TH loadlab-{verb} 1")), "{page}");
        assert!(page.contains("Example"), "{page}");
        let flags = help
            .split_whitespace()
            .filter(|word| word.starts_with("--"));
        for flag in flags.map(|word| word.trim_end_matches([',', '[', ']', '.', '`', '='])) {
            let name = flag.split(['[', '=']).next().unwrap();
            assert!(page.contains(name), "{verb}: {name} is not in {page}");
        }
    }
}

#[test]
fn manual_pages_are_written_into_a_folder() {
    let story = Story::new();
    let told = story.tell(&["man", "--into", "."]);
    assert_eq!((told.code, told.stderr.as_str()), (0, ""));
    let mut written: Vec<String> = told.stdout.lines().map(str::to_owned).collect();
    assert_eq!(written.len(), verbs().len() + 1);
    for page in &written {
        let text = std::fs::read_to_string(story.path().join(page)).unwrap();
        assert!(text.contains(".TH "), "{page}");
    }
    written.sort();
    assert_eq!(written[0], "loadlab-completions.1");
    story.tell(&["man", "rnu"]).is(
        2,
        "",
        "error: there is no verb `rnu`\nhint: `loadlab --help` lists the verbs\n",
    );
}
