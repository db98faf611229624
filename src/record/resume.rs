//! Whether a draft may be gone on with: manifest, lock and machine must be what they were.

use crate::model::{Digest, HostFacts};

/// Something that differs between a draft and what is here now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// What differs: `manifest`, `lock`, `plan`, `machine: kernel`, …
    pub what: String,
    /// As the draft has it.
    pub draft: String,
    /// As it is now.
    pub now: String,
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (draft, now) = (self.draft.escape_debug(), self.now.escape_debug());
        write!(f, "{}: the draft has {draft}, now it is {now}", self.what)
    }
}

/// What must stay the same from session to session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Circumstances {
    /// Digest of the manifest's bytes.
    pub manifest: Digest,
    /// Digest of the lock's bytes; absent: without a lock.
    pub lock: Option<Digest>,
    /// Digest of the expanded model: profile and named files included.
    pub expanded: Digest,
    /// The machine.
    pub host: HostFacts,
}

/// Compares what is now with a draft. A reboot is the same machine.
///
/// # Errors
/// Every difference, in the order manifest, lock, model, machine.
pub fn check(draft: &Circumstances, now: &Circumstances) -> Result<(), Vec<Difference>> {
    let digest = |digest: &Digest| digest.to_string();
    let lock = |lock: &Option<Digest>| lock.map_or_else(|| "none".to_owned(), |it| it.to_string());
    let mut differences = Vec::new();
    let mut compare = |what: &str, draft: String, now: String| {
        if draft != now {
            differences.push(Difference {
                what: what.to_owned(),
                draft,
                now,
            });
        }
    };
    compare("manifest", digest(&draft.manifest), digest(&now.manifest));
    compare("lock", lock(&draft.lock), lock(&now.lock));
    compare(
        "model (manifest, profile and named files)",
        digest(&draft.expanded),
        digest(&now.expanded),
    );
    differences.extend(machine_differences(&draft.host, &now.host));
    if differences.is_empty() {
        Ok(())
    } else {
        Err(differences)
    }
}

/// The facts that make a machine the same one: all but the boot and what changes by itself while it
/// runs (interrupts served), and memory, of which a kernel keeps a little more or less at each boot.
fn lasting(host: &HostFacts) -> serde_json::Map<String, serde_json::Value> {
    let value = serde_json::to_value(host).expect("facts have string keys");
    let serde_json::Value::Object(mut facts) = value else {
        return serde_json::Map::new();
    };
    for passing in ["boot_id", "interrupts", "memory_bytes"] {
        facts.shift_remove(passing);
    }
    facts
}

fn machine_differences(draft: &HostFacts, now: &HostFacts) -> Vec<Difference> {
    let (before, after) = (lasting(draft), lasting(now));
    let mut differences: Vec<Difference> = before
        .iter()
        .filter_map(|(fact, draft)| {
            let now = after.get(fact).unwrap_or(&serde_json::Value::Null);
            (draft != now).then(|| Difference {
                what: format!("machine: {}", fact.replace('_', " ")),
                draft: shown(draft),
                now: shown(now),
            })
        })
        .collect();
    if draft.memory_bytes.abs_diff(now.memory_bytes) > draft.memory_bytes / 100 {
        differences.push(Difference {
            what: "machine: memory bytes".to_owned(),
            draft: draft.memory_bytes.to_string(),
            now: now.memory_bytes.to_string(),
        });
    }
    differences
}

/// A fact for a person: without the wrapping that says whether it is known.
fn shown(fact: &serde_json::Value) -> String {
    match fact {
        serde_json::Value::String(text) => format!("`{text}`"),
        serde_json::Value::Object(fields) if fields.len() == 1 => match fields.iter().next() {
            Some((key, value)) if key == "value" => shown(value),
            Some((key, value)) if key == "absent" => format!("unknown ({})", shown(value)),
            _ => fact.to_string(),
        },
        _ => fact.to_string(),
    }
}
