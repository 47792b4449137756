//! Compression of messages, RFC 7692: what is agreed on, and both directions of it.
//!
//! A compressor is a quarter of a megabyte, a decompressor 40 KB. Where messages do not refer to earlier ones, the
//! sockets of a thread take turns with one of each.

use std::cell::Cell;

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};

use super::decoder::ReadError;

/// What both sides agreed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Agreement {
    /// The server's messages refer to its earlier ones.
    pub server_keeps_context: bool,
    /// Our messages refer to earlier ones.
    pub client_keeps_context: bool,
}

impl Agreement {
    /// Neither side refers to earlier messages: what k6 asks for.
    pub const NO_CONTEXT: Self = Self { server_keeps_context: false, client_keeps_context: false };
}

thread_local! {
    static SPARE_INFLATE: Cell<Option<Box<Decompress>>> = const { Cell::new(None) };
    static SPARE_COMPRESS: Cell<Option<Box<Compress>>> = const { Cell::new(None) };
}

/// What ends each compressed message, and is not sent.
const TAIL: [u8; 4] = [0, 0, 0xff, 0xff];
/// Bytes decompressed or compressed in a step: some milliseconds.
const STEP_BYTES: usize = 1 << 20;
/// Room for what a step gives, at first.
const ROOM_BYTES: usize = 512;

/// Decompresses a server's messages.
#[derive(Debug)]
pub(super) struct Inflater {
    agreement: Agreement,
    /// The state that messages share, where they do.
    state: Option<Box<Decompress>>,
}

/// A message that is being decompressed.
#[derive(Debug)]
pub(super) struct Inflating {
    is_text: bool,
    packed: Vec<u8>,
    at: usize,
    payload: Vec<u8>,
    state: Option<Box<Decompress>>,
}

impl Inflater {
    pub(super) fn new(agreement: Agreement) -> Self {
        Self { agreement, state: None }
    }

    pub(super) fn begin(&mut self, is_text: bool, mut packed: Vec<u8>) -> Inflating {
        packed.extend_from_slice(&TAIL);
        let state = if self.agreement.server_keeps_context {
            self.state.take().unwrap_or_else(|| Box::new(Decompress::new(false)))
        } else {
            let mut state = SPARE_INFLATE.take().unwrap_or_else(|| Box::new(Decompress::new(false)));
            state.reset(false);
            state
        };
        Inflating { is_text, packed, at: 0, payload: Vec::new(), state: Some(state) }
    }
}

impl Inflating {
    pub(super) fn held_bytes(&self) -> usize {
        self.packed.capacity() + self.payload.capacity()
    }

    /// Goes on for a while; whether that was all.
    ///
    /// # Errors
    /// When the message is no compressed one, or is larger than it may be.
    pub(super) fn step(&mut self, _: &Inflater, bytes_max: usize) -> Result<bool, ReadError> {
        let Some(state) = &mut self.state else { return Ok(true) };
        let end = self.payload.len().saturating_add(STEP_BYTES);
        loop {
            if self.payload.len() > bytes_max {
                return Err(ReadError::compressed(&format!(
                    "it holds more than the {} MiB there are for a message",
                    bytes_max >> 20
                )));
            }
            if self.payload.len() >= end {
                return Ok(false);
            }
            if self.payload.len() == self.payload.capacity() {
                let guess = self.packed.len().saturating_mul(2).min(STEP_BYTES);
                self.payload.reserve(self.payload.len().min(STEP_BYTES).max(guess).max(ROOM_BYTES));
            }
            let (before_in, before_out) = (state.total_in(), self.payload.len());
            let input = self.packed.get(self.at..).unwrap_or_default();
            let status = state
                .decompress_vec(input, &mut self.payload, FlushDecompress::Sync)
                .map_err(|error| ReadError::compressed(error.message().unwrap_or("it is damaged")))?;
            self.at += (state.total_in() - before_in) as usize;
            // A last block ends the message, whatever follows it.
            if status == Status::StreamEnd {
                state.reset(false);
                return Ok(self.payload.len() <= bytes_max);
            }
            let has_room = self.payload.len() < self.payload.capacity();
            if self.at >= self.packed.len() && has_room {
                return Ok(true);
            }
            if state.total_in() == before_in && self.payload.len() == before_out && has_room {
                return Err(ReadError::compressed("it ends too early"));
            }
        }
    }

    /// The message; its state goes back.
    pub(super) fn finish(&mut self, inflater: &mut Inflater) -> (bool, Vec<u8>) {
        let state = self.state.take();
        if inflater.agreement.server_keeps_context {
            inflater.state = state;
        } else {
            SPARE_INFLATE.set(state);
        }
        (self.is_text, std::mem::take(&mut self.payload))
    }
}

/// Compresses our messages.
#[derive(Debug)]
pub(super) struct Deflater {
    agreement: Agreement,
    state: Option<Box<Compress>>,
}

impl Deflater {
    pub(super) fn new(agreement: Agreement) -> Self {
        Self { agreement, state: None }
    }

