//! Reading selectors.

use regex_lite::{Regex, RegexBuilder};

use super::{Combinator, Complex, Compound, Plain, Selector, SelectorError, Simple, Test};

/// A place in a selector's text.
pub(super) struct Parser<'a> {
    text: &'a str,
    at: usize,
    /// Parentheses of pseudo classes that are open.
    depth: usize,
}

pub(super) type Parsed<T> = Result<T, SelectorError>;

impl<'a> Parser<'a> {
    pub(super) fn parse(text: &'a str) -> Parsed<Selector> {
        let mut parser = Self { text, at: 0, depth: 0 };
        if text.len() > TEXT_BYTES_MAX {
            return Err(parser.error(format!("a selector has at most {TEXT_BYTES_MAX} bytes")));
        }
        let selector = parser.group()?;
        if parser.at < text.len() { Err(parser.error("this cannot be part of a selector")) } else { Ok(selector) }
    }

    pub(super) fn error(&self, reason: impl Into<String>) -> SelectorError {
        const SHOWN_CHARS: usize = 100;
        SelectorError {
            reason: reason.into(),
            position: self.at + 1,
            text: self.text.chars().take(SHOWN_CHARS).collect(),
        }
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    pub(super) fn bump(&mut self) {
        self.at += 1;
    }

    fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    /// Skips blanks and comments; whether there were any.
    pub(super) fn skip_blanks(&mut self) -> bool {
        let start = self.at;
        loop {
            match self.peek() {
                Some(b' ' | b'\t' | b'\r' | b'\n' | b'\x0c') => self.bump(),
                Some(b'/') if self.rest().starts_with("/*") => match self.rest()[2..].find("*/") {
                    Some(length) => self.at += length + 4,
                    None => break,
                },
                _ => break,
            }
        }
        self.at > start
    }

    fn group(&mut self) -> Parsed<Selector> {
        let mut alternatives = vec![self.complex()?];
        while self.eat(b',') {
            alternatives.push(self.complex()?);
        }
        Ok(Selector { alternatives })
    }

    fn complex(&mut self) -> Parsed<Complex> {
        self.skip_blanks();
        let mut last = self.compound()?;
        let mut before = Vec::new();
        loop {
            let blank = self.skip_blanks();
            let combinator = match self.peek() {
                None | Some(b',' | b')') => break,
                Some(b'>') => Combinator::Child,
                Some(b'+') => Combinator::Adjacent,
                Some(b'~') => Combinator::Sibling,
                Some(_) if blank => Combinator::Descendant,
                Some(_) => break,
            };
            if combinator != Combinator::Descendant {
                self.bump();
                self.skip_blanks();
            }
            let compound = self.compound()?;
            before.push((combinator, std::mem::replace(&mut last, compound)));
        }
        before.reverse();
        Ok(Complex { last, before })
    }

    fn compound(&mut self) -> Parsed<Compound> {
        let mut parts = Vec::new();
        match self.peek() {
            None => return Err(self.error("a selector is expected")),
            Some(b'*') => {
                self.bump();
                // k6: `*|*` is `*`, unless it is the last of the text.
                if self.rest().starts_with("|*") && self.rest().len() > 2 {
                    self.at += 2;
                }
            }
            Some(b'#' | b'.' | b'[' | b':') => {}
            Some(_) => parts.push(Simple::Tag(lower(&self.identifier()?))),
        }
        loop {
            match self.peek() {
                Some(b'#') => {
                    self.bump();
                    parts.push(Simple::Id(self.name()?));
                }
                Some(b'.') => {
                    self.bump();
                    parts.push(Simple::Class(self.identifier()?));
                }
                Some(b'[') => parts.push(self.attribute()?),
                Some(b':') => parts.push(self.pseudo()?),
                _ => return Ok(Compound(parts)),
            }
        }
    }

    fn attribute(&mut self) -> Parsed<Simple> {
        self.bump();
        self.skip_blanks();
        let name = lower(&self.identifier()?);
        self.skip_blanks();
        if self.eat(b']') {
            return Ok(Simple::Attribute { name, test: Test::Exists, ignore_case: false });
        }
        let operator = match self.rest().as_bytes() {
            [b'=', ..] => b'=',
            [operator @ (b'!' | b'~' | b'|' | b'^' | b'$' | b'*' | b'#'), b'=', ..] => {
                self.bump();
                *operator
            }
            _ => return Err(self.error("an attribute is compared with =, !=, ~=, |=, ^=, $=, *= or #=")),
        };
        self.bump();
        self.skip_blanks();
        if operator == b'#' {
            let test = Test::Matches(self.regex()?);
            self.skip_blanks();
            self.expect(b']')?;
            return Ok(Simple::Attribute { name, test, ignore_case: false });
        }
        let mut value = self.string_or_identifier()?;
        self.skip_blanks();
        let ignore_case = self.eat(b'i') || self.eat(b'I');
        if ignore_case {
            value = folded(&value);
            self.skip_blanks();
        }
        self.expect(b']')?;
        let test = match operator {
            b'!' => Test::Differs(value),
            b'~' => Test::HasWord(value),
            b'|' => Test::HasPart(value),
            b'^' => Test::Begins(value),
            b'$' => Test::Ends(value),
            b'*' => Test::Contains(value),
            _ => Test::Equals(value),
        };
        Ok(Simple::Attribute { name, test, ignore_case })
    }

    fn pseudo(&mut self) -> Parsed<Simple> {
        self.bump();
        let start = self.at;
        let name = lower(&self.identifier()?);
        let plain = |plain| Ok(Simple::Plain(plain));
        match name.as_str() {
            "not" => Ok(Simple::Not(self.argument()?)),
            "has" => Ok(Simple::Has(self.argument()?)),
            "haschild" => Ok(Simple::HasChild(self.argument()?)),
            "contains" | "containsown" => {
                self.open()?;
                let text = folded(&self.string_or_identifier()?);
                self.close()?;
                Ok(Simple::Contains { text, own: name == "containsown" })
            }
            "matches" | "matchesown" => {
                self.open()?;
                let regex = self.regex()?;
                self.close()?;
                Ok(Simple::Matches { regex, own: name == "matchesown" })
            }
            "nth-child" => self.nth(false, false),
            "nth-last-child" => self.nth(true, false),
            "nth-of-type" => self.nth(false, true),
            "nth-last-of-type" => self.nth(true, true),
            "first-child" => Ok(Simple::Nth { a: 0, b: 1, from_end: false, of_type: false }),
            "last-child" => Ok(Simple::Nth { a: 0, b: 1, from_end: true, of_type: false }),
            "first-of-type" => Ok(Simple::Nth { a: 0, b: 1, from_end: false, of_type: true }),
            "last-of-type" => Ok(Simple::Nth { a: 0, b: 1, from_end: true, of_type: true }),
            "only-child" => Ok(Simple::Only { of_type: false }),
            "only-of-type" => Ok(Simple::Only { of_type: true }),
            "lang" => {
                self.open()?;
                let lang = self.identifier()?;
                self.close()?;
                Ok(Simple::Lang(lang))
            }
            "input" => plain(Plain::Input),
            "empty" => plain(Plain::Empty),
            "root" => plain(Plain::Root),
            "link" => plain(Plain::Link),
            "enabled" => plain(Plain::Enabled),
            "disabled" => plain(Plain::Disabled),
            "checked" => plain(Plain::Checked),
            "visited" | "hover" | "active" | "focus" | "target" => plain(Plain::Never),
            _ => {
                self.at = start;
                Err(self.error(format!("there is no pseudo class :{name}")))
            }
        }
    }

    fn nth(&mut self, from_end: bool, of_type: bool) -> Parsed<Simple> {
        self.open()?;
        let (a, b) = self.nth_formula()?;
        self.close()?;
        Ok(Simple::Nth { a, b, from_end, of_type })
    }

    /// A list of selectors in parentheses.
    fn argument(&mut self) -> Parsed<Selector> {
        self.open()?;
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(self.error(format!("selectors are nested at most {DEPTH_MAX} deep")));
        }
        let selector = self.group()?;
        self.depth -= 1;
        self.close()?;
        Ok(selector)
    }

