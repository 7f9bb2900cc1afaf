//! What can be said on the command line.

mod kept;
mod mcp;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use portcullis::model::config::Mode;

pub(crate) use kept::{
    CommandExpandArguments, CommandListArguments, CommandVerb, ConfigShowArguments, ConfigValidateArguments,
    ConfigVerb, InspectArguments, LedgerVerb, ListArguments, PluginCheckArguments, PluginVerb,
    ServerCallArguments, ServerForgetArguments, ServerListArguments, ServerToolsArguments, ServerVerb,
    ShowArguments, SkillListArguments, SkillShowArguments, SkillValidateArguments, SkillVerb,
    TrustAddArguments, TrustRemoveArguments, TrustStatusArguments, TrustVerb, VerifyArguments,
};
pub(crate) use mcp::{McpSkillsArguments, McpVerb, PlaceArgument, TransportChoice};

const AFTER: &str = "\
Exit codes: 0 done or allowed; 2 refused; 1 the answer is no or the input is wrong; 3 an internal fault. \
`hook` uses the agent's own codes.

Examples:
  echo '{\"tool\":\"Bash\",\"input\":{\"command\":\"rm -rf build\"}}' | portcullis check
  portcullis plugin list
  portcullis plugin inspect guard
  portcullis config show
  portcullis ledger show --since 1h";

/// The gate between an AI agent and its tools.
///
/// Every call that an agent wants to make is judged by guards, which are
/// sandboxed WebAssembly components. A guard that crashes, hangs or cannot be
/// loaded refuses the call.
#[derive(Debug, Parser)]
#[command(name = "portcullis", version, after_help = AFTER, max_term_width = 100)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) common: Common,
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

/// What every verb understands.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Common options")]
pub(crate) struct Common {
    /// Read this configuration instead of the user's.
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Load this plugin behind the others. May be given more than once.
    #[arg(long = "plugin", global = true, value_name = "FILE")]
    pub(crate) plugins: Vec<PathBuf>,
    /// Look for plugins here instead of in the user's directory.
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) plugin_dir: Option<PathBuf>,
    /// Read no file of the user's or of the project's: the bundled plugins and
    /// what these options say.
    #[arg(long, global = true)]
    pub(crate) isolated: bool,
    /// Turn every plugin off, the guard included.
    #[arg(long, global = true)]
    pub(crate) no_plugins: bool,
    /// What happens to a call that no rule names, in place of what the configuration says:
    /// read-only, ask, accept-edits or yolo. No mode skips a guard.
    #[arg(long, global = true, value_name = "MODE")]
    pub(crate) mode: Option<Mode>,
    /// The workspace [default: the current directory].
    #[arg(short = 'C', long = "directory", global = true, value_name = "DIR")]
    pub(crate) directory: Option<PathBuf>,
    /// Say more on standard error; twice says everything.
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Judge tool calls from standard input.
    Check(CheckArguments),
    /// Answer an agent's hook in the agent's own dialect.
    Hook(HookArguments),
    /// Judge the calls of a loop in any language: JSON-RPC over pipes or a Unix socket.
    Serve(ServeArguments),
    /// Put Portcullis in front of an agent's tools.
    Install(InstallArguments),
    /// Take Portcullis away from an agent.
    Uninstall(UninstallArguments),
    /// Explain one judgement: what was seen, who said what, what would change it.
    Why(WhyArguments),
    /// Lift a standing refusal for a while.
    BreakGlass(BreakGlassArguments),
    /// Look whether everything is as it was set up, and say how to mend it.
    Doctor(DoctorArguments),
    /// Look at plugins, and try them out.
    #[command(subcommand)]
    Plugin(PluginVerb),
    /// Look at the hooks: who is asked when, and in which order.
    #[command(subcommand)]
    Hooks(HooksVerb),
    /// Show what holds and where it comes from, and say what is wrong with a file.
    #[command(subcommand)]
    Config(ConfigVerb),
    /// Say what a project may do besides refusing, after a look at it.
    #[command(subcommand)]
    Trust(TrustVerb),
    /// Look at the skills that there are, and at what is wrong with one.
    #[command(subcommand)]
    Skill(SkillVerb),
    /// Look at the commands that a person can type, and at what becomes of one.
    #[command(subcommand)]
    Command(CommandVerb),
    /// Serve what there is to MCP clients.
    #[command(subcommand)]
    Mcp(McpVerb),
    /// Look at the MCP servers, and call their tools.
    #[command(subcommand)]
    Server(ServerVerb),
    /// Look up what was decided, and check that nobody changed it.
    #[command(subcommand)]
    Ledger(LedgerVerb),
}

/// Reads tool calls from standard input, one JSON object or one a line, and
/// prints one line of JSON for each.
///
/// A call is `{"tool": NAME, "input": {...}}`, where NAME is any agent's own name
/// for the tool; `cwd`, `session_id` and `id` may be added. The answer has
/// `verdict` (`allow`, `ask` or `block`), `by`, `code`, `fault` and `reason`.
/// A line that is no call is a `block` with `fault` `bad-input`, and the next line
/// is still read. The exit code is 2 if anything was blocked, or needs consent (`ask`):
/// nobody is there to give it.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct CheckArguments {
    /// Give up after this many seconds without an answer, and refuse.
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=600))]
    pub(crate) timeout: u64,
}

