//! Writing a journal.

use std::io::{self, Write};

use onrush_session::{Input, protocol::Time};

use super::{
    JournalHead,
    format::{self, Kind},
};
use crate::convert::fold;

/// What a journal begins with; the number is its version.
pub(super) const MAGIC: &[u8] = b"onrush journal 1\n";

/// Writes to something that keeps what one call gave it.
#[derive(Debug)]
pub struct JournalWriter<W> {
    out: W,
    bytes: u64,
}

impl<W: Write> JournalWriter<W> {
    /// More than weeks of a large test make. Replaying it would take longer than any lease.
    pub const BYTES_MAX: u64 = 64 << 30;

    /// Begins a journal with the test as agents get it.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn begin(mut out: W, head: &JournalHead, test: &[u8]) -> io::Result<Self> {
        out.write_all(MAGIC)?;
        let mut own = Self { out, bytes: MAGIC.len() as u64 };
        let head = postcard::to_allocvec(head).map_err(io::Error::other)?;
        own.write(Kind::Head, &head)?;
        own.write(Kind::Test, test)?;
        Ok(own)
    }

    /// Goes on with a journal of so many bytes.
    pub fn append(out: W, bytes: u64) -> Self {
        Self { out, bytes }
    }

    /// Notes an input.
    ///
    /// # Errors
    /// When it cannot be written, or the journal is as large as it may be.
    pub fn note(&mut self, input: &Input<'_>, now: Time) -> io::Result<()> {
        if self.bytes > Self::BYTES_MAX {
            return Err(io::Error::other(format!("it has more than {} GiB", Self::BYTES_MAX >> 30)));
        }
        let folded = fold(&(now, input));
        self.write(if folded.is_compressed { Kind::CompressedInput } else { Kind::Input }, &folded.data)
    }

    /// The run is over: nobody can go on with it.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn end(&mut self) -> io::Result<()> {
        self.write(Kind::Over, &[])
    }

    fn write(&mut self, kind: Kind, content: &[u8]) -> io::Result<()> {
        self.bytes += format::write(&mut self.out, kind, content)?;
        Ok(())
    }
}
