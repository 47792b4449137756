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

use onrush_fiber::{Nanos, Woke};

/// Some threads and a queue. Threads start when work waits and live as long as the process.
pub(crate) struct Pool {
    name: &'static str,
    threads_max: usize,
    state: Mutex<State>,
    came: Condvar,
}

/// Work that waits, and who is there to do it.
struct State {
    queue: VecDeque<Work>,
    threads: usize,
    idle: usize,
}

type Work = Box<dyn FnOnce() + Send>;

/// For work that only computes. There are more threads than cores, so that short work need not wait for what takes minutes.
pub(crate) static COMPUTE: Pool = Pool::new("compute", 16);

/// Work under way.
pub(crate) struct Task<T> {
    result: Arc<Mutex<Option<thread::Result<T>>>>,
    is_unwanted: Arc<AtomicBool>,
}

/// How a wait for work ended.
pub(crate) enum Waited<T> {
    Done(T),
    /// It panicked: a defect in Onrush.
    Panicked,
    /// It goes on.
    Timeout,
    /// The fiber was cancelled. Work that has not begun will not begin; what has begun ends when it asks [`is_wanted`].
    Cancelled,
}

impl Pool {
    pub(crate) const fn new(name: &'static str, threads_max: usize) -> Self {
        let state = Mutex::new(State { queue: VecDeque::new(), threads: 0, idle: 0 });
        Self { name, threads_max, state, came: Condvar::new() }
    }

    /// Queues work that this fiber will wait for. Each piece belongs to a call of some VU, whose memory limit counts its
    /// input.
    pub(crate) fn begin<T: Send + 'static>(&'static self, work: impl FnOnce() -> T + Send + 'static) -> Task<T> {
        // Shared with another thread, so on the heap: a suspended fiber's stack is elsewhere.
        let task = Task { result: Arc::new(Mutex::new(None)), is_unwanted: Arc::new(AtomicBool::new(false)) };
        let (result, is_unwanted) = (Arc::clone(&task.result), Arc::clone(&task.is_unwanted));
        let waiting = onrush_fiber::current().zip(onrush_fiber::remote());
        let is_waited_for = waiting.is_some();
        let run = move || {
            if is_unwanted.load(Ordering::Acquire) {
                return;
            }
            UNWANTED.set(Some(is_unwanted));
            let done = catch_unwind(AssertUnwindSafe(work));
            UNWANTED.set(None);
            *result.lock().unwrap_or_else(PoisonError::into_inner) = Some(done);
            if let Some((fiber, remote)) = waiting {
                remote.unpark(fiber);
            }
        };
        if is_waited_for {
            self.submit(Box::new(run));
        } else {
            run();
        }
        task
    }

    /// Has something dropped there: closing a file takes its time.
    #[cfg(feature = "sqlite")]
    pub(crate) fn discard<T: Send + 'static>(&'static self, value: T) {
        self.submit(Box::new(move || drop(catch_unwind(AssertUnwindSafe(|| drop(value))))));
    }

    fn submit(&'static self, work: Work) {
        let mut state = self.lock();
        state.queue.push_back(work);
        if state.queue.len() <= state.idle || state.threads >= self.threads_max {
            self.came.notify_one();
            return;
        }
        let name = format!("{}-{}", self.name, state.threads);
        if thread::Builder::new().name(name).spawn(|| self.serve()).is_ok() {
            state.threads += 1;
        } else if state.threads == 0 {
            // Without threads it is done here, late but done.
            let work = state.queue.pop_back();
            drop(state);
            work.into_iter().for_each(|work| work());
        }
    }

    /// What a thread does.
    fn serve(&self) {
        loop {
            let mut state = self.lock();
            let work = loop {
                if let Some(work) = state.queue.pop_front() {
                    break work;
                }
                state.idle += 1;
                state = self.came.wait(state).unwrap_or_else(PoisonError::into_inner);
                state.idle -= 1;
            };
            drop(state);
            work();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Task<T> {
    /// Waits for it; after a timeout it can be waited for again.
    pub(crate) fn wait(&self, deadline: Option<Nanos>) -> Waited<T> {
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

/// Whether anybody waits for the work this thread does: for long loops to ask now and then.
pub(crate) fn is_wanted() -> bool {
    UNWANTED.with_borrow(|unwanted| unwanted.as_ref().is_none_or(|unwanted| !unwanted.load(Ordering::Acquire)))
}

thread_local! {
    /// Set once nobody waits for the work of this thread any more.
    static UNWANTED: RefCell<Option<Arc<AtomicBool>>> = const { RefCell::new(None) };
}
