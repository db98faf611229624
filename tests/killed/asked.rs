//! What happens to a run that is asked to stop, has company on its cores, or cannot write any more.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::PoisonError;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::CORES;
use crate::kills::{clean, entry, to_its_end};
use crate::place::{Place, STUB, finished, left, records};

/// Starts a run, or goes on with it, and waits until it has begun a block that it had not begun before.
fn in_a_block(place: &Place) -> Child {
    let draft = place.drafts().pop();
    let before = draft.as_deref().map_or(0, begun);
    let words = place.run_words(draft.as_deref().and_then(Path::to_str));
    let mut run = place
        .command(&words)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let deadline = Instant::now() + Duration::from_secs(60);
    while place
        .drafts()
        .pop()
        .is_none_or(|draft| begun(&draft) <= before)
    {
        assert!(Instant::now() < deadline, "no block began");
        assert!(run.try_wait().unwrap().is_none(), "{:?}", said(run));
        std::thread::sleep(Duration::from_millis(5));
    }
    run
}

/// How many tries at blocks were begun.
fn begun(draft: &Path) -> usize {
    let records = records(draft);
    let text = String::from_utf8_lossy(&records);
    text.matches("\"block_started\"").count()
}

/// The exit code of a run and what it said.
fn said(run: Child) -> (Option<i32>, String) {
    let output = run.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code(), text)
}

/// What a block was that somebody interrupted.
fn interrupted(draft: &Path) -> usize {
    let records = records(draft);
    let text = String::from_utf8_lossy(&records);
    text.matches("\"code\":\"interrupted\"").count()
}

#[test]
fn who_is_asked_to_stop_marks_its_block_and_leaves_nothing() {
    let _cores = CORES.lock().unwrap_or_else(PoisonError::into_inner);
    let (place, second) = match (Place::new(STUB), Place::new(STUB)) {
        (Ok(place), Ok(second)) => (place, second),
        (Err(because), _) | (_, Err(because)) => return eprintln!("skipped: {because}"),
    };
    // The second is what a terminal sends that is closed.
    for (number, signal) in [Signal::TERM, Signal::HUP].into_iter().enumerate() {
        let run = in_a_block(&place);
        if number == 0 {
            is_refused(&second, run.id());
        }
        let draft = place.drafts().pop().unwrap();
        let kept = finished(&records(&draft));
        kill_process(Pid::from_child(&run), signal).unwrap();
        let (code, text) = said(run);
        assert_eq!(code, Some(130), "{signal:?}: {text}");
        assert!(text.contains("--resume"), "{text}");
        assert!(
            records(&draft).starts_with(&kept),
            "a finished block changed"
        );
        assert_eq!(interrupted(&draft), number + 1, "{signal:?}");
        assert_eq!(left(&entry(&draft)), Vec::<String>::new());
    }
    to_its_end(&place);
}

/// Another run on the same cores says who holds them, and writes nothing.
fn is_refused(second: &Place, holder: u32) {
    let refused = second.tell(&second.run_words(None));
    let text = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(5), "{text}");
    let expected = format!("is in use by process {holder}");
    assert!(text.contains(&expected), "{text}");
    assert_eq!(second.drafts(), Vec::<PathBuf>::new());
}

/// A file system of a few MiB over a folder, as long as this lives.
struct Disk(PathBuf);

/// What is done to a disk.
type Change = fn(&Disk);

impl Disk {
    fn over(folder: &Path) -> Option<Self> {
        fs::create_dir_all(folder).unwrap();
        let target = folder.to_str().unwrap();
        mount(&["-t", "tmpfs", "-o", "size=4m", "loadlab", target]).then(|| Self(folder.to_owned()))
    }

    /// Fills it to the last page.
    fn fill(&self) {
        let mut filler = fs::File::create(self.0.join("filler")).unwrap();
        while filler.write_all(&[0; 4096]).is_ok() {}
    }

    fn make_room(&self) {
        fs::remove_file(self.0.join("filler")).unwrap();
    }

    /// Nothing can be made in it any more; what is open for writing stays so.
    fn read_only(&self) {
        let target = self.0.to_str().unwrap();
        assert!(mount(&["--bind", target, target]));
        assert!(mount(&["-o", "remount,bind,ro", target]));
    }

    fn writable(&self) {
        assert!(unmount(&self.0));
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // Two, where a test ended early.
        while unmount(&self.0) {}
    }
}

fn mount(words: &[&str]) -> bool {
    let mount = Command::new("mount").args(words).output();
    mount.is_ok_and(|output| output.status.success())
}

fn unmount(folder: &Path) -> bool {
    let unmount = Command::new("umount").arg("-l").arg(folder).output();
    unmount.is_ok_and(|output| output.status.success())
}

#[test]
fn a_run_that_cannot_write_ends_and_goes_on_when_it_can() {
    let _cores = CORES.lock().unwrap_or_else(PoisonError::into_inner);
    let place = match Place::new(STUB) {
        Ok(place) => place,
        Err(because) => return eprintln!("skipped: {because}"),
    };
    let Some(disk) = Disk::over(&place.path().join("runs")) else {
        return eprintln!("skipped: file systems cannot be mounted here");
    };
    let faults: [(&str, Change, Change); 2] = [
        ("No space left on device", Disk::fill, Disk::make_room),
        ("Read-only file system", Disk::read_only, Disk::writable),
    ];
    for (because, spoil, mend) in faults {
        let run = in_a_block(&place);
        let draft = place.drafts().pop().unwrap();
        let kept = finished(&records(&draft));
        spoil(&disk);
        let (code, text) = said(run);
        mend(&disk);
        assert_eq!(code, Some(5), "{because}: {text}");
        assert!(text.contains(because), "{text}");
        assert!(
            records(&draft).starts_with(&kept),
            "a finished block changed"
        );
        clean(&place, &entry(&draft));
    }
    to_its_end(&place);
}
