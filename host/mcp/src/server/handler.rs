//! The methods of the protocol, answered from the library as it was seen last.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use portcullis_model::product;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CustomRequest, CustomResult, ErrorCode,
    GetPromptRequestParams, GetPromptResponse, GetPromptResult, GetSkillRequestParams, GetSkillResult,
    Implementation, InitializeRequestParams, InitializeResult, JsonObject, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListSkillsResult, ListToolsResult, MetaObject,
    PaginatedRequestParams, PromptMessage, ProtocolVersion, ReadResourceDirectoryRequestParams,
    ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, Resource, ResourceContents,
    ResourceTemplate, Role, ServerCapabilities, ServerConfig, SubscribeRequestParams, SubscriptionFilter,
    UnsubscribeRequestParams,
};
use rmcp::service::{NotificationContext, RequestContext, RoleServer, SubscriptionContext};
use rmcp::{ErrorData, ServerHandler};

use super::manner::Transport;
use super::state::State;
use super::view::View;
use super::{address, entry, index, mime, notify, tool};

/// The most addresses that one subscription may name.
const SUBSCRIPTIONS_MAX: usize = 4096;

/// The methods, for one client or one request of it.
#[derive(Debug, Clone)]
pub(super) struct Handler {
    state: Arc<State>,
    /// The client is told of everything already.
    is_told: Arc<AtomicBool>,
}

type Context = RequestContext<RoleServer>;

impl Handler {
    pub(super) fn new(state: Arc<State>) -> Self {
        Self { state, is_told: Arc::default() }
    }

    /// How long an answer holds, and for whom. A revision without these fields gets none.
    fn cache(&self, context: &Context) -> (Option<u64>, Option<CacheScope>) {
        if is_modern(context) {
            (Some(self.state.manner.ttl_ms()), Some(CacheScope::Private))
        } else {
            (None, None)
        }
    }

    /// Whose answer it is, in every answer of the stateless revision.
    fn meta(&self, context: &Context) -> Option<MetaObject> {
        const KEY: &str = "io.modelcontextprotocol/serverInfo";
        let info = serde_json::to_value(implementation()).ok().filter(|_| is_modern(context))?;
        Some(MetaObject(JsonObject::from_iter([(KEY.to_owned(), info)])))
    }

    fn resources(&self, view: &View) -> Vec<Resource> {
        let library = &view.library;
        let index = Resource::new(address::index(), "skills")
            .with_title("Skills")
            .with_description("Every skill with what it is for, and how to load one.")
            .with_mime_type(mime::MARKDOWN)
            .with_size(index::text(library).len() as u64);
        let skills = library.served().map(|skill| entry::skill_resource(skill, self.state.manner));
        let prompts = library.prompts.iter().map(|prompt| entry::prompt_resource(prompt));
        [index].into_iter().chain(skills).chain(prompts).collect()
    }

    fn child(&self, view: &View, uri: &str) -> Option<Resource> {
        if let Some(skill) = view.slug(uri).and_then(|slug| view.library.skill(slug)) {
            return Some(entry::skill_resource(skill, self.state.manner));
        }
        if view.is_directory(uri) {
            return Some(entry::directory_resource(uri));
        }
        let (listed, file) = view.file(uri)?;
        Some(entry::file_resource(listed, file))
    }

