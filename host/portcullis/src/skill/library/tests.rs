//! Libraries made of files, and the watch over them.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::sync::Arc;
use std::task::{Context, Wake, Waker};
use std::time::Duration;

use portcullis_model::config::ChannelsConfig;
use portcullis_model::extension::{Changes, Coverage, Library, LibrarySource as _};
use tempfile::TempDir;

use super::super::reference::References;
use super::super::{ScanLimits, Scanner, SkillOrigin, SkillRoot};
use super::{LibraryPlaces, LocalLibrary, PromptDirectory, PromptPlaces};
use crate::policy::SkillChannel;

/// Long enough for any file system to tell, and never waited for in full.
const PATIENCE: Duration = Duration::from_secs(60);
/// As short as a burst may be in a test.
const QUIET: Duration = Duration::from_millis(20);

struct Home(TempDir);

impl Home {
    fn new() -> Self {
        let home = Self(tempfile::tempdir().unwrap());
        fs::create_dir_all(home.at("skills")).unwrap();
        home
    }

    fn at(&self, path: &str) -> PathBuf {
        fs::canonicalize(self.0.path()).unwrap().join(path)
    }

    fn put(&self, path: &str, bytes: impl AsRef<[u8]>) {
        fs::create_dir_all(self.at(path).parent().unwrap()).unwrap();
        fs::write(self.at(path), bytes).unwrap();
    }

    fn skill(&self, slug: &str, more: &str) {
        let name = slug.rsplit('/').next().unwrap();
        let text = format!("---\nname: {name}\ndescription: Does {name}.\n{more}---\n# {name}\n");
        self.put(&format!("skills/{slug}/SKILL.md"), text);
    }

    fn places(&self, watch: bool) -> LibraryPlaces {
        let root = SkillRoot::new(self.at("skills"), SkillOrigin::Named);
        LibraryPlaces {
            roots: vec![(SkillRoot { expected: true, ..root }, watch)],
            prompts: PromptPlaces::default(),
            unwatched_prompts: BTreeSet::new(),
            channel: SkillChannel::new(&ChannelsConfig::default()).unwrap(),
            trust_file: None,
            quiet: QUIET,
        }
    }

    fn library(&self) -> LocalLibrary {
        LocalLibrary::new(self.places(false))
    }
}

fn look(library: &LocalLibrary) -> Arc<Library> {
    block_on(library.look()).unwrap()
}

fn block_on<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}

/// Wakes the thread that made it.
struct Thread(std::thread::Thread);

impl Wake for Thread {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Waits until something is told of; false when nothing was in all that time.
fn is_told(changes: &mut Box<dyn Changes>, patience: Duration) -> bool {
    let waker = Waker::from(Arc::new(Thread(std::thread::current())));
    let start = std::time::Instant::now();
    loop {
        if changes.poll_next(&mut Context::from_waker(&waker)).is_ready() {
            return true;
        }
        let Some(rest) = patience.checked_sub(start.elapsed()) else { return false };
        std::thread::park_timeout(rest);
    }
}

fn withheld<'l>(library: &'l Library, slug: &str) -> &'l str {
    library.skill(slug).unwrap().withheld.as_deref().unwrap_or_else(|| panic!("`{slug}` is served"))
}

