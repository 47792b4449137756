//! The connections of a client, and one command over one of them.

use std::{
    cell::{Cell, RefCell},
    collections::VecDeque,
};

use onrush_fiber::{FiberId, Woke, current, park, unpark};
use onrush_net::{Http2Route, NetError, Url, Wire};
use onrush_redis::{Command, Decoder, Reply};

use super::{
    options::Options,
    servers::{after_ms, back_off},
};
use crate::vu::Vu;

/// Connections of one VU to one server.
pub(super) struct Pool {
    pub(super) options: Options,
    idle: RefCell<Vec<Connection>>,
    /// How many there are, idle or not.
    open: Cell<usize>,
    /// Fibers that wait for one.
    waiting: RefCell<VecDeque<FiberId>>,
}

struct Connection {
    wire: Wire,
    decoder: Decoder,
}

/// Why a command has no reply.
pub(super) enum Failed {
    /// The VU was cancelled.
    Cancelled,
    /// In words for the script.
    Because(String),
    /// The same, of a server that has seen nothing of the command: it can be sent to another one.
    Unsent(String),
    /// A kept connection turned out to be closed before the server could have seen the command.
    Stale,
}

/// A command waits a second longer for a connection than for its reply.
const POOL_WAIT_MS: u64 = 1_000;

impl Pool {
    pub(super) fn new(options: Options) -> Self {
        Self { options, idle: RefCell::default(), open: Cell::new(0), waiting: RefCell::default() }
    }

    /// Sends a command, after `first` if there is one, and waits for its reply. An error of the server is a reply.
    pub(super) fn ask(&self, vu: &Vu, first: Option<&[u8]>, command: &[u8]) -> Result<Reply, Failed> {
        loop {
            let (mut connection, is_kept) = self.connection(vu)?;
            let reply = match first {
                None => self.exchange(&mut connection, command, is_kept),
                Some(first) => self
                    .exchange(&mut connection, first, is_kept)
                    .and_then(|_| self.exchange(&mut connection, command, false)),
            };
            if reply.is_ok() && connection.decoder.is_idle() {
                self.put_back(connection);
            } else {
                drop(connection);
                self.closed();
            }
            match reply {
                Err(Failed::Stale) => {}
                reply => return reply,
            }
        }
    }

    /// One that is idle or new, and whether it has been used.
    fn connection(&self, vu: &Vu) -> Result<(Connection, bool), Failed> {
        let deadline = after_ms(self.options.read_ms + POOL_WAIT_MS);
        loop {
            let idle = self.idle.borrow_mut().pop();
            if let Some(connection) = idle {
                // What comes unasked is the end, or nothing anybody waits for.
                if !connection.wire.is_readable() {
                    return Ok((connection, true));
                }
                drop(connection);
                self.closed();
                continue;
            }
            if self.open.get() < self.options.pool_size {
                self.open.set(self.open.get() + 1);
                return self.dial(vu).map(|connection| (connection, false)).inspect_err(|_| self.closed());
            }
            let Some(fiber) = current() else { return Err(Failed::Cancelled) };
            self.waiting.borrow_mut().push_back(fiber);
            let woke = park(Some(deadline));
            self.waiting.borrow_mut().retain(|waiting| *waiting != fiber);
            match woke {
                Woke::Cancelled => return Err(Failed::Cancelled),
                Woke::Timeout => return Err(Failed::Unsent("redis: connection pool timeout".to_owned())),
                _ => {}
            }
        }
    }

    fn put_back(&self, connection: Connection) {
        self.idle.borrow_mut().push(connection);
        self.wake();
    }

    fn closed(&self) {
        self.open.set(self.open.get() - 1);
        self.wake();
    }

    fn wake(&self) {
        let next = self.waiting.borrow_mut().pop_front();
        if let Some(fiber) = next {
            unpark(fiber);
        }
    }

    /// A new connection that is logged in and has its database.
    fn dial(&self, vu: &Vu) -> Result<Connection, Failed> {
        let options = &self.options;
        let scheme = if options.tls.is_some() { "https" } else { "http" };
        let tls = options.tls.as_ref().map(|tls| tls.settings(vu)).transpose().map_err(Failed::Because)?.flatten();
        let host = if options.host.contains(':') && !options.host.starts_with('[') {
            format!("[{}]", options.host)
        } else {
            options.host.clone()
        };
        let url = Url::parse(&format!("{scheme}://{host}:{}/", options.port)).map_err(|error| Failed::of(&error))?;
        let way = Http2Route { tls, server_name: None, is_direct: true };
        let mut tries = 0;
        let wire = loop {
            match vu.connections.connect_wire_as(&url, &way, Some(after_ms(options.dial_ms))) {
                Ok(wire) => break wire,
                Err(error) if error == NetError::cancelled() => return Err(Failed::Cancelled),
                Err(error) if tries == options.retries => return Err(Failed::Unsent(error.detail)),
                Err(_) => {
                    back_off(tries)?;
                    tries += 1;
                }
            }
        };
        let mut connection = Connection { wire, decoder: Decoder::default() };
        if !options.password.is_empty() {
            let mut login = Command::new("AUTH");
            if !options.username.is_empty() {
                login.push(options.username.as_bytes());
            }
            login.push(options.password.as_bytes());
            self.prepare(&mut connection, &login)?;
        }
        if options.database > 0 {
            let mut select = Command::new("SELECT");
            select.push(options.database.to_string().as_bytes());
            self.prepare(&mut connection, &select)?;
        }
        if options.reads_only {
            self.prepare(&mut connection, &Command::new("READONLY"))?;
        }
        Ok(connection)
    }

    fn prepare(&self, connection: &mut Connection, command: &Command) -> Result<(), Failed> {
        match self.exchange(connection, &command.bytes(), false)? {
            Reply::Error(text) => Err(Failed::Because(text)),
            _ => Ok(()),
        }
    }

    fn exchange(&self, connection: &mut Connection, command: &[u8], is_kept: bool) -> Result<Reply, Failed> {
        let Connection { wire, decoder } = connection;
        wire.write_all(command, Some(after_ms(self.options.write_ms))).map_err(|error| Failed::of(&error))?;
        let deadline = after_ms(self.options.read_ms);
        for reads in 1_u32.. {
            match decoder.reply() {
                Ok(Some(reply)) => return Ok(reply),
                Ok(None) => {}
                Err(malformed) => return Err(Failed::Because(malformed.to_string())),
            }
            let had = decoder.buffer().len();
            match wire.read(decoder.buffer(), Some(deadline)) {
                Ok(true) => {}
                Ok(false) if is_kept && had == 0 => return Err(Failed::Stale),
                Ok(false) => return Err(Failed::Because("EOF".to_owned())),
                Err(error) => return Err(Failed::of(&error)),
            }
            // A server may send messages nobody asked for without end.
            if reads % READS_PER_TURN == 0 && onrush_fiber::yield_now() == Woke::Cancelled {
                return Err(Failed::Cancelled);
            }
        }
        Err(Failed::Because("EOF".to_owned()))
    }
}

/// Reads before other VUs have their turn: a millisecond or two.
const READS_PER_TURN: u32 = 8;

impl Failed {
    fn of(error: &NetError) -> Self {
        if *error == NetError::cancelled() { Self::Cancelled } else { Self::Because(error.detail.clone()) }
    }
}
