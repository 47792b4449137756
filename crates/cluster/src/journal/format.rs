//! Records: how they are written, and how they are read whoever wrote them.

use std::io::{self, Read, Write};

/// Why a journal cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The file cannot.
    #[error("failed to read it: {0}")]
    Io(#[from] io::Error),
    /// It is something else.
    #[error("it is {0}")]
    Foreign(&'static str),
    /// It was changed, or written by something else.
    #[error("it is damaged at byte {at}: {why}")]
    Damaged {
        /// Where.
        at: u64,
        /// What is wrong.
        why: String,
    },
}

/// What a record is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A [`super::JournalHead`].
    Head = 1,
    /// The test, as agents fetch it.
    Test = 2,
    /// A time and an input.
    Input = 3,
    /// The same, compressed.
    CompressedInput = 4,
    /// Nothing comes after it.
    Over = 5,
    /// Whose reports follow.
    Session = 6,
    /// A number and a report.
    Report = 7,
}

impl Kind {
    const ALL: [Self; 7] =
        [Self::Head, Self::Test, Self::Input, Self::CompressedInput, Self::Over, Self::Session, Self::Report];
}

/// Length and checksum.
const HEAD_BYTES: usize = 8;

/// Writes a record with one call. Returns its length.
pub(super) fn write(out: &mut impl Write, kind: Kind, content: &[u8]) -> io::Result<u64> {
    let length = u32::try_from(content.len() + 1).map_err(|_| io::Error::other("a record of more than 4 GiB"))?;
    let mut bytes = Vec::with_capacity(HEAD_BYTES + content.len() + 1);
    bytes.extend_from_slice(&length.to_le_bytes());
    let mut hash = crc32fast::Hasher::new();
    hash.update(&[kind as u8]);
    hash.update(content);
    bytes.extend_from_slice(&hash.finalize().to_le_bytes());
    bytes.push(kind as u8);
    bytes.extend_from_slice(content);
    out.write_all(&bytes)?;
    Ok(bytes.len() as u64)
}

/// Reads records from whatever gives bytes.
#[derive(Debug)]
pub(super) struct Records<R> {
    bytes: R,
    /// Where the next record begins: all before are whole.
    pub(super) at: u64,
}

impl<R: Read> Records<R> {
    /// Checks that the file begins as it must.
    pub(super) fn open(mut bytes: R, magic: &[u8], what: &'static str) -> Result<Self, JournalError> {
        let mut found = Vec::new();
        bytes.by_ref().take(magic.len() as u64).read_to_end(&mut found)?;
        if found != magic {
            return Err(JournalError::Foreign(what));
        }
        Ok(Self { bytes, at: magic.len() as u64 })
    }

    pub(super) fn damaged(&self, why: impl Into<String>) -> JournalError {
        JournalError::Damaged { at: self.at, why: why.into() }
    }

    /// The next whole record of at most so many bytes; `None` at the end, and where the last is torn.
    pub(super) fn next(&mut self, bytes_max: u64) -> Result<Option<(Kind, Vec<u8>)>, JournalError> {
        let mut head = Vec::with_capacity(HEAD_BYTES);
        self.bytes.by_ref().take(HEAD_BYTES as u64).read_to_end(&mut head)?;
        let Ok([l0, l1, l2, l3, c0, c1, c2, c3]) = <[u8; HEAD_BYTES]>::try_from(&head[..]) else { return Ok(None) };
        let length = u64::from(u32::from_le_bytes([l0, l1, l2, l3]));
        if length == 0 || length > bytes_max {
            return Err(self.damaged(format!("a record of {length} bytes, the limit is {bytes_max}")));
        }
        // Memory follows what is there, not what the length claims.
        let mut content = Vec::new();
        self.bytes.by_ref().take(length).read_to_end(&mut content)?;
        if (content.len() as u64) < length {
            return Ok(None);
        }
        if crc32fast::hash(&content) != u32::from_le_bytes([c0, c1, c2, c3]) {
            return Err(self.damaged("its checksum is wrong"));
        }
        let kind = content.remove(0);
        let kind = Kind::ALL.into_iter().find(|known| *known as u8 == kind);
        let kind = kind.ok_or_else(|| self.damaged("a record of an unknown kind"))?;
        self.at += HEAD_BYTES as u64 + length;
        Ok(Some((kind, content)))
    }
}
