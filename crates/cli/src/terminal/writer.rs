//! The printing thread: writes what comes, keeps the progress frame below it.

use std::{
    io::{Write as _, stderr, stdout},
    sync::mpsc::{Receiver, RecvTimeoutError},
    time::Duration,
};

use onrush_fiber::Clock;
use onrush_output::loki::Loki;

use super::{Look, Message, budget::Budget};
use crate::log::{Destination, Format, Level, Line, LogFile, Style, level_name};

/// Where log lines go.
pub(crate) struct Sinks {
    /// `--log-output`.
    pub(crate) destination: Destination,
    /// Its file, if it is one.
    pub(crate) file: Option<LogFile>,
    /// Its Loki, if it is one.
    pub(crate) loki: Option<Loki>,
    /// `--console-output`.
    pub(crate) console: Option<LogFile>,
    /// `--log-format`.
    pub(crate) format: Format,
}

/// Lines wait no longer than this for being handed to their file: a killed run has lost no more than its last second.
const FLUSH_INTERVAL: Duration = Duration::from_millis(400);
/// How long the last lines may take to Loki, a request under way (3 s at most) included; who waits for them waits a
/// little longer.
const LOKI_PATIENCE: Duration = Duration::from_secs(7);
/// Messages, and bytes of them, taken at once before they are written.
const BATCH: usize = 512;
const BATCH_BYTES: usize = 1 << 20;

