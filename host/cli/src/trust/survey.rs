//! What a project brings that waits for trust: read once, and shown as it was read.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use portcullis::command::{CommandCatalog, CommandPlaces};
use portcullis::config::{self, Files, Problem};
use portcullis::model::config::Config;
use portcullis::model::product;
use portcullis::runtime::Digest;
use portcullis::skill::{ScanLimits, Scanner, SkillPlaces, SkillRoot, SkillState};
use portcullis::trust::Covered;
use portcullis::{Host, PluginRow, PluginState};

use crate::args::Common;
use crate::environment::Environment;
use crate::open;

/// The largest program of a hook.
const PROGRAM_MAX: u64 = 16 << 20;

/// The most files; what can be trusted of one project is bounded.
const FILES_MAX: usize = 500;

/// All that a project brings.
pub(super) struct Survey {
    pub(super) items: Vec<Item>,
    /// What cannot be trusted, and why.
    pub(super) problems: Vec<String>,
    /// What its configuration says and may not, trusted or not.
    pub(super) never: Vec<Problem>,
}

/// One file, and what it would do.
pub(super) struct Item {
    pub(super) covered: Covered,
    pub(super) what: Vec<String>,
}

pub(super) fn survey(common: &Common, environment: &Environment, root: &Path) -> anyhow::Result<Survey> {
    let mut survey = Survey { items: Vec::new(), problems: Vec::new(), never: Vec::new() };
    survey.configuration(common, environment, root)?;
    survey.plugins(environment, root)?;
    survey.skills(environment, root);
    survey.commands(environment, root);
    Ok(survey)
}

impl Survey {
    fn configuration(
        &mut self,
        common: &Common,
        environment: &Environment,
        root: &Path,
    ) -> anyhow::Result<()> {
        let name = format!("{}/config.toml", product::PROJECT_DIR);
        let user = open::files(common, environment, None)?.user;
        let files = Files { user, project: Some(root.join(&name)), trust: None };
        let loaded = config::load(&files)?;
        self.never = loaded.ignored.iter().filter(|ignored| !waits(ignored)).cloned().collect();
        let Some(digest) = loaded.project_digest.filter(|_| !loaded.wishes.is_empty()) else { return Ok(()) };
        let mut what = Vec::new();
        for wish in &loaded.wishes {
            let value = wish.setting.shown().map(|value| value.to_string()).unwrap_or_default();
            let line = wish.setting.origins.first().map_or(0, |origin| origin.line);
            what.push(format!("line {line}: {} = {value}", wish.setting.key));
        }
        self.items.push(Item { covered: Covered { path: name, digest, program: None }, what });
        for wish in &loaded.wishes {
            let Some(program) = &wish.program else { continue };
            if self.items.iter().any(|item| item.covered.path == *program) {
                continue;
            }
            match bytes(&root.join(program)) {
                Ok(bytes) => {
                    let what = vec![format!(
                        "a program of {} bytes, which `{}` asks",
                        bytes.len(),
                        wish.setting.key
                    )];
                    let covered =
                        Covered { path: program.clone(), digest: Digest::of(&bytes), program: Some(bytes) };
                    self.items.push(Item { covered, what });
                }
                Err(error) => self.problems.push(format!("{program}: {error:#}")),
            }
        }
        Ok(())
    }

    /// The skills, also those for other agents. They are read as if they were trusted, to
    /// show what a model would be told.
    fn skills(&mut self, environment: &Environment, root: &Path) {
        let places = SkillPlaces {
            project: Some(root.to_owned()),
            home: super::home(environment),
            compatible: true,
            ..SkillPlaces::default()
        };
        let of_project = |root: &SkillRoot| root.trust.is_some();
        let roots = places.roots().into_iter().filter(of_project);
        let roots = roots.map(|root| SkillRoot { trust: None, ..root });
        let catalog = Scanner::new(roots.collect(), ScanLimits::default()).look();
        for skill in catalog.all() {
            let file = skill.file();
            let Some(path) = file.strip_prefix(root).ok().and_then(Path::to_str) else { continue };
            let (Some(digest), SkillState::Usable | SkillState::Shadowed { .. }) =
                (skill.digest, &skill.state)
            else {
                continue;
            };
            let mut what = vec![format!("the skill `{}`: {}", skill.slug, skill.description())];
            if skill.document.as_ref().is_some_and(|document| document.fields.always_active) {
                what.push("its text is given to the model in every turn".to_owned());
            }
            self.push(path, digest, what);
        }
    }

