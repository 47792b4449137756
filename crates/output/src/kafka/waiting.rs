//! Messages that wait to be sent, in batches, and what became of those before: shared by the outputs' thread, which never waits for
//! it, and the one that sends.

use std::{
    collections::VecDeque,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use onrush_kafka::Outgoing;

use crate::Undelivered;

/// Messages and their number that wait at most, those that are being sent included.
const BYTES_MAX: usize = 128 << 20;
/// What each takes here beside its bytes.
const MARK_BYTES: usize = size_of::<Mark>();
/// Of a batch. With what a record takes besides it is below the 1 MiB that brokers accept by default.
const BATCH_BYTES: usize = 512 << 10;
const BATCH_MESSAGES: usize = 10_000;

/// Messages for one partition.
#[derive(Default)]
pub(super) struct Batch {
    text: Vec<u8>,
    marks: Vec<Mark>,
}

/// Where a message ends, and when its sample was taken.
struct Mark {
    end: usize,
    unix_ms: i64,
}

/// A batch that can be sent again and again.
pub(super) struct Parcel {
    text: Bytes,
    marks: Vec<Mark>,
}

/// Cheap to clone.
#[derive(Clone, Default)]
pub(super) struct Waiting(Arc<Shared>);

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    /// There is something to send.
    filled: Condvar,
    /// Something was settled.
    settled: Condvar,
}

#[derive(Default)]
struct State {
    batches: VecDeque<Batch>,
    bytes: usize,
    is_closed: bool,
    is_given_up: bool,
    /// All messages that were put.
    put: u64,
    /// Those whose end is known.
    settled: u64,
    report: Undelivered,
    /// The one that is being sent.
    in_hand: Option<InHand>,
}

/// How it stands with a batch.
struct InHand {
    messages: u64,
    /// It went out, and whether it was written is not known.
    is_out: bool,
}

impl Waiting {
    /// Adds a message, or counts it where there is no room for it. Without bytes there was no way to say it.
    pub(super) fn put(&self, message: &[u8], unix_ms: i64) {
        let mut state = self.state();
        state.put += 1;
        let room = message.len() + MARK_BYTES;
        let has_room = state.bytes + room <= BYTES_MAX && !state.is_closed;
        if message.is_empty() || !has_room {
            state.settled += 1;
            state.report.lacking += 1;
            if message.is_empty() {
                state.report.unspeakable += 1;
            } else {
                state.report.overflowed += 1;
            }
            return;
        }
        state.bytes += room;
        let is_new = state.batches.back().is_none_or(|last| !last.takes(message.len()));
        if is_new {
            state.batches.push_back(Batch::default());
        }
        if let Some(last) = state.batches.back_mut() {
            last.text.extend_from_slice(message);
            last.marks.push(Mark { end: last.text.len(), unix_ms });
        }
        if is_new && state.batches.len() > 1 {
            self.0.filled.notify_one();
        }
    }

    /// Nothing more comes.
    pub(super) fn close(&self) {
        self.state().is_closed = true;
        self.0.filled.notify_one();
    }

    /// The next batch: a full one, or after `interval` what there is. Nothing at the end.
    pub(super) fn next(&self, interval: Duration) -> Option<Parcel> {
        let mut state = self.state();
        loop {
            let waits = |state: &mut State| state.batches.len() < 2 && !state.is_closed;
            let waited = self.0.filled.wait_timeout_while(state, interval, waits);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
            if state.is_given_up {
                return None;
            }
            if let Some(Batch { text, marks }) = state.batches.pop_front() {
                state.in_hand = Some(InHand { messages: marks.len() as u64, is_out: false });
                return Some(Parcel { text: text.into(), marks });
            }
            if state.is_closed {
                return None;
            }
        }
    }

    /// Whether nobody waits for what is sent any more.
    pub(super) fn is_given_up(&self) -> bool {
        self.state().is_given_up
    }

    /// The batch is about to be sent.
    pub(super) fn goes_out(&self) {
        if let Some(in_hand) = &mut self.state().in_hand {
            in_hand.is_out = true;
        }
    }

    /// It came back: whether it may have been written, and why.
    pub(super) fn came_back(&self, may_be_written: bool, why: &str) {
        let mut state = self.state();
        if let Some(in_hand) = &mut state.in_hand {
            in_hand.is_out = may_be_written;
        }
        state.report.why = Some(why.to_owned());
    }

    /// It was taken. `is_repeated`: it had gone out before.
    pub(super) fn taken(&self, parcel: &Parcel, is_repeated: bool) {
        let mut state = self.state();
        if is_repeated {
            state.report.repeated += parcel.marks.len() as u64;
        }
        self.settle(&mut state, parcel);
    }

