//! The timer wheel: at most one timer per fiber, exact deadlines, constant-time changes.
//!
//! Hierarchical: six levels of 64 slots; a level-0 slot spans one tick (65.5 µs), a slot of each further level 64 times
//! as much. A timer lies at the level of the highest bits in which its tick differs from the current one and moves down
//! as time comes closer, so it is touched at most six times. Slots hold exact deadlines: ticks decide where a timer
//! lies, never when it fires.
//!
//! It knows nothing of fibers: a timer is a dense index. It reads no clock.

/// One tick is 2^16 ns = 65.536 µs: with a busy core's 10 µs per request, a slot holds the few timers that could run at
/// the same moment anyway.
const TICK_SHIFT: u32 = 16;
const SLOT_BITS: u32 = 6;
const SLOTS: usize = 1 << SLOT_BITS;
/// Six levels span 2^52 ns = 52 days; later timers wait in the last slot and are placed anew.
const LEVELS: usize = 6;
const SPAN_BITS: u32 = SLOT_BITS * LEVELS as u32;
/// No node; no slot.
const NONE: u32 = u32::MAX;
const UNARMED: u64 = u64::MAX;

/// A timer's place. `at` is `UNARMED` when it is in no slot.
#[derive(Clone, Copy)]
struct Node {
    at: u64,
    prev: u32,
    next: u32,
    slot: u32,
}

/// A circular list of nodes and a lower bound of their deadlines.
#[derive(Clone, Copy)]
struct Slot {
    head: u32,
    min: u64,
}

/// A timer that has fired: its deadline and its index.
pub(crate) type Fired = (u64, u32);

pub(crate) struct Wheel {
    nodes: Vec<Node>,
    slots: Box<[Slot; SLOTS * LEVELS]>,
    /// One bit per slot that is not empty.
    occupied: [u64; LEVELS],
    /// The tick up to which everything has fired.
    tick: u64,
}

impl Wheel {
    pub(crate) fn new() -> Wheel {
        Wheel {
            nodes: Vec::new(),
            slots: Box::new([Slot { head: NONE, min: UNARMED }; SLOTS * LEVELS]),
            occupied: [0; LEVELS],
            tick: 0,
        }
    }

    /// Makes room for timers below `len`.
    pub(crate) fn reserve(&mut self, len: usize) {
        if self.nodes.len() < len {
            self.nodes.resize(len, Node { at: UNARMED, prev: NONE, next: NONE, slot: NONE });
        }
    }

    /// The deadline of a timer, `u64::MAX` if it is not armed.
    #[inline]
    pub(crate) fn armed_at(&self, index: u32) -> u64 {
        self.nodes[index as usize].at
    }

    /// Arms a timer, or moves an armed one. `u64::MAX` disarms it.
    pub(crate) fn arm(&mut self, index: u32, at: u64) {
        self.disarm(index);
        if at != UNARMED {
            self.nodes[index as usize].at = at;
            self.link(index, at);
        }
    }

    /// Takes a timer out. Does nothing if it is not armed.
    pub(crate) fn disarm(&mut self, index: u32) {
        let Node { at, prev, next, slot } = self.nodes[index as usize];
        if at == UNARMED {
            return;
        }
        self.nodes[index as usize].at = UNARMED;
        if next == index {
            self.empty(slot as usize);
            return;
        }
        self.nodes[prev as usize].next = next;
        self.nodes[next as usize].prev = prev;
        let list = &mut self.slots[slot as usize];
        if list.head == index {
            list.head = next;
        }
    }

    /// No timer fires before this; `None` without timers.
    pub(crate) fn next_at(&self) -> Option<u64> {
        self.first_slot().map(|(slot, _)| self.slots[slot].min)
    }

    /// Moves time on to `now` and appends every timer with a deadline up to it, in order of deadlines (timers of equal
    /// deadline in the order they were armed, mostly).
    pub(crate) fn expire(&mut self, now: u64, fired: &mut Vec<Fired>) {
        let now_tick = now >> TICK_SHIFT;
        while let Some((slot, start)) = self.first_slot() {
            let is_current = slot < SLOTS && start == now_tick;
            if start > now_tick || is_current && self.slots[slot].min > now {
                break;
            }
            // Timers that stay are placed relative to this. A level-0 slot that is over moves time past it, so that a
            // timer held back at the end of the wheel's span finds its place.
            let past = u64::from(slot < SLOTS && !is_current);
            self.tick = self.tick.max(start + past);
            self.sweep(slot, now, fired);
            if is_current {
                break;
            }
        }
        self.tick = self.tick.max(now_tick);
    }

    /// Empties a slot: what is due fires, the rest is placed anew.
    fn sweep(&mut self, slot: usize, now: u64, fired: &mut Vec<Fired>) {
        let first_fired = fired.len();
        let head = self.slots[slot].head;
        self.empty(slot);
        let mut index = head;
        loop {
            let Node { at, next, .. } = self.nodes[index as usize];
            if at <= now {
                self.nodes[index as usize].at = UNARMED;
                fired.push((at, index));
            } else {
                self.link(index, at);
            }
            if next == head {
                break;
            }
            index = next;
        }
        fired[first_fired..].sort_by_key(|&(at, _)| at);
    }

