//! What the source of a computed word still tells.

/// What `${NAME:-text}`, `${NAME:=text}` and `${NAME:+text}` may come to.
pub(crate) fn fallback(source: &str) -> Option<&str> {
    let inner = source.trim_matches('"').strip_prefix("${")?.strip_suffix('}')?;
    let end = inner.find(|c: char| !c.is_ascii_alphanumeric() && c != '_')?;
    let operator = inner.get(end..)?;
    operator.strip_prefix(':').unwrap_or(operator).strip_prefix(['-', '=', '+'])
}

/// The variable that a word begins with, without its braces.
fn variable(source: &str) -> Option<&str> {
    let name = source.strip_prefix('$')?;
    let name = name.strip_prefix('{').unwrap_or(name);
    let end = name.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(name.len());
    name.get(..end).filter(|name| !name.is_empty())
}

/// Whether the word looks like options: `-$F`, or `$FLAGS` and `$FORCE` by name.
/// A plain `$FILE` does not: it is how scripts name their own files.
pub(crate) fn is_option_like(source: &str) -> bool {
    if source.trim_start_matches('"').starts_with('-') {
        return true;
    }
    // In quotes it is one word, and as a rule a file's name.
    let Some(name) = variable(source) else { return false };
    let name = name.to_ascii_lowercase();
    ["flag", "opt", "args", "force", "recurs", "switch"].iter().any(|part| name.contains(part))
}

/// Whether another command prints the word, unquoted, so that it may be any
/// number of words. Commands that list files are left out.
pub(crate) fn is_printed(source: &str) -> bool {
    let Some(inner) = source.strip_prefix("$(").or_else(|| source.strip_prefix('`')) else { return false };
    let program = inner.split_whitespace().next().unwrap_or_default();
    !matches!(
        program.trim_end_matches([')', '`']),
        "find"
            | "fd"
            | "ls"
            | "git"
            | "mktemp"
            | "rg"
            | "grep"
            | "which"
            | "dirname"
            | "basename"
            | "realpath"
            | "readlink"
            | "pwd"
            | "locate"
            | "jq"
            | "date"
            | "whoami"
            | "hostname"
    )
}

/// Whether a command runs inside the word.
pub(crate) fn runs(source: &str) -> bool {
    source.contains("$(") || source.contains('`') || source.contains("<(")
}

/// Whether a downloader runs inside the word.
pub(crate) fn downloads(source: &str) -> bool {
    runs(source) && names(source).any(|name| matches!(name, "curl" | "wget"))
}

/// Whether a decoder runs inside the word.
pub(crate) fn decodes(source: &str) -> bool {
    if !runs(source) {
        return false;
    }
    let decoding = |name: &str| matches!(name, "-d" | "-D" | "--decode" | "-r" | "-di" | "-dc" | "-rp");
    let mut open = false;
    for name in names(source) {
        if matches!(
            name,
            "base64" | "gbase64" | "base32" | "xxd" | "openssl" | "uudecode" | "zcat" | "gunzip"
        ) {
            open = true;
            if matches!(name, "uudecode" | "zcat" | "gunzip") {
                return true;
            }
        }
        if open && decoding(name) {
            return true;
        }
    }
    false
}

/// The words of a source text, whatever stands around them.
fn names(source: &str) -> impl Iterator<Item = &str> {
    source.split(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '-' | '_' | '.'))
}

#[cfg(test)]
mod tests {
    use super::{decodes, downloads, fallback, is_option_like, is_printed};

    #[test]
    fn a_fallback_is_found_in_every_form() {
        for (source, found) in [
            ("${F:---force}", Some("--force")),
            ("\"${F:--rf}\"", Some("-rf")),
            ("${F-x}", Some("x")),
            ("${F:+-r}", Some("-r")),
            ("${F:=a b}", Some("a b")),
            ("${F:?unset}", None),
            ("${F}", None),
            ("$F", None),
        ] {
            assert_eq!(fallback(source), found, "{source}");
        }
    }

    #[test]
    fn options_are_known_by_their_dash_or_their_name() {
        for source in ["-$F", "\"-$F\"", "$FLAGS", "${RM_OPTS}", "$FORCE", "$force_flag", "${ARGS[@]}"] {
            assert!(is_option_like(source), "{source}");
        }
        for source in ["$FILE", "\"$@\"", "$1", "${TMP}/x", "$(echo x)", "a-$X", "\"$OPTARG\""] {
            assert!(!is_option_like(source), "{source}");
        }
    }

    #[test]
    fn a_printed_list_of_files_is_no_list_of_options() {
        for source in ["$(echo -rf)", "`cat flags`", "$(decode x)"] {
            assert!(is_printed(source), "{source}");
        }
        for source in ["$(find . -name x)", "$(git ls-files -d)", "`ls`", "\"$(echo x)\"", "$X"] {
            assert!(!is_printed(source), "{source}");
        }
    }

    #[test]
    fn downloads_and_decoders_are_found_inside_a_word() {
        assert!(downloads("\"$(curl -s u)\"") && downloads("<(wget -qO- u)") && !downloads("curl.sh"));
        assert!(!downloads("$(cat curl.sh)"));
        for source in ["$(base64 -d x)", "\"$(echo $X | base64 --decode)\"", "$(xxd -r -p f)", "`zcat s.gz`"]
        {
            assert!(decodes(source), "{source}");
        }
        for source in ["$(base64 x)", "$(ssh-agent -s)", "base64 -d", "$(grep -r base64)"] {
            assert!(!decodes(source), "{source}");
        }
    }
}
