//! What can be wrong with a frontmatter.

macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident;)*) => {
        /// What is wrong.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum FlawKind {
            $($(#[$doc])* $name,)*
        }
    };
}

kinds! {
    /// The file is not UTF-8.
    NotUtf8;
    /// The file begins with a byte order mark.
    Bom;
    /// There are blank lines before the first fence.
    LeadingBlankLines;
    /// There is white space behind a fence.
    FenceWhitespace;
    /// The file does not begin with a fence.
    FrontmatterMissing;
    /// There is no second fence.
    FrontmatterUnclosed;
    /// There are more bytes between the fences than are read.
    FrontmatterTooBig;
    /// The frontmatter holds a control character.
    ControlCharacter;
    /// The frontmatter is not YAML, and no repair helps.
    YamlInvalid;
    /// The frontmatter is nested too deep, or its aliases make it too large.
    YamlBudget;
    /// The frontmatter is no mapping.
    YamlNotMap;
    /// A line of the frontmatter is not YAML, and is read as the text that it is.
    YamlRepaired;
    /// A field of the frontmatter is not YAML, and is left out.
    FieldDropped;
    /// A quoted text goes on at the beginning of a line.
    YamlIndentInQuotes;
    /// A character is written as two halves of UTF-16.
    YamlSurrogateEscape;
    /// A text ends at ` #`, behind which is a comment.
    YamlCommentInText;
    /// A key is there more than once; the last one counts.
    DuplicateKey;
}

/// Something that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Flaw {
    /// What it is.
    pub(crate) kind: FlawKind,
    /// The line of the file, from 1; none when it is about the file.
    pub(crate) line: Option<usize>,
    /// What is wrong, in a sentence.
    pub(crate) message: String,
    /// What to do about it.
    pub(crate) remedy: String,
    /// The line as it should be, where one line is all that is wrong.
    pub(crate) fix: Option<String>,
}

impl Flaw {
    pub(super) fn new(
        kind: FlawKind,
        line: Option<usize>,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self { kind, line, message: message.into(), remedy: remedy.into(), fix: None }
    }

    pub(super) fn fixed_by(self, line: impl Into<String>) -> Self {
        Self { fix: Some(line.into()), ..self }
    }
}
