//! The closed lists of codes: guards, outcomes, caveats. Each explains itself.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A caveat, where it holds and with what value.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
pub struct CaveatNote {
    /// The code.
    pub code: Caveat,
    /// Where and how much, in words.
    pub detail: String,
}

/// What a code means and what to do about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Explanation {
    /// What it means.
    pub meaning: &'static str,
    /// What to do.
    pub remedy: &'static str,
}

macro_rules! codes {
    ($(#[$doc:meta])* $name:ident { $($variant:ident = $code:literal: $meaning:literal, $remedy:literal;)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema)]
        pub enum $name {
            $(#[doc = $meaning] #[serde(rename = $code)] $variant,)*
        }

        impl $name {
            /// Every code of the list.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The code as text.
            #[must_use]
            pub const fn code(self) -> &'static str {
                match self { $(Self::$variant => $code,)* }
            }

            /// What it means and what to do about it.
            #[must_use]
            pub const fn explain(self) -> Explanation {
                match self {
                    $(Self::$variant => Explanation { meaning: $meaning, remedy: $remedy },)*
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.code())
            }
        }
    };
}

codes! {
    /// A breach of a guard: the instrument failed, the block is invalid and tried again.
    GuardCode {
        ProbeBelowFloor = "probe_below_floor":
            "The reference nginx did not reach the rate that the manifest demands of the rig (`probe.at_least`).",
            "Find what else uses the candidate's or the generator's cores; lower `probe.load.rate` only if the rig is known to be that slow.";
        ProbeDrift = "probe_drift":
            "The reference nginx cost more or less CPU per request, or answered slower, than at the start of the run.",
            "The machine changed during the run: other work, frequency, temperature. Wait until it is quiet and resume.";
        ProbeInvalid = "probe_invalid":
            "The probe itself had errors, or its load generator ran out of CPU, so it proves nothing about the machine.",
            "Lower `probe.load.rate`, or give the load role more cores.";
        GeneratorSaturated = "generator_saturated":
            "The load generator used nearly all of its cores while the planned rate was not sent: the rate is the generator's limit, not the candidate's.",
            "Give the load role more cores or plan a lower rate.";
        LimitsChanged = "limits_changed":
            "A limit that loadlab set for a role was another one when it was read back from the kernel.",
            "Something else on this machine writes to the same control group: find it and stop it.";
        CpusetMismatch = "cpuset_mismatch":
            "A role ran on other CPUs than the manifest gives it.",
            "Check that the CPUs are online and that no other program moves tasks between CPUs.";
        Throttled = "throttled":
            "A CPU quota that is not the budget slowed a role down.",
            "Remove the quota of the enclosing control group, or run elsewhere.";
        Steal = "steal":
            "The hypervisor took a large share of the cores' time during the window.",
            "Run on a machine with dedicated cores, or at a quieter time.";
        Swap = "swap":
            "Pages were swapped during the window.",
            "Give the machine more memory, or plan less at once.";
        ForeignLoad = "foreign_load":
            "Processes outside the experiment used the candidate's cores during the window.",
            "Stop other work on these cores; `loadlab doctor` says how busy they are.";
        FixedWorkDrift = "fixed_work_drift":
            "A fixed piece of work took much longer or shorter on a candidate's core than at the start of the run.",
            "The speed of the core changed (frequency, temperature, a busy sibling). Wait until it is quiet and resume.";
        ClockStep = "clock_step":
            "The wall clock was set while a measurement ran.",
            "Let the time service settle before the run.";
        Suspended = "suspended":
            "The machine slept while a measurement ran.",
            "Keep the machine awake during a run.";
        ImageMismatch = "image_mismatch":
            "What was started is not what the lock pins.",
            "Run `loadlab lock --check`; build again or move the pin with `loadlab lock --upgrade`.";
        DataMismatch = "data_mismatch":
            "The restored data is not what the lock pins.",
            "Make the data again as its recipe says.";
        ServiceLost = "service_lost":
            "A service ended or stopped answering during the block.",
            "Read its log in the draft's `logs/`.";
        AccountingMismatch = "accounting_mismatch":
            "What the generator counted does not add up, or differs from an independent count.",
            "Read the raw output in the draft; report it if the generator is at fault.";
        CounterMissing = "counter_missing":
            "A counter that the numbers need could not be read, went backwards or belongs to another group.",
            "Check the access to control groups; run as a user that may make them.";
        EngineLost = "engine_lost":
            "The engine that runs the members stopped answering.",
            "Look after the engine, then resume.";
        Interrupted = "interrupted":
            "loadlab was stopped while the block ran.",
            "Resume with `loadlab run --resume DRAFT`; the block is measured again from its start.";
        HarnessError = "harness_error":
            "loadlab itself failed during the block.",
            "Read the reason in the record; it is a defect of loadlab, please report it.";
        Manual = "manual":
            "A person excluded it, with name, date and reason.",
            "See the reason beside it.";
    }
}

impl GuardCode {
    /// Whether no other block can be measured either: the run ends, and the try is made again when it
    /// is resumed.
    #[must_use]
    pub const fn ends_run(self) -> bool {
        matches!(
            self,
            Self::Interrupted | Self::EngineLost | Self::ImageMismatch
        )
    }
}

codes! {
    /// What a measurement showed of the candidate. A result, never a reason to try again.
    Outcome {
        Held = "held":
            "The planned rate was reached.",
            "Nothing.";
        NotHeld = "not_held":
            "The planned rate was not reached: latency is queueing and is not printed.",
            "Read the achieved rate; plan a lower rate to measure latency.";
        Completed = "completed":
            "A closed-loop window was measured to its end.",
            "Nothing.";
        Errors = "errors":
            "Requests failed without an answer.",
            "Read the errors in the record and the candidate's log.";
        UnexpectedStatus = "unexpected_status":
            "Answers had another status than the scenario expects.",
            "Read the counts by status, and the candidate's log in the draft's `logs/`.";
        WrongAnswer = "wrong_answer":
            "An answer's body or headers were not what the scenario expects.",
            "Compare what came with what was expected; both are in the record.";
        ContractFailed = "contract_failed":
            "The fresh candidate did not give an answer of the contract; it got no load.",
            "Compare what came with what was expected; both are in the record.";
        NotReady = "not_ready":
            "The candidate did not become ready in time.",
            "Read its log in the draft's `logs/`; raise `ready.within` if it is only slow.";
        Exited = "exited":
            "A member of the candidate ended before it was told to.",
            "Read its log in the draft's `logs/`.";
        Hung = "hung":
            "The candidate stopped answering.",
            "Read its log in the draft's `logs/`.";
        Oom = "oom":
            "The kernel killed a process of the candidate for want of memory.",
            "Raise the memory budget, or report the candidate as not fitting it.";
        Restarted = "restarted":
            "A member of the candidate was restarted during the measurement.",
            "Read its log in the draft's `logs/`.";
        EscapedCpu = "escaped_cpu":
            "The candidate's work showed up outside its group, so that its CPU time is not complete.",
            "Keep all of its processes inside the role.";
        ConnectionsOverBudget = "connections_over_budget":
            "More database connections were seen than the budget allows.",
            "Lower the pool's size.";
        LimitReached = "limit_reached":
            "A limit other than CPU was reached: processes or memory.",
            "Raise the budget, or report the candidate as not fitting it.";
    }
}

codes! {
    /// A condition that weakens a conclusion but does not invalidate it. Always printed.
    Caveat {
        SharedCores = "shared_cores":
            "Roles share CPUs: they slow each other down, and that is part of every number.",
            "Use a machine with a core for each role.";
        SiblingCores = "sibling_cores":
            "Hyper-thread siblings belong to different roles.",
            "Give whole cores to a role.";
        StealUnknown = "steal_unknown":
            "A virtual machine that never shows steal: stolen time would count as the candidate's.",
            "Use a machine that shows steal, or a bare one.";
        StealSeen = "steal_seen":
            "The hypervisor took more than one hundredth of the cores' time.",
            "Run at a quieter time.";
        NotEnforced = "not_enforced":
            "A budget could not be enforced here; it was only watched.",
            "Run as a user that may make control groups.";
        ForeignUnknown = "foreign_unknown":
            "Foreign CPU time is known only to plus or minus one twentieth of a core.",
            "Use a kernel that counts CPU time per CPU exactly.";
        CoarseCounters = "coarse_counters":
            "CPU time was read in ticks of the kernel's clock, not exactly.",
            "Run as a user that may make control groups.";
        UnequalRates = "unequal_rates":
            "Two CPU costs per request were compared at different achieved rates; the cost depends on the rate.",
            "Plan a rate that both hold.";
        LateUnknown = "late_unknown":
            "Answers after the window's end could not be told apart: the achieved rate is an interval wider than 0.2 %.",
            "Measure longer, or keep every request.";
        GeneratorBusy = "generator_busy":
            "The load generator used more than 70 % of its cores: part of the latency is its own.",
            "Give the load role more cores or plan a lower rate.";
        GeneratorLate = "generator_late":
            "The load generator waited for a CPU or stood still: high quantiles are absent.",
            "Give the load role cores of its own, and keep whatever stops processes away from the machine.";
        FixedWorkChanged = "fixed_work_changed":
            "A fixed piece of work took more than a tenth longer or shorter than at the start of the run.",
            "See the range in the report.";
        NotSteady = "not_steady":
            "CPU use in the last third of a window differed from the first third.",
            "Warm up longer.";
        IncompleteBalance = "incomplete_balance":
            "Fewer rounds than a balanced design needs: carry-over is not balanced fully.",
            "Use as many rounds as candidates (twice as many for an odd number).";
        PlainRotation = "plain_rotation":
            "Each candidate always ran behind the same neighbour.",
            "Use `order: balanced`.";
        SharedProcess = "shared_process":
            "Scenarios of one block share a warmed process: a ratio between scenarios carries its history.",
            "Use one scenario a block to separate them.";
        UnequalExclusion = "unequal_exclusion":
            "Exclusions fell unequally on the candidates.",
            "Read the reasons; compare the result with everything kept.";
        FewStandards = "few_standards":
            "The standards stand in too few rounds to prove at the declared coverage what the run can resolve.",
            "Raise `standards.share` or the repetitions.";
        StandardsMissed = "standards_missed":
            "A planted difference was not found, came back as another one, or something was found where nothing was planted.",
            "Believe no difference that is smaller; look at what the probe and the exclusions show.";
        FewRepetitions = "few_repetitions":
            "Too few repetitions for the declared coverage: ranges only, no verdict.",
            "Plan more repetitions.";
        ProgramBytesDiffer = "program_bytes_differ":
            "A program says the version that the lock pins but its bytes are others.",
            "Move the pin with `loadlab lock --upgrade` if it is meant.";
        Unlocked = "unlocked":
            "Measured without a lock; cannot be published.",
            "Run `loadlab lock` and measure again.";
        Scaled = "scaled":
            "A profile scaled the plan for a rehearsal; cannot be published.",
            "Run without the scale.";
        RigFloor = "rig_floor":
            "A latency below twice the probe's at that rate: it is the rig's own floor.",
            "Read it as `at most`.";
        CeilingOfRig = "ceiling_of_rig":
            "The generator ran out at a ceiling: the value is `at least`.",
            "Give the load role more cores.";
        JudgedAfter = "judged_after":
            "Guards were judged again after the data was seen, and a different set of blocks counts.",
            "See the exclusions.";
        SiblingsUnknown = "siblings_unknown":
            "The machine does not say which CPUs are hyper-thread siblings.",
            "Use a machine that does.";
        BodyUnseen = "body_unseen":
            "Bodies were checked by samples and by their total length, not one by one.",
            "Nothing; said so that it is known.";
        ShortWindow = "short_window":
            "The window holds fewer than 100 clock ticks of CPU where the counter is tick-based.",
            "Measure longer, or run where control groups can be made.";
    }
}

codes! {
    /// What `loadlab doctor` finds of a machine, the gravest first. The first ones make a run impossible.
    Symptom {
        CoresMissing = "cores_missing":
            "CPUs that the file gives to a role are not online, or this process may not use them.",
            "Name other CPUs in a profile, bring them online, or widen the control group or affinity that loadlab is started in.";
        ProgramMissing = "program_missing":
            "A program that a run would start is not there.",
            "Install it, or name its place in the manifest.";
        MemoryTooSmall = "memory_too_small":
            "The memory that can be had is less than the budgets of all roles together.",
            "End what uses memory, lower `budgets`, or use a larger machine.";
        DiskTooSmall = "disk_too_small":
            "The disk has less space than the plan's estimate of the draft.",
            "Make room, or let drafts be made elsewhere with `--runs DIR`.";
        FilesTooFew = "files_too_few":
            "A process may not open as many files as there are connections planned.",
            "Raise the hard limit (`ulimit -Hn`, `LimitNOFILE=` of a unit), or plan fewer connections.";
        PortsTooFew = "ports_too_few":
            "There are fewer local ports than connections planned.",
            "Widen `net.ipv4.ip_local_port_range`, or plan fewer connections.";
        StrictIsolation = "strict_isolation":
            "The file demands strict isolation, and hyper-thread siblings belong to two roles or are not known.",
            "Give whole cores to each role in a profile, or leave `isolation: strict` out.";
        OtherLoad = "other_load":
            "Other work keeps a CPU of the file busy: it becomes part of every number, or `foreign_load` refuses the block.",
            "Stop it or move it to other CPUs while measuring.";
        StolenTime = "stolen_time":
            "The hypervisor takes time from the CPUs: it becomes part of every latency, and `steal` refuses the block above its limit.",
            "Use dedicated CPUs, or measure at a quieter time.";
        Swapping = "swapping":
            "Pages are swapped right now.",
            "End what uses memory; measure with swap off (`swapoff -a`).";
        ClockSet = "clock_set":
            "The wall clock is being moved against the monotonic one: `clock_step` refuses blocks during which that happens.",
            "Let the time service settle (`chronyc waitsync`, `timedatectl`) before a run.";
        OnBattery = "on_battery":
            "The machine runs on its battery: frequency follows its charge.",
            "Connect it to the mains.";
        Governor = "governor":
            "A CPU's frequency follows its load, so that a light load runs on a slow core.",
            "`cpupower frequency-set -g performance`, for the time of the run.";
        Interrupts = "interrupts":
            "A CPU of the candidate serves many interrupts of devices or timers: their time is in its latency.",
            "Move them with `/proc/irq/*/smp_affinity_list` or `irqbalance --banirq`, or give the candidate another CPU.";
        GroupsDenied = "groups_denied":
            "loadlab may not make control groups: budgets are only watched, and CPU time is read in ticks of the process tree.",
            "Run as root, or in a delegated group (`systemd-run --user --scope -p Delegate=yes loadlab …`).";
        SharedSiblings = "shared_siblings":
            "Hyper-thread siblings belong to two roles, or the machine does not say which CPUs are siblings.",
            "Give whole cores to each role in a profile.";
        RolesShare = "roles_share":
            "Roles share CPUs, because the file or its profile says so.",
            "Use a machine with a core for each role.";
        Turbo = "turbo":
            "Turbo is on: the frequency depends on how many cores are busy and how warm they are.",
            "Switch it off for the time of the run (`/sys/devices/system/cpu/intel_pstate/no_turbo`, `cpufreq/boost`).";
        StealHidden = "steal_hidden":
            "A virtual machine that never showed stolen time since it started: what is stolen would count as the candidate's.",
            "Use a hypervisor that shows it, or a machine of your own.";
        PortsTight = "ports_tight":
            "A candidate that closes connections after each answer would use up the local ports within a minute at the planned rate.",
            "Keep connections alive, widen `net.ipv4.ip_local_port_range`, or set `net.ipv4.tcp_tw_reuse` to 1.";
        FilesTight = "files_tight":
            "The soft limit of open files is below the planned connections: a candidate that does not raise it itself will refuse some.",
            "Raise it before the run: `ulimit -n`.";
        SwapOn = "swap_on":
            "Swap is on; nothing is swapped now.",
            "Switch it off for the time of the run: `swapoff -a`.";
        ClockSource = "clock_source":
            "The kernel reads the time from a slow source, which makes every reading of a clock dearer.",
            "Boot with a reliable `tsc` where the CPU has one.";
        Unseen = "unseen":
            "Something could not be looked at, and nothing can be said about it.",
            "Look at it by hand, or run as a user that may.";
    }
}
