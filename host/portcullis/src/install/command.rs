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

/// What `hook --seal` writes behind its answer.
pub const SEAL: &str = "portcullis:answered";

/// When a program that does not answer is ended, in seconds: between its own
/// deadline and the agent's.
const WAIT: u32 = 59;

/// When the agent is to give up, in seconds.
pub(super) const TIMEOUT: u32 = 60;

/// What an agent that reads no exit code has to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refusal {
    /// Exit code 2, with the reason on standard error.
    Exit2,
}

/// The script that asks, and refuses when nobody answers. `$1` is the program, `$2`
/// the agent. It holds no quote and no backslash, so that every shell that an agent
/// starts it with hands it to `sh` unchanged.
fn script(refusal: Refusal) -> String {
    let ask = format!(
        "{{ a=$(\"$1\" hook --agent \"$2\" --seal <&3 3<&- & p=$!; \
         (sleep {WAIT} & s=$!; trap \"kill $s\" TERM; wait $s && kill -9 $p) 3<&- >/dev/null 2>&1 & w=$!; \
         wait $p; r=$?; kill $w 2>/dev/null; exit $r); r=$?; }} 3<&0; \
         case $a in *{SEAL}) printf %s \"${{a%{SEAL}}}\"; exit $r;; esac; "
    );
    let refuse = match refusal {
        Refusal::Exit2 => format!(
            "echo \"Blocked: {} did not answer (its program ended with $r). This is a fault and not a decision. \
             Ask the user to run: portcullis doctor\" >&2; exit 2",
            product::TITLE
        ),
    };
    format!("{ask}{refuse}")
}

/// The command by which an agent asks before a call.
pub(super) fn guarded(program: &Path, agent: &str, refusal: Refusal) -> Result<String, InstallError> {
    let program = quotable(program)?;
    Ok(format!("/bin/sh -c '{}' portcullis '{program}' {agent}", script(refusal)))
}

/// The command for what is not judged: when it fails, nothing is kept from going on.
pub(super) fn plain(program: &Path, agent: &str) -> Result<String, InstallError> {
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

/// Whether this text is an entry of ours, of whatever version.
pub(super) fn is_ours(text: &str) -> bool {
    text.contains(product::NAME) && (text.contains("hook --agent") || text.contains("\"hook\", \"--agent\""))
}
