//! The text of a command, taken apart at its placeholders in one pass.

use super::dialect::Dialect;
use super::shell::{Quote, Region};

/// A text with placeholders.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Template {
    pub(super) pieces: Vec<Piece>,
    /// The last line for a shell is never closed.
    pub(super) open: Option<Region>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece {
    Text(String),
    Slot {
        slot: Slot,
        /// As it is written.
        written: String,
        /// Within a line for a shell: which kind, and how it is quoted there.
        shell: Option<(Region, Quote)>,
    },
}

/// What stands in place of a placeholder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Slot {
    /// The whole line, as it was typed.
    All,
    /// One word, from 0.
    Nth(usize),
    /// That word and all behind it.
    From(usize),
    /// The word that one of the names stands for.
    Named(usize),
}

/// Numbers with more digits are no placeholders.
const DIGITS_MAX: usize = 3;

/// Takes `text` apart. `names` are those of the arguments, where the file names them.
pub(super) fn parse(text: &str, dialect: Dialect, names: &[String]) -> Template {
    let mut reader = Reader { dialect, names, rest: text, ..Reader::default() };
    while !reader.rest.is_empty() {
        reader.step();
    }
    reader.flush();
    let mut pieces = reader.pieces;
    if dialect == Dialect::OpenCode {
        let highest = pieces.iter().filter_map(|piece| match piece {
            Piece::Slot { slot: Slot::Nth(nth), .. } => Some(*nth),
            Piece::Slot { .. } | Piece::Text(_) => None,
        });
        let highest = highest.max();
        for piece in &mut pieces {
            if let Piece::Slot { slot, .. } = piece
                && let Slot::Nth(nth) = *slot
                && Some(nth) == highest
            {
                *slot = Slot::From(nth);
            }
        }
    }
    Template { pieces, open: reader.region }
}

struct Reader<'t> {
    dialect: Dialect,
    names: &'t [String],
    rest: &'t str,
    /// The last character that was read.
    before: Option<char>,
    text: String,
    pieces: Vec<Piece>,
    region: Option<Region>,
    quote: Quote,
    /// How many braces are open within one of [`Region::Braces`].
    depth: usize,
}

impl Default for Reader<'_> {
    fn default() -> Self {
        Self {
            dialect: Dialect::Own,
            names: &[],
            rest: "",
            before: None,
            text: String::new(),
            pieces: Vec::new(),
            region: None,
            quote: Quote::None,
            depth: 0,
        }
    }
}

