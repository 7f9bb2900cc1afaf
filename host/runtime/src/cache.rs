//! Compiled components, kept where only we write.
//!
//! An artifact is machine code that is mapped into this process, so nothing is
//! taken from the cache that we did not put there ourselves. Each file carries a
//! keyed digest (BLAKE3) over its own name and its bytes; the key lies in
//! another directory, and both are open to their owner alone. What differs in
//! anything is a miss, and is compiled again.

use std::fs::{self, File, OpenOptions, Permissions};
use std::hash::{Hash, Hasher};
use std::io::{Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};
use wasmtime::Engine;
use wasmtime::component::Component;

use crate::compile::Compiler;
use crate::digest::Digest;
use crate::error::RuntimeError;
use crate::sealed::Sealed;

/// Moves when the layout of a cached file changes.
const FORMAT: &str = "portcullis-component-3";
const KEY_BYTES: usize = blake3::KEY_LEN;
const TAG_BYTES: usize = blake3::OUT_LEN;
/// All cached files together, in bytes. The oldest are removed first.
const TOTAL_MAX: u64 = 1 << 30;
/// The largest cached file that is read, in bytes.
const ARTIFACT_MAX: u64 = 512 << 20;

/// Where compiled components and the key to them lie.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CacheDir {
    /// Holds the compiled components. Made with mode 0700.
    pub dir: PathBuf,
    /// The file with the key. Made with mode 0600.
    pub key: PathBuf,
}

#[derive(Debug)]
pub(crate) struct Cache {
    dir: PathBuf,
    key: [u8; KEY_BYTES],
    /// What every file name depends on beside the component: the engine's
    /// version and its settings.
    engine: [u8; 32],
}

impl Cache {
    pub(crate) fn open(place: CacheDir, engine: &Engine, compiler: &Compiler) -> Result<Self, RuntimeError> {
        let CacheDir { dir, key } = place;
        let failed = |path: &Path, reason: String| RuntimeError::Cache { path: path.to_owned(), reason };
        private_dir(&dir).map_err(|e| failed(&dir, e))?;
        if let Some(parent) = key.parent() {
            private_dir(parent).map_err(|e| failed(parent, e))?;
        }
        let key = read_or_make_key(&key).map_err(|e| failed(&key, e))?;
        #[cfg(not(feature = "compiler"))]
        let _ = engine;
        let mut hasher = Sha(Sha256::new());
        hasher.0.update(FORMAT);
        match compiler {
            // Its settings are those of the program that carries it.
            Compiler::Carried(carried) => carried.identity.hash(&mut hasher),
            #[cfg(feature = "compiler")]
            Compiler::Helper { .. } | Compiler::InProcess => {
                engine.precompile_compatibility_hash().hash(&mut hasher);
            }
            // The artifact itself says for which engine it is.
            #[cfg(not(feature = "compiler"))]
            Compiler::Helper { program, arguments } => (program, arguments).hash(&mut hasher),
        }
        Ok(Self { dir, key, engine: hasher.0.finalize().into() })
    }

    /// The compiled component, when it is there, whole and ours.
    pub(crate) fn load(&self, engine: &Engine, component: &Digest) -> Option<Component> {
        let path = self.path(component);
        // What keeps it from being mapped is told by the slower way, if it matters there.
        self.mapped(engine, &path).or_else(|| self.copied(engine, &path))
    }

    /// From a copy that is sealed before it is checked.
    fn mapped(&self, engine: &Engine, path: &Path) -> Option<Component> {
        let (tag, file) = self.open_artifact(path).ok()?;
        let sealed = Sealed::copy_of(file.take(ARTIFACT_MAX)).ok()?;
        let mut found = self.tagger(path);
        sealed
            .read(|part| {
                found.update(part);
            })
            .ok()?;
        if found.finalize() != tag {
            return None;
        }
        deserialize_sealed(engine, &sealed).ok()
    }

    /// From a copy on the heap.
    fn copied(&self, engine: &Engine, path: &Path) -> Option<Component> {
        let (tag, artifact) = match self.read(path) {
            Ok(parts) => parts,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return None,
            Err(error) => {
                tracing::warn!("a cached component cannot be read and is compiled again: {error}");
                return None;
            }
        };
        // This comparison takes the same time wherever the two differ.
        if self.tag(path, &artifact) != tag {
            tracing::warn!("a cached component was changed by somebody else and is compiled again");
            return None;
        }
        deserialize(engine, &artifact)
            .inspect_err(|e| tracing::warn!("a cached component does not fit this engine: {e:#}"))
            .ok()
    }

