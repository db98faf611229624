//! The made-up machine and its engine.

use std::collections::BTreeMap;

use crate::model::facts::{Enforces, EngineFacts, GENERATOR, GeneratorFacts, HostFacts};
use crate::model::{CpuSet, Digest, EngineKind, Known};
use crate::record::inputs::EngineFile;

pub(super) fn host() -> HostFacts {
    let cpu = |cpu| CpuSet::of([cpu]).expect("one CPU is a set");
    HostFacts {
        cpu_model: Known::Value("A made-up processor".to_owned()),
        architecture: "x86_64".to_owned(),
        online: CpuSet::of([0, 1]).expect("two CPUs are a set"),
        siblings: Known::Value(BTreeMap::from([(0, cpu(0)), (1, cpu(1))])),
        governors: Known::Absent("the machine has no frequency governor".to_owned()),
        turbo: Known::Absent("the machine does not say".to_owned()),
        memory_bytes: 8 << 30,
        swap_bytes: 0,
        kernel: "6.12.0 made up".to_owned(),
        command_line: Known::Value("quiet".to_owned()),
        kernel_hz: Known::Value(100),
        irq_time_accounting: Known::Value(true),
        interrupts: Known::Value(BTreeMap::from([(0, 100), (1, 100)])),
        cgroups: Known::Value("v2: cpuset cpu memory pids".to_owned()),
        virtualisation: Known::Value("kvm".to_owned()),
        clock_source: Known::Value("tsc".to_owned()),
        power: Known::Value("mains".to_owned()),
        distribution: Known::Value("Debian GNU/Linux 13".to_owned()),
        boot_id: Known::Value("made-up-boot".to_owned()),
        machine: Known::Value(Digest::of(b"a made-up machine")),
    }
}

pub(super) fn engine() -> EngineFile {
    let process = EngineFacts {
        kind: EngineKind::Process,
        version: "0.1.0".to_owned(),
        local_kernel: true,
        enforces: Enforces {
            cpus: Known::Value(true),
            memory: Known::Value(true),
            processes: Known::Value(true),
        },
        cpu_source: "cgroup v2 cpu.stat, exact".to_owned(),
    };
    let (generator, version) = GENERATOR.split_once(' ').unwrap_or((GENERATOR, ""));
    EngineFile {
        engines: BTreeMap::from([(EngineKind::Process, process)]),
        generator: GeneratorFacts {
            name: generator.to_owned(),
            version: version.to_owned(),
            digest: Digest::of(b"loadlab-oha"),
            marks_start: true,
        },
    }
}
