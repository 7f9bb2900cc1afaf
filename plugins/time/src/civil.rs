//! Civil dates by arithmetic: the proleptic Gregorian calendar, which repeats
//! itself every 400 years.

use std::fmt;

use portcullis_sdk::clock::Moment;

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const WEEKDAYS: [&str; 7] = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

const DAY: i64 = 86_400;
/// Days in 400 years, in 100 years without their leap day, and in 4 years.
const DAYS_IN_400_YEARS: i64 = 146_097;
const DAYS_IN_100_YEARS: i64 = 36_524;
const DAYS_IN_4_YEARS: i64 = 1_461;
/// Days from 0000-03-01 to 1970-01-01.
const EPOCH: i64 = 719_468;

/// A moment on the local calendar and clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Local {
    year: i64,
    /// 1 to 12.
    month: i64,
    /// 1 to 31.
    day: i64,
    /// Days since Monday.
    weekday: i64,
    /// Since midnight.
    seconds: i64,
    offset: Offset,
}

impl Local {
    pub(crate) fn of(moment: &Moment) -> Self {
        let local = moment.seconds.saturating_add(i64::from(moment.offset_seconds));
        let days = local.div_euclid(DAY);
        let (year, month, day) = date(days);
        Self {
            year,
            month,
            day,
            // 1970-01-01 was a Thursday.
            weekday: (days + 3).rem_euclid(7),
            seconds: local.rem_euclid(DAY),
            offset: Offset(moment.offset_seconds),
        }
    }

    /// Such as `2026-11-30T02:16:00+01:00`.
    pub(crate) fn iso8601(&self) -> String {
        format!("{:04}-{:02}-{:02}T{}{}", self.year, self.month, self.day, self.clock(), self.offset)
    }

    /// Such as `Monday, 30 November 2026, 02:16:00 (Europe/Berlin, UTC+01:00)`.
    pub(crate) fn in_words(&self, zone: &str) -> String {
        let weekday = name(&WEEKDAYS, self.weekday);
        let month = name(&MONTHS, self.month - 1);
        let separator = if zone.is_empty() { "" } else { ", " };
        format!(
            "{weekday}, {} {month} {}, {} ({zone}{separator}UTC{})",
            self.day,
            self.year,
            self.clock(),
            self.offset
        )
    }

    fn clock(&self) -> String {
        format!("{:02}:{:02}:{:02}", self.seconds / 3600, self.seconds / 60 % 60, self.seconds % 60)
    }
}

/// Year, month and day of a day counted from 1970-01-01.
fn date(days: i64) -> (i64, i64, i64) {
    // Counted from 1 March, a year ends with its leap day, and the months before
    // it have 31, 30, 31, 30, 31 days, again and again: 153 in five.
    let days = days + EPOCH;
    let (era, day_of_era) = (days.div_euclid(DAYS_IN_400_YEARS), days.rem_euclid(DAYS_IN_400_YEARS));
    let leap_days = day_of_era / (DAYS_IN_4_YEARS - 1) - day_of_era / DAYS_IN_100_YEARS
        + day_of_era / (DAYS_IN_400_YEARS - 1);
    let year_of_era = (day_of_era - leap_days) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let months_since_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * months_since_march + 2) / 5 + 1;
    let month = (months_since_march + 2) % 12 + 1;
    let year = era * 400 + year_of_era + i64::from(month <= 2);
    (year, month, day)
}

fn name<const N: usize>(names: &[&'static str; N], index: i64) -> &'static str {
    usize::try_from(index).ok().and_then(|index| names.get(index)).copied().unwrap_or("?")
}

/// Seconds east of UTC, written as `+01:00`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Offset(i32);

impl fmt::Display for Offset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { '-' } else { '+' };
        let minutes = self.0.unsigned_abs() / 60;
        write!(f, "{sign}{:02}:{:02}", minutes / 60, minutes % 60)
    }
}

#[cfg(test)]
mod tests {
    use portcullis_sdk::clock::Moment;
    use proptest::prelude::*;

    use super::{DAY, EPOCH, Local, date};

    fn told(seconds: i64, offset: i32, zone: &str) -> (String, String) {
        let local = Local::of(&Moment::new(seconds, offset, zone));
        (local.iso8601(), local.in_words(zone))
    }

    #[test]
    fn the_epoch_was_a_thursday() {
        let (iso, words) = told(0, 0, "UTC");
        assert_eq!(iso, "1970-01-01T00:00:00+00:00");
        assert_eq!(words, "Thursday, 1 January 1970, 00:00:00 (UTC, UTC+00:00)");
    }

    #[test]
    fn a_leap_day_is_a_day() {
        assert_eq!(told(951_782_400, 0, "").0, "2000-02-29T00:00:00+00:00");
        assert_eq!(told(1_709_164_800, 0, "").0, "2024-02-29T00:00:00+00:00");
        // 1900 had none.
        assert_eq!(told(-2_203_891_200, 0, "").0, "1900-03-01T00:00:00+00:00");
        assert_eq!(told(-2_203_891_201, 0, "").0, "1900-02-28T23:59:59+00:00");
    }

    #[test]
    fn an_offset_can_turn_the_day() {
        assert_eq!(told(1_798_761_599, 1, "").0, "2027-01-01T00:00:00+00:00");
        assert_eq!(told(1_798_761_600, -12_600, "").0, "2026-12-31T20:30:00-03:30");
    }

    #[test]
    fn an_unknown_zone_leaves_the_offset() {
        assert_eq!(told(0, 20_700, "").1, "Thursday, 1 January 1970, 05:45:00 (UTC+05:45)");
    }

    #[test]
    fn a_senseless_clock_does_not_end_the_plugin() {
        told(i64::MAX, i32::MAX, "");
        told(i64::MIN, i32::MIN, "");
    }

    /// Counted the slow way, year by year and month by month.
    fn days_to(year: i64, month: i64, day: i64) -> i64 {
        let leap = |year: i64| (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
        let mut days = 0;
        for year in 1970..year {
            days += if leap(year) { 366 } else { 365 };
        }
        for year in year..1970 {
            days -= if leap(year) { 366 } else { 365 };
        }
        let february = if leap(year) { 29 } else { 28 };
        let months = [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
        days + months.iter().take(usize::try_from(month - 1).unwrap()).sum::<i64>() + day - 1
    }

    proptest! {
        #[test]
        fn a_date_counts_back_to_its_day(days in -800_000_i64..3_000_000) {
            let (year, month, day) = date(days);
            prop_assert!((1..=12).contains(&month) && (1..=31).contains(&day));
            prop_assert_eq!(days_to(year, month, day), days);
        }

        #[test]
        fn the_next_day_is_the_next_weekday(seconds in -EPOCH * DAY..EPOCH * DAY) {
            let today = Local::of(&Moment::new(seconds, 0, ""));
            let tomorrow = Local::of(&Moment::new(seconds + DAY, 0, ""));
            prop_assert_eq!((today.weekday + 1) % 7, tomorrow.weekday);
        }

        #[test]
        fn a_stamp_always_has_its_shape(seconds in 0..250_000_000_000_i64, offset in -50_400..=50_400) {
            let (iso, _) = told(seconds, offset, "");
            prop_assert_eq!(iso.len(), 25);
        }
    }
}
