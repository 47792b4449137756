//! The printing thread: writes what comes, keeps the progress frame below it.

use std::{
    io::{Write as _, stderr, stdout},
    sync::mpsc::{Receiver, RecvTimeoutError},
    time::Duration,
};

use onrush_fiber::Clock;
use onrush_output::loki::Loki;

use super::{Look, Message};
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

/// Log files are handed to the system this often, as in k6.
const FLUSH_INTERVAL: Duration = Duration::from_secs(1);
/// How long the last lines may take to Loki, a request under way (3 s at most) included; who waits for them waits a
/// little longer.
const LOKI_PATIENCE: Duration = Duration::from_secs(7);
/// Messages taken at once before they are written.
const BATCH: usize = 512;

/// Prints until all senders are gone.
pub(super) fn run(messages: &Receiver<Message>, look: Look, sinks: Sinks) {
    let mut writer =
        Writer { look, sinks, out: Vec::new(), err: Vec::new(), frame: Vec::new(), drawn: 0, has_failed: false };
    loop {
        match messages.recv_timeout(FLUSH_INTERVAL) {
            Ok(message) => {
                writer.take(message);
                for message in messages.try_iter().take(BATCH) {
                    writer.take(message);
                }
                writer.redraw();
                writer.write();
            }
            Err(RecvTimeoutError::Timeout) => writer.flush_files(),
            Err(RecvTimeoutError::Disconnected) => break,
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
}

impl Writer {
    fn take(&mut self, message: Message) {
        match message {
            Message::Log { at, line, to_console_file } => self.log(at, &line, to_console_file),
            Message::Stdout(bytes) => self.add_out(&bytes),
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
                if let Some(loki) = &self.sinks.loki {
                    loki.flush(LOKI_PATIENCE);
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

    /// Hands both buffers to the system. What cannot be written, because nobody reads any more, is dropped.
    fn write(&mut self) {
        if !self.out.is_empty() {
            let mut stdout = stdout().lock();
            let _ = stdout.write_all(&self.out).and_then(|()| stdout.flush());
            self.out.clear();
        }
        if !self.err.is_empty() {
            let _ = stderr().lock().write_all(&self.err);
            self.err.clear();
        }
    }

    fn flush_files(&mut self) {
        let results = [self.sinks.file.as_mut().map(LogFile::flush), self.sinks.console.as_mut().map(LogFile::flush)];
        for error in results.into_iter().flatten().filter_map(Result::err) {
            if !std::mem::replace(&mut self.has_failed, true) {
                let line = Line {
                    level: Level::Error,
                    message: format!("failed to write a log file: {error}"),
                    fields: Vec::new(),
                };
                let style = Style {
                    format: self.sinks.format,
                    is_terminal: self.look.stderr_tty,
                    color: self.look.stderr_tty && self.look.color,
                };
                self.add_err(style.render(Clock::now(), &line).as_bytes());
                self.write();
            }
        }
    }
}
