//! The files that a shell command names in order to read, write or delete them.

use portcullis_sdk::{Command, Word};

/// What happens to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Deed {
    Read,
    Write,
    Delete,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Touch<'a> {
    pub(crate) deed: Deed,
    pub(crate) path: &'a str,
}

type Told<'a, 'f> = &'f mut dyn FnMut(Touch<'a>);

/// Tells every file that a command names.
pub(crate) fn each<'a>(command: &'a Command, told: Told<'a, '_>) {
    tell(Deed::Write, command.writes.iter().filter_map(Word::literal), told);
    tell(Deed::Read, command.reads.iter().filter_map(Word::literal), told);
    let Some(name) = command.program() else { return };
    let name = name.strip_suffix(".exe").unwrap_or(name);
    match name {
        "cp" | "install" | "scp" | "rsync" | "ln" | "Copy-Item" => copy(command, Deed::Read, told),
        "mv" | "Move-Item" => copy(command, Deed::Delete, told),
        "tee" | "truncate" | "Set-Content" | "Add-Content" | "Out-File" | "Clear-Content" => {
            tell(Deed::Write, operands(command, "s"), told);
        }
        "rm" | "unlink" | "shred" | "srm" | "del" | "Remove-Item" => {
            tell(Deed::Delete, operands(command, "ns"), told)
        }
        "dd" => {
            tell(Deed::Write, values(command, "of="), told);
            tell(Deed::Read, values(command, "if="), told);
        }
        "sed" | "gsed" | "perl" | "ruby" => in_place(command, told),
        "curl" => {
            tell(Deed::Write, behind(command, 'o', &["--output"]), told);
            tell(Deed::Read, behind(command, 'T', &["--upload-file"]), told);
            // `-d @FILE` and `-F name=@FILE` send it.
            tell(
                Deed::Read,
                command.literals().filter_map(|word| word.split_once('@').map(|(_, file)| file)),
                told,
            );
        }
        "wget" => {
            tell(Deed::Write, behind(command, 'O', &["--output-document"]), told);
            tell(Deed::Read, values(command, "--post-file="), told);
        }
        "openssl" => {
            tell(Deed::Write, behind(command, '\0', &["-out", "-keyout"]), told);
            tell(Deed::Read, behind(command, '\0', &["-in", "-inkey"]), told);
        }
        "cat" | "bat" | "batcat" | "head" | "tail" | "less" | "more" | "grep" | "egrep" | "fgrep" | "rg"
        | "ag" | "awk" | "gawk" | "cut" | "sort" | "uniq" | "nl" | "tac" | "rev" | "wc" | "strings"
        | "xxd" | "od" | "hexdump" | "base64" | "diff" | "cmp" | "comm" | "paste" | "jq" | "yq" | "tar"
        | "zip" | "gzip" | "source" | "." | "type" | "Get-Content" | "gc" | "vim" | "vi" | "nano"
        | "view" => {
            tell(Deed::Read, operands(command, ""), told);
        }
        _ => {}
    }
}

fn tell<'a>(deed: Deed, paths: impl Iterator<Item = &'a str>, told: Told<'a, '_>) {
    for path in paths {
        told(Touch { deed, path });
    }
}

/// The words that are no options; `valued` are the letters of options whose next
/// word is a value.
fn operands<'a>(command: &'a Command, valued: &str) -> impl Iterator<Item = &'a str> {
    let mut ended = false;
    let mut skip = false;
    command.literals().filter(move |word| {
        if std::mem::take(&mut skip) {
            return false;
        }
        if ended || !word.starts_with('-') || *word == "-" {
            return true;
        }
        ended = *word == "--";
        skip = word.len() == 2 && word.chars().nth(1).is_some_and(|letter| valued.contains(letter));
        false
    })
}

/// Sources, and where they go. Into a directory each goes under its own name.
fn copy<'a>(command: &'a Command, sources_are: Deed, told: Told<'a, '_>) {
    let target = behind(command, 't', &["--target-directory"]).next();
    let mut last = None;
    for path in operands(command, "tmogS") {
        if let Some(source) = last.replace(path) {
            told(Touch { deed: sources_are, path: source });
        }
    }
    let Some(last) = last else { return };
    let directory = |path: &str| path.ends_with('/') || matches!(path.rsplit('/').next(), Some("." | ".."));
    if target.is_some() {
        told(Touch { deed: sources_are, path: last });
    } else {
        told(Touch { deed: Deed::Write, path: last });
    }
    if target.is_some() || directory(last) {
        tell(
            Deed::Write,
            operands(command, "tmogS").map(|path| path.rsplit('/').next().unwrap_or(path)),
            told,
        );
    }
}

