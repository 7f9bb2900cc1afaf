//! Programs that run a text: shells, interpreters, `source` and `eval`.

use portcullis_sdk::{Command, Word};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Runner {
    Shell,
    Interpreter,
    /// `source` and `.`
    Source,
    Eval,
    /// PowerShell's `Invoke-Expression`.
    Expression,
}

/// Where a runner has its program from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Program<'a> {
    Stdin,
    Inline(&'a Word),
    File(&'a Word),
    /// It runs nothing, as in `bash --version`, or a module of its own.
    Other,
}

impl Runner {
    pub(crate) fn of(name: &str) -> Option<Self> {
        // `python3.12` is a python.
        match name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.') {
            "sh" | "bash" | "dash" | "zsh" | "ksh" | "mksh" | "ash" | "fish" | "csh" | "tcsh" | "pwsh"
            | "powershell" => Some(Self::Shell),
            "python" | "pypy" | "perl" | "ruby" | "node" | "nodejs" | "php" | "lua" | "deno" | "bun"
            | "tclsh" | "osascript" => Some(Self::Interpreter),
            "source" => Some(Self::Source),
            "" if name == "." => Some(Self::Source),
            "eval" => Some(Self::Eval),
            "iex" | "invoke-expression" => Some(Self::Expression),
            _ => None,
        }
    }

    pub(crate) fn program(self, command: &Command) -> Program<'_> {
        // `xargs sh -c` makes what it reads the program.
        let fed = command.via.last().is_some_and(|wrapper| matches!(wrapper.as_str(), "xargs" | "parallel"));
        match self {
            Self::Shell => match inline(command, 'c') {
                Some(Some(program)) => Program::Inline(program),
                Some(None) => {
                    if fed {
                        Program::Stdin
                    } else {
                        Program::Other
                    }
                }
                None if fed => Program::Stdin,
                None => first_operand(command),
            },
            Self::Interpreter => {
                match ['c', 'e', 'E', 'r', 'p'].into_iter().find_map(|flag| inline(command, flag)) {
                    Some(Some(program)) => Program::Inline(program),
                    _ if runs_inline(command) => Program::Other,
                    _ => first_operand(command),
                }
            }
            Self::Source => match command.args().first() {
                Some(_) => first_operand(command),
                None => Program::Other,
            },
            Self::Eval => match command.args() {
                [] if fed => Program::Stdin,
                [] => Program::Other,
                [first, ..] => Program::Inline(first),
            },
            Self::Expression => command.args().first().map_or(Program::Stdin, Program::Inline),
        }
    }
}

/// The word behind a bundle of options with this letter, such as `-lc`: `None`
/// without such a bundle, `Some(None)` when nothing is behind it. Options behind
/// the first operand are the program's own.
fn inline(command: &Command, letter: char) -> Option<Option<&Word>> {
    for (at, word) in command.args().iter().enumerate() {
        let text = word.literal()?;
        let letters = text.strip_prefix(['-', '+']).filter(|letters| !letters.is_empty())?;
        let long = letters.strip_prefix('-').is_some_and(|long| match letter {
            'c' => long == "command",
            'e' => matches!(long, "eval" | "print"),
            _ => false,
        });
        // PowerShell spells its options with one dash.
        let spelt =
            letter == 'c' && letters.len() > 1 && "command".starts_with(&letters.to_ascii_lowercase());
        if long || spelt || (!letters.starts_with('-') && letters.len() <= 4 && letters.contains(letter)) {
            return Some(command.args().get(at + 1));
        }
    }
    None
}

/// Whether an interpreter has its program on the command line.
fn runs_inline(command: &Command) -> bool {
    command.literals().take_while(|word| word.starts_with('-')).any(|word| match word.strip_prefix("--") {
        Some(long) => ["eval", "print", "version", "help", "run"].iter().any(|name| long.starts_with(name)),
        None => word.contains(['c', 'e', 'm', 'p', 'n', 'r', 'E', 'V']),
    })
}

/// The file that is run, or standard input where none is named.
fn first_operand(command: &Command) -> Program<'_> {
    let mut words = command.args().iter();
    loop {
        let Some(word) = words.next() else { return Program::Stdin };
        let Word::Literal(text) = word else { return Program::File(word) };
        match text.as_str() {
            "-" | "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0" => return Program::Stdin,
            // What is behind `-s` are the program's arguments.
            "-s" => return Program::Stdin,
            "--version" | "--help" => return Program::Other,
            // These take the next word.
            "-o" | "+o" | "-O" | "-W" | "-X" | "--rcfile" | "--init-file" => {
                words.next();
            }
            option if option.starts_with('-') => {
                if !option.starts_with("--") && option.contains('s') {
                    return Program::Stdin;
                }
            }
            _ => return Program::File(word),
        }
    }
}

#[cfg(test)]
mod tests {
    use portcullis_sdk::Word;
    use portcullis_sdk::testing::command;

    use super::{Program, Runner};

    fn program(text: &str) -> String {
        let command = command(text);
        let runner = Runner::of(command.program().unwrap()).unwrap();
        match runner.program(&command) {
            Program::Stdin => "stdin".to_owned(),
            Program::Other => "other".to_owned(),
            Program::File(word) => format!("file {}", word.text()),
            Program::Inline(word) => format!("inline {}", word.text()),
        }
    }

    #[test]
    fn a_program_is_found_wherever_it_comes_from() {
        for (text, found) in [
            ("sh", "stdin"),
            ("bash -ex", "stdin"),
            ("sh -s -- -y", "stdin"),
            ("bash -o pipefail", "stdin"),
            ("bash /dev/stdin arg", "stdin"),
            ("python3.12 -", "stdin"),
            ("perl -w", "stdin"),
            (". /dev/stdin", "stdin"),
            ("iex", "stdin"),
            ("bash -lc x", "inline x"),
            ("python3 -c x", "inline x"),
            ("node --eval x", "inline x"),
            ("eval x y", "inline x"),
            ("powershell -Command x", "inline x"),
            ("bash -x build.sh -c y", "file build.sh"),
            ("node tool.js -e x", "file tool.js"),
            (". env.sh", "file env.sh"),
            ("bash --version", "other"),
            ("python3 -m json.tool", "other"),
            ("source", "other"),
        ] {
            assert_eq!(program(text), found, "{text}");
        }
    }

    #[test]
    fn what_xargs_feeds_a_shell_is_its_program() {
        let mut shell = command("sh -c");
        assert_eq!(Runner::Shell.program(&shell), Program::Other);
        shell.via.push("xargs".to_owned());
        assert_eq!(Runner::Shell.program(&shell), Program::Stdin);
    }

    #[test]
    fn a_computed_file_is_a_file() {
        let mut shell = command("bash");
        shell.words.push(Word::Computed("<(curl u)".to_owned()));
        assert!(matches!(Runner::Shell.program(&shell), Program::File(_)));
    }
}
