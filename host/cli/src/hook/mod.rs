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
use portcullis::runtime::Pulse;

use crate::args::{Arguments, Common, HookArguments, Verb};
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
) -> Exit {
    let shield = Shield::raise();
    let agent: Agent = match verb.agent.parse() {
        Ok(agent) => agent,
        Err(error) => {
            // Nobody knows which dialect to answer in; a non-zero code with words
            // on standard error refuses in most of them.
            let hint = error.near.map(|near| format!("; hint: `--agent {near}`")).unwrap_or_default();
            printer.tell(&format!("error: {error}{hint}"));
            return Exit::Refused;
        }
    };
    let heard = Arc::new(OnceLock::new());
    let deadline = verb.timeout.map_or_else(|| agent.deadline(), Duration::from_secs);
    let failed_with =
        |kind, what: String, command| (failed(agent, &heard, &what, command), Some((kind, what)));
    let late = {
        let (common, environment, printer, seal) = (common.clone(), environment.clone(), *printer, verb.seal);
        let heard = Arc::clone(&heard);
        move || {
            let what = "it took too long";
            let exit = finish(&failed(agent, &heard, what, WAY_OUT), seal, &printer);
            open::note_fault(&common, &environment, Some(agent.as_str()), FaultKind::Timeout, what);
            exit
        }
    };
    let pulse = Pulse::default();
    let work = || answer(agent, common, environment, &shield, &heard, pulse.clone());
    let ended = process::within(deadline, pulse.clone(), late, work);
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
        Ended::NotStarted(error) => {
            failed(FaultKind::Resource, format!("no thread could be started ({error})"))
        }
    };
    let exit = finish(&answer, verb.seal, printer);
    // The agent has its answer by now.
    if let Some((kind, what)) = fault {
        open::note_fault(common, environment, Some(agent.as_str()), kind, &what);
    }
    exit
}

/// Gives the answer, and says behind it that it was one.
fn finish(answer: &HookAnswer, seal: bool, printer: &Printer) -> Exit {
    let exit = give(answer, printer);
    // An answer that did not get out is none.
    if seal && exit != Exit::Refused && printer.line(SEAL).is_err() {
        return Exit::Refused;
    }
    exit
}

/// What is said when there is no answer, by what was heard.
fn failed(agent: Agent, heard: &OnceLock<HookRequest>, what: &str, command: &str) -> HookAnswer {
    let way_out = way_out(command);
    match heard.get() {
        Some(request) => event::failure(agent, request, what, &way_out),
        None => failure(agent, what, &way_out),
    }
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

/// The command line that an installed entry starts, which is read without the parser
/// of all others: making that takes longer than it may.
pub(crate) fn as_installed(arguments: &[String]) -> Option<Arguments> {
    let (agent, seal) = match arguments {
        [_, verb, option, agent] if verb == "hook" && option == "--agent" => (agent, false),
        [_, verb, option, agent, last] if verb == "hook" && option == "--agent" && last == "--seal" => {
            (agent, true)
        }
        _ => return None,
    };
    // Anything else than a name is for the other one to judge.
    agent.bytes().all(|byte| byte.is_ascii_alphanumeric()).then(|| Arguments {
        common: Common::default(),
        verb: Verb::Hook(HookArguments { agent: agent.clone(), seal, timeout: None }),
    })
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
    pulse: Pulse,
) -> anyhow::Result<HookAnswer> {
    let mut payload = Vec::new();
    std::io::stdin().take(PAYLOAD_MAX + 1).read_to_end(&mut payload)?;
    let here = open::workspace(common, environment);
    let request = agent.read_in(&payload, here.as_deref().and_then(Path::to_str))?;
    // Whoever answers when this does not has to know what it was about.
    let request = heard.get_or_init(|| request);
    match &request.event {
        HookEvent::PreToolUse(call) => judge(agent, common, environment, request, call, pulse),
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
    pulse: Pulse,
) -> anyhow::Result<HookAnswer> {
    let mut options = open::options(common, environment, Some(&request.cwd))?;
    options.ledger = open::ledger(common, environment, Some(agent.as_str()));
    options.one_call = Some(pulse);
    let judgement = open::block_on(async {
        let host = portcullis::Host::open(options).await?;
        let turn = host.session(request.session_id.clone()).turn();
        let judgement = turn.judge(call.clone()).await;
        // The process ends with this answer, and ends faster than a host is taken apart.
        std::mem::forget((host, turn));
        anyhow::Ok(judgement)
    })??;
    Ok(request.answer(&judgement.to_wire()))
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::{Arguments, as_installed};

    #[test]
    fn an_installed_entry_is_read_as_every_command_line_is() {
        for line in
            ["hook --agent claude", "hook --agent copilot --seal", "hook --agent nobody", "hook --agent 1"]
        {
            let arguments: Vec<String> =
                ["portcullis"].into_iter().chain(line.split(' ')).map(str::to_owned).collect();
            let (fast, full) =
                (as_installed(&arguments).unwrap(), Arguments::try_parse_from(&arguments).unwrap());
            assert_eq!(format!("{fast:?}"), format!("{full:?}"), "{line}");
        }
    }

    #[test]
    fn every_other_line_is_left_to_the_parser() {
        for line in [
            "hook",
            "hook --agent",
            "hook --agent --help",
            "hook --agent --seal",
            "hook --agent=claude",
            "hook --agent claude --timeout",
            "hook --agent claude --seal --seal",
            "hook --agent claude --no-plugins",
            "hook --seal --agent claude",
            "check --agent claude",
            "-v hook --agent claude",
        ] {
            let arguments: Vec<String> =
                ["portcullis"].into_iter().chain(line.split(' ')).map(str::to_owned).collect();
            assert!(as_installed(&arguments).is_none(), "{line}");
        }
    }
}
