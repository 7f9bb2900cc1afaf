//! Numbers of a configuration file, each between its bounds.

use std::time::Duration;

use serde::{Deserialize, Deserializer};

/// A number of levels, from 1 to 32. The default is 3.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Depth(u8);

impl Depth {
    /// The most that it can be.
    pub(crate) const MOST: i64 = 32;

    /// The number.
    #[must_use]
    pub const fn get(self) -> usize {
        self.0 as usize
    }
}

impl Default for Depth {
    fn default() -> Self {
        Self(3)
    }
}

impl<'de> Deserialize<'de> for Depth {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        const MAX: i64 = Depth::MOST;
        let value = i64::deserialize(deserializer)?;
        let depth = u8::try_from(value).ok().filter(|_| (1..=MAX).contains(&value)).map(Self);
        depth.ok_or_else(|| serde::de::Error::custom(format_args!("1 to {MAX} levels: `{value}`")))
    }
}

/// A number of servers that run at once, from 1 to 100. The default is 20.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClientCount(u8);

impl ClientCount {
    /// The most that it can be.
    pub(crate) const MOST: i64 = 100;

    /// The number.
    #[must_use]
    pub const fn get(self) -> usize {
        self.0 as usize
    }
}

impl Default for ClientCount {
    fn default() -> Self {
        Self(20)
    }
}

impl<'de> Deserialize<'de> for ClientCount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        const MAX: i64 = ClientCount::MOST;
        let value = i64::deserialize(deserializer)?;
        let count = u8::try_from(value).ok().filter(|_| (1..=MAX).contains(&value)).map(Self);
        count.ok_or_else(|| serde::de::Error::custom(format_args!("1 to {MAX} servers: `{value}`")))
    }
}

/// A number of an agent's answers, from 1 to 100. The default is 8.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rounds(u8);

impl Rounds {
    /// The most that it can be.
    pub(crate) const MOST: i64 = 100;

    /// The number.
    #[must_use]
    pub const fn get(self) -> u32 {
        self.0 as u32
    }
}

impl Default for Rounds {
    fn default() -> Self {
        Self(8)
    }
}

impl<'de> Deserialize<'de> for Rounds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        const MAX: i64 = Rounds::MOST;
        let value = i64::deserialize(deserializer)?;
        u8::try_from(value)
            .ok()
            .filter(|_| (1..=MAX).contains(&value))
            .map(Self)
            .ok_or_else(|| serde::de::Error::custom(format_args!("1 to {MAX} turns: `{value}`")))
    }
}

/// A time from 1 ms to 10 minutes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Millis(u32);

impl Millis {
    /// The most that it can be.
    pub(crate) const MOST: i64 = 600_000;

    /// The time.
    #[must_use]
    pub fn get(self) -> Duration {
        Duration::from_millis(u64::from(self.0))
    }
}

impl<'de> Deserialize<'de> for Millis {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        const MAX: i64 = Millis::MOST;
        let value = i64::deserialize(deserializer)?;
        u32::try_from(value).ok().filter(|_| (1..=MAX).contains(&value)).map(Self).ok_or_else(|| {
            serde::de::Error::custom(format_args!("a time is 1 to {MAX} milliseconds: `{value}`"))
        })
    }
}

/// A memory size from 1 MiB to 4,000 MiB.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mebibytes(u16);

impl Mebibytes {
    /// The most that it can be.
    pub(crate) const MOST: i64 = 4_000;

    /// The size in bytes.
    #[must_use]
    pub fn bytes(self) -> usize {
        usize::from(self.0) << 20
    }
}

impl<'de> Deserialize<'de> for Mebibytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        const MAX: i64 = Mebibytes::MOST;
        let value = i64::deserialize(deserializer)?;
        u16::try_from(value).ok().filter(|_| (1..=MAX).contains(&value)).map(Self).ok_or_else(|| {
            serde::de::Error::custom(format_args!("a memory size is 1 to {MAX} MiB: `{value}`"))
        })
    }
}

/// A size of a file from 64 KiB to 1 GiB. The default is 16 MiB.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileSize(u64);

impl FileSize {
    /// The least that it can be.
    pub(crate) const LEAST: i64 = 1 << 16;
    /// The most that it can be.
    pub(crate) const MOST: i64 = 1 << 30;

    /// In bytes.
    #[must_use]
    pub const fn bytes(self) -> u64 {
        self.0
    }
}

impl Default for FileSize {
    fn default() -> Self {
        Self(16 << 20)
    }
}

impl<'de> Deserialize<'de> for FileSize {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        const RANGE: std::ops::RangeInclusive<i64> = FileSize::LEAST..=FileSize::MOST;
        let value = i64::deserialize(deserializer)?;
        u64::try_from(value).ok().filter(|_| RANGE.contains(&value)).map(Self).ok_or_else(|| {
            let (least, most) = (RANGE.start(), RANGE.end());
            serde::de::Error::custom(format_args!("a size of a file is {least} to {most} bytes: `{value}`"))
        })
    }
}

/// A number of files from 1 to 1,000. The default is 8.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileCount(u16);

impl FileCount {
    /// The most that it can be.
    pub(crate) const MOST: i64 = 1_000;

    /// The number.
    #[must_use]
    pub const fn get(self) -> usize {
        self.0 as usize
    }
}

impl Default for FileCount {
    fn default() -> Self {
        Self(8)
    }
}

impl<'de> Deserialize<'de> for FileCount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        const MAX: i64 = FileCount::MOST;
        let value = i64::deserialize(deserializer)?;
        u16::try_from(value)
            .ok()
            .filter(|_| (1..=MAX).contains(&value))
            .map(Self)
            .ok_or_else(|| serde::de::Error::custom(format_args!("1 to {MAX} files are kept: `{value}`")))
    }
}
