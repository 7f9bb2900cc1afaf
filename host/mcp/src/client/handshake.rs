//! Finding out what a server speaks.
//!
//! A modern server answers `server/discover`. Of the others some answer it with an error,
//! some say nothing, and some end. The first are asked on with `initialize`; for the
//! others that needs a new process, because what they say later would be taken for an
//! answer to something else. Which error it is says nothing: every library has its own.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::connection::{Connection, Era, Transport};
use super::error::{ClientError, Failure};
use super::limits::{TEXT_MAX, Times};

/// The version that is asked for first.
pub const MODERN: &str = "2026-07-28";

/// The versions with a handshake, the newest first.
pub const LEGACY: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// The extension by which a server offers skills.
const SKILLS: &str = "io.modelcontextprotocol/skills";

/// The error of a modern server that speaks another version.
const OTHER_VERSION: i64 = -32022;

/// What a server is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Peer {
    /// Its generation.
    pub era: Era,
    /// The version that is spoken.
    pub version: String,
    /// Its name, for people: it chose that itself.
    pub name: String,
    /// It brings tools.
    pub tools: bool,
    /// It tells when its tools change.
    pub tools_change: bool,
    /// It brings resources.
    pub resources: bool,
    /// It tells when its resources change.
    pub resources_change: bool,
    /// It brings prompts.
    pub prompts: bool,
    /// It tells when its prompts change.
    pub prompts_change: bool,
    /// It offers skills.
    pub skills: bool,
    /// What it says of its use; at most 4 KiB.
    pub instructions: String,
}

impl Peer {
    fn read(era: Era, version: String, result: &Value) -> Self {
        let has = |pointer: &str| result.pointer(pointer).is_some_and(Value::is_object);
        let tells = |pointer: &str| result.pointer(pointer).and_then(Value::as_bool) == Some(true);
        let text = |value: Option<&Value>| {
            let text = value.and_then(Value::as_str).unwrap_or_default();
            text.chars().filter(|character| !character.is_control() || *character == '\n').collect::<String>()
        };
        let info =
            result.get("serverInfo").or_else(|| result.pointer("/_meta/io.modelcontextprotocol~1serverInfo"));
        let extensions = result.pointer("/capabilities/extensions");
        Self {
            era,
            version,
            name: text(info.and_then(|info| info.get("name"))).chars().take(128).collect(),
            tools: has("/capabilities/tools"),
            tools_change: tells("/capabilities/tools/listChanged"),
            resources: has("/capabilities/resources"),
            resources_change: tells("/capabilities/resources/listChanged"),
            prompts: has("/capabilities/prompts"),
            prompts_change: tells("/capabilities/prompts/listChanged"),
            skills: extensions.and_then(|all| all.get(SKILLS)).is_some_and(Value::is_object),
            instructions: text(result.get("instructions")).chars().take(TEXT_MAX).collect(),
        }
    }
}

/// What every request to a modern server carries.
pub(super) fn meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": info(),
    })
}

fn info() -> Value {
    json!({ "name": portcullis_model::product::NAME, "version": env!("CARGO_PKG_VERSION") })
}

/// What came of the question whether a server is a modern one.
enum Probed {
    Modern(Peer),
    /// It is not, and can be asked on.
    Other,
    /// It is not, and what it says next cannot be told apart.
    Spoilt,
}

/// A connection on which the version is settled.
///
/// `remembered` is what the server spoke before: it is tried first, and believed only when
/// it still holds.
pub(super) async fn open(
    transport: &dyn Transport,
    remembered: Option<Era>,
    times: &Times,
) -> Result<(Arc<dyn Connection>, Peer), ClientError> {
    let mut connection = transport.connect().await?;
    if remembered == Some(Era::Legacy) {
        match initialized(&connection, times.initialize).await {
            Ok(peer) => return Ok((connection, peer)),
            // It says by itself that it has become another one.
            Err(error) if !matches!(error.failure, Failure::Error { .. } | Failure::Version(_)) => {
                return Err(closed(&connection, error).await);
            }
            Err(_) => {
                connection.close().await;
                connection = transport.connect().await?;
            }
        }
    }
    let time = if remembered == Some(Era::Modern) { times.initialize } else { times.probe };
    match probed(&connection, time).await {
        Ok(Probed::Modern(peer)) => return Ok((connection, peer)),
        Ok(Probed::Other) => {
            if let Ok(peer) = initialized(&connection, times.initialize).await {
                return Ok((connection, peer));
            }
        }
        Ok(Probed::Spoilt) => {}
        Err(error) => return Err(closed(&connection, error).await),
    }
    connection.close().await;
    let connection = transport.connect().await?;
    match initialized(&connection, times.initialize).await {
        Ok(peer) => Ok((connection, peer)),
        Err(error) => Err(closed(&connection, error).await),
    }
}

async fn closed(connection: &Arc<dyn Connection>, error: ClientError) -> ClientError {
    connection.close().await;
    error
}

async fn probed(connection: &Arc<dyn Connection>, time: Duration) -> Result<Probed, ClientError> {
    connection.speaks(Era::Modern);
    let answer = connection.request("server/discover", json!({ "_meta": meta() }), time).await;
    match answer {
        Ok(result) => {
            let versions: Vec<_> =
                result.get("supportedVersions").and_then(Value::as_array).into_iter().flatten().collect();
            if versions.is_empty() {
                return Ok(Probed::Other);
            }
            if !versions.iter().any(|version| version.as_str() == Some(MODERN)) {
                return other_version(&versions).map(|()| Probed::Other);
            }
            Ok(Probed::Modern(Peer::read(Era::Modern, MODERN.to_owned(), &result)))
        }
        Err(ClientError { failure: Failure::Error { code: OTHER_VERSION, message }, .. }) => {
            Err(Failure::Version(message).into())
        }
        Err(error) => match error.failure {
            Failure::Error { .. } => Ok(Probed::Other),
            Failure::NoProgram(_) | Failure::Start { .. } | Failure::Closed => Err(error),
            Failure::Ended(_)
            | Failure::Late { .. }
            | Failure::TooLong(_)
            | Failure::Answer(_)
            | Failure::Version(_)
            | Failure::Request(_)
            | Failure::Stuck => Ok(Probed::Spoilt),
        },
    }
}

/// A server that answers and names other versions can be spoken to when one of them has a
/// handshake.
fn other_version(versions: &[&Value]) -> Result<(), ClientError> {
    let named: Vec<_> = versions.iter().filter_map(|version| version.as_str()).collect();
    if named.iter().any(|version| LEGACY.contains(version)) {
        return Ok(());
    }
    let named: String = named.join(", ").chars().take(200).collect();
    Err(Failure::Version(format!("it speaks {named}")).into())
}

async fn initialized(connection: &Arc<dyn Connection>, time: Duration) -> Result<Peer, ClientError> {
    connection.speaks(Era::Legacy);
    let [newest, ..] = LEGACY;
    let params = json!({ "protocolVersion": newest, "capabilities": {}, "clientInfo": info() });
    let result = connection.request("initialize", params, time).await?;
    let version = result.get("protocolVersion").and_then(Value::as_str).unwrap_or_default();
    if !LEGACY.contains(&version) {
        let shown: String = version.chars().filter(|character| !character.is_control()).take(64).collect();
        return Err(Failure::Version(format!("it answers with `{shown}`")).into());
    }
    let peer = Peer::read(Era::Legacy, version.to_owned(), &result);
    connection.notify("notifications/initialized", None);
    Ok(peer)
}
