//! Brace expansion: `{a,b}` and `{1..3}`.

use crate::{limits::Budget, text::Text};

/// A part of a word with its expansions done, braces excepted.
#[derive(Debug, Clone)]
pub(crate) enum Piece {
    /// Written outside of quotes.
    Bare(String),
    /// Stays as it is.
    Fixed(Text),
    /// Came from an expansion outside of quotes, and splits at blanks.
    Split(Text),
    /// Words that stay apart, as those of `"$@"` do.
    Many(Vec<Text>),
}

impl Piece {
    fn len(&self) -> usize {
        match self {
            Self::Bare(text) => text.len(),
            Self::Fixed(text) | Self::Split(text) => text.len(),
            Self::Many(texts) => texts.iter().map(Text::len).sum(),
        }
    }
}

#[derive(Debug)]
enum Token {
    Open,
    Comma,
    Close,
    Piece(Piece),
}

/// How a brace is closed, and what it means.
#[derive(Debug, Clone)]
enum Meaning {
    Literal,
    /// Up to the closing token; the commas of this brace.
    Choice {
        close: usize,
        commas: Vec<usize>,
    },
    /// Up to the closing token; the texts of the sequence.
    Sequence {
        close: usize,
        texts: Vec<String>,
    },
}

const DEPTH: usize = 12;

/// The words that one word stands for.
pub(crate) fn expand(pieces: Vec<Piece>, budget: &mut Budget) -> Vec<Vec<Piece>> {
    let has_open = pieces.iter().any(|piece| matches!(piece, Piece::Bare(text) if text.contains('{')));
    if !has_open {
        return vec![pieces];
    }
    let tokens = tokens(&pieces);
    let Some(meanings) = meanings(&tokens, budget.braces()) else {
        budget.exhausted = true;
        return vec![pieces];
    };
    if !meanings.iter().any(|meaning| !matches!(meaning, Meaning::Literal)) {
        return vec![pieces];
    }
    match range(&tokens, &meanings, 0, tokens.len(), budget) {
        Some(words) => words,
        None => {
            budget.exhausted = true;
            vec![pieces]
        }
    }
}

fn tokens(pieces: &[Piece]) -> Vec<Token> {
    let mut tokens = Vec::new();
    for piece in pieces {
        let Piece::Bare(text) = piece else {
            tokens.push(Token::Piece(piece.clone()));
            continue;
        };
        let mut rest = text.as_str();
        while let Some(at) = rest.find(['{', ',', '}']) {
            let (before, after) = rest.split_at(at);
            if !before.is_empty() {
                tokens.push(Token::Piece(Piece::Bare(before.to_owned())));
            }
            tokens.push(match after.as_bytes().first() {
                Some(b'{') => Token::Open,
                Some(b',') => Token::Comma,
                _ => Token::Close,
            });
            rest = after.get(1..).unwrap_or_default();
        }
        if !rest.is_empty() {
            tokens.push(Token::Piece(Piece::Bare(rest.to_owned())));
        }
    }
    tokens
}

/// `None` when braces are nested too deep.
fn meanings(tokens: &[Token], limit: usize) -> Option<Vec<Meaning>> {
    let mut meanings = vec![Meaning::Literal; tokens.len()];
    let mut open: Vec<(usize, Vec<usize>, usize)> = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        match token {
            Token::Open => open.push((at, Vec::new(), 0)),
            Token::Comma => {
                if let Some((_, commas, _)) = open.last_mut() {
                    commas.push(at);
                }
            }
            Token::Close => {
                let Some((start, commas, height)) = open.pop() else { continue };
                let meaning = if commas.is_empty() {
                    sequence(tokens, start, at, limit)
                } else {
                    Meaning::Choice { close: at, commas }
                };
                let height = height + usize::from(!matches!(meaning, Meaning::Literal));
                if height > DEPTH {
                    return None;
                }
                if let Some((_, _, outer)) = open.last_mut() {
                    *outer = (*outer).max(height);
                }
                if let Some(slot) = meanings.get_mut(start) {
                    *slot = meaning;
                }
            }
            Token::Piece(_) => {}
        }
    }
    Some(meanings)
}

