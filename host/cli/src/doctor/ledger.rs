//! The ledger, and what it says of the last days.

use jiff::Timestamp;
use portcullis::ledger::{self, BreakKind, Ledger, LedgerError};
use portcullis::runtime::clock;

use super::Finding;
use crate::args::Common;
use crate::environment::Environment;
use crate::ledger::rates::{DAYS, Rate, Rates};
use crate::open;

/// Can the ledger be written, and has nobody changed it?
pub(super) fn ledger(common: &Common, environment: &Environment) -> Vec<Finding> {
    const WHAT: &str = "ledger";
    // A configuration that cannot be read has its own finding.
    let work = open::workspace(common, environment);
    let audit = open::loaded(common, environment, work.as_deref())
        .map(|loaded| loaded.config.audit)
        .unwrap_or_default();
    let lost = |reason: String| {
        if audit.required {
            let text = format!("every call is refused: {reason}");
            Finding::fail(WHAT, text, "mend that, or take `required = true` out of `[audit]`")
        } else {
            Finding::warn(WHAT, format!("what is refused is not written down: {reason}"), "mend that")
        }
    };
    let Some(options) = open::ledger(common, environment, None) else {
        let told = audit.required.then(|| lost(LedgerError::NoPlace.to_string()));
        return told.into_iter().collect();
    };
    let found = match ledger::verify(&options.dir) {
        Err(error) => return vec![lost(error.to_string())],
        Ok(found) => found,
    };
    if let Err(error) = Ledger::new(options, audit, &environment.variables).check() {
        return vec![lost(error.to_string())];
    }
    let finding = match found.broken {
        None => {
            Finding::ok(WHAT, format!("can be written; {} entries follow from one another", found.entries))
        }
        Some(broken) if broken.kind == BreakKind::Unfinished => {
            let text = format!("{} is not finished, as after a crash", broken.spot);
            Finding::warn(WHAT, text, "nothing: the next entry sets it aside")
        }
        Some(broken) => Finding::fail(
            WHAT,
            format!("the chain breaks at {}: {}", broken.spot, broken.what),
            "find out who changed it, then move its directory away",
        ),
    };
    vec![finding]
}

/// How the guards fared in the last days.
pub(super) fn of_late(common: &Common, environment: &Environment) -> Vec<Finding> {
    let now = Timestamp::from_second(clock::now().seconds).ok();
    let (Some(options), Some(now)) = (open::ledger(common, environment, None), now) else {
        return Vec::new();
    };
    // A ledger that cannot be read has its own finding.
    let Ok(rates) = Rates::read(&options.dir, now) else { return Vec::new() };
    let of_all = match rates.allowed {
        0 => String::new(),
        allowed => format!(" of {}", allowed.saturating_add(rates.refused)),
    };
    let finding = |Rate { guard, refused, failed, p50, p99 }: Rate| {
        let millis = |micros: u64| format!("{}.{:02}", micros / 1000, micros % 1000 / 10);
        let text = format!(
            "in the last {DAYS} days it refused {refused}{of_all} calls and failed at {failed}; such judgements took \
             {} ms, and {} ms at most for 99 in 100",
            millis(p50),
            millis(p99)
        );
        let subject = format!("guard {guard}");
        if failed == 0 {
            return Finding::ok(subject, text);
        }
        let remedy = format!("`portcullis ledger show --by {guard} --fault` shows them");
        Finding::warn(subject, text, remedy)
    };
    rates.of_guards().into_iter().map(finding).collect()
}
