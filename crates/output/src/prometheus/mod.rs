//! Prometheus remote write: the state of every series since the start, pushed every few seconds.
//!
//! What is pushed is cumulative, so a push that is lost costs resolution, and no sample: the next one has all. Nothing waits here but
//! the output's own thread.

mod native;
mod series;
mod wire;

use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use onrush_fiber::Clock;
use onrush_metrics::{Registry, Step};
use onrush_net::{ClientOptions, RequestHeaders, Url};
use prost::Message as _;

pub use self::series::Trends;
use self::{
    series::AllSeries,
    wire::{TimeSeries, WriteRequest},
};
use crate::{
    StepOutput,
    post::{Destination, Poster, Refused, basic_auth},
    told::{Told, Trouble, last_tries},
};

/// Where series go, and how.
#[derive(Clone)]
pub struct Config {
    /// The endpoint.
    pub url: Url,
    /// User and password, if it wants some.
    pub basic: Option<(String, String)>,
    /// Further headers.
    pub headers: RequestHeaders,
    /// TLS and proxies.
    pub network: ClientOptions,
    /// How often.
    pub push_interval: Duration,
    /// How trends are told.
    pub trends: Trends,
    /// Whether series end with the run, instead of five minutes later.
    pub stale_markers: bool,
}

impl Config {
    /// Where Prometheus usually listens.
    pub const URL: &'static str = "http://localhost:9090/api/v1/write";
    /// k6's interval.
    pub const PUSH_INTERVAL: Duration = Duration::from_secs(5);
}

/// The output.
pub struct Prometheus {
    poster: Poster,
    series: AllSeries,
    interval_ns: u64,
    stale_markers: bool,
    /// When the scenarios began, in nanoseconds since 1970, as far as is known.
    began: Arc<AtomicI64>,
    /// Nanoseconds of the scenarios up to which all is told.
    told_ns: u64,
    /// Milliseconds since 1970 of the last push: time does not go back.
    last_ms: i64,
    trouble: Trouble,
}

/// How long a request may take.
const DEADLINE: Duration = Duration::from_secs(5);
/// Series in a request: receivers have limits, Amazon's of 1 MB.
const SERIES_MAX: usize = 2_000;

impl Prometheus {
    /// Sets up the network side. Whoever feeds the output sets `began` with each delta.
    ///
    /// # Errors
    /// What keeps it from that.
    pub fn new(
        config: Config,
        registry: Registry,
        began: Arc<AtomicI64>,
        tell: impl Fn(Told) + Send + 'static,
    ) -> std::io::Result<Self> {
        let mut headers = config.headers;
        if let Some((user, password)) = &config.basic
            && headers.get("Authorization").is_none()
        {
            headers.set("Authorization", &basic_auth(user, password));
        }
        for (name, value) in [
            ("Content-Encoding", "snappy"),
            ("Content-Type", "application/x-protobuf"),
            ("X-Prometheus-Remote-Write-Version", "0.1.0"),
        ] {
            headers.set(name, value);
        }
        let to = Destination { url: config.url, headers, deadline: DEADLINE };
        Ok(Self {
            poster: Poster::start(to, config.network)?,
            series: AllSeries::new(registry, config.trends),
            interval_ns: u64::try_from(config.push_interval.as_nanos()).unwrap_or(u64::MAX),
            stale_markers: config.stale_markers,
            began,
            told_ns: 0,
            last_ms: 0,
            trouble: Trouble::new(tell),
        })
    }

    /// Pushes what is new, as of this time, after a while.
    fn push(&mut self, at_ms: i64, after: Duration) -> Result<(), Refused> {
        let at_ms = at_ms.max(self.last_ms + 1);
        let result = send(&self.poster, self.series.news(at_ms), after);
        // Some of it may have arrived.
        self.last_ms = at_ms;
        if result.is_ok() {
            self.series.told();
        }
        self.trouble.note(&result);
        result
    }
}

impl StepOutput for Prometheus {
    type End = ();

    fn step(&mut self, step: Step) -> Result<(), String> {
        let span = step.span;
        self.series.add(step);
        if let Some(span) = span
            && span.until_ns >= self.told_ns.saturating_add(self.interval_ns)
        {
            self.told_ns = span.until_ns;
            let until = i64::try_from(span.until_ns).unwrap_or(i64::MAX);
            // The last step ends before its second does.
            let at_ms = self.began.load(Ordering::Relaxed).saturating_add(until) / 1_000_000;
            // What failed is in the next push.
            let _ = self.push(at_ms.min(now_ms()), Duration::ZERO);
        }
        Ok(())
    }

    fn end(mut self, (): ()) -> Result<(), String> {
        last_tries(|after| self.push(now_ms(), after)).map_err(|why| format!("lacks the end of the run: {why}"))?;
        if self.stale_markers {
            let at_ms = now_ms().max(self.last_ms) + 1;
            send(&self.poster, self.series.stale(at_ms), Duration::ZERO)
                .map_err(|refused| format!("has series that go on: marking them as stale failed: {}", refused.why))?;
        }
        Ok(())
    }
}

fn now_ms() -> i64 {
    i64::try_from(Clock::unix_nanos(Clock::now()) / 1_000_000).unwrap_or(i64::MAX)
}

/// Sends series one request after the other: those of one series have to arrive in their order.
fn send(poster: &Poster, series: Vec<TimeSeries>, mut after: Duration) -> Result<(), Refused> {
    let mut series = series.into_iter().peekable();
    while series.peek().is_some() {
        let request = WriteRequest { timeseries: series.by_ref().take(SERIES_MAX).collect() };
        let body = snap::raw::Encoder::new().compress_vec(&request.encode_to_vec());
        let body = body.map_err(|error| Refused { why: error.to_string(), may_be_taken_later: false })?;
        poster.post(body, std::mem::take(&mut after))?;
    }
    Ok(())
}
