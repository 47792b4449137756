//! The coordinator that a run begins with: what the options say of it.

use std::time::Duration;

use onrush_plan::SegmentSequence;
use onrush_session::{Coordinator, LossPolicy, Patience, Replay, Settings, protocol::AgentId};

use super::prepare::Prepared;
use crate::args::RunArgs;

/// What a command may take to reach all agents.
const START_IN: Duration = Duration::from_millis(200);

/// The coordinator of a run over these agents, which knows nothing yet.
pub(super) fn coordinator(
    args: &RunArgs,
    prepared: &Prepared,
    replay: Replay,
    ids: Vec<AgentId>,
    weights: Vec<u64>,
) -> Coordinator {
    let start_in = if args.cluster.is_some() { START_IN } else { Duration::ZERO };
    let options = &prepared.test.settings;
    let settings = Settings {
        has_setup: prepared.lifecycle.setup,
        has_teardown: prepared.lifecycle.teardown,
        evaluates_thresholds: !args.no_thresholds,
        starts_paused: options.paused,
        patience: Patience {
            setup: options.setup_timeout,
            teardown: options.teardown_timeout,
            summary: options.handle_summary_timeout,
            lingers: args.cluster.as_ref().map_or(Duration::ZERO, |cluster| cluster.patience.lingers()),
            ..Patience::default()
        },
        on_loss: args.cluster.as_ref().map_or_else(LossPolicy::default, |cluster| cluster.on_loss),
        start_in,
        series_max: options.cardinality_limit,
        rps: options.rps,
    };
    let coordinator =
        Coordinator::new(settings, ids, &prepared.plan, &prepared.run.registry, prepared.thresholds.clone())
            .replaying(replay)
            .weighted(weights);
    let options = &prepared.test.options;
    let Some(segment) = options.execution_segment else { return coordinator };
    let sequence = options.execution_segment_sequence.clone().map(SegmentSequence::filled);
    coordinator.within(segment, sequence.unwrap_or_else(|| SegmentSequence::around(segment)))
}
