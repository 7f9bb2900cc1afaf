//! Follows a tree in source order and writes down what can run.

use std::collections::{HashMap, HashSet};

use portcullis_model::script::Command;

use crate::{
    command::Input,
    expand::Field,
    limits::Budget,
    syntax::{Compound, Heredoc, Join, Kind, List, Loop, Part, Redirect, Simple, Stage, Target, Word},
    text::Text,
    variable::{Value, Variables},
};

/// A loop over more words is followed once, without a value.
const ROUNDS_MAX: usize = 8;
/// So are loops when this many rounds were followed.
const ROUNDS_IN_ALL: usize = 256;

/// Runs of files that the script wrote itself.
const FILE_RUNS_MAX: usize = 16;

/// What a word of a loop stands for, when that is no list of files.
fn is_plain(word: &Word, fields: &[Field]) -> bool {
    let quoted = word.parts.iter().all(|part| matches!(part, Part::Quoted(_)));
    fields.iter().all(|field| field.known().is_some_and(|text| quoted || !text.contains(['*', '?', '['])))
}

/// `curl x > >(sh)` and `curl x | tee >(sh)` are pipelines in another spelling.
fn writes_to_process(simple: &Simple) -> bool {
    let process = |word: &Word| {
        let is = |part: &Part| matches!(part, Part::Process { span, .. } if span.raw().starts_with('>'));
        word.parts.iter().any(is)
    };
    let target = |redirect: &Redirect| matches!(&redirect.target, Target::Write(word) if process(word));
    simple.words.iter().any(process) || simple.redirects.iter().any(target)
}

/// What surrounds a list while it is followed.
#[derive(Debug, Clone)]
pub(crate) struct Scope<'t> {
    pub(crate) heredocs: &'t [Heredoc],
    /// The names that the tree sets, which its loops and functions point into.
    pub(crate) names: &'t [String],
    /// What a reader without an input of its own reads.
    pub(crate) feed: Option<Text>,
}

impl Scope<'_> {
    pub(crate) fn without_feed(&self) -> Self {
        self.with_feed(None)
    }

    fn with_feed(&self, feed: Option<Text>) -> Self {
        Self { heredocs: self.heredocs, names: self.names, feed }
    }
}

/// A function that the script defines.
#[derive(Debug)]
pub(crate) struct Function {
    pub(crate) body: Text,
    /// A call may make something of the body that was not seen without one.
    pub(crate) open: bool,
}

/// One pipeline of the result.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) commands: Vec<Command>,
    /// Which of them stand for a compound command, and have a pipeline of their own.
    copies: Vec<usize>,
}

#[derive(Debug)]
pub(crate) struct Walker<'b> {
    pub(crate) budget: &'b mut Budget,
    pub(crate) variables: Variables,
    pub(crate) aliases: HashMap<String, Text>,
    /// The aliases that the script gives git.
    pub(crate) git_aliases: HashMap<String, Text>,
    /// The bodies of the functions that the script defines.
    pub(crate) functions: HashMap<String, Function>,
    /// The body of a function is followed that nobody has called yet.
    pub(crate) defining: bool,
    /// Rounds of loops that may still be followed one by one.
    pub(crate) rounds_left: usize,
    /// What the script has written to files.
    pub(crate) files: HashMap<String, Text>,
    /// How often such a file may still be run.
    pub(crate) file_runs: usize,
    /// Bytes of bodies that calls may still follow.
    pub(crate) replays: usize,
    /// The aliases and functions that are being expanded.
    pub(crate) expanding: HashSet<String>,
    pub(crate) pipelines: Vec<Found>,
    /// What wraps the commands at hand, outermost first.
    pub(crate) via: Vec<String>,
    /// Levels of nesting that are left.
    pub(crate) depth: usize,
    pub(crate) broken: bool,
    /// The levels of nesting ran out somewhere.
    pub(crate) cut_short: bool,
}

impl<'b> Walker<'b> {
    pub(crate) fn new(budget: &'b mut Budget) -> Self {
        let depth = budget.depth();
        Self {
            budget,
            variables: Variables::default(),
            aliases: HashMap::new(),
            git_aliases: HashMap::new(),
            functions: HashMap::new(),
            defining: false,
            rounds_left: ROUNDS_IN_ALL,
            files: HashMap::new(),
            file_runs: FILE_RUNS_MAX,
            replays: 0,
            expanding: HashSet::new(),
            pipelines: Vec::new(),
            via: Vec::new(),
            depth,
            broken: false,
            cut_short: false,
        }
    }

