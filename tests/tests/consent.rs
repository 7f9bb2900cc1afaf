//! Permissions and consent: what is asked, of whom, in which order, and what no answer
//! means.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test ends when anything is wrong"
)]

mod place;

use std::pin::Pin;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use portcullis::{Approval, ApprovalRequest, Approver, DirectWrites, Host, HostOptions};
use portcullis_model::call::ToolCall;
use portcullis_model::fault::FaultKind;
use portcullis_model::judgement::{RefuserKind, Verdict};
use portcullis_tests::plugin::Plugin;
use serde_json::json;

use crate::place::{Place, bash, call, judge, outcome};

/// Answers as it was told, and remembers what it was asked.
#[derive(Debug, Default)]
struct Recording {
    asked: Mutex<Vec<String>>,
    host: OnceLock<Host>,
    answer: Mutex<Option<Answer>>,
}

#[derive(Debug, Clone)]
enum Answer {
    Say(Approval),
    Panic,
    Never,
    /// Puts a guard that refuses into the user's directory, and grants.
    PutAGuard(std::path::PathBuf, Vec<u8>),
}

impl Recording {
    fn saying(answer: Answer) -> Arc<Self> {
        Arc::new(Self { answer: Mutex::new(Some(answer)), ..Self::default() })
    }

    fn granting() -> Arc<Self> {
        Self::saying(Answer::Say(Approval::Granted))
    }

    /// What it was asked since the last time.
    fn asked(&self) -> Vec<String> {
        std::mem::take(&mut self.asked.lock().unwrap())
    }
}

impl Approver for Recording {
    fn ask<'a>(
        &'a self,
        request: &'a ApprovalRequest<'a>,
    ) -> Pin<Box<dyn Future<Output = Approval> + Send + 'a>> {
        self.asked.lock().unwrap().push(format!("{} {} {}", request.session_id, request.tool, request.input));
        let answer = self.answer.lock().unwrap().clone().unwrap();
        Box::pin(async move {
            match answer {
                Answer::Say(approval) => approval,
                Answer::Panic => panic!("inside"),
                Answer::Never => std::future::pending().await,
                Answer::PutAGuard(path, bytes) => {
                    std::fs::write(&path, bytes).unwrap();
                    place::age(&path);
                    self.host.get().unwrap().refresh();
                    Approval::Granted
                }
            }
        })
    }
}

fn options(place: &Place, config: &str, approver: &Arc<Recording>) -> HostOptions {
    let mut options = place.options(config);
    options.approver = Some(Arc::clone(approver) as _);
    options
}

async fn open(place: &Place, config: &str, approver: &Arc<Recording>) -> Host {
    Host::open(options(place, config, approver)).await.unwrap()
}

const ASK: &str = "[permissions]\nmode = \"ask\"\n";

#[tokio::test]
async fn no_objection_of_a_guard_is_no_consent() {
    let place = Place::new();
    let approver = Recording::granting();
    let host = open(&place, ASK, &approver).await;
    assert_eq!(outcome(&judge(&host, bash("ls")).await), "allow");
    assert_eq!(approver.asked(), ["s1 bash {\"command\":\"ls\"}"]);
}

#[tokio::test]
async fn what_a_guard_or_a_hook_refuses_is_never_asked_for() {
    let place = Place::new();
    let approver = Recording::granting();
    for mode in ["ask", "accept-edits", "yolo", "read-only"] {
        let config = format!("[permissions]\nmode = \"{mode}\"\nallow = [\"*\"]\nask = [\"Bash(rm *)\"]\n");
        let host = open(&place, &config, &approver).await;
        for _ in 0..2 {
            assert_eq!(outcome(&judge(&host, bash("rm -rf x")).await), "guard", "{mode}");
        }
        assert_eq!(approver.asked(), Vec::<String>::new(), "{mode}");
    }
    let hook = "[[hooks]]\nevent = \"pre-tool-use\"\nshell = true\ncommand = 'echo no >&2; exit 2'\n";
    let host = open(&place, &format!("{ASK}{hook}"), &approver).await;
    let judged = judge(&host, bash("ls")).await;
    assert_eq!(judged.by.unwrap().kind, RefuserKind::Hook);
    assert_eq!(approver.asked(), Vec::<String>::new());
}

#[tokio::test]
async fn a_hook_that_approves_grants_nothing() {
    let place = Place::new();
    let approve = "[[hooks]]\nevent = \"pre-tool-use\"\nshell = true\ncommand = 'echo \"{\\\"decision\\\":\\\"approve\\\"}\"'\n";
    let approver = Recording::saying(Answer::Say(Approval::Refused(None)));
    let host = open(&place, &format!("{ASK}{approve}"), &approver).await;
    assert_eq!(judge(&host, bash("ls")).await.code.as_deref(), Some("policy/refused"));
    assert_eq!(approver.asked().len(), 1);
}

#[tokio::test]
async fn a_plugin_approves_its_own_tools_and_only_while_it_is_active() {
    let place = Place::new();
    let approver = Recording::granting();
    let current_time = || call("current_time", json!({}));
    let host = open(&place, ASK, &approver).await;
    let judged = judge(&host, current_time()).await;
    assert_eq!((judged.verdict, judged.auto_approved), (Verdict::Allow, true));
    assert_eq!(approver.asked(), Vec::<String>::new());
    let host = open(&place, &format!("{ASK}[plugins]\nenabled = [\"guard\"]\n"), &approver).await;
    assert!(!judge(&host, current_time()).await.auto_approved);
    assert_eq!(approver.asked().len(), 1);
}

