//! One thread: an epoll loop over a listener or two and their connections.

use std::{
    io,
    net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream},
    os::fd::{AsFd, OwnedFd},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use rustix::{
    buffer::spare_capacity,
    event::epoll::{self, CreateFlags, Event, EventData, EventFlags},
    io::Errno,
    net::{SocketFlags, acceptfrom_with},
    time::Timespec,
};
use rustls::{ServerConfig, ServerConnection};

use crate::{
    clock::{NANOS_PER_MILLI, NANOS_PER_SEC, monotonic_ns, wall_seconds},
    connection::{Connection, NEVER, Outcome},
    context::Context,
    fault::Break,
    transport::{Transport, reset},
};

/// Events taken from the kernel at once.
const EVENTS_MAX: usize = 512;
/// Connections accepted from one listener before others get their turn.
const ACCEPTS_MAX: usize = 256;
/// Events handled between two looks at the delay timers: at some 5 µs an event this bounds how much a busy thread makes
/// a delay late.
const EVENTS_PER_TIMER_LOOK: usize = 8;
/// Connections beyond the limit that get a 503; further ones are just closed.
const REFUSED_MAX: usize = 128;
/// Pause after the system ran out of file descriptors or memory.
const ACCEPT_PAUSE_NS: u64 = 50 * NANOS_PER_MILLI;

const LISTENER: u64 = u64::MAX;
const TLS_LISTENER: u64 = u64::MAX - 1;
const WAKER: u64 = u64::MAX - 2;
const TIMER: u64 = u64::MAX - 3;

/// What a thread needs to begin.
pub(crate) struct Parts {
    pub(crate) listener: TcpListener,
    pub(crate) tls: Option<(TcpListener, Arc<ServerConfig>)>,
    pub(crate) waker: Arc<OwnedFd>,
    pub(crate) stop: Arc<AtomicBool>,
    pub(crate) context: Context,
}

/// One thread's loop.
pub(crate) struct Worker {
    epoll: OwnedFd,
    listener: TcpListener,
    tls: Option<(TcpListener, Arc<ServerConfig>)>,
    stop: Arc<AtomicBool>,
    cx: Context,
    slots: Vec<Slot>,
    free: Vec<u32>,
    /// Time limits by slot, apart from the connections so that looking at all of them once a second touches little
    /// memory.
    deadlines_s: Vec<u32>,
    open: usize,
    /// Bytes all connections hold together.
    buffered_bytes: usize,
    /// Connections that had their turn and have more to do.
    again: Vec<(u32, u32)>,
    accept_paused_until_ns: Option<u64>,
    /// Kept so that the descriptor epoll watches stays open.
    _waker: Arc<OwnedFd>,
}

#[derive(Default)]
struct Slot {
    /// Tells this connection from earlier ones of the slot, in events that are still on their way.
    generation: u32,
    connection: Option<Box<Connection>>,
}

/// Everything that can fail before a thread runs.
pub(crate) struct Setup {
    epoll: OwnedFd,
    parts: Parts,
}

impl Setup {
    /// Makes the event queue and watches the listeners.
    ///
    /// # Errors
    /// When the system has no more descriptors.
    pub(crate) fn new(parts: Parts) -> io::Result<Self> {
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        let token = EventData::new_u64;
        epoll::add(&epoll, &*parts.waker, token(WAKER), EventFlags::IN)?;
        let timer = EventFlags::IN | EventFlags::ET;
        epoll::add(&epoll, parts.context.timers.fd(), token(TIMER), timer)?;
        watch(&epoll, &parts.listener, parts.tls.as_ref().map(|(listener, _)| listener))?;
        Ok(Self { epoll, parts })
    }

    /// The loop, which stays on the thread that asks for it.
    pub(crate) fn into_worker(self) -> Worker {
        let Self { epoll, parts } = self;
        Worker {
            epoll,
            listener: parts.listener,
            tls: parts.tls,
            stop: parts.stop,
            cx: parts.context,
            slots: Vec::new(),
            free: Vec::new(),
            deadlines_s: Vec::new(),
            open: 0,
            buffered_bytes: 0,
            again: Vec::new(),
            accept_paused_until_ns: None,
            _waker: parts.waker,
        }
    }
}

fn watch(epoll: &OwnedFd, listener: &TcpListener, tls: Option<&TcpListener>) -> io::Result<()> {
    let token = EventData::new_u64;
    epoll::add(epoll, listener, token(LISTENER), EventFlags::IN)?;
    if let Some(listener) = tls {
        epoll::add(epoll, listener, token(TLS_LISTENER), EventFlags::IN)?;
    }
    Ok(())
}

impl Worker {
    fn watch_listeners(&self) -> io::Result<()> {
        watch(&self.epoll, &self.listener, self.tls.as_ref().map(|(listener, _)| listener))
    }

    fn ignore_listeners(&self) -> io::Result<()> {
        epoll::delete(&self.epoll, &self.listener)?;
        if let Some((listener, _)) = &self.tls {
            epoll::delete(&self.epoll, listener)?;
        }
        Ok(())
    }

