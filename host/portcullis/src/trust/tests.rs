//! What counts as trusted, and every way in which nothing does.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use portcullis_runtime::Digest;

use super::*;

struct Place {
    dir: tempfile::TempDir,
    store: TrustStore,
}

impl Place {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = TrustStore::new(&dir.path().join("state/trust"));
        let place = Self { dir, store };
        fs::create_dir_all(place.root().join(".portcullis")).unwrap();
        place
    }

    fn root(&self) -> PathBuf {
        self.dir.path().join("work")
    }

    fn add(&self) -> Workspace {
        self.store.add(&self.root(), &[covered("a", b"one", false), covered("b/run", b"two", true)]).unwrap()
    }

    fn holds(&self) -> bool {
        matches!(self.store.workspace(&self.root()), Ok(Held::Trusted(own)) if own.covers("a", &Digest::of(b"one").to_string()))
    }
}

fn covered(path: &str, bytes: &[u8], program: bool) -> Covered {
    Covered { path: path.to_owned(), digest: Digest::of(bytes), program: program.then(|| bytes.to_vec()) }
}

#[test]
fn the_very_bytes_of_the_very_directory_are_trusted_and_nothing_else() {
    let place = Place::new();
    assert_eq!(place.store.workspace(&place.root()).unwrap(), Held::Nothing);
    let own = place.add();
    assert!(own.covers("a", &Digest::of(b"one").to_string()));
    assert!(
        !own.covers("a", &Digest::of(b"two").to_string())
            && !own.covers("c", &Digest::of(b"one").to_string())
    );
    assert!(place.holds());
    assert_eq!(place.store.workspace(place.dir.path()).unwrap(), Held::Nothing);
    let program = own.program("b/run").unwrap();
    assert!(program.ends_with(Path::new(&Digest::of(b"two").to_string()).join("run")));
    assert_eq!(fs::read(&program).unwrap(), b"two");
    assert_eq!(fs::metadata(&program).unwrap().permissions().mode() & 0o777, 0o500);
    assert_eq!(fs::metadata(place.store.file()).unwrap().permissions().mode() & 0o777, 0o600);

    // What was trusted before is gone with the next word.
    place.store.add(&place.root(), &[covered("a", b"two", false)]).unwrap();
    assert!(!place.holds());
    assert_eq!(place.store.remove(&place.root()).unwrap().unwrap().files.len(), 1);
    assert_eq!(place.store.remove(&place.root()).unwrap(), None);
    assert!(!program.exists(), "a program that nobody needs is not kept");
}

#[test]
fn a_directory_that_was_moved_replaced_or_copied_is_another_one() {
    let place = Place::new();
    place.add();
    let (root, away) = (place.root(), place.dir.path().join("away"));
    fs::rename(&root, &away).unwrap();
    assert_eq!(place.store.workspace(&away).unwrap(), Held::Nothing);
    assert!(place.store.workspace(&root).is_err(), "it is not there");
    fs::create_dir_all(root.join(".portcullis")).unwrap();
    assert!(matches!(place.store.workspace(&root).unwrap(), Held::Replaced(_)));
    fs::remove_dir_all(&root).unwrap();
    // A link to where it went is that place.
    std::os::unix::fs::symlink(&away, &root).unwrap();
    assert_eq!(place.store.workspace(&root).unwrap(), Held::Nothing);
    fs::remove_file(&root).unwrap();
    fs::rename(&away, &root).unwrap();
    assert!(place.holds(), "it is back");
}

#[test]
fn a_directory_that_was_made_again_under_the_same_number_is_another_one() {
    let place = Place::new();
    let own = place.add();
    let identity = identity::Identity::of(&place.root()).unwrap();
    assert!(own.is(&identity));
    let later = identity.born.map(|born| born + 1);
    assert!(later.is_none() || !own.is(&identity::Identity { born: later, ..identity }));
}

#[test]
fn a_store_that_is_damaged_or_not_ours_alone_trusts_nothing_and_is_not_written_over() {
    let place = Place::new();
    place.add();
    let file = place.store.file().to_owned();
    let whole = fs::read_to_string(&file).unwrap();
    let elsewhere = place.dir.path().join("elsewhere.json");
    let changes = [
        ("cut short", whole[..whole.len() - 9].to_owned()),
        ("emptied", String::new()),
        ("edited", whole.replace("\"a\"", "\"c\"")),
        ("of a later version", whole.replacen("\"v\":1", "\"v\":2", 1)),
        ("with a key more", whole.replacen("\"v\":1", "\"v\":1,\"x\":1", 1)),
        ("too long", format!("{whole}{}", " ".repeat(1 << 20))),
    ];
    for (how, text) in changes {
        fs::write(&file, &text).unwrap();
        assert!(matches!(place.store.read(), Err(TrustError::Damaged { .. })), "{how}");
        assert!(!place.holds(), "{how}");
        assert!(place.store.add(&place.root(), &[]).is_err() && place.store.remove(&place.root()).is_err());
        assert_eq!(fs::read_to_string(&file).unwrap(), text, "{how}: it is left as it is");
    }
    fs::write(&file, &whole).unwrap();
    assert!(place.holds());
    fs::set_permissions(&file, fs::Permissions::from_mode(0o620)).unwrap();
    assert!(matches!(place.store.read(), Err(TrustError::NotPrivate { .. })));
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    fs::rename(&file, &elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &file).unwrap();
    assert!(!place.holds(), "a link is not followed");
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    assert!(!place.holds(), "a directory is no store");
}

#[test]
fn what_is_withdrawn_does_not_hold_from_that_moment_on() {
    let place = Place::new();
    let warrant = Warrant::new(place.store.clone(), place.root());
    let covers = || warrant.covers(&place.root().join("a"), &Digest::of(b"one").to_string());
    assert!(!covers());
    for _ in 0..3 {
        place.add();
        assert!(covers());
        assert!(!warrant.covers(&place.root().join("a"), &Digest::of(b"two").to_string()));
        assert!(!warrant.covers(&place.root().join("x/../a"), &Digest::of(b"one").to_string()));
        place.store.remove(&place.root()).unwrap();
        assert!(!covers());
    }
    place.add();
    let away = place.dir.path().join("away");
    fs::rename(place.root(), &away).unwrap();
    fs::create_dir(place.root()).unwrap();
    assert!(!covers(), "another directory stands there");
}

#[test]
fn many_writers_lose_nothing() {
    let place = Place::new();
    let roots: Vec<_> = (0..24).map(|n| place.dir.path().join(format!("p{n}"))).collect();
    std::thread::scope(|scope| {
        for root in &roots {
            fs::create_dir(root).unwrap();
            let store = place.store.clone();
            scope.spawn(move || store.add(root, &[covered("a", b"one", true)]).unwrap());
        }
    });
    assert_eq!(place.store.read().unwrap().len(), roots.len());
}

#[test]
fn the_root_is_where_the_projects_directory_is() {
    let root = |path: &str| root_of(Path::new(path)).map(Path::to_path_buf);
    assert_eq!(root("/w/.portcullis/config.toml"), Some("/w".into()));
    assert_eq!(root("/w/.portcullis/plugins/a.wasm"), Some("/w".into()));
    assert_eq!(root("/w/plugins"), None);
    let below = |file: &str| workspace::below(Path::new("/w"), Path::new(file));
    assert_eq!(below("/w/a/b"), Some("a/b".to_owned()));
    assert_eq!((below("/w"), below("/w/../x"), below("/x/a")), (None, None, None));
}
