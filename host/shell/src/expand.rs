//! Words to fields: what the shell does to a word before it runs the command.

use portcullis_model::script::Word as Resolved;

use crate::{
    brace::{self, Piece},
    syntax::{Body, Operator, OperatorKind, Part, Variable, Word},
    text::Text,
    transform,
    variable::Value,
    walk::{Scope, Walker},
};

/// One argument.
#[derive(Debug, Clone)]
pub(crate) struct Field {
    pub(crate) text: Text,
    /// How the word was written, when the field is the whole of it.
    source: Option<String>,
    /// What a process substitution holds, when it is known.
    pub(crate) file: Option<Text>,
}

impl Field {
    pub(crate) fn new(text: Text) -> Self {
        Self { text, source: None, file: None }
    }

    pub(crate) fn known(&self) -> Option<&str> {
        self.text.as_known()
    }

    pub(crate) fn into_resolved(self) -> Resolved {
        match (self.text.into_known(), self.source) {
            (Ok(text), _) => Resolved::Literal(text),
            (Err(_), Some(source)) => Resolved::Computed(source),
            (Err(text), None) => Resolved::Computed(text.rendered()),
        }
    }

    pub(crate) fn resolved(&self) -> Resolved {
        match (self.text.as_known(), &self.source) {
            (Some(text), _) => Resolved::Literal(text.to_owned()),
            (None, Some(source)) => Resolved::Computed(source.clone()),
            (None, None) => Resolved::Computed(self.text.rendered()),
        }
    }
}

impl Walker<'_> {
    /// A word among the arguments of a command: it may become any number of fields.
    pub(crate) fn fields(&mut self, word: &Word, scope: &Scope<'_>) -> Vec<Field> {
        let mut fields = Vec::new();
        self.push_fields(word, scope, &mut fields);
        fields
    }

    /// The same, put behind those that are there.
    pub(crate) fn push_fields(&mut self, word: &Word, scope: &Scope<'_>, all: &mut Vec<Field>) {
        // Most words are just themselves.
        if let Some(text) = literal(&word.parts, true) {
            self.budget.output(text.len());
            all.push(Field::new(Text::known(text)));
            return;
        }
        let mut file = None;
        let pieces = self.pieces(&word.parts, scope, &mut file);
        let words = brace::expand(pieces, self.budget);
        let mut fields = Vec::new();
        let separators = self.separators();
        for pieces in words {
            assemble(pieces, separators.as_deref(), &mut fields);
        }
        let written: usize = fields.iter().map(|field| field.text.len()).sum();
        self.budget.output(written);
        if let [field] = fields.as_mut_slice() {
            field.file = file;
            if field.known().is_none() {
                let source = word.span.rendered();
                self.budget.output(source.len());
                field.source = Some(source);
            }
        }
        all.append(&mut fields);
    }

    /// A word that stays one: the value of an assignment, the target of a redirection.
    pub(crate) fn field(&mut self, word: &Word, scope: &Scope<'_>) -> Field {
        if let Some(text) = literal(&word.parts, false) {
            self.budget.output(text.len());
            return Field::new(Text::known(text));
        }
        let mut file = None;
        let pieces = self.pieces(&word.parts, scope, &mut file);
        let text = joined(pieces);
        self.budget.output(text.len());
        let source = text.as_known().is_none().then(|| word.span.rendered());
        Field { text, source, file }
    }

    /// The text of parts that stay together, as those of a heredoc do.
    pub(crate) fn joined_text(&mut self, parts: &[Part], scope: &Scope<'_>) -> Text {
        let text = joined(self.pieces(parts, scope, &mut None));
        self.budget.output(text.len());
        text
    }

    fn pieces(&mut self, parts: &[Part], scope: &Scope<'_>, file: &mut Option<Text>) -> Vec<Piece> {
        let mut pieces = Vec::with_capacity(parts.len());
        for part in parts {
            match part {
                Part::Bare(text) => pieces.push(Piece::Bare(text.clone())),
                Part::Quoted(text) => pieces.push(Piece::Fixed(Text::known(text.as_str()))),
                Part::Hole { source } => pieces.push(Piece::Fixed(Text::hole(source))),
                Part::Variable(variable) => {
                    let piece = self.variable(variable, scope);
                    pieces.push(piece);
                }
                Part::Command { body, quoted, span } => {
                    let output = self.substitution(body, scope);
                    pieces.push(match output.map(Text::trimmed) {
                        Some(text) if *quoted => Piece::Fixed(text),
                        Some(text) => Piece::Split(text),
                        None => Piece::Fixed(Text::hole(&span.rendered())),
                    });
                }
                Part::Process { body, span } => {
                    *file = self.in_child(|walker| walker.list(body, &scope.without_feed()));
                    pieces.push(Piece::Fixed(Text::hole(&span.rendered())));
                }
                Part::Other { inner, quoted, span } => {
                    self.pieces(inner, scope, &mut None);
                    let value = transform::value(span.raw(), &self.variables)
                        .filter(|text| self.budget.output(text.len() + transform::COST));
                    self.forget_assigned(span.raw());
                    pieces.push(match value {
                        Some(text) if *quoted => Piece::Fixed(text),
                        Some(text) => Piece::Split(text),
                        None => Piece::Fixed(Text::hole(&span.rendered())),
                    });
                }
                Part::Array(words) => {
                    for word in words {
                        self.fields(word, scope);
                    }
                    pieces.push(Piece::Fixed(Text::hole("(...)")));
                }
            }
        }
        pieces
    }

    fn substitution(&mut self, body: &Body, scope: &Scope<'_>) -> Option<Text> {
        match body {
            Body::List(list) => self.in_child(|walker| walker.list(list, &scope.without_feed())),
            Body::Tree(tree) => {
                let scope = Scope { heredocs: &tree.heredocs, names: &tree.names, feed: None };
                self.in_child(|walker| walker.list(&tree.list, &scope))
            }
        }
    }

    fn variable(&mut self, variable: &Variable, scope: &Scope<'_>) -> Piece {
        let word = variable.operator.as_ref().map(|operator| {
            let pieces = self.pieces(&operator.word, scope, &mut None);
            (operator, joined(pieces))
        });
        let value = self.variables.get(&variable.name);
        let chosen = match (value, word) {
            (value, None) => value.cloned(),
            (value, Some((operator, word))) => choose(value, operator, word),
        };
        if let Some(Operator { kind: OperatorKind::Assign, .. }) = variable.operator {
            self.variables.set(&variable.name, chosen.clone().unwrap_or(Value::Unknown));
        }
        let unknown = || Piece::Fixed(Text::hole(&variable.span.rendered()));
        match chosen {
            None | Some(Value::Unknown) => unknown(),
            Some(Value::Text(text)) => {
                if !self.budget.output(text.len()) {
                    return unknown();
                }
                if variable.quoted { Piece::Fixed(text) } else { Piece::Split(text) }
            }
            Some(Value::List(texts)) => {
                if !self.budget.output(texts.iter().map(|text| text.len() + 1).sum()) {
                    return unknown();
                }
                match (variable.all, texts.into_iter()) {
                    (true, texts) => Piece::Many(texts.collect()),
                    (false, mut texts) => texts.next().map_or_else(unknown, Piece::Fixed),
                }
            }
        }
    }
}