    fn open(&mut self) -> Parsed<()> {
        self.expect(b'(')?;
        self.skip_blanks();
        Ok(())
    }

    fn close(&mut self) -> Parsed<()> {
        self.skip_blanks();
        self.expect(b')')
    }

    fn expect(&mut self, byte: u8) -> Parsed<()> {
        if self.eat(byte) { Ok(()) } else { Err(self.error(format!("'{}' is expected", char::from(byte)))) }
    }

    /// `[+-]?` and a name that begins with a letter.
    fn identifier(&mut self) -> Parsed<String> {
        let dashes = self.rest().len() - self.rest().trim_start_matches('-').len();
        let start = self.at;
        self.at += dashes;
        match self.peek() {
            Some(byte) if byte.is_ascii_alphabetic() || byte == b'_' || byte == b'\\' || byte > 127 => {
                Ok("-".repeat(dashes) + &self.name()?)
            }
            _ => {
                self.at = start;
                Err(self.error("a name is expected"))
            }
        }
    }

    /// Letters, digits, `_`, `-`, anything that is not ASCII, and escapes.
    pub(super) fn name(&mut self) -> Parsed<String> {
        let mut name = String::new();
        while let Some(next) = self.rest().chars().next() {
            if next == '\\' {
                self.escape(&mut name)?;
            } else if next.is_ascii_alphanumeric() || next == '_' || next == '-' || !next.is_ascii() {
                name.push(next);
                self.at += next.len_utf8();
            } else {
                break;
            }
        }
        if name.is_empty() { Err(self.error("a name is expected")) } else { Ok(name) }
    }

