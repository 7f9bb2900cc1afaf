//! What the ledger is told of calls that were refused without having been judged.

use portcullis::ledger::{Entry, EntryKind};
use portcullis::model::judgement::{JudgementWire, RefusedBy, RefuserKind, Verdict};

use crate::error::WireError;

/// A call, as far as the ledger wants to know it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Note {
    pub(crate) session: Option<String>,
    pub(crate) call: String,
    pub(crate) tool: String,
}

impl Note {
    /// The refusal of the call.
    pub(crate) fn refused(self, error: &WireError) -> Entry {
        let name = if self.tool.is_empty() { "serve".to_owned() } else { self.tool.clone() };
        let wire = JudgementWire {
            id: self.call,
            verdict: Verdict::Block,
            by: Some(RefusedBy { kind: RefuserKind::Input, name }),
            code: Some(error.code().to_owned()),
            fault: Some(error.fault()),
            reason: Some(format!("Blocked, because {error}.")),
            auto_approved: false,
            micros: 0,
        };
        let tool = Some(self.tool).filter(|tool| !tool.is_empty());
        Entry { session: self.session, tool, ..Entry::judged(EntryKind::Fault, wire) }
    }
}
