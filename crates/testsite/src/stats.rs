//! Counters of a target: one block a thread, added up when somebody asks.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use crate::{clock::NANOS_PER_MICRO, json::Json};

/// Groups of paths that are counted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// The demo site's pages and assets.
    Site,
    /// `/f/{n}`.
    Fixed,
    /// Endpoints that echo the request.
    Echo,
    /// Bodies of a chosen size and pace.
    Bytes,
    /// Uploads that are counted.
    Upload,
    /// Everything else that exists.
    Other,
    /// Answers to requests that were not understood or exceeded a limit.
    Refused,
}

const CLASSES: [(&str, Class); 7] = [
    ("site", Class::Site),
    ("fixed", Class::Fixed),
    ("echo", Class::Echo),
    ("bytes", Class::Bytes),
    ("upload", Class::Upload),
    ("other", Class::Other),
    ("refused", Class::Refused),
];

/// Delays are meant to be accurate to this much.
const LATE_NS: u64 = 100 * NANOS_PER_MICRO;

/// A counter with one writer: a plain add that other threads can read.
#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    pub(crate) fn add(&self, amount: u64) {
        // One writer a counter, so no locked instruction is needed.
        self.0.store(self.0.load(Ordering::Relaxed).wrapping_add(amount), Ordering::Relaxed);
    }

    /// Keeps the largest value.
    fn raise(&self, value: u64) {
        if value > self.value() {
            self.0.store(value, Ordering::Relaxed);
        }
    }

    pub(crate) fn value(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// One thread's counters. Aligned so that threads do not share cache lines.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct ThreadStats {
    classes: [Counter; CLASSES.len()],
    /// Responses by the first digit of their status.
    statuses: [Counter; 6],
    pub(crate) accepted: Counter,
    pub(crate) accepted_tls: Counter,
    pub(crate) closed: Counter,
    pub(crate) refused: Counter,
    /// Connections closed because all of them together held too much.
    pub(crate) shed: Counter,
    pub(crate) accept_errors: Counter,
    pub(crate) handshake_errors: Counter,
    pub(crate) timeouts: Counter,
    /// Delay timers that fired, and by how much they were late.
    timers: Counter,
    timers_late_ns: Counter,
    timers_late_ns_max: Counter,
    /// Timers that were later than [`LATE_NS`].
    timers_late: Counter,
    pub(crate) received_bytes: Counter,
    pub(crate) sent_bytes: Counter,
}

impl ThreadStats {
    /// Counts one response.
    pub(crate) fn answered(&self, class: Class, status: u16) {
        self.classes[class as usize].add(1);
        self.statuses[usize::from(status / 100).min(5)].add(1);
    }

    /// Counts a delay that is over.
    pub(crate) fn timer_fired(&self, late_ns: u64) {
        self.timers.add(1);
        self.timers_late_ns.add(late_ns);
        self.timers_late_ns_max.raise(late_ns);
        self.timers_late.add(u64::from(late_ns > LATE_NS));
    }

    fn requests(&self) -> u64 {
        self.classes.iter().map(Counter::value).sum()
    }
}

/// Every thread's counters.
#[derive(Clone, Debug)]
pub(crate) struct Stats {
    threads: Arc<[ThreadStats]>,
}

impl Stats {
    pub(crate) fn new(threads: usize) -> Self {
        Self { threads: (0..threads).map(|_| ThreadStats::default()).collect() }
    }

    pub(crate) fn of(&self, thread: usize) -> &ThreadStats {
        &self.threads[thread]
    }

    fn sum(&self, value: impl Fn(&ThreadStats) -> u64) -> u64 {
        self.threads.iter().map(value).sum()
    }

    pub(crate) fn requests(&self) -> u64 {
        self.sum(ThreadStats::requests)
    }

    pub(crate) fn connections_open(&self) -> u64 {
        let accepted = self.sum(|thread| thread.accepted.value());
        accepted.saturating_sub(self.sum(|thread| thread.closed.value()))
    }

    /// The body of `/stats`.
    pub(crate) fn to_json(&self) -> Vec<u8> {
        let mut json = Json::new();
        json.open();
        json.key("requests").number(self.requests());
        json.key("requests_by_class").open();
        for (name, class) in CLASSES {
            json.key(name).number(self.sum(|thread| thread.classes[class as usize].value()));
        }
        json.close();
        json.key("responses_by_status").open();
        for (index, name) in ["1xx", "2xx", "3xx", "4xx", "5xx"].into_iter().enumerate() {
            json.key(name).number(self.sum(|thread| thread.statuses[index + 1].value()));
        }
        json.close();
        json.key("connections").open();
        json.key("open").number(self.connections_open());
        let mut counter = |name: &str, value: &dyn Fn(&ThreadStats) -> u64| {
            json.key(name).number(self.sum(value));
        };
        counter("accepted", &|thread| thread.accepted.value());
        counter("accepted_tls", &|thread| thread.accepted_tls.value());
        counter("refused", &|thread| thread.refused.value());
        counter("shed", &|thread| thread.shed.value());
        counter("accept_errors", &|thread| thread.accept_errors.value());
        counter("handshake_errors", &|thread| thread.handshake_errors.value());
        counter("timeouts", &|thread| thread.timeouts.value());
        json.close();
        // How accurate delays were, without the way to the client and back.
        let timers = self.sum(|thread| thread.timers.value());
        let late_ns = self.sum(|thread| thread.timers_late_ns.value());
        let late_ns_max = self.threads.iter().map(|thread| thread.timers_late_ns_max.value()).max();
        json.key("delays").open();
        json.key("count").number(timers);
        json.key("over_100_us").number(self.sum(|thread| thread.timers_late.value()));
        json.key("late_us_mean").number(late_ns / timers.max(1) / NANOS_PER_MICRO);
        json.key("late_us_max").number(late_ns_max.unwrap_or(0) / NANOS_PER_MICRO);
        json.close();
        json.key("received_bytes").number(self.sum(|thread| thread.received_bytes.value()));
        json.key("sent_bytes").number(self.sum(|thread| thread.sent_bytes.value()));
        json.key("threads").number(self.threads.len() as u64);
        json.close();
        json.finish()
    }
}
