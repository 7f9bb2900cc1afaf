//! What a few harmless commands write, worked out without running them.

use crate::{escape::decode_all, expand::Field, text::Text};

/// What the command writes to its standard output, when that is known.
pub(crate) fn output(name: &str, arguments: &[Field], feed: Option<Text>) -> Option<Text> {
    match name {
        "echo" => echo(arguments),
        "printf" => printf(arguments),
        "true" | ":" | "export" | "set" | "cd" | "shopt" => Some(Text::default()),
        "cat" | "tee" => match arguments {
            [] => feed,
            [only] if only.known() == Some("-") => feed,
            [file] if name == "cat" => file.file.clone(),
            _ if name == "tee" => feed,
            _ => None,
        },
        "base64" | "gbase64" => {
            let decodes =
                arguments.iter().any(|field| matches!(field.known(), Some("-d" | "-D" | "--decode" | "-di")));
            let plain = arguments.iter().all(|field| field.known().is_some_and(|text| text.starts_with('-')));
            if decodes && plain { base64(feed?.as_known()?).map(Text::known) } else { None }
        }
        "xxd" => {
            let letters: String =
                arguments.iter().map(|field| field.known()?.strip_prefix('-')).collect::<Option<String>>()?;
            if letters.contains('r') && letters.contains('p') {
                hex(feed?.as_known()?).map(Text::known)
            } else {
                None
            }
        }
        "rev" if arguments.is_empty() => {
            let feed = feed?;
            let lines: Vec<String> =
                feed.as_known()?.lines().map(|line| line.chars().rev().collect()).collect();
            Some(Text::known(lines.join("\n")))
        }
        _ => None,
    }
}

fn echo(arguments: &[Field]) -> Option<Text> {
    let mut rest = arguments;
    let mut newline = true;
    let mut escapes = false;
    while let Some((first, others)) = rest.split_first() {
        let Some(letters) = first.known().and_then(|text| text.strip_prefix('-')) else { break };
        if letters.is_empty() || !letters.chars().all(|c| matches!(c, 'n' | 'e' | 'E')) {
            break;
        }
        newline &= !letters.contains('n');
        escapes |= letters.contains('e');
        rest = others;
    }
    let mut out = Text::default();
    for (index, field) in rest.iter().enumerate() {
        if index > 0 {
            out.push_str(" ");
        }
        if escapes {
            out.push_str(&decode_all(field.known()?));
        } else {
            out.push(&field.text);
        }
    }
    if newline {
        out.push_str("\n");
    }
    Some(out)
}

fn printf(arguments: &[Field]) -> Option<Text> {
    let arguments = match arguments.split_first() {
        Some((first, rest)) if first.known() == Some("--") => rest,
        _ => arguments,
    };
    let (format, values) = arguments.split_first()?;
    let format = format.known()?;
    let mut values = values.iter();
    let mut out = Text::default();
    loop {
        let before = values.len();
        once(format, &mut values, &mut out)?;
        // The format is used again while it takes values and some are left.
        if values.len() == 0 || values.len() == before {
            return Some(out);
        }
    }
}

fn once(format: &str, values: &mut std::slice::Iter<'_, Field>, out: &mut Text) -> Option<()> {
    let mut rest = format;
    while let Some(at) = rest.find('%') {
        out.push_str(&decode_all(rest.get(..at)?));
        let mut directive = rest.get(at + 1..)?.chars();
        match directive.next()? {
            '%' => out.push_str("%"),
            's' | 'd' | 'i' | 'u' => {
                if let Some(field) = values.next() {
                    out.push(&field.text);
                }
            }
            'b' => {
                if let Some(field) = values.next() {
                    out.push_str(&decode_all(field.known()?));
                }
            }
            _ => return None,
        }
        rest = directive.as_str();
    }
    out.push_str(&decode_all(rest));
    Some(())
}

/// `None` when the text is not base64, or decodes to something that is no text.
fn base64(text: &str) -> Option<String> {
    String::from_utf8(base64_bytes(text)?).ok()
}

/// Base64 of UTF-16, as PowerShell takes it.
pub(crate) fn utf16(text: &str) -> Option<String> {
    let bytes = base64_bytes(text)?;
    let units: Vec<u16> = bytes
        .chunks_exact(2)
        .map(|pair| pair.iter().rev().fold(0, |unit, byte| (unit << 8) | u16::from(*byte)))
        .collect();
    String::from_utf16(&units).ok()
}

fn base64_bytes(text: &str) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len() / 4 * 3);
    let mut bits: u32 = 0;
    let mut held = 0;
    for byte in text.bytes() {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            b'=' => break,
            _ if byte.is_ascii_whitespace() => continue,
            _ => return None,
        };
        bits = (bits << 6) | u32::from(value);
        held += 6;
        if held >= 8 {
            held -= 8;
            out.push(u8::try_from((bits >> held) & 0xff).ok()?);
        }
    }
    Some(out)
}

fn hex(text: &str) -> Option<String> {
    let digits: Option<Vec<u8>> = text
        .bytes()
        .filter(|byte| !byte.is_ascii_whitespace())
        .map(|byte| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok()))
        .collect();
    let bytes =
        digits?.chunks_exact(2).map(|pair| pair.iter().fold(0, |byte, digit| (byte << 4) | digit)).collect();
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::{base64, hex};

    #[test]
    fn texts_are_decoded() {
        assert_eq!(base64("cm0gLXJmIHNyYwo=").as_deref(), Some("rm -rf src\n"));
        assert_eq!(base64("not base64!"), None);
        assert_eq!(hex("726d 202d7266").as_deref(), Some("rm -rf"));
    }
}
