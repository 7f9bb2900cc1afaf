//! A project that is trusted, in a host that runs: what acts, and that it stops at the
//! moment when the trust is taken back.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::unreachable,
    clippy::indexing_slicing,
    reason = "a test ends when anything is wrong"
)]

mod place;

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use portcullis::config::{self, Files};
use portcullis::trust::{Covered, Held, TrustStore};
use portcullis::{Host, HostOptions};
use portcullis_model::judgement::Verdict;
use portcullis_model::name::PluginName;
use portcullis_runtime::Digest;
use portcullis_tests::plugin::{BELL, Plugin};
use serde_json::json;

use crate::place::{Place, active, bash, call, judge, ls, outcome, standing};

const GRANT: &str = "[plugin.mine.grant]\nterminal = true\n";

/// A project with files of its own, and the user's trust store.
struct Project {
    place: Place,
    root: PathBuf,
    store: TrustStore,
}

impl Project {
    fn new(plugin: &Plugin, config: &str) -> Self {
        let place = Place::new();
        let root = place.path("work");
        fs::create_dir_all(root.join(".portcullis/plugins")).unwrap();
        let store = TrustStore::new(&place.path("state/trust"));
        let project = Self { place, root, store };
        project.put(&plugin.build().unwrap());
        fs::write(project.root.join(".portcullis/config.toml"), config).unwrap();
        project
    }

    fn put(&self, plugin: &[u8]) {
        let file = self.root.join(".portcullis/plugins/mine.wasm");
        fs::write(&file, plugin).unwrap();
        place::age(&file);
    }

    /// Trusts everything as it is now.
    fn trust(&self) {
        let covered = |path: &str, program: bool| {
            let bytes = fs::read(self.root.join(path)).ok()?;
            let digest = Digest::of(&bytes);
            Some(Covered { path: path.to_owned(), digest, program: program.then_some(bytes) })
        };
        let files =
            [(".portcullis/config.toml", false), (".portcullis/plugins/mine.wasm", false), ("hook", true)];
        let files: Vec<_> = files.into_iter().filter_map(|(path, program)| covered(path, program)).collect();
        self.store.add(&self.root, &files).unwrap();
    }

    fn withdraw(&self) {
        self.store.remove(&self.root).unwrap().unwrap();
    }

    fn options(&self, watch: bool) -> HostOptions {
        let mut options = self.place.options("");
        let trust = match self.store.workspace(&self.root).unwrap() {
            Held::Trusted(workspace) => Some(Arc::new(workspace)),
            Held::Nothing | Held::Replaced(_) => None,
        };
        let project = Some(self.root.join(".portcullis/config.toml"));
        let files = Files { user: None, project, trust };
        options.configure(files.clone(), config::load(&files).unwrap());
        options.project_plugin_dir = Some(self.root.join(".portcullis/plugins"));
        options.trust = Some(self.store.clone());
        options.watch = watch;
        options
    }

    async fn open(&self, watch: bool) -> Host {
        Host::open(self.options(watch)).await.unwrap()
    }
}

fn whole() -> Plugin {
    Plugin::new("mine").allows("").after_turn(BELL).tool("greet", true)
}

#[tokio::test]
async fn a_trusted_plugin_acts_in_every_way_and_stops_within_the_turn_when_trust_is_taken_back() {
    for watch in [false, true] {
        let project = Project::new(&whole(), GRANT);
        project.trust();
        let host = project.open(watch).await;
        assert!(host.inspect("mine").unwrap().grant.terminal);
        assert_eq!(host.inspect("mine").unwrap().row.warnings, Vec::<String>::new());
        let turn = host.session("s1").turn();
        let permit = turn.judge(call("greet", json!({}))).await.outcome.unwrap();
        assert!(permit.is_auto_approved() && turn.run(permit).await.unwrap().is_ok());
        let permit = turn.judge(call("greet", json!({}))).await.outcome.unwrap();

        project.withdraw();
        let refused = turn.judge(call("greet", json!({}))).await.to_wire();
        assert_eq!((refused.verdict, refused.code.as_deref()), (Verdict::Block, Some("trust/withdrawn")));
        assert!(refused.reason.unwrap().contains("portcullis trust status"));
        let late = turn.run(permit).await.unwrap_err();
        assert!(late.to_string().contains("no plugin and no extension brings the tool"), "{late}");
        host.refresh();
        let refused = turn.judge(call("greet", json!({}))).await.to_wire();
        assert_eq!(refused.code.as_deref(), Some("trust/withdrawn"), "the turn has bound it");
        assert!(turn.end().await.failed.is_empty());
        assert_eq!(project.place.bell.rung(), 0, "its hook is not asked either");
        assert_eq!(active(&host), ["guard", "time", "mine"], "its guard acts on");

        // The user trusts it again.
        project.trust();
        host.refresh();
        let host = if watch { host } else { project.open(watch).await };
        let turn = host.session("s1").turn();
        assert!(turn.judge(call("greet", json!({}))).await.outcome.unwrap().is_auto_approved());
        assert!(turn.end().await.failed.is_empty());
        assert_eq!(project.place.bell.rung(), 1);
    }
}

