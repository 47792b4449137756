//! The output: what was measured goes out every few seconds, and once more at the end.
//!
//! What is told since the start can be lost on its way and costs resolution, no sample: the next export has all. What is told since the
//! last export is kept until the receiver has taken it. Nothing waits here but the output's own thread.

use std::{io, sync::Arc, time::Duration};

use onrush_metrics::{Registry, Step};

use super::{
    exporter::{Exporter, Receiver, Rejected, Signal},
    series::{AllSeries, Histograms, Rates, Style},
    wire::{
        Resource, Scope,
        metrics::{Metric, Request, ResourceMetrics, ScopeMetrics},
    },
};
use crate::{
    Began, Counts, Delivered, Ending, StepOutput, began,
    pauses::Turns,
    post::{Refused, last_tries},
    told::{Teller, Told},
};

/// Where metrics go, and how they are told.
#[derive(Clone)]
pub struct Config {
    /// Where they go.
    pub receiver: Receiver,
    /// Who measured: `service.name` and others.
    pub resource: Vec<(String, String)>,
    /// In front of every name.
    pub prefix: String,
    /// How often.
    pub export_interval: Duration,
    /// Since when.
    pub temporality: Temporality,
    /// How trends are told.
    pub histograms: Histograms,
    /// How rates are told.
    pub rates: Rates,
}

/// What numbers cover.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Temporality {
    /// All since the start.
    Cumulative,
    /// What came since the last export.
    Delta,
}

/// What it has to say about itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum News {
    /// Whether exports arrive.
    Way(Told),
    /// A receiver that took an export left data points or spans out of it, or has a remark.
    Rejected {
        /// So many; they are not sent again.
        count: u64,
        /// Why.
        why: String,
    },
    /// Spans come faster than they can be sent, and some are lost.
    Overrun,
}

/// The output.
pub struct Metrics {
    exporter: Exporter,
    ending: Ending,
    series: AllSeries,
    resource: Resource,
    turns: Turns,
    began: Began,
    /// Nanoseconds since 1970 of the last export: time does not go back.
    last_ns: u64,
    delivered: Delivered,
    teller: Teller,
    /// What the receiver said last of data points that it took and left out.
    remark: String,
    tell: Arc<dyn Fn(News) + Send + Sync>,
}

impl Metrics {
    /// k6's interval.
    pub const EXPORT_INTERVAL: Duration = Duration::from_secs(10);

    /// Sets up the network side. Whoever feeds the output notes spans in `began`.
    ///
    /// # Errors
    /// What keeps it from that.
    pub fn new(
        config: Config,
        registry: Registry,
        began: Began,
        tell: impl Fn(News) + Send + Sync + 'static,
    ) -> io::Result<Self> {
        let Config { receiver, resource, prefix, export_interval, temporality, histograms, rates } = config;
        let tell: Arc<dyn Fn(News) + Send + Sync> = Arc::new(tell);
        let of_way = tell.clone();
        let (start_ns, ending) = (now_ns(), Ending::default());
        Ok(Self {
            exporter: Exporter::new(receiver, Signal::Metrics, ending.clone())?,
            ending,
            series: AllSeries::new(registry, Style { prefix, temporality, histograms, rates }, start_ns),
            resource: Resource::of(&resource),
            turns: Turns::new(export_interval),
            began,
            last_ns: start_ns,
            delivered: Delivered::default(),
            teller: Teller::new(move |told| of_way(News::Way(told))),
            remark: String::new(),
            tell,
        })
    }

    /// What has arrived.
    pub fn delivered(&self) -> Delivered {
        self.delivered.clone()
    }

    /// Exports everything as of this time, after a while.
    fn export(&mut self, at_ns: u64, after: Duration) -> Result<(), Refused> {
        let at_ns = at_ns.max(self.last_ns + 1);
        let result = self.send(at_ns, after);
        // Some of it may have arrived.
        self.last_ns = at_ns;
        if result.is_ok() {
            self.series.told_all(at_ns);
        }
        self.turns.ended(&result);
        self.teller.note(&result);
        result
    }

    /// Sends one request after the other: those of one series have to arrive in their order.
    fn send(&mut self, at_ns: u64, mut after: Duration) -> Result<(), Refused> {
        let mut keys = self.series.keys().into_iter();
        loop {
            let mut part = self.series.part(&mut keys, at_ns);
            if part.instruments.is_empty() {
                return Ok(());
            }
            let metrics = std::mem::take(&mut part.instruments);
            let count = metrics.iter().map(Metric::points).sum();
            let scope = Some(Scope { name: SCOPE.to_owned(), version: String::new() });
            let resource = Some(self.resource.clone());
            let scope_metrics = vec![ScopeMetrics { scope, metrics }];
            let request = Request { resource_metrics: vec![ResourceMetrics { resource, scope_metrics }] };
            let rejected = self.exporter.send(&request, count, std::mem::take(&mut after))?;
            let arrived = self.series.told(part, at_ns);
            self.delivered.add(Counts { rejected: rejected.count, ..arrived });
            self.note(rejected);
        }
    }

    fn note(&mut self, rejected: Rejected) {
        let Rejected { count, why } = rejected;
        let is_first = count > 0 && self.delivered.counts().rejected == count;
        let is_said = count > 0 || !why.is_empty();
        if is_said && (is_first || self.remark != why) {
            self.remark.clone_from(&why);
            (self.tell)(News::Rejected { count, why });
        }
    }
}

/// k6's name of the instrumentation.
const SCOPE: &str = "k6";

impl StepOutput for Metrics {
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
            let at_ns = u64::try_from(self.began.unix_ns(span.until_ns)).unwrap_or(0);
            // What failed is in the next export.
            let _ = self.export(at_ns, Duration::ZERO);
        }
        Ok(())
    }

    fn end(mut self, (): ()) -> Result<(), String> {
        let ending = self.ending.clone();
        last_tries(&ending, |after| self.export(now_ns(), after))?;
        // Whoever has counted what is lacking says why.
        if self.delivered.counts().rejected > 0 { Err(self.remark) } else { Ok(()) }
    }
}

fn now_ns() -> u64 {
    u64::try_from(began::now_ns()).unwrap_or(0)
}
