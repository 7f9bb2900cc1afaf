//! The skills server in an agent's MCP configuration: written, found and removed.

use std::path::PathBuf;

use portcullis_model::product;
use serde_json::{Value, json};

use super::file::Snapshot;
use super::{Change, InstallError, Installation, Plan, Scope, document};
use crate::agent::Agent;

/// A file with MCP servers in it.
enum Spot {
    /// JSON, in which the servers lie below a key.
    Json { path: PathBuf, below: &'static str, entry: Value },
    /// TOML, in which each server is a table.
    Toml { path: PathBuf, table: String, text: String },
    /// JSON with a list of the tools that need no consent.
    Allowed { path: PathBuf, rule: String },
}

impl Spot {
    fn path(&self) -> &PathBuf {
        match self {
            Self::Json { path, .. } | Self::Toml { path, .. } | Self::Allowed { path, .. } => path,
        }
    }
}

/// The name under which agents know the server.
fn name() -> String {
    format!("{}-skills", product::NAME)
}

impl Installation {
    /// What has to change so that the agent starts the skills server. Another server of
    /// its name gives way.
    ///
    /// # Errors
    /// When nobody knows where the agent keeps its servers, or a file cannot be read or
    /// understood.
    pub fn plan_server(&self) -> Result<Plan, InstallError> {
        self.planned(true)
    }

    /// What has to change so that the agent no longer does.
    ///
    /// # Errors
    /// As [`Installation::plan_server`].
    pub fn plan_server_removal(&self) -> Result<Plan, InstallError> {
        self.planned(false)
    }

    fn planned(&self, is_wanted: bool) -> Result<Plan, InstallError> {
        let mut changes = Vec::new();
        for spot in self.spots()? {
            let before = Snapshot::read(spot.path())?;
            if before.text().is_none() && !is_wanted {
                continue;
            }
            let after = match &spot {
                Spot::Json { below, entry, .. } => {
                    document::with_member(&before, below, &name(), is_wanted.then_some(entry), is_ours)?
                }
                Spot::Allowed { rule, .. } => {
                    document::with_word(&before, ("permissions", "allow"), rule, is_wanted)?
                }
                Spot::Toml { table, text, .. } => with_table(&before, table, is_wanted.then_some(text))?,
            };
            if let Some(after) = after {
                // A file that would hold nothing was made for the entry.
                let goes = !is_wanted && matches!(after.trim(), "" | "{}") && !before.is_link();
                changes.push(Change::new(before, (!goes).then_some(after)));
            }
        }
        Ok(Plan { changes })
    }