impl Reader<'_> {
    fn step(&mut self) {
        if self.region.is_none() && self.enter() {
            return;
        }
        if self.dialect != Dialect::Gemini && self.rest.starts_with('\\') && self.escaped() {
            return;
        }
        if let Some((slot, length)) = self.slot(self.rest) {
            let written = self.rest.get(..length).unwrap_or_default().to_owned();
            self.flush();
            let shell = self.region.map(|region| (region, self.quote));
            self.before = written.chars().next_back();
            self.pieces.push(Piece::Slot { slot, written, shell });
            self.rest = self.rest.get(length..).unwrap_or_default();
            return;
        }
        if self.leave() {
            return;
        }
        self.take(1);
    }

    /// The beginning of a line for a shell.
    fn enter(&mut self) -> bool {
        let at_line = self.before.is_none_or(|before| before == '\n');
        let (region, length) = match self.dialect {
            Dialect::Gemini if self.rest.starts_with("!{") => (Region::Braces, 2),
            Dialect::Gemini => return false,
            Dialect::Own | Dialect::Claude | Dialect::OpenCode => {
                let after_blank = self.before.is_none_or(char::is_whitespace);
                if at_line && self.rest.starts_with("```!") {
                    (Region::Block, 4)
                } else if self.rest.starts_with("!`") && (after_blank || self.dialect == Dialect::OpenCode) {
                    (Region::Inline, 2)
                } else {
                    return false;
                }
            }
        };
        self.take(length);
        (self.region, self.quote, self.depth) = (Some(region), Quote::None, 1);
        true
    }

    /// The end of a line for a shell.
    fn leave(&mut self) -> bool {
        let Some(region) = self.region else { return false };
        let length = match region {
            Region::Inline if self.rest.starts_with(['`', '\n']) => 1,
            Region::Block if self.before == Some('\n') && self.rest.starts_with("```") => 3,
            Region::Braces if self.rest.starts_with('{') => {
                self.depth += 1;
                return false;
            }
            Region::Braces if self.rest.starts_with('}') => {
                self.depth -= 1;
                if self.depth > 0 {
                    return false;
                }
                1
            }
            Region::Inline | Region::Block | Region::Braces => return false,
        };
        self.region = None;
        self.take(length);
        true
    }

    /// A backslash before a placeholder keeps it as text; two are one, and a placeholder.
    fn escaped(&mut self) -> bool {
        let after = self.rest.get(1..).unwrap_or_default();
        if let Some((_, length)) = self.slot(after) {
            self.rest = after;
            self.take(length);
            return true;
        }
        let behind = after.strip_prefix('\\');
        if behind.is_some_and(|behind| self.slot(behind).is_some()) {
            self.take(1);
            self.rest = self.rest.get(1..).unwrap_or_default();
            return true;
        }
        false
    }

    /// Takes so many bytes as text.
    fn take(&mut self, bytes: usize) {
        let end = (bytes..=self.rest.len()).find(|end| self.rest.is_char_boundary(*end));
        let (taken, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        if self.region.is_some() {
            self.quote = self.quote.behind(taken);
        }
        self.before = taken.chars().next_back();
        self.text.push_str(taken);
        self.rest = rest;
    }

    fn flush(&mut self) {
        if !self.text.is_empty() {
            self.pieces.push(Piece::Text(std::mem::take(&mut self.text)));
        }
    }

    /// The placeholder with which `rest` begins, and its length in bytes.
    fn slot(&self, rest: &str) -> Option<(Slot, usize)> {
        if self.dialect == Dialect::Gemini {
            const ARGUMENTS: &str = "{{args}}";
            return rest.starts_with(ARGUMENTS).then_some((Slot::All, ARGUMENTS.len()));
        }
        let name = rest.strip_prefix('$')?;
        if let Some(behind) = name.strip_prefix("ARGUMENTS") {
            let bracket = || {
                let (digits, _) = behind.strip_prefix('[')?.split_once(']')?;
                let nth = number(digits).filter(|_| self.dialect == Dialect::Claude)?;
                Some((Slot::Nth(nth), rest.len() - behind.len() + digits.len() + 2))
            };
            let whole = || ends_word(behind).then_some((Slot::All, rest.len() - behind.len()));
            return bracket().or_else(whole);
        }
        let digits = name.find(|c: char| !c.is_ascii_digit()).unwrap_or(name.len());
        if digits > 0 {
            let (digits, behind) = name.split_at(digits);
            let nth = number(digits)?.checked_sub(self.dialect.first())?;
            return (ends_word(behind) && !is_price(behind)).then_some((Slot::Nth(nth), digits.len() + 1));
        }
        let fits = |own: &&String| {
            name.strip_prefix(own.as_str()).is_some_and(|rest| !own.is_empty() && ends_word(rest))
        };
        let longest = self.names.iter().filter(fits).max_by_key(|own| own.len())?;
        let index = self.names.iter().position(|own| own == longest)?;
        Some((Slot::Named(index), longest.len() + 1))
    }
}

fn number(digits: &str) -> Option<usize> {
    let is_number = !digits.is_empty() && digits.len() <= DIGITS_MAX;
    is_number.then(|| digits.parse().ok()).flatten()
}

/// What follows belongs to no word that began before.
fn ends_word(rest: &str) -> bool {
    !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_')
}

/// `,000` and `.50` behind digits make a price of them.
fn is_price(behind: &str) -> bool {
    let digits = behind.strip_prefix([',', '.']);
    digits.is_some_and(|digits| digits.starts_with(|c: char| c.is_ascii_digit()))
}
