//! Any call: a tool's name in the first line, and its arguments behind it. The
//! same bytes are a payload of each agent as well.

#![no_main]

use std::collections::HashSet;

use libfuzzer_sys::fuzz_target;
use portcullis::agent::Agent;
use portcullis::tool::{Resolved, resolve, resolve_with_home};
use portcullis_model::call::{EffectKind, ToolCall};
use portcullis_model::input::Input;

fuzz_target!(|bytes: &[u8]| {
    for agent in Agent::ALL {
        let _ = agent.read(bytes);
    }
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Some((tool, arguments)) = text.split_once('\n') else { return };
    let Ok(input) = Input::parse(arguments) else { return };
    let call = ToolCall {
        id: "c1".to_owned(),
        tool: tool.to_owned(),
        input,
        cwd: "/home/dev/app".to_owned(),
        session_id: "s1".to_owned(),
    };
    for resolved in [resolve(&call), resolve_with_home(&call, "/home/dev")] {
        match resolved {
            Ok(resolved) => check(&resolved),
            Err(malformed) => assert!(!malformed.to_string().is_empty()),
        }
    }
});

fn check(resolved: &Resolved) {
    let mut seen = HashSet::new();
    assert!(!resolved.tool.is_empty());
    for effect in &resolved.effects {
        assert!(seen.insert(effect), "twice: {effect:?}");
        if matches!(effect.kind, EffectKind::Read | EffectKind::Write | EffectKind::Delete) {
            let normal = !effect.target.split('/').any(|part| part == "." || part == "..");
            assert!(effect.target.starts_with('/') && normal, "no absolute path: {effect:?}");
        }
    }
    for script in resolved.scripts.iter().chain(&resolved.powershell) {
        let runs = |effect: &portcullis_model::call::Effect| {
            effect.kind == EffectKind::Run && effect.target == *script
        };
        assert!(resolved.effects.iter().any(runs), "a script that is no effect: {script:?}");
    }
}
