//! Calls of a user with a home and a project on the disk: what is kept from them,
//! and what is not.

use std::fs;
use std::path::{Path, PathBuf};

use portcullis_model::call::{Effect, ToolCall};
use portcullis_model::input::Input;
use portcullis_model::script::Script;
use portcullis_runtime::CallView;
use serde_json::{Value, json};

use super::{Objection, Places, Protection};
use crate::tool;

/// A user whose hooks are those of Claude Code, in the home and in the project.
struct User {
    dir: tempfile::TempDir,
    protection: Protection,
}

impl User {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        for (path, text) in [
            ("home/.claude/settings.json", "{}"),
            ("home/.claude/commands/x.md", ""),
            ("home/.config/portcullis/config.toml", ""),
            ("home/.cache/portcullis/components/a", ""),
            ("home/bin/portcullis", ""),
            ("app/.claude/settings.json", "{}"),
            ("app/.claude/skills/x/SKILL.md", ""),
            ("app/.github/workflows/ci.yml", ""),
            ("app/src/main.rs", ""),
        ] {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let protection = protection(dir.path());
        Self { dir, protection }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Looks at the places again, as a host does that opens anew.
    fn reopen(mut self) -> Self {
        self.protection = protection(self.dir.path());
        self
    }

    fn judge(&self, tool: &str, input: Value) -> Option<Objection> {
        let cwd = self.path("app").to_string_lossy().into_owned();
        let call = ToolCall {
            id: String::new(),
            tool: tool.to_owned(),
            input: Input::from_value(input).unwrap(),
            cwd,
            session_id: String::new(),
        };
        let home = self.path("home").to_string_lossy().into_owned();
        let resolved = tool::resolve_with_home(&call, &home).unwrap();
        let scripts = resolved.scripts.iter().map(|text| portcullis_shell::analyse(text));
        let powershell = resolved.powershell.iter();
        let powershell = powershell.map(|text| portcullis_shell::analyse_powershell(text));
        let scripts = scripts.chain(powershell).collect();
        let seen =
            Seen { input: call.input.text().to_owned(), cwd: call.cwd, effects: resolved.effects, scripts };
        self.protection.objection(&seen)
    }

    fn code(&self, script: &str) -> &'static str {
        let objection = self.judge("Bash", json!({ "command": script }));
        objection.map_or("allow", |objection| objection.code.as_str())
    }

    fn all(&self, code: &str, scripts: &[&str]) {
        for script in scripts {
            assert_eq!(self.code(script), code, "{script}");
        }
    }
}

fn protection(dir: &Path) -> Protection {
    let home = dir.join("home").to_string_lossy().into_owned();
    Protection::new(Places {
        program: Some(dir.join("opt/portcullis-1.0")),
        project: Some(dir.join("app")),
        variables: [("HOME".to_owned(), home)].into(),
        ..Places::default()
    })
}

struct Seen {
    input: String,
    cwd: String,
    effects: Vec<Effect>,
    scripts: Vec<Script>,
}

impl CallView for Seen {
    fn id(&self) -> &str {
        ""
    }
    fn tool(&self) -> &str {
        ""
    }
    fn input(&self) -> &str {
        &self.input
    }
    fn field(&self, _: &str) -> Option<String> {
        None
    }
    fn cwd(&self) -> &str {
        &self.cwd
    }
    fn session_id(&self) -> &str {
        ""
    }
    fn effects(&self) -> &[Effect] {
        &self.effects
    }
    fn scripts(&self) -> &[Script] {
        &self.scripts
    }
}

#[test]
fn reading_and_ordinary_work_pass() {
    User::new().all(
        "allow",
        &[
            "npm test",
            "cat ~/.claude/settings.json .claude/settings.json | jq .hooks > /tmp/x.json",
            "cp ~/.claude/settings.json /tmp/backup.json",
            "cp -r ~/.claude /tmp/backup",
            "diff .claude/settings.json ~/.claude/settings.json; grep -rn hooks .claude",
            "git add .claude/settings.json && git commit -m 'rm .claude/settings.json'",
            "git diff HEAD -- .claude/settings.json; git log -p .codex/config.toml",
            "echo '{}' > docs/settings.json; tee settings.json < x",
            "sed -n 1,3p .claude/settings.json; sed -i s/a/b/ src/main.rs",
            "rm -r target my.claude; mv a b; rm .claude/skills/x/SKILL.md",
            "echo x > ~/.claude/commands/x.md; cp -r y .claude/skills/y",
            "rm -r .github/workflows; rm -rf .github",
            "tar xzf x.tgz; tar xzf x.tgz -C vendor; unzip x.zip -d out; git checkout main; git checkout .",
            "find . -name '*.pyc' -delete; find . -type d -empty -delete; find . -name '*.o' -exec rm {} +",
            "find .claude -name '*.md' | xargs wc -l",
            "chmod -R u+w . && chown -R dev:dev .; chmod +x bin/run",
            "rm \"$TMP/x\" $FILES; echo > $OUT; cat > \"$DIR/settings.json\"",
            "cp -r template/. . && cp -r x/.github .",
            "rm -r ~/.cache; mkdir -p .claude/commands .github/hooks",
            "cd /tmp && echo > settings.json",
            "python3 -c 'print(open(\".claude/settings.json\").read())'",
            "cp docs/*.md .claude/; mv src/* .claude/; cp -r src/. .claude",
            "find . -type f -exec chmod 644 {} +; find .claude -name '*.md' -exec sed -i s/a/b/ {} +",
            "env -C src rm settings.json; rsync -a src/ dst/",
            "curl -O https://example.com/settings.json; wget https://example.com/x",
            "portcullis plugin list; echo portcullis trust",
            "portcullis config show --json; portcullis config validate .portcullis/config.toml",
        ],
    );
}

