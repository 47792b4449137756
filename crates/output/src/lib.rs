//! Results that leave a run while it lasts: raw samples as lines of JSON or CSV or as messages to Kafka, what all agents measured together a second after
//! the other, spans of requests, and log lines pushed to Loki.
//!
//! Nothing here can slow a VU down. Samples come in batches through a bounded queue ([`Outputs`]), steps of the run through others
//! ([`Folded`]), log lines through one more ([`loki`]); each has one thread that formats and writes, and what finds no room is counted and told.
//! Formats are k6's to the byte, so that what reads k6's files reads these.

#![forbid(unsafe_code)]

mod began;
mod collect;
mod create;
mod delivery;
mod destination;
mod ending;
mod exponential;
mod folded;
mod forward;
mod go;
pub mod influx;
#[cfg(feature = "kafka")]
pub mod kafka;
pub mod loki;
mod open;
pub mod otlp;
mod pauses;
mod periods;
mod post;
pub mod postgres;
pub mod prometheus;
mod pump;
mod queue;
mod raw;
mod regrouped;
mod share;
mod sigv4;
pub mod statsd;
pub mod time;
mod told;
mod undelivered;
mod window;

pub use began::Began;
pub use collect::Collector;
pub use create::create;
pub use delivery::{Counts, Delivered, Delivery};
pub use destination::Destination;
pub use ending::{Ending, Patience};
pub use folded::{Feed, Folded, Note, StepOutput, Unfinished};
pub use forward::Forward;
pub use periods::Periods;
pub use pump::{OutputError, OutputReport, Outputs, Samples, Tell, reason};
pub use queue::{Losses, Taps};
pub use raw::{Config, Kind, MessageFormat, MetricInfo, Target, TimeFormat};
pub use share::Share;
pub use sigv4::SigV4;
pub use told::Told;
pub use undelivered::Undelivered;
