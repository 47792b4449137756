//! StatsD and Datadog: datagrams over UDP or a Unix socket.
//!
//! Nobody answers a datagram. One that the system does not take, or that a socket nobody listens at sends back, is counted and told;
//! one that is lost on its way is not known of. Nothing is sent twice: it would count twice.

mod message;
mod socket;
mod weights;

use std::{collections::VecDeque, time::Duration};

use onrush_metrics::{Registry, Step};

pub use self::{
    message::Dialect,
    socket::{Address, Datagrams},
};
use self::{message::Messages, socket::Socket};
use crate::{
    Began, Delivery, Ending, Told,
    delivery::{Pace, Receiver},
    post::Refused,
    regrouped::regrouped,
};

/// Where datagrams go, and how.
#[derive(Debug, Clone)]
pub struct Config {
    /// Where to.
    pub address: Address,
    /// How trends are told.
    pub dialect: Dialect,
    /// What names begin with.
    pub namespace: String,
    /// How long a step is.
    pub push_interval: Duration,
    /// Lines of a datagram.
    pub lines_max: usize,
    /// Whether lines have tags.
    pub has_tags: bool,
    /// Tags that are left out.
    pub left_out: Vec<String>,
}

impl Config {
    /// Where agents usually listen.
    pub const ADDRESS: &str = "localhost:8125";
    /// k6's prefix.
    pub const NAMESPACE: &str = "k6.";
    /// k6's interval.
    pub const PUSH_INTERVAL: Duration = Duration::from_secs(1);
    /// k6's number of lines.
    pub const LINES_MAX: usize = 20;
    /// k6's list.
    pub const LEFT_OUT: &str = "vu,iter,url";
}

/// The other side.
pub struct StatsD {
    socket: Socket,
    messages: Messages,
    lines_max: usize,
    left_out: Vec<String>,
}

impl StatsD {
    /// Nothing is sent before there is something. Whoever feeds the output notes spans in `began`.
    pub fn new(
        config: Config,
        registry: Registry,
        began: Began,
        tell: impl Fn(Told) + Send + 'static,
    ) -> (Delivery<Self>, Datagrams) {
        let counts = Datagrams::default();
        let messages = Messages {
            registry,
            dialect: config.dialect,
            namespace: config.namespace,
            has_tags: config.has_tags,
            line_bytes_max: config.address.datagram_bytes_max(),
        };
        let statsd = Self {
            socket: Socket::new(config.address, counts.clone()),
            messages,
            lines_max: config.lines_max,
            left_out: config.left_out,
        };
        // Datagrams have no times.
        let pace = Pace { interval: config.push_interval, unit: Duration::from_nanos(1) };
        (Delivery::new(statsd, began, Ending::default(), pace, tell), counts)
    }

    /// Lines in as few datagrams as there may be.
    fn datagrams(&self, lines: Vec<String>) -> VecDeque<String> {
        let mut all: VecDeque<String> = VecDeque::new();
        let mut count = 0;
        for line in lines {
            let room = self.messages.line_bytes_max;
            match all.back_mut().filter(|last| count < self.lines_max && last.len() + 1 + line.len() <= room) {
                Some(last) => {
                    last.push('\n');
                    *last += &line;
                    count += 1;
                }
                None => {
                    all.push_back(line);
                    count = 1;
                }
            }
        }
        all
    }
}

impl Receiver for StatsD {
    type Parcel = VecDeque<String>;

    fn pack(&mut self, step: Step, _: i64) -> VecDeque<String> {
        let has_tags = self.messages.has_tags;
        // Without tags, series of a metric are one; but each check has its own lines.
        let is_left_out =
            |name: &str| if has_tags { self.left_out.iter().any(|tag| tag == name) } else { name != "check" };
        let mut lines = Vec::new();
        regrouped(step, is_left_out).iter().for_each(|series| self.messages.add(series, &mut lines));
        self.datagrams(lines)
    }

    fn send(&mut self, parcel: &mut VecDeque<String>, _: Duration) -> Result<(), Refused> {
        let mut problem = None;
        while let Some(datagram) = parcel.pop_front() {
            // One that fails keeps no other back.
            let failed = self.socket.send(datagram.as_bytes()).err();
            problem = problem.or(failed);
        }
        let returned = self.socket.look_back().err();
        problem = problem.or(returned);
        let refused = |error: std::io::Error| Refused::for_good(crate::reason(&error));
        problem.map_or(Ok(()), |error| Err(refused(error)))
    }
}
