//! Backslash escapes, as `$'...'`, `echo -e` and `printf` read them.

/// Decodes one escape from what follows its backslash; says how many bytes it took.
/// An unknown escape keeps its backslash.
pub(crate) fn decode(rest: &[u8], out: &mut Vec<u8>) -> usize {
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
        b'x' => return number(rest, 1, 2, 16, out, false),
        b'u' => return number(rest, 1, 4, 16, out, true),
        b'U' => return number(rest, 1, 8, 16, out, true),
        b'c' => {
            let Some(letter) = rest.get(1) else {
                out.extend(b"\\c");
                return 1;
            };
            out.push(letter & 0x1f);
            return 2;
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
        at += decode(bytes.get(at..).unwrap_or_default(), &mut out);
    }
    String::from_utf8_lossy(&out).into_owned()
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
    use super::decode_all;

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
        ] {
            assert_eq!(decode_all(text), expected, "{text}");
        }
    }
}