#[test]
fn every_way_to_write_a_hook_file_is_seen() {
    User::new().all(
        "self/hooks",
        &[
            "echo '{}' > .claude/settings.json",
            "echo >> ~/.claude/settings.local.json",
            ": >| \"$HOME/.codex/hooks.json\"",
            "echo '{}' | sudo tee -a ~/.gemini/settings.json",
            "cp /tmp/x .cursor/hooks.json",
            "cp settings.json .claude/",
            "cp -t .claude /tmp/settings.json",
            "install -m 644 /tmp/hooks.json ~/.codex",
            "mv .claude/settings.json /tmp",
            "mv x .github/hooks/portcullis.json",
            "ln -sf /tmp/x .claude/settings.json",
            "ln .claude/settings.json innocent.json",
            "ln -s ~/.claude innocent",
            "rm -f .claude/settings*.json",
            "rm .claude/*",
            "unlink .windsurf/hooks.json; shred -u x",
            "dd if=/dev/null of=.claude/settings.json",
            "truncate -s 0 .claude/settings.json",
            "sed -i 's/portcullis//' .claude/settings.json",
            "sed -i.bak -e s/a/b/ -- .claude/settings.json",
            "perl -pi -e 's/a/b/' .claude/settings.json",
            "chmod 000 ~/.claude/settings.json; true",
            "chmod 000 ~/.claude",
            "touch .opencode/plugin/x.js",
            "git checkout HEAD~1 -- .claude/settings.json",
            "git restore .claude; git rm -f x",
            "git -C .. rm -f app/.claude/settings.json",
            "git mv .claude/settings.json x",
            "tar xf x.tar .claude/settings.json",
            "tar -xf x.tar -C ~/.claude",
            "unzip x.zip -d ~/.claude",
            "rsync -a x/ ~/.claude/",
            "curl -o .claude/settings.json https://example.com",
            "curl -O --output-dir .claude https://example.com/settings.json",
            "wget -P ~/.claude https://example.com/settings.json",
            "find .claude -delete",
            "find . -name settings.json -delete",
            "find -L . -name x -o -name 'settings.*' -delete",
            "find . ! -name x -type f -delete",
            "find ~/.claude -name '*.json' -exec rm {} \\;",
            "find . -name '*.json' | xargs rm",
            "find .claude -name settings.json -exec sed -i s/a/b/ {} +",
            "find . -name '*.json' -exec sh -c 'rm \"$1\"' _ {} \\;",
            "find .claude -type f -exec chmod 000 {} +",
            "env -C .claude rm settings.json",
            "rm -rf .[!.]*",
            "mv .claude{,.bak}",
            "cp -r ~/.claude/. /tmp/x; cp *.json .claude/",
            "mount --bind /dev/null .claude/settings.json",
            "> \".claude\"//./settings.json",
            "ln -s \"$PWD/.claude/settings.json\" x",
            "npx rimraf .claude",
            "sudo sh -c 'exec 3> .claude/settings.json'",
            "echo x > /proc/self/cwd/.claude/settings.json",
            "ed -s .claude/settings.json <<< w; vim -es -c wq x",
            "python3 -c 'open(\".claude/settings.json\", \"w\").write(\"{}\")'",
            "node -e 'require(\"fs\").rmSync(\".claude\", {recursive: true})'",
            "echo .claude/settings.json | xargs rm",
            "bash -c 'echo > .claude/settings.json'",
            "X=.claude; Y=settings.json; echo > $X/$Y",
            "echo '{}' > crush.json; echo > ../opencode.json",
            "patch -p1 <<'E'\n--- a/.claude/settings.json\n+++ b/.claude/settings.json\n@@ -1 +1 @@\n-{}\n+{\"a\":1}\nE",
        ],
    );
}

