//! A Unix socket that one user owns, and nobody else.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::fs::{DirBuilderExt as _, FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use tokio::net::{UnixListener, UnixStream};

/// Why there is no socket.
#[derive(Debug, thiserror::Error)]
pub enum SocketError {
    /// The path has no directory and name.
    #[error("`{}` is no path of a socket; hint: name a file in a directory of your own", .0.display())]
    NoPath(PathBuf),
    /// The path has more bytes than a socket's may have.
    #[error("the path of a socket has at most {SOCKET_PATH_MAX} bytes; hint: choose a shorter one: {}", .0.display())]
    PathTooLong(PathBuf),
    /// Others could get at it.
    #[error("others can get into the directory `{}`; hint: `chmod 700` it, or choose one of your own", .0.display())]
    NotPrivate(PathBuf),
    /// The directory is somebody else's.
    #[error("the directory `{}` belongs to somebody else; hint: choose one of your own", .0.display())]
    NotOurs(PathBuf),
    /// Another server is there.
    #[error("another server has the socket `{}`; hint: connect to it, end it, or choose another path", .0.display())]
    Live(PathBuf),
    /// Something else is there.
    #[error("`{}` is there and is no socket; hint: remove it, or choose another path", .0.display())]
    NotASocket(PathBuf),
    /// The system does not let us.
    #[error("the socket `{}` cannot be had: {error}", .path.display())]
    Io {
        /// The socket.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
}

impl SocketError {
    /// A stable word.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::NoPath(_) => "socket/no-path",
            Self::PathTooLong(_) => "socket/path-too-long",
            Self::NotPrivate(_) => "socket/not-private",
            Self::NotOurs(_) => "socket/not-ours",
            Self::Live(_) => "socket/live",
            Self::NotASocket(_) => "socket/not-a-socket",
            Self::Io { .. } => "socket/io",
        }
    }
}

/// The system's own limit, without the byte at the end.
const SOCKET_PATH_MAX: usize = 107;

/// A socket at a path, which is gone when this is dropped.
#[derive(Debug)]
pub struct Socket {
    listener: UnixListener,
    path: PathBuf,
    /// Of the socket that is ours: another one at the path is left alone.
    inode: (u64, u64),
    lock: Lock,
}

impl Socket {
    /// Listens at `path`, in a directory that is made when it is not there. What a server
    /// left there that has died is replaced. Needs a tokio runtime with I/O on.
    ///
    /// # Errors
    /// When others could get at it, or when somebody is there already.
    pub fn listen(path: &Path) -> Result<Self, SocketError> {
        let error = |error| SocketError::Io { path: path.to_owned(), error };
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let (Some(parent), Some(_)) = (parent, path.file_name()) else {
            return Err(SocketError::NoPath(path.to_owned()));
        };
        if path.as_os_str().len() > SOCKET_PATH_MAX {
            return Err(SocketError::PathTooLong(path.to_owned()));
        }
        private(parent).map_err(|problem| problem.unwrap_or_else(error))?;
        // Two servers that start at once cannot both have it.
        let lock = Lock::take(path).map_err(error)?.ok_or_else(|| SocketError::Live(path.to_owned()))?;
        match path.symlink_metadata() {
            Ok(there) if !there.file_type().is_socket() => {
                return Err(SocketError::NotASocket(path.to_owned()));
            }
            Ok(_) if std::os::unix::net::UnixStream::connect(path).is_ok() => {
                return Err(SocketError::Live(path.to_owned()));
            }
            // Nobody listens any more.
            Ok(_) => fs::remove_file(path).map_err(error)?,
            Err(absent) if absent.kind() == io::ErrorKind::NotFound => {}
            Err(other) => return Err(error(other)),
        }
        let listener = UnixListener::bind(path).map_err(error)?;
        // Until here the directory kept others out.
        fs::set_permissions(path, Permissions::from_mode(0o600)).map_err(error)?;
        let made = path.symlink_metadata().map_err(error)?;
        Ok(Self { listener, path: path.to_owned(), inode: (made.dev(), made.ino()), lock })
    }

    /// The next client of this user. Those of others are turned away.
    ///
    /// # Errors
    /// What the system says.
    pub async fn accept(&self) -> io::Result<UnixStream> {
        loop {
            let (stream, _) = self.listener.accept().await?;
            let peer = stream.peer_cred()?.uid();
            if is_ours(peer, rustix::process::geteuid().as_raw()) {
                return Ok(stream);
            }
            tracing::error!("a client of another user is turned away: {peer}");
        }
    }
}

/// A client's user may be this one, and no other.
const fn is_ours(peer: u32, own: u32) -> bool {
    peer == own
}

impl Drop for Socket {
    fn drop(&mut self) {
        let is_ours = |there: fs::Metadata| (there.dev(), there.ino()) == self.inode;
        if self.path.symlink_metadata().is_ok_and(is_ours) {
            drop(fs::remove_file(&self.path));
        }
        self.lock.remove();
    }
}

