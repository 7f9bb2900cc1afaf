//! The environment of a server: a few variables of this one, and what is declared.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use super::secret::Secrets;

/// The variables that every server gets: none of them is a secret.
const SHARED: [&str; 12] = [
    "HOME",
    "LANG",
    "LANGUAGE",
    "LOGNAME",
    "PATH",
    "SHELL",
    "TERM",
    "TMPDIR",
    "TZ",
    "USER",
    "XDG_CACHE_HOME",
    "XDG_RUNTIME_DIR",
];

/// And those that begin so.
const SHARED_PREFIX: &str = "LC_";

/// Bytes of a file that holds a value.
const FILE_MAX: u64 = 64 << 10;

/// Why a value cannot be had.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VariableError {
    /// The name cannot be one.
    #[error("the variable `{0}` has a name that holds `=` or a zero byte, or none")]
    Name(String),
    /// It refers to a variable that is not there.
    #[error("the variable `{name}` refers to `{wanted}`, which is not set")]
    Missing {
        /// The variable.
        name: String,
        /// What it refers to.
        wanted: String,
    },
    /// It refers to a file that cannot be read.
    #[error("the variable `{name}` refers to the file `{}`, which cannot be read: {why}", file.display())]
    File {
        /// The variable.
        name: String,
        /// The file.
        file: PathBuf,
        /// Why.
        why: String,
    },
    /// A reference of a kind that nobody knows.
    #[error("the variable `{0}` holds a reference that is neither `${{env:NAME}}` nor `${{file:PATH}}`")]
    Reference(String),
}

/// Where values come from.
#[derive(Debug, Clone, Copy)]
pub struct Surroundings<'a> {
    /// The variables of this process.
    pub ambient: &'a BTreeMap<String, String>,
    /// What a relative file is below.
    pub directory: &'a Path,
    /// Every one of them is passed on, whatever it holds.
    pub inherit: bool,
}