    async fn contents(&self, view: &View, uri: &str) -> Result<ResourceContents, ErrorData> {
        if uri == address::index() {
            let text = index::text(&view.library);
            return Ok(ResourceContents::text(text, uri).with_mime_type(mime::MARKDOWN));
        }
        if let Some(prompt) = address::prompt_name(uri).and_then(|name| view.library.prompt(name)) {
            return Ok(ResourceContents::text(&*prompt.body, uri).with_mime_type(mime::MARKDOWN));
        }
        if let Some((listed, file)) = view.file(uri) {
            return Ok(entry::contents(listed, file));
        }
        // A path is the address of a tool, and no resource.
        let path = view.reference(uri).filter(|path| view.reference_uri(path) == uri);
        let path = path.ok_or_else(|| not_found(uri))?;
        let shared = self.state.source.shared(path).await;
        let shared = shared.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        let shared = shared.ok_or_else(|| not_found(uri))?;
        Ok(ResourceContents::text(shared.body, uri).with_mime_type(mime::of(path, b"")))
    }
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .enable_resources_subscribe()
            .enable_resources_list_changed()
            .enable_prompts()
            .enable_prompts_list_changed()
            .enable_skills_with_directory_read()
            .build();
        let mut info = ServerConfig::new(capabilities);
        info.server_info = implementation();
        info.instructions = Some(INSTRUCTIONS.to_owned());
        info
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: Context,
    ) -> Result<InitializeResult, ErrorData> {
        context.peer.set_peer_info(request.clone());
        let mut result = self.negotiate_initialize(&request)?;
        // A client of an older revision has no stream that news could come on over HTTP.
        if self.state.manner.transport == Transport::Http {
            if let Some(resources) = &mut result.capabilities.resources {
                (resources.subscribe, resources.list_changed) = (None, None);
            }
            if let Some(prompts) = &mut result.capabilities.prompts {
                prompts.list_changed = None;
            }
        }
        Ok(result)
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        // Only behind a handshake does a client expect what it did not ask for, and once.
        let is_legacy = context.peer.peer_info().is_some();
        if self.state.manner.transport == Transport::Pipes
            && is_legacy
            && !self.is_told.swap(true, Ordering::Relaxed)
        {
            let news = self.state.news();
            tokio::spawn(notify::unasked(context.peer, news, self.state.closing.clone()));
        }
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListToolsResult, ErrorData> {
        first_page(request)?;
        let (ttl_ms, cache_scope) = self.cache(&context);
        let all = ListToolsResult::with_all_items(tool::all());
        Ok(ListToolsResult { ttl_ms, cache_scope, meta: self.meta(&context), ..all })
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: Context,
    ) -> Result<CallToolResponse, ErrorData> {
        let mut result = tool::call(&self.state, &request.name, request.arguments).await?;
        result.meta = self.meta(&context);
        Ok(result.into())
    }

    async fn list_skills(
        &self,
        request: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListSkillsResult, ErrorData> {
        first_page(request)?;
        let view = self.state.view();
        let skills = view.library.served().filter_map(|skill| entry::skill(skill, &view)).collect();
        let (ttl_ms, cache_scope) = self.cache(&context);
        let all = ListSkillsResult::with_all_items(skills);
        Ok(ListSkillsResult { ttl_ms, cache_scope, meta: self.meta(&context), ..all })
    }

    async fn get_skill(
        &self,
        request: GetSkillRequestParams,
        context: Context,
    ) -> Result<GetSkillResult, ErrorData> {
        let view = self.state.view();
        let skill = view.slug(&request.uri).and_then(|slug| view.library.skill(slug));
        let skill = skill.and_then(|skill| entry::skill(skill, &view)).ok_or_else(|| {
            let uri = shown(&request.uri);
            ErrorData::invalid_params(format!("there is no skill at `{uri}`; `skills/list` has all"), None)
        })?;
        let mut result = GetSkillResult::new(skill);
        (result.ttl_ms, result.cache_scope) = self.cache(&context);
        result.meta = self.meta(&context);
        Ok(result)
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListResourcesResult, ErrorData> {
        first_page(request)?;
        let (ttl_ms, cache_scope) = self.cache(&context);
        let all = ListResourcesResult::with_all_items(self.resources(&self.state.view()));
        Ok(ListResourcesResult { ttl_ms, cache_scope, meta: self.meta(&context), ..all })
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        first_page(request)?;
        let file = ResourceTemplate::new("skill://{+skill}/{+file}", "skill-file")
            .with_description("A file of a skill, by the skill's slug and the file's path in it.");
        let prompt = ResourceTemplate::new(address::prompt("{name}"), "prompt")
            .with_description("A prompt, by its name.")
            .with_mime_type(mime::MARKDOWN);
        let (ttl_ms, cache_scope) = self.cache(&context);
        let all = ListResourceTemplatesResult::with_all_items(vec![file, prompt]);
        Ok(ListResourceTemplatesResult { ttl_ms, cache_scope, meta: self.meta(&context), ..all })
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: Context,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let contents = self.contents(&self.state.view(), &request.uri).await?;
        let mut result = ReadResourceResult::new(vec![contents]);
        (result.ttl_ms, result.cache_scope) = self.cache(&context);
        result.meta = self.meta(&context);
        Ok(result.into())
    }

    async fn read_resource_directory(
        &self,
        request: ReadResourceDirectoryRequestParams,
        context: Context,
    ) -> Result<ListResourcesResult, ErrorData> {
        if request.cursor.is_some() {
            return Err(no_such_page());
        }
        let view = self.state.view();
        let children = view.directory(&request.uri).ok_or_else(|| {
            let uri = shown(&request.uri);
            ErrorData::invalid_params(format!("there is no directory `{uri}`"), None)
        })?;
        let children = children.iter().filter_map(|uri| self.child(&view, uri)).collect();
        let (ttl_ms, cache_scope) = self.cache(&context);
        let all = ListResourcesResult::with_all_items(children);
        Ok(ListResourcesResult { ttl_ms, cache_scope, meta: self.meta(&context), ..all })
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListPromptsResult, ErrorData> {
        first_page(request)?;
        let view = self.state.view();
        let prompts = view.library.prompts.iter().map(|prompt| entry::prompt(prompt)).collect();
        let (ttl_ms, cache_scope) = self.cache(&context);
        let all = ListPromptsResult::with_all_items(prompts);
        Ok(ListPromptsResult { ttl_ms, cache_scope, meta: self.meta(&context), ..all })
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: Context,
    ) -> Result<GetPromptResponse, ErrorData> {
        let view = self.state.view();
        let prompt = view.library.prompt(&request.name).ok_or_else(|| {
            let name = shown(&request.name);
            ErrorData::invalid_params(format!("there is no prompt `{name}`; `prompts/list` has all"), None)
        })?;
        let mut result = GetPromptResult::new(vec![PromptMessage::new_text(Role::User, &*prompt.body)]);
        result.description.clone_from(&prompt.description);
        result.meta = self.meta(&context);
        Ok(result.into())
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: Context,
    ) -> Result<CustomResult, ErrorData> {
        // What has a known name and came here did not fit it.
        let method = request.method.as_str();
        let is_modern = is_modern(&context);
        if METHODS.contains(&method) || (!is_modern && HANDSHAKE_METHODS.contains(&method)) {
            let why = format!("the parameters of `{method}` are not understood");
            return Err(ErrorData::invalid_params(why, None));
        }
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, shown(method), None))
    }

    // Older revisions only. Over pipes the client is told of everything anyway.
    async fn subscribe(&self, request: SubscribeRequestParams, _: Context) -> Result<(), ErrorData> {
        self.may_subscribe(&request.uri)
    }

    async fn unsubscribe(&self, _: UnsubscribeRequestParams, _: Context) -> Result<(), ErrorData> {
        if self.state.manner.transport == Transport::Http {
            return Err(no_method("resources/unsubscribe"));
        }
        Ok(())
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        let view = self.state.view();
        let mut accepted = requested.clone();
        if let Some(uris) = &mut accepted.resource_subscriptions {
            uris.retain(|uri| view.has(uri));
            uris.truncate(SUBSCRIPTIONS_MAX);
        }
        Some(accepted)
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let news = self.state.news();
        tokio::select! {
            () = context.cancelled() => {}
            () = self.state.closing.cancelled() => {}
            () = notify::asked(context.sink(), news) => {}
        }
        Ok(())
    }
}

/// The methods that this server answers and that need parameters.
const METHODS: [&str; 6] = [
    "prompts/get",
    "resources/directory/read",
    "resources/read",
    "skills/get",
    "subscriptions/listen",
    "tools/call",
];

/// Those that the stateless revision does not have any more.
const HANDSHAKE_METHODS: [&str; 3] = ["initialize", "resources/subscribe", "resources/unsubscribe"];

impl Handler {
    fn may_subscribe(&self, uri: &str) -> Result<(), ErrorData> {
        if self.state.manner.transport == Transport::Http {
            return Err(no_method("resources/subscribe"));
        }
        if self.state.view().has(uri) { Ok(()) } else { Err(not_found(uri)) }
    }
}

const INSTRUCTIONS: &str = "Skills are instructions for particular kinds of tasks. When a task fits the \
    description of one, load it with `read_skill` before you begin. `list_skills` names all of them.";

fn implementation() -> Implementation {
    Implementation::new(super::server_name(), env!("CARGO_PKG_VERSION")).with_title(product::TITLE)
}

fn is_modern(context: &Context) -> bool {
    let version = context.protocol_version();
    version.is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str())
}

/// Every list is one page, so a cursor is none of ours.
fn first_page(request: Option<PaginatedRequestParams>) -> Result<(), ErrorData> {
    if request.is_some_and(|request| request.cursor.is_some()) { Err(no_such_page()) } else { Ok(()) }
}

fn no_such_page() -> ErrorData {
    ErrorData::invalid_params("the cursor is not one that this server gave; the list has one page", None)
}

fn no_method(method: &'static str) -> ErrorData {
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, method, None)
}

fn not_found(uri: &str) -> ErrorData {
    let uri = shown(uri);
    let data = serde_json::json!({ "uri": uri });
    ErrorData::invalid_params(format!("there is no resource `{uri}`"), Some(data))
}

/// As much of a client's word as a message has room for.
fn shown(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(200).collect()
}
