//! The queue in front of the printing thread: limited in messages and bytes, and patient only to a point. VUs log, and a
//! VU that waits holds up its whole thread, so waiting is rationed; what finds no room then is dropped and counted.

use std::{
    collections::VecDeque,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use onrush_fiber::{Clock, Nanos};

use super::Message;

/// Messages for the printing thread.
#[derive(Debug, Default)]
pub(super) struct Queue {
    state: Mutex<State>,
    filled: Condvar,
    freed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    messages: VecDeque<Message>,
    bytes: usize,
    /// Log lines and progress that found no room.
    dropped: u64,
    patience: Patience,
    /// Nothing is printed any more, so nobody must wait.
    is_closed: bool,
}

/// What the printing thread takes at once.
pub(super) struct Batch {
    /// In order.
    pub(super) messages: Vec<Message>,
    /// Messages dropped since the last batch.
    pub(super) dropped: u64,
}

/// How long all threads together may wait for room: a burst, and a twentieth of the time.
#[derive(Debug)]
struct Patience {
    left: Duration,
    refilled_at: Nanos,
}

impl Queue {
    /// Messages that may wait: a burst of every VU of a large test logging once.
    const MESSAGES_MAX: usize = 65_536;
    /// Bytes of messages that may wait. A longer message waits until it is alone.
    pub(super) const BYTES_MAX: usize = 32 << 20;
    /// Messages, and bytes of them, taken at once.
    const BATCH: usize = 512;
    const BATCH_BYTES: usize = 1 << 20;

    /// Appends a message. What may be dropped waits for room for a moment at most.
    pub(super) fn push(&self, message: Message) {
        let may_be_dropped = message.may_be_dropped();
        self.append(message, may_be_dropped);
    }

    /// Appends a message, room or not.
    pub(super) fn push_kept(&self, message: Message) {
        self.append(message, false);
    }

    fn append(&self, message: Message, may_be_dropped: bool) {
        let bytes = message.bytes();
        let mut state = self.lock();
        // Of frames only the last one matters.
        match (&message, state.messages.back_mut()) {
            (Message::Frame(_), Some(last @ Message::Frame(_))) | (Message::View(_), Some(last @ Message::View(_))) => {
                *last = message;
                return;
            }
            _ => {}
        }
        if may_be_dropped && !state.has_room(bytes) {
            let (after, found) = self.wait_for_room(state, bytes);
            state = after;
            if !found {
                state.dropped += 1;
                return;
            }
        }
        if state.is_closed {
            return;
        }
        state.bytes += bytes;
        state.messages.push_back(message);
        drop(state);
        self.filled.notify_one();
    }

    fn wait_for_room<'a>(&self, mut state: MutexGuard<'a, State>, bytes: usize) -> (MutexGuard<'a, State>, bool) {
        let since = Clock::now();
        state.patience.refill(since);
        loop {
            let waited = Clock::now().saturating_sub(since).as_duration();
            let left = state.patience.left.saturating_sub(waited);
            let has_room = state.has_room(bytes) || state.is_closed;
            if has_room || left.is_zero() {
                state.patience.left = left;
                return (state, has_room);
            }
            state = self.freed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// What waits, or nothing after `patience`.
    pub(super) fn take(&self, patience: Duration) -> Batch {
        let mut state = self.lock();
        if state.messages.is_empty() {
            state = self.filled.wait_timeout(state, patience).unwrap_or_else(PoisonError::into_inner).0;
        }
        let mut batch = Batch { messages: Vec::new(), dropped: std::mem::take(&mut state.dropped) };
        let mut bytes = 0;
        while bytes < Self::BATCH_BYTES
            && batch.messages.len() < Self::BATCH
            && let Some(message) = state.messages.pop_front()
        {
            bytes += message.bytes();
            batch.messages.push(message);
        }
        state.bytes = state.bytes.saturating_sub(bytes);
        drop(state);
        self.freed.notify_all();
        batch
    }

    /// Closes it when it is dropped: the printing thread has ended, if only by a panic.
    pub(super) fn closer(self: &Arc<Self>) -> impl Drop + use<> {
        struct Closer(Arc<Queue>);
        impl Drop for Closer {
            fn drop(&mut self) {
                let mut state = self.0.lock();
                state.is_closed = true;
                // Who waits to hear of a message learns that nothing will be said.
                state.messages.clear();
                drop(state);
                self.0.freed.notify_all();
            }
        }
        Closer(Arc::clone(self))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn has_room(&self, bytes: usize) -> bool {
        self.messages.len() < Queue::MESSAGES_MAX && (self.bytes == 0 || self.bytes + bytes <= Queue::BYTES_MAX)
    }
}

impl Patience {
    const MAX: Duration = Duration::from_millis(250);
    /// Of this many parts of the time, one may be spent waiting.
    const PARTS: u32 = 20;

    fn refill(&mut self, now: Nanos) {
        let since = now.saturating_sub(self.refilled_at).as_duration();
        self.left = (self.left + since / Self::PARTS).min(Self::MAX);
        self.refilled_at = now;
    }
}

impl Default for Patience {
    fn default() -> Self {
        Self { left: Self::MAX, refilled_at: Clock::now() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::line::{Level, Line};

    fn line(bytes: usize) -> Message {
        let line = Line { level: Level::Info, message: "x".repeat(bytes), fields: Vec::new() };
        Message::Log { at: Nanos::ZERO, line, to_console_file: false }
    }

    #[test]
    fn lines_nobody_takes_are_dropped_and_counted() {
        const PART: usize = Queue::BYTES_MAX / 4;
        let queue = Queue::default();
        for _ in 0..7 {
            queue.push(line(PART));
        }
        // The summary is never dropped.
        queue.push(Message::Stdout(vec![0; PART]));
        let mut taken = Vec::new();
        let mut dropped = 0;
        while taken.len() < 5 {
            let batch = queue.take(Duration::ZERO);
            dropped += batch.dropped;
            taken.extend(batch.messages);
        }
        assert_eq!((taken.len(), dropped), (5, 3));
        assert!(matches!(taken.last(), Some(Message::Stdout(_))));
        // One that is longer than the limit is let through alone.
        queue.push(line(2 * Queue::BYTES_MAX));
        assert_eq!(queue.take(Duration::ZERO).messages.len(), 1);
    }

    #[test]
    fn who_waits_gets_the_room_that_is_made() {
        const LINES: usize = 40;
        let queue = Arc::new(Queue::default());
        let senders: Vec<_> = (0..4)
            .map(|_| {
                let queue = Arc::clone(&queue);
                std::thread::spawn(move || (0..LINES).for_each(|_| queue.push(line(Queue::BYTES_MAX / 4))))
            })
            .collect();
        let (mut taken, mut dropped) = (0, 0);
        while taken + dropped < 4 * LINES {
            let batch = queue.take(Duration::from_millis(10));
            taken += batch.messages.len();
            dropped += usize::try_from(batch.dropped).expect("few");
            assert!(queue.lock().bytes <= Queue::BYTES_MAX);
        }
        senders.into_iter().for_each(|sender| sender.join().expect("no panic"));
        assert!(taken >= 4, "{taken}");
    }

    #[test]
    fn waiting_is_rationed() {
        let mut patience = Patience { left: Duration::ZERO, refilled_at: Nanos::ZERO };
        patience.refill(Nanos::from_secs(1));
        assert_eq!(patience.left, Duration::from_millis(50));
        patience.refill(Nanos::from_secs(100));
        assert_eq!(patience.left, Patience::MAX);
    }

    #[test]
    fn frames_replace_each_other_and_nobody_waits_for_a_closed_queue() {
        let queue = Arc::new(Queue::default());
        for text in ["a", "b"] {
            queue.push(Message::Frame(vec![text.to_owned()]));
        }
        let batch = queue.take(Duration::ZERO);
        assert!(matches!(&batch.messages[..], [Message::Frame(frame)] if frame == &["b"]), "{:?}", batch.messages);
        queue.push(line(Queue::BYTES_MAX));
        drop(queue.closer());
        queue.push(line(Queue::BYTES_MAX));
        assert!(queue.take(Duration::ZERO).messages.is_empty());
    }
}
