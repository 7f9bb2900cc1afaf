//! A copy of a file in memory that nobody can change any more, us included.
//!
//! Machine code has to stay what it was when it was checked. A copy on the heap does,
//! and is copied once more to where it runs; a copy that is sealed is mapped as it is.

use std::fs::File;

/// The sealed copy.
#[derive(Debug)]
pub(crate) struct Sealed(File);

#[cfg(target_os = "linux")]
mod linux {
    use std::fs::File;
    use std::io::{self, Write as _};
    use std::os::fd::AsRawFd as _;
    use std::os::unix::fs::FileExt as _;
    use std::path::PathBuf;

    use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
    use rustix::io::Errno;

    use super::Sealed;

    /// How much is read at once. It stays in the processor's cache.
    const PART: usize = 64 << 10;
    const FLAGS: MemfdFlags = MemfdFlags::CLOEXEC.union(MemfdFlags::ALLOW_SEALING);
    /// The file may be run, where the system's default is that none may.
    const EXEC: MemfdFlags = MemfdFlags::EXEC;

    impl Sealed {
        pub(crate) fn copy_of(mut file: io::Take<File>) -> io::Result<Self> {
            let mut memory = File::from(memfd_create("portcullis-artifact", FLAGS)?);
            io::copy(&mut file, &mut memory)?;
            Self::of(memory)
        }

        /// A program that can be run by its path.
        pub(crate) fn program(bytes: &[u8]) -> io::Result<Self> {
            const NAME: &str = "portcullis-compile";
            // A kernel that does not know the flag lets every such file be run.
            let memory = memfd_create(NAME, FLAGS | EXEC).or_else(|error| match error {
                Errno::INVAL => memfd_create(NAME, FLAGS),
                error => Err(error),
            })?;
            let mut memory = File::from(memory);
            memory.write_all(bytes)?;
            Self::of(memory)
        }

        fn of(memory: File) -> io::Result<Self> {
            let all = SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL;
            fcntl_add_seals(&memory, all)?;
            Ok(Self(memory))
        }

        /// Hands all of it to `each`, part by part.
        pub(crate) fn read(&self, mut each: impl FnMut(&[u8])) -> io::Result<()> {
            let mut part = vec![0; PART];
            let mut at = 0;
            loop {
                let count = self.0.read_at(&mut part, at)?;
                let Some(read) = part.get(..count).filter(|read| !read.is_empty()) else { return Ok(()) };
                each(read);
                at += count as u64;
            }
        }

        /// Leads to it for as long as it lives.
        pub(crate) fn path(&self) -> PathBuf {
            format!("/proc/self/fd/{}", self.0.as_raw_fd()).into()
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod other {
    use std::fs::File;
    use std::io;
    use std::path::PathBuf;

    use super::Sealed;

    impl Sealed {
        pub(crate) fn copy_of(_: io::Take<File>) -> io::Result<Self> {
            Err(io::ErrorKind::Unsupported.into())
        }

        pub(crate) fn program(_: &[u8]) -> io::Result<Self> {
            Err(io::ErrorKind::Unsupported.into())
        }

        pub(crate) fn read(&self, _: impl FnMut(&[u8])) -> io::Result<()> {
            Err(io::ErrorKind::Unsupported.into())
        }

        pub(crate) fn path(&self) -> PathBuf {
            PathBuf::new()
        }
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use std::fs::OpenOptions;
    use std::io::{Read as _, Seek as _, Write as _};

    use super::Sealed;

    fn sealed(bytes: &[u8]) -> Sealed {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        file.rewind().unwrap();
        Sealed::copy_of(file.take(1 << 20)).unwrap()
    }

    #[test]
    fn a_copy_is_read_as_a_whole_and_is_found_by_its_path() {
        let bytes: Vec<u8> = (0_u32..100_000).flat_map(u32::to_le_bytes).collect();
        let copy = sealed(&bytes);
        let mut read = Vec::new();
        copy.read(|part| read.extend_from_slice(part)).unwrap();
        assert!(read == bytes);
        assert!(std::fs::read(copy.path()).unwrap() == bytes);
    }

    #[test]
    fn nobody_can_change_a_copy() {
        let copy = sealed(b"code");
        let mut file = OpenOptions::new().read(true).write(true).open(copy.path()).unwrap();
        assert!(file.write_all(b"evil").is_err());
        assert!(file.set_len(0).is_err());
        assert!(file.set_len(100).is_err());
        assert_eq!(std::fs::read(copy.path()).unwrap(), b"code");
    }
}
