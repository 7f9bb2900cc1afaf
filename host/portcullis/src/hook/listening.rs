//! What a hook listens to: an event, and which calls it is about.

use portcullis_runtime::Subscription;

use super::{Event, Occasion};
use crate::rule::Rule;

/// The most events and rules that one plugin follows.
const SUBSCRIPTIONS_MAX: usize = 64;
/// The longest rule, in bytes.
const RULE_MAX: usize = 1 << 10;

/// Why a definition is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}; {hint}")]
pub struct HookError {
    /// What is wrong.
    pub reason: String,
    /// How to mend it.
    pub hint: String,
}

/// What a hook listens to.
#[derive(Debug, Clone)]
pub struct Listening {
    /// The event.
    pub event: Event,
    /// Which calls; every one when there is none.
    pub rule: Option<Rule>,
}

impl Listening {
    /// Reads an event and a rule: of a `[[hooks]]`, and of what a component
    /// subscribes to.
    ///
    /// # Errors
    /// When the event is unknown, or the rule is none or could never be met.
    pub(super) fn read(event: &str, rule: Option<&str>) -> Result<Self, HookError> {
        let wrong = |reason: String, hint: String| HookError { reason, hint };
        let event = event.parse::<Event>().map_err(|reason| {
            let words = Event::ALL.map(Event::as_str);
            let near = words.into_iter().min_by_key(|word| strsim::osa_distance(word, event));
            wrong(reason, format!("write `{}`", near.unwrap_or("pre-tool-use")))
        })?;
        let Some(text) = rule else { return Ok(Self { event, rule: None }) };
        if text.len() > RULE_MAX {
            let reason = format!("`match` has {} bytes; the most is {RULE_MAX}", text.len());
            return Err(wrong(reason, "write it as several hooks".to_owned()));
        }
        let rule = text.parse::<Rule>().map_err(|error| {
            wrong(
                format!("`match` is no rule: {error}"),
                "write `TOOL`, `TOOL(pattern)` or `EFFECT(pattern)`".to_owned(),
            )
        })?;
        if let Some(near) = rule.near_miss() {
            let reason = "`match` names no tool and no effect that is known".to_owned();
            return Err(wrong(reason, format!("did you mean `{near}`?")));
        }
        // It would never be met, so the hook would never be asked.
        if !event.is_about_a_call() {
            let reason = format!("`match` says which calls are meant, and `{event}` is about none");
            return Err(wrong(reason, "leave `match` out".to_owned()));
        }
        Ok(Self { event, rule: Some(rule) })
    }

    /// All that a component subscribes to.
    ///
    /// # Errors
    /// When there is too much of it, or one is not as it should be.
    pub(crate) fn read_all(subscriptions: &[Subscription]) -> Result<Vec<Self>, HookError> {
        if subscriptions.len() > SUBSCRIPTIONS_MAX {
            return Err(HookError {
                reason: format!(
                    "it subscribes {} times; the most is {SUBSCRIPTIONS_MAX}",
                    subscriptions.len()
                ),
                hint: "subscribe to an event without a rule instead".to_owned(),
            });
        }
        subscriptions.iter().map(|own| Self::read(&cut(&own.event), own.matching.as_deref())).collect()
    }

    /// Whether `occasion` is meant.
    pub(super) fn is_about(&self, occasion: &Occasion) -> bool {
        self.event == occasion.event
            && match (&self.rule, &occasion.call) {
                (None, _) => true,
                (Some(rule), Some(call)) => rule.touches(&call.subject()),
                // A rule says which calls are meant, and here is none.
                (Some(_), None) => false,
            }
    }
}

/// A word that is shown in an error is no longer than one that could be meant.
fn cut(event: &str) -> String {
    event.chars().take(64).collect()
}
