//! What `git` runs besides itself: aliases, hooks in its options, commands for
//! each commit or submodule.

use crate::{expand::Field, nested::joined, text::Text, walk::Walker};

/// Settings whose value is a command for a shell.
const COMMANDS: [&str; 12] = [
    "core.sshcommand",
    "core.pager",
    "core.editor",
    "core.askpass",
    "core.fsmonitor",
    "core.gitproxy",
    "sequence.editor",
    "diff.external",
    "gpg.program",
    "credential.helper",
    "interactive.difffilter",
    "uploadpack.packobjectshook",
];

/// Variables whose value is a command for a shell, whoever reads them.
const VARIABLES: [&str; 10] = [
    "GIT_SSH_COMMAND",
    "GIT_PAGER",
    "GIT_EDITOR",
    "GIT_SEQUENCE_EDITOR",
    "GIT_EXTERNAL_DIFF",
    "GIT_ASKPASS",
    "PAGER",
    "MANPAGER",
    "EDITOR",
    "VISUAL",
];

/// Options of git itself that take the next argument as their value.
const VALUED: [&str; 6] = ["-C", "--git-dir", "--work-tree", "--namespace", "--config-env", "--super-prefix"];

impl Walker<'_> {
    /// Follows what a git command runs.
    pub(crate) fn git(&mut self, arguments: &[Field]) {
        let mut at = 0;
        let mut globals: Vec<Field> = Vec::new();
        let mut aliases: Vec<(String, Text)> = Vec::new();
        while let Some(field) = arguments.get(at).filter(|field| field.text.raw().starts_with('-')) {
            let text = field.text.raw();
            at += 1;
            let setting = match text {
                "-c" => {
                    at += 1;
                    arguments.get(at - 1).map(|field| field.text.clone())
                }
                _ if VALUED.contains(&text) => {
                    globals.extend(arguments.get(at - 1..=at).unwrap_or_default().iter().cloned());
                    at += 1;
                    None
                }
                _ => text.starts_with("-c").then(|| field.text.after(2)),
            };
            if let Some(setting) = setting {
                self.git_setting(&setting, &mut aliases);
            }
        }
        let rest = arguments.get(at..).unwrap_or_default();
        let Some((verb, rest)) = rest.split_first() else { return };
        let Some(verb) = verb.known() else { return };
        // Git hands the settings of its options on to every git that it runs.
        let outer = (!aliases.is_empty()).then(|| self.git_aliases.clone());
        self.budget.words(outer.as_ref().map_or(0, |outer| outer.len()));
        self.git_aliases.extend(aliases);
        match self.git_aliases.get(verb).cloned() {
            Some(alias) => self.git_alias(verb, &alias, rest),
            None => self.git_verb(verb, rest),
        }
        if let Some(outer) = outer {
            self.git_aliases = outer;
        }
    }

    fn git_verb(&mut self, verb: &str, rest: &[Field]) {
        match verb {
            "config" => self.git_config(rest),
            "submodule" => {
                let each = rest.iter().position(|field| field.known() == Some("foreach"));
                let Some(each) = each else { return };
                let words = rest.get(each + 1..).unwrap_or_default();
                let skip = words.iter().take_while(|field| field.text.raw().starts_with('-')).count();
                self.git_text(joined(words.get(skip..).unwrap_or_default()));
            }
            "rebase" => self.git_options(rest, &["-x", "--exec"]),
            "difftool" | "mergetool" => self.git_options(rest, &["-x", "--extcmd"]),
            "filter-branch" => self.git_options(
                rest,
                &[
                    "--env-filter",
                    "--tree-filter",
                    "--index-filter",
                    "--parent-filter",
                    "--msg-filter",
                    "--commit-filter",
                    "--tag-name-filter",
                    "--setup",
                ],
            ),
            "for-each-repo" | "grep" | "archive" => {
                self.git_options(rest, &["-O", "--open-files-in-pager", "--exec"]);
            }
            "clone" | "fetch" | "pull" | "ls-remote" => self.git_options(rest, &["-u", "--upload-pack"]),
            "push" => self.git_options(rest, &["--receive-pack", "--exec"]),
            _ => {}
        }
    }

    /// Variables before a command whose value the command runs.
    pub(crate) fn run_by_variable(&mut self, name: &str, value: &Text) {
        if VARIABLES.contains(&name) {
            self.text(value.clone(), &[name.to_owned()], true, None);
        }
    }

    /// `alias.x=…` or `core.sshCommand=…`.
    fn git_setting(&mut self, setting: &Text, aliases: &mut Vec<(String, Text)>) {
        let Some((key, _)) = setting.raw().split_once('=') else { return };
        self.git_value(key, setting.after(key.len() + 1), aliases);
    }

    fn git_value(&mut self, key: &str, value: Text, aliases: &mut Vec<(String, Text)>) {
        let low = key.to_ascii_lowercase();
        if let Some(name) = low.strip_prefix("alias.") {
            aliases.push((name.to_owned(), value));
        } else if COMMANDS.contains(&low.as_str())
            || low.ends_with(".textconv")
            || (low.starts_with("filter.") && (low.ends_with(".clean") || low.ends_with(".smudge")))
            || (low.ends_with(".cmd") && (low.starts_with("difftool.") || low.starts_with("mergetool.")))
            || (low.starts_with("url.") && value.raw().starts_with("ext::"))
        {
            let marks = value.raw().len() - value.raw().trim_start_matches('!').len();
            self.git_text(value.after(marks));
        }
    }

    /// An alias that the same script defines is known from here on.
    fn git_config(&mut self, rest: &[Field]) {
        let mut operands = rest.iter().filter(|field| !field.text.raw().starts_with('-'));
        let mut key = operands.next();
        if matches!(key.and_then(Field::known), Some("set" | "add")) {
            key = operands.next();
        }
        let (Some(key), Some(value)) = (key.and_then(Field::known), operands.next()) else { return };
        let mut aliases = Vec::new();
        self.git_value(key, value.text.clone(), &mut aliases);
        for (name, text) in aliases {
            if self.budget.output(text.len()) {
                self.git_aliases.insert(name, text);
            }
        }
    }

    fn git_alias(&mut self, name: &str, alias: &Text, rest: &[Field]) {
        let key = format!("git {name}");
        if !self.expanding.insert(key.clone()) {
            return;
        }
        let mut text = match alias.raw().strip_prefix('!') {
            Some(_) => alias.after(1),
            None => {
                let mut text = Text::known("git ");
                text.push(alias);
                text
            }
        };
        for field in rest {
            text.push_str(" ");
            text.push(&field.text);
        }
        self.git_text(text);
        self.expanding.remove(&key);
    }

    fn git_options(&mut self, rest: &[Field], names: &[&str]) {
        for (at, field) in rest.iter().enumerate() {
            let text = field.text.raw();
            if names.contains(&text) {
                if let Some(value) = rest.get(at + 1) {
                    self.git_text(value.text.clone());
                }
            } else if let Some((name, value)) = text.split_once('=')
                && names.contains(&name)
            {
                self.git_text(field.text.after(text.len() - value.len()));
            }
        }
    }

    fn git_text(&mut self, text: Text) {
        self.text(text, &["git".to_owned()], true, None);
    }
}
