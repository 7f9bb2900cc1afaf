//! What is written of one event, before it has its place in the chain.

use portcullis_model::call::Effect;
use portcullis_model::fault::FaultKind;
use portcullis_model::judgement::{JudgementWire, RefusedBy, Verdict};
use serde::{Deserialize, Serialize};

use super::redact::Redactor;

/// The longest line, its end included, in bytes.
pub const LINE_MAX: usize = 16 << 10;
/// Names, ids and words, in bytes of JSON.
const WORD_MAX: usize = 256;
/// One effect.
const EFFECT_MAX: usize = 240;
/// Effects of one call; of the others only their number is told.
const EFFECTS_MAX: usize = 12;
/// Plugins of one set.
const PLUGINS_MAX: usize = 24;
/// Each word of a plugin of a set. A digest has 64.
const PLUGIN_WORD_MAX: usize = 96;
const REASON_MAX: usize = 4 << 10;
/// Capabilities of one entry, and each of them.
pub(crate) const CAPABILITIES_MAX: usize = 90;
const CAPABILITY_MAX: usize = 96;

/// What sort of event an entry tells of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EntryKind {
    /// The gate judged a call.
    #[default]
    Judgement,
    /// A call was refused before it reached the gate.
    Fault,
    /// Other plugins act than before: a new epoch.
    Plugins,
    /// Other capabilities are there than before, in a host that runs.
    Capabilities,
    /// A turn began in which a model is told what it can use.
    Turn,
    /// Somebody typed a command, and a model is asked what it stands for.
    Command,
    /// A hook objected at an event that is no call.
    Hook,
    /// Somebody changed what is trusted.
    Trust,
    /// Somebody changed the configuration.
    Config,
    /// A host was opened with every plugin turned off.
    NoPlugins,
    /// An operator lifted a standing refusal for a time.
    BreakGlass,
    /// Entries before this one could not be written.
    Lost,
    /// What a writer left that did not finish stands before this line.
    Torn,
}

impl EntryKind {
    /// The stable word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Judgement => "judgement",
            Self::Fault => "fault",
            Self::Plugins => "plugins",
            Self::Capabilities => "capabilities",
            Self::Turn => "turn",
            Self::Command => "command",
            Self::Hook => "hook",
            Self::Trust => "trust",
            Self::Config => "config",
            Self::NoPlugins => "no-plugins",
            Self::BreakGlass => "break-glass",
            Self::Lost => "lost",
            Self::Torn => "torn",
        }
    }
}

/// One event. What is not known stays away from the line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Entry {
    /// What sort of event.
    pub kind: EntryKind,
    /// The agent's session.
    pub session: Option<String>,
    /// Which agent; none takes that of the ledger.
    pub agent: Option<String>,
    /// The agent's id for the call.
    pub call: Option<String>,
    /// The tool as the agent spells it.
    pub tool: Option<String>,
    /// The tool's canonical name.
    pub canonical: Option<String>,
    /// What the call does.
    pub effects: Vec<Effect>,
    /// May it run?
    pub verdict: Option<Verdict>,
    /// Who refused.
    pub by: Option<RefusedBy>,
    /// The stable word of the refusal.
    pub code: Option<String>,
    /// The failure's class when it is no decision.
    pub fault: Option<FaultKind>,
    /// What the model was told, or what happened.
    pub reason: Option<String>,
    /// How long the judgement took, in microseconds.
    pub micros: Option<u64>,
    /// Which set of plugins judged: the beginning of its digest.
    pub epoch: Option<String>,
    /// The plugins of a new set.
    pub plugins: Vec<PluginEntry>,
    /// What became of the capabilities. The plugins are left out beside it.
    pub changes: Option<ChangesEntry>,
    /// The digest of the configuration.
    pub config: Option<String>,
}