    /// Keeps `artifact`. A failure costs time and nothing else, so it is only told.
    pub(crate) fn store(&self, component: &Digest, artifact: &[u8]) {
        let path = self.path(component);
        let tag = self.tag(&path, artifact);
        let written = write_whole(&path, &[tag.as_bytes(), artifact]).and_then(|()| self.prune(&path));
        if let Err(error) = written {
            tracing::warn!("a compiled component cannot be kept: {error}");
        }
    }

    fn path(&self, component: &Digest) -> PathBuf {
        let mut name = Sha256::new();
        name.update(self.engine);
        name.update(component.as_bytes());
        let name: String = name.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        self.dir.join(name).with_extension("cwasm")
    }

    /// The file behind its tag.
    fn open_artifact(&self, path: &Path) -> std::io::Result<([u8; TAG_BYTES], File)> {
        let mut file = open_private(path, WRITABLE)?;
        let mut tag = [0; TAG_BYTES];
        file.read_exact(&mut tag)?;
        Ok((tag, file))
    }

    fn read(&self, path: &Path) -> std::io::Result<([u8; TAG_BYTES], Vec<u8>)> {
        let (tag, file) = self.open_artifact(path)?;
        let mut artifact = Vec::with_capacity(usize::try_from(file.metadata()?.len()).unwrap_or(0));
        file.take(ARTIFACT_MAX).read_to_end(&mut artifact)?;
        Ok((tag, artifact))
    }

    fn tag(&self, path: &Path, artifact: &[u8]) -> blake3::Hash {
        self.tagger(path).update(artifact).finalize()
    }

    /// Its key is the file's own. The name stands for the component, the engine and
    /// its settings, so that one good file cannot be put in another's place; and what
    /// is hashed begins where the artifact does, which keeps its blocks whole.
    fn tagger(&self, path: &Path) -> blake3::Hasher {
        let name = path.file_name().unwrap_or_default().as_encoded_bytes();
        blake3::Hasher::new_keyed(blake3::keyed_hash(&self.key, name).as_bytes())
    }

    /// Removes the oldest files until the rest is small enough.
    fn prune(&self, newest: &Path) -> std::io::Result<()> {
        let mut files: Vec<_> = fs::read_dir(&self.dir)?
            .filter_map(Result::ok)
            .filter_map(|entry| {
                let meta = entry.metadata().ok()?;
                Some((meta.modified().ok()?, meta.len(), entry.path()))
            })
            .collect();
        files.sort();
        let mut total: u64 = files.iter().map(|(_, size, _)| size).sum();
        for (_, size, path) in files {
            if total <= TOTAL_MAX {
                break;
            }
            if path != newest {
                fs::remove_file(path)?;
                total -= size;
            }
        }
        Ok(())
    }
}

/// Maps an artifact that this process, or its helper, has just made, or that
/// carried our tag.
#[allow(unsafe_code, reason = "machine code of our own compiler, checked against our own tag")]
pub(crate) fn deserialize(engine: &Engine, artifact: &[u8]) -> wasmtime::Result<Component> {
    // SAFETY: `artifact` was made by `Engine::precompile_component` in our own
    // helper, and came to us through a pipe or under a tag made with our key.
    // The bytes are copied, so a later change of the file does not reach them.
    unsafe { Component::deserialize(engine, artifact) }
}

/// Maps a copy that carried our tag after nobody could change it any more.
#[allow(unsafe_code, reason = "machine code of our own compiler, checked against our own tag")]
fn deserialize_sealed(engine: &Engine, sealed: &Sealed) -> wasmtime::Result<Component> {
    // SAFETY: as above; the memory that is mapped is sealed against every change.
    unsafe { Component::deserialize_file(engine, sealed.path()) }
}

/// Feeds what the engine hashes of its settings into SHA-256.
struct Sha(Sha256);

impl Hasher for Sha {
    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn finish(&self) -> u64 {
        0
    }
}

/// Makes `dir` with mode 0700, or checks that it is ours and nobody else's.
fn private_dir(dir: &Path) -> Result<(), String> {
    let meta = match fs::symlink_metadata(dir) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            fs::DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(|e| e.to_string())?;
            fs::symlink_metadata(dir)
        }
        meta => meta,
    };
    let meta = meta.map_err(|e| e.to_string())?;
    if !meta.is_dir() {
        return Err("it is not a directory".to_owned());
    }
    check_owner(&meta)?;
    if meta.mode() & 0o077 != 0 {
        fs::set_permissions(dir, Permissions::from_mode(0o700)).map_err(|e| e.to_string())?;
    }
    Ok(())
}

fn check_owner(meta: &fs::Metadata) -> Result<(), String> {
    if meta.uid() == rustix::process::geteuid().as_raw() {
        Ok(())
    } else {
        Err("it belongs to another user".to_owned())
    }
}