    /// Serves until it is told to stop.
    ///
    /// # Errors
    /// Only what the event queue itself can give; nothing a client does.
    pub(crate) fn run(mut self) -> io::Result<()> {
        let mut events: Vec<Event> = Vec::with_capacity(EVENTS_MAX);
        let start_s = monotonic_ns() / NANOS_PER_SEC;
        while !self.stop.load(Ordering::Acquire) {
            self.cx.timers.arm()?;
            events.clear();
            let timeout = self.timeout();
            match epoll::wait(&self.epoll, spare_capacity(&mut events), timeout.as_ref()) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            if let Some(freezer) = &self.cx.shared.freezer {
                freezer.hold();
            }
            let now_ns = monotonic_ns();
            let now_s = u32::try_from(now_ns / NANOS_PER_SEC - start_s).unwrap_or(NEVER - 1);
            let second_passed = now_s != self.cx.now_s;
            self.cx.now_s = now_s;
            self.cx.statics.set_time(wall_seconds());
            self.resume_accepting(now_ns)?;
            for (index, event) in events.iter().enumerate() {
                if index % EVENTS_PER_TIMER_LOOK == 0 {
                    self.fire_timers();
                }
                self.handle(*event)?;
            }
            self.fire_timers();
            self.run_again();
            if second_passed {
                self.end_overdue();
            }
        }
        if let Some(all) = &self.cx.shared.record {
            self.cx.recorder.hand_over(all);
        }
        Ok(())
    }

    fn timeout(&self) -> Option<Timespec> {
        let millis = |millis: i64| Some(Timespec { tv_sec: millis / 1000, tv_nsec: (millis % 1000 * 1_000_000) as _ });
        if !self.again.is_empty() {
            millis(0)
        } else if self.accept_paused_until_ns.is_some() {
            millis((ACCEPT_PAUSE_NS / NANOS_PER_MILLI) as i64)
        } else if self.open > 0 {
            millis(1000)
        } else {
            None
        }
    }

    fn handle(&mut self, event: Event) -> io::Result<()> {
        let flags = event.flags;
        match event.data.u64() {
            LISTENER => self.accept(false),
            TLS_LISTENER => self.accept(true),
            // The stop flag is looked at before the next wait.
            WAKER => Ok(()),
            TIMER => {
                self.cx.timers.fired();
                Ok(())
            }
            token => {
                self.connection_event(token as u32, (token >> 32) as u32, flags);
                Ok(())
            }
        }
    }

    fn connection_event(&mut self, slot: u32, generation: u32, flags: EventFlags) {
        let Some(mut connection) = self.take(slot, generation) else {
            return;
        };
        let over = flags.intersects(EventFlags::HUP | EventFlags::ERR);
        if over || flags.contains(EventFlags::RDHUP) {
            connection.transport.ending = true;
            connection.transport.readable = true;
        }
        if flags.contains(EventFlags::IN) {
            connection.transport.readable = true;
        }
        if over && connection.is_timed() {
            self.close(slot, *connection);
            return;
        }
        self.drive(slot, connection);
    }

    fn take(&mut self, slot: u32, generation: u32) -> Option<Box<Connection>> {
        let entry = self.slots.get_mut(slot as usize)?;
        if entry.generation == generation { entry.connection.take() } else { None }
    }

    /// Lets a connection that was taken from its slot go on.
    fn drive(&mut self, slot: u32, mut connection: Box<Connection>) {
        let outcome = connection.drive(&mut self.cx);
        self.settle(slot, connection, outcome);
    }

    fn settle(&mut self, slot: u32, mut connection: Box<Connection>, outcome: Outcome) {
        let held_bytes = connection.held_bytes();
        let charged_bytes = std::mem::replace(&mut connection.charged_bytes, held_bytes);
        self.buffered_bytes = self.buffered_bytes - charged_bytes + held_bytes;
        let greedy = held_bytes > charged_bytes && self.buffered_bytes > self.cx.shared.buffer_bytes_max;
        self.cx.counters().shed.add(u64::from(greedy));
        if outcome == Outcome::Reset {
            let transport = self.close(slot, *connection);
            transport.reset();
            return;
        }
        if greedy || outcome == Outcome::Close {
            self.close(slot, *connection);
            return;
        }
        let index = slot as usize;
        if outcome == Outcome::Again {
            self.again.push((slot, self.slots[index].generation));
        }
        self.deadlines_s[index] = connection.deadline_s(&self.cx);
        self.slots[index].connection = Some(connection);
    }

    /// Forgets a connection; dropping what is returned closes it.
    fn close(&mut self, slot: u32, connection: Connection) -> Transport {
        let index = slot as usize;
        self.slots[index].generation = self.slots[index].generation.wrapping_add(1);
        self.deadlines_s[index] = NEVER;
        self.free.push(slot);
        self.open -= 1;
        self.buffered_bytes -= connection.charged_bytes;
        self.cx.counters().closed.add(1);
        if connection.timer.is_some() {
            let slots = &self.slots;
            self.cx.timers.forget(|id, slot| {
                let live = slots.get(slot as usize).and_then(|slot| slot.connection.as_ref());
                live.is_some_and(|connection| connection.timer == Some(id))
            });
        }
        connection.transport
    }

