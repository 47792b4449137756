//! Everything that is printed goes through one thread, so that log lines, progress and results never mix within a line
//! and a slow terminal or pipe does not hold up the threads that make the load.

mod budget;
mod look;
mod writer;

use std::{
    io::Write as _,
    sync::{
        Arc,
        mpsc::{Receiver, SyncSender, channel, sync_channel},
    },
    time::Duration,
};

use onrush_fiber::{Clock, Nanos};

pub(crate) use look::Look;
pub(crate) use writer::Sinks;

use budget::Budget;

use crate::log::{Level, Line, Style};

/// Something to print.
#[derive(Debug)]
pub(crate) enum Message {
    /// A log line.
    Log {
        /// When it was said.
        at: Nanos,
        /// What.
        line: Line,
        /// It belongs into the file of `--console-output`.
        to_console_file: bool,
    },
    /// Bytes for the standard output stream.
    Stdout(Vec<u8>),
    /// The same for who needs to know what became of them.
    Output {
        /// What to print.
        bytes: Vec<u8>,
        /// Gets the system's answer.
        done: SyncSender<std::io::Result<()>>,
    },
    /// Bytes for the standard error stream.
    Stderr(Vec<u8>),
    /// Progress that replaces the previous one; empty to remove it. Only on a terminal.
    Frame(Vec<String>),
    /// Say when everything before this has been printed.
    Flush(SyncSender<()>),
}

impl Message {
    /// What it takes of the budget.
    fn bytes(&self) -> usize {
        match self {
            Self::Log { line, .. } => {
                line.message.len() + line.fields.iter().map(|(_, value)| value.len()).sum::<usize>()
            }
            Self::Stdout(bytes) | Self::Output { bytes, .. } | Self::Stderr(bytes) => bytes.len(),
            Self::Frame(_) | Self::Flush(_) => 0,
        }
    }
}

/// A handle on the printing thread.
#[derive(Clone)]
pub(crate) struct Terminal {
    queue: SyncSender<Message>,
    budget: Arc<Budget>,
}

impl Terminal {
    /// Messages that may wait to be printed. Who sends more waits until some are: no line is lost. A burst of every VU
    /// of a large test logging once fits.
    const QUEUE_MAX: usize = 16_384;

    /// Starts the printing thread.
    ///
    /// # Errors
    /// When no thread can be made.
    pub(crate) fn start(look: Look, sinks: Sinks) -> std::io::Result<Self> {
        let (queue, messages): (_, Receiver<Message>) = sync_channel(Self::QUEUE_MAX);
        let budget = Arc::new(Budget::default());
        let used = Arc::clone(&budget);
        std::thread::Builder::new().name("terminal".to_owned()).spawn(move || {
            let _closer = used.closer();
            writer::run(&messages, look, sinks, &used);
        })?;
        Ok(Self { queue, budget })
    }

    /// Prints a message after those before it.
    pub(crate) fn send(&self, message: Message) {
        self.budget.take(message.bytes());
        // The thread only ends with the process; if it panicked there is nowhere left to say so.
        let _ = self.queue.send(message);
    }

    /// Prints bytes to the standard output stream and waits until they are there.
    ///
    /// # Errors
    /// What the system says, such as that nobody reads any more.
    pub(crate) fn output(&self, bytes: Vec<u8>) -> std::io::Result<()> {
        let (done, printed) = sync_channel(1);
        self.send(Message::Output { bytes, done });
        printed.recv().unwrap_or_else(|_| Err(std::io::Error::other("the printing thread ended")))
    }

    /// Prints text to the standard output stream.
    pub(crate) fn stdout(&self, text: impl Into<String>) {
        self.send(Message::Stdout(text.into().into_bytes()));
    }

    /// Waits until everything sent so far has been printed, but not for ever.
    pub(crate) fn flush(&self) {
        /// A pipe nobody reads must not keep the process from ending.
        const PATIENCE: Duration = Duration::from_secs(8);
        let (done, wait) = sync_channel(1);
        if self.queue.try_send(Message::Flush(done)).is_ok() {
            if wait.recv_timeout(PATIENCE).is_err() {
                tell_of_the_rest();
            }
            return;
        }
        // The queue is full: a thread of its own may wait for room.
        let (queue, (done, wait)) = (self.queue.clone(), channel());
        let flusher = std::thread::Builder::new().spawn(move || {
            let (printed, all) = sync_channel(1);
            let _ = queue.send(Message::Flush(printed));
            let _ = all.recv();
            let _ = done.send(());
        });
        if flusher.is_ok() && wait.recv_timeout(PATIENCE).is_err() {
            tell_of_the_rest();
        }
    }
}

/// Says on stderr that not everything was printed, past the printing thread, which waits for a reader. It may be stderr
/// that nobody reads: then this is given up as well.
fn tell_of_the_rest() {
    const PATIENCE: Duration = Duration::from_millis(200);
    let (done, wait) = channel();
    let teller = std::thread::Builder::new().spawn(move || {
        let line = Line {
            level: Level::Error,
            message: "the output could not be printed to its end: nobody reads it".to_owned(),
            fields: Vec::new(),
        };
        let _ = std::io::stderr().lock().write_all(Style::default().render(Clock::now(), &line).as_bytes());
        let _ = done.send(());
    });
    if teller.is_ok() {
        let _ = wait.recv_timeout(PATIENCE);
    }
}
