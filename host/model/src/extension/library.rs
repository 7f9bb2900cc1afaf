//! What a server of skills gives out: every file of every skill, as it was at one look.
//!
//! A library is a value. Lists, reads and digests of one library cannot disagree, and two
//! of them say between them what changed.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::{Answer, Changes};

/// When a file was written and how many bytes it has. Times are RFC 3339 in UTC.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileFacts {
    /// In bytes.
    pub size: u64,
    /// When it was last written.
    pub modified: Option<String>,
    /// When it was made, where the file system knows.
    pub created: Option<String>,
}

/// One file, with its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LibraryFile {
    /// Its bytes, as they are.
    pub bytes: Arc<[u8]>,
    /// Of the bytes: `sha256:` and 64 lower case hexadecimal digits.
    pub digest: String,
    /// What its file system says of it.
    pub facts: FileFacts,
}

/// A file that a skill declares and shares with others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeclaredReference {
    /// What it is called when nobody can read it.
    pub label: String,
    /// Its canonical path; none when there is no such file, or the skill may not name it.
    pub path: Option<String>,
    /// The address of the skill's own copy of it.
    pub copy: Option<String>,
}

/// One skill.
#[derive(Debug, Clone, PartialEq)]
pub struct LibrarySkill {
    /// Its path below its root: what it is known by.
    pub slug: String,
    /// The address of its `SKILL.md`.
    pub uri: String,
    /// Its name.
    pub name: String,
    /// Its title, where it has one.
    pub title: Option<String>,
    /// What it is for, and when to use it.
    pub description: String,
    /// Every field of its frontmatter, from the bytes that its address gives.
    pub frontmatter: Map<String, Value>,
    /// What is below the frontmatter.
    pub body: Arc<str>,
    /// The file of it, on this machine.
    pub path: String,
    /// The directory of it, on this machine.
    pub directory: String,
    /// Of its `SKILL.md`.
    pub facts: FileFacts,
    /// The addresses of all its files, by address: those of skills in it are among them,
    /// and so are its copies of shared files.
    pub files: Vec<String>,
    /// What it declares, in its order.
    pub references: Vec<DeclaredReference>,
    /// The user calls it, and a model does not by itself.
    pub is_for_the_user: bool,
    /// Why a host of the skills extension is not shown it. It can still be read by whoever
    /// names it to a tool.
    pub withheld: Option<String>,
}

/// One prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LibraryPrompt {
    /// Its name: letters, digits, `_`, `.` and `-`, at most 128 of them.
    pub name: String,
    /// Its title, where it has one.
    pub title: Option<String>,
    /// What it is for, where it says so.
    pub description: Option<String>,
    /// Its text, without frontmatter.
    pub body: Arc<str>,
    /// What its file system says of it.
    pub facts: FileFacts,
}

/// A skill that is there and cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkippedSkill {
    /// Its path below its root.
    pub slug: String,
    /// Why.
    pub why: String,
}

/// Everything that there is, as it was at one look.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Library {
    /// By slug.
    pub skills: Vec<Arc<LibrarySkill>>,
    /// What cannot be used, by slug.
    pub skipped: Vec<SkippedSkill>,
    /// Every file of every skill, by address.
    pub files: BTreeMap<String, LibraryFile>,
    /// Every shared file that some skill declares: its canonical path, and what tells two
    /// states of it apart.
    pub references: BTreeMap<String, String>,
    /// By name.
    pub prompts: Vec<Arc<LibraryPrompt>>,
}

impl Library {
    /// The skill at `slug`.
    #[must_use]
    pub fn skill(&self, slug: &str) -> Option<&Arc<LibrarySkill>> {
        let at = self.skills.binary_search_by(|skill| skill.slug.as_str().cmp(slug)).ok()?;
        self.skills.get(at)
    }

    /// The skills that a host of the extension is shown.
    pub fn served(&self) -> impl Iterator<Item = &Arc<LibrarySkill>> {
        self.skills.iter().filter(|skill| skill.withheld.is_none())
    }

    /// The prompt of that name.
    #[must_use]
    pub fn prompt(&self, name: &str) -> Option<&Arc<LibraryPrompt>> {
        self.prompts.iter().find(|prompt| prompt.name == name)
    }
}

/// A shared file as it is now.
#[derive(Debug, Clone, PartialEq)]
pub struct SharedFile {
    /// Its canonical path.
    pub path: String,
    /// What it is called: the name that its frontmatter gives it, or its file's stem.
    pub name: String,
    /// Every field of its frontmatter; none when it has none.
    pub metadata: Option<Map<String, Value>>,
    /// Its text, without frontmatter.
    pub body: String,
    /// What its file system says of it.
    pub facts: FileFacts,
}

/// How changes below a directory come to be known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Coverage {
    /// The file system tells of each.
    Watching,
    /// It does not, for this reason. What was found is served, and another look refreshes it.
    Degraded(String),
    /// Nobody asked for it.
    Off,
}

/// A directory or file that a library is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LibraryRoot {
    /// Where it is, on this machine.
    pub path: String,
    /// How its changes come to be known.
    pub coverage: Coverage,
}

/// Whatever a server of skills gives out.
pub trait LibrarySource: fmt::Debug + Send + Sync {
    /// Looks now. When nothing changed it is the library of before.
    fn look(&self) -> Answer<'_, Arc<Library>>;

    /// The shared file at a canonical path that the last library declares, as it is now;
    /// none when it cannot be read as text.
    fn shared<'a>(&'a self, path: &'a str) -> Answer<'a, Option<SharedFile>>;

    /// What it is made of.
    fn roots(&self) -> Vec<LibraryRoot>;

    /// Tells when something may have changed, so that it is worth a look. None: nobody
    /// knows.
    fn changes(&self) -> Option<Box<dyn Changes>>;
}
