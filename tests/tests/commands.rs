//! Commands that a person types, from their files and from everybody else who brings them:
//! who wins a name, what comes of one, and what is written down.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test ends when anything is wrong"
)]

mod place;

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use portcullis::command::CommandPlaces;
use portcullis::extension::{Level, Scope};
use portcullis::ledger::{self, LedgerOptions};
use portcullis::skill::SkillPlaces;
use portcullis::{Host, HostOptions, LocalPlaces, TextError, Turn};
use portcullis_model::capability::CapabilityKind;
use portcullis_model::extension::{CommandEntry, Extension, Known};
use portcullis_tests::extension::Fake;
use portcullis_tests::plugin::Plugin;

use crate::place::{Place, rename_into};

/// Where the user keeps commands and skills.
fn options(place: &Place, config: &str) -> HostOptions {
    let (commands, skills) = (place.path("commands"), place.path("skills"));
    fs::create_dir_all(&commands).unwrap();
    fs::create_dir_all(&skills).unwrap();
    let mut options = place.options(config);
    options.ledger = Some(LedgerOptions::new(place.path("state/ledger")));
    options.local = Some(LocalPlaces {
        skills: SkillPlaces { user: Some(skills), ..SkillPlaces::default() },
        commands: CommandPlaces {
            user: Some(commands),
            plugins: Some(place.user()),
            ..CommandPlaces::default()
        },
    });
    options
}

async fn open(place: &Place) -> Host {
    Host::open(options(place, "")).await.unwrap()
}

fn write(place: &Place, path: &str, text: &str) -> PathBuf {
    let path = place.path(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, text).unwrap();
    path
}

fn skill(place: &Place, name: &str, body: &str) {
    let text = format!("---\nname: {name}\ndescription: Does {name}.\n---\n{body}");
    write(place, &format!("skills/{name}/SKILL.md"), &text);
}

/// `name from` of each that can be typed.
fn listed(turn: &Turn) -> Vec<String> {
    turn.commands().into_iter().map(|own| format!("{} {}", own.name, own.from)).collect()
}

/// The texts that the ledger has of commands.
fn written(place: &Place) -> Vec<(String, String)> {
    let mut all = Vec::new();
    ledger::read(&place.path("state/ledger"), |_, record| {
        if record.kind == "command" {
            all.push((record.canonical.unwrap(), record.reason.unwrap()));
        }
    })
    .unwrap();
    all
}

async fn register(host: &Host, own: &Arc<Fake>) {
    let own = Arc::clone(own) as Arc<dyn Extension>;
    host.register(own, Level::Pool, &Scope::default(), None).await.unwrap();
}

#[tokio::test]
async fn a_file_is_a_command_that_is_listed_expanded_and_written_down_and_is_no_tool() {
    let place = Place::new();
    write(
        &place,
        "commands/review.md",
        "---\ndescription: Review it\nargument-hint: [file]\n---\nReview $ARGUMENTS now.\n",
    );
    let host = open(&place).await;
    let turn = host.session("s1").turn();
    let [own] = &turn.commands()[..] else { panic!("{:?}", turn.commands()) };
    assert_eq!((own.name.as_str(), own.description.as_str()), ("review", "Review it"));
    assert_eq!((own.arguments.as_str(), own.from.as_str()), ("[file]", "user"));
    let text = turn.expand("review", "it's \"odd\" $1", "/").await.unwrap();
    assert_eq!(text, "Review it's \"odd\" $1 now.\n");
    assert_eq!(written(&place), [("command:review".to_owned(), text)]);
    assert!(turn.surface().shown().all(|tool| tool.name != "review"), "a command is no tool");
    assert_eq!(turn.expand("nope", "", "/").await.unwrap_err().code(), "unknown_capability");
    assert_eq!(written(&place).len(), 1, "nothing came of the other");
}

