//! What happened between the two edges of a counter window.

use crate::model::reading::{CpuReading, Known};
use crate::model::{CpuSet, Role, RoleReading};
use crate::record::event::Measured;

/// The counter window of a measurement: differences between its edges.
#[derive(Debug, Clone, Copy)]
pub struct Window<'a> {
    measured: &'a Measured,
}

impl<'a> Window<'a> {
    /// The window of a measurement.
    #[must_use]
    pub const fn of(measured: &'a Measured) -> Self {
        Self { measured }
    }

    /// Its length by the machine's monotonic clock, nanoseconds.
    #[must_use]
    pub const fn length_ns(&self) -> u64 {
        let (before, after) = (&self.measured.before.host, &self.measured.after.host);
        after.monotonic_ns.saturating_sub(before.monotonic_ns)
    }

    /// The readings of a role at both edges.
    ///
    /// # Errors
    /// When one is missing: which.
    pub fn readings(&self, role: &Role) -> Result<(&'a RoleReading, &'a RoleReading), String> {
        let of = |edge: &'a crate::model::reading::Edge, when: &str| {
            let reading = edge.roles.get(role);
            reading.ok_or_else(|| format!("{role} was not read {when} the window"))
        };
        let before = of(&self.measured.before, "before")?;
        Ok((before, of(&self.measured.after, "after")?))
    }

    /// Time between the readings of a role, nanoseconds.
    ///
    /// # Errors
    /// When one is missing, or the later one is not later.
    pub fn role_length_ns(&self, role: &Role) -> Result<u64, String> {
        let (before, after) = self.readings(role)?;
        let length = after.monotonic_ns.checked_sub(before.monotonic_ns);
        length
            .filter(|length| *length > 0)
            .ok_or_else(|| format!("the clock did not advance between the readings of {role}"))
    }

    /// CPU time readings of a role at both edges.
    ///
    /// # Errors
    /// When one is missing, or they come from different sources.
    pub fn cpu(&self, role: &Role) -> Result<(&'a CpuReading, &'a CpuReading), String> {
        let (before, after) = self.readings(role)?;
        let of = |reading: &'a RoleReading, when: &str| match &reading.cpu {
            Known::Value(cpu) => Ok(cpu),
            Known::Absent(because) => Err(format!(
                "the CPU time of {role} could not be read {when} the window: {because}"
            )),
        };
        let (before, after) = (of(before, "before")?, of(after, "after")?);
        if before.source == after.source {
            Ok((before, after))
        } else {
            Err(format!(
                "the CPU time of {role} came from {:?} before and {:?} after the window",
                before.source, after.source
            ))
        }
    }

    /// CPU time of a role in the window, nanoseconds.
    ///
    /// # Errors
    /// When it is missing or went backwards.
    pub fn cpu_ns(&self, role: &Role) -> Result<u64, String> {
        let (before, after) = self.cpu(role)?;
        after.cpu_ns.checked_sub(before.cpu_ns).ok_or_else(|| {
            format!(
                "the CPU time of {role} went backwards, from {} to {} ns",
                before.cpu_ns, after.cpu_ns
            )
        })
    }

    /// CPU time that a role's processes used outside of its group, nanoseconds; 0 where none was seen.
    #[must_use]
    pub fn outside_ns(&self, role: &Role) -> u64 {
        let of = |edge: &crate::model::reading::Edge| {
            let read = edge.outside_ns.get(role);
            read.and_then(|known| known.value().copied()).unwrap_or(0)
        };
        of(&self.measured.after).saturating_sub(of(&self.measured.before))
    }

    /// CPU time of a role on one CPU, nanoseconds; absent where the source has none.
    #[must_use]
    pub fn cpu_on_ns(&self, role: &Role, cpu: u32) -> Option<u64> {
        let (before, after) = self.cpu(role).ok()?;
        let on = |reading: &CpuReading| reading.per_cpu_ns.value()?.get(&cpu).copied();
        on(after)?.checked_sub(on(before)?)
    }

    /// The roles read at both edges.
    pub fn roles(&self) -> impl Iterator<Item = &'a Role> {
        let after = &self.measured.after.roles;
        let roles = self.measured.before.roles.keys();
        roles.filter(|role| after.contains_key(*role))
    }

    /// Time that some CPUs together had, nanoseconds.
    #[must_use]
    pub fn capacity_ns(&self, cpus: &CpuSet) -> u64 {
        let count = u64::try_from(cpus.count()).unwrap_or(u64::MAX);
        self.length_ns().saturating_mul(count)
    }

    /// CPU time of loadlab's own process, nanoseconds.
    #[must_use]
    pub const fn own_cpu_ns(&self) -> u64 {
        let (before, after) = (&self.measured.before.host, &self.measured.after.host);
        after.own_cpu_ns.saturating_sub(before.own_cpu_ns)
    }

    /// The sum over CPUs of what a counter of the machine's CPU times grew by, nanoseconds.
    #[must_use]
    pub fn host_ns(
        &self,
        cpus: &CpuSet,
        of: impl Fn(&crate::model::reading::CpuTimes) -> u64,
    ) -> Option<u64> {
        let (before, after) = (
            &self.measured.before.host.cpus,
            &self.measured.after.host.cpus,
        );
        let grown = |cpu| Some(of(after.get(&cpu)?).saturating_sub(of(before.get(&cpu)?)));
        cpus.iter().map(grown).sum()
    }
}
