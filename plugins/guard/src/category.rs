//! What the guard refuses, one word each.

use serde::Deserialize;

/// A family of commands. Its word is the refusal's code, and the key in the
/// settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Category {
    Rm,
    Rsync,
    Overwrite,
    RemoteDelete,
    GitReset,
    GitClean,
    GitDiscard,
    GitRm,
    GitPush,
    ForceWithLease,
    GitBranch,
    GitHistory,
    Sql,
    Infra,
    Mkfs,
    Dd,
    Device,
    Chmod,
    Power,
    ForkBomb,
    PipeToShell,
    Decoded,
    Suspect,
}

impl Category {
    /// The word that programs see.
    pub(crate) const fn code(self) -> &'static str {
        match self {
            Self::Rm => "rm",
            Self::Rsync => "rsync",
            Self::Overwrite => "overwrite",
            Self::RemoteDelete => "remote-delete",
            Self::GitReset => "git-reset",
            Self::GitClean => "git-clean",
            Self::GitDiscard => "git-discard",
            Self::GitRm => "git-rm",
            Self::GitPush => "git-push",
            Self::ForceWithLease => "force-with-lease",
            Self::GitBranch => "git-branch",
            Self::GitHistory => "git-history",
            Self::Sql => "sql",
            Self::Infra => "infra",
            Self::Mkfs => "mkfs",
            Self::Dd => "dd",
            Self::Device => "device",
            Self::Chmod => "chmod",
            Self::Power => "power",
            Self::ForkBomb => "fork-bomb",
            Self::PipeToShell => "pipe-to-shell",
            Self::Decoded => "decoded",
            Self::Suspect => "suspect",
        }
    }

    /// What the model is told about it.
    pub(crate) const fn why(self) -> &'static str {
        match self {
            Self::Rm => "recursive or forced delete",
            Self::Rsync => "deletes what the source does not have",
            Self::Overwrite => "destroys the content of a file",
            Self::RemoteDelete => "recursive delete by a tool",
            Self::GitReset | Self::GitDiscard => "discards uncommitted work",
            Self::GitClean => "deletes untracked files",
            Self::GitRm => "deletes tracked files with their changes",
            Self::GitPush | Self::ForceWithLease => "rewrites remote history",
            Self::GitBranch => "deletes a branch without a merge check",
            Self::GitHistory => "destroys what history could restore",
            Self::Sql => "destroys database data",
            Self::Infra => "destroys infrastructure or stored data",
            Self::Mkfs | Self::Dd => "writes to a raw device",
            Self::Device => "destroys a disk, a partition or a volume",
            Self::Chmod => "makes files world-writable",
            Self::Power => "affects the whole machine",
            Self::ForkBomb => "fork bomb",
            Self::PipeToShell => "pipes a download into a shell",
            Self::Decoded => "runs an encoded text that cannot be read before it runs",
            Self::Suspect => "suspect: a part of it cannot be understood before it runs",
        }
    }

    /// What the model can do instead, as a sentence.
    pub(crate) const fn safe_step(self) -> Option<&'static str> {
        Some(match self {
            Self::Rsync => "`rsync --dry-run` shows what it would delete.",
            Self::Overwrite => "Copy the file aside first.",
            Self::GitDiscard => "`git stash` puts changes aside, and `git stash pop` brings them back.",
            Self::GitRm => "`git rm --cached` keeps the files.",
            Self::GitPush => "`git push --force-with-lease` loses nobody's commits.",
            Self::GitBranch => "`git branch -d` deletes what is merged.",
            Self::Infra => "List or plan what it would remove, and show that.",
            Self::Chmod => "Give rights to those who need them, as `chmod 755` or `chmod u+rwx` does.",
            Self::PipeToShell => "Download it to a file, and read the file.",
            Self::Decoded => "Decode it to a file, and read the file.",
            Self::Suspect => "Write it more plainly.",
            Self::Rm
            | Self::RemoteDelete
            | Self::GitReset
            | Self::GitClean
            | Self::ForceWithLease
            | Self::GitHistory
            | Self::Sql
            | Self::Mkfs
            | Self::Dd
            | Self::Device
            | Self::Power
            | Self::ForkBomb => return None,
        })
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
        for word in [
            "rm",
            "rsync",
            "overwrite",
            "remote-delete",
            "git-reset",
            "git-clean",
            "git-discard",
            "git-rm",
            "git-push",
            "force-with-lease",
            "git-branch",
            "git-history",
            "sql",
            "infra",
            "mkfs",
            "dd",
            "device",
            "chmod",
            "power",
            "fork-bomb",
            "pipe-to-shell",
            "decoded",
            "suspect",
        ] {
            let deserializer = serde::de::value::StrDeserializer::<serde::de::value::Error>::new(word);
            let category = <Category as serde::Deserialize>::deserialize(deserializer).unwrap();
            assert_eq!(category.code(), word);
        }
    }

    #[test]
    fn only_a_lease_passes_by_default() {
        assert!(!Category::ForceWithLease.blocks_by_default());
        assert!(Category::GitDiscard.blocks_by_default());
    }
}
