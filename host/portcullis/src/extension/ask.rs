//! Asking whoever is seen: lists, addresses and commands.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::join_all;
use portcullis_model::extension::{
    Answer, CommandEntry, Content, Extension, ExtensionError, ResourceEntry, SkillEntry, ToolEntry,
};

use super::registry::{Extensions, Seen};
use super::scope::Scope;
use super::uri::{UriError, scheme_of};

/// How long one extension may take for a list, or to say whether something is there.
pub const ASK_TIME: Duration = Duration::from_secs(10);

/// Why an address leads nowhere.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RouteError {
    /// It is no address, or tries to leave its place.
    #[error(transparent)]
    Uri(#[from] UriError),
    /// Nobody answers for its scheme.
    #[error("nobody answers for `{0}://`")]
    UnknownScheme(String),
    /// Whoever answers for it, or may, cannot.
    #[error(transparent)]
    Extension(#[from] ExtensionError),
}

/// A list of many extensions. One that fails is missing, and a warning tells of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listing<T> {
    /// Each entry with the extension that brings it.
    pub entries: Vec<(String, T)>,
    /// What is missing, and why.
    pub warnings: Vec<(String, String)>,
}

/// The schemes that go by roles. There may be nobody in a role, and the scheme is known
/// all the same.
const BY_ROLE: [&str; 3] = ["skill", "mcp", "portcullis"];

impl Extensions {
    /// Every skill that is seen from `scope`.
    pub async fn skills(&self, scope: &Scope) -> Listing<SkillEntry> {
        let seen = self.seen(scope);
        listed(&seen, |one| one.skills().map(|role| role.list())).await
    }

    /// Every tool.
    pub async fn tools(&self, scope: &Scope) -> Listing<ToolEntry> {
        let seen = self.seen(scope);
        listed(&seen, |one| one.tools().map(|role| role.list())).await
    }

    /// Every resource.
    pub async fn resources(&self, scope: &Scope) -> Listing<ResourceEntry> {
        let seen = self.seen(scope);
        listed(&seen, |one| one.tools().map(|role| role.resources())).await
    }

    /// Every command.
    pub async fn commands(&self, scope: &Scope) -> Listing<CommandEntry> {
        let seen = self.seen(scope);
        listed(&seen, |one| one.commands().map(|role| role.list())).await
    }

    /// What is at `uri`; none when nobody has it. Only its owner is read.
    ///
    /// # Errors
    /// When it is no address that anybody answers for, or its owner cannot be asked. An
    /// extension that may be the owner and cannot say so is an error too, when nobody
    /// else has it.
    pub async fn read(&self, uri: &str, scope: &Scope) -> Result<Option<Content>, RouteError> {
        let Some((owner, role)) = self.owner(uri, scope).await? else { return Ok(None) };
        let unavailable = || gone(&*owner.extension);
        Ok(match role {
            Role::Skill => {
                let skills = owner.extension.skills().ok_or_else(unavailable)?;
                skills.read(uri).await?.map(Content::Text)
            }
            Role::Resource => {
                let tools = owner.extension.tools().ok_or_else(unavailable)?;
                tools.read(uri).await?
            }
        })
    }

    /// Whether anybody has `uri`.
    ///
    /// # Errors
    /// As [`Extensions::read`].
    pub async fn exists(&self, uri: &str, scope: &Scope) -> Result<bool, RouteError> {
        Ok(self.owner(uri, scope).await?.is_some())
    }

    /// The prompt of the command `name`, of the first extension that has it.
    ///
    /// # Errors
    /// When nobody has it, or whoever does cannot say what it stands for.
    pub async fn resolve(
        &self,
        name: &str,
        arguments: &str,
        scope: &Scope,
    ) -> Result<String, ExtensionError> {
        let mut failed = None;
        for seen in self.seen(scope) {
            let Some(commands) = seen.extension.commands() else { continue };
            match within(&*seen.extension, commands.list()).await {
                Ok(list) if list.iter().any(|own| own.name == name) => {
                    return commands.resolve(name, arguments).await;
                }
                Ok(_) => {}
                Err(error) => failed = failed.or(Some(error)),
            }
        }
        Err(failed.unwrap_or_else(|| ExtensionError::Unknown {
            extension: scope.to_string(),
            what: "command",
            name: name.to_owned(),
        }))
    }

