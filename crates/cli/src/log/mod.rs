//! Log lines: those of the script's `console`, of the engine, and our own.

mod destination;
mod format;

use std::sync::Arc;

use onrush_fiber::Clock;
pub(crate) use onrush_js::log::{Level, Line};

pub(crate) use destination::{Destination, LogFile};
pub(crate) use format::{Format, Style};
pub(crate) use onrush_output::time::{rfc3339, rfc3339_nanos};

use crate::terminal::{Message, Terminal};

/// Sends log lines to the terminal's thread. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Logger {
    terminal: Terminal,
    /// The least level that is shown.
    level: Level,
    /// Lines of the script's `console` go to a file of their own.
    console_file: bool,
}

impl Logger {
    /// A logger that shows lines of `level` and above.
    pub(crate) fn new(terminal: Terminal, level: Level, console_file: bool) -> Arc<Self> {
        Arc::new(Self { terminal, level, console_file })
    }

    pub(crate) fn error(&self, message: impl Into<String>) {
        self.log(Level::Error, message, Vec::new());
    }

    pub(crate) fn warn(&self, message: impl Into<String>) {
        self.log(Level::Warn, message, Vec::new());
    }

    pub(crate) fn debug(&self, message: impl Into<String>) {
        self.log(Level::Debug, message, Vec::new());
    }

    /// A line with fields.
    pub(crate) fn log(&self, level: Level, message: impl Into<String>, fields: Vec<(&'static str, String)>) {
        onrush_js::log::Sink::line(self, Line { level, message: message.into(), fields });
    }

    /// The last line of a run that failed.
    pub(crate) fn failure(&self, failure: &crate::failure::Failure) {
        let fields = failure.hint.iter().map(|hint| ("hint", hint.clone())).collect();
        self.log(Level::Error, failure.message.clone(), fields);
    }
}

impl onrush_js::log::Sink for Logger {
    fn line(&self, line: Line) {
        if line.level < self.level {
            return;
        }
        let is_console = line.fields.iter().any(|(key, value)| *key == "source" && value == "console");
        self.terminal.send(Message::Log { at: Clock::now(), line, to_console_file: is_console && self.console_file });
    }
}
