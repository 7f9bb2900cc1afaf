//! Programs that run inline code of another language.

use portcullis_model::script::{Command, Word};

use crate::{
    code::{Deed, Language, deeds},
    expand::Field,
    text::Text,
    walk::Walker,
};

/// An interpreter, and the options behind which its code stands.
struct Interpreter {
    names: &'static [&'static str],
    language: Language,
    /// A group of one-letter options that ends with one of these is followed by code.
    short: &'static str,
    /// One-letter options that take a value of another kind.
    valued: &'static str,
    long: &'static [&'static str],
    /// The first operand is the code, and not a file.
    operand: bool,
}

const INTERPRETERS: &[Interpreter] = &[
    Interpreter {
        names: &["python", "pypy"],
        language: Language::Python,
        short: "c",
        valued: "WXm",
        long: &[],
        operand: false,
    },
    Interpreter {
        names: &["node", "nodejs", "bun", "tsx"],
        language: Language::JavaScript,
        short: "ep",
        valued: "rC",
        long: &["--eval", "--print"],
        operand: false,
    },
    Interpreter {
        names: &["perl"],
        language: Language::Perl,
        short: "eE",
        valued: "IMm",
        long: &[],
        operand: false,
    },
    Interpreter {
        names: &["ruby", "jruby"],
        language: Language::Ruby,
        short: "e",
        valued: "Ir",
        long: &[],
        operand: false,
    },
    Interpreter {
        names: &["php"],
        language: Language::Php,
        short: "rBRE",
        valued: "cdf",
        long: &["--run", "--process-begin", "--process-code", "--process-end"],
        operand: false,
    },
    Interpreter {
        names: &["lua", "luajit"],
        language: Language::Lua,
        short: "e",
        valued: "l",
        long: &[],
        operand: false,
    },
    Interpreter {
        names: &["awk", "gawk", "mawk", "nawk"],
        language: Language::Awk,
        short: "e",
        valued: "Ffv",
        long: &["--source"],
        operand: true,
    },
];

/// What one argument of an interpreter is.
enum Argument {
    Flag,
    /// An option whose value is the next argument.
    Valued,
    /// An option that names a file or a module to run.
    Module,
    /// Code begins at this offset.
    Code(usize),
    /// The next argument is code.
    CodeNext,
    /// `-`: the code is on the standard input.
    Input,
    Operand,
}

impl Interpreter {
    fn option(&self, text: &str) -> Argument {
        let Some(letters) = text.strip_prefix('-') else { return Argument::Operand };
        if letters.is_empty() {
            return Argument::Input;
        }
        if letters.starts_with('-') {
            let (name, value) =
                text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)));
            return match value {
                _ if !self.long.contains(&name) => Argument::Flag,
                Some(value) => Argument::Code(text.len() - value.len()),
                None => Argument::CodeNext,
            };
        }
        let Some((index, letter)) = letters
            .char_indices()
            .find(|(_, letter)| self.short.contains(*letter) || self.valued.contains(*letter))
        else {
            return Argument::Flag;
        };
        let rest = letters.get(index + letter.len_utf8()..).unwrap_or_default();
        if self.valued.contains(letter) {
            return match (letter, rest.is_empty()) {
                ('m', _) if self.language == Language::Python => Argument::Module,
                ('f', _) => Argument::Module,
                (_, true) => Argument::Valued,
                (_, false) => Argument::Flag,
            };
        }
        // `-pe` is two options, `-e1` is one with its code.
        if rest.is_empty() || (rest.len() == 1 && rest.contains(|letter| self.short.contains(letter))) {
            Argument::CodeNext
        } else {
            Argument::Code(text.len() - rest.len())
        }
    }
}

impl Walker<'_> {
    /// Follows the inline code of an interpreter; false when `name` is none.
    pub(crate) fn interpreter(&mut self, name: &str, arguments: &[Field], feed: Option<&Text>) -> bool {
        if name == "deno" {
            if arguments.first().and_then(Field::known) == Some("eval") {
                let code = arguments.iter().skip(1).find(|field| !field.text.raw().starts_with('-'));
                self.code(name, Language::JavaScript, code.map(|field| &field.text));
            }
            return true;
        }
        // `python3.12` and `lua5.4` are known by their first letters.
        let plain = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
        let Some(interpreter) = INTERPRETERS.iter().find(|one| one.names.contains(&plain)) else {
            return false;
        };
        let language = interpreter.language;
        let mut codes = Vec::new();
        let mut at = 0;
        // Whether a file or a module is run, which is not looked into.
        let mut file = false;
        while let Some(field) = arguments.get(at) {
            at += 1;
            match interpreter.option(field.text.raw()) {
                Argument::Flag => {}
                Argument::Valued => at += 1,
                Argument::Module => file = true,
                Argument::Code(offset) => codes.push(field.text.after(offset)),
                Argument::CodeNext => {
                    codes.extend(arguments.get(at).map(|field| field.text.clone()));
                    at += 1;
                }
                Argument::Input => break,
                Argument::Operand => {
                    if interpreter.operand && codes.is_empty() && !file {
                        codes.push(field.text.clone());
                    }
                    file = true;
                    break;
                }
            }
            if language == Language::Python && !codes.is_empty() {
                // What follows is for the program.
                break;
            }
        }
        if codes.is_empty() && !file {
            codes.extend(feed.cloned());
        }
        for code in &codes {
            self.code(name, language, Some(code));
        }
        true
    }

    /// Follows what a program does.
    pub(crate) fn code(&mut self, name: &str, language: Language, code: Option<&Text>) {
        let Some(code) = code.filter(|code| !code.is_empty() && self.budget.read(code.len())) else { return };
        let depth = self.via.len();
        self.via.push(name.to_owned());
        self.deeper(|walker| {
            for deed in deeds(language, code) {
                walker.deed(name, language, deed);
            }
        });
        self.via.truncate(depth);
    }

    fn deed(&mut self, name: &str, language: Language, deed: Deed) {
        match deed {
            Deed::Shell(text) => {
                self.text(text, &[], true, None);
            }
            Deed::Start(words) => self.argv(&[], words.into_iter().map(Field::new).collect()),
            Deed::Command { words, source } => {
                let words = words.into_iter().map(|word| Field::new(word).resolved()).collect();
                self.report(Command { words, source, ..Command::default() });
            }
            Deed::Write { path, source } => {
                let writes = vec![Field::new(path).resolved()];
                self.report(Command { writes, source, ..Command::default() });
            }
            Deed::Read { path, source } => {
                let reads = vec![Field::new(path).resolved()];
                self.report(Command { reads, source, ..Command::default() });
            }
            Deed::Eval(text) => self.code(name, language, Some(&text)),
        }
    }

    /// Reports a command that stands for what a program does itself.
    fn report(&mut self, mut command: Command) {
        let text = |word: &Word| match word {
            Word::Literal(text) | Word::Computed(text) => text.len(),
        };
        let output =
            command.words.iter().chain(&command.writes).chain(&command.reads).map(text).sum::<usize>();
        if !self.budget.words(command.words.len() + 1) || !self.budget.output(output + command.source.len()) {
            return;
        }
        let Some(slot) = self.reserve() else { return };
        command.via.clone_from(&self.via);
        self.fill(slot, vec![command]);
    }
}
