//! One HTTP/1.1 connection: moving bytes between a link and a response reader.

use std::{cell::Cell, net::SocketAddr, rc::Rc, sync::Arc};

use bytes::Bytes;
use onrush_fiber::{Clock, IoFailure, Nanos, Woke, yield_now};

use crate::{
    error::{Ends, NetError},
    http1::{Fed, ResponseReader, TlsInfo},
    link::{Link, Origin, WireBytes},
    tls::Advance,
};

/// From this size on, what is missing of a body is read straight into the body.
const DIRECT_READ_BYTES_MIN: usize = 16 << 10;
/// This much of a body is copied behind its head, so that most requests go out in one write.
const INLINE_BODY_BYTES_MAX: usize = 16 << 10;
/// Writes and reads of a long request between two chances for other fibers.
const PUSH_ROUNDS_MAX: u32 = 16;
/// Plaintext encrypted at a time: two full records. While a socket takes no more, this much waits in memory for each
/// upload; what is not encrypted yet is shared.
const TLS_WRITE_BYTES: usize = 32 << 10;
/// A write buffer that grew beyond this is not kept for the next request.
const OUT_BYTES_KEPT: usize = 64 << 10;

thread_local! {
    /// The buffer requests are serialised into. Taken while one is written: a fiber that has to wait in its write keeps
    /// it, and the next one starts a new one.
    static OUT: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// An open connection that speaks HTTP/1.1.
pub(crate) struct Conn {
    link: Link,
}

/// What came of one read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// Bytes were fed; the response goes on.
    More,
    /// The response is complete. `clean` when nothing came after it, so that the connection can be used again.
    Done { clean: bool },
    /// The peer has closed its side.
    Eof,
    /// Nothing for the reader yet.
    Again,
}

/// How sending a request ended.
pub(crate) enum Sent {
    /// All of it is out.
    All,
    /// The peer has answered in full, or closed, before it had read it all.
    Answered(Step),
}

/// Why a request could not be sent.
pub(crate) enum SendFailure {
    /// The socket. `sent_any` says whether the peer may have received a part.
    Socket { failure: IoFailure, sent_any: bool },
    /// What came back meanwhile was wrong, or TLS.
    Other(Box<NetError>),
}

impl Conn {
    /// A connection over a link.
    pub(crate) fn new(link: Link) -> Self {
        Self { link }
    }

    /// Where it goes.
    pub(crate) fn origin(&self) -> &Rc<Origin> {
        &self.link.origin
    }

    /// The peer's address.
    pub(crate) fn peer(&self) -> SocketAddr {
        self.link.peer()
    }

    /// Both ends' addresses, for an error's text.
    pub(crate) fn ends(&self) -> Ends {
        self.link.ends()
    }

    /// When the kernel had the last byte that was read, on connections that are asked.
    pub(crate) fn arrived(&self) -> Option<Nanos> {
        self.link.stream().arrived()
    }

    /// Whether the kernel is asked when bytes of this connection arrive.
    pub(crate) fn is_asked(&self) -> bool {
        self.link.stream().is_asked()
    }

    /// What TLS negotiated.
    pub(crate) fn tls_info(&self) -> Option<Arc<TlsInfo>> {
        self.link.tls_info()
    }

    /// Whether an idle connection can be used: the peer has neither closed it nor said anything.
    pub(crate) fn is_fresh(&mut self, wire: &WireBytes) -> bool {
        self.link.is_fresh(wire)
    }

    /// Writes a request's head and the pieces of its body, which are not copied but for the first bytes.
    ///
    /// While a long request does not fit into the socket, what the peer already answers is fed to `reader`: a server
    /// that answers while it reads would otherwise wait for us as we wait for it.
    #[inline(never)]
    pub(crate) fn send(
        &mut self,
        head: &mut Vec<u8>,
        body: &[Bytes],
        reader: &mut ResponseReader,
        deadline: Option<Nanos>,
        wire: &WireBytes,
    ) -> Result<Sent, SendFailure> {
        let rest = inline_body(head, body);
        if self.link.is_tls() {
            return self.send_tls(head, rest, reader, deadline, wire);
        }
        for (number, piece) in std::iter::once(&head[..]).chain(rest).enumerate() {
            match self.push(piece, reader, deadline, wire) {
                Ok(Sent::All) => {}
                Err(SendFailure::Socket { failure, sent_any }) => {
                    return Err(SendFailure::Socket { failure, sent_any: sent_any || number > 0 });
                }
                other => return other,
            }
        }
        Ok(Sent::All)
    }

