//! Many ways to write the same command in a shell.

use proptest::prelude::*;
use proptest::sample::select;

/// What stands so far, and what may stand in front of it.
#[derive(Debug, Clone)]
pub(crate) struct Text {
    pub(crate) is: String,
    rank: Rank,
}

/// A program may be run by any other; what only the shell knows must come first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Program,
    Builtin,
    Assignment,
    Keyword,
    Script,
}

/// One step further from the plain command.
#[derive(Debug, Clone, Copy)]
enum Step {
    /// Before it, when that may be.
    Before(&'static str, Rank),
    /// Around it; only for a program, and one that is left.
    Around(&'static str, &'static str),
    /// Before and behind it, on one line.
    Beside(&'static str, &'static str),
    /// Before and behind it, on lines of their own.
    Within(&'static str, &'static str),
    /// As one word, in single or double quotes.
    Quoted(&'static str, &'static str, bool, Rank),
    /// As the body of a heredoc with a quoted delimiter.
    Heredoc(&'static str, &'static str),
}

use Rank::{Assignment, Builtin, Keyword, Program, Script};
use Step::{Around, Before, Beside, Heredoc, Quoted, Within};

/// Each does what it is put around, at least on some path.
const STEPS: &[Step] = &[
    Before("sudo ", Program),
    Before("sudo -u root -- ", Program),
    Before("doas ", Program),
    Before("env A=b ", Program),
    Before("env -i ", Program),
    Before("/usr/bin/env ", Program),
    Before("nohup ", Program),
    Before("timeout 5 ", Program),
    Before("timeout -k 1 --signal=KILL 5s ", Program),
    Before("nice -n 3 ", Program),
    Before("setsid ", Program),
    Before("stdbuf -oL ", Program),
    Before("flock /tmp/lock ", Program),
    Before("xargs -0 ", Program),
    Before("strace -f -o log ", Program),
    Before("docker exec -it c ", Program),
    Before("docker run --rm -v /:/host alpine ", Program),
    Before("kubectl -n x exec pod -- ", Program),
    Before("nsenter -t 1 -m ", Program),
    Before("npx -y ", Program),
    Before("uv run ", Program),
    Before("screen -dmS x ", Program),
    Before("git bisect run ", Program),
    Before("busybox ", Program),
    Before("chroot /mnt ", Program),
    Before("unshare -r ", Program),
    Before("ionice -c 2 ", Program),
    Around("find . -name x -exec ", " \\;"),
    Around("find . -type f -execdir ", " \\;"),
    Before("command ", Builtin),
    Before("exec ", Builtin),
    Before("A=b ", Assignment),
    Before("A=b C= ", Assignment),
    Before("time ", Keyword),
    Before("! ", Keyword),
    Quoted("sh -c ", "", false, Program),
    Quoted("bash -lc ", "", true, Program),
    Quoted("dash -e -c ", " name argument", false, Program),
    Quoted("bash --norc -c ", "", false, Program),
    Quoted("su -c ", "", false, Program),
    Quoted("ssh host ", "", false, Program),
    Quoted("watch -n 1 ", "", true, Program),
    Quoted("script -qc ", " /dev/null", false, Program),
    Quoted("source <(echo ", ")", false, Script),
    Quoted("X=", "; eval \"$X\"", false, Script),
    Quoted("eval ", "", false, Builtin),
    Quoted("eval ", "", true, Builtin),
    Quoted("cd a && X=", "; eval \"$X\"", false, Script),
    Quoted("if a; then X=", "; fi; eval \"$X\"", false, Script),
    Quoted("for c in ls ", "; do eval \"$c\"; done", false, Script),
    Quoted("f() { eval \"$1\"; }; f ", "", false, Script),
    Quoted("f() { sh -c \"$@\"; }; f ", "", false, Script),
    Quoted("echo ", " > t.sh; sh t.sh", false, Script),
    Quoted("echo ", " > t.sh && chmod +x t.sh && ./t.sh", false, Script),
    Quoted("flock /tmp/lock -c ", "", false, Program),
    Quoted("tmux new-session -d ", "", false, Program),
    Quoted("git rebase -x ", " main", false, Program),
    Quoted("git submodule foreach ", "", false, Program),
    Quoted("nix-shell --run ", "", false, Program),
    Quoted("bash <<< ", "", false, Script),
    Quoted("echo ", " | sh", false, Script),
    Quoted("printf '%s\\n' ", " | sudo bash", false, Script),
    Quoted("trap ", " EXIT", false, Builtin),
    Heredoc("bash", ""),
    Heredoc("sudo sh -s", ""),
    Heredoc("source /dev/stdin", ""),
    Heredoc("cat", " | sh"),
    Beside("ls; ", ""),
    Beside("ls;", ""),
    Beside("cd a && ", ""),
    Beside("false || ", ""),
    Beside("yes | ", ""),
    Beside("sleep 1 & ", ""),
    Beside("", "; ls"),
    Beside("", " && ls"),
    Beside("", " || true"),
    Beside("", " | cat"),
    Beside("", " &"),
    Beside("", " # a comment"),
    Beside("", " > /dev/null 2>&1"),
    Beside("echo $( ", " )"),
    Beside("X=$( ", " )"),
    Beside("echo \"$( ", " )\""),
    Beside("cat <( ", " )"),
    Beside("( ", " )"),
    Beside("{ ", "; }"),
    Within("# a comment\n", ""),
    Within("ls\n", "\nls"),
    Within("(\n", "\n)"),
    Within("{\n", "\n}"),
    Within("if true; then\n", "\nfi"),
    Within("if ls; then :; else\n", "\nfi"),
    Within("for i in 1 2; do\n", "\ndone"),
    Within("while read -r line; do\n", "\ndone"),
    Within("case x in\nx)\n", "\n;;\nesac"),
    Within("f() {\n", "\n}\nf"),
    Within("function g {\n", "\n}\ng"),
    Within("until ls; do\n", "\ndone"),
    Within("select x in a b; do\n", "\ndone"),
    Within("set -eu\n", ""),
];

impl Text {
    /// A command of these words, each spelt in one of several ways.
    fn command(words: &[&str], styles: &[u8]) -> Self {
        let words: Vec<_> = words.iter().zip(styles).map(|(word, style)| spell(word, *style)).collect();
        Self { is: words.join(" "), rank: Program }
    }

