//! One HTTP/2 connection, driven by the fibers that use it.
//!
//! A fiber with something to send polls `h2` and writes what comes of it to the socket at once. A fiber that
//! waits drives the connection if nobody does: it is the one the reactor wakes when the socket has something,
//! it reads, polls `h2`, and `h2` wakes the fibers whose streams moved. When it is done while others wait, it
//! wakes one of them to drive on. There is no fiber of the connection's own, and nobody looks at an idle one:
//! what the server has said meanwhile is read when the next request wants to use it.

use std::{
    cell::{Cell, RefCell},
    net::SocketAddr,
    pin::pin,
    sync::Arc,
    task::{Context, Poll, Wake, Waker},
};

use bytes::Bytes;
use h2::client::{self, SendRequest};
use onrush_fiber::{Clock, FiberId, IoFailure, Nanos, Woke, current, park, unpark, yield_now};

use crate::{
    conn::{give_out, take_out},
    error::{NetError, Op},
    http1::TlsInfo,
    link::{Link, Origin, WireBytes},
    tls::Advance,
};

use super::{
    fault::Fault,
    fields,
    guard::{GoAway, reason},
    message::SessionDefaults,
    pipe::{Buffers, Pipe},
};

/// Windows and limits as Go's client announces them: a stream's window never throttles a body of a megabyte.
const STREAM_WINDOW_BYTES: u32 = 4 << 20;
const CONNECTION_WINDOW_BYTES: u32 = 1 << 30;
pub(super) const HEADER_LIST_BYTES_MAX: u32 = 10 << 20;
/// Streams opened before the server has said how many it takes, unless an earlier connection to it has.
const STREAMS_BEFORE_SETTINGS: u32 = 100;
/// Body bytes handed to `h2` ahead of the socket.
pub(super) const SEND_BYTES_MAX: usize = 64 << 10;
/// Reads in a row before other fibers have their turn.
const READS_IN_A_ROW_MAX: u32 = 16;

/// An HTTP/2 connection.
pub(crate) struct Session {
    link: RefCell<Link>,
    machine: RefCell<client::Connection<Pipe, Bytes>>,
    sender: RefCell<SendRequest<Bytes>>,
    pub(super) pipe: Pipe,
    /// Bytes for the socket that it has not taken.
    unsent: RefCell<Vec<u8>>,
    /// Exchanges under way.
    active: Cell<u32>,
    served: Cell<bool>,
    /// No further requests.
    is_closing: Cell<bool>,
    /// The fiber the reactor wakes for this socket.
    driver: Cell<Option<FiberId>>,
    /// Whether that fiber is also woken when the socket takes bytes again.
    watches_writing: Cell<bool>,
    /// The socket has not taken everything it was offered last.
    is_full: Cell<bool>,
    /// Fibers that wait while another one drives.
    followers: RefCell<Vec<Follower>>,
    /// Why it is over.
    ended: RefCell<Option<Box<Ended>>>,
    /// The last fiber's waker: most sessions have one user.
    waker: RefCell<Option<(FiberId, Waker)>>,
    reads: Cell<u32>,
    pub(super) defaults: RefCell<SessionDefaults>,
    peer: SocketAddr,
    tls: Option<Arc<TlsInfo>>,
}

/// A fiber that waits while another one drives.
#[derive(Debug, Clone, Copy)]
struct Follower {
    fiber: FiberId,
    /// It has bytes to send, or waits for its bytes to be out: `h2` does not wake it for that.
    sends: bool,
}

/// Why a session is over.
#[derive(Debug, Clone)]
pub(super) enum Ended {
    /// The socket, or TLS.
    Broken(NetError),
    /// The server closed it.
    Eof,
    /// One of the two sides broke the protocol.
    Fault(Fault),
}

