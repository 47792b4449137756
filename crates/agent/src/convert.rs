//! The engine's types as those of the protocol.

use onrush_engine::{LifecycleError, ScenarioProgress as Own};
use onrush_fiber::Nanos;
use onrush_js::HandleSummaryFile;
use onrush_session::protocol::{Failure, FailureKind, ScenarioProgress, SummaryFile, Time};

/// This process's clock as the coordinator's.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Offset(pub(crate) i64);

impl Offset {
    pub(crate) fn time(self, at: Nanos) -> Time {
        Time(at.0.saturating_add_signed(self.0))
    }

    pub(crate) fn nanos(self, at: Time) -> Nanos {
        Nanos(at.0.saturating_add_signed(self.0.saturating_neg()))
    }
}

pub(crate) fn progress(own: &Own, offset: Offset) -> ScenarioProgress {
    let time = |ns: u64| (ns != 0).then(|| offset.time(Nanos(ns)));
    ScenarioProgress {
        started_at: time(own.started_at_ns),
        ended_at: time(own.ended_at_ns),
        running_vus: own.running_vus,
        active_vus: own.active_vus,
        active_vus_max: own.active_vus_max,
        done: own.done,
        interrupted: own.interrupted,
        thrown: own.thrown,
        dropped: own.dropped,
        stopping: own.stopping,
        over: own.over,
        steered: own.steered,
        max_vus: own.max_vus,
    }
}

pub(crate) fn failure(error: &LifecycleError) -> Failure {
    let kind = match error {
        LifecycleError::Script(failure) | LifecycleError::Init { failure, .. } if failure.aborted => {
            FailureKind::Aborted
        }
        LifecycleError::Script(_) | LifecycleError::Init { .. } => FailureKind::Script,
        LifecycleError::Timeout { .. } => FailureKind::Timeout,
        LifecycleError::Data(_) | LifecycleError::Engine(_) => FailureKind::Engine,
    };
    let vu = match error {
        LifecycleError::Init { vu, .. } => Some(*vu),
        _ => None,
    };
    Failure { kind, message: error.to_string(), vu }
}

pub(crate) fn summary_file(file: HandleSummaryFile) -> SummaryFile {
    SummaryFile { path: file.path, content: file.content }
}
