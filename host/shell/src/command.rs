//! One simple command: its words, its redirections, and what it changes.

use std::borrow::Cow;

use portcullis_model::script::{self, Command};

use crate::{
    expand::Field,
    parse::identifiers,
    syntax::{Assignment, Part, Redirect, Simple, Target, Word},
    text::Text,
    variable::Value,
    walk::{Scope, Walker},
    wrapper,
};

/// What stands on the standard input of a command.
#[derive(Debug)]
pub(crate) enum Input {
    /// Whatever its surroundings give it.
    Inherited,
    /// A heredoc or a here-string.
    Text(Text),
    /// Something that is not looked into.
    File,
}

impl Walker<'_> {
    /// The command, and what it writes to its standard output when that is known.
    pub(crate) fn simple(&mut self, simple: &Simple, scope: &Scope<'_>) -> (Command, Option<Text>) {
        let guessed = |word: &Word| {
            word.parts
                .iter()
                .filter_map(Part::variable)
                .any(|variable| self.variables.has_guess(&variable.name))
        };
        // A value that was set on one way only may be the one that counts: then this
        // is another command, which is reported beside the first. It goes first,
        // because a command that is not known changes what is known.
        if !self.variables.guessing
            && simple.words.iter().any(guessed)
            && let Some(slot) = self.reserve()
        {
            self.variables.guessing = true;
            let mark = self.variables.mark();
            let (command, _) = self.simple_once(simple, scope);
            self.variables.restore(mark);
            self.variables.guessing = false;
            self.fill(slot, vec![command]);
        }
        self.simple_once(simple, scope)
    }

    fn simple_once(&mut self, simple: &Simple, scope: &Scope<'_>) -> (Command, Option<Text>) {
        let mut command = Command::default();
        let mut own = Vec::new();
        for assignment in &simple.assignments {
            let (word, value) = self.assigned(assignment, scope);
            let name = assignment.name.clone();
            command.assignments.push(script::Assignment { name: name.clone(), value: word });
            if simple.words.is_empty() {
                self.variables.set(&name, value);
            } else {
                own.push((name, value));
            }
        }
        let mut fields = Vec::with_capacity(simple.words.len());
        for word in &simple.words {
            self.push_fields(word, scope, &mut fields);
        }
        let input = self.redirections(&simple.redirects, scope, &mut command);
        let feed = match input {
            Input::Inherited => scope.feed.clone(),
            Input::Text(text) => Some(text),
            Input::File => None,
        };
        let source = simple.span.rendered();
        if self.budget.output(source.len()) {
            command.source = source;
        }
        let writes = !command.writes.is_empty();
        let alias = self.alias(simple);
        let mut output = self.run(fields, &mut command, own, feed.clone());
        if let Some((name, text)) = alias {
            self.expanding.insert(name.clone());
            output = self.text(text, std::slice::from_ref(&name), false, feed);
            self.expanding.remove(&name);
        }
        if !writes {
            return (command, output);
        }
        self.written(simple, &command, output);
        (command, None)
    }

    /// Keeps what a file holds now, as a later command may run it.
    fn written(&mut self, simple: &Simple, command: &Command, output: Option<Text>) {
        let [script::Word::Literal(path)] = command.writes.as_slice() else { return };
        let mut redirects =
            simple.redirects.iter().filter(|redirect| matches!(redirect.target, Target::Write(_)));
        let Some(redirect) = redirects.next() else { return };
        let all = redirect.descriptor.as_deref().is_none_or(|descriptor| descriptor == "1");
        match output.filter(|text| all && self.budget.output(text.len())) {
            Some(text) if redirect.appends => self.files.entry(path.clone()).or_default().push(&text),
            Some(text) => {
                self.files.insert(path.clone(), text);
            }
            None => {
                self.files.remove(path);
            }
        }
    }

    /// What a file holds that the script wrote and runs now. A file that runs itself
    /// is followed a few times.
    pub(crate) fn file(&mut self, path: &str) -> Option<Text> {
        let text = self.files.get(path).or_else(|| self.files.get(path.strip_prefix("./")?))?.clone();
        self.file_runs = self.file_runs.checked_sub(1)?;
        Some(text)
    }

    /// Fills in the words of `command`, follows whatever it runs in turn, and
    /// says what it writes to its standard output when that is known.
    pub(crate) fn run(
        &mut self,
        fields: Vec<Field>,
        command: &mut Command,
        own: Vec<(String, Value)>,
        feed: Option<Text>,
    ) -> Option<Text> {
        let peeled = wrapper::peel(&fields);
        let via: usize = self.via.iter().chain(&peeled.via).map(|name| name.len() + 1).sum();
        let words = fields.len() + command.assignments.len() + command.reads.len() + command.writes.len();
        if !self.budget.words(words) || !self.budget.output(via) {
            return None;
        }
        command.via = self.via.iter().chain(&peeled.via).cloned().collect();
        let mut own = own;
        for (name, value) in peeled.assignments {
            let word = Field::new(value.clone()).resolved();
            command.assignments.push(script::Assignment { name: name.clone(), value: word });
            own.push((name, Value::Text(value)));
        }
        let mut argv = fields;
        argv.drain(..peeled.start);
        if peeled.appends
            && let Some(feed) = &feed
        {
            let (_, pieces, _) = feed.split();
            if self.budget.words(pieces.len()) && self.budget.output(feed.len()) {
                argv.extend(pieces.into_iter().map(Field::new));
            }
        }
        let mark = self.variables.mark();
        let assigns = !own.is_empty();
        for (name, value) in own {
            if let Value::Text(text) = &value {
                self.run_by_variable(&name, text);
            }
            self.variables.set(&name, value);
        }
        let depth = self.via.len();
        self.via.extend(peeled.via);
        let called = if peeled.start == 0 { self.function(&argv, feed.as_ref()) } else { None };
        let output = called.unwrap_or_else(|| self.reenter(&argv, feed));
        self.via.truncate(depth);
        if assigns {
            self.variables.blur_prefix(mark);
        }
        self.builtin(&argv);
        command.words = argv.into_iter().map(Field::into_resolved).collect();
        output
    }

    /// The value as a word of the result, and as the variable holds it.
    fn assigned(&mut self, assignment: &Assignment, scope: &Scope<'_>) -> (script::Word, Value) {
        if let [Part::Array(words)] = assignment.value.parts.as_slice() {
            let fields: Vec<_> = words.iter().flat_map(|word| self.fields(word, scope)).collect();
            let source = assignment.value.span.rendered();
            self.budget.output(source.len());
            let texts = fields.into_iter().map(|field| field.text).collect();
            let value = if assignment.whole { Value::List(texts) } else { Value::Unknown };
            return (script::Word::Computed(source), value);
        }
        let field = self.field(&assignment.value, scope);
        let value = if assignment.whole { Value::Text(field.text.clone()) } else { Value::Unknown };
        (field.resolved(), value)
    }

    pub(crate) fn redirections(
        &mut self,
        redirects: &[Redirect],
        scope: &Scope<'_>,
        command: &mut Command,
    ) -> Input {
        let mut input = Input::Inherited;
        for redirect in redirects {
            let standard_input = redirect.descriptor.as_deref().is_none_or(|descriptor| descriptor == "0");
            match &redirect.target {
                Target::Read(word) => {
                    let field = self.field(word, scope);
                    command.reads.push(field.resolved());
                    if standard_input {
                        input = field.file.map_or(Input::File, Input::Text);
                    }
                }
                Target::Write(word) => {
                    let field = self.field(word, scope);
                    command.writes.push(field.into_resolved());
                }
                Target::ReadWrite(word) => {
                    let field = self.field(word, scope);
                    command.reads.push(field.resolved());
                    command.writes.push(field.resolved());
                    if standard_input {
                        input = Input::File;
                    }
                }
                Target::Duplicate(word) => {
                    self.field(word, scope);
                }
                Target::Herestring(word) => {
                    let mut text = self.field(word, scope).text;
                    text.push_str("\n");
                    if standard_input {
                        command.stdin = Some(fed(&text));
                        input = Input::Text(text);
                    }
                }
                Target::Heredoc(index) => {
                    let Some(heredoc) = scope.heredocs.get(*index) else { continue };
                    let inner = Scope {
                        heredocs: heredoc.own.as_deref().unwrap_or(scope.heredocs),
                        names: scope.names,
                        feed: None,
                    };
                    let text = self.joined_text(&heredoc.parts, &inner);
                    if standard_input {
                        command.stdin = Some(fed(&text));
                        input = Input::Text(text);
                    }
                }
            }
        }
        input
    }

    /// The name and the text of the alias that the first word names.
    fn alias(&self, simple: &Simple) -> Option<(String, Text)> {
        let (first, rest) = simple.words.split_first()?;
        let name = first.bare()?;
        if self.expanding.contains(name) {
            return None;
        }
        let mut text = self.aliases.get(name)?.clone();
        for word in rest {
            text.push_str(" ");
            text.push(&word.span.slice());
        }
        Some((name.to_owned(), text))
    }

    /// What a builtin changes in the shell that runs it.
    fn builtin(&mut self, argv: &[Field]) {
        let Some((program, arguments)) = argv.split_first() else { return };
        match program.known() {
            Some("export" | "declare" | "typeset" | "local" | "readonly" | "integer") => {
                self.declare(arguments)
            }
            Some("read" | "mapfile" | "readarray" | "unset" | "getopts" | "let") => {
                self.forget_named(arguments)
            }
            Some("printf") if arguments.first().is_some_and(|first| first.text.raw().starts_with("-v")) => {
                self.forget_named(arguments);
            }
            Some("alias") => {
                for argument in arguments {
                    if let Some((name, value)) = argument.text.assignment() {
                        self.budget.output(value.len());
                        self.aliases.insert(name, value);
                    }
                }
            }
            Some("set") => {
                let separator = arguments.iter().position(|field| field.known() == Some("--"));
                if let Some(at) = separator {
                    self.positional(arguments.get(at + 1..).unwrap_or_default());
                } else if arguments.iter().any(|field| !field.text.raw().starts_with(['-', '+'])) {
                    self.forget_positional();
                }
            }
            Some("shift") => self.forget_positional(),
            Some("source" | "." | "eval") => {
                let whole =
                    program.known() == Some("eval") && arguments.iter().all(|field| field.known().is_some());
                if !whole {
                    self.variables.forget_all();
                }
            }
            // A program that is not known may be one of the above.
            None => self.variables.forget_all(),
            Some(_) => {}
        }
    }

    fn declare(&mut self, arguments: &[Field]) {
        for argument in arguments {
            if let Some((name, value)) = argument.text.assignment() {
                self.budget.output(value.len());
                self.variables.set(&name, Value::Text(value));
            } else if argument.known().is_none() {
                self.variables.forget_all();
            }
        }
    }

    fn forget_named(&mut self, arguments: &[Field]) {
        for argument in arguments {
            match argument.known() {
                Some(text) if text.starts_with('-') => {}
                Some(text) => {
                    for name in identifiers(text) {
                        self.variables.forget(&name);
                    }
                }
                None => self.variables.forget_all(),
            }
        }
    }

    /// An arithmetic expression may set the names in it.
    pub(crate) fn forget_assigned(&mut self, text: &str) {
        if text.contains('=') || text.contains("++") || text.contains("--") {
            for name in identifiers(text) {
                self.variables.forget(&name);
            }
        }
    }

    pub(crate) fn positional(&mut self, fields: &[Field]) {
        self.forget_positional();
        let texts: Vec<Text> = fields.iter().map(|field| field.text.clone()).collect();
        if !self.budget.output(texts.iter().map(|text| text.len() * 2).sum()) {
            return;
        }
        for (index, text) in texts.iter().take(9).enumerate() {
            self.variables.set(&(index + 1).to_string(), Value::Text(text.clone()));
        }
        for name in ["@", "*"] {
            self.variables.set(name, Value::List(texts.clone()));
        }
    }

    fn forget_positional(&mut self) {
        for name in ["1", "2", "3", "4", "5", "6", "7", "8", "9", "@", "*"] {
            self.variables.forget(name);
        }
    }

    /// What splits words; none when that is not known.
    pub(crate) fn separators(&self) -> Option<Cow<'static, str>> {
        if !self.variables.is_set("IFS") {
            return Some(Cow::Borrowed(" \t\n"));
        }
        match self.variables.get("IFS")? {
            Value::Text(text) => text.as_known().map(|text| Cow::Owned(text.to_owned())),
            Value::List(_) | Value::Unknown => None,
        }
    }
}

/// What a heredoc or a here-string feeds, as a guard sees it.
fn fed(text: &Text) -> script::Word {
    match text.as_known() {
        Some(known) => script::Word::Literal(known.to_owned()),
        None => script::Word::Computed(text.rendered()),
    }
}