    /// The commands, also those for other agents, read in the same way.
    fn commands(&mut self, environment: &Environment, root: &Path) {
        let places = CommandPlaces {
            project: Some(root.to_owned()),
            home: super::home(environment),
            compatible: true,
            ..CommandPlaces::default()
        };
        for command in CommandCatalog::waiting(&places).all() {
            let path = command.file.strip_prefix(root).ok().and_then(Path::to_str);
            let (Some(path), Some(digest), Some(document)) = (path, command.digest, &command.document) else {
                continue;
            };
            self.push(
                path,
                digest,
                vec![format!("the command `/{}`: {}", command.name, document.description)],
            );
        }
    }

    /// A file that a model would be told of.
    fn push(&mut self, path: &str, digest: Digest, what: Vec<String>) {
        if self.items.len() >= FILES_MAX {
            self.problems.push(format!("{path}: no more than {FILES_MAX} files of a project can be trusted"));
            return;
        }
        let covered = Covered { path: path.to_owned(), digest, program: None };
        self.items.push(Item { covered, what });
    }

    /// The plugins. They are loaded as if they were trusted, without any grant, to hear
    /// what they bring.
    fn plugins(&mut self, environment: &Environment, root: &Path) -> anyhow::Result<()> {
        let folder = root.join(product::PROJECT_DIR).join("plugins");
        let mut files: Vec<PathBuf> = match fs::read_dir(&folder) {
            Ok(entries) => entries.map(|entry| Ok(entry?.path())).collect::<std::io::Result<_>>()?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            Err(error) => {
                return Err(error).with_context(|| format!("`{}` cannot be listed", folder.display()));
            }
        };
        let hidden =
            |file: &Path| file.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
        files.retain(|file| !hidden(file) && file.extension().is_some_and(|extension| extension == "wasm"));
        files.sort();
        if files.is_empty() {
            return Ok(());
        }
        let mut options = open::bare(environment)?;
        options.config = Config::default();
        options.config.plugins.enabled = Some(Vec::new());
        options.plugins.clone_from(&files);
        let host = open::open(options)?;
        for row in &host.report().rows {
            let Some(file) = row.origin.as_ref().and_then(|origin| origin.path()) else { continue };
            let Some(path) = file.strip_prefix(root).ok().and_then(Path::to_str) else {
                self.problems.push(format!("{}: its name is not UTF-8", file.display()));
                continue;
            };
            match (&row.state, row.digest) {
                (PluginState::Active | PluginState::Shadowed, Some(digest)) => {
                    let covered = Covered { path: path.to_owned(), digest, program: None };
                    self.items.push(Item { covered, what: plugin(&host, row) });
                }
                (state, _) => {
                    self.problems
                        .push(format!("{path}: {}", state.reason().unwrap_or("it cannot be loaded")));
                }
            }
        }
        Ok(())
    }
}

/// It would be allowed by trust.
fn waits(ignored: &Problem) -> bool {
    ignored.hint.as_deref().is_some_and(|hint| hint.contains("trust add"))
}

fn plugin(host: &Host, row: &PluginRow) -> Vec<String> {
    let kinds: Vec<_> = row.kinds.iter().map(|kind| kind.as_str()).collect();
    let version = row.version.as_deref().unwrap_or_default();
    let mut what = vec![format!("the plugin `{}` {version}: {}", row.name, kinds.join(", "))];
    if !row.tools.is_empty() {
        what.push(format!("brings the tools {}", row.tools.join(", ")));
    }
    if let Some(seen) = host.inspect(&row.name).filter(|seen| seen.row.digest == row.digest) {
        if let Some(appendix) = &seen.appendix {
            what.push(format!("tells the model: {appendix}"));
        }
        let own = |import: &&String| !import.starts_with("portcullis:host/call@");
        let imports: Vec<_> = seen.imports.iter().filter(own).map(String::as_str).collect();
        if !imports.is_empty() {
            what.push(format!("wishes for {}", imports.join(", ")));
        }
    }
    what
}

/// The bytes of a program. Only a regular file is opened, because a pipe might never end.
fn bytes(path: &Path) -> anyhow::Result<Vec<u8>> {
    anyhow::ensure!(fs::metadata(path)?.is_file(), "it is not a file");
    let mut bytes = Vec::new();
    File::open(path)?.take(PROGRAM_MAX + 1).read_to_end(&mut bytes)?;
    anyhow::ensure!(bytes.len() as u64 <= PROGRAM_MAX, "it is larger than {PROGRAM_MAX} bytes");
    Ok(bytes)
}