    pub(crate) fn script(text: &str) -> Self {
        Self { is: text.to_owned(), rank: Script }
    }

    /// A step that does not fit changes nothing.
    fn step(self, step: Step, depth: usize) -> Self {
        let Self { is, rank } = &self;
        let one_line = !is.contains('\n');
        // What ends in a comment or with `&` takes nothing behind it on its line.
        let open = one_line && !is.contains(" # ") && !is.ends_with('&');
        let (is, rank) = match step {
            Before(before, needs) if *rank <= needs => (format!("{before}{is}"), needs),
            Around(before, behind) if *rank == Program => (format!("{before}{is}{behind}"), Program),
            Beside(before, behind) if open || (behind.is_empty() && one_line) => {
                (format!("{before}{is}{behind}"), Script)
            }
            Within(before, behind) => (format!("{before}{is}{behind}"), Script),
            Quoted(before, behind, double, becomes) => {
                (format!("{before}{}{behind}", if double { double_quoted(is) } else { quoted(is) }), becomes)
            }
            Heredoc(before, behind) => {
                (format!("{before} <<'END{depth}'{behind}\n{is}\nEND{depth}\n"), Script)
            }
            Before(..) | Around(..) | Beside(..) => return self,
        };
        Self { is, rank }
    }
}

/// A text as one word in single quotes.
pub(crate) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// A text as one word in double quotes, with nothing in it that expands.
pub(crate) fn double_quoted(text: &str) -> String {
    let escape = |c: char| if "\\\"$`".contains(c) { format!("\\{c}") } else { c.to_string() };
    format!("\"{}\"", text.chars().map(escape).collect::<String>())
}

/// A word that means the same, whatever the style.
fn spell(word: &str, style: u8) -> String {
    let plain = word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_./=+".contains(&byte));
    let split = |at: usize| word.split_at(at.min(word.len()));
    match style {
        0..=3 if plain => word.to_owned(),
        4 => double_quoted(word),
        5 if plain => word.chars().map(|c| format!("\\{c}")).collect(),
        6 if plain => format!("{}''{}", split(1).0, split(1).1),
        7 => format!("{}{}", double_quoted(split(1).0), quoted(split(1).1)),
        8 => {
            let bytes = word.bytes().map(|byte| format!("\\x{byte:02x}"));
            format!("$'{}'", bytes.collect::<String>())
        }
        _ => quoted(word),
    }
}

/// One of `commands`, spelt anyhow, with up to three steps around it.
pub(crate) fn spelt(commands: &'static [&'static [&'static str]]) -> impl Strategy<Value = Text> {
    let styles = prop::collection::vec(0..10_u8, 8);
    let plain = (select(commands), styles).prop_map(|(words, styles)| Text::command(words, &styles));
    around(plain)
}

/// Up to three steps around a text.
pub(crate) fn around(text: impl Strategy<Value = Text>) -> impl Strategy<Value = Text> {
    let steps = prop::collection::vec(select(STEPS), 0..4);
    (text, steps).prop_map(|(text, steps)| {
        steps.into_iter().enumerate().fold(text, |text, (depth, step)| text.step(step, depth))
    })
}
