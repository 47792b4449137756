//! Apache Kafka: a message for each sample.
//!
//! The outputs' thread puts messages into batches that wait ([`waiting`]), and never waits itself. A thread of the output's own
//! sends one batch after the other ([`sender`]), each to one partition and again until it is taken: of each it is known whether it was.

mod sender;
mod waiting;
mod world;

use std::{fmt, io, time::Duration};

use onrush_fiber::{Clock, Nanos};
pub use onrush_kafka::{Address, Codec, Login, Mechanism};

use self::waiting::Waiting;
use crate::{
    Ending, Told, Undelivered,
    raw::{Format, Sample},
};

/// Where messages go, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// Brokers to ask first.
    pub brokers: Vec<Address>,
    /// Where messages go.
    pub topic: String,
    /// Who writes, if brokers want to know.
    pub login: Option<Login>,
    /// Whether connections have TLS.
    pub tls: bool,
    /// Whether certificates are not checked.
    pub is_unchecked: bool,
    /// Whether all replicas that are in sync must have written a batch, or its leader alone.
    pub acks_all: bool,
    /// How batches are compressed.
    pub codec: Codec,
    /// How long messages wait for others.
    pub push_interval: Duration,
    /// Whether failures are told at the end alone.
    pub is_silent: bool,
}

impl Config {
    /// That of k6's extension.
    pub const PUSH_INTERVAL: Duration = Duration::from_secs(1);
}

/// Without secrets.
impl fmt::Display for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "kafka ({} at ", self.topic)?;
        for (index, Address { host, port }) in self.brokers.iter().enumerate() {
            let comma = if index > 0 { "," } else { "" };
            if host.contains(':') {
                write!(f, "{comma}[{host}]:{port}")?;
            } else {
                write!(f, "{comma}{host}:{port}")?;
            }
        }
        f.write_str(")")
    }
}

/// The end that gets samples.
pub(crate) struct Feed {
    format: Box<dyn Format>,
    message: Vec<u8>,
    waiting: Waiting,
}

/// The end that is waited for.
pub(crate) struct Sending {
    name: String,
    waiting: Waiting,
}

/// At the end nothing more is tried after so long: receivers of all else get what is left of half a minute.
pub(crate) const END_MAX: Duration = Duration::from_secs(20);
/// Nor when nothing was taken for so long.
const PATIENCE: Duration = Duration::from_secs(15);

/// Starts the thread that sends.
///
/// # Errors
/// When it or its network side cannot be set up.
pub(crate) fn start(
    config: &Config,
    format: Box<dyn Format>,
    tell: impl Fn(Told) + Send + 'static,
) -> io::Result<(Feed, Sending)> {
    let waiting = Waiting::default();
    sender::start(config.clone(), waiting.clone(), tell)?;
    let feed = Feed { format, message: Vec::new(), waiting: waiting.clone() };
    Ok((feed, Sending { name: config.to_string(), waiting }))
}

impl Feed {
    /// Puts a sample's message among those that wait.
    pub(crate) fn add(&mut self, sample: &Sample<'_>) {
        self.message.clear();
        self.format.sample(sample, &mut self.message);
        let ms = sample.unix_ns.div_euclid(1_000_000);
        self.waiting.put(&self.message, i64::try_from(ms).unwrap_or(i64::MAX));
    }
}

impl Sending {
    /// Nothing more comes.
    pub(crate) fn close(&self) {
        self.waiting.close();
    }

    /// Waits until all is taken or nobody takes it, not longer than until then. `waits` is told again and again who is waited for, and
    /// says whether to go on.
    pub(crate) fn finish(self, until: Nanos, waits: &mut dyn FnMut(&[String]) -> bool) -> Undelivered {
        self.close();
        let names = [self.name];
        let (mut left, mut since) = (self.waiting.left(), Clock::now());
        while left > 0 {
            let (now_left, now) = (self.waiting.left_after(left, Ending::LOOKS), Clock::now());
            if now_left < left {
                since = now;
            }
            left = now_left;
            let is_stuck = now.saturating_sub(since).as_duration() >= PATIENCE;
            if left > 0 && (is_stuck || now >= until || !waits(&names)) {
                break;
            }
        }
        let [name] = names;
        self.waiting.give_up(name)
    }
}
