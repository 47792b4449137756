//! InfluxDB: a point for each series and step, over HTTP, in the protocol of version 1 or of 2 and 3.
//!
//! A step that was not taken is sent again as it was. Points of one series and time overwrite each other, so what arrives twice counts
//! once.

mod fields;
mod line;

use std::{collections::VecDeque, io::Write as _, time::Duration};

use bytes::Bytes;
use flate2::{Compression, write::GzEncoder};
use onrush_metrics::{Registry, Step, summary::TrendStat};
use onrush_net::{ClientOptions, RequestHeaders, Url};

pub use self::fields::{FieldError, FieldKinds};
use self::line::Lines;
pub(crate) use self::line::{put_field, put_name, put_tag};
use crate::{
    Began, Delivery, Ending, Told,
    delivery::{Pace, Receiver},
    post::{Destination, Poster, Refused, authorize},
    regrouped::regrouped,
};

/// Where points go, and how.
#[derive(Clone)]
pub struct Config {
    /// The endpoint that takes lines, its query included.
    pub write: Url,
    /// What makes the database, for those that have to be made.
    pub create: Option<Url>,
    /// User and password, if it wants some.
    pub basic: Option<(String, String)>,
    /// Further headers, such as those with a token.
    pub headers: RequestHeaders,
    /// TLS and proxies.
    pub network: ClientOptions,
    /// How long a step is.
    pub push_interval: Duration,
    /// The unit of times.
    pub precision: Precision,
    /// Tags that are fields.
    pub apart: FieldKinds,
    /// What is told of trends beside their average, sum and number.
    pub stats: Vec<TrendStat>,
    /// Whether bodies are compressed.
    pub gzip: bool,
}

/// A unit of times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Precision(pub Duration);

impl Precision {
    /// What both versions take as nanoseconds.
    pub const FINEST: Self = Self(Duration::from_nanos(1));
}

impl Config {
    /// k6's interval.
    pub const PUSH_INTERVAL: Duration = Duration::from_secs(1);
}

/// The other side.
pub struct Influx {
    poster: Poster,
    /// What makes the database, until it has.
    creator: Option<Poster>,
    lines: Lines,
    unit_ns: i64,
    gzip: bool,
}

/// How long a request may take.
const DEADLINE: Duration = Duration::from_secs(5);
/// Lines in a request, as InfluxDB's makers recommend.
const LINES_MAX: usize = 5_000;

impl Influx {
    /// Sets up the network side. Whoever feeds the output notes spans in `began`.
    ///
    /// # Errors
    /// What keeps it from that.
    pub fn new(
        config: Config,
        registry: Registry,
        began: Began,
        tell: impl Fn(Told) + Send + 'static,
    ) -> std::io::Result<Delivery<Self>> {
        let mut headers = config.headers;
        authorize(&mut headers, config.basic.as_ref());
        let to_create = config.create.map(|url| Destination::new(url, headers.clone(), DEADLINE));
        headers.set("Content-Type", "text/plain; charset=utf-8");
        if config.gzip {
            headers.set("Content-Encoding", "gzip");
        }
        let to = Destination::new(config.write, headers, DEADLINE);
        let ending = Ending::default();
        let create = |to| Poster::start(to, config.network.clone(), ending.clone());
        let influx = Self {
            poster: create(to)?,
            creator: to_create.map(create).transpose()?,
            lines: Lines { registry, stats: config.stats, apart: config.apart },
            unit_ns: i64::try_from(config.precision.0.as_nanos()).unwrap_or(i64::MAX).max(1),
            gzip: config.gzip,
        };
        let pace = Pace { interval: config.push_interval, unit: config.precision.0 };
        Ok(Delivery::new(influx, began, ending, pace, tell))
    }

    fn body(&self, text: &str) -> Bytes {
        if !self.gzip {
            return Bytes::copy_from_slice(text.as_bytes());
        }
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        // Writing to memory cannot fail.
        let _ = encoder.write_all(text.as_bytes());
        encoder.finish().unwrap_or_default().into()
    }
}

impl Receiver for Influx {
    type Parcel = VecDeque<Bytes>;

    fn pack(&mut self, step: Step, at_ns: i64) -> VecDeque<Bytes> {
        let time = at_ns.div_euclid(self.unit_ns);
        let series = regrouped(step, |name| self.lines.apart.has(name));
        let body = |some: &[_]| {
            let mut text = String::new();
            some.iter().for_each(|series| self.lines.add(series, time, &mut text));
            self.body(&text)
        };
        series.chunks(LINES_MAX).map(body).collect()
    }

    fn send(&mut self, parcel: &mut VecDeque<Bytes>, mut after: Duration) -> Result<(), Refused> {
        if let Some(creator) = &self.creator {
            match creator.post(Bytes::new(), std::mem::take(&mut after)) {
                Err(refused) if refused.may_be_taken_later => return Err(refused),
                // k6: most likely harmless. If it is not there, nothing can be written, and that is told.
                Ok(_) | Err(_) => self.creator = None,
            }
        }
        while let Some(body) = parcel.front() {
            self.poster.post(body.clone(), std::mem::take(&mut after))?;
            parcel.pop_front();
        }
        Ok(())
    }
}
