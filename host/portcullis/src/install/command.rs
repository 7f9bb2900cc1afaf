//! The command that an agent starts as its hook.
//!
//! Most agents run the call when their hook crashes, hangs, is missing or says
//! something that they cannot read. So what they start is a few lines of `sh` that
//! take an answer for an answer only when it ends with [`SEAL`], and that block in
//! every other case: an empty file in the program's place ends with 0 and says
//! nothing, which is what an allowed call looks like.

use std::path::Path;

use portcullis_model::product;

use super::InstallError;
use crate::agent::Agent;

/// What `hook --seal` writes behind its answer.
pub const SEAL: &str = "portcullis:answered";

/// How a call is refused when nobody answers.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Refusal {
    /// Exit code 2, with the reason on standard error.
    Exit2,
    /// A document on standard output, for agents that read no exit code.
    Said(String),
}

impl Refusal {
    fn of(agent: Agent) -> Self {
        match agent {
            Agent::Cursor | Agent::Cline | Agent::Antigravity => {
                let reason = format!("Blocked: {} did not answer. {FAULT}", product::TITLE);
                Self::Said(agent.failure(&reason).stdout.trim_end().to_owned())
            }
            Agent::Claude
            | Agent::Codex
            | Agent::Gemini
            | Agent::Copilot
            | Agent::OpenCode
            | Agent::Goose
            | Agent::Crush
            | Agent::Windsurf
            | Agent::Droid
            | Agent::Kiro
            | Agent::Amp => Self::Exit2,
        }
    }
}

const FAULT: &str = "This is a fault and not a decision. Ask the user to run: portcullis doctor";

/// When a program that does not answer is ended, in seconds: between its own
/// deadline and the agent's.
fn wait(agent: Agent) -> u64 {
    u64::midpoint(agent.deadline().as_secs(), agent.timeout().as_secs())
}

/// The script that asks, and refuses when nobody answers. `$1` is the program, `$2`
/// the agent and `$3` the refusal, where it is a document. It holds no single quote
/// and no backslash, so that every shell that an agent starts it with hands it to
/// `sh` unchanged.
fn script(wait: u64, refusal: &Refusal) -> String {
    let ask = format!(
        "{{ a=$(\"$1\" hook --agent \"$2\" --seal <&3 3<&- & p=$!; \
         (sleep {wait} & s=$!; trap \"kill $s\" TERM; wait $s && kill -9 $p) 3<&- >/dev/null 2>&1 & w=$!; \
         wait $p; r=$?; kill $w 2>/dev/null; exit $r); r=$?; }} 3<&0; \
         case $a in *{SEAL}) printf %s \"${{a%{SEAL}}}\"; exit $r;; esac; "
    );
    let refuse = match refusal {
        Refusal::Exit2 => format!(
            "echo \"Blocked: {} did not answer (its program ended with $r). {FAULT}\" >&2; exit 2",
            product::TITLE
        ),
        Refusal::Said(_) => "printf %s \"$3\"".to_owned(),
    };
    format!("{ask}{refuse}")
}

/// The command by which an agent asks before a call.
pub(super) fn guarded(program: &Path, agent: Agent) -> Result<String, InstallError> {
    Ok(started(quotable(program)?, agent, &Refusal::of(agent)))
}

fn started(program: &str, agent: Agent, refusal: &Refusal) -> String {
    let script = script(wait(agent), refusal);
    let said = match refusal {
        Refusal::Exit2 => String::new(),
        Refusal::Said(text) => format!(" '{text}'"),
    };
    format!("/bin/sh -c '{script}' portcullis '{program}' {agent}{said}")
}

/// The command by which an agent asks before it hands on a prompt.
pub(super) fn guarded_prompt(program: &Path, agent: Agent) -> Result<String, InstallError> {
    let program = quotable(program)?;
    let refusal = match Refusal::of(agent) {
        Refusal::Exit2 => Refusal::Exit2,
        Refusal::Said(_) => {
            let reason = format!("Withheld: {} did not answer. {FAULT}", product::TITLE);
            match agent.withheld_prompt(&reason) {
                Some(answer) => Refusal::Said(answer.stdout.trim_end().to_owned()),
                None => return plain(Path::new(program), agent),
            }
        }
    };
    Ok(started(program, agent, &refusal))
}

/// The command for what is not judged: when it fails, nothing is kept from going on.
pub(super) fn plain(program: &Path, agent: Agent) -> Result<String, InstallError> {
    Ok(format!("'{}' hook --agent {agent}", quotable(program)?))
}

/// The path, if it means itself inside single quotes in every shell.
fn quotable(program: &Path) -> Result<&str, InstallError> {
    let wrong = |reason| InstallError::Program { path: program.to_owned(), reason };
    let text = program.to_str().ok_or_else(|| wrong("it is not UTF-8"))?;
    if !program.is_absolute() {
        return Err(wrong("it is not absolute"));
    }
    if text.chars().any(|c| c.is_control() || matches!(c, '\'' | '\\' | '!')) {
        return Err(wrong("it has a quote, a backslash, an exclamation mark or a control character"));
    }
    Ok(text)
}

/// A file that an agent starts itself, with a command in it.
pub(super) fn script_file(command: &str) -> String {
    format!(
        "#!/bin/sh\n# {}: written by `portcullis install`, removed by `portcullis uninstall`.\nexec {command}\n",
        product::TITLE
    )
}

/// The command that starts a file.
pub(super) fn starting(file: &Path) -> String {
    format!("'{}'", file.to_string_lossy().replace('\'', "'\\''"))
}

/// Whether this text is an entry of ours, of whatever version.
pub(super) fn is_ours(text: &str) -> bool {
    text.contains(product::NAME) && (text.contains("hook --agent") || text.contains("\"hook\", \"--agent\""))
}
