//! Each sign by a machine that shows it and nothing else.

mod machine;

use super::*;
use crate::model::code::Symptom;
use machine::Machine;

/// Exactly this symptom, with this evidence.
#[track_caller]
fn shows(machine: &Machine, code: Symptom, seen: &str) {
    let found = machine.examine();
    let found: Vec<(Symptom, &str)> = found
        .iter()
        .map(|sign| (sign.code, sign.seen.as_str()))
        .collect();
    assert_eq!(found, [(code, seen)]);
}

#[test]
fn nothing_is_wrong_with_a_quiet_machine() {
    assert_eq!(Machine::quiet().examine(), []);
    // Without a file every CPU counts, and none has a role.
    assert_eq!(
        Machine::quiet()
            .wants(|it| *it = Wanted::default())
            .examine(),
        []
    );
}

#[test]
fn what_is_not_there_makes_it_unfit() {
    let offline = Machine::quiet().wants(|it| {
        it.cores.insert(Role::Load, "3,7".parse().unwrap());
    });
    shows(
        &offline,
        Symptom::CoresMissing,
        "load is to have CPUs 3,7, of which 7 is not online: online are 0-3",
    );
    let denied = Machine::quiet().with("proc/self/status", "Cpus_allowed_list:\t0,2-3\n");
    shows(
        &denied,
        Symptom::CoresMissing,
        "load is to have CPUs 1,3; this process may not use 1, only 0,2-3",
    );
    let single = Machine::quiet()
        .wants(|it| *it = Wanted::default())
        .with("proc/self/status", "Cpus_allowed_list:\t2\n");
    shows(
        &single,
        Symptom::CoresMissing,
        "a run needs two CPUs, one for the candidate and one for the load; there is 2",
    );
}

#[test]
fn what_a_run_would_lack_makes_it_unfit() {
    let mut missing = Machine::quiet();
    missing
        .missing
        .push("program `caddy` is nowhere".to_owned());
    shows(
        &missing,
        Symptom::ProgramMissing,
        "program `caddy` is nowhere",
    );
    let memory = Machine::quiet().wants(|it| it.memory_bytes = 20 << 30);
    shows(
        &memory,
        Symptom::MemoryTooSmall,
        "11718MiB of memory can be had, the budgets together are 20GiB",
    );
    let mut disk = Machine::quiet();
    disk.disk_bytes = Known::Value(5 << 20);
    shows(
        &disk,
        Symptom::DiskTooSmall,
        "5MiB are free where drafts go, the plan needs about 10MiB",
    );
}

#[test]
fn too_few_files_or_ports_for_the_connections_make_it_unfit() {
    let limits = |soft: u32, hard: u32| {
        format!("Max open files            {soft}              {hard}              files\n")
    };
    let files = Machine::quiet().with("proc/self/limits", &limits(100, 127));
    shows(
        &files,
        Symptom::FilesTooFew,
        "64 connections are planned, the hard limit of open files is 127",
    );
    let tight = Machine::quiet().with("proc/self/limits", &limits(127, 128));
    shows(
        &tight,
        Symptom::FilesTight,
        "64 connections are planned, the soft limit of open files is 127",
    );
    let ports = Machine::quiet().with("proc/sys/net/ipv4/ip_local_port_range", "32768 32863\n");
    let ports = ports.wants(|it| it.connections = 65);
    shows(
        &ports,
        Symptom::PortsTooFew,
        "65 connections are planned, 64 of 96 local ports are free",
    );
}

#[test]
fn siblings_and_shared_cores_weigh_as_the_file_says() {
    let apart = |it: &mut Wanted| {
        it.cores.insert(Role::Candidate, "0".parse().unwrap());
        it.cores.insert(Role::Load, "2".parse().unwrap());
    };
    let seen = "CPU 0 of candidate and CPU 2 of load are one core";
    shows(
        &Machine::quiet().wants(apart),
        Symptom::SharedSiblings,
        seen,
    );
    let strict = |it: &mut Wanted| it.strict = true;
    shows(
        &Machine::quiet().wants(apart).wants(strict),
        Symptom::StrictIsolation,
        seen,
    );
    shows(
        &Machine::quiet().wants(|it| it.shared = true),
        Symptom::RolesShare,
        "roles share CPUs",
    );
    let unknown =
        Machine::quiet().without("sys/devices/system/cpu/cpu3/topology/thread_siblings_list");
    let found = unknown.examine();
    assert_eq!((found.len(), found[0].code), (1, Symptom::SharedSiblings));
    assert!(
        found[0]
            .seen
            .starts_with("siblings are not known: cannot read "),
        "{found:?}"
    );
}

