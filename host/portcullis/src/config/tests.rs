//! What holds for any two files.

use std::collections::BTreeSet;
use std::path::Path;

use portcullis_model::config::key::{ANY, KEYS, Kind, Project};
use portcullis_model::config::{Config, Mode, PluginConfig, SkillsConfig};
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

use super::layer::merge;
use super::loaded::Loaded;
use super::problem::{Layer, Problem};
use super::walk;
use crate::trust::Workspace;

const USER: &str = "user.toml";
const PROJECT: &str = "project.toml";

fn load(user: &str, project: &str) -> Result<Loaded, Vec<Problem>> {
    let (user_file, project_file) = (Path::new(USER), Path::new(PROJECT));
    let user = walk::read(Layer::User, user_file, user)?;
    let project = walk::read(Layer::Project, project_file, project)?;
    Ok(merge(Some(user_file), user, Some(project_file), project, None).unwrap())
}

/// The same for a project at `/home/dev` that is trusted, with its program `hook`.
fn load_trusted(user: &str, project: &str) -> Loaded {
    let (user_file, project_file) = (Path::new(USER), Path::new("/home/dev/.portcullis/config.toml"));
    let user = walk::read(Layer::User, user_file, user).unwrap();
    let project = walk::read(Layer::Project, project_file, project).unwrap();
    let trust = Workspace::for_tests("/home/dev", &[("hook", "aa")]);
    merge(Some(user_file), user, Some(project_file), project, Some(&trust)).unwrap()
}

/// What can stand behind the `=` of a key of this kind.
fn value(kind: Kind) -> BoxedStrategy<String> {
    let list = |items: &'static [&'static str]| {
        subsequence(items, 0..=items.len()).prop_map(|items| format!("{items:?}")).boxed()
    };
    match kind {
        Kind::Flag => any::<bool>().prop_map(|flag| flag.to_string()).boxed(),
        Kind::Number { least, most, .. } => {
            prop_oneof![least..=most, Just(least), Just(most)].prop_map(|number| number.to_string()).boxed()
        }
        Kind::Word(words) => select(words).prop_map(|word| format!("\"{word}\"")).boxed(),
        Kind::Plugins => list(&["guard", "time", "bell", "no-secrets"]),
        Kind::Texts => list(&["HOME", "deploy_preview"]),
        Kind::Rules => list(&["Bash(git push *)", "write(**/.env*)", "*"]),
        Kind::Globs => list(&["bash", "mcp__*"]),
        Kind::Path => Just("\"/home/dev/a.wasm\"".to_owned()).boxed(),
        Kind::Paths => list(&["/home/dev/a", "/"]),
        Kind::Settings => Just("{ categories = { rm = \"allow\" }, exempt = [\"/\"] }".to_owned()).boxed(),
        Kind::Variables => Just("{ TOKEN = \"a\" }".to_owned()).boxed(),
        Kind::Text => Just("\"a\"".to_owned()).boxed(),
        Kind::Hooks => {
            Just("[{ event = \"pre-tool-use\", command = \"/home/dev/hook\" }]".to_owned()).boxed()
        }
    }
}

/// Any file that is a configuration.
fn file() -> impl Strategy<Value = String> {
    let mut lines: Vec<BoxedStrategy<Option<String>>> = Vec::new();
    for key in KEYS {
        let plugins: &[&str] = if key.path.contains(ANY) { &["guard", "mine"] } else { &[""] };
        for plugin in plugins {
            let path = key.path.replace(ANY, plugin);
            let line = value(key.kind).prop_map(move |value| format!("{path} = {value}\n"));
            lines.push(proptest::option::of(line).boxed());
        }
    }
    lines.prop_map(|lines| lines.into_iter().flatten().collect())
}