/// `sed -i` writes its files; without `-i` it reads them. The first operand is
/// the program when no option gives it.
fn in_place<'a>(command: &'a Command, told: Told<'a, '_>) {
    let bundle = |word: &str, letter: char| {
        word.strip_prefix('-').is_some_and(|letters| !letters.starts_with('-') && letters.contains(letter))
    };
    let sed = command.program().is_some_and(|name| name.ends_with("sed"));
    let mut options = command.literals().take_while(|word| *word != "--");
    let writes = options.any(|word| {
        let short =
            if sed { word.starts_with("-i") || word == "-Ei" || word == "-ni" } else { bundle(word, 'i') };
        short || word.starts_with("--in-place")
    });
    let given = command
        .literals()
        .any(|word| bundle(word, 'e') || bundle(word, 'f') || word.starts_with("--expression"));
    let deed = if writes { Deed::Write } else { Deed::Read };
    tell(deed, operands(command, "ef").skip(usize::from(!given)), told);
}

/// `of=FILE`
fn values<'a>(command: &'a Command, start: &'static str) -> impl Iterator<Item = &'a str> {
    command.literals().filter_map(move |word| word.strip_prefix(start))
}

/// The values of an option: `-o FILE`, `-oFILE`, `-so FILE`, `--output FILE`, `--output=FILE`.
fn behind<'a>(
    command: &'a Command,
    letter: char,
    long: &'static [&'static str],
) -> impl Iterator<Item = &'a str> {
    command.args().iter().enumerate().filter_map(move |(at, word)| {
        let text = word.literal()?;
        let next = || command.args().get(at + 1).and_then(Word::literal);
        for name in long {
            if let Some(rest) = text.strip_prefix(name) {
                return if rest.is_empty() { next() } else { rest.strip_prefix('=') };
            }
        }
        let letters = text.strip_prefix('-').filter(|letters| !letters.starts_with('-'))?;
        let (_, value) = letters.split_once(letter)?;
        if value.is_empty() { next() } else { Some(value) }
    })
}

#[cfg(test)]
mod tests {
    use portcullis_sdk::testing::command;

    use super::{Deed, each};

    fn touches(text: &str, wanted: Deed) -> Vec<String> {
        let command = command(text);
        let mut paths = Vec::new();
        each(&command, &mut |touch| {
            if touch.deed == wanted {
                paths.push(touch.path.to_owned());
            }
        });
        paths
    }

    #[test]
    fn the_files_that_a_command_writes_are_found() {
        for (text, paths) in [
            ("cp a .env", vec![".env"]),
            ("cp x/.env dir/", vec!["dir/", ".env", ""]),
            ("cp -t dir x/.env", vec![".env"]),
            ("mv a b", vec!["b"]),
            ("install -m 600 a .env", vec![".env"]),
            ("tee -a a b", vec!["a", "b"]),
            ("dd if=a of=b", vec!["b"]),
            ("sed -i s/a/b/ .env", vec![".env"]),
            ("sed -i.bak -e s/a/b/ .env", vec![".env"]),
            ("perl -pi -e s/a/b/ .env", vec![".env"]),
            ("truncate -s 0 .env", vec![".env"]),
            ("ln -sf a .env", vec![".env"]),
            ("rsync -a a b", vec!["b"]),
            ("curl -so .env u", vec![".env"]),
            ("curl --output=.env u", vec![".env"]),
            ("wget -O .env u", vec![".env"]),
            ("wget -qO.env u", vec![".env"]),
            ("openssl genrsa -out k.pem 2048", vec!["k.pem"]),
            ("cat .env", vec![]),
            ("sed s/a/b/ .env", vec![]),
            ("echo .env", vec![]),
        ] {
            assert_eq!(touches(text, Deed::Write), paths, "{text}");
        }
    }

    #[test]
    fn the_files_that_a_command_reads_or_deletes_are_found() {
        for (text, paths) in [
            ("cat -n .env", vec![".env"]),
            ("grep KEY .env", vec!["KEY", ".env"]),
            ("cp .env x", vec![".env"]),
            ("sed -n p .env", vec![".env"]),
            ("curl -d @.env u", vec![".env"]),
            ("curl -F file=@.env u", vec![".env"]),
            ("curl -T .env u", vec![".env"]),
            (". ./.env", vec!["./.env"]),
            ("ls .env", vec![]),
            ("git add .env", vec![]),
        ] {
            assert_eq!(touches(text, Deed::Read), paths, "{text}");
        }
        assert_eq!(touches("rm -f .env", Deed::Delete), [".env"]);
        assert_eq!(touches("mv .env x", Deed::Delete), [".env"]);
    }
}
