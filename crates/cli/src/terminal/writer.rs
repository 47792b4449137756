//! The printing thread: renders what comes, hands it to the pens of its places, keeps the progress frame below it. It
//! waits for no place but at the end, and there only as long as something is taken.

use std::{
    sync::{Arc, mpsc::SyncSender},
    time::Duration,
};

use onrush_fiber::{Clock, Nanos};
use onrush_output::loki::Loki;
use ratatui::buffer::Buffer;

use super::{
    Look, Message,
    file::LogFile,
    pen::{Pen, Piece, Stream, Written},
    queue::Queue,
    screen::Screen,
    streams::Streams,
    tail::Tail,
    view::{self, ViewScreen},
};
use crate::{
    line::{Format, Level, Line, Style, level_name},
    log::{destination::Destination, fold::Fold},
};

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
    /// Repeated lines are counted instead of shown, where a person may read.
    pub(crate) folds: bool,
}

/// How often failures and lost lines are looked for.
const LOOK_INTERVAL: Duration = Duration::from_millis(400);
/// How long a place may take nothing at the end.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long the last lines may take to Loki, a request under way (3 s at most) included.
const LOKI_PATIENCE: Duration = Duration::from_secs(7);

/// Prints for as long as the process runs.
pub(super) fn run(queue: &Queue, mut writer: Writer) {
    let mut due = Clock::now() + LOOK_INTERVAL;
    loop {
        let batch = queue.take(due.saturating_sub(Clock::now()).as_duration());
        writer.dropped += batch.dropped;
        let has_news = !batch.messages.is_empty();
        for message in batch.messages {
            writer.take(message);
        }
        if has_news {
            writer.redraw();
            writer.hand_over();
        }
        // By the clock: on a busy run there is always a next message.
        let now = Clock::now();
        if now >= due {
            writer.look_after(now);
            due = now + LOOK_INTERVAL;
        }
    }
}

pub(super) struct Writer {
    look: Look,
    destination: Destination,
    format: Format,
    loki: Option<Loki>,
    streams: Streams,
    file: Option<FilePlace>,
    console: Option<FilePlace>,
    fold: Option<Fold>,
    screen: Screen,
    /// What covers the terminal.
    view: Option<ViewScreen>,
    tail: Arc<Tail>,
    /// What was rendered and not handed over.
    pieces: Vec<Piece>,
    /// Log lines that found no room, in the queue or before the streams.
    dropped: u64,
    /// A log file failed, which was reported.
    has_failed: bool,
    /// The standard output stream failed, which was reported.
    stdout_failed: bool,
}

/// A file and the thread that writes it.
struct FilePlace {
    path: String,
    pen: Pen,
    /// Lines it lacks, and how many of them were told of.
    lost: u64,
    lost_told: u64,
}

impl Writer {
    /// Starts the threads that write.
    ///
    /// # Errors
    /// When no thread can be made.
    pub(super) fn new(look: Look, sinks: Sinks, tail: Arc<Tail>) -> std::io::Result<Self> {
        let place = |file: Option<LogFile>| file.map(FilePlace::start).transpose();
        let Sinks { destination, file, loki, console, format, folds } = sinks;
        Ok(Self {
            look,
            destination,
            format,
            loki,
            streams: Streams::start()?,
            file: place(file)?,
            console: place(console)?,
            // What is raw is data.
            fold: (folds && format != Format::Raw).then(Fold::default),
            screen: Screen::default(),
            view: None,
            tail,
            pieces: Vec::new(),
            dropped: 0,
            has_failed: false,
            stdout_failed: false,
        })
    }

    fn take(&mut self, message: Message) {
        match message {
            Message::Log { at, line, to_console_file } => self.log(at, &line, to_console_file),
            Message::Stdout(bytes) => self.add(Stream::Stdout, bytes, 0),
            Message::Output { bytes, done } => {
                self.end_view();
                self.clear();
                self.push(Piece { bytes, lines: 0, stream: Stream::Stdout, level: Level::Info, done: Some(done) });
            }
            Message::Stderr(bytes) => self.add(Stream::Stderr, bytes, 0),
            Message::Frame(frame) => {
                // A stopped terminal shows the latest when it goes on.
                if self.look.stdout_tty && (frame.is_empty() || !self.streams.stdout.is_behind()) {
                    self.clear();
                    self.screen.set(frame);
                }
            }
            Message::View(Some(buffer)) => self.draw(*buffer),
            Message::View(None) => self.end_view(),
            Message::Resumed => {
                self.screen.forget();
                self.view_again();
            }
            Message::Flush { patience, done } => self.flush(patience.unwrap_or(PATIENCE), &done),
        }
    }