#[test]
fn what_happens_meanwhile_disturbs() {
    let busy = "cpu0 120 0 0 1170 0 0 0 0 0 0\ncpu1 100 0 0 1200 0 0 0 0 0 0\ncpu2 104 0 0 1196 0 0 0 0 0 0\ncpu3 100 0 0 1200 0 0 0 0 0 0\n";
    let stat = |name: &str, ticks: u32| {
        format!("77 ({name}) S 1 77 77 0 -1 4194304 1 2 3 4 {ticks} 0 0 0 20 0 1 0 5 1 2\n")
    };
    let load = Machine::quiet()
        .with("proc/77/stat", &stat("a (b) c", 5))
        .then("proc/stat", busy)
        .then(
            "proc/77/stat",
            "77 (a (b) c) S 1 77 77 0 -1 4194304 1 2 3 4 25 0 0 0 20 0 1 0 5 1 2\n",
        );
    shows(
        &load,
        Symptom::OtherLoad,
        "busy over 2.0 s: CPU 0 10.5 %; the busiest processes: a (b) c (77, 10.0 %)",
    );

    let stolen = Machine::quiet().then(
        "proc/stat",
        "cpu0 100 0 0 1190 0 0 0 10 0 0\ncpu1 100 0 0 1200 0 0 0 0 0 0\n",
    );
    shows(
        &stolen,
        Symptom::StolenTime,
        "stolen over 2.0 s: CPU 0 5.0 %",
    );
    let swapping = Machine::quiet().then("proc/vmstat", "pswpin 9\npswpout 3\n");
    shows(&swapping, Symptom::Swapping, "2 pages over 2.0 s");
    let mut clock = Machine::quiet();
    clock.moved_ns = 1_000_001;
    shows(
        &clock,
        Symptom::ClockSet,
        "the wall clock moved by 1000 us over 2.0 s",
    );
    clock.moved_ns = 1_000_000;
    assert_eq!(clock.examine(), []);
    let interrupts = Machine::quiet().then(
        "proc/interrupts",
        " CPU0 CPU1 CPU2 CPU3\n  0: 4012 90000 4010 10 IO-APIC 2-edge timer\n",
    );
    shows(&interrupts, Symptom::Interrupts, "CPU 0 2001/s");
}

#[test]
fn what_makes_speed_or_reading_uncertain_is_said() {
    let cpu = "sys/devices/system/cpu";
    let mut governed = Machine::quiet();
    for number in 1..4 {
        governed = governed.with(
            &format!("{cpu}/cpu{number}/cpufreq/scaling_governor"),
            "powersave\n",
        );
    }
    shows(
        &governed,
        Symptom::Governor,
        "CPU 1 powersave, CPU 2 powersave, CPU 3 powersave",
    );
    let turbo = Machine::quiet().with(&format!("{cpu}/intel_pstate/no_turbo"), "0\n");
    shows(&turbo, Symptom::Turbo, "turbo is on");
    let battery = Machine::quiet()
        .with("sys/class/power_supply/AC/online", "0\n")
        .with("sys/class/power_supply/BAT0/type", "Battery\n");
    shows(&battery, Symptom::OnBattery, "no mains supply is online");
    let swap = Machine::quiet().with(
        "proc/meminfo",
        "MemTotal: 16000000 kB\nMemAvailable: 12000000 kB\nSwapTotal: 1048576 kB\n",
    );
    shows(&swap, Symptom::SwapOn, "1GiB of swap");
    let source = Machine::quiet().with(
        "sys/devices/system/clocksource/clocksource0/current_clocksource",
        "hpet\n",
    );
    shows(&source, Symptom::ClockSource, "the clock source is hpet");
    let guest = Machine::quiet().with("proc/cpuinfo", "flags\t\t: fpu hypervisor\n");
    shows(
        &guest,
        Symptom::StealHidden,
        "a virtual machine (a hypervisor that gives no name) without any steal since its start",
    );
    let ports = Machine::quiet().wants(|it| it.rate = 1_000);
    shows(
        &ports,
        Symptom::PortsTight,
        "28200 local ports are free: 28 s at 1000/s if each answer ends its connection, and a port waits 60 s",
    );
    let groups = Machine::quiet().with("sys/fs/cgroup/cgroup.controllers", "cpu memory\n");
    shows(
        &groups,
        Symptom::GroupsDenied,
        "the controller cpuset is not there",
    );
    let unseen = Machine::quiet().without("proc/self/limits");
    let found = unseen.examine();
    assert_eq!((found.len(), found[0].code), (1, Symptom::Unseen));
}

#[test]
fn the_gravest_comes_first_and_every_symptom_has_an_order_and_a_remedy() {
    let machine = Machine::quiet()
        .with("sys/devices/system/cpu/intel_pstate/no_turbo", "0\n")
        .then("proc/vmstat", "pswpin 9\npswpout 3\n")
        .wants(|it| it.memory_bytes = 20 << 30);
    let found = machine.examine();
    let effects: Vec<(Symptom, Effect)> = found.iter().map(|it| (it.code, it.effect)).collect();
    let expected = [
        (Symptom::MemoryTooSmall, Effect::Unfit),
        (Symptom::Swapping, Effect::Disturbs),
        (Symptom::Turbo, Effect::Caveat),
    ];
    assert_eq!(effects, expected);
    let all: Vec<Effect> = Symptom::ALL.iter().map(|code| Effect::of(*code)).collect();
    assert!(
        all.is_sorted(),
        "the list of symptoms is in the order of their effects"
    );
}
