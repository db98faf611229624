//! `loadlab validate`.

use crate::support::Story;

#[test]
fn a_file_that_is_not_there() {
    let told = Story::new().tell(&["validate", "nowhere.yaml"]);
    assert_eq!(told.code, 3);
    assert!(told.stderr.contains("nowhere.yaml"), "{}", told.stderr);
    assert_eq!(told.stdout, "");
}

#[test]
fn the_repositorys_experiments_are_valid() {
    let story = Story::new().copy("experiments", "experiments");
    story.tell(&["validate", "experiments/nginx-gzip"]).is(
        0,
        "experiments/nginx-gzip: valid\n",
        "",
    );
}
