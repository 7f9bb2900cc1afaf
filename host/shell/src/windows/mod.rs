//! The two shells of Windows, to the level of their commands: what runs, with which
//! words, in which pipeline. Their expressions, methods and types are not followed.

mod cmd;
mod powershell;

use std::rc::Rc;

use portcullis_model::script::{Command, Script};

use crate::{
    expand::Field,
    finished,
    limits::{Budget, Limits},
    text::{Span, Text},
    walk::Walker,
};

/// Takes a PowerShell script apart, within the default limits.
#[must_use]
pub fn analyse_powershell(source: &str) -> Script {
    let script = Script { source: source.to_owned(), cut_short: true, ..Script::default() };
    let mut budget = Budget::new(Limits::default());
    if !budget.read(source.len()) {
        return script;
    }
    let mut walker = Walker::new(&mut budget);
    walker.powershell(&Text::known(source));
    let broken = walker.broken;
    finished(script, walker, broken)
}

/// One command of a pipeline before its words are followed.
#[derive(Debug, Default)]
struct Plain {
    words: Vec<Field>,
    writes: Vec<Field>,
    start: usize,
    end: usize,
}

/// Programs and commands that run a text in one of these languages.
const PROGRAMS: [&str; 7] =
    ["powershell", "pwsh", "iex", "invoke-expression", "start-process", "saps", "cmd"];

impl Walker<'_> {
    /// Follows the text of one of these shells when `name` is one; whether it is.
    pub(crate) fn windows(&mut self, name: &str, arguments: &[Field], feed: Option<&Text>) -> bool {
        let base = name.rsplit('\\').next().unwrap_or(name);
        let base = base.strip_suffix(".exe").or_else(|| base.strip_suffix(".EXE")).unwrap_or(base);
        let Some(program) = PROGRAMS.iter().copied().find(|known| known.eq_ignore_ascii_case(base)) else {
            return false;
        };
        let via = [program.to_owned()];
        match program {
            "powershell" | "pwsh" => {
                if let Some(text) = powershell_text(program, arguments, feed) {
                    self.nest(text, &via, Self::powershell);
                }
            }
            "iex" | "invoke-expression" => {
                let text = arguments.iter().find(|field| !field.text.raw().starts_with('-')).map(|f| &f.text);
                if let Some(text) = text.or(feed) {
                    self.nest(text.clone(), &via, Self::powershell);
                }
            }
            "start-process" | "saps" => {
                let is_option = |field: &&Field| !field.text.raw().starts_with('-');
                let words: Vec<Field> = arguments.iter().filter(is_option).cloned().collect();
                self.argv(&via, words);
            }
            "cmd" => {
                let at = arguments.iter().position(|field| {
                    let text = field.text.raw();
                    text.len() == 2 && text.starts_with('/') && text.ends_with(['c', 'C', 'k', 'K', 'r', 'R'])
                });
                let text = match at {
                    Some(at) => Some(crate::nested::joined(arguments.get(at + 1..).unwrap_or_default())),
                    None => feed.cloned(),
                };
                if let Some(text) = text {
                    self.nest(text, &via, Self::cmd);
                }
            }
            _ => return false,
        }
        true
    }

    fn nest(&mut self, text: Text, via: &[String], follow: fn(&mut Self, &Text)) {
        if text.is_empty() || !self.budget.read(text.len()) {
            return;
        }
        let depth = self.via.len();
        self.via.extend(via.iter().cloned());
        self.in_child(|walker| {
            follow(walker, &text);
            Some(())
        });
        self.via.truncate(depth);
    }

    /// Reports one pipeline, and follows what its commands run in turn.
    fn plain(&mut self, text: &Rc<Text>, pipeline: Vec<Plain>) {
        let pipeline: Vec<Plain> = pipeline
            .into_iter()
            .filter(|command| !command.words.is_empty() || !command.writes.is_empty())
            .collect();
        if pipeline.is_empty() {
            return;
        }
        let Some(slot) = self.reserve() else { return };
        let mut commands = Vec::with_capacity(pipeline.len());
        let mut feed: Option<Text> = None;
        for plain in pipeline {
            let span = Span { text: Rc::clone(text), start: plain.start, end: plain.end };
            let mut command = Command { source: span.rendered().trim().to_owned(), ..Command::default() };
            command.writes = plain.writes.iter().map(Field::resolved).collect();
            if !self.budget.output(command.source.len()) {
                break;
            }
            // A text that stands alone is written to the pipeline.
            let alone = match plain.words.as_slice() {
                [only] => only.known().filter(|text| text.contains(' ')).map(Text::known),
                _ => None,
            };
            let output = self.run(plain.words, &mut command, Vec::new(), feed.take());
            feed = alone.or(output);
            commands.push(command);
        }
        self.fill(slot, commands);
    }
}

fn powershell_text(program: &str, arguments: &[Field], feed: Option<&Text>) -> Option<Text> {
    let mut at = 0;
    while let Some(field) = arguments.get(at) {
        let low = field.text.raw().to_ascii_lowercase();
        let Some(option) = low.strip_prefix(['-', '/']) else { break };
        at += 1;
        let is = |long: &str, least: usize| option.len() >= least && long.starts_with(option);
        if is("command", 1) {
            let rest = arguments.get(at..).unwrap_or_default();
            return match rest {
                [only] if only.known() == Some("-") => feed.cloned(),
                _ => Some(crate::nested::joined(rest)),
            };
        }
        if is("encodedcommand", 1) || option == "ec" || option == "enc" {
            let decoded = crate::feed::utf16(arguments.get(at)?.known()?)?;
            return Some(Text::known(decoded));
        }
        if is("file", 1) {
            return None;
        }
        let valued =
            ["executionpolicy", "windowstyle", "version", "outputformat", "inputformat", "workingdirectory"];
        let valued = valued.iter().any(|long| is(long, 2)) || matches!(option, "ep" | "ex" | "w" | "wd");
        at += usize::from(valued);
    }
    let rest = arguments.get(at..).unwrap_or_default();
    match (rest.is_empty(), program) {
        (true, _) => feed.cloned(),
        (false, "powershell") => Some(crate::nested::joined(rest)),
        (false, _) => None,
    }
}
