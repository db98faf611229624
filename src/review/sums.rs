//! `SHA256SUMS`: a line for every file of an entry but itself, sorted, as `sha256sum -c` reads it.

use std::collections::BTreeMap;

use super::Fault;
use crate::model::Digest;
use crate::record::layout;

/// Checksums as text.
#[must_use]
pub fn text(sums: &BTreeMap<String, Digest>) -> String {
    let others = sums.iter().filter(|(path, _)| *path != layout::SUMS);
    others
        .map(|(path, digest)| format!("{}  {path}\n", digest.hex()))
        .collect()
}

/// Reads checksums strictly: each line as [`text`] writes it, sorted, none twice.
pub(crate) fn parse(bytes: &[u8]) -> (BTreeMap<String, Digest>, Vec<Fault>) {
    let mut sums = BTreeMap::new();
    let mut faults = Vec::new();
    let mut before = String::new();
    for (number, line) in (1..).zip(bytes.split_inclusive(|byte| *byte == b'\n')) {
        let mut fault =
            |what: String| faults.push(Fault::new(layout::SUMS, format!("line {number}: {what}")));
        match parse_line(line) {
            Err(what) => fault(what),
            Ok((path, _)) if *path <= *before => {
                fault(format!(
                    "`{path}` is not in its place: paths are sorted, each stands once"
                ));
            }
            Ok((path, digest)) => {
                before.clone_from(&path);
                sums.insert(path, digest);
            }
        }
    }
    (sums, faults)
}

fn parse_line(line: &[u8]) -> Result<(String, Digest), String> {
    let expected =
        || "expected 64 hexadecimal digits, two spaces, a path and a line end".to_owned();
    let text = std::str::from_utf8(line).map_err(|_| expected())?;
    let (hex, path) = text
        .strip_suffix('\n')
        .and_then(|text| text.split_once("  "))
        .ok_or_else(expected)?;
    let digest = format!("sha256:{hex}")
        .parse::<Digest>()
        .map_err(|_| expected())?;
    if layout::is_plain(path) && path != layout::SUMS {
        Ok((path.to_owned(), digest))
    } else {
        Err(format!(
            "`{}` is no path that it may name",
            path.escape_debug()
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        let sums = BTreeMap::from([
            ("a".to_owned(), Digest::of(b"a")),
            ("report/entry.md".to_owned(), Digest::of(b"b")),
        ]);
        assert_eq!(parse(text(&sums).as_bytes()), (sums, Vec::new()));
    }

    #[test]
    fn every_flipped_byte_is_a_fault_or_another_sum() {
        let sums = BTreeMap::from([
            ("b/c".to_owned(), Digest::of(b"a")),
            ("d".to_owned(), Digest::of(b"b")),
        ]);
        let good = text(&sums).into_bytes();
        for at in 0..good.len() {
            for bit in 0..8 {
                let mut bad = good.clone();
                bad[at] ^= 1 << bit;
                let (read, faults) = parse(&bad);
                assert!(!faults.is_empty() || read != sums, "byte {at}, bit {bit}");
            }
        }
    }
}