    #[inline(never)]
    fn send_tls(
        &mut self,
        head: &[u8],
        rest: Rest<'_>,
        reader: &mut ResponseReader,
        deadline: Option<Nanos>,
        wire: &WireBytes,
    ) -> Result<Sent, SendFailure> {
        let mut records = take_out();
        for (number, piece) in
            std::iter::once(head).chain(rest.flat_map(|piece| piece.chunks(TLS_WRITE_BYTES))).enumerate()
        {
            records.clear();
            self.link.encrypt(piece, &mut records).map_err(|error| SendFailure::Other(Box::new(error)))?;
            match self.push(&records, reader, deadline, wire) {
                Ok(Sent::All) => {}
                Ok(Sent::Answered(step)) => return Ok(Sent::Answered(step)),
                Err(SendFailure::Socket { failure, sent_any }) => {
                    return Err(SendFailure::Socket { failure, sent_any: sent_any || number > 0 });
                }
                Err(other) => return Err(other),
            }
        }
        give_out(records);
        Ok(Sent::All)
    }

    /// Writes all of `bytes`, reading what comes in meanwhile.
    #[inline(never)]
    fn push(
        &mut self,
        mut bytes: &[u8],
        reader: &mut ResponseReader,
        deadline: Option<Nanos>,
        wire: &WireBytes,
    ) -> Result<Sent, SendFailure> {
        let mut sent_any = false;
        let socket = |failure: IoFailure, sent_any: bool| SendFailure::Socket { failure, sent_any };
        let mut rounds = 0_u32;
        while !bytes.is_empty() {
            rounds += 1;
            if rounds.is_multiple_of(PUSH_ROUNDS_MAX) {
                // A peer that is as fast as we are must not own the thread.
                if yield_now() == Woke::Cancelled {
                    return Err(socket(IoFailure::Cancelled, sent_any));
                }
                if deadline.is_some_and(|deadline| deadline <= Clock::now()) {
                    return Err(socket(IoFailure::Timeout, sent_any));
                }
            }
            match self.link.stream().try_write(bytes) {
                Ok(Some(count)) => {
                    wire.add_sent(count);
                    sent_any = true;
                    bytes = &bytes[count..];
                    continue;
                }
                Ok(None) => {}
                Err(failure) => return Err(socket(failure, sent_any)),
            }
            if !self.link.stream().is_readable() {
                self.link.stream().wait_any(deadline).map_err(|failure| socket(failure, sent_any))?;
                continue;
            }
            match self.receive_now(reader, wire) {
                Ok(Step::More | Step::Again) => {}
                Ok(step) => return Ok(Sent::Answered(step)),
                Err(error) => return Err(SendFailure::Other(error)),
            }
        }
        Ok(Sent::All)
    }

    /// Waits for bytes and feeds them to `reader`.
    pub(crate) fn receive(
        &mut self,
        reader: &mut ResponseReader,
        deadline: Option<Nanos>,
        wire: &WireBytes,
    ) -> Result<Step, Box<NetError>> {
        if self.link.is_tls() {
            return self.receive_tls(reader, deadline, wire);
        }
        if let Some(space) = reader.direct_space(DIRECT_READ_BYTES_MIN) {
            let count = self.link.stream().read(space, deadline).map_err(|failure| self.link.read_error(&failure))?;
            wire.add_received(count);
            return Ok(match reader.advance(count) {
                _ if count == 0 => Step::Eof,
                Fed::More => Step::More,
                Fed::Done { .. } => Step::Done { clean: true },
            });
        }
        self.link.wait_readable(deadline)?;
        self.receive_now(reader, wire)
    }