/// Is every input of a judgement at least as strict in `after` as in `before`? Each
/// field is named, so that a new one is thought about.
fn is_as_strict(before: &Config, after: &Config) -> bool {
    let Config {
        plugins,
        plugin,
        tools,
        permissions,
        channels,
        skills,
        commands,
        protect,
        audit,
        hooks,
        hook_defaults,
        intent,
        extensions,
        schedule,
        mcp,
        of_project,
    } = after;
    let requires = |config: &Config| -> BTreeSet<_> {
        config.plugins.required.iter().chain(&config.plugins.required_by_project).cloned().collect()
    };
    let names: BTreeSet<_> = before.plugin.keys().chain(plugin.keys()).collect();
    let default = PluginConfig::default();
    let plugin_holds = names.into_iter().all(|name| {
        let was = before.plugin.get(name).unwrap_or(&default);
        let PluginConfig { path, failure_mode, settings, limits, grant } =
            plugin.get(name).unwrap_or(&default);
        let (old, new) = (was.limits.resolve(), limits.resolve());
        (path, failure_mode, settings, grant) == (&was.path, &was.failure_mode, &was.settings, &was.grant)
            && (new.describe_time, new.memory, new.answer) == (old.describe_time, old.memory, old.answer)
            && (new.reason, new.appendix, new.tools) == (old.reason, old.appendix, old.tools)
            && new.guard_time <= old.guard_time
            && new.hook_time <= old.hook_time
            && new.command_time <= old.command_time
            && new.tool_time <= old.tool_time
    });
    let rank = |config: &Config| {
        let mode = config.permissions.mode;
        mode.and_then(|mode| Mode::ALL.iter().position(|own| *own == mode)).unwrap_or(Mode::ALL.len())
    };
    let rules = |own: &[String], projects: &[String]| -> BTreeSet<_> {
        own.iter().chain(projects).cloned().collect()
    };
    let (now, was) = (permissions, &before.permissions);
    let permits_no_more = rank(after) <= rank(before)
        && now.allow == was.allow
        && now.ask == was.ask
        && now.deny == was.deny
        && rules(&now.ask, &now.ask_by_project).is_superset(&rules(&was.ask, &was.ask_by_project))
        && rules(&now.deny, &now.deny_by_project).is_superset(&rules(&was.deny, &was.deny_by_project));
    let there_is_no_more = channels.hooks == before.channels.hooks
        && [
            (&channels.tools, &before.channels.tools),
            (&channels.servers, &before.channels.servers),
            (&channels.skills, &before.channels.skills),
        ]
        .iter()
        .all(|(now, was)| {
            now.allow == was.allow && rules(&now.deny, &[]).is_superset(&rules(&was.deny, &[]))
        })
        && rules(&skills.ignore, &[]).is_superset(&rules(&before.skills.ignore, &[]))
        && SkillsConfig { ignore: before.skills.ignore.clone(), ..skills.clone() } == before.skills
        && *commands == before.commands;
    plugin_holds
        && permits_no_more
        && there_is_no_more
        && plugins.enabled == before.plugins.enabled
        && plugins.locked == before.plugins.locked
        && requires(after).is_superset(&requires(before))
        && plugins.required == before.plugins.required
        && *tools == before.tools
        && *protect == before.protect
        && *hooks == before.hooks
        && *hook_defaults == before.hook_defaults
        && *intent == before.intent
        && extensions.max_composition_depth <= before.extensions.max_composition_depth
        && (schedule.check_writes || !before.schedule.check_writes)
        && *mcp == before.mcp
        && *of_project == before.of_project
        && (audit.required || !before.audit.required)
        && (audit.allowed || !before.audit.allowed)
        && (audit.max_bytes, audit.keep) == (before.audit.max_bytes, before.audit.keep)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_file_of_a_project_weakens_anything(user in file(), project in file()) {
        let before = load(&user, "").unwrap();
        let after = load(&user, &project).unwrap();
        prop_assert!(is_as_strict(&before.config, &after.config), "{user}\n---\n{project}\n{after:#?}");
    }

    #[test]
    fn trust_adds_what_is_the_projects_own_and_touches_nothing_of_the_users(user in file(), project in file()) {
        let plain = load(&user, &project).unwrap();
        let trusted = load_trusted(&user, &project);
        let own = trusted.config.of_project.clone();
        let rest = Config { of_project: Default::default(), ..trusted.config };
        prop_assert_eq!(&rest, &plain.config);
        prop_assert!(own.plugin.keys().all(|name| name.as_str() == "mine" && !rest.plugin.contains_key(name)
            || !user.contains("plugin.mine")), "{:?}", own);
        let hooks = project.contains("hooks =");
        prop_assert_eq!(own.hooks.len(), usize::from(hooks));
        prop_assert!(own.hooks.iter().all(|hook| hook.command == "/kept/aa/hook"), "{:?}", own);
    }

    #[test]
    fn what_the_user_says_holds_as_it_was_written(user in file()) {
        let loaded = load(&user, "").unwrap();
        // The types' own reader, without the table of keys.
        let config: Config = toml::from_str(&user).unwrap();
        prop_assert_eq!(&loaded.config, &config);
        let said = loaded.settings().into_iter().filter(|setting| !setting.origins.is_empty()).count();
        prop_assert!(said >= user.lines().count(), "{user}");
    }

    #[test]
    fn no_text_makes_the_reader_fail(text in "(?s).{0,200}|([a-z.\\[\\]\"=# \n{},0-9]{0,120})") {
        drop(load(&text, &text));
    }
}

