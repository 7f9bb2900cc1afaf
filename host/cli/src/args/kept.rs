//! The verbs about what is kept: plugins, the configuration, trust, skills, servers, the
//! ledger.

use std::path::PathBuf;

use clap::{Args, Subcommand};

#[derive(Debug, Subcommand)]
pub(crate) enum PluginVerb {
    /// List every plugin, and how it stands. The exit code is 1 when one that is
    /// named or required cannot act.
    List(ListArguments),
    /// Show all that is known of one plugin, without running it for a call.
    Inspect(InspectArguments),
    /// Load plugins, and put their cases to them.
    Check(PluginCheckArguments),
}

#[derive(Debug, Args)]
pub(crate) struct ListArguments {
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct InspectArguments {
    /// The plugin's name, or a component file.
    #[arg(value_name = "NAME|FILE")]
    pub(crate) plugin: String,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Loads each plugin alone and judges its cases with it.
///
/// A case file is TOML: `[[case]]` with `name`, `tool`, `input`, `expect` (`allow` or
/// `block`), and optionally `cwd`, `settings`, `code` and `reason` (a part of it).
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct PluginCheckArguments {
    /// The plugin's name, or a component file.
    #[arg(value_name = "NAME|FILE")]
    pub(crate) plugin: String,
    /// Case files, or directories of them.
    #[arg(long, value_name = "PATH", num_args = 1..)]
    pub(crate) cases: Vec<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigVerb {
    /// Print every value that holds, and where it comes from.
    Show(ConfigShowArguments),
    /// Print all that is wrong with a configuration. The exit code is 1 when
    /// something is.
    Validate(ConfigValidateArguments),
}

/// Prints a line for each key: the value, and `default`, `user`, `project` or `flag`
/// with the file and the line. A plugin's keys are shown when a file names the plugin.
/// What looks like a secret is not shown. What a project's file says and may not is a
/// warning.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct ConfigShowArguments {
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Reads the files as a call would, and prints a line for each problem: the file, the
/// line and the column, the key, the reason and the way out. The exit code is 1 when
/// there is one.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct ConfigValidateArguments {
    /// Read this file alone. One in a directory `.portcullis` is read as a project's
    /// [default: the user's file and the project's].
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TrustVerb {
    /// Show what a project brings: trusted, waiting, or changed since.
    Status(TrustStatusArguments),
    /// Trust a project's files as they are now, after showing what they would do.
    Add(TrustAddArguments),
    /// Take the trust in a project back.
    Remove(TrustRemoveArguments),
}

/// Prints a line for each file of the project that needs trust: its plugins, its
/// configuration, and the programs of its hooks. The exit code is 1 when one changed
/// since it was trusted, or cannot be trusted.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct TrustStatusArguments {
    /// The project [default: the one that the workspace lies in].
    #[arg(value_name = "PROJECT")]
    pub(crate) project: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Shows each plugin with its digest and what it wishes for, each value of the
/// project's configuration that only trust allows, and each hook's program; asks, and
/// binds the trust to this directory and to the bytes of each file. A file that changes
/// loses what it brought.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct TrustAddArguments {
    /// The project [default: the one that the workspace lies in].
    #[arg(value_name = "PROJECT")]
    pub(crate) project: Option<PathBuf>,
    /// Do not ask.
    #[arg(long)]
    pub(crate) yes: bool,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Trusts nothing of the project any more, in hosts that run too. Its guards act on,
/// and its configuration narrows. The exit code is 1 when it was not trusted.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct TrustRemoveArguments {
    /// The project [default: the one that the workspace lies in].
    #[arg(value_name = "PROJECT")]
    pub(crate) project: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SkillVerb {
    /// Print a line for each skill.
    List(SkillListArguments),
    /// Print all that is known of a skill.
    Show(SkillShowArguments),
    /// Say what is wrong with skills. The exit code is 1 when the specification does not
    /// allow one.
    Validate(SkillValidateArguments),
}

/// Prints a line for each skill of the project and of the user, by its path: `usable`;
/// `untrusted` when it waits for `portcullis trust add`; `skipped` when it cannot be
/// loaded; `denied` when `[channels.skills]` hides it. With `--all` also those that are
/// `shadowed` by another one.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct SkillListArguments {
    /// Also those that another one comes before.
    #[arg(long)]
    pub(crate) all: bool,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Prints what a skill says of itself, where it is, the files that it brings, and
/// everything that is wrong with it. The exit code is 1 when it cannot be used.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct SkillShowArguments {
    /// The skill's path, or its name when no other one has it.
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// Print its text, and nothing else.
    #[arg(long, conflicts_with = "json")]
    pub(crate) text: bool,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Looks at each `SKILL.md` below each path, and prints a line for each thing that is
/// wrong: the file, the line, the code, what is wrong and what to do about it. Without a
/// path it looks at the project's and the user's skills, trusted or not.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct SkillValidateArguments {
    /// Files, or directories of skills.
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum CommandVerb {
    /// Print a line for each command.
    List(CommandListArguments),
    /// Print the text that a model is asked for a command.
    Expand(CommandExpandArguments),
}

/// Prints a line for each command that can be typed: those of the project, of plugins and
/// of the user, in this order where they have one name, those for other agents behind
/// them, and each skill as `skill:NAME`. With `--all` also those that cannot be typed, and
/// why: `untrusted` waits for `portcullis trust add`, `skipped` is no command, `shadowed`
/// has another one of its name before it.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct CommandListArguments {
    /// Also those that cannot be typed.
    #[arg(long)]
    pub(crate) all: bool,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Prints the text that a model is asked when somebody types this command. Nothing that
/// the text asks for is run or read: lines for a shell stay lines, and files that it points
/// at with `@` are named by `--json`. The exit code is 1 when nothing comes of it.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct CommandExpandArguments {
    /// The command's name, with or without the slash.
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// What is typed behind it; several words are put together with blanks.
    #[arg(value_name = "TEXT", trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) arguments: Vec<String>,
    /// Print JSON: the text, and the files that it points at.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum LedgerVerb {
    /// Print what was decided, the newest last.
    Show(ShowArguments),
    /// Check that every line follows from the one before. The exit code is 1 when one
    /// does not, and the answer names its file and line.
    Verify(VerifyArguments),
}

/// Prints what was refused and what went wrong, the newest last; calls that were
/// allowed too where the configuration says `[audit] allowed = true`.
///
/// With several filters an entry has to pass all of them. NAME and ID may be a part
/// of the word, in any case.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct ShowArguments {
    /// Only what is younger: `90s`, `15m`, `1h`, `2d`, `1w`, a date such as
    /// 2026-11-30, or a time such as 2026-11-30T10:00:00Z.
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<String>,
    /// Only calls that got this verdict.
    #[arg(long, value_name = "VERDICT", value_parser = ["allow", "ask", "block"])]
    pub(crate) verdict: Option<String>,
    /// Only this session.
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// Only calls of this tool, by its canonical or the agent's own name.
    #[arg(long, value_name = "NAME")]
    pub(crate) tool: Option<String>,
    /// Only what this guard, or this part of the gate, refused.
    #[arg(long, value_name = "NAME")]
    pub(crate) by: Option<String>,
    /// Only faults: where nobody decided, and the call was refused for that.
    #[arg(long)]
    pub(crate) fault: bool,
    /// Only so many, the newest ones [default: 50; with `--json` all].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) last: Option<u32>,
    /// Look into this directory instead of the user's ledger.
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
    /// Print the lines as they are in the file: one JSON object each.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct VerifyArguments {
    /// Check this directory instead of the user's ledger.
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ServerVerb {
    /// List the MCP servers of the configuration, and what is known of each. Starts none.
    List(ServerListArguments),
    /// List the tools of one server, which is started when they are not known.
    Tools(ServerToolsArguments),
    /// Call a tool of a server, judged like the call of an agent.
    Call(ServerCallArguments),
    /// Forget what is known of a server: its tools, the generation of the protocol, and how
    /// its tools looked when they were first seen.
    Forget(ServerForgetArguments),
}

#[derive(Debug, Args)]
pub(crate) struct ServerListArguments {
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Prints a line for each tool. The exit code is 1 when the server cannot be asked.
#[derive(Debug, Args)]
pub(crate) struct ServerToolsArguments {
    /// The server's name.
    #[arg(value_name = "SERVER")]
    pub(crate) server: String,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Prints what the tool gives. The call is judged first: by the guards, the hooks and the
/// permissions. The exit code is 2 when it is refused, and 1 when it fails.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct ServerCallArguments {
    /// The server's name.
    #[arg(value_name = "SERVER")]
    pub(crate) server: String,
    /// The tool's name.
    #[arg(value_name = "TOOL")]
    pub(crate) tool: String,
    /// What the tool is told: a JSON object.
    #[arg(value_name = "ARGUMENTS", default_value = "{}")]
    pub(crate) arguments: String,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ServerForgetArguments {
    /// The server's name.
    #[arg(value_name = "SERVER")]
    pub(crate) server: String,
}
