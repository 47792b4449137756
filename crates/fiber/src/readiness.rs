//! What is known about each registered socket, and which fibers wait for it.
//!
//! Sockets are registered edge-triggered once, so the kernel tells of every change and never repeats itself; the bits
//! here remember it until an attempt to read or write says "not now".

use crate::fiber::FiberId;

/// Bytes (or the end of the stream) may be there to read.
pub(crate) const READABLE: u8 = 1;
/// The socket takes bytes.
pub(crate) const WRITABLE: u8 = 2;
/// The peer has closed its side, or the connection broke. Never cleared.
pub(crate) const CLOSED: u8 = 4;

/// Which way a fiber waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Read,
    Write,
}

impl Direction {
    /// The bits that end the wait.
    pub(crate) fn bits(self) -> u8 {
        match self {
            Direction::Read => READABLE | CLOSED,
            Direction::Write => WRITABLE | BROKEN,
        }
    }
}

/// Both directions are dead (reset, or a failed connect). Never cleared.
pub(crate) const BROKEN: u8 = 8;

#[derive(Clone, Copy)]
struct Slot {
    generation: u32,
    bits: u8,
    reader: FiberId,
    writer: FiberId,
}

/// The sockets of a reactor, by token.
#[derive(Default)]
pub(crate) struct Readiness {
    slots: Vec<Slot>,
    free: Vec<u32>,
    next_generation: u32,
}

/// Names a registered socket: slot and generation, so a late event for a closed one is ignored.
pub(crate) type Token = u64;

impl Readiness {
    /// `seed` makes the tokens of different reactors differ.
    pub(crate) fn new(seed: u32) -> Readiness {
        Readiness { next_generation: seed, ..Readiness::default() }
    }

    pub(crate) fn insert(&mut self) -> Token {
        let generation = self.next_generation;
        self.next_generation = generation.wrapping_add(1);
        let slot = Slot { generation, bits: 0, reader: FiberId::NONE, writer: FiberId::NONE };
        let index = match self.free.pop() {
            Some(index) => {
                self.slots[index as usize] = slot;
                index
            }
            None => {
                self.slots.push(slot);
                u32::try_from(self.slots.len() - 1).expect("descriptors are 31 bits wide")
            }
        };
        u64::from(generation) << 32 | u64::from(index)
    }

    pub(crate) fn remove(&mut self, token: Token) {
        if let Some(slot) = self.find(token) {
            slot.generation = slot.generation.wrapping_sub(1);
            slot.reader = FiberId::NONE;
            slot.writer = FiberId::NONE;
            self.free.push(token as u32);
        }
    }

    /// Records what the kernel said; returns the fibers to wake.
    pub(crate) fn event(&mut self, token: Token, epoll_bits: u32) -> [FiberId; 2] {
        const IN: u32 = (libc::EPOLLIN | libc::EPOLLPRI) as u32;
        const OUT: u32 = libc::EPOLLOUT as u32;
        const CLOSE: u32 = (libc::EPOLLRDHUP | libc::EPOLLHUP | libc::EPOLLERR) as u32;
        const BREAK: u32 = (libc::EPOLLHUP | libc::EPOLLERR) as u32;

        let mut bits = 0;
        for (mask, bit) in [(IN, READABLE), (OUT, WRITABLE), (CLOSE, CLOSED), (BREAK, BROKEN)] {
            if epoll_bits & mask != 0 {
                bits |= bit;
            }
        }
        let Some(slot) = self.find(token) else {
            return [FiberId::NONE; 2];
        };
        slot.bits |= bits;
        let woken = |direction: Direction, waiter| {
            if bits & direction.bits() != 0 { waiter } else { FiberId::NONE }
        };
        [woken(Direction::Read, slot.reader), woken(Direction::Write, slot.writer)]
    }

    /// The bits of a socket; those of a broken one if the token is not (or no longer) known.
    #[inline]
    pub(crate) fn bits(&mut self, token: Token) -> u8 {
        self.find(token).map_or(CLOSED | BROKEN, |slot| slot.bits)
    }

    #[inline]
    pub(crate) fn set(&mut self, token: Token, bits: u8) {
        if let Some(slot) = self.find(token) {
            slot.bits |= bits;
        }
    }

    #[inline]
    pub(crate) fn clear(&mut self, token: Token, bits: u8) {
        if let Some(slot) = self.find(token) {
            slot.bits &= !bits;
        }
    }

    /// Makes `fiber` the one to wake. False if another one is that already, or the token is unknown.
    pub(crate) fn wait(&mut self, token: Token, direction: Direction, fiber: FiberId) -> bool {
        let Some(waiter) = self.waiter(token, direction) else {
            return false;
        };
        let free = *waiter == FiberId::NONE || *waiter == fiber;
        if free {
            *waiter = fiber;
        }
        free
    }

    pub(crate) fn unwait(&mut self, token: Token, direction: Direction) {
        if let Some(waiter) = self.waiter(token, direction) {
            *waiter = FiberId::NONE;
        }
    }

    fn waiter(&mut self, token: Token, direction: Direction) -> Option<&mut FiberId> {
        self.find(token).map(|slot| match direction {
            Direction::Read => &mut slot.reader,
            Direction::Write => &mut slot.writer,
        })
    }

    #[inline]
    fn find(&mut self, token: Token) -> Option<&mut Slot> {
        // The low half is the index, the high half the generation.
        let slot = self.slots.get_mut(token as u32 as usize)?;
        (slot.generation == (token >> 32) as u32).then_some(slot)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closed_sockets_events_reach_nobody() {
        let mut sockets = Readiness::new(7);
        let first = sockets.insert();
        let fiber = FiberId { index: 1, generation: 1 };
        assert!(sockets.wait(first, Direction::Read, fiber));
        assert!(sockets.wait(first, Direction::Read, fiber), "it may ask twice");
        let other = FiberId { index: 2, generation: 1 };
        assert!(!sockets.wait(first, Direction::Read, other), "one reader at a time");
        sockets.remove(first);
        assert_eq!(sockets.event(first, libc::EPOLLIN as u32), [FiberId::NONE; 2]);
        let second = sockets.insert();
        assert_eq!(first as u32, second as u32, "the slot is reused");
        assert_eq!(sockets.event(first, libc::EPOLLIN as u32), [FiberId::NONE; 2]);
        assert_eq!(sockets.bits(second), 0);
    }

    #[test]
    fn events_wake_the_side_they_concern() {
        let mut sockets = Readiness::new(0);
        let token = sockets.insert();
        let reader = FiberId { index: 1, generation: 1 };
        let writer = FiberId { index: 2, generation: 1 };
        assert!(sockets.wait(token, Direction::Read, reader));
        assert!(sockets.wait(token, Direction::Write, writer));
        let mut check = |bits: i32, expect: [FiberId; 2]| {
            assert_eq!(sockets.event(token, bits as u32), expect, "{bits:#x}");
        };
        check(libc::EPOLLIN, [reader, FiberId::NONE]);
        check(libc::EPOLLOUT, [FiberId::NONE, writer]);
        check(libc::EPOLLRDHUP, [reader, FiberId::NONE]);
        check(libc::EPOLLHUP, [reader, writer]);
        check(libc::EPOLLERR, [reader, writer]);
        assert_eq!(sockets.bits(token), READABLE | WRITABLE | CLOSED | BROKEN);
    }
}
