//! What the guard refuses, one word each.

use serde::Deserialize;

/// A family of commands. Its word is the refusal's code, and the key in the
/// settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Category {
    Rm,
    GitReset,
    GitClean,
    GitPush,
    ForceWithLease,
    GitBranch,
    Sql,
    Mkfs,
    Dd,
    Chmod,
    Power,
    ForkBomb,
    PipeToShell,
    Suspect,
}

impl Category {
    /// The word that programs see.
    pub(crate) const fn code(self) -> &'static str {
        match self {
            Self::Rm => "rm",
            Self::GitReset => "git-reset",
            Self::GitClean => "git-clean",
            Self::GitPush => "git-push",
            Self::ForceWithLease => "force-with-lease",
            Self::GitBranch => "git-branch",
            Self::Sql => "sql",
            Self::Mkfs => "mkfs",
            Self::Dd => "dd",
            Self::Chmod => "chmod",
            Self::Power => "power",
            Self::ForkBomb => "fork-bomb",
            Self::PipeToShell => "pipe-to-shell",
            Self::Suspect => "suspect",
        }
    }

    /// What the model is told about it.
    pub(crate) const fn why(self) -> &'static str {
        match self {
            Self::Rm => "recursive or forced delete",
            Self::GitReset => "discards uncommitted work",
            Self::GitClean => "deletes untracked files",
            Self::GitPush | Self::ForceWithLease => "rewrites remote history",
            Self::GitBranch => "deletes a branch without a merge check",
            Self::Sql => "destroys database data",
            Self::Mkfs | Self::Dd => "writes to a raw device",
            Self::Chmod => "makes files world-writable",
            Self::Power => "affects the whole machine",
            Self::ForkBomb => "fork bomb",
            Self::PipeToShell => "pipes a download into a shell",
            Self::Suspect => "suspect: a part of it cannot be understood before it runs",
        }
    }

    /// Whether it is refused when the settings say nothing.
    pub(crate) const fn blocks_by_default(self) -> bool {
        !matches!(self, Self::ForceWithLease)
    }
}

#[cfg(test)]
mod tests {
    use super::Category;

    #[test]
    fn a_word_in_the_settings_is_the_code_of_the_refusal() {
        for word in ["rm", "git-reset", "force-with-lease", "fork-bomb", "pipe-to-shell", "suspect"] {
            let deserializer = serde::de::value::StrDeserializer::<serde::de::value::Error>::new(word);
            let category = <Category as serde::Deserialize>::deserialize(deserializer).unwrap();
            assert_eq!(category.code(), word);
        }
    }
}
