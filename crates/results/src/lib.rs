//! The result file of a run: everything it measured, second by second, so that whatever is told about it can be computed
//! again. The format is described in docs/reference/result-file.md.
//!
//! [`Writer`] writes the steps of a run ([`onrush_metrics::Step`]) as it goes, [`Reader`] reads them again: also those of a run that
//! was killed, up to the last whole one. [`Replayed`] is the run computed again.

mod format;
mod fuzz;
mod reader;
mod replayed;
mod writer;

pub use format::{End, Head, MetricRow, StartLag};
pub use fuzz::fuzz;
pub use reader::{Ending, ReadError, Reader, Record};
pub use replayed::{ReplayError, Replayed};
pub use writer::{WriteError, Writer};
