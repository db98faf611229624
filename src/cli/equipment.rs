//! What this machine offers a run: engine, load generator, reference nginx, counters, cores.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::failure::{Code, Failure};
use super::paths;
use super::pins::Pins;
use super::ui::{Ui, safe};
use crate::engine::Engine;
use crate::engine::process::{CoreLock, ProcessEngine, ProcessSettings};
use crate::guard::Rules;
use crate::load::oha::{Oha, PROGRAM};
use crate::load::{LoadGenerator, stub};
use crate::lock::{self, Locked, Resolver as _};
use crate::measure::host;
use crate::model::facts::{EngineFacts, SharedCore};
use crate::model::reading::{CpuTimes, Known};
use crate::model::{Caveat, CpuSet, Digest, EngineKind, EntryName, Experiment};
use crate::probe::nginx;
use crate::record::EngineFile;
use crate::run::{KernelClock, ProbeWork, Programs, Rig, ThisHost, Unpinned};

/// A rig on this machine, and the lock on its cores.
pub struct Equipment {
    /// The rig.
    pub rig: Rig,
    generator: crate::model::facts::GeneratorFacts,
    generator_program: PathBuf,
    cores: Option<CoreLock>,
}

impl Equipment {
    /// Finds everything that a run needs.
    ///
    /// # Errors
    /// When the generator, the stub or nginx is missing, or the engine is unfit.
    pub fn find(folder: &Path, generator: Option<&Path>) -> Result<Self, Failure> {
        let unfit = |error: &dyn std::error::Error| Failure::caused(Code::Unfit, error);
        let generator = Oha::find(generator).map_err(|error| unfit(&error))?;
        let programs = Programs {
            nginx: nginx::find().map_err(|error| unfit(&error))?,
            stub: stub::find(None).map_err(|error| unfit(&error))?,
            found: BTreeMap::new(),
        };
        let settings = ProcessSettings::new(work_folder()).map_err(|error| unfit(&error))?;
        let engine = ProcessEngine::new(settings).map_err(|error| unfit(&error))?;
        let engine: Arc<dyn Engine> = Arc::new(engine);
        let facts = generator.facts();
        let generator_program = generator.program().to_owned();
        let rig = Rig {
            engines: BTreeMap::from([(EngineKind::Process, engine)]),
            generator: Arc::new(generator),
            host: Arc::new(ThisHost),
            machine: host::facts(),
            clock: Arc::new(KernelClock),
            fixed_work: Arc::new(ProbeWork),
            programs,
            pinned: Arc::new(Unpinned),
            rules: Rules::all(),
            folder: folder.to_owned(),
            entry: "unnamed".parse().expect("a plain name"),
            set_aside: None,
            pin_itself: true,
        };
        Ok(Self {
            rig,
            generator: facts,
            generator_program,
            cores: None,
        })
    }

    /// Names the draft that everything is marked with.
    pub fn name(&mut self, entry: &EntryName) {
        self.rig.entry = entry.clone();
    }

    /// Compares the programs that are here with the lock, and keeps where they were found.
    ///
    /// # Errors
    /// When one is missing or says another version; every mismatch is printed.
    pub fn check_programs(
        &mut self,
        experiment: &Experiment,
        locked: Option<&Locked>,
        ui: Ui,
    ) -> Result<Vec<(Caveat, String)>, Failure> {
        let mut resolver = lock::resolve::Local::of_environment();
        let mut caveats = Vec::new();
        let mut pins = Pins::default();
        if let Some(locked) = locked {
            let (mismatches, found) = lock::verify_programs(locked, &mut resolver);
            if !mismatches.is_empty() {
                return Err(super::locked::mismatched(&mismatches, "programs", ui));
            }
            caveats = found;
        }
        for (name, rule) in lock::programs::of_experiment(experiment).unwrap_or_default() {
            // What is missing is named by the check before the run.
            if let Ok(program) = resolver.program(&name, rule.as_ref()) {
                pins.add(&name, &program.path, program.sha256);
                self.rig.programs.found.insert(name, program.path);
            }
        }
        self.preflight(experiment, ui)?;
        self.pin(pins);
        Ok(caveats)
    }

    /// Watches the programs of the experiment, and those that loadlab starts itself.
    fn pin(&mut self, mut pins: Pins) {
        let Programs { nginx, stub, found } = &self.rig.programs;
        for (name, path) in [("nginx", nginx), ("loadlab-stub", stub)] {
            if !found.values().any(|known| known == path)
                && let Ok(now) = lock::resolve::digest_of_file(path)
            {
                pins.add(name, path, now);
            }
        }
        pins.add(PROGRAM, &self.generator_program, self.generator.digest);
        self.rig.pinned = Arc::new(pins);
    }

    fn preflight(&self, experiment: &Experiment, ui: Ui) -> Result<(), Failure> {
        let Err(faults) = crate::run::preflight(experiment, &self.rig) else {
            return Ok(());
        };
        for fault in &faults {
            ui.failure(&Failure::new(Code::Unfit, safe(&fault.to_string())));
        }
        let code = faults.first().map_or(Code::Unfit, super::drive::code_of);
        Err(Failure::printed(code))
    }

