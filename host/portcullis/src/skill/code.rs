//! What can be wrong with a skill, each by a stable word.

use std::fmt;

use serde::{Serialize, Serializer};

use crate::frontmatter::{Flaw, FlawKind};

/// What a finding means for whoever wants to load the skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Effect {
    /// Nothing. It is told, so that nobody wonders.
    Note,
    /// The skill is loaded, and whoever keeps it should know.
    Warn,
    /// The skill cannot be loaded.
    Skip,
}

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $word:literal, $strict:literal, $effect:ident;)*) => {
        /// What can be wrong with a skill.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum SkillCode {
            $($(#[$doc])* $name,)*
        }

        impl SkillCode {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// The stable word.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $word,)* }
            }

            /// Whether the specification allows it.
            #[must_use]
            pub const fn is_conforming(self) -> bool {
                match self { $(Self::$name => $strict,)* }
            }

            /// What it means for loading, where nothing else makes it worse.
            #[must_use]
            pub const fn effect(self) -> Effect {
                match self { $(Self::$name => Effect::$effect,)* }
            }
        }
    };
}

codes! {
    /// The file cannot be read.
    FileUnreadable = "file_unreadable", false, Skip;
    /// The file is no plain file.
    FileKind = "file_kind", false, Skip;
    /// The file has more bytes than a skill may have.
    FileTooBig = "file_too_big", false, Skip;
    /// The file is called `skill.md` or the like.
    FilenameCase = "filename_case", false, Skip;
    /// A directory on the way to the skill has upper case letters in its name.
    PrefixNotLowercase = "prefix_not_lowercase", false, Skip;
    /// Another skill has the same name, at another place.
    NameTwice = "name_twice", true, Note;
    /// The file is not UTF-8.
    NotUtf8 = "not_utf8", false, Skip;
    /// The file begins with a byte order mark.
    Bom = "bom", true, Note;
    /// There are blank lines before the first fence.
    LeadingBlankLines = "leading_blank_lines", false, Warn;
    /// There is white space behind a fence.
    FenceWhitespace = "fence_whitespace", true, Warn;
    /// The file does not begin with a fence.
    FrontmatterMissing = "frontmatter_missing", false, Skip;
    /// There is no second fence.
    FrontmatterUnclosed = "frontmatter_unclosed", false, Skip;
    /// There are more bytes between the fences than are read.
    FrontmatterTooBig = "frontmatter_too_big", false, Skip;
    /// The frontmatter holds a control character.
    ControlCharacter = "control_character", false, Skip;
    /// The frontmatter is not YAML, and no repair helps.
    YamlInvalid = "yaml_invalid", false, Skip;
    /// The frontmatter is nested too deep, or its aliases make it too large.
    YamlBudget = "yaml_budget", false, Skip;
    /// The frontmatter is no mapping.
    YamlNotMap = "yaml_not_map", false, Skip;
    /// A line of the frontmatter is not YAML, and is read as the text that it is.
    YamlRepaired = "yaml_repaired", false, Warn;
    /// A field of the frontmatter is not YAML, and is left out.
    FieldDropped = "field_dropped", false, Warn;
    /// A quoted text goes on at the beginning of a line.
    YamlIndentInQuotes = "yaml_indent_in_quotes", true, Warn;
    /// A character is written as two halves of UTF-16.
    YamlSurrogateEscape = "yaml_surrogate_escape", false, Warn;
    /// A text ends at ` #`, behind which is a comment.
    YamlCommentInText = "yaml_comment_in_text", true, Warn;
    /// A key is there more than once; the last one counts.
    DuplicateKey = "duplicate_key", false, Warn;
    /// A key that the specification does not know.
    UnknownField = "unknown_field", false, Warn;
    /// There is no name.
    NameMissing = "name_missing", false, Skip;
    /// The name is empty.
    NameEmpty = "name_empty", false, Skip;
    /// The name is written as a number or a word such as `yes`, or is a list.
    NameNotString = "name_not_string", true, Warn;
    /// The name has more than 64 characters.
    NameTooLong = "name_too_long", false, Warn;
    /// The name has upper case letters.
    NameNotLowercase = "name_not_lowercase", false, Warn;
    /// The name has letters or digits that are not ASCII.
    NameNotAscii = "name_not_ascii", false, Warn;
    /// The name has other characters than letters, digits and hyphens.
    NameBadChars = "name_bad_chars", false, Warn;
    /// A hyphen is at an end of the name, or two are together.
    NameHyphens = "name_hyphens", false, Warn;
    /// The directory has another name.
    NameDirMismatch = "name_dir_mismatch", false, Warn;
    /// There is no description.
    DescriptionMissing = "description_missing", false, Skip;
    /// The description is empty.
    DescriptionEmpty = "description_empty", false, Skip;
    /// The description is written as a number or a word such as `yes`, or is a list.
    DescriptionNotString = "description_not_string", true, Warn;
    /// The description has more than 1024 characters.
    DescriptionTooLong = "description_too_long", false, Warn;
    /// The description has `<` or `>`.
    DescriptionHasMarkup = "description_has_markup", true, Warn;
    /// The licence is no text.
    LicenseNotString = "license_not_string", false, Warn;
    /// The compatibility is no text.
    CompatibilityNotString = "compatibility_not_string", false, Warn;
    /// The compatibility is empty.
    CompatibilityEmpty = "compatibility_empty", false, Warn;
    /// The compatibility has more than 500 characters.
    CompatibilityTooLong = "compatibility_too_long", false, Warn;
    /// The metadata are no mapping.
    MetadataNotMap = "metadata_not_map", false, Warn;
    /// The metadata hold something that is no text.
    MetadataNotStringMap = "metadata_not_string_map", false, Warn;
    /// The tools are separated by commas.
    AllowedToolsComma = "allowed_tools_comma", true, Note;
    /// The tools are a list.
    AllowedToolsList = "allowed_tools_list", false, Warn;
    /// The tools are neither a text nor a list of texts.
    AllowedToolsNotString = "allowed_tools_not_string", false, Warn;
    /// The hint at arguments is no text.
    ArgumentHintNotString = "argument_hint_not_string", false, Warn;
    /// The globs stand for too many.
    GlobBudget = "glob_budget", false, Warn;
    /// A field that says yes or no says neither.
    NotBoolean = "not_boolean", false, Warn;
    /// The domains are neither a text nor a list of texts.
    ServesNotString = "serves_not_string", false, Warn;
    /// The references are no list of texts.
    ReferencesNotStrings = "references_not_strings", false, Warn;
}