    /// A backslash and up to six hexadecimal digits, or any other character.
    fn escape(&mut self, out: &mut String) -> Parsed<()> {
        let after = &self.rest()[1..];
        let digits = after.bytes().take(6).take_while(u8::is_ascii_hexdigit).count();
        if digits > 0 {
            let code = u32::from_str_radix(&after[..digits], 16).unwrap_or_default();
            out.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
            let blank = match after.as_bytes().get(digits..) {
                Some([b'\r', b'\n', ..]) => 2,
                Some([b' ' | b'\t' | b'\r' | b'\n' | b'\x0c', ..]) => 1,
                _ => 0,
            };
            self.at += 1 + digits + blank;
            return Ok(());
        }
        match after.chars().next() {
            Some(next) if !matches!(next, '\r' | '\n' | '\x0c') => {
                out.push(next);
                self.at += 1 + next.len_utf8();
                Ok(())
            }
            _ => Err(self.error("a backslash must be followed by a character")),
        }
    }

    fn string_or_identifier(&mut self) -> Parsed<String> {
        match self.peek() {
            Some(quote @ (b'"' | b'\'')) => self.string(quote),
            _ => self.identifier(),
        }
    }

    fn string(&mut self, quote: u8) -> Parsed<String> {
        self.bump();
        let mut text = String::new();
        while let Some(next) = self.rest().chars().next() {
            match next {
                '\\' => match self.rest().as_bytes() {
                    // A line goes on.
                    [_, b'\r', b'\n', ..] => self.at += 3,
                    [_, b'\r' | b'\n' | b'\x0c', ..] => self.at += 2,
                    _ => self.escape(&mut text)?,
                },
                '\r' | '\n' | '\x0c' => return Err(self.error("a quoted text ends on the line it began on")),
                _ if u32::from(next) == u32::from(quote) => {
                    self.bump();
                    return Ok(text);
                }
                _ => {
                    text.push(next);
                    self.at += next.len_utf8();
                }
            }
        }
        Err(self.error("the closing quote is missing"))
    }

    /// A regular expression up to the parenthesis or bracket that ends what it is in.
    fn regex(&mut self) -> Parsed<Box<Regex>> {
        let mut open = 0_usize;
        let end = self.rest().bytes().position(|byte| match byte {
            b'(' | b'[' => {
                open += 1;
                false
            }
            b')' | b']' if open == 0 => true,
            b')' | b']' => {
                open -= 1;
                false
            }
            _ => false,
        });
        let Some(end) = end else { return Err(self.error("the regular expression does not end")) };
        let regex = RegexBuilder::new(&self.rest()[..end])
            .size_limit(REGEX_BYTES_MAX)
            .build()
            .map_err(|error| self.error(format!("this is no regular expression ({error})")))?;
        self.at += end;
        Ok(Box::new(regex))
    }
}

fn lower(text: &str) -> String {
    text.to_ascii_lowercase()
}

/// A text without regard to case, as Go's `strings.ToLower` has it: each character by itself becomes one.
pub(super) fn folded(text: &str) -> String {
    text.chars().filter_map(|character| character.to_lowercase().next()).collect()
}

/// Selectors of scripts have some dozens of bytes.
const TEXT_BYTES_MAX: usize = 16 << 10;
/// Each level multiplies the work of matching.
const DEPTH_MAX: usize = 16;
/// Memory of a compiled regular expression.
const REGEX_BYTES_MAX: usize = 1 << 20;