    fn log(&mut self, at: Nanos, line: &Line, to_console_file: bool) {
        if let (true, Some(place)) = (to_console_file, &self.console) {
            // k6: lines of a file of the script's own do not say where they come from.
            let mut line = line.clone();
            line.fields.retain(|(key, _)| key != "source");
            return place.write(line.level, self.plain().render(at, &line));
        }
        match &self.destination {
            Destination::None => {}
            Destination::File { .. } => {
                if let Some(place) = &self.file {
                    place.write(line.level, self.plain().render(at, line));
                }
            }
            Destination::Loki { level, .. } => {
                if let Some(loki) = self.loki.as_ref().filter(|_| line.level >= *level) {
                    // k6: what Loki gets is raw, its fields are labels.
                    loki.push(onrush_output::loki::Line {
                        unix_ns: Clock::unix_nanos(at),
                        level: level_name(line.level),
                        message: line.message.clone(),
                        fields: line.fields.clone(),
                    });
                }
            }
            Destination::Stdout | Destination::Stderr => {
                if self.fold.as_mut().is_none_or(|fold| fold.shows(at, line)) {
                    self.show(at, line);
                }
            }
        }
    }

    /// Renders a line for the stream that log lines go to.
    fn show(&mut self, at: Nanos, line: &Line) {
        self.tail.note(line);
        let (stream, is_terminal) = match self.destination {
            Destination::Stdout => (Stream::Stdout, self.look.stdout_tty),
            _ => (Stream::Stderr, self.look.stderr_tty),
        };
        let style = Style { is_terminal, color: is_terminal && self.look.color, ..self.plain() };
        self.add(stream, style.render(at, line).into_bytes(), 1);
    }

    fn plain(&self) -> Style {
        Style { format: self.format, is_terminal: false, color: false }
    }

    fn add(&mut self, stream: Stream, bytes: Vec<u8>, lines: u64) {
        let is_on_screen = stream == Stream::Stdout || self.look.stderr_tty;
        if is_on_screen {
            self.clear();
        }
        let bytes = if is_on_screen { self.screen.over(bytes) } else { bytes };
        self.push(Piece { bytes, lines, stream, level: Level::Info, done: None });
    }

    fn push(&mut self, piece: Piece) {
        let is_covered = piece.done.is_none() && (piece.stream == Stream::Stdout || self.look.stderr_tty);
        if let Some(view) = self.view.as_mut().filter(|_| is_covered) {
            return view.hold(piece);
        }
        self.push_now(piece);
    }

    fn push_now(&mut self, piece: Piece) {
        match self.pieces.last_mut() {
            Some(last)
                if last.stream == piece.stream
                    && (last.lines > 0) == (piece.lines > 0)
                    && last.done.is_none()
                    && piece.done.is_none() =>
            {
                last.bytes.extend_from_slice(&piece.bytes);
                last.lines += piece.lines;
            }
            _ => self.pieces.push(piece),
        }
    }

    fn push_control(&mut self, bytes: Vec<u8>) {
        if !bytes.is_empty() {
            self.push_now(Piece { bytes, lines: 0, stream: Stream::Stdout, level: Level::Info, done: None });
        }
    }

    /// Shows a view. A terminal that takes nothing shows the latest one when it goes on.
    fn draw(&mut self, buffer: Buffer) {
        if !self.look.stdout_tty || view::is_away() || self.streams.stdout.is_behind() {
            return;
        }
        if self.view.is_none() {
            self.clear();
            match ViewScreen::enter(self.look.color) {
                Ok((view, bytes)) => {
                    self.push_control(bytes);
                    self.view = Some(view);
                }
                Err(error) => {
                    return self.report(Level::Error, "the terminal cannot be used for a view", &error.to_string());
                }
            }
        }
        if let Some(bytes) = self.view.as_mut().map(|view| view.draw(buffer)) {
            self.push_control(bytes);
        }
    }

    fn view_again(&mut self) {
        if let Some(Ok(bytes)) = self.view.as_mut().map(ViewScreen::again) {
            self.push_control(bytes);
        }
    }

    /// Gives the terminal back, and prints what was held.
    fn end_view(&mut self) {
        let Some(view) = self.view.take() else { return };
        let (bytes, held, dropped) = view.leave();
        self.push_control(bytes);
        self.dropped += dropped;
        held.into_iter().for_each(|piece| self.push_now(piece));
    }

    /// Takes the progress off the terminal, so that something can be printed in its place.
    fn clear(&mut self) {
        let bytes = self.screen.clear();
        self.push_control(bytes);
    }

    /// Puts the progress below what was printed.
    fn redraw(&mut self) {
        if self.view.is_none() && !self.streams.stdout.is_behind() {
            let bytes = self.screen.redraw();
            self.push_control(bytes);
        }
    }

    fn hand_over(&mut self) {
        for piece in self.pieces.drain(..) {
            match piece.stream {
                Stream::Stdout => self.streams.stdout.push(piece),
                Stream::Stderr => self.streams.stderr.push(piece),
            }
        }
    }

