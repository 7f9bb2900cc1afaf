//! Programs whose own small language can run a shell command: editors, database
//! clients, debuggers, build files, terminal multiplexers.

use crate::{expand::Field, nested::joined, text::Text, walk::Walker};

/// What marks the commands of a program that are for a shell.
const MARKS: &[(&[&str], &[&str])] = &[
    (&["psql"], &["\\!"]),
    (&["mysql", "mariadb"], &["\\!", "system "]),
    (&["sqlite3"], &[".shell ", ".system "]),
    (&["gdb", "lldb"], &["shell ", "!", "platform shell "]),
    (&["ftp", "sftp", "lftp"], &["!"]),
    (&["expect"], &["spawn ", "exec ", "system "]),
];

/// Verbs of `tmux` that take a shell command or keys for one.
const TMUX: [&str; 13] = [
    "new",
    "new-session",
    "neww",
    "new-window",
    "splitw",
    "split-window",
    "run",
    "run-shell",
    "respawn-pane",
    "respawn-window",
    "send",
    "send-keys",
    "popup",
];

impl Walker<'_> {
    /// Follows the shell commands in a program's own language; false when `name` has none.
    pub(crate) fn embedded(&mut self, name: &str, arguments: &[Field], feed: Option<&Text>) -> bool {
        let via = [name.to_owned()];
        if let Some((_, marks)) = MARKS.iter().find(|(names, _)| names.contains(&name)) {
            for text in arguments.iter().map(|field| &field.text).chain(feed) {
                self.marked(text, marks, &via);
            }
            return true;
        }
        match name {
            "vi" | "vim" | "nvim" | "ex" | "view" | "gvim" => self.editor(arguments, &via),
            "make" | "gmake" => {
                let reads =
                    arguments.windows(2).any(|pair| match pair {
                        [option, file] => {
                            matches!(option.known(), Some("-f" | "--file" | "--makefile"))
                                && matches!(file.known(), Some("-" | "/dev/stdin"))
                        }
                        _ => false,
                    }) || arguments.iter().any(|field| matches!(field.known(), Some("-f-" | "--file=-")));
                if let Some(feed) = feed.filter(|_| reads) {
                    self.makefile(feed, &via);
                }
            }
            "at" | "batch" => {
                if let Some(feed) = feed {
                    self.text(feed.clone(), &via, true, None);
                }
            }
            "tmux" => self.multiplexer(arguments, &via),
            "hyperfine" => {
                for field in arguments.iter().filter(|field| field.text.raw().contains(' ')) {
                    self.text(field.text.clone(), &via, true, None);
                }
            }
            "nix-shell" | "fly" | "gcloud" | "heroku" => {
                for pair in arguments.windows(2) {
                    let [option, text] = pair else { continue };
                    if matches!(option.known(), Some("--run" | "--command" | "-C")) {
                        self.text(text.text.clone(), &via, true, None);
                    }
                }
            }
            _ => return false,
        }
        true
    }

    /// Each line that one of `marks` begins.
    fn marked(&mut self, text: &Text, marks: &[&str], via: &[String]) {
        for (from, to) in lines(text.raw(), &['\n', ';']) {
            let line = text.raw().get(from..to).unwrap_or_default();
            let start = line.trim_start();
            let Some(rest) = marks.iter().find_map(|mark| start.strip_prefix(mark)) else { continue };
            self.text(text.slice(to - rest.len(), to), via, true, None);
        }
    }

    /// `-c '!rm x'`, `+'!rm x'`, `-c 'call system("rm x")'`.
    fn editor(&mut self, arguments: &[Field], via: &[String]) {
        let mut next = false;
        for field in arguments {
            let text = field.text.raw();
            let start = match text {
                _ if next => 0,
                "-c" | "--cmd" => {
                    next = true;
                    continue;
                }
                _ if text.starts_with('+') => 1,
                _ => continue,
            };
            next = false;
            let command = text.get(start..).unwrap_or_default();
            let command = command.trim_start_matches([':', ' ']);
            let command = ["silent!", "silent", "sil"]
                .iter()
                .find_map(|word| command.strip_prefix(word))
                .map_or(command, str::trim_start);
            let bang = command.trim_start_matches(['%', '.', '$', 'r', 'w', ' ']);
            if let Some(shell) = bang.strip_prefix('!') {
                self.text(field.text.after(text.len() - shell.len()), via, true, None);
            } else {
                self.code("vim", crate::code::Language::Lua, Some(&field.text.after(start)));
            }
        }
    }

    /// The recipes of a makefile: lines that begin with a tab, or stand behind `target: ;`.
    fn makefile(&mut self, text: &Text, via: &[String]) {
        let broken = self.broken;
        let mut rest = lines(text.raw(), &['\n']).into_iter();
        while let Some((from, mut to)) = rest.next() {
            // A line that ends with a backslash goes on with the next.
            while text.raw().get(from..to).is_some_and(|line| line.ends_with('\\')) {
                let Some((_, end)) = rest.next() else { break };
                to = end;
            }
            let line = text.raw().get(from..to).unwrap_or_default();
            let recipe = match line.strip_prefix('\t') {
                Some(recipe) => Some(recipe),
                None => {
                    line.split_once(':').and_then(|(_, rest)| rest.split_once(';')).map(|(_, recipe)| recipe)
                }
            };
            let Some(recipe) = recipe else { continue };
            let recipe = recipe.trim_start_matches(['@', '-', '+', ' ']);
            self.text(text.slice(to - recipe.len(), to), via, true, None);
        }
        // A recipe is what make makes of it, so one that a shell would not take as it
        // is written says nothing about the script.
        self.broken = broken;
    }

    fn multiplexer(&mut self, arguments: &[Field], via: &[String]) {
        let verb = arguments.iter().position(|field| field.known().is_some_and(|text| TMUX.contains(&text)));
        let Some(verb) = verb else { return };
        let mut rest = arguments.get(verb + 1..).unwrap_or_default();
        while let Some((first, others)) = rest.split_first() {
            let text = first.text.raw();
            if !text.starts_with('-') {
                break;
            }
            let valued =
                text.len() == 2 && text.ends_with(['t', 's', 'n', 'c', 'x', 'y', 'e', 'F', 'l', 'h', 'w']);
            rest = others.get(usize::from(valued)..).unwrap_or_default();
        }
        self.text(joined(rest), via, true, None);
    }
}

/// Where the pieces between separators are.
fn lines(text: &str, separators: &[char]) -> Vec<(usize, usize)> {
    let mut from = 0;
    let mut out = Vec::new();
    for piece in text.split(separators) {
        out.push((from, from + piece.len()));
        from += piece.len() + 1;
    }
    out
}
