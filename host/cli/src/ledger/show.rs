//! `portcullis ledger show`.

use std::collections::VecDeque;

use anyhow::{Context as _, bail};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, civil};
use portcullis::ledger::{self, Record};
use portcullis::runtime::clock;

use crate::args::ShowArguments;
use crate::environment::Environment;
use crate::exit::Exit;
use crate::printer::{self, Printer};

const HEADER: [&str; 7] = ["TIME", "AGENT", "VERDICT", "TOOL", "BY", "CODE", "WHAT"];
/// How many entries a table has when nobody says.
const LAST: usize = 50;
/// A reason is shown with at least so many characters, however narrow the terminal.
const WHAT_MIN: usize = 16;

pub(super) fn run(
    verb: &ShowArguments,
    environment: &Environment,
    printer: &Printer,
) -> anyhow::Result<Exit> {
    let since = verb.since.as_deref().map(since).transpose()?;
    let dir = super::directory(verb.dir.as_deref(), environment)?;
    let most = match verb.last {
        Some(last) => usize::try_from(last)?,
        None if verb.json => usize::MAX,
        None => LAST,
    };
    let mut newest: VecDeque<(String, Record)> = VecDeque::new();
    let (mut all, mut passed) = (0_u64, 0_usize);
    ledger::read(&dir, |line, record| {
        all += 1;
        if since.as_ref().is_none_or(|since| record.time >= *since) && passes(verb, &record) {
            passed += 1;
            newest.push_back((if verb.json { line.to_owned() } else { String::new() }, record));
            if newest.len() > most {
                newest.pop_front();
            }
        }
    })?;
    if verb.json {
        for (line, _) in &newest {
            printer.line(line)?;
        }
        return Ok(Exit::Done);
    }
    if newest.is_empty() {
        printer.tell(&match all {
            0 => format!("The ledger is empty: nothing was written yet. It is in `{}`.", dir.display()),
            _ => format!("None of the {all} entries is what you ask for."),
        });
        return Ok(Exit::Done);
    }
    let rows: Vec<Vec<String>> = newest.iter().map(|(_, record)| cells(record)).collect();
    let (header, rows) = filled(rows);
    printer.line(&printer::table(&header, &narrow(rows, &header, printer::columns())))?;
    if passed > newest.len() {
        printer.tell(&format!("These are the newest {} of {passed}; `--last N` shows more.", newest.len()));
    }
    Ok(Exit::Done)
}

/// True for what the filters ask for.
fn passes(verb: &ShowArguments, record: &Record) -> bool {
    let holds = |wanted: &Option<String>, words: &[Option<&str>]| {
        wanted.as_ref().is_none_or(|wanted| {
            let wanted = wanted.to_lowercase();
            words.iter().flatten().any(|word| word.to_lowercase().contains(&wanted))
        })
    };
    verb.verdict.as_ref().is_none_or(|verdict| record.verdict.as_ref() == Some(verdict))
        && holds(&verb.session, &[record.session.as_deref()])
        && holds(&verb.tool, &[record.tool.as_deref(), record.canonical.as_deref()])
        && holds(&verb.by, &[record.by.as_ref().map(|by| by.name.as_str()), by_kind(record).as_deref()])
        && (!verb.fault || record.fault.is_some())
}

fn by_kind(record: &Record) -> Option<String> {
    let kind = serde_json::to_value(record.by.as_ref()?.kind).ok()?;
    kind.as_str().map(str::to_owned)
}

fn cells(record: &Record) -> Vec<String> {
    let text = |text: &Option<String>| text.as_deref().map(printer::plain).unwrap_or_default();
    let by = record.by.as_ref().map(|by| printer::plain(&by.name)).unwrap_or_default();
    // What a refusal was about is told by its effects; its reason begins with words that are always the same.
    let what = match (record.kind.as_str(), record.effects.first()) {
        ("judgement", Some(first)) if record.fault.is_none() => printer::plain(first),
        _ => text(&record.reason),
    };
    vec![
        local(&record.time),
        text(&record.agent),
        record.verdict.as_deref().map_or_else(|| printer::plain(&record.kind), printer::plain),
        if record.canonical.is_some() { text(&record.canonical) } else { text(&record.tool) },
        by,
        text(&record.code),
        what,
    ]
}

/// A time of the ledger in the user's zone.
fn local(time: &str) -> String {
    let moment = time.parse::<Timestamp>().map(|moment| moment.to_zoned_datetime(TimeZone::system()));
    moment.map_or_else(|_| printer::plain(time), |moment| moment.strftime("%Y-%m-%d %H:%M:%S").to_string())
}

/// The table without the columns that hold nothing.
fn filled(mut rows: Vec<Vec<String>>) -> (Vec<&'static str>, Vec<Vec<String>>) {
    let holds = |at: usize| rows.iter().any(|row| row.get(at).is_some_and(|cell| !cell.is_empty()));
    let kept: Vec<bool> = (0..HEADER.len()).map(|at| at + 1 == HEADER.len() || holds(at)).collect();
    let keep = |cells: Vec<String>| -> Vec<String> {
        cells.into_iter().zip(&kept).filter(|(_, kept)| **kept).map(|(cell, _)| cell).collect()
    };
    rows = rows.into_iter().map(keep).collect();
    (HEADER.into_iter().zip(&kept).filter(|(_, kept)| **kept).map(|(title, _)| title).collect(), rows)
}

