//! The time of day, in one place.

use jiff::{Timestamp, ZonedDateTime};

/// A moment, with the local zone's offset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moment {
    /// Seconds since 1970-01-01T00:00:00Z.
    pub seconds: i64,
    /// Nanoseconds within the second.
    pub nanoseconds: u32,
    /// The local zone's offset from UTC, in seconds east.
    pub offset_seconds: i32,
    /// The local zone's name; empty when unknown.
    pub zone: String,
}

/// Now.
#[must_use]
pub fn now() -> Moment {
    let now = ZonedDateTime::now();
    let timestamp = now.timestamp();
    Moment {
        seconds: timestamp.as_second(),
        nanoseconds: u32::try_from(timestamp.subsec_nanosecond()).unwrap_or(0),
        offset_seconds: now.offset().seconds(),
        zone: now.time_zone().iana_name().unwrap_or_default().to_owned(),
    }
}

/// Now, in UTC. Asks nobody which zone this is, which takes files to find out.
#[must_use]
pub fn utc() -> Timestamp {
    Timestamp::now()
}
