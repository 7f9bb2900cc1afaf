//! The handshake: who speaks what.

use serde_json::{Map, Value, json};

use crate::error::WireError;
use crate::limits::ServeLimits;
use crate::method;
use crate::parameter::{Parameters, wrong};

pub(crate) const METHOD: &str = "initialize";

/// The version of the protocol that is spoken here. Another number in front is another
/// language; another one behind the point adds to it.
pub const PROTOCOL: &str = "1.0";

/// What a client says of itself.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Hello {
    pub(crate) name: String,
    pub(crate) version: String,
    /// It wants to hear of every judgement.
    pub(crate) judgements: bool,
    /// It wants to hear of every change of what there is.
    pub(crate) changes: bool,
}

/// What can be heard of.
const NEWS: [&str; 2] = [CHANGED, JUDGEMENT];
const CHANGED: &str = "registry/changed";
const JUDGEMENT: &str = "judgement";

/// Reads a client's greeting, and makes the answer to it.
pub(crate) fn read(params: Map<String, Value>, limits: &ServeLimits) -> Result<(Hello, Value), WireError> {
    let mut params = Parameters::new(params);
    let asked = params.required("protocol")?;
    // Before anything else: another version may have other parameters.
    if major(&asked).is_none_or(|asked| Some(asked) != major(PROTOCOL)) {
        return Err(WireError::Version { asked, ours: PROTOCOL });
    }
    let mut client = params.object("client")?.ok_or_else(|| wrong("client", "is missing"))?;
    let (name, version) = (client.name("name")?, client.name("version")?);
    client.end()?;
    let name = name.ok_or_else(|| wrong("client.name", "is missing"))?;
    let version = version.ok_or_else(|| wrong("client.version", "is missing"))?;
    let news = params.texts("notifications")?.unwrap_or_default();
    params.end()?;
    if let Some(unknown) = news.iter().find(|word| !NEWS.contains(&word.as_str())) {
        let what = format!("has `{unknown}`, which is not known; there are {}", NEWS.join(", "));
        return Err(wrong("notifications", what));
    }
    let wants = |word: &str| news.iter().any(|wanted| wanted == word);
    let hello = Hello { name, version, judgements: wants(JUDGEMENT), changes: wants(CHANGED) };
    let result = json!({
        "protocol": PROTOCOL,
        "server": { "name": portcullis::model::product::NAME, "version": env!("CARGO_PKG_VERSION") },
        "methods": method::NAMES,
        "notifications": NEWS,
        "limits": {
            "line_bytes": limits.line,
            "in_flight": limits.in_flight,
            "sessions": limits.sessions,
            "turns": limits.turns,
            "permits": limits.permits,
        },
    });
    Ok((hello, result))
}

fn major(version: &str) -> Option<u32> {
    let (major, minor) = version.split_once('.')?;
    minor.parse::<u32>().ok()?;
    major.parse().ok()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test ends when anything is wrong")]
mod tests {
    use super::*;

    fn said(value: &Value) -> Result<Hello, WireError> {
        read(value.as_object().unwrap().clone(), &ServeLimits::new()).map(|(hello, _)| hello)
    }

    #[test]
    fn another_minor_version_is_served_and_another_major_one_is_not() {
        let client = json!({"name": "x", "version": "1"});
        for protocol in ["1.0", "1.7"] {
            assert!(said(&json!({"protocol": protocol, "client": client})).is_ok(), "{protocol}");
        }
        for protocol in ["2.0", "0.9", "1", "", "1.x", "2024-11-05"] {
            // What another version adds is not looked at.
            let error = said(&json!({"protocol": protocol, "client": client, "new": 1})).unwrap_err();
            assert_eq!(error, WireError::Version { asked: protocol.to_owned(), ours: PROTOCOL });
            assert_eq!(error.to_json()["data"]["supported"], json!([PROTOCOL]));
        }
    }

    #[test]
    fn what_is_wrong_with_a_greeting_is_named() {
        let client = json!({"name": "x", "version": "1"});
        for (said_wrong, field) in [
            (json!({}), "protocol"),
            (json!({"protocol": "1.0"}), "client"),
            (json!({"protocol": "1.0", "client": {"name": "x"}}), "client.version"),
            (json!({"protocol": "1.0", "client": client, "notifications": ["nothing"]}), "notifications"),
            (json!({"protocol": "1.0", "client": client, "more": 1}), "more"),
        ] {
            let error = said(&said_wrong).unwrap_err();
            assert!(matches!(&error, WireError::Parameter { field: named, .. } if named == field), "{error}");
        }
    }
}
