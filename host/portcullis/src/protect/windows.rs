//! What the commands of PowerShell and `cmd` change.

use portcullis_model::script::Word;

use super::change::{Reach, Touch};

/// Commands that change or remove whatever they name. What they write counts as a
/// name too, and does no harm as one.
const WRITES: &[&str] = &[
    "set-content",
    "sc",
    "add-content",
    "ac",
    "clear-content",
    "clc",
    "out-file",
    "tee-object",
    "new-item",
    "ni",
    "set-item",
    "si",
    "set-itemproperty",
    "sp",
    "export-csv",
    "start-transcript",
];
const REMOVES: &[&str] = &[
    "remove-item",
    "ri",
    "del",
    "erase",
    "rd",
    "rmdir",
    "move-item",
    "mi",
    "move",
    "rename-item",
    "rni",
    "ren",
    "rename",
];
const SPOILS: &[&str] = &["icacls", "attrib", "takeown", "cacls", "set-acl"];
const COPIES: &[&str] = &["copy-item", "cpi", "copy", "xcopy", "robocopy", "expand-archive"];
const FETCHES: &[&str] = &["invoke-webrequest", "iwr", "invoke-restmethod", "irm", "start-bitstransfer"];

/// Everything that the command `name` changes, for a name that no POSIX program has.
pub(super) fn touches(name: &str, words: &[Word]) -> Vec<Touch> {
    let name = name.to_ascii_lowercase();
    let is = |names: &[&str]| names.contains(&name.as_str());
    let all = |words: &[Word], reach: &Reach| -> Vec<Touch> {
        words.iter().map(|word| Touch { word: word.clone(), reach: reach.clone() }).collect()
    };
    if is(WRITES) {
        return all(words, &Reach::Write);
    }
    if is(REMOVES) {
        return all(words, &Reach::Remove(None));
    }
    if is(SPOILS) {
        return all(words, &Reach::Spoil);
    }
    let to = match () {
        () if is(COPIES) => value(words, &["-destination", "-destinationpath"]).or_else(|| words.last()),
        () if is(FETCHES) => value(words, &["-outfile", "-destination"]),
        () => None,
    };
    let Some(to) = to else { return Vec::new() };
    let from = value(words, &["-path", "-literalpath"]).or_else(|| words.first());
    let mut touches = all(std::slice::from_ref(to), &Reach::Write);
    touches.extend(all(std::slice::from_ref(to), &Reach::Become(from.cloned())));
    let inside = from.and_then(|from| from.literal()).and_then(|from| from.rsplit(['/', '\\']).next());
    touches.extend(inside.map(|inside| Touch {
        word: super::arguments::below(to, &Word::Literal(inside.to_owned())),
        reach: Reach::Write,
    }));
    touches
}

/// What stands behind one of the parameters `names`.
fn value<'w>(words: &'w [Word], names: &[&str]) -> Option<&'w Word> {
    let at = words.iter().position(|word| {
        word.literal().is_some_and(|text| names.contains(&text.to_ascii_lowercase().as_str()))
    });
    at.and_then(|at| words.get(at.saturating_add(1)))
}
