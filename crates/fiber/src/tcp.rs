//! TCP connections that suspend the fiber instead of blocking the thread.
//!
//! A connection is registered with the kernel once, edge-triggered, for its whole life: a request costs its write, its
//! read and no bookkeeping call. Every operation tries first unless it is known to be in vain, and suspends only when
//! the kernel says "not now".

use std::{
    cell::Cell,
    io::{self, IoSlice},
    marker::PhantomData,
    net::{IpAddr, Shutdown, SocketAddr},
    os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd},
    path::Path,
    time::Duration,
};

use rustix::{
    io::Errno,
    net::{
        AddressFamily, RecvFlags, SendFlags, SocketAddrUnix, SocketFlags, SocketType, ipproto, socket_with, sockopt,
    },
};

use crate::{
    arrival,
    clock::{Clock, Nanos},
    fiber::Woke,
    limits::Shortages,
    local,
    readiness::{BROKEN, CLOSED, Direction, READABLE, Token, WRITABLE},
};

/// After this many reads and writes without a wait a fiber lets others run: a peer that sends faster than we read must
/// not own the thread.
const IO_STREAK_MAX: u32 = 64;
/// Between two tries to connect to a Unix domain socket whose queue is full.
const UNIX_RETRY: Duration = Duration::from_millis(1);
/// Buffers handed to the kernel in one vectored write.
const VECTORED_MAX: usize = 16;

/// The kernel is not asked when bytes arrive.
const NOT_ASKED: Nanos = Nanos::MAX;

/// Why an operation on a socket failed.
#[derive(Debug, thiserror::Error)]
pub enum IoFailure {
    /// The system's error; its `raw_os_error` is kept.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The deadline passed.
    #[error("deadline exceeded")]
    Timeout,
    /// The fiber was cancelled.
    #[error("cancelled")]
    Cancelled,
}

impl From<Errno> for IoFailure {
    fn from(errno: Errno) -> Self {
        IoFailure::Io(errno.into())
    }
}

/// A TCP connection of the current thread's reactor. Closed when dropped.
///
/// All methods take `&self`: one fiber may read while another one writes (each direction has room for one waiting
/// fiber; a second one gets [`io::ErrorKind::ResourceBusy`]).
#[derive(Debug)]
pub struct TcpStream {
    fd: OwnedFd,
    token: Token,
    peer: SocketAddr,
    /// When the kernel had the last byte of the last read. [`NOT_ASKED`] for connections that are not asked, zero where it is
    /// not known.
    arrived: Cell<Nanos>,
    /// It is registered with its thread's reactor.
    _not_send: PhantomData<*mut ()>,
}

impl TcpStream {
    /// Connects to `addr`, from `local` if given. Nagle's algorithm is off.
    ///
    /// # Errors
    ///
    /// The system's error (`ECONNREFUSED`, `EMFILE`, `EADDRNOTAVAIL` ...), or why the wait ended.
    ///
    /// # Panics
    ///
    /// Outside of a fiber.
    pub fn connect(addr: SocketAddr, local: Option<IpAddr>, deadline: Option<Nanos>) -> Result<TcpStream, IoFailure> {
        let reactor = local::inner().expect("connect is called on a fiber");
        let (fd, pending) = begin(addr, local).inspect_err(|errno| Shortages::note(*errno))?;
        // After `connect`: an unconnected socket would be reported as hung up.
        let token = reactor.sockets.borrow_mut().insert();
        let is_asked = reactor.arrivals.borrow_mut().is_next() && arrival::ask(&fd);
        let arrived = Cell::new(if is_asked { Nanos::ZERO } else { NOT_ASKED });
        let stream = TcpStream { fd, token, peer: addr, arrived, _not_send: PhantomData };
        reactor.poller.add_socket(&stream.fd, token)?;
        if pending {
            stream.wait(Direction::Write, deadline)?;
            sockopt::socket_error(&stream.fd)??;
        } else {
            reactor.sockets.borrow_mut().set(token, WRITABLE);
        }
        Ok(stream)
    }

