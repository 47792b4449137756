//! A run that is over: what came of it, for whoever tells people, files and the shell.

use onrush_metrics::Standing;
use onrush_results::{End, StartLag};
use onrush_session::{Coordinator, ExitCode, Judgement, Outcome};

use super::view::View;

/// How a run ended.
pub(super) struct Ended {
    /// Its result.
    pub(super) outcome: Outcome,
    /// The last error that was told while it ran.
    pub(super) last_error: Option<String>,
    /// The VU whose init code failed, if that is why.
    pub(super) failed_vu: Option<u64>,
    /// `--summary-export` could not be written.
    pub(super) export_failed: bool,
    /// The verdict on the measurement, and why.
    pub(super) judgement: Judgement,
    /// How each threshold stood.
    pub(super) standings: Vec<Vec<Standing>>,
    /// Thresholds that were never judged.
    pub(super) unjudged: Vec<String>,
    /// Not one request succeeded.
    pub(super) nothing_succeeded: bool,
    /// How long the test took, pauses not counted, in nanoseconds.
    pub(super) duration_ns: u64,
    /// What all agents measured, and how thresholds stand.
    pub(super) coordinator: Coordinator,
    /// Dashboard and HTML reports, which lack its end.
    pub(super) view: Option<View>,
}

impl Ended {
    /// What its result files say at their end.
    pub(super) fn for_file(&self, code: ExitCode) -> End {
        let judgement = &self.judgement;
        End {
            duration_ns: self.duration_ns,
            exit_code: code as u8,
            stopped: self.outcome.stop.as_ref().map(|stop| stop.message.clone()),
            verdict: judgement.verdict.as_str().to_owned(),
            reasons: judgement.reasons.clone(),
            notes: judgement.notes.clone(),
            standings: self.standings.clone(),
            start_lag: judgement.start_lag.map(|lag| StartLag {
                iterations: lag.iterations,
                p99_ms: lag.p99_ms,
                max_ms: lag.max_ms,
            }),
            own_delay: judgement.own_delay.as_ref().and_then(|delay| serde_json::to_value(delay).ok()),
            generator: judgement.generator.and_then(|record| serde_json::to_value(record).ok()),
        }
    }
}