#[tokio::test]
async fn a_plugins_command_comes_before_the_users_and_a_directory_of_commands_before_that() {
    let place = Place::new();
    place.put("namer.wasm", &Plugin::new("namer").command("Of the component.").build().unwrap());
    write(&place, "commands/greet.md", "Of the user.");
    let host = open(&place).await;
    let turn = host.session("s1").turn();
    assert_eq!(listed(&turn), ["greet plugin:namer"]);
    assert_eq!(turn.expand("greet", "", "/").await.unwrap(), "Of the component.");
    write(&place, "user/kit/commands/greet.md", "Of a directory.");
    host.reconcile().await;
    assert_eq!(
        turn.expand("greet", "", "/").await.unwrap(),
        "Of the component.",
        "the turn goes on as it began"
    );
    let turn = host.session("s1").turn();
    assert_eq!(listed(&turn), ["greet plugin:kit"]);
    assert_eq!(turn.expand("greet", "", "/").await.unwrap(), "Of a directory.");
    let report = host.capabilities();
    let shadowed =
        report.rows.iter().filter(|row| row.capability.id.kind == CapabilityKind::Command && !row.usable);
    assert_eq!(shadowed.count(), 1, "{report:?}");
}

#[tokio::test]
async fn a_command_that_traps_or_hangs_gives_no_text_and_names_its_plugin() {
    let place = Place::new();
    let config = "[plugin.namer.limits]\ncommand_ms = 100\n";
    for (body, code) in [("unreachable", "trap"), ("(loop $again (br $again))", "timeout")] {
        let plugin = Plugin::new("namer").command("Never said.").when_expanded(body).build().unwrap();
        place.put("namer.wasm", &plugin);
        let host = Host::open(options(&place, config)).await.unwrap();
        for _ in 0..2 {
            let error = host.session("s1").turn().expand("greet", "", "/").await.unwrap_err();
            assert_eq!(error.code(), code);
            assert!(error.to_string().contains("namer"), "{error}");
        }
    }
    assert_eq!(written(&place), []);
}

#[tokio::test]
async fn whoever_does_not_know_a_name_any_more_lets_the_next_one_answer() {
    let place = Place::new();
    let host = open(&place).await;
    let (first, second) = (Arc::new(Fake::new("first")), Arc::new(Fake::new("second")));
    for own in [&first, &second] {
        own.brings(Known { commands: vec![CommandEntry::new("ship", "ships")], ..Known::default() });
        register(&host, own).await;
    }
    let turn = host.session("s1").turn();
    assert_eq!(turn.expand("ship", "it", "/").await.unwrap(), "ship it");
    first.brings(Known::default());
    assert_eq!(turn.expand("ship", "it", "/").await.unwrap(), "ship it");
    second.brings(Known::default());
    assert!(matches!(turn.expand("ship", "it", "/").await, Err(TextError::Unusable(_))));
}

#[tokio::test]
async fn a_skill_is_a_command_with_its_text_and_what_is_typed_behind_it() {
    let place = Place::new();
    skill(&place, "trim", "Trim $0 well.\n");
    skill(&place, "plain", "Do it.\n");
    let host = open(&place).await;
    let turn = host.session("s1").turn();
    assert_eq!(listed(&turn), ["skill:plain skill", "skill:trim skill"]);
    assert_eq!(turn.expand("skill:trim", "foo", "/").await.unwrap(), "Trim foo well.\n");
    assert_eq!(turn.expand("skill:plain", "foo", "/").await.unwrap(), "Do it.\n\n\nARGUMENTS: foo");
    assert_eq!(turn.expand("skill:none", "", "/").await.unwrap_err().code(), "unknown_capability");
    let canonical: Vec<_> = written(&place).into_iter().map(|(name, _)| name).collect();
    assert_eq!(canonical, ["command:skill:trim", "command:skill:plain"]);
}

