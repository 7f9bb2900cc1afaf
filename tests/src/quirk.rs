//! Skills as people write them: every way that is known from the field to be odd, in
//! about the shares in which they are found there, and in any number.

use std::fs;
use std::io;
use std::path::Path;

/// One way to write a skill.
#[derive(Debug, Clone, Copy)]
pub struct Quirk {
    /// What it is.
    pub name: &'static str,
    /// How many of a thousand are like this.
    pub share: usize,
    /// `load`, `warn` or `skip`; empty when no skill is seen there.
    pub load: &'static str,
    /// The specification allows it.
    pub conforming: bool,
    /// Its `SKILL.md`, in a directory of this name.
    bytes: fn(&str) -> Vec<u8>,
}

const DESCRIPTION: &str = "Trims log files to the lines that matter. Use when a log is too long to read.";

fn with(name: &str, fields: &str) -> Vec<u8> {
    let body = "# Steps\n\nRead the file, keep what matters, and say what was left out.\n".repeat(60);
    format!("---\nname: {name}\n{fields}---\n\n{body}").into_bytes()
}

fn plain(name: &str, more: &str) -> Vec<u8> {
    with(name, &format!("description: {DESCRIPTION}\n{more}"))
}

macro_rules! quirks {
    ($($name:literal $share:literal $load:literal $conforming:literal $bytes:expr;)*) => {
        /// All of them.
        pub const QUIRKS: &[Quirk] = &[$(Quirk {
            name: $name, share: $share, load: $load, conforming: $conforming, bytes: $bytes,
        },)*];
    };
}

quirks! {
    "plain" 300 "load" true |name| plain(name, "");
    "all-fields" 40 "load" true |name| plain(name, "license: MIT\ncompatibility: Any\nmetadata:\n  version: '1.0'\nallowed-tools: Read Bash(git:*)\n");
    "empty-body" 4 "load" true |name| format!("---\nname: {name}\ndescription: {DESCRIPTION}\n---\n").into_bytes();
    "crlf" 8 "load" true |name| String::from_utf8_lossy(&plain(name, "")).replace('\n', "\r\n").into_bytes();
    "bom" 2 "load" true |name| [b"\xef\xbb\xbf".to_vec(), plain(name, "")].concat();
    "dashes-in-value" 3 "load" true |name| with(name, "description: Splits text at --- marks\n");
    "folded" 40 "load" true |name| with(name, "description: >-\n  Trims log files.\n  Use when: one is too long.\n");
    "large" 2 "load" true |name| [plain(name, ""), b"x\n".repeat(100_000)].concat();
    "tools-comma" 30 "load" true |name| plain(name, "allowed-tools: Read, Bash(git log, git show), Grep\n");
    "markup" 5 "warn" true |name| with(name, "description: Reads <b>any</b> file\n");
    "comment-in-text" 5 "warn" true |name| with(name, "description: Reads issue #12 and tells #tags apart # somehow\n");
    "number-as-name" 1 "warn" true |name| with("8004", &format!("description: {DESCRIPTION} {name}\n"));
    "quote-at-margin" 5 "warn" true |name| with(name, "description: \"Trims log files\nto the lines that matter.\"\n");
    "fence-with-blanks" 3 "warn" true |name| String::from_utf8_lossy(&plain(name, "")).replacen("---\n", "--- \n", 1).into_bytes();
    "unknown-fields" 200 "warn" false |name| plain(name, "version: 1.0.0\nauthor: somebody\ntags: [a, b]\n");
    "flow-metadata" 90 "warn" false |name| plain(name, "metadata: {\"demo\": {\"requires\": {\"bins\": [\"rg\"]}}}\n");
    "nested-metadata" 30 "warn" false |name| plain(name, "metadata:\n  build: 3\n  on: 2024-01-02\n");
    "metadata-as-text" 2 "warn" false |name| plain(name, "metadata: none\n");
    "surrogates" 2 "warn" false |name| plain(name, "metadata: {\"emoji\": \"\\ud83d\\udcc4\"}\n");
    "tools-list" 15 "warn" false |name| plain(name, "allowed-tools: [Read, Grep]\n");
    "hint-as-list" 8 "warn" false |name| plain(name, "argument-hint: [file]\n");
    "other-name" 80 "warn" false |name| plain(&format!("{name}-skill"), "");
    "upper-case" 15 "warn" false |name| plain(&name.to_uppercase(), "");
    "blanks-in-name" 15 "warn" false |name| plain(&name.replace('-', " "), "");
    "underscores" 5 "warn" false |name| plain(&name.replace('-', "_"), "");
    "letters-not-ascii" 3 "warn" false |name| plain(&format!("größe-{name}"), "");
    "long-name" 2 "warn" false |name| plain(&format!("{name}-{}", "a".repeat(80)), "");
    "long-description" 5 "warn" false |name| with(name, &format!("description: {}\n", "é".repeat(1100)));
    "colon" 20 "warn" false |name| with(name, "description: Use this when: the log is long\n");
    "star" 6 "warn" false |name| with(name, "description: **Trim** long logs\n");
    "backtick" 2 "warn" false |name| with(name, "description: `rg` based log trimming\n");
    "text-behind-block-mark" 6 "warn" false |name| with(name, "description: > Trim long logs when asked\n");
    "tab-indent" 2 "warn" false |name| plain(name, "metadata:\n\towner: ops\n");
    "key-twice" 2 "warn" false |name| plain(name, "license: MIT\nlicense: BSD\n");
    "blank-lines-first" 2 "warn" false |name| [b"\n\n".to_vec(), plain(name, "")].concat();
    "compatibility-as-map" 2 "warn" false |name| plain(name, "compatibility: {os: linux}\n");
    "no-frontmatter" 20 "skip" false |_| b"# Steps\n\nDo the thing.\n".to_vec();
    "unclosed" 3 "skip" false |name| format!("---\nname: {name}\ndescription: {DESCRIPTION}\n").into_bytes();
    "no-name" 3 "skip" false |_| format!("---\ndescription: {DESCRIPTION}\n---\n").into_bytes();
    "no-description" 2 "skip" false |name| with(name, "");
    "empty-description" 2 "skip" false |name| with(name, "description:\n");
    "description-as-list" 1 "skip" false |name| with(name, "description: [TODO]\n");
    "path-as-name" 2 "skip" false |name| plain(&format!("../{name}"), "");
    "nul" 1 "skip" false |name| with(name, "description: |\n  Trims \0 logs.\n");
    "not-utf8" 1 "skip" false |name| [plain(name, ""), b"\x92".to_vec()].concat();
    "utf16" 1 "skip" false |name| String::from_utf8_lossy(&plain(name, "")).encode_utf16().flat_map(u16::to_le_bytes).collect();
    "alias-bomb" 1 "skip" false |name| with(name, "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: [*d,*d,*d,*d,*d,*d,*d,*d,*d]\n");
    "deep" 1 "skip" false |name| with(name, &format!("a: {}\n", "[".repeat(2000)));
}

