//! The calls of a program, and what each of them does.

use std::collections::HashMap;

use super::Deed;
use super::language::Language;
use super::token::{Kind, Token};
use super::value::{Value, Values};
use crate::text::Text;

/// What a function does with its arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Action {
    /// Gives a text to a shell, or starts the program that a list names.
    Run,
    /// Starts a program; this many arguments stand before its name.
    Start(usize),
    /// Does what the command does with these words and its arguments.
    Like(&'static [&'static str]),
    /// Removes; a tree when an option says so.
    Remove,
    /// Changes a mode, which is its first or its last argument.
    Chmod,
    Write,
    Read,
    /// Opens a file as its second argument says.
    Open,
    Eval,
}

/// Functions by their last name, with the word that the program must hold somewhere
/// for it to be this function.
const FUNCTIONS: &[(&str, &str, Action)] = &[
    ("system", "", Action::Run),
    ("popen", "", Action::Run),
    ("popen2", "", Action::Run),
    ("popen3", "", Action::Run),
    ("getoutput", "", Action::Run),
    ("getstatusoutput", "", Action::Run),
    ("check_call", "", Action::Run),
    ("check_output", "", Action::Run),
    ("Popen", "", Action::Run),
    ("create_subprocess_shell", "", Action::Run),
    ("create_subprocess_exec", "", Action::Start(0)),
    ("run", "subprocess", Action::Run),
    ("call", "subprocess", Action::Run),
    ("spawn", "pty", Action::Run),
    ("spawn", "", Action::Start(0)),
    ("spawnSync", "", Action::Start(0)),
    ("execSync", "", Action::Run),
    ("execFile", "", Action::Start(0)),
    ("execFileSync", "", Action::Start(0)),
    ("exec", "child_process", Action::Run),
    ("execa", "", Action::Start(0)),
    ("execaSync", "", Action::Start(0)),
    ("execaCommand", "", Action::Run),
    ("execaCommandSync", "", Action::Run),
    ("shell_exec", "", Action::Run),
    ("passthru", "", Action::Run),
    ("proc_open", "", Action::Run),
    ("capture2", "", Action::Run),
    ("capture2e", "", Action::Run),
    ("capture3", "", Action::Run),
    ("execute", "os.execute", Action::Run),
    ("execl", "", Action::Start(1)),
    ("execle", "", Action::Start(1)),
    ("execlp", "", Action::Start(1)),
    ("execlpe", "", Action::Start(1)),
    ("execv", "", Action::Start(1)),
    ("execve", "", Action::Start(1)),
    ("execvp", "", Action::Start(1)),
    ("execvpe", "", Action::Start(1)),
    ("spawnl", "", Action::Start(2)),
    ("spawnlp", "", Action::Start(2)),
    ("spawnv", "", Action::Start(2)),
    ("spawnvp", "", Action::Start(2)),
    ("posix_spawn", "", Action::Start(1)),
    ("rmtree", "", Action::Like(&["rm", "-r"])),
    ("remove_tree", "", Action::Like(&["rm", "-r"])),
    ("rm_r", "", Action::Like(&["rm", "-r"])),
    ("rm_rf", "", Action::Like(&["rm", "-rf"])),
    ("remove_dir", "", Action::Like(&["rm", "-r"])),
    ("remove_entry", "", Action::Like(&["rm", "-r"])),
    ("remove_entry_secure", "", Action::Like(&["rm", "-r"])),
    ("rimraf", "", Action::Like(&["rm", "-rf"])),
    ("rimrafSync", "", Action::Like(&["rm", "-rf"])),
    ("emptyDirSync", "", Action::Like(&["rm", "-r"])),
    ("emptyDir", "", Action::Like(&["rm", "-r"])),
    ("removeSync", "fs-extra", Action::Like(&["rm", "-r"])),
    ("del_tree", "", Action::Like(&["rm", "-r"])),
    ("removedirs", "", Action::Like(&["rmdir", "-p"])),
    ("rmSync", "", Action::Remove),
    ("rmdirSync", "", Action::Remove),
    ("rm", "fs", Action::Remove),
    ("rm", "FileUtils", Action::Like(&["rm"])),
    ("rm_f", "", Action::Like(&["rm", "-f"])),
    ("remove", "Deno", Action::Remove),
    ("removeSync", "Deno", Action::Remove),
    ("unlink", "", Action::Like(&["rm"])),
    ("unlinkSync", "", Action::Like(&["rm"])),
    ("remove", "os", Action::Like(&["rm"])),
    ("delete", "File", Action::Like(&["rm"])),
    ("rmdir", "", Action::Like(&["rmdir"])),
    ("truncateSync", "", Action::Like(&["truncate", "-s", "0"])),
    ("rename", "os", Action::Like(&["mv"])),
    ("renameSync", "", Action::Like(&["mv"])),
    ("move", "shutil", Action::Like(&["mv"])),
    ("mv", "FileUtils", Action::Like(&["mv"])),
    ("copy", "shutil", Action::Like(&["cp"])),
    ("copy2", "shutil", Action::Like(&["cp"])),
    ("copyfile", "shutil", Action::Like(&["cp"])),
    ("copytree", "shutil", Action::Like(&["cp", "-r"])),
    ("copyFileSync", "", Action::Like(&["cp"])),
    ("cpSync", "", Action::Like(&["cp", "-r"])),
    ("cp", "FileUtils", Action::Like(&["cp"])),
    ("symlink", "", Action::Like(&["ln", "-s"])),
    ("symlinkSync", "", Action::Like(&["ln", "-s"])),
    ("chmod", "", Action::Chmod),
    ("chmodSync", "", Action::Chmod),
    ("writeFileSync", "", Action::Write),
    ("writeFile", "", Action::Write),
    ("appendFileSync", "", Action::Write),
    ("appendFile", "", Action::Write),
    ("createWriteStream", "", Action::Write),
    ("writeTextFile", "", Action::Write),
    ("writeTextFileSync", "", Action::Write),
    ("file_put_contents", "", Action::Write),
    ("write_text", "", Action::Write),
    ("write_bytes", "", Action::Write),
    ("write", "File", Action::Write),
    ("readFileSync", "", Action::Read),
    ("readFile", "", Action::Read),
    ("read_text", "", Action::Read),
    ("read_bytes", "", Action::Read),
    ("file_get_contents", "", Action::Read),
    ("open", "", Action::Open),
    ("fopen", "", Action::Open),
    ("openSync", "", Action::Open),
    ("eval", "", Action::Eval),
    ("exec", "", Action::Eval),
];

