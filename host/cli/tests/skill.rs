//! `portcullis skill`: what there is, who wins, and what is wrong.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test ends when anything is wrong"
)]

mod support;

use serde_json::Value;

use crate::support::{BINARY, Seen, User};

fn skill(name: &str, description: &str) -> String {
    format!("---\nname: {name}\ndescription: {description}\n---\n\nText of {name}.\n")
}

/// Runs the binary with a state of the user's own.
fn run(user: &User, arguments: &[&str]) -> Seen {
    let mut command = user.command(BINARY);
    command.env("XDG_STATE_HOME", user.path("state")).args(arguments);
    user.finish(&mut command, b"")
}

fn json(user: &User, arguments: &[&str]) -> Value {
    let seen = run(user, arguments);
    serde_json::from_str(&seen.stdout).unwrap_or_else(|error| panic!("{error}: {seen}"))
}

/// The skills of a list: path, state, where from.
fn rows(list: &Value) -> Vec<String> {
    let text = |row: &Value, key: &str| row[key].as_str().unwrap().to_owned();
    let skills = list["skills"].as_array().unwrap().iter();
    skills.map(|row| [text(row, "skill"), text(row, "state"), text(row, "from")].join(" ")).collect()
}

#[test]
fn skills_come_from_the_project_the_user_and_the_agents_directories() {
    let user = User::new();
    user.write("data/portcullis/skills/own/SKILL.md", skill("own", "Mine."));
    user.write("home/.claude/skills/claude/SKILL.md", skill("claude", "Mine too."));
    user.write("home/.agents/skills/any/SKILL.md", skill("any", "For any agent."));
    user.write("work/.portcullis/skills/project/SKILL.md", skill("project", "Of the project."));
    user.write("work/.claude/skills/pc/SKILL.md", skill("pc", "Of the project, too."));
    let list = json(&user, &["skill", "list", "--json"]);
    let all = [
        "any usable user-agents",
        "claude usable user-claude",
        "own usable user",
        "pc untrusted project-claude",
        "project untrusted project",
    ];
    assert_eq!(rows(&list), all);
    assert_eq!(list["skills"][2]["description"], "Mine.");
    assert!(list["skills"][3]["description"].is_null(), "nobody has looked at it");
    user.config("[skills]\ncompat = false\n");
    assert_eq!(rows(&json(&user, &["skill", "list", "--json"])), [all[2], all[4]]);
    assert_eq!(rows(&json(&user, &["skill", "list", "--json", "--isolated"])), [""; 0]);
    // macOS has its own place, which XDG_DATA_HOME stands before.
    let seen = run(&user, &["skill", "list"]);
    assert!(seen.code == Some(0) && seen.stdout.contains("waits for `portcullis trust add`"), "{seen}");
}

#[test]
fn the_projects_skill_wins_once_it_is_trusted_and_the_loser_is_told_of() {
    let user = User::new();
    user.write("data/portcullis/skills/deploy/SKILL.md", skill("deploy", "The user's."));
    let file = "work/.portcullis/skills/deploy/SKILL.md";
    user.write(file, skill("deploy", "The project's."));
    let text = |user: &User| run(user, &["skill", "show", "deploy", "--json"]);
    let told = |seen: &Seen| serde_json::from_str::<Value>(&seen.stdout).unwrap()["description"].clone();
    assert_eq!(told(&text(&user)), "The user's.");

    let status = run(&user, &["trust", "status"]);
    assert!(status.stdout.contains("the skill `deploy`: The project's."), "{status}");
    assert_eq!(run(&user, &["trust", "add", "--yes"]).code, Some(0));
    assert_eq!(told(&text(&user)), "The project's.");
    let list = json(&user, &["skill", "list", "--all", "--json"]);
    assert_eq!(rows(&list), ["deploy usable project", "deploy shadowed user"]);
    assert!(list["skills"][1]["shadowed_by"].as_str().unwrap().ends_with("work/.portcullis/skills/deploy"));
    assert_eq!(rows(&json(&user, &["skill", "list", "--json"])), ["deploy usable project"]);

    user.write(file, skill("deploy", "Something else."));
    assert_eq!(told(&text(&user)), "The user's.");
    let status = run(&user, &["trust", "status"]);
    assert!(status.code == Some(1) && status.stdout.contains("changed"), "{status}");
}

#[test]
fn a_project_needs_no_file_of_ours_to_be_trusted_with_its_skills() {
    let user = User::new();
    user.write("work/.claude/skills/a/SKILL.md", skill("a", "A."));
    assert_eq!(rows(&json(&user, &["skill", "list", "--json"])), ["a untrusted project-claude"]);
    let seen = run(&user, &["trust", "add", "--yes"]);
    assert!(seen.code == Some(0) && seen.stdout.contains("trusted, 1 file"), "{seen}");
    assert_eq!(rows(&json(&user, &["skill", "list", "--json"])), ["a usable project-claude"]);
    assert_eq!(run(&user, &["trust", "remove"]).code, Some(0));
    assert_eq!(rows(&json(&user, &["skill", "list", "--json"])), ["a untrusted project-claude"]);
}

