//! What an output is to a run: its options as they were read, its start, its end.

use std::path::Path;

use onrush_metrics::{
    Merged, Thresholds,
    summary::{TimeUnit, TrendStat},
};
use onrush_output::{Config, Counts, Feed, Patience};
use onrush_results::End;
use onrush_session::{DeltaSink, Judgement};

use crate::{
    args::RunArgs,
    context::Context,
    failure::Failure,
    log::Logger,
    run::{
        prepare::{Prepared, Readers},
        view::Dashboard,
    },
};

/// An output that somebody asked for, as its options say.
pub(in crate::run) enum Wish {
    /// Of single samples.
    Raw(Config),
    /// Of what all agents measured together.
    Folded(Box<dyn Output>),
    /// The dashboard.
    Dashboard(Dashboard),
}

/// An output of what all agents measured together. Its options are checked, and nothing of it has begun.
pub(in crate::run) trait Output {
    /// What the execution block says.
    fn described(&self) -> String;

    /// The file it writes, if it writes one.
    fn file(&self) -> Option<&Path> {
        None
    }

    /// Whether the file is opened only when the run is over.
    fn is_of_the_end(&self) -> bool {
        false
    }

    /// What it needs of the samples beside what the summary needs.
    fn readers(&self) -> Readers {
        Readers::default()
    }

    /// Begins, before the first VU is made.
    ///
    /// # Errors
    /// 255 with what keeps it from that.
    fn start(&self, starting: &Starting<'_>) -> Result<Box<dyn Started>, Failure>;
}

/// The run that outputs are started for.
pub(in crate::run) struct Starting<'a> {
    pub(in crate::run) cx: &'a Context,
    pub(in crate::run) args: &'a RunArgs,
    pub(in crate::run) prepared: &'a Prepared,
    /// How many agents it has.
    pub(in crate::run) agents: u32,
}

/// An output of a run under way.
pub(in crate::run) trait Started: Send {
    /// What brings it the samples of all agents, if it wants them before the end.
    fn sink(&self) -> Option<Box<dyn DeltaSink>> {
        None
    }

    /// Where what is said of the run beside its samples goes in, if it keeps that.
    fn notes(&self) -> Option<Feed<End>> {
        None
    }

    /// Whom it waits for at the end, for people, if it waits for somebody.
    fn receiver(&self) -> Option<String> {
        None
    }

    /// Brings the rest of the samples to its receiver, if it has one, before anybody is told how the run was. Returns what the receiver
    /// lacks, as a sentence.
    fn deliver(&mut self, _delivery: &Delivery<'_>) -> Option<String> {
        None
    }

    /// Ends it; it says itself what it lacks. Returns whether the exit code may be that of success: somebody who waits for a file
    /// must not take an old one, or none, for the result.
    fn finish(self: Box<Self>, _finished: &Finished<'_>) -> bool {
        // Thresholds have judged what was delivered, wherever its numbers are.
        true
    }
}

/// The run whose last samples are delivered.
pub(in crate::run) struct Delivery<'a> {
    pub(in crate::run) logger: &'a Logger,
    /// How long receivers are waited for.
    pub(in crate::run) patience: &'a Patience,
    /// What the summary will say.
    pub(in crate::run) all: Counts,
}

/// The run that outputs end with.
pub(in crate::run) struct Finished<'a> {
    pub(in crate::run) cx: &'a Context,
    pub(in crate::run) args: &'a RunArgs,
    /// What all agents measured.
    pub(in crate::run) merged: &'a Merged,
    /// Evaluated for the last time.
    pub(in crate::run) thresholds: &'a Thresholds,
    /// Columns of trends.
    pub(in crate::run) trend_stats: &'a [TrendStat],
    /// Unit of times, if one is wanted.
    pub(in crate::run) time_unit: Option<TimeUnit>,
    /// The verdict on the measurement.
    pub(in crate::run) judgement: &'a Judgement,
    /// Why the run failed, if it is not for its thresholds: they speak for themselves.
    pub(in crate::run) failed_by: Option<&'a str>,
    /// What result files say at their end, the exit code included.
    pub(in crate::run) end: &'a End,
}
