//! Results that leave a run while it lasts: raw samples as lines of JSON or CSV, what all agents measured together a second after
//! the other, spans of requests, and log lines pushed to Loki.
//!
//! Nothing here can slow a VU down. Samples come in batches through a bounded queue ([`Outputs`]), steps of the run through others
//! ([`Folded`]), log lines through one more ([`loki`]); each has one thread that formats and writes, and what finds no room is counted and told.
//! Formats are k6's to the byte, so that what reads k6's files reads these.

#![forbid(unsafe_code)]

mod collect;
mod destination;
mod exponential;
mod folded;
mod forward;
mod go;
pub mod loki;
pub mod otlp;
mod post;
pub mod prometheus;
mod pump;
mod queue;
mod raw;
mod share;
pub mod time;
mod told;
mod window;

pub use collect::Collector;
pub use folded::{Feed, Folded, StepOutput, Unfinished};
pub use forward::Forward;
pub use post::basic_auth;
pub use pump::{OutputError, OutputReport, Outputs, Samples, reason};
pub use queue::{Losses, Taps};
pub use raw::{Config, Kind, MetricInfo, Target, TimeFormat};
pub use share::Share;
pub use told::Told;
