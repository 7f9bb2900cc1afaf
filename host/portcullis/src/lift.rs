//! Break-glass: an operator lifts a standing refusal for a while.
//!
//! A standing refusal is one for a plugin that cannot be used. What a guard that runs
//! decides, or fails to decide, cannot be lifted.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use portcullis_runtime::clock;
use serde::{Deserialize, Serialize};
use tempfile::NamedTempFile;

/// The longest that a refusal is lifted for.
pub const LIFT_MAX: Duration = Duration::from_secs(24 * 3600);
/// The most bytes of the file that are read.
const FILE_MAX: u64 = 64 << 10;

/// A standing refusal that does not count for a while.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lift {
    /// The name that the refusal gives: a plugin's, or its file's.
    pub name: String,
    /// From when, in seconds since 1970.
    pub since: i64,
    /// Until when.
    pub until: i64,
    /// Why, in the operator's words.
    pub reason: String,
}

/// The refusals that are lifted, in a file of the user's alone.
#[derive(Debug, Clone)]
pub struct Lifts {
    file: PathBuf,
}

impl Lifts {
    /// Those of `file`, which need not be there.
    #[must_use]
    pub const fn new(file: PathBuf) -> Self {
        Self { file }
    }

    /// Those that count now. A file that is not ours alone, or that cannot be
    /// understood, lifts nothing; neither does one from the future, because a clock
    /// that was set back would let it count for longer than was said.
    #[must_use]
    pub fn active(&self) -> Vec<Lift> {
        let now = clock::utc().as_second();
        let mut lifts = self.read().unwrap_or_else(|error| {
            tracing::warn!("what is lifted cannot be read, so nothing is: {error}");
            Vec::new()
        });
        let longest = i64::try_from(LIFT_MAX.as_secs()).unwrap_or(i64::MAX);
        lifts.retain(|lift| {
            lift.since <= now && now < lift.until && lift.until.saturating_sub(lift.since) <= longest
        });
        lifts
    }

    /// Lifts the refusal of `name` from now on.
    ///
    /// # Errors
    /// When `time` is longer than [`LIFT_MAX`], or the file cannot be written.
    pub fn add(&self, name: &str, time: Duration, reason: &str) -> io::Result<Lift> {
        if time > LIFT_MAX {
            let hours = LIFT_MAX.as_secs() / 3600;
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                format!("the longest time is {hours} h"),
            ));
        }
        let since = clock::utc().as_second();
        let until = since.saturating_add(i64::try_from(time.as_secs()).unwrap_or(i64::MAX));
        let lift = Lift { name: name.to_owned(), since, until, reason: reason.to_owned() };
        let mut lifts = self.active();
        lifts.retain(|held| held.name != lift.name);
        lifts.push(lift.clone());
        self.write(&lifts)?;
        Ok(lift)
    }

    /// Lets the refusal of `name` count again. Says whether it had been lifted.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn end(&self, name: &str) -> io::Result<bool> {
        let mut lifts = self.active();
        let before = lifts.len();
        lifts.retain(|lift| lift.name != name);
        let ended = lifts.len() < before;
        if ended {
            self.write(&lifts)?;
        }
        Ok(ended)
    }

    fn read(&self) -> io::Result<Vec<Lift>> {
        let file = match OpenOptions::new().read(true).custom_flags(NO_FOLLOW).open(&self.file) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let meta = file.metadata()?;
        let ours = meta.uid() == rustix::process::geteuid().as_raw();
        if !meta.is_file() || !ours || meta.mode() & 0o077 != 0 {
            return Err(io::Error::other("the file is not the user's alone"));
        }
        let mut text = String::new();
        file.take(FILE_MAX).read_to_string(&mut text)?;
        Ok(serde_json::from_str(&text)?)
    }

    fn write(&self, lifts: &[Lift]) -> io::Result<()> {
        let folder = self.file.parent().unwrap_or(Path::new("/"));
        fs::create_dir_all(folder)?;
        // Its mode is 0600 from the beginning.
        let mut new = NamedTempFile::new_in(folder)?;
        new.write_all(serde_json::to_string(lifts)?.as_bytes())?;
        new.as_file().sync_all()?;
        new.persist(&self.file)?;
        File::open(folder)?.sync_all()
    }
}

const NO_FOLLOW: i32 = rustix::fs::OFlags::NOFOLLOW.bits().cast_signed();

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test ends when anything is wrong")]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn lift(since: i64, until: i64) -> String {
        let lift = Lift { name: "a".to_owned(), since, until, reason: "r".to_owned() };
        serde_json::to_string(&[lift]).unwrap()
    }

    #[test]
    fn a_lift_counts_within_its_time_and_ends_before_it_when_told() {
        let dir = tempfile::tempdir().unwrap();
        let lifts = Lifts::new(dir.path().join("state/lifted.json"));
        assert_eq!(lifts.active(), []);
        let added = lifts.add("a.wasm", Duration::from_secs(60), "why").unwrap();
        assert_eq!(lifts.active(), [added]);
        lifts.add("b", Duration::ZERO, "over at once").unwrap();
        assert_eq!(lifts.active().len(), 1);
        assert!(lifts.end("a.wasm").unwrap() && !lifts.end("a.wasm").unwrap());
        assert_eq!(lifts.active(), []);
        assert!(lifts.add("a", LIFT_MAX + Duration::from_secs(1), "too long").is_err());
    }

    #[test]
    fn what_is_over_or_not_yet_or_too_long_or_not_ours_alone_lifts_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("lifted.json");
        let lifts = Lifts::new(file.clone());
        let now = clock::utc().as_second();
        for (text, mode, counts) in [
            (lift(now - 10, now + 600), 0o600, 1),
            (lift(now - 600, now - 10), 0o600, 0),
            (lift(now + 600, now + 1200), 0o600, 0),
            (lift(now - 10, now + 90_000), 0o600, 0),
            (lift(now - 10, now + 600), 0o644, 0),
            (lift(now - 10, now + 600).replace("\"reason\"", "\"raeson\""), 0o600, 0),
            ("[".to_owned(), 0o600, 0),
            (String::new(), 0o600, 0),
        ] {
            fs::write(&file, &text).unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
            assert_eq!(lifts.active().len(), counts, "{mode:o} {text}");
        }
        let elsewhere = dir.path().join("elsewhere.json");
        fs::write(&elsewhere, lift(now - 10, now + 600)).unwrap();
        fs::set_permissions(&elsewhere, fs::Permissions::from_mode(0o600)).unwrap();
        fs::remove_file(&file).unwrap();
        std::os::unix::fs::symlink(&elsewhere, &file).unwrap();
        assert_eq!(lifts.active(), [], "a link is not followed");
    }
}