    /// Connects to a Unix domain socket: a stream like any other, whose peer has no address and no port (`0.0.0.0:0`).
    ///
    /// # Errors
    ///
    /// The system's error (`ENOENT`, `ECONNREFUSED`, `EACCES` ...), or why the wait ended.
    ///
    /// # Panics
    ///
    /// Outside of a fiber.
    // As for `begin`: its frame is not one of those that wait for a connection over TCP.
    #[inline(never)]
    pub fn connect_unix(path: &Path, deadline: Option<Nanos>) -> Result<TcpStream, IoFailure> {
        let reactor = local::inner().expect("connect_unix is called on a fiber");
        let addr = SocketAddrUnix::new(path)?;
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        let fd = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
        loop {
            match rustix::net::connect(&fd, &addr) {
                Ok(()) => break,
                Err(Errno::INTR) => {}
                // The server's queue is full, and there is no event to wait for.
                Err(Errno::AGAIN) => {
                    let next = Clock::now() + UNIX_RETRY;
                    if deadline.is_some_and(|deadline| deadline <= next) {
                        return Err(IoFailure::Timeout);
                    }
                    if local::sleep_until(next) == Woke::Cancelled {
                        return Err(IoFailure::Cancelled);
                    }
                }
                Err(errno) => return Err(errno.into()),
            }
        }
        let token = reactor.sockets.borrow_mut().insert();
        let peer = SocketAddr::from(([0, 0, 0, 0], 0));
        let stream = TcpStream { fd, token, peer, arrived: Cell::new(NOT_ASKED), _not_send: PhantomData };
        reactor.poller.add_socket(&stream.fd, token)?;
        reactor.sockets.borrow_mut().set(token, WRITABLE);
        Ok(stream)
    }

    /// Reads what is there, waiting for it if necessary; zero bytes at the end of the stream (or into an empty buffer).
    ///
    /// The deadline ends a wait. Bytes that are there are returned even when it has passed, so who reads in a loop
    /// checks it as well (a long streak of reads is checked here).
    ///
    /// # Errors
    ///
    /// The system's error (`ECONNRESET` ...), or why the wait ended.
    ///
    /// # Panics
    ///
    /// Outside of a fiber, if it has to wait.
    pub fn read(&self, buf: &mut [u8], deadline: Option<Nanos>) -> Result<usize, IoFailure> {
        breathe(deadline)?;
        loop {
            if let Some(count) = self.try_read(buf)? {
                return Ok(count);
            }
            self.wait(Direction::Read, deadline)?;
        }
    }

