//! Commands that run a text or a command in their arguments or on their input.

use std::rc::Rc;

use portcullis_model::script::Command;

use crate::{
    expand::Field,
    feed,
    parse::parse,
    text::Text,
    walk::{Scope, Walker},
    wrapper::basename,
};

const SHELLS: [&str; 13] =
    ["sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "fish", "rbash", "hush", "yash", "csh", "tcsh"];

impl Walker<'_> {
    /// Follows whatever the command runs in turn; what it writes to its
    /// standard output when that is known.
    pub(crate) fn reenter(&mut self, argv: &[Field], feed: Option<Text>) -> Option<Text> {
        let (program, arguments) = argv.split_first()?;
        let path = program.known()?;
        let name = basename(path);
        if name != path
            && let Some(text) = self.file(path)
        {
            return self.text(text, &[path.to_owned()], true, feed);
        }
        // Made where it is used, as most commands run nothing in turn.
        let via = || [name.to_owned()];
        if SHELLS.contains(&name) {
            return self.shell(&via(), arguments, feed);
        }
        let fed = feed.as_ref();
        if self.interpreter(name, arguments, fed)
            || self.embedded(name, arguments, fed)
            || self.windows(name, arguments, fed)
        {
            return None;
        }
        match name {
            "git" => {
                self.git(arguments);
                None
            }
            "eval" => {
                let arguments = arguments.strip_prefix_field("--");
                self.text(joined(arguments), &via(), false, feed)
            }
            "trap" => {
                let arguments = arguments.strip_prefix_field("--");
                if let [action, _, ..] = arguments
                    && !matches!(action.known(), Some("-" | ""))
                {
                    self.text(action.text.clone(), &via(), true, None);
                }
                None
            }
            "source" | "." => {
                let file = arguments.first()?;
                let text = match (&file.file, file.known()) {
                    (Some(text), _) => Some(text.clone()),
                    (None, Some("/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0")) => feed,
                    (None, Some(path)) => self.file(path),
                    (None, None) => None,
                };
                self.text(text?, &via(), false, None)
            }
            "env" => {
                let (at, option) = arguments.iter().enumerate().find_map(|(at, field)| {
                    let text = field.text.raw();
                    let short = text.strip_prefix("-S").or_else(|| text.strip_prefix("-vS"));
                    let rest = short.or_else(|| {
                        text.strip_prefix("--split-string").map(|rest| rest.trim_start_matches('='))
                    })?;
                    Some((at, text.len() - rest.len()))
                })?;
                let mut text = arguments.get(at)?.text.after(option);
                for field in arguments.iter().skip(at + 1) {
                    text.push_str(" ");
                    text.push(&field.text);
                }
                self.text(text, &via(), true, feed)
            }
            "find" | "gfind" => {
                self.find(&via(), arguments);
                None
            }
            "fd" | "fdfind" => {
                self.each_command(&via(), arguments, &["-x", "-X", "--exec", "--exec-batch"], &[";"]);
                None
            }
            "su" | "runuser" | "script" | "flock" | "vagrant" | "sg" | "npx" | "npm" | "pnpm" => {
                let at = arguments.iter().position(|field| {
                    matches!(field.known(), Some("--command" | "--session-command" | "--call"))
                        || field.known().is_some_and(|text| short_cluster(text, 'c'))
                });
                match at {
                    Some(at) => {
                        let text = arguments.get(at + 1)?.text.clone();
                        self.text(text, &via(), true, feed)
                    }
                    None => None,
                }
            }
            "watch" => {
                let at = operand(arguments, "nd", &["--interval"])?;
                self.text(joined(arguments.get(at..)?), &via(), true, None)
            }
            "ssh" => {
                let host = operand(arguments, "bcDEeFIiJLlmOopQRSWw", &[])?;
                let rest = arguments.get(host + 1..).unwrap_or_default().strip_prefix_field("--");
                if rest.is_empty() {
                    return self.text(feed?, &via(), true, None);
                }
                self.text(joined(rest), &via(), true, feed)
            }
            "parallel" => {
                let at =
                    operand(arguments, "jIaSnNLPsdEv", &["--jobs", "--arg-file", "--colsep", "--delay"])?;
                let rest = arguments.get(at..).unwrap_or_default();
                let stop =
                    rest.iter().position(|field| field.known().is_some_and(|text| text.starts_with(":::")));
                let mut argv = rest.get(..stop.unwrap_or(rest.len()))?.to_vec();
                argv.extend(rest.iter().skip(stop.unwrap_or(rest.len()) + 1).cloned());
                // It joins its words and hands them to a shell.
                self.text(joined(&argv), &via(), true, None);
                None
            }
            _ => {
                let output = feed::output(name, arguments, feed)?;
                self.budget.output(output.len()).then_some(output)
            }
        }
    }

    /// Follows a text as a script.
    pub(crate) fn text(
        &mut self,
        text: Text,
        via: &[String],
        child: bool,
        feed: Option<Text>,
    ) -> Option<Text> {
        if text.is_empty() {
            return Some(Text::default());
        }
        if !self.budget.read(text.len()) {
            return None;
        }
        let depth = self.via.len();
        self.via.extend(via.iter().cloned());
        let text = Rc::new(text);
        let follow = |walker: &mut Self| {
            let tree = parse(&text, walker.depth);
            walker.broken |= tree.broken;
            walker.cut_short |= tree.cut_short;
            walker.variables.count(&tree.names);
            walker.list(&tree.list, &Scope { heredocs: &tree.heredocs, names: &tree.names, feed })
        };
        let output = if child { self.in_child(follow) } else { self.deeper(follow).flatten() };
        self.via.truncate(depth);
        output
    }

    /// Reports a command that is given word by word, in a pipeline of its own.
    pub(crate) fn argv(&mut self, via: &[String], argv: Vec<Field>) {
        if argv.is_empty() {
            return;
        }
        let Some(slot) = self.reserve() else { return };
        let depth = self.via.len();
        self.via.extend(via.iter().cloned());
        let mut command = Command { source: joined(&argv).rendered(), ..Command::default() };
        self.budget.output(command.source.len());
        self.in_child(|walker| walker.run(argv, &mut command, Vec::new(), None));
        self.via.truncate(depth);
        self.fill(slot, vec![command]);
    }

    fn shell(&mut self, via: &[String], arguments: &[Field], feed: Option<Text>) -> Option<Text> {
        let mut at = 0;
        let mut text = false;
        let mut input = false;
        while let Some(option) = arguments.get(at).map(|field| field.text.raw()) {
            if option == "-" || option == "--" {
                at += 1;
                break;
            }
            let Some(letters) = option.strip_prefix(['-', '+']) else { break };
            at += 1;
            if let Some(long) = letters.strip_prefix('-') {
                at += usize::from(matches!(long, "rcfile" | "init-file"));
                text |= long == "command";
                continue;
            }
            text |= letters.contains('c');
            input |= letters.contains('s');
            at += usize::from(letters.ends_with(['o', 'O']));
        }
        let rest = arguments.get(at..).unwrap_or_default();
        let (script, positional) = match (rest.split_first(), text, input) {
            (Some((script, positional)), true, _) => {
                (Some(script.text.clone()), positional.get(1..).unwrap_or_default())
            }
            (Some(_), false, true) => (feed.clone(), rest),
            (Some((file, positional)), false, false) => match (&file.file, file.known()) {
                (Some(text), _) => (Some(text.clone()), positional),
                (None, Some("/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0")) => (feed.clone(), positional),
                (None, Some(path)) => (self.file(path), positional),
                (None, None) => (None, positional),
            },
            (None, _, _) => (feed.clone(), rest),
        };
        let script = script?;
        let inner = if text { feed } else { None };
        let zero = if text { rest.get(1) } else { None };
        self.in_child(|walker| {
            walker.positional(positional);
            if let Some(zero) = zero {
                walker.variables.set("0", crate::variable::Value::Text(zero.text.clone()));
            }
            walker.text(script, via, true, inner)
        })
    }

    fn find(&mut self, via: &[String], arguments: &[Field]) {
        self.each_command(via, arguments, &["-exec", "-execdir", "-ok", "-okdir"], &[";", "+"]);
    }

    /// Reports each command that follows one of `starts`, up to one of `ends`.
    fn each_command(&mut self, via: &[String], arguments: &[Field], starts: &[&str], ends: &[&str]) {
        let mut rest = arguments;
        let is = |field: &Field, names: &[&str]| field.known().is_some_and(|text| names.contains(&text));
        while let Some(at) = rest.iter().position(|field| is(field, starts)) {
            rest = rest.get(at + 1..).unwrap_or_default();
            let stop = rest.iter().position(|field| is(field, ends)).unwrap_or(rest.len());
            self.argv(via, rest.get(..stop).unwrap_or_default().to_vec());
            rest = rest.get(stop..).unwrap_or_default();
        }
    }
}

