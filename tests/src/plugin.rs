//! Plugins of any mix of kinds, written by hand in the text format: small enough
//! to see at a glance what each of them does.

use crate::guest::lift;

/// A plugin to be built. It does what it is told and nothing else.
#[derive(Debug, Clone)]
pub struct Plugin {
    name: String,
    description: String,
    appendix: Option<String>,
    guard: Option<String>,
    after_turn: Option<String>,
    on_event: String,
    subscriptions: Vec<(String, Option<String>)>,
    tools: Vec<(String, bool)>,
    schema: String,
    serves: Vec<String>,
    always_loaded: bool,
    when_called: String,
    answer: String,
    command: Option<String>,
    on_expand: String,
    /// Texts that bodies may return.
    code: String,
    reason: String,
    fields: String,
    world: String,
}

/// Rings the user's bell: a body for [`Plugin::after_turn`].
pub const BELL: &str = "(call $bell)";

/// Keeps the guest busy for this many seconds of the host's clock.
#[must_use]
pub fn busy(seconds: u32) -> String {
    format!(
        "(call $now (i32.const 512))
         (local.set $until (i64.add (i64.load (i32.const 512)) (i64.const {seconds})))
         (loop $again
           (global.set $next (i32.const 65536))
           (call $now (i32.const 512))
           (br_if $again (i64.lt_s (i64.load (i32.const 512)) (local.get $until))))"
    )
}

