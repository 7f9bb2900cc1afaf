//! PowerShell's commands.

use std::rc::Rc;

use super::Plain;
use crate::{expand::Field, text::Text, variable::Value, walk::Walker};

impl Walker<'_> {
    /// Follows a text as PowerShell.
    pub(super) fn powershell(&mut self, text: &Text) {
        let text = Rc::new(text.clone());
        let mut parser = Parser { walker: self, source: text.raw(), text: &text, at: 0 };
        while parser.at < parser.source.len() {
            parser.statements(None);
            // A bracket that closes nothing.
            parser.at += usize::from(parser.at < parser.source.len());
        }
    }
}

struct Parser<'p, 'w, 'b> {
    walker: &'w mut Walker<'b>,
    source: &'p str,
    text: &'p Rc<Text>,
    at: usize,
}

impl Parser<'_, '_, '_> {
    /// Statements up to `close`, which is left, or to any closing bracket.
    fn statements(&mut self, close: Option<char>) {
        while let Some(next) = self.peek() {
            if matches!(next, ')' | '}') {
                if close.is_none() {
                    self.walker.broken = true;
                }
                return;
            }
            let before = self.at;
            self.pipeline();
            if self.at == before {
                self.step();
            }
        }
        if close.is_some() {
            self.walker.broken = true;
        }
    }

    fn pipeline(&mut self) {
        let slot = self.walker.pipelines.len();
        let mut pipeline = Vec::new();
        loop {
            let (command, ended) = self.command();
            pipeline.push(command);
            if ended {
                break;
            }
        }
        // What stood in brackets was reported while the words were read.
        let inner = self.walker.pipelines.split_off(slot);
        let text = Rc::clone(self.text);
        self.assign(&mut pipeline);
        self.walker.plain(&text, pipeline);
        self.walker.pipelines.extend(inner);
    }

    /// `$x = 'rm'` gives a variable its value; `$x = Get-Item y` runs a command.
    fn assign(&mut self, pipeline: &mut [Plain]) {
        let Some(first) = pipeline.first_mut() else { return };
        let name = match first.words.as_slice() {
            [name, equals, ..] if equals.known() == Some("=") => name.text.holes().first(),
            _ => return,
        };
        let Some(name) = name.map(|(_, source)| source.to_ascii_lowercase()) else { return };
        first.words.drain(..2);
        let value = match first.words.as_slice() {
            [only] => Value::Text(only.text.clone()),
            _ => Value::Unknown,
        };
        if let Value::Text(_) = value {
            first.words.clear();
        }
        self.walker.variables.set(&name, value);
    }

    /// One command, and whether the pipeline ends behind it.
    fn command(&mut self) -> (Plain, bool) {
        self.blanks();
        let mut command = Plain { start: self.at, end: self.at, ..Plain::default() };
        let mut ended = true;
        while let Some(next) = self.peek() {
            match next {
                ' ' | '\t' | '\r' => self.step(),
                '`' if self.rest().starts_with("`\n") => self.at += 2,
                '\n' | ';' => {
                    self.step();
                    break;
                }
                ')' | '}' => break,
                '|' if self.rest().starts_with("||") => {
                    self.at += 2;
                    break;
                }
                '|' => {
                    self.step();
                    ended = false;
                    break;
                }
                '&' if self.rest().starts_with("&&") => {
                    self.at += 2;
                    break;
                }
                // The call operator, or a job in the background.
                '&' => {
                    self.step();
                    if !command.words.is_empty() {
                        break;
                    }
                }
                '.' if command.words.is_empty() && self.rest().starts_with(". ") => self.step(),
                '#' => self.comment(),
                '<' if self.rest().starts_with("<#") => self.comment(),
                '(' | '{' => self.bracket(&mut command),
                ',' => self.step(),
                '>' => self.redirect(&mut command),
                _ => {
                    let field = self.word();
                    if matches!(field.known(), Some("1" | "2" | "*")) && self.rest().starts_with('>') {
                        self.redirect(&mut command);
                    } else {
                        command.words.push(field);
                    }
                }
            }
            command.end = self.at;
        }
        (command, ended)
    }

    fn redirect(&mut self, command: &mut Plain) {
        while self.peek() == Some('>') {
            self.step();
        }
        if self.peek() == Some('&') {
            self.at += 2;
            return;
        }
        self.blanks();
        let field = self.word();
        command.writes.push(field);
    }

    /// A block or a group, whose statements are reported behind this command.
    fn bracket(&mut self, command: &mut Plain) {
        let start = self.at;
        let close = if self.peek() == Some('(') { ')' } else { '}' };
        self.step();
        let Some(depth) = self.walker.depth.checked_sub(1) else {
            self.walker.cut_short = true;
            self.at = self.source.len();
            return;
        };
        self.walker.depth = depth;
        self.statements(Some(close));
        self.walker.depth += 1;
        if self.peek().is_some() {
            self.step();
        }
        let source = self.text.slice(start, self.at).rendered();
        if self.walker.budget.output(source.len()) {
            command.words.push(Field::new(Text::hole(&source)));
        }
    }

    fn word(&mut self) -> Field {
        let mut text = Text::default();
        let begin = self.at;
        while let Some(next) = self.peek() {
            match next {
                '\'' => self.single(&mut text),
                '"' => self.double(&mut text),
                '@' if self.at == begin && self.rest().starts_with("@'\n") => self.here("\n'@", &mut text),
                '@' if self.at == begin && self.rest().starts_with("@\"\n") => self.here("\n\"@", &mut text),
                '`' => {
                    self.step();
                    self.keep(&mut text);
                }
                '$' => self.variable(&mut text),
                ' ' | '\t' | '\r' | '\n' | ';' | '|' | '&' | '(' | ')' | '{' | '}' | ',' | '>' => break,
                _ => self.keep(&mut text),
            }
        }
        if self.at == begin {
            self.step();
        }
        self.walker.budget.output(text.len());
        Field::new(text)
    }

    fn single(&mut self, text: &mut Text) {
        self.step();
        while let Some(next) = self.peek() {
            if next == '\'' {
                self.step();
                if self.peek() != Some('\'') {
                    return;
                }
            }
            self.keep(text);
        }
        self.walker.broken = true;
    }

    fn double(&mut self, text: &mut Text) {
        self.step();
        while let Some(next) = self.peek() {
            match next {
                '"' => {
                    self.step();
                    if self.peek() != Some('"') {
                        return;
                    }
                    self.keep(text);
                }
                '`' => {
                    self.step();
                    self.keep(text);
                }
                '$' => self.variable(text),
                _ => self.keep(text),
            }
        }
        self.walker.broken = true;
    }

    fn here(&mut self, close: &str, text: &mut Text) {
        self.at += 3;
        let length = self.rest().find(close);
        let end = length.map_or(self.source.len(), |length| self.at + length);
        text.push(&self.text.slice(self.at, end));
        self.at = (end + close.len()).min(self.source.len());
        self.walker.broken |= length.is_none();
    }

    /// `$x`, `${x}`, `$env:X` and `$(…)`.
    fn variable(&mut self, text: &mut Text) {
        let start = self.at;
        self.step();
        match self.peek() {
            Some('(') => {
                let mut command = Plain::default();
                self.bracket(&mut command);
            }
            Some('{') => {
                let end = self.rest().find('}').map_or(self.source.len(), |length| self.at + length + 1);
                self.at = end;
            }
            _ => {
                let rest = self.rest();
                let length = rest.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | ':' | '?')));
                self.at += length.unwrap_or(rest.len());
            }
        }
        let source = self.text.slice(start, self.at).rendered();
        let plain = source.to_ascii_lowercase();
        match self.walker.variables.get(&plain) {
            Some(Value::Text(value)) if self.walker.budget.output(value.len()) && !self.assigns() => {
                text.push(value)
            }
            _ if source == "$" => text.push_str("$"),
            _ => text.push_hole(&source),
        }
    }

    /// Whether an equals sign follows, so that the name is meant and not the value.
    fn assigns(&self) -> bool {
        let rest = self.rest().trim_start();
        rest.starts_with('=') && !rest.starts_with("==")
    }

    fn comment(&mut self) {
        let rest = self.rest();
        let length = if rest.starts_with("<#") {
            rest.find("#>").map_or(rest.len(), |end| end + 2)
        } else {
            rest.find('\n').unwrap_or(rest.len())
        };
        self.at += length;
    }

    fn blanks(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\n']).len();
    }

    fn rest(&self) -> &str {
        self.source.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn step(&mut self) {
        self.at += self.peek().map_or(0, char::len_utf8);
    }

    /// Takes one character as it is.
    fn keep(&mut self, text: &mut Text) {
        let from = self.at;
        self.step();
        text.push(&self.text.slice(from, self.at));
    }
}
