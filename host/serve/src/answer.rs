//! What the library says, as JSON.

use portcullis::hook::{HookRun, HookSaid};
use portcullis::model::judgement::Refusal;
use portcullis::runtime::{Content, ToolOutput};
use portcullis::{EndReport, Judgement, Noted, Prompted, Ran, Started, Stopped, Told};
use serde_json::{Value, json};

pub(crate) fn refusal(refusal: &Refusal) -> Value {
    let Refusal { by, code, fault, reason } = refusal;
    json!({ "by": by, "code": code, "fault": fault, "reason": reason })
}

fn hooks(runs: &[HookRun]) -> Value {
    let run = |run: &HookRun| {
        let (said, why) = match &run.said {
            HookSaid::NoOpinion => ("nothing", None),
            HookSaid::Approved => ("approve", None),
            HookSaid::Blocked => ("block", None),
            HookSaid::Failed(why) => ("failed", Some(why)),
        };
        json!({ "hook": run.hook, "said": said, "why": why, "millis": run.took.as_millis() as u64 })
    };
    runs.iter().map(run).collect()
}

/// What became of a moment: a word, the refusal if there is one, and who was asked.
pub(crate) fn told<T>(told: &Told<T>, outcome: impl FnOnce(&T) -> (&'static str, Option<&Refusal>)) -> Value {
    let (word, objection) = outcome(&told.outcome);
    json!({ "outcome": word, "refusal": objection.map(refusal), "hooks": hooks(&told.runs) })
}

pub(crate) const fn started(outcome: &Started) -> (&'static str, Option<&Refusal>) {
    match outcome {
        Started::Open => ("open", None),
        Started::Refused(refusal) => ("refused", Some(refusal)),
    }
}

pub(crate) const fn prompted(outcome: &Prompted) -> (&'static str, Option<&Refusal>) {
    match outcome {
        Prompted::HandedOn => ("handed_on", None),
        Prompted::Withheld(refusal) => ("withheld", Some(refusal)),
    }
}

pub(crate) const fn ran(outcome: &Ran) -> (&'static str, Option<&Refusal>) {
    match outcome {
        Ran::Stands => ("stands", None),
        Ran::Annotated(refusal) => ("annotated", Some(refusal)),
    }
}

pub(crate) const fn stopped(outcome: &Stopped) -> (&'static str, Option<&Refusal>) {
    match outcome {
        Stopped::Ends => ("ends", None),
        Stopped::GoesOn(refusal) => ("goes_on", Some(refusal)),
        Stopped::AtTheLimit(refusal) => ("at_the_limit", Some(refusal)),
    }
}

pub(crate) const fn noted(outcome: &Noted) -> (&'static str, Option<&Refusal>) {
    match outcome {
        Noted::Fine => ("fine", None),
        Noted::Objected(refusal) => ("objected", Some(refusal)),
    }
}

/// The plugins that failed when they were told that a turn has ended.
pub(crate) fn failed(report: &EndReport) -> Value {
    let failed = report.failed.iter();
    failed
        .map(|(plugin, fault)| json!({ "plugin": plugin.as_str(), "fault": fault.kind, "why": fault.detail }))
        .collect()
}

/// The judgement, as `check` prints it.
pub(crate) fn judgement(judgement: &Judgement) -> Value {
    json!(judgement.to_wire())
}

/// What a tool gave back.
pub(crate) fn output(output: &ToolOutput) -> Value {
    let part = |part: &Content| match part {
        Content::Text(text) => json!({ "type": "text", "text": text }),
        Content::Binary { mime_type, bytes } => {
            json!({ "type": "binary", "mime_type": mime_type, "data": base64(bytes) })
        }
    };
    json!({ "content": output.content.iter().map(part).collect::<Value>(), "is_error": output.is_error })
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let letter = |bits: u32| LETTERS.get((bits & 63) as usize).map_or('=', |letter| char::from(*letter));
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let bits =
            chunk.iter().fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for at in 0..4 {
            text.push(if at <= chunk.len() { letter(bits >> (18 - 6 * at)) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{base64, hex};

    #[test]
    fn bytes_are_told_as_others_tell_them() {
        for (bytes, text) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
        assert_eq!(base64(&[0, 255, 254, 253]), "AP/+/Q==");
        assert_eq!(hex(&[0, 255]), "00ff");
    }
}
