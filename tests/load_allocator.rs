//! The load generator's allocator stays in its own program.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

/// The programs of this build. The generator is only there with its feature.
const LOADLAB: &str = env!("CARGO_BIN_EXE_loadlab");
const STUB: &str = env!("CARGO_BIN_EXE_loadlab-stub");

/// What jemalloc, wherever it is linked in, writes before its messages.
const MARK: &[u8] = b"<jemalloc>: ";

fn has_mark(program: &str) -> bool {
    let bytes = std::fs::read(program).unwrap();
    bytes.windows(MARK.len()).any(|window| window == MARK)
}

#[test]
fn loadlab_and_the_stub_have_the_systems_allocator() {
    assert!(!has_mark(LOADLAB));
    assert!(!has_mark(STUB));
}

#[cfg(feature = "generator")]
#[test]
fn the_mark_is_the_right_one() {
    assert!(has_mark(env!("CARGO_BIN_EXE_loadlab-oha")));
}
