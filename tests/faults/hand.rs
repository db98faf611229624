//! Another's hand: what somebody else on the machine does to a run while it goes on.

use std::fs;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use loadlab::run::{Notice, Observer};
use rustix::process::{Pid, Signal, kill_process};

/// When a hand acts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// While the probe before the block is driven.
    Probe,
    /// While the window of the measurement is open.
    Window,
}

/// What a hand does, given the run it does it to.
pub type Act = fn(&Reach);

/// What a hand can reach: the groups of one entry's first block.
pub struct Reach {
    entry: String,
    released: Arc<AtomicBool>,
}

impl Reach {
    /// The group's folders in every hierarchy that has this file, those of its members included.
    fn folders(&self, role: &str, file: &str) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let name = |path: &Path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with("b0000a1") && name.ends_with(role)
        };
        for entry in entries(Path::new("/sys/fs/cgroup"), &self.entry, 6) {
            let groups = fs::read_dir(entry).into_iter().flatten().flatten();
            let groups = groups.map(|group| group.path()).filter(|path| name(path));
            found.extend(groups.filter(|path| path.join(file).exists()));
        }
        found
    }

    /// Writes a value into a file of the group; the first of the files that there is.
    pub fn write(&self, role: &str, values: &[(&str, &str)]) {
        for (file, value) in values {
            let folders = self.folders(role, file);
            if !folders.is_empty() {
                let wrote = folders
                    .iter()
                    .filter(|folder| fs::write(folder.join(file), value).is_ok());
                assert!(wrote.count() > 0, "nobody may write {file} of {role}");
                return;
            }
        }
        panic!("no group of {role} has any of {values:?}");
    }

    /// The processes of the group.
    pub fn processes(&self, role: &str) -> Vec<Pid> {
        let folders = self.folders(role, "cgroup.procs");
        let mut found: Vec<i32> = folders
            .iter()
            .flat_map(|folder| processes_below(folder))
            .collect();
        found.sort_unstable();
        found.dedup();
        found.into_iter().filter_map(Pid::from_raw).collect()
    }

    /// Sends a signal to every process of the group, once there is one.
    pub fn signal(&self, role: &str, signal: Signal) {
        let pids = self.wait(|| Some(self.processes(role)).filter(|pids| !pids.is_empty()));
        for pid in pids.unwrap_or_default() {
            // One may have ended meanwhile.
            let _ = kill_process(pid, signal);
        }
    }

    /// Asks the group's server so many things, as a client that nobody knows of.
    pub fn ask(&self, role: &str, times: u32) {
        let port = self.processes(role).into_iter().find_map(|pid| {
            let words = fs::read(format!("/proc/{}/cmdline", pid.as_raw_pid())).ok()?;
            let words = String::from_utf8_lossy(&words).into_owned();
            words
                .split('\0')
                .find_map(|word| word.strip_prefix("127.0.0.1:")?.parse::<u16>().ok())
        });
        for _ in 0..times {
            let mut stream = std::net::TcpStream::connect(("127.0.0.1", port.unwrap())).unwrap();
            stream
                .write_all(b"GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n")
                .unwrap();
            let mut answer = Vec::new();
            stream.read_to_end(&mut answer).unwrap();
        }
    }

    /// Holds every process of the group still for so long.
    pub fn hold(&self, role: &str, length: Duration) {
        self.signal(role, Signal::STOP);
        std::thread::sleep(length);
        self.signal(role, Signal::CONT);
    }

    /// Kills the youngest process of the group, though never its only one, ten times a second.
    pub fn kill_last(&self, role: &str, length: Duration) {
        let begun = Instant::now();
        while begun.elapsed() < length && !self.is_over() {
            if let [_, .., last] = self.processes(role)[..] {
                // It may have ended meanwhile.
                let _ = kill_process(last, Signal::KILL);
            }
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// Burns this share of a CPU, in hundredths, until the run lets go.
    pub fn burn(&self, cpu: usize, hundredths: u32) {
        let mut set = rustix::thread::CpuSet::new();
        set.set(cpu);
        rustix::thread::sched_setaffinity(None, &set).unwrap();
        while !self.is_over() {
            let begun = Instant::now();
            while begun.elapsed() < Duration::from_millis(u64::from(hundredths)) / 10 {
                std::hint::spin_loop();
            }
            std::thread::sleep(Duration::from_millis(u64::from(100 - hundredths)) / 10);
        }
    }

    fn is_over(&self) -> bool {
        self.released.load(Ordering::Relaxed)
    }

    fn wait<T>(&self, look: impl Fn() -> Option<T>) -> Option<T> {
        while !self.is_over() {
            if let Some(found) = look() {
                return Some(found);
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        None
    }
}

fn entries(folder: &Path, entry: &str, depth: u32) -> Vec<PathBuf> {
    if depth == 0 {
        return Vec::new();
    }
    let below = fs::read_dir(folder).into_iter().flatten().flatten();
    let below = below.filter(|found| found.file_type().is_ok_and(|kind| kind.is_dir()));
    below
        .flat_map(|found| {
            if found.file_name() == entry {
                vec![found.path()]
            } else {
                entries(&found.path(), entry, depth - 1)
            }
        })
        .collect()
}

fn processes_below(folder: &Path) -> Vec<i32> {
    let listed = fs::read_to_string(folder.join("cgroup.procs")).unwrap_or_default();
    let mut found: Vec<i32> = listed
        .lines()
        .filter_map(|line| line.parse().ok())
        .collect();
    let below = fs::read_dir(folder).into_iter().flatten().flatten();
    for group in below.filter(|found| found.file_type().is_ok_and(|kind| kind.is_dir())) {
        found.extend(processes_below(&group.path()));
    }
    found
}

/// Watches a run and lets a hand act at its moment.
pub struct Watcher {
    now: Arc<AtomicBool>,
    released: Arc<AtomicBool>,
    when: Option<When>,
    hand: Option<JoinHandle<()>>,
}

impl Watcher {
    pub fn new(entry: &str, hand: Option<(When, Duration, Act)>) -> Self {
        let now = Arc::new(AtomicBool::new(false));
        let released = Arc::new(AtomicBool::new(false));
        let reach = Reach {
            entry: entry.to_owned(),
            released: Arc::clone(&released),
        };
        let moment = Arc::clone(&now);
        let acting = hand.map(|(_, after, act)| {
            std::thread::spawn(move || {
                let begun = reach.wait(|| moment.load(Ordering::Relaxed).then_some(()));
                if begun.is_some() {
                    std::thread::sleep(after);
                    act(&reach);
                }
            })
        });
        Self {
            now,
            released,
            when: hand.map(|(when, ..)| when),
            hand: acting,
        }
    }

    /// Whether the hand did what it does.
    pub fn release(mut self) -> bool {
        self.released.store(true, Ordering::Relaxed);
        self.hand.take().is_none_or(|hand| hand.join().is_ok())
    }
}

impl Observer for Watcher {
    fn notice(&mut self, notice: Notice<'_>) {
        let moment = match notice {
            Notice::Probing(_) => Some(When::Probe),
            Notice::Window { .. } => Some(When::Window),
            _ => None,
        };
        if moment.is_some() && moment == self.when {
            self.now.store(true, Ordering::Relaxed);
        }
        if matches!(notice, Notice::Measured(_) | Notice::BlockFinished { .. }) {
            self.released.store(true, Ordering::Relaxed);
        }
    }
}
