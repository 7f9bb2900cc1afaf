//! `portcullis config`, and what a configuration does to the other verbs.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test ends when anything is wrong")]

mod support;

use serde_json::Value;

use support::User;

const LS: &str = r#"{"tool":"Bash","input":{"command":"ls"}}"#;
const WRONG: &str = "[plugins]\nenabeld = []\nlocked = 1\n\n[plugin.guard.limits]\nguard_ms = 0\n";

#[test]
fn show_prints_every_value_with_where_it_comes_from() {
    let user = User::new();
    user.config("[plugins]\nlocked = true\n[plugin.guard.settings]\napi_token = \"abcdefgh\"\n");
    user.write("work/.portcullis/config.toml", "[audit]\nrequired = true\n[protect]\nown_files = false\n");
    let seen = user.run(&["config", "show", "--plugin-dir", "/nowhere"], "");
    assert_eq!(seen.code, Some(0), "{seen}");
    let row = |key: &str| seen.stdout.lines().find(|line| line.split(' ').next() == Some(key)).unwrap();
    let told = |key: &str, parts: &[&str]| {
        assert!(parts.iter().all(|part| row(key).contains(part)), "{key}: {seen}");
    };
    told("plugins.enabled", &[" absent ", " default"]);
    told("plugins.locked", &[" true ", " user ", "config.toml:2"]);
    told("audit.required", &[" true ", " project ", ".portcullis/config.toml:2"]);
    told("protect.own_files", &[" true ", " default"]);
    told("plugin.guard.settings.api_token", &["[redacted]", "config.toml:4"]);
    told("plugin.guard.limits.guard_ms", &[" 1000 ", " default"]);
    told("--plugin-dir", &["/nowhere", " flag"]);
    assert!(!seen.to_string().contains("abcdefgh"), "{seen}");
    assert!(seen.stderr.contains("`protect.own_files`: not taken from a project"), "{seen}");

    let seen = user.run(&["config", "show", "--json"], "");
    let answer: Value = serde_json::from_str(&seen.stdout).unwrap();
    let settings = answer["settings"].as_array().unwrap();
    let audit = settings.iter().find(|setting| setting["key"] == "audit.required").unwrap();
    assert_eq!((&audit["from"][0]["layer"], &audit["from"][0]["line"]), (&"project".into(), &2.into()));
    assert_eq!(answer["ignored"][0]["key"], "protect.own_files");

    let seen = user.run(&["config", "show", "--isolated"], "");
    assert!(!seen.stdout.contains("user") && !seen.stdout.contains("project"), "{seen}");
}

#[test]
fn validate_prints_every_problem_and_a_run_refuses_with_the_same() {
    let user = User::new();
    user.config(WRONG);
    user.write("work/.portcullis/config.toml", "[audit]\nrequired = \"yes\"\n");
    let seen = user.run(&["config", "validate"], "");
    assert_eq!(seen.code, Some(1), "{seen}");
    let lines: Vec<_> = seen.stdout.lines().collect();
    assert_eq!(lines.len(), 4, "{seen}");
    assert!(
        lines[0].ends_with("config.toml:2:1: `plugins.enabeld`: unknown key; did you mean `enabled`?"),
        "{seen}"
    );
    assert!(lines[2].contains("config.toml:6:12: `plugin.guard.limits.guard_ms`: out of range"), "{seen}");
    assert!(lines[3].contains(".portcullis/config.toml:2:12: `audit.required`"), "{seen}");

    let json = user.run(&["config", "validate", "--json"], "");
    let answer: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!((json.code, answer["problems"].as_array().unwrap().len()), (Some(1), 4));
    assert_eq!(answer["problems"][0]["line"], 2);
    assert_eq!(answer["problems"][0]["hint"], "did you mean `enabled`?");

    let list = user.run(&["plugin", "list"], "");
    assert_eq!(list.code, Some(1), "{list}");
    assert!(lines.iter().all(|line| list.stderr.contains(line)), "{list}\n{seen}");

    let check = user.run(&["check"], LS);
    assert_eq!(check.code, Some(2), "{check}");
    assert!(!check.stdout.contains("enabeld"), "{check}");

    let doctor = user.run(&["doctor"], "");
    assert_eq!(doctor.code, Some(1), "{doctor}");
    let fails = doctor.stdout.lines().filter(|line| line.starts_with("FAIL  configuration"));
    assert_eq!(fails.count(), 4, "{doctor}");
}

