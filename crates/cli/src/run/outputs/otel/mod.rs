//! OpenTelemetry: metrics (`--out opentelemetry`) and traces (`--traces-output`), and the variables that both read.

mod environment;
pub(super) mod metrics;
pub(in crate::run) mod traces;
