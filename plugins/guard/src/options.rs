//! A command's options, read as `getopt` reads them.

use portcullis_sdk::Word;

use crate::computed;

/// The options and operands of one command. Words that only the shell can
/// compute are kept apart.
#[derive(Debug, Default)]
pub(crate) struct Options<'a> {
    short: Vec<char>,
    long: Vec<&'a str>,
    pub(crate) operands: Vec<&'a str>,
    pub(crate) computed: Vec<&'a str>,
    /// There is a `--`.
    pub(crate) ended: bool,
    /// Something stands behind it.
    pub(crate) has_rest: bool,
}

impl<'a> Options<'a> {
    /// `valued` are the options that take a value: short letters, and long names
    /// whose value may be the next word.
    pub(crate) fn of(words: &'a [Word], short_valued: &str, long_valued: &[&str]) -> Self {
        let mut options = Self::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match word {
                Word::Literal(text) if text == "--" => {
                    options.rest(words.as_slice());
                    break;
                }
                Word::Literal(text) => {
                    if options.take(text, short_valued, long_valued) {
                        words.next();
                    }
                }
                Word::Computed(source) => {
                    options.computed.push(source);
                    // `${FORCE:---force}` is an option when nothing else is known.
                    let fallback = computed::fallback(source).unwrap_or_default();
                    for option in fallback.split_whitespace().filter(|option| option.starts_with('-')) {
                        options.take(option, short_valued, long_valued);
                    }
                }
            }
        }
        options
    }

    fn rest(&mut self, words: &'a [Word]) {
        (self.ended, self.has_rest) = (true, !words.is_empty());
        for word in words {
            match word {
                Word::Literal(text) => self.operands.push(text),
                Word::Computed(source) => self.computed.push(source),
            }
        }
    }

    /// Reads one word; whether the next one is its value.
    fn take(&mut self, text: &'a str, short_valued: &str, long_valued: &[&str]) -> bool {
        if let Some(long) = text.strip_prefix("--") {
            let (name, value) = long.split_once('=').map_or((long, None), |(n, v)| (n, Some(v)));
            self.long.push(name);
            return value.is_none() && long_valued.contains(&name);
        }
        let Some(bundle) = text.strip_prefix('-').filter(|bundle| !bundle.is_empty()) else {
            self.operands.push(text);
            return false;
        };
        let mut letters = bundle.chars();
        while let Some(letter) = letters.next() {
            self.short.push(letter);
            if short_valued.contains(letter) {
                // The rest of the bundle is its value, or else the next word.
                return letters.as_str().is_empty();
            }
        }
        false
    }

    pub(crate) fn has_short(&self, letter: char) -> bool {
        self.short.contains(&letter)
    }

    /// Whether a long option is set, in full or abbreviated to at least `min`
    /// characters, as `getopt_long` and git accept it.
    pub(crate) fn has_long(&self, name: &str, min: usize) -> bool {
        self.long.iter().any(|given| given.len() >= min && name.starts_with(given))
    }

    /// Whether the operands begin with these words.
    pub(crate) fn begins(&self, words: &[&str]) -> bool {
        self.operands.starts_with(words)
    }
}

#[cfg(test)]
mod tests {
    use portcullis_sdk::Word;
    use portcullis_sdk::testing::command;

    use super::Options;

    #[test]
    fn options_are_told_from_operands() {
        let command = command("rm a -rf --force=x - -- -v --recursive");
        let options = Options::of(command.args(), "", &[]);
        assert!(options.has_short('r') && options.has_short('f') && !options.has_short('v'));
        assert!(options.has_long("force", 1) && !options.has_long("recursive", 1));
        assert_eq!(options.operands, ["a", "-", "-v", "--recursive"]);
        assert!(options.has_rest && options.begins(&["a", "-"]));
    }

    #[test]
    fn the_value_of_an_option_is_no_option() {
        let command = command("git -ef -e -f --exclude -n --exclude=-d x");
        let options = Options::of(command.args(), "e", &["exclude"]);
        assert!(!options.has_short('f') && !options.has_short('n') && !options.has_short('d'));
        assert_eq!(options.operands, ["x"]);
    }

    #[test]
    fn an_abbreviation_needs_enough_letters() {
        let command = command("rm --rec x");
        let options = Options::of(command.args(), "", &[]);
        assert!(options.has_long("recursive", 1) && options.has_long("recursive", 3));
        assert!(!options.has_long("recursive", 4) && !options.has_long("record", 4));
    }

    #[test]
    fn a_computed_word_is_kept_apart() {
        let words = [Word::Computed("$F".to_owned()), Word::Literal("x".to_owned())];
        let options = Options::of(&words, "", &[]);
        assert_eq!((options.computed, options.operands), (vec!["$F"], vec!["x"]));
    }

    #[test]
    fn what_a_variable_falls_back_to_is_read() {
        let words = [Word::Computed("${F:--r -f}".to_owned()), Word::Computed("${X:---force}".to_owned())];
        let options = Options::of(&words, "", &[]);
        assert!(options.has_short('r') && options.has_short('f') && options.has_long("force", 5));
    }
}