/// A skill that was written.
#[derive(Debug, Clone)]
pub struct Written {
    /// Its path below the directory.
    pub slug: String,
    /// How it was written.
    pub quirk: Quirk,
}

/// Writes `count` skills below `directory`, a hundred to a collection, with the files that
/// they usually bring, and now and then something that is no skill.
///
/// # Errors
/// When a file cannot be written.
pub fn write(directory: &Path, count: usize) -> io::Result<Vec<Written>> {
    let total: usize = QUIRKS.iter().map(|quirk| quirk.share).sum();
    let mut written = Vec::with_capacity(count);
    for number in 0..count {
        // Spread evenly, and every quirk is among the first thousand or so.
        let mut at = number * 7919 % total;
        let mut quirk = QUIRKS.first().copied();
        for own in QUIRKS {
            if at < own.share {
                quirk = Some(*own);
                break;
            }
            at -= own.share;
        }
        let Some(quirk) = quirk else { continue };
        let name = if quirk.name == "number-as-name" {
            "8004".to_owned()
        } else {
            format!("{}-{number}", quirk.name)
        };
        let collection = format!("c{:03}", number / 100);
        let own = directory.join(&collection).join(&name);
        fs::create_dir_all(&own)?;
        fs::write(own.join("SKILL.md"), (quirk.bytes)(&name))?;
        if number % 3 == 0 {
            fs::create_dir(own.join("scripts"))?;
            fs::write(own.join("scripts/run.sh"), "exit 1\n")?;
        }
        match number % 500 {
            17 => fs::create_dir_all(own.join("node_modules/x"))
                .and_then(|()| fs::write(own.join("node_modules/x/SKILL.md"), plain("x", "")))?,
            117 => fs::write(own.join(".gitignore"), "*.log\n")?,
            217 => std::os::unix::fs::symlink("..", own.join("loop"))?,
            317 => fs::create_dir_all(own.join(".cache"))
                .and_then(|()| fs::write(own.join(".cache/SKILL.md"), plain("y", "")))?,
            _ => {}
        }
        written.push(Written { slug: format!("{collection}/{name}"), quirk });
    }
    Ok(written)
}
