//! The way of samples from the threads that make them to the one that deals with them: a bounded queue.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
        mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel},
    },
    time::Duration,
};

use onrush_fiber::Clock;
use onrush_metrics::{SampleBatch, SampleSink, TagPairs, Tap};

/// Makes the tap of each worker thread.
pub type Taps = Arc<dyn Fn(usize) -> Tap + Send + Sync>;

/// The end that takes samples. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Inlets {
    queue: SyncSender<Message>,
    /// Samples that found the queue full.
    lost: Arc<AtomicU64>,
    /// Samples handed over and not dealt with yet.
    pending: Arc<AtomicU64>,
    is_ending: Arc<AtomicBool>,
}

/// The end that deals with them.
pub(crate) struct Outlet {
    messages: Receiver<Message>,
    pending: Arc<AtomicU64>,
    is_ending: Arc<AtomicBool>,
}

enum Message {
    Batch { thread: usize, batch: SampleBatch },
    Wake,
}

/// What comes out of the queue.
pub(crate) enum Next {
    Batch {
        thread: usize,
        batch: SampleBatch,
    },
    /// Nothing for a while.
    Nothing,
    /// Nothing more comes, but for what [`Outlet::rest`] has.
    End,
}

/// Batches that may wait: with 4,096 samples of 32 bytes each, 32 MiB.
const QUEUE_MAX: usize = 256;

/// A queue.
pub(crate) fn queue() -> (Inlets, Outlet) {
    let (queue, messages) = sync_channel(QUEUE_MAX);
    let inlets = Inlets { queue, lost: Arc::default(), pending: Arc::default(), is_ending: Arc::default() };
    let outlet = Outlet { messages, pending: Arc::clone(&inlets.pending), is_ending: Arc::clone(&inlets.is_ending) };
    (inlets, outlet)
}

impl Inlets {
    /// Makes the taps of worker threads.
    pub(crate) fn taps(&self) -> Taps {
        let inlets = self.clone();
        Arc::new(move |thread| Tap::new(Box::new(Inlet { thread, inlets: inlets.clone() }), || Clock::now().0))
    }

    /// Hands a batch over, or gives it back at once. What found no room is counted.
    pub(crate) fn put(&self, thread: usize, batch: SampleBatch) -> Result<(), SampleBatch> {
        let samples = batch.samples.len() as u64;
        // Before it is sent, as the other side takes it off again.
        self.pending.fetch_add(samples, Ordering::Relaxed);
        let sent = self.queue.try_send(Message::Batch { thread, batch });
        if sent.is_err() {
            self.pending.fetch_sub(samples, Ordering::Relaxed);
        }
        match sent {
            Ok(()) => Ok(()),
            Err(TrySendError::Full(Message::Batch { batch, .. })) => {
                self.lose(samples);
                Err(batch)
            }
            // The outputs are closed: what comes now, such as requests of handleSummary(), belongs to no run.
            Err(TrySendError::Disconnected(Message::Batch { batch, .. })) => Err(batch),
            Err(_) => Ok(()),
        }
    }

    /// Counts samples that nobody will get.
    pub(crate) fn lose(&self, samples: u64) {
        self.lost.fetch_add(samples, Ordering::Relaxed);
    }

    /// Nothing more comes.
    pub(crate) fn end(&self) {
        self.is_ending.store(true, Ordering::Release);
        // A full queue needs no wake-up call.
        let _ = self.queue.try_send(Message::Wake);
    }

    /// Samples that found the queue full.
    pub(crate) fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }

    /// Samples handed over and not dealt with yet.
    pub(crate) fn pending(&self) -> u64 {
        self.pending.load(Ordering::Relaxed)
    }

    /// Knows the samples that found the queue full.
    pub(crate) fn losses(&self) -> Losses {
        Losses(Arc::clone(&self.lost))
    }
}

impl Outlet {
    /// What comes next, if it comes within `patience`.
    pub(crate) fn next(&self, patience: Duration) -> Next {
        match self.messages.recv_timeout(patience) {
            Ok(Message::Batch { thread, batch }) => Next::Batch { thread, batch },
            Ok(Message::Wake) | Err(RecvTimeoutError::Timeout) => {
                if self.is_ending.load(Ordering::Acquire) {
                    Next::End
                } else {
                    Next::Nothing
                }
            }
            Err(RecvTimeoutError::Disconnected) => Next::End,
        }
    }

    /// What came before the end.
    pub(crate) fn rest(&self) -> impl Iterator<Item = (usize, SampleBatch)> {
        std::iter::from_fn(|| self.messages.try_recv().ok()).filter_map(|message| match message {
            Message::Batch { thread, batch } => Some((thread, batch)),
            Message::Wake => None,
        })
    }

    /// So many samples were dealt with.
    pub(crate) fn done(&self, samples: u64) {
        self.pending.fetch_sub(samples, Ordering::Relaxed);
    }
}

/// Samples that outputs lost because they came faster than they could be written or sent.
#[derive(Debug)]
pub struct Losses(Arc<AtomicU64>);

impl Losses {
    /// How many there are so far.
    pub fn so_far(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// One thread's way into the queue.
struct Inlet {
    thread: usize,
    inlets: Inlets,
}

impl SampleSink for Inlet {
    fn accept(&mut self, batch: SampleBatch) -> Result<(), SampleBatch> {
        self.inlets.put(self.thread, batch)
    }
}

/// Tag sets of batches that came back: they go with the next one, as each set is sent once.
#[derive(Debug, Default)]
pub(crate) struct Unsent(Vec<TagPairs>);

impl Unsent {
    /// Puts what is left before the batch's own.
    pub(crate) fn join(&mut self, batch: &mut SampleBatch) {
        if self.0.is_empty() {
            return;
        }
        // The cast is exact: sets have numbers of 32 bits, and these come before the batch's.
        batch.first_tag_set -= self.0.len() as u32;
        let own = std::mem::replace(&mut batch.tag_sets, std::mem::take(&mut self.0));
        batch.tag_sets.extend(own);
    }

    /// Keeps those of a batch that was not sent.
    pub(crate) fn keep(&mut self, batch: SampleBatch) {
        debug_assert!(self.0.is_empty(), "a batch has been joined before it comes back");
        self.0 = batch.tag_sets;
    }
}
