//! Messages in order and once, over a way that loses, repeats or reorders them: one side of a connection as a pure
//! state machine. What is not acknowledged is sent again.
//!
//! A connection within a process or over a pipe needs none of this. One that may break and be made again does
//! ([`Link::over_stream`]).

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    time::Duration,
};

use serde::{Deserialize, Serialize};

use crate::protocol::Time;

/// What goes over the way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Frame<T> {
    /// The message's number, from 1; 0 where there is none.
    pub number: u64,
    /// All messages of the other side up to this number have come.
    pub acknowledged: u64,
    /// The message.
    pub message: Option<T>,
}

/// One side: sends `S` and receives `R`.
#[derive(Debug)]
pub struct Link<S, R> {
    /// Not acknowledged yet, by rising number.
    waiting: VecDeque<Waiting<S>>,
    last_number: u64,
    /// All of the other side's messages up to this number were handed on.
    received: u64,
    /// Those that came before one that is missing.
    early: BTreeMap<u64, R>,
    /// Where messages are acknowledged only once they were dealt with.
    confirmed: Option<Confirmed>,
    /// The other side must be told what has come.
    owes: bool,
    said_at: Time,
    heard_at: Time,
    /// After how long what is not acknowledged is sent again; `None`: the way loses nothing while it lasts.
    resend_after: Option<Duration>,
}

/// Which messages were dealt with.
#[derive(Debug, Default)]
struct Confirmed {
    /// All up to this number.
    up_to: u64,
    /// Later ones.
    beyond: BTreeSet<u64>,
}

#[derive(Debug)]
struct Waiting<S> {
    number: u64,
    message: S,
    sent_at: Option<Time>,
}

impl<S: Clone, R> Link<S, R> {
    /// What is not acknowledged for so long is sent again.
    pub const RESEND_AFTER: Duration = Duration::from_millis(250);
    /// Whoever has nothing to say says so this often.
    pub const HEARTBEAT: Duration = Duration::from_millis(500);
    /// Messages under way at once. Later ones wait at the sender.
    pub const WINDOW: usize = 256;

    /// A side that begins now.
    pub fn new(now: Time) -> Self {
        Self {
            waiting: VecDeque::new(),
            last_number: 0,
            received: 0,
            early: BTreeMap::new(),
            confirmed: None,
            owes: false,
            said_at: now,
            heard_at: now,
            resend_after: Some(Self::RESEND_AFTER),
        }
    }

    /// The same over a way that keeps order and loses nothing until it breaks, such as TCP.
    pub fn over_stream(now: Time) -> Self {
        Self { resend_after: None, ..Self::new(now) }
    }

    /// The same, of which each message is acknowledged when it was dealt with ([`Link::confirm`]) instead of when it came: until
    /// then it lives at the sender.
    #[must_use]
    pub fn confirming(mut self) -> Self {
        self.confirmed = Some(Confirmed { up_to: self.received, beyond: BTreeSet::new() });
        self
    }

    /// A side that ended and begins again where it was: it has dealt with so many messages of the other side, and had sent these, of
    /// which the other side says what has come.
    #[must_use]
    pub fn resumed(mut self, received: u64, sent: impl IntoIterator<Item = S>) -> Self {
        (self.received, self.owes) = (received, true);
        sent.into_iter().for_each(|message| self.send(message));
        self
    }

    /// The message of this number was dealt with, and what came of it will last.
    pub fn confirm(&mut self, number: u64) {
        let Some(confirmed) = self.confirmed.as_mut().filter(|confirmed| number > confirmed.up_to) else { return };
        confirmed.beyond.insert(number);
        while confirmed.beyond.remove(&(confirmed.up_to + 1)) {
            confirmed.up_to += 1;
            self.owes = true;
        }
    }

    /// Messages of the other side that were handed on; the last has this number.
    pub fn received(&self) -> u64 {
        self.received
    }

    /// What the other side has not acknowledged, with its numbers.
    pub fn unacknowledged(&self) -> impl Iterator<Item = (u64, &S)> {
        self.waiting.iter().map(|waiting| (waiting.number, &waiting.message))
    }

    /// Whether the other side's messages with these numbers are the next ones, in this order, and none of them came already.
    pub fn continues(&self, numbers: impl IntoIterator<Item = u64>) -> bool {
        let mut numbers = numbers.into_iter().zip(self.received + 1..);
        numbers.all(|(number, next)| number == next && !self.early.contains_key(&number))
    }

