//! A host that runs follows its configuration: whole or not at all, and never to less than
//! what was strict.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::unreachable,
    clippy::indexing_slicing,
    reason = "a test ends when anything is wrong"
)]

mod place;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use portcullis::config::{self, Files};
use portcullis::ledger::{self, EntryKind, LedgerOptions};
use portcullis::{Host, HostOptions};
use portcullis_model::judgement::Verdict;
use portcullis_tests::plugin::Plugin;
use serde_json::json;

use crate::place::{Place, bash, call, judge, ls, outcome};

const REQUIRED: &str = "[plugins]\nrequired = [\"strict\"]\n";

/// A user with the guard `strict`, which refuses `ls` and everything else.
struct User {
    place: Place,
}

impl User {
    fn new(config: &str) -> Self {
        let user = Self { place: Place::new() };
        user.place.put("strict.wasm", &Plugin::new("strict").refuses("no", "no").build().unwrap());
        fs::create_dir_all(user.file().parent().unwrap()).unwrap();
        user.say(config);
        user
    }

    fn file(&self) -> PathBuf {
        self.place.path("config/config.toml")
    }

    /// Writes the file as an editor does that replaces it, an hour ago.
    fn say(&self, config: &str) {
        let temporary = self.file().with_extension("tmp");
        fs::write(&temporary, config).unwrap();
        place::age(&temporary);
        fs::rename(&temporary, self.file()).unwrap();
    }

    fn options(&self) -> HostOptions {
        let mut options = self.place.options("");
        let files = Files { user: Some(self.file()), ..Files::default() };
        options.configure(files.clone(), config::load(&files).unwrap());
        options.own.config = Some(self.file());
        options.ledger = Some(LedgerOptions::new(self.place.path("ledger")));
        options.watch = true;
        options
    }

    async fn open(&self) -> Host {
        Host::open(self.options()).await.unwrap()
    }

    /// What the ledger has of the configuration.
    fn entries(&self) -> Vec<String> {
        let mut entries = Vec::new();
        let dir = self.place.path("ledger");
        ledger::read(&dir, |_, entry| {
            if entry.kind == EntryKind::Config.as_str() {
                entries.push(entry.reason.unwrap_or_default());
            }
        })
        .unwrap();
        entries
    }
}

/// Whether a tool that nobody knows may be called.
async fn unknown(host: &Host) -> bool {
    judge(host, call("deploy_preview", json!({}))).await.verdict == Verdict::Allow
}

#[tokio::test]
async fn a_change_is_followed_without_being_asked_for() {
    let user = User::new("[plugins]\nenabled = [\"guard\"]\nrequired = [\"guard\"]\n");
    let host = user.open().await;
    assert!(!unknown(&host).await);
    user.say(
        "[plugins]\nenabled = [\"guard\"]\nrequired = [\"guard\"]\n[tools]\nknown = [\"deploy_preview\"]\n",
    );
    while !unknown(&host).await {
        tokio::task::yield_now().await;
    }
    // What serves is written down a moment later.
    host.refresh();
    let digest = host.config_report().digest.unwrap();
    assert_eq!(user.entries(), ["The configuration is another one than before."]);
    user.say("[plugins]\nenabled = [\"guard\", \"strict\"]\nrequired = [\"guard\"]\n");
    host.refresh();
    assert_eq!(ls(&host).await, "strict");
    assert_ne!(host.config_report().digest.unwrap(), digest);
    assert_eq!(user.entries().len(), 2);
    // A comment says nothing.
    user.say("# house rules\n[plugins]\nenabled = [\"guard\", \"strict\"]\nrequired = [\"guard\"]\n");
    host.refresh();
    assert_eq!(user.entries().len(), 2);
}

#[tokio::test]
async fn a_plugins_own_table_is_followed() {
    let user = User::new("[plugins]\nenabled = [\"guard\"]\n");
    let host = user.open().await;
    let rm = bash("rm -rf build");
    assert_eq!(outcome(&judge(&host, rm.clone()).await), "guard");
    user.say("[plugins]\nenabled = [\"guard\"]\n[plugin.guard.settings.categories]\nrm = \"allow\"\n");
    host.refresh();
    assert_eq!(outcome(&judge(&host, rm.clone()).await), "allow");
    user.say("[plugins]\nenabled = [\"guard\", \"strict\"]\n[plugin.strict.limits]\nguard_ms = 7\n");
    host.refresh();
    assert_eq!(host.inspect("strict").unwrap().limits.guard_time.as_millis(), 7);
    assert_eq!(outcome(&judge(&host, rm).await), "guard");
}

