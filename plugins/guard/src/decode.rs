//! Encoded texts, and programs that run them.

use portcullis_sdk::{Command, Word};

use crate::category::Category;
use crate::runner::Runner;

/// Whether a command prints what an encoded text stands for.
pub(crate) fn is_decoder(name: &str, command: &Command) -> bool {
    match name {
        "base64" | "gbase64" | "base32" | "openssl" => {
            command.literals().any(|word| matches!(word, "-d" | "-D" | "--decode" | "-di" | "-id"))
        }
        // A cipher; `tr a-z A-Z` only changes the case.
        "tr" => match command.literals().collect::<Vec<_>>().as_slice() {
            [from, to] => from.contains('-') && to.len() > from.len() && !from.starts_with('-'),
            _ => false,
        },
        "xxd" => command.literals().any(|word| word.starts_with('-') && word.contains('r')),
        "uudecode" | "zcat" | "gzcat" | "bzcat" | "xzcat" | "zstdcat" => true,
        "gunzip" | "gzip" | "bunzip2" | "xz" | "zstd" => {
            matches!(name, "gunzip" | "bunzip2") || command.has_flag('d', "decompress")
        }
        "gpg" | "gpg2" => command.has_flag('d', "decrypt"),
        _ => false,
    }
}

/// Inline code that decodes a text in order to run it.
pub(crate) fn unpacks(runner: Runner, word: &Word) -> Option<Category> {
    if runner != Runner::Interpreter {
        return None;
    }
    let text = word.text();
    let decodes = [
        "b64decode",
        "atob(",
        "'base64'",
        "\"base64\"",
        "decode_base64",
        "base64_decode",
        "unhexlify",
        "fromhex",
        "decode64",
    ]
    .iter()
    .any(|name| text.contains(name));
    let runs = ["exec(", "eval(", "eval ", "system(", "subprocess", "popen", "execSync", "spawn"]
        .iter()
        .any(|name| text.contains(name));
    (decodes && runs).then_some(Category::Decoded)
}

/// `powershell -EncodedCommand …`
pub(crate) fn is_encoded(command: &Command) -> bool {
    let name = command.program().unwrap_or_default();
    let powershell =
        ["powershell", "powershell.exe", "pwsh", "pwsh.exe"].iter().any(|p| p.eq_ignore_ascii_case(name));
    powershell
        && command.literals().any(|word| {
            word.strip_prefix('-').is_some_and(|given| {
                let start = "encodedcommand".get(..given.len());
                !given.is_empty() && start.is_some_and(|start| start.eq_ignore_ascii_case(given))
            })
        })
}

#[cfg(test)]
mod tests {
    use portcullis_sdk::testing::command;

    use super::{is_decoder, is_encoded};

    #[test]
    fn a_decoder_is_told_from_an_encoder() {
        for text in [
            "base64 -d",
            "base64 --decode f",
            "openssl enc -base64 -d",
            "xxd -r -p",
            "gunzip -c f",
            "zstd -d",
            "gpg --decrypt f",
            "tr a-z n-za-m",
        ] {
            let command = command(text);
            assert!(is_decoder(command.program().unwrap(), &command), "{text}");
        }
        for text in
            ["base64 f", "openssl dgst f", "xxd f", "gzip f", "gpg -e f", "tr A-Z a-z", "tr -d a-z", "cat f"]
        {
            let command = command(text);
            assert!(!is_decoder(command.program().unwrap(), &command), "{text}");
        }
    }

    #[test]
    fn an_encoded_command_of_powershell_is_known_by_its_option() {
        for text in ["powershell -EncodedCommand x", "pwsh -enc x", "PowerShell.exe -e x"] {
            assert!(is_encoded(&command(text)), "{text}");
        }
        for text in ["powershell -Command x", "pwsh -ExecutionPolicy Bypass -File x", "bash -e x"] {
            assert!(!is_encoded(&command(text)), "{text}");
        }
    }
}
