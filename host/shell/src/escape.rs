//! Backslash escapes, as `$'...'`, `echo -e` and `printf` read them.

/// Who reads the text, because they differ in small ways.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reader {
    /// `$'...'`: `\x{72}` is known as well.
    Quote,
    /// `echo -e` and `printf`.
    Echo,
    /// An interpreter: `\x{72}` and `\u{72}` are known as well.
    Code,
}

/// Decodes one escape from what follows its backslash; says how many bytes it took,
/// which never ends inside a character. An unknown escape keeps its backslash.
pub(crate) fn decode(rest: &[u8], reader: Reader, out: &mut Vec<u8>) -> usize {
    let Some(first) = rest.first().copied() else {
        out.push(b'\\');
        return 0;
    };
    let simple = match first {
        b'a' => 0x07,
        b'b' => 0x08,
        b'e' | b'E' => 0x1b,
        b'f' => 0x0c,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'v' => 0x0b,
        b'\\' | b'\'' | b'"' | b'?' => first,
        b'0'..=b'7' => return number(rest, 0, 3, 8, out, false),
        b'x' if reader != Reader::Echo && rest.get(1) == Some(&b'{') => return braced(rest, out, false),
        b'u' if reader == Reader::Code && rest.get(1) == Some(&b'{') => return braced(rest, out, true),
        b'x' => return number(rest, 1, 2, 16, out, false),
        b'u' => return number(rest, 1, 4, 16, out, true),
        b'U' => return number(rest, 1, 8, 16, out, true),
        b'c' => {
            let Some(letter) = rest.get(1) else {
                out.extend(b"\\c");
                return 1;
            };
            out.push(letter & 0x1f);
            let doubled = reader == Reader::Quote && rest.get(1..3) == Some(br"\\");
            return 1 + if doubled { 2 } else { width(*letter) };
        }
        _ => {
            out.push(b'\\');
            return 0;
        }
    };
    out.push(simple);
    1
}

/// Decodes a whole text, as `echo -e` and `printf` do.
pub(crate) fn decode_all(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at).copied() {
        at += 1;
        if byte != b'\\' {
            out.push(byte);
            continue;
        }
        // `\0nnn` is how echo writes an octal number.
        if bytes.get(at) == Some(&b'0') && bytes.get(at + 1).is_some_and(|b| matches!(b, b'0'..=b'7')) {
            at += 1;
        }
        at += decode(bytes.get(at..).unwrap_or_default(), Reader::Echo, &mut out);
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// The bytes of the character that begins with `lead`.
const fn width(lead: u8) -> usize {
    match lead.leading_ones() {
        0 | 1 => 1,
        ones => ones as usize,
    }
}

/// `x{72}` or `u{72}`; the brace at the end may be missing, and without a digit the
/// number is zero.
fn braced(rest: &[u8], out: &mut Vec<u8>, unicode: bool) -> usize {
    let digits = rest.iter().skip(2).take_while(|b| b.is_ascii_hexdigit()).count();
    if digits == 0 {
        out.push(0);
    } else {
        number(rest, 2, digits, 16, out, unicode);
    }
    2 + digits + usize::from(rest.get(2 + digits) == Some(&b'}'))
}

fn number(rest: &[u8], skip: usize, digits: usize, radix: u32, out: &mut Vec<u8>, unicode: bool) -> usize {
    let mut value: u32 = 0;
    let mut taken = 0;
    for digit in rest.iter().skip(skip).take(digits).map_while(|b| char::from(*b).to_digit(radix)) {
        value = value.wrapping_mul(radix).wrapping_add(digit);
        taken += 1;
    }
    if taken == 0 {
        out.push(b'\\');
        return 0;
    }
    if unicode {
        let mut buffer = [0; 4];
        let c = char::from_u32(value).unwrap_or(char::REPLACEMENT_CHARACTER);
        out.extend(c.encode_utf8(&mut buffer).bytes());
    } else {
        out.push(value.to_le_bytes().first().copied().unwrap_or_default());
    }
    skip + taken
}

#[cfg(test)]
mod tests {
    use super::{Reader, decode, decode_all};

    #[test]
    fn each_kind_of_escape_is_decoded() {
        for (text, expected) in [
            (r"\x72m", "rm"),
            (r"\162m", "rm"),
            (r"\0162m", "rm"),
            (r"\u0072m", "rm"),
            (r"\U00000072m", "rm"),
            (r"a\nb", "a\nb"),
            (r"\q", r"\q"),
            (r"\", r"\"),
            (r"\x", r"\x"),
            (r"\x{72}", r"\x{72}"),
        ] {
            assert_eq!(decode_all(text), expected, "{text}");
        }
    }

    #[test]
    fn each_reader_knows_its_own_escapes() {
        for (reader, rest, taken, expected) in [
            (Reader::Quote, "x{72}m", 5, "r"),
            (Reader::Quote, "x{4172m", 6, "r"),
            (Reader::Quote, "x{}m", 3, "\0"),
            (Reader::Quote, r"c\\m", 3, "\u{1c}"),
            (Reader::Quote, "u{72}", 0, "\\"),
            (Reader::Code, "u{72}m", 5, "r"),
            (Reader::Echo, r"c\\m", 2, "\u{1c}"),
        ] {
            let mut out = Vec::new();
            assert_eq!(decode(rest.as_bytes(), reader, &mut out), taken, "{rest}");
            assert_eq!(String::from_utf8(out).as_deref(), Ok(expected), "{rest}");
        }
    }

    #[test]
    fn an_escape_ends_between_two_characters() {
        for rest in ["cé", "c漢", "c🦀", "c\u{7ff}x"] {
            let taken = decode(rest.as_bytes(), Reader::Code, &mut Vec::new());
            assert!(rest.is_char_boundary(taken) && taken > 1, "{rest}: {taken}");
        }
    }
}
