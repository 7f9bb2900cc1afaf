//! `portcullis hook` as a whole process, compiled components at hand, side by side
//! with hooks that look for the same command in `sh`, Python and Node.js.
//!
//! Goal: at most 2.5 times `sh`, at least 8 times faster than Python and 25 times
//! than Node.js. An interpreter that is not there is left out.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "a benchmark prints, starts the peers that it is measured against, and ends when anything is wrong"
)]

#[path = "../../../tests/benches/measure/mod.rs"]
mod measure;

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use measure::{Case, print, ratio, side_by_side};
use serde_json::{Value, json};

/// The program of this build. `-- --program FILE` measures another one.
const OWN: &str = env!("CARGO_BIN_EXE_portcullis");

/// Only looks for the words, wherever they stand in the payload: the least that a hook
/// can be.
const SH: &str = "read -r line\ncase \"$line\" in *'rm -rf'*) echo refused >&2; exit 2 ;; esac\n";
/// Takes the command out of the payload first, as the others do: with what a shell has for
/// that, and with what most hooks in `sh` use.
const SED: &str = "command=$(sed -n 's/.*\"command\": *\"\\([^\"]*\\)\".*/\\1/p')\n\
                   case $command in *'rm -rf'*) echo refused >&2; exit 2 ;; esac\n";
const JQ: &str = "command=$(jq -r .tool_input.command)\n\
                  case $command in *'rm -rf'*) echo refused >&2; exit 2 ;; esac\n";
const PYTHON: &str = "import json, sys\nif 'rm -rf' in json.load(sys.stdin)['tool_input']['command']:\n    \
                      print('refused', file=sys.stderr)\n    sys.exit(2)\n";
const NODE: &str = "let text = '';\nprocess.stdin.on('data', (part) => (text += part));\n\
                    process.stdin.on('end', () => {\n  if (JSON.parse(text).tool_input.command.includes('rm -rf')) {\n    \
                    process.stderr.write('refused\\n');\n    process.exit(2);\n  }\n});\n";

fn main() {
    let binary = std::env::args().skip_while(|argument| argument != "--program").nth(1);
    let binary = binary.map_or(Path::new(OWN).into(), |file| std::fs::canonicalize(file).unwrap());
    println!("{}", described(&binary));
    let binary = binary.to_str().unwrap();
    let dir = tempfile::tempdir().unwrap();
    let payload = json!({
        "session_id": "bench", "cwd": dir.path(), "hook_event_name": "PreToolUse",
        "tool_name": "Bash", "tool_input": { "command": "rm -rf build" }, "tool_use_id": "t",
    });
    let payload = format!("{payload}\n");
    let run = |program: &str, arguments: &[&str]| {
        let mut child = Command::new(program)
            .args(arguments)
            .current_dir(dir.path())
            .env_clear()
            .env("HOME", dir.path())
            .env("PATH", "/usr/bin:/bin")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // One that ends before it has read everything is caught by its exit code.
        drop(child.stdin.take().unwrap().write_all(payload.as_bytes()));
        assert_eq!(child.wait().unwrap().code(), Some(2), "{program}");
    };
    let installed = Command::new(binary)
        .args(["install", "claude"])
        .current_dir(dir.path())
        .env_clear()
        .env("HOME", dir.path())
        .output()
        .unwrap();
    assert!(installed.status.success());
    let settings = std::fs::read_to_string(dir.path().join(".claude/settings.json")).unwrap();
    let settings: Value = serde_json::from_str(&settings).unwrap();
    let entry = settings.pointer("/hooks/PreToolUse/0/hooks/0/command").unwrap().as_str().unwrap().to_owned();
    let script = |name: &str, text: &str| {
        let path = dir.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (sh, python, node) = (script("hook.sh", SH), script("hook.py", PYTHON), script("hook.js", NODE));
    let (sed, jq) = (script("sed.sh", SED), script("jq.sh", JQ));
    let mut cases = vec![
        Case::new("/bin/sh hook.sh", 1, || run("/bin/sh", &[&sh])),
        Case::new("portcullis hook", 1, || run(binary, &["hook", "--agent", "claude"])),
        Case::new("the installed entry, which is `sh` around the same", 1, || {
            run("/bin/sh", &["-c", &entry])
        }),
    ];
    for (name, program, needed, file) in [
        ("/bin/sh with sed", "/bin/sh", "/bin/sh", &sed),
        ("/bin/sh with jq", "/bin/sh", "/usr/bin/jq", &jq),
        ("python3 hook.py", "/usr/bin/python3", "/usr/bin/python3", &python),
        ("node hook.js", "/usr/bin/node", "/usr/bin/node", &node),
    ] {
        if Path::new(needed).exists() {
            cases.push(Case::new(name, 1, move || run(program, &[file])));
        }
    }
    let figures = side_by_side(100, &mut cases);
    print("one refused call, a process each, side by side", &cases, &figures);
    println!("goal: at most 2.5 times `sh`\nratio: {:.1} times `sh`", ratio(figures[1], figures[0]));
    for (case, figure) in cases.iter().zip(&figures).skip(3) {
        let goal = match case.name.split(' ').next() {
            Some("python3") => "goal: at least 8 times faster than",
            Some("node") => "goal: at least 25 times faster than",
            // Reading the command out of the payload is what the goals' other programs do.
            _ => "no goal: times faster than",
        };
        println!("{goal} `{}`\nratio: {:.1}", case.name, ratio(*figure, figures[1]));
    }
}

/// How the program was built, as far as that can be seen.
fn described(binary: &Path) -> String {
    let profile = binary.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy();
    let bytes = std::fs::read(binary).unwrap();
    let head = &bytes[..bytes.len().min(4096)];
    let is_dynamic = head.windows(4).any(|part| part == b"/ld-");
    let linked = if is_dynamic { "dynamically" } else { "statically" };
    format!("profile `{profile}`, {linked} linked, {:.1} MB", bytes.len() as f64 / 1e6)
}