impl Session {
    /// Begins to speak HTTP/2 over a connection: nothing is sent before the first request.
    pub(crate) fn new(link: Link) -> Result<Self, NetError> {
        let pipe = Pipe::default();
        let known = link.origin.streams.get();
        let streams = if known == 0 { STREAMS_BEFORE_SETTINGS } else { known };
        let (sender, machine) = machine(&pipe, streams)?;
        Ok(Self {
            peer: link.peer(),
            tls: link.tls_info(),
            link: RefCell::new(link),
            machine: RefCell::new(machine),
            sender: RefCell::new(sender),
            pipe,
            unsent: RefCell::default(),
            active: Cell::new(0),
            served: Cell::new(false),
            is_closing: Cell::new(false),
            driver: Cell::new(None),
            watches_writing: Cell::new(false),
            is_full: Cell::new(false),
            followers: RefCell::default(),
            ended: RefCell::default(),
            waker: RefCell::default(),
            reads: Cell::new(0),
            defaults: RefCell::default(),
        })
    }

    /// The server's address.
    pub(crate) fn peer(&self) -> SocketAddr {
        self.peer
    }

    /// What TLS negotiated.
    pub(crate) fn tls_info(&self) -> Option<Arc<TlsInfo>> {
        self.tls.clone()
    }

    /// Whether it goes to this origin.
    pub(crate) fn goes_to(&self, fits: impl FnOnce(&Origin) -> bool) -> bool {
        fits(&self.link.borrow().origin)
    }

    /// Whether it has carried a request.
    pub(crate) fn has_served(&self) -> bool {
        self.served.get()
    }

    /// Whether nobody uses it.
    pub(crate) fn is_idle(&self) -> bool {
        self.active.get() == 0
    }

    /// Takes no further requests.
    pub(crate) fn retire(&self) {
        self.is_closing.set(true);
    }

    /// Whether it will never take another request.
    pub(crate) fn is_over(&self) -> bool {
        self.is_closing.get() || self.ended.borrow().is_some() || self.pipe.borrow().guard.goaway().is_some()
    }

    /// Whether it can take another request now: looks at what the server has said while nobody waited.
    pub(crate) fn has_room(&self, wire: &WireBytes) -> bool {
        let is_unwatched = self.driver.get().is_none();
        if !self.is_over() && is_unwatched && self.link.borrow().stream().is_readable() {
            self.drive(wire);
        }
        let streams = self.sender.borrow().current_max_send_streams();
        !self.is_over() && usize::try_from(self.active.get()).is_ok_and(|active| active < streams)
    }

    /// An exchange begins: it counts until [`Session::leave`].
    pub(super) fn enter(&self) {
        self.active.set(self.active.get() + 1);
        self.served.set(true);
    }

    /// An exchange is over; its handles have been dropped. Tells the server what follows from that, and has somebody
    /// else drive.
    pub(super) fn leave(&self, wire: &WireBytes, is_clean: bool) {
        self.active.set(self.active.get() - 1);
        let streams = u32::try_from(self.sender.borrow().current_max_send_streams()).unwrap_or(u32::MAX);
        self.link.borrow().origin.streams.set(streams.max(1));
        if !is_clean {
            self.turn(wire);
        }
        self.hand_over();
    }

    /// Has one of the fibers that wait drive, if nobody does: for a fiber that goes on to something else.
    pub(super) fn hand_over(&self) {
        if self.driver.get().is_none()
            && let Some(next) = self.followers.borrow().first()
        {
            unpark(next.fiber);
        }
    }

    /// Opens a stream with a request's head.
    pub(super) fn open(
        &self,
        request: http::Request<()>,
        end: bool,
    ) -> Result<(client::ResponseFuture, h2::SendStream<Bytes>), h2::Error> {
        let opened = self.sender.borrow_mut().send_request(request, end)?;
        self.pipe.borrow().guard.open(opened.0.stream_id().as_u32());
        Ok(opened)
    }

    /// Why it is over, if it is.
    pub(super) fn ended(&self) -> Option<Ended> {
        self.ended.borrow().as_deref().cloned()
    }

    /// The last GOAWAY.
    pub(super) fn goaway(&self) -> Option<GoAway> {
        self.pipe.borrow().guard.goaway().cloned()
    }

