//! `portcullis ledger`, and what `hook` and `check` write into it.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::unreachable,
    clippy::indexing_slicing,
    reason = "a test ends when anything is wrong"
)]

mod support;

use std::fs;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use portcullis_tests::plugin::Plugin;
use serde_json::Value;

use crate::support::{BINARY, Seen, User, fixture};

const RM: &str = r#"{"id":"c1","session_id":"s1","tool":"Bash","input":{"command":"rm -rf build"}}"#;
const LS: &str = r#"{"id":"c2","session_id":"s2","tool":"Bash","input":{"command":"ls"}}"#;

/// A user whose state is their own. The key to the cache is the one that all tests
/// share, so that nothing is compiled again.
struct Keeper(User);

impl Keeper {
    fn new() -> Self {
        let user = User::new();
        let shared = Path::new(env!("CARGO_TARGET_TMPDIR")).join("state/portcullis/cache.key");
        if !shared.is_file() {
            user.run(&["check", "--isolated"], LS);
        }
        let keeper = Self(user);
        fs::create_dir_all(keeper.state()).unwrap();
        fs::copy(shared, keeper.state().join("cache.key")).unwrap();
        keeper
    }

    fn state(&self) -> PathBuf {
        self.0.path("state/portcullis")
    }

    fn dir(&self) -> PathBuf {
        self.state().join("ledger")
    }

    fn command(&self, program: &str) -> Command {
        let mut command = self.0.command(program);
        command.env("XDG_STATE_HOME", self.0.path("state"));
        command
    }

    fn run(&self, arguments: &[&str], stdin: impl AsRef<[u8]>) -> Seen {
        self.0.finish(self.command(BINARY).args(arguments), stdin.as_ref())
    }

    fn claude(&self, fixture_name: &str) -> Seen {
        self.run(&["hook", "--agent", "claude"], fixture(fixture_name))
    }

    /// The lines of the ledger, by `show --json`.
    fn lines(&self, filters: &[&str]) -> Vec<Value> {
        let seen = self.run(&[&["ledger", "show", "--json"], filters].concat(), "");
        assert_eq!((seen.code, seen.stderr.as_str()), (Some(0), ""), "{seen}");
        seen.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Puts a file where the ledger's directory belongs.
    fn spoil(&self) {
        let _ = fs::remove_dir_all(self.dir());
        fs::write(self.dir(), "in the way").unwrap();
    }
}

fn word<'a>(line: &'a Value, pointer: &str) -> &'a str {
    line.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

#[test]
fn a_ledger_that_is_not_there_is_told_in_clear_words() {
    let keeper = Keeper::new();
    for verb in ["show", "verify"] {
        let seen = keeper.run(&["ledger", verb], "");
        assert_eq!(seen.code, Some(0), "{seen}");
        let text = format!("{}{}", seen.stdout, seen.stderr);
        assert!(text.contains("The ledger is empty: nothing was written yet."), "{seen}");
        assert!(text.contains("[user]/state/portcullis/ledger"), "{seen}");
    }
    assert!(keeper.lines(&[]).is_empty());
    let seen = keeper.run(&["ledger", "verify", "--json"], "");
    let value: Value = serde_json::from_str(&seen.stdout).unwrap();
    assert_eq!((&value["whole"], &value["entries"]), (&true.into(), &0.into()));
    let seen = keeper.run(&["ledger", "show", "--dir", "nowhere"], "");
    assert_eq!((seen.code, seen.stderr.as_str()), (Some(1), "error: there is no directory `nowhere`\n"));
}

