//! One turn of an agent: from the user's words to the agent's last.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use portcullis_model::call::ToolCall;
use portcullis_model::fault::Fault;
use portcullis_model::name::PluginName;
use portcullis_runtime::{CallView as _, Content, Kind, ToolOutput};

use crate::error::RunError;
use crate::gate::{self, Bench, Explanation, Judged, JudgedCall, Judgement, Permit};
use crate::hook::{Event, Happening as _, Rounds};
use crate::host::Host;
use crate::moment::{Circle, Prompted, Ran, Stopped, Told};
use crate::plugin::PluginSet;
use crate::policy::{self, ApprovalRequest, DirectWrites, Opinion, Place, Question, Standing};
use crate::rules::Snapshot;
use crate::session::Session;

/// One turn of an agent. It binds the plugins that were active when it began: a
/// guard that vanishes meanwhile keeps acting, and one that appears acts at once.
#[derive(Debug)]
pub struct Turn {
    host: Host,
    session: String,
    bound: Arc<PluginSet>,
    /// How its end has gone so far.
    rounds: Mutex<BTreeMap<Event, Rounds>>,
    /// What became of the calls that have run, by their ids.
    told: Mutex<BTreeMap<String, Ran>>,
    /// Other processes see other parts of it.
    in_parts: bool,
    direct_writes: Option<Arc<DirectWrites>>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The text of an output.
fn words(output: &ToolOutput) -> String {
    let texts = output.content.iter().filter_map(|part| match part {
        Content::Text(text) => Some(text.as_str()),
        Content::Binary { .. } => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// What went wrong when the plugins were told that a turn has ended. The turn's
/// own answer stands.
#[derive(Debug, Default)]
pub struct EndReport {
    /// The plugins that failed, in order.
    pub failed: Vec<(PluginName, Fault)>,
}

impl Session {
    /// Begins a turn, which binds the plugins as they are now.
    #[must_use]
    pub fn turn(&self) -> Turn {
        self.with_turn(BTreeMap::new(), false)
    }

    /// A turn of which this process sees a part. What hooks said at its end is kept in
    /// the store directory from one part to the next; `begins` forgets it.
    #[must_use]
    pub fn part_of_turn(&self, begins: bool) -> Turn {
        let events = [Event::Stop, Event::SubagentStop].into_iter().filter(|_| !begins);
        let rounds = events.map(|event| (event, self.host().memory().rounds(self.id(), event)));
        self.with_turn(rounds.collect(), true)
    }

    fn with_turn(&self, rounds: BTreeMap<Event, Rounds>, in_parts: bool) -> Turn {
        let host = self.host().clone();
        Turn {
            bound: host.plugins(),
            host,
            session: self.id().to_owned(),
            rounds: Mutex::new(rounds),
            told: Mutex::default(),
            in_parts,
            direct_writes: self.direct_writes(),
        }
    }
}

impl Turn {
    /// Judges a call before it runs. Needs a tokio runtime with its timers on.
    ///
    /// Takes at most 5 s, whatever the guards do; a minute more when hooks are asked
    /// behind them, or as long as one of them may take; as long as the approver is given
    /// when the call needs consent; and 2 s more when other processes keep the ledger busy. Dropping the future is safe: a judgement that was not
    /// waited for is no permit.
    pub async fn judge(&self, call: ToolCall) -> Judgement {
        let now = self.host.snapshot();
        let judged = self.with_consent(self.decided(&now, call).await, &now).await;
        // Written before anybody can act on it.
        let recorder = self.host.recorder();
        recorder.judged(judged, &self.session, &now.plugins.report, now.rules.audit).await
    }

    /// Judges a call and says what each part of the gate made of it. Nothing is
    /// written down, nobody is asked for consent, and the permit is as good as any.
    pub async fn explain(&self, call: ToolCall) -> Explanation {
        let now = self.host.snapshot();
        let judged = self.decided(&now, call).await;
        gate::explain(self.bench(&now), judged).await
    }

    /// The gate's judgement, behind it the hooks', and last the operator's policy.
    async fn decided(&self, now: &Snapshot, call: ToolCall) -> Judged {
        let start = Instant::now();
        let judged = gate::judge(&self.bench(now), &self.session, call).await;
        let mut judged = self.permitted(self.hooked(judged, now).await, now);
        judged.judgement.took = start.elapsed();
        judged
    }

    /// What the hooks make of a call that the gate lets pass.
    async fn hooked(&self, judged: Judged, now: &Snapshot) -> Judged {
        let Some(call) = judged.permitted() else { return judged };
        match self.circle(now).refusal_of(&call).await {
            Some(refusal) => judged.refused(refusal),
            None => judged,
        }
    }

    /// What the operator permits of a call that nobody objects to.
    fn permitted(&self, judged: Judged, now: &Snapshot) -> Judged {
        let policy = &now.rules.policy;
        if self.direct_writes.is_none() && policy.says_nothing() {
            return judged;
        }
        let Some(call) = judged.permitted() else { return judged };
        let tool = now.plugins.tool(call.canonical()).or_else(|| self.bound.tool(call.canonical()));
        let harmless = tool.is_some_and(|(plugin, _)| plugin.guest.setup().grant.write.is_empty());
        let subject = call.subject(self.host.home());
        let outside = self.direct_writes.as_ref().and_then(|paths| paths.objection(&subject, harmless));
        if let Some(refusal) = outside {
            return judged.refused(refusal);
        }
        let place = Place { cwd: call.cwd(), project: self.host.project(), home: self.host.home() };
        let auto_approved = judged.judgement.outcome.as_ref().is_ok_and(Permit::is_auto_approved);
        match policy.opinion(&subject, &Standing { place, auto_approved, harmless }) {
            Opinion::Pass => judged,
            Opinion::Ask(refusal) => judged.without_consent(refusal),
            Opinion::Refuse(refusal) => judged.refused(refusal),
        }
    }

    /// Asks for consent, where that is all that is wanting. Plugins that changed while
    /// somebody thought about it judge the call anew.
    async fn with_consent(&self, judged: Judged, now: &Snapshot) -> Judged {
        let start = Instant::now();
        let (Some((approver, time)), Some((call, unasked))) = (self.host.approver(), judged.wanting()) else {
            return judged;
        };
        let request = ApprovalRequest {
            session_id: &self.session,
            call_id: call.id(),
            tool: call.canonical(),
            agent_tool: call.agent_tool(),
            input: call.input_text(),
            cwd: call.cwd(),
            effects: call.effects(),
            why: &unasked.reason,
        };
        let answer = policy::ask(Question { approver, request, time }, unasked.clone()).await;
        let later = self.host.snapshot();
        let mut judged = match answer {
            Err(refusal) => judged.denied_consent(refusal),
            Ok(()) if now.is(&later) => judged.given_consent(),
            Ok(()) => {
                // Consent is what it does not want once more.
                self.decided(&later, call.original()).await.given_consent()
            }
        };
        judged.judgement.took = judged.judgement.took.saturating_add(start.elapsed());
        judged
    }

    fn circle<'a>(&'a self, now: &'a Snapshot) -> Circle<'a> {
        Circle { host: &self.host, now, bound: Some(&self.bound), session: &self.session }
    }

    /// Asks the hooks at `prompt-submit` about what the user has said, before the model
    /// reads it.
    pub async fn prompt(&self, cwd: &str, text: &str) -> Told<Prompted> {
        for event in [Event::Stop, Event::SubagentStop] {
            // A new turn. Where nothing can be kept, nothing was counted.
            self.keep(event, Rounds::default());
        }
        let now = self.host.snapshot();
        let told = self.circle(&now).told(Event::PromptSubmit, cwd, None, Some(text)).await;
        told.map(|refusal| refusal.map_or(Prompted::HandedOn, Prompted::Withheld))
    }

    /// Asks the hooks at `post-tool-use` about a call that has run, also when it failed;
    /// not about one that was refused. What is told twice, by the call's id, is asked
    /// about once. [`run`](Self::run) does this for the tools that plugins bring.
    pub async fn ran(&self, call: ToolCall, output: &str) -> Told<Ran> {
        let call = gate::ran(call, self.host.home(), &self.session);
        self.looked_at(&call, output).await
    }

    async fn looked_at(&self, call: &Arc<JudgedCall>, output: &str) -> Told<Ran> {
        let id = call.id().to_owned();
        if let Some(known) = locked(&self.told).get(&id).filter(|_| !id.is_empty()) {
            return Told { outcome: known.clone(), runs: Vec::new() };
        }
        let now = self.host.snapshot();
        let circle = self.circle(&now);
        let told = circle.told(Event::PostToolUse, call.cwd_text(), Some(call), Some(output)).await;
        let told = told.map(|refusal| refusal.map_or(Ran::Stands, Ran::Annotated));
        if !id.is_empty() {
            locked(&self.told).insert(id, told.outcome.clone());
        }
        told
    }

    /// Asks the hooks at `stop`, when the agent has said its last words. While one
    /// objects, the agent goes on, up to `hook_defaults.max_turns` times; a hook that
    /// fails does so once a turn. When it ends, call [`end`](Self::end).
    pub async fn stop(&self, cwd: &str, words: Option<&str>) -> Told<Stopped> {
        self.stops(Event::Stop, cwd, words).await
    }

    /// Asks the hooks at `subagent-stop`, when a worker of the agent has said its last
    /// words. As [`stop`](Self::stop), with a count of its own.
    pub async fn subagent_stop(&self, cwd: &str, words: Option<&str>) -> Told<Stopped> {
        self.stops(Event::SubagentStop, cwd, words).await
    }

    async fn stops(&self, event: Event, cwd: &str, words: Option<&str>) -> Told<Stopped> {
        let now = self.host.snapshot();
        let circle = self.circle(&now);
        let mut rounds = self.rounds(event);
        let asked = circle.ask_unless_failed(event, cwd, words, rounds.failed).await;
        rounds.stops = rounds.stops.saturating_add(1);
        let outcome = match &asked.blocked {
            None => Stopped::Ends,
            Some(blocked) => {
                rounds.failed |= blocked.fault.is_some();
                let refusal = blocked.refusal();
                circle.write_down(&refusal, None).await;
                // What cannot be counted has no end, and is not begun.
                if rounds.stops >= now.rules.max_turns || !self.keep(event, rounds) {
                    Stopped::AtTheLimit(refusal)
                } else {
                    Stopped::GoesOn(refusal)
                }
            }
        };
        if !matches!(outcome, Stopped::GoesOn(_)) {
            self.keep(event, Rounds::default());
        }
        Told { outcome, runs: asked.runs }
    }

    fn rounds(&self, event: Event) -> Rounds {
        locked(&self.rounds).get(&event).copied().unwrap_or_default()
    }

    /// Whether it could be kept.
    fn keep(&self, event: Event, rounds: Rounds) -> bool {
        locked(&self.rounds).insert(event, rounds);
        if !self.in_parts {
            return true;
        }
        let kept = self.host.memory().set_rounds(&self.session, event, rounds);
        if let Err(why) = &kept {
            tracing::error!("how often an agent was sent on cannot be counted: {why}");
        }
        kept.is_ok()
    }

    fn bench<'a>(&'a self, now: &'a Snapshot) -> Bench<'a> {
        Bench {
            now: &now.plugins,
            bound: &self.bound,
            known_tools: now.rules.known_tools(),
            lifted: self.host.lifted(&now.plugins),
            home: self.host.home(),
            channel: &now.rules.channel,
            protection: now.rules.protection.as_ref(),
        }
    }

    /// Runs a permitted call of a tool that a plugin brings, and asks the hooks about
    /// the result. The inner error is the tool's own.
    ///
    /// # Errors
    /// When no plugin brings the tool, or the tool misbehaves.
    pub async fn run(&self, permit: Permit) -> Result<Result<ToolOutput, String>, RunError> {
        let now = self.host.plugins();
        let brought = now.tool(permit.tool()).or_else(|| self.bound.tool(permit.tool()));
        let (plugin, _) = brought.ok_or_else(|| RunError::NotAPluginTool(permit.tool().to_owned()))?;
        let call = Arc::clone(permit.call());
        let ran = plugin.guest.call_tool(Arc::clone(&call) as _).await;
        let text = match &ran {
            Ok(Ok(output)) => words(output),
            Ok(Err(error)) => error.clone(),
            Err(fault) => fault.to_string(),
        };
        let looked_at = self.looked_at(&call, &text).await.outcome;
        let mut ran = ran.map_err(|fault| RunError::Fault { plugin: plugin.info.name.clone(), fault })?;
        if let Ran::Annotated(refusal) = looked_at {
            match &mut ran {
                Ok(output) => output.content.push(Content::Text(refusal.reason)),
                Err(error) => *error = format!("{error}\n{}", refusal.reason),
            }
        }
        Ok(ran)
    }

    /// Ends the turn: every plugin that follows turns is told, in order, whatever
    /// the others do.
    pub async fn end(self) -> EndReport {
        self.keep(Event::Stop, Rounds::default());
        let mut report = EndReport::default();
        for plugin in self.bound.plugins().filter(|plugin| plugin.acts_as(Kind::Hook)) {
            if let Err(fault) = plugin.guest.after_turn(&self.session).await {
                tracing::warn!(plugin = %plugin.info.name, "after the turn: {fault}");
                report.failed.push((plugin.info.name.clone(), fault));
            }
        }
        report
    }
}
