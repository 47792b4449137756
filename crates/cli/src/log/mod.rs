//! Log lines: those of the script's `console`, of the engine, and our own.

pub(crate) mod destination;
pub(crate) mod fold;
mod loki;

use std::{
    borrow::Cow,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
};

use onrush_fiber::Clock;
use onrush_secrets::Redactor;

pub(crate) use onrush_output::time::rfc3339_nanos;

pub(crate) use crate::line::{Level, Line};
use crate::terminal::{Message, Terminal};

/// Sends log lines to the terminal's thread. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Logger {
    terminal: Terminal,
    /// The least level that is shown.
    level: Level,
    /// Lines of the script's `console` go to a file of their own.
    console_file: bool,
    /// Takes secrets out of every line.
    redactor: Arc<Redactor>,
    /// Lines go there, and nothing is printed.
    elsewhere: Option<Arc<Elsewhere>>,
    /// Sees every line that is printed.
    observer: Arc<OnceLock<Observer>>,
}

/// Who follows the log of a run.
type Observer = Box<dyn Fn(&Line) + Send + Sync>;

/// Where an agent's lines go: to its coordinator, which prints them.
struct Elsewhere {
    send: Box<dyn Fn(Line) + Send + Sync>,
    /// What is found out while the test is prepared was found out before, by the coordinator.
    is_mute: AtomicBool,
}

impl Logger {
    /// A logger that shows lines of `level` and above.
    pub(crate) fn new(terminal: Terminal, level: Level, console_file: bool, redactor: Arc<Redactor>) -> Arc<Self> {
        Arc::new(Self { terminal, level, console_file, redactor, elsewhere: None, observer: Arc::default() })
    }

    /// A logger that hands lines of `level` and above to `send`, once it is not mute any more.
    pub(crate) fn mute(&self, level: Level, send: impl Fn(Line) + Send + Sync + 'static) -> Arc<Self> {
        let elsewhere = Some(Arc::new(Elsewhere { send: Box::new(send), is_mute: AtomicBool::new(true) }));
        Arc::new(Self { level, console_file: false, redactor: Arc::default(), elsewhere, ..self.clone() })
    }

    /// Has `observer` see every line from now on, secrets taken out. There is one.
    pub(crate) fn observe(&self, observer: impl Fn(&Line) + Send + Sync + 'static) {
        // A process runs one test.
        let _ = self.observer.set(Box::new(observer));
    }

    /// From now on what is logged counts.
    pub(crate) fn unmute(&self) {
        if let Some(elsewhere) = &self.elsewhere {
            elsewhere.is_mute.store(false, Ordering::Relaxed);
        }
    }

    /// The least level that is shown.
    pub(crate) fn level(&self) -> Level {
        self.level
    }

    /// What knows the secrets of the run.
    pub(crate) fn redactor(&self) -> Arc<Redactor> {
        self.redactor.clone()
    }

    pub(crate) fn error(&self, message: impl Into<String>) {
        self.log(Level::Error, message, Vec::new());
    }

    pub(crate) fn warn(&self, message: impl Into<String>) {
        self.log(Level::Warn, message, Vec::new());
    }

    pub(crate) fn info(&self, message: impl Into<String>) {
        self.log(Level::Info, message, Vec::new());
    }

    pub(crate) fn debug(&self, message: impl Into<String>) {
        self.log(Level::Debug, message, Vec::new());
    }

    /// A line with fields.
    pub(crate) fn log(&self, level: Level, message: impl Into<String>, fields: Vec<(&'static str, String)>) {
        let fields = fields.into_iter().map(|(key, value)| (key.into(), value)).collect();
        onrush_js::log::Sink::line(self, Line { level, message: message.into(), fields });
    }

    /// Every line passes here before it is queued, whatever becomes of it then.
    fn redact(&self, line: &mut Line) {
        // What we call the parts of the program is no secret, and tells the script's lines from ours.
        let fields = line.fields.iter_mut().filter(|(key, _)| key != "source").map(|(_, value)| value);
        for text in std::iter::once(&mut line.message).chain(fields) {
            if let Cow::Owned(redacted) = self.redactor.redact(text) {
                *text = redacted;
            }
        }
    }

    /// The last line of a run that failed.
    pub(crate) fn failure(&self, failure: &crate::failure::Failure) {
        let fields = failure.hint.iter().map(|hint| ("hint", hint.clone())).collect();
        self.log(Level::Error, failure.message.clone(), fields);
    }
}

impl Logger {
    /// A last line before the process ends, and what was printed before it, if somebody reads it at once.
    pub(crate) fn last_words(&self, level: Level, message: &str, fields: Vec<(&'static str, String)>) {
        let fields = fields.into_iter().map(|(key, value)| (key.into(), value)).collect();
        self.terminal.last_words(Line { level, message: message.to_owned(), fields });
    }
}

impl onrush_js::log::Sink for Logger {
    fn line(&self, mut line: Line) {
        if line.level < self.level {
            return;
        }
        self.redact(&mut line);
        line.shorten();
        if let Some(elsewhere) = &self.elsewhere {
            if !elsewhere.is_mute.load(Ordering::Relaxed) {
                (elsewhere.send)(line);
            }
            return;
        }
        if let Some(observer) = self.observer.get() {
            observer(&line);
        }
        let is_console = line.is_console();
        self.terminal.send(Message::Log { at: Clock::now(), line, to_console_file: is_console && self.console_file });
    }
}
