//! The way to brokers from a VU: connections that suspend it, its clock, its account of memory.

use std::rc::Rc;

use onrush_fiber::{Clock, Nanos, Woke, sleep_until};
use onrush_kafka::{KafkaError, Stream, World};
use onrush_net::{Http2Route, NetError, OwnTls, Url, Wire};

use crate::{
    embed::FollowingCharge,
    offload::{COMPUTE, Waited},
    vu::context::{pause, vu},
};

/// Belongs to one client.
pub(super) struct VuWorld {
    /// Settings of TLS, if there is any.
    tls: Option<Rc<OwnTls>>,
    charge: FollowingCharge,
}

impl VuWorld {
    pub(super) fn new(tls: Option<Rc<OwnTls>>) -> Self {
        Self { tls, charge: FollowingCharge::default() }
    }
}

impl std::fmt::Debug for VuWorld {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("VuWorld").finish_non_exhaustive()
    }
}

/// A connection to a broker.
pub(super) struct Line(Wire);

impl std::fmt::Debug for Line {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
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

impl World for VuWorld {
    type Stream = Line;

    fn dial(&mut self, host: &str, port: u16, deadline_ns: u64) -> Result<Line, KafkaError> {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        let shown = if host.contains(':') { format!("[{host}]") } else { host.to_owned() };
        let url = Url::parse(&format!("{scheme}://{shown}:{port}/"))
            .map_err(|error| KafkaError::Broken(format!("invalid broker address {host:?}: {}", error.message)))?;
        let way = Http2Route { tls: self.tls.as_deref(), is_direct: true, ..Http2Route::default() };
        let wire = vu().connections.connect_wire_as(&url, &way, Some(Nanos(deadline_ns)));
        wire.map(Line).map_err(|error| failed(&error))
    }

    fn now_ns(&self) -> u64 {
        Clock::now().0
    }

    fn unix_ms(&self) -> i64 {
        Clock::unix_ms(Clock::now()) as i64
    }

    fn sleep(&mut self, ns: u64) -> Result<(), KafkaError> {
        let until = Nanos(Clock::now().0.saturating_add(ns));
        if sleep_until(until) == Woke::Cancelled { Err(KafkaError::Cancelled) } else { Ok(()) }
    }

    fn pause(&mut self) -> Result<(), KafkaError> {
        pause().map_err(|_| KafkaError::Cancelled)
    }

    fn hold(&mut self, bytes: usize) -> Result<(), KafkaError> {
        self.charge.follow(bytes).map_err(|_| KafkaError::TooLarge("out of memory".to_owned()))
    }

    fn aside<T: Send + 'static>(&mut self, work: impl FnOnce() -> T + Send + 'static) -> Result<T, KafkaError> {
        match COMPUTE.begin(work).wait(None) {
            Waited::Done(done) => Ok(done),
            Waited::Panicked => {
                Err(KafkaError::Broken("internal error in Onrush (please report it): panic".to_owned()))
            }
            Waited::Timeout => Err(KafkaError::Timeout),
            Waited::Cancelled => Err(KafkaError::Cancelled),
        }
    }
}

fn failed(error: &NetError) -> KafkaError {
    if *error == NetError::cancelled() {
        KafkaError::Cancelled
    } else if *error == NetError::timeout() {
        KafkaError::Timeout
    } else {
        KafkaError::Broken(error.detail.clone())
    }
}
