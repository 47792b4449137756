//! Prometheus remote write: the state of every series since the start, pushed every few seconds.
//!
//! What is pushed is cumulative, so a push that is lost costs resolution, and no sample: the next one has all. Nothing waits here but
//! the output's own thread.

pub mod names;
mod native;
mod series;
mod wire;
mod wire2;

use std::time::Duration;

use onrush_metrics::{Registry, Step};
use onrush_net::{ClientOptions, RequestHeaders, Url};
use prost::Message as _;

pub use self::series::Trends;
use self::{
    series::{AllSeries, Row},
    wire::WriteRequest,
    wire2::Request,
};
use crate::{
    Ending, StepOutput,
    began::{Began, now_ns},
    post::{Destination, Poster, Refused, authorize, last_tries},
    sigv4::SigV4,
    told::{Teller, Told},
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
    /// The protocol.
    pub version: Version,
    /// Who signs requests, if they are to be signed.
    pub signer: Option<SigV4>,
    /// Whether series end with the run, instead of five minutes later.
    pub stale_markers: bool,
}

/// A version of remote write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    /// What every receiver takes.
    One,
    /// With kinds, units and starts of series. A receiver that does not know it gets the other one.
    Two,
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
    version: Version,
    /// Makes a poster for another version.
    make: Box<dyn Fn(Version) -> std::io::Result<Poster> + Send>,
    ending: Ending,
    /// The last push did not arrive.
    has_failed: bool,
    series: AllSeries,
    interval_ns: u64,
    stale_markers: bool,
    began: Began,
    /// Nanoseconds of the scenarios up to which all is told.
    told_ns: u64,
    /// Milliseconds since 1970 of the last push: time does not go back.
    last_ms: i64,
    teller: Teller,
}

/// How long a request may take.
const DEADLINE: Duration = Duration::from_secs(5);
/// Series in a request: receivers have limits, Amazon's of 1 MB.
const SERIES_MAX: usize = 2_000;

impl Prometheus {
    /// Sets up the network side. Whoever feeds the output notes spans in `began`.
    ///
    /// # Errors
    /// What keeps it from that.
    pub fn new(
        config: Config,
        registry: Registry,
        began: Began,
        tell: impl Fn(Told) + Send + 'static,
    ) -> std::io::Result<Self> {
        let (version, url, network, signer) = (config.version, config.url, config.network, config.signer);
        let mut headers = config.headers;
        authorize(&mut headers, config.basic.as_ref());
        headers.set("Content-Encoding", "snappy");
        let ending = Ending::default();
        let of_poster = ending.clone();
        let make = move |version: Version| {
            let mut headers = headers.clone();
            let (media_type, number, expects) = match version {
                Version::One => ("application/x-protobuf", "0.1.0", None),
                Version::Two => {
                    let media_type = "application/x-protobuf;proto=io.prometheus.write.v2.Request";
                    (media_type, "2.0.0", Some("X-Prometheus-Remote-Write-Samples-Written"))
                }
            };
            headers.set("Content-Type", media_type);
            headers.set("X-Prometheus-Remote-Write-Version", number);
            let (url, signer) = (url.clone(), signer.clone());
            let to = Destination { url, headers, deadline: DEADLINE, signer, expects };
            Poster::start(to, network.clone(), of_poster.clone())
        };
        Ok(Self {
            poster: make(version)?,
            version,
            make: Box::new(make),
            ending,
            has_failed: false,
            series: AllSeries::new(registry, config.trends),
            interval_ns: u64::try_from(config.push_interval.as_nanos()).unwrap_or(u64::MAX),
            stale_markers: config.stale_markers,
            began,
            told_ns: 0,
            last_ms: 0,
            teller: Teller::new(tell),
        })
    }

    /// Pushes what is new, as of this time, after a while.
    fn push(&mut self, at_ms: i64, after: Duration) -> Result<(), Refused> {
        let at_ms = at_ms.max(self.last_ms + 1);
        let rows = self.series.news(at_ms);
        let mut result = self.send(rows, after);
        if self.version == Version::Two
            && let Err(refused) = &result
            && refused.is_not_understood
            && let Ok(poster) = (self.make)(Version::One)
        {
            self.teller.say(Told::Older(refused.why.clone()));
            (self.poster, self.version) = (poster, Version::One);
            let rows = self.series.news(at_ms);
            result = self.send(rows, Duration::ZERO);
        }
        self.has_failed = result.is_err();
        // Some of it may have arrived.
        self.last_ms = at_ms;
        match &result {
            Ok(()) => {
                self.series.told();
                self.teller.arrived();
            }
            Err(refused) => self.teller.failed(refused),
        }
        result
    }

    /// Sends series one request after the other: those of one series have to arrive in their order.
    fn send(&self, rows: Vec<Row>, mut after: Duration) -> Result<(), Refused> {
        let mut rows = rows.into_iter().peekable();
        while rows.peek().is_some() {
            let some: Vec<Row> = rows.by_ref().take(SERIES_MAX).collect();
            let bytes = match self.version {
                Version::One => {
                    WriteRequest { timeseries: some.into_iter().map(|row| row.series).collect() }.encode_to_vec()
                }
                Version::Two => Request::new(some, self.began.unix_ns(0) / 1_000_000).encode_to_vec(),
            };
            let body = snap::raw::Encoder::new().compress_vec(&bytes);
            let body = body.map_err(|error| Refused::for_good(error.to_string()))?;
            self.poster.post(body, std::mem::take(&mut after))?;
        }
        Ok(())
    }
}

impl StepOutput for Prometheus {
    type End = ();

    fn ending(&self) -> Ending {
        self.ending.clone()
    }

    fn step(&mut self, step: Step) -> Result<(), String> {
        let span = step.span;
        self.series.add(step);
        // At the end of a run whose receiver took nothing last one push has all.
        if let Some(span) = span
            && !(self.has_failed && self.ending.since().is_some())
            && span.until_ns >= self.told_ns.saturating_add(self.interval_ns)
        {
            self.told_ns = span.until_ns;
            // What failed is in the next push.
            let _ = self.push(self.began.unix_ns(span.until_ns) / 1_000_000, Duration::ZERO);
        }
        Ok(())
    }

    fn end(mut self, (): ()) -> Result<(), String> {
        let ending = self.ending.clone();
        last_tries(&ending, |after| self.push(now_ms(), after))?;
        if self.stale_markers {
            let at_ms = now_ms().max(self.last_ms) + 1;
            let rows = self.series.stale(at_ms);
            self.send(rows, Duration::ZERO)
                .map_err(|refused| format!("marking time series as stale failed: {}", refused.why))?;
        }
        Ok(())
    }
}

fn now_ms() -> i64 {
    now_ns() / 1_000_000
}
