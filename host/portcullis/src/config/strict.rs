//! What a configuration makes strict, so that a reload that would lose some of it can be
//! told from any other.

use std::collections::BTreeSet;

use portcullis_model::config::{Config, FailureMode, HookConfig, Mode};

/// What holds in `config` that nobody should lose by a slip. Each as a key would be
/// written, for people.
pub(crate) fn strict(config: &Config) -> BTreeSet<String> {
    let plugins = &config.plugins;
    let required = plugins.required.iter().chain(&plugins.required_by_project);
    let mut strict: BTreeSet<_> = required.map(|name| format!("`{name}` in `plugins.required`")).collect();
    let flags = [
        (plugins.locked, "`plugins.locked = true`"),
        (config.protect.own_files, "`protect.own_files = true`"),
        (config.audit.required, "`audit.required = true`"),
    ];
    strict.extend(flags.into_iter().filter(|(holds, _)| *holds).map(|(_, what)| what.to_owned()));
    let permissions = &config.permissions;
    let denied = permissions.deny.iter().chain(&permissions.deny_by_project);
    strict.extend(denied.map(|rule| format!("`{rule}` in `permissions.deny`")));
    // A mode is also every one that permits more.
    let mode = permissions.mode.unwrap_or(Mode::Yolo);
    let looser = Mode::ALL.into_iter().skip_while(|own| *own != mode).filter(|own| *own != Mode::Yolo);
    strict
        .extend(looser.map(|mode| format!("`permissions.mode = \"{}\"`, or a stricter one", mode.as_str())));
    let channels = [
        ("tools", &config.channels.tools),
        ("servers", &config.channels.servers),
        ("skills", &config.channels.skills),
    ];
    for (name, channel) in channels {
        strict.extend(channel.deny.iter().map(|glob| format!("`{glob}` in `channels.{name}.deny`")));
    }
    strict.extend(
        config
            .hooks
            .iter()
            .chain(&config.of_project.hooks)
            .filter_map(|hook| closed(hook, config.hook_defaults.failure_mode)),
    );
    strict
}

/// A hook that refuses when it fails.
fn closed(hook: &HookConfig, default: FailureMode) -> Option<String> {
    let mode = hook.failure_mode.unwrap_or(default);
    let is_on = hook.enabled.unwrap_or(true) && mode == FailureMode::Closed;
    let rule = hook.rule.as_deref().unwrap_or("*");
    is_on.then(|| format!("the closed hook `{}` for `{rule}` at `{}`", hook.command, hook.event))
}

/// What of `before` is lost with `after`.
pub(crate) fn lost(before: &Config, after: &Config) -> Vec<String> {
    let (asked, holds) = (&before.permissions, &after.permissions);
    let asked = asked.ask.iter().chain(&asked.ask_by_project);
    let still = |rule: &String| {
        let lists = [&holds.ask, &holds.ask_by_project, &holds.deny, &holds.deny_by_project];
        lists.iter().any(|list| list.contains(rule))
    };
    let asked = asked.filter(|rule| !still(rule)).map(|rule| format!("`{rule}` in `permissions.ask`"));
    let asked: BTreeSet<_> = asked.collect();
    let after = strict(after);
    strict(before).into_iter().filter(|what| !after.contains(what)).chain(asked).collect()
}
