//! Scripts that could not be taken apart as a whole. All that can be said is that a text names a protected path and
//! holds a word that changes files.

/// Words of PowerShell and of POSIX shells that change files.
const CHANGES: &[&str] = &[
    "set-content",
    "add-content",
    "clear-content",
    "out-file",
    "remove-item",
    "move-item",
    "copy-item",
    "new-item",
    "rename-item",
    "tee-object",
    "export-csv",
    "invoke-webrequest",
    "expand-archive",
    "writealltext",
    "writealllines",
    "appendalltext",
    "ni",
    "ri",
    "mi",
    "sc",
    "ac",
    "cpi",
    "rni",
    "del",
    "erase",
    "rd",
    "ren",
    "rm",
    "mv",
    "cp",
    "ln",
    "tee",
    "dd",
    "sed",
    "truncate",
    "chmod",
    "unlink",
    "touch",
    "install",
    "icacls",
    "attrib",
];

/// The paths that a text names, if it changes anything.
pub(super) fn paths(text: &str) -> Vec<String> {
    let pieces = || text.split(|c: char| c.is_whitespace() || "'\"`;|&(){}=,<>".contains(c));
    let changes = text.contains('>')
        || pieces().any(|piece| {
            let word = piece.rsplit(['.', ':']).next().unwrap_or_default().to_ascii_lowercase();
            CHANGES.contains(&word.as_str())
        });
    if !changes {
        return Vec::new();
    }
    pieces().filter(|piece| piece.contains(['/', '\\'])).map(|piece| piece.replace('\\', "/")).collect()
}

#[cfg(test)]
mod tests {
    use super::paths;

    #[test]
    fn a_text_that_changes_nothing_names_nothing() {
        assert!(paths(r"Get-Content $HOME\.claude\settings.json").is_empty());
        assert!(!paths(r"Set-Content -Path $HOME\.claude\settings.json -Value x").is_empty());
        assert_eq!(paths(r"[IO.File]::WriteAllText('C:\a\b', $x)"), ["C:/a/b"]);
    }
}