#[test]
fn a_skill_has_its_files_as_they_are_with_their_digests() {
    let home = Home::new();
    home.skill("git-commit", "Nested: { a-b: [1, 2.50, true] }\n");
    home.put("skills/git-commit/crlf.txt", "a\r\nb\r\n");
    home.put("skills/git-commit/bom.txt", "\u{feff}x");
    home.put("skills/git-commit/logo.png", b"\x89PNG\xff");
    home.put("skills/git-commit/.venv/x", "hidden");
    home.put("skills/git-commit/.gitignore", "*.log\n");
    home.put("skills/git-commit/x.log", "excluded");
    symlink("/etc/hostname", home.at("skills/git-commit/link")).unwrap();
    let library = look(&home.library());
    let skill = library.skill("git-commit").unwrap();
    assert_eq!(
        skill.files,
        ["SKILL.md", "bom.txt", "crlf.txt", "logo.png"].map(|file| format!("skill://git-commit/{file}"))
    );
    assert_eq!(skill.withheld, None);
    for uri in &skill.files {
        let path = home.at("skills").join(uri.strip_prefix("skill://").unwrap());
        let bytes = fs::read(path).unwrap();
        let file = &library.files[uri];
        assert_eq!((&*file.bytes, file.facts.size), (&*bytes, bytes.len() as u64));
        assert_eq!(file.digest, format!("sha256:{}", portcullis_runtime::Digest::of(&bytes)));
    }
    assert_eq!(serde_json::to_string(&skill.frontmatter["Nested"]).unwrap(), "{\"a-b\":[1,2.50,true]}");
    assert_eq!(&*skill.body, "# git-commit\n");
}

#[test]
fn what_a_host_would_refuse_is_withheld_with_the_reason_and_can_still_be_read() {
    let home = Home::new();
    home.put("skills/other/SKILL.md", "---\nname: another\ndescription: x\n---\n");
    home.put("skills/Upper/SKILL.md", "---\nname: Upper\ndescription: x\n---\n");
    home.put("skills/colon/SKILL.md", "---\nname: colon\ndescription: Use: this\n---\n");
    home.put("skills/twice/SKILL.md", "---\nname: twice\ndescription: x\ndescription: y\n---\n");
    home.put("skills/1234/SKILL.md", "---\nname: 1234\ndescription: x\n---\n");
    home.put("skills/nan/SKILL.md", "---\nname: nan\ndescription: x\nratio: .nan\n---\n");
    home.put("skills/key/SKILL.md", "---\nname: key\ndescription: x\nmap: { [a]: b }\n---\n");
    home.put("skills/broken/SKILL.md", "no fence\n");
    home.skill("fine", "");
    let source = home.library();
    let library = look(&source);
    let served: Vec<_> = library.served().map(|skill| skill.slug.as_str()).collect();
    assert_eq!(served, ["fine"]);
    for (slug, why) in [
        ("other", "directory"),
        ("Upper", "upper case"),
        ("colon", "not YAML"),
        ("twice", "twice"),
        ("1234", "no text"),
        ("nan", "JSON"),
        ("key", "JSON"),
    ] {
        assert!(withheld(&library, slug).contains(why), "{slug}: {}", withheld(&library, slug));
        assert!(source.warnings().iter().any(|warning| warning.contains(&format!("`{slug}`"))), "{slug}");
    }
    assert_eq!(library.skipped.iter().map(|skill| skill.slug.as_str()).collect::<Vec<_>>(), ["broken"]);
    assert_eq!(library.skill("other").unwrap().name, "another");
}

#[test]
fn a_shared_file_is_a_file_of_each_skill_that_declares_it() {
    let home = Home::new();
    home.put("skills/references/scm/style.md", "---\nname: Style\nlevel: 3\n---\nShort lines.\n");
    home.skill("git-commit", "references: [../references/scm/style.md]\n");
    home.skill("acme/billing", "references: [../../references/scm/style.md]\n");
    home.skill("acme/billing/refunds", "references: [../../../references/scm/style.md]\n");
    let source = home.library();
    let library = look(&source);
    let commit = "skill://git-commit/references/scm/style.md";
    let refunds = "skill://acme/billing/refunds/references/scm/style.md";
    let billing = "skill://acme/billing/references/scm/style.md";
    assert!(library.skill("git-commit").unwrap().files.contains(&commit.to_owned()));
    let outer = &library.skill("acme/billing").unwrap().files;
    assert!(outer.contains(&billing.to_owned()) && outer.contains(&refunds.to_owned()), "{outer:?}");
    assert_eq!(library.files[commit].digest, library.files[refunds].digest);
    let path = home.at("skills/references/scm/style.md").display().to_string();
    assert_eq!(library.references.keys().collect::<Vec<_>>(), [&path]);
    let shared = block_on(source.shared(&path)).unwrap().unwrap();
    assert_eq!((shared.name.as_str(), shared.body.as_str()), ("Style", "Short lines.\n"));
    assert_eq!(shared.metadata.unwrap()["level"], 3);
    // It is read as it is now, and a copy as it was looked at.
    home.put("skills/references/scm/style.md", "Long lines.\n");
    assert_eq!(block_on(source.shared(&path)).unwrap().unwrap().body, "Long lines.\n");
    assert!(library.files[commit].bytes.ends_with(b"Short lines.\n"));
    assert!(look(&source).files[commit].bytes.ends_with(b"Long lines.\n"));
    for undeclared in ["/etc/hostname", "", "skills", "../references/scm/style.md"] {
        assert_eq!(block_on(source.shared(undeclared)).unwrap(), None, "{undeclared}");
    }
}

