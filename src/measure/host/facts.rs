//! What the machine is.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read as _;
use std::path::Path;

use super::parse;
use crate::measure::cgroup::Controllers;
use crate::measure::{Unreadable, keyed, known, text, value};
use crate::model::facts::HostFacts;
use crate::model::{CpuSet, Digest, Known};

const CPUS: &str = "sys/devices/system/cpu";

/// The CPUs that are online; those of this process's affinity where the kernel does not say.
#[must_use]
pub fn online() -> CpuSet {
    online_below(Path::new("/"))
}

fn online_below(root: &Path) -> CpuSet {
    let listed = value(&root.join(CPUS).join("online"), "a list of CPUs", |text| {
        text.trim().parse().ok()
    });
    listed.unwrap_or_else(|_| {
        let own = rustix::thread::sched_getaffinity(None).ok();
        let cpus = own.into_iter().flat_map(|set| {
            (0..1024_u32).filter(move |cpu| set.is_set(usize::try_from(*cpu).unwrap_or(usize::MAX)))
        });
        CpuSet::of(cpus).unwrap_or_else(|| CpuSet::of([0]).expect("one CPU is not none"))
    })
}

/// Reads everything that is recorded of the machine. Takes some milliseconds.
#[must_use]
pub fn facts() -> HostFacts {
    facts_below(Path::new("/"))
}

/// The same, from the kernel's files below another root; only the kernel's name is this machine's.
#[must_use]
pub fn facts_below(root: &Path) -> HostFacts {
    let uname = rustix::system::uname();
    let online = online_below(root);
    let kernel_config = kernel_config(root, &uname.release().to_string_lossy());
    let option = |name: &str| match &kernel_config {
        Ok(config) => parse::kernel_option(config, name).map_or_else(
            || {
                Known::Absent(format!(
                    "the kernel's configuration does not mention {name}"
                ))
            },
            Known::Value,
        ),
        Err(reason) => Known::Absent(reason.clone()),
    };
    let memory = text(&root.join("proc/meminfo")).unwrap_or_default();
    let bytes = |key| keyed(&memory, key).map_or(0, |kibibytes| kibibytes * 1024);
    HostFacts {
        cpu_model: known(&root.join("proc/cpuinfo"), "a model name", parse::cpu_model),
        architecture: uname.machine().to_string_lossy().into_owned(),
        siblings: each(root, &online, "topology/thread_siblings_list", |text| {
            text.parse().ok()
        }),
        governors: each(root, &online, "cpufreq/scaling_governor", |text| {
            Some(text.to_owned())
        }),
        turbo: turbo(root),
        memory_bytes: bytes("MemTotal"),
        swap_bytes: bytes("SwapTotal"),
        kernel: format!(
            "{} {} {}",
            uname.sysname().to_string_lossy(),
            uname.release().to_string_lossy(),
            uname.version().to_string_lossy()
        ),
        command_line: line(root, "proc/cmdline").map(|line| parse::bearing_parameters(&line)),
        kernel_hz: parsed(option("CONFIG_HZ"), |text| text.parse().ok()),
        irq_time_accounting: option("CONFIG_IRQ_TIME_ACCOUNTING").map(|value| value == "y"),
        interrupts: known(&root.join("proc/interrupts"), "counts", parse::interrupts),
        cgroups: cgroups(root),
        virtualisation: virtualisation(root),
        clock_source: line(
            root,
            "sys/devices/system/clocksource/clocksource0/current_clocksource",
        ),
        power: power(&root.join("sys/class/power_supply")),
        distribution: distribution(root),
        boot_id: line(root, "proc/sys/kernel/random/boot_id"),
        machine: line(root, "etc/machine-id").map(|id| Digest::of(id.as_bytes())),
        online,
    }
}

fn parsed<T>(known: Known<String>, parser: impl FnOnce(&str) -> Option<T>) -> Known<T> {
    match known {
        Known::Absent(reason) => Known::Absent(reason),
        Known::Value(text) => parser(&text).map_or_else(
            || Known::Absent(format!("cannot read `{text}`")),
            Known::Value,
        ),
    }
}

/// The text of a file of one line, which is not empty.
fn line(root: &Path, path: &str) -> Known<String> {
    known(&root.join(path), "any text", |text| {
        let line = text.trim();
        (!line.is_empty()).then(|| line.to_owned())
    })
}