/// Follows the tokens of one program.
pub(super) struct Scan<'c> {
    values: Values<'c>,
    deeds: Vec<Deed>,
    /// Whether the program holds a word of the table, once it was looked for.
    holds: HashMap<&'static str, bool>,
}

impl<'c> Scan<'c> {
    pub(super) fn new(language: Language, code: &'c Text, tokens: &'c [Token]) -> Self {
        Self { values: Values::new(language, code, tokens), deeds: Vec::new(), holds: HashMap::new() }
    }

    pub(super) fn deeds(mut self) -> Vec<Deed> {
        for index in 0..self.values.tokens.len() {
            let Some(token) = self.values.at(index) else { break };
            match &token.kind {
                Kind::Name(name) => {
                    self.assignment(index, name);
                    self.call(index, name);
                }
                Kind::Backticks(pieces) => {
                    let text = self.values.joined(pieces);
                    self.deeds.push(Deed::Shell(text));
                }
                Kind::Punctuation(b'|') if self.values.language == Language::Awk => self.awk_pipe(index),
                Kind::Punctuation(_)
                | Kind::Text(_)
                | Kind::Words(_)
                | Kind::Number(_)
                | Kind::End
                | Kind::Other => {}
            }
        }
        self.deeds
    }

    /// `name = …`, in whichever way the language writes it.
    fn assignment(&mut self, index: usize, name: &str) {
        let plain = self.values.is(index + 1, b'=')
            && !self.values.is(index + 2, b'=')
            && !self.values.is(index + 2, b'~')
            && !self.values.is(index + 2, b'>');
        if plain {
            let end = self.statement_end(index + 2);
            let (value, _) = self.values.expression(index + 2, end);
            self.values.assign(name, value);
        }
    }

