//! What is wrong with a text that is no JSON, in the words of Go's decoder, which k6's message contains.
//!
//! Only asked after parsing has failed, so it need not be fast; it does not recurse, whatever the nesting.

/// An error and how many bytes had been read when it showed.
struct Flaw {
    offset: usize,
    text: String,
}

/// k6's message for a body that is not JSON; `None` when it is.
pub(super) fn describe(body: &[u8]) -> Option<String> {
    let flaw = find(body)?;
    let read = body.get(..flaw.offset).unwrap_or(body);
    let line = 1 + read.iter().filter(|byte| **byte == b'\n').count();
    let line_start = read.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let character = String::from_utf8_lossy(&read[line_start..]).chars().count();
    Some(format!("cannot parse json due to an error at line {line}, character {character} , error: {}", flaw.text))
}

/// What may come next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Expect {
    Value,
    /// A value or `]`.
    FirstElement,
    /// A key or `}`.
    FirstKey,
    Key,
    Colon,
    /// `,` or the end of the innermost array or object.
    Separator,
}

struct Scanner<'a> {
    text: &'a [u8],
    at: usize,
    /// Open arrays (`[`) and objects (`{`).
    open: Vec<u8>,
}

/// The first flaw; `None` when there is none.
fn find(text: &[u8]) -> Option<Flaw> {
    let mut scanner = Scanner { text, at: 0, open: Vec::new() };
    let mut expect = Expect::Value;
    loop {
        let Some(byte) = scanner.skip_space() else {
            let is_whole = scanner.open.is_empty() && expect == Expect::Separator;
            return (!is_whole).then(|| scanner.end());
        };
        let next = match expect {
            Expect::Value => scanner.value(byte),
            Expect::FirstElement if byte == b']' => scanner.close(),
            Expect::FirstElement => scanner.value(byte),
            Expect::FirstKey if byte == b'}' => scanner.close(),
            Expect::FirstKey | Expect::Key if byte == b'"' => scanner.string().map(|()| Expect::Colon),
            Expect::FirstKey | Expect::Key => Err(scanner.unexpected("looking for beginning of object key string")),
            Expect::Colon if byte == b':' => scanner.take(Expect::Value),
            Expect::Colon => Err(scanner.unexpected("after object key")),
            Expect::Separator => match (scanner.open.last(), byte) {
                (None, _) => Err(scanner.unexpected("after top-level value")),
                (Some(b'['), b']') | (Some(b'{'), b'}') => scanner.close(),
                (Some(b'['), b',') => scanner.take(Expect::Value),
                (Some(b'{'), b',') => scanner.take(Expect::Key),
                (Some(b'['), _) => Err(scanner.unexpected("after array element")),
                _ => Err(scanner.unexpected("after object key:value pair")),
            },
        };
        match next {
            Ok(next) => expect = next,
            Err(flaw) => return Some(flaw),
        }
    }
}

impl Scanner<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn skip_space(&mut self) -> Option<u8> {
        while self.peek().is_some_and(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
        self.peek()
    }

    fn take(&mut self, next: Expect) -> Result<Expect, Flaw> {
        self.at += 1;
        Ok(next)
    }

    fn close(&mut self) -> Result<Expect, Flaw> {
        self.open.pop();
        self.take(Expect::Separator)
    }

    fn value(&mut self, byte: u8) -> Result<Expect, Flaw> {
        match byte {
            b'{' => {
                self.open.push(byte);
                self.take(Expect::FirstKey)
            }
            b'[' => {
                self.open.push(byte);
                self.take(Expect::FirstElement)
            }
            b'"' => self.string().map(|()| Expect::Separator),
            b't' => self.literal("true"),
            b'f' => self.literal("false"),
            b'n' => self.literal("null"),
            b'-' | b'0'..=b'9' => self.number(),
            _ => Err(self.unexpected("looking for beginning of value")),
        }
    }

    fn literal(&mut self, word: &str) -> Result<Expect, Flaw> {
        for expected in word.chars() {
            if self.peek() != Some(expected as u8) {
                return Err(self.unexpected_or_space(&format!("in literal {word} (expecting '{expected}')")));
            }
            self.at += 1;
        }
        Ok(Expect::Separator)
    }

    fn number(&mut self) -> Result<Expect, Flaw> {
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        if self.peek() == Some(b'0') {
            self.at += 1;
        } else {
            self.digits("in numeric literal")?;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits("after decimal point in numeric literal")?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits("in exponent of numeric literal")?;
        }
        Ok(Expect::Separator)
    }

    /// One digit or more.
    fn digits(&mut self, place: &str) -> Result<(), Flaw> {
        if !self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            return Err(self.unexpected_or_space(place));
        }
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        Ok(())
    }

    fn string(&mut self) -> Result<(), Flaw> {
        self.at += 1;
        loop {
            let Some(byte) = self.peek() else { return Err(self.end()) };
            match byte {
                b'"' => {
                    self.at += 1;
                    return Ok(());
                }
                b'\\' => {
                    self.at += 1;
                    self.escape()?;
                }
                0..0x20 => return Err(self.unexpected("in string literal")),
                _ => self.at += 1,
            }
        }
    }

    /// What follows a backslash.
    fn escape(&mut self) -> Result<(), Flaw> {
        match self.peek() {
            Some(b'b' | b'f' | b'n' | b'r' | b't' | b'\\' | b'/' | b'"') => self.at += 1,
            Some(b'u') => {
                self.at += 1;
                for _ in 0..4 {
                    if !self.peek().is_some_and(|byte| byte.is_ascii_hexdigit()) {
                        return Err(self.unexpected_or_space("in \\u hexadecimal character escape"));
                    }
                    self.at += 1;
                }
            }
            _ => return Err(self.unexpected_or_space("in string escape code")),
        }
        Ok(())
    }

    fn end(&self) -> Flaw {
        Flaw { offset: self.text.len(), text: "unexpected end of JSON input".to_owned() }
    }

    /// The byte at hand may not stand here. Go counts it as read.
    fn unexpected(&self, place: &str) -> Flaw {
        Flaw { offset: self.at + 1, text: format!("invalid character {} {place}", quote(self.peek().unwrap_or(b' '))) }
    }

    /// The same; Go ends a text by a blank of its own, which is what an incomplete word or number runs into.
    fn unexpected_or_space(&self, place: &str) -> Flaw {
        let flaw = self.unexpected(place);
        Flaw { offset: flaw.offset.min(self.text.len()), ..flaw }
    }
}