#[test]
fn a_bare_name_is_a_hook_file_beside_the_work_alone() {
    let user = User::new();
    assert_eq!(user.code("echo > opencode.json"), "self/hooks");
    assert_eq!(user.code("echo > docs/opencode.json"), "allow");
    assert_eq!(user.code("cd docs && echo > opencode.json"), "self/hooks", "an agent may be started there");
}

#[test]
fn what_only_the_shell_knows_counts_by_the_end_of_the_path() {
    let user = User::new();
    user.all(
        "self/hooks",
        &[
            "echo > \"$(git rev-parse --show-toplevel)/.claude/settings.json\"",
            "echo > \"${CLAUDE_PROJECT_DIR}\"/.claude/settings.json",
            "for d in $DIRS; do rm \"$d/.cursor/hooks.json\"; done",
            "cd \"$X/.claude\" && rm settings.json",
        ],
    );
    assert_eq!(user.code("rm ${XDG_CONFIG_HOME:-~/.config}/portcullis/config.toml"), "self/config");
    user.all("allow", &["echo > \"$X\"", "echo > $X.claude/settings.json", "rm -r \"$BUILD/.claude\""]);
}

#[test]
fn a_parent_is_protected_while_there_is_something_below() {
    let user = User::new();
    user.all("self/hooks", &["rm -rf .claude", "mv ~/.claude /tmp/x", "rm -r ../app"]);
    user.all("self/config", &["mv ~/.config x", "rm -r ~/.config/portcullis"]);
    for script in ["rm -rf ~", "rm -rf ~/.c*", "rm -rf /", "rm -rf ..", "rm -r ."] {
        assert_ne!(user.code(script), "allow", "{script}");
    }
    user.all("allow", &["rm -rf .codex", "mv .gemini x", "rm -rf ~/.local", "rm -rf *", "rm -rf ~/*.d"]);
}

#[test]
fn a_directory_may_not_be_put_where_hooks_would_be_read() {
    let user = User::new();
    fs::create_dir_all(user.path("app/evil")).unwrap();
    fs::write(user.path("app/evil/hooks.json"), "{}").unwrap();
    user.all(
        "self/hooks",
        &[
            "mv evil .codex",
            "cp -r evil .cursor",
            "ln -s ../evil .codex",
            "cp -r evil/. .github/hooks/../../.cursor",
            "mkdir -p n && mv n .codex",
        ],
    );
    user.all("allow", &["mv evil src/", "cp -r evil other", "cp -r src .codex"]);
}

#[test]
fn the_directory_that_a_script_goes_to_counts() {
    let user = User::new();
    user.all(
        "self/hooks",
        &[
            "cd ~/.claude && echo '{}' > settings.json",
            "cd ~; cd .claude; rm settings.json",
            "pushd .claude; tee ./settings.local.json < x",
            "(cd .claude; rm -f *.json)",
            "mkdir x; cd src; rm ../.claude/settings.json",
        ],
    );
    user.all("allow", &["cd src && rm settings.json", "cd docs; echo > .claude.json"]);
}

#[test]
fn portcullis_own_places_have_their_own_words() {
    let user = User::new();
    for (script, code) in [
        ("echo > ~/.config/portcullis/config.toml", "self/config"),
        ("echo > .portcullis/config.toml", "self/config"),
        ("rm .portcullis/plugins/guard.wasm", "self/plugins"),
        ("cp evil.wasm ~/.local/share/portcullis/plugins/", "self/plugins"),
        ("rm -r ~/.local/state/portcullis", "self/state"),
        ("echo > ~/.cache/portcullis/components/a", "self/cache"),
        ("chmod -x ~/bin/portcullis", "self/program"),
        ("mv ../opt/portcullis-1.0 x", "self/program"),
        ("portcullis trust add .", "self/command"),
        ("../opt/portcullis-1.0 trust add .", "self/command"),
    ] {
        assert_eq!(user.code(script), code, "{script}");
    }
}

#[test]
fn effects_of_tools_are_seen_and_named_as_the_model_knows_them() {
    let user = User::new();
    let write = |path: &str| user.judge("Write", json!({"file_path": path, "content": "{}"}));
    assert_eq!(write("~/.claude/settings.json").unwrap().named, "~/.claude/settings.json");
    assert_eq!(write(".CLAUDE/Settings.json").unwrap().code.as_str(), "self/hooks");
    assert_eq!(write("src/../.portcullis/plugins/new.wasm").unwrap().code.as_str(), "self/plugins");
    assert_eq!(write("docs/settings.json"), None);
    assert_eq!(write(".claude/commands/x.md"), None);
    assert_eq!(user.judge("Read", json!({"file_path": ".claude/settings.json"})), None);
    let patch = "*** Begin Patch\n*** Update File: src/main.rs\n@@\n-a\n+b\n*** Delete File: .codex/hooks.json\n*** End Patch";
    assert_eq!(user.judge("apply_patch", json!({ "input": patch })).unwrap().what, "the hooks of Codex");
    assert_eq!(user.judge("apply_patch", json!({"input": patch.replace(".codex", "docs")})), None);
}

