//! What a hook's end means.

use portcullis_model::fault::FaultKind;
use portcullis_runtime::Ended;
use serde_json::Value;

/// What a hook says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Answer {
    /// Nothing.
    NoOpinion,
    /// It does not object. That grants nothing.
    Approve,
    /// It objects, for this reason.
    Block(String),
    /// It failed to answer, in this way.
    Failed(FaultKind, String),
    /// It was not asked, because hooks start one another without an end. That blocks
    /// in every mode: nobody would answer ever.
    TooDeep(String),
}

/// The most characters of a reason that are passed on.
const REASON_MAX: usize = 4_000;

impl Answer {
    /// An objection, with a reason whatever it says.
    pub(super) fn block(text: &str) -> Self {
        Self::Block(reason(text))
    }

    /// What `ended` means. A decision counts whatever the exit code is; the failure
    /// mode is for everything that is none.
    pub(super) fn read(ended: &Ended) -> Self {
        let out = match std::str::from_utf8(&ended.stdout) {
            Ok(text) => text.trim(),
            Err(_) => return Self::Failed(FaultKind::BadVerdict, "its answer is not UTF-8".to_owned()),
        };
        match decision(out) {
            Some(Decision::Block(reason)) => return Self::Block(reason),
            Some(Decision::Approve) => return Self::Approve,
            Some(Decision::Unknown(word)) => {
                return Self::Failed(
                    FaultKind::BadVerdict,
                    format!("its decision is neither `block` nor `approve`: `{word}`"),
                );
            }
            None => {}
        }
        match ended.code {
            Some(2) => Self::block(&String::from_utf8_lossy(&ended.stderr)),
            Some(0) if out.is_empty() => Self::NoOpinion,
            Some(0) => {
                Self::Failed(FaultKind::BadVerdict, "it says something that is no decision".to_owned())
            }
            _ => Self::Failed(FaultKind::Trap, ended.complaint()),
        }
    }
}

enum Decision {
    Block(String),
    Approve,
    Unknown(String),
}

/// The decision in a JSON object, if it is one. Two documents are none.
fn decision(text: &str) -> Option<Decision> {
    let Value::Object(said) = serde_json::from_str(text).ok()? else { return None };
    let word = said.get("decision")?.as_str().unwrap_or_default();
    Some(match word {
        "block" => Decision::Block(reason(said.get("reason").and_then(Value::as_str).unwrap_or_default())),
        "approve" => Decision::Approve,
        other => Decision::Unknown(other.chars().take(40).collect()),
    })
}

fn reason(text: &str) -> String {
    let text = text.trim();
    if text.is_empty() {
        "a hook objects and gives no reason".to_owned()
    } else {
        text.chars().take(REASON_MAX).collect()
    }
}
