//! Threads for work that would hold a worker thread, and with it the other VUs, for longer than a slice.

use std::{
    cell::RefCell,
    collections::VecDeque,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use onrush_fiber::Woke;

/// The most threads. There are more than cores, so that short work need not wait for what takes minutes.
const THREADS_MAX: usize = 16;

/// How work ended that was handed over.
#[derive(Debug)]
pub(crate) enum Outcome<T> {
    Done(T),
    /// The work panicked: a defect in Onrush.
    Panicked,
    /// The fiber that waited was cancelled.
    Cancelled,
}

/// Has a thread of the pool do the work while this fiber waits. Work that has begun when the fiber is cancelled ends when it asks
/// [`is_wanted`].
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
            UNWANTED.set(Some(unwanted));
            let done = catch_unwind(AssertUnwindSafe(work)).map_or(Outcome::Panicked, Outcome::Done);
            UNWANTED.set(None);
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

/// Whether anybody waits for the work this thread does: for long loops to ask now and then.
pub(crate) fn is_wanted() -> bool {
    UNWANTED.with_borrow(|unwanted| unwanted.as_ref().is_none_or(|unwanted| !unwanted.load(Ordering::Acquire)))
}

thread_local! {
    /// Set once nobody waits for the work of this thread any more.
    static UNWANTED: RefCell<Option<Arc<AtomicBool>>> = const { RefCell::new(None) };
}

type Work = Box<dyn FnOnce() + Send>;

/// Work that waits, and who is there to do it.
struct Pool {
    queue: VecDeque<Work>,
    threads: usize,
    idle: usize,
}

static POOL: Mutex<Pool> = Mutex::new(Pool { queue: VecDeque::new(), threads: 0, idle: 0 });
static CAME: Condvar = Condvar::new();

fn pool() -> MutexGuard<'static, Pool> {
    POOL.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Queues work. Each piece belongs to a wait of some VU, whose memory limit counts its input.
fn submit(work: Work) {
    let mut pool = pool();
    pool.queue.push_back(work);
    if pool.queue.len() <= pool.idle || pool.threads >= THREADS_MAX {
        CAME.notify_one();
        return;
    }
    let name = format!("offload-{}", pool.threads);
    if thread::Builder::new().name(name).spawn(work_on).is_ok() {
        pool.threads += 1;
    } else if pool.threads == 0 {
        // Without threads it is done here, late but done.
        let work = pool.queue.pop_back();
        drop(pool);
        work.into_iter().for_each(|work| work());
    }
}

/// What a thread does; it lives as long as the process.
fn work_on() {
    loop {
        let mut pool = pool();
        let work = loop {
            if let Some(work) = pool.queue.pop_front() {
                break work;
            }
            pool.idle += 1;
            pool = CAME.wait(pool).unwrap_or_else(PoisonError::into_inner);
            pool.idle -= 1;
        };
        drop(pool);
        work();
    }
}