impl Plugin {
    /// A plugin that is called `name` and does nothing.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            description: "a plugin of the tests".to_owned(),
            appendix: Some("A plugin of the tests.".to_owned()),
            guard: None,
            after_turn: None,
            on_event: String::new(),
            subscriptions: Vec::new(),
            tools: Vec::new(),
            schema: r#"{"type":"object"}"#.to_owned(),
            serves: Vec::new(),
            always_loaded: false,
            when_called: String::new(),
            answer: "the tool's answer".to_owned(),
            command: None,
            on_expand: String::new(),
            code: "no".to_owned(),
            reason: String::new(),
            fields: String::new(),
            world: String::new(),
        }
    }

    /// Says this of itself.
    #[must_use]
    pub fn description(mut self, text: &str) -> Self {
        text.clone_into(&mut self.description);
        self
    }

    /// Tells the model nothing of itself.
    #[must_use]
    pub fn without_appendix(mut self) -> Self {
        self.appendix = None;
        self
    }

    /// Is a guard that runs `body`, and then raises no objection.
    #[must_use]
    pub fn allows(mut self, body: &str) -> Self {
        self.guard = Some(body.to_owned());
        self
    }

    /// Is a guard that refuses every call.
    #[must_use]
    pub fn refuses(mut self, code: &str, reason: &str) -> Self {
        self.guard = Some("(call $drop (local.get $call)) (return (global.get $refusal))".to_owned());
        code.clone_into(&mut self.code);
        reason.clone_into(&mut self.reason);
        self
    }

    /// Is a hook that runs `body` after each turn, and then succeeds.
    #[must_use]
    pub fn after_turn(mut self, body: &str) -> Self {
        self.after_turn = Some(body.to_owned());
        self
    }

    /// Is a hook that follows `event`, of the calls that the rule means.
    #[must_use]
    pub fn follows(mut self, event: &str, rule: Option<&str>) -> Self {
        self.after_turn.get_or_insert_default();
        self.subscriptions.push((event.to_owned(), rule.map(str::to_owned)));
        self
    }

    /// Runs `body` at each event that it follows, and then has no opinion. The globals
    /// `$fine`, `$approve`, `$block`, `$failed` and `$odd` are answers that it can return;
    /// the last one is none that there is.
    #[must_use]
    pub fn on_event(mut self, body: &str) -> Self {
        body.clone_into(&mut self.on_event);
        self
    }

    /// What it says when it blocks.
    #[must_use]
    pub fn because(mut self, reason: &str) -> Self {
        reason.clone_into(&mut self.reason);
        self
    }

    /// Brings a tool.
    #[must_use]
    pub fn tool(mut self, name: &str, auto_approve: bool) -> Self {
        self.tools.push((name.to_owned(), auto_approve));
        self
    }

    /// What the arguments of its tools have to be.
    #[must_use]
    pub fn schema(mut self, schema: &str) -> Self {
        schema.clone_into(&mut self.schema);
        self
    }

    /// What its tools serve.
    #[must_use]
    pub fn serves(mut self, domains: &[&str]) -> Self {
        self.serves = domains.iter().map(|domain| (*domain).to_owned()).collect();
        self
    }

    /// Its tools are shown in every turn.
    #[must_use]
    pub const fn always_loaded(mut self) -> Self {
        self.always_loaded = true;
        self
    }

    /// Runs `body` when a tool of it is called, and then answers.
    #[must_use]
    pub fn when_called(mut self, body: &str) -> Self {
        body.clone_into(&mut self.when_called);
        self
    }

    /// What its tools answer.
    #[must_use]
    pub fn answers(mut self, text: &str) -> Self {
        text.clone_into(&mut self.answer);
        self
    }

    /// Brings a slash command that expands to `prompt`.
    #[must_use]
    pub fn command(mut self, prompt: &str) -> Self {
        self.command = Some(prompt.to_owned());
        self
    }

    /// What the command does before it answers.
    #[must_use]
    pub fn when_expanded(mut self, body: &str) -> Self {
        body.clone_into(&mut self.on_expand);
        self
    }

    /// More imports of the module.
    #[must_use]
    pub fn fields(mut self, fields: &str) -> Self {
        self.fields.push_str(fields);
        self
    }

    /// More lines of the world, such as imports.
    #[must_use]
    pub fn world(mut self, lines: &str) -> Self {
        self.world.push_str(lines);
        self
    }

    /// The component.
    ///
    /// # Errors
    /// When the text does not parse, or does not fit the contract.
    pub fn build(&self) -> Result<Vec<u8>, String> {
        let kinds = [
            ("guard/guard", self.guard.is_some()),
            ("hook/hook", self.after_turn.is_some()),
            ("tool/tool", !self.tools.is_empty()),
            ("command/command", self.command.is_some()),
        ];
        let exports: String = kinds
            .iter()
            .filter(|(_, has)| *has)
            .map(|(name, _)| format!("export portcullis:{name}@0.1.0;\n"))
            .collect();
        let world = format!(
            "package portcullis:tests;\nworld guest {{\n  include portcullis:plugin/platform@0.1.0;\n  import \
             portcullis:host/event@0.1.0;\n  import portcullis:host/invocation@0.1.0;\n  {}\n  export \
             portcullis:plugin/plugin@0.1.0;\n  {exports}}}\n",
            self.world
        );
        let module = wat::parse_str(self.text()).map_err(|e| e.to_string())?;
        lift(module, &[], &world)
    }

    fn text(&self) -> String {
        let mut memory = Memory::default();
        let info = self.info(&mut memory);
        let mut refusal = vec![0, 1];
        refusal.extend(memory.text(&self.code));
        refusal.extend(memory.text(&self.reason));
        let refusal = memory.words(&refusal);
        let fine = memory.words(&[0; 4]);
        let failed = memory.text("the guest failed");
        let failed = memory.words(&[1, failed[0], failed[1]]);
        let approve = memory.words(&[0, 1, 0, 0]);
        let reason = memory.text(&self.reason);
        let block = memory.words(&[0, 2, reason[0], reason[1]]);
        let odd = memory.words(&[0, 7, 0, 0]);
        let mut functions = String::new();
        if let Some(body) = &self.guard {
            functions.push_str(&format!(
                r#"(func (export "portcullis:guard/guard@0.1.0#before-tool-call") (param $call i32) (result i32)
    (local $until i64)
    (local $stream i32)
    {body}
    (call $drop (local.get $call))
    (i32.const {fine}))
  "#
            ));
        }
        if let Some(body) = &self.after_turn {
            let mut wanted = Vec::new();
            for (event, rule) in &self.subscriptions {
                wanted.extend(memory.text(event));
                let rule = rule.as_deref().map(|rule| memory.text(rule));
                wanted.push(usize::from(rule.is_some()));
                wanted.extend(rule.unwrap_or_default());
            }
            let at = memory.words(&wanted);
            let wanted = memory.words(&[at, self.subscriptions.len()]);
            let body_of_event = &self.on_event;
            functions.push_str(&format!(
                r#"(func (export "portcullis:hook/hook@0.1.0#subscriptions") (result i32) (i32.const {wanted}))
  (func (export "portcullis:hook/hook@0.1.0#on-event") (param $event i32) (result i32)
    (call $drop-occurrence (local.get $event))
    {body_of_event}
    (i32.const {fine}))
  (func (export "portcullis:hook/hook@0.1.0#after-turn") (param i32 i32) (result i32)
    {body}
    (i32.const {fine}))
  "#
            ));
        }
        if !self.tools.is_empty() {
            functions.push_str(&self.tool_functions(&mut memory));
        }
        if let Some(prompt) = &self.command {
            let mut definition = Vec::new();
            definition.extend(memory.text("greet"));
            definition.extend(memory.text("greets"));
            definition.extend([0, 0, 0]);
            let at = memory.words(&definition);
            let list = memory.words(&[at, 1]);
            let prompt = memory.text(prompt);
            let prompt = memory.words(&[0, prompt[0], prompt[1]]);
            let body = &self.on_expand;
            functions.push_str(&format!(
                r#"(func (export "portcullis:command/command@0.1.0#list-commands") (result i32) (i32.const {list}))
  (func (export "portcullis:command/command@0.1.0#expand") (param $invocation i32) (result i32)
    (call $drop-invocation (local.get $invocation))
    {body}
    (i32.const {prompt}))
  "#
            ));
        }
        let fields = &self.fields;
        let imports = self.imports(&functions);
        let data = memory.segment();
        format!(
            r#"(module
  {imports}
  {fields}
  (memory (export "memory") 2)
  (global $next (mut i32) (i32.const 65536))
  (global $refusal i32 (i32.const {refusal}))
  (global $failed i32 (i32.const {failed}))
  (global $fine i32 (i32.const {fine}))
  (global $approve i32 (i32.const {approve}))
  (global $block i32 (i32.const {block}))
  (global $odd i32 (i32.const {odd}))
  {data}
  (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32)
    (local $at i32)
    (local.set $at (i32.and (i32.add (global.get $next) (i32.const 7)) (i32.const -8)))
    (global.set $next (i32.add (local.get $at) (local.get 3)))
    (local.get $at))
  (func (export "portcullis:plugin/plugin@0.1.0#describe") (result i32) (i32.const {info}))
  {functions})