    /// Follows a list; what it writes to its standard output, when that is known.
    pub(crate) fn list(&mut self, list: &List, scope: &Scope<'_>) -> Option<Text> {
        let mut output = Some(Text::default());
        for pipe in &list.pipes {
            let mark = self.variables.mark();
            let text = self.pipeline(&pipe.stages, scope);
            if pipe.background {
                self.variables.restore(mark);
            } else if pipe.join != Join::Always {
                self.variables.blur(mark);
            }
            output = match (output, text) {
                (Some(mut all), Some(text)) if pipe.join != Join::Or && !pipe.background => {
                    all.push(&text);
                    Some(all)
                }
                _ => None,
            };
        }
        output
    }

    pub(crate) fn pipeline(&mut self, stages: &[Stage], scope: &Scope<'_>) -> Option<Text> {
        if let [Stage::Compound(compound)] = stages {
            return self.deeper(|walker| walker.compound(compound, scope)).flatten();
        }
        let slot = self.reserve()?;
        let (mut commands, mut copies) = (Vec::new(), Vec::new());
        let mut feed = scope.feed.clone();
        for (index, stage) in stages.iter().enumerate() {
            let mark = self.variables.mark();
            let inner = scope.with_feed(feed.take());
            feed = match stage {
                Stage::Simple(simple) => {
                    let from = self.pipelines.len();
                    let (command, output) = self.simple(simple, &inner);
                    commands.push(command);
                    if writes_to_process(simple) {
                        self.adopt(from, &mut commands, &mut copies);
                    }
                    output
                }
                Stage::Compound(compound) => {
                    let from = self.pipelines.len();
                    let output = self.deeper(|walker| walker.compound(compound, &inner)).flatten();
                    self.adopt(from, &mut commands, &mut copies);
                    output
                }
            };
            if stages.len() > 1 {
                // Some shells run the last stage themselves, so it may or may not count.
                if index + 1 == stages.len() {
                    self.variables.blur(mark)
                } else {
                    self.variables.restore(mark)
                }
            }
        }
        self.fill(slot, commands);
        if let Some(found) = self.pipelines.get_mut(slot) {
            found.copies = copies;
        }
        feed
    }

    /// The commands of a compound stage stand for it in its pipeline, so that
    /// `{ curl x; } | sh` shows the one next to the other.
    fn adopt(&mut self, from: usize, commands: &mut Vec<Command>, copies: &mut Vec<usize>) {
        let inner = self.pipelines.get(from..).unwrap_or_default();
        for found in inner {
            for (index, command) in found.commands.iter().enumerate() {
                // What an inner pipeline only stands for is met again further on.
                if found.copies.binary_search(&index).is_ok() {
                    continue;
                }
                if !self.budget.words(command.words.len() + 1) || !self.budget.output(command.source.len()) {
                    return;
                }
                copies.push(commands.len());
                commands.push(command.clone());
            }
        }
    }

    /// A place for a pipeline, ahead of those that are found inside it.
    pub(crate) fn reserve(&mut self) -> Option<usize> {
        if !self.budget.pipeline() {
            return None;
        }
        self.pipelines.push(Found::default());
        Some(self.pipelines.len() - 1)
    }

    pub(crate) fn fill(&mut self, slot: usize, commands: Vec<Command>) {
        if let Some(pipeline) = self.pipelines.get_mut(slot) {
            pipeline.commands = commands;
        }
    }

    /// Runs `inner` one level deeper; `None` when there is no level left.
    pub(crate) fn deeper<T>(&mut self, inner: impl FnOnce(&mut Self) -> T) -> Option<T> {
        let Some(depth) = self.depth.checked_sub(1) else {
            self.cut_short = true;
            return None;
        };
        self.depth = depth;
        let out = inner(self);
        self.depth += 1;
        Some(out)
    }

    /// Runs `inner` as a process of its own, whose changes do not last.
    pub(crate) fn in_child<T>(&mut self, inner: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        let mark = self.variables.mark();
        let out = self.deeper(inner).flatten();
        self.variables.restore(mark);
        out
    }

    /// Runs `inner`, of which it is not known whether it runs.
    fn perhaps(&mut self, inner: impl FnOnce(&mut Self)) {
        let mark = self.variables.mark();
        inner(self);
        self.variables.blur(mark);
    }