    /// Where the statement that goes on at `from` ends: not inside of brackets.
    fn statement_end(&self, from: usize) -> usize {
        let mut at = from;
        // A statement is short; a longer one has no value here.
        for _ in 0..256 {
            match self.values.at(at).map(|token| &token.kind) {
                None | Some(Kind::End | Kind::Punctuation(b')' | b']' | b'}')) => break,
                Some(_) => at = self.values.close(at).unwrap_or(at) + 1,
            }
        }
        at
    }

    fn call(&mut self, index: usize, name: &str) {
        let Some(action) = self.action(name) else { return };
        let parenthesised = self.values.is(index + 1, b'(');
        let (from, to) = match self.values.close(index + 1).filter(|_| parenthesised) {
            Some(close) => (index + 2, close),
            // A call that is not closed still shows what it is called with.
            None if parenthesised => (index + 2, self.statement_end(index + 2)),
            None if self.values.language.calls_bare() => {
                let begins = self.values.at(index + 1).is_some_and(|token| {
                    matches!(token.kind, Kind::Text(_) | Kind::Words(_) | Kind::Name(_) | Kind::Backticks(_))
                });
                if !begins {
                    return;
                }
                (index + 1, self.statement_end(index + 1))
            }
            None => return,
        };
        let method = index > 0 && self.values.is(index - 1, b'.');
        let mut arguments = self.values.items(from, to);
        if arguments.is_empty()
            || matches!(action, Action::Write | Action::Read | Action::Open | Action::Chmod)
        {
            let receiver = if method { self.values.receiver(index - 1) } else { None };
            if let Some(receiver) = receiver {
                arguments.insert(0, receiver);
            }
        }
        let source = self.values.source(index, to.min(self.values.tokens.len().saturating_sub(1)));
        self.act(action, arguments, (from, to), source);
    }

    fn action(&mut self, name: &str) -> Option<Action> {
        let code = self.values.code.raw();
        let script = matches!(self.values.language, Language::Python | Language::JavaScript);
        FUNCTIONS.iter().find_map(|(known, word, action)| {
            if *known != name || !*self.holds.entry(word).or_insert_with(|| code.contains(word)) {
                return None;
            }
            // In Perl, Ruby and PHP `exec` starts a program.
            let starts = name == "exec" && !script;
            Some(if starts { Action::Run } else { *action })
        })
    }

    fn act(&mut self, action: Action, arguments: Vec<Value>, range: (usize, usize), source: String) {
        let mut arguments = arguments.into_iter();
        let deed = match action {
            Action::Run => match arguments.next() {
                Some(Value::List(words)) => Deed::Start(words),
                Some(first) => {
                    let more: Vec<Text> = match self.values.language {
                        // `system("rm", "-rf", "x")` starts a program.
                        Language::Perl | Language::Ruby => arguments.flat_map(Value::into_list).collect(),
                        Language::Python
                        | Language::JavaScript
                        | Language::Php
                        | Language::Awk
                        | Language::Lua => Vec::new(),
                    };
                    let first = first.into_text();
                    if more.is_empty() {
                        Deed::Shell(first)
                    } else {
                        Deed::Start(std::iter::once(first).chain(more).collect())
                    }
                }
                None => return,
            },
            Action::Start(skip) => {
                let words: Vec<Text> = arguments.skip(skip).flat_map(Value::into_list).collect();
                match words.as_slice() {
                    [] => return,
                    [only] if skip == 0 => Deed::Shell(only.clone()),
                    _ => Deed::Start(words),
                }
            }
            Action::Like(words) => like(words, arguments, source),
            Action::Remove => {
                let (recursive, force) = (self.option(range, "recursive"), self.option(range, "force"));
                let words: &[&str] = match (recursive, force) {
                    (true, true) => &["rm", "-rf"],
                    (true, false) => &["rm", "-r"],
                    (false, true) => &["rm", "-f"],
                    (false, false) => &["rm"],
                };
                like(words, arguments.take(1), source)
            }
            Action::Chmod => {
                let mut arguments: Vec<Text> = arguments.flat_map(Value::into_list).collect();
                let Some(at) = arguments.iter().position(is_mode) else { return };
                let mode = octal(arguments.remove(at).raw());
                let words = [Text::known("chmod"), Text::known(mode)];
                Deed::Command { words: words.into_iter().chain(arguments).collect(), source }
            }
            Action::Write => match arguments.next() {
                Some(path) => Deed::Write { path: path.into_text(), source },
                None => return,
            },
            Action::Read => match arguments.next() {
                Some(path) => Deed::Read { path: path.into_text(), source },
                None => return,
            },
            Action::Open => return self.open(arguments.collect(), range, source),
            Action::Eval => match arguments.next() {
                Some(Value::Text(text)) => Deed::Eval(text),
                _ => return,
            },
        };
        self.deeds.push(deed);
    }