    /// Compresses a message. Large ones take a while: `breathe` is called now and then.
    pub(super) fn deflate(&mut self, payload: &[u8], mut breathe: impl FnMut()) -> Vec<u8> {
        let new = || Box::new(Compress::new(Compression::fast(), false));
        let mut state = if self.agreement.client_keeps_context {
            self.state.take().unwrap_or_else(new)
        } else {
            let mut state = SPARE_COMPRESS.take().unwrap_or_else(new);
            state.reset();
            state
        };
        let mut packed = Vec::with_capacity(payload.len() / 2 + ROOM_BYTES);
        let mut pieces = payload.chunks(STEP_BYTES).peekable();
        let mut piece = pieces.next().unwrap_or_default();
        loop {
            let is_last = pieces.peek().is_none();
            let flush = if is_last { FlushCompress::Sync } else { FlushCompress::None };
            let before = state.total_in();
            // Only a stream that was finished fails, and this one never is.
            let failed = state.compress_vec(piece, &mut packed, flush).is_err();
            piece = piece.get((state.total_in() - before) as usize..).unwrap_or_default();
            let is_through = piece.is_empty() && packed.len() < packed.capacity();
            if failed || is_through && is_last {
                break;
            }
            if is_through {
                piece = pieces.next().unwrap_or_default();
                breathe();
            } else {
                packed.reserve(piece.len() / 2 + ROOM_BYTES);
            }
        }
        if packed.ends_with(&TAIL) {
            packed.truncate(packed.len() - TAIL.len());
        }
        if self.agreement.client_keeps_context {
            self.state = Some(state);
        } else {
            SPARE_COMPRESS.set(Some(state));
        }
        packed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inflated(inflater: &mut Inflater, packed: Vec<u8>, bytes_max: usize) -> Result<Vec<u8>, ReadError> {
        let mut inflating = inflater.begin(true, packed);
        while !inflating.step(inflater, bytes_max)? {}
        Ok(inflating.finish(inflater).1)
    }

    #[test]
    fn what_goes_in_comes_out() {
        for keeps in [false, true] {
            let agreement = Agreement { server_keeps_context: keeps, client_keeps_context: keeps };
            let (mut deflater, mut inflater) = (Deflater::new(agreement), Inflater::new(agreement));
            let mut sizes = Vec::new();
            for length in [0, 1, 100, 100, 5000, 3 << 20] {
                let text: Vec<u8> = (0..length).map(|at: usize| (at * at / 7 % 251) as u8).collect();
                let packed = deflater.deflate(&text, || {});
                sizes.push(packed.len());
                assert_eq!(inflated(&mut inflater, packed, 4 << 20).unwrap(), text);
            }
            // The second hundred bytes are known already.
            assert_eq!(sizes[3] < sizes[2], keeps, "{sizes:?}");
        }
    }

    #[test]
    fn the_examples_of_the_rfc() {
        let mut inflater = Inflater::new(Agreement { server_keeps_context: true, client_keeps_context: true });
        let hello = [0xf2, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00];
        assert_eq!(inflated(&mut inflater, hello.to_vec(), 100).unwrap(), b"Hello");
        assert_eq!(inflated(&mut inflater, vec![0xf2, 0x00, 0x11, 0x00, 0x00], 100).unwrap(), b"Hello");
        // Not compressed, a last block, two blocks.
        let stored = [0x00, 0x05, 0x00, 0xfa, 0xff, 0x48, 0x65, 0x6c, 0x6c, 0x6f, 0x00];
        assert_eq!(inflated(&mut inflater, stored.to_vec(), 100).unwrap(), b"Hello");
        let last = [0xf3, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00, 0x00];
        assert_eq!(inflated(&mut inflater, last.to_vec(), 100).unwrap(), b"Hello");
        let two = [0xf2, 0x48, 0x05, 0x00, 0x00, 0x00, 0xff, 0xff, 0xca, 0xc9, 0xc9, 0x07, 0x00];
        assert_eq!(inflated(&mut inflater, two.to_vec(), 100).unwrap(), b"Hello");
    }

    #[test]
    fn bombs_and_damage_are_errors() {
        let mut inflater = Inflater::new(Agreement::NO_CONTEXT);
        let bomb = Deflater::new(Agreement::NO_CONTEXT).deflate(&vec![0; 8 << 20], || {});
        assert!(bomb.len() < 1 << 20, "{}", bomb.len());
        let error = inflated(&mut inflater, bomb, 1 << 20).unwrap_err();
        assert!(error.to_string().contains("more than the 1 MiB"), "{error}");
        let error = inflated(&mut inflater, vec![0xff; 20], 1 << 20).unwrap_err();
        assert_eq!(error.close_code, 1007);
        // The next message is not the worse for it.
        let packed = Deflater::new(Agreement::NO_CONTEXT).deflate(b"fine", || {});
        assert_eq!(inflated(&mut inflater, packed, 100).unwrap(), b"fine");
    }
}
