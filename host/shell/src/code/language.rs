//! The languages whose inline code is looked into, and their notations.

/// A language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    Python,
    JavaScript,
    Perl,
    Ruby,
    Php,
    Awk,
    Lua,
}

impl Language {
    /// What begins a comment that ends with its line, at the start of `rest`.
    pub(super) fn comments(self, rest: &str) -> bool {
        match self {
            Self::Python | Self::Perl | Self::Ruby | Self::Awk => rest.starts_with('#'),
            Self::JavaScript => rest.starts_with("//"),
            Self::Php => rest.starts_with("//") || rest.starts_with('#'),
            Self::Lua => rest.starts_with("--"),
        }
    }

    /// Whether `/* … */` is a comment.
    pub(super) fn block_comments(self) -> bool {
        matches!(self, Self::JavaScript | Self::Php)
    }

    /// Whether a slash may begin a regular expression.
    pub(super) fn regexes(self) -> bool {
        matches!(self, Self::JavaScript | Self::Perl | Self::Ruby | Self::Awk)
    }

    /// Whether a backtick runs what it holds.
    pub(super) fn runs_backticks(self) -> bool {
        matches!(self, Self::Perl | Self::Ruby | Self::Php)
    }

    /// Whether `\\cx` is a control character.
    pub(super) fn control_escapes(self) -> bool {
        matches!(self, Self::Perl | Self::Ruby)
    }

    /// Whether names of variables begin with a sigil.
    pub(super) fn sigils(self) -> bool {
        matches!(self, Self::Perl | Self::Php)
    }

    /// Whether a call may go without parentheses.
    pub(super) fn calls_bare(self) -> bool {
        matches!(self, Self::Perl | Self::Ruby)
    }

    /// Whether `.` joins two texts.
    pub(super) fn joins_with_dot(self) -> bool {
        matches!(self, Self::Perl | Self::Php)
    }

    /// What a text in these quotes puts in place of a variable.
    pub(super) fn interpolates(self, quote: char, prefix: &str) -> Interpolation {
        match self {
            Self::Python if prefix.contains(['f', 'F']) => Interpolation::Braces,
            Self::JavaScript if quote == '`' => Interpolation::DollarBraces,
            Self::Ruby if quote != '\'' => Interpolation::HashBraces,
            Self::Perl | Self::Php if quote != '\'' => Interpolation::Dollar,
            Self::Python | Self::JavaScript | Self::Perl | Self::Ruby | Self::Php | Self::Awk | Self::Lua => {
                Interpolation::None
            }
        }
    }
}

/// How a text holds expressions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Interpolation {
    None,
    /// `{x}`
    Braces,
    /// `${x}`
    DollarBraces,
    /// `#{x}`
    HashBraces,
    /// `$x` and `${x}`
    Dollar,
}
