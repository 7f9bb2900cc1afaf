//! What a plugin may use, and for how long.

use std::time::Duration;

const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;

/// The limits of one plugin. Every one of them can be set by the operator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// For one guard's answer.
    pub guard_time: Duration,
    /// For one hook's answer.
    pub hook_time: Duration,
    /// For one command's expansion.
    pub command_time: Duration,
    /// For one tool's run.
    pub tool_time: Duration,
    /// For `describe` and each list, when the plugin is loaded.
    pub describe_time: Duration,
    /// Linear memory of one instance, in bytes.
    pub memory: usize,
    /// All that a tool, a command or a list may hand to the host at once, in
    /// bytes. Guards and hooks have a fixed 256 KiB.
    pub answer: usize,
    /// A refusal's reason is cut here, in bytes.
    pub reason: usize,
    /// An appendix may be this long, in bytes.
    pub appendix: usize,
    /// Tools of one plugin.
    pub tools: usize,
}

impl Limits {
    /// The defaults: guard 1 s, hook 10 s, command 10 s, tool 60 s, `describe`
    /// and lists 5 s, memory 64 MiB, answer 8 MiB, reason 4 KiB, appendix 4 KiB,
    /// 256 tools.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            guard_time: Duration::from_secs(1),
            hook_time: Duration::from_secs(10),
            command_time: Duration::from_secs(10),
            tool_time: Duration::from_secs(60),
            describe_time: Duration::from_secs(5),
            memory: 64 * MIB,
            answer: 8 * MIB,
            reason: 4 * KIB,
            appendix: 4 * KIB,
            tools: 256,
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self::new()
    }
}

/// All guards of one call together, queueing and host calls included.
pub const JUDGEMENT_TIME: Duration = Duration::from_secs(5);

/// The largest input of a call, in bytes. A larger one is refused.
pub const INPUT_MAX: usize = 8 * MIB;

/// The largest component file, in bytes.
pub const COMPONENT_MAX: usize = 64 * MIB;

/// One value of a plugin's store, in bytes.
pub const STORE_VALUE_MAX: usize = 64 * KIB;

/// All values of one plugin in one session, keys included, in bytes.
pub const STORE_TOTAL_MAX: usize = MIB;