trait StripPrefixField {
    fn strip_prefix_field(&self, text: &str) -> &Self;
}

impl StripPrefixField for [Field] {
    fn strip_prefix_field(&self, text: &str) -> &Self {
        match self.split_first() {
            Some((first, rest)) if first.known() == Some(text) => rest,
            _ => self,
        }
    }
}

pub(crate) fn joined(fields: &[Field]) -> Text {
    let mut out = Text::default();
    for (index, field) in fields.iter().enumerate() {
        if index > 0 {
            out.push_str(" ");
        }
        out.push(&field.text);
    }
    out
}

/// Whether this is a group of one-letter options that ends with `letter`.
fn short_cluster(text: &str, letter: char) -> bool {
    text.strip_prefix('-').is_some_and(|rest| !rest.starts_with('-') && rest.ends_with(letter))
}

/// Where the first argument is that is no option and no option's value.
fn operand(arguments: &[Field], valued: &str, long: &[&str]) -> Option<usize> {
    let mut at = 0;
    while let Some(field) = arguments.get(at) {
        let text = field.text.raw();
        if text == "--" {
            return Some(at + 1);
        }
        let Some(letters) = text.strip_prefix('-').filter(|letters| !letters.is_empty()) else {
            return Some(at);
        };
        let takes_next = if letters.starts_with('-') {
            long.contains(&text)
        } else {
            letters.find(|c| valued.contains(c)).is_some_and(|found| found + 1 == letters.len())
        };
        at += if takes_next { 2 } else { 1 };
    }
    None
}