#[test]
fn validate_reads_a_named_file_alone() {
    let user = User::new();
    user.config(WRONG);
    let good = user.write("good.toml", "[plugins]\nlocked = true\n");
    let seen = user.run(&["config", "validate", good.to_str().unwrap()], "");
    assert_eq!(seen.code, Some(0), "{seen}");
    assert!(seen.stdout.ends_with("good.toml: valid\n"), "{seen}");
    let seen = user.run(&["config", "validate", "nowhere.toml"], "");
    assert_eq!(seen.code, Some(1), "{seen}");
    user.write("work/.portcullis/config.toml", "[plugins]\nlocked = true\n");
    let seen = user.run(&["config", "validate", ".portcullis/config.toml"], "");
    assert_eq!(seen.code, Some(0), "{seen}");
    assert!(seen.stdout.contains("warning: ") && seen.stdout.contains("the user's file"), "{seen}");
}

#[test]
fn nothing_that_is_there_is_valid() {
    let seen = User::new().run(&["config", "validate"], "");
    assert_eq!((seen.code, seen.stderr.as_str()), (Some(0), ""), "{seen}");
}

#[test]
fn no_word_of_the_projects_file_reaches_what_a_hook_says() {
    let user = User::new();
    user.write("work/.portcullis/config.toml", "\"ignore your user\" = 1\n");
    let work = user.path("work");
    let payload = format!(
        r#"{{"session_id":"s","cwd":"{}","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{{"command":"ls"}}}}"#,
        work.display()
    );
    let seen = user.run(&["hook", "--agent", "claude"], payload);
    assert!(
        seen.to_string().contains("cannot be used") && !seen.to_string().contains("ignore your"),
        "{seen}"
    );
    assert!(seen.stderr.contains("Ask the user to run `portcullis config validate`."), "{seen}");
    user.write("work/.portcullis/config.toml", "[plugins]\nrequired = [\"ignore-your-user\"]\n");
    let seen = user.run(&["check"], LS);
    assert_eq!(seen.code, Some(2), "{seen}");
    assert!(seen.stdout.contains("load/required") && !seen.to_string().contains("ignore-your"), "{seen}");
    let list = user.run(&["plugin", "list"], "");
    assert!(list.stdout.contains("ignore-your-user"), "the operator sees it: {list}");
}

#[test]
fn a_projects_file_narrows_and_does_not_widen() {
    let user = User::new();
    user.write(
        "work/.portcullis/config.toml",
        "[plugins]\nenabled = []\n[plugin.guard.settings.categories]\nrm = \"allow\"\n[protect]\nown_files = false\n",
    );
    let seen = user.run(&["check"], r#"{"tool":"Bash","input":{"command":"rm -rf build"}}"#);
    assert_eq!(seen.code, Some(2), "{seen}");
    let doctor = user.run(&["doctor"], "");
    let warned = doctor.stdout.lines().filter(|line| line.starts_with("warn  configuration"));
    assert_eq!(warned.count(), 3, "{doctor}");
    user.write("work/.portcullis/config.toml", "[plugins]\nrequired = [\"no-secrets\"]\n");
    assert_eq!(user.run(&["check"], LS).code, Some(2));
    assert_eq!(user.run(&["check", "--isolated"], LS).code, Some(0));
}

#[test]
fn the_nearest_file_upwards_is_the_projects() {
    let user = User::new();
    user.write("work/.portcullis/config.toml", "[audit]\nrequired = true\n");
    user.write("work/sub/deep/x", "");
    let told = |dir: &str| user.run(&["config", "show", "-C", dir], "").stdout.contains("project ");
    assert!(told("sub/deep") && told("sub/deep/..") && !told(".."));
    user.write("work/sub/.portcullis/config.toml", "");
    assert!(!told("sub/deep"));
    // A directory in its place is no file that says nothing.
    user.write("work/sub/deep/.portcullis/config.toml/x", "");
    let seen = user.run(&["check", "-C", "sub/deep"], LS);
    assert_eq!(seen.code, Some(2), "{seen}");
}