#[test]
fn a_refusal_is_one_line_and_an_allowed_call_is_none_until_the_file_says_so() {
    let keeper = Keeper::new();
    assert_eq!(keeper.claude("claude/pre-bash.json").code, Some(2));
    keeper.run(&["check"], format!("{LS}\n{RM}\n"));
    let lines = keeper.lines(&[]);
    assert_eq!(lines.len(), 2, "{lines:?}");
    for (at, line) in lines.iter().enumerate() {
        assert_eq!((&line["v"], &line["seq"]), (&1.into(), &(at + 1).into()));
        assert_eq!((word(line, "/kind"), word(line, "/verdict")), ("judgement", "block"));
        assert_eq!((word(line, "/tool"), word(line, "/canonical")), ("Bash", "bash"));
        assert_eq!((word(line, "/by/kind"), word(line, "/by/name")), ("guard", "guard"));
        assert_eq!(word(line, "/code"), "guard/rm");
        assert_eq!(word(line, "/effects/0"), "run: rm -rf build");
        assert!(word(line, "/reason").starts_with("Blocked by the guard plugin"), "{line}");
        assert!(line.get("fault").is_none() && line["micros"].is_u64() && line["pid"].is_u64(), "{line}");
    }
    assert_eq!((word(&lines[0], "/agent"), word(&lines[1], "/agent")), ("claude", ""));
    assert_eq!((word(&lines[1], "/call"), word(&lines[1], "/session")), ("c1", "s1"));
    assert_eq!(word(&lines[1], "/prev"), word(&lines[0], "/hash"));
    keeper.0.config("[audit]\nallowed = true");
    keeper.run(&["check"], LS);
    assert_eq!(word(keeper.lines(&[]).last().unwrap(), "/verdict"), "allow");
    // And nothing at all where no file of the user's is read.
    assert_eq!(keeper.run(&["check", "--isolated"], RM).code, Some(2));
    let kinds: Vec<_> = keeper.lines(&[]).iter().map(|line| word(line, "/kind").to_owned()).collect();
    assert_eq!(kinds, ["judgement", "judgement", "config", "judgement"]);
}

#[test]
fn what_never_reaches_the_gate_is_a_line_too() {
    let keeper = Keeper::new();
    keeper.run(&["hook", "--agent", "claude"], "garbage");
    keeper.run(&["hook", "--agent", "gemini", "--bogus"], "");
    keeper.run(&["check"], "what is this");
    let mut command = keeper.command(BINARY);
    let mut child = command.args(["hook", "--agent", "codex", "--timeout", "1"]).spawn().unwrap();
    let open = child.stdin.take();
    child.wait_with_output().unwrap();
    drop(open);
    keeper.0.config("[plugins]\nenabled = 7");
    assert_eq!(keeper.claude("claude/pre-bash.json").code, Some(2));
    keeper.run(&["check"], RM);
    let lines = keeper.lines(&[]);
    let seen: Vec<_> =
        lines.iter().map(|line| (word(line, "/kind"), word(line, "/agent"), word(line, "/fault"))).collect();
    assert_eq!(
        seen,
        [
            ("fault", "claude", "bad-input"),
            ("fault", "gemini", "bad-input"),
            ("fault", "", "bad-input"),
            ("fault", "codex", "timeout"),
            ("fault", "claude", "internal"),
            ("fault", "", "load"),
        ]
    );
    assert!(lines.iter().all(|line| word(line, "/verdict") == "block"));
}

#[test]
fn plugins_that_are_turned_off_are_written_down() {
    let keeper = Keeper::new();
    assert_eq!(keeper.run(&["check", "--no-plugins"], RM).code, Some(0));
    let lines = keeper.lines(&[]);
    assert_eq!((lines.len(), word(&lines[0], "/kind")), (1, "no-plugins"));
    // Locked, it is refused, and that is written too.
    keeper.0.config("[plugins]\nlocked = true");
    assert_eq!(keeper.run(&["check", "--no-plugins"], RM).code, Some(2));
    assert_eq!(word(keeper.lines(&[]).last().unwrap(), "/kind"), "fault");
}

#[test]
fn a_change_of_what_acts_is_one_line() {
    let keeper = Keeper::new();
    for config in ["", "", "[plugins]\nenabled = [\"guard\"]", "[plugins]\nenabled = [\"guard\"]"] {
        keeper.0.config(config);
        keeper.run(&["check"], LS);
    }
    let lines = keeper.lines(&[]);
    assert_eq!((lines.len(), word(&lines[0], "/kind")), (2, "config"), "{lines:?}");
    assert_eq!((word(&lines[0], "/reason"), word(&lines[0], "/config").len()), (ANOTHER, 64));
    assert_eq!(word(&lines[1], "/kind"), "plugins");
    assert_eq!(word(&lines[1], "/reason"), "Other plugins act than before: time went.");
    assert_eq!((word(&lines[1], "/plugins/0/name"), &lines[1]["plugins"][1]), ("guard", &Value::Null));
}

const ANOTHER: &str = "The configuration is another one than before.";

