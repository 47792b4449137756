//! A few threads for work that would hold a worker thread, and with it the other VUs, for longer than a slice.

use std::{
    num::NonZero,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, Ordering},
        mpsc::{Sender, channel},
    },
    thread,
};

use onrush_fiber::Woke;

/// The most threads. They compete with the worker threads, so that more would not finish sooner.
const THREADS_MAX: usize = 4;

/// How work ended that was handed over.
#[derive(Debug)]
pub(crate) enum Outcome<T> {
    Done(T),
    /// The work panicked: a defect in Onrush.
    Panicked,
    /// The fiber that waited was cancelled.
    Cancelled,
}

/// Has a thread of the pool do the work while this fiber waits. Work that has begun when the fiber is cancelled goes on
/// without anybody waiting for it.
pub(crate) fn wait<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Outcome<T> {
    let (Some(fiber), Some(remote)) = (onrush_fiber::current(), onrush_fiber::remote()) else {
        return Outcome::Done(work());
    };
    // Shared with another thread, so on the heap: a suspended fiber's stack is elsewhere.
    let result = Arc::new(Mutex::new(None));
    let unwanted = Arc::new(AtomicBool::new(false));
    submit({
        let (result, unwanted) = (result.clone(), unwanted.clone());
        Box::new(move || {
            if unwanted.load(Ordering::Acquire) {
                return;
            }
            let done = catch_unwind(AssertUnwindSafe(work)).map_or(Outcome::Panicked, Outcome::Done);
            *result.lock().unwrap_or_else(PoisonError::into_inner) = Some(done);
            remote.unpark(fiber);
        })
    });
    loop {
        if let Some(done) = result.lock().unwrap_or_else(PoisonError::into_inner).take() {
            return done;
        }
        if onrush_fiber::park(None) == Woke::Cancelled {
            unwanted.store(true, Ordering::Release);
            return Outcome::Cancelled;
        }
    }
}

type Work = Box<dyn FnOnce() + Send>;

/// Queues work. Each piece belongs to a wait of some VU, whose memory limit counts its input.
fn submit(work: Work) {
    static QUEUE: OnceLock<Option<Mutex<Sender<Work>>>> = OnceLock::new();
    let Some(queue) = QUEUE.get_or_init(start) else {
        // Without threads it is done here, late but done.
        return work();
    };
    let sent = queue.lock().unwrap_or_else(PoisonError::into_inner).send(work);
    if let Err(unsent) = sent {
        (unsent.0)();
    }
}

/// Starts the threads, with the first piece of work; they live as long as the process.
fn start() -> Option<Mutex<Sender<Work>>> {
    let (sender, receiver) = channel::<Work>();
    let receiver = Arc::new(Mutex::new(receiver));
    let threads = thread::available_parallelism().map_or(1, NonZero::get).div_ceil(2).min(THREADS_MAX);
    let started = (0..threads).filter(|index| {
        let receiver = receiver.clone();
        let run = move || loop {
            let next = receiver.lock().unwrap_or_else(PoisonError::into_inner).recv();
            match next {
                Ok(work) => work(),
                Err(_) => return,
            }
        };
        thread::Builder::new().name(format!("offload-{index}")).spawn(run).is_ok()
    });
    (started.count() > 0).then(|| Mutex::new(sender))
}
