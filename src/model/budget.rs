//! Budgets: what a role may use, for the sum of its members.

use serde::{Deserialize, Serialize};

use super::unit::Bytes;

/// What a role may use. An absent limit means: not limited, and nothing is enforced.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Budget {
    /// How many cores the role runs on, at least 1. Method; which ones is the machine's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cores: Option<u32>,
    /// Most memory, bytes, as the kernel accounts it to the group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<Bytes>,
    /// Most processes and threads together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processes: Option<u32>,
    /// Most connections to the database; observed there, not believed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connections: Option<u32>,
}
