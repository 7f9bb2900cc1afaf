//! Takes secrets out of what is written.
//!
//! A ledger is read by more people than the session that it tells of, so nothing
//! that has the shape of a credential gets into it. Too much is taken out rather
//! than too little: a word that is lost costs a question, a token that is kept
//! costs a key.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::LazyLock;

use regex_lite::{Captures, Regex};

/// What stands in the place of a secret.
pub const REDACTED: &str = "[redacted]";
/// So much more of a text is looked at than is shown, because secrets make it
/// shorter.
const LOOK_AHEAD: usize = 4;
/// How far back from where a text is cut a space is looked for, in bytes.
const WORD_MAX: usize = 1 << 10;
/// A shorter value of a variable is no secret that could be told from a word.
const VALUE_MIN: usize = 8;
/// No more values of variables are looked for.
const VALUES_MAX: usize = 64;

/// A value, quoted or bare. A quote that is not closed reaches to the end.
const VALUE: &str = r#"(?:\[redacted\]|\\+"[^"]*"?|"(?:[^"\\]|\\.)*"?|\\*'[^']*'?|[^\s"'&;|]+)"#;
/// Between a key and its value, in JSON, YAML, a shell or a header.
const IS: &str = r#"\\*["']?\s*(?::|=>|=)\s*"#;
/// What a key that holds a secret is called.
const KEY: &str = concat!(
    r"[a-z0-9_.-]*(?:password|passwd|passphrase|secret|token|api[_-]?key|access[_-]?key|account[_-]?key",
    r"|private[_-]?key|signing[_-]?key|encryption[_-]?key|credentials?|signature)[a-z0-9_.-]*"
);

/// A shape of a secret.
struct Shape {
    /// A text has to hold one of these, in capitals or not, to match. `?` stands for
    /// any byte.
    hints: &'static [&'static str],
    /// A group catches what stands before the secret and is kept.
    pattern: &'static str,
}

const fn shape(hints: &'static [&'static str], pattern: &'static str) -> Shape {
    Shape { hints, pattern }
}

