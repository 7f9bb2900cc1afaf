//! What holds for every agent.

use portcullis_model::fault::FaultKind;
use portcullis_model::judgement::{JudgementWire, Verdict};

use super::{Agent, HookAnswer, HookEvent, HookInputError, HookRequest, edits, fields};

/// A call that each agent would send.
fn call(agent: Agent) -> String {
    agent.canary("ls", "/w")
}

fn read(agent: Agent) -> HookRequest {
    agent.read(call(agent).as_bytes()).unwrap()
}

fn answer(agent: Agent, verdict: Verdict, reason: Option<&str>) -> HookAnswer {
    read(agent).answer(&JudgementWire {
        id: "c1".into(),
        verdict,
        by: None,
        code: None,
        fault: None,
        reason: reason.map(Into::into),
        auto_approved: false,
        micros: 1,
    })
}

/// What an answer says, wherever it says it.
fn said(answer: &HookAnswer) -> String {
    format!("{}{}", answer.stdout, answer.stderr)
}

#[test]
fn a_call_is_read_in_every_dialect() {
    for agent in Agent::ALL {
        let request = read(agent);
        let of_request = (request.session_id.as_str(), request.cwd.as_str());
        assert_eq!(of_request, ("portcullis-canary", "/w"), "{agent}");
        let HookEvent::PreToolUse(call) = &request.event else { panic!("{agent}") };
        assert_eq!((call.session_id.as_str(), call.cwd.as_str()), of_request, "{agent}");
        let resolved = crate::tool::resolve(call).unwrap();
        assert_eq!((resolved.tool.as_str(), resolved.scripts), ("bash", vec!["ls".to_owned()]), "{agent}");
    }
}

#[test]
fn a_shell_without_a_command_is_for_the_gate_to_refuse() {
    for agent in Agent::ALL {
        let name = if agent == Agent::Windsurf { "\"command_line\"" } else { "\"command\"" };
        for command in ["{}", "7", "null"] {
            let payload = call(agent)
                .replace("\"CommandLine\":\"ls\"", &format!("\"CommandLine\":{command}"))
                .replace(&format!("{name}:\"ls\""), &format!("{name}:{command}"));
            assert_ne!(payload, call(agent));
            let HookEvent::PreToolUse(call) = agent.read(payload.as_bytes()).unwrap().event else {
                panic!("{agent}")
            };
            assert_eq!(crate::tool::resolve(&call).unwrap_err().code, "input/no-command", "{agent}");
        }
    }
}

#[test]
fn every_name_reads_back_as_its_agent() {
    for agent in Agent::ALL {
        assert_eq!(agent.as_str().parse(), Ok(agent));
    }
}

#[test]
fn a_misspelled_name_is_an_error_that_lists_the_names_and_the_near_one() {
    for (text, near) in [
        ("cluade", Some(Agent::Claude)),
        ("claude-code", Some(Agent::Claude)),
        ("Codex", Some(Agent::Codex)),
        ("open-code", Some(Agent::OpenCode)),
        ("antigravty", Some(Agent::Antigravity)),
        ("github", None),
        ("emacs", None),
        ("", None),
    ] {
        let error = text.parse::<Agent>().unwrap_err();
        assert_eq!(error.near, near, "{text}");
        assert!(error.to_string().contains("claude, codex, gemini, copilot, cursor, opencode, goose"));
    }
}

#[test]
fn edits_are_counted() {
    for (a, b, n) in [("", "", 0), ("a", "", 1), ("", "ab", 2), ("kitten", "sitting", 3), ("ab", "ba", 2)] {
        assert_eq!(edits(a, b), n, "{a} {b}");
    }
}

#[test]
fn what_is_not_a_strict_json_object_is_refused_for_every_agent() {
    let deep = "[".repeat(100_000);
    let payloads: [&[u8]; 8] =
        [b"", b"null", b"[]", b"{", b"{} {}", b"{\"a\":1,\"a\":2}", b"\xff\xfe{\0}\0", deep.as_bytes()];
    for agent in Agent::ALL {
        for payload in payloads {
            let error = agent.read(payload).unwrap_err();
            assert_eq!(error.fault(), FaultKind::BadInput, "{agent} {error}");
        }
    }
}

#[test]
fn a_payload_past_the_cap_is_too_big() {
    let payload = vec![b' '; fields::PAYLOAD_MAX + 1];
    let error = Agent::Claude.read(&payload).unwrap_err();
    assert!(matches!(error, HookInputError::TooBig { .. }));
    assert_eq!(error.fault(), FaultKind::TooBig);
}

#[test]
fn arguments_past_the_limit_of_a_call_are_too_big() {
    let command = "x".repeat(portcullis_model::limits::INPUT_MAX);
    let payload = format!(
        r#"{{"session_id":"s","cwd":"/w","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{{"command":"{command}"}}}}"#
    );
    assert_eq!(Agent::Claude.read(payload.as_bytes()).unwrap_err().fault(), FaultKind::TooBig);
}

