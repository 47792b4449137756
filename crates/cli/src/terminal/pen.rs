//! A thread that writes to one place, so that a place that takes nothing holds up nobody else: a pipe nobody reads, a
//! terminal that was stopped, a disk that hangs. What waits for it is limited; the rest is dropped and counted.

use std::{
    io,
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
        mpsc::SyncSender,
    },
    time::Duration,
};

use crate::line::Level;

/// Something to write.
#[derive(Debug)]
pub(super) struct Piece {
    pub(super) bytes: Vec<u8>,
    /// Log lines in it.
    pub(super) lines: u64,
    /// Which of the standard streams; other places have only one.
    pub(super) stream: Stream,
    /// The level of the line; only log files ask.
    pub(super) level: Level,
    /// Gets the system's answer.
    pub(super) done: Option<SyncSender<io::Result<()>>>,
}

/// A standard stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stream {
    Stdout,
    Stderr,
}

/// What hands pieces to the system, and may be blocked doing so.
pub(super) trait Nib: Send + 'static {
    /// Writes all pieces in order, and calls `progress` whenever the system took something.
    fn write(&mut self, pieces: Vec<Piece>, progress: &dyn Fn()) -> Written;
}

/// What became of pieces.
#[derive(Debug, Default)]
pub(super) struct Written {
    /// Log lines that were not written.
    pub(super) lost: u64,
    /// The first failure nobody was told of.
    pub(super) failure: Option<(Stream, io::Error)>,
}

/// A handle on such a thread.
#[derive(Clone)]
pub(super) struct Pen {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    filled: Condvar,
    emptied: Condvar,
    /// Grows whenever the system takes something.
    progress: AtomicU64,
}

#[derive(Default)]
struct State {
    waiting: Vec<Piece>,
    bytes: usize,
    is_writing: bool,
    /// The thread has ended, if only by a panic.
    is_closed: bool,
    written: Written,
}

impl Pen {
    /// Bytes that may wait to be written.
    const BYTES_MAX: usize = 32 << 20;

    /// Starts the thread.
    ///
    /// # Errors
    /// When no thread can be made.
    pub(super) fn start(name: &str, mut nib: impl Nib) -> io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let own = Closer(Arc::clone(&shared));
        std::thread::Builder::new().name(name.to_owned()).spawn(move || {
            loop {
                let pieces = own.0.next();
                let progress = || {
                    own.0.progress.fetch_add(1, Ordering::Relaxed);
                };
                let written = nib.write(pieces, &progress);
                own.0.note(written);
            }
        })?;
        Ok(Self { shared })
    }

    /// Appends a piece. Log lines find no room where too much waits already, and are counted as lost; everything else is
    /// what somebody asked for, and comes once.
    pub(super) fn push(&self, piece: Piece) {
        let mut state = self.shared.lock();
        if piece.lines > 0 && state.bytes + piece.bytes.len() > Self::BYTES_MAX {
            state.written.lost += piece.lines;
            return;
        }
        if state.is_closed {
            return;
        }
        state.bytes += piece.bytes.len();
        state.waiting.push(piece);
        drop(state);
        self.shared.filled.notify_one();
    }

    /// Whether something still waits.
    pub(super) fn is_busy(&self) -> bool {
        let state = self.shared.lock();
        state.is_writing || !state.waiting.is_empty()
    }

    /// Whether so much waits that progress had better be left out.
    pub(super) fn is_behind(&self) -> bool {
        const BEHIND: usize = 64 << 10;
        self.shared.lock().bytes > BEHIND
    }

    /// Waits until everything is written, as long as the system takes something every `patience`. Says whether it is.
    pub(super) fn flush(&self, patience: Duration) -> bool {
        /// How often progress is looked at.
        const STEP: Duration = Duration::from_millis(50);
        let mut state = self.shared.lock();
        let (mut seen, mut stood) = (self.shared.progress.load(Ordering::Relaxed), Duration::ZERO);
        while state.is_writing || !state.waiting.is_empty() {
            if state.is_closed {
                return false;
            }
            let (next, timeout) = self.shared.emptied.wait_timeout(state, STEP).unwrap_or_else(PoisonError::into_inner);
            state = next;
            let now = self.shared.progress.load(Ordering::Relaxed);
            if timeout.timed_out() && now == seen {
                stood += STEP;
            } else if now != seen {
                (seen, stood) = (now, Duration::ZERO);
            }
            if stood >= patience {
                return false;
            }
        }
        true
    }

    /// What was lost and what failed since the last call.
    pub(super) fn written(&self) -> Written {
        std::mem::take(&mut self.shared.lock().written)
    }
}

impl Shared {
    /// Waits for something to write.
    fn next(&self) -> Vec<Piece> {
        let mut state = self.lock();
        while state.waiting.is_empty() {
            state = self.filled.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.is_writing = true;
        state.bytes = 0;
        std::mem::take(&mut state.waiting)
    }

    fn note(&self, written: Written) {
        let mut state = self.lock();
        state.written.lost += written.lost;
        state.written.failure = state.written.failure.take().or(written.failure);
        state.is_writing = false;
        let is_empty = state.waiting.is_empty();
        drop(state);
        if is_empty {
            self.emptied.notify_all();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Tells those who wait that the thread has ended.
struct Closer(Arc<Shared>);

impl Drop for Closer {
    fn drop(&mut self) {
        self.0.lock().is_closed = true;
        self.0.emptied.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, Sender, channel};

    use super::*;

    /// A place that takes a batch of pieces whenever the test says so.
    struct Slow {
        go: Receiver<()>,
        taken: Sender<usize>,
    }

    impl Nib for Slow {
        fn write(&mut self, pieces: Vec<Piece>, progress: &dyn Fn()) -> Written {
            // A test that has ended lets everything pass.
            let _ = self.go.recv();
            progress();
            let _ = self.taken.send(pieces.len());
            Written::default()
        }
    }

    fn piece(bytes: usize, lines: u64) -> Piece {
        Piece { bytes: vec![0; bytes], lines, stream: Stream::Stderr, level: Level::Info, done: None }
    }

    #[test]
    fn lines_for_a_place_that_takes_nothing_are_dropped_and_counted() {
        let ((go, gate), (taken, batches)) = (channel(), channel());
        let pen = Pen::start("pen", Slow { go: gate, taken }).expect("a thread");
        pen.push(piece(1, 1));
        // The first batch is being written; three of these fit behind it.
        while !pen.shared.lock().waiting.is_empty() {
            std::thread::yield_now();
        }
        for _ in 0..5 {
            pen.push(piece(Pen::BYTES_MAX / 3, 2));
        }
        pen.push(piece(Pen::BYTES_MAX, 0));
        assert!(pen.is_busy() && !pen.flush(Duration::from_millis(50)));
        assert_eq!(pen.written().lost, 4);
        go.send(()).expect("the thread waits");
        go.send(()).expect("the thread waits");
        assert!(pen.flush(Duration::from_secs(60)));
        assert_eq!(batches.try_iter().collect::<Vec<_>>(), [1, 4]);
        assert_eq!(pen.written().lost, 0);
    }
}
