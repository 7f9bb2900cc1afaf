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

/// Tokens that tell what they are by how they begin.
const SHAPES: &[&str] = &[
    // Private keys, to their end or to the end of the text.
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?s:.*?)(?:-----END [A-Z0-9 ]{0,60}-----|\z)",
    r"\bAGE-SECRET-KEY-1[A-Z0-9]{20,}",
    // GitHub, GitLab.
    r"\bgh[a-z]_[A-Za-z0-9_]{16,}",
    r"\bgithub_pat_[A-Za-z0-9_]{16,}",
    r"\bgl[a-z]{2,6}-[A-Za-z0-9_-]{16,}",
    // Makers of models; Stripe.
    r"\bsk-[A-Za-z0-9_-]{16,}",
    r"\b[srp]k_(?:live|test|prod)_[A-Za-z0-9]{8,}",
    r"\bhf_[A-Za-z0-9]{16,}",
    // Clouds.
    r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}",
    r"\bAIza[A-Za-z0-9_-]{20,}",
    r"\bya29\.[A-Za-z0-9_-]{16,}",
    r"\bdo[pors]_v1_[a-f0-9]{32,}",
    // Messengers.
    r"\bxox[a-z]-[A-Za-z0-9-]{8,}",
    r"\bxapp-[A-Za-z0-9-]{8,}",
    r"\bhooks\.slack\.com/services/[A-Za-z0-9/_-]+",
    r"\b[0-9]{8,10}:AA[A-Za-z0-9_-]{30,}",
    // Registries of packages, and mail.
    r"\bnpm_[A-Za-z0-9]{16,}",
    r"\bpypi-[A-Za-z0-9_-]{16,}",
    r"\bdckr_[a-z]+_[A-Za-z0-9_-]{16,}",
    r"\bSG\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}",
    // A JSON web token.
    r"\beyJ[A-Za-z0-9_-]{6,}\.[A-Za-z0-9_-]{6,}(?:\.[A-Za-z0-9_-]*)?",
];

/// Every shape at once, so that a text is read once. What stands before a secret
/// is caught in a group and kept.
static SECRETS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let shapes = SHAPES.join("|");
    let pattern = [
        shapes,
        // `Authorization: Bearer X`, `Cookie: X`.
        format!(
            r#"(?i:((?:proxy-)?authorization{IS}\\*["']?(?:(?:bearer|basic|token|digest|negotiate)\s+)?){VALUE})"#
        ),
        r#"(?i:\b((?:set-)?cookie:\s*)[^\r\n"']+)"#.to_owned(),
        r"(?i:\b(bearer\s+)[a-z0-9._~+/=-]{8,})".to_owned(),
        // `password=X`, `"api_key": "X"`, `?access_token=X`; `;Pwd=X` of a connection's text.
        format!(r"(?i:({KEY}{IS}){VALUE})"),
        format!(r"(?i:(;\s*pwd\s*=\s*){VALUE})"),
        // `--token X`, `curl -u name:X`, `sshpass -p X`, `mysql -pX`, `docker login -p X`,
        // `redis-cli -a X`, `openssl -passin pass:X`.
        format!(r"(?i:(--?{KEY}\s+){VALUE})"),
        format!(r#"((?:\s-u|--user)[\s=]*["']?[^\s:"'/]+:){VALUE}"#),
        format!(r"(\bsshpass\s+-p\s*){VALUE}"),
        format!(r"(\bmysql[a-z]*\s(?:[^\n;|&]*?\s)?-p){VALUE}"),
        format!(r"(\blogin\s(?:[^\n;|&]*?\s)?-p\s*){VALUE}"),
        format!(r"(\bredis-cli\s(?:[^\n;|&]*?\s)?-a\s*){VALUE}"),
        format!(r"(\bpass:){VALUE}"),
        // `scheme://name:X@host`.
        r#"(?i:\b([a-z][a-z0-9+.-]*://)[^\s/"'<>]+)@"#.to_owned(),
        // The same in a text that a guard has cut.
        r#"(?i:\b([a-z][a-z0-9+.-]*://[^\s/"'<>:@]+:)[^\s/"'<>@…]*…)"#.to_owned(),
    ]
    .join("|");
    // A test holds that it is one.
    Regex::new(&pattern).ok()
});

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
        let Some(secrets) = &*SECRETS else { return REDACTED.to_owned() };
        let mut text = window(text, shown.saturating_mul(LOOK_AHEAD)).to_owned();
        for value in self.values.iter().filter(|value| !value.is_empty()) {
            if text.contains(value.as_str()) {
                text = text.replace(value.as_str(), REDACTED);
            }
        }
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
    let name = name.to_ascii_uppercase();
    ["TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL", "APIKEY"]
        .iter()
        .any(|part| name.contains(part))
        || ["_KEY", "_PAT", "_PWD", "_PASS", "_AUTH", "_DSN"].iter().any(|end| name.ends_with(end))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::{LOOK_AHEAD, REDACTED, Redactor, SECRETS};

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
        fn any_text_is_answered(text in "\\PC{0,200}") {
            clean(&text);
        }
    }
}
