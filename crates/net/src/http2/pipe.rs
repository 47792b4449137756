//! The byte stream `h2` sees: two buffers, with the [`guard`](super::guard) between what arrived and `h2`.
//!
//! Nothing here waits. Reading gives out at most the rest of one frame, so that the guard has judged exactly
//! what `h2` is about to look at; writing stops when the buffer is full, so that `h2` keeps what does not go out.

use std::cell::{RefCell, RefMut};
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::conn::take_out;

use super::fault::Fault;
use super::guard::{FRAME_BYTES_MAX, Guard, HEAD_BYTES, Head};

/// Bytes that wait to be sent at most: four frames. Beyond this `h2` has to wait.
const OUTBOUND_BYTES_MAX: usize = 64 << 10;

/// Both directions of a connection; `h2` has one handle, the session the other.
#[derive(Debug, Clone, Default)]
pub(super) struct Pipe(Rc<RefCell<Buffers>>);

/// What is in the pipe.
#[derive(Debug, Default)]
pub(super) struct Buffers {
    /// What arrived, decrypted.
    pub(super) inbound: Vec<u8>,
    /// How much of it `h2` has had.
    taken: usize,
    /// Bytes of the current frame that `h2` may have without asking the guard.
    free: usize,
    /// What has to be sent, before encryption.
    pub(super) outbound: Vec<u8>,
    /// No bytes will follow those that are in `inbound`.
    pub(super) ended: bool,
    /// `h2` wanted to write and could not.
    pub(super) is_full: bool,
    pub(super) guard: Guard,
    /// Why the guard has closed the connection.
    pub(super) verdict: Option<Fault>,
}

impl Pipe {
    pub(super) fn borrow(&self) -> RefMut<'_, Buffers> {
        self.0.borrow_mut()
    }
}

impl Buffers {
    /// Whether `h2` has left a whole frame: it cannot go on before what it has to say is out, and nothing
    /// more is to be read until it does.
    pub(super) fn is_stalled(&self) -> bool {
        self.inbound.len() - self.taken >= HEAD_BYTES + FRAME_BYTES_MAX
    }

    /// The header block in the frame `h2` had last; empty when it is not one frame's.
    pub(super) fn last_block(&self) -> &[u8] {
        let start = self.taken.saturating_sub(self.guard.last_bytes());
        let payload = &self.inbound[start..self.taken];
        self.guard.last_block(payload).map_or(&[], |range| &payload[range])
    }

    /// Forgets what `h2` has had; the buffer is returned when nothing is left in it.
    pub(super) fn tidy(&mut self) -> Option<Vec<u8>> {
        if self.taken == self.inbound.len() {
            self.taken = 0;
            self.inbound.clear();
            return Some(std::mem::take(&mut self.inbound));
        }
        self.inbound.drain(..self.taken);
        self.taken = 0;
        None
    }

    fn take(&mut self, out: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        while self.free == 0 && self.verdict.is_none() {
            match self.next_frame() {
                Ok(true) => {}
                Ok(false) => break,
                Err(fault) => self.verdict = Some(fault),
            }
        }
        let rest = &self.inbound[self.taken..];
        let count = self.free.min(rest.len()).min(out.remaining());
        if count > 0 && self.verdict.is_none() {
            out.put_slice(&rest[..count]);
            self.taken += count;
            self.free -= count;
            return Poll::Ready(Ok(()));
        }
        // The end of the stream is a read of nothing.
        if self.ended || self.verdict.is_some() { Poll::Ready(Ok(())) } else { Poll::Pending }
    }

    /// Judges the frame that begins here; false when it has not arrived far enough.
    fn next_frame(&mut self) -> Result<bool, Fault> {
        let rest = &self.inbound[self.taken..];
        let Some((head, payload)) = rest.split_first_chunk::<HEAD_BYTES>() else { return Ok(false) };
        let head = Head::parse(head);
        if head.needs_payload() {
            // Its length is judged first: what is too long is not waited for.
            if payload.len() < head.length && !self.ended && head.length <= FRAME_BYTES_MAX {
                return Ok(false);
            }
            self.guard.judge_head(head)?;
            self.guard.judge_payload(head, &payload[..head.length.min(payload.len())])?;
        } else {
            self.guard.judge_head(head)?;
        }
        self.free = HEAD_BYTES + head.length;
        Ok(true)
    }
}

impl AsyncRead for Pipe {
    fn poll_read(self: Pin<&mut Self>, _: &mut Context<'_>, out: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        self.borrow().take(out)
    }
}

impl AsyncWrite for Pipe {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let mut buffers = self.borrow();
        let count = OUTBOUND_BYTES_MAX.saturating_sub(buffers.outbound.len()).min(bytes.len());
        if count == 0 && !bytes.is_empty() {
            buffers.is_full = true;
            return Poll::Pending;
        }
        if buffers.outbound.capacity() == 0 {
            buffers.outbound = take_out();
        }
        buffers.outbound.extend_from_slice(&bytes[..count]);
        Poll::Ready(Ok(count))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
