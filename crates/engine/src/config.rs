//! What an engine is started with.

use std::{sync::Arc, time::Duration};

use onrush_js::{RunConfig, Tracer};
use onrush_metrics::Tap;
use onrush_plan::Plan;

/// Everything fixed before the first VU is made.
pub struct EngineConfig {
    /// The script side.
    pub run: Arc<RunConfig>,
    /// The schedule of this instance's segment.
    pub plan: Arc<Plan>,
    /// Worker threads, at least 1.
    pub threads: usize,
    /// `minIterationDuration`.
    pub min_iteration: Duration,
    /// Limits of the life-cycle functions.
    pub timeouts: Timeouts,
    /// Makes each thread's tap, if an output wants raw samples.
    pub taps: Option<Arc<dyn Fn(usize) -> Tap + Send + Sync>>,
    /// Makes each thread's tracer, if the run is traced.
    pub tracers: Option<Tracers>,
}

/// Makes the tracer of each worker thread.
pub type Tracers = Arc<dyn Fn(usize) -> Tracer + Send + Sync>;

/// How long the life-cycle functions may take.
#[derive(Debug, Clone, Copy)]
pub struct Timeouts {
    /// `setupTimeout`.
    pub setup: Duration,
    /// `teardownTimeout`.
    pub teardown: Duration,
    /// `handleSummaryTimeout`.
    pub handle_summary: Duration,
}
