//! Where scripts' `console` lines and the engine's warnings go.

use std::borrow::Cow;

/// Severity of a log line, as k6 names them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// `console.debug`.
    Debug,
    /// `console.log`, `console.info`.
    Info,
    /// `console.warn` and engine warnings.
    Warn,
    /// `console.error`, uncaught exceptions.
    Error,
}

/// One line with its structured fields, in the order they are printed.
#[derive(Debug, Clone)]
pub struct Line {
    /// Severity.
    pub level: Level,
    /// The text.
    pub message: String,
    /// `key`, `value` pairs such as `source=console`.
    pub fields: Fields,
}

/// Fields of a line.
pub type Fields = Vec<(Cow<'static, str>, String)>;

/// A receiver of log lines, shared by all threads. It must not block for long: VUs call it.
pub trait Sink: Send + Sync {
    /// Takes one line.
    fn line(&self, line: Line);
}
