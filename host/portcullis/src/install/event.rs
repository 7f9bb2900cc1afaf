//! The names of the events that an entry can ask for behind the one before a call.

use crate::agent::Agent;
use crate::hook::Event;

/// An event, and what an agent calls it in its hook files.
type Named = (Event, &'static [&'static str]);

const CLAUDE: &[Named] = &[
    (Event::Stop, &["Stop"]),
    (Event::SessionStart, &["SessionStart"]),
    (Event::PromptSubmit, &["UserPromptSubmit"]),
    (Event::PostToolUse, &["PostToolUse", "PostToolUseFailure"]),
    (Event::SubagentStop, &["SubagentStop"]),
    (Event::PreCompact, &["PreCompact"]),
    (Event::SessionEnd, &["SessionEnd"]),
];

/// Some versions know neither a call that failed nor the end of a session.
const CODEX: &[Named] = &[
    (Event::Stop, &["Stop"]),
    (Event::SessionStart, &["SessionStart"]),
    (Event::PromptSubmit, &["UserPromptSubmit"]),
    (Event::PostToolUse, &["PostToolUse"]),
    (Event::SubagentStop, &["SubagentStop"]),
    (Event::PreCompact, &["PreCompact"]),
];

const DROID: &[Named] = &[
    (Event::Stop, &["Stop"]),
    (Event::SessionStart, &["SessionStart"]),
    (Event::PromptSubmit, &["UserPromptSubmit"]),
    (Event::PostToolUse, &["PostToolUse"]),
    (Event::SubagentStop, &["SubagentStop"]),
    (Event::PreCompact, &["PreCompact"]),
    (Event::SessionEnd, &["SessionEnd"]),
];

const GEMINI: &[Named] = &[
    (Event::Stop, &["AfterAgent"]),
    (Event::SessionStart, &["SessionStart"]),
    (Event::PromptSubmit, &["BeforeAgent"]),
    (Event::PostToolUse, &["AfterTool"]),
    (Event::PreCompact, &["PreCompress"]),
    (Event::SessionEnd, &["SessionEnd"]),
];

const COPILOT: &[Named] = &[
    (Event::Stop, &["agentStop"]),
    (Event::SessionStart, &["sessionStart"]),
    (Event::PromptSubmit, &["userPromptSubmitted"]),
    (Event::PostToolUse, &["postToolUse", "postToolUseFailure"]),
    (Event::SubagentStop, &["subagentStop"]),
    (Event::PreCompact, &["preCompact"]),
    (Event::SessionEnd, &["sessionEnd"]),
];

const CURSOR: &[Named] = &[
    (Event::Stop, &["stop"]),
    (Event::SessionStart, &["sessionStart"]),
    (Event::PromptSubmit, &["beforeSubmitPrompt"]),
    (Event::PostToolUse, &["postToolUse", "postToolUseFailure"]),
    (Event::SubagentStop, &["subagentStop"]),
    (Event::PreCompact, &["preCompact"]),
    (Event::SessionEnd, &["sessionEnd"]),
];

const GOOSE: &[Named] = &[
    (Event::Stop, &["Stop"]),
    (Event::SessionStart, &["SessionStart"]),
    (Event::PromptSubmit, &["UserPromptSubmit"]),
    (Event::PostToolUse, &["PostToolUse", "PostToolUseFailure"]),
    (Event::SessionEnd, &["SessionEnd"]),
];

const CLINE: &[Named] = &[
    (Event::Stop, &["TaskComplete"]),
    (Event::SessionStart, &["TaskStart", "TaskResume"]),
    (Event::PromptSubmit, &["UserPromptSubmit"]),
    (Event::PostToolUse, &["PostToolUse"]),
    (Event::PreCompact, &["PreCompact"]),
];

const WINDSURF: &[Named] = &[
    (Event::Stop, &["post_cascade_response"]),
    (Event::PromptSubmit, &["pre_user_prompt"]),
    (Event::PostToolUse, &["post_run_command", "post_write_code", "post_read_code", "post_mcp_tool_use"]),
];

/// Of these only the names of two events are sure.
const STOP: &[Named] = &[(Event::Stop, &["Stop"])];

/// What an agent's entry can ask for, the end of an answer first. An event that an agent
/// does not know can be an error of its whole configuration, so only what is sure is here.
pub(super) const fn of(agent: Agent) -> &'static [Named] {
    match agent {
        Agent::Claude => CLAUDE,
        Agent::Codex => CODEX,
        Agent::Gemini => GEMINI,
        Agent::Copilot => COPILOT,
        Agent::Cursor => CURSOR,
        Agent::Goose => GOOSE,
        Agent::Cline => CLINE,
        Agent::Windsurf => WINDSURF,
        Agent::Droid => DROID,
        Agent::Kiro | Agent::Antigravity => STOP,
        // Crush knows no other event. Our plugins for the others tell of calls alone.
        Agent::OpenCode | Agent::Crush | Agent::Amp => &[],
    }
}
