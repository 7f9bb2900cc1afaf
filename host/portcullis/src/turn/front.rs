//! The one tool in front of all MCP servers, and calls that mean a server's tool.

use std::sync::Arc;

use futures_util::future::join_all;
use portcullis_model::call::ToolCall;
use portcullis_model::extension::Extension;
use portcullis_model::input::Input;
use portcullis_runtime::{Content, ToolOutput};
use serde_json::Value;

use super::Turn;
use super::run::Called;
use crate::broker::front::{MCP, Request, Row, described, found, listed};
use crate::broker::near;
use crate::extension::within;

fn text(text: String) -> ToolOutput {
    ToolOutput { content: vec![Content::Text(text)], is_error: false }
}

fn failed(reason: String) -> ToolOutput {
    ToolOutput { is_error: true, ..text(reason) }
}

fn folded(name: &str) -> String {
    name.to_lowercase().replace('_', "-")
}

impl Turn {
    /// A call that means the tool of a server, as the call of that tool: one through `mcp`,
    /// and one that names the tool without its server. Where several offer it, the name
    /// means nothing. This comes before the call is judged, so that what is judged is what
    /// will run.
    pub(super) fn with_its_server(&self, mut call: ToolCall) -> ToolCall {
        if call.tool == MCP
            && self.admitted.runs_tools()
            && let Request::Call { server, tool, arguments } = Request::read(call.input.value())
            && arguments.is_object()
            && let Some((server, tool)) = self.meant(server, tool)
            && let Ok(input) = Input::from_value(arguments.clone())
        {
            return ToolCall { tool: format!("mcp:{server}/{tool}"), input, ..call };
        }
        if let [server] = self.admitted.servers_of(&call.tool).as_slice() {
            call.tool = format!("mcp__{server}__{}", call.tool);
        }
        call
    }

    /// The server and the tool that a call through `mcp` means: by their names, by
    /// `SERVER/TOOL` or `SERVER__TOOL` in the place of the tool, or by a tool that one
    /// server alone has.
    fn meant(&self, server: Option<&str>, tool: &str) -> Option<(String, String)> {
        let told = tool.strip_prefix("mcp__").unwrap_or(tool);
        let inner = told.split_once('/').or_else(|| told.split_once("__"));
        let inner = inner.and_then(|(server, tool)| Some((self.server(server)?, tool)));
        match (server, inner) {
            (Some(server), inner) => {
                let server = self.server(server)?;
                let tool = inner.filter(|(own, _)| *own == server).map_or(tool, |(_, tool)| tool);
                Some((server, tool.to_owned()))
            }
            (None, Some((server, tool))) => Some((server, tool.to_owned())),
            (None, None) => match self.offering(tool).as_slice() {
                [server] => Some((server.clone(), tool.to_owned())),
                _ => None,
            },
        }
    }

    /// The server of this name, or the only one that differs from it by case, `-` and `_`.
    fn server(&self, name: &str) -> Option<String> {
        let names = || self.admitted.servers().map(|own| own.extension.name().to_owned());
        if let Some(exact) = names().find(|own| own == name) {
            return Some(exact);
        }
        let mut alike = names().filter(|own| folded(own) == folded(name));
        alike.next().filter(|_| alike.next().is_none())
    }

    /// The servers that are known to offer the tool, now or when the turn began.
    fn offering(&self, tool: &str) -> Vec<String> {
        let offers = |extension: &dyn Extension| {
            extension.known().is_some_and(|known| known.tools.iter().any(|own| own.name == tool))
        };
        let servers = self.admitted.servers().filter(|own| {
            own.listed.known().tools.iter().any(|listed| listed.name == tool) || offers(&*own.extension)
        });
        servers.map(|own| own.extension.name().to_owned()).collect()
    }

