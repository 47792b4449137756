//! The coordinator of a run as a pure state machine: `(state, event) → (state, actions)`.
//!
//! `onrush run` is a coordinator with one agent in the same process; a cluster is the same coordinator with more
//! agents. Nothing here does I/O, reads a clock or starts a thread: time comes with the events, so a ten-minute run or
//! a lost agent is tested in microseconds. The agents' side of the work is `onrush-engine`.

mod coordinator;
mod outcome;
mod replay;
mod steering;
mod verdict;
mod watermark;

pub use coordinator::{Action, AgentId, Coordinator, Event, Phase, Settings};
pub use outcome::{ExitCode, Outcome, Stop};
pub use replay::{Replay, ReplayError, ReplayStep};
pub use steering::{CHANGES_MAX, Change, Moment, ScenarioTargets, ShareOfTarget, Steer, SteerError, Steering};
pub use verdict::{Health, Judge, Judgement, ScenarioLoad, StartLag, Verdict};
