//! Tool names: which are known, and which only look as if they were.

use super::table::{TOOLS, Tool};
use super::text::shown;
use super::{Malformed, mcp};

/// The longest name of a tool, in bytes.
const NAME_MAX: usize = 256;

/// Which tool a name means.
#[derive(Debug)]
pub(super) enum Named<'n> {
    /// A row of the table.
    Known(&'static Tool),
    /// A tool of an MCP server.
    Mcp { server: &'n str, tool: &'n str },
    /// A tool that nobody has told the host about.
    Unknown,
}

/// Looks `name` up.
///
/// A name that a person would take for a known one, but that is not, is an
/// error: the agent may be more lenient than we are.
pub(super) fn look_up(name: &str) -> Result<Named<'_>, Malformed> {
    if name.is_empty() {
        return Err(Malformed::new("input/tool-name", "the call names no tool"));
    }
    if name.len() > NAME_MAX {
        return Err(refused(name, "is longer than 256 bytes"));
    }
    if name.trim() != name {
        return Err(refused(name, "begins or ends with white space"));
    }
    if name.chars().any(|c| c.is_control() || is_invisible(c)) {
        return Err(refused(name, "holds characters that cannot be seen"));
    }
    if let Some(tool) = known(name) {
        return Ok(Named::Known(tool));
    }
    match mcp::parse(name) {
        mcp::Parsed::Tool { server, tool } => return Ok(Named::Mcp { server, tool }),
        mcp::Parsed::Broken => {
            return Err(refused(name, "is not a tool of an MCP server: expected `mcp__SERVER__TOOL`"));
        }
        mcp::Parsed::Other => {}
    }
    let folded = fold(name);
    if let Some(tool) = known(&folded) {
        return Err(refused(name, &format!("only looks like a name of the tool `{}`", tool.name)));
    }
    if folded != name.to_ascii_lowercase() && !matches!(mcp::parse(&folded), mcp::Parsed::Other) {
        return Err(refused(name, "only looks like a tool of an MCP server"));
    }
    Ok(Named::Unknown)
}

/// The canonical name of what `name` means, if the host knows it.
pub(super) fn canonical(name: &str) -> Option<String> {
    match look_up(name).ok()? {
        Named::Known(tool) => Some(tool.name.to_owned()),
        Named::Mcp { server, tool } => Some(format!("mcp:{server}/{tool}")),
        Named::Unknown => None,
    }
}

/// Every name of every tool.
pub(super) fn every() -> impl Iterator<Item = &'static str> {
    TOOLS.iter().flat_map(|tool| std::iter::once(tool.name).chain(tool.aliases.iter().copied()))
}

fn known(name: &str) -> Option<&'static Tool> {
    let names = |tool: &'static Tool| std::iter::once(tool.name).chain(tool.aliases.iter().copied());
    TOOLS
        .iter()
        .find(|tool| names(tool).any(|n| n == name))
        .or_else(|| TOOLS.iter().find(|tool| names(tool).any(|n| n.eq_ignore_ascii_case(name))))
}

fn refused(name: &str, what: &str) -> Malformed {
    Malformed::new("input/tool-name", format!("the tool name `{}` {what}", shown(name)))
}

/// Characters that take no room, or that turn the direction of what follows.
const fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{180e}' | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
        | '\u{ffa0}' | '\u{e0000}'..='\u{e0fff}')
}

/// `name` as a hurried reader sees it: lower case, without white space and
/// marks, look-alikes of other scripts as the ASCII characters that they imitate.
fn fold(name: &str) -> String {
    name.chars()
        .filter(|c| !c.is_whitespace() && !is_invisible(*c) && !matches!(c, '\u{300}'..='\u{36f}'))
        .map(|c| look_alike(c).to_ascii_lowercase())
        .collect()
}

/// The ASCII character that `c` imitates, or `c` itself.
fn look_alike(c: char) -> char {
    let ascii =
        |base: u8, offset: u32| u8::try_from(offset).map_or(c, |o| char::from(base.saturating_add(o)));
    let n = u32::from(c);
    match n {
        // Full-width forms keep ASCII's order.
        0xff01..=0xff5e => return ascii(0x21, n - 0xff01),
        // Mathematical letters: runs of A to Z and a to z; digits from 0x1d7ce.
        0x1d400..=0x1d6a3 => {
            let at = (n - 0x1d400) % 52;
            return if at < 26 { ascii(b'A', at) } else { ascii(b'a', at - 26) };
        }
        0x1d7ce..=0x1d7ff => return ascii(b'0', (n - 0x1d7ce) % 10),
        0x24b6..=0x24cf => return ascii(b'A', n - 0x24b6),
        0x24d0..=0x24e9 => return ascii(b'a', n - 0x24d0),
        _ => {}
    }
    LOOK_ALIKES.iter().find(|(_, others)| others.contains(c)).map_or(c, |(plain, _)| *plain)
}

#[rustfmt::skip]
const LOOK_ALIKES: &[(char, &str)] = &[
    ('a', "аαɑàáâãäåāăąǎАΑÀÁÂÃÄÅĀĂĄ"), ('b', "ВΒЬЪвƄ"), ('c', "сϲçćĉċčСϹÇĆĈĊČ"), ('d', "ԁɗďđĎĐ"),
    ('e', "еεèéêëēĕėęěєЕΕÈÉÊËĒĔĖĘĚ"), ('f', "ƒϝ"), ('g', "ɡĝğġģǵ"), ('h', "һнĥħНΗ"),
    ('i', "іιıìíîïĩīĭįІΙÌÍÎÏİ"), ('j', "јϳĵЈ"), ('k', "кκķКΚ"), ('l', "ӏĺļľŀłⅼ"), ('m', "мМΜⅿ"),
    ('n', "пηńņňñΝÑ"), ('o', "оοσòóôõöøōŏőОΟÒÓÔÕÖØ"), ('p', "рρРΡ"), ('q', "ԛ"), ('r', "гŕŗř"),
    ('s', "ѕśŝşšſЅŠ"), ('t', "тτţťŧТΤ"), ('u', "υùúûüũūŭůűų"), ('v', "νѵ"), ('w', "ԝωŵ"),
    ('x', "хχХΧ"), ('y', "уγýÿŷУΥ"), ('z', "źżžΖ"), ('_', "‿⁀"), ('-', "‐‑‒–—−"), (':', "∶ː"), ('/', "∕⁄"),
];