#[test]
fn validate_looks_at_every_file_and_the_exit_code_says_whether_all_conform() {
    let user = User::new();
    for name in ["a", "b", "c"] {
        user.write(&format!("work/tree/{name}/SKILL.md"), skill(name, "Good."));
    }
    let good = run(&user, &["skill", "validate", "tree"]);
    assert_eq!((good.code, good.stdout.as_str()), (Some(0), ""), "{good}");
    assert!(good.stderr.contains("3 skills, and all conform"), "{good}");

    user.write("work/tree/x/y/SKILL.md", skill("other", "Use when: bad."));
    user.write("work/tree/z/SKILL.md", "# No skill\n");
    let bad = run(&user, &["skill", "validate", "tree"]);
    assert_eq!(bad.code, Some(1));
    let lines: Vec<_> = bad.stdout.lines().collect();
    assert_eq!(lines.len(), 3, "{bad}");
    assert_eq!(
        lines[0],
        "tree/x/y/SKILL.md:2: error: name_dir_mismatch: the name is `other`, and the directory `y`; call both alike: `name: y`"
    );
    assert!(lines[1].starts_with("tree/x/y/SKILL.md:3: error: yaml_repaired: "), "{bad}");
    assert!(lines[1].ends_with(": `description: 'Use when: bad.'`"), "{bad}");
    assert!(lines[2].starts_with("tree/z/SKILL.md:1: error: frontmatter_missing: "), "{bad}");
    assert!(bad.stderr.contains("5 skills, and 2 of them do not conform"), "{bad}");

    let one = run(&user, &["skill", "validate", "tree/a", "tree/x/y/SKILL.md"]);
    assert!(one.code == Some(1) && one.stderr.contains("2 skills, and 1 of them do not"), "{one}");
    let told = json(&user, &["skill", "validate", "tree/z", "--json"]);
    assert_eq!(told["skills"][0]["findings"][0]["code"], "frontmatter_missing");
    let none = run(&user, &["skill", "validate", "nowhere"]);
    assert!(none.code == Some(1) && none.stderr.contains("`nowhere` cannot be looked at"), "{none}");
}

#[test]
fn validate_without_a_path_looks_at_the_projects_and_the_users_skills() {
    let user = User::new();
    user.write("data/portcullis/skills/a/SKILL.md", skill("a", "A."));
    user.write("work/.portcullis/skills/b/SKILL.md", skill("other", "B."));
    let seen = run(&user, &["skill", "validate"]);
    assert!(seen.code == Some(1) && seen.stderr.contains("2 skills, and 1 of them do not"), "{seen}");
    let file = user.path("work/.portcullis/skills/b/SKILL.md");
    let file = file.to_string_lossy().replace(&*user.path("").to_string_lossy(), "[user]/");
    assert!(seen.stdout.starts_with(&format!("{file}:2: error: ")), "{seen}");
    user.write("work/.portcullis/skills/b/SKILL.md", skill("b", "B."));
    assert_eq!(run(&user, &["skill", "validate"]).code, Some(0));
}

#[test]
fn show_says_all_that_is_known_and_gives_the_text() {
    let user = User::new();
    let text = "---\nname: a\ndescription: A.\nserves: documents, web\nallowed-tools: Read, Bash(git *)\nreferences: [../shared/x.md, ../../../secret]\n---\nBody.\n";
    user.write("data/portcullis/skills/a/SKILL.md", text);
    user.write("data/portcullis/skills/a/scripts/run.sh", "exit 1");
    user.write("data/portcullis/skills/shared/x.md", "x");
    let seen = run(&user, &["skill", "show", "a", "--text"]);
    assert_eq!((seen.code, seen.stdout.as_str()), (Some(0), "Body.\n"), "{seen}");
    let shown = run(&user, &["skill", "show", "a"]);
    for part in [
        "serves       web, documents",
        "allowed-tools  Read, Bash(git *) (grants nothing)",
        "scripts/run.sh 6 bytes",
        "line 5: allowed_tools_comma: ",
        "../shared/x.md -> [user]/data/portcullis/skills/shared/x.md",
        "../../../secret -> there is no such file",
    ] {
        let squeezed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(squeezed(&shown.stdout).contains(&squeezed(part)), "{part}: {shown}");
    }
    let told = json(&user, &["skill", "show", "a", "--json"]);
    assert_eq!(told["files"][1]["path"], "scripts/run.sh");
    assert_eq!(told["references"][0]["declared"], "../shared/x.md");
    let none = run(&user, &["skill", "show", "b"]);
    assert!(
        none.code == Some(1) && none.stderr.contains("there is no skill `b`; did you mean `a`?"),
        "{none}"
    );
}

#[test]
fn a_skill_that_the_user_does_not_want_is_denied_and_a_project_may_add_to_that() {
    let user = User::new();
    for name in ["a", "b", "c"] {
        user.write(&format!("data/portcullis/skills/{name}/SKILL.md"), skill(name, "X."));
    }
    user.config("[channels.skills]\ndeny = [\"a\"]\n");
    user.write("work/.portcullis/config.toml", "[channels.skills]\ndeny = [\"b\"]\n");
    let list = json(&user, &["skill", "list", "--json"]);
    assert_eq!(rows(&list), ["a denied user", "b denied user", "c usable user"]);
    let text = run(&user, &["skill", "show", "a", "--text"]);
    assert!(text.code == Some(1) && text.stderr.contains("the user does not want it"), "{text}");
    user.config("[skills]\nignore = [\"a\"]\n");
    assert_eq!(rows(&json(&user, &["skill", "list", "--json"])), ["b denied user", "c usable user"]);
}

#[test]
fn a_skill_cannot_paint_on_the_terminal() {
    let user = User::new();
    let text = "---\nname: a\ndescription: \"A.\\e[2J\\u202e\"\n---\n";
    user.write("data/portcullis/skills/a/SKILL.md", text);
    for arguments in [&["skill", "list"][..], &["skill", "show", "a"], &["skill", "validate"]] {
        let seen = run(&user, arguments);
        assert!(!seen.stdout.contains(['\u{1b}', '\u{202e}']), "{seen}");
    }
}
