//! Every request of a run: `requests.csv.gz`.
//!
//! A gzip stream of CSV with the header `released_ns,started_ns,ended_ns,status,body_bytes` and one
//! line per answer, in the order of release. Times are nanoseconds since the generator's start.
//! `released_ns` is when the plan let the request go (in a closed loop: when it was started),
//! `started_ns` when a connection took it up, `ended_ns` when the last byte of its body had come.
//! Requests without an answer are not in it: the generator keeps no times of them.

use std::io::{Read, Write};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use serde::{Deserialize, Serialize};

/// The longest line of the file: three times, a status and a length with their separators.
const LONGEST_LINE: u64 = 90;

/// One answered request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeptRequest {
    /// When the plan let it go.
    pub released_ns: u64,
    /// When a connection took it up.
    pub started_ns: u64,
    /// When the last byte of its answer had come.
    pub ended_ns: u64,
    /// Status of the answer.
    pub status: u16,
    /// Body bytes, as they came over the wire.
    pub body_bytes: u64,
}

impl KeptRequest {
    /// The response time, from the release on; absent when the times are not in order.
    #[must_use]
    pub fn response_ns(&self) -> Option<u64> {
        let ordered = self.released_ns <= self.started_ns;
        ordered
            .then(|| self.ended_ns.checked_sub(self.released_ns))
            .flatten()
    }
}

/// Writes requests in the order given. The same requests give the same bytes.
///
/// # Errors
/// When the target cannot be written.
pub fn write<W: Write>(
    target: W,
    requests: impl IntoIterator<Item = KeptRequest>,
) -> std::io::Result<W> {
    let mut lines = csv::Writer::from_writer(GzEncoder::new(target, Compression::fast()));
    for request in requests {
        lines.serialize(request).map_err(std::io::Error::other)?;
    }
    let stream = lines.into_inner().map_err(|fault| fault.into_error())?;
    stream.finish()
}

/// Reads the requests of a run with so many answers. More lines than that are refused unread.
///
/// # Errors
/// What was found and what was expected, safe to print.
pub fn read(bytes: &[u8], answered: u64) -> Result<Vec<KeptRequest>, String> {
    let most = answered.saturating_add(2).saturating_mul(LONGEST_LINE);
    let text = GzDecoder::new(bytes).take(most);
    let mut lines = csv::Reader::from_reader(text);
    let requests: Result<Vec<KeptRequest>, csv::Error> = lines.deserialize().collect();
    let requests = requests.map_err(|fault| fault.to_string().escape_debug().to_string())?;
    let found = u64::try_from(requests.len()).unwrap_or(u64::MAX);
    if found == answered {
        Ok(requests)
    } else {
        Err(format!(
            "{found} requests are kept, expected {answered}, one for each answer"
        ))
    }
}