#[tokio::test]
async fn files_that_come_change_and_go_are_seen_by_the_next_turn_of_a_host_that_watches() {
    let place = Place::new();
    let mut options = options(&place, "");
    options.watch = true;
    let host = Host::open(options).await.unwrap();
    let mut epochs = host.epochs();
    let session = host.session("s1");
    assert_eq!(listed(&session.turn()), [] as [&str; 0]);
    let file = place.path("commands/ship.md");
    rename_into(&file, b"Ship it.");
    skill(&place, "trim", "Trim.");
    while listed(&session.turn()) != ["ship user", "skill:trim skill"] {
        epochs.next().await;
    }
    let turn = session.turn();
    let before = turn.epoch();
    rename_into(&file, b"Ship it twice.");
    while session.turn().epoch() == before {
        epochs.next().await;
    }
    assert_eq!(session.turn().expand("ship", "", "/").await.unwrap(), "Ship it twice.");
    let before = session.turn().epoch();
    skill(&place, "trim", "Trim more.");
    while session.turn().epoch() == before {
        epochs.next().await;
    }
    assert_eq!(session.turn().expand("skill:trim", "", "/").await.unwrap(), "Trim more.");
    fs::remove_file(&file).unwrap();
    while listed(&session.turn()) != ["skill:trim skill"] {
        epochs.next().await;
    }
    assert!(session.turn().expand("ship", "", "/").await.is_err());
}

#[tokio::test]
async fn skills_and_commands_follow_the_configuration_of_a_host_that_watches() {
    let place = Place::new();
    skill(&place, "trim", "Trim.");
    write(&place, "home/.claude/commands/ship.md", "Ship it.");
    let mut options = options(&place, "");
    let home = Some(place.path("home"));
    options.local.as_mut().unwrap().commands.home = home;
    place.configure("");
    let files = portcullis::config::Files { user: Some(place.path("config.toml")), ..Default::default() };
    options.configure(files.clone(), portcullis::config::load(&files).unwrap());
    options.watch = true;
    let host = Host::open(options).await.unwrap();
    let mut epochs = host.epochs();
    let session = host.session("s1");
    assert_eq!(listed(&session.turn()), ["ship user-claude", "skill:trim skill"]);
    place.configure("[skills]\nignore = [\"trim\"]\n[commands]\ncompat = false\n");
    while listed(&session.turn()) != [] as [&str; 0] {
        epochs.next().await;
    }
    place.configure("[skills]\nignore = [\"\"]\n");
    host.refresh();
    assert!(
        host.config_report().kept.is_some_and(|why| why.contains("skills")),
        "{:?}",
        host.config_report()
    );
    assert_eq!(listed(&session.turn()), [] as [&str; 0], "the last good one serves");
}

#[tokio::test]
async fn the_ledger_tells_which_skills_a_turn_had_and_which_text_each_was() {
    let place = Place::new();
    skill(&place, "trim", "Trim.");
    let host = open(&place).await;
    let session = host.session("s1");
    session.turn().standing().await;
    skill(&place, "trim", "Trim more.");
    host.reconcile().await;
    session.turn().standing().await;
    let mut named = Vec::new();
    ledger::read(&place.path("state/ledger"), |line, _| {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        for list in ["added", "changed"] {
            let own = line["changes"][list].as_array().into_iter().flatten().map(|own| own.as_str().unwrap());
            named.extend(own.filter(|own| own.starts_with("skill:")).map(str::to_owned));
        }
    })
    .unwrap();
    let digest = |body: &str| {
        let text = format!("---\nname: trim\ndescription: Does trim.\n---\n{body}");
        format!("skill:trim@{}", &portcullis_runtime::Digest::of(text.as_bytes()).to_string()[..16])
    };
    // The first epoch is written as a whole, and what changed twice: of the host, and of the turn.
    let (old, new) = (digest("Trim."), digest("Trim more."));
    assert_eq!(named, [old, new.clone(), new]);
}
