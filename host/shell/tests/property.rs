//! What holds for every text.

use portcullis_model::script::{Script, Word};
use portcullis_shell::{Limits, analyse, analyse_powershell, analyse_within};
use proptest::prelude::*;

/// Pieces that mean something to a shell, so that random texts reach deep.
const PIECES: &[&str] = &[
    "$(",
    ")",
    "(",
    "{",
    "}",
    "`",
    "'",
    "\"",
    "\\",
    "$",
    "${x:-",
    "$((",
    "))",
    "((",
    "[[ ",
    " ]]",
    "<<E\n",
    "\nE\n",
    "<<-E\n",
    "<<<",
    "<(",
    ">(",
    "&>",
    ">",
    "<",
    "2>&1",
    "|",
    "||",
    "&&",
    "&",
    ";",
    ";;",
    "\n",
    " ",
    "if ",
    "then ",
    "else ",
    "fi ",
    "for x in ",
    "do ",
    "done ",
    "case x in ",
    "esac ",
    "while ",
    "f() ",
    "function f ",
    "X=",
    "X=(a ",
    "$X ",
    "$'\\x",
    "eval ",
    "sh -c ",
    "rm -rf y ",
    "echo ",
    "sudo ",
    "env A=b ",
    "xargs ",
    "find . -exec ",
    "\\;",
    "{a,b}",
    "{1..9}",
    "# c\n",
    "é",
    "\u{FFFC}",
    "\t",
    "alias a=",
    "a ",
    "set -- ",
    "\"$@\" ",
    "trap ",
    "coproc ",
];

/// Pieces that mean something to an interpreter or to PowerShell.
const CODE: &[&str] = &[
    "\"",
    "'",
    "`",
    "\\",
    "\\c",
    "\\x{",
    "\\u{",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "[[",
    "]]",
    "$",
    "${",
    "#{",
    "@{",
    "$(",
    "%q(",
    "%",
    "/",
    "/*",
    "*/",
    "#",
    "//",
    "--",
    "\n",
    ";",
    ",",
    ".",
    "=",
    "+",
    "f\"",
    "r\"",
    "\"\"\"",
    "q{",
    "s{",
    "m",
    " ",
    "é",
    "\u{FFFC}",
    "🦀",
    "system",
    "os.system(",
    "fs.rmSync(",
    "import os",
    "|",
    "&",
    "\\\n",
    "`\n",
    "@\"\n",
    "\n\"@",
    "0x",
    "9",
];

fn programs(script: &Script) -> Vec<Vec<Word>> {
    script
        .pipelines
        .iter()
        .flat_map(|pipeline| &pipeline.commands)
        .map(|command| command.words.clone())
        .collect()
}

fn word(text: &str) -> Word {
    Word::Literal(text.to_owned())
}

proptest! {
    #[test]
    fn any_text_is_answered(text in any::<String>()) {
        let script = analyse(&text);
        prop_assert_eq!(&script.source, &text);
        prop_assert!(script.pipelines.iter().all(|pipeline| !pipeline.commands.is_empty()));
    }

    #[test]
    fn any_mix_of_shell_syntax_is_answered(pieces in prop::collection::vec(prop::sample::select(PIECES), 0..60)) {
        let text = pieces.concat();
        prop_assert_eq!(analyse(&text), analyse(&text));
    }

    #[test]
    fn any_inline_code_is_answered(
        interpreter in prop::sample::select(&["python3 -c", "node -e", "perl -e", "ruby -e", "php -r", "awk", "lua -e"]),
        pieces in prop::collection::vec(prop::sample::select(CODE), 0..40),
    ) {
        let code = pieces.concat().replace('\'', "'\\''");
        let script = analyse(&format!("{interpreter} '{code}'"));
        prop_assert!(!script.pipelines.is_empty());
    }

    #[test]
    fn any_powershell_is_answered(pieces in prop::collection::vec(prop::sample::select(CODE), 0..60)) {
        let text = pieces.concat();
        prop_assert_eq!(analyse_powershell(&text), analyse_powershell(&text));
    }

    #[test]
    fn small_limits_never_panic(
        pieces in prop::collection::vec(prop::sample::select(PIECES), 0..40),
        depth in 0..6_usize,
        small in 0..30_usize,
    ) {
        let text = pieces.concat();
        let limits = Limits { bytes: 400, depth, pipelines: small, words: small * 2, output: small * 20, braces: small };
        let script = analyse_within(&text, limits);
        prop_assert!(script.pipelines.len() <= small);
    }

    #[test]
    fn a_command_behind_anything_that_parses_is_seen(
        pieces in prop::collection::vec(prop::sample::select(PIECES), 0..12),
    ) {
        let before = pieces.concat();
        // Most mixes are broken; those say nothing here.
        if !analyse(&before).complete || before.trim_end().ends_with(['\\', '|', '&']) {
            return Ok(());
        }
        let script = analyse(&format!("{before}\nrm -rf seen\n"));
        let seen = programs(&script).iter().any(|words| words.contains(&word("seen")));
        prop_assert!(seen || !script.complete, "{before:?} hides what follows it");
    }

    #[test]
    fn quotes_around_a_word_change_nothing(
        // No keyword, builtin or wrapper is spelt like this.
        name in "q[a-z]{1,8}",
        argument in "[a-zA-Z0-9/._][a-zA-Z0-9 /._-]{0,10}[a-z]",
    ) {
        let wanted = vec![word(&name), word(&argument)];
        for script in [
            format!("{name} '{argument}'"),
            format!("'{name}' \"{argument}\""),
            format!("{name}'' $'{argument}'"),
            format!("X='{argument}'; {name} \"$X\""),
            format!("\\{name} \"$(echo '{argument}')\""),
        ] {
            prop_assert!(programs(&analyse(&script)).contains(&wanted), "{}", script);
        }
    }

    #[test]
    fn quoted_text_is_only_data(payload in "[a-zA-Z0-9 $();&|<>`\"#{}/-]{0,40}") {
        let script = analyse(&format!("git commit -m '{payload}'"));
        prop_assert!(script.complete);
        prop_assert_eq!(script.pipelines.len(), 1);
        let heredoc = analyse(&format!("cat > notes.md <<'END'\n{payload}\nEND\n"));
        prop_assert!(heredoc.complete);
        prop_assert_eq!(heredoc.pipelines.len(), 1);
    }
}
