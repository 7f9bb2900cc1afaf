//! Which scripts only read.

use portcullis_model::script::{Command, Script, Word};

/// A program that changes nothing, and the beginnings of the options with which it might.
struct Reader {
    name: &'static str,
    /// The word that has to follow; none when any may.
    verbs: &'static [&'static str],
    except: &'static [&'static str],
}

const fn reader(name: &'static str, except: &'static [&'static str]) -> Reader {
    Reader { name, verbs: &[], except }
}

/// What is looked at by these is never changed. One that is missing here only waits for its
/// turn.
const READERS: &[Reader] = &[
    reader("basename", &[]),
    reader("cat", &[]),
    reader("cmp", &[]),
    reader("cut", &[]),
    reader("df", &[]),
    reader("diff", &[]),
    reader("dirname", &[]),
    reader("du", &[]),
    reader("echo", &[]),
    reader("egrep", &[]),
    reader("false", &[]),
    reader("fgrep", &[]),
    reader("find", &["-exec", "-ok", "-delete", "-fprint", "-fls"]),
    reader("grep", &[]),
    reader("head", &[]),
    reader("id", &[]),
    reader("ls", &[]),
    reader("nl", &[]),
    reader("pwd", &[]),
    reader("readlink", &[]),
    reader("realpath", &[]),
    reader("rg", &["--pre"]),
    reader("sha256sum", &[]),
    reader("stat", &[]),
    reader("tail", &[]),
    reader("test", &[]),
    reader("tr", &[]),
    reader("true", &[]),
    reader("uname", &[]),
    reader("wc", &[]),
    reader("which", &[]),
    reader("whoami", &[]),
    // Others can be set up to run what the configuration of a repository says.
    Reader {
        name: "git",
        verbs: &["ls-files", "rev-parse", "ls-tree", "cat-file"],
        except: &["--textconv", "--filters"],
    },
];

/// Everything that this script can run is known to change nothing.
pub(super) fn only_reads(script: &Script) -> bool {
    script.complete
        && !script.cut_short
        && !script.pipelines.is_empty()
        && script.pipelines.iter().flat_map(|pipeline| &pipeline.commands).all(reads)
}

fn reads(command: &Command) -> bool {
    let words: Option<Vec<&str>> = command.words.iter().map(Word::literal).collect();
    // What a variable holds may be another option, and what is set may change a program.
    let Some(words) = words else { return false };
    let Some((name, rest)) = words.split_first() else { return false };
    let plain = command.assignments.is_empty()
        && command.via.is_empty()
        && command.writes.iter().all(|file| file.literal() == Some("/dev/null"));
    let known = READERS.iter().find(|reader| reader.name == *name);
    plain
        && known.is_some_and(|reader| {
            let has_verb =
                reader.verbs.is_empty() || rest.first().is_some_and(|verb| reader.verbs.contains(verb));
            has_verb && !rest.iter().any(|word| reader.except.iter().any(|option| word.starts_with(option)))
        })
}

#[cfg(test)]
mod tests {
    use super::only_reads;

    #[test]
    fn a_script_of_readers_only_reads() {
        for script in [
            "ls -la src",
            "cat a.md | head -n 3 2>/dev/null",
            "grep -rn 'rm -rf' src && wc -l a; pwd",
            "find . -name '*.rs'",
            "git ls-files src",
            "cat <<EOF\nx\nEOF",
        ] {
            assert!(only_reads(&portcullis_shell::analyse(script)), "{script}");
        }
    }

    #[test]
    fn whatever_may_do_more_does_not_only_read() {
        for script in [
            "",
            "cargo test",
            "cat a > b",
            "ls; touch a",
            "cat $FILE",
            "find . -delete",
            "find . -exec rm {} +",
            "find . -fprintf x y",
            "rg --pre sh x",
            "git status",
            "git -c alias.x='!touch a' ls-files",
            "git cat-file --textconv HEAD:a",
            "PATH=. ls",
            "ls() { touch a; }; ls",
            "sudo cat a",
            "./cat a",
            "cat $(touch a)",
            "cat <(touch a)",
            "echo a | tee b",
            "sed -i s/a/b/ c",
            "ls (",
        ] {
            assert!(!only_reads(&portcullis_shell::analyse(script)), "{script}");
        }
    }
}