#[tokio::test]
async fn a_guard_has_its_grants_and_its_words_as_long_as_it_is_trusted() {
    let project = Project::new(&Plugin::new("mine").allows(BELL), GRANT);
    project.trust();
    let host = project.open(false).await;
    assert_eq!((ls(&host).await.as_str(), project.place.bell.rung()), ("allow", 1));
    project.withdraw();
    assert_eq!((ls(&host).await.as_str(), project.place.bell.rung()), ("mine!trap", 0));
    project.trust();
    assert_eq!((ls(&host).await.as_str(), project.place.bell.rung()), ("allow", 1));

    let project = Project::new(&Plugin::new("mine").refuses("no", "own words"), "");
    project.trust();
    let host = project.open(false).await;
    assert_eq!(judge(&host, bash("ls")).await.reason.unwrap(), "Blocked by the mine plugin: own words");
    project.withdraw();
    let reason = judge(&host, bash("ls")).await.reason.unwrap();
    assert!(reason.starts_with("Blocked by a guard that came with this project."), "{reason}");
}

#[tokio::test]
async fn a_plugin_that_changes_while_the_host_runs_keeps_its_guard_and_loses_the_rest() {
    let project = Project::new(&whole(), GRANT);
    project.trust();
    let host = project.open(true).await;
    let old = fs::read(project.root.join(".portcullis/plugins/mine.wasm")).unwrap();
    project.put(&whole().refuses("no", "no").build().unwrap());
    host.refresh();
    let seen = host.inspect("mine").unwrap();
    assert!(seen.row.tools.is_empty() && !seen.grant.terminal, "{seen:?}");
    assert!(seen.row.warnings.iter().any(|warning| warning.contains("waits for trust")), "{seen:?}");
    assert_eq!(ls(&host).await, "mine");
    project.put(&old);
    host.refresh();
    assert_eq!(host.inspect("mine").unwrap().row.tools, ["greet"]);
    assert_eq!(ls(&host).await, "allow");
}

#[tokio::test]
async fn a_trusted_plugin_is_what_its_own_project_requires_and_never_what_the_user_requires() {
    let config = "[plugins]\nrequired = [\"mine\"]\n";
    let project = Project::new(&whole(), config);
    assert_eq!(standing(&project.open(false).await).await.0, "load/required");
    project.trust();
    assert_eq!(ls(&project.open(false).await).await, "allow");
    let mut options = project.options(false);
    options.config.plugins.required = options.config.plugins.required_by_project.split_off(0);
    assert_eq!(standing(&Host::open(options).await.unwrap()).await.0, "load/required");
}

#[tokio::test]
async fn a_projects_hook_and_its_tools_go_with_the_trust() {
    let config = "[tools]\nknown = [\"deploy_preview\"]\n[[hooks]]\nevent = \"pre-tool-use\"\ncommand = \"hook\"\nfailure_mode = \"closed\"\n";
    let project = Project::new(&whole(), config);
    fs::write(project.root.join("hook"), "#!/bin/sh\necho no >&2\nexit 2\n").unwrap();
    project.trust();
    let mut options = project.options(false);
    options.config.plugins.required = vec![PluginName::new("guard").unwrap()];
    let host = Host::open(options).await.unwrap();
    let refused = judge(&host, bash("ls")).await;
    assert_eq!(refused.code.as_deref(), Some("hook/block"), "{refused:?}");
    project.withdraw();
    assert_eq!(ls(&host).await, "allow", "a program that nobody trusts is not started");
    assert!(host.hooks().is_empty());
    let tool = judge(&host, call("deploy_preview", json!({}))).await;
    assert_eq!(tool.code.as_deref(), Some("input/unknown-tool"), "{tool:?}");
    project.trust();
    assert_eq!(judge(&host, bash("ls")).await.code.as_deref(), Some("hook/block"));
}

#[tokio::test]
async fn a_host_that_runs_follows_trust_into_the_configuration() {
    let config = "[[hooks]]\nevent = \"pre-tool-use\"\ncommand = \"hook\"\nfailure_mode = \"closed\"\n";
    let project = Project::new(&whole(), config);
    fs::write(project.root.join("hook"), "#!/bin/sh\necho no >&2\nexit 2\n").unwrap();
    let host = project.open(true).await;
    for _ in 0..2 {
        assert_eq!(ls(&host).await, "allow");
        project.trust();
        host.refresh();
        assert_eq!(judge(&host, bash("ls")).await.code.as_deref(), Some("hook/block"));
        // The user's own word is no loss by a slip.
        project.withdraw();
        assert_eq!(ls(&host).await, "allow");
        host.refresh();
        assert_eq!(host.config_report().kept, None);
    }
    // A file that somebody changes is: what was trusted acts on until the user has looked.
    project.trust();
    host.refresh();
    fs::write(project.root.join(".portcullis/config.toml"), "").unwrap();
    place::age(&project.root.join(".portcullis/config.toml"));
    host.refresh();
    assert_eq!(judge(&host, bash("ls")).await.code.as_deref(), Some("hook/block"));
    assert!(host.config_report().kept.unwrap().contains("the closed hook"));
    project.withdraw();
    assert_eq!(outcome(&judge(&host, bash("ls")).await), "allow");
}