/// What is taken for a secret. `{VALUE}`, `{IS}` and `{KEY}` stand for the parts above.
const SHAPES: &[Shape] = &[
    // Private keys, to their end or to the end of the text.
    shape(
        &["-----begin "],
        r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?s:.*?)(?:-----END [A-Z0-9 ]{0,60}-----|\z)",
    ),
    shape(&["age-secret-key-1"], r"\bAGE-SECRET-KEY-1[A-Z0-9]{20,}"),
    // GitHub, GitLab.
    shape(&["gh?_"], r"\bgh[a-z]_[A-Za-z0-9_]{16,}"),
    shape(&["github_pat_"], r"\bgithub_pat_[A-Za-z0-9_]{16,}"),
    shape(&["gl??-", "gl???-", "gl????-", "gl?????-", "gl??????-"], r"\bgl[a-z]{2,6}-[A-Za-z0-9_-]{16,}"),
    // Makers of models; Stripe.
    shape(&["sk-"], r"\bsk-[A-Za-z0-9_-]{16,}"),
    shape(&["k_live_", "k_test_", "k_prod_"], r"\b[srp]k_(?:live|test|prod)_[A-Za-z0-9]{8,}"),
    shape(&["hf_"], r"\bhf_[A-Za-z0-9]{16,}"),
    // Clouds.
    shape(&["akia", "asia", "abia", "acca"], r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}"),
    shape(&["aiza"], r"\bAIza[A-Za-z0-9_-]{20,}"),
    shape(&["ya29."], r"\bya29\.[A-Za-z0-9_-]{16,}"),
    shape(&["do?_v1_"], r"\bdo[pors]_v1_[a-f0-9]{32,}"),
    // Messengers.
    shape(&["xox?-"], r"\bxox[a-z]-[A-Za-z0-9-]{8,}"),
    shape(&["xapp-"], r"\bxapp-[A-Za-z0-9-]{8,}"),
    shape(&["hooks.slack.com/services/"], r"\bhooks\.slack\.com/services/[A-Za-z0-9/_-]+"),
    shape(&[":aa"], r"\b[0-9]{8,10}:AA[A-Za-z0-9_-]{30,}"),
    // Registries of packages, and mail.
    shape(&["npm_"], r"\bnpm_[A-Za-z0-9]{16,}"),
    shape(&["pypi-"], r"\bpypi-[A-Za-z0-9_-]{16,}"),
    shape(&["dckr_"], r"\bdckr_[a-z]+_[A-Za-z0-9_-]{16,}"),
    shape(&["sg.????????"], r"\bSG\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"),
    // A JSON web token.
    shape(&["eyj"], r"\beyJ[A-Za-z0-9_-]{6,}\.[A-Za-z0-9_-]{6,}(?:\.[A-Za-z0-9_-]*)?"),
    // `Authorization: Bearer X`, `Cookie: X`.
    shape(
        &["authorization"],
        r#"(?i:((?:proxy-)?authorization{IS}\\*["']?(?:(?:bearer|basic|token|digest|negotiate)\s+)?){VALUE})"#,
    ),
    shape(&["cookie:"], r#"(?i:\b((?:set-)?cookie:\s*)[^\r\n"']+)"#),
    shape(&["bearer"], r"(?i:\b(bearer\s+)[a-z0-9._~+/=-]{8,})"),
    // `password=X`, `"api_key": "X"`, `?access_token=X`; `;Pwd=X` of a connection's text.
    shape(KEYS, r"(?i:({KEY}{IS}){VALUE})"),
    shape(&["pwd"], r"(?i:(;\s*pwd\s*=\s*){VALUE})"),
    // `--token X`, `curl -u name:X`, `sshpass -p X`, `mysql -pX`, `docker login -p X`,
    // `redis-cli -a X`, `openssl -passin pass:X`.
    shape(KEYS, r"(?i:(--?{KEY}\s+){VALUE})"),
    shape(&["-u"], r#"((?:\s-u|--user)[\s=]*["']?[^\s:"'/]+:){VALUE}"#),
    shape(&["sshpass"], r"(\bsshpass\s+-p\s*){VALUE}"),
    shape(&["mysql"], r"(\bmysql[a-z]*\s(?:[^\n;|&]*?\s)?-p){VALUE}"),
    shape(&["login"], r"(\blogin\s(?:[^\n;|&]*?\s)?-p\s*){VALUE}"),
    shape(&["redis-cli"], r"(\bredis-cli\s(?:[^\n;|&]*?\s)?-a\s*){VALUE}"),
    shape(&["pass:"], r"(\bpass:){VALUE}"),
    // `scheme://name:X@host`.
    shape(&["://"], r#"(?i:\b([a-z][a-z0-9+.-]*://)[^\s/"'<>]+)@"#),
    // The same in a text that a guard has cut.
    shape(&["://"], r#"(?i:\b([a-z][a-z0-9+.-]*://[^\s/"'<>:@]+:)[^\s/"'<>@…]*…)"#),
];

/// What a text with a `KEY` in it holds.
const KEYS: &[&str] =
    &["password", "passwd", "passphrase", "secret", "token", "key", "credential", "signature"];

/// Every shape at once, so that a text is read once. What stands before a secret
/// is caught in a group and kept.
static SECRETS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let patterns: Vec<String> = SHAPES.iter().map(|shape| filled(shape.pattern)).collect();
    // A test holds that it is one.
    Regex::new(&patterns.join("|")).ok()
});

/// `pattern`, with the parts that several share in it.
fn filled(pattern: &str) -> String {
    pattern.replace("{VALUE}", VALUE).replace("{IS}", IS).replace("{KEY}", KEY)
}

/// False when no secret can be in `text`, which is far cheaper to know than where
/// one is: making the expression alone takes longer than judging a call.
fn may_hold_a_secret(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    let pairs = Pairs::of(&text);
    let mut hints = SHAPES.iter().flat_map(|shape| shape.hints);
    hints.any(|hint| pairs.may_hold(hint) && holds(&text, hint))
}

/// Which pairs of bytes stand side by side in a text. Two pairs may share a place, so it
/// says for sure only what is not there.
struct Pairs([u64; 32]);

impl Pairs {
    fn of(text: &str) -> Self {
        let mut pairs = Self([0; 32]);
        for pair in text.as_bytes().windows(2) {
            let (word, bit) = Self::place(pair);
            if let Some(word) = pairs.0.get_mut(word) {
                *word |= bit;
            }
        }
        pairs
    }

    fn may_hold(&self, hint: &str) -> bool {
        hint.as_bytes().windows(2).filter(|pair| !pair.contains(&b'?')).all(|pair| {
            let (word, bit) = Self::place(pair);
            self.0.get(word).is_none_or(|word| word & bit != 0)
        })
    }

    fn place(pair: &[u8]) -> (usize, u64) {
        let place = pair.iter().fold(0_usize, |place, byte| place * 37 + usize::from(*byte));
        (place / 64 % 32, 1 << (place % 64))
    }
}

/// True when `text` has `hint` in it.
fn holds(text: &str, hint: &str) -> bool {
    if !hint.contains('?') {
        return text.contains(hint);
    }
    let fits = |part: &[u8]| part.iter().zip(hint.bytes()).all(|(byte, hint)| *byte == hint || hint == b'?');
    text.as_bytes().windows(hint.len()).any(fits)
}

/// Takes secrets out of texts.
#[derive(Clone, Default)]
pub(crate) struct Redactor {
    /// Values that are secret by the name of the variable that holds them, the
    /// longest first, so that one that holds another goes as a whole.
    values: Vec<String>,
}

/// Never shows the values.
impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redactor").field("values", &self.values.len()).finish()
    }
}