/// Healthy consent, healthy refusal, and every way to fail to answer, twice each.
#[tokio::test]
async fn no_answer_is_no_consent() {
    let place = Place::new();
    let table = [
        (Answer::Say(Approval::Granted), None, None),
        (Answer::Say(Approval::Refused(Some("not on a Friday.".to_owned()))), Some("policy/refused"), None),
        (Answer::Say(Approval::Unavailable("closed".to_owned())), Some("policy/ask"), None),
        (Answer::Panic, Some("fault/internal"), Some(FaultKind::Internal)),
        (Answer::Never, Some("fault/timeout"), Some(FaultKind::Timeout)),
    ];
    for (answer, code, fault) in table {
        let approver = Recording::saying(answer.clone());
        let mut options = options(&place, ASK, &approver);
        options.approval_time = Duration::from_millis(50);
        let host = Host::open(options).await.unwrap();
        for _ in 0..2 {
            let judged = host.session("s1").turn().judge(bash("ls")).await;
            let wire = judged.to_wire();
            assert_eq!((wire.code.as_deref(), wire.fault), (code, fault), "{answer:?}");
            assert_eq!(judged.outcome.is_ok(), code.is_none(), "{answer:?}");
            let expected = if code.is_none() { Verdict::Allow } else { Verdict::Block };
            assert_eq!(wire.verdict, expected, "{answer:?}");
            let reason = wire.reason.unwrap_or_default();
            assert!(fault.is_none() || reason.contains("not found to be wrong"), "{reason}");
            assert!(code != Some("policy/refused") || reason.contains("not on a Friday. "), "{reason}");
            assert_eq!(approver.asked().len(), 1);
        }
    }
}

#[tokio::test]
async fn a_call_that_needs_consent_has_no_permit_when_there_is_nobody_to_ask() {
    let place = Place::new();
    for config in [ASK, "[permissions]\nmode = \"yolo\"\nask = [\"Bash(ls *)\"]\n"] {
        let host = place.open(config).await;
        let judged = host.session("s1").turn().judge(bash("ls")).await;
        assert!(judged.wants_consent && judged.outcome.is_err(), "{config}");
        let wire = judged.to_wire();
        assert_eq!((wire.verdict, wire.code.as_deref()), (Verdict::Ask, Some("policy/ask")), "{config}");
    }
}

#[tokio::test]
async fn a_guard_that_appears_while_somebody_thinks_judges_the_call() {
    let place = Place::new();
    let guard = Plugin::new("late").refuses("late", "too late").build().unwrap();
    let path = place.user().join("late.wasm");
    let approver = Recording::saying(Answer::PutAGuard(path, guard));
    let mut options = options(&place, ASK, &approver);
    options.watch = true;
    let host = Host::open(options).await.unwrap();
    approver.host.set(host.clone()).unwrap();
    assert_eq!(outcome(&judge(&host, bash("ls")).await), "late");
    assert_eq!(approver.asked().len(), 1);
}

#[tokio::test]
async fn each_stage_refuses_before_the_next_is_asked() {
    let place = Place::new();
    let marker = place.path("hook-was-asked");
    let hook = |then: &str| {
        format!(
            "[[hooks]]\nevent = \"pre-tool-use\"\nshell = true\ncommand = 'touch {}; {then}'\n",
            marker.display()
        )
    };
    let app = place.path("app");
    std::fs::create_dir_all(app.join("docs")).unwrap();
    let write = |path: &str| ToolCall {
        cwd: app.to_str().unwrap().to_owned(),
        ..call("Write", json!({ "file_path": path, "content": "x" }))
    };
    let docs = DirectWrites::new(&app, &["docs/**"]).unwrap();
    let approver = Recording::saying(Answer::Say(Approval::Refused(None)));
    let ask = "[permissions]\nmode = \"ask\"\n";
    let deny = "[permissions]\ndeny = [\"write\"]\n";
    let hidden = "[channels.tools]\ndeny = [\"write\"]\n";
    // The stages before the one that refuses let the call pass.
    for (config, path, code, hook_asked, approver_asked) in [
        (format!("{hidden}{}{ask}", hook("exit 2").as_str()), "docs/a", "policy/channel", false, false),
        (format!("{}{ask}", hook("exit 2")), "docs/.env", "no-secrets/write", false, false),
        (format!("{}{ask}", hook("exit 2")), "src/a", "hook/block", true, false),
        (format!("{}{ask}", hook("exit 0")), "src/a", "path/direct-write", true, false),
        (format!("{}{deny}", hook("exit 0")), "docs/a", "policy/deny", true, false),
        (format!("{}{ask}", hook("exit 0")), "docs/a", "policy/refused", true, true),
    ] {
        let config = format!("plugins.enabled = [\"guard\", \"no-secrets\"]\n{config}");
        let host = open(&place, &config, &approver).await;
        let session = host.session("s1").with_direct_writes(docs.clone());
        let wire = session.turn().judge(write(path)).await.to_wire();
        assert_eq!(wire.code.as_deref(), Some(code), "{config} {path} {wire:?}");
        assert_eq!(marker.exists(), hook_asked, "{code}");
        assert_eq!(!approver.asked().is_empty(), approver_asked, "{code}");
        drop(std::fs::remove_file(&marker));
    }
}

#[tokio::test]
async fn a_hook_that_the_channel_hides_is_not_asked() {
    let place = Place::new();
    let hooks = "[[hooks]]\nevent = \"pre-tool-use\"\nshell = true\ncommand = 'exit 2'\n";
    for (channel, verdict) in [
        ("", Verdict::Block),
        ("[channels.hooks]\ndeny = [\"pre-tool-use exit *\"]\n", Verdict::Allow),
        ("[channels.hooks]\nallow = [\"stop *\"]\n", Verdict::Allow),
    ] {
        let host = place.open(&format!("{channel}{hooks}")).await;
        assert_eq!(judge(&host, bash("ls")).await.verdict, verdict, "{channel}");
    }
}