    /// The slot with the earliest timers and its first tick.
    fn first_slot(&self) -> Option<(usize, u64)> {
        for level in 0..LEVELS {
            if self.occupied[level] == 0 {
                continue;
            }
            // Slots before the current position cannot be occupied: a timer lies where it differs from the current
            // tick, and it is not earlier.
            let position = self.occupied[level].trailing_zeros() as usize;
            let shift = SLOT_BITS * level as u32;
            let above = (self.tick >> shift) & !(SLOTS as u64 - 1);
            return Some((level * SLOTS + position, (above | position as u64) << shift));
        }
        None
    }

    fn link(&mut self, index: u32, at: u64) {
        // The last tick of the span the wheel can tell apart now.
        let last = self.tick | ((1 << SPAN_BITS) - 1);
        let tick = (at >> TICK_SHIFT).clamp(self.tick, last);
        let differing = tick ^ self.tick;
        let level = (differing.checked_ilog2().unwrap_or(0) / SLOT_BITS) as usize;
        let position = (tick >> (SLOT_BITS * level as u32)) as usize & (SLOTS - 1);
        let slot = level * SLOTS + position;

        let list = &mut self.slots[slot];
        list.min = list.min.min(at);
        self.occupied[level] |= 1 << position;
        let head = list.head;
        let node = if head == NONE {
            list.head = index;
            Node { at, prev: index, next: index, slot: slot as u32 }
        } else {
            let tail = self.nodes[head as usize].prev;
            self.nodes[head as usize].prev = index;
            self.nodes[tail as usize].next = index;
            Node { at, prev: tail, next: head, slot: slot as u32 }
        };
        self.nodes[index as usize] = node;
    }

    fn empty(&mut self, slot: usize) {
        self.slots[slot] = Slot { head: NONE, min: UNARMED };
        self.occupied[slot / SLOTS] &= !(1 << (slot % SLOTS));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    #[derive(Clone, Debug)]
    enum Step {
        Arm(u32, u64),
        Disarm(u32),
        Advance(u64),
    }

    const TIMERS: u32 = 24;

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        // Spans of every level, from within a tick to beyond the wheel's 52 days.
        let span = (0u32..56, any::<u64>()).prop_map(|(bits, r)| r & ((1 << bits) - 1));
        let step = prop_oneof![
            4 => (0..TIMERS, span.clone()).prop_map(|(i, d)| Step::Arm(i, d)),
            1 => (0..TIMERS).prop_map(Step::Disarm),
            3 => span.prop_map(Step::Advance),
        ];
        prop::collection::vec(step, 1..200)
    }

    proptest! {
        #[test]
        fn fires_what_a_sorted_set_would(steps in steps()) {
            let mut wheel = Wheel::new();
            wheel.reserve(TIMERS as usize);
            let mut model: BTreeSet<Fired> = BTreeSet::new();
            let mut now = 0u64;
            for step in steps {
                match step {
                    Step::Arm(i, span) => {
                        model.retain(|&(_, other)| other != i);
                        model.insert((now + span, i));
                        wheel.arm(i, now + span);
                    }
                    Step::Disarm(i) => {
                        model.retain(|&(_, other)| other != i);
                        wheel.disarm(i);
                    }
                    Step::Advance(span) => {
                        now += span;
                        let mut fired = Vec::new();
                        wheel.expire(now, &mut fired);
                        prop_assert!(fired.is_sorted_by_key(|&(at, _)| at));
                        fired.sort_unstable();
                        let due: Vec<Fired> = model.iter().copied().take_while(|t| t.0 <= now).collect();
                        model.retain(|t| t.0 > now);
                        prop_assert_eq!(fired, due);
                    }
                }
                let first = model.first().map(|t| t.0);
                // A bound: exact unless the earliest timer of a slot was disarmed.
                prop_assert_eq!(wheel.next_at().is_some(), first.is_some());
                prop_assert!(wheel.next_at() <= first);
                for i in 0..TIMERS {
                    let at = model.iter().find(|t| t.1 == i).map_or(UNARMED, |t| t.0);
                    prop_assert_eq!(wheel.armed_at(i), at);
                }
            }
        }
    }

    #[test]
    fn equal_deadlines_fire_in_the_order_they_were_armed() {
        let mut wheel = Wheel::new();
        wheel.reserve(100);
        for i in 0..100 {
            wheel.arm(i, 5_000_000_000);
        }
        let mut fired = Vec::new();
        wheel.expire(4_999_999_999, &mut fired);
        assert!(fired.is_empty());
        wheel.expire(5_000_000_000, &mut fired);
        assert!(fired.iter().map(|f| f.1).eq(0..100));
    }

    #[test]
    fn waiting_for_the_bound_makes_progress() {
        // After the earliest timer of a slot is gone the bound is early; acting on it corrects it.
        let mut wheel = Wheel::new();
        wheel.reserve(2);
        wheel.arm(0, 1_000_000_000);
        wheel.arm(1, 1_000_000_900);
        wheel.disarm(0);
        let mut fired = Vec::new();
        let mut waits = 0;
        while let Some(at) = wheel.next_at() {
            wheel.expire(at, &mut fired);
            waits += 1;
        }
        assert_eq!(fired, [(1_000_000_900, 1)]);
        assert_eq!(waits, 2);
    }
}