impl Redactor {
    /// Knows the secrets in the variables of `env`.
    pub(crate) fn new(env: &BTreeMap<String, String>) -> Self {
        let mut values: Vec<String> = env
            .iter()
            .filter(|(name, value)| value.len() >= VALUE_MIN && is_secret(name))
            .map(|(_, value)| value.clone())
            .collect();
        values.sort_by_key(|value| std::cmp::Reverse(value.len()));
        values.dedup();
        values.truncate(VALUES_MAX);
        Self { values }
    }

    /// The beginning of `text`, of which `shown` bytes are to be shown, without its
    /// secrets. It ends between two words, so that no half of a secret is left.
    pub(crate) fn clean(&self, text: &str, shown: usize) -> String {
        let mut text = window(text, shown.saturating_mul(LOOK_AHEAD)).to_owned();
        for value in self.values.iter().filter(|value| !value.is_empty()) {
            if text.contains(value.as_str()) {
                text = text.replace(value.as_str(), REDACTED);
            }
        }
        if !may_hold_a_secret(&text) {
            return text;
        }
        let Some(secrets) = &*SECRETS else { return REDACTED.to_owned() };
        let kept = |found: &Captures<'_>| {
            let before = found.iter().skip(1).flatten().next().map_or("", |group| group.as_str());
            // An address keeps the sign behind its user.
            let at =
                found.get(0).is_some_and(|whole| before.ends_with("://") && whole.as_str().ends_with('@'));
            format!("{before}{REDACTED}{}", if at { "@" } else { "" })
        };
        secrets.replace_all(&text, kept).into_owned()
    }
}

/// At most `max` bytes of `text`, cut at a space, or before what could be a token
/// when there has been none for long.
fn window(text: &str, max: usize) -> &str {
    if text.len() <= max {
        return text;
    }
    let head = text.get(..text.floor_char_boundary(max)).unwrap_or_default();
    let near = head.len() - WORD_MAX.min(head.len() / 2);
    let in_token = |c: char| c.is_ascii_alphanumeric() || "_-.+/=:@".contains(c);
    let end = head.rfind(char::is_whitespace).filter(|end| *end >= near);
    let end = end.or_else(|| head.rfind(|c| !in_token(c)));
    end.and_then(|end| head.get(..end)).unwrap_or_default()
}

