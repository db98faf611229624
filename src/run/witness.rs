//! The candidate's own count of answers, read around a window.

use super::ask::ask;
use super::bench::Bench;
use super::broken::Broken;
use super::ready::get;
use super::role::Running;
use crate::load::stub::{self, COUNT_PATH};
use crate::model::candidate::Witness;
use crate::model::{Known, Nanoseconds};
use crate::probe;
use crate::record::event::{WitnessCount, WitnessCpu};

const WITHIN: Nanoseconds = Nanoseconds::seconds(5);

/// The count before a window, and how many of loadlab's own requests each reading adds to it.
pub(super) struct Opening {
    before: Account,
    own: u64,
}

/// What a candidate says of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Account {
    answered: u64,
    cpu_ns: Option<u64>,
}

/// Reads the count before a window, twice: a page that counts its own requests shows it.
/// Absent: the candidate has no witness.
pub(super) async fn opening(
    bench: &Bench<'_>,
    candidate: &Running<'_>,
) -> Result<Option<Known<Opening>>, Broken> {
    let Some(witness) = &candidate.definition.witness else {
        return Ok(None);
    };
    let both = async {
        let first = count(candidate, witness).await?;
        let before = count(candidate, witness).await?;
        let own = before
            .answered
            .checked_sub(first.answered)
            .ok_or("the count went backwards")?;
        Ok::<_, String>(Opening { before, own })
    };
    Ok(Some(Known::from(bench.unless_cancelled(both).await?)))
}

/// Reads the count after the window.
pub(super) async fn closing(
    bench: &Bench<'_>,
    candidate: &Running<'_>,
    opening: Option<Known<Opening>>,
) -> Result<Option<Known<WitnessCount>>, Broken> {
    let (Some(witness), Some(opening)) = (&candidate.definition.witness, opening) else {
        return Ok(None);
    };
    let Opening { before, own } = match opening {
        Known::Value(opening) => opening,
        Known::Absent(reason) => return Ok(Some(Known::Absent(reason))),
    };
    let after = bench.unless_cancelled(count(candidate, witness)).await?;
    let cpu = |before: Account, after: Account| {
        let (before_ns, after_ns) = before.cpu_ns.zip(after.cpu_ns)?;
        Some(WitnessCpu {
            before_ns,
            after_ns,
        })
    };
    Ok(Some(Known::from(after.map(|after| WitnessCount {
        before: before.answered,
        after: after.answered,
        own,
        cpu: cpu(before, after),
    }))))
}

async fn count(running: &Running<'_>, witness: &Witness) -> Result<Account, String> {
    let path = match witness {
        Witness::StubStatus { path } | Witness::Counter { path, .. } => path,
        Witness::Stub => COUNT_PATH,
    };
    let answer = ask(running, &get(path), WITHIN.duration()).await?;
    let text = String::from_utf8_lossy(&answer.body);
    if answer.status != 200 {
        return Err(format!("GET {path} had status {}", answer.status));
    }
    let only_answers = |answered| Account {
        answered,
        cpu_ns: None,
    };
    match witness {
        Witness::StubStatus { .. } => probe::witness(&text)
            .map(only_answers)
            .map_err(|error| error.to_string()),
        Witness::Counter { pattern, .. } => counted(&text, pattern).map(only_answers),
        Witness::Stub => said(&answer.body),
    }
    .map_err(|because| format!("GET {path}: {because}"))
}

fn said(body: &[u8]) -> Result<Account, String> {
    let count = stub::read_count(body).map_err(|error| format!("no account of a stub: {error}"))?;
    Ok(Account {
        answered: count.answered,
        cpu_ns: Some(count.cpu_ns),
    })
}

fn counted(text: &str, pattern: &str) -> Result<u64, String> {
    let pattern = regex::Regex::new(pattern).map_err(|error| error.to_string())?;
    let found = pattern.captures(text).and_then(|found| found.get(1));
    let found = found.ok_or_else(|| format!("the page does not match `{pattern}`"))?;
    found.as_str().parse().map_err(|_| {
        let found = found.as_str().escape_debug();
        format!("`{found}` is no whole number")
    })
}

#[cfg(test)]
mod tests {
    use super::{Account, counted, said};

    #[test]
    fn a_stub_says_answers_and_cpu_time() {
        let expected = Account {
            answered: 12,
            cpu_ns: Some(1_800_000),
        };
        assert_eq!(said(br#"{"answered":12,"cpu_ns":1800000}"#), Ok(expected));
        let other = said(b"not found").unwrap_err();
        assert!(other.starts_with("no account of a stub: "), "{other}");
    }

    #[test]
    fn a_counter_is_the_first_group() {
        assert_eq!(counted("answers 42\n", r"answers (\d+)"), Ok(42));
        assert!(
            counted("answers x", r"answers (\d+)")
                .unwrap_err()
                .contains("does not match")
        );
        assert!(
            counted("n -1", r"n (\S+)")
                .unwrap_err()
                .contains("no whole number")
        );
    }
}