/// Sees to it that nobody else can get into `dir`. None: the system does not say.
fn private(dir: &Path) -> Result<(), Result<SocketError, io::Error>> {
    if let Err(error) = DirBuilder::new().recursive(true).mode(0o700).create(dir) {
        return Err(Err(error));
    }
    let there = fs::metadata(dir).map_err(Err)?;
    if there.uid() != rustix::process::geteuid().as_raw() {
        return Err(Ok(SocketError::NotOurs(dir.to_owned())));
    }
    if there.mode() & 0o077 != 0 {
        return Err(Ok(SocketError::NotPrivate(dir.to_owned())));
    }
    Ok(())
}

/// The right to have the socket, which ends with the process.
#[derive(Debug)]
struct Lock {
    path: PathBuf,
    _file: File,
}

impl Lock {
    /// None when somebody has it.
    fn take(socket: &Path) -> io::Result<Option<Self>> {
        let mut name = socket.as_os_str().to_owned();
        name.push(".lock");
        let path = PathBuf::from(name);
        loop {
            let mut options = OpenOptions::new();
            let file = options.read(true).write(true).create(true).truncate(false).mode(0o600).open(&path)?;
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => {}
                Err(rustix::io::Errno::WOULDBLOCK) => return Ok(None),
                Err(error) => return Err(error.into()),
            }
            // Whoever had it may have removed it before we got it.
            let held = file.metadata()?;
            if path
                .symlink_metadata()
                .is_ok_and(|there| (there.dev(), there.ino()) == (held.dev(), held.ino()))
            {
                return Ok(Some(Self { path, _file: file }));
            }
        }
    }

    /// While it is held nobody else has it, so it is ours.
    fn remove(&self) {
        drop(fs::remove_file(&self.path));
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test ends when anything is wrong")]
mod tests {
    use std::os::unix::net::UnixListener as Listener;

    use super::*;

    fn place() -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("own").join("s");
        (dir, path)
    }

    fn code(path: &Path) -> &'static str {
        Socket::listen(path).unwrap_err().code()
    }

    #[tokio::test]
    async fn a_socket_is_its_users_alone_and_gone_at_the_end() {
        let (_dir, path) = place();
        let socket = Socket::listen(&path).unwrap();
        assert_eq!(path.metadata().unwrap().mode() & 0o777, 0o600);
        assert_eq!(path.parent().unwrap().metadata().unwrap().mode() & 0o777, 0o700);
        let client = UnixStream::connect(&path).await.unwrap();
        let peer = socket.accept().await.unwrap();
        assert!(is_ours(peer.peer_cred().unwrap().uid(), rustix::process::geteuid().as_raw()));
        drop((client, socket));
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 0);
    }

    #[test]
    fn another_user_is_turned_away() {
        assert!(is_ours(1000, 1000));
        assert!(!is_ours(65534, 1000));
        assert!(!is_ours(0, 1000), "whoever is root needs no socket of a user's");
    }

    #[tokio::test]
    async fn what_a_dead_server_left_is_replaced_and_a_live_one_is_not() {
        let (_dir, path) = place();
        drop(Socket::listen(&path).unwrap());
        // A socket that nobody listens at, and a lock that nobody holds.
        drop(Listener::bind(&path).unwrap());
        fs::write(path.with_extension("lock"), "").unwrap();
        assert!(path.exists());
        let socket = Socket::listen(&path).unwrap();
        assert_eq!(code(&path), "socket/live");
        assert!(UnixStream::connect(&path).await.is_ok(), "the live one still is");
        drop(socket);
        // A program that knows nothing of our lock.
        let other = Listener::bind(&path).unwrap();
        assert_eq!(code(&path), "socket/live");
        drop(other);
        assert!(Socket::listen(&path).is_ok());
    }

    #[tokio::test]
    async fn a_place_that_is_not_ours_alone_is_refused() {
        let (dir, path) = place();
        let own = path.parent().unwrap();
        drop(Socket::listen(&path).unwrap());
        for mode in [0o750, 0o707, 0o770, 0o701] {
            fs::set_permissions(own, Permissions::from_mode(mode)).unwrap();
            assert_eq!(code(&path), "socket/not-private", "{mode:o}");
        }
        fs::set_permissions(own, Permissions::from_mode(0o700)).unwrap();
        fs::write(&path, "a file").unwrap();
        assert_eq!(code(&path), "socket/not-a-socket");
        assert_eq!(fs::read_to_string(&path).unwrap(), "a file");
        assert_eq!(code(&dir.path().join("x".repeat(200))), "socket/path-too-long");
        assert_eq!(code(Path::new("bare")), "socket/no-path");
        fs::write(dir.path().join("file"), "").unwrap();
        assert_eq!(code(&dir.path().join("file").join("s")), "socket/io");
        if rustix::process::geteuid().is_root() {
            let theirs = dir.path().join("theirs");
            fs::create_dir(&theirs).unwrap();
            fs::set_permissions(&theirs, Permissions::from_mode(0o700)).unwrap();
            std::os::unix::fs::chown(&theirs, Some(65534), None).unwrap();
            assert_eq!(code(&theirs.join("s")), "socket/not-ours");
        }
    }
}