/// True when a variable of this name holds a secret.
fn is_secret(name: &str) -> bool {
    let name = name.as_bytes();
    let holds = |part: &&str| name.windows(part.len()).any(|own| own.eq_ignore_ascii_case(part.as_bytes()));
    let ends = |end: &&str| {
        let from = name.len().checked_sub(end.len());
        from.and_then(|from| name.get(from..)).is_some_and(|own| own.eq_ignore_ascii_case(end.as_bytes()))
    };
    ["TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL", "APIKEY"].iter().any(holds)
        || ["_KEY", "_PAT", "_PWD", "_PASS", "_AUTH", "_DSN"].iter().any(ends)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::LazyLock;

    use proptest::prelude::*;
    use proptest::strategy::Union;
    use proptest::string::string_regex;

    use regex_lite::Regex;

    use super::{LOOK_AHEAD, Pairs, REDACTED, Redactor, SECRETS, SHAPES, filled, holds, may_hold_a_secret};

    const SHOWN: usize = 1_000;
    const SEEN: usize = SHOWN * LOOK_AHEAD;

    fn clean(text: &str) -> String {
        Redactor::default().clean(text, SHOWN)
    }

    #[test]
    fn the_pattern_is_one() {
        assert!(SECRETS.is_some());
    }

    #[test]
    fn a_hint_is_found_wherever_it_stands() {
        for (text, hint, found) in [
            ("gh1_", "gh?_", true),
            ("xghp_", "gh?_", true),
            ("ghp", "gh?_", false),
            ("gh__", "gh?_", true),
            ("", "gh?_", false),
            ("a://b", "://", true),
        ] {
            assert_eq!(holds(text, hint), found, "{text} {hint}");
            assert!(Pairs::of(text).may_hold(hint) || !found, "{text} {hint}");
        }
    }

    #[test]
    fn most_calls_need_no_expression() {
        for text in [
            "rm -rf build",
            "Blocked by the guard plugin: refusing \"rm -rf build\" (recursive or forced delete).",
            "/home/dev/app/src/main.rs",
            "cargo build --release",
        ] {
            assert!(!may_hold_a_secret(text), "{text}");
        }
    }

    #[test]
    fn every_shape_has_hints_in_lower_case() {
        for shape in SHAPES {
            assert!(!shape.hints.is_empty(), "{}", shape.pattern);
            let lower = |hint: &&str| **hint == hint.to_ascii_lowercase() && hint.len() > 1;
            assert!(shape.hints.iter().all(lower), "{}", shape.pattern);
        }
    }

    #[test]
    fn what_stands_around_a_secret_is_kept() {
        for (text, wanted) in [
            ("git push https://dev:hunter2@host/x.git", "git push https://[redacted]@host/x.git"),
            ("psql postgres://u:p@ss@db:5432/app", "psql postgres://[redacted]@db:5432/app"),
            ("curl -H 'Authorization: Bearer abc.def' x", "curl -H 'Authorization: Bearer [redacted]' x"),
            ("deploy --token abc --yes", "deploy --token [redacted] --yes"),
            ("PASSWORD=hunter2 make", "PASSWORD=[redacted] make"),
            (r#"{"api_key": "abc", "n": 1}"#, r#"{"api_key": [redacted], "n": 1}"#),
            (r#"{\"password\": \"a b\", \"n\": 1}"#, r#"{\"password\": [redacted], \"n\": 1}"#),
            ("curl -u dev:hunter2 https://x", "curl -u dev:[redacted] https://x"),
            ("mysql -u dev -phunter2 app", "mysql -u dev -p[redacted] app"),
            ("docker login -u dev -p hunter2 host", "docker login -u dev -p [redacted] host"),
            ("redis-cli -h x -a hunter2 flushall", "redis-cli -h x -a [redacted] flushall"),
            ("openssl rsa -passin pass:hunter2", "openssl rsa -passin pass:[redacted]"),
            (
                "refusing \"git push https://dev:hunt…\" (x)",
                "refusing \"git push https://dev:[redacted]\" (x)",
            ),
            ("echo ghp_0123456789abcdefghij0123456789abcdef; ls", "echo [redacted]; ls"),
            ("https://x/y?access_token=abc&n=1", "https://x/y?access_token=[redacted]&n=1"),
        ] {
            assert_eq!(clean(text), wanted);
            assert_eq!(clean(&clean(text)), wanted, "twice is once");
        }
    }

    #[test]
    fn ordinary_work_is_left_as_it_is() {
        for text in [
            "rm -rf build && git reset --hard HEAD~3",
            "docker run -p 8080:80 -u 1000 nginx",
            "ssh host 'mkdir -p /var/www'",
            "PWD=/home/dev/app make -k",
            "the risk-assessment-of-this-change is low",
            "https://example.org/a@b",
            "echo 0123456789abcdef0123456789abcdef01234567",
        ] {
            assert_eq!(clean(text), text);
        }
    }

    #[test]
    fn a_key_that_is_not_closed_is_taken_out_to_the_end() {
        let text = "cat <<E\n-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXk\nAAAAB3Nza\n";
        assert_eq!(clean(text), format!("cat <<E\n{REDACTED}"));
    }

    #[test]
    fn a_long_text_ends_before_the_word_that_is_cut() {
        let token = "ghp_0123456789abcdefghij0123456789abcdef";
        for before in SEEN - 40..SEEN {
            for space in [" ", ";", "'"] {
                let text = format!("{}{space}{token} end", "x".repeat(before));
                assert!(!clean(&text).contains("ghp_"), "{before}");
            }
        }
        assert_eq!(clean(&"x".repeat(SEEN + 1)), "");
    }

    #[test]
    fn the_values_of_secret_variables_are_taken_out_and_never_shown() {
        let env: BTreeMap<String, String> = [
            ("NPM_TOKEN", "plain-looking words"),
            ("DEPLOY_KEY", "plain-looking"),
            ("DB_PASSWORD", "short"),
            ("HOME", "/home/dev"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into();
        let redactor = Redactor::new(&env);
        assert_eq!(
            redactor.clean("say plain-looking words in /home/dev, plain-looking, short", SHOWN),
            "say [redacted] in /home/dev, [redacted], short"
        );
        assert!(!format!("{redactor:?}").contains("plain"));
    }

    /// A secret of one of the listed shapes, and the text that it stands in.
    fn secret() -> impl Strategy<Value = (String, String)> {
        let bare = prop_oneof![
            "gh[pousr]_[A-Za-z0-9]{36}",
            "github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}",
            "glpat-[A-Za-z0-9_-]{20}",
            "sk-[A-Za-z0-9]{48}",
            "sk-ant-api03-[A-Za-z0-9_-]{93}",
            "sk_live_[A-Za-z0-9]{24}",
            "(AKIA|ASIA)[A-Z0-9]{16}",
            "AIza[A-Za-z0-9_-]{35}",
            "xox[bpars]-[0-9]{10,13}-[A-Za-z0-9]{24}",
            "npm_[A-Za-z0-9]{36}",
            "hf_[A-Za-z0-9]{34}",
            "eyJ[A-Za-z0-9_-]{20,60}\\.eyJ[A-Za-z0-9_-]{20,60}\\.[A-Za-z0-9_-]{43}",
            "-----BEGIN (RSA |EC |OPENSSH )?PRIVATE KEY-----\n([A-Za-z0-9+/]{64}\n){1,4}-----END (RSA )?PRIVATE KEY-----",
        ]
        .prop_map(|secret| (secret.clone(), secret));
        let value = "[A-Za-z0-9+/_.!@#%^*=-]{10,40}";
        let named = (
            value,
            prop_oneof![
                Just("password=@"),
                Just("DB_PASSWORD='@'"),
                Just("--token @"),
                Just("--api-key=@"),
                Just("-H 'Authorization: Bearer @'"),
                Just("\"client_secret\": \"@\""),
                Just("\\\"secret\\\": \\\"@\\\""),
                Just("aws_secret_access_key = @"),
                Just("-H \"X-Api-Key: @\""),
            ],
        )
            .prop_map(|(secret, form)| (form.replacen('@', &secret, 1), secret));
        let user = "[A-Za-z0-9+_.!#%^*=-]{10,40}"
            .prop_map(|secret| (format!("https://dev:{secret}@example.org/x"), secret));
        prop_oneof![bare, named, user]
    }

    static EACH: LazyLock<Vec<Regex>> =
        LazyLock::new(|| SHAPES.iter().map(|shape| Regex::new(&filled(shape.pattern)).unwrap()).collect());

    /// A text that fits one of the shapes, but for where words begin and texts end.
    fn fitting() -> impl Strategy<Value = (usize, String)> {
        let texts = SHAPES.iter().enumerate().map(|(index, shape)| {
            let pattern = filled(shape.pattern).replace(r"\b", "").replace(r"|\z", "");
            string_regex(&pattern).unwrap().prop_map(move |text| (index, text)).boxed()
        });
        Union::new(texts)
    }

    proptest! {
        #[test]
        fn no_listed_secret_survives(
            (text, secret) in secret(),
            before in "([a-z =:]{0,20}[ \n\"'(=])?",
            after in "([ \n\"'),;][a-z =:]{0,20})?",
        ) {
            let seen = clean(&format!("{before}{text}{after}"));
            prop_assert!(!seen.contains(&secret), "{seen}");
        }

        #[test]
        fn whatever_fits_a_shape_has_a_hint_in_it((index, text) in fitting()) {
            // Capitals beyond ASCII are letters to the one who made the text, and not to us.
            prop_assume!(EACH[index].is_match(&text));
            let hints = SHAPES[index].hints;
            let lower = text.to_ascii_lowercase();
            prop_assert!(hints.iter().any(|hint| holds(&lower, hint)), "{text}");
        }

        #[test]
        fn any_text_is_answered(text in "\\PC{0,200}") {
            clean(&text);
        }
    }
}