"#
        )
    }

    /// Only what is called, because imports are wishes.
    fn imports(&self, functions: &str) -> String {
        const IMPORTS: &[(&str, &str)] = &[
            (
                "$drop ",
                r#"(import "portcullis:host/call@0.1.0" "[resource-drop]tool-call" (func $drop (param i32)))"#,
            ),
            (
                "$drop-occurrence ",
                r#"(import "portcullis:host/event@0.1.0" "[resource-drop]occurrence" (func $drop-occurrence (param i32)))"#,
            ),
            (
                "$drop-invocation ",
                r#"(import "portcullis:host/invocation@0.1.0" "[resource-drop]invocation" (func $drop-invocation (param i32)))"#,
            ),
            ("$bell)", r#"(import "portcullis:host/terminal@0.1.0" "bell" (func $bell))"#),
            ("$now ", r#"(import "portcullis:host/clock@0.1.0" "now" (func $now (param i32)))"#),
        ];
        IMPORTS
            .iter()
            .filter(|(used, _)| functions.contains(&format!("(call {used}")))
            .map(|(_, import)| *import)
            .collect()
    }

    fn info(&self, memory: &mut Memory) -> usize {
        let mut info = Vec::new();
        for text in [self.name.as_str(), &self.description, "0.0.1"] {
            info.extend(memory.text(text));
        }
        let appendix = self.appendix.as_deref().map(|text| memory.text(text));
        info.push(usize::from(appendix.is_some()));
        info.extend(appendix.unwrap_or_default());
        info.extend([0, 0]);
        memory.words(&info)
    }

    fn tool_functions(&self, memory: &mut Memory) -> String {
        let mut definitions = Vec::new();
        for (name, auto_approve) in &self.tools {
            for text in [name.as_str(), "a tool of the tests", &self.schema] {
                definitions.extend(memory.text(text));
            }
            let domains: Vec<_> = self.serves.iter().flat_map(|domain| memory.text(domain)).collect();
            // The domains; then the two flags, a byte each.
            let flags = usize::from(self.always_loaded) | usize::from(*auto_approve) << 8;
            definitions.extend([memory.words(&domains), self.serves.len(), flags]);
        }
        let at = memory.words(&definitions);
        let list = memory.words(&[at, self.tools.len()]);
        // Not exclusive, read-only, no paths.
        let claims = memory.words(&[1 << 8, 0, 0]);
        let when_called = &self.when_called;
        let answer = memory.text(&self.answer);
        let content = memory.words(&[0, answer[0], answer[1], 0, 0]);
        let output = memory.words(&[0, content, 1, 0]);
        format!(
            r#"(func (export "portcullis:tool/tool@0.1.0#list-tools") (result i32) (i32.const {list}))
  (func (export "portcullis:tool/tool@0.1.0#claims-of") (param $call i32) (result i32)
    (call $drop (local.get $call))
    (i32.const {claims}))
  (func (export "portcullis:tool/tool@0.1.0#call-tool") (param $call i32) (result i32)
    (call $drop (local.get $call))
    {when_called}
    (i32.const {output}))
  "#
        )
    }
}

/// What lies in a guest's memory from the start.
#[derive(Debug, Default)]
struct Memory(Vec<u8>);

impl Memory {
    const START: usize = 1024;

    /// Puts a text there: where it is, and how long.
    fn text(&mut self, text: &str) -> [usize; 2] {
        let at = Self::START + self.0.len();
        self.0.extend_from_slice(text.as_bytes());
        [at, text.len()]
    }

    /// Puts numbers there, in their own right place.
    fn words(&mut self, words: &[usize]) -> usize {
        self.0.resize(self.0.len().next_multiple_of(8), 0);
        let at = Self::START + self.0.len();
        self.0.extend(words.iter().flat_map(|word| u32::try_from(*word).unwrap_or(u32::MAX).to_le_bytes()));
        at
    }

    fn segment(&self) -> String {
        let bytes: String = self.0.iter().map(|byte| format!("\\{byte:02x}")).collect();
        format!("(data (i32.const {}) \"{bytes}\")", Self::START)
    }
}
