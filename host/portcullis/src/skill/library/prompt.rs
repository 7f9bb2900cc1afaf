//! Prompts: single files, and the Markdown files directly in a directory.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use portcullis_model::extension::LibraryPrompt;

use super::super::excluded::is_hidden;
use super::super::glob::Selection;
use super::held::{Held, Spot};
use super::prose::Prose;
use crate::beneath::{self, EntryKind, Stamp};

/// The most prompts.
pub const PROMPTS_MAX: usize = 1024;
/// The most bytes of one.
pub const PROMPT_BYTES_MAX: usize = 1 << 20;
/// The most characters of the name of one.
const NAME_MAX: usize = 128;

/// A directory of prompts.
#[derive(Debug, Clone)]
pub struct PromptDirectory {
    /// The directory. Only the files that lie in it and end in `.md` are prompts.
    pub path: PathBuf,
    /// Which of them are meant, by their names.
    pub selection: Selection,
}

/// Where prompts come from. An earlier one keeps its name, and files come before
/// directories.
#[derive(Debug, Clone, Default)]
pub struct PromptPlaces {
    /// Single files, whatever they are called.
    pub files: Vec<PathBuf>,
    /// Directories.
    pub directories: Vec<PromptDirectory>,
}

/// The prompts that there are now, by name, and what is wrong with others.
pub(super) fn look(
    places: &PromptPlaces,
    held: &mut Held,
    now: i64,
    warnings: &mut Vec<String>,
) -> Vec<Arc<LibraryPrompt>> {
    let mut found: Vec<Arc<LibraryPrompt>> = Vec::new();
    let mut take = |path: &Path, selection: Option<&Selection>, held: &mut Held| {
        if found.len() >= PROMPTS_MAX {
            return;
        }
        match read(path, held, now) {
            Ok(prompt) if selection.is_some_and(|selection| !selection.means(&prompt.name)) => {}
            Ok(prompt) if found.iter().any(|other| other.name == prompt.name) => warnings
                .push(format!("the prompt `{}` is not served: another one has its name", path.display())),
            Ok(prompt) => found.push(Arc::new(prompt)),
            Err(why) => warnings.push(format!("the prompt `{}` is not served: {why}", path.display())),
        }
    };
    for file in &places.files {
        take(file, None, held);
    }
    for PromptDirectory { path, selection } in &places.directories {
        let entries = beneath::list(path, "").map(|(entries, _)| entries).unwrap_or_default();
        for (name, kind) in entries {
            if kind == EntryKind::File && !is_hidden(&name) && name.ends_with(".md") {
                take(&path.join(name), Some(selection), held);
            }
        }
    }
    found.sort_by(|one, other| one.name.cmp(&other.name));
    found
}

fn read(path: &Path, held: &mut Held, now: i64) -> Result<LibraryPrompt, String> {
    let unreadable = |error: std::io::Error| format!("it cannot be read: {error}");
    // The path is the user's own word, so a link on the way to it is followed.
    let path = fs::canonicalize(path).map_err(unreadable)?;
    let stamp = Stamp::of(&fs::symlink_metadata(&path).map_err(unreadable)?);
    let base = path.parent().ok_or("it is no file")?;
    let file_name = path.file_name().and_then(|name| name.to_str()).ok_or("its name is not UTF-8")?;
    let file =
        held.file(&Spot { base, inside: file_name }, stamp, now, PROMPT_BYTES_MAX).map_err(unreadable)?;
    let prose = Prose::read(&file.bytes).ok_or("it is not UTF-8")?;
    let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or(file_name);
    let name = prose.text("name").unwrap_or(stem);
    if !is_name(name) {
        let shown: String = name.chars().take(NAME_MAX).collect();
        return Err(format!(
            "its name has to be 1 to {NAME_MAX} letters, digits, `_`, `.` and `-`: `{shown}`"
        ));
    }
    Ok(LibraryPrompt {
        name: name.to_owned(),
        title: prose.text("title").map(str::to_owned),
        description: prose.text("description").map(str::to_owned),
        body: prose.body.as_str().into(),
        facts: file.facts,
    })
}

fn is_name(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
    (1..=NAME_MAX).contains(&name.len()) && name.bytes().all(is_plain)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{Held, PromptDirectory, PromptPlaces, Selection, look};

    #[test]
    fn a_prompt_is_named_by_its_frontmatter_or_its_file_and_the_first_keeps_a_name() {
        let home = tempfile::tempdir().unwrap();
        let dir = home.path().join("prompts");
        fs::create_dir_all(dir.join("deeper")).unwrap();
        let put = |path: &str, text: &str| fs::write(home.path().join(path), text).unwrap();
        put("AGENTS.md", "Be brief.\n");
        put("prompts/AGENTS.md", "Shadowed.\n");
        put(
            "prompts/review.md",
            "---\nname: code.review\ntitle: Review\ndescription: Reviews.\n---\nLook.\n",
        );
        put("prompts/not-me.md", "x");
        put("prompts/with blank.md", "x");
        put(&format!("prompts/{}.md", "n".repeat(129)), "x");
        put("prompts/.hidden.md", "x");
        put("prompts/note.txt", "x");
        put("prompts/deeper/inner.md", "x");
        let selection = Selection::new(&[], &["not-*".to_owned()]).unwrap();
        let places = PromptPlaces {
            files: vec![home.path().join("AGENTS.md"), home.path().join("none.md")],
            directories: vec![PromptDirectory { path: dir, selection }],
        };
        let mut warnings = Vec::new();
        let prompts = look(&places, &mut Held::default(), 0, &mut warnings);
        let said: Vec<_> = prompts.iter().map(|prompt| (prompt.name.as_str(), &*prompt.body)).collect();
        assert_eq!(said, [("AGENTS", "Be brief.\n"), ("code.review", "Look.\n")]);
        assert_eq!(prompts[1].title.as_deref(), Some("Review"));
        assert_eq!(prompts[1].description.as_deref(), Some("Reviews."));
        assert_eq!(warnings.len(), 4, "{warnings:?}");
        assert!(warnings.iter().any(|warning| warning.contains("another one has its name")));
        assert!(warnings.iter().any(|warning| warning.contains("with blank")));
    }
}