/// What became of the capabilities of an epoch.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangesEntry {
    /// The epoch before, as it was written; none when everything is told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<u64>,
    /// The epoch now.
    pub to: u64,
    /// What is new, as `kind:name`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub added: Vec<String>,
    /// What is gone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub removed: Vec<String>,
    /// What is there and is not as it was.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<String>,
    /// The next entry of this kind goes on.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub more: bool,
}

/// One plugin of a set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PluginEntry {
    /// Its name.
    pub name: String,
    /// How it stands.
    pub state: String,
    /// Where it came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The digest of its component.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
}

/// What stands before the line that tells of it, and is no entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TornBytes {
    /// How many bytes, with the line end that was put behind them.
    pub bytes: u64,
    /// Their SHA-256.
    pub sha256: String,
}

impl Entry {
    /// An event of `kind`, with what happened in words.
    #[must_use]
    pub fn new(kind: EntryKind, reason: impl Into<String>) -> Self {
        Self { kind, reason: Some(reason.into()), ..Self::default() }
    }

    /// What became of a call. The rest of what is known of it is added by hand.
    #[must_use]
    pub fn judged(kind: EntryKind, wire: JudgementWire) -> Self {
        let JudgementWire { id, verdict, by, code, fault, reason, micros, .. } = wire;
        Self {
            kind,
            call: Some(id),
            verdict: Some(verdict),
            by,
            code,
            fault,
            reason,
            micros: Some(micros),
            ..Self::default()
        }
    }

    /// Without secrets, and with every text as short as its place allows.
    pub(super) fn prepare(self, redactor: &Redactor) -> Prepared {
        let text = |text: &str, max| fit(&redactor.clean(text, max), max);
        let word =
            |word: Option<String>| word.filter(|word| !word.is_empty()).map(|word| text(&word, WORD_MAX));
        let left_out = |all: usize, max: usize| Some(all.saturating_sub(max)).filter(|left| *left > 0);
        let effects = self.effects.iter().take(EFFECTS_MAX);
        let effects = effects.map(|effect| text(&format!("{}: {}", effect.kind, effect.target), EFFECT_MAX));
        let changes = self.changes.map(|changes| {
            let mut room = CAPABILITIES_MAX;
            let mut short = |ids: Vec<String>| {
                let ids: Vec<_> = ids.iter().take(room).map(|id| fit(id, CAPABILITY_MAX)).collect();
                room -= ids.len();
                ids
            };
            ChangesEntry {
                added: short(changes.added),
                removed: short(changes.removed),
                changed: short(changes.changed),
                ..changes
            }
        });
        let shown = if changes.is_some() { 0 } else { PLUGINS_MAX };
        let plugins = self.plugins.iter().take(shown).map(|plugin| PluginEntry {
            name: fit(&plugin.name, PLUGIN_WORD_MAX),
            state: fit(&plugin.state, PLUGIN_WORD_MAX),
            from: plugin.from.as_ref().map(|from| fit(from, PLUGIN_WORD_MAX)),
            digest: plugin.digest.as_ref().map(|digest| fit(digest, PLUGIN_WORD_MAX)),
        });
        Prepared {
            kind: self.kind,
            agent: word(self.agent),
            session: word(self.session),
            call: word(self.call),
            tool: word(self.tool),
            canonical: word(self.canonical),
            effects: effects.collect(),
            effects_left_out: left_out(self.effects.len(), EFFECTS_MAX),
            verdict: self.verdict,
            by: self.by.map(|by| RefusedBy { name: text(&by.name, WORD_MAX), ..by }),
            code: word(self.code),
            fault: self.fault,
            reason: self.reason.map(|reason| text(&reason, REASON_MAX)),
            micros: self.micros,
            epoch: word(self.epoch),
            config: word(self.config),
            changes,
            plugins: plugins.collect(),
            plugins_left_out: left_out(self.plugins.len(), PLUGINS_MAX),
            torn: None,
        }
    }
}

