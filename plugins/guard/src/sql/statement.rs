//! SQL statements that destroy data.

/// Whether a statement drops a table, a schema or a database, truncates a table, or
/// deletes all of its rows.
pub(crate) fn destroys(sql: &str) -> bool {
    // The two tokens before the current one; a text begins as a statement does.
    let (mut second, mut first) = (Token::End, Token::End);
    // Inside a `DELETE FROM t` that no condition has narrowed yet.
    let mut deletes = false;
    for token in (Tokens { rest: sql }) {
        let dropped = token.is(&["TABLE", "TABLES", "SCHEMA", "DATABASE", "KEYSPACE", "OWNED"]);
        let modified = first.is(&["TEMPORARY", "FOREIGN", "EXTERNAL", "DYNAMIC", "SHARED"]);
        if dropped && (first.is(&["DROP"]) || (modified && second.is(&["DROP"]))) {
            return true;
        }
        // Elsewhere `TRUNCATE` is a function or a name.
        let begins = second == Token::End || second.is(&["BEGIN", "THEN", "ELSE", "DO"]);
        if first.is(&["TRUNCATE"]) && (token.is(&["TABLE"]) || (begins && token.is_name())) {
            return true;
        }
        // `FROM $TABLE` goes on behind its dollar.
        if token == Token::End && deletes && !first.is(&["FROM"]) {
            return true;
        }
        deletes |= begins && first.is(&["DELETE"]) && token.is(&["FROM"]);
        deletes &= !token.is(&["WHERE", "LIMIT", "USING"]);
        (second, first) = (first, token);
    }
    deletes && first.is_name() && !first.is(&["FROM"])
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token<'a> {
    /// A bare word.
    Word(&'a str),
    /// A quoted name.
    Name,
    /// The end of a statement, or the start of a block.
    End,
    /// A string, a number's sign, a bracket.
    Other,
}

impl Token<'_> {
    fn is_name(self) -> bool {
        matches!(self, Token::Word(_) | Token::Name)
    }

    fn is(self, words: &[&str]) -> bool {
        matches!(self, Token::Word(text) if words.iter().any(|word| word.eq_ignore_ascii_case(text)))
    }
}

/// The tokens of a text, without its comments. A `$$` block is a program and is
/// read as one; so is MySQL's `/*! … */`, which is a comment that runs.
struct Tokens<'a> {
    rest: &'a str,
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        loop {
            let text = self.rest;
            let first = text.chars().next()?;
            let after = text.get(first.len_utf8()..).unwrap_or_default();
            let (token, rest) = match first {
                '-' if after.starts_with('-') => (None, behind(after, "\n")),
                '#' => (None, behind(after, "\n")),
                '/' if after.starts_with("*!") => {
                    (None, after.get(2..).unwrap_or_default().trim_start_matches(is_digit))
                }
                '/' if after.starts_with('*') => (None, behind(after.get(1..).unwrap_or_default(), "*/")),
                '\'' => (Some(Token::Other), behind(after, "'")),
                '"' => (Some(Token::Name), behind(after, "\"")),
                '`' => (Some(Token::Name), behind(after, "`")),
                ';' | '$' | '\\' => (Some(Token::End), after),
                _ if is_word(first) => {
                    let end = text.find(|c| !is_word(c)).unwrap_or(text.len());
                    let (word, rest) = text.split_at_checked(end).unwrap_or((text, ""));
                    (Some(Token::Word(word)), rest)
                }
                _ if first.is_whitespace() => (None, after),
                _ => (Some(Token::Other), after),
            };
            self.rest = rest;
            if token.is_some() {
                return token;
            }
        }
    }
}

fn behind<'a>(text: &'a str, end: &str) -> &'a str {
    text.split_once(end).map_or("", |(_, rest)| rest)
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn is_digit(c: char) -> bool {
    c.is_ascii_digit()
}

#[cfg(test)]
mod tests {
    use super::destroys;

    #[test]
    fn destruction_is_known_in_any_case_and_spacing() {
        for sql in [
            "drop table t",
            "DROP TABLE IF EXISTS t",
            "select 1; Drop\n/* note */ Table t",
            "TRUNCATE t",
            "truncate table t",
            "TRUNCATE db1.events",
            "begin; truncate \"t\"",
            "DROP SCHEMA public CASCADE",
            "DROP DATABASE shop",
            "DROP OWNED BY app",
            "DROP TEMPORARY TABLE t",
            "/*!50000 DROP TABLE t */",
            "DO $$ BEGIN DROP TABLE t; END $$",
            "-- tidy up\nDROP TABLE t",
            "DELETE FROM orders",
            "delete from \"orders\";",
            "BEGIN; DELETE FROM a; DELETE FROM b WHERE id = 1",
        ] {
            assert!(destroys(sql), "{sql}");
        }
    }

    #[test]
    fn a_name_a_text_or_a_comment_destroys_nothing() {
        for sql in [
            "SELECT 1 AS drop, truncate FROM settings",
            "SELECT truncate(1.5, 1)",
            "SELECT 'DROP TABLE t'",
            "SELECT 1 -- DROP TABLE t",
            "/* DROP TABLE t */ SELECT 1",
            "ALTER TABLE t DROP COLUMN c",
            "SELECT \"drop table\" FROM t",
            "drop index i",
            "truncate",
            "DELETE FROM orders WHERE id = 1",
            "DELETE FROM orders USING x",
            "SELECT 'DELETE FROM orders'",
            "delete from",
            "DELETE FROM $TABLE WHERE id = $ID",
            "SHOW GRANTS",
        ] {
            assert!(!destroys(sql), "{sql}");
        }
    }
}