    fn spots(&self) -> Result<Vec<Spot>, InstallError> {
        let command = self
            .program
            .to_str()
            .ok_or_else(|| InstallError::Program { path: self.program.clone(), reason: "it is not UTF-8" })?;
        let arguments = ["mcp", "skills"];
        let plain = json!({ "command": command, "args": arguments });
        let typed = json!({ "type": "stdio", "command": command, "args": arguments });
        let servers = |path, entry| Spot::Json { path, below: "mcpServers", entry };
        let is_user = self.scope == Scope::User;
        Ok(match self.agent {
            Agent::Claude => {
                let settings = self.place("CLAUDE_CONFIG_DIR", ".claude").join("settings.json");
                let path = match (is_user, self.variable("CLAUDE_CONFIG_DIR")) {
                    (false, _) => self.project.join(".mcp.json"),
                    (true, Some(directory)) => directory.join(".claude.json"),
                    (true, None) => self.home.join(".claude.json"),
                };
                let rule = format!("mcp__{}", name());
                vec![servers(path, typed), Spot::Allowed { path: settings, rule }]
            }
            Agent::Codex => {
                let text = format!("command = {}\nargs = [\"mcp\", \"skills\"]\n", json!(command));
                let path = self.place("CODEX_HOME", ".codex").join("config.toml");
                vec![Spot::Toml { path, table: format!("mcp_servers.{}", name()), text }]
            }
            Agent::Gemini => {
                let entry = json!({ "command": command, "args": arguments, "trust": true });
                vec![servers(self.place("", ".gemini").join("settings.json"), entry)]
            }
            Agent::Copilot if is_user => {
                let entry = json!({ "type": "local", "command": command, "args": arguments, "tools": ["*"] });
                vec![servers(self.place("COPILOT_HOME", ".copilot").join("mcp-config.json"), entry)]
            }
            Agent::Copilot => {
                let path = self.project.join(".vscode").join("mcp.json");
                vec![Spot::Json { path, below: "servers", entry: typed }]
            }
            Agent::Cursor => vec![servers(self.place("", ".cursor").join("mcp.json"), plain)],
            Agent::OpenCode => {
                let directory =
                    if is_user { self.config_home().join("opencode") } else { self.project.clone() };
                // One that is there is kept, whichever of its two names it has.
                let with_comments = directory.join("opencode.jsonc");
                let path =
                    if with_comments.exists() { with_comments } else { directory.join("opencode.json") };
                let command = json!([command, "mcp", "skills"]);
                let entry = json!({ "type": "local", "command": command, "enabled": true });
                vec![Spot::Json { path, below: "mcp", entry }]
            }
            Agent::Crush => {
                let directory = if is_user { self.crush_home() } else { self.project.clone() };
                vec![Spot::Json { path: directory.join("crush.json"), below: "mcp", entry: typed }]
            }
            Agent::Windsurf if is_user => {
                let path = self.home.join(".codeium").join("windsurf").join("mcp_config.json");
                vec![servers(path, plain)]
            }
            Agent::Droid => vec![servers(self.place("", ".factory").join("mcp.json"), typed)],
            Agent::Kiro => vec![servers(self.place("", ".kiro").join("settings").join("mcp.json"), plain)],
            Agent::Windsurf | Agent::Goose | Agent::Cline | Agent::Antigravity | Agent::Amp => {
                return Err(InstallError::NoServers { agent: self.agent });
            }
        })
    }
}

/// Whether a server is ours, whatever program of ours it names.
fn is_ours(entry: &Value) -> bool {
    let list = |key: &str| entry.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
    let words: Vec<Value> = list("command").into_iter().chain(list("args")).collect();
    words.windows(2).any(|pair| pair == [json!("mcp"), json!("skills")])
}

/// The file with exactly this text in a table, or without the table; none when it is so.
fn with_table(held: &Snapshot, table: &str, body: Option<&String>) -> Result<Option<String>, InstallError> {
    let text = held.text().unwrap_or_default();
    let wrong = |reason: String| InstallError::NotToml { path: held.path().to_owned(), reason };
    let parsed = |text: &str| text.parse::<toml::Table>().map_err(|error| wrong(error.message().to_owned()));
    parsed(text)?;
    let header = format!("[{table}]");
    let (mut kept, mut inside, mut own) = (String::new(), false, String::new());
    for line in text.split_inclusive('\n') {
        let bare = line.split('#').next().unwrap_or_default().trim();
        if bare.starts_with('[') {
            inside = bare == header || bare.starts_with(&format!("[{table}."));
        }
        if !inside {
            kept.push_str(line);
        } else if bare != header {
            own.push_str(line);
        }
    }
    let has_table = kept.len() != text.len();
    let Some(body) = body else {
        return Ok(has_table.then(|| format!("{}\n", kept.trim_end()).trim_start_matches('\n').to_owned()));
    };
    if has_table && own.trim() == body.trim() {
        return Ok(None);
    }
    let mut after = kept.trim_end().to_owned();
    if !after.is_empty() {
        after.push_str("\n\n");
    }
    after.push_str(&format!("{header}\n{body}"));
    // A table that is written in another way, such as inline, would be there twice.
    parsed(&after)?;
    Ok(Some(after))
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};
    use std::fs;
    use std::path::Path;

