//! Commands that change Portcullis without naming a file of its own.

use portcullis_model::product;
use portcullis_model::script::{Command, Word};

use super::arguments::written;
use super::touch::program;

/// Verbs that change nothing. What is not here counts as a change, so that a new
/// verb is refused until somebody has thought of it.
const READS: &[&[&str]] = &[
    &["check"],
    &["hook"],
    &["doctor"],
    &["why"],
    &["status"],
    &["help"],
    &["version"],
    &["log"],
    &["config", "show"],
    &["config", "validate"],
    &["trust", "status"],
    &["hooks", "list"],
    &["ledger", "show"],
    &["ledger", "verify"],
    &["plugin", "list"],
    &["plugin", "inspect"],
    &["plugin", "check"],
    &["plugin", "help"],
    &["skill", "list"],
    &["skill", "show"],
    &["skill", "validate"],
    &["server", "list"],
    &["command", "list"],
];

/// Options of every verb that take the next word.
const VALUED: [&str; 6] = ["--config", "--plugin", "--plugin-dir", "--mode", "-C", "--directory"];

/// Does `command` change or end Portcullis? `names` are the program's names
/// besides the product's own.
pub(super) fn changes(command: &Command, names: &[String]) -> bool {
    let Some((first, words)) = command.words.split_first() else { return false };
    let Some(name) = program(first) else { return false };
    if is_own(name, names) {
        return !only_reads(words);
    }
    match name {
        "pkill" | "killall" | "skill" | "taskkill" => words.iter().any(|word| mentions(word, names)),
        // `kill $(pgrep portcullis)`
        "kill" => words.iter().any(|word| word.literal().is_none() && mentions(word, names)),
        "systemctl" | "launchctl" | "service" => {
            let stops = ["stop", "disable", "mask", "kill", "unload", "bootout", "remove", "reset-failed"];
            has(words, &stops) && words.iter().any(|word| mentions(word, names))
        }
        "cargo" | "brew" | "npm" | "pnpm" | "yarn" | "apt" | "apt-get" | "dnf" | "yum" | "pacman" | "apk"
        | "snap" | "pip" | "pip3" | "pipx" | "uv" | "nix-env" | "dpkg" | "rpm" | "winget" | "scoop"
        | "choco" | "mise" => {
            let takes_off = [
                "uninstall",
                "remove",
                "rm",
                "purge",
                "un",
                "del",
                "-R",
                "-Rs",
                "-r",
                "-e",
                "--erase",
                "--purge",
            ];
            has(words, &takes_off)
                && words.iter().any(|word| word.literal().is_some_and(|text| is_own(text, names)))
        }
        _ => false,
    }
}

fn is_own(name: &str, names: &[String]) -> bool {
    name.eq_ignore_ascii_case(product::NAME) || names.iter().any(|own| own == name)
}

fn mentions(word: &Word, names: &[String]) -> bool {
    let text = written(word).to_ascii_lowercase();
    text.contains(product::NAME) || names.iter().any(|own| text.contains(own.as_str()))
}

fn has(words: &[Word], wanted: &[&str]) -> bool {
    words.iter().any(|word| word.literal().is_some_and(|text| wanted.contains(&text)))
}

fn only_reads(words: &[Word]) -> bool {
    let asks = ["--help", "-h", "--version", "-V"];
    if words.last().is_some_and(|last| last.literal().is_some_and(|text| asks.contains(&text))) {
        return true;
    }
    let mut verbs: Vec<Option<&str>> = Vec::new();
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        match word.literal() {
            Some(text) if VALUED.contains(&text) => {
                rest.next();
            }
            Some(text) if text.starts_with('-') => {}
            text => verbs.push(text),
        }
    }
    // Without a verb it prints its help.
    verbs.is_empty()
        || READS.iter().any(|read| {
            read.len() <= verbs.len() && read.iter().zip(&verbs).all(|(wanted, verb)| *verb == Some(*wanted))
        })
}

#[cfg(test)]
mod tests {
    use super::changes;

    fn refused(script: &str) -> bool {
        let script = portcullis_shell::analyse(script);
        script.pipelines.iter().flat_map(|pipeline| &pipeline.commands).any(|command| changes(command, &[]))
    }

    #[test]
    fn verbs_that_only_read_pass() {
        for script in [
            "portcullis",
            "portcullis --help",
            "portcullis trust --help",
            "portcullis trust status --json",
            "portcullis hooks list",
            "portcullis --mode yolo why 'rm -rf x'",
            "/usr/local/bin/portcullis -C /x plugin list --json",
            "echo '{}' | portcullis check",
            "portcullis hook --agent claude",
            "portcullis --config /x plugin inspect guard",
            "portcullis ledger show --since 1h; portcullis ledger verify",
            "echo portcullis trust; grep -r 'portcullis trust' docs",
            "cargo build -p portcullis; cargo run --bin portcullis",
            "kill 12; pkill node",
        ] {
            assert!(!refused(script), "{script}");
        }
    }

    #[test]
    fn verbs_that_change_anything_are_refused_and_unknown_ones_too() {
        for script in [
            "portcullis trust add --yes",
            "portcullis -C /x trust remove status",
            "portcullis ledger clear",
            "portcullis server forget github",
            "portcullis --config x server tools a",
            "sudo portcullis uninstall",
            "~/.cargo/bin/portcullis plugin remove guard",
            "portcullis --config x install --agent claude",
            "sh -c 'portcullis plugin disable guard'",
            "\"$HOME\"/bin/portcullis frobnicate",
            "portcullis $VERB",
            "X=portcullis; $X trust",
            "Portcullis.exe trust",
        ] {
            assert!(refused(script), "{script}");
        }
    }

    #[test]
    fn ending_or_uninstalling_it_is_refused() {
        for script in [
            "pkill portcullis",
            "pkill -f 'portcullis hook'",
            "killall -9 portcullis",
            "kill $(pgrep portcullis)",
            "systemctl --user stop portcullis.service",
            "cargo uninstall portcullis",
        ] {
            assert!(refused(script), "{script}");
        }
    }
}
