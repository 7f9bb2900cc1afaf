//! Skills and prompts as a server gives them out: with every byte of every file, so that
//! what is listed, what is hashed and what is read is the same.

mod build;
mod coverage;
mod held;
mod prompt;
mod prose;
#[cfg(test)]
mod tests;
mod watch;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use portcullis_model::extension::{
    Answer, Changes, Coverage, ExtensionError, Library, LibraryRoot, LibrarySource, SharedFile,
};
use portcullis_runtime::clock;

pub use build::LIBRARY_BYTES_MAX;
pub use prompt::{PROMPT_BYTES_MAX, PROMPTS_MAX, PromptDirectory, PromptPlaces};
pub use watch::QUIET;

use super::catalog::Skill;
use super::provider::LOCAL_SKILLS;
use super::reference::{self, REFERENCE_MAX, place_of};
use super::root::SkillRoot;
use super::scan::Scanner;
use super::walk::ScanLimits;
use crate::beneath;
use crate::extension::off_the_executor;
use crate::policy::SkillChannel;
use build::Builder;
use coverage::{Places, Reach, Watched};
use held::Held;
use prose::Prose;
use watch::Watch;

/// How often a look is begun anew because somebody wrote meanwhile.
const LOOKS: usize = 3;

/// What a library is made of.
#[derive(Debug)]
pub struct LibraryPlaces {
    /// The directories of skills, those that win first; each with whether it is watched.
    pub roots: Vec<(SkillRoot, bool)>,
    /// Where prompts come from.
    pub prompts: PromptPlaces,
    /// The directories and files of prompts that are not watched.
    pub unwatched_prompts: BTreeSet<PathBuf>,
    /// Which skills the user does not want.
    pub channel: SkillChannel,
    /// What says which projects are trusted; a change of it is a change of the skills.
    pub trust_file: Option<PathBuf>,
    /// How long it has to be quiet before a burst of changes is told of. Default:
    /// [`QUIET`].
    pub quiet: Duration,
}

/// The skills and prompts on this machine.
#[derive(Debug)]
pub struct LocalLibrary {
    inner: Arc<Inner>,
    watch: Option<Watch>,
    unwatched: Vec<LibraryRoot>,
}

#[derive(Debug)]
struct Inner {
    scanner: Mutex<Scanner>,
    channel: SkillChannel,
    prompts: PromptPlaces,
    held: Mutex<Held>,
    seen: Mutex<Seen>,
}

/// What was seen last.
#[derive(Debug, Default)]
struct Seen {
    library: Arc<Library>,
    citing: BTreeMap<String, Skill>,
    warnings: Vec<String>,
}

impl LocalLibrary {
    /// Made of `places`, and watching them. Nothing is read before the first look.
    #[must_use]
    pub fn new(places: LibraryPlaces) -> Self {
        let LibraryPlaces { roots, prompts, unwatched_prompts, channel, trust_file, quiet } = places;
        let mut watched: Vec<Watched> = roots
            .iter()
            .map(|(root, watch)| Watched {
                expected: root.expected,
                ..Watched::new(root.path(), Reach::Tree, *watch)
            })
            .collect();
        let is_watched = |path: &Path| !unwatched_prompts.contains(path);
        watched.extend(
            prompts.files.iter().map(|file| Watched::new(file.clone(), Reach::File, is_watched(file))),
        );
        watched.extend(
            prompts
                .directories
                .iter()
                .map(|dir| Watched::new(dir.path.clone(), Reach::Directory, is_watched(&dir.path))),
        );
        watched.extend(trust_file.map(|file| Watched {
            expected: false,
            is_root: false,
            ..Watched::new(file, Reach::File, true)
        }));
        let places = Places(watched);
        let watches = places.0.iter().any(|place| place.coverage != Coverage::Off);
        let unwatched = places.roots();
        let roots = roots.into_iter().map(|(root, _)| root).collect();
        let inner = Inner {
            scanner: Mutex::new(Scanner::new(roots, ScanLimits::default())),
            channel,
            prompts,
            held: Mutex::default(),
            seen: Mutex::default(),
        };
        let watch = watches.then(|| Watch::start(places, quiet));
        Self { inner: Arc::new(inner), watch, unwatched }
    }