    /// A waker for the current fiber.
    #[inline(never)]
    pub(super) fn waker(&self) -> Waker {
        let Some(fiber) = current() else { return Waker::noop().clone() };
        let mut kept = self.waker.borrow_mut();
        match &*kept {
            Some((of, waker)) if *of == fiber => waker.clone(),
            _ => {
                let waker = Waker::from(Arc::new(FiberWaker(fiber)));
                *kept = Some((fiber, waker.clone()));
                waker
            }
        }
    }

    /// Whether the kernel is asked when bytes of this connection arrive.
    pub(super) fn is_asked(&self) -> bool {
        self.link.borrow().stream().is_asked()
    }

    /// When the kernel had the last byte that was read, whichever stream it was for.
    pub(super) fn arrived(&self) -> Option<Nanos> {
        self.link.borrow().stream().arrived()
    }

    /// Waits until something may have happened to the current fiber's stream. The caller looks, and waits
    /// again. `sends` also wakes it when what waits for the socket is out.
    #[inline(never)]
    pub(super) fn wait(&self, sends: bool, deadline: Option<Nanos>, wire: &WireBytes) -> Result<(), IoFailure> {
        let me = current().ok_or(IoFailure::Cancelled)?;
        if let Some(driver) = self.driver.get()
            && driver != me
        {
            self.followers.borrow_mut().push(Follower { fiber: me, sends });
            let woke = park(deadline);
            self.followers.borrow_mut().retain(|other| other.fiber != me);
            return ended_wait(woke);
        }
        if self.ended.borrow().is_some() {
            // `h2` has been told, and its streams know: there is nothing to wait for.
            return Err(IoFailure::Io(std::io::ErrorKind::NotConnected.into()));
        }
        if self.link.borrow().stream().is_readable() && !self.pipe.borrow().is_stalled() {
            return self.drive_in_a_row(deadline, wire);
        }
        self.driver.set(Some(me));
        let noted = self.notify();
        let woke = if noted.is_ok() { park(deadline) } else { Woke::Ready };
        self.link.borrow().stream().notify_nobody();
        self.driver.set(None);
        self.watches_writing.set(false);
        noted?;
        if woke != Woke::Cancelled {
            self.drive(wire);
        }
        ended_wait(woke)
    }

    /// Has the current fiber woken when the socket has something or, where that is needed, takes something.
    fn notify(&self) -> Result<(), IoFailure> {
        let link = self.link.borrow();
        link.stream().notify_readable()?;
        if self.unsent.borrow().is_empty() {
            return Ok(());
        }
        self.watches_writing.set(true);
        link.stream().notify_writable()
    }

    /// Drives without waiting; now and then others have their turn first.
    fn drive_in_a_row(&self, deadline: Option<Nanos>, wire: &WireBytes) -> Result<(), IoFailure> {
        self.reads.set(self.reads.get().wrapping_add(1));
        if self.reads.get().is_multiple_of(READS_IN_A_ROW_MAX) && yield_now() == Woke::Cancelled {
            return Err(IoFailure::Cancelled);
        }
        if onrush_fiber::is_cancelled() {
            return Err(IoFailure::Cancelled);
        }
        if deadline.is_some_and(|deadline| deadline <= Clock::now()) {
            return Err(IoFailure::Timeout);
        }
        self.drive(wire);
        Ok(())
    }

    /// Reads what has arrived, once, and acts on it.
    #[inline(never)]
    fn drive(&self, wire: &WireBytes) {
        // Reading goes on while the socket takes nothing: the server may be waiting for just that. Only a server that
        // asks and does not listen is not read from, or what it is owed would fill our memory.
        if !self.pipe.borrow().is_stalled() {
            self.read(wire);
        }
        self.turn(wire);
    }

    fn read(&self, wire: &WireBytes) {
        let mut inbound = {
            let mut buffers = self.pipe.borrow();
            let kept = std::mem::take(&mut buffers.inbound);
            if kept.capacity() == 0 { take_out() } else { kept }
        };
        let pulled = pull(&mut self.link.borrow_mut(), wire, &mut inbound);
        self.pipe.borrow().inbound = inbound;
        let ended = match pulled {
            Ok(true) => return,
            Ok(false) => Ended::Eof,
            Err(error) => Ended::Broken(*error),
        };
        self.pipe.borrow().ended = true;
        self.end(ended);
    }