    fn compound(&mut self, compound: &Compound, scope: &Scope<'_>) -> Option<Text> {
        let mut own = Command::default();
        let slot = if compound.redirects.is_empty() { None } else { self.reserve() };
        let input = self.redirections(&compound.redirects, scope, &mut own);
        let writes = !own.writes.is_empty();
        if let Some(slot) = slot {
            own.source = compound.tail.rendered();
            own.via.clone_from(&self.via);
            self.fill(slot, vec![own]);
        }
        let scope = match input {
            Input::Inherited => scope.clone(),
            Input::Text(text) => scope.with_feed(Some(text)),
            Input::File => scope.without_feed(),
        };
        let output = self.kind(compound, &scope);
        if writes { None } else { output }
    }

    fn kind(&mut self, compound: &Compound, scope: &Scope<'_>) -> Option<Text> {
        match &compound.kind {
            Kind::Group(list) => self.list(list, scope),
            Kind::Subshell(list) => self.in_child(|walker| walker.list(list, scope)),
            Kind::If(lists) => {
                for (index, list) in lists.iter().enumerate() {
                    if index == 0 {
                        self.list(list, scope);
                    } else {
                        self.perhaps(|walker| {
                            walker.list(list, scope);
                        });
                    }
                }
                None
            }
            Kind::Loop(each) => {
                self.each(each, scope);
                None
            }
            Kind::Case { subject, arms } => {
                self.field(subject, scope);
                for (patterns, list) in arms {
                    for pattern in patterns {
                        self.field(pattern, scope);
                    }
                    self.perhaps(|walker| {
                        walker.list(list, scope);
                    });
                }
                None
            }
            Kind::Function { name, body, names } => {
                let names = scope.names.get(names.clone()).unwrap_or_default();
                self.define(name, body, names, scope);
                Some(Text::default())
            }
            Kind::Test(words) => {
                self.test(compound, words, scope);
                Some(Text::default())
            }
            Kind::Arithmetic(parts, span) => {
                self.joined_text(parts, scope);
                self.forget_assigned(span.raw());
                Some(Text::default())
            }
            Kind::Coprocess(stage) => {
                let stages = std::slice::from_ref(&**stage);
                self.in_child(|walker| walker.pipeline(stages, &scope.without_feed()));
                None
            }
        }
    }

    fn each(&mut self, each: &Loop, scope: &Scope<'_>) {
        // A later round sees what an earlier one set.
        for name in scope.names.get(each.names.clone()).unwrap_or_default() {
            self.variables.forget(name);
        }
        self.joined_text(&each.header, scope);
        if let Some((name, Some(words))) = &each.variable {
            let mut fields = Vec::new();
            let mut plain = true;
            for word in words {
                let from = fields.len();
                self.push_fields(word, scope, &mut fields);
                plain &= is_plain(word, fields.get(from..).unwrap_or_default());
            }
            match fields.as_slice() {
                [field] if plain => self.variables.set(name, Value::Text(field.text.clone())),
                many if many.len() <= ROUNDS_MAX && plain && many.len() <= self.rounds_left => {
                    self.rounds_left -= many.len();
                    return self.rounds(name, many, &each.lists, scope);
                }
                _ => {}
            }
        }
        self.perhaps(|walker| {
            for list in &each.lists {
                walker.list(list, scope);
            }
        });
    }

    /// Follows a short loop round by round.
    fn rounds(&mut self, name: &str, words: &[Field], lists: &[List], scope: &Scope<'_>) {
        for field in words {
            self.perhaps(|walker| {
                walker.variables.set(name, Value::Text(field.text.clone()));
                for list in lists {
                    walker.list(list, scope);
                }
            });
        }
    }

    /// `[[ ... ]]` is reported as the command that it nearly is.
    fn test(&mut self, compound: &Compound, words: &[Word], scope: &Scope<'_>) {
        let Some(slot) = self.reserve() else { return };
        let fields: Vec<_> = words.iter().map(|word| self.field(word, scope)).collect();
        let mut command = Command { source: compound.span.rendered(), ..Command::default() };
        if self.budget.words(fields.len() + 2) && self.budget.output(command.source.len()) {
            let bracket = |text: &str| portcullis_model::script::Word::Literal(text.to_owned());
            command.words.push(bracket("[["));
            command.words.extend(fields.iter().map(Field::resolved));
            command.words.push(bracket("]]"));
            command.via.clone_from(&self.via);
            self.fill(slot, vec![command]);
        }
    }
}
