//! What every command gets: its flags, the log, and the printing thread.

use std::{io::Write as _, sync::Arc};

use onrush_output::loki;

use crate::{
    failure::Failure,
    flags::Flags,
    line::{Format, Level, Line, Style},
    log::{Logger, destination::Destination},
    terminal::{LogFile, Look, Sinks, Terminal},
};

/// What every command can use.
pub(crate) struct Context {
    /// Flags and variables.
    pub(crate) flags: Flags,
    /// For what the user should know.
    pub(crate) logger: Arc<Logger>,
    /// For what the user asked for.
    pub(crate) terminal: Terminal,
    /// What the streams are.
    pub(crate) look: Look,
}

impl Context {
    /// Starts the printing thread and the logger as flags and variables say.
    ///
    /// # Errors
    /// 255 for a log, a file or a flag that cannot be used.
    pub(crate) fn new(flags: Flags) -> Result<Self, Failure> {
        let look = Look::of_process(flags.switch("no-color").ok().flatten().unwrap_or(false), &flags.env);
        let destination = flags.text("log-output").map_or(Ok(Destination::Stderr), |text| Destination::parse(&text))?;
        let open = |path: &str, level, mode| {
            LogFile::open(path, level, mode)
                .map_err(|error| Failure::other(format!("failed to open the log file '{path}': {error}")))
        };
        let file = match &destination {
            Destination::File { path, level } => Some(open(path, *level, 0o600)?),
            _ => None,
        };
        let redactor = Arc::new(onrush_secrets::Redactor::default());
        let loki = match &destination {
            Destination::Loki { config, .. } => Some(loki(config, look, &redactor)?),
            _ => None,
        };
        // k6: an empty path is none.
        let console = flags.text("console-output").filter(|path| !path.is_empty());
        let console = console.map(|path| open(&path, Level::Debug, 0o644)).transpose()?;
        let format = flags.text("log-format").map_or(Format::Text, |text| Format::parse(&text));
        let is_verbose = flags.switch("verbose")?.unwrap_or(false);
        let level = if is_verbose { Level::Debug } else { Level::Info };
        let has_console_file = console.is_some();
        let terminal = Terminal::start(look, Sinks { destination, file, loki, console, format, folds: !is_verbose })
            .map_err(|error| Failure::other(format!("failed to start the printing thread: {error}")))?;
        let logger = Logger::new(terminal.clone(), level, has_console_file, redactor);
        if let Some(wrong) = flags.text("log-format").filter(|text| !["text", "json", "raw"].contains(&text.as_str())) {
            // k6: says nothing.
            logger.warn(format!("there is no log format '{wrong}', so it is text: use text, json or raw"));
        }
        Ok(Self { flags, logger, terminal, look })
    }
}

/// The connection to Loki. What it has to say about itself goes to stderr: the log's own place is what failed.
fn loki(config: &loki::Config, look: Look, redactor: &Arc<onrush_secrets::Redactor>) -> Result<loki::Loki, Failure> {
    let redactor = redactor.clone();
    let tell = move |text: String| {
        let message = redactor.redact(&text).into_owned();
        let line = Line { level: Level::Warn, message, fields: Vec::new() };
        let style = Style { format: Format::Text, is_terminal: look.stderr_tty, color: look.stderr_tty && look.color };
        // There is nowhere left to say that stderr is closed.
        let _ = std::io::stderr().lock().write_all(style.render(onrush_fiber::Clock::now(), &line).as_bytes());
    };
    loki::Loki::start(config.clone(), tell)
        .map_err(|error| Failure::other(format!("failed to set up the log output to Loki: {error}")))
}
