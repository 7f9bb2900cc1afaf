//! What is wrong with a place rather than with one skill.

use std::fmt;
use std::path::PathBuf;

use serde::{Serialize, Serializer};

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $word:literal;)*) => {
        /// What can be wrong with a place.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum ScanCode {
            $($(#[$doc])* $name,)*
        }

        impl ScanCode {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// The stable word.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $word,)* }
            }
        }
    };
}

codes! {
    /// A directory of skills that somebody asked for is not there.
    RootMissing = "root_missing";
    /// A directory cannot be listed.
    DirectoryUnreadable = "directory_unreadable";
    /// A `SKILL.md` lies in the directory of skills itself, where it has no name.
    RootIsSkill = "root_is_skill";
    /// A link is not followed.
    LinkNotFollowed = "link_not_followed";
    /// A link leads nowhere.
    LinkDangling = "link_dangling";
    /// A name is not UTF-8.
    NameNotUtf8 = "name_not_utf8";
    /// Directories are nested deeper than is looked.
    TooDeep = "too_deep";
    /// There are more directories or skills than are looked at.
    TooMany = "too_many";
    /// Looking took too long.
    TooSlow = "too_slow";
}

impl fmt::Display for ScanCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for ScanCode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// Something that is wrong with a place.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Problem {
    /// Where.
    pub path: PathBuf,
    /// What it is.
    pub code: ScanCode,
    /// What is wrong, in a sentence.
    pub message: String,
    /// What to do about it.
    pub remedy: String,
}