/// A process that lives for one call has no last good configuration. What it lost since
/// the call before is written down.
#[test]
fn a_configuration_that_lost_something_between_two_calls_is_a_line_that_says_what() {
    let keeper = Keeper::new();
    let strict = "[plugins]\nrequired = [\"guard\"]\n[audit]\nrequired = true\n";
    // The same words in another order say the same, and a comment says nothing.
    let again = "# house rules\n[audit]\nrequired = true\n[plugins]\nrequired = [\"guard\"]\n";
    for config in [strict, strict, again, "", "", strict] {
        keeper.0.config(config);
        assert_eq!(keeper.run(&["check"], LS).code, Some(0));
    }
    let lines = keeper.lines(&[]);
    let told: Vec<_> = lines.iter().map(|line| (word(line, "/kind"), word(line, "/reason"))).collect();
    let lost = format!("{ANOTHER} It lost `audit.required = true`, `guard` in `plugins.required`.");
    assert_eq!(told, [("config", lost.as_str()), ("config", ANOTHER)]);
}

#[test]
fn doctor_tells_how_the_guards_fared() {
    let keeper = Keeper::new();
    keeper.0.config("[audit]\nallowed = true");
    let told = || keeper.run(&["doctor"], "").stdout;
    assert!(!told().contains("guard guard"), "nothing was judged yet");
    keeper.run(&["check"], format!("{RM}\n{RM}\n{LS}\n"));
    let said = told();
    assert!(said.contains("ok    guard guard"), "{said}");
    assert!(
        said.contains("in the last 7 days it refused 2 of 3 calls and failed at 0; such judgements"),
        "{said}"
    );
    keeper.0.plugin("lost.wasm", &Plugin::new("lost").allows("unreachable").build().unwrap());
    assert_eq!(keeper.run(&["check"], LS).code, Some(2));
    let said = told();
    assert!(said.contains("warn  guard lost") && said.contains("--by lost --fault"), "{said}");
}

/// Row D04 of the faults: a ledger that is required and cannot be written.
#[test]
fn a_ledger_that_is_required_and_cannot_be_written_refuses_every_call() {
    let keeper = Keeper::new();
    keeper.0.config("[audit]\nrequired = true");
    // Healthy, an allowed and a refused call.
    let healthy = keeper.run(&["check"], format!("{LS}\n{RM}\n"));
    let verdicts = |seen: &Seen| -> Vec<String> {
        let lines = seen.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        lines.map(|line| format!("{} {}", word(&line, "/verdict"), word(&line, "/code"))).collect()
    };
    assert_eq!(verdicts(&healthy), ["allow ", "block guard/rm"]);
    keeper.spoil();
    let seen = keeper.run(&["check"], format!("{LS}\n{RM}\n"));
    assert_eq!(verdicts(&seen), ["block fault/resource", "block guard/rm"], "{seen}");
    let first: Value = serde_json::from_str(seen.stdout.lines().next().unwrap()).unwrap();
    assert_eq!((word(&first, "/by/kind"), word(&first, "/by/name")), ("standing", "ledger"));
    assert_eq!(word(&first, "/fault"), "resource");
    let reason = word(&first, "/reason");
    for part in ["ledger", "not a directory", "`portcullis ledger verify`", "`required = true`"] {
        assert!(reason.contains(part), "{part}: {reason}");
    }
    assert!(!reason.contains("[user]"), "a host path reached the model: {reason}");
    // The hook refuses a harmless call in the agent's own dialect.
    let payload = fixture("claude/pre-bash.json").replace("rm -rf build", "npm test");
    assert_eq!(keeper.run(&["hook", "--agent", "claude"], &payload).code, Some(2));
    // What repairs it works meanwhile.
    let seen = keeper.run(&["ledger", "verify"], "");
    assert!(seen.code == Some(1) && seen.stderr.contains("[user]/state/portcullis/ledger"), "{seen}");
    fs::remove_file(keeper.dir()).unwrap();
    assert_eq!(keeper.run(&["hook", "--agent", "claude"], &payload).code, Some(0));
}

