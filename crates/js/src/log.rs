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
    /// The text; see [`Line::shorten`].
    pub message: String,
    /// `key`, `value` pairs such as `source=console`.
    pub fields: Fields,
}

/// Fields of a line.
pub type Fields = Vec<(Cow<'static, str>, String)>;

impl Line {
    /// Longest message in bytes that a log should keep.
    pub const BYTES_MAX: usize = 1 << 20;

    /// Whether the script printed it with `console.*`.
    pub fn is_console(&self) -> bool {
        self.fields.iter().any(|(key, value)| key == "source" && value == "console")
    }

    /// Shortens a message that is too long, which it then says. Secrets must have been removed before.
    pub fn shorten(&mut self) {
        if self.message.len() > Self::BYTES_MAX {
            self.message.truncate(self.message.floor_char_boundary(Self::BYTES_MAX));
            self.message.push_str("… (cut)");
            self.message.shrink_to_fit();
        }
    }
}

/// A receiver of log lines, shared by all threads. It must not block for long: VUs call it.
pub trait Sink: Send + Sync {
    /// Takes one line.
    fn line(&self, line: Line);
}
