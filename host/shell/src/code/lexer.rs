//! From inline code to tokens. One cursor that moves forward only.

use super::language::{Interpolation, Language};
use super::token::{Kind, Piece, Token};
use crate::escape;
use crate::text::Text;

/// The tokens of `code`.
pub(super) fn tokens(language: Language, code: &Text) -> Vec<Token> {
    let mut lexer = Lexer { language, code, source: code.raw(), at: 0, tokens: Vec::new() };
    while lexer.at < lexer.source.len() {
        lexer.token();
    }
    lexer.tokens
}

struct Lexer<'c> {
    language: Language,
    code: &'c Text,
    source: &'c str,
    at: usize,
    tokens: Vec<Token>,
}

impl Lexer<'_> {
    fn token(&mut self) {
        let rest = self.rest();
        let Some(first) = rest.chars().next() else { return };
        let start = self.at;
        if self.language.comments(rest) {
            self.advance(rest.find('\n').unwrap_or(rest.len()));
            return;
        }
        if self.language.block_comments() && rest.starts_with("/*") {
            self.advance(rest.find("*/").map_or(rest.len(), |end| end + 2));
            return;
        }
        match first {
            '\n' | ';' => {
                self.advance(1);
                self.push(Kind::End, start);
            }
            c if c.is_whitespace() => self.advance(c.len_utf8()),
            '\'' | '"' => self.text(start, first, ""),
            '`' if self.language == Language::JavaScript => self.text(start, first, ""),
            '`' if self.language.runs_backticks() => {
                let pieces = self.quoted(first, "");
                self.push(Kind::Backticks(pieces), start);
            }
            '/' if self.language.regexes() && self.regex_may_begin() => self.regex(start),
            '[' if self.language == Language::Lua && rest.starts_with("[[") => {
                let end = rest.find("]]").unwrap_or(rest.len());
                let pieces = vec![Piece::Known(self.code.slice(start + 2, start + end.max(2)))];
                self.advance(end + 2);
                self.push(Kind::Text(pieces), start);
            }
            '%' if self.language == Language::Ruby && self.word_quote(start) => {}
            '$' | '@' if self.language.sigils() => self.name(start, 1),
            c if c.is_ascii_digit() => {
                self.skip_while(|c| c.is_ascii_alphanumeric() || c == '_');
                let text = self.source.get(start..self.at).unwrap_or_default().to_owned();
                self.push(Kind::Number(text), start);
            }
            c if c.is_alphabetic() || c == '_' || (c == '$' && self.language == Language::JavaScript) => {
                self.name(start, 0);
            }
            c if c.is_ascii() => {
                self.advance(1);
                self.push(Kind::Punctuation(u8::try_from(c).unwrap_or_default()), start);
            }
            c => {
                self.advance(c.len_utf8());
                self.push(Kind::Other, start);
            }
        }
    }

    fn rest(&self) -> &str {
        self.source.get(self.at..).unwrap_or_default()
    }

    /// The only way forward: always to the beginning of a character, so that
    /// `rest` is empty at the end alone.
    fn advance(&mut self, bytes: usize) {
        self.at = self.source.ceil_char_boundary(self.at.saturating_add(bytes));
    }

    fn push(&mut self, kind: Kind, start: usize) {
        self.tokens.push(Token { kind, start, end: self.at });
    }

    fn skip_while(&mut self, keep: impl Fn(char) -> bool) {
        let rest = self.rest();
        self.advance(rest.find(|c| !keep(c)).unwrap_or(rest.len()));
    }

    /// A name, or the quote that a name such as `q` or `r` begins.
    fn name(&mut self, start: usize, sigil: usize) {
        self.advance(sigil);
        if sigil > 0 && self.rest().starts_with('{') {
            self.advance(1);
        }
        let from = self.at;
        let marks = self.language == Language::Ruby;
        self.skip_while(|c| c.is_alphanumeric() || c == '_' || c == '$');
        if marks && self.rest().starts_with(['!', '?']) {
            self.advance(1);
        }
        let name = self.source.get(from..self.at).unwrap_or_default();
        if from > start + sigil && self.rest().starts_with('}') {
            self.advance(1);
        }
        let next = self.rest().chars().next();
        if self.language == Language::Python && matches!(next, Some('\'' | '"')) && is_prefix(name) {
            let prefix = name.to_owned();
            if let Some(quote) = next {
                self.text(start, quote, &prefix);
            }
            return;
        }
        if self.language == Language::Perl && sigil == 0 && self.perl_quote(start) {
            return;
        }
        let whole = format!("{}{name}", if sigil > 0 { "$" } else { "" });
        self.push(Kind::Name(whole), start);
    }

    fn text(&mut self, start: usize, quote: char, prefix: &str) {
        let pieces = self.quoted(quote, prefix);
        self.push(Kind::Text(pieces), start);
    }

    /// A text in quotes, the cursor on the first of them.
    fn quoted(&mut self, quote: char, prefix: &str) -> Vec<Piece> {
        let triple: String = std::iter::repeat_n(quote, 3).collect();
        let long = self.language == Language::Python && self.rest().starts_with(&triple);
        let close = if long { triple } else { quote.to_string() };
        self.advance(close.len());
        let raw = prefix.contains(['r', 'R'])
            || (quote == '\'' && matches!(self.language, Language::Perl | Language::Ruby | Language::Php));
        let interpolation = self.language.interpolates(quote, prefix);
        self.until(&close, raw, interpolation)
    }

    /// The pieces up to `close`, the cursor behind it.
    fn until(&mut self, close: &str, raw: bool, interpolation: Interpolation) -> Vec<Piece> {
        let mut pieces = Vec::new();
        let mut known = Text::default();
        let mut run = self.at;
        loop {
            let rest = self.rest();
            let Some(c) = rest.chars().next() else { break };
            if rest.starts_with(close) {
                break;
            }
            if c == '\\' {
                known.push(&self.code.slice(run, self.at));
                self.advance(1);
                self.escaped(raw, close, &mut known);
                run = self.at;
                continue;
            }
            let Some(length) = inner(rest, interpolation) else {
                self.advance(c.len_utf8());
                continue;
            };
            known.push(&self.code.slice(run, self.at));
            pieces.push(Piece::Known(std::mem::take(&mut known)));
            let whole = rest.get(..length).unwrap_or_default();
            pieces.push(Piece::Inner(whole.trim_matches(['$', '#', '{', '}']).trim().to_owned()));
            self.advance(length);
            run = self.at;
        }
        known.push(&self.code.slice(run, self.at));
        pieces.push(Piece::Known(known));
        self.advance(close.len());
        pieces
    }

    /// What a backslash makes of what follows it.
    fn escaped(&mut self, raw: bool, close: &str, known: &mut Text) {
        let Some(next) = self.rest().chars().next() else { return };
        let is_close = close.starts_with(next) || next == '\\';
        if raw {
            if !is_close {
                known.push_str("\\");
            }
        } else if next == '\n' {
            self.advance(1);
            return;
        } else if next.is_ascii_alphanumeric() && (next != 'c' || self.language.control_escapes()) {
            let mut out = Vec::new();
            let taken = escape::decode(self.rest().as_bytes(), escape::Reader::Code, &mut out);
            if taken > 0 {
                known.push_str(&String::from_utf8_lossy(&out));
                self.advance(taken);
                return;
            }
        }
        known.push(&self.code.slice(self.at, self.at + next.len_utf8()));
        self.advance(next.len_utf8());
    }

    /// Whether a slash here cannot be a division.
    fn regex_may_begin(&self) -> bool {
        match self.tokens.last().map(|token| &token.kind) {
            None | Some(Kind::End) => true,
            Some(Kind::Punctuation(byte)) => !matches!(byte, b')' | b']' | b'}'),
            Some(Kind::Name(name)) => {
                matches!(name.as_str(), "return" | "if" | "unless" | "and" | "or" | "split")
            }
            Some(Kind::Text(_) | Kind::Backticks(_) | Kind::Words(_) | Kind::Number(_) | Kind::Other) => {
                false
            }
        }
    }

    /// A regular expression ends on its own line; a slash without an end is a slash.
    fn regex(&mut self, start: usize) {
        let mut escaped = false;
        let mut class = false;
        for (offset, c) in self.rest().char_indices().skip(1) {
            match c {
                '\n' => break,
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '[' => class = true,
                ']' => class = false,
                '/' if !class => {
                    self.advance(offset + 1);
                    self.push(Kind::Other, start);
                    return;
                }
                _ => {}
            }
        }
        self.advance(1);
        self.push(Kind::Punctuation(b'/'), start);
    }

    /// Perl's `q`, `qq`, `qw`, `qx` and regular expressions, the cursor behind the word.
    fn perl_quote(&mut self, start: usize) -> bool {
        let word = self.source.get(start..self.at).unwrap_or_default();
        if !matches!(word, "q" | "qq" | "qw" | "qx" | "m" | "s" | "tr" | "y" | "qr") {
            return false;
        }
        let word = word.to_owned();
        let Some(open) = self.rest().chars().next().filter(|c| c.is_ascii_punctuation()) else {
            return false;
        };
        if matches!(open, ',' | ';' | ')' | '=') {
            return false;
        }
        self.advance(1);
        let close = closing(open).to_string();
        let raw = matches!(word.as_str(), "q" | "qw");
        let interpolation = if raw { Interpolation::None } else { Interpolation::Dollar };
        let pieces = self.until(&close, raw, interpolation);
        let kind = match word.as_str() {
            "q" | "qq" => Kind::Text(pieces),
            "qx" => Kind::Backticks(pieces),
            "qw" => Kind::Words(words(&pieces)),
            "s" | "tr" | "y" => {
                if closing(open) != open {
                    self.skip_while(char::is_whitespace);
                    self.advance(self.rest().chars().next().map_or(0, char::len_utf8));
                }
                self.until(&close, true, Interpolation::None);
                Kind::Other
            }
            _ => Kind::Other,
        };
        self.push(kind, start);
        true
    }

    /// Ruby's `%x(…)`, `%w(…)`, `%q(…)` and `%(…)`, the cursor on the percent sign.
    fn word_quote(&mut self, start: usize) -> bool {
        let rest = self.rest();
        let letter: String = rest.chars().skip(1).take_while(char::is_ascii_alphabetic).take(2).collect();
        let Some(open) = rest.chars().nth(1 + letter.len()) else { return false };
        if !matches!(open, '(' | '[' | '{' | '<' | '|' | '!') || letter.len() > 1 {
            return false;
        }
        let raw = matches!(letter.as_str(), "w" | "q" | "i");
        self.advance(2 + letter.len());
        let interpolation = if raw { Interpolation::None } else { Interpolation::HashBraces };
        let pieces = self.until(&closing(open).to_string(), raw, interpolation);
        let kind = match letter.as_str() {
            "x" => Kind::Backticks(pieces),
            "w" | "W" | "i" | "I" => Kind::Words(words(&pieces)),
            "r" => Kind::Other,
            _ => Kind::Text(pieces),
        };
        self.push(kind, start);
        true
    }
}

