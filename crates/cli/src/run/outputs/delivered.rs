//! Outputs that deliver what was measured to receivers: their start, and at the end what a receiver lacks, by the numbers of the summary.

use std::{io, time::Duration};

use onrush_metrics::{Merged, MetricId, Registry, Sink as Folding, Steps, builtin};
use onrush_output::{Began, Counts, Delivered, Folded, Patience, StepOutput, Told, statsd::Datagrams};
use onrush_session::DeltaSink;

use super::{
    super::prepare::Readers,
    folded::Sink,
    output::{Delivery, Output, Started, Starting, Wish},
};
use crate::failure::Failure;

/// A receiver that takes nothing for so long at the end has been asked six times, and is given up.
const SILENCE: Duration = Duration::from_secs(15);

/// What is known of what arrived.
pub(super) enum Arrived {
    /// A receiver that answers has so much of the run.
    Steps(Delivered),
    /// Of these some came back.
    Datagrams(Datagrams),
}

/// What an output calls with what it has to say.
pub(super) type Tell = Box<dyn Fn(Told) + Send>;

/// Makes an output of its configuration.
type Make<C, O> = fn(C, Registry, Began, Tell) -> io::Result<(O, Arrived)>;

/// An output that is wanted.
struct Wanted<C, O> {
    config: C,
    /// Who it delivers to, without secrets.
    receiver: String,
    make: Make<C, O>,
}

/// One whose options have been read.
pub(super) fn wish<C: Clone + 'static, O: StepOutput<End = ()>>(config: C, receiver: String, make: Make<C, O>) -> Wish {
    Wish::Folded(Box::new(Wanted { config, receiver, make }))
}

impl<C: Clone, O: StepOutput<End = ()>> Output for Wanted<C, O> {
    fn described(&self) -> String {
        self.receiver.clone()
    }

    fn readers(&self) -> Readers {
        Readers { series: true, ..Readers::default() }
    }

    fn start(&self, starting: &Starting<'_>) -> Result<Box<dyn Started>, Failure> {
        let (registry, began) = (starting.prepared.run.registry.clone(), Began::default());
        let tell = tell(starting, self.receiver.clone());
        let failed =
            |error: io::Error| Failure::other(format!("failed to start the output to {}: {error}", self.receiver));
        let (output, arrived) = (self.make)(self.config.clone(), registry, began.clone(), tell).map_err(failed)?;
        started(self.receiver.clone(), output, arrived, began, SILENCE).map_err(failed)
    }
}

/// An output under way.
struct Delivering<O: StepOutput<End = ()>> {
    /// Who it delivers to, without secrets.
    receiver: String,
    folded: Folded<O>,
    arrived: Arrived,
    began: Began,
    /// How long its receiver may take nothing at the end.
    silence: Duration,
}

/// Starts the thread of an output. `silence`: how long its receiver may take nothing at the end.
///
/// # Errors
/// When the system has no thread left.
pub(super) fn started<O: StepOutput<End = ()>>(
    receiver: String,
    output: O,
    arrived: Arrived,
    began: Began,
    silence: Duration,
) -> io::Result<Box<dyn Started>> {
    let folded = Folded::start(output, Steps::of_seconds(), |_| {})?;
    Ok(Box::new(Delivering { receiver, folded, arrived, began, silence }))
}

/// Says in the log how it goes.
fn tell(starting: &Starting<'_>, receiver: String) -> Tell {
    let logger = starting.cx.logger.clone();
    Box::new(move |told| match told {
        Told::Failed(why) => logger.error(format!(
            "{receiver} takes nothing: {why}; what waits is sent again and again, and nothing is left out"
        )),
        Told::Lost(why) | Told::Older(why) => {
            logger.error(format!("{receiver} refused a part of the run, which it lacks: {why}"));
        }
        Told::Again { failed } => {
            logger.warn(format!("{receiver} takes what it is sent again, after {failed} attempts"));
        }
    })
}

impl<O: StepOutput<End = ()>> Started for Delivering<O> {
    fn sink(&self) -> Option<Box<dyn DeltaSink>> {
        Some(Box::new(Sink::new(self.folded.feed(), &self.began)))
    }

    fn receiver(&self) -> Option<String> {
        Some(self.receiver.clone())
    }

    fn deliver(&mut self, delivery: &Delivery<'_>) -> Option<String> {
        let all = delivery.patience.clone();
        let patience = Patience { silence: self.silence.min(all.silence), ..all };
        let result = self.folded.finish_within((), &patience);
        let mut lacking = self.arrived.lacking(delivery.all);
        if lacking.is_empty() && result.is_err() {
            // Of what is counted it has all.
            lacking.push("the end of the run".to_owned());
        }
        if lacking.is_empty() {
            return None;
        }
        let lacks = format!("{} lacks {}", self.receiver, lacking.join(" and "));
        let why = result.err().map_or_else(String::new, |why| format!(": {why}"));
        delivery.logger.error(format!("{lacks}{why}"));
        Some(lacks)
    }
}

impl Arrived {
    /// What did not, for people.
    fn lacking(&self, all: Counts) -> Vec<String> {
        match self {
            Self::Steps(delivered) => {
                let has = delivered.counts();
                let parts = [("iterations", all.iterations, has.iterations), ("requests", all.requests, has.requests)];
                let lacking = |(name, all, has)| (all > has).then(|| format!("{} of {all} {name}", all - has));
                let mut lacking: Vec<String> = parts.into_iter().filter_map(lacking).collect();
                if has.rejected > 0 {
                    lacking.push(format!("{} data points that it rejected", has.rejected));
                }
                lacking
            }
            Self::Datagrams(datagrams) => {
                let (lost, all) = datagrams.lost_of_all();
                (lost > 0).then(|| format!("{lost} of {all} datagrams")).into_iter().collect()
            }
        }
    }
}

/// What a receiver should have.
pub(in crate::run) fn counts(merged: &Merged) -> Counts {
    let count = |metric: MetricId| merged.sink(metric).and_then(Folding::counter).unwrap_or_default();
    Counts { iterations: count(builtin::ITERATIONS), requests: count(builtin::HTTP_REQS), rejected: 0 }
}
