//! OpenTelemetry's protocol, OTLP: metrics of what all agents measured together, and spans of single requests.
//!
//! Both go through an [`Exporter`], over gRPC or HTTP. [`Metrics`] is a folded output: it sends the state of every series each few
//! seconds, so it costs the same for one agent or a hundred, and however many requests they make.

mod exporter;
mod histogram;
mod metrics;
mod series;
mod traces;
mod wire;

pub use exporter::{Receiver, Way};
pub use metrics::{Config, Metrics, News, Temporality};
pub use series::{Histograms, Rates};
pub use traces::{Outcome, Traces};