/// The rows with names as long as a table bears, and the last column cut so that a row
/// is one line of the terminal. Without a terminal nothing is cut.
fn narrow(mut rows: Vec<Vec<String>>, header: &[&str], columns: Option<usize>) -> Vec<Vec<String>> {
    const NAME_MAX: usize = 28;
    let Some(columns) = columns else { return rows };
    for row in &mut rows {
        for cell in row.iter_mut().take(header.len().saturating_sub(1)) {
            cut(cell, NAME_MAX);
        }
    }
    let widest = |at: usize, title: &str| {
        let cells = rows.iter().filter_map(|row| row.get(at)).map(|cell| cell.chars().count());
        cells.fold(title.len(), usize::max) + 2
    };
    let names = header.iter().enumerate().take(header.len().saturating_sub(1));
    let before: usize = names.map(|(at, title)| widest(at, title)).sum();
    let room = columns.saturating_sub(before).max(WHAT_MIN);
    for row in &mut rows {
        if let Some(last) = row.last_mut() {
            cut(last, room);
        }
    }
    rows
}

fn cut(cell: &mut String, most: usize) {
    if cell.chars().count() > most {
        *cell = cell.chars().take(most.saturating_sub(1)).chain(['…']).collect();
    }
}

/// The beginning of the time that is asked for, as the ledger writes times.
fn since(text: &str) -> anyhow::Result<String> {
    Ok(ledger::stamp(begin(text, clock::utc(), &TimeZone::system())?))
}

fn begin(text: &str, now: Timestamp, zone: &TimeZone) -> anyhow::Result<Timestamp> {
    if let Ok(moment) = text.parse::<Timestamp>() {
        return Ok(moment);
    }
    if let Ok(moment) = text.parse::<civil::DateTime>() {
        return Ok(moment.to_zoned_datetime(zone.clone())?.timestamp());
    }
    let units = [('s', 1), ('m', 60), ('h', 3_600), ('d', 86_400), ('w', 604_800)];
    for (unit, seconds) in units {
        if let Some(number) = text.strip_suffix(unit).and_then(|number| number.parse::<u32>().ok()) {
            let back = SignedDuration::from_secs(i64::from(number) * seconds);
            return now.checked_sub(back).context("that is before all time");
        }
    }
    bail!(
        "no time that is understood: `{text}`; hint: `15m`, `1h`, `2d`, `2026-11-30`, `2026-11-30T10:00:00Z`"
    )
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use jiff::tz::TimeZone;

    use super::{HEADER, WHAT_MIN, begin, filled, narrow};

    fn seen(text: &str) -> Option<String> {
        let now: Timestamp = "2026-11-30T10:00:00.5Z".parse().unwrap();
        begin(text, now, &TimeZone::UTC).ok().map(portcullis::ledger::stamp)
    }

    #[test]
    fn a_time_is_a_span_a_date_or_a_moment() {
        for (text, wanted) in [
            ("90s", "2026-11-30T09:58:30.500000Z"),
            ("15m", "2026-11-30T09:45:00.500000Z"),
            ("1h", "2026-11-30T09:00:00.500000Z"),
            ("2d", "2026-11-28T10:00:00.500000Z"),
            ("1w", "2026-11-23T10:00:00.500000Z"),
            ("2026-11-29", "2026-11-29T00:00:00.000000Z"),
            ("2026-11-29T12:30", "2026-11-29T12:30:00.000000Z"),
            ("2026-11-29T12:30:00+02:00", "2026-11-29T10:30:00.000000Z"),
        ] {
            assert_eq!(seen(text).as_deref(), Some(wanted), "{text}");
        }
        for text in ["", "h", "1", "-1h", "1y", "yesterday", "4294967296s"] {
            assert_eq!(seen(text), None, "{text}");
        }
    }

    #[test]
    fn a_row_is_one_line_of_the_terminal() {
        let row =
            |what: &str| HEADER.iter().take(6).map(|_| "x".repeat(5)).chain([what.to_owned()]).collect();
        let rows = |columns| narrow(vec![row(&"é".repeat(300))], &HEADER, columns);
        let last = |columns| rows(columns)[0].last().unwrap().chars().count();
        assert_eq!(last(Some(100)), 100 - 6 * 7 - 2);
        assert_eq!(last(Some(10)), WHAT_MIN);
        assert_eq!(last(None), 300);
    }

    #[test]
    fn a_column_that_holds_nothing_is_left_out() {
        let row = |cells: [&str; 7]| cells.map(str::to_owned).to_vec();
        let (header, rows) = filled(vec![
            row(["t", "", "block", "", "guard", "", ""]),
            row(["t", "", "", "bash", "", "", ""]),
        ]);
        assert_eq!(header, ["TIME", "VERDICT", "TOOL", "BY", "WHAT"]);
        assert_eq!(rows, [["t", "block", "", "guard", ""], ["t", "", "bash", "", ""]]);
    }
}