impl Surroundings<'_> {
    /// The whole environment of a server that declares these variables, and what is hidden
    /// of it: each declared value, and each that only `inherit` lets pass.
    ///
    /// In a value `${env:NAME}` stands for a variable of this process and `${file:PATH}`
    /// for the text of a file without the line break at its end; `$${` stands for `${`.
    ///
    /// # Errors
    /// When a value cannot be had.
    pub fn resolve(
        &self,
        declared: &BTreeMap<String, String>,
    ) -> Result<(BTreeMap<String, String>, Secrets), VariableError> {
        let is_shared = |name: &str| SHARED.contains(&name) || name.starts_with(SHARED_PREFIX);
        let passed = self.ambient.iter().filter(|(name, _)| self.inherit || is_shared(name));
        let mut variables: BTreeMap<String, String> =
            passed.map(|(name, value)| (name.clone(), value.clone())).collect();
        let mut hidden: Vec<String> =
            variables.iter().filter(|(name, _)| !is_shared(name)).map(|(_, value)| value.clone()).collect();
        for (name, text) in declared {
            if name.is_empty() || name.contains(['=', '\0']) {
                return Err(VariableError::Name(name.clone()));
            }
            let value = self.value(name, text, &mut hidden)?;
            hidden.push(value.clone());
            variables.insert(name.clone(), value);
        }
        Ok((variables, Secrets::new(hidden)))
    }

    /// `text` with its references put in. What they stand for is a secret by itself too.
    fn value(&self, name: &str, text: &str, hidden: &mut Vec<String>) -> Result<String, VariableError> {
        let mut value = String::new();
        let mut rest = text;
        while let Some((before, behind)) = rest.split_once("${") {
            if let Some(before) = before.strip_suffix('$') {
                value.push_str(before);
                value.push_str("${");
                rest = behind;
                continue;
            }
            value.push_str(before);
            let unknown = || VariableError::Reference(name.to_owned());
            let (reference, behind) = behind.split_once('}').ok_or_else(unknown)?;
            let (kind, of) = reference.split_once(':').ok_or_else(unknown)?;
            let found = match kind {
                "env" => self
                    .ambient
                    .get(of)
                    .cloned()
                    .ok_or_else(|| VariableError::Missing { name: name.to_owned(), wanted: of.to_owned() })?,
                "file" => self.file(name, of)?,
                _ => return Err(unknown()),
            };
            value.push_str(&found);
            hidden.push(found);
            rest = behind;
        }
        value.push_str(rest);
        if value.contains('\0') {
            return Err(VariableError::Name(name.to_owned()));
        }
        Ok(value)
    }

    fn file(&self, name: &str, path: &str) -> Result<String, VariableError> {
        let below_home = path.strip_prefix("~/").zip(self.ambient.get("HOME"));
        let file = match below_home {
            Some((rest, home)) => Path::new(home).join(rest),
            None => self.directory.join(path),
        };
        let failed = |why: String| VariableError::File { name: name.to_owned(), file: file.clone(), why };
        let mut text = String::new();
        // A pipe would be waited for.
        let opened = fs::metadata(&file).and_then(|found| match found.is_file() {
            true => File::open(&file),
            false => Err(std::io::Error::other("it is no file")),
        });
        let read = opened.and_then(|opened| opened.take(FILE_MAX + 1).read_to_string(&mut text));
        read.map_err(|error| failed(error.to_string()))?;
        if text.len() as u64 > FILE_MAX {
            return Err(failed(format!("it is longer than {FILE_MAX} bytes")));
        }
        Ok(text
            .strip_suffix('\n')
            .map_or(text.as_str(), |text| text.strip_suffix('\r').unwrap_or(text))
            .to_owned())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::Path;

    use super::{Surroundings, VariableError};

    fn map(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn a_server_gets_a_few_variables_and_what_is_declared() {
        let ambient =
            map(&[("PATH", "/bin"), ("LC_ALL", "C"), ("AWS_SECRET", "hunter22"), ("TOKEN", "t0ken")]);
        let mut from = Surroundings { ambient: &ambient, directory: Path::new("/"), inherit: false };
        let declared = map(&[("AUTH", "Bearer ${env:TOKEN}"), ("PLAIN", "$${x} costs $5")]);
        let (variables, secrets) = from.resolve(&declared).unwrap();
        let wanted =
            map(&[("PATH", "/bin"), ("LC_ALL", "C"), ("AUTH", "Bearer t0ken"), ("PLAIN", "${x} costs $5")]);
        assert_eq!(variables, wanted);
        assert_eq!(secrets.hide("t0ken; Bearer t0ken; /bin"), "[hidden]; [hidden]; /bin");
        from.inherit = true;
        let (variables, secrets) = from.resolve(&declared).unwrap();
        assert_eq!(variables.get("AWS_SECRET").map(String::as_str), Some("hunter22"));
        assert_eq!(secrets.hide("hunter22"), "[hidden]");
    }

    #[test]
    fn a_value_may_lie_in_a_file() {
        let there = tempfile::tempdir().unwrap();
        std::fs::write(there.path().join("token"), "s3cret\r\n").unwrap();
        let ambient = map(&[("HOME", &there.path().to_string_lossy())]);
        let from = Surroundings { ambient: &ambient, directory: there.path(), inherit: false };
        for text in ["${file:token}", "${file:~/token}"] {
            let (variables, secrets) = from.resolve(&map(&[("A", text)])).unwrap();
            assert_eq!(variables.get("A").map(String::as_str), Some("s3cret"), "{text}");
            assert_eq!(secrets.hide("s3cret"), "[hidden]");
        }
        std::fs::write(there.path().join("long"), "x".repeat(70_000)).unwrap();
        for wrong in ["${file:none}", "${file:long}", "${file:.}"] {
            let error = from.resolve(&map(&[("A", wrong)])).unwrap_err();
            assert!(matches!(error, VariableError::File { .. }), "{error}");
        }
    }

    #[test]
    fn a_value_that_cannot_be_had_is_an_error_that_names_it() {
        let ambient = BTreeMap::new();
        let from = Surroundings { ambient: &ambient, directory: Path::new("/"), inherit: false };
        for (text, part) in [
            ("${env:NONE}", "refers to `NONE`, which is not set"),
            ("${keyring:x}", "neither `${env:NAME}` nor"),
            ("${env:x", "neither"),
            ("${x}", "neither"),
        ] {
            let error = from.resolve(&map(&[("A", text)])).unwrap_err().to_string();
            assert!(error.contains("`A`") && error.contains(part), "{error}");
        }
        assert!(from.resolve(&map(&[("A=B", "1")])).is_err());
    }
}
