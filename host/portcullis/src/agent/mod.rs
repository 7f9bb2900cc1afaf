//! The agents: what each of them sends to its hook, and how each is answered.
//!
//! One file an agent. Bytes in, data out: nothing here judges a call, prints, or
//! reads a file.

mod answer;
mod canary;
mod claude;
mod codex;
mod fields;
mod gemini;
mod opencode;
mod sender;

use std::fmt;
use std::str::FromStr;

use portcullis_model::call::ToolCall;
use portcullis_model::fault::FaultKind;
use portcullis_model::input::InputError;
use portcullis_model::judgement::{JudgementWire, Verdict};

pub use answer::HookAnswer;
use fields::Fields;

/// An agent whose hook payload is understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Agent {
    /// Claude Code, and agents that copy its hooks.
    Claude,
    /// `OpenAI` Codex.
    Codex,
    /// Gemini CLI.
    Gemini,
    /// opencode, through the plugin that [`opencode_plugin`] gives.
    OpenCode,
}

/// What an agent said to its hook.
#[derive(Debug, Clone)]
pub struct HookRequest {
    /// What is about to happen, or has happened.
    pub event: HookEvent,
    /// The agent's session.
    pub session_id: String,
    /// Absolute path of the directory that the agent, or the call, runs in.
    pub cwd: String,
}

/// The moments that Portcullis tells apart.
#[derive(Debug, Clone)]
pub enum HookEvent {
    /// A call that has not run yet: the one event that is judged.
    PreToolUse(Box<ToolCall>),
    /// The agent has finished its answer to a prompt.
    TurnEnd,
    /// Anything else, by the agent's own name for it. It is answered with
    /// [`Agent::no_objection`].
    Other(String),
}

/// Why a payload cannot be understood. The answer is [`Agent::failure`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HookInputError {
    /// More bytes than a call and its envelope may have.
    #[error("the payload has {size} bytes; the most is {max}")]
    TooBig {
        /// Its size in bytes.
        size: usize,
        /// The most bytes that are read.
        max: usize,
    },
    /// Bytes that are no text.
    #[error("the payload is not UTF-8")]
    NotUtf8,
    /// Not JSON, nested too deeply, or with a key twice.
    #[error("the payload is not valid JSON: {0}")]
    NotJson(String),
    /// JSON, but no object.
    #[error("the payload is not a JSON object")]
    NotAnObject,
    /// A field that every payload of this kind has.
    #[error("the payload has no field `{field}`")]
    Missing {
        /// Its path, such as `input.tool`.
        field: String,
    },
    /// A field that does not hold what it should.
    #[error("the payload's field `{field}` is not {expected}")]
    Mistyped {
        /// Its path, such as `input.tool`.
        field: String,
        /// What it should be.
        expected: &'static str,
    },
    /// The arguments of the call alone are larger than a call may be.
    #[error("the call's arguments are refused: {0}")]
    Arguments(InputError),
    /// The payload has the shape of another agent's.
    #[error("the hook is installed for `{expected}`, but the payload looks like one of: `{sender}`")]
    OtherAgent {
        /// The agent that the hook was started for.
        expected: Agent,
        /// The agent that the payload's shape belongs to.
        sender: &'static str,
    },
    /// An event of this agent is only known under another spelling.
    #[error("`{agent}` has no such event before a tool call: `{event}`")]
    UnknownPreToolEvent {
        /// The agent that the hook was started for.
        agent: Agent,
        /// The event as it was spelled.
        event: String,
    },
}

impl HookInputError {
    /// The class of failure that this is for the ledger.
    #[must_use]
    pub const fn fault(&self) -> FaultKind {
        match self {
            Self::TooBig { .. } | Self::Arguments(InputError::TooBig { .. }) => FaultKind::TooBig,
            Self::NotUtf8
            | Self::NotJson(_)
            | Self::NotAnObject
            | Self::Missing { .. }
            | Self::Mistyped { .. }
            | Self::Arguments(InputError::NotJson(_))
            | Self::OtherAgent { .. }
            | Self::UnknownPreToolEvent { .. } => FaultKind::BadInput,
        }
    }
}

impl Agent {
    /// Every agent, in the order in which they are listed.
    pub const ALL: [Self; 4] = [Self::Claude, Self::Codex, Self::Gemini, Self::OpenCode];

