//! The arguments of a command: its options, and what is left.

use portcullis_model::script::Word;

/// Options and operands, as most programs read them.
#[derive(Debug, Default)]
pub(super) struct Arguments<'a> {
    pub(super) operands: Vec<&'a Word>,
    options: Vec<(String, Option<Word>)>,
}

impl<'a> Arguments<'a> {
    /// Reads `words`. `valued` names the options that take the next word, between
    /// blanks: a letter as `-t`, a name as `--target-directory`.
    pub(super) fn read(words: &'a [Word], valued: &str) -> Self {
        let takes = |option: &str| valued.split(' ').any(|name| name == option);
        let mut read = Self::default();
        let mut rest = words.iter();
        while let Some(word) = rest.next() {
            match word.literal() {
                Some("--") => {
                    read.operands.extend(rest.by_ref());
                }
                Some(text) if text.starts_with("--") => match text.split_once('=') {
                    Some((name, value)) => read.option(name, Some(Word::Literal(value.to_owned()))),
                    None if takes(text) => read.option(text, rest.next().cloned()),
                    None => read.option(text, None),
                },
                Some(text) if text.starts_with('-') && text.len() > 1 => {
                    // A word such as `-delete` is an option of its own as well.
                    read.option(text, None);
                    for (at, letter) in text.char_indices().skip(1) {
                        let name = format!("-{letter}");
                        if !takes(&name) {
                            read.option(&name, None);
                            continue;
                        }
                        let value = text.get(at.saturating_add(letter.len_utf8())..).unwrap_or_default();
                        let joined = (!value.is_empty()).then(|| Word::Literal(value.to_owned()));
                        let value = joined.or_else(|| rest.next().cloned());
                        read.option(&name, value);
                        break;
                    }
                }
                _ => read.operand(word),
            }
        }
        read
    }

    fn option(&mut self, name: &str, value: Option<Word>) {
        self.options.push((name.to_owned(), value));
    }

    /// `--output="$HOME/x"` is computed, and its option is known.
    fn operand(&mut self, word: &'a Word) {
        if let Word::Computed(text) = word
            && text.starts_with("--")
            && let Some((name, value)) = text.split_once('=')
        {
            return self.option(name, Some(Word::Computed(value.to_owned())));
        }
        self.operands.push(word);
    }

    /// Is any of the options `names` there?
    pub(super) fn has(&self, names: &[&str]) -> bool {
        self.options.iter().any(|(own, _)| names.contains(&own.as_str()))
    }

    /// The values of the options `names`.
    pub(super) fn values(&self, names: &[&str]) -> impl Iterator<Item = &Word> {
        self.options
            .iter()
            .filter(|(own, _)| names.contains(&own.as_str()))
            .filter_map(|(_, value)| value.as_ref())
    }
}

/// The text of a word as it is written.
pub(super) fn written(word: &Word) -> &str {
    match word {
        Word::Literal(text) | Word::Computed(text) => text,
    }
}

/// What `word` names below `directory`.
pub(super) fn below(directory: &Word, word: &Word) -> Word {
    let text = written(word).trim_start_matches(['"', '\'']);
    if text.starts_with(['/', '~', '$']) {
        return word.clone();
    }
    let text = format!("{}/{text}", written(directory));
    match (directory, word) {
        (Word::Literal(_), Word::Literal(_)) => Word::Literal(text),
        _ => Word::Computed(text),
    }
}

/// The last name of a word, when it is known.
pub(super) fn last_name(word: &Word) -> Option<&str> {
    let text = written(word).trim_end_matches(['/', '"', '\'']);
    let name = text.rsplit('/').next()?;
    let plain = matches!(word, Word::Literal(_)) || !name.contains(['$', '`', ')', '}']);
    (plain && !matches!(name, "" | "." | "..")).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::{Arguments, below, last_name, written};
    use portcullis_model::script::Word;

    fn words(text: &str) -> Vec<Word> {
        text.split(' ').map(|word| Word::Literal(word.to_owned())).collect()
    }

    #[test]
    fn options_with_values_are_no_operands() {
        let words = words("-rt d --suffix=x --backup y -abc -- -z");
        let read = Arguments::read(&words, "-t --target-directory");
        let operands: Vec<&str> = read.operands.iter().map(|word| written(word)).collect();
        assert_eq!(operands, ["y", "-z"]);
        assert_eq!(read.values(&["-t"]).map(written).collect::<Vec<_>>(), ["d"]);
        assert!(read.has(&["-r"]) && read.has(&["-b"]) && read.has(&["-abc"]) && !read.has(&["-z"]));
    }

    #[test]
    fn a_path_below_a_directory_keeps_what_is_known() {
        let literal = |text: &str| Word::Literal(text.to_owned());
        assert_eq!(below(&literal("d"), &literal("x")), literal("d/x"));
        assert_eq!(below(&literal("d"), &literal("/x")), literal("/x"));
        assert_eq!(below(&Word::Computed("\"$H\"".into()), &literal("x")), Word::Computed("\"$H\"/x".into()));
        assert_eq!(last_name(&Word::Computed("\"$H/a.json\"".into())), Some("a.json"));
        assert_eq!(last_name(&Word::Computed("\"$H\"".into())), None);
    }
}
