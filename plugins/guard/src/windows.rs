//! What PowerShell and `cmd` call the same things.

use portcullis_sdk::{Command, Word};

use crate::category::Category;
use crate::secret;

pub(crate) fn check(name: &str, command: &Command) -> Option<Category> {
    let found = match name {
        "remove-item" | "ri" => parameter(command, "recurse")
            .then_some(Category::Rm)
            .or(parameter(command, "force").then_some(Category::Rm)),
        // `rd` and `del` are aliases of `Remove-Item` too.
        "rd" | "rmdir" => (switch(command, b's') || parameter(command, "recurse")).then_some(Category::Rm),
        "del" | "erase" => del(command).then_some(Category::Rm),
        "clear-recyclebin" => Some(Category::Rm),
        "clear-content" | "clc" => command.literals().any(secret::holds).then_some(Category::Overwrite),
        "format" => drive(command).then_some(Category::Mkfs),
        "format-volume" | "initialize-disk" | "clear-disk" | "remove-partition" | "diskpart" => {
            Some(Category::Device)
        }
        "stop-computer" | "restart-computer" => Some(Category::Power),
        "remove-azresourcegroup" => Some(Category::Infra),
        _ => None,
    };
    found.filter(|_| !parameter(command, "whatif"))
}

/// Whether a PowerShell parameter is given, in full or abbreviated.
fn parameter(command: &Command, name: &str) -> bool {
    command.literals().any(|word| {
        let given = word.strip_prefix('-').and_then(|given| given.split(':').next());
        given.is_some_and(|given| {
            !given.is_empty()
                && name.get(..given.len()).is_some_and(|start| start.eq_ignore_ascii_case(given))
        })
    })
}

/// Whether a switch of `cmd` such as `/s` is given, alone or as in `/s/q`.
fn switch(command: &Command, letter: u8) -> bool {
    command.literals().any(|word| {
        word.strip_prefix('/').is_some_and(|switches| {
            switches.split('/').all(|switch| switch.len() <= 1 || switch.contains(':'))
                && switches
                    .split('/')
                    .any(|switch| switch.as_bytes().first().is_some_and(|b| b.eq_ignore_ascii_case(&letter)))
        })
    })
}

fn del(command: &Command) -> bool {
    let wild = || command.args().iter().any(|word| word.text().contains('*'));
    switch(command, b's')
        || switch(command, b'f')
        || parameter(command, "recurse")
        || parameter(command, "force")
        || (switch(command, b'q') && wild())
}

fn drive(command: &Command) -> bool {
    let first = command.args().iter().map(Word::text).find(|word| !word.starts_with('/'));
    first.is_some_and(|word| matches!(word.as_bytes(), [letter, b':'] if letter.is_ascii_alphabetic()))
}

#[cfg(test)]
mod tests {
    use portcullis_sdk::testing::command;

    use super::check;
    use crate::category::Category;

    fn judged(text: &str) -> Option<Category> {
        let command = command(text);
        check(&command.program().unwrap().to_ascii_lowercase(), &command)
    }

    #[test]
    fn a_recursive_or_forced_delete_is_refused() {
        for text in [
            r"Remove-Item -Recurse -Force C:\",
            "ri x -r",
            "ri -rec x",
            "Remove-Item x -fo",
            "remove-item x -Recurse:$true",
            "rd /s /q x",
            "rd /S/Q x",
            "rmdir /s x",
            "rd x -Recurse",
            "del /f x",
            "del /s *.obj",
            "erase /F/Q x",
            "del /q *.*",
            "Clear-RecycleBin",
        ] {
            assert_eq!(judged(text), Some(Category::Rm), "{text}");
        }
    }

    #[test]
    fn a_plain_delete_passes() {
        for text in [
            "Remove-Item x",
            "ri x -WhatIf -Recurse",
            "rd x",
            "rmdir empty-dir",
            "rmdir -p a/b",
            "rmdir /srv/x",
            "rmdir /s_old",
            "del x",
            "del /q x",
            "del /tmp/f",
        ] {
            assert_eq!(judged(text), None, "{text}");
        }
    }

    #[test]
    fn disks_and_power_are_known() {
        assert_eq!(judged("format c:"), Some(Category::Mkfs));
        assert_eq!(judged("format /q D:"), Some(Category::Mkfs));
        assert_eq!(judged("format src/main.rs"), None);
        assert_eq!(judged("Format-Volume -DriveLetter D"), Some(Category::Device));
        assert_eq!(judged("Stop-Computer -Force"), Some(Category::Power));
        assert_eq!(judged("Clear-Content .env"), Some(Category::Overwrite));
        assert_eq!(judged("Clear-Content a.log"), None);
    }
}