    /// The way broke and was made again: what is not acknowledged may be lost.
    pub fn restart(&mut self) {
        self.waiting.iter_mut().for_each(|waiting| waiting.sent_at = None);
        self.owes = true;
    }

    /// Takes a message to be sent.
    pub fn send(&mut self, message: S) {
        self.last_number += 1;
        self.waiting.push_back(Waiting { number: self.last_number, message, sent_at: None });
    }

    /// Messages that were not acknowledged yet: what a sender must bound.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// When the other side was heard last.
    pub fn heard_at(&self) -> Time {
        self.heard_at
    }

    /// What is to go over the way now.
    pub fn frames(&mut self, now: Time) -> Vec<Frame<S>> {
        let acknowledged = self.confirmed.as_ref().map_or(self.received, |confirmed| confirmed.up_to);
        let mut frames = Vec::new();
        for waiting in self.waiting.iter_mut().take(Self::WINDOW) {
            let is_late = |at: Time| self.resend_after.is_some_and(|after| now.since(at) >= after);
            if waiting.sent_at.is_none_or(is_late) {
                waiting.sent_at = Some(now);
                let message = Some(waiting.message.clone());
                frames.push(Frame { number: waiting.number, acknowledged, message });
            }
        }
        if frames.is_empty() && (self.owes || now.since(self.said_at) >= Self::HEARTBEAT) {
            frames.push(Frame { number: 0, acknowledged, message: None });
        }
        if !frames.is_empty() {
            self.owes = false;
            self.said_at = now;
        }
        frames
    }