#[test]
fn some_declarations_make_no_copy_and_one_that_meets_a_file_withholds_the_skill() {
    let home = Home::new();
    home.put("skills/references/real.md", "x");
    home.put("skills/one/references/own.md", "x");
    symlink("real.md", home.at("skills/references/link.md")).unwrap();
    let absolute = home.at("skills/references/real.md").display().to_string();
    let lines = format!(
        "references: [{absolute}, ../references/none.md, ../references/link.md, references/own.md]\n"
    );
    home.skill("one", &lines);
    home.put("skills/two/references/real.md", "its own");
    home.skill("two", "references: [../references/real.md]\n");
    home.skill("three", "references: [../references/real.md, ../three/../references/real.md]\n");
    let library = look(&home.library());
    let one = library.skill("one").unwrap();
    assert!(one.references.iter().all(|own| own.copy.is_none()), "{:?}", one.references);
    let paths: Vec<_> = one.references.iter().map(|own| own.path.is_some()).collect();
    assert_eq!(paths, [true, false, true, true]);
    assert_eq!(one.references[1].label, "none");
    assert!(withheld(&library, "two").contains("references/real.md"));
    let three = library.skill("three").unwrap();
    assert_eq!((three.files.len(), three.references.len(), &three.withheld), (2, 2, &None));
}

#[test]
fn too_many_or_too_large_files_are_withheld_with_their_shared_ones_counted() {
    let home = Home::new();
    home.put("skills/references/x.md", "x");
    home.skill("full", "references: [../references/x.md]\n");
    for number in 0..511 {
        home.put(&format!("skills/full/{number}.txt"), "x");
    }
    home.skill("edge", "");
    for number in 0..511 {
        home.put(&format!("skills/edge/{number}.txt"), "x");
    }
    home.skill("large", "");
    fs::File::create(home.at("skills/large/a.bin")).unwrap().set_len(16 << 20).unwrap();
    let library = look(&home.library());
    assert!(withheld(&library, "full").contains("512 files"));
    assert_eq!(library.skill("edge").unwrap().files.len(), 512);
    assert!(withheld(&library, "large").contains("16777216 bytes"));
    assert!(!library.files.contains_key("skill://large/a.bin"), "it is not even read");
    assert_eq!(library.skill("large").unwrap().files, ["skill://large/SKILL.md"]);
}

#[test]
fn what_did_not_change_is_the_library_of_before() {
    let home = Home::new();
    home.skill("one", "");
    home.put("skills/one/a.txt", "x");
    let source = home.library();
    let first = look(&source);
    assert!(Arc::ptr_eq(&first, &look(&source)));
    home.put("skills/one/a.txt", "y");
    let third = look(&source);
    assert_ne!(first.files["skill://one/a.txt"].digest, third.files["skill://one/a.txt"].digest);
    assert_eq!(first.files["skill://one/SKILL.md"], third.files["skill://one/SKILL.md"]);
}