    /// The name that `--agent` takes.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::OpenCode => "opencode",
        }
    }

    /// Reads what this agent wrote to its hook's standard input.
    ///
    /// # Errors
    /// When the payload is too big, is no UTF-8, is no strict JSON object, lacks
    /// a field or has one of the wrong type, or is clearly another agent's.
    pub fn read(self, payload: &[u8]) -> Result<HookRequest, HookInputError> {
        let mut fields = Fields::parse(payload)?;
        sender::check(self, &fields)?;
        match self {
            Self::Claude => claude::read(&mut fields),
            Self::Codex => codex::read(&mut fields),
            Self::Gemini => gemini::read(&mut fields),
            Self::OpenCode => opencode::read(&mut fields),
        }
    }

    /// A judgement, said as this agent understands it.
    ///
    /// An allowed call is answered with no opinion, so that the agent's own
    /// permission rules still count. Where an agent cannot be made to ask its
    /// user, `ask` blocks.
    #[must_use]
    pub fn answer(self, judgement: &JudgementWire) -> HookAnswer {
        let reason = judgement.reason.as_deref().unwrap_or_default();
        match judgement.verdict {
            Verdict::Allow => self.no_objection(),
            Verdict::Ask => match self {
                Self::Claude => claude::ask(reason),
                Self::Codex | Self::Gemini | Self::OpenCode => self.block(&answer::needs_the_user(reason)),
            },
            Verdict::Block => self.block(reason),
        }
    }

    /// A refusal because no judgement could be had.
    #[must_use]
    pub fn failure(self, reason: &str) -> HookAnswer {
        self.block(reason)
    }

    /// Nothing to say: the answer to every event that is not judged.
    #[must_use]
    pub fn no_objection(self) -> HookAnswer {
        match self {
            Self::Claude | Self::Codex | Self::Gemini => HookAnswer::silent(),
            Self::OpenCode => opencode::pass(),
        }
    }

    fn block(self, reason: &str) -> HookAnswer {
        match self {
            Self::Claude => claude::block(reason),
            Self::Codex => codex::block(reason),
            Self::Gemini => gemini::block(reason),
            Self::OpenCode => opencode::block(reason),
        }
    }
}

impl fmt::Display for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A name that no agent has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no such agent (known: {}): `{name}`", Agent::ALL.map(Agent::as_str).join(", "))]
pub struct UnknownAgent {
    /// The name, cut to 64 characters.
    pub name: String,
    /// The agent that was probably meant.
    pub near: Option<Agent>,
}

impl FromStr for Agent {
    type Err = UnknownAgent;

    fn from_str(text: &str) -> Result<Self, UnknownAgent> {
        if let Some(agent) = Self::ALL.into_iter().find(|agent| agent.as_str() == text) {
            return Ok(agent);
        }
        let name: String = text.chars().take(64).collect();
        let lower = name.to_lowercase();
        let near = Self::ALL
            .into_iter()
            .find(|agent| lower.starts_with(agent.as_str()) || edits(&lower, agent.as_str()) <= 2);
        Err(UnknownAgent { name, near })
    }
}

/// The source of the opencode plugin that asks the `portcullis` at `binary`, an
/// absolute path.
#[must_use]
pub fn opencode_plugin(binary: &str) -> String {
    opencode::plugin(binary)
}

/// How many characters have to be added, removed or changed to make `a` of `b`.
fn edits(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.chars().count()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        for (cell, to) in row.iter_mut().skip(1).zip(b.chars()) {
            let above = *cell;
            *cell = (diagonal + usize::from(from != to)).min(above + 1).min(left + 1);
            diagonal = above;
            left = *cell;
        }
        if let Some(first) = row.first_mut() {
            *first = i + 1;
        }
    }
    row.last().copied().unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::{Agent, HookEvent, HookInputError, edits, fields};
    use portcullis_model::fault::FaultKind;
    use portcullis_model::judgement::{JudgementWire, Verdict};

    fn judgement(verdict: Verdict, reason: Option<&str>) -> JudgementWire {
        JudgementWire {
            id: "c1".into(),
            verdict,
            by: None,
            code: None,
            fault: None,
            reason: reason.map(Into::into),
            auto_approved: false,
            micros: 1,
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
            ("emacs", None),
            ("", None),
        ] {
            let error = text.parse::<Agent>().unwrap_err();
            assert_eq!(error.near, near, "{text}");
            assert!(error.to_string().contains("claude, codex, gemini, opencode"));
        }
    }

    #[test]
    fn edits_are_counted() {
        for (a, b, n) in [("", "", 0), ("a", "", 1), ("", "ab", 2), ("kitten", "sitting", 3), ("ab", "ba", 2)]
        {
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
        assert!(matches!(Agent::Claude.read(payload.as_bytes()).unwrap().event, HookEvent::TurnEnd));
    }

    #[test]
    fn an_allowed_call_is_answered_without_an_opinion() {
        for agent in Agent::ALL {
            assert_eq!(agent.answer(&judgement(Verdict::Allow, None)), agent.no_objection());
        }
        for agent in [Agent::Claude, Agent::Codex, Agent::Gemini] {
            let answer = agent.no_objection();
            assert_eq!((answer.stdout.as_str(), answer.stderr.as_str(), answer.exit_code), ("", "", 0));
        }
    }

    #[test]
    fn a_block_without_a_reason_still_gives_one() {
        for agent in Agent::ALL {
            for reason in [None, Some(""), Some(" \n"), Some("\u{1b}")] {
                let answer = agent.answer(&judgement(Verdict::Block, reason));
                assert!(format!("{}{}", answer.stdout, answer.stderr).contains("Portcullis"), "{agent}");
            }
        }
    }

    #[test]
    fn a_failure_is_answered_like_a_block() {
        for agent in Agent::ALL {
            assert_eq!(agent.failure("no"), agent.answer(&judgement(Verdict::Block, Some("no"))));
        }
    }

    #[test]
    fn ask_blocks_where_the_agent_cannot_ask() {
        for agent in [Agent::Codex, Agent::Gemini, Agent::OpenCode] {
            let answer = agent.answer(&judgement(Verdict::Ask, Some("it pushes")));
            let text = format!("{}{}", answer.stdout, answer.stderr);
            assert!(text.contains("it pushes") && text.contains("user"), "{agent}: {text}");
            assert_ne!(answer, agent.no_objection());
        }
    }
}
