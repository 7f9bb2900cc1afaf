//! The paths that one run may write: set by whoever runs the loop, and held whatever
//! the model was told.

use std::path::{Path, PathBuf};

use portcullis_model::call::EffectKind;
use portcullis_model::judgement::Refusal;

use super::reason;
use crate::protect::resolve;
use crate::rule::{Pattern, Subject};

/// A text that is no pattern of paths.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{pattern}` is no pattern of paths: {reason}")]
pub struct DirectWritesError {
    /// The text.
    pub pattern: String,
    /// What is wrong with it.
    pub reason: String,
}

/// The only paths that tools may write and delete, such as `docs/**`. Links count
/// where they lead.
///
/// Tools that write files are bound by it, batches whole. A plugin's tool is bound by
/// its grants, so one that was granted a directory to write is refused. What a script
/// or an MCP server does is not seen in full and is not bound by it: rules such as
/// `deny = ["run", "mcp"]` are for that.
#[derive(Debug, Clone)]
pub struct DirectWrites {
    root: PathBuf,
    patterns: Vec<Pattern>,
    shown: String,
}

impl DirectWrites {
    /// Paths like these: `docs/**` is below `root`, `/srv/**` is not, and `*.md` is
    /// any such file anywhere. None at all: nothing may be written.
    ///
    /// # Errors
    /// When one of them is no pattern.
    pub fn new<S: AsRef<str>>(root: &Path, patterns: &[S]) -> Result<Self, DirectWritesError> {
        let pattern = |text: &S| {
            let text = text.as_ref();
            let made =
                if text.trim().is_empty() { Err("it is empty".to_owned()) } else { Pattern::new(text) };
            made.map_err(|reason| DirectWritesError { pattern: text.to_owned(), reason })
        };
        Ok(Self {
            root: resolve(root).unwrap_or_else(|| root.to_owned()),
            patterns: patterns.iter().map(pattern).collect::<Result<_, _>>()?,
            shown: patterns.iter().map(|text| format!("`{}`", text.as_ref())).collect::<Vec<_>>().join(", "),
        })
    }

    /// The refusal of a call that would write elsewhere. `harmless` is a plugin's tool
    /// that can write nothing.
    pub(crate) fn objection(&self, call: &Subject<'_>, harmless: bool) -> Option<Refusal> {
        let outside = call.effects.iter().find(|effect| match effect.kind {
            EffectKind::Write | EffectKind::Delete => !self.hold(&effect.target),
            EffectKind::Opaque => !harmless,
            EffectKind::Run | EffectKind::Read | EffectKind::Fetch | EffectKind::Mcp => false,
        })?;
        Some(reason::not_a_direct_write(outside, &self.shown))
    }

    fn hold(&self, path: &str) -> bool {
        let (root, path) = (self.root.to_str(), resolve(Path::new(path)));
        let (Some(root), Some(path)) = (root, path.as_deref().and_then(Path::to_str)) else { return false };
        self.patterns.iter().any(|pattern| pattern.matches_path(path, root, None))
    }
}