    use serde_json::{Value, json};
    use tempfile::TempDir;

    use super::super::{InstallError, Installation, Scope};
    use crate::agent::Agent;

    fn wanted(home: &Path, agent: Agent, scope: Scope) -> Installation {
        Installation {
            events: BTreeSet::new(),
            agent,
            scope,
            program: "/opt/bin/portcullis".into(),
            home: home.to_owned(),
            project: home.join("project"),
            variables: BTreeMap::new(),
        }
    }

    fn install(wanted: &Installation) {
        wanted.plan_server().unwrap().apply().unwrap();
        assert_eq!(wanted.plan_server().unwrap().changes().len(), 0, "a second time changes nothing");
    }

    fn json_at(path: &Path) -> Value {
        serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
    }

    #[test]
    fn each_agent_gets_the_server_where_it_looks_for_servers_and_loses_it_again() {
        let plain = json!({ "command": "/opt/bin/portcullis", "args": ["mcp", "skills"] });
        let typed = json!({ "type": "stdio", "command": "/opt/bin/portcullis", "args": ["mcp", "skills"] });
        let trusted = json!({ "command": "/opt/bin/portcullis", "args": ["mcp", "skills"], "trust": true });
        let local =
            json!({ "type": "local", "command": ["/opt/bin/portcullis", "mcp", "skills"], "enabled": true });
        let copilot = json!({
            "type": "local", "command": "/opt/bin/portcullis", "args": ["mcp", "skills"], "tools": ["*"],
        });
        let rows: [(Agent, Scope, &str, &str, &Value); 13] = [
            (Agent::Claude, Scope::User, ".claude.json", "mcpServers", &typed),
            (Agent::Claude, Scope::Project, "project/.mcp.json", "mcpServers", &typed),
            (Agent::Gemini, Scope::User, ".gemini/settings.json", "mcpServers", &trusted),
            (Agent::Copilot, Scope::User, ".copilot/mcp-config.json", "mcpServers", &copilot),
            (Agent::Copilot, Scope::Project, "project/.vscode/mcp.json", "servers", &typed),
            (Agent::Cursor, Scope::User, ".cursor/mcp.json", "mcpServers", &plain),
            (Agent::Cursor, Scope::Project, "project/.cursor/mcp.json", "mcpServers", &plain),
            (Agent::OpenCode, Scope::User, ".config/opencode/opencode.json", "mcp", &local),
            (Agent::OpenCode, Scope::Project, "project/opencode.json", "mcp", &local),
            (Agent::Crush, Scope::User, ".config/crush/crush.json", "mcp", &typed),
            (Agent::Windsurf, Scope::User, ".codeium/windsurf/mcp_config.json", "mcpServers", &plain),
            (Agent::Droid, Scope::User, ".factory/mcp.json", "mcpServers", &typed),
            (Agent::Kiro, Scope::User, ".kiro/settings/mcp.json", "mcpServers", &plain),
        ];
        for (agent, scope, path, below, entry) in rows {
            let home = TempDir::new().unwrap();
            let file = home.path().join(path);
            let wanted = wanted(home.path(), agent, scope);
            install(&wanted);
            assert_eq!(json_at(&file)[below]["portcullis-skills"], *entry, "{agent} {path}");
            wanted.plan_server_removal().unwrap().apply().unwrap();
            assert!(!file.exists(), "{agent} {path}");
            // What is there stays as it is, behind the entry.
            let others =
                format!("{{\n  // mine\n  \"{below}\": {{ \"other\": {{ \"command\": \"x\" }} }}\n}}\n");
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&file, &others).unwrap();
            install(&wanted);
            let text = fs::read_to_string(&file).unwrap();
            assert!(
                text.contains("// mine") && text.find("portcullis-skills") < text.find("\"other\""),
                "{text}"
            );
            wanted.plan_server_removal().unwrap().apply().unwrap();
            let left = fs::read_to_string(&file).unwrap();
            assert!(
                left.contains("// mine") && left.contains("\"other\"") && !left.contains("portcullis"),
                "{left}"
            );
        }
    }

    #[test]
    fn a_server_of_the_name_gives_way_and_one_of_somebody_else_is_not_removed() {
        let home = TempDir::new().unwrap();
        let wanted = wanted(home.path(), Agent::Cursor, Scope::User);
        let file = home.path().join(".cursor/mcp.json");
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        let theirs = "{ \"mcpServers\": { \"portcullis-skills\": { \"command\": \"theirs\" } } }";
        fs::write(&file, theirs).unwrap();
        assert_eq!(wanted.plan_server_removal().unwrap().changes().len(), 0);
        install(&wanted);
        assert_eq!(json_at(&file)["mcpServers"]["portcullis-skills"]["command"], "/opt/bin/portcullis");
        fs::write(&file, "{ \"mcpServers\": [] }").unwrap();
        assert!(matches!(wanted.plan_server(), Err(InstallError::Shape { .. })));
    }

    #[test]
    fn claude_code_runs_its_tools_without_a_question() {
        let home = TempDir::new().unwrap();
        let wanted = wanted(home.path(), Agent::Claude, Scope::User);
        let settings = home.path().join(".claude/settings.json");
        fs::create_dir_all(settings.parent().unwrap()).unwrap();
        fs::write(&settings, "{ \"permissions\": { \"allow\": [\"Bash(ls)\"], \"deny\": [] } }\n").unwrap();
        install(&wanted);
        assert_eq!(json_at(&settings)["permissions"]["allow"], json!(["Bash(ls)", "mcp__portcullis-skills"]));
        wanted.plan_server_removal().unwrap().apply().unwrap();
        assert_eq!(json_at(&settings), json!({ "permissions": { "allow": ["Bash(ls)"], "deny": [] } }));
    }

    #[test]
    fn codex_gets_a_table_of_its_own() {
        let home = TempDir::new().unwrap();
        let wanted = wanted(home.path(), Agent::Codex, Scope::User);
        let file = home.path().join(".codex/config.toml");
        install(&wanted);
        let entry = "[mcp_servers.portcullis-skills]\ncommand = \"/opt/bin/portcullis\"\nargs = [\"mcp\", \"skills\"]\n";
        assert_eq!(fs::read_to_string(&file).unwrap(), entry);
        let own = "# mine\nmodel = \"x\"\n\n[mcp_servers.portcullis-skills]\ncommand = \"old\"\n\n[mcp_servers.portcullis-skills.env]\nA = \"b\"\n\n[tui]\nx = 1\n";
        fs::write(&file, own).unwrap();
        install(&wanted);
        let text = fs::read_to_string(&file).unwrap();
        assert_eq!(text, format!("# mine\nmodel = \"x\"\n\n[tui]\nx = 1\n\n{entry}"));
        wanted.plan_server_removal().unwrap().apply().unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "# mine\nmodel = \"x\"\n\n[tui]\nx = 1\n");
        for broken in ["= x", "mcp_servers = { portcullis-skills = { command = \"x\" } }\n"] {
            fs::write(&file, broken).unwrap();
            assert!(matches!(wanted.plan_server(), Err(InstallError::NotToml { .. })), "{broken}");
            assert_eq!(fs::read_to_string(&file).unwrap(), broken);
        }
    }

    #[test]
    fn an_agent_whose_servers_nobody_knows_is_told_of() {
        let home = TempDir::new().unwrap();
        for agent in [Agent::Goose, Agent::Cline, Agent::Antigravity, Agent::Amp] {
            let error = wanted(home.path(), agent, Scope::User).plan_server().unwrap_err();
            assert!(error.to_string().contains("portcullis mcp skills"), "{error}");
        }
    }
}