    /// What was wrong at the last look, in sentences.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        lock(&self.inner.seen).warnings.clone()
    }
}

impl Inner {
    fn look(&self) -> Arc<Library> {
        // One look at a time: what is held and what was seen belong together.
        let (mut scanner, mut held) = (lock(&self.scanner), lock(&self.held));
        for _ in 1..LOOKS {
            if let Some(library) = self.look_once(&mut scanner, &mut held, false) {
                return library;
            }
        }
        self.look_once(&mut scanner, &mut held, true).unwrap_or_default()
    }

    /// None: somebody wrote meanwhile. In the `last` look such a skill is left out.
    fn look_once(&self, scanner: &mut Scanner, held: &mut Held, last: bool) -> Option<Arc<Library>> {
        let mut catalog = super::Catalog::clone(&scanner.look());
        catalog.permit(&self.channel);
        held.begin();
        let now = clock::utc().as_second();
        let mut warnings = catalog
            .problems
            .iter()
            .map(|problem| format!("{}: {}; {}", problem.path.display(), problem.message, problem.remedy))
            .collect();
        let prompts = prompt::look(&self.prompts, held, now, &mut warnings);
        let mut builder = Builder::new(held, now);
        builder.skills(&catalog);
        if builder.has_moved && !last {
            return None;
        }
        let Builder { mut library, citing, warnings: more, .. } = builder;
        held.end();
        library.prompts = prompts;
        warnings.extend(more);
        let mut seen = lock(&self.seen);
        let told: HashSet<&String> = seen.warnings.iter().collect();
        for warning in warnings.iter().filter(|warning| !told.contains(warning)) {
            tracing::warn!("{warning}");
        }
        if *seen.library != library {
            seen.library = Arc::new(library);
        }
        seen.citing = citing;
        seen.warnings = warnings;
        Some(Arc::clone(&seen.library))
    }

    fn shared(&self, path: &str) -> Option<SharedFile> {
        let skill = lock(&self.seen).citing.get(path).cloned()?;
        let file = Path::new(path);
        // Declared then and still: the declaration is looked at again, and so is the way.
        let declares = reference::references(&skill).iter().any(|own| own.file.as_deref() == Ok(file));
        let (base, inside) = place_of(&skill, file).filter(|_| declares)?;
        let (bytes, meta) = beneath::read_with_meta(&base, &inside, REFERENCE_MAX).ok()?;
        let prose = (bytes.len() <= REFERENCE_MAX).then(|| Prose::read(&bytes))??;
        let stem = file.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        Some(SharedFile {
            path: path.to_owned(),
            name: prose.text("name").unwrap_or(stem).to_owned(),
            facts: held::facts(&meta, bytes.len()),
            metadata: prose.fields,
            body: prose.body,
        })
    }
}

impl LibrarySource for LocalLibrary {
    fn look(&self) -> Answer<'_, Arc<Library>> {
        let inner = Arc::clone(&self.inner);
        let looked = off_the_executor(LOCAL_SKILLS, move || Ok(inner.look()));
        Box::pin(async move {
            let library = looked.await?;
            if let Some(watch) = &self.watch {
                watch.follow_also(build::directories_of(&library).into_iter());
            }
            Ok(library)
        })
    }

    fn shared<'a>(&'a self, path: &'a str) -> Answer<'a, Option<SharedFile>> {
        let (inner, path) = (Arc::clone(&self.inner), path.to_owned());
        off_the_executor(LOCAL_SKILLS, move || Ok::<_, ExtensionError>(inner.shared(&path)))
    }

    fn roots(&self) -> Vec<LibraryRoot> {
        self.watch.as_ref().map_or_else(|| self.unwatched.clone(), Watch::roots)
    }

    fn changes(&self) -> Option<Box<dyn Changes>> {
        self.watch.as_ref().map(Watch::changes)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