    /// Whether an option is named, and is not said to be false.
    fn option(&self, (from, to): (usize, usize), name: &str) -> bool {
        let off = |token: &Token| matches!(token.name(), Some("false" | "False"));
        (from..to).any(|at| {
            self.values.at(at).and_then(Token::name) == Some(name) && !self.values.at(at + 2).is_some_and(off)
        })
    }

    fn open(&mut self, arguments: Vec<Value>, (from, to): (usize, usize), source: String) {
        let mut texts: Vec<Text> = arguments.into_iter().flat_map(Value::into_list).collect();
        if self.values.language == Language::Perl {
            // open(HANDLE, MODE, WHAT...), where a bar runs a command.
            let Some(at) = texts.iter().position(|text| text.raw().contains('|')) else {
                let writes = texts.iter().position(|text| text.raw().starts_with('>'));
                let Some(at) = writes else { return };
                let mode = texts.remove(at);
                let inline = mode
                    .slice(mode.raw().len() - mode.raw().trim_start_matches(['>', ' ']).len(), mode.len());
                let path = if inline.is_empty() && at < texts.len() { texts.remove(at) } else { inline };
                return self.deeds.push(Deed::Write { path, source });
            };
            let mode = texts.split_off(at);
            return match mode.as_slice() {
                [only] => {
                    let from = only.raw().len() - only.raw().trim_start_matches('|').len();
                    let until = only.raw().trim_end_matches('|').len().max(from);
                    self.deeds.push(Deed::Shell(only.slice(from, until)));
                }
                [_, only] => self.deeds.push(Deed::Shell(only.clone())),
                [_, words @ ..] => self.deeds.push(Deed::Start(words.to_vec())),
                [] => {}
            };
        }
        if texts.is_empty() {
            return;
        }
        let path = texts.remove(0);
        let is_write = |text: &Text| {
            text.len() <= 3
                && text.raw().starts_with(['w', 'a', 'x', 'r'])
                && text.raw() != "r"
                && text.raw() != "rb"
        };
        let named = (from..to).any(|at| {
            self.values.at(at).and_then(Token::name) == Some("mode")
                && matches!(self.values.at(at + 2).map(|token| &token.kind), Some(Kind::Text(pieces))
                    if is_write(&self.values.joined(pieces)))
        });
        let writes = named || texts.first().is_some_and(is_write);
        self.deeds.push(if writes { Deed::Write { path, source } } else { Deed::Read { path, source } });
    }

    /// `"command" | getline` and `print … | "command"`.
    fn awk_pipe(&mut self, index: usize) {
        let reads = self.values.at(index + 1).and_then(Token::name) == Some("getline");
        let command = if reads { index.checked_sub(1) } else { Some(index + 1) };
        let Some(at) = command else { return };
        let (value, _) = self.values.expression(at, at + 1);
        if let Value::Text(text) = value {
            self.deeds.push(Deed::Shell(text));
        }
    }
}

fn like(words: &[&str], arguments: impl Iterator<Item = Value>, source: String) -> Deed {
    let words = words.iter().map(|word| Text::known(*word));
    Deed::Command { words: words.chain(arguments.flat_map(Value::into_list)).collect(), source }
}

fn is_mode(text: &Text) -> bool {
    let digits = text.raw().trim_start_matches("0o");
    !digits.is_empty() && digits.len() <= 5 && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// A mode as `chmod` reads it: a number without a leading zero is decimal.
fn octal(text: &str) -> String {
    match text.strip_prefix("0o").or_else(|| text.strip_prefix('0')) {
        Some(digits) if !digits.is_empty() => digits.to_owned(),
        _ => text.parse::<u32>().map_or_else(|_| text.to_owned(), |number| format!("{number:o}")),
    }
}
