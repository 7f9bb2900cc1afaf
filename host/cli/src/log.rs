//! The logs, on standard error. A few lines of our own: most processes judge one call
//! and log nothing, and a registry of spans would be made for each of them.

use std::fmt::{self, Write as _};

use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use crate::printer::Printer;

/// Sends the logs to standard error: errors alone; with `-v` what plugins say as
/// well, with `-vv` everything.
pub(crate) fn follow(verbose: u8, printer: Printer) {
    let level = match verbose {
        0 => LevelFilter::ERROR,
        1 => LevelFilter::INFO,
        _ => LevelFilter::DEBUG,
    };
    // A logger that is set already serves as well.
    drop(tracing::subscriber::set_global_default(Lines { level, printer }));
}

/// One line for each event.
struct Lines {
    level: LevelFilter,
    printer: Printer,
}

impl Subscriber for Lines {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        // To the library of a protocol a client that hangs up is an error, and to nobody else.
        let is_of_protocol = metadata.target().starts_with("rmcp");
        *metadata.level() <= self.level && (!is_of_protocol || self.level > LevelFilter::ERROR)
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(self.level)
    }

    fn event(&self, event: &Event<'_>) {
        self.printer.tell(&line(event));
    }

    // Nothing of ours opens a span.
    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

fn line(event: &Event<'_>) -> String {
    let mut fields = Fields::default();
    event.record(&mut fields);
    let metadata = event.metadata();
    format!("{:>5} {}: {}{}", metadata.level(), metadata.target(), fields.message, fields.rest)
}

#[derive(Default)]
struct Fields {
    message: String,
    rest: String,
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        // Writing to a text does not fail.
        let _ = if field.name() == "message" {
            write!(self.message, "{value:?}")
        } else {
            write!(self.rest, " {}={value:?}", field.name())
        };
    }
}
