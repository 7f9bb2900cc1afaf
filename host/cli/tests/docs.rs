//! What the pages say is so: their commands print what is shown, their
//! configuration is one, their links lead somewhere.
//!
//! In a block of `console`, each line that begins with `$ ` is run by `sh` in a
//! home of its own, and what stands below it is what it prints.

#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a test that runs the commands of the pages"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use portcullis::model::config::{Config, LimitsConfig};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The README, everything beside it and everything below `docs`.
fn pages() -> Vec<(PathBuf, String)> {
    let mut pages = Vec::new();
    let mut folders = vec![root().join("docs")];
    let mut add = |path: PathBuf| {
        if path.extension().is_some_and(|extension| extension == "md") {
            let text = fs::read_to_string(&path).unwrap();
            pages.push((path, text));
        }
    };
    for entry in fs::read_dir(root()).unwrap() {
        add(entry.unwrap().path());
    }
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { folders.push(path) } else { add(path) }
        }
    }
    pages
}

/// The fenced blocks of a page: what stands behind the fence, and the text.
fn blocks(page: &str) -> Vec<(String, String)> {
    let mut blocks = Vec::new();
    let mut open: Option<(String, String)> = None;
    for line in page.lines() {
        match (line.strip_prefix("```"), &mut open) {
            (Some(info), None) => open = Some((info.to_owned(), String::new())),
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (None, Some((_, text))) => {
                text.push_str(line);
                text.push('\n');
            }
            (None, None) => {}
        }
    }
    blocks
}

/// The commands of a block, each with what it prints.
fn commands(block: &str) -> Vec<(String, String)> {
    let mut commands: Vec<(String, String)> = Vec::new();
    for line in block.lines() {
        if let Some(command) = line.strip_prefix("$ ") {
            commands.push((command.to_owned(), String::new()));
        } else if let Some((_, output)) = commands.last_mut() {
            output.push_str(line);
            output.push('\n');
        }
    }
    commands
}

fn run(command: &str, home: &Path) -> String {
    let built = env!("CARGO_BIN_EXE_portcullis");
    let binary = Path::new(option_env!("PORTCULLIS_TESTED").unwrap_or(built));
    let command = command.replace("cargo run --release -q --", "portcullis");
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", binary.parent().unwrap().display());
    let output = Command::new("sh")
        .args(["-c", &format!("{command} 2>&1")])
        .current_dir(home)
        .env_clear()
        .env("HOME", home)
        .env("PATH", path)
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap().replace(home.to_str().unwrap(), "/home/dev")
}

/// Without the times that judgements took.
fn timeless(text: &str) -> String {
    let mut text = text.to_owned();
    for before in ["\"micros\":", "after ", "judgements took ", " ms, and "] {
        let mut parts = text.split(before);
        let mut out = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            out.push_str(before);
            out.push_str(part.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.'));
        }
        text = out;
    }
    text.split('(').map(microless).collect::<Vec<_>>().join("(")
}

/// Without the number of microseconds at its start.
fn microless(text: &str) -> &str {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    if rest.starts_with(" µs)") { rest } else { text }
}

#[test]
fn every_command_that_a_page_shows_prints_what_is_shown() {
    let mut ran = 0;
    for (path, text) in pages() {
        let home = tempfile::tempdir().unwrap();
        for (info, block) in blocks(&text) {
            if info != "console" {
                continue;
            }
            for (command, shown) in commands(&block) {
                assert_eq!(
                    timeless(&run(&command, home.path())),
                    timeless(&shown),
                    "{}: $ {command}",
                    path.display()
                );
                ran += 1;
            }
        }
    }
    assert!(ran >= 4, "{ran} commands ran");
}

#[test]
fn every_configuration_that_a_page_shows_is_one() {
    let mut seen = 0;
    for (path, text) in pages() {
        for (info, block) in blocks(&text) {
            match info.as_str() {
                // Of other files a block says so behind the fence: `toml cargo`.
                "toml" => {
                    let dir = tempfile::tempdir().unwrap();
                    let file = dir.path().join("config.toml");
                    fs::write(&file, &block).unwrap();
                    let config = portcullis::read_config(&file);
                    assert!(
                        config.is_ok_and(|config| config != Config::default()),
                        "{}: {block}",
                        path.display()
                    );
                    seen += 1;
                }
                "json" => {
                    let value: Result<serde_json::Value, _> = serde_json::from_str(&block);
                    assert!(value.is_ok(), "{}: {block}", path.display());
                    seen += 1;
                }
                other => assert!(
                    ["", "console", "sh", "rust", "wit", "toml cargo", "toml case", "wire"].contains(&other),
                    "{}: nothing checks a block of `{other}`",
                    path.display()
                ),
            }
        }
    }
    assert!(seen >= 2, "{seen} blocks");
}

#[test]
fn every_link_leads_somewhere() {
    for (path, text) in pages() {
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let file = link.split('#').next().unwrap_or_default();
            if file.is_empty() || file.contains("://") {
                continue;
            }
            assert!(path.parent().unwrap().join(file).exists(), "{}: {link}", path.display());
        }
    }
}

#[test]
fn the_table_of_limits_is_the_code() {
    let page = fs::read_to_string(root().join("docs/guides/operating.md")).unwrap();
    let limits = LimitsConfig::default().resolve();
    for (key, default) in [
        ("guard_ms", limits.guard_time.as_millis()),
        ("hook_ms", limits.hook_time.as_millis()),
        ("command_ms", limits.command_time.as_millis()),
        ("tool_ms", limits.tool_time.as_millis()),
        ("describe_ms", limits.describe_time.as_millis()),
        ("memory_mib", u128::try_from(limits.memory >> 20).unwrap()),
    ] {
        assert!(page.contains(&format!("\n| `{key}` | {default} |")), "`{key}` has the default {default}");
    }
}