/// The text of parts that hold nothing to be expanded; braces count when they are
/// expanded here.
fn literal(parts: &[Part], braces: bool) -> Option<String> {
    let plain = |part: &Part| match part {
        Part::Bare(text) => !(braces && text.contains('{')),
        Part::Quoted(_) => true,
        Part::Variable(_)
        | Part::Command { .. }
        | Part::Process { .. }
        | Part::Other { .. }
        | Part::Hole { .. }
        | Part::Array(_) => false,
    };
    match parts {
        [one] if plain(one) => one.literal().map(str::to_owned),
        many if many.iter().all(plain) => Some(many.iter().filter_map(Part::literal).collect()),
        _ => None,
    }
}

fn choose(value: Option<&Value>, operator: &Operator, word: Text) -> Option<Value> {
    let empty = match value {
        Some(Value::Unknown) => return None,
        Some(Value::Text(text)) => operator.colon && text.is_empty(),
        Some(Value::List(texts)) => texts.is_empty(),
        // Nothing in the script sets it. The environment might, but a script
        // that gives a default expects to need it.
        None => true,
    };
    match (operator.kind, empty, value) {
        (OperatorKind::Default | OperatorKind::Assign, true, _) => Some(Value::Text(word)),
        (OperatorKind::Alternative, false, _) => Some(Value::Text(word)),
        (OperatorKind::Alternative, true, Some(_)) => Some(Value::Text(Text::default())),
        (OperatorKind::Alternative, true, None) => None,
        (OperatorKind::Default | OperatorKind::Assign | OperatorKind::Required, false, _) => value.cloned(),
        (OperatorKind::Required, true, _) => None,
    }
}

fn joined(pieces: Vec<Piece>) -> Text {
    let mut out = Text::default();
    for piece in pieces {
        match piece {
            Piece::Bare(text) => out.push_str(&text),
            Piece::Fixed(text) | Piece::Split(text) => out.push(&text),
            Piece::Many(texts) => {
                for (index, text) in texts.iter().enumerate() {
                    if index > 0 {
                        out.push_str(" ");
                    }
                    out.push(text);
                }
            }
        }
    }
    out
}

fn assemble(pieces: Vec<Piece>, separators: Option<&str>, fields: &mut Vec<Field>) {
    let mut current: Option<Text> = None;
    for piece in pieces {
        match piece {
            Piece::Bare(text) => current.get_or_insert_default().push_str(&text),
            Piece::Fixed(text) => current.get_or_insert_default().push(&text),
            Piece::Split(text) => {
                let Some(separators) = separators else {
                    current.get_or_insert_default().push_hole(&text.rendered());
                    continue;
                };
                let (front, parts, back) = text.split_at(separators);
                if front {
                    fields.extend(current.take().map(Field::new));
                }
                join(parts, &mut current, fields);
                if back {
                    fields.extend(current.take().map(Field::new));
                }
            }
            Piece::Many(texts) => join(texts, &mut current, fields),
        }
    }
    fields.extend(current.map(Field::new));
}

/// The first text goes on with the current field, the last one stays open.
fn join(texts: Vec<Text>, current: &mut Option<Text>, fields: &mut Vec<Field>) {
    for (index, text) in texts.into_iter().enumerate() {
        if index > 0 {
            fields.extend(current.take().map(Field::new));
        }
        current.get_or_insert_default().push(&text);
    }
}
