//! How many bytes may wait to be printed: a count of messages alone would let a few thousand long ones take all memory.

use std::sync::{
    Arc, Condvar, Mutex, PoisonError,
    atomic::{AtomicBool, Ordering},
};

/// Bytes that wait, and who waits for room.
#[derive(Debug, Default)]
pub(super) struct Budget {
    used: Mutex<usize>,
    freed: Condvar,
    /// Nothing is printed any more, so nobody must wait.
    is_closed: AtomicBool,
}

impl Budget {
    /// Bytes of messages that may wait. A longer one waits until it is alone.
    pub(super) const BYTES_MAX: usize = 64 << 20;

    /// Takes room for a message, and waits for it if there is none.
    pub(super) fn take(&self, bytes: usize) {
        if bytes == 0 {
            return;
        }
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        while *used > 0 && *used + bytes > Self::BYTES_MAX && !self.is_closed.load(Ordering::Relaxed) {
            used = self.freed.wait(used).unwrap_or_else(PoisonError::into_inner);
        }
        *used += bytes;
    }

    /// Closes it when it is dropped: the printing thread has ended, if only by a panic.
    pub(super) fn closer(self: &Arc<Self>) -> impl Drop + use<> {
        struct Closer(Arc<Budget>);
        impl Drop for Closer {
            fn drop(&mut self) {
                let _used = self.0.used.lock().unwrap_or_else(PoisonError::into_inner);
                self.0.is_closed.store(true, Ordering::Relaxed);
                self.0.freed.notify_all();
            }
        }
        Closer(Arc::clone(self))
    }

    /// Gives back what messages that have been printed took.
    pub(super) fn give(&self, bytes: usize) {
        if bytes > 0 {
            let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
            *used = used.saturating_sub(bytes);
            self.freed.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn what_waits_is_limited() {
        const MESSAGE: usize = Budget::BYTES_MAX / 4;
        let budget = Arc::new(Budget::default());
        let (sender, waiting) = channel();
        let senders: Vec<_> = (0..4)
            .map(|_| {
                let (budget, sender) = (Arc::clone(&budget), sender.clone());
                std::thread::spawn(move || {
                    for _ in 0..10 {
                        budget.take(MESSAGE);
                        sender.send(MESSAGE).expect("the receiver is there");
                    }
                })
            })
            .collect();
        for _ in 0..40 {
            let bytes = waiting.recv().expect("a sender is there");
            assert!(*budget.used.lock().expect("no panic") <= Budget::BYTES_MAX);
            budget.give(bytes);
        }
        for sender in senders {
            sender.join().expect("no panic");
        }
        // One that is longer than the limit is let through alone.
        budget.take(2 * Budget::BYTES_MAX);
        budget.give(2 * Budget::BYTES_MAX);
        assert_eq!(*budget.used.lock().expect("no panic"), 0);
        budget.take(Budget::BYTES_MAX);
        drop(budget.closer());
        budget.take(Budget::BYTES_MAX);
    }
}