fn is_prefix(name: &str) -> bool {
    name.len() <= 2 && name.chars().all(|c| matches!(c.to_ascii_lowercase(), 'r' | 'b' | 'u' | 'f'))
}

const fn closing(open: char) -> char {
    match open {
        '(' => ')',
        '[' => ']',
        '{' => '}',
        '<' => '>',
        other => other,
    }
}

fn words(pieces: &[Piece]) -> Vec<Text> {
    let mut whole = Text::default();
    for piece in pieces {
        match piece {
            Piece::Known(text) => whole.push(text),
            Piece::Inner(source) => whole.push_hole(source),
        }
    }
    whole.split().1
}

/// How long the expression is that begins here inside a text.
fn inner(rest: &str, interpolation: Interpolation) -> Option<usize> {
    let (open, braced) = match interpolation {
        Interpolation::None => return None,
        Interpolation::Braces => ("{", true),
        Interpolation::DollarBraces => ("${", true),
        Interpolation::HashBraces => ("#{", true),
        Interpolation::Dollar if rest.starts_with("${") => ("${", true),
        Interpolation::Dollar => ("$", false),
    };
    let body = rest.strip_prefix(open)?;
    if braced {
        // A doubled brace is a brace. An expression is short; a longer one is text.
        let end = body.bytes().take(256).position(|byte| byte == b'}')?;
        return (!body.starts_with('{')).then_some(open.len() + end + 1);
    }
    let length = body.bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'_').count();
    (length > 0).then_some(1 + length)
}