    /// Has `h2` work until nothing moves any more, and sends what it has to say. Whether all of it is out.
    #[inline(never)]
    pub(super) fn turn(&self, wire: &WireBytes) -> bool {
        loop {
            self.pipe.borrow().is_full = false;
            let polled = self.poll_machine();
            let verdict = self.pipe.borrow().verdict.clone();
            if let Some(fault) = verdict
                && self.ended.borrow().is_none()
            {
                self.say_goaway(fault.code());
                self.end(Ended::Fault(fault));
            } else if polled.is_ready() {
                self.end(Ended::Eof);
            }
            let is_flushed = self.flush(wire);
            let is_full = self.pipe.borrow().is_full;
            if is_full && is_flushed {
                continue;
            }
            if let Some(empty) = self.pipe.borrow().tidy() {
                give_out(empty);
            }
            self.pass_on(is_flushed);
            return is_flushed && !is_full;
        }
    }

    /// Tells the fibers that sleep what this one has done to the socket. Full: who drives must watch for the socket
    /// taking bytes again, which it may not have had a reason to. Empty: who has more to send can.
    fn pass_on(&self, is_flushed: bool) {
        let was_full = self.is_full.replace(!is_flushed);
        if !is_flushed {
            if let Some(driver) = self.driver.get()
                && !self.watches_writing.replace(true)
            {
                unpark(driver);
            }
        } else if was_full {
            for follower in self.followers.borrow().iter().filter(|follower| follower.sends) {
                unpark(follower.fiber);
            }
        }
    }

    fn poll_machine(&self) -> Poll<()> {
        let mut machine = self.machine.borrow_mut();
        match std::pin::Pin::new(&mut *machine).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(result) => {
                if let Err(error) = result
                    && error.is_library()
                    && error.is_go_away()
                {
                    self.end(Ended::Fault(self.library_fault(&error)));
                }
                Poll::Ready(())
            }
        }
    }

    /// Writes what the socket takes. False when something is left.
    fn flush(&self, wire: &WireBytes) -> bool {
        let mut unsent = self.unsent.borrow_mut();
        loop {
            if unsent.is_empty() {
                let outbound = std::mem::take(&mut self.pipe.borrow().outbound);
                if outbound.is_empty() {
                    return true;
                }
                match seal(&mut self.link.borrow_mut(), outbound) {
                    Ok(sealed) => *unsent = sealed,
                    Err(error) => {
                        self.end(Ended::Broken(*error));
                        return true;
                    }
                }
            }
            let wrote = self.link.borrow().stream().try_write(&unsent);
            wire.add_sent(wrote.as_ref().ok().copied().flatten().unwrap_or_default());
            match wrote {
                Ok(Some(count)) if count == unsent.len() => {
                    give_out(std::mem::take(&mut unsent));
                }
                Ok(Some(count)) => {
                    unsent.drain(..count);
                }
                Ok(None) => return false,
                Err(failure) => {
                    *unsent = Vec::new();
                    // What has arrived before the socket broke can still be read: reading tells.
                    let ends = self.link.borrow().ends();
                    if !self.link.borrow().stream().is_readable() {
                        self.end(Ended::Broken(NetError::waiting(Op::Write, &failure, ends)));
                    }
                    return true;
                }
            }
        }
    }

    /// Notes why it is over, the first time. Who waits finds out.
    fn end(&self, why: Ended) {
        let mut ended = self.ended.borrow_mut();
        if ended.is_none() {
            *ended = Some(Box::new(why));
            for follower in &*self.followers.borrow() {
                unpark(follower.fiber);
            }
        }
    }

    /// What `h2` found wrong, in Go's terms.
    #[cold]
    pub(super) fn library_fault(&self, error: &h2::Error) -> Fault {
        library_fault(&self.pipe.borrow(), error)
    }

    /// A GOAWAY of our own making, behind whatever `h2` has written.
    fn say_goaway(&self, code: u32) {
        const HEAD: [u8; 13] = [0, 0, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        let outbound = &mut self.pipe.borrow().outbound;
        outbound.extend_from_slice(&HEAD);
        outbound.extend_from_slice(&code.to_be_bytes());
    }
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").field("peer", &self.peer).field("active", &self.active).finish_non_exhaustive()
    }
}