    fn fire_timers(&mut self) {
        if self.cx.timers.is_empty() {
            return;
        }
        let now_ns = monotonic_ns();
        while let Some((deadline_ns, id, slot)) = self.cx.timers.pop_due(now_ns) {
            let entry = self.slots.get_mut(slot as usize);
            let waiting = entry.and_then(|entry| entry.connection.take_if(|connection| connection.timer == Some(id)));
            match waiting {
                Some(mut connection) => {
                    connection.timer = None;
                    self.cx.counters().timer_fired(now_ns - deadline_ns);
                    self.drive(slot, connection);
                }
                None => self.cx.timers.popped_stale(),
            }
        }
    }

    fn run_again(&mut self) {
        for (slot, generation) in std::mem::take(&mut self.again) {
            if let Some(connection) = self.take(slot, generation) {
                self.drive(slot, connection);
            }
        }
    }

    fn end_overdue(&mut self) {
        let now_s = self.cx.now_s;
        for index in 0..self.deadlines_s.len() {
            if self.deadlines_s[index] > now_s {
                continue;
            }
            if let Some(mut connection) = self.slots[index].connection.take() {
                self.cx.counters().timeouts.add(1);
                let outcome = connection.time_out(&mut self.cx);
                self.settle(index as u32, connection, outcome);
            }
        }
    }

    fn accept(&mut self, tls: bool) -> io::Result<()> {
        for _ in 0..ACCEPTS_MAX {
            let listener = match &self.tls {
                Some((listener, _)) if tls => listener,
                _ => &self.listener,
            };
            let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
            match acceptfrom_with(listener, flags) {
                Ok((socket, peer)) => {
                    let peer = peer.and_then(|peer| SocketAddr::try_from(peer).ok());
                    let peer = peer.unwrap_or_else(|| SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0)));
                    self.admit(TcpStream::from(socket), peer, tls);
                }
                Err(Errno::AGAIN) => return Ok(()),
                // The client was gone before it was accepted.
                Err(Errno::CONNABORTED | Errno::INTR | Errno::PROTO | Errno::PERM) => {}
                Err(_) => {
                    // No descriptors or no memory: they may come back.
                    self.cx.counters().accept_errors.add(1);
                    if self.accept_paused_until_ns.is_none() {
                        self.ignore_listeners()?;
                        self.accept_paused_until_ns = Some(monotonic_ns() + ACCEPT_PAUSE_NS);
                    }
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    fn resume_accepting(&mut self, now_ns: u64) -> io::Result<()> {
        if self.accept_paused_until_ns.is_some_and(|until_ns| until_ns <= now_ns) {
            self.accept_paused_until_ns = None;
            self.watch_listeners()?;
        }
        Ok(())
    }

    /// Makes a connection of an accepted socket.
    fn admit(&mut self, stream: TcpStream, peer: SocketAddr, tls: bool) {
        let refused = self.open >= self.cx.shared.connections_max;
        if refused {
            self.cx.counters().refused.add(1);
            if self.open >= self.cx.shared.connections_max + REFUSED_MAX {
                return;
            }
        }
        let fault = if tls { None } else { self.cx.shared.accept_fault };
        match fault {
            Some(Break::Reset) => return reset(stream),
            Some(Break::Close) => return,
            Some(Break::Stall) | None => {}
        }
        let session = match &self.tls {
            Some((_, config)) if tls => match ServerConnection::new(Arc::clone(config)) {
                Ok(session) => Some(Box::new(session)),
                Err(_) => {
                    self.cx.counters().handshake_errors.add(1);
                    return;
                }
            },
            _ => None,
        };
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot::default());
            self.deadlines_s.push(NEVER);
            (self.slots.len() - 1) as u32
        });
        let entry = &mut self.slots[slot as usize];
        let token = u64::from(entry.generation) << 32 | u64::from(slot);
        // Both directions at once and edge-triggered: one call per connection.
        let flags = EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP | EventFlags::ET;
        if epoll::add(&self.epoll, stream.as_fd(), EventData::new_u64(token), flags).is_err() {
            self.free.push(slot);
            self.cx.counters().accept_errors.add(1);
            return;
        }
        self.open += 1;
        self.cx.counters().accepted.add(1);
        self.cx.counters().accepted_tls.add(u64::from(tls));
        let transport = Transport::new(stream, session).with_fault(self.cx.shared.handshake_fault);
        let number = self.cx.counters().accepted.value();
        let mut connection = Connection::new(transport, peer, number, slot, refused, self.cx.now_s);
        if fault.is_some() {
            connection.stall(&self.cx);
        }
        self.deadlines_s[slot as usize] = connection.deadline_s(&self.cx);
        entry.connection = Some(Box::new(connection));
    }
}