    /// Looks for what went wrong, and for what is to be said of folded lines.
    fn look_after(&mut self, now: Nanos) {
        if let Some(fold) = &mut self.fold {
            let lines = fold.due(now);
            lines.iter().for_each(|line| self.show(now, line));
        }
        self.note_streams();
        self.note_files();
        // As soon as somebody reads again.
        if !self.streams.stderr.is_busy() {
            self.tell_dropped();
        }
        if !self.pieces.is_empty() {
            self.redraw();
            self.hand_over();
        }
    }

    fn note_streams(&mut self) {
        let outcomes = [self.streams.stdout.written(), self.streams.stderr.written()];
        for Written { lost, failure } in outcomes {
            self.dropped += lost;
            // There is nowhere left to say that stderr is closed.
            if let Some((Stream::Stdout, error)) = failure
                && !std::mem::replace(&mut self.stdout_failed, true)
            {
                let message = "failed to write to the standard output; what belongs there is lost";
                self.report(Level::Error, message, &error.to_string());
            }
        }
    }

    fn note_files(&mut self) {
        let mut failures = Vec::new();
        for place in [&mut self.file, &mut self.console].into_iter().flatten() {
            let Written { lost, failure } = place.pen.written();
            place.lost += lost;
            failures.extend(failure.map(|(_, error)| (place.path.clone(), error.to_string())));
        }
        for (path, error) in failures {
            if !std::mem::replace(&mut self.has_failed, true) {
                self.report(Level::Error, &format!("failed to write the log file '{path}'"), &error);
            }
        }
    }

    fn tell_dropped(&mut self) {
        let dropped = std::mem::take(&mut self.dropped);
        if dropped > 0 {
            let lines = if dropped == 1 { "line was" } else { "lines were" };
            self.report(
                Level::Warn,
                &format!("{dropped} log {lines} dropped: they came faster than they could be written"),
                "",
            );
        }
    }

    /// How many lines are in no file although they belong there.
    fn tell_lost(&mut self) {
        let mut messages = Vec::new();
        for place in [&mut self.file, &mut self.console].into_iter().flatten() {
            if place.lost > std::mem::replace(&mut place.lost_told, place.lost) {
                messages.push(format!("the log file '{}' lacks {} lines", place.path, place.lost));
            }
        }
        messages.iter().for_each(|message| self.report(Level::Warn, message, ""));
    }

    /// Waits until everything is written, as long as something is taken, and says what is missing.
    fn flush(&mut self, patience: Duration, done: &SyncSender<()>) {
        self.end_view();
        let now = Clock::now();
        if let Some(fold) = &mut self.fold {
            let lines = fold.rest(now);
            lines.iter().for_each(|line| self.show(now, line));
        }
        self.redraw();
        self.hand_over();
        let places = [&self.file, &self.console].into_iter().flatten();
        let unwritten = places.filter(|place| !place.pen.flush(patience)).map(|place| place.path.clone());
        for path in unwritten.collect::<Vec<_>>() {
            self.report(Level::Error, &format!("the log file '{path}' could not be written to its end"), "");
        }
        self.note_files();
        self.tell_lost();
        if let Some(Err(unsent)) = self.loki.as_ref().map(|loki| loki.flush(LOKI_PATIENCE.min(patience * 2))) {
            let message = format!("{unsent} log lines did not reach Loki, as far as is known: it takes too long");
            self.report(Level::Warn, &message, "");
        }
        self.hand_over();
        let is_whole = self.streams.stdout.flush(patience);
        self.note_streams();
        if !is_whole && !self.streams.is_one {
            self.report(Level::Error, "the output could not be printed to its end: nobody reads it", "");
        }
        self.tell_dropped();
        self.hand_over();
        // Whoever reads nothing at all was waited for already.
        let left = if is_whole { patience } else { Duration::from_millis(200) };
        let is_heard = self.streams.stderr.flush(left);
        if !is_heard && !self.streams.is_one && self.look.stdout_tty {
            let line = "the log could not be printed to its end: nobody reads the standard error stream\n";
            self.add(Stream::Stdout, line.into(), 0);
            self.hand_over();
            self.streams.stdout.flush(Duration::from_millis(200));
        }
        // Whoever asked may have lost patience.
        let _ = done.send(());
    }

    /// Says on stderr what is wrong with the places output goes to.
    fn report(&mut self, level: Level, message: &str, error: &str) {
        let fields = if error.is_empty() { Vec::new() } else { vec![("error".into(), error.to_owned())] };
        let line = Line { level, message: message.to_owned(), fields };
        let is_terminal = self.look.stderr_tty;
        let style = Style { is_terminal, color: is_terminal && self.look.color, ..self.plain() };
        self.add(Stream::Stderr, style.render(Clock::now(), &line).into_bytes(), 0);
    }
}

impl FilePlace {
    fn start(file: LogFile) -> std::io::Result<Self> {
        let path = file.path().to_owned();
        Ok(Self { path, pen: Pen::start("log file", file)?, lost: 0, lost_told: 0 })
    }

    fn write(&self, level: Level, text: String) {
        self.pen.push(Piece { bytes: text.into_bytes(), lines: 1, stream: Stream::Stderr, level, done: None });
    }
}
