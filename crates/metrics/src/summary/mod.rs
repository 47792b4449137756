//! The end-of-test summary: what a run came to, as text and as JSON.
//!
//! [`SummaryInput`] is what the summary needs to know, gathered by
//! [`input_from`] from merged metrics and thresholds or filled in by hand.
//! [`SummaryModel`] is that, computed and put in order: plain data that the
//! renderers only format. [`render`] writes k6's text layouts,
//! [`handle_summary`], [`summary_export`] and [`machine_readable`] its three
//! JSON shapes. None of them does I/O: the caller decides where a text goes.
//!
//! What k6 prints is followed to the byte, and `tests/summary.rs` holds the renderers to outputs captured from it. The
//! one addition is the [`Footer`]: how exact the percentiles are, and whether the measurement can be trusted.

mod agents;
mod collate;
mod collect;
mod endpoint;
mod export;
mod footer;
mod group;
mod input;
mod mode;
mod model;
mod number;
mod requests;
mod text;
mod trend_stat;

pub use agents::{AgentInfo, AgentLoad, AgentsInfo};
pub use collect::{input_from, subscribe};
pub use endpoint::{Endpoint, endpoints_from};
pub use export::{MachineInfo, handle_summary, machine_readable, summary_export, to_file};
pub use footer::{Footer, Verdict};
pub use group::{Check, Group};
pub use input::{
    CheckInput, GroupInput, MetricInput, RunInfo, ScopeInput, SummaryInput, ThresholdInput, TrendStats, Values,
};
pub use mode::{SummaryMode, SummaryModeError};
pub use model::{CheckTotal, MetricSummary, MetricValues, Scope, SummaryModel, ThresholdSummary, TrendSummary};
pub use number::value;
pub use requests::requests;
pub use text::{TextOptions, render, to_stdout, with_commas};
pub use trend_stat::{TimeUnit, TimeUnitError, TrendStat, TrendStatError, TrendStatKind};
