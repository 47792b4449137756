//! Everything that is printed goes through one thread, so that log lines, progress and results never mix within a line.
//! Behind it each place has a thread of its own, so that one that takes nothing, such as a pipe nobody reads, holds up
//! neither the others nor the threads that make the load.

mod file;
mod look;
mod pen;
mod queue;
mod screen;
mod streams;
mod tail;
pub(crate) mod view;
mod wrap;
mod writer;

use std::{
    sync::{
        Arc,
        mpsc::{SyncSender, sync_channel},
    },
    time::Duration,
};

use onrush_fiber::{Clock, Nanos};
use ratatui::buffer::Buffer;

pub(crate) use file::LogFile;
pub(crate) use look::Look;
pub(crate) use tail::TailLine;
pub(crate) use writer::Sinks;

use self::{queue::Queue, tail::Tail, writer::Writer};
use crate::line::Line;

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
    /// The whole screen of the terminal; `None` gives it back. What is printed meanwhile is held.
    View(Option<Box<Buffer>>),
    /// The process goes on after it was stopped: others may have written to the terminal.
    Resumed,
    /// Say when everything before this has been printed.
    Flush {
        /// How long a place may take nothing, unless the usual time.
        patience: Option<Duration>,
        /// Gets the answer.
        done: SyncSender<()>,
    },
}

impl Message {
    /// What it takes of the queue's bytes.
    fn bytes(&self) -> usize {
        match self {
            Self::Log { line, .. } => {
                line.message.len() + line.fields.iter().map(|(_, value)| value.len()).sum::<usize>()
            }
            Self::Stdout(bytes) | Self::Output { bytes, .. } | Self::Stderr(bytes) => bytes.len(),
            Self::Frame(_) | Self::View(_) | Self::Resumed | Self::Flush { .. } => 0,
        }
    }

    /// VUs make any number of log lines; everything else comes once or waits to be printed.
    fn may_be_dropped(&self) -> bool {
        matches!(self, Self::Log { .. })
    }
}

/// A handle on the printing thread.
#[derive(Clone)]
pub(crate) struct Terminal {
    queue: Arc<Queue>,
    tail: Arc<Tail>,
}

impl Terminal {
    /// Starts the threads that print.
    ///
    /// # Errors
    /// When no thread can be made.
    pub(crate) fn start(look: Look, sinks: Sinks) -> std::io::Result<Self> {
        let (queue, tail) = (Arc::new(Queue::default()), Arc::new(Tail::default()));
        let writer = Writer::new(look, sinks, Arc::clone(&tail))?;
        let own = Arc::clone(&queue);
        std::thread::Builder::new().name("terminal".to_owned()).spawn(move || {
            let _closer = own.closer();
            writer::run(&own, writer);
        })?;
        Ok(Self { queue, tail })
    }

    /// Prints a message after those before it. Log lines that find no room are dropped and counted.
    pub(crate) fn send(&self, message: Message) {
        self.queue.push(message);
    }

    /// Whether log lines are kept for [`Terminal::tail`].
    pub(crate) fn keep_tail(&self, is_kept: bool) {
        self.tail.want(is_kept);
    }

    /// The last log lines.
    pub(crate) fn tail(&self) -> Vec<TailLine> {
        self.tail.lines()
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

    /// Waits until everything sent so far has been printed, as long as somebody reads.
    pub(crate) fn flush(&self) {
        let (done, printed) = sync_channel(1);
        self.send(Message::Flush { patience: None, done });
        // If the printing thread is gone, there is nothing to wait for.
        let _ = printed.recv();
    }

    /// Prints a last line if that is possible at once: the process is about to end.
    pub(crate) fn last_words(&self, line: Line) {
        /// Half a second in all, for the log and for the standard output stream.
        const PATIENCE: Duration = Duration::from_millis(150);
        const PATIENCE_MAX: Duration = Duration::from_millis(500);
        let (done, printed) = sync_channel(1);
        self.send(Message::View(None));
        self.queue.push_kept(Message::Log { at: Clock::now(), line, to_console_file: false });
        self.send(Message::Flush { patience: Some(PATIENCE), done });
        let _ = printed.recv_timeout(PATIENCE_MAX);
    }
}

/// The standard output stream, which the printing thread owns.
pub(crate) struct Stdout(pub(crate) Terminal);

impl std::io::Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.output(bytes.to_vec())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