/// The same file of each CPU. Absent as a whole where one is missing.
fn each<T>(
    root: &Path,
    online: &CpuSet,
    file: &str,
    parser: impl Fn(&str) -> Option<T>,
) -> Known<BTreeMap<u32, T>> {
    let read = |cpu| {
        let path = root.join(CPUS).join(format!("cpu{cpu}")).join(file);
        value(&path, "a value", |text| parser(text.trim())).map(|value| (cpu, value))
    };
    Known::from(online.iter().map(read).collect::<Result<_, Unreadable>>())
}

fn turbo(root: &Path) -> Known<bool> {
    let flag = |file: &str, on: &str| {
        let text = text(&root.join(CPUS).join(file)).ok()?;
        Some(text.trim() == on)
    };
    flag("intel_pstate/no_turbo", "0")
        .or_else(|| flag("cpufreq/boost", "1"))
        .map_or_else(
            || {
                Known::Absent(
                    "the kernel shows neither intel_pstate/no_turbo nor cpufreq/boost".to_owned(),
                )
            },
            Known::Value,
        )
}

/// The running kernel's configuration, from itself or from `/boot`.
fn kernel_config(root: &Path, release: &str) -> Result<String, String> {
    let packed = fs::File::open(root.join("proc/config.gz")).and_then(|file| {
        let mut text = String::new();
        flate2::read::GzDecoder::new(file).read_to_string(&mut text)?;
        Ok(text)
    });
    packed
        .or_else(|_| fs::read_to_string(root.join(format!("boot/config-{release}"))))
        .or_else(|_| fs::read_to_string(root.join(format!("lib/modules/{release}/config"))))
        .map_err(|_| {
            "neither /proc/config.gz nor /boot/config of this kernel can be read".to_owned()
        })
}

fn cgroups(root: &Path) -> Known<String> {
    match Controllers::detect_below(root) {
        Ok(controllers) => controllers.describe().map_or_else(
            || Known::Absent("no cgroup hierarchy is mounted".to_owned()),
            Known::Value,
        ),
        Err(error) => Known::Absent(error.to_string()),
    }
}

fn virtualisation(root: &Path) -> Known<String> {
    if let Known::Value(kind) = line(root, "sys/hypervisor/type") {
        return Known::Value(kind);
    }
    let flag = known(
        &root.join("proc/cpuinfo"),
        "CPU flags",
        parse::hypervisor_flag,
    );
    match flag {
        Known::Value(false) => Known::Value("none".to_owned()),
        Known::Value(true) => {
            let names = ["sys_vendor", "product_name"]
                .map(|name| line(root, &format!("sys/class/dmi/id/{name}")));
            let names: Vec<&str> = names
                .iter()
                .filter_map(|name| name.value().map(String::as_str))
                .collect();
            let named = if names.is_empty() {
                "a hypervisor that gives no name".to_owned()
            } else {
                names.join(" ")
            };
            Known::Value(named)
        }
        Known::Absent(reason) => Known::Absent(reason),
    }
}

/// `mains` when a mains supply is online, `battery` when there is a battery and no such supply.
fn power(folder: &Path) -> Known<String> {
    let supplies: Vec<_> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .collect();
    let says = |file: &str, wanted: &str| {
        supplies.iter().any(|supply| {
            fs::read_to_string(supply.path().join(file)).is_ok_and(|text| text.trim() == wanted)
        })
    };
    if says("online", "1") {
        Known::Value("mains".to_owned())
    } else if says("type", "Battery") {
        Known::Value("battery".to_owned())
    } else {
        Known::Absent("the kernel lists no power supply".to_owned())
    }
}

fn distribution(root: &Path) -> Known<String> {
    let found = ["etc/os-release", "usr/lib/os-release"]
        .into_iter()
        .find_map(|path| parse::distribution(&text(&root.join(path)).ok()?));
    found.map_or_else(
        || Known::Absent("no os-release file names the distribution".to_owned()),
        Known::Value,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_is_described() {
        let facts = facts();
        assert!(facts.memory_bytes > 0);
        assert!(facts.kernel.starts_with("Linux "));
        assert!(facts.online.count() >= 1);
    }

    #[test]
    fn a_machine_without_supplies_has_unknown_power() {
        let folder = tempfile::tempdir().unwrap();
        let reason = "the kernel lists no power supply".to_owned();
        assert_eq!(power(folder.path()), Known::Absent(reason));
        let supply = |name: &str, file: &str, text: &str| {
            fs::create_dir_all(folder.path().join(name)).unwrap();
            fs::write(folder.path().join(name).join(file), text).unwrap();
        };
        supply("BAT0", "type", "Battery\n");
        assert_eq!(power(folder.path()), Known::Value("battery".to_owned()));
        supply("AC", "online", "1\n");
        assert_eq!(power(folder.path()), Known::Value("mains".to_owned()));
    }
}
