//! What the dashboard and the HTML report show, as one stream of records. The records are described in
//! docs/reference/view-stream.md.
//!
//! Steps of a run ([`onrush_metrics::Step`]), the health of its generators, how it stands and what it logged go into a
//! [`History`]. It gives them to any number of readers, each at its own pace ([`Cursor`]), and as a [`report`]. What is long
//! past is kept in fewer and longer steps, so a long run stays small.
//!
//! This crate is pure: it does no I/O, reads no clock and starts no thread. Who serves the stream is not its business.

#![forbid(unsafe_code)]

pub mod assets;
mod bins;
mod head;
mod health;
mod history;
mod length;
mod log;
mod number;
mod record;
pub mod report;
mod state;
mod step;
mod subscribe;
mod table;

pub use head::{Head, MetricRow, Mode, Scenario};
pub use health::{AgentSecond, HealthBins, HealthStep};
pub use history::{Batch, Cursor, History};
pub use length::StepLength;
pub use log::{LineRow, Lines};
pub use state::{AgentState, End, ScenarioState, State, ThresholdState};
pub use subscribe::subscribe;