/// RG01 and RG08: a healthy allow, a healthy deny, and the fault between them.
#[tokio::test]
async fn a_file_that_is_wrong_keeps_the_last_good_one_and_says_where() {
    for (config, expected) in [("[plugins]\nenabled = [\"guard\"]\n", "allow"), (REQUIRED, "strict")] {
        let user = User::new(config);
        let host = user.open().await;
        assert_eq!(ls(&host).await, expected);
        for wrong in
            ["[plugins]\nenabeld = []\n", "[plugins]\nenabled = [\n", "[[hooks]]\nevent = \"pre-tool\"\n"]
        {
            user.say(wrong);
            host.refresh();
            assert_eq!(ls(&host).await, expected, "{wrong}");
            let kept = host.config_report().kept.unwrap();
            assert!(
                kept.contains("config.toml:")
                    && kept.contains(if wrong.contains("enabeld") { "did you mean" } else { "" }),
                "{kept}"
            );
        }
        host.refresh();
        let told = user.entries();
        assert_eq!(told.len(), 3, "each is told once: {told:?}");
        assert!(
            told[0].contains("plugins.enabeld") && told[0].contains("the last good one serves"),
            "{told:?}"
        );
        user.say(config);
        host.refresh();
        assert_eq!((ls(&host).await.as_str(), host.config_report().kept), (expected, None));
    }
}

/// RG05: whatever becomes of the file, the required guard stays.
#[tokio::test]
async fn a_file_that_empties_or_goes_loses_nothing_until_the_operator_says_so() {
    for how in ["emptied", "gone", "moved", "a directory", "its folder is gone", "one line less"] {
        let user = User::new(&format!("{REQUIRED}locked = true\n[audit]\nrequired = true\n"));
        // Only the list keeps it from being one file among others.
        let host = user.open().await;
        assert_eq!(ls(&host).await, "strict");
        fs::remove_file(user.place.user().join("strict.wasm")).unwrap();
        match how {
            "emptied" => user.say(""),
            "gone" => fs::remove_file(user.file()).unwrap(),
            "moved" => fs::rename(user.file(), user.place.path("away.toml")).unwrap(),
            "a directory" => {
                fs::remove_file(user.file()).unwrap();
                fs::create_dir(user.file()).unwrap();
            }
            "one line less" => user.say("[plugins]\nlocked = true\n[audit]\nrequired = true\n"),
            _ => fs::remove_dir_all(user.file().parent().unwrap()).unwrap(),
        }
        host.refresh();
        assert_eq!(ls(&host).await, "strict", "{how}");
        let report = host.config_report();
        let kept = report.kept.unwrap();
        assert_eq!(user.entries().len(), 1, "{how}");
        if how == "a directory" {
            assert!(kept.contains("it is not a file") && !host.accept_config(), "{kept}");
            continue;
        }
        assert!(report.lost.contains(&"`strict` in `plugins.required`".to_owned()), "{how}: {kept}");
        assert!(kept.contains("start the host anew"), "{kept}");

        assert!(host.accept_config(), "{how}");
        assert_eq!((ls(&host).await.as_str(), host.config_report().kept), ("allow", None), "{how}");
        let told = user.entries().pop().unwrap();
        assert!(
            told.contains("It lost ") && told.contains("`strict` in `plugins.required`"),
            "{how}: {told}"
        );
        assert!(!host.accept_config(), "nothing waits");
    }
}

#[tokio::test]
async fn each_thing_that_is_strict_stays_and_a_new_start_takes_the_file_as_it_is() {
    let hook = "[[hooks]]\nevent = \"pre-tool-use\"\ncommand = \"/bin/false\"\nfailure_mode = \"closed\"\n";
    for (config, less, lost) in [
        (
            "[protect]\nown_files = true\n".to_owned(),
            "[protect]\nown_files = false\n".to_owned(),
            "protect.own_files",
        ),
        ("[audit]\nrequired = true\n".to_owned(), "[audit]\nrequired = false\n".to_owned(), "audit.required"),
        ("[plugins]\nlocked = true\n".to_owned(), "[plugins]\nlocked = false\n".to_owned(), "plugins.locked"),
        (hook.to_owned(), hook.replace("closed", "open"), "the closed hook"),
        (
            "[permissions]\nask = [\"Bash(git push *)\"]\n".to_owned(),
            "[permissions]\nask = []\n".to_owned(),
            "`Bash(git push *)` in `permissions.ask`",
        ),
    ] {
        let user = User::new(&config);
        let host = user.open().await;
        user.say(&less);
        host.refresh();
        let report = host.config_report();
        assert!(report.lost.len() == 1 && report.lost[0].contains(lost), "{report:?}");
        let before = report.digest.unwrap();
        let again = user.open().await;
        assert_eq!(again.config_report().kept, None);
        assert_ne!(again.config_report().digest.unwrap(), before);
    }
}

