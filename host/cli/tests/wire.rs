//! Every payload in `tests/wire`, put to the binary: what an agent writes to its
//! hook, and byte by byte what it reads.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test ends when anything is wrong")]

mod support;

use std::fs;
use std::path::Path;

use crate::support::agent::{agents, answer_to_a_call, folders, passes, refuses, wires};
use crate::support::{Seen, User};

fn name(path: &Path) -> &str {
    path.file_name().unwrap().to_str().unwrap()
}

/// What is written down for a case.
fn expected(case: &Path) -> Seen {
    let read = |name: &str| fs::read_to_string(case.join(name)).unwrap();
    Seen { code: Some(read("exit").trim().parse().unwrap()), stdout: read("stdout"), stderr: read("stderr") }
}

#[test]
fn every_payload_is_answered_as_it_is_written_down() {
    let user = User::new();
    for agent in agents() {
        for case in folders(&wires().join(agent)).iter().flat_map(|event| folders(event)) {
            let payload = fs::read(case.join("stdin.json")).unwrap();
            let config = case.join("config.toml");
            let mut arguments = vec!["--isolated", "hook", "--agent", agent];
            if config.exists() {
                arguments.splice(1..1, ["--config", config.to_str().unwrap()]);
            }
            let seen = user.run(&arguments, payload);
            assert_eq!(seen, expected(&case), "{}: {seen}", case.display());
        }
    }
}

#[test]
fn what_is_written_down_means_what_its_name_says() {
    for agent in agents() {
        let (mut allowed, mut denied, mut faults, mut other) = (0, 0, 0, 0);
        for case in folders(&wires().join(agent)).iter().flat_map(|event| folders(event)) {
            let answer = expected(&case);
            let kind = name(&case).split('-').next().unwrap();
            match kind {
                "allow" => {
                    allowed += 1;
                    assert_eq!(answer.stdout, answer_to_a_call(agent), "{}", case.display());
                }
                "deny" => denied += 1,
                "fault" => faults += 1,
                // A hook's no at another event than the one before a call.
                "objection" => {
                    let said = format!("{}{}", answer.stdout, answer.stderr);
                    assert!(said.contains("not on Fridays"), "{}: {answer}", case.display());
                    assert!(!passes(agent, &answer), "{}: {answer}", case.display());
                    continue;
                }
                _ => other += 1,
            }
            let right = if matches!(kind, "deny" | "fault") { refuses } else { passes };
            assert!(right(agent, &answer), "{}: {answer}", case.display());
        }
        assert!(allowed > 0 && denied > 0 && faults > 1 && other > 0, "{agent}");
    }
    assert_eq!(folders(&wires()).len(), agents().count(), "a folder is no agent's");
}
