//! A connection that no longer speaks HTTP: what is left after `101 Switching Protocols`.
//!
//! It knows nothing of what goes over it. One fiber may read while others write; writers take turns, so that what each
//! writes stays together. No `RefCell` is borrowed while a fiber waits. [`crate::client`] makes it, over the same dial
//! path as requests.

use std::{
    cell::{Cell, RefCell},
    net::SocketAddr,
    rc::Rc,
    sync::Arc,
};

use onrush_fiber::{Clock, IoFailure, Nanos, TcpStream};

use crate::{
    error::{Ends, NetError, Op},
    http1::TlsInfo,
    link::{Link, Origin, WireBytes, pull_plain, pull_tls},
    tls::{Advance, TlsSession, to_net_error},
    turns::Turns,
};

/// Plaintext encrypted at a time: two full records.
const TLS_WRITE_BYTES: usize = 32 << 10;

/// An open connection, TLS on it or not, for another protocol than HTTP. Dropping it closes it.
pub struct Wire {
    stream: TcpStream,
    tls: Option<RefCell<Box<TlsSession>>>,
    origin: Rc<Origin>,
    counts: Rc<WireBytes>,
    /// What came with the response's head.
    early: RefCell<Vec<u8>>,
    writers: Turns,
    /// What [`Wire::try_write`] could not write: it goes out before anything else, in the order it came.
    rest: RefCell<Vec<u8>>,
    /// Bytes of it that [`Wire::finish_writes`] has taken and is writing.
    finishing_bytes: Cell<usize>,
    /// The peer has closed its side.
    is_closed: Cell<bool>,
    /// A write broke off in the middle: nothing that follows would make sense to the peer.
    is_cut: Cell<bool>,
}

impl Wire {
    pub(crate) fn new(link: Link, early: Vec<u8>, counts: Rc<WireBytes>) -> Self {
        let (stream, tls, origin) = link.into_parts();
        Self {
            stream,
            tls: tls.map(RefCell::new),
            origin,
            counts,
            early: RefCell::new(early),
            writers: Turns::default(),
            rest: RefCell::default(),
            finishing_bytes: Cell::new(0),
            is_closed: Cell::new(false),
            is_cut: Cell::new(false),
        }
    }

    /// The link below, if nothing is under way on it and there is no TLS.
    pub(crate) fn into_link(self) -> Option<Link> {
        let is_quiet =
            self.early.borrow().is_empty() && self.rest.borrow().is_empty() && self.finishing_bytes.get() == 0;
        let is_open = !self.is_closed.get() && !self.is_cut.get();
        (is_quiet && is_open && self.tls.is_none()).then(|| Link::new(self.stream, self.origin))
    }

    /// Waits for bytes and appends them to `out`: one read's. False when the peer has closed its side.
    ///
    /// # Errors
    /// The socket's or TLS's failure, or why the wait ended. After a timeout it can be read on.
    pub fn read(&self, out: &mut Vec<u8>, deadline: Option<Nanos>) -> Result<bool, NetError> {
        if self.take_early(out) {
            return Ok(true);
        }
        if self.is_closed.get() {
            return Ok(false);
        }
        loop {
            self.stream.wait_readable(deadline).map_err(|failure| self.failed(Op::Read, &failure))?;
            let pulled = self.pull(out)?;
            self.flush(deadline)?;
            if let Some(is_more) = pulled {
                return Ok(is_more);
            }
            if deadline.is_some_and(|deadline| deadline <= Clock::now()) {
                // A peer that sends half a record at a time must not outlive the deadline.
                return Err(NetError::timeout());
            }
        }
    }

    /// Appends what is there to `out` without waiting: one read's. `None` when nothing is, `Some(false)` when the peer has
    /// closed its side. What TLS answers by itself may be left to [`Wire::finish_writes`].
    ///
    /// # Errors
    /// The socket's or TLS's failure.
    pub fn try_read(&self, out: &mut Vec<u8>) -> Result<Option<bool>, NetError> {
        if self.take_early(out) {
            return Ok(Some(true));
        }
        if self.is_closed.get() {
            return Ok(Some(false));
        }
        if !self.stream.is_readable() {
            return Ok(None);
        }
        let pulled = self.pull(out)?;
        if let Some(tls) = &self.tls
            && tls.borrow().has_outgoing()
        {
            let records = tls.borrow_mut().take_outgoing();
            self.try_put(&records)?;
        }
        Ok(pulled)
    }