fn sequence(tokens: &[Token], open: usize, close: usize, limit: usize) -> Meaning {
    let Some([Token::Piece(Piece::Bare(text))]) = tokens.get(open + 1..close) else {
        return Meaning::Literal;
    };
    let mut ends = text.split("..");
    let (Some(first), Some(last), step, None) = (ends.next(), ends.next(), ends.next(), ends.next()) else {
        return Meaning::Literal;
    };
    let step = match step.map(str::parse::<i64>) {
        None => 1,
        Some(Ok(step)) => i64::try_from(step.unsigned_abs().max(1)).unwrap_or(i64::MAX),
        Some(Err(_)) => return Meaning::Literal,
    };
    let letter = |text: &str| match text.as_bytes() {
        [byte] if byte.is_ascii_alphabetic() => Some(i64::from(*byte)),
        _ => None,
    };
    let (from, to, letters) = match (first.parse::<i64>(), last.parse::<i64>(), letter(first), letter(last)) {
        (Ok(from), Ok(to), _, _) => (from, to, false),
        (_, _, Some(from), Some(to)) => (from, to, true),
        _ => return Meaning::Literal,
    };
    let mut texts = Vec::new();
    let mut at = from;
    // One more than the limit, so that going past it shows.
    while texts.len() <= limit && (if from <= to { at <= to } else { at >= to }) {
        texts.push(match (letters, u8::try_from(at)) {
            (true, Ok(byte)) => char::from(byte).to_string(),
            _ => at.to_string(),
        });
        let Some(next) = (if from <= to { at.checked_add(step) } else { at.checked_sub(step) }) else {
            break;
        };
        at = next;
    }
    Meaning::Sequence { close, texts }
}

/// `None` when a limit was passed.
fn range(
    tokens: &[Token],
    meanings: &[Meaning],
    from: usize,
    to: usize,
    budget: &mut Budget,
) -> Option<Vec<Vec<Piece>>> {
    let mut words: Vec<Vec<Piece>> = vec![Vec::new()];
    let mut at = from;
    while at < to {
        let mut next = at + 1;
        let choices: Vec<Vec<Piece>> = match (tokens.get(at)?, meanings.get(at)?) {
            (Token::Open, Meaning::Choice { close, commas }) => {
                let mut choices = Vec::new();
                let mut start = at + 1;
                for stop in commas.iter().chain(std::iter::once(close)) {
                    choices.extend(range(tokens, meanings, start, *stop, budget)?);
                    start = stop + 1;
                }
                next = close + 1;
                choices
            }
            (Token::Open, Meaning::Sequence { close, texts }) => {
                next = close + 1;
                texts.iter().map(|text| vec![Piece::Bare(text.clone())]).collect()
            }
            (Token::Open, Meaning::Literal) => vec![vec![Piece::Bare("{".to_owned())]],
            (Token::Comma, _) => vec![vec![Piece::Bare(",".to_owned())]],
            (Token::Close, _) => vec![vec![Piece::Bare("}".to_owned())]],
            (Token::Piece(piece), _) => vec![vec![piece.clone()]],
        };
        words = product(words, &choices, budget)?;
        at = next;
    }
    Some(words)
}

fn product(words: Vec<Vec<Piece>>, choices: &[Vec<Piece>], budget: &mut Budget) -> Option<Vec<Vec<Piece>>> {
    if words.len().saturating_mul(choices.len()) > budget.braces() {
        return None;
    }
    let added: usize = choices.iter().flatten().map(|piece| piece.len() + 1).sum();
    if !budget.output(added.saturating_mul(words.len())) {
        return None;
    }
    // The common case copies nothing.
    if let [only] = choices {
        let mut words = words;
        for word in &mut words {
            word.extend(only.iter().cloned());
        }
        return Some(words);
    }
    let held: usize = words.iter().flatten().map(|piece| piece.len() + 1).sum();
    if !budget.output(held.saturating_mul(choices.len())) {
        return None;
    }
    let pairs = words.iter().flat_map(|word| choices.iter().map(move |choice| (word, choice)));
    Some(pairs.map(|(word, choice)| word.iter().chain(choice).cloned().collect()).collect())
}