    /// Nobody will take it. `is_unconfirmed`: it may have been written.
    pub(super) fn lost(&self, parcel: &Parcel, is_unconfirmed: bool) {
        let mut state = self.state();
        // Whoever gave up has counted it.
        if !state.is_given_up {
            state.report.lacking += parcel.marks.len() as u64;
            if is_unconfirmed {
                state.report.unconfirmed += parcel.marks.len() as u64;
            }
        }
        self.settle(&mut state, parcel);
    }

    fn settle(&self, state: &mut State, parcel: &Parcel) {
        state.in_hand = None;
        state.bytes -= parcel.text.len() + parcel.marks.len() * MARK_BYTES;
        state.settled += parcel.marks.len() as u64;
        self.0.settled.notify_all();
    }

    /// Messages whose end is not known.
    pub(super) fn left(&self) -> u64 {
        let state = self.state();
        state.put - state.settled
    }

    /// The same as soon as it is not `left`, or after a while.
    pub(super) fn left_after(&self, left: u64, patience: Duration) -> u64 {
        let is_same = |state: &mut State| state.put - state.settled == left;
        let waited = self.0.settled.wait_timeout_while(self.state(), patience, is_same);
        let state = waited.unwrap_or_else(PoisonError::into_inner).0;
        state.put - state.settled
    }

    /// Nothing more is sent: what is left is lacking.
    pub(super) fn give_up(&self, name: String) -> Undelivered {
        let mut state = self.state();
        state.is_given_up = true;
        let left = state.put - state.settled;
        let unconfirmed = state.in_hand.as_ref().filter(|in_hand| in_hand.is_out).map_or(0, |in_hand| in_hand.messages);
        let report = state.report.clone();
        Undelivered {
            name,
            of: state.put,
            lacking: report.lacking + left,
            unconfirmed: report.unconfirmed + unconfirmed,
            ..report
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Batch {
    /// Whether a message of so many bytes still belongs in it.
    fn takes(&self, bytes: usize) -> bool {
        self.marks.len() < BATCH_MESSAGES && self.text.len() + bytes <= BATCH_BYTES
    }
}

impl Parcel {
    /// Its messages for a partition.
    pub(super) fn messages(&self, partition: i32) -> Vec<Outgoing> {
        let mut start = 0;
        let message = |mark: &Mark| {
            let value = self.text.slice(start..mark.end);
            start = mark.end;
            let (partition, time_ms) = (Some(partition), Some(mark.unix_ms));
            Outgoing { partition, time_ms, value: Some(value), ..Outgoing::default() }
        };
        self.marks.iter().map(message).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waits_is_limited_and_counted() {
        let waiting = Waiting::default();
        let message = vec![b'x'; 1 << 20];
        for number in 0..130 {
            waiting.put(&message, number);
        }
        waiting.put(&[], 0);
        // A message larger than a batch is one.
        let parcel = waiting.next(Duration::ZERO).expect("a batch");
        assert_eq!(parcel.messages(3).len(), 1);
        waiting.taken(&parcel, false);
        waiting.put(b"small", 7);
        waiting.put(b"small", 8);
        waiting.close();
        waiting.put(b"late", 9);
        let mut sizes = Vec::new();
        while let Some(parcel) = waiting.next(Duration::ZERO) {
            sizes.push(parcel.messages(0).len());
            waiting.taken(&parcel, sizes.len() == 1);
        }
        assert_eq!((sizes.len(), sizes.last()), (127, Some(&2)));
        assert_eq!(waiting.left(), 0);
        let end = waiting.give_up("k".to_owned());
        // 130 and 4; of the large ones 127 have room for what they take besides.
        assert_eq!((end.of, end.lacking, end.overflowed, end.unspeakable, end.repeated), (134, 5, 4, 1, 1));
    }

    #[test]
    fn a_batch_that_is_out_at_the_end_may_be_there() {
        let waiting = Waiting::default();
        (0..3).for_each(|number| waiting.put(b"one", number));
        waiting.close();
        let parcel = waiting.next(Duration::ZERO).expect("a batch");
        let messages = parcel.messages(1);
        assert_eq!(messages[2].value.as_deref(), Some(&b"one"[..]));
        assert_eq!((messages[2].time_ms, messages[2].partition), (Some(2), Some(1)));
        waiting.goes_out();
        let end = waiting.give_up(String::new());
        assert_eq!((end.of, end.lacking, end.unconfirmed), (3, 3, 3));
        assert!(waiting.is_given_up());
        waiting.lost(&parcel, true);
        assert_eq!((waiting.left(), waiting.give_up(String::new()).lacking), (0, 0));
    }
}