#[test]
fn a_ledger_that_is_not_required_and_cannot_be_written_changes_no_judgement() {
    let keeper = Keeper::new();
    keeper.spoil();
    let seen = keeper.run(&["check"], format!("{LS}\n{RM}\n"));
    assert_eq!((seen.stdout.matches("\"allow\"").count(), seen.code), (1, Some(2)), "{seen}");
    let seen = keeper.run(&["-v", "check"], format!("{RM}\n{RM}\n"));
    assert_eq!(seen.stderr.matches("what was decided is not written down").count(), 1, "{seen}");
    // Without a place for it, it can be required in vain only.
    keeper.0.config("[audit]\nrequired = true");
    let config = keeper.0.path("config/portcullis/config.toml");
    let seen = keeper.run(&["check", "--isolated", "--config", config.to_str().unwrap()], LS);
    assert!(seen.code == Some(2) && seen.stdout.contains("there is no place for it"), "{seen}");
}

#[test]
fn doctor_tells_how_the_ledger_stands() {
    let keeper = Keeper::new();
    let level = || -> String {
        let seen = keeper.run(&["doctor", "--json"], "");
        let value: Value = serde_json::from_str(&seen.stdout).unwrap();
        let findings = value["findings"].as_array().unwrap();
        let found: Vec<_> = findings.iter().filter(|finding| finding["subject"] == "ledger").collect();
        assert_eq!(found.len(), 1, "{seen}");
        format!("{}: {}", word(found[0], "/level"), word(found[0], "/text"))
    };
    assert!(level().starts_with("ok: can be written; 0 entries"), "{}", level());
    keeper.run(&["check"], format!("{RM}\n{RM}\n"));
    assert!(level().starts_with("ok: can be written; 2 entries"), "{}", level());
    let file = keeper.dir().join("ledger.jsonl");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, &text[..text.len() - 9]).unwrap();
    assert!(level().starts_with("warn: ledger.jsonl:2 is not finished"), "{}", level());
    fs::write(&file, text.replacen("rm -rf build", "ls", 1)).unwrap();
    assert!(level().starts_with("fail: the chain breaks at ledger.jsonl:1: "), "{}", level());
    keeper.spoil();
    assert!(level().starts_with("warn: what is refused is not written down: "), "{}", level());
    keeper.0.config("[audit]\nrequired = true");
    assert!(level().starts_with("fail: every call is refused: "), "{}", level());
}

/// Row D04 of the faults: no room for another byte.
#[test]
fn a_file_that_may_not_grow_is_a_refusal_and_leaves_no_half_a_line() {
    let keeper = Keeper::new();
    keeper.0.config("[audit]\nrequired = true\nallowed = true");
    // The engine makes files of its own, in memory, which have to fit below the limit.
    fs::create_dir_all(keeper.dir()).unwrap();
    fs::write(keeper.dir().join("ledger.jsonl"), vec![0; 4 << 20]).unwrap();
    assert_eq!(keeper.run(&["check"], LS).code, Some(0));
    let before = fs::metadata(keeper.dir().join("ledger.jsonl")).unwrap().size();
    let long = format!("npm test {}", "x ".repeat(400));
    let payload = fixture("claude/pre-bash.json").replace("rm -rf build", &long);
    let mut command = keeper.command("/bin/sh");
    // In blocks of 512 bytes: room for a part of a line.
    let limit = before / 512 + 1;
    command.args(["-c", &format!("ulimit -f {limit}; exec \"$0\" hook --agent claude"), BINARY]);
    let seen = keeper.0.finish(&mut command, payload.as_bytes());
    assert_eq!(seen.code, Some(2), "{seen}");
    assert!(seen.stderr.contains("the ledger of Portcullis cannot be written: File too large"), "{seen}");
    assert_eq!(fs::metadata(keeper.dir().join("ledger.jsonl")).unwrap().size(), before);
    assert_eq!(keeper.run(&["ledger", "verify"], "").code, Some(0));
    assert_eq!(keeper.run(&["hook", "--agent", "claude"], &payload).code, Some(0), "and it recovers");
    assert!(fs::metadata(keeper.dir().join("ledger.jsonl")).unwrap().size() > before + 512);
}

#[test]
fn a_link_in_the_place_of_the_file_is_not_followed() {
    let keeper = Keeper::new();
    let victim = keeper.0.write("victim", "");
    fs::create_dir_all(keeper.dir()).unwrap();
    symlink(&victim, keeper.dir().join("ledger.jsonl")).unwrap();
    assert_eq!(keeper.claude("claude/pre-bash.json").code, Some(2));
    assert_eq!(fs::read_to_string(victim).unwrap(), "");
}