/// A byte as Go quotes it: bytes beyond ASCII as the Latin-1 character of that number.
fn quote(byte: u8) -> String {
    match byte {
        b'\'' => "'\\''".to_owned(),
        b'"' => "'\"'".to_owned(),
        b'\\' => "'\\\\'".to_owned(),
        b'\t' => "'\\t'".to_owned(),
        b'\n' => "'\\n'".to_owned(),
        b'\r' => "'\\r'".to_owned(),
        0..0x20 | 0x7F => format!("'\\x{byte:02x}'"),
        0x80..=0xA0 | 0xAD => format!("'\\u{byte:04x}'"),
        _ => format!("'{}'", char::from(byte)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `json.Unmarshal` of Go 1.26 says: text, offset, error.
    const GO: &[(&str, usize, &str)] = &[
        ("{\"a\":1,}", 8, "invalid character '}' looking for beginning of object key string"),
        ("{\"a\" 1}", 6, "invalid character '1' after object key"),
        ("[1 2]", 4, "invalid character '2' after array element"),
        ("{a:1}", 2, "invalid character 'a' looking for beginning of object key string"),
        ("\"abc", 4, "unexpected end of JSON input"),
        ("\"\\x\"", 3, "invalid character 'x' in string escape code"),
        ("01", 2, "invalid character '1' after top-level value"),
        ("1.", 2, "invalid character ' ' after decimal point in numeric literal"),
        ("1e", 2, "invalid character ' ' in exponent of numeric literal"),
        ("-", 1, "invalid character ' ' in numeric literal"),
        ("tru", 3, "invalid character ' ' in literal true (expecting 'e')"),
        ("nul", 3, "invalid character ' ' in literal null (expecting 'l')"),
        ("{\"a\":1} x", 9, "invalid character 'x' after top-level value"),
        ("", 0, "unexpected end of JSON input"),
        (" ", 1, "unexpected end of JSON input"),
        ("[", 1, "unexpected end of JSON input"),
        ("{\"a\"", 4, "unexpected end of JSON input"),
        ("{\"a\":", 5, "unexpected end of JSON input"),
        ("[1,", 3, "unexpected end of JSON input"),
        ("\n\n  x", 5, "invalid character 'x' looking for beginning of value"),
        ("\"a\tb\"", 3, "invalid character '\\t' in string literal"),
        ("{\"a\":1\n,\"b\":}", 13, "invalid character '}' looking for beginning of value"),
        ("truex", 5, "invalid character 'x' after top-level value"),
        ("\"\\u12g4\"", 6, "invalid character 'g' in \\u hexadecimal character escape"),
        ("[1,]", 4, "invalid character ']' looking for beginning of value"),
        ("nan", 2, "invalid character 'a' in literal null (expecting 'u')"),
        ("é", 1, "invalid character 'Ã' looking for beginning of value"),
        ("-x", 2, "invalid character 'x' in numeric literal"),
        ("1.x", 3, "invalid character 'x' after decimal point in numeric literal"),
        ("1ex", 3, "invalid character 'x' in exponent of numeric literal"),
        ("{\"a\":1}}", 8, "invalid character '}' after top-level value"),
        ("{\"a\":1 \"b\"}", 8, "invalid character '\"' after object key:value pair"),
        ("{1:2}", 2, "invalid character '1' looking for beginning of object key string"),
        ("1e+", 3, "invalid character ' ' in exponent of numeric literal"),
        ("'a'", 1, "invalid character '\\'' looking for beginning of value"),
        ("\0", 1, "invalid character '\\x00' looking for beginning of value"),
        ("\"\u{1}\"", 2, "invalid character '\\x01' in string literal"),
        ("\"\\", 2, "invalid character ' ' in string escape code"),
        ("[tru]", 5, "invalid character ']' in literal true (expecting 'e')"),
        ("falsy", 5, "invalid character 'y' in literal false (expecting 'e')"),
    ];

    #[test]
    fn flaws_are_gos() {
        for (text, offset, error) in GO {
            let flaw = find(text.as_bytes()).unwrap_or_else(|| Flaw { offset: 0, text: "none".to_owned() });
            assert_eq!((flaw.offset, flaw.text.as_str()), (*offset, *error), "{text:?}");
        }
        for fine in ["1", "-0.5e+3", "[]", "{}", "[1,{\"a\":[null,true,false]},\"\\u00e9\\n\"]", " 1 "] {
            assert!(find(fine.as_bytes()).is_none(), "{fine}");
        }
        assert!(find("[".repeat(1_000_000).as_bytes()).is_some());
    }

    #[test]
    fn places_are_lines_and_characters() {
        let check = |text: &str, expect: &str| {
            assert!(describe(text.as_bytes()).is_some_and(|said| said.contains(&format!("at {expect} ,"))), "{text:?}")
        };
        check("\n\n  x", "line 3, character 3");
        check("[1,\n2", "line 2, character 1");
        check("\"é\" x", "line 1, character 5");
        check("é", "line 1, character 1");
        check("", "line 1, character 0");
    }
}
