//! The byte stream `h2` sees: two buffers, with the [`guard`](super::guard) between what arrived and `h2`.
//!
//! Nothing here waits. Reading gives out at most the rest of one frame, so that the guard has judged exactly what `h2`
//! is about to look at; writing stops when the buffer is full, so that `h2` keeps what does not go out.

use std::{
    cell::{RefCell, RefMut},
    io,
    pin::Pin,
    rc::Rc,
    task::{Context, Poll},
};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::conn::take_out;

use super::{
    fault::Fault,
    guard::{FRAME_BYTES_MAX, Guard, HEAD_BYTES, Head},
};

/// Bytes that wait to be sent at most: four frames. Beyond this `h2` has to wait.
pub(super) const OUTBOUND_BYTES_MAX: usize = 64 << 10;

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
    /// Whether `h2` has left a whole frame: it cannot go on before what it has to say is out, and nothing more is to be
    /// read until it does.
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

#[cfg(test)]
mod tests {
    use std::task::Waker;

    use proptest::prelude::*;

    use super::*;
    use crate::http2::guard::kind;

    fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
        let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
        let mut out = length[1..].to_vec();
        out.extend_from_slice(&[kind, flags]);
        out.extend_from_slice(&stream.to_be_bytes());
        out.extend_from_slice(payload);
        out
    }

    fn read(pipe: &mut Pipe, room: usize) -> Poll<Vec<u8>> {
        let mut space = vec![0; room];
        let mut out = ReadBuf::new(&mut space);
        let polled = Pin::new(pipe).poll_read(&mut Context::from_waker(Waker::noop()), &mut out);
        polled.map(|_| out.filled().to_vec())
    }

    #[test]
    fn frames_come_out_one_at_a_time_once_they_are_judged() {
        let mut pipe = Pipe::default();
        let (settings, ping) = (frame(kind::SETTINGS, 0, 0, &[0, 3, 0, 0, 0, 9]), frame(kind::PING, 0, 0, &[7; 8]));
        let bad = frame(kind::PING, 0, 0, &[7; 9]);
        let all = [&settings[..], &ping, &bad].concat();
        pipe.borrow().inbound.extend_from_slice(&all[..12]);
        assert!(read(&mut pipe, 100).is_pending(), "what it sets is not there yet");
        pipe.borrow().inbound.extend_from_slice(&all[12..]);
        assert_eq!(read(&mut pipe, 100), Poll::Ready(settings));
        assert_eq!(read(&mut pipe, 10), Poll::Ready(ping[..10].to_vec()));
        assert_eq!(read(&mut pipe, 100), Poll::Ready(ping[10..].to_vec()));
        assert_eq!(read(&mut pipe, 100), Poll::Ready(Vec::new()), "to h2 the connection has ended");
        assert_eq!(pipe.borrow().verdict, Some(Fault::connection(6)));
    }

    #[test]
    fn the_end_comes_after_what_has_arrived() {
        let mut pipe = Pipe::default();
        pipe.borrow().inbound.extend_from_slice(&frame(kind::SETTINGS, 0, 0, &[]));
        pipe.borrow().ended = true;
        assert_eq!(read(&mut pipe, 100).map(|bytes| bytes.len()), Poll::Ready(9));
        assert_eq!(read(&mut pipe, 100), Poll::Ready(Vec::new()));
    }

    #[test]
    fn a_full_pipe_makes_its_writer_wait() {
        let mut pipe = Pipe::default();
        let context = &mut Context::from_waker(Waker::noop());
        let written = Pin::new(&mut pipe).poll_write(context, &vec![0; OUTBOUND_BYTES_MAX + 1]);
        assert!(matches!(written, Poll::Ready(Ok(OUTBOUND_BYTES_MAX))));
        assert!(Pin::new(&mut pipe).poll_write(context, b"x").is_pending());
        assert!(pipe.borrow().is_full);
    }

    #[test]
    fn a_header_block_is_judged_the_same_in_pieces() {
        let settings = frame(kind::SETTINGS, 0, 0, &[]);
        // No HPACK, and a name in capitals: Go ends the connection for the one and the stream for the other.
        for block in [&[0x88, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f][..], &[0x88, 0, 1, b'A', 1, b'b']] {
            let wire = [&settings[..], &frame(kind::HEADERS, 5, 1, block)].concat();
            for step in 0..20 {
                crate::http2::fuzz(&[&[step], &wire[..]].concat());
            }
        }
    }

    fn wire() -> impl Strategy<Value = Vec<u8>> {
        let payload = prop_oneof![
            proptest::collection::vec(any::<u8>(), 0..30),
            Just(vec![0x88]),
            Just(vec![0x88, 0x40, 1, b'a', 1, b'b']),
            Just(vec![0; 4]),
            Just(vec![0, 0, 0, 9]),
            Just(vec![0; 8]),
            Just(vec![0, 4, 0, 0, 0xff, 0xff]),
        ];
        let stream = prop_oneof![Just(0_u32), Just(1), Just(1), Just(1), Just(2), Just(3), any::<u32>()];
        let flags = prop_oneof![Just(0_u8), Just(1), Just(4), Just(5), any::<u8>()];
        let one = (0_u8..12, flags, stream, payload)
            .prop_map(|(kind, flags, stream, payload)| frame(kind, flags, stream, &payload));
        let start = prop_oneof![Just(frame(kind::SETTINGS, 0, 0, &[])), Just(Vec::new())];
        (start, proptest::collection::vec(one, 0..12)).prop_map(|(start, frames)| [start, frames.concat()].concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn no_frames_are_a_panic(wire in wire(), control in any::<u8>()) {
            crate::http2::fuzz(&[&[control], &wire[..]].concat());
        }
    }
}
