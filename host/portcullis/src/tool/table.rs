//! The tools of every agent. Data only: to teach the host a tool, add its name
//! to the row that does the same thing, or add a row, and add a case to
//! `cases.json`.
//!
//! Names are compared as they stand and then without ASCII case, so one spelling
//! for each is enough.

use portcullis_model::call::EffectKind;

/// One canonical tool.
#[derive(Debug)]
pub(super) struct Tool {
    /// The name that guards see.
    pub(super) name: &'static str,
    /// What agents call it.
    pub(super) aliases: &'static [&'static str],
    /// How its arguments turn into effects.
    pub(super) rule: Rule,
}

/// How arguments turn into effects. `field.rs` lists the fields of each role.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rule {
    /// Every command is a `run`. A call without one is malformed.
    Run(Language),
    /// Text that is typed into a running shell is a `run`; there may be none.
    Type,
    /// Every path has an effect of this kind. A call without one is malformed.
    Paths(EffectKind),
    /// Every path is a `read`; without one the call's directory is.
    ReadOrHere,
    /// As `ReadOrHere`, and a pattern that leaves the directory is a `read` too.
    Glob,
    /// As `Paths(Read)`, and inclusion patterns count as paths.
    ReadMany,
    /// Every source has an effect of this kind, every destination is a `write`.
    Transfer(EffectKind),
    /// Every file of every patch is a `write` or a `delete`.
    Patch,
    /// The field `command` says whether a file is viewed, changed, moved or removed.
    Editor,
    /// Every URL is a `fetch`. A call without one is malformed.
    Fetch,
    /// Every URL is a `fetch`; there may be none.
    Visit,
    /// Every URL is a `fetch`, every path is a `write`. It needs both.
    Download,
    /// A call to an MCP server that is spelt out in the arguments.
    McpCall,
    /// Holds calls of its own.
    Batch,
    /// No effect on files, processes or the network that a guard could judge.
    Nothing,
}

/// What reads the text that a tool runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Language {
    /// A POSIX shell.
    Posix,
    /// PowerShell.
    PowerShell,
    /// Any other interpreter.
    Other,
}

