//! A file that others write to as well, replaced only if it is still what was read.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use tempfile::{NamedTempFile, TempPath};

use super::InstallError;

/// A file as it was read. A link is followed once, so that a settings file that is
/// kept elsewhere stays there.
#[derive(Debug)]
pub(crate) struct Snapshot {
    path: PathBuf,
    real: PathBuf,
    text: Option<String>,
    executable: bool,
}

impl Snapshot {
    pub(crate) fn read(path: &Path) -> Result<Self, InstallError> {
        let failed = |source| InstallError::Read { path: path.to_owned(), source };
        let real = match fs::canonicalize(path) {
            Ok(real) => real,
            Err(error) if error.kind() == io::ErrorKind::NotFound && path.symlink_metadata().is_err() => {
                return Ok(Self {
                    path: path.to_owned(),
                    real: path.to_owned(),
                    text: None,
                    executable: false,
                });
            }
            Err(error) => return Err(failed(error)),
        };
        let bytes = fs::read(&real).map_err(failed)?;
        let text = String::from_utf8(bytes).map_err(|_| InstallError::NotUtf8 { path: path.to_owned() })?;
        let executable = is_executable(&fs::metadata(&real).map_err(failed)?.permissions());
        Ok(Self { path: path.to_owned(), real, text: Some(text), executable })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn text(&self) -> Option<&str> {
        self.text.as_deref()
    }

    pub(super) const fn executable(&self) -> bool {
        self.executable
    }

    /// Whether the path is a link to where the file is kept.
    pub(super) fn is_link(&self) -> bool {
        self.path.is_symlink()
    }

    /// Puts `text` in the file's place, or takes the file away. A reader sees the old
    /// or the new, and a change that somebody made in between is kept.
    pub(crate) fn replace(&self, text: Option<&str>, executable: bool) -> Result<(), InstallError> {
        let failed = |source| InstallError::Write { path: self.path.clone(), source };
        let changed = || InstallError::Changed { path: self.path.clone() };
        let folder = self.real.parent().ok_or_else(|| failed(io::Error::other("it is in no directory")))?;
        fs::create_dir_all(folder).map_err(failed)?;
        // Between processes of our own there is no moment in between at all.
        let lock = fs::File::open(folder).map_err(failed)?;
        lock.lock().map_err(failed)?;
        let replaced = match (&self.text, text) {
            (None, None) => return Ok(()),
            (None, Some(text)) => {
                let new = self.written(folder, text, executable).map_err(failed)?;
                match new.persist_noclobber(&self.real) {
                    Ok(()) => true,
                    Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => false,
                    Err(error) => return Err(failed(error.error)),
                }
            }
            (Some(old), Some(text)) => {
                let new = self.written(folder, text, executable).map_err(failed)?;
                exchange(&new, &self.real, old).map_err(failed)?
            }
            (Some(old), None) => take_away(folder, &self.real, old).map_err(failed)?,
        };
        if !replaced {
            return Err(changed());
        }
        lock.sync_all().map_err(failed)
    }

    /// A new file beside the old one, with its permissions.
    fn written(&self, folder: &Path, text: &str, executable: bool) -> io::Result<TempPath> {
        let mut new = NamedTempFile::new_in(folder)?;
        new.write_all(text.as_bytes())?;
        let permissions = match fs::metadata(&self.real) {
            Ok(old) if !executable => old.permissions(),
            Ok(_) | Err(_) => fresh(executable),
        };
        fs::set_permissions(new.path(), permissions)?;
        new.as_file().sync_all()?;
        Ok(new.into_temp_path())
    }
}

/// Removes the directories from the file's up to `top`, as far as nothing is in them.
pub(super) fn remove_empty(file: &Path, top: &Path) {
    for directory in file.ancestors().skip(1).take_while(|directory| directory.starts_with(top)) {
        if fs::remove_dir(directory).is_err() {
            return;
        }
    }
}

#[cfg(unix)]
fn is_executable(permissions: &fs::Permissions) -> bool {
    std::os::unix::fs::PermissionsExt::mode(permissions) & 0o100 != 0
}

#[cfg(unix)]
fn fresh(executable: bool) -> fs::Permissions {
    std::os::unix::fs::PermissionsExt::from_mode(if executable { 0o755 } else { 0o644 })
}

/// Takes the file away, and puts it back when it does not hold `old` any more. Says
/// whether it is gone.
fn take_away(folder: &Path, real: &Path, old: &str) -> io::Result<bool> {
    let aside = NamedTempFile::new_in(folder)?.into_temp_path();
    fs::rename(real, &aside)?;
    if fs::read(&aside)? == old.as_bytes() {
        aside.close()?;
        return Ok(true);
    }
    renameat_with(CWD, &*aside, CWD, real, RenameFlags::NOREPLACE)?;
    // Its name has gone with it.
    drop(aside.close());
    Ok(false)
}

/// Changes places with the file, and back when it does not hold `old` any more. Says
/// whether the new one stays.
fn exchange(new: &Path, real: &Path, old: &str) -> io::Result<bool> {
    let held = |path: &Path| fs::read(path).is_ok_and(|bytes| bytes == old.as_bytes());
    match renameat_with(CWD, new, CWD, real, RenameFlags::EXCHANGE) {
        Ok(()) => {}
        // A file system that cannot: the moment between the look and the rename stays.
        Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS | rustix::io::Errno::NOTSUP) => {
            if !held(real) {
                return Ok(false);
            }
            fs::rename(new, real)?;
            return Ok(true);
        }
        Err(error) => return Err(error.into()),
    }
    if held(new) {
        return Ok(true);
    }
    renameat_with(CWD, new, CWD, real, RenameFlags::EXCHANGE)?;
    Ok(false)
}