/// The part of a line that its writer brings; the names and their order are the
/// file's.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct Prepared {
    pub(super) kind: EntryKind,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) agent: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    call: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    canonical: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    effects: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    effects_left_out: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<Verdict>,
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<RefusedBy>,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fault: Option<FaultKind>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    micros: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    epoch: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    config: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    changes: Option<ChangesEntry>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    plugins: Vec<PluginEntry>,
    #[serde(skip_serializing_if = "Option::is_none")]
    plugins_left_out: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    torn: Option<TornBytes>,
}

impl Prepared {
    /// The entry that says what stands before it.
    pub(super) fn torn(torn: TornBytes) -> Self {
        let reason = "A writer did not finish the line before this one; it stays as it is.".to_owned();
        Self { kind: EntryKind::Torn, reason: Some(reason), torn: Some(torn), ..Self::default() }
    }
}

/// `text`, or its beginning with a mark, in at most `max` bytes of JSON.
fn fit(text: &str, max: usize) -> String {
    const MARK: &str = "…";
    let mut size = 0;
    let mut cut = 0;
    for (at, c) in text.char_indices() {
        size += match c {
            '"' | '\\' => 2,
            c if c.is_control() => 6,
            c => c.len_utf8(),
        };
        if size + MARK.len() <= max {
            cut = at + c.len_utf8();
        }
        if size > max {
            return format!("{}{MARK}", text.get(..cut).unwrap_or_default());
        }
    }
    text.to_owned()
}

#[cfg(test)]
mod tests {
    use portcullis_model::call::{Effect, EffectKind};
    use portcullis_model::judgement::{RefusedBy, RefuserKind};
    use proptest::prelude::*;

    use super::{Entry, EntryKind, LINE_MAX, PluginEntry, fit};
    use crate::ledger::redact::Redactor;

    /// What a line has around what its writer brings: numbers, a time, two digests.
    const AROUND: usize = 512;

    #[test]
    fn the_longest_entry_fits_into_a_line() {
        let long = "\u{1}".repeat(20_000);
        let text = || Some(long.clone());
        let entry = Entry {
            kind: EntryKind::Judgement,
            session: text(),
            agent: text(),
            call: text(),
            tool: text(),
            canonical: text(),
            effects: vec![Effect::new(EffectKind::Delete, &long); 100],
            by: Some(RefusedBy { kind: RefuserKind::Standing, name: long.clone() }),
            code: text(),
            reason: text(),
            micros: Some(u64::MAX),
            epoch: text(),
            ..Entry::default()
        };
        let size = |entry: Entry| serde_json::to_vec(&entry.prepare(&Redactor::default())).unwrap().len();
        let judged = size(entry);
        assert!((8_000..LINE_MAX - AROUND).contains(&judged), "{judged}");
        let plugin =
            PluginEntry { name: "n".repeat(64), state: "s".repeat(20), from: text(), digest: text() };
        let plugins = size(Entry { reason: text(), plugins: vec![plugin; 100], ..Entry::default() });
        assert!((8_000..LINE_MAX - AROUND).contains(&plugins), "{plugins}");
    }

    #[test]
    fn effects_that_are_left_out_are_counted() {
        let effects = vec![Effect::new(EffectKind::Write, "/a"); 15];
        let line = serde_json::to_value(Entry { effects, ..Entry::default() }.prepare(&Redactor::default()));
        let line = line.unwrap();
        assert_eq!((line["effects"].as_array().unwrap().len(), &line["effects_left_out"]), (12, &3.into()));
    }

    proptest! {
        #[test]
        fn a_text_is_cut_at_a_character_with_a_mark(text in "\\PC{0,80}|[\\x00-\\x7f]{0,80}", max in 3_usize..120) {
            let short = fit(&text, max);
            let size = serde_json::to_string(&short).unwrap().len() - 2;
            prop_assert!(size <= max, "{size} > {max}: {short:?}");
            prop_assert!(short == text || text.starts_with(short.strip_suffix('…').unwrap()));
        }
    }
}
