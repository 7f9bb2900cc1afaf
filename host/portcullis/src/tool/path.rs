//! Paths as text: joined, folded, never looked up.
//!
//! The directory of the call says which rules hold. Below a POSIX directory a
//! back-slash is a character of a name, and `C:` is a name. Below a Windows
//! directory both slashes separate, and results have forward slashes and no
//! trailing dots or spaces, no streams: the names that Windows drops in silence
//! would otherwise hide what is written.

/// The longest path, in bytes. Linux opens none longer than 4096.
const PATH_MAX: usize = 8192;

/// An absolute directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Directory {
    /// `/`, `C:/`, `//SERVER/SHARE/`, or `//./` for a device.
    root: String,
    /// Its names below the root.
    names: Vec<String>,
    windows: bool,
}

/// Why a text is not a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PathError {
    /// It holds a NUL character.
    Nul,
    /// It has more than [`PATH_MAX`] bytes.
    Long,
    /// It is not absolute.
    Relative,
}

impl Directory {
    /// Reads an absolute path.
    pub(crate) fn new(text: &str) -> Result<Self, PathError> {
        check(text)?;
        if let Some(rest) = text.strip_prefix('/') {
            let mut names = Vec::new();
            fold(&mut names, rest.split('/').map(str::to_owned));
            return Ok(Self { root: "/".to_owned(), names, windows: false });
        }
        let Rooted::Absolute { root, rest } = rooted(text) else { return Err(PathError::Relative) };
        let mut names = Vec::new();
        fold(&mut names, windows_names(rest));
        Ok(Self { root, names, windows: true })
    }

    /// The path as text.
    pub(crate) fn text(&self) -> String {
        format!("{}{}", self.root, self.names.join("/"))
    }

    /// The directory or file that `text` names from here.
    pub(crate) fn join(&self, text: &str) -> Result<Self, PathError> {
        check(text)?;
        let mut joined = self.clone();
        if !self.windows {
            if text.starts_with('/') {
                joined.names.clear();
            }
            fold(&mut joined.names, text.split('/').map(str::to_owned));
            return Ok(joined);
        }
        let rest = match rooted(text) {
            Rooted::Absolute { root, rest } => {
                joined = Self { root, names: Vec::new(), windows: true };
                rest
            }
            Rooted::Drive { root, rest } => {
                if root != self.root {
                    joined = Self { root, names: Vec::new(), windows: true };
                }
                rest
            }
            Rooted::Root { rest } => {
                joined.names.clear();
                rest
            }
            Rooted::Relative => text,
        };
        fold(&mut joined.names, windows_names(rest));
        Ok(joined)
    }

    /// Every path that a tool may mean by `text`: as it stands; without white
    /// space around it; with `~` expanded when `home` is known; a `file:` URI's
    /// path.
    pub(super) fn readings(&self, text: &str, home: Option<&str>) -> Result<Vec<String>, PathError> {
        if let Some(path) = file_uri(text) {
            let path = if self.windows { path.trim_start_matches('/') } else { &path };
            return Ok(vec![self.join(path)?.text()]);
        }
        let mut readings = vec![self.join(text)?.text()];
        let trimmed = text.trim();
        if trimmed != text && !trimmed.is_empty() {
            readings.push(self.join(trimmed)?.text());
        }
        if let (Some(home), Some(rest)) = (home, trimmed.strip_prefix('~')) {
            let below = rest.strip_prefix(['/', '\\']);
            if let Some(below) = below.or_else(|| rest.is_empty().then_some("")) {
                readings.push(self.join(home)?.join(below.trim_start_matches('/'))?.text());
            }
        }
        Ok(readings)
    }

    /// Can a relative `pattern` lead out of this directory?
    pub(super) fn leaves(&self, pattern: &str) -> bool {
        let pattern = pattern.trim_start();
        pattern.starts_with(['/', '~'])
            || pattern.contains("..")
            || file_uri(pattern).is_some()
            || (self.windows && !matches!(rooted(pattern), Rooted::Relative))
    }
}

fn check(text: &str) -> Result<(), PathError> {
    if text.len() > PATH_MAX {
        return Err(PathError::Long);
    }
    if text.contains('\0') { Err(PathError::Nul) } else { Ok(()) }
}

