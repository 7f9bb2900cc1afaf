//! The text in a rule's brackets.

use globset::{GlobBuilder, GlobMatcher};
use portcullis_model::call::{Effect, EffectKind};

use super::Subject;
use super::name::literal_brackets;
use crate::tool;

/// What stands in a rule's brackets.
#[derive(Debug, Clone)]
pub(crate) struct Pattern {
    source: String,
    /// For commands, URLs and tools: `*` is any characters.
    text: GlobMatcher,
    /// The same behind the first `/`: of `SERVER/TOOL` the tool.
    of_any_server: Option<GlobMatcher>,
    /// For paths: `*` is any characters but `/`, `**` those as well.
    path: GlobMatcher,
    /// Whether the path stands below the call's directory.
    is_relative: bool,
}

impl Pattern {
    pub(crate) fn new(source: &str) -> Result<Self, String> {
        let glob = |text: &str, separates: bool| {
            let glob = GlobBuilder::new(text).literal_separator(separates).backslash_escape(true).build();
            glob.map(|glob| glob.compile_matcher())
                .map_err(|error| format!("its pattern is none ({})", error.kind()))
        };
        let text = literal_brackets(source);
        let of_any_server = text.split_once('/').map(|(_, own)| glob(own, false)).transpose()?;
        let anchored = source.starts_with('/') || source.starts_with("~/") || source.starts_with("**");
        let bare = !source.contains('/');
        let path = if bare && !anchored { format!("**/{source}") } else { source.to_owned() };
        Ok(Self {
            source: source.to_owned(),
            text: glob(&text, false)?,
            of_any_server,
            path: glob(&path, true)?,
            is_relative: !bare && !anchored,
        })
    }

    /// A blank and a star at the end may stand for nothing: `git push *` is `git push`
    /// as well.
    pub(super) fn matches_text(&self, text: &str) -> bool {
        self.text.is_match(text) || self.source.strip_suffix(" *").is_some_and(|whole| whole == text)
    }

    /// Whether what the effect is about is meant.
    pub(super) fn matches_effect(&self, effect: &Effect, call: &Subject<'_>) -> bool {
        match effect.kind {
            EffectKind::Read | EffectKind::Write | EffectKind::Delete => {
                self.matches_path(&effect.target, call.cwd, call.home)
            }
            EffectKind::Run | EffectKind::Fetch | EffectKind::Mcp | EffectKind::Opaque => {
                self.matches_text(&effect.target)
            }
        }
    }

    /// The same, where an agent that does not tell the MCP server may mean any.
    pub(super) fn may_match_effect(&self, effect: &Effect, call: &Subject<'_>) -> bool {
        let of_any_server = || {
            let called = (effect.kind == EffectKind::Mcp).then(|| tool::of_unknown_server(&effect.target));
            called
                .flatten()
                .zip(self.of_any_server.as_ref())
                .is_some_and(|(called, own)| own.is_match(called))
        };
        self.matches_effect(effect, call) || of_any_server()
    }

    /// Whether `path`, which is absolute, is meant; `cwd` is what a pattern such as
    /// `src/**` is below.
    pub(crate) fn matches_path(&self, path: &str, cwd: &str, home: Option<&str>) -> bool {
        if self.is_relative {
            let below = path.strip_prefix(cwd.trim_end_matches('/')).and_then(|rest| rest.strip_prefix('/'));
            return below.is_some_and(|below| self.path.is_match(below));
        }
        let home = || home.and_then(|home| path.strip_prefix(home.trim_end_matches('/')));
        self.path.is_match(path)
            || home()
                .is_some_and(|rest| self.source.starts_with("~/") && self.path.is_match(format!("~{rest}")))
    }
}