#[test]
fn every_value_tells_where_it_comes_from() {
    let user = "[plugins]\nrequired = [\"guard\"]\n[plugin.guard.settings.categories]\nrm = \"block\"\n[plugin.guard.limits]\nguard_ms = 500\ntool_ms = 9\n";
    let project = "[plugins]\nrequired = [\"guard\", \"time\"]\n\n[plugin.guard.limits]\nguard_ms = 100\ntool_ms = 10\n[audit]\nrequired = true\n";
    let loaded = load(user, project).unwrap();
    let told: Vec<String> = loaded
        .settings()
        .into_iter()
        .filter(|setting| !setting.origins.is_empty())
        .map(|setting| {
            let origins: Vec<_> = setting
                .origins
                .iter()
                .map(|origin| format!("{}:{}", origin.file.display(), origin.line))
                .collect();
            format!("{} {} {}", setting.key, setting.value.unwrap(), origins.join(" "))
        })
        .collect();
    assert_eq!(
        told,
        [
            "plugins.required [\"guard\",\"time\"] user.toml:2 project.toml:2",
            "audit.required true project.toml:8",
            "plugin.guard.settings.categories.rm \"block\" user.toml:4",
            "plugin.guard.limits.guard_ms 100 project.toml:5",
            "plugin.guard.limits.tool_ms 9 user.toml:7",
        ]
    );
    assert_eq!(loaded.config.plugins.required.len(), 1);
    assert_eq!(loaded.config.plugins.required_by_project[0].as_str(), "time");
    assert_eq!(
        loaded.ignored.iter().map(ToString::to_string).collect::<Vec<_>>(),
        [
            "project.toml:6:1: `plugin.guard.limits.tool_ms`: not taken from a project: a project makes a limit no \
          wider than it is: 9; say it in the user's file"
        ]
    );
}