/// The path of a `file:` URI, decoded.
pub(super) fn file_uri(text: &str) -> Option<String> {
    let (scheme, rest) = text.trim().split_once(':')?;
    if !scheme.eq_ignore_ascii_case("file") || !rest.starts_with('/') {
        return None;
    }
    let path = match rest.strip_prefix("//") {
        // An authority stands before the path; it is empty or `localhost`.
        Some(rest) => rest.get(rest.find('/').unwrap_or(rest.len())..)?,
        None => rest,
    };
    let path = path.split(['?', '#']).next()?;
    Some(percent_decoded(path))
}

fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        let digits = (first == b'%').then(|| tail.split_at_checked(2)).flatten();
        let code = digits.and_then(|(digits, after)| {
            let digits = std::str::from_utf8(digits).ok()?;
            // `from_str_radix` would take a sign.
            let hex = digits.bytes().all(|b| b.is_ascii_hexdigit());
            Some((u8::from_str_radix(digits, 16).ok().filter(|_| hex)?, after))
        });
        if let Some((byte, after)) = code {
            bytes.push(byte);
            rest = after;
        } else {
            bytes.push(first);
            rest = tail;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Appends `parts`, folding `.` and `..`; `..` at the root stays there.
fn fold(names: &mut Vec<String>, parts: impl Iterator<Item = String>) {
    for part in parts {
        match part.as_str() {
            "" | "." => {}
            ".." => {
                names.pop();
            }
            _ => names.push(part),
        }
    }
}

/// How a Windows path begins.
enum Rooted<'t> {
    /// `C:\x` or `\\SERVER\SHARE\x`.
    Absolute {
        root: String,
        rest: &'t str,
    },
    /// `C:x`: below that drive's current directory.
    Drive {
        root: String,
        rest: &'t str,
    },
    /// `\x`: below the root of the current drive.
    Root {
        rest: &'t str,
    },
    Relative,
}

fn rooted(text: &str) -> Rooted<'_> {
    const SLASHES: [char; 2] = ['/', '\\'];
    let mut text = text;
    // `\\?\C:\x` and `\\.\C:\x` name the same file as `C:\x`.
    let mut device = false;
    if let Some(&[a, b, b'?' | b'.', c]) = text.as_bytes().first_chunk()
        && [a, b, c].iter().all(|byte| matches!(byte, b'/' | b'\\'))
    {
        text = text.get(4..).unwrap_or_default();
        device = true;
        if let Some((unc, rest)) = text.split_once(SLASHES)
            && unc.eq_ignore_ascii_case("unc")
        {
            return share(rest);
        }
    }
    let mut chars = text.chars();
    if let (Some(drive), Some(':')) = (chars.next(), chars.next())
        && drive.is_ascii_alphabetic()
    {
        let root = format!("{}:/", drive.to_ascii_uppercase());
        let rest = chars.as_str();
        return match rest.strip_prefix(SLASHES) {
            Some(rest) => Rooted::Absolute { root, rest },
            None => Rooted::Drive { root, rest },
        };
    }
    if device {
        return Rooted::Absolute { root: "//./".to_owned(), rest: text };
    }
    match text.strip_prefix(SLASHES) {
        Some(rest) => match rest.strip_prefix(SLASHES) {
            Some(rest) => share(rest),
            None => Rooted::Root { rest },
        },
        None => Rooted::Relative,
    }
}

fn share(text: &str) -> Rooted<'_> {
    let (server, below) = text.split_once(['/', '\\']).unwrap_or((text, ""));
    match server {
        "" | ".." => return Rooted::Root { rest: text },
        "." | "?" => return Rooted::Absolute { root: "//./".to_owned(), rest: below },
        _ => {}
    }
    let (share, rest) = below.split_once(['/', '\\']).unwrap_or((below, ""));
    // No share is called so, and no root may hold it.
    let share = if matches!(share, "." | "..") { "" } else { share };
    Rooted::Absolute { root: format!("//{server}/{share}/"), rest }
}

