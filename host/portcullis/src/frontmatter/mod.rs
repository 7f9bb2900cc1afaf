//! Markdown files that begin with fields between two fences, as skills and commands do.

mod fields;
mod flaw;
mod text;
mod yaml;

pub(crate) use fields::read;
pub(crate) use flaw::{Flaw, FlawKind};
pub(crate) use text::{body, one_line, split};
pub(crate) use yaml::{Node, NodeKind, Pair, map_json};

pub use text::FRONTMATTER_MAX;
