//! Prometheus remote write: the state of every series since the start, pushed every few seconds.
//!
//! What is pushed is cumulative, so a push that is lost costs resolution, and no sample: the next one has all. So it is known how much of
//! the run is there: what the last push had that arrived. Nothing waits here but the output's own thread.

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
    series::{AllSeries, Key, Row},
    wire::WriteRequest,
    wire2::Request,
};
use crate::{
    Delivered, Ending, StepOutput,
    began::{Began, now_ns},
    pauses::Turns,
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
    series: AllSeries,
    turns: Turns,
    delivered: Delivered,
    stale_markers: bool,
    began: Began,
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
            series: AllSeries::new(registry, config.trends),
            turns: Turns::new(config.push_interval),
            delivered: Delivered::default(),
            stale_markers: config.stale_markers,
            began,
            last_ms: 0,
            teller: Teller::new(tell),
        })
    }

    /// What has arrived.
    pub fn delivered(&self) -> Delivered {
        self.delivered.clone()
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
        // Some of it may have arrived.
        self.last_ms = at_ms;
        self.turns.ended(&result);
        self.teller.note(&result);
        result
    }

    /// Sends series one request after the other: those of one series have to arrive in their order.
    fn send(&mut self, rows: Vec<Row>, mut after: Duration) -> Result<(), Refused> {
        let mut rows = rows.into_iter().peekable();
        while rows.peek().is_some() {
            let some: Vec<Row> = rows.by_ref().take(SERIES_MAX).collect();
            let completed: Vec<Key> = some.iter().filter_map(|row| row.completes.clone()).collect();
            let bytes = match self.version {
                Version::One => {
                    WriteRequest { timeseries: some.into_iter().map(|row| row.series).collect() }.encode_to_vec()
                }
                Version::Two => Request::new(some, self.began.unix_ns(0) / 1_000_000).encode_to_vec(),
            };
            let body = snap::raw::Encoder::new().compress_vec(&bytes);
            let body = body.map_err(|error| Refused::for_good(error.to_string()))?;
            self.poster.post(body, std::mem::take(&mut after))?;
            self.delivered.add(self.series.told(&completed));
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
        if let Some(span) = span
            && self.turns.is_due(span.until_ns, &self.ending)
        {
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
            if let Err(refused) = self.send(rows, Duration::ZERO) {
                // All that was measured is there.
                let why = format!("marking time series as stale failed: {}", refused.why);
                self.teller.lost(&Refused::for_good(why));
            }
        }
        Ok(())
    }
}

fn now_ms() -> i64 {
    now_ns() / 1_000_000
}
