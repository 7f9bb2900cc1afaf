//! Hostile scripts: the work grows no faster than the text, and the stack holds.

use std::rc::Rc;

use crate::{
    analyse, analyse_with,
    limits::{Budget, Limits},
    parse::parse,
    text::Text,
};

/// Each is repeated until it hurts.
const PIECES: &[&str] = &[
    "$(",
    "(",
    "echo $(",
    "{ ",
    "if a; then ",
    "\"$(",
    "${x:-",
    "\"${x:-",
    "$((",
    "((",
    "case x in a) ",
    "`",
    "\\`",
    "a ",
    "a | b; ",
    "a |(",
    "(a |",
    "a | (b; ",
    "a | { ",
    "a && ",
    "cat <<E\nx\nE\n",
    "cat <<E ",
    "$(cat <<E\n",
    "<<E\n$(",
    "f() ",
    "f(){ ",
    "! ",
    "time ",
    "coproc ",
    "sudo ",
    "xargs ",
    "trap ",
    "eval ",
    "find . -exec ",
    "while a; do ",
    "if a; then b; elif ",
    "[[ ",
    "a=(",
    "a=b ",
    "a[1",
    "X=$X$X$X;",
    "{a,",
    "{a,b}",
    "{1..9}",
    "{",
    "'",
    "\"",
    "'\"'\"",
    "\\",
    "$'\\",
    "<(",
    "*(",
    ">",
    "&",
    ";",
    "|",
    ")",
    "}",
    "fi ",
    "#",
    "\n",
    "alias a='a;a';a;",
    "eval \"$a\";",
    "sh -c '",
    "X=a;$X$X ",
    "f(){ f $1; };f a;",
    "f(){ $1; };",
    "f a;",
    "for i in a b c d; do ",
    "for i in a b c; do $i; done;",
    "echo 'sh x' > x; sh x;",
    "git -c alias.a=b a;",
    "git config alias.a '!git a';git a;",
    "X=aaaa;${X#*a} ",
    "$((1+",
    "${X:1",
    "python3 -c 'x(';",
    "python3 -c \"os.system('",
    "awk '{system(",
    "docker run ",
    "npx ",
    "tmux new '",
    "cmd /c \"",
    "powershell -c \"",
    "pwsh -c '{",
    "iex '",
    "\u{FFFC}",
    "é",
];

fn parse_steps(source: &str) -> usize {
    parse(&Rc::new(Text::known(source)), Limits::default().depth).steps
}

fn walk_steps(source: &str) -> usize {
    let mut budget = Budget::new(Limits { output: 1 << 20, ..Limits::default() });
    analyse_with(source, &mut budget);
    budget.steps
}

#[test]
fn the_work_grows_with_the_length_of_the_text() {
    for piece in PIECES {
        // Nested texts copy their source once for each level, so the short
        // text is already deeper than the limit.
        let (short, long) = (piece.repeat(1_000), piece.repeat(4_000));
        for (what, count) in [("parse", parse_steps as fn(&str) -> usize), ("walk", walk_steps)] {
            let (few, many) = (count(&short), count(&long));
            assert!(many <= 5 * few + 4_000, "{what} of {piece:?}: {few} steps, then {many}");
        }
    }
}

#[test]
fn ten_thousand_of_anything_is_answered() {
    for piece in PIECES {
        let script = analyse(&piece.repeat(10_000));
        assert_eq!(script.source.len(), piece.len() * 10_000);
    }
}

#[test]
fn a_hundred_thousand_levels_are_answered() {
    for open in ["$(", "(", "((", "$((", "{ ", "\"$(", "${x:-", "<(", "*(", "if a; then ", "f(){ "] {
        let script = analyse(&open.repeat(100_000));
        assert!(!script.complete, "{open}");
    }
}

#[test]
fn what_follows_too_deep_a_nest_is_reported() {
    for (open, close) in [("$(", ")"), ("( ", ")"), ("{ ", ";}"), ("\"$(", ")\""), ("if a; then ", "; fi")] {
        let script = analyse(&format!("{}rm inner{}; rm outer", open.repeat(20_000), close.repeat(20_000)));
        assert!(!script.complete);
        for target in ["inner", "outer"] {
            let found = script.pipelines.iter().flat_map(|pipeline| &pipeline.commands).any(|command| {
                command.words.iter().any(|word| word.literal().is_some_and(|text| text == target))
            });
            assert!(found, "{target} behind {open}");
        }
    }
}

#[test]
fn each_limit_shows() {
    let tight = |limits: Limits| analyse_with("a b c | d; {a,b,c} $(e $(f))", &mut Budget::new(limits));
    assert!(tight(Limits::default()).complete);
    for limits in [
        Limits { bytes: 3, ..Limits::default() },
        Limits { depth: 1, ..Limits::default() },
        Limits { pipelines: 2, ..Limits::default() },
        Limits { words: 3, ..Limits::default() },
        Limits { output: 9, ..Limits::default() },
        Limits { braces: 2, ..Limits::default() },
    ] {
        assert!(!tight(limits).complete, "{limits:?}");
    }
}
