//! `loadlab init`.

use crate::support::Story;

#[test]
fn writes_an_experiment_that_validates_and_plans() {
    let story = Story::new();
    let told = story.tell(&["init", "my-server"]);
    told.is(
        0,
        "wrote my-server/experiment.yaml\n\nnext:\n  loadlab validate my-server/experiment.yaml\n  \
         loadlab lock my-server/experiment.yaml\n  \
         git add my-server, and commit: only what is committed before it is measured can be published\n  \
         loadlab run my-server/experiment.yaml\n",
        "",
    );
    let ignored = std::fs::read_to_string(story.path().join("my-server/.gitignore"));
    assert_eq!(ignored.unwrap(), "/runs/\n");
    let before = story.files();
    story
        .tell(&["validate", "my-server"])
        .is(0, "my-server: valid\n", "");
    let plan = story.tell(&["plan", "my-server", "--format", "json"]);
    assert_eq!(plan.code, 0, "{}", plan.stderr);
    assert_eq!(story.files(), before, "validate and plan write nothing");
}

#[test]
fn never_writes_over_a_folder() {
    let story = Story::new().file("mine/notes.txt", "precious");
    let before = story.files();
    story.tell(&["init", "mine"]).is(
        2,
        "",
        "error: mine exists already\nhint: choose another name, or another folder with `--into`\n",
    );
    assert_eq!(story.files(), before);
}

#[test]
fn a_name_that_is_none_says_what_would_be_valid() {
    let story = Story::new();
    let told = story.tell(&["init", "../Evil Name"]);
    assert_eq!(told.code, 2);
    assert!(
        told.stderr.contains("expected 1 to 64 of a-z"),
        "{}",
        told.stderr
    );
    assert!(story.files().is_empty());
}