/// Prints until all senders are gone.
pub(super) fn run(messages: &Receiver<Message>, look: Look, sinks: Sinks, budget: &Budget) {
    let mut writer = Writer {
        look,
        sinks,
        out: Vec::new(),
        err: Vec::new(),
        frame: Vec::new(),
        drawn: 0,
        has_failed: false,
        stdout_failure: None,
    };
    let mut due = Clock::now() + FLUSH_INTERVAL;
    loop {
        match messages.recv_timeout(due.saturating_sub(Clock::now()).as_duration()) {
            Ok(message) => {
                let mut bytes = message.bytes();
                writer.take(message);
                let more = messages.try_iter().take(BATCH);
                for message in more {
                    bytes += message.bytes();
                    writer.take(message);
                    if bytes >= BATCH_BYTES {
                        break;
                    }
                }
                writer.redraw();
                writer.write();
                budget.give(bytes);
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        // By the clock: on a busy run there is always a next message.
        if Clock::now() >= due {
            writer.flush_files();
            due = Clock::now() + FLUSH_INTERVAL;
        }
    }
    writer.flush_files();
}

struct Writer {
    look: Look,
    sinks: Sinks,
    /// Bytes for stdout not written yet; only one of the two buffers holds any.
    out: Vec<u8>,
    err: Vec<u8>,
    /// The progress to show.
    frame: Vec<String>,
    /// Its lines on the terminal now.
    drawn: usize,
    /// A log file failed, which was reported.
    has_failed: bool,
    /// The standard output stream cannot be written any more.
    stdout_failure: Option<String>,
}

impl Writer {
    fn take(&mut self, message: Message) {
        match message {
            Message::Log { at, line, to_console_file } => self.log(at, &line, to_console_file),
            Message::Stdout(bytes) => self.add_out(&bytes),
            Message::Output { bytes, done } => {
                self.write();
                self.clear();
                self.out.extend_from_slice(&bytes);
                let result = self.write_out();
                let _ = done.send(result.map_err(|error| std::io::Error::new(error.kind(), error.to_string())));
            }
            Message::Stderr(bytes) => self.add_err(&bytes),
            Message::Frame(frame) => {
                if self.look.stdout_tty {
                    self.clear();
                    self.frame = frame;
                }
            }
            Message::Flush(done) => {
                self.redraw();
                self.write();
                self.flush_files();
                self.tell_lost();
                if let Some(Err(unsent)) = self.sinks.loki.as_ref().map(|loki| loki.flush(LOKI_PATIENCE)) {
                    let message =
                        format!("{unsent} log lines did not reach Loki, as far as is known: it takes too long");
                    self.report(Level::Warn, &message, "");
                }
                let _ = done.send(());
            }
        }
    }

    fn log(&mut self, at: onrush_fiber::Nanos, line: &Line, to_console_file: bool) {
        let plain = Style { format: self.sinks.format, is_terminal: false, color: false };
        if let (true, Some(file)) = (to_console_file, &mut self.sinks.console) {
            file.write(line.level, &plain.render(at, line));
            return;
        }
        let style = |is_terminal: bool| Style { is_terminal, color: is_terminal && self.look.color, ..plain };
        match &self.sinks.destination {
            Destination::None => {}
            Destination::File { .. } => {
                if let Some(file) = &mut self.sinks.file {
                    file.write(line.level, &plain.render(at, line));
                }
            }
            Destination::Loki { level, .. } => {
                if let Some(loki) = self.sinks.loki.as_ref().filter(|_| line.level >= *level) {
                    // k6: what Loki gets is raw, its fields are labels.
                    loki.push(onrush_output::loki::Line {
                        unix_ns: Clock::unix_nanos(at),
                        level: level_name(line.level),
                        message: line.message.clone(),
                        fields: line.fields.clone(),
                    });
                }
            }
            Destination::Stdout => {
                let text = style(self.look.stdout_tty).render(at, line);
                self.add_out(text.as_bytes());
            }
            Destination::Stderr => {
                let text = style(self.look.stderr_tty).render(at, line);
                self.add_err(text.as_bytes());
            }
        }
    }

    fn add_out(&mut self, bytes: &[u8]) {
        self.clear();
        if !self.err.is_empty() {
            self.write();
        }
        self.out.extend_from_slice(bytes);
    }

    fn add_err(&mut self, bytes: &[u8]) {
        if self.look.stderr_tty {
            self.clear();
        }
        if !self.out.is_empty() {
            self.write();
        }
        self.err.extend_from_slice(bytes);
    }

    /// Takes the progress off the terminal, so that something can be printed in its place.
    fn clear(&mut self) {
        if self.drawn > 0 {
            if !self.err.is_empty() {
                self.write();
            }
            let up = format!("\x1b[{}A\r\x1b[J", self.drawn);
            self.out.extend_from_slice(up.as_bytes());
            self.drawn = 0;
        }
    }

    /// Puts the progress below what was printed.
    fn redraw(&mut self) {
        if self.drawn > 0 || self.frame.is_empty() {
            return;
        }
        if !self.err.is_empty() {
            self.write();
        }
        for line in &self.frame {
            self.out.extend_from_slice(line.as_bytes());
            self.out.extend_from_slice(b"\x1b[K\n");
        }
        self.drawn = self.frame.len();
    }

    /// Hands both buffers to the system. What cannot be written is dropped, which is reported once.
    fn write(&mut self) {
        if let Err(error) = self.write_out()
            && self.stdout_failure.is_none()
        {
            let error = error.to_string();
            self.report(Level::Error, "failed to write to the standard output; what belongs there is lost", &error);
            self.stdout_failure = Some(error);
        }
        self.write_err();
    }

    fn write_out(&mut self) -> std::io::Result<()> {
        if self.out.is_empty() {
            return Ok(());
        }
        let mut stdout = stdout().lock();
        let result = stdout.write_all(&self.out).and_then(|()| stdout.flush());
        self.out.clear();
        result
    }

    fn write_err(&mut self) {
        if !self.err.is_empty() {
            // There is nowhere left to say that stderr is closed.
            let _ = stderr().lock().write_all(&self.err);
            self.err.clear();
        }
    }

    fn flush_files(&mut self) {
        let Sinks { file, console, .. } = &mut self.sinks;
        let failed = [file, console].into_iter().flatten().filter_map(|file| {
            let error = file.flush().err()?;
            Some((file.path().to_owned(), error.to_string()))
        });
        for (path, error) in failed.collect::<Vec<_>>() {
            if !std::mem::replace(&mut self.has_failed, true) {
                self.report(Level::Error, &format!("failed to write the log file '{path}'"), &error);
            }
        }
    }

    /// How many lines are in no file although they belong there.
    fn tell_lost(&mut self) {
        let Sinks { file, console, .. } = &mut self.sinks;
        let lost = [file, console].into_iter().flatten().filter_map(|file| {
            let lost = file.newly_lost()?;
            Some(format!("the log file '{}' lacks {lost} lines", file.path()))
        });
        for message in lost.collect::<Vec<_>>() {
            self.report(Level::Warn, &message, "");
        }
    }

    /// Says on stderr what is wrong with the places output goes to.
    fn report(&mut self, level: Level, message: &str, error: &str) {
        let fields = if error.is_empty() { Vec::new() } else { vec![("error".into(), error.to_owned())] };
        let line = Line { level, message: message.to_owned(), fields };
        let style = Style {
            format: self.sinks.format,
            is_terminal: self.look.stderr_tty,
            color: self.look.stderr_tty && self.look.color,
        };
        self.err.extend_from_slice(style.render(Clock::now(), &line).as_bytes());
        self.write_err();
    }
}