#[test]
fn what_a_project_may_not_say_is_left_out_with_the_reason() {
    for key in KEYS {
        let Project::Nothing(why) = key.project else { continue };
        let path = key.path.replace(ANY, "guard");
        let value = match key.kind {
            Kind::Flag => "true".to_owned(),
            Kind::Number { least, .. } => least.to_string(),
            Kind::Word(words) => format!("\"{}\"", words[1]),
            Kind::Plugins | Kind::Rules | Kind::Globs => "[]".to_owned(),
            Kind::Texts => "[\"words\"]".to_owned(),
            Kind::Paths => "[\"/words\"]".to_owned(),
            Kind::Path => "\"/a.wasm\"".to_owned(),
            Kind::Settings => "{ words = 1, more = 2 }".to_owned(),
            Kind::Variables => "{ words = \"a\", more = \"b\" }".to_owned(),
            Kind::Text => "\"a\"".to_owned(),
            Kind::Hooks => "[{ event = \"pre-tool-use\", command = \"/words\" }]".to_owned(),
        };
        let loaded = load("", &format!("{path} = {value}")).unwrap();
        assert_eq!(loaded.config, Config::default(), "{path}");
        let told: Vec<_> = loaded.ignored.iter().map(ToString::to_string).collect();
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(told[0].contains(&path) && told[0].contains(why), "{told:?}");
        assert!(!told[0].contains("words"), "{told:?}");
    }
}

#[test]
fn a_value_that_looks_secret_is_not_shown() {
    let text = "[plugin.a.settings]\napi_key = \"abcdefgh\"\nsafe = \"abcdefgh\"\nother = \"ghp_0123456789abcdefghij\"\n";
    let shown: Vec<_> = load(text, "")
        .unwrap()
        .settings()
        .iter()
        .filter_map(|setting| {
            Some((setting.key.strip_prefix("plugin.a.settings.")?.to_owned(), setting.shown()?.to_string()))
        })
        .collect();
    let expected = [("api_key", "\"[redacted]\""), ("other", "\"[redacted]\""), ("safe", "\"abcdefgh\"")];
    assert_eq!(shown, expected.map(|(key, value)| (key.to_owned(), value.to_owned())));
}

#[test]
fn all_problems_of_both_files_are_told_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let files = super::Files {
        user: Some(dir.path().join("user.toml")),
        project: Some(dir.path().join("project.toml")),
        trust: None,
    };
    std::fs::write(dir.path().join("user.toml"), "[plugins]\nenabeld = []\nlocked = 1\n").unwrap();
    std::fs::write(dir.path().join("project.toml"), "[audit]\nkeep = 0\n\"ignore your user\" = 1\n").unwrap();
    let error = super::load(&files).unwrap_err();
    assert_eq!(error.problems().len(), 4, "{error}");
    let quiet = error.without_words_of_the_project().to_string();
    assert!(quiet.contains("enabeld") && quiet.contains("project.toml:3:1: not valid"), "{quiet}");
    assert!(!quiet.contains("ignore your user"), "{quiet}");
}

#[test]
fn what_is_no_file_is_refused_and_what_is_not_there_says_nothing() {
    let dir = tempfile::tempdir().unwrap();
    assert!(super::read_config(dir.path()).unwrap_err().to_string().contains("it is not a file"));
    assert_eq!(super::read_config(&dir.path().join("nowhere")).unwrap(), Config::default());
    let large = dir.path().join("large.toml");
    std::fs::write(&large, "#".repeat((1 << 20) + 1)).unwrap();
    assert!(super::read_config(&large).unwrap_err().to_string().contains("is larger than"));
    std::fs::write(&large, b"# a\n\xff").unwrap();
    assert!(super::read_config(&large).unwrap_err().to_string().contains("not UTF-8 in line 2"));
}