    /// Feeds what has arrived, without waiting.
    pub(crate) fn receive_now(&mut self, reader: &mut ResponseReader, wire: &WireBytes) -> Result<Step, Box<NetError>> {
        if self.link.is_tls() {
            return self.feed_tls(reader, wire);
        }
        self.link.pull_plain(wire, |bytes| match bytes {
            None => Ok(Step::Again),
            Some([]) => Ok(Step::Eof),
            Some(bytes) => Ok(match reader.feed(bytes)? {
                Fed::Done { used } => Step::Done { clean: used == bytes.len() },
                Fed::More => Step::More,
            }),
        })?
    }

    fn receive_tls(
        &mut self,
        reader: &mut ResponseReader,
        deadline: Option<Nanos>,
        wire: &WireBytes,
    ) -> Result<Step, Box<NetError>> {
        self.link.wait_readable(deadline)?;
        let step = self.feed_tls(reader, wire)?;
        self.link.flush(deadline, wire)?;
        Ok(step)
    }

    #[inline(never)]
    fn feed_tls(&mut self, reader: &mut ResponseReader, wire: &WireBytes) -> Result<Step, Box<NetError>> {
        let mut outcome = Ok(None);
        let mut excess = false;
        let advance = self.link.pull_tls(wire, |data| match outcome {
            Ok(None | Some(Fed::More)) => {
                outcome = reader.feed(data).map(Some);
                if let Ok(Some(Fed::Done { used })) = outcome {
                    excess = used < data.len();
                }
            }
            Ok(Some(Fed::Done { .. })) => excess = true,
            Err(_) => {}
        })?;
        Ok(match outcome? {
            Some(Fed::Done { .. }) => Step::Done { clean: !excess && advance != Advance::Closed },
            _ if advance == Advance::Closed => Step::Eof,
            Some(Fed::More) => Step::More,
            None => Step::Again,
        })
    }
}

/// What of a body does not go out with its head.
#[derive(Clone)]
struct Rest<'a> {
    pieces: std::slice::Iter<'a, Bytes>,
    /// How much of the first piece is with the head already.
    skip: usize,
}

impl<'a> Iterator for Rest<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let skip = std::mem::take(&mut self.skip);
        self.pieces.next().map(|piece| &piece[skip..])
    }
}

/// Copies the beginning of a body behind its head and returns what is left of it.
fn inline_body<'a>(head: &mut Vec<u8>, body: &'a [Bytes]) -> Rest<'a> {
    let mut room = INLINE_BODY_BYTES_MAX;
    for (index, piece) in body.iter().enumerate() {
        let count = piece.len().min(room);
        head.extend_from_slice(&piece[..count]);
        room -= count;
        if count < piece.len() {
            return Rest { pieces: body[index..].iter(), skip: count };
        }
    }
    Rest { pieces: [].iter(), skip: 0 }
}

/// Takes the thread's write buffer, empty.
pub(crate) fn take_out() -> Vec<u8> {
    let mut out = OUT.take();
    out.clear();
    out
}

/// Gives the write buffer back.
pub(crate) fn give_out(out: Vec<u8>) {
    if out.capacity() <= OUT_BYTES_KEPT {
        // The larger one stays: HTTP/2 has two of them out at times.
        let other = OUT.take();
        OUT.set(if other.capacity() > out.capacity() { other } else { out });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_of_a_body_goes_with_its_head() {
        let check = |lengths: &[usize], inline: usize, rest: &[usize]| {
            let body: Vec<Bytes> = lengths.iter().map(|length| vec![b'x'; *length].into()).collect();
            let mut head = b"head".to_vec();
            let left: Vec<usize> = inline_body(&mut head, &body).map(<[u8]>::len).collect();
            assert_eq!((head.len() - 4, &left[..]), (inline, rest), "{lengths:?}");
        };
        const MAX: usize = INLINE_BODY_BYTES_MAX;
        check(&[], 0, &[]);
        check(&[10], 10, &[]);
        check(&[MAX], MAX, &[]);
        check(&[MAX + 1], MAX, &[1]);
        check(&[10, MAX, 5], MAX, &[10, 5]);
        check(&[MAX, 5], MAX, &[5]);
    }
}
