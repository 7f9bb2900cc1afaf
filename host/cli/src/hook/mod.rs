//! `portcullis hook`: an agent's hook payload in, the agent's dialect out.

mod event;

use std::io::Read as _;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use portcullis::agent::{Agent, HookAnswer, HookEvent, HookInputError, HookRequest};
use portcullis::install::SEAL;
use portcullis::model::call::ToolCall;
use portcullis::model::fault::FaultKind;

use crate::args::{Common, HookArguments};
use crate::environment::Environment;
use crate::exit::Exit;
use crate::open;
use crate::printer::Printer;
use crate::process::{self, Ended, Shield};

/// The most bytes of a payload that are read. One that is longer is refused.
const PAYLOAD_MAX: u64 = 16 << 20;

pub(crate) fn run(
    common: &Common,
    verb: &HookArguments,
    environment: &Environment,
    printer: &Printer,
) -> anyhow::Result<Exit> {
    let shield = Shield::raise();
    let agent: Agent = match verb.agent.parse() {
        Ok(agent) => agent,
        Err(error) => {
            // Nobody knows which dialect to answer in; a non-zero code with words
            // on standard error refuses in most of them.
            let hint = error.near.map(|near| format!("; hint: `--agent {near}`")).unwrap_or_default();
            printer.tell(&format!("error: {error}{hint}"));
            return Ok(Exit::Refused);
        }
    };
    let own = (common.clone(), environment.clone());
    let heard = Arc::new(OnceLock::new());
    let own_heard = Arc::clone(&heard);
    let deadline = verb.timeout.map_or_else(|| agent.deadline(), Duration::from_secs);
    let ended = process::within(deadline, move || {
        let (common, environment) = own;
        answer(agent, &common, &environment, &shield, &own_heard)
    });
    let failed_with = |kind, what: String, command| {
        let way_out = way_out(command);
        let answer = match heard.get() {
            Some(request) => event::failure(agent, request, &what, &way_out),
            None => failure(agent, &what, &way_out),
        };
        (answer, Some((kind, what)))
    };
    let failed = |kind, what| failed_with(kind, what, WAY_OUT);
    let (answer, fault) = match ended {
        Ended::Answered(Ok(answer)) => (answer, None),
        Ended::Answered(Err(error)) if error.is::<HookInputError>() => {
            let what = open::for_model(&error);
            (failure(agent, &what, WAY_OUT_OF_A_PAYLOAD), Some((FaultKind::BadInput, what)))
        }
        Ended::Answered(Err(error)) => {
            failed_with(FaultKind::Internal, open::for_model(&error), open::way_out(&error))
        }
        Ended::Panicked => failed(FaultKind::Internal, "it failed inside".to_owned()),
        Ended::Late => failed(FaultKind::Timeout, "it took too long".to_owned()),
        Ended::NotStarted(error) => {
            failed(FaultKind::Resource, format!("no thread could be started ({error})"))
        }
    };
    let mut exit = give(&answer, printer);
    // An answer that did not get out is none.
    if verb.seal && exit != Exit::Refused && printer.line(SEAL).is_err() {
        exit = Exit::Refused;
    }
    // The agent has its answer by now.
    if let Some((kind, what)) = fault {
        open::note_fault(common, environment, Some(agent.as_str()), kind, &what);
    }
    Ok(exit)
}

fn failure(agent: Agent, what: &str, way_out: &str) -> HookAnswer {
    agent.failure(&format!("Portcullis could not judge this call: {what}. {way_out}"))
}

fn give(answer: &HookAnswer, printer: &Printer) -> Exit {
    printer.tell_raw(&answer.stderr);
    if printer.raw(&answer.stdout).is_err() {
        // An agent that cannot hear a JSON answer may still see the exit code.
        return Exit::Refused;
    }
    Exit::Agent(answer.exit_code)
}

/// The agent of a command line that is meant for `hook` and does not parse. Most
/// agents run the call when their hook ends with any code but 2, so such a hook
/// has to answer too.
pub(crate) fn misspelt(arguments: &[String]) -> Option<Option<Agent>> {
    if !arguments.iter().skip(1).any(|argument| argument == "hook") {
        return None;
    }
    let after = arguments.iter().skip_while(|argument| *argument != "--agent").nth(1);
    let joined = arguments.iter().find_map(|argument| argument.strip_prefix("--agent="));
    Some(after.map(String::as_str).or(joined).and_then(|name| name.parse().ok()))
}

/// Refuses in the dialect of `agent`, or by the exit code alone when nobody knows it.
pub(crate) fn fail(agent: Option<Agent>, what: &str, printer: &Printer) -> Exit {
    agent.map_or(Exit::Refused, |agent| give(&failure(agent, what, &way_out(WAY_OUT)), printer))
}

const WAY_OUT: &str = "portcullis plugin list";

fn way_out(command: &str) -> String {
    format!("This is a fault and not a decision. Ask the user to run `{command}`.")
}

const WAY_OUT_OF_A_PAYLOAD: &str = "This is a fault and not a decision. Ask the user to check for which agent and event the hook is installed.";

fn answer(
    agent: Agent,
    common: &Common,
    environment: &Environment,
    shield: &Shield,
    heard: &OnceLock<HookRequest>,
) -> anyhow::Result<HookAnswer> {
    let mut payload = Vec::new();
    std::io::stdin().take(PAYLOAD_MAX + 1).read_to_end(&mut payload)?;
    let here = open::workspace(common, environment);
    let request = agent.read_in(&payload, here.as_deref().and_then(Path::to_str))?;
    // Whoever answers when this does not has to know what it was about.
    let request = heard.get_or_init(|| request);
    match &request.event {
        HookEvent::PreToolUse(call) => judge(agent, common, environment, request, call),
        HookEvent::PromptSubmit { .. } => event::answer(agent, common, environment, request),
        HookEvent::Other(_) => {
            shield.lower();
            Ok(request.no_objection())
        }
        HookEvent::SessionStart
        | HookEvent::PostToolUse { .. }
        | HookEvent::SubagentStop(_)
        | HookEvent::Stop(_)
        | HookEvent::PreCompact
        | HookEvent::SessionEnd => {
            // An abort would be taken for an objection.
            shield.lower();
            event::answer(agent, common, environment, request)
        }
    }
}

fn judge(
    agent: Agent,
    common: &Common,
    environment: &Environment,
    request: &HookRequest,
    call: &ToolCall,
) -> anyhow::Result<HookAnswer> {
    let mut options = open::options(common, environment, Some(&request.cwd))?;
    options.ledger = open::ledger(common, environment, Some(agent.as_str()));
    let judgement = open::block_on(async {
        let host = portcullis::Host::open(options).await?;
        anyhow::Ok(host.session(request.session_id.clone()).turn().judge(call.clone()).await)
    })??;
    Ok(request.answer(&judgement.to_wire()))
}
