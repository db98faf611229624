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

const HEADER: [&str; 5] = [
    "released_ns",
    "started_ns",
    "ended_ns",
    "status",
    "body_bytes",
];

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
    let stream = GzEncoder::new(target, Compression::fast());
    let mut lines = csv::WriterBuilder::new()
        .has_headers(false)
        .from_writer(stream);
    lines.write_record(HEADER).map_err(std::io::Error::other)?;
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
    let header = lines
        .headers()
        .map_err(|fault| fault.to_string().escape_debug().to_string())?;
    if header != &csv::StringRecord::from(HEADER.to_vec()) {
        return Err(format!("expected the header `{}`", HEADER.join(",")));
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn some(count: u64) -> Vec<KeptRequest> {
        let request = |index: u64| KeptRequest {
            released_ns: index * 1_000_000,
            started_ns: index * 1_000_000 + 40,
            ended_ns: u64::MAX - index,
            status: 200,
            body_bytes: u64::MAX,
        };
        (0..count).map(request).collect()
    }

    fn packed(text: &str) -> Vec<u8> {
        let mut stream = GzEncoder::new(Vec::new(), Compression::fast());
        stream.write_all(text.as_bytes()).unwrap();
        stream.finish().unwrap()
    }

    #[test]
    fn what_is_written_is_read_and_the_bytes_are_the_same_each_time() {
        for count in [0, 1, 1000] {
            let bytes = write(Vec::new(), some(count)).unwrap();
            assert_eq!(bytes, write(Vec::new(), some(count)).unwrap());
            assert_eq!(read(&bytes, count), Ok(some(count)));
        }
    }

    #[test]
    fn another_number_of_requests_is_refused() {
        let bytes = write(Vec::new(), some(3)).unwrap();
        assert_eq!(
            read(&bytes, 4).unwrap_err(),
            "3 requests are kept, expected 4, one for each answer"
        );
        assert!(read(&bytes, 2).is_err());
    }

    #[test]
    fn what_is_no_such_file_is_refused_and_safe_to_print() {
        let header = "released_ns,started_ns,ended_ns,status,body_bytes\n";
        let whole = write(Vec::new(), some(1000)).unwrap();
        let endless = packed(&format!("{header}{}", "1,2,3,200,5\n".repeat(100_000)));
        for bytes in [
            Vec::new(),
            b"\x1b[31m".to_vec(),
            whole[..whole.len() / 2].to_vec(),
            packed(""),
            packed("a,b\n1,2\n"),
            packed(&format!("{header}1,2,3,200\n")),
            packed(&format!("{header}-1,2,3,200,5\n")),
            packed(&format!("{header}1,2,3,\u{1b}[31m,5\n")),
            packed(&format!("{header}1,2,3,70000,5\n")),
            packed(&format!("{header}1.5,2,3,200,5\n")),
            endless,
        ] {
            let fault = read(&bytes, 1000).unwrap_err();
            assert!(!fault.contains('\u{1b}'), "{fault}");
        }
    }
}
