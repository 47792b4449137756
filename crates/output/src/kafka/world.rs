//! The way to brokers from a thread where nothing else runs.

use std::fmt;

use onrush_fiber::{Clock, Nanos, sleep_until};
use onrush_kafka::{KafkaError, Stream, World};
use onrush_net::{Connections, NetError, Url, Wire};

pub(super) struct Way<'a> {
    connections: &'a Connections,
    has_tls: bool,
}

impl<'a> Way<'a> {
    pub(super) fn new(connections: &'a Connections, has_tls: bool) -> Self {
        Self { connections, has_tls }
    }
}

impl fmt::Debug for Way<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Way").finish_non_exhaustive()
    }
}

/// A connection to a broker.
pub(super) struct Line(Wire);

impl fmt::Debug for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Line").finish_non_exhaustive()
    }
}

impl Stream for Line {
    fn read(&mut self, out: &mut Vec<u8>, deadline_ns: u64) -> Result<bool, KafkaError> {
        self.0.read(out, Some(Nanos(deadline_ns))).map_err(|error| failed(&error))
    }

    fn write(&mut self, bytes: &[u8], deadline_ns: u64) -> Result<(), KafkaError> {
        self.0.write_all(bytes, Some(Nanos(deadline_ns))).map_err(|error| failed(&error))
    }

    fn is_quiet(&self) -> bool {
        !self.0.is_readable()
    }
}

impl World for Way<'_> {
    type Stream = Line;

    fn dial(&mut self, host: &str, port: u16, deadline_ns: u64) -> Result<Line, KafkaError> {
        let scheme = if self.has_tls { "https" } else { "http" };
        let shown = if host.contains(':') { format!("[{host}]") } else { host.to_owned() };
        let url = Url::parse(&format!("{scheme}://{shown}:{port}/"))
            .map_err(|error| KafkaError::Broken(format!("invalid broker address {host:?}: {}", error.message)))?;
        let wire = self.connections.connect_wire(&url, Some(Nanos(deadline_ns)));
        wire.map(Line).map_err(|error| failed(&error))
    }

    fn now_ns(&self) -> u64 {
        Clock::now().0
    }

    fn unix_ms(&self) -> i64 {
        Clock::unix_ms(Clock::now()) as i64
    }

    fn sleep(&mut self, ns: u64) -> Result<(), KafkaError> {
        // Nobody cancels this fiber.
        let _ = sleep_until(Nanos(Clock::now().0.saturating_add(ns)));
        Ok(())
    }

    fn pause(&mut self) -> Result<(), KafkaError> {
        // Nobody else waits for this thread.
        Ok(())
    }

    fn hold(&mut self, _: usize) -> Result<(), KafkaError> {
        // An answer has its own limit.
        Ok(())
    }

    fn aside<T: Send + 'static>(&mut self, work: impl FnOnce() -> T + Send + 'static) -> Result<T, KafkaError> {
        Ok(work())
    }
}

fn failed(error: &NetError) -> KafkaError {
    if *error == NetError::timeout() { KafkaError::Timeout } else { KafkaError::Broken(error.detail.clone()) }
}