fn windows_names(text: &str) -> impl Iterator<Item = String> {
    text.split(['/', '\\']).map(|name| {
        if name == "." || name == ".." {
            return name.to_owned();
        }
        // `x:stream` writes into `x`.
        let name = name.split(':').next().unwrap_or_default();
        name.trim_end_matches(['.', ' ']).to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::{Directory, PathError, file_uri};
    use proptest::prelude::*;

    fn join(cwd: &str, path: &str) -> String {
        Directory::new(cwd).unwrap().join(path).unwrap().text()
    }

    #[test]
    fn posix_paths_are_joined_and_folded() {
        assert_eq!(join("/home/dev/app", "src/./a.rs"), "/home/dev/app/src/a.rs");
        assert_eq!(join("/home/dev/app/", "../../dev/x//y/"), "/home/dev/x/y");
        assert_eq!(join("/a", "../../../../etc/passwd"), "/etc/passwd");
        assert_eq!(join("/a", "/etc/./passwd"), "/etc/passwd");
        assert_eq!(join("/a", "..."), "/a/...");
        assert_eq!(join("/a", r"C:\x\..\y"), r"/a/C:\x\..\y");
        assert_eq!(join("/", ".."), "/");
    }

    #[test]
    fn windows_paths_are_joined_and_folded() {
        let cwd = r"c:\Users\dev";
        assert_eq!(join(cwd, r"src\..\.env"), "C:/Users/dev/.env");
        assert_eq!(join(cwd, "D:/x/y"), "D:/x/y");
        assert_eq!(join(cwd, r"\windows"), "C:/windows");
        assert_eq!(join(cwd, "C:x"), "C:/Users/dev/x");
        assert_eq!(join(cwd, "D:x"), "D:/x");
        assert_eq!(join(cwd, r"\\host\share\a\..\b"), "//host/share/b");
        assert_eq!(join(cwd, r"\\?\C:\x"), "C:/x");
        assert_eq!(join(cwd, r"\\.\PhysicalDrive0"), "//./PhysicalDrive0");
        assert_eq!(join(cwd, r"\\"), "C:/");
        assert_eq!(join(cwd, r"\\?\UNC\host\share\x"), "//host/share/x");
        assert_eq!(join(cwd, ".env. . "), "C:/Users/dev/.env");
        assert_eq!(join(cwd, ".env::$DATA"), "C:/Users/dev/.env");
        assert_eq!(join(r"\\host\share", "x"), "//host/share/x");
    }

    #[test]
    fn a_directory_must_be_absolute() {
        for text in ["", ".", "a/b", "~", "C:x", r"\x", "é:/x"] {
            assert_eq!(Directory::new(text), Err(PathError::Relative), "{text}");
        }
        assert_eq!(Directory::new("/a\0b"), Err(PathError::Nul));
    }

    #[test]
    fn a_path_that_tools_read_in_two_ways_gives_both() {
        let cwd = Directory::new("/w").unwrap();
        assert_eq!(cwd.readings("~/.ssh/x", None).unwrap(), ["/w/~/.ssh/x"]);
        assert_eq!(cwd.readings("~/.ssh/x", Some("/home/u")).unwrap(), ["/w/~/.ssh/x", "/home/u/.ssh/x"]);
        assert_eq!(cwd.readings("~", Some("/home/u")).unwrap(), ["/w/~", "/home/u"]);
        assert_eq!(cwd.readings("~root/x", Some("/home/u")).unwrap(), ["/w/~root/x"]);
        assert_eq!(cwd.readings(" .env", None).unwrap(), ["/w/ .env", "/w/.env"]);
        assert_eq!(cwd.readings("file:///etc/pass%77d", None).unwrap(), ["/etc/passwd"]);
        assert_eq!(cwd.readings("file:///a%00b", None), Err(PathError::Nul));
        assert_eq!(Directory::new("C:/w").unwrap().readings("file:///D:/x", None).unwrap(), ["D:/x"]);
    }

    #[test]
    fn a_file_uri_is_decoded() {
        assert_eq!(file_uri("FILE://localhost/a%20b").unwrap(), "/a b");
        assert_eq!(file_uri("file:/a%zz%+1").unwrap(), "/a%zz%+1");
        assert_eq!(file_uri("https://x/y"), None);
        assert_eq!(file_uri("file:x"), None);
    }

    proptest! {
        #[test]
        fn what_comes_out_is_absolute_and_stays_the_same(cwd in r"(/|C:\\|\\\\h\\s\\)[a-z./ \\]{0,12}", path in r".{0,24}|[CD:/\\.? ax]{0,12}") {
            let Ok(cwd) = Directory::new(&cwd) else { return Ok(()) };
            if let Ok(joined) = cwd.join(&path) {
                prop_assert_eq!(&cwd.join(&joined.text()).unwrap().text(), &joined.text());
                prop_assert!(!joined.names.iter().any(|name| name == ".." || name == "."));
            }
        }
    }
}
