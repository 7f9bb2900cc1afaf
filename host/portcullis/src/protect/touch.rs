//! What a command changes: the table of programs that write.

use portcullis_model::script::{Command, Word};

use super::arguments::{Arguments, below, last_name, written};
use super::change::{Reach, Touch};
use super::name::is_pattern;
use super::windows;
use crate::tool;

/// The name of a program: without its directory, and without `.exe`.
pub(super) fn program(word: &Word) -> Option<&str> {
    let name = last_name(word)?.rsplit('\\').next()?;
    Some(name.strip_suffix(".exe").unwrap_or(name))
}

/// Everything that `command` changes. `removed` says that what it prints is
/// removed by a later command of its pipeline.
pub(super) fn touches(command: &Command, removed: bool) -> Vec<Touch> {
    let mut touches = Touches::default();
    touches.all(&command.writes, Reach::Write);
    let Some((first, words)) = command.words.split_first() else { return touches.0 };
    let Some(name) = program(first) else { return touches.0 };
    touches.program(name, words, command, removed);
    touches.0
}

/// Does this program remove what it is given?
pub(super) fn removes(command: &Command) -> bool {
    let name = command.words.first().and_then(program);
    name.is_some_and(|name| matches!(name, "rm" | "unlink" | "shred" | "rmdir" | "srm" | "trash"))
}

#[derive(Default)]
struct Touches(Vec<Touch>);

impl Touches {
    fn add(&mut self, word: &Word, reach: Reach) {
        self.0.push(Touch { word: word.clone(), reach });
    }

