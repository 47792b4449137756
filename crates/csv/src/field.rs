//! A field of a record: where it is, and what it says.

use std::borrow::Cow;

/// One field, as a place in the file it was read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// It has doubled quotes or `\r\n` within its quotes.
    pub(crate) is_written_otherwise: bool,
}

impl Field {
    /// How many bytes of the file it takes, without its quotes.
    #[must_use]
    pub fn bytes_in_file(&self) -> usize {
        self.end - self.start
    }

    /// Its bytes: those of the file where possible.
    ///
    /// # Panics
    ///
    /// If `data` is shorter than the file the field was read from.
    #[must_use]
    pub fn bytes<'a>(&self, data: &'a [u8]) -> Cow<'a, [u8]> {
        let raw = &data[self.start..self.end];
        if !self.is_written_otherwise {
            return Cow::Borrowed(raw);
        }
        let mut bytes = Vec::with_capacity(raw.len());
        let mut rest = raw;
        while let Some(at) = memchr::memchr2(b'"', b'\r', rest) {
            // Of `""` the second is kept, of `\r\n` the line feed; any other carriage return stays.
            let is_dropped = rest[at] == b'"' || rest.get(at + 1) == Some(&b'\n');
            bytes.extend_from_slice(&rest[..if is_dropped { at } else { at + 1 }]);
            rest = &rest[at + 1..];
            if is_dropped && let [kept, after @ ..] = rest {
                bytes.push(*kept);
                rest = after;
            }
        }
        bytes.extend_from_slice(rest);
        Cow::Owned(bytes)
    }

    /// The same as text; what is not UTF-8 becomes U+FFFD.
    ///
    /// # Panics
    ///
    /// As [`Field::bytes`].
    #[must_use]
    pub fn text<'a>(&self, data: &'a [u8]) -> Cow<'a, str> {
        match self.bytes(data) {
            Cow::Borrowed(bytes) => String::from_utf8_lossy(bytes),
            Cow::Owned(bytes) => Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()),
        }
    }
}
