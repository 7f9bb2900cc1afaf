//! Whatever brings skills, tools, resources or commands: the roles that it can play, and
//! what passes between it and the host.
//!
//! An [`Extension`] plays any mix of roles. Building one does no work: it reads files,
//! starts programs and connects when it is asked for something.

mod change;
mod entry;
mod library;
mod uri;

use std::fmt;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use crate::call::Claims;

pub use change::{Change, ChangeKind, Changes};
pub use entry::{
    CommandEntry, CommandRank, Content, Known, ResourceEntry, SKILL_MIME, SkillEntry, ToolEntry, ToolResult,
    ToolTraits,
};
pub use library::{
    Coverage, DeclaredReference, FileFacts, Library, LibraryFile, LibraryPrompt, LibraryRoot, LibrarySkill,
    LibrarySource, SharedFile, SkippedSkill,
};
pub use uri::decoded;

/// An answer that may take time. Dropping it gives up.
pub type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T, ExtensionError>> + Send + 'a>>;

/// Why an extension cannot answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ExtensionError {
    /// It has nothing of that name. No list of its own names it either.
    #[error("`{extension}` has no {what} `{name}`")]
    Unknown {
        /// The extension.
        extension: String,
        /// `tool`, `resource`, `skill` or `command`.
        what: &'static str,
        /// The name or the URI.
        name: String,
    },
    /// It cannot be asked now. The next time it is tried anew.
    #[error("`{extension}` cannot be asked: {reason}; {remedy}")]
    Unavailable {
        /// The extension.
        extension: String,
        /// What happened.
        reason: String,
        /// What can be done about it.
        remedy: String,
    },
    /// It was asked, and failed in a way that has a name.
    #[error("`{extension}` failed ({code}): {reason}; {remedy}")]
    Failed {
        /// The extension.
        extension: String,
        /// A stable word, such as `server/ended`.
        code: String,
        /// What happened.
        reason: String,
        /// What can be done about it.
        remedy: String,
    },
    /// It answered, and the answer cannot be used.
    #[error("the answer of `{extension}` cannot be used: {reason}")]
    Answer {
        /// The extension.
        extension: String,
        /// What is wrong.
        reason: String,
    },
}

impl ExtensionError {
    /// A stable word.
    #[must_use]
    pub fn code(&self) -> &str {
        match self {
            Self::Failed { code, .. } => code,
            Self::Unknown { .. } | Self::Unavailable { .. } | Self::Answer { .. } => "unavailable",
        }
    }
}

/// Whatever brings skills, tools, resources or commands.
pub trait Extension: fmt::Debug + Send + Sync {
    /// Its id. Unique where it is registered; the same id at a narrower place takes its
    /// place there.
    fn name(&self) -> &str;

    /// False when what it brings comes from another program, whose words are not the
    /// user's.
    fn is_local(&self) -> bool {
        true
    }

    /// It brings skills.
    fn skills(&self) -> Option<&dyn SkillProvider> {
        None
    }

    /// It brings tools and resources.
    fn tools(&self) -> Option<&dyn ToolProvider> {
        None
    }

    /// It brings commands.
    fn commands(&self) -> Option<&dyn CommandProvider> {
        None
    }

    /// What it brings, as far as that is known without asking: no network and no process.
    /// None for a local one asks its lists; for another program it says that nothing is
    /// known yet.
    fn known(&self) -> Option<Known> {
        None
    }

    /// Tells when what it brings changes. None: it never does, or nobody can know.
    fn changes(&self) -> Option<Box<dyn Changes>> {
        None
    }

    /// The directories in which a change may be one of what it brings: a host that watches
    /// asks again then. Cheap: what was found the last time it was asked.
    fn places(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    /// The extensions that it brings in turn, such as the servers of a skill.
    fn children(&self) -> Vec<Arc<dyn Extension>> {
        Vec::new()
    }

    /// Gives back what it holds. Asked once, when nobody can reach it any more.
    fn close(&self) -> Answer<'_, ()> {
        Box::pin(async { Ok(()) })
    }
}

/// Brings skills.
pub trait SkillProvider: Send + Sync {
    /// Every skill.
    fn list(&self) -> Answer<'_, Vec<SkillEntry>>;

    /// The text at `uri`; none when nothing of this provider is there.
    fn read<'a>(&'a self, uri: &'a str) -> Answer<'a, Option<String>>;

    /// Whether something is at `uri`. Cheap: it may go by a list that was made before.
    fn exists<'a>(&'a self, uri: &'a str) -> Answer<'a, bool>;
}

/// Brings tools, and resources beside them.
pub trait ToolProvider: Send + Sync {
    /// Every tool.
    fn list(&self) -> Answer<'_, Vec<ToolEntry>>;

    /// Runs one. An error of the tool's own is a result; [`ExtensionError`] is for a tool
    /// that could not be run.
    fn call<'a>(&'a self, name: &'a str, arguments: &'a Value) -> Answer<'a, ToolResult>;

    /// What a call of it needs for itself while it runs. Cheap: it asks nobody. None: it is
    /// not known, and the call runs beside no other that touches files.
    fn claims(&self, name: &str, arguments: &Value) -> Option<Claims> {
        let _ = (name, arguments);
        None
    }

    /// How long a call may take before it is given up from outside; none: 60 s.
    fn time(&self) -> Option<Duration> {
        None
    }

    /// Every resource.
    fn resources(&self) -> Answer<'_, Vec<ResourceEntry>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    /// The resource at `uri`; none when nothing of this provider is there.
    fn read<'a>(&'a self, uri: &'a str) -> Answer<'a, Option<Content>> {
        let _ = uri;
        Box::pin(async { Ok(None) })
    }

    /// Whether something is at `uri`. Cheap: it may go by a list that was made before.
    fn exists<'a>(&'a self, uri: &'a str) -> Answer<'a, bool> {
        let _ = uri;
        Box::pin(async { Ok(false) })
    }
}

/// Brings commands that a person types.
pub trait CommandProvider: Send + Sync {
    /// Every command.
    fn list(&self) -> Answer<'_, Vec<CommandEntry>>;

    /// The prompt that the command stands for.
    fn resolve<'a>(&'a self, name: &'a str, arguments: &'a str) -> Answer<'a, String>;
}
