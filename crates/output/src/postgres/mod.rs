//! PostgreSQL, with TimescaleDB or without: a row for each series and step.
//!
//! A row has a key that is made once, so what arrives twice counts once. Rows travel as one JSON argument of a statement: nothing that
//! a script or a server says becomes a part of it.

mod session;

use std::{
    collections::VecDeque,
    io,
    sync::mpsc::{Receiver as Jobs, Sender, SyncSender, channel, sync_channel},
    time::Duration,
};

use onrush_metrics::{Histogram, Registry, Sink, Step, summary::TrendStat};
use onrush_net::{ClientOptions, Connections};
pub use onrush_sql::postgres::Target;
use serde_json::{Map, Value, json};

use self::session::Session;
use crate::{
    Began, Delivery, Ending, Told,
    delivery::{Pace, Receiver},
    ending::Unanswered,
    post::{Refused, start_thread},
    time::rfc3339_nanos,
};

/// Where rows go, and how.
#[derive(Clone)]
pub struct Config {
    /// The server, the database and who writes.
    pub target: Target,
    /// TLS and names.
    pub network: ClientOptions,
    /// How long a step is.
    pub push_interval: Duration,
}

impl Config {
    /// That of k6's extension.
    pub const PUSH_INTERVAL: Duration = Duration::from_secs(1);
}

/// The other side.
pub struct Postgres {
    jobs: Sender<Job>,
    ending: Ending,
    registry: Registry,
    stats: Vec<TrendStat>,
    /// Tells this run from others.
    run: String,
}

/// Rows for the thread that writes.
struct Job {
    after: Duration,
    rows: String,
    answered: SyncSender<Result<(), Refused>>,
}

/// Rows in a statement.
const ROWS_MAX: usize = 1_000;
/// What is told of trends.
const STATS: [&str; 7] = ["min", "max", "avg", "med", "p(90)", "p(95)", "p(99)"];

impl Postgres {
    /// Sets up the network side. Whoever feeds the output notes spans in `began`; `started_ns` is when the run started, in
    /// nanoseconds since 1970.
    ///
    /// # Errors
    /// What keeps it from that.
    pub fn new(
        config: Config,
        registry: Registry,
        began: Began,
        started_ns: i128,
        tell: impl Fn(Told) + Send + 'static,
    ) -> io::Result<Delivery<Self>> {
        let (jobs, waiting) = channel();
        let (target, mut network) = (config.target, config.network);
        network.tls.insecure_skip_verify |= !target.checks_certificate;
        start_thread(network, move |connections| serve(&target, connections, &waiting))?;
        let stats = TrendStat::parse_list(&STATS).map_err(io::Error::other)?;
        let ending = Ending::default();
        let postgres = Self { jobs, ending: ending.clone(), registry, stats, run: rfc3339_nanos(started_ns) };
        // The finest time there is in a row.
        let pace = Pace { interval: config.push_interval, unit: Duration::from_micros(1) };
        Ok(Delivery::new(postgres, began, ending, pace, tell))
    }

    fn row(
        &self,
        number: usize,
        at: &str,
        seconds: Option<f64>,
        series: &onrush_metrics::DeltaSeries,
    ) -> Option<Value> {
        let metric = self.registry.find(series.metric)?;
        let tags = series.tags.iter().map(|(name, value)| (storable(name), Value::from(storable(value))));
        let mut row = json!({
            "ts": at,
            "run": self.run,
            "row_number": number,
            "seconds": seconds,
            "metric": storable(&metric.name),
            "kind": metric.kind.as_str(),
            "tags": tags.collect::<Map<_, _>>(),
        });
        let fields = row.as_object_mut()?;
        let mut put = |name: &str, value: Value| _ = fields.insert(name.to_owned(), value);
        match &series.sink {
            Sink::Counter { sum } => put("value", json!(sum.value())),
            Sink::Gauge(gauge) => {
                put("value", json!(gauge.last));
                put("min", json!(gauge.min));
                put("max", json!(gauge.max));
            }
            Sink::Rate { hits, total } => {
                put("value", json!(hits));
                put("count", json!(total));
            }
            Sink::Trend(values) => self.put_trend(values, &mut put),
        }
        Some(row)
    }

    fn put_trend(&self, values: &Histogram, put: &mut impl FnMut(&str, Value)) {
        put("value", json!(values.mean()));
        put("count", json!(values.count()));
        put("sum", json!(values.sum()));
        for stat in &self.stats {
            let name: String = stat.name().chars().filter(|sign| !['(', ')'].contains(sign)).collect();
            put(&name, json!(stat.of(values)));
        }
    }
}

/// A text without what PostgreSQL has no way to keep.
fn storable(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

impl Receiver for Postgres {
    type Parcel = VecDeque<String>;

    fn pack(&mut self, step: Step, at_ns: i64) -> VecDeque<String> {
        let at = rfc3339_nanos(at_ns.into());
        let seconds = step.span.map(|span| span.until_ns.saturating_sub(span.from_ns) as f64 / 1e9);
        let numbered = step.delta.series.iter().enumerate();
        let rows: Vec<Value> = numbered.filter_map(|(number, series)| self.row(number, &at, seconds, series)).collect();
        rows.chunks(ROWS_MAX).map(|some| Value::from(some).to_string()).collect()
    }

    fn send(&mut self, parcel: &mut VecDeque<String>, mut after: Duration) -> Result<(), Refused> {
        while let Some(rows) = parcel.front() {
            let (answered, answer) = sync_channel(1);
            let gone = || Refused::for_good("the thread of an output ended".to_owned());
            let job = Job { after: std::mem::take(&mut after), rows: rows.clone(), answered };
            self.jobs.send(job).map_err(|_| gone())?;
            match self.ending.receive(&answer) {
                Ok(answer) => answer?,
                Err(Unanswered::Over) => return Err(Refused::too_late()),
                Err(Unanswered::Gone) => return Err(gone()),
            }
            parcel.pop_front();
        }
        Ok(())
    }
}

fn serve(target: &Target, connections: &mut Connections, jobs: &Jobs<Job>) {
    let mut session = Session::new(target);
    while let Ok(Job { after, rows, answered }) = jobs.recv() {
        // Whatever the server says may change: a table, a right, a limit of connections.
        let result = session.insert(connections, rows, after).map_err(|why| Refused {
            why,
            may_be_taken_later: true,
            is_not_understood: false,
        });
        // Whoever asked may have given up.
        let _ = answered.send(result);
    }
    session.end();
}
