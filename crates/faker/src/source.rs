//! What the functions make their values from: random numbers, lists of words, today's date.

use crate::{
    rng::Rng,
    value::{FakerError, TEXT_BYTES_MAX, Value},
    words,
};

pub(crate) struct Source<'a> {
    pub(crate) function: &'static str,
    pub(crate) rng: &'a mut Rng,
    /// Seconds since 1970.
    pub(crate) now: i64,
    /// Bytes that this call may still make.
    pub(crate) left: usize,
}

impl<'a> Source<'a> {
    pub(crate) fn new(function: &'static str, rng: &'a mut Rng, now: i64) -> Self {
        Self { function, rng, now, left: TEXT_BYTES_MAX }
    }

    /// A word of a list, or a text made by a pattern.
    pub(crate) fn word(&mut self, list: &str) -> String {
        let mut out = String::new();
        self.write(list, &mut out);
        out
    }

    pub(crate) fn word_value(&mut self, list: &str) -> Value {
        Value::Text(self.word(list))
    }

    pub(crate) fn write(&mut self, list: &str, out: &mut String) {
        let Some(words) = words::named(list) else {
            debug_assert!(false, "there is no list {list}");
            return;
        };
        let Some(item) = self.rng.one(&words.items) else { return };
        if words.is_pattern { self.fill(item, out) } else { out.push_str(item) }
    }

    fn fill(&mut self, pattern: &str, out: &mut String) {
        let mut rest = pattern;
        while let Some(at) = rest.find(['{', '#']) {
            out.push_str(&rest[..at]);
            rest = &rest[at..];
            if let Some(after) = rest.strip_prefix('#') {
                out.push(self.rng.digit());
                rest = after;
            } else if let Some((name, after)) = rest[1..].split_once('}') {
                match name.strip_prefix('^') {
                    Some(name) => out.push_str(&capitalised(&self.word(name))),
                    None => self.write(name, out),
                }
                rest = after;
            } else {
                break;
            }
        }
        out.push_str(rest);
    }

    /// Takes `bytes` of what this call may make.
    pub(crate) fn take(&mut self, bytes: usize) -> Result<(), FakerError> {
        let left = self.left.checked_sub(bytes);
        self.left = left.ok_or(FakerError::TooLarge { function: self.function })?;
        Ok(())
    }

    /// `count` characters.
    pub(crate) fn characters(
        &mut self,
        count: usize,
        mut make: impl FnMut(&mut Rng) -> char,
    ) -> Result<String, FakerError> {
        self.take(count)?;
        Ok((0..count).map(|_| make(self.rng)).collect())
    }
}

/// The text with a capital letter first, and no blanks within where it is to be one word.
pub(crate) fn capitalised(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |first| first.to_uppercase().chain(characters).collect())
}
