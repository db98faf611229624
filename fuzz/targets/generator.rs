//! What the load generator left: its JSON and its list of requests, plain or compressed, for an open
//! and a closed loop. 2 s and 512 MB an input.
//!
//! An input is the JSON, a zero byte, and the list; a list that begins with `p` is compressed here.

#![no_main]

use std::collections::BTreeMap;
use std::io::Write as _;

use libfuzzer_sys::fuzz_target;
use loadlab::load::LoadGenerator;
use loadlab::load::oha::Oha;
use loadlab::model::account::{BoundRequest, Shot};
use loadlab::model::{Digest, Nanoseconds};

fn shot(at: &str) -> Shot {
    Shot {
        request: BoundRequest {
            method: "GET".to_owned(),
            path: "/".to_owned(),
            headers: BTreeMap::new(),
            body: None,
        },
        at: at.parse().expect("a load point"),
        connections: 8,
        duration: Nanoseconds::seconds(1),
        timeout: Nanoseconds::seconds(1),
        threads: 1,
        keep_requests: true,
        status: 200,
        quantiles: vec!["p98".parse().expect("a quantile")],
    }
}

fn compressed(list: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(list).expect("memory takes everything");
    encoder.finish().expect("memory takes everything")
}

fuzz_target!(|bytes: &[u8]| {
    let oha = Oha::new("/oha".into(), Digest::of(b""));
    let split = bytes.iter().position(|byte| *byte == 0);
    let (json, list) = split.map_or((bytes, None), |at| (&bytes[..at], Some(&bytes[at + 1..])));
    let mut raw = BTreeMap::from([("oha.json".to_owned(), json.to_vec())]);
    if let Some(list) = list {
        let list = match list.split_first() {
            Some((b'p', plain)) => compressed(plain),
            _ => list.to_vec(),
        };
        raw.insert("requests.csv.gz".to_owned(), list);
    }
    for at in ["1000/s", "8"] {
        for keep_requests in [true, false] {
            let shot = Shot {
                keep_requests,
                ..shot(at)
            };
            if let Err(error) = oha.account(&raw, &shot) {
                loadlab_fuzz::said(&error.to_string());
            }
        }
    }
});
