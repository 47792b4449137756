//! What is told of a run that is over, whether it has just ended or is read from its result file.

use onrush_metrics::{
    Merged, Outcomes, RELATIVE_ERROR, Thresholds,
    summary::{
        AgentsInfo, Endpoint, Footer, RunInfo, SummaryMode, SummaryModel, TextOptions, endpoints_from, input_from,
        render, requests,
    },
};
use onrush_session::{Judgement, LatencyError};

/// What a run came to.
pub(crate) struct Account {
    /// `None` where nobody wants a summary.
    pub(crate) model: Option<SummaryModel>,
    /// The verdict on the measurement.
    pub(crate) judgement: Judgement,
    /// What became of requests.
    outcomes: Outcomes,
    /// Requests by name, for the full layout.
    endpoints: Vec<Endpoint>,
    /// The agents, where they are processes of their own.
    pub(crate) agents: Option<AgentsInfo>,
}

impl Account {
    /// Of a run in one process. Thresholds have to be evaluated.
    pub(crate) fn new(
        merged: &Merged,
        thresholds: &Thresholds,
        info: RunInfo,
        mode: SummaryMode,
        judgement: Judgement,
    ) -> Self {
        let model = || SummaryModel::new(input_from(merged, thresholds, info, mode));
        Self {
            model: (mode != SummaryMode::Disabled).then(model),
            judgement,
            outcomes: merged.outcomes().clone(),
            endpoints: if mode == SummaryMode::Full { endpoints_from(merged) } else { Vec::new() },
            agents: None,
        }
    }

    /// The built-in summary; nothing where none is wanted.
    pub(crate) fn text(&self, mode: SummaryMode, color: bool) -> String {
        let judgement = &self.judgement;
        let lag = judgement.start_lag.map(|lag| lag.to_string());
        let own = judgement.own_delay.as_ref().map(ToString::to_string);
        let footer = Footer {
            percentile_error: Some(RELATIVE_ERROR),
            verdict: Some(judgement.verdict),
            reasons: judgement.reasons.clone(),
            notes: judgement.notes.iter().cloned().chain(lag).chain(own).collect(),
        };
        let options = TextOptions {
            mode,
            color,
            footer: Some(&footer),
            outcomes: Some(&self.outcomes),
            endpoints: &self.endpoints,
            agents: self.agents.as_ref(),
        };
        self.model.as_ref().map(|model| render(model, &options)).unwrap_or_default()
    }

    /// Adds to a summary as JSON what k6's has not, under keys that k6 does not have: the tables of errors, statuses and
    /// endpoints, the agents, and the verdict on the measurement.
    pub(crate) fn add_to(&self, data: &mut serde_json::Value) {
        let Some(data) = data.as_object_mut() else { return };
        if let Some(requests) = requests(&self.outcomes, &self.endpoints) {
            data.insert("requests".to_owned(), requests);
        }
        if let Some(agents) = &self.agents {
            data.insert("agents".to_owned(), agents.to_json());
        }
        let judgement = &self.judgement;
        let start_lag = judgement
            .start_lag
            .map(|lag| serde_json::json!({ "iterations": lag.iterations, "p(99)": lag.p99_ms, "max": lag.max_ms }));
        let own_delay = judgement.own_delay.as_ref().map(|delay| {
            let error = |error: &LatencyError| {
                serde_json::json!({
                    "scenario": error.scenario,
                    "percentile": error.percentile,
                    "excess": error.excess_ms,
                    "reported": error.reported_ms,
                })
            };
            serde_json::json!({
                "requests": delay.requests,
                "med": delay.median_ms,
                "p(99)": delay.p99_ms,
                "max": delay.max_ms,
                "latency_errors": delay.errors.iter().map(error).collect::<Vec<_>>(),
            })
        });
        let measurement = serde_json::json!({
            "verdict": judgement.verdict.as_str(),
            "reasons": judgement.reasons,
            "notes": judgement.notes,
            "percentile_error": RELATIVE_ERROR,
            "start_lag_ms": start_lag,
            "own_delay_ms": own_delay,
            "generator": judgement.generator,
        });
        data.insert("measurement".to_owned(), measurement);
    }
}
