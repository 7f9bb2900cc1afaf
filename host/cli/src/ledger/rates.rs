//! How the guards fared of late, from the ledger.

use std::collections::BTreeMap;
use std::path::Path;

use jiff::{SignedDuration, Timestamp};
use portcullis::ledger::{self, LedgerError, Record};
use portcullis::model::judgement::RefuserKind;

/// How far back is looked.
pub(crate) const DAYS: i64 = 7;

/// The calls of the last days.
#[derive(Debug, Default)]
pub(crate) struct Rates {
    /// How many were allowed; those are in the ledger only when the user wants it.
    pub(crate) allowed: usize,
    /// How many were not, whoever said so.
    pub(crate) refused: usize,
    guards: BTreeMap<String, Guard>,
}

#[derive(Debug, Default)]
struct Guard {
    refused: usize,
    failed: usize,
    micros: Vec<u64>,
}

/// One guard's part.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Rate {
    pub(crate) guard: String,
    /// Calls that it decided against.
    pub(crate) refused: usize,
    /// Calls that it failed to judge.
    pub(crate) failed: usize,
    /// How long the judgements that it ended took, in microseconds: the half were
    /// faster, and 99 in 100.
    pub(crate) p50: u64,
    pub(crate) p99: u64,
}

impl Rates {
    /// Reads the ledger in `dir` as of `now`.
    pub(crate) fn read(dir: &Path, now: Timestamp) -> Result<Self, LedgerError> {
        let since = now.checked_sub(SignedDuration::from_hours(24 * DAYS)).unwrap_or(Timestamp::MIN);
        let mut rates = Self::default();
        ledger::read(dir, |_, record| {
            if record.time.parse::<Timestamp>().is_ok_and(|time| time >= since) {
                rates.add(&record);
            }
        })?;
        Ok(rates)
    }

    fn add(&mut self, record: &Record) {
        match record.verdict.as_deref() {
            None => return,
            Some("allow") => {
                self.allowed += 1;
                return;
            }
            Some(_) => self.refused += 1,
        }
        let Some(by) = record.by.as_ref().filter(|by| by.kind == RefuserKind::Guard) else { return };
        let guard = self.guards.entry(by.name.clone()).or_default();
        if record.fault.is_some() {
            guard.failed += 1;
        } else {
            guard.refused += 1;
        }
        guard.micros.extend(record.micros);
    }

    /// Each guard that refused a call or failed to judge one.
    pub(crate) fn of_guards(self) -> Vec<Rate> {
        let rate = |(guard, mut own): (String, Guard)| {
            own.micros.sort_unstable();
            let part = |hundredths: usize| {
                let at = own.micros.len().saturating_sub(1).saturating_mul(hundredths) / 100;
                own.micros.get(at).copied().unwrap_or_default()
            };
            Rate { guard, refused: own.refused, failed: own.failed, p50: part(50), p99: part(99) }
        };
        self.guards.into_iter().map(rate).collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Rate, Rates};

    fn line(time: &str, verdict: &str, guard: Option<&str>, fault: Option<&str>, micros: u64) -> String {
        let by = guard.map(|name| json!({ "kind": "guard", "name": name }));
        json!({
            "v": 1, "seq": 1, "time": time, "pid": 1, "kind": "judgement", "verdict": verdict, "by": by,
            "fault": fault, "micros": micros,
        })
        .to_string()
            + "\n"
    }

    #[test]
    fn the_last_days_are_counted_by_guard() {
        let dir = tempfile::tempdir().unwrap();
        let now = "2026-11-30T12:00:00Z";
        let mut lines: String = (1..=100)
            .map(|micros| line("2026-11-30T11:00:00Z", "block", Some("guard"), None, micros))
            .collect();
        lines += &line("2026-11-29T11:00:00Z", "block", Some("slow"), Some("timeout"), 9);
        lines += &line("2026-11-29T11:00:00Z", "allow", None, None, 5);
        lines += &line("2026-11-29T11:00:00Z", "block", None, None, 5);
        lines += &line("2026-11-20T11:00:00Z", "block", Some("old"), None, 5);
        std::fs::write(dir.path().join("ledger.jsonl"), lines).unwrap();
        let rates = Rates::read(dir.path(), now.parse().unwrap()).unwrap();
        assert_eq!((rates.allowed, rates.refused), (1, 102));
        assert_eq!(
            rates.of_guards(),
            [
                Rate { guard: "guard".to_owned(), refused: 100, failed: 0, p50: 50, p99: 99 },
                Rate { guard: "slow".to_owned(), refused: 0, failed: 1, p50: 9, p99: 9 },
            ]
        );
    }
}