/// `h2`, speaking over a pipe to a server that is known to take so many streams.
pub(super) fn machine(
    pipe: &Pipe,
    streams: u32,
) -> Result<(SendRequest<Bytes>, client::Connection<Pipe, Bytes>), NetError> {
    let mut builder = client::Builder::new();
    builder
        .initial_window_size(STREAM_WINDOW_BYTES)
        .initial_connection_window_size(CONNECTION_WINDOW_BYTES)
        .max_header_list_size(HEADER_LIST_BYTES_MAX)
        .initial_max_send_streams(usize::try_from(streams).unwrap_or(usize::MAX))
        .max_send_buffer_size(SEND_BYTES_MAX)
        .enable_push(false);
    // Writing into a pipe never waits, so this is ready at once.
    let handshake = pin!(builder.handshake::<_, Bytes>(pipe.clone()));
    let Poll::Ready(made) = handshake.poll(&mut Context::from_waker(Waker::noop())) else {
        return Err(NetError::generic("http2: no room for the preface"));
    };
    made.map_err(|error| NetError::generic(format!("http2: {error}")))
}

/// What `h2` found wrong, in Go's terms: what it says of a header block is about compression, or about a field that no
/// message may have, and a flood of fields is a protocol error.
pub(super) fn library_fault(buffers: &Buffers, error: &h2::Error) -> Fault {
    let code = error.reason().map_or(reason::PROTOCOL_ERROR, u32::from);
    match code {
        reason::PROTOCOL_ERROR if !buffers.guard.is_at_headers() => Fault::connection(code),
        reason::PROTOCOL_ERROR if fields::is_hpack(buffers.last_block()) => {
            Fault::Stream { stream: buffers.guard.last_stream(), code, from_peer: false }
        }
        reason::PROTOCOL_ERROR => Fault::connection(reason::COMPRESSION_ERROR),
        reason::ENHANCE_YOUR_CALM if buffers.guard.is_at_headers() => Fault::connection(reason::PROTOCOL_ERROR),
        code => Fault::connection(code),
    }
}

/// Reads once what has arrived, without waiting, and appends it, decrypted; false at the end of the stream.
fn pull(link: &mut Link, wire: &WireBytes, inbound: &mut Vec<u8>) -> Result<bool, Box<NetError>> {
    if link.is_tls() {
        let advance = link.pull_tls(wire, |bytes| inbound.extend_from_slice(bytes)).map_err(Box::new)?;
        return Ok(advance != Advance::Closed);
    }
    link.pull_plain(wire, |bytes| {
        inbound.extend_from_slice(bytes.unwrap_or_default());
        bytes.is_none_or(|bytes| !bytes.is_empty())
    })
}

/// What goes over the wire for `plain`.
fn seal(link: &mut Link, plain: Vec<u8>) -> Result<Vec<u8>, Box<NetError>> {
    if !link.is_tls() {
        return Ok(plain);
    }
    let mut records = take_out();
    link.encrypt(&plain, &mut records).map_err(Box::new)?;
    give_out(plain);
    Ok(records)
}

fn ended_wait(woke: Woke) -> Result<(), IoFailure> {
    match woke {
        Woke::Ready => Ok(()),
        Woke::Timeout => Err(IoFailure::Timeout),
        Woke::Cancelled => Err(IoFailure::Cancelled),
    }
}

struct FiberWaker(FiberId);

impl Wake for FiberWaker {
    fn wake(self: Arc<Self>) {
        unpark(self.0);
    }

    fn wake_by_ref(self: &Arc<Self>) {
        unpark(self.0);
    }
}