    /// Reads what is there now; `None` if nothing is. Makes no system call when it is known that nothing has arrived
    /// since the last read.
    ///
    /// # Errors
    ///
    /// The system's error.
    pub fn try_read(&self, buf: &mut [u8]) -> Result<Option<usize>, IoFailure> {
        let bits = self.bits();
        if bits & (READABLE | CLOSED) == 0 {
            return Ok(None);
        }
        let wanted = buf.len();
        loop {
            // Not `read`: that goes through the kernel's file layer first, for nothing.
            let received = if self.is_asked() {
                arrival::recv(&self.fd, buf).map(|(count, at)| {
                    self.arrived.set(at.unwrap_or_default());
                    count
                })
            } else {
                rustix::net::recv(&self.fd, &mut *buf, RecvFlags::empty()).map(|(_, count)| count)
            };
            match received {
                Ok(count) => {
                    // A short read has emptied the socket: what comes later is reported as a new edge. The end of the
                    // stream is reported only once, so it stays readable.
                    if count < wanted && count > 0 {
                        self.clear(READABLE);
                    }
                    return Ok(Some(count));
                }
                Err(Errno::AGAIN) => {
                    self.clear(READABLE | CLOSED);
                    return Ok(None);
                }
                Err(Errno::INTR) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
    }

    /// When the kernel had the last byte that the last read returned. `None` for connections that are not asked (see
    /// [`crate::ask_arrivals`]), before the first read, and where the kernel does not say.
    #[must_use]
    #[inline]
    pub fn arrived(&self) -> Option<Nanos> {
        Some(self.arrived.get()).filter(|at| *at > Nanos::ZERO && *at < NOT_ASKED)
    }

    /// Whether the kernel is asked when bytes of this connection arrive.
    #[must_use]
    #[inline]
    pub fn is_asked(&self) -> bool {
        self.arrived.get() != NOT_ASKED
    }

    /// Writes what the socket takes now; `None` if that is nothing.
    ///
    /// # Errors
    ///
    /// The system's error.
    pub fn try_write(&self, buf: &[u8]) -> Result<Option<usize>, IoFailure> {
        if self.bits() & (WRITABLE | BROKEN) == 0 {
            return Ok(None);
        }
        loop {
            match rustix::net::send(&self.fd, buf, SendFlags::NOSIGNAL) {
                Ok(sent) => return Ok(Some(sent)),
                Err(Errno::AGAIN) => {
                    self.clear(WRITABLE | BROKEN);
                    return Ok(None);
                }
                Err(Errno::INTR) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
    }

    /// Has the current fiber [`unpark`](crate::unpark)ed whenever something arrives (or the stream
    /// ends), until another wait for reading is over. With [`try_read`](TcpStream::try_read) this is
    /// what a poll function for [`block_on`](crate::block_on) needs: try, ask to be notified, say
    /// "pending".
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::ResourceBusy`] if another fiber waits for reading.
    ///
    /// # Panics
    ///
    /// Outside of a fiber.
    pub fn notify_readable(&self) -> Result<(), IoFailure> {
        self.register(Direction::Read)
    }

    /// As [`notify_readable`](TcpStream::notify_readable), for when the socket takes bytes again
    /// after [`try_write`](TcpStream::try_write) returned `None`.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::ResourceBusy`] if another fiber waits for writing.
    ///
    /// # Panics
    ///
    /// Outside of a fiber.
    pub fn notify_writable(&self) -> Result<(), IoFailure> {
        self.register(Direction::Write)
    }

    /// Ends what [`notify_readable`](TcpStream::notify_readable) and
    /// [`notify_writable`](TcpStream::notify_writable) began, so that another fiber can ask. Only for the
    /// fiber that asked.
    pub fn notify_nobody(&self) {
        self.unregister(Direction::Read);
        self.unregister(Direction::Write);
    }

    /// Writes all of `buf`.
    ///
    /// # Errors
    ///
    /// The system's error (`EPIPE`, `ECONNRESET` ...), or why a wait ended; a part may have been written then.
    ///
    /// # Panics
    ///
    /// Outside of a fiber, if it has to wait.
    pub fn write_all(&self, mut buf: &[u8], deadline: Option<Nanos>) -> Result<(), IoFailure> {
        while !buf.is_empty() {
            let sent = self.write_some(deadline, || rustix::net::send(&self.fd, buf, SendFlags::NOSIGNAL))?;
            buf = buf.get(sent..).unwrap_or_default();
        }
        Ok(())
    }

    /// Writes all of the buffers in order, in as few system calls as possible.
    ///
    /// # Errors
    ///
    /// As [`TcpStream::write_all`].
    ///
    /// # Panics
    ///
    /// Outside of a fiber, if it has to wait.
    pub fn write_vectored_all(&self, bufs: &[IoSlice<'_>], deadline: Option<Nanos>) -> Result<(), IoFailure> {
        let mut bufs = bufs;
        // Bytes of the first buffer that are out already.
        let mut skip = 0;
        loop {
            while let Some(first) = bufs.first()
                && skip >= first.len()
            {
                skip -= first.len();
                bufs = &bufs[1..];
            }
            if bufs.is_empty() {
                return Ok(());
            }
            let mut part = [IoSlice::new(&[]); VECTORED_MAX];
            let count = bufs.len().min(VECTORED_MAX);
            part[..count].copy_from_slice(&bufs[..count]);
            part[0].advance(skip);
            skip += self.write_some(deadline, || {
                let mut control = rustix::net::SendAncillaryBuffer::default();
                rustix::net::sendmsg(&self.fd, &part[..count], &mut control, SendFlags::NOSIGNAL)
            })?;
        }
    }

    /// Repeats `send` until the socket takes something.
    fn write_some(
        &self,
        deadline: Option<Nanos>,
        mut send: impl FnMut() -> rustix::io::Result<usize>,
    ) -> Result<usize, IoFailure> {
        breathe(deadline)?;
        loop {
            if self.bits() & (WRITABLE | BROKEN) == 0 {
                self.wait(Direction::Write, deadline)?;
            }
            match send() {
                Ok(sent) => return Ok(sent),
                Err(Errno::AGAIN) => self.clear(WRITABLE | BROKEN),
                Err(Errno::INTR) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
    }

    /// Whether the peer has closed its side or the connection broke: check before reuse. Answered from what the kernel
    /// has reported; asks it only if something had arrived.
    ///
    /// Bytes that arrived unasked do not count as closed; see [`TcpStream::is_readable`].
    #[must_use]
    pub fn is_closed_by_peer(&self) -> bool {
        let bits = self.bits();
        if bits & CLOSED != 0 {
            return true;
        }
        if bits & READABLE == 0 {
            return false;
        }
        let mut byte = [0u8];
        match rustix::net::recv(&self.fd, &mut byte, RecvFlags::PEEK | RecvFlags::DONTWAIT) {
            Ok((_, count)) => count == 0,
            Err(Errno::AGAIN) => {
                self.clear(READABLE);
                false
            }
            Err(Errno::INTR) => false,
            Err(_) => true,
        }
    }

    /// Whether bytes, or the end of the stream, may be waiting: what the kernel has reported and no read has used up.
    /// No system call.
    #[must_use]
    pub fn is_readable(&self) -> bool {
        self.bits() & (READABLE | CLOSED) != 0
    }

    /// Waits until [`TcpStream::is_readable`], without reading: for readers that share one buffer among many
    /// connections and must not hold it while they wait.
    ///
    /// # Errors
    ///
    /// Why the wait ended.
    ///
    /// # Panics
    ///
    /// Outside of a fiber, if it has to wait.
    pub fn wait_readable(&self, deadline: Option<Nanos>) -> Result<(), IoFailure> {
        if self.is_readable() { Ok(()) } else { self.wait(Direction::Read, deadline) }
    }

    /// Waits until something arrives (or the stream ends) or the socket takes bytes: for who sends much and must read
    /// meanwhile. Returns at once if either is so already.
    ///
    /// # Errors
    ///
    /// Why the wait ended.
    ///
    /// # Panics
    ///
    /// Outside of a fiber, if it has to wait.
    pub fn wait_any(&self, deadline: Option<Nanos>) -> Result<(), IoFailure> {
        let either = Direction::Read.bits() | Direction::Write.bits();
        if self.bits() & either != 0 {
            return Ok(());
        }
        self.register(Direction::Read)?;
        if let Err(busy) = self.register(Direction::Write) {
            self.unregister(Direction::Read);
            return Err(busy);
        }
        let result = loop {
            let woke = local::park(deadline);
            if woke != Woke::Cancelled && self.bits() & either != 0 {
                break Ok(());
            }
            match woke {
                Woke::Ready => {}
                Woke::Timeout => break Err(IoFailure::Timeout),
                Woke::Cancelled => break Err(IoFailure::Cancelled),
            }
        };
        self.unregister(Direction::Read);
        self.unregister(Direction::Write);
        result
    }

    /// The address it is connected to.
    #[must_use]
    pub fn peer_addr(&self) -> SocketAddr {
        self.peer
    }

    /// The address it is connected from.
    ///
    /// # Errors
    ///
    /// The system's error.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        let name = rustix::net::getsockname(&self.fd)?;
        Ok(SocketAddr::try_from(name)?)
    }

    /// Shuts down one or both directions.
    ///
    /// # Errors
    ///
    /// The system's error (`ENOTCONN` if the peer is gone).
    pub fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        use rustix::net::Shutdown as How;
        let how = match how {
            Shutdown::Read => How::Read,
            Shutdown::Write => How::Write,
            Shutdown::Both => How::Both,
        };
        Ok(rustix::net::shutdown(&self.fd, how)?)
    }

    /// Closes it; the same as dropping it.
    pub fn close(self) {}

    /// The descriptor, for socket options. Duplicates of it would keep its registration alive.
    #[must_use]
    pub fn raw_fd(&self) -> RawFd {
        self.fd.as_raw_fd()
    }

    /// Suspends the current fiber until the socket may be ready.
    fn wait(&self, direction: Direction, deadline: Option<Nanos>) -> Result<(), IoFailure> {
        self.register(direction)?;
        let result = loop {
            let woke = local::park(deadline);
            // What has arrived counts, even if this thread was too busy to notice it in time.
            if woke != Woke::Cancelled && self.bits() & direction.bits() != 0 {
                break Ok(());
            }
            match woke {
                Woke::Ready => {}
                Woke::Timeout => break Err(IoFailure::Timeout),
                Woke::Cancelled => break Err(IoFailure::Cancelled),
            }
        };
        self.unregister(direction);
        result
    }

    fn unregister(&self, direction: Direction) {
        if let Some(reactor) = local::inner() {
            reactor.sockets.borrow_mut().unwait(self.token, direction);
        }
    }

    /// Makes the current fiber the one to wake.
    fn register(&self, direction: Direction) -> Result<(), IoFailure> {
        let fiber = local::current().expect("only fibers can wait for a socket");
        let reactor = local::inner().expect("a fiber has a reactor");
        if reactor.sockets.borrow_mut().wait(self.token, direction, fiber) {
            return Ok(());
        }
        let error = "another fiber waits for this socket already";
        Err(io::Error::new(io::ErrorKind::ResourceBusy, error).into())
    }

    #[inline]
    fn bits(&self) -> u8 {
        match local::inner() {
            Some(reactor) => reactor.sockets.borrow_mut().bits(self.token),
            None => CLOSED | BROKEN,
        }
    }

    #[inline]
    fn clear(&self, bits: u8) {
        if let Some(reactor) = local::inner() {
            reactor.sockets.borrow_mut().clear(self.token, bits);
        }
    }
}

impl Drop for TcpStream {
    fn drop(&mut self) {
        if let Some(reactor) = local::inner() {
            reactor.sockets.borrow_mut().remove(self.token);
        }
    }
}

impl AsFd for TcpStream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// Has the port chosen at connect instead of at bind (Linux since 4.2).
#[expect(unsafe_code, reason = "no safe wrapper for this socket option")]
fn bind_address_no_port(fd: &OwnedFd) -> io::Result<()> {
    let on: libc::c_int = 1;
    // SAFETY: the option's value is an int that lives through the call.
    let result = unsafe {
        libc::setsockopt(
            fd.as_raw_fd(),
            libc::IPPROTO_IP,
            libc::IP_BIND_ADDRESS_NO_PORT,
            (&raw const on).cast(),
            size_of_val(&on) as libc::socklen_t,
        )
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Counts operations that did not have to wait; after a streak of them, lets others run.
#[inline]
fn breathe(deadline: Option<Nanos>) -> Result<(), IoFailure> {
    let Some(reactor) = local::inner() else {
        return Ok(());
    };
    let streak: &Cell<u32> = &reactor.io_streak;
    streak.set(streak.get() + 1);
    if streak.get() < IO_STREAK_MAX || reactor.current_index().is_none() {
        return Ok(());
    }
    streak.set(0);
    if local::yield_now() == Woke::Cancelled {
        return Err(IoFailure::Cancelled);
    }
    match deadline {
        Some(at) if at <= Clock::now() => Err(IoFailure::Timeout),
        _ => Ok(()),
    }
}

/// A socket that connects, and whether that takes a while. Its frame is not one that waits: thousands of VUs may connect
/// at once, and what is on the stacks of those that wait is kept for each.
#[inline(never)]
fn begin(addr: SocketAddr, local: Option<IpAddr>) -> rustix::io::Result<(OwnedFd, bool)> {
    let family = if addr.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let fd = socket_with(family, SocketType::STREAM, flags, Some(ipproto::TCP))?;
    sockopt::set_tcp_nodelay(&fd, true)?;
    if let Some(ip) = local {
        // The kernel then picks the port at connect, where one port serves many destinations. An old kernel that cannot
        // has fewer ports, no other harm.
        let _ = bind_address_no_port(&fd);
        rustix::net::bind(&fd, &SocketAddr::new(ip, 0))?;
    }
    match rustix::net::connect(&fd, &addr) {
        Ok(()) => Ok((fd, false)),
        Err(Errno::INPROGRESS | Errno::INTR) => Ok((fd, true)),
        Err(errno) => Err(errno),
    }
}