const fn tool(name: &'static str, aliases: &'static [&'static str], rule: Rule) -> Tool {
    Tool { name, aliases, rule }
}

/// Every tool that the host knows.
#[rustfmt::skip]
pub(super) static TOOLS: &[Tool] = &[
    // Running things.
    tool("bash", &[
        "Shell", "exec_command", "local_shell", "unified_exec", "container.exec", "run_shell_command",
        "run_in_terminal", "runTerminalCommand", "run_terminal_command", "run_terminal_cmd", "runInTerminal",
        "create_and_run_task", "run_command", "run_commands", "execute_command", "developer__shell", "Execute",
        "shell_command", "execute_bash", "exec", "terminal", "Monitor",
    ], Rule::Run(Language::Posix)),
    tool("powershell", &["pwsh", "execute_powershell", "execute_cmd"], Rule::Run(Language::PowerShell)),
    tool("code", &["repl", "js_repl", "python", "execute_code", "code_interpreter"], Rule::Run(Language::Other)),
    tool("shell_input", &[
        "write_stdin", "write_bash", "write_powershell", "send_command_input", "send_to_terminal",
    ], Rule::Type),
    tool("shell_output", &[
        "BashOutput", "read_bash", "list_bash", "read_powershell", "list_powershell", "job_output",
        "get_terminal_output", "terminal_last_command", "terminal_selection", "command_status", "read_terminal",
        "TaskOutput",
    ], Rule::Nothing),
    tool("shell_stop", &[
        "KillShell", "KillBash", "stop_bash", "stop_powershell", "job_kill", "kill_terminal", "TaskStop",
    ], Rule::Nothing),

    // Changing files.
    tool("write", &[
        "write_file", "create_file", "Create", "write_to_file", "new_file", "developer__write", "create_new_file",
        "create_new_jupyter_notebook", "createFile", "writeFile", "file_write",
        "new_rule",
    ], Rule::Paths(EffectKind::Write)),
    tool("edit", &[
        "edit_file", "replace", "replace_in_file", "replace_string_in_file", "insert_edit_into_file",
        "replace_file_content", "search_replace", "search_and_replace", "insert_content", "apply_diff",
        "developer__edit", "undo_edit", "reapply", "format_file", "editFile", "file_edit",
        "StrReplace",
    ], Rule::Paths(EffectKind::Write)),
    tool("multi_edit", &[
        "MultiEdit", "multi_replace_string_in_file", "multi_replace_file_content", "multi_apply_diff", "edit_files",
        "editFiles", "write_files",
    ], Rule::Paths(EffectKind::Write)),
    tool("notebook_edit", &["NotebookEdit", "edit_notebook", "edit_notebook_file", "EditNotebook"], Rule::Paths(EffectKind::Write)),
    tool("patch", &["apply_patch", "ApplyPatch", "apply-patch"], Rule::Patch),
    tool("editor", &[
        "str_replace_editor", "str_replace_based_edit_tool", "developer__text_editor", "text_editor", "fs_write",
    ], Rule::Editor),
    tool("make_directory", &["create_directory", "mkdir", "createDirectory"], Rule::Paths(EffectKind::Write)),
    tool("delete", &[
        "delete_file", "remove_file", "delete_directory", "deleteFile", "rm",
    ], Rule::Paths(EffectKind::Delete)),
    tool("move", &["move_file", "rename_file", "rename", "moveFile"], Rule::Transfer(EffectKind::Delete)),
    tool("copy", &["copy_file", "copyFile"], Rule::Transfer(EffectKind::Read)),

    // Looking at files.
    tool("read", &[
        "read_file", "view", "view_file", "readFile", "fs_read", "view_line_range", "view_image", "look_at",
        "read_notebook", "NotebookRead", "copilot_getNotebookSummary", "file_read", "open_file",
        "show_file", "developer__image_processor", "TabRead",
    ], Rule::Paths(EffectKind::Read)),
    tool("read_many", &["read_many_files", "read_files"], Rule::ReadMany),
    tool("glob", &["find_by_name", "file_search", "find_files", "glob_file_search", "fileSearch"], Rule::Glob),
    tool("grep", &[
        "grep_search", "search_file_content", "search_files", "rg", "textSearch", "grep_files",
        "search_in_file",
    ], Rule::ReadOrHere),
    tool("list", &[
        "LS", "list_dir", "list_directory", "list_files", "listDirectory", "developer__tree", "tree",
    ], Rule::ReadOrHere),
    tool("code_search", &[
        "codebase_search", "semantic_search", "search_codebase", "finder", "codebase_investigator", "codebase",
        "SemanticSearch",
    ], Rule::ReadOrHere),
    tool("inspect", &[
        "LSP", "lsp_diagnostics", "diagnostics", "get_diagnostics", "get_errors", "read_lints", "list_code_definition_names",
        "view_file_outline", "view_code_item", "view_content_chunk", "list_code_usages", "lsp_references",
        "ReadLints", "developer__analyze",
    ], Rule::ReadOrHere),

    // The network.
    tool("fetch", &[
        "WebFetch", "web_fetch", "FetchUrl", "fetch_url", "read_web_page", "read_url_content", "fetch_webpage",
        "fetch_web_content", "agentic_fetch", "web_read",
    ], Rule::Fetch),
    tool("download", &["download_file"], Rule::Download),
    tool("browser", &["browser_action", "open_simple_browser", "browser_preview", "open_browser_page", "open_browser_url", "read_browser_page", "list_browser_pages"], Rule::Visit),
    tool("search", &[
        "WebSearch", "web_search", "google_web_search", "search_web",
        "sourcegraph",
    ], Rule::Nothing),

    // MCP, beside the names that `mcp.rs` takes apart.
    tool("mcp", &["use_mcp_tool", "call_mcp_tool", "CallMcpTool"], Rule::McpCall),
    tool("mcp_resource", &[
        "ReadMcpResourceTool", "read_mcp_resource", "access_mcp_resource", "FetchMcpResource",
        "read_resource",
    ], Rule::Fetch),
    tool("mcp_list", &[
        "ListMcpResourcesTool", "list_mcp_resources", "list_mcp_resource_templates", "ListMcpResources",
        "list_resources", "load_mcp_documentation",
    ], Rule::Nothing),

    // Calls within a call.
    tool("batch", &["parallel", "multi_tool_use.parallel"], Rule::Batch),

    // The agent's own affairs.
    tool("task", &[
        "Agent", "new_task", "runSubagent", "run_subagent", "spawn_agent", "invoke_subagent", "delegate_to_agent",
        "oracle", "librarian", "subagent", "use_subagent", "use_subagents",
        "browser_subagent",
    ], Rule::Nothing),
    tool("task_message", &[
        "SendMessage", "send_input", "send_message", "wait_agent", "close_agent", "read_agent", "list_agents",
        "write_agent", "TaskGet", "TaskList",
    ], Rule::Nothing),
    tool("todo", &[
        "TodoWrite", "TodoRead", "todo_write", "todo_read", "todos", "write_todos", "update_todo",
        "update_todo_list", "manage_todo_list", "TaskCreate", "TaskUpdate", "task_list",
        "todo__todo_write", "todo__todo_read", "todo_list",
    ], Rule::Nothing),
    tool("plan", &[
        "update_plan", "ExitPlanMode", "EnterPlanMode", "exit_plan_mode", "enter_plan_mode", "plan_exit",
        "plan_enter", "plan_mode_respond", "ExitSpecMode",
        "task_boundary", "SwitchMode",
    ], Rule::Nothing),
    tool("ask", &[
        "AskUserQuestion", "ask_user", "AskUser", "ask_question", "ask_followup_question", "question",
        "request_user_input",
        "AskQuestion", "notify_user",
    ], Rule::Nothing),
    tool("skill", &["activate_skill", "use_skill", "skills"], Rule::Nothing),
    tool("think", &["sequentialthinking", "report_intent", "thinking", "introspect"], Rule::Nothing),
    tool("remember", &["save_memory", "store_memory", "create_memory", "update_memory"], Rule::Nothing),
    tool("find_tools", &["ToolSearch", "tool_search"], Rule::Nothing),
    // Cline's can carry a command that shows off the result.
    tool("finish", &["attempt_completion", "complete_task", "task_done", "submit_and_exit"], Rule::Type),
    tool("schedule", &["CronCreate", "CronDelete", "CronList"], Rule::Nothing),
];