    /// The answer to a call through `mcp` that means no tool of any server. Nothing is
    /// started to find that out.
    pub(super) fn means_no_server(&self, call: &ToolCall) -> Option<Called> {
        if call.tool != MCP || self.admitted.servers().next().is_none() {
            return None;
        }
        let Request::Call { server, tool, .. } = Request::read(call.input.value()) else { return None };
        if self.meant(server, tool).is_some() {
            return None;
        }
        let names = || self.admitted.servers().map(|own| own.extension.name());
        if let Some(server) = server {
            let reason =
                format!("There is no MCP server `{server}`.{}", hint(near(server, names()), names()));
            return Some(Called::failed("unknown_server", reason, None));
        }
        let offering = self.offering(tool);
        if offering.len() > 1 {
            let reason = format!("Several servers offer `{tool}`: `{}`. Name one.", offering.join("`, `"));
            return Some(Called::failed("ambiguous", reason, None));
        }
        let tools: Vec<String> = self
            .admitted
            .servers()
            .flat_map(|own| own.extension.known().unwrap_or_default().tools)
            .map(|tool| tool.name)
            .collect();
        let near = near(tool, tools.iter().map(String::as_str));
        let reason =
            format!("No server is known to offer `{tool}`; name its `server`.{}", hint(near, names()));
        Some(Called::failed("unknown_capability", reason, None))
    }

    /// What `mcp` answers by itself.
    pub(super) async fn fronted(&self, input: &Value) -> ToolOutput {
        match Request::read(input) {
            Request::List(server) => self.told(server, listed).await,
            Request::Search(query, server) => {
                let of = |rows: &[Row]| described(rows, query).unwrap_or_else(|_| found(rows, query));
                self.told(server, of).await
            }
            Request::Describe { server, tool } => match self.rows(server).await {
                Ok(rows) => match described(&rows, tool) {
                    Ok(told) => text(told),
                    Err(near) => {
                        let names = rows.iter().map(|(server, _)| server.as_str());
                        failed(format!("There is no tool `{tool}`.{}", hint(near, names)))
                    }
                },
                Err(unknown) => failed(unknown),
            },
            Request::Call { .. } => failed("`arguments` is no object, or there is no such server".to_owned()),
            Request::Unclear => failed(
                "`action` is `list`, `search`, `describe` or `call`; the last two name a `tool`".to_owned(),
            ),
        }
    }

    async fn told(&self, server: Option<&str>, say: impl Fn(&[Row]) -> String) -> ToolOutput {
        match self.rows(server).await {
            Ok(rows) => text(say(&rows)),
            Err(unknown) => failed(unknown),
        }
    }

    /// The tools of all servers, or of one, that the operator wants called. All are asked
    /// at once, each within 10 s.
    async fn rows(&self, server: Option<&str>) -> Result<Vec<Row>, String> {
        let names = || self.admitted.servers().map(|own| own.extension.name());
        let only = match server {
            None => None,
            Some(name) => Some(self.server(name).ok_or_else(|| {
                format!("There is no MCP server `{name}`.{}", hint(near(name, names()), names()))
            })?),
        };
        let wanted = self
            .admitted
            .servers()
            .filter(|own| only.as_ref().is_none_or(|only| own.extension.name() == only));
        let extensions: Vec<_> = wanted.map(|own| Arc::clone(&own.extension)).collect();
        let asked = extensions.iter().map(|extension| async move {
            let role = extension.tools()?;
            let tools = within(&**extension, role.list()).await;
            Some((extension.name().to_owned(), tools))
        });
        let mut rows: Vec<Row> = join_all(asked).await.into_iter().flatten().collect();
        for (server, tools) in &mut rows {
            if let Ok(tools) = tools {
                tools.retain(|tool| self.admitted.has_tool_of(server, &tool.name));
            }
        }
        self.host.learn(extensions).await;
        Ok(rows)
    }
}

/// What else there is.
fn hint<'a>(near: Vec<String>, names: impl Iterator<Item = &'a str>) -> String {
    if near.is_empty() {
        let names: Vec<_> = names.take(20).collect();
        return format!(" There are the servers `{}`.", names.join("`, `"));
    }
    format!(" Did you mean `{}`?", near.join("`, `"))
}
