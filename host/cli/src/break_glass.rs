//! `portcullis break-glass`: a standing refusal, lifted for a while.

use std::time::Duration;

use anyhow::Context as _;
use jiff::{SignedDuration, Timestamp};
use portcullis::Lift;
use portcullis::ledger::{Entry, EntryKind, Ledger};

use crate::args::{BreakGlassArguments, Common};
use crate::environment::Environment;
use crate::exit::Exit;
use crate::open;
use crate::printer::{self, Printer};

pub(crate) fn run(
    common: &Common,
    verb: &BreakGlassArguments,
    environment: &Environment,
    printer: &Printer,
) -> anyhow::Result<Exit> {
    let place =
        "nobody knows where the state is, or `--isolated` was given; hint: set HOME or XDG_STATE_HOME";
    let lifts = open::lifts(common, environment).context(place)?;
    let Some(name) = &verb.name else {
        let rows: Vec<_> = lifts.active().iter().map(row).collect();
        if rows.is_empty() {
            printer.line("nothing is lifted")?;
        } else {
            printer.line(&printer::table(&["NAME", "UNTIL", "WHY"], &rows))?;
        }
        return Ok(Exit::Done);
    };
    let options = open::options(common, environment, None)?;
    let ledger = Ledger::new(
        open::ledger(common, environment, None).context(place)?,
        options.config.audit,
        &environment.variables,
    );
    let note = |text: String| ledger.append(Entry::new(EntryKind::BreakGlass, text));
    if verb.end {
        anyhow::ensure!(lifts.end(name)?, "the refusal of `{name}` is not lifted");
        note(format!("The refusal of `{name}` counts again."))?;
        printer.line(&format!("the refusal of `{name}` counts again"))?;
        return Ok(Exit::Done);
    }
    let time = time(&verb.time)?;
    let reason =
        verb.reason.as_deref().context("say why with `--reason TEXT`: it is written to the ledger")?;
    let refusing = open::open(options)?.report().refusing;
    anyhow::ensure!(
        refusing.contains(name),
        "no refusal stands that names `{name}`; {}",
        match refusing.as_slice() {
            [] => "none stands at all".to_owned(),
            names => format!("those that stand name: {}", names.join(", ")),
        }
    );
    // Before it counts: what cannot be looked up later does not happen.
    note(format!("The refusal of `{name}` is lifted for {}: {reason}", verb.time))
        .context("nothing is lifted, because the ledger cannot be written")?;
    let lift = lifts.add(name, time, reason).context("nothing is lifted")?;
    printer.line(&format!("the refusal of `{name}` is lifted until {}", until(&lift)))?;
    printer.tell("Calls are judged without that plugin until then. `--end` ends it at once.");
    Ok(Exit::Done)
}

fn time(text: &str) -> anyhow::Result<Duration> {
    let hint = "hint: `90s`, `15m` or `2h`";
    let time: SignedDuration = text.parse().with_context(|| format!("no time: `{text}`; {hint}"))?;
    let time = Duration::try_from(time).with_context(|| format!("a time in the past: `{text}`; {hint}"))?;
    anyhow::ensure!(!time.is_zero(), "no time at all: `{text}`; {hint}");
    Ok(time)
}

fn row(lift: &Lift) -> Vec<String> {
    vec![lift.name.clone(), until(lift), lift.reason.clone()]
}

fn until(lift: &Lift) -> String {
    Timestamp::from_second(lift.until).map(|time| time.to_string()).unwrap_or_default()
}