    fn all<'w>(&mut self, words: impl IntoIterator<Item = &'w Word>, reach: Reach) {
        for word in words {
            self.add(word, reach.clone());
        }
    }

    /// The table of programs.
    fn program(&mut self, name: &str, words: &[Word], command: &Command, removed: bool) {
        let plain = |valued: &str| Arguments::read(words, valued);
        match name {
            "rm" | "unlink" | "rmdir" | "srm" | "trash" | "trash-put" | "rimraf" => {
                self.all(plain("").operands, Reach::Remove(None));
            }
            "shred" => self.all(plain("-n -s --iterations --size").operands, Reach::Remove(None)),
            "gio" => self.all(words.iter().skip(1), Reach::Remove(None)),
            "mv" => self.transfer(&plain("-t -S --target-directory --suffix"), true),
            "scp" => self.transfer(&plain("-P -i -F -o -l -c -J -S"), false),
            "cp" | "ditto" => {
                let read = plain("-t -S --target-directory --suffix");
                if read.has(&["-l", "--link", "-s", "--symbolic-link"]) {
                    self.all(read.operands.iter().copied(), Reach::Spoil);
                }
                self.transfer(&read, false);
            }
            "install" => {
                let read = plain("-t -m -o -g -S --target-directory --mode --owner --group --suffix");
                if read.has(&["-d", "--directory"]) {
                    self.all(read.operands.iter().copied(), Reach::Write);
                } else {
                    self.transfer(&read, false);
                }
            }
            "ln" | "link" => self.link(&plain("-t -S --target-directory --suffix")),
            "rsync" => {
                let read = plain("-e -f --rsh --exclude --include --filter --files-from --exclude-from");
                self.transfer(&read, false);
                if read.has(&["--remove-source-files"]) {
                    self.all(read.operands, Reach::Remove(None));
                }
            }
            "tee" | "touch" | "truncate" | "fallocate" | "sponge" | "mkfifo" | "mkdir" | "mknod"
            | "dos2unix" | "unix2dos" | "ed" | "ex" | "vi" | "vim" | "nvim" | "view" | "nano" | "pico"
            | "emacs" | "micro" | "sd" | "crudini" | "setfattr" => {
                // The value of an option counts as a file too, and does no harm as one.
                self.all(plain("").operands, Reach::Write);
            }
            "chmod" | "chown" | "chgrp" | "chattr" | "chflags" | "setfacl" | "xattr" | "chcon" => {
                self.all(plain("").operands, Reach::Spoil);
            }
            "sed" | "gsed" => {
                let read = plain("-e -f --expression --file");
                if read.has(&["-i", "--in-place"]) {
                    self.all(read.operands, Reach::Write);
                }
            }
            "perl" | "ruby" => {
                let read = plain("-e -E -I -M -m -r");
                if read.has(&["-i"]) {
                    self.all(read.operands, Reach::Write);
                }
            }
            "yq" | "awk" | "gawk" | "prettier" | "biome" | "clang-format" | "jsonnetfmt" | "toml"
            | "dasel" => {
                let read = plain("");
                if read.has(&["-i", "--inplace", "--in-place", "-w", "--write"]) || words.iter().any(is_put) {
                    self.all(read.operands, Reach::Write);
                }
            }
            "dd" => {
                let output = |word: &Word| {
                    let path = written(word).strip_prefix("of=")?.to_owned();
                    Some(if word.literal().is_some() { Word::Literal(path) } else { Word::Computed(path) })
                };
                self.all(&words.iter().filter_map(output).collect::<Vec<_>>(), Reach::Write);
            }
            "curl" | "wget" | "aria2c" => self.download(name, words),
            "mount" | "umount" => self.all(plain("-o -t").operands, Reach::Spoil),
            "sort" | "shuf" | "xmllint" | "gpg" | "pandoc" => {
                self.all(plain("-o --output").values(&["-o", "--output"]), Reach::Write);
            }
            "tar" | "bsdtar" | "gtar" => self.tar(words),
            "unzip" | "7z" | "7za" | "cpio" => {
                let read = plain("-d -x -P");
                self.all(read.values(&["-d"]), Reach::Fill(None));
                let into = read.values(&["-d"]).next().cloned();
                self.into(into.as_ref(), &read.operands);
            }
            "zip" => {
                let operands = plain("-b -t -n").operands;
                self.all(operands.first().copied(), Reach::Write);
                if words.iter().any(|word| matches!(word.literal(), Some("-m" | "-rm" | "--move"))) {
                    self.all(operands.into_iter().skip(1), Reach::Remove(None));
                }
            }
            "gzip" | "gunzip" | "bzip2" | "bunzip2" | "xz" | "unxz" | "zstd" => {
                let read = plain("-S --suffix");
                let keeps = ["-c", "-k", "-l", "-t", "--stdout", "--keep", "--list", "--test"];
                if !read.has(&keeps) && (name != "zstd" || read.has(&["--rm"])) {
                    self.all(read.operands, Reach::Remove(None));
                }
            }
            "patch" => {
                let read = plain("-d -o -i -p -B -D -F -r -V -Y -z --directory --output --input --strip");
                self.all(read.operands.first().copied(), Reach::Write);
                self.all(read.values(&["-o", "--output"]), Reach::Write);
                self.patch(read.values(&["-d", "--directory"]).next(), command.stdin.as_ref());
            }
            "git" => self.git(words, command),
            "find" | "gfind" | "fd" | "fdfind" => self.find(words, removed),
            _ => self.0.extend(windows::touches(name, words)),
        }
    }

    /// The last operand, or what `-t` names, becomes what the others are.
    fn transfer(&mut self, read: &Arguments<'_>, away: bool) {
        let named = read.values(&["-t", "--target-directory"]).next();
        let (to, from) = match (named, read.operands.split_last()) {
            (Some(to), _) => (to, read.operands.as_slice()),
            (None, Some((to, from))) => (*to, from),
            (None, None) => return,
        };
        if away {
            self.all(from.iter().copied(), Reach::Remove(None));
        }
        self.add(to, Reach::Write);
        for source in from {
            let text = written(source).trim_end_matches(['"', '\'']);
            let last = text.rsplit('/').next().unwrap_or_default();
            // `x/`, `x/.` and `x/*` are what `x` holds.
            if matches!(last, "" | "." | "*") && matches!(source, Word::Literal(_)) {
                let whole = text.strip_suffix('*').unwrap_or(text);
                let whole = if whole.is_empty() { "." } else { whole };
                self.add(to, Reach::Fill(Some(Word::Literal(whole.to_owned()))));
            } else if is_pattern(last) {
                self.add(&below(to, &Word::Literal(last.to_owned())), Reach::Write);
            } else if let Some(name) = last_name(source) {
                let inside = below(to, &Word::Literal(name.to_owned()));
                self.add(&inside, Reach::Fill(Some((*source).clone())));
                if named.is_none() {
                    self.add(to, Reach::Become(Some((*source).clone())));
                }
            } else {
                self.add(to, Reach::Fill(Some((*source).clone())));
            }
        }
    }

    /// A link gives a file a second name, through which it can be changed later.
    fn link(&mut self, read: &Arguments<'_>) {
        let named = read.values(&["-t", "--target-directory"]).next().is_some();
        let targets = match read.operands.split_last() {
            Some((_, from)) if !named && !from.is_empty() => from,
            _ => read.operands.as_slice(),
        };
        self.all(targets.iter().copied(), Reach::Spoil);
        if let ([only], false) = (read.operands.as_slice(), named) {
            if let Some(name) = last_name(only) {
                self.add(&Word::Literal(name.to_owned()), Reach::Become(Some((*only).clone())));
            }
            return;
        }
        self.transfer(read, false);
    }

    fn download(&mut self, name: &str, words: &[Word]) {
        let (valued, output, directory): (_, &[&str], &[&str]) = match name {
            "curl" => (
                "-o -H -d -X -u -A -e -b -c -D --output --output-dir --header --data --request --dump-header --cookie-jar",
                &["-o", "-D", "-c", "--output", "--dump-header", "--cookie-jar"],
                &["--output-dir"],
            ),
            "wget" => (
                "-O -o -a -P -U --output-document --output-file --directory-prefix",
                &["-O", "-o", "-a", "--output-document", "--output-file"],
                &["-P", "--directory-prefix"],
            ),
            _ => ("-o -d --out --dir", &["-o", "--out"], &["-d", "--dir"]),
        };
        let read = Arguments::read(words, valued);
        let into = read.values(directory).next();
        let mut named: Vec<Word> = read.values(output).cloned().collect();
        // Without a name, the file is called as the URL ends.
        if named.is_empty() && (name != "curl" || read.has(&["-O", "--remote-name"])) {
            let last = |url: &&Word| last_name(url)?.split(['?', '#']).next().map(str::to_owned);
            named.extend(read.operands.iter().filter_map(last).map(Word::Literal));
        }
        for file in &named {
            self.add(file, Reach::Write);
            if let Some(into) = into {
                self.add(&below(into, file), Reach::Write);
            }
        }
    }

    fn tar(&mut self, words: &[Word]) {
        // The first word may be a bundle without its dash: `tar xzf a.tgz`.
        let mut owned = words.to_vec();
        if let Some(Word::Literal(first)) = owned.first_mut()
            && !first.starts_with('-')
        {
            first.insert(0, '-');
        }
        let read =
            Arguments::read(&owned, "-f -C -T -X --file --directory --files-from --exclude --transform");
        let into = read.values(&["-C", "--directory"]).next();
        if read.has(&["-x", "--extract", "--get"]) {
            self.add(into.unwrap_or(&Word::Literal(".".to_owned())), Reach::Fill(None));
            self.into(into, &read.operands);
        } else if !read.has(&["-t", "--list", "-d", "--diff"]) {
            self.all(read.values(&["-f", "--file"]), Reach::Write);
            if read.has(&["--remove-files"]) {
                self.all(read.operands.iter().copied(), Reach::Remove(None));
            }
        }
    }

    /// Members of an archive that are named.
    fn into(&mut self, directory: Option<&Word>, members: &[&Word]) {
        for member in members {
            let path = directory.map_or_else(|| (*member).clone(), |directory| below(directory, member));
            self.add(&path, Reach::Fill(None));
        }
    }

    /// The files of a patch that the script itself holds.
    fn patch(&mut self, directory: Option<&Word>, text: Option<&Word>) {
        let Some(text) = text.map(written) else { return };
        for change in tool::changes(text) {
            let stripped = change.path.split_once('/').map(|(_, rest)| rest.to_owned());
            for path in std::iter::once(change.path).chain(stripped) {
                let path = Word::Literal(path);
                self.add(&directory.map_or_else(|| path.clone(), |to| below(to, &path)), Reach::Remove(None));
            }
        }
    }

    fn git(&mut self, words: &[Word], command: &Command) {
        let mut rest = words;
        let mut directory: Option<&Word> = None;
        while let [option, tail @ ..] = rest {
            match option.literal() {
                Some("-C" | "--work-tree") => {
                    directory = tail.first();
                    rest = tail.get(1..).unwrap_or_default();
                }
                Some("-c" | "--git-dir" | "--namespace" | "--exec-path") => {
                    rest = tail.get(1..).unwrap_or_default()
                }
                Some(text) if text.starts_with('-') => rest = tail,
                _ => break,
            }
        }
        let Some((verb, rest)) = rest.split_first() else { return };
        let read = Arguments::read(rest, "-m -s -e -b -B --source --pathspec-from-file --exclude --message");
        let reach = match verb.literal() {
            Some("rm" | "mv" | "clean") => Reach::Remove(None),
            Some("checkout" | "restore" | "reset" | "stash" | "checkout-index") => Reach::Spoil,
            Some("apply" | "am") => {
                self.patch(directory, command.stdin.as_ref());
                return;
            }
            Some("diff" | "log" | "show" | "format-patch" | "archive") => {
                let read = Arguments::read(rest, "-o --output");
                self.all(read.values(&["-o", "--output"]), Reach::Write);
                return;
            }
            _ => return,
        };
        let at = |word: &Word| directory.map_or_else(|| word.clone(), |to| below(to, word));
        for operand in &read.operands {
            self.add(&at(operand), reach.clone());
        }
        if let (Some("mv"), Some((to, from))) = (verb.literal(), read.operands.split_last()) {
            for name in from.iter().filter_map(|source| last_name(source)) {
                self.add(&below(&at(to), &Word::Literal(name.to_owned())), Reach::Fill(None));
            }
            self.add(&at(to), Reach::Become(None));
        }
    }

    /// `find` removes what it finds: with `-delete`, with a command, or with a
    /// later one of its pipeline.
    fn find(&mut self, words: &[Word], removed: bool) {
        let has = |names: &[&str]| {
            words.iter().any(|word| word.literal().is_some_and(|text| names.contains(&text)))
        };
        let runs: Vec<&str> = words
            .iter()
            .skip_while(|word| {
                let flags = ["-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch"];
                !word.literal().is_some_and(|text| flags.contains(&text))
            })
            .flat_map(|word| written(word).split_whitespace())
            .map(|word| word.rsplit('/').next().unwrap_or(word))
            .collect();
        let runs = |names: &[&str]| runs.iter().any(|word| names.contains(word));
        let deletes = has(&["-delete"]) || removed || runs(&["rm", "unlink", "shred", "mv", "truncate"]);
        let changes = runs(&["sed", "perl", "chmod", "chown", "tee", "cp", "dd", "ln"]);
        // No file that is protected is empty, or a directory.
        if !(deletes || changes) || has(&["-empty"]) || words.windows(2).any(is_of_directories) {
            return;
        }
        let ways = |word: &&Word| matches!(word.literal(), Some("-H" | "-L" | "-P"));
        let starts: Vec<&Word> = words
            .iter()
            .skip_while(ways)
            .take_while(|word| !word.literal().is_some_and(|text| text.starts_with(['-', '(', '!'])))
            .collect();
        let here = Word::Literal(".".to_owned());
        let starts = if starts.is_empty() { vec![&here] } else { starts };
        let patterns = patterns(words);
        self.all(starts, if deletes { Reach::Remove(patterns) } else { Reach::Among(patterns) });
    }
}

/// The names of files that `find` looks for, when it looks for names alone.
fn patterns(words: &[Word]) -> Option<Vec<String>> {
    let texts = || words.iter().filter_map(Word::literal);
    if texts().any(|text| matches!(text, "!" | "-not")) {
        return None;
    }
    let names = words.windows(2).filter_map(|pair| match pair {
        [Word::Literal(test), Word::Literal(name)] => match test.as_str() {
            "-name" | "-iname" => Some(name.clone()),
            "-path" | "-ipath" | "-wholename" => name.rsplit('/').next().map(str::to_owned),
            _ => None,
        },
        _ => None,
    });
    let names: Vec<String> = names.collect();
    // Each alternative must have a name, or the others find anything.
    let alternatives = texts().filter(|text| matches!(*text, "-o" | "-or")).count();
    (names.len() > alternatives).then_some(names)
}

fn is_of_directories(words: &[Word]) -> bool {
    matches!(words, [a, b] if a.literal() == Some("-type") && matches!(b.literal(), Some("d" | "l" | "s" | "p")))
}

fn is_put(word: &Word) -> bool {
    matches!(word.literal(), Some("put" | "set" | "delete"))
}