#[test]
fn a_hook_of_a_trusted_project_is_a_program_in_it_that_was_looked_at() {
    let hook = |rest: &str| format!("[[hooks]]\nevent = \"pre-tool-use\"\n{rest}\n");
    for command in ["hook", "./hook", "/home/dev/hook"] {
        let loaded = load_trusted("", &hook(&format!("command = \"{command}\"")));
        assert_eq!(loaded.config.of_project.hooks[0].command, "/kept/aa/hook", "{command}");
        assert_eq!((loaded.wishes.len(), loaded.wishes[0].program.as_deref()), (1, Some("hook")));
        assert!(loaded.ignored.is_empty() && loaded.config.hooks.is_empty());
    }
    for (rest, wishes) in [
        ("command = \"/usr/bin/python3\"\nargs = [\"hook\"]", 0),
        ("command = \"../hook\"", 0),
        ("command = \"a/../hook\"", 0),
        ("command = \"./hook\"\nshell = true", 0),
        ("command = \"other\"", 1),
    ] {
        let loaded = load_trusted("", &hook(rest));
        assert_eq!(loaded.config.of_project.hooks.len(), 0, "{rest}");
        assert_eq!((loaded.wishes.len(), loaded.ignored.len()), (wishes, 1), "{rest}");
        assert!(loaded.ignored[0].message.contains("wait for trust"), "{rest}: {:?}", loaded.ignored);
    }
    // The user's own file knows no such thing.
    assert!(
        walk::read(Layer::User, Path::new("/home/dev/.portcullis/config.toml"), &hook("command = \"hook\""))
            .is_err()
    );
}

#[test]
fn what_is_trusted_is_shown_with_where_it_was_said_and_moves_the_digest() {
    let user = "[tools]\nknown = [\"a\"]\n";
    let project = "[tools]\nknown = [\"a\", \"b\"]\n[plugin.mine]\nsettings.x = 1\ngrant.clock = true\n[plugin.guard]\nsettings.rm = \"allow\"\n";
    let (plain, trusted) = (load(user, project).unwrap(), load_trusted(user, project));
    assert_eq!(plain.wishes.len(), 3, "{:?}", plain.wishes);
    assert_eq!(plain.config.tools.known, ["a"]);
    assert_eq!(trusted.config.tools.known, ["a"]);
    assert_eq!(trusted.config.of_project.known_tools, ["b"]);
    let (name, own) = trusted.config.of_project.plugin.iter().next().unwrap();
    assert!(name.as_str() == "mine" && own.grant.clock && own.settings["x"] == 1);
    assert_eq!(trusted.ignored.len(), 1, "the bundled guard is not the project's: {:?}", trusted.ignored);
    let shown: Vec<_> = trusted
        .settings()
        .into_iter()
        .filter(|setting| setting.origins.iter().any(|origin| origin.layer == Layer::Project))
        .map(|setting| format!("{} {}", setting.key, setting.value.unwrap()))
        .collect();
    assert_eq!(
        shown,
        ["tools.known [\"a\",\"b\"]", "plugin.mine.settings.x 1", "plugin.mine.grant.clock true"]
    );
    assert_ne!(plain.digest(), trusted.digest());
    assert_eq!(plain.digest(), load(user, "# nothing\n").unwrap().digest());
}

#[test]
fn what_is_lost_with_another_configuration_is_named() {
    let strict = "[plugins]\nrequired = [\"guard\", \"time\"]\nlocked = true\n[audit]\nrequired = true\n[[hooks]]\nevent = \"pre-tool-use\"\ncommand = \"/bin/a\"\nfailure_mode = \"closed\"\n";
    let config = |text: &str| load(text, "").unwrap().config;
    assert_eq!(super::lost(&config(""), &config(strict)), Vec::<String>::new());
    assert_eq!(super::lost(&config(strict), &config(strict)), Vec::<String>::new());
    assert_eq!(super::lost(&config(strict), &config("")).len(), 5);
    assert_eq!(
        super::lost(&config(""), &config("[protect]\nown_files = false")),
        ["`protect.own_files = true`"]
    );
    for (from, to, lost) in [
        ("\"guard\", ", "", "`guard` in `plugins.required`"),
        ("locked = true", "locked = false", "`plugins.locked = true`"),
        ("[audit]\nrequired = true\n", "", "`audit.required = true`"),
        ("closed", "open", "the closed hook `/bin/a` for `*` at `pre-tool-use`"),
        ("\"closed\"", "\"closed\"\nenabled = false", "the closed hook `/bin/a` for `*` at `pre-tool-use`"),
    ] {
        assert_eq!(super::lost(&config(strict), &config(&strict.replacen(from, to, 1))), [lost], "{to}");
    }
}
