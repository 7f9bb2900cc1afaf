use portcullis_sdk::{Call, Guard, Info, Plugin, Refusal, Verdict, export_plugin};

struct NoScp;

impl Plugin for NoScp {
    fn describe() -> Info {
        Info::new("no-scp", "Keeps files on this machine.")
            .appendix("The no-scp plugin refuses `scp`. Ask the user to copy the file.")
    }
}

impl Guard for NoScp {
    fn before_tool_call(call: &Call<'_>) -> Verdict {
        let scp = call.commands().find(|command| command.program() == Some("scp"));
        Ok(scp.map(|command| Refusal::new(format!("refusing {:?}", command.source)).code("scp")))
    }
}

export_plugin!(NoScp: guard);