    /// Who has `uri`: asked one after the other, the narrowest and the local ones first.
    async fn owner(&self, uri: &str, scope: &Scope) -> Result<Option<(Seen, Role)>, RouteError> {
        let scheme = scheme_of(uri)?;
        let seen = self.seen(scope);
        let roles = |one: &Seen| -> Vec<Role> {
            match scheme.as_str() {
                "skill" => vec![Role::Skill],
                "mcp" => vec![Role::Resource],
                _ if one.scheme.as_ref() == Some(&scheme) => vec![Role::Skill, Role::Resource],
                _ => Vec::new(),
            }
        };
        if !BY_ROLE.contains(&scheme.as_str()) && !seen.iter().any(|one| one.scheme.as_ref() == Some(&scheme))
        {
            return Err(RouteError::UnknownScheme(scheme));
        }
        let mut failed = None;
        for one in seen {
            for role in roles(&one) {
                let answer = match role {
                    Role::Skill => one.extension.skills().map(|role| role.exists(uri)),
                    Role::Resource => one.extension.tools().map(|role| role.exists(uri)),
                };
                let Some(answer) = answer else { continue };
                let there = within(&*one.extension, answer).await;
                match there {
                    Ok(true) => return Ok(Some((one.clone(), role))),
                    Ok(false) => {}
                    Err(error) => failed = failed.or(Some(error)),
                }
            }
        }
        failed.map_or(Ok(None), |error| Err(error.into()))
    }
}

#[derive(Debug, Clone, Copy)]
enum Role {
    Skill,
    Resource,
}

async fn listed<'s, T>(
    seen: &'s [Seen],
    list: impl Fn(&'s dyn Extension) -> Option<Answer<'s, Vec<T>>>,
) -> Listing<T> {
    let asked = seen
        .iter()
        .filter_map(|one| Some((one.extension.name(), within(&*one.extension, list(&*one.extension)?))));
    let (names, answers): (Vec<_>, Vec<_>) = asked.unzip();
    let mut listing = Listing { entries: Vec::new(), warnings: Vec::new() };
    for (name, answer) in names.into_iter().zip(join_all(answers).await) {
        match answer {
            Ok(entries) => listing.entries.extend(entries.into_iter().map(|entry| (name.to_owned(), entry))),
            Err(error) => listing.warnings.push((name.to_owned(), error.to_string())),
        }
    }
    listing
}

/// The answer, when it comes in time. One that fails inside is an answer that cannot be
/// used, and nothing else fails with it.
pub(crate) async fn within<T>(extension: &dyn Extension, answer: Answer<'_, T>) -> Result<T, ExtensionError> {
    match tokio::time::timeout(ASK_TIME, AssertUnwindSafe(answer).catch_unwind()).await {
        Ok(Ok(answer)) => answer,
        Ok(Err(_)) => Err(failed_inside(extension)),
        Err(_) => Err(ExtensionError::Unavailable {
            extension: extension.name().to_owned(),
            reason: format!("it did not answer within {} s", ASK_TIME.as_secs()),
            remedy: "look at what it waits for, or take it away".to_owned(),
        }),
    }
}

/// The error of an extension that panics.
pub(crate) fn failed_inside(extension: &dyn Extension) -> ExtensionError {
    ExtensionError::Answer { extension: extension.name().to_owned(), reason: "it failed inside".to_owned() }
}

/// Files are waited for on a thread that has nothing else to do.
pub(crate) fn off_the_executor<'a, T: Send + 'static>(
    extension: &'static str,
    work: impl FnOnce() -> Result<T, ExtensionError> + Send + 'static,
) -> Answer<'a, T> {
    Box::pin(async move {
        tokio::task::spawn_blocking(work).await.unwrap_or_else(|_| {
            Err(ExtensionError::Unavailable {
                extension: extension.to_owned(),
                reason: "it failed inside".to_owned(),
                remedy: "ask again".to_owned(),
            })
        })
    })
}

fn gone(extension: &dyn Extension) -> ExtensionError {
    ExtensionError::Unavailable {
        extension: extension.name().to_owned(),
        reason: "it no longer plays the role that it had".to_owned(),
        remedy: "ask again".to_owned(),
    }
}