#[test]
fn a_byte_order_mark_is_taken_off() {
    let payload = "\u{feff}{\"session_id\":\"s\",\"cwd\":\"/w\",\"hook_event_name\":\"Stop\"}";
    assert!(matches!(Agent::Claude.read(payload.as_bytes()).unwrap().event, HookEvent::Stop(_)));
}

#[test]
fn an_allowed_call_is_answered_without_an_opinion() {
    for agent in Agent::ALL {
        let allowed = answer(agent, Verdict::Allow, None);
        assert_eq!(allowed, read(agent).no_objection());
        let expected = match agent.as_str() {
            "cursor" => "{\"permission\":\"allow\"}\n",
            "opencode" | "amp" => "{\"block\":false}\n",
            "goose" => "{\"decision\":\"allow\"}\n",
            "cline" => "{\"cancel\":false}\n",
            "antigravity" => "{\"decision\":\"ask\"}\n",
            _ => "",
        };
        assert_eq!((allowed.stdout.as_str(), allowed.stderr.as_str(), allowed.exit_code), (expected, "", 0));
    }
}

#[test]
fn a_block_without_a_reason_still_gives_one() {
    for agent in Agent::ALL {
        for reason in [None, Some(""), Some(" \n"), Some("\u{1b}")] {
            let block = answer(agent, Verdict::Block, reason);
            assert!(said(&block).contains("Portcullis"), "{agent}");
        }
    }
}

#[test]
fn a_failure_is_answered_like_a_block() {
    for agent in Agent::ALL {
        let (failure, block) = (agent.failure("no"), answer(agent, Verdict::Block, Some("no")));
        if agent == Agent::Copilot {
            // The form of the payload is not known, so it must be a block in each.
            assert_eq!((failure.stdout, failure.exit_code, block.exit_code), (block.stdout, 2, 0));
        } else {
            assert_eq!(failure, block, "{agent}");
        }
    }
}

#[test]
fn an_answer_is_one_line_of_json_or_a_text_with_exit_code_2() {
    for agent in Agent::ALL {
        for verdict in [Verdict::Allow, Verdict::Ask, Verdict::Block] {
            let answer = answer(agent, verdict, Some("it \"pushes\"\nby force"));
            if answer.stdout.is_empty() {
                let blocks = answer.exit_code == 2 && !answer.stderr.trim().is_empty();
                assert!(verdict == Verdict::Allow || blocks, "{agent}");
            } else {
                assert_eq!((answer.stdout.lines().count(), answer.exit_code), (1, 0), "{agent}");
                assert!(serde_json::from_str::<serde_json::Value>(&answer.stdout).unwrap().is_object());
            }
        }
    }
}

#[test]
fn ask_blocks_where_the_agent_cannot_ask() {
    for agent in Agent::ALL {
        let ask = answer(agent, Verdict::Ask, Some("it pushes"));
        assert!(said(&ask).contains("it pushes"), "{agent}");
        assert_ne!(ask, read(agent).no_objection());
        let asks = said(&ask).contains("\"ask\"");
        assert_eq!(asks, matches!(agent, Agent::Claude | Agent::Copilot), "{agent}");
        assert!(asks || said(&ask).contains("the user's consent"), "{agent}");
    }
}

#[test]
fn every_hook_ends_before_its_agent_stops_waiting() {
    for agent in Agent::ALL {
        let (deadline, waits) = (agent.deadline(), agent.dialect().waits);
        assert!(deadline < waits && deadline.as_secs() >= 25, "{agent}");
    }
    assert_eq!(Agent::Claude.deadline().as_secs(), 58);
    assert_eq!(Agent::Copilot.deadline().as_secs(), 25);
}

#[test]
fn the_reference_names_every_agent_every_event_and_every_deadline() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/agents.md");
    let page = std::fs::read_to_string(page).unwrap();
    for agent in Agent::ALL {
        let row = page.lines().find(|line| line.contains(&format!(" | `{agent}` | "))).unwrap();
        assert!(row.ends_with(&format!("| {} s |", agent.deadline().as_secs())), "{row}");
        for (event, _) in agent.dialect().events {
            assert!(page.contains(&format!("`{event}`")), "{agent}: {event}");
        }
    }
}

#[test]
fn no_field_that_is_lost_or_spoilt_makes_a_call_an_event_of_no_interest() {
    let spoilt = ["null", "7", "\"\"", "[]", "{}", "true"]
        .map(|text| serde_json::from_str::<serde_json::Value>(text).unwrap());
    for agent in Agent::ALL {
        let whole: serde_json::Map<_, serde_json::Value> = serde_json::from_str(&call(agent)).unwrap();
        for name in whole.keys() {
            let mut payloads = vec![whole.clone()];
            payloads[0].remove(name);
            for value in &spoilt {
                let mut payload = whole.clone();
                payload.insert(name.clone(), value.clone());
                payloads.push(payload);
            }
            for payload in payloads {
                let text = serde_json::Value::from(payload).to_string();
                if let Ok(request) = agent.read(text.as_bytes()) {
                    assert!(matches!(request.event, HookEvent::PreToolUse(_)), "{agent}: {text}");
                }
            }
        }
    }
}