/// What others may not do with a cached component, and with the key to it.
const WRITABLE: u32 = 0o022;
const ANYTHING: u32 = 0o077;

/// Opens a file that is ours, is a plain file, and with which others may do
/// nothing of `forbidden`. What speaks against it is an error without a number
/// of the operating system's.
fn open_private(path: &Path, forbidden: u32) -> std::io::Result<File> {
    let file = OpenOptions::new().read(true).custom_flags(NO_FOLLOW).open(path)?;
    let meta = file.metadata()?;
    let fault = if !meta.is_file() {
        "it is not a plain file".to_owned()
    } else if meta.mode() & forbidden != 0 {
        "it is open to others".to_owned()
    } else if let Err(reason) = check_owner(&meta) {
        reason
    } else {
        return Ok(file);
    };
    Err(std::io::Error::new(std::io::ErrorKind::PermissionDenied, fault))
}

const NO_FOLLOW: i32 = rustix::fs::OFlags::NOFOLLOW.bits().cast_signed();

fn read_or_make_key(path: &Path) -> Result<[u8; KEY_BYTES], String> {
    for _ in 0..2 {
        match open_private(path, ANYTHING) {
            Ok(mut file) => {
                let mut key = [0; KEY_BYTES];
                match file.read_exact(&mut key) {
                    Ok(()) => return Ok(key),
                    // A key that was cut short is made again, and with it the cache.
                    Err(_) => fs::remove_file(path).map_err(|e| e.to_string())?,
                }
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            // Somebody else may know it, so nothing under it counts any more.
            Err(error) if error.raw_os_error().is_none() => {
                tracing::warn!("the key to the compiled components is made again: {error}");
                fs::remove_file(path).map_err(|e| e.to_string())?;
            }
            Err(error) => return Err(error.to_string()),
        }
        let mut key = [0; KEY_BYTES];
        getrandom::fill(&mut key).map_err(|e| e.to_string())?;
        write_whole(path, &[&key]).map_err(|e| e.to_string())?;
    }
    // Two processes may have made a key at the same time: the last one stands.
    let mut key = [0; KEY_BYTES];
    open_private(path, ANYTHING).and_then(|mut file| file.read_exact(&mut key)).map_err(|e| e.to_string())?;
    Ok(key)
}

/// Writes `parts` under another name first, so that no reader ever sees a half.
fn write_whole(path: &Path, parts: &[&[u8]]) -> std::io::Result<()> {
    let mut random = [0; 8];
    getrandom::fill(&mut random).map_err(|e| std::io::Error::other(e.to_string()))?;
    let temporary = path.with_extension(format!("{:016x}.tmp", u64::from_ne_bytes(random)));
    let written = (|| {
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .custom_flags(NO_FOLLOW)
            .open(&temporary)?;
        for part in parts {
            file.write_all(part)?;
        }
        fs::rename(&temporary, path)
    })();
    if written.is_err() {
        // The first error is the one to tell.
        let _ = fs::remove_file(&temporary);
    }
    written
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::{Cache, CacheDir};
    use crate::compile::Compiler;
    use crate::digest::Digest;
    use crate::engine::on_demand;

    #[test]
    fn an_artifact_is_taken_by_either_way_only_while_it_is_as_we_left_it() {
        let dir = tempfile::tempdir().unwrap();
        let engine = on_demand().unwrap();
        let place = CacheDir { dir: dir.path().join("components"), key: dir.path().join("state/key") };
        let cache = Cache::open(place, &engine, &Compiler::InProcess).unwrap();
        let wasm = wat::parse_str("(component (core module (func (export \"f\"))))").unwrap();
        let (digest, other) = (Digest::of(&wasm), Digest::of(b"other"));
        cache.store(&digest, &engine.precompile_component(&wasm).unwrap());
        let path = cache.path(&digest);
        let taken =
            |path: &Path| [cache.mapped(&engine, path).is_some(), cache.copied(&engine, path).is_some()];
        // The first way is Linux's own.
        assert_eq!(taken(&path), [cfg!(target_os = "linux"), true]);
        let good = fs::read(&path).unwrap();
        // Under the name of another component.
        fs::write(cache.path(&other), &good).unwrap();
        assert_eq!(taken(&cache.path(&other)), [false, false]);
        for spot in [0, 31, 32, good.len() / 2, good.len() - 1] {
            let mut bad = good.clone();
            bad[spot] ^= 1;
            fs::write(&path, bad).unwrap();
            assert_eq!(taken(&path), [false, false], "byte {spot}");
        }
        fs::write(&path, &good[..good.len() - 1]).unwrap();
        assert_eq!(taken(&path), [false, false]);
        fs::write(&path, &good).unwrap();
        assert_eq!(taken(&path), [cfg!(target_os = "linux"), true]);
    }
}