    /// Takes what came over the way; returns the messages whose turn it is.
    pub fn receive(&mut self, frame: Frame<R>, now: Time) -> Vec<R> {
        self.heard_at = self.heard_at.max(now);
        while self.waiting.pop_front_if(|waiting| waiting.number <= frame.acknowledged).is_some() {}
        let Some(message) = frame.message else { return Vec::new() };
        // What came before is acknowledged again: the answer may have been lost.
        self.owes = true;
        let is_known = frame.number <= self.received || frame.number > self.received + Self::WINDOW as u64;
        if !is_known {
            self.early.entry(frame.number).or_insert(message);
        }
        let mut messages = Vec::new();
        while let Some(message) = self.early.remove(&(self.received + 1)) {
            self.received += 1;
            messages.push(message);
        }
        messages
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(ms: u64) -> Time {
        Time(ms * 1_000_000)
    }

    #[test]
    fn what_is_lost_is_sent_again_and_what_comes_twice_counts_once() {
        let (mut a, mut b) = (Link::<u32, u32>::new(at(0)), Link::<u32, u32>::new(at(0)));
        a.send(1);
        a.send(2);
        let frames = a.frames(at(0));
        assert_eq!(frames.len(), 2);
        // The first is lost, the second comes twice.
        assert_eq!(b.receive(frames[1].clone(), at(1)), [0_u32; 0]);
        assert_eq!(b.receive(frames[1].clone(), at(1)), [0_u32; 0]);
        assert!(a.frames(at(100)).is_empty(), "not yet");
        let again = a.frames(at(250));
        assert_eq!(b.receive(again[0].clone(), at(251)), [1, 2]);
        assert_eq!(b.receive(again[1].clone(), at(251)), [0_u32; 0]);
        let answer = b.frames(at(252));
        assert_eq!((answer.len(), answer[0].acknowledged), (1, 2));
        a.receive(answer[0].clone(), at(253));
        assert_eq!(a.waiting(), 0);
    }

    #[test]
    fn whoever_has_nothing_to_say_says_so() {
        let mut a = Link::<u32, u32>::new(at(0));
        assert!(a.frames(at(499)).is_empty());
        assert_eq!(a.frames(at(500)), [Frame { number: 0, acknowledged: 0, message: None }]);
        assert!(a.frames(at(600)).is_empty());
    }

    #[test]
    fn what_was_not_dealt_with_lives_at_the_sender() {
        let mut agent = Link::<u32, u32>::over_stream(at(0));
        let mut hub = Link::<u32, u32>::new(at(0)).confirming();
        (1..=3).for_each(|n| agent.send(n));
        hub.send(7);
        let came: Vec<u32> = agent.frames(at(0)).into_iter().flat_map(|frame| hub.receive(frame, at(1))).collect();
        assert_eq!(came, [1, 2, 3]);
        for (number, acknowledged) in [(3, 0), (1, 1), (1, 1)] {
            hub.confirm(number);
            let frames = hub.frames(at(2));
            assert!(frames.iter().all(|frame| frame.acknowledged == acknowledged), "{frames:?}");
            frames.into_iter().for_each(|frame| drop(agent.receive(frame, at(3))));
        }
        assert_eq!(agent.unacknowledged().collect::<Vec<_>>(), [(2, &2), (3, &3)]);

        // It ends, and another goes on that knows of the first message alone.
        let mut hub = Link::<u32, u32>::new(at(9)).resumed(1, [7]).confirming();
        agent.restart();
        let came: Vec<u32> = agent.frames(at(10)).into_iter().flat_map(|frame| hub.receive(frame, at(11))).collect();
        assert_eq!(came, [2, 3]);
        assert_eq!(hub.frames(at(12)), [Frame { number: 0, acknowledged: 1, message: None }], "the agent has the 7");
        hub.confirm(2);
        hub.confirm(3);
        hub.frames(at(13)).into_iter().for_each(|frame| assert_eq!(agent.receive(frame, at(14)), [0_u32; 0]));
        assert_eq!((agent.waiting(), hub.waiting(), hub.received()), (0, 0, 3));
    }

    #[test]
    fn what_continues_is_all_that_comes_next() {
        let mut hub = Link::<u32, u32>::over_stream(at(0));
        let frame = |number: u64| Frame { number, acknowledged: 0, message: Some(0) };
        hub.receive(frame(1), at(0));
        assert!(hub.continues([2, 3]) && hub.continues([]));
        assert!(!hub.continues([1, 2]) && !hub.continues([3]) && !hub.continues([2, 4]));
        hub.receive(frame(3), at(0));
        assert!(hub.continues([2]) && !hub.continues([2, 3]), "3 came another way");
    }

    #[test]
    fn over_a_stream_only_a_break_makes_it_send_again() {
        let (mut a, mut b) = (Link::<u32, u32>::over_stream(at(0)), Link::<u32, u32>::over_stream(at(0)));
        a.send(1);
        a.send(2);
        let first = a.frames(at(0));
        assert_eq!(b.receive(first[0].clone(), at(1)), [1]);
        assert_eq!(a.frames(at(60_000)), [Frame { number: 0, acknowledged: 0, message: None }], "a sign of life");
        // The second is lost with the connection, and what acknowledges the first as well.
        a.restart();
        b.restart();
        assert_eq!(b.frames(at(60_001)), [Frame { number: 0, acknowledged: 1, message: None }]);
        let again = a.frames(at(60_001));
        assert_eq!(again.len(), 2);
        let came: Vec<u32> = again.into_iter().flat_map(|frame| b.receive(frame, at(60_002))).collect();
        assert_eq!(came, [2]);
    }

    proptest! {
        /// Any way that lets something through at last delivers everything once and in order, both ways.
        #[test]
        fn all_comes_once_and_in_order(fates in prop::collection::vec(0_u8..6, 0..400), counts in (0_usize..600, 0_usize..40)) {
            let (mut a, mut b) = (Link::<usize, usize>::new(at(0)), Link::<usize, usize>::new(at(0)));
            (0..counts.0).for_each(|n| a.send(n));
            (0..counts.1).for_each(|n| b.send(n));
            let mut fates = fates.into_iter();
            let (mut to_a, mut to_b) = (Vec::new(), Vec::new());
            let (mut got_a, mut got_b) = (Vec::new(), Vec::new());
            let mut now = 0;
            while a.waiting() + b.waiting() > 0 {
                now += 100;
                prop_assert!(now < 1_000_000, "it does not end");
                // Lost, doubled, last before first, or as sent.
                let mut travel = |frames: Vec<Frame<usize>>, way: &mut Vec<Frame<usize>>| {
                    for frame in frames {
                        match fates.next().unwrap_or(5) {
                            0 | 1 => {}
                            2 => way.extend([frame.clone(), frame]),
                            3 => way.insert(0, frame),
                            _ => way.push(frame),
                        }
                    }
                };
                travel(a.frames(at(now)), &mut to_b);
                travel(b.frames(at(now)), &mut to_a);
                to_b.drain(..).for_each(|frame| got_b.extend(b.receive(frame, at(now))));
                to_a.drain(..).for_each(|frame| got_a.extend(a.receive(frame, at(now))));
            }
            prop_assert!(got_b.into_iter().eq(0..counts.0) && got_a.into_iter().eq(0..counts.1));
        }
    }
}
