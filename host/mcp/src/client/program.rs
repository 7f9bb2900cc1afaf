//! Which program a server is, and what it is started with.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::error::Failure;
use super::secret::Secrets;

/// A program that speaks MCP over its standard input and output.
#[derive(Clone)]
pub struct Program {
    /// Its file, by its absolute path.
    pub path: PathBuf,
    /// What it is told, word by word: no shell reads it.
    pub arguments: Vec<String>,
    /// Where it runs.
    pub directory: PathBuf,
    /// Its whole environment.
    pub variables: BTreeMap<String, String>,
    /// What is hidden wherever its words are shown.
    pub secrets: Secrets,
}

impl Program {
    /// The program that `command` means: a name without a `/` is looked for in the `PATH`
    /// of `variables`, anything else is a path, in `directory` when it is relative.
    ///
    /// # Errors
    /// When it is not there.
    pub fn find(
        command: &str,
        arguments: Vec<String>,
        directory: PathBuf,
        variables: BTreeMap<String, String>,
        secrets: Secrets,
    ) -> Result<Self, Failure> {
        let path = if command.contains('/') {
            Some(directory.join(command)).filter(|path| path.exists())
        } else {
            let dirs = variables.get("PATH").map(String::as_str).unwrap_or_default();
            let dirs = dirs.split(':').filter(|dir| dir.starts_with('/'));
            dirs.map(|dir| Path::new(dir).join(command)).find(|path| is_program(path))
        };
        let path = path.filter(|_| !command.is_empty() && !command.contains('\0'));
        let path = path.ok_or_else(|| Failure::NoProgram(command.to_owned()))?;
        Ok(Self { path, arguments, directory, variables, secrets })
    }

    /// Its file's name.
    #[must_use]
    pub fn name(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }
}

/// The values of its environment are nobody's business.
impl std::fmt::Debug for Program {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Program")
            .field("path", &self.path)
            .field("arguments", &self.arguments)
            .field("directory", &self.directory)
            .finish_non_exhaustive()
    }
}

fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    fs::metadata(path).is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::{Path, PathBuf};

    use super::{Failure, Program, Secrets};

    fn found(command: &str, directory: &Path, path: &str) -> Result<PathBuf, Failure> {
        let variables = BTreeMap::from([("PATH".to_owned(), path.to_owned())]);
        let arguments = vec!["; touch x".to_owned()];
        let program = Program::find(command, arguments, directory.to_owned(), variables, Secrets::default())?;
        Ok(program.path)
    }

    #[test]
    fn a_relative_command_is_of_the_workspace_and_a_name_is_of_the_path() {
        let there = tempfile::tempdir().unwrap();
        let file = there.path().join("serve");
        std::fs::write(&file, "").unwrap();
        assert_eq!(found("./serve", there.path(), "/bin").unwrap(), there.path().join("./serve"));
        assert_eq!(found("sh", there.path(), "relative:/nowhere:/bin").unwrap(), Path::new("/bin/sh"));
        let none = |command: &str| Err(Failure::NoProgram(command.to_owned()));
        for wrong in ["serve", "./other", "", "s\0h", "sh -c true"] {
            assert_eq!(found(wrong, there.path(), "/bin"), none(wrong), "{wrong:?}");
        }
        // Without the right to run it is no program.
        let path = there.path().to_string_lossy().into_owned();
        assert_eq!(found("serve", Path::new("/"), &path), none("serve"));
    }
}