#[test]
fn the_table_is_for_people_and_its_filters_hold() {
    let keeper = Keeper::new();
    keeper.0.config("[audit]\nallowed = true");
    let escape = r#"{"id":"c3","session_id":"s3","tool":"Bash","input":{"command":"rm -rf \u001b[2Jx --token hunter2"}}"#;
    keeper.run(&["check"], format!("{LS}\n{RM}\n{escape}\nnonsense\n"));
    let seen = keeper.run(&["ledger", "show"], "");
    let rows: Vec<&str> = seen.stdout.lines().collect();
    assert!(rows[0].starts_with("TIME ") && rows.len() == 5, "{seen}");
    for (row, parts) in rows[1..].iter().zip([
        &["allow", "bash", "run: ls"][..],
        &["block", "bash", "guard/rm", "run: rm -rf build"],
        &["block", "guard/rm", "[2Jx --token [redacted]"],
        &["block", "check", "fault/bad-input", "not valid JSON"],
    ]) {
        assert!(parts.iter().all(|part| row.contains(part)), "{row}: {parts:?}");
    }
    assert!(!seen.stdout.contains('\u{1b}') && !seen.stdout.contains("hunter2"), "{seen}");
    let ids = |filters: &[&str]| -> Vec<String> {
        keeper.lines(filters).iter().map(|line| word(line, "/call").to_owned()).collect()
    };
    assert_eq!(ids(&["--verdict", "allow"]), ["c2"]);
    assert_eq!(ids(&["--verdict", "block", "--tool", "BASH"]), ["c1", "c3"]);
    assert_eq!(ids(&["--session", "s3"]), ["c3"]);
    assert_eq!(ids(&["--by", "guard"]), ["c1", "c3"]);
    assert_eq!(ids(&["--fault"]), [""]);
    assert_eq!(ids(&["--last", "2"]), ["c3", ""]);
    assert_eq!(ids(&["--since", "1h"]).len(), 4);
    assert!(ids(&["--since", "0s"]).is_empty());
    let seen = keeper.run(&["ledger", "show", "--session", "nobody"], "");
    assert_eq!(
        (seen.stdout.as_str(), seen.stderr.as_str()),
        ("", "None of the 4 entries is what you ask for.\n")
    );
    let seen = keeper.run(&["ledger", "show", "--last", "1"], "");
    assert!(seen.stderr.contains("the newest 1 of 4"), "{seen}");
    let seen = keeper.run(&["ledger", "show", "--since", "yesterday"], "");
    assert!(seen.code == Some(1) && seen.stderr.contains("hint: `15m`"), "{seen}");
}

#[test]
fn a_chain_that_breaks_is_told_with_file_and_line() {
    let keeper = Keeper::new();
    keeper.run(&["check"], format!("{RM}\n{RM}\n{RM}\n"));
    let seen = keeper.run(&["ledger", "verify"], "");
    assert_eq!(seen.code, Some(0), "{seen}");
    assert!(
        seen.stdout.starts_with("3 entries in 1 file, from 20") && seen.stdout.contains("is whole"),
        "{seen}"
    );
    let file = keeper.dir().join("ledger.jsonl");
    let text = fs::read_to_string(&file).unwrap();
    let second = text.lines().nth(1).unwrap();
    for (changed, kind) in [
        (text.replacen(second, &second.replace("rm -rf build", "ls"), 1), "edited"),
        (text.replacen(&format!("{second}\n"), "", 1), "removed"),
        (text.replacen(second, "{", 1), "torn"),
    ] {
        fs::write(&file, changed).unwrap();
        let seen = keeper.run(&["ledger", "verify"], "");
        assert_eq!(seen.code, Some(1), "{seen}");
        assert!(seen.stdout.starts_with("The chain breaks at ledger.jsonl:2: "), "{seen}");
        let seen = keeper.run(&["ledger", "verify", "--json"], "");
        let value: Value = serde_json::from_str(&seen.stdout).unwrap();
        assert_eq!(seen.code, Some(1));
        assert_eq!((word(&value, "/broken/file"), &value["broken"]["line"]), ("ledger.jsonl", &2.into()));
        assert_eq!((word(&value, "/broken/kind"), &value["whole"]), (kind, &false.into()));
    }
}