#[test]
fn a_change_at_any_depth_is_told_of_once_and_a_hidden_one_is_not() {
    let home = Home::new();
    home.skill("one", "");
    home.put("skills/one/deep/er/a.txt", "x");
    home.put("skills/one/.venv/b.txt", "x");
    let source = LocalLibrary::new(home.places(true));
    assert_eq!(source.roots()[0].coverage, Coverage::Watching);
    look(&source);
    let mut changes = source.changes().unwrap();
    home.put("skills/one/.venv/b.txt", "y");
    fs::read(home.at("skills/one/SKILL.md")).unwrap();
    home.put("skills/one/deep/er/a.txt", "y");
    assert!(is_told(&mut changes, PATIENCE));
    assert_eq!(&*look(&source).files["skill://one/deep/er/a.txt"].bytes, b"y");
    // A file that an editor puts in the place of another one, in a directory that is new.
    home.put("skills/two/new.tmp", "---\nname: two\ndescription: x\n---\n");
    fs::rename(home.at("skills/two/new.tmp"), home.at("skills/two/SKILL.md")).unwrap();
    while look(&source).skill("two").is_none() {
        assert!(is_told(&mut changes, PATIENCE));
    }
}

#[test]
fn a_root_that_is_not_there_is_degraded_and_found_when_it_comes() {
    let home = Home::new();
    fs::remove_dir(home.at("skills")).unwrap();
    let source = LocalLibrary::new(home.places(true));
    assert!(matches!(source.roots()[0].coverage, Coverage::Degraded(_)));
    assert_eq!(look(&source).skills.len(), 0);
    let mut changes = source.changes().unwrap();
    home.skill("one", "");
    assert!(is_told(&mut changes, PATIENCE));
    assert_eq!(source.roots()[0].coverage, Coverage::Watching);
    assert_eq!(look(&source).skills.len(), 1);
}

#[test]
fn a_prompt_file_is_watched_through_its_directory() {
    let home = Home::new();
    home.put("AGENTS.md", "one");
    home.put("prompts/a.md", "a");
    let mut places = home.places(false);
    places.prompts = PromptPlaces {
        files: vec![home.at("AGENTS.md")],
        directories: vec![PromptDirectory {
            path: home.at("prompts"),
            selection: super::super::Selection::default(),
        }],
    };
    places.unwatched_prompts.insert(home.at("prompts"));
    let source = LocalLibrary::new(places);
    let states: Vec<_> = source.roots().into_iter().map(|root| root.coverage).collect();
    assert_eq!(states, [Coverage::Off, Coverage::Watching, Coverage::Off]);
    assert_eq!(&*look(&source).prompt("AGENTS").unwrap().body, "one");
    let mut changes = source.changes().unwrap();
    home.put("AGENTS.md.tmp", "two");
    fs::rename(home.at("AGENTS.md.tmp"), home.at("AGENTS.md")).unwrap();
    assert!(is_told(&mut changes, PATIENCE));
    assert_eq!(&*look(&source).prompt("AGENTS").unwrap().body, "two");
}

#[test]
fn a_root_that_nobody_watches_is_served_as_it_was_looked_at() {
    let home = Home::new();
    home.skill("one", "");
    let source = home.library();
    assert!(source.changes().is_none());
    assert_eq!(source.roots()[0].coverage, Coverage::Off);
    let library = look(&source);
    let before = library.files["skill://one/SKILL.md"].clone();
    home.put("skills/one/SKILL.md", "---\nname: one\ndescription: Other.\n---\n");
    assert_eq!(library.files["skill://one/SKILL.md"], before);
    assert_eq!(look(&source).skill("one").unwrap().description, "Other.");
}

#[test]
fn a_shared_file_is_looked_at_once_however_many_skills_name_it() {
    let home = Home::new();
    home.put("skills/references/x.md", "x");
    for number in 0..50 {
        home.skill(&format!("s{number}"), "references: [../references/x.md]\n");
    }
    let root = SkillRoot::new(home.at("skills"), SkillOrigin::Named);
    let catalog = Scanner::new(vec![root], ScanLimits::default()).look();
    let mut references = References::default();
    let all: Vec<_> = catalog.usable().flat_map(|skill| references.of(skill)).collect();
    assert_eq!((all.len(), references.looks()), (50, 1));
    assert!(all.iter().all(|own| own.file == all[0].file && own.copy.is_some()));
}
