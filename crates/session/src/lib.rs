//! The session of a run: what coordinator and agents say to each other, and the coordinator as a pure state machine.
//!
//! `onrush run` is a coordinator with one agent in the same process; a cluster is the same coordinator with more
//! agents. Nothing here does I/O, reads a clock or starts a thread: time comes with the events, so a ten-minute run is
//! tested in microseconds, and so are agents that are late, silent or lost: the crate `simulation` runs whole tests of
//! several agents from a seed. The agents' side is `onrush-agent`.
//!
//! Start with [`protocol`], then [`Coordinator`].

mod coordinator;
pub mod link;
mod outcome;
pub mod protocol;
pub mod relay;
mod replay;
mod steering;
mod verdict;
mod watermark;

pub use coordinator::{
    AgentOverview, Begin, Coordinator, DeltaSink, Function, Input, Journal, LossPolicy, Notice, Orders, Patience,
    RunPhase, Settings,
};
pub use onrush_metrics::summary::Verdict;
pub use outcome::{ExitCode, Outcome, Stop};
pub use replay::{Replay, ReplayError, ReplayStep};
pub use steering::{CHANGES_MAX, Change, Moment, ScenarioTargets, Steer, SteerError, Steering};
pub use verdict::{
    AgentHealth, GeneratorRecord, Judge, Judgement, LatencyError, OwnDelayFigures, ScenarioLoad, StartLag,
};
