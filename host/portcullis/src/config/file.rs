//! Reading one file: its text, and what it says or what is wrong with it.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use portcullis_runtime::Digest;

use super::problem::{Layer, Problem};
use super::walk::{self, Said};

/// The largest file, in bytes.
const SIZE_MAX: u64 = 1 << 20;

/// What a file says, and the digest of the bytes that say it; none when it is not there.
#[derive(Debug, Default)]
pub(super) struct Content {
    pub(super) digest: Option<Digest>,
    pub(super) said: Vec<Said>,
}

/// All that `path` says. A file that is not there says nothing.
pub(super) fn read(layer: Layer, path: &Path) -> Result<Content, Vec<Problem>> {
    let problem = |message: String, hint: &str| {
        vec![Problem {
            layer,
            file: path.to_owned(),
            at: None,
            key: None,
            message,
            hint: Some(hint.to_owned()),
        }]
    };
    match bytes(path) {
        Ok(None) => Ok(Content::default()),
        Ok(Some(bytes)) if bytes.len() as u64 > SIZE_MAX => {
            Err(problem(format!("is larger than {SIZE_MAX} bytes"), "take out what does not belong there"))
        }
        Ok(Some(bytes)) => match std::str::from_utf8(&bytes) {
            Ok(text) => {
                let said = walk::read(layer, path, text)?;
                Ok(Content { digest: Some(Digest::of(&bytes)), said })
            }
            Err(error) => {
                let line = bytes.iter().take(error.valid_up_to()).filter(|byte| **byte == b'\n').count() + 1;
                Err(problem(format!("is not UTF-8 in line {line}"), "save it as UTF-8"))
            }
        },
        Err(error) => {
            Err(problem(format!("cannot be read: {error}"), "mend its permissions or move it away"))
        }
    }
}

/// The file's bytes, one more than the most at the most. Only a regular file is
/// opened, because a pipe might never end.
fn bytes(path: &Path) -> io::Result<Option<Vec<u8>>> {
    match std::fs::metadata(path) {
        Ok(metadata) if metadata.is_file() => {}
        Ok(_) => return Err(io::Error::other("it is not a file")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(SIZE_MAX + 1).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}