    /// Waits until [`Wire::try_read`] has something to say, or may have.
    ///
    /// # Errors
    /// Why the wait ended.
    pub fn wait_readable(&self, deadline: Option<Nanos>) -> Result<(), NetError> {
        if !self.early.borrow().is_empty() || self.is_closed.get() {
            return Ok(());
        }
        self.stream.wait_readable(deadline).map_err(|failure| self.failed(Op::Read, &failure))
    }

    /// Has the current fiber unparked whenever something arrives, until it or another one waits for this wire.
    ///
    /// # Errors
    /// When another fiber waits for it.
    pub fn notify_readable(&self) -> Result<(), NetError> {
        self.stream.notify_readable().map_err(|failure| self.failed(Op::Read, &failure))
    }

    /// Writes without waiting. What the socket does not take now is kept, for [`Wire::finish_writes`] on any fiber; false
    /// when there is such a rest.
    ///
    /// # Errors
    /// The socket's or TLS's failure.
    pub fn try_write(&self, bytes: &[u8]) -> Result<bool, NetError> {
        if self.is_cut.get() {
            return Err(cut_off());
        }
        let Some(tls) = &self.tls else { return self.try_put(bytes) };
        let mut records = tls.borrow_mut().take_outgoing();
        for piece in bytes.chunks(TLS_WRITE_BYTES) {
            tls.borrow_mut().encrypt(piece, &mut records).map_err(|error| to_net_error(&error, &self.origin.host))?;
        }
        self.try_put(&records)
    }

    /// Writes what [`Wire::try_write`] has left.
    ///
    /// # Errors
    /// The socket's failure, or why the wait ended.
    pub fn finish_writes(&self, deadline: Option<Nanos>) -> Result<(), NetError> {
        let _turn = self.writers.take(deadline).map_err(|failure| self.failed(Op::Write, &failure))?;
        loop {
            let rest = self.rest.take();
            if rest.is_empty() {
                return Ok(());
            }
            if self.is_cut.get() {
                return Err(cut_off());
            }
            self.finishing_bytes.set(rest.len());
            let put = self.put(&rest, deadline);
            self.finishing_bytes.set(0);
            put?;
        }
    }

    /// Bytes that [`Wire::try_write`] has left and that are not all written yet.
    pub fn unsent_bytes(&self) -> usize {
        self.rest.borrow().len() + self.finishing_bytes.get()
    }

    /// Writes all of `bytes`, after what other fibers are writing.
    ///
    /// # Errors
    /// The socket's or TLS's failure, or why the wait ended. If a part is out by then, nothing can be written any more.
    pub fn write_all(&self, bytes: &[u8], deadline: Option<Nanos>) -> Result<(), NetError> {
        let _turn = self.writers.take(deadline).map_err(|failure| self.failed(Op::Write, &failure))?;
        if self.is_cut.get() {
            return Err(cut_off());
        }
        let Some(tls) = &self.tls else {
            let rest = self.rest.take();
            self.put(&rest, deadline)?;
            return self.put(bytes, deadline);
        };
        for piece in bytes.chunks(TLS_WRITE_BYTES) {
            let mut records = self.rest.take();
            {
                let mut tls = tls.borrow_mut();
                records.append(&mut tls.take_outgoing());
                tls.encrypt(piece, &mut records).map_err(|error| to_net_error(&error, &self.origin.host))?;
            }
            self.put(&records, deadline)?;
        }
        // What a reader has made TLS say meanwhile.
        let mut records = self.rest.take();
        records.append(&mut tls.borrow_mut().take_outgoing());
        self.put(&records, deadline)
    }

    /// Ends the connection both ways, whoever waits for it: what is not sent yet is lost.
    pub fn shut_down(&self) {
        self.is_cut.set(true);
        // One that is gone already is shut down enough.
        let _ = self.stream.shutdown(std::net::Shutdown::Both);
    }

