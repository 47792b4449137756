//! Threads for work that would hold a worker thread, and with it the other VUs, for longer than a slice.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, Ordering},
        mpsc::{Sender, channel},
    },
    thread,
};

use onrush_fiber::{Nanos, Woke};

/// A few threads and a queue. They start with the first piece of work and live as long as the process.
pub(super) struct Pool {
    name: &'static str,
    threads: fn() -> usize,
    queue: OnceLock<Option<Mutex<Sender<Work>>>>,
}

type Work = Box<dyn FnOnce() + Send>;

/// Work under way.
pub(super) struct Task<T> {
    result: Arc<Mutex<Option<thread::Result<T>>>>,
    is_unwanted: Arc<AtomicBool>,
}

/// How a wait for work ended.
pub(super) enum Waited<T> {
    Done(T),
    /// It panicked.
    Panicked,
    /// It goes on.
    Timeout,
    /// The fiber was cancelled. Work that has not begun will not begin.
    Cancelled,
}

impl Pool {
    pub(super) const fn new(name: &'static str, threads: fn() -> usize) -> Self {
        Self { name, threads, queue: OnceLock::new() }
    }

    /// Queues work that this fiber will wait for. Each piece belongs to a call of some VU, whose memory limit counts its
    /// input.
    pub(super) fn begin<T: Send + 'static>(&'static self, work: impl FnOnce() -> T + Send + 'static) -> Task<T> {
        // Shared with another thread, so on the heap: a suspended fiber's stack is elsewhere.
        let task = Task { result: Arc::new(Mutex::new(None)), is_unwanted: Arc::new(AtomicBool::new(false)) };
        let (result, is_unwanted) = (Arc::clone(&task.result), Arc::clone(&task.is_unwanted));
        let waiting = onrush_fiber::current().zip(onrush_fiber::remote());
        let is_waited_for = waiting.is_some();
        let run = move || {
            if is_unwanted.load(Ordering::Acquire) {
                return;
            }
            let done = catch_unwind(AssertUnwindSafe(work));
            *result.lock().unwrap_or_else(PoisonError::into_inner) = Some(done);
            if let Some((fiber, remote)) = waiting {
                remote.unpark(fiber);
            }
        };
        if is_waited_for {
            self.submit(Box::new(run))
        } else {
            run()
        }
        task
    }

    /// Has something dropped there: closing a file takes its time.
    pub(super) fn discard<T: Send + 'static>(&'static self, value: T) {
        self.submit(Box::new(move || drop(catch_unwind(AssertUnwindSafe(|| drop(value))))));
    }

    fn submit(&'static self, work: Work) {
        let Some(queue) = self.queue.get_or_init(|| self.start()) else {
            // Without threads it is done here, late but done.
            return work();
        };
        let sent = queue.lock().unwrap_or_else(PoisonError::into_inner).send(work);
        if let Err(unsent) = sent {
            (unsent.0)();
        }
    }

    fn start(&self) -> Option<Mutex<Sender<Work>>> {
        let (sender, receiver) = channel::<Work>();
        let receiver = Arc::new(Mutex::new(receiver));
        let started = (0..(self.threads)()).filter(|index| {
            let receiver = Arc::clone(&receiver);
            let run = move || loop {
                let next = receiver.lock().unwrap_or_else(PoisonError::into_inner).recv();
                match next {
                    Ok(work) => work(),
                    Err(_) => return,
                }
            };
            thread::Builder::new().name(format!("{}-{index}", self.name)).spawn(run).is_ok()
        });
        (started.count() > 0).then(|| Mutex::new(sender))
    }
}

impl<T> Task<T> {
    /// Waits for it; after a timeout it can be waited for again.
    pub(super) fn wait(&self, deadline: Option<Nanos>) -> Waited<T> {
        loop {
            // The lock is given back before the fiber waits.
            let done = self.result.lock().unwrap_or_else(PoisonError::into_inner).take();
            match done {
                Some(Ok(done)) => return Waited::Done(done),
                Some(Err(_)) => return Waited::Panicked,
                None => {}
            }
            match onrush_fiber::park(deadline) {
                Woke::Cancelled => {
                    self.is_unwanted.store(true, Ordering::Release);
                    return Waited::Cancelled;
                }
                Woke::Timeout => return Waited::Timeout,
                Woke::Ready => {}
            }
        }
    }
}
