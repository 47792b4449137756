//! Outputs whose receivers add steps up themselves: their start, and at the end what a receiver lacks, by the numbers of the summary.

use std::{io, time::Duration};

use onrush_metrics::{Merged, Registry, Sink as Folding, Steps, builtin};
use onrush_output::{Began, Counts, Delivered, Folded, Patience, StepOutput, Told, statsd::Datagrams};
use onrush_session::DeltaSink;

use super::{
    super::prepare::Readers,
    folded::Sink,
    output::{Finished, Output, Started, Starting, Wish},
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
        let folded = Folded::start(output, Steps::of_seconds(), |_| {}).map_err(failed)?;
        Ok(Box::new(Delivering { receiver: self.receiver.clone(), folded, arrived, began }))
    }
}

/// An output under way.
struct Delivering<O: StepOutput<End = ()>> {
    /// Who it delivers to, without secrets.
    receiver: String,
    folded: Folded<O>,
    arrived: Arrived,
    began: Began,
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

    fn finish(self: Box<Self>, finished: &Finished<'_>) -> bool {
        let Self { receiver, folded, arrived, .. } = *self;
        let patience = Patience { silence: SILENCE, ..finished.patience.clone() };
        let result = folded.finish_within((), &patience);
        let logger = &finished.cx.logger;
        let lacking = arrived.lacking(finished.merged);
        let why = result.err().map_or_else(String::new, |why| format!(": {why}"));
        if !lacking.is_empty() {
            logger.error(format!("{receiver} lacks {}{why}", lacking.join(" and ")));
        } else if !why.is_empty() {
            logger.error(format!("{receiver} lacks the end of the run{why}"));
        }
        // Thresholds have judged the run, wherever its numbers are.
        true
    }
}

impl Arrived {
    /// What did not, for people.
    fn lacking(&self, merged: &Merged) -> Vec<String> {
        match self {
            Self::Steps(delivered) => {
                let Counts { iterations, requests } = delivered.counts();
                let parts =
                    [("iterations", builtin::ITERATIONS, iterations), ("requests", builtin::HTTP_REQS, requests)];
                let lacking = |(name, metric, has)| {
                    let all = merged.sink(metric).and_then(Folding::counter).unwrap_or_default();
                    (all > has).then(|| format!("{} of {all} {name}", all - has))
                };
                parts.into_iter().filter_map(lacking).collect()
            }
            Self::Datagrams(datagrams) => {
                let (lost, all) = datagrams.lost_of_all();
                (lost > 0).then(|| format!("{lost} of {all} datagrams")).into_iter().collect()
            }
        }
    }
}
