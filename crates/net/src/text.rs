//! Bytes and text forms used all over: byte classes, Go's `%q` quoting, trimming, decimals.

/// A byte of a token: a header name or a method (RFC 9110 `tchar`).
pub(crate) const TOKEN: u8 = 1;
/// A byte Go leaves in a URL's path as it is.
pub(crate) const PATH: u8 = 2;
/// An ASCII byte Go allows in a URL's host.
pub(crate) const HOST: u8 = 4;
/// A byte Go allows in a URL's userinfo.
pub(crate) const USERINFO: u8 = 8;
/// A byte that Go's `ValidHostHeader` lets through.
pub(crate) const HOST_HEADER: u8 = 16;
/// An ASCII letter in lower case.
pub(crate) const LOWER: u8 = 32;
/// An ASCII letter in upper case.
pub(crate) const UPPER: u8 = 64;

/// Whether a byte is of a class.
#[inline]
pub(crate) fn is(byte: u8, class: u8) -> bool {
    class_of(byte) & class != 0
}

/// All classes of a byte.
#[inline]
pub(crate) fn class_of(byte: u8) -> u8 {
    CLASSES[usize::from(byte)]
}

static CLASSES: [u8; 256] = classes();

const fn classes() -> [u8; 256] {
    let mut table = [0; 256];
    let mut byte = 0_u8;
    while byte < 0x80 {
        if byte.is_ascii_alphanumeric() {
            table[byte as usize] = TOKEN | PATH | HOST | USERINFO | HOST_HEADER;
        }
        if byte.is_ascii_alphabetic() {
            table[byte as usize] |= if byte.is_ascii_lowercase() { LOWER } else { UPPER };
        }
        byte += 1;
    }
    mark(&mut table, b"!#$%&'*+-.^_`|~", TOKEN);
    mark(&mut table, b"-_.~!$&'()*+,;=:@[]%/", PATH);
    mark(&mut table, b"-_.~!$&'()*+,;=:[]<>\"", HOST);
    mark(&mut table, b"-._:~!$&'()*+,;=%@", USERINFO);
    mark(&mut table, b"!$%&()*+,-.:;='[]_~", HOST_HEADER);
    table
}

const fn mark(table: &mut [u8; 256], bytes: &[u8], class: u8) {
    let mut at = 0;
    while at < bytes.len() {
        table[bytes[at] as usize] |= class;
        at += 1;
    }
}

/// Quotes a text as Go's `%q` does: `"…"` with `\"`, `\\`, `\n`, `\x01`, `\u00a0` and so on.
///
/// `metrics` has the same for `str`: neither crate may use the other.
pub fn go_quote(text: impl AsRef<[u8]>) -> String {
    let bytes = text.as_ref();
    let mut out = String::with_capacity(bytes.len() + 2);
    out.push('"');
    for chunk in bytes.utf8_chunks() {
        for letter in chunk.valid().chars() {
            push_quoted(&mut out, letter);
        }
        for &byte in chunk.invalid() {
            push_hex(&mut out, byte);
        }
    }
    out.push('"');
    out
}

/// Whether two byte strings are equal when ASCII letters are folded and `b` is already lower case.
pub(crate) fn eq_lower(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(x, y)| x.to_ascii_lowercase() == *y)
}

/// Trims spaces and tabs (and nothing else) from both ends, as HTTP field values need.
pub(crate) fn trim_ows(mut bytes: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] = bytes {
        bytes = rest;
    }
    while let [rest @ .., b' ' | b'\t'] = bytes {
        bytes = rest;
    }
    bytes
}

/// Appends a decimal number without the formatting machinery: this runs once a request.
pub(crate) fn push_decimal(out: &mut Vec<u8>, mut number: u64) {
    const DIGITS_MAX: usize = 20;
    let mut digits = [0_u8; DIGITS_MAX];
    let mut at = DIGITS_MAX;
    loop {
        at -= 1;
        digits[at] = b'0' + u8::try_from(number % 10).expect("a remainder of 10 fits in a byte");
        number /= 10;
        if number == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}

fn push_quoted(out: &mut String, letter: char) {
    match letter {
        '"' => out.push_str("\\\""),
        '\\' => out.push_str("\\\\"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        '\u{7}' => out.push_str("\\a"),
        '\u{8}' => out.push_str("\\b"),
        '\u{b}' => out.push_str("\\v"),
        '\u{c}' => out.push_str("\\f"),
        other if u32::from(other) < 0x20 || other == '\u{7f}' => {
            push_hex(out, u8::try_from(u32::from(other)).unwrap_or(b'?'));
        }
        ' '..='~' => out.push(letter),
        _ if is_printable(letter) => out.push(letter),
        '\u{80}'..='\u{ffff}' => out.push_str(&format!("\\u{:04x}", u32::from(letter))),
        _ => out.push_str(&format!("\\U{:08x}", u32::from(letter))),
    }
}

/// Go prints letters, marks, numbers, punctuation and symbols, but of spaces only U+0020.
fn is_printable(letter: char) -> bool {
    // Debug escapes what is not printable; a combining mark only where nothing is before it.
    !letter.is_whitespace() && ['a', letter].iter().collect::<String>().escape_debug().count() == 2
}

fn push_hex(out: &mut String, byte: u8) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    out.push_str("\\x");
    out.push(char::from(HEX[usize::from(byte >> 4)]));
    out.push(char::from(HEX[usize::from(byte & 15)]));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_like_go() {
        let check = |input: &[u8], expect: &str| assert_eq!(go_quote(input), expect);
        check(b"plain", r#""plain""#);
        check(b"a\"b\\c", r#""a\"b\\c""#);
        check(b"x\r\n\x01\xff", r#""x\r\n\x01\xff""#);
        check("é\u{301}".as_bytes(), "\"é\u{301}\"");
        check(b"\x07\x0b\x7f", r#""\a\v\x7f""#);
        check("\u{a0}\u{200b}\u{e000}\u{10ffff}".as_bytes(), r#""\u00a0\u200b\ue000\U0010ffff""#);
    }

    #[test]
    fn decimals() {
        for number in [0, 7, 10, 99, 12_345, u64::MAX] {
            let mut out = Vec::new();
            push_decimal(&mut out, number);
            assert_eq!(out, number.to_string().into_bytes());
        }
    }

    #[test]
    fn trims_only_blanks() {
        assert_eq!(trim_ows(b" \t a b\r \t"), b"a b\r");
        assert_eq!(trim_ows(b"  "), b"");
    }
}