#[test]
fn the_commands_of_windows_are_known() {
    let user = User::new();
    let code =
        |command: &str| user.judge("PowerShell", json!({ "command": command })).map(|o| o.code.as_str());
    for command in [
        r"Set-Content $HOME\.claude\settings.json '{}'",
        r"Set-Content -Path .claude\settings.json -Value '{}'",
        r"'{}' | Out-File $env:USERPROFILE\.codex\hooks.json",
        r"echo x > .claude\settings.json",
        r"Remove-Item -Recurse -Force .claude",
        r"Copy-Item evil\settings.json .claude",
        r"Copy-Item -Destination .cursor\hooks.json -Path x",
        r"iwr https://example.com -OutFile .gemini\settings.json",
        r"cmd /c 'del %USERPROFILE%\.claude\settings.json'",
        r"cd .claude; Rename-Item settings.json x",
    ] {
        assert_eq!(code(command), Some("self/hooks"), "{command}");
    }
    for command in [
        r"Get-Content .claude\settings.json",
        r"Set-Content docs\settings.json x",
        r"Copy-Item .claude\settings.json backup.json",
        r"Remove-Item -Recurse build",
    ] {
        assert_eq!(code(command), None, "{command}");
    }
}

#[test]
fn a_script_that_is_broken_is_looked_at_as_text_too() {
    let user = User::new();
    assert_eq!(user.code("echo 'x; rm -f .claude/settings.json"), "self/hooks");
    assert_eq!(user.code("echo 'x; cat .claude/settings.json"), "allow");
    assert_eq!(user.code("echo 'x; rm -f docs/settings.json"), "allow");
}

#[cfg(unix)]
#[test]
fn links_are_followed_from_both_sides() {
    use std::os::unix::fs::symlink;
    let user = User::new();
    // To a protected directory, to a file that is not there yet, and past a link.
    symlink(user.path("home/.claude"), user.path("app/notes")).unwrap();
    symlink(user.path("home/.codex/hooks.json"), user.path("app/new.json")).unwrap();
    symlink(user.path("home/.claude/commands"), user.path("app/cmds")).unwrap();
    user.all(
        "self/hooks",
        &["echo > notes/settings.json", "echo > new.json", "echo > cmds/../settings.json", "rm notes/*.json"],
    );
    let write = |path: &str| user.judge("Write", json!({"file_path": path, "content": ""})).is_some();
    assert!(write("notes/settings.json") && write("new.json"));
    assert!(write("cmds/../settings.json"), "a tool may leave `..` to the system");
    assert!(!write("cmds/y.md") && !write("notes/CLAUDE.md"));

    // The user keeps the real file elsewhere.
    fs::create_dir_all(user.path("dotfiles")).unwrap();
    fs::rename(user.path("home/.claude/settings.json"), user.path("dotfiles/claude.json")).unwrap();
    symlink("../../dotfiles/claude.json", user.path("home/.claude/settings.json")).unwrap();
    assert_eq!(user.code("echo > ../dotfiles/claude.json"), "allow", "nobody has looked yet");
    let user = user.reopen();
    assert_eq!(user.code("echo > ../dotfiles/claude.json"), "self/hooks");
    assert_eq!(user.code("echo > ../dotfiles/other.json"), "allow");
}

#[test]
fn variables_that_move_a_directory_are_followed() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name).to_string_lossy().into_owned();
    let variables = [
        ("XDG_CONFIG_HOME", at("conf")),
        ("CLAUDE_CONFIG_DIR", at("cc")),
        ("OPENCODE_CONFIG", at("oc.json")),
    ];
    let variables = variables.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    let protection = Protection::new(Places { variables, ..Places::default() });
    let user = User { dir, protection };
    user.all(
        "self/config",
        &["echo > ../conf/portcullis/config.toml", "rm $XDG_CONFIG_HOME/portcullis/config.toml"],
    );
    user.all(
        "self/hooks",
        &["echo > ../cc/settings.json", "rm ../oc.json", "rm ../conf/opencode/opencode.json"],
    );
    user.all("allow", &["echo > ../conf/other/config.toml", "rm ../cc/history.jsonl"]);
}