    /// Takes every core of the experiment for this run alone.
    ///
    /// # Errors
    /// When somebody else holds one.
    pub fn take_cores(&mut self, experiment: &Experiment) -> Result<(), Failure> {
        let Some(all) = CpuSet::of(experiment.cores.values().flat_map(CpuSet::iter)) else {
            return Ok(());
        };
        let who = format!("loadlab run of {}", experiment.name);
        let lock =
            CoreLock::acquire(&all, &who).map_err(|error| Failure::caused(Code::Unfit, &error))?;
        self.cores = Some(lock);
        Ok(())
    }

    /// The engines and the generator, for `engine.json`.
    #[must_use]
    pub fn file(&self) -> EngineFile {
        EngineFile {
            engines: self.engines(),
            generator: self.generator.clone(),
        }
    }

    fn engines(&self) -> BTreeMap<EngineKind, EngineFacts> {
        self.rig
            .engines
            .iter()
            .map(|(kind, engine)| (*kind, engine.describe()))
            .collect()
    }

    /// What weakens every number that is measured with this equipment.
    #[must_use]
    pub fn caveats(&self, experiment: &Experiment) -> Vec<(Caveat, String)> {
        let mut caveats = Vec::new();
        for facts in self.engines().values() {
            let limits = [
                ("CPUs", &facts.enforces.cpus),
                ("memory", &facts.enforces.memory),
                ("processes", &facts.enforces.processes),
            ];
            for (limit, enforced) in limits {
                match enforced {
                    Known::Value(true) => {}
                    Known::Value(false) => caveats.push((Caveat::NotEnforced, limit.to_owned())),
                    Known::Absent(because) => {
                        caveats.push((Caveat::NotEnforced, format!("{limit}: {because}")));
                    }
                }
            }
        }
        caveats.extend(self.siblings(experiment));
        if let Ok(reading) = self.rig.host.read() {
            let unknown = unknown_steal(&self.rig.machine.virtualisation, &reading.cpus);
            caveats.extend(unknown.map(|because| (Caveat::StealUnknown, because)));
        }
        caveats
    }

    /// Hyper-thread siblings in two roles, or that the machine does not say.
    fn siblings(&self, experiment: &Experiment) -> Vec<(Caveat, String)> {
        let shared = match self.rig.machine.shared_cores(&experiment.cores) {
            Known::Value(shared) => shared,
            Known::Absent(because) => return vec![(Caveat::SiblingsUnknown, because)],
        };
        let told = |it: SharedCore<'_>| {
            let text = format!(
                "a sibling of CPU {} of {} belongs to {}",
                it.cpu, it.role, it.other
            );
            (Caveat::SiblingCores, text)
        };
        shared.into_iter().map(told).collect()
    }
}

/// Why stolen time is not known here: the kernel of a virtual machine counts none where the hypervisor
/// does not tell.
fn unknown_steal(virtualisation: &Known<String>, cpus: &BTreeMap<u32, CpuTimes>) -> Option<String> {
    let machine = match virtualisation {
        Known::Value(kind) if kind == "none" => return None,
        Known::Value(kind) => format!("a virtual machine ({kind})"),
        Known::Absent(because) => format!("perhaps a virtual machine ({because})"),
    };
    let never = cpus.values().all(|times| times.steal_ns == 0);
    never.then(|| format!("{machine} without any steal from its start to that of the run"))
}

/// Where members' work folders are made: a folder of the machine that every user may enter.
#[must_use]
pub fn work_folder() -> PathBuf {
    std::env::temp_dir().join(format!("loadlab-{}", rustix::process::geteuid().as_raw()))
}

/// The digest of loadlab's own program.
#[must_use]
pub fn own_digest() -> Known<Digest> {
    let digest =
        std::env::current_exe().and_then(|program| lock::resolve::digest_of_file(&program));
    Known::from(digest)
}

/// The folder of the experiment that a draft came from.
///
/// # Errors
/// When it is nowhere that it can be.
pub fn experiment_folder(draft: &Path, experiment: &Experiment) -> Result<PathBuf, Failure> {
    let draft = std::path::absolute(draft).unwrap_or_else(|_| draft.to_owned());
    let root = draft.ancestors().nth(3).unwrap_or(&draft).to_owned();
    let below = root.join("experiments").join(experiment.name.as_str());
    let places = [below, root];
    places
        .iter()
        .find(|place| place.join("experiment.yaml").is_file())
        .cloned()
        .ok_or_else(|| {
            let message = format!(
                "cannot find the manifest that {} was measured by",
                paths::shown(&draft)
            );
            Failure::new(Code::Usage, message).hint("name it: `loadlab run --resume DRAFT FILE`")
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steal_is_known_on_bare_machines_and_where_some_was_seen() {
        let times = |steal_ns| CpuTimes {
            busy_ns: 1,
            softirq_ns: 1,
            idle_ns: 1,
            steal_ns,
        };
        let cpus = |steal_ns| BTreeMap::from([(0, times(0)), (1, times(steal_ns))]);
        let machine = |kind: &str| Known::Value(kind.to_owned());
        assert_eq!(unknown_steal(&machine("none"), &cpus(0)), None);
        assert_eq!(unknown_steal(&machine("kvm"), &cpus(1)), None);
        assert_eq!(
            unknown_steal(&machine("kvm"), &cpus(0)).unwrap(),
            "a virtual machine (kvm) without any steal from its start to that of the run"
        );
        let hidden = Known::Absent("no such file".to_owned());
        assert!(unknown_steal(&hidden, &cpus(0)).is_some());
    }
}