    /// Whether a read would return at once, or may.
    pub fn is_readable(&self) -> bool {
        !self.early.borrow().is_empty() || self.stream.is_readable()
    }

    /// The peer's address: the proxy's, if there is one between.
    pub fn peer(&self) -> SocketAddr {
        self.stream.peer_addr()
    }

    /// Our own address, if the socket still has one.
    pub fn local(&self) -> Option<SocketAddr> {
        self.stream.local_addr().ok()
    }

    /// What TLS negotiated.
    pub fn tls_info(&self) -> Option<Arc<TlsInfo>> {
        self.tls.as_ref().and_then(|tls| tls.borrow().info().cloned())
    }

    /// Sends what TLS answers by itself.
    fn flush(&self, deadline: Option<Nanos>) -> Result<(), NetError> {
        let Some(tls) = &self.tls else { return Ok(()) };
        // Who is writing sends it: waiting for that here could be waiting for a peer that waits to be read.
        if !tls.borrow().has_outgoing() || self.writers.is_taken() {
            return Ok(());
        }
        let _turn = self.writers.take(deadline).map_err(|failure| self.failed(Op::Write, &failure))?;
        let mut records = self.rest.take();
        records.append(&mut tls.borrow_mut().take_outgoing());
        self.put(&records, deadline)
    }

    /// Moves what came with the response's head to `out`, if that has not happened yet.
    fn take_early(&self, out: &mut Vec<u8>) -> bool {
        let early = self.early.take();
        out.extend_from_slice(&early);
        !early.is_empty()
    }

    /// Reads once without waiting.
    fn pull(&self, out: &mut Vec<u8>) -> Result<Option<bool>, NetError> {
        let before = out.len();
        let is_open = match &self.tls {
            None => pull_plain(&self.stream, &self.counts, |bytes| {
                bytes.is_none_or(|bytes| {
                    out.extend_from_slice(bytes);
                    !bytes.is_empty()
                })
            })
            .map_err(|failure| self.failed(Op::Read, &failure))?,
            Some(tls) => {
                let sink = |bytes: &[u8]| out.extend_from_slice(bytes);
                pull_tls(&self.stream, &mut tls.borrow_mut(), &self.origin, &self.counts, sink)? != Advance::Closed
            }
        };
        self.is_closed.set(!is_open);
        let has_read = out.len() > before;
        Ok((has_read || !is_open).then_some(is_open || has_read))
    }

    /// Writes what the socket takes now, and keeps the rest.
    fn try_put(&self, bytes: &[u8]) -> Result<bool, NetError> {
        let mut rest = self.rest.borrow_mut();
        let mut left = bytes;
        if rest.is_empty() && !self.writers.is_taken() {
            while !left.is_empty() {
                match self.stream.try_write(left) {
                    Ok(Some(sent)) => {
                        self.counts.add_sent(sent);
                        left = left.get(sent..).unwrap_or_default();
                    }
                    Ok(None) => break,
                    Err(failure) => {
                        self.is_cut.set(true);
                        return Err(self.failed(Op::Write, &failure));
                    }
                }
            }
        }
        rest.extend_from_slice(left);
        Ok(rest.is_empty())
    }

    fn put(&self, bytes: &[u8], deadline: Option<Nanos>) -> Result<(), NetError> {
        match self.stream.write_all(bytes, deadline) {
            Ok(()) => {
                self.counts.add_sent(bytes.len());
                Ok(())
            }
            Err(failure) => {
                self.is_cut.set(true);
                Err(self.failed(Op::Write, &failure))
            }
        }
    }

    fn failed(&self, op: Op, failure: &IoFailure) -> NetError {
        NetError::waiting(op, failure, Ends { local: self.stream.local_addr().ok(), peer: self.peer() })
    }
}

fn cut_off() -> NetError {
    NetError::generic("an earlier write was cut off")
}

impl std::fmt::Debug for Wire {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Wire").field("peer", &self.peer()).finish_non_exhaustive()
    }
}