impl fmt::Display for SkillCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for SkillCode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// Something to say of a skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What it is.
    pub code: SkillCode,
    /// What follows for loading.
    pub effect: Effect,
    /// The line of the file, from 1; none when it is about the file.
    pub line: Option<usize>,
    /// What is wrong, in a sentence.
    pub message: String,
    /// What to do about it.
    pub remedy: String,
    /// The line as it should be, where one line is all that is wrong.
    pub fix: Option<String>,
}

impl Finding {
    pub(super) fn new(
        code: SkillCode,
        line: Option<usize>,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self { code, effect: code.effect(), line, message: message.into(), remedy: remedy.into(), fix: None }
    }

    pub(super) fn skip(self) -> Self {
        Self { effect: Effect::Skip, ..self }
    }

    pub(super) fn fixed_by(self, line: impl Into<String>) -> Self {
        Self { fix: Some(line.into()), ..self }
    }
}

impl From<Flaw> for Finding {
    fn from(flaw: Flaw) -> Self {
        let Flaw { kind, line, message, remedy, fix } = flaw;
        Self { fix, ..Self::new(kind.into(), line, message, remedy) }
    }
}

impl From<FlawKind> for SkillCode {
    fn from(kind: FlawKind) -> Self {
        match kind {
            FlawKind::NotUtf8 => Self::NotUtf8,
            FlawKind::Bom => Self::Bom,
            FlawKind::LeadingBlankLines => Self::LeadingBlankLines,
            FlawKind::FenceWhitespace => Self::FenceWhitespace,
            FlawKind::FrontmatterMissing => Self::FrontmatterMissing,
            FlawKind::FrontmatterUnclosed => Self::FrontmatterUnclosed,
            FlawKind::FrontmatterTooBig => Self::FrontmatterTooBig,
            FlawKind::ControlCharacter => Self::ControlCharacter,
            FlawKind::YamlInvalid => Self::YamlInvalid,
            FlawKind::YamlBudget => Self::YamlBudget,
            FlawKind::YamlNotMap => Self::YamlNotMap,
            FlawKind::YamlRepaired => Self::YamlRepaired,
            FlawKind::FieldDropped => Self::FieldDropped,
            FlawKind::YamlIndentInQuotes => Self::YamlIndentInQuotes,
            FlawKind::YamlSurrogateEscape => Self::YamlSurrogateEscape,
            FlawKind::YamlCommentInText => Self::YamlCommentInText,
            FlawKind::DuplicateKey => Self::DuplicateKey,
        }
    }
}

/// Whether the skill can be loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Load {
    /// As it is.
    Load,
    /// With a warning.
    Warn,
    /// No.
    Skip,
}

impl Load {
    pub(super) fn of(findings: &[Finding]) -> Self {
        match findings.iter().map(|finding| finding.effect).max() {
            None | Some(Effect::Note) => Self::Load,
            Some(Effect::Warn) => Self::Warn,
            Some(Effect::Skip) => Self::Skip,
        }
    }

    /// The stable word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Load => "load",
            Self::Warn => "warn",
            Self::Skip => "skip",
        }
    }
}

/// Whether the specification allows the skill.
pub(super) fn is_conforming(findings: &[Finding]) -> bool {
    findings.iter().all(|finding| finding.code.is_conforming() && finding.effect != Effect::Skip)
}

/// A text of the file within a message: on one line, and not too long.
pub(super) fn shown(text: &str) -> String {
    const MOST: usize = 80;
    let mut shown: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(MOST).collect();
    if text.chars().nth(MOST).is_some() {
        shown.push('…');
    }
    shown
}
