//! Packets, and what they are made of.

use crate::{
    SqlError, Stream,
    stream::Inbox,
    value::{RESULT_BYTES_MAX, too_large},
};

/// Packets of a connection, numbered from each command on.
#[derive(Debug, Default)]
pub(super) struct Packets {
    inbox: Inbox,
    number: u8,
}

const HEADER_BYTES: usize = 4;
/// A packet of that length goes on in the next.
const LENGTH_MAX: usize = 0xFF_FFFF;
/// 64 MiB, as in Go's driver.
const COMMAND_BYTES_MAX: usize = 64 << 20;

impl Packets {
    /// The next packet.
    pub(super) fn next(&mut self, stream: &mut impl Stream) -> Result<Vec<u8>, SqlError> {
        let mut packet = Vec::new();
        loop {
            self.inbox.fill(stream, HEADER_BYTES)?;
            let header = self.inbox.take(HEADER_BYTES);
            let length = usize::from(header[0]) | usize::from(header[1]) << 8 | usize::from(header[2]) << 16;
            if header[3] != self.number {
                return Err(out_of_sync());
            }
            self.number = self.number.wrapping_add(1);
            if packet.len() + length > RESULT_BYTES_MAX {
                return Err(too_large());
            }
            self.inbox.fill(stream, length)?;
            packet.extend_from_slice(self.inbox.take(length));
            if length < LENGTH_MAX {
                return Ok(packet);
            }
        }
    }

    /// Sends a command, which begins a new count.
    pub(super) fn command(&mut self, stream: &mut impl Stream, command: u8, body: &[u8]) -> Result<(), SqlError> {
        if body.len() >= COMMAND_BYTES_MAX {
            let text = "packet for query is too large. Try adjusting the `Config.MaxAllowedPacket`";
            return Err(SqlError::Refused(text.to_owned()));
        }
        if !self.inbox.is_empty() {
            return Err(out_of_sync());
        }
        self.number = 0;
        self.reply(stream, &[&[command], body].concat())
    }

    /// Sends a packet within a conversation.
    pub(super) fn reply(&mut self, stream: &mut impl Stream, payload: &[u8]) -> Result<(), SqlError> {
        let mut out = Vec::with_capacity(payload.len() + HEADER_BYTES);
        let mut rest = payload;
        loop {
            let (piece, after) = rest.split_at(rest.len().min(LENGTH_MAX));
            out.extend_from_slice(&(piece.len() as u32).to_le_bytes()[..3]);
            out.push(self.number);
            self.number = self.number.wrapping_add(1);
            out.extend_from_slice(piece);
            rest = after;
            if piece.len() < LENGTH_MAX {
                return stream.write(&out);
            }
        }
    }

    /// Whether more has been read than was looked at.
    pub(super) fn has_more(&self) -> bool {
        !self.inbox.is_empty()
    }

    pub(super) fn shrink(&mut self) {
        self.inbox.shrink();
    }
}

/// Reads a packet from its start.
pub(super) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub(super) fn new(packet: &'a [u8]) -> Self {
        Self(packet)
    }

    pub(super) fn bytes(&mut self, count: usize) -> Result<&'a [u8], SqlError> {
        let (bytes, rest) = self.0.split_at_checked(count).ok_or_else(malformed)?;
        self.0 = rest;
        Ok(bytes)
    }

    pub(super) fn byte(&mut self) -> Result<u8, SqlError> {
        self.bytes(1).map(|bytes| bytes[0])
    }

    /// A number of up to eight bytes, the first of which counts least.
    pub(super) fn number(&mut self, bytes: usize) -> Result<u64, SqlError> {
        let mut whole = [0; 8];
        whole[..bytes].copy_from_slice(self.bytes(bytes)?);
        Ok(u64::from_le_bytes(whole))
    }

    /// A number that says itself how long it is.
    pub(super) fn length(&mut self) -> Result<u64, SqlError> {
        match self.byte()? {
            small @ 0..=0xFA => Ok(small.into()),
            0xFC => self.number(2),
            0xFD => self.number(3),
            0xFE => self.number(8),
            _ => Err(malformed()),
        }
    }

    /// Bytes with their length before them.
    pub(super) fn text(&mut self) -> Result<&'a [u8], SqlError> {
        let length = self.length()?;
        self.bytes(usize::try_from(length).unwrap_or(usize::MAX))
    }

    /// The same, or NULL.
    pub(super) fn optional_text(&mut self) -> Result<Option<&'a [u8]>, SqlError> {
        if self.0.first() == Some(&NULL) {
            self.byte()?;
            return Ok(None);
        }
        self.text().map(Some)
    }

    /// Bytes up to a zero, or to the end.
    pub(super) fn until_zero(&mut self) -> &'a [u8] {
        let end = self.0.iter().position(|byte| *byte == 0).unwrap_or(self.0.len());
        let text = &self.0[..end];
        self.0 = self.0.get(end + 1..).unwrap_or_default();
        text
    }

    pub(super) fn rest(&self) -> &'a [u8] {
        self.0
    }
}

/// Go's text.
pub(super) fn malformed() -> SqlError {
    SqlError::broken("malformed packet")
}

/// Go's text.
fn out_of_sync() -> SqlError {
    SqlError::broken("commands out of sync. You can't run this command now")
}

const NULL: u8 = 0xFB;