/// Reads an agent's hook payload from standard input and answers in that agent's
/// dialect. A call is judged; at every other event the hooks are asked (see
/// `portcullis hooks list`). Whatever goes wrong, a call is refused and a prompt is
/// withheld; nothing else is ever printed on standard output.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct HookArguments {
    /// Whose hook it is: claude, codex, gemini, copilot (VS Code too), cursor, opencode,
    /// goose, crush, cline, windsurf, droid, kiro, antigravity or amp.
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: String,
    /// End standard output with the line `portcullis:answered`, which the installed
    /// entry takes off again: without it nobody has answered, and it blocks.
    #[arg(long)]
    pub(crate) seal: bool,
    /// Refuse after this many seconds. Keep it below the agent's own timeout,
    /// because most agents run the tool when their hook is late. Without it, it is
    /// less than the agent waits when nobody tells it how long: 25 to 58 seconds.
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=600))]
    pub(crate) timeout: Option<u64>,
}

/// Serves an agent loop in any language: JSON-RPC 2.0, one message a line, until standard
/// input ends or a signal comes. Then sessions end, the last one first, and each has 5 s.
/// Nothing but the protocol is on standard output; the log is on standard error.
///
/// A server stands for one workspace, and follows its configuration and plugins. A call
/// that is cancelled, or whose client goes away, is refused. `sdk/typescript` and
/// `sdk/python` have clients; docs/reference/wire.md has every method.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct ServeArguments {
    /// Serve the one client at standard input and output. This is the default.
    #[arg(long, conflicts_with = "socket")]
    pub(crate) stdio: bool,
    /// Serve any number of clients of this user's, at a Unix socket in a directory that
    /// nobody else can get into; it is made when it is not there.
    #[arg(long, value_name = "PATH")]
    pub(crate) socket: Option<PathBuf>,
}

/// Writes the agent's hook entry, so that every tool call is judged before it
/// runs, and sends a canary through it: a dangerous call that has to be stopped and a
/// harmless one that has to pass. Installing twice changes nothing; entries of
/// others, comments and order stay. A file that cannot be understood is left alone.
///
/// The entry asks for calls, for the end of a turn, and for the events that a hook
/// listens to now. Install again when you add a hook at another event.
///
/// Agents: claude, codex, gemini, copilot (VS Code too), cursor, opencode, goose,
/// crush, cline, windsurf, droid, kiro, antigravity, amp.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct InstallArguments {
    /// The agents.
    #[arg(value_name = "AGENT", required = true)]
    pub(crate) agents: Vec<String>,
    /// Write the project's file instead of the user's.
    #[arg(long)]
    pub(crate) project: bool,
    /// Which events the entry asks for beside calls and the end of a turn: those that a
    /// hook listens to, or all that the agent has [default: `needed`, unless the entry
    /// asks for all already].
    #[arg(long, value_name = "WHICH")]
    pub(crate) events: Option<EventChoice>,
    /// Write the skills server (`portcullis mcp skills`) into the agent's MCP configuration
    /// instead of the hook entry.
    #[arg(long, conflicts_with = "events")]
    pub(crate) skills: bool,
    /// Show what would change, and write nothing.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Which events an entry asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum EventChoice {
    /// Those that a hook listens to.
    Needed,
    /// All that the agent has.
    All,
}

/// What there is to know of hooks.
#[derive(Debug, Subcommand)]
pub(crate) enum HooksVerb {
    /// List every hook in the order in which they are asked: those of plugins, then
    /// `[[hooks]]`.
    List(HooksListArguments),
    /// Ask a script hook again.
    Enable(HookSwitchArguments),
    /// Ask a script hook no more, and keep it in the file.
    Disable(HookSwitchArguments),
}

/// Changes `enabled` of one of the `[[hooks]]`, and not a byte of the rest of the file.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct HookSwitchArguments {
    /// The hook, as `hooks list --json` names it: its event and its program.
    pub(crate) name: String,
    /// Change the project's file instead of the user's. What it says is to be trusted anew.
    #[arg(long)]
    pub(crate) project: bool,
}

#[derive(Debug, Args)]
pub(crate) struct HooksListArguments {
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Removes every hook entry of Portcullis from the agent's files, whatever version
/// wrote it, and the files that held nothing else. Nothing else changes.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct UninstallArguments {
    /// The agents.
    #[arg(value_name = "AGENT", required = true)]
    pub(crate) agents: Vec<String>,
    /// Look at the project's file instead of the user's.
    #[arg(long)]
    pub(crate) project: bool,
    /// Remove the skills server from the agent's MCP configuration instead of the hook entry.
    #[arg(long)]
    pub(crate) skills: bool,
    /// Show what would change, and write nothing.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Judges one call and says how the judgement came about: the effects and commands
/// that were seen, what each guard said, and the setting that would change it. The
/// call is a shell command, or on standard input what `check` reads. Nothing is run
/// and nothing is written to the ledger. The exit code is 2 if it was blocked.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct WhyArguments {
    /// A shell command.
    #[arg(value_name = "COMMAND")]
    pub(crate) command: Option<String>,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Lifts the refusal of every call that a plugin causes which cannot be used, for a
/// bounded time, and writes that to the ledger. What a running guard decides, or
/// fails to decide, cannot be lifted. Without NAME it lists what is lifted.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct BreakGlassArguments {
    /// The name that the refusal gives: a plugin's, or its file's.
    pub(crate) name: Option<String>,
    /// For how long, such as `90s`, `15m` or `2h`; 24 h at most.
    #[arg(long = "for", value_name = "TIME", default_value = "15m")]
    pub(crate) time: String,
    /// Why, for whoever reads the ledger.
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,
    /// Let the refusal count again at once.
    #[arg(long, conflicts_with_all = ["time", "reason"])]
    pub(crate) end: bool,
}

/// Looks at the configuration, the plugins and the entry of every agent, sends a
/// canary through each entry, and prints a line for each: `ok`, `warn` or `FAIL`
/// with the way to mend it. The exit code is 1 when anything is not as it was set up.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct DoctorArguments {
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}