#[tokio::test]
async fn self_protection_that_stays_on_still_refuses() {
    let user = User::new("[plugins]\nenabled = []\n[protect]\nown_files = true\n");
    let host = user.open().await;
    let write = || bash("echo '{}' > ~/.claude/settings.json");
    let code = |wire: portcullis_model::judgement::JudgementWire| wire.code.unwrap_or_default();
    assert_eq!(code(judge(&host, write()).await), "self/hooks");
    assert_eq!(ls(&host).await, "allow");
    user.say("[plugins]\nenabled = []\n[protect]\nown_files = false\n");
    host.refresh();
    assert_eq!(code(judge(&host, write()).await), "self/hooks");
    host.accept_config();
    assert_eq!(code(judge(&host, write()).await), "");
}

/// RG08: a reader sees half of it. Nobody is alarmed while it is being written.
#[tokio::test]
async fn a_half_written_file_is_waited_for() {
    let user = User::new("[plugins]\nenabled = [\"guard\"]\n");
    let mut options = user.options();
    options.quiet = Duration::from_secs(30 * 60);
    let host = Host::open(options).await.unwrap();
    let whole = "[plugins]\nenabled = [\"guard\", \"strict\"]\n[tools]\nknown = [\"deploy_preview\"]\n";
    for length in [1, 9, 20, 30, 45] {
        fs::write(user.file(), &whole[..length]).unwrap();
        host.refresh();
        assert_eq!((ls(&host).await.as_str(), host.config_report().kept), ("allow", None), "{length} bytes");
    }
    fs::write(user.file(), whole).unwrap();
    host.refresh();
    assert_eq!(ls(&host).await, "strict");
    assert_eq!(user.entries().len(), 1);
}

#[tokio::test]
async fn a_file_behind_a_link_and_one_that_comes_later_are_followed() {
    let user = User::new("");
    let real = user.place.path("dotfiles.toml");
    fs::rename(user.file(), &real).unwrap();
    std::os::unix::fs::symlink(&real, user.file()).unwrap();
    let host = user.open().await;
    assert_eq!(ls(&host).await, "strict");
    fs::write(&real, "[plugins]\nenabled = [\"guard\"]\n").unwrap();
    while ls(&host).await != "allow" {
        tokio::task::yield_now().await;
    }
    let later = User::new("");
    fs::remove_file(later.file()).unwrap();
    let host = later.open().await;
    later.say("[plugins]\nenabled = [\"guard\"]\n");
    while ls(&host).await != "allow" {
        tokio::task::yield_now().await;
    }
}

/// RG09: either configuration refuses `ls`, one by a guard and one by a hook. A call that
/// saw a part of each would be let pass.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_call_sees_one_configuration_from_start_to_end() {
    let by_hook = "[plugins]\nenabled = []\n[[hooks]]\nevent = \"pre-tool-use\"\ncommand = \"/bin/sh\"\nargs = [\"-c\", \"exit 2\"]\n";
    let by_guard = "[plugins]\nenabled = [\"strict\"]\n";
    let user = User::new(by_guard);
    let host = user.open().await;
    let (stop, stopped) = tokio::sync::watch::channel(false);
    let judging: Vec<_> = (0..4)
        .map(|_| {
            let (host, stopped) = (host.clone(), stopped.clone());
            tokio::spawn(async move {
                let (mut guards, mut hooks) = (0, 0);
                while !*stopped.borrow() {
                    let wire = judge(&host, bash("ls")).await;
                    match wire.code.as_deref() {
                        Some("strict/no") => guards += 1,
                        Some("hook/block") => hooks += 1,
                        _ => panic!("{wire:?}"),
                    }
                }
                (guards, hooks)
            })
        })
        .collect();
    for edit in 1..=40 {
        user.say(if edit % 2 == 0 { by_guard } else { by_hook });
        host.refresh();
        let seen = judge(&host, bash("ls")).await.code.unwrap();
        assert_eq!(seen, if edit % 2 == 0 { "strict/no" } else { "hook/block" });
    }
    stop.send(true).unwrap();
    let mut total = (0, 0);
    for judge in judging {
        let (guards, hooks) = judge.await.unwrap();
        total = (total.0 + guards, total.1 + hooks);
    }
    assert!(total.0 > 0 && total.1 > 0, "{total:?}");
}

#[tokio::test]
async fn a_host_whose_configuration_is_its_embedders_follows_no_file() {
    let user = User::new("[plugins]\nenabled = [\"guard\"]\n");
    let mut options = user.options();
    options.config_files = None;
    let host = Host::open(options).await.unwrap();
    user.say("");
    host.refresh();
    assert_eq!(ls(&host).await, "allow");
    assert!(Path::new(&user.file()).exists());
}

#[tokio::test]
async fn a_rule_that_asks_and_then_denies_is_no_loss() {
    let user = User::new("[permissions]\nask = [\"Bash(git push *)\"]\n");
    let host = user.open().await;
    user.say("[permissions]\ndeny = [\"Bash(git push *)\"]\n");
    host.refresh();
    assert_eq!(host.config_report().kept, None);
}
