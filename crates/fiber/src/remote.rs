//! Reaching a reactor from other threads.

use std::{
    fmt, io, mem,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

use rustix::event::{EventfdFlags, eventfd};

use crate::{fiber::FiberId, local};

/// A handle to a reactor, for any thread. Once the reactor is gone it does nothing.
#[derive(Clone)]
pub struct Remote {
    mailbox: Arc<Mailbox>,
}

impl Remote {
    pub(crate) fn new() -> io::Result<Remote> {
        let wakeup = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        let mailbox = Mailbox {
            messages: Mutex::new(Some(Vec::new())),
            signalled: AtomicBool::new(false),
            stop: AtomicBool::new(false),
            holds: AtomicUsize::new(0),
            wakeup,
        };
        Ok(Remote { mailbox: Arc::new(mailbox) })
    }

    /// Runs `f` on the reactor's thread, on the reactor's own stack: it must not park or sleep (spawn a fiber for
    /// that). Calls from one thread run in the order they were made. The queue has no limit of its own: callers bound
    /// what they have outstanding.
    pub fn post(&self, f: Box<dyn FnOnce() + Send>) {
        self.send(Message::Run(f));
    }

    /// [`unpark`](crate::unpark)s a fiber of this reactor. On the reactor's own thread this is as
    /// cheap as that.
    pub fn unpark(&self, fiber: FiberId) {
        if !local::unpark_if_on(self, fiber) {
            self.send(Message::Unpark(fiber));
        }
    }

    /// Has [`Reactor::run`](crate::Reactor::run) return soon, even with fibers alive. They stay suspended; running the
    /// reactor again goes on with them.
    pub fn stop(&self) {
        self.mailbox.stop.store(true, Ordering::Release);
        self.signal();
    }

    /// Keeps [`Reactor::run`](crate::Reactor::run) from returning while the [`Hold`] exists, even without a fiber:
    /// somebody will still post work.
    #[must_use]
    pub fn hold(&self) -> Hold {
        self.mailbox.holds.fetch_add(1, Ordering::AcqRel);
        Hold { remote: self.clone() }
    }

    fn send(&self, message: Message) {
        let delivered = self.mailbox.lock().as_mut().map(|queue| queue.push(message)).is_some();
        if delivered {
            self.signal();
        }
    }

    fn signal(&self) {
        // Only the first of several signals costs a system call; on the reactor's own thread none does, as it looks at
        // the flag before it goes to sleep.
        if !self.mailbox.signalled.swap(true, Ordering::AcqRel) && !local::is_on(self) {
            // The counter cannot overflow (2^64 wake-ups), so the write cannot fail.
            let _ = rustix::io::write(&self.mailbox.wakeup, &1u64.to_ne_bytes());
        }
    }

    // The reactor's side.

    pub(crate) fn same(&self, other: &Remote) -> bool {
        Arc::ptr_eq(&self.mailbox, &other.mailbox)
    }

    pub(crate) fn wakeup_fd(&self) -> BorrowedFd<'_> {
        self.mailbox.wakeup.as_fd()
    }

    #[inline]
    pub(crate) fn is_signalled(&self) -> bool {
        self.mailbox.signalled.load(Ordering::Acquire)
    }

    /// What arrived since the last call.
    pub(crate) fn receive(&self) -> Vec<Message> {
        // Reading the flag with a swap orders this after every sender that saw it set: their messages are in the queue.
        if self.mailbox.signalled.swap(false, Ordering::AcqRel) {
            self.mailbox.lock().as_mut().map(mem::take).unwrap_or_default()
        } else {
            Vec::new()
        }
    }

    /// The reactor is going away: drops what nobody will run, now and from now on.
    pub(crate) fn close(&self) {
        let undelivered = self.mailbox.lock().take();
        drop(undelivered);
    }

    /// Whether `stop` was called since the last look.
    pub(crate) fn take_stop(&self) -> bool {
        self.mailbox.stop.load(Ordering::Relaxed) && self.mailbox.stop.swap(false, Ordering::AcqRel)
    }

    pub(crate) fn is_held(&self) -> bool {
        self.mailbox.holds.load(Ordering::Acquire) > 0
    }
}

impl fmt::Debug for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Remote").finish_non_exhaustive()
    }
}

/// Keeps a reactor running; see [`Remote::hold`].
#[derive(Debug)]
pub struct Hold {
    remote: Remote,
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.remote.mailbox.holds.fetch_sub(1, Ordering::AcqRel);
        self.remote.signal();
    }
}

pub(crate) enum Message {
    Run(Box<dyn FnOnce() + Send>),
    Unpark(FiberId),
}

struct Mailbox {
    /// `None` once the reactor is gone.
    messages: Mutex<Option<Vec<Message>>>,
    /// Set by a sender, cleared by the reactor before it looks into the queue.
    signalled: AtomicBool,
    stop: AtomicBool,
    holds: AtomicUsize,
    wakeup: OwnedFd,
}

impl Mailbox {
    fn lock(&self) -> MutexGuard<'_, Option<Vec<Message>>> {
        // A push cannot panic half-way: the queue is sound even if a thread died holding it.
        self.messages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