#[test]
fn two_hundred_hooks_at_once_are_two_hundred_lines_and_the_chain_is_whole() {
    const AT_ONCE: usize = 200;
    let keeper = Keeper::new();
    let payload = fixture("claude/pre-bash.json");
    std::thread::scope(|scope| {
        let runs: Vec<_> = (0..AT_ONCE)
            .map(|_| scope.spawn(|| keeper.run(&["hook", "--agent", "claude"], &payload)))
            .collect();
        for run in runs {
            let seen = run.join().unwrap();
            assert_eq!(seen.code, Some(2), "{seen}");
        }
    });
    assert_eq!(keeper.lines(&[]).len(), AT_ONCE);
    let seen = keeper.run(&["ledger", "verify", "--json"], "");
    let value: Value = serde_json::from_str(&seen.stdout).unwrap();
    assert_eq!((&value["entries"], &value["whole"]), (&AT_ONCE.into(), &true.into()), "{seen}");
}

/// Row D02 of the faults: processes that are killed whenever it may be.
#[test]
fn hooks_that_are_killed_leave_a_chain_that_goes_on() {
    let keeper = Keeper::new();
    let payload = fixture("claude/pre-bash.json");
    let (mut killed, mut ended) = (0, 0);
    for at in 0..60 {
        let mut command = keeper.command("/usr/bin/timeout");
        command.args(["-s", "KILL", &format!("0.{:03}", 2 * at + 1), BINARY, "hook", "--agent", "claude"]);
        match keeper.0.finish(&mut command, payload.as_bytes()).code {
            Some(2) => ended += 1,
            _ => killed += 1,
        }
    }
    assert!(killed > 0, "none was killed");
    assert_eq!(keeper.claude("claude/pre-bash.json").code, Some(2));
    let lines = keeper.lines(&[]);
    assert!(lines.len() > ended, "an answer that was heard has its line: {} of {ended}", lines.len());
    assert_eq!(keeper.run(&["ledger", "verify"], "").code, Some(0));
}

/// Row L02 of the faults.
#[test]
fn an_option_that_makes_no_sense_is_an_error_and_never_ignored() {
    let keeper = Keeper::new();
    keeper.run(&["check"], RM);
    for line in [
        &["ledger"][..],
        &["ledger", "shwo"],
        &["ledger", "show", "--sice", "1h"],
        &["ledger", "show", "--verdict", "blocked"],
        &["ledger", "show", "--last", "0"],
        &["ledger", "show", "--since", "1 fortnight"],
        &["ledger", "verify", "--verdict", "block"],
        &["ledger", "verify", "--dir", "nowhere"],
    ] {
        let seen = keeper.run(line, "");
        assert_eq!((seen.code, seen.stdout.as_str()), (Some(1), ""), "{line:?}: {seen}");
        assert!(!seen.stderr.is_empty(), "{line:?}");
    }
}

/// Row L05 of the faults.
#[test]
fn without_a_home_or_an_output_the_refusal_still_stands() {
    let keeper = Keeper::new();
    let payload = fixture("claude/pre-bash.json");
    let homeless = |arguments: &[&str], stdin: &str| {
        let mut command = keeper.command(BINARY);
        command.env_clear().args(arguments);
        keeper.0.finish(&mut command, stdin.as_bytes())
    };
    // It compiles its plugins anew, because there is no cache either.
    let seen = homeless(&["hook", "--agent", "claude"], &payload);
    assert!(seen.code == Some(2) && seen.stderr.contains("rm -rf build"), "{seen}");
    let seen = homeless(&["ledger", "show"], "");
    assert!(seen.code == Some(1) && seen.stderr.contains("hint: set HOME or XDG_STATE_HOME"), "{seen}");
    // An output that is full, and one that is closed.
    assert_eq!(keeper.claude("claude/pre-bash.json").code, Some(2));
    for redirect in ["> /dev/full", ">&-"] {
        let run = |line: &str| {
            let mut command = keeper.command("/bin/sh");
            command.args(["-c", &format!("\"$0\" {line} {redirect}"), BINARY]);
            keeper.0.finish(&mut command, payload.as_bytes()).code
        };
        assert_eq!(run("hook --agent claude"), Some(2), "{redirect}");
        if redirect == "> /dev/full" {
            assert_eq!(run("ledger show"), Some(1));
            assert_eq!(run("ledger verify"), Some(1));
        }
    }
    assert_eq!(keeper.lines(&[]).len(), 3);
}
