//! Who runs next: the fibers' records, the ready queue, the timers.
//!
//! Bookkeeping only: it switches no stack, and reads the clock only to tell how late a timer's fiber runs. `reactor`
//! drives it.
//!
//! ```text
//! spawn ─► Ready ─► Running ─► (ends)
//!            ▲         │ park, sleep, yield
//!            └─ Parked / Sleeping
//!   unpark (Parked only), deadline, cancel
//! ```
//!
//! **Deadlines are lazy.** A fiber owns at most one timer, and waking up leaves it armed. A new
//! wait moves it only if its own deadline is earlier; a timer that fires too early for the wait it
//! finds is armed again. So the 60 s timeout of a request that takes a millisecond costs nothing
//! from the second request on.

use std::collections::VecDeque;

use crate::{
    clock::{Clock, Nanos},
    copies::Copies,
    fiber::{Fiber, FiberId, Hooks, Reason, State, Woke},
    stack::{SavedStack, StackIdx},
    stats::{Lag, Stats},
    wheel::{Fired, Wheel},
};

pub(crate) struct Sched {
    fibers: Vec<Fiber>,
    /// Records without a fiber.
    free: Vec<u32>,
    /// Where the saved stacks of the fibers lie.
    copies: Copies,
    ready: VecDeque<u32>,
    /// Those that yielded and are not in the ready queue, where there is at most one that did: each may run for long,
    /// so between two of them all others that are ready have their turn.
    yielded: VecDeque<u32>,
    /// One that yielded is in the ready queue.
    is_turn_given: bool,
    wheel: Wheel,
    /// No timer is due before this.
    wake_at: Nanos,
    /// The last instant the reactor looked at the clock.
    now: Nanos,
    /// The next fiber's generation: never twice the same, so an id cannot name a later fiber.
    next_generation: u32,
    /// Reused by `fire`.
    fired: Vec<Fired>,
    counters: Counters,
}

#[derive(Default)]
struct Counters {
    switches: u64,
    max_saved_bytes: usize,
    saved_bytes_total: usize,
    lag: Lag,
    ready_queue_max: usize,
}

/// What a fiber asks for when it suspends itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    Park,
    Sleep,
    Yield,
}

impl Sched {
    /// `seed` makes the ids of different reactors differ.
    pub(crate) fn new(seed: u32) -> Sched {
        Sched {
            fibers: Vec::new(),
            free: Vec::new(),
            copies: Copies::new(),
            ready: VecDeque::new(),
            yielded: VecDeque::new(),
            is_turn_given: false,
            wheel: Wheel::new(),
            wake_at: Nanos::MAX,
            now: Nanos::ZERO,
            next_generation: seed,
            fired: Vec::new(),
            counters: Counters::default(),
        }
    }

    // Life cycle.

    pub(crate) fn spawn(&mut self, hooks: Option<Hooks>, entry: Box<dyn FnOnce()>) -> FiberId {
        let generation = self.next_generation;
        self.next_generation = generation.wrapping_add(1);
        let fiber = Fiber {
            entry: Some(entry),
            hooks,
            saved: SavedStack::EMPTY,
            rests: false,
            sp: 0,
            stack: StackIdx::SHARED,
            deadline: Nanos::MAX,
            generation,
            state: State::Ready,
            reason: Reason::Start,
            permit: false,
            cancelled: false,
        };
        let index = match self.free.pop() {
            Some(index) => {
                self.fibers[index as usize] = fiber;
                index
            }
            None => {
                let index = u32::try_from(self.fibers.len()).expect("2^32 fibers would need 400 GB for their records");
                self.fibers.push(fiber);
                self.wheel.reserve(self.fibers.len());
                index
            }
        };
        self.push_ready(index);
        FiberId { index, generation }
    }

    /// Ends the running fiber `index`.
    pub(crate) fn end(&mut self, index: u32) {
        let fiber = &mut self.fibers[index as usize];
        debug_assert_eq!(fiber.state, State::Running);
        fiber.state = State::Free;
        fiber.hooks = None;
        self.counters.saved_bytes_total -= fiber.saved.release(&mut self.copies);
        self.wheel.disarm(index);
        self.free.push(index);
    }

    pub(crate) fn alive(&self) -> usize {
        self.fibers.len() - self.free.len()
    }

    pub(crate) fn is_alive(&self, id: FiberId) -> bool {
        self.find(id).is_some()
    }

    /// The ids of all fibers alive.
    pub(crate) fn ids(&self) -> Vec<FiberId> {
        let alive = self.fibers.iter().enumerate().filter(|(_, f)| f.state != State::Free);
        // An index fits: `spawn` made it.
        alive.map(|(i, f)| FiberId { index: i as u32, generation: f.generation }).collect()
    }

    pub(crate) fn id(&self, index: u32) -> FiberId {
        FiberId { index, generation: self.fibers[index as usize].generation }
    }

    // From outside of the fiber.

    pub(crate) fn unpark(&mut self, id: FiberId) {
        let Some(fiber) = self.find_mut(id) else {
            return;
        };
        match fiber.state {
            State::Parked => {
                fiber.state = State::Ready;
                fiber.reason = Reason::Unpark;
                self.push_ready(id.index);
            }
            // As with `std::thread::unpark`: it is about to see the first one.
            State::Ready if fiber.reason == Reason::Unpark => {}
            State::Ready | State::Running | State::Sleeping => fiber.permit = true,
            State::Free => {}
        }
    }

    pub(crate) fn cancel(&mut self, id: FiberId) {
        let Some(fiber) = self.find_mut(id) else {
            return;
        };
        fiber.cancelled = true;
        if matches!(fiber.state, State::Parked | State::Sleeping) {
            fiber.state = State::Ready;
            fiber.reason = Reason::Cancel;
            self.push_ready(id.index);
        }
    }

    // From the fiber itself.

    pub(crate) fn is_cancelled(&self, index: u32) -> bool {
        self.fibers[index as usize].cancelled
    }

    pub(crate) fn clear_cancel(&mut self, index: u32) {
        self.fibers[index as usize].cancelled = false;
    }

    pub(crate) fn take_entry(&mut self, index: u32) -> Option<Box<dyn FnOnce()>> {
        self.fibers[index as usize].entry.take()
    }

    /// The running fiber wants to wait. Returns why it need not, or `None`: switch away now.
    #[inline]
    pub(crate) fn wait(&mut self, index: u32, wait: Wait, deadline: Nanos) -> Option<Woke> {
        let fiber = &mut self.fibers[index as usize];
        debug_assert_eq!(fiber.state, State::Running);
        match wait {
            Wait::Yield => {
                fiber.state = State::Ready;
                fiber.reason = Reason::Yield;
                // The reactor queues it, behind what became ready while it ran.
                return None;
            }
            _ if fiber.cancelled => return Some(Woke::Cancelled),
            Wait::Park if fiber.permit => {
                fiber.permit = false;
                return Some(Woke::Ready);
            }
            Wait::Park => fiber.state = State::Parked,
            Wait::Sleep => fiber.state = State::Sleeping,
        }
        fiber.deadline = deadline;
        if deadline.0 < self.wheel.armed_at(index) {
            self.arm(index, deadline);
        }
        None
    }

    /// The fiber runs again after `wait` had it switch away: why?
    #[inline]
    pub(crate) fn woke(&mut self, index: u32) -> Woke {
        let fiber = &mut self.fibers[index as usize];
        if fiber.cancelled {
            // An unpark is not lost: it may be all the fiber gets to know of an event.
            fiber.permit |= fiber.reason == Reason::Unpark;
            return Woke::Cancelled;
        }
        match fiber.reason {
            Reason::Timeout => Woke::Timeout,
            _ => Woke::Ready,
        }
    }

    // From the reactor's loop.

    #[inline]
    pub(crate) fn has_ready(&self) -> bool {
        !self.ready.is_empty() || !self.yielded.is_empty()
    }

    /// Takes the next fiber to run. The caller loads its stack and switches to it.
    #[inline]
    pub(crate) fn next(&mut self) -> Option<(u32, &mut Fiber)> {
        if !self.is_turn_given
            && let Some(index) = self.yielded.pop_front()
        {
            self.is_turn_given = true;
            self.ready.push_back(index);
        }
        let index = self.ready.pop_front()?;
        let fiber = &mut self.fibers[index as usize];
        fiber.state = State::Running;
        self.counters.switches += 1;
        match fiber.reason {
            Reason::Timeout => self.counters.lag.record(Clock::now() - fiber.deadline),
            Reason::Yield => self.is_turn_given = false,
            _ => {}
        }
        Some((index, fiber))
    }

    /// The fiber that runs after `ahead` others that are ready now.
    #[inline]
    pub(crate) fn upcoming(&self, ahead: usize) -> Option<&Fiber> {
        self.ready.get(ahead).map(|&index| &self.fibers[index as usize])
    }

    /// The record of a fiber that is not [`State::Free`].
    #[inline]
    pub(crate) fn record_mut(&mut self, index: u32) -> &mut Fiber {
        &mut self.fibers[index as usize]
    }

    /// The record of a fiber that is not [`State::Free`].
    pub(crate) fn record(&self, index: u32) -> &Fiber {
        &self.fibers[index as usize]
    }

    /// The record of a fiber that is not [`State::Free`], and where its frames may go.
    #[inline]
    pub(crate) fn record_and_copies(&mut self, index: u32) -> (&mut Fiber, &mut Copies) {
        (&mut self.fibers[index as usize], &mut self.copies)
    }

    #[inline]
    pub(crate) fn count_saved(&mut self, len: usize, grown: isize) {
        let counters = &mut self.counters;
        counters.max_saved_bytes = counters.max_saved_bytes.max(len);
        counters.saved_bytes_total = counters.saved_bytes_total.wrapping_add_signed(grown);
    }

    /// No timer is due before this.
    pub(crate) fn wake_at(&self) -> Nanos {
        self.wake_at
    }

    /// Gives memory back to the system that saved stacks have not needed for a while, if there is some. Returns when it
    /// should be called again.
    pub(crate) fn give_memory_back(&mut self, now: Nanos) -> Nanos {
        self.copies.give_back(now);
        self.copies.due()
    }

    /// Tells what time it is and makes ready every fiber whose deadline has come.
    #[inline]
    pub(crate) fn advance(&mut self, now: Nanos) {
        self.now = now;
        if now >= self.wake_at {
            self.fire();
        }
    }

    fn fire(&mut self) {
        let mut fired = std::mem::take(&mut self.fired);
        self.wheel.expire(self.now.0, &mut fired);
        for &(_, index) in &fired {
            let fiber = &mut self.fibers[index as usize];
            if !matches!(fiber.state, State::Parked | State::Sleeping) {
                continue;
            }
            if fiber.deadline <= self.now {
                fiber.state = State::Ready;
                fiber.reason = Reason::Timeout;
                self.push_ready(index);
            } else {
                // The timer of an earlier wait; now for the real deadline.
                self.wheel.arm(index, fiber.deadline.0);
            }
        }
        fired.clear();
        self.fired = fired;
        self.wake_at = self.wheel.next_at().map_or(Nanos::MAX, Nanos);
    }

    #[inline]
    fn arm(&mut self, index: u32, at: Nanos) {
        self.wheel.arm(index, at.0);
        self.wake_at = self.wake_at.min(at);
    }

    #[inline]
    fn push_ready(&mut self, index: u32) {
        self.ready.push_back(index);
        self.count_ready();
    }

    /// Queues a fiber that yielded, behind all that are ready now and those that yielded before.
    pub(crate) fn push_yielded(&mut self, index: u32) {
        self.yielded.push_back(index);
        self.count_ready();
    }

    #[inline]
    fn count_ready(&mut self) {
        self.counters.ready_queue_max = self.counters.ready_queue_max.max(self.ready_len());
    }

    #[inline]
    fn ready_len(&self) -> usize {
        self.ready.len() + self.yielded.len()
    }

    #[inline]
    fn find(&self, id: FiberId) -> Option<&Fiber> {
        let fiber = self.fibers.get(id.index as usize)?;
        (fiber.generation == id.generation && fiber.state != State::Free).then_some(fiber)
    }

    #[inline]
    fn find_mut(&mut self, id: FiberId) -> Option<&mut Fiber> {
        let fiber = self.fibers.get_mut(id.index as usize)?;
        (fiber.generation == id.generation && fiber.state != State::Free).then_some(fiber)
    }

    /// A snapshot; restarts the lag and the queue's peak.
    pub(crate) fn stats(&mut self) -> Stats {
        let ready_now = self.ready_len();
        let fibers = self.alive();
        let counters = &mut self.counters;
        Stats {
            fibers,
            switches: counters.switches,
            max_saved_bytes: counters.max_saved_bytes,
            saved_bytes_total: counters.saved_bytes_total,
            panics: 0,
            loop_lag: std::mem::take(&mut counters.lag),
            ready_queue_max: std::mem::replace(&mut counters.ready_queue_max, ready_now),
            polls: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One running fiber.
    fn running() -> (Sched, FiberId) {
        let mut sched = Sched::new(0);
        let id = sched.spawn(None, Box::new(|| {}));
        assert_eq!(run_next(&mut sched), Woke::Ready);
        (sched, id)
    }

    fn run_next(sched: &mut Sched) -> Woke {
        let (index, _) = sched.next().expect("somebody is ready");
        sched.woke(index)
    }

    #[test]
    fn a_fiber_owns_one_timer_and_moves_it_only_forward() {
        let (mut sched, id) = running();
        let secs = Nanos::from_secs;
        let mut check = |wait, deadline, armed| {
            assert_eq!(sched.wait(id.index, wait, deadline), None);
            assert_eq!(Nanos(sched.wheel.armed_at(id.index)), armed);
            if wait == Wait::Park {
                sched.unpark(id);
                assert_eq!(run_next(&mut sched), Woke::Ready);
            } else {
                sched.advance(deadline);
                assert_eq!(run_next(&mut sched), Woke::Timeout);
            }
        };
        check(Wait::Park, secs(60), secs(60));
        check(Wait::Park, secs(61), secs(60));
        check(Wait::Park, Nanos::MAX, secs(60));
        check(Wait::Sleep, secs(1), secs(1));
        check(Wait::Park, secs(62), secs(62));
        // The timer finds the fiber waiting for something later, and is armed for that.
        assert_eq!(sched.wait(id.index, Wait::Park, secs(70)), None);
        sched.advance(secs(62));
        assert!(!sched.has_ready());
        assert_eq!(sched.wake_at(), secs(70));
        // It finds nobody waiting, and goes away.
        sched.unpark(id);
        assert_eq!(run_next(&mut sched), Woke::Ready);
        sched.advance(secs(70));
        assert_eq!(sched.wake_at(), Nanos::MAX);
        sched.end(id.index);
        assert_eq!(sched.alive(), 0);
    }

    #[test]
    fn between_two_that_yielded_all_others_that_are_ready_run() {
        let mut sched = Sched::new(0);
        let ids: Vec<u32> = (0..4).map(|_| sched.spawn(None, Box::new(|| {})).index).collect();
        let next = |sched: &mut Sched| sched.next().expect("somebody is ready").0;
        let yields = |sched: &mut Sched, index: u32, now: u64| {
            sched.wait(index, Wait::Yield, Nanos::MAX);
            sched.advance(Nanos(now));
            sched.push_yielded(index);
        };
        // Three that compute, and one that sleeps until the next of them has had its turn.
        for id in &ids[..3] {
            assert_eq!(next(&mut sched), *id);
            yields(&mut sched, *id, 0);
        }
        let mut order = Vec::new();
        for now in 1..=8 {
            let index = next(&mut sched);
            order.push(index);
            if index == ids[3] {
                sched.wait(index, Wait::Sleep, Nanos(now + 1));
            } else {
                yields(&mut sched, index, now);
            }
        }
        assert_eq!(order, [3, 0, 3, 1, 3, 2, 3, 0].map(|number| ids[number]));
        // One that ends in its turn makes room for the next.
        for number in [3, 1, 2, 0] {
            assert!(sched.has_ready());
            let index = next(&mut sched);
            assert_eq!(index, ids[number]);
            sched.end(index);
        }
        assert!(!sched.has_ready());
    }

    #[test]
    fn a_deadline_that_passed_is_not_undone_by_an_unpark() {
        let (mut sched, id) = running();
        assert_eq!(sched.wait(id.index, Wait::Park, Nanos(5)), None);
        sched.advance(Nanos(5));
        sched.unpark(id);
        assert_eq!(run_next(&mut sched), Woke::Timeout);
        assert_eq!(sched.wait(id.index, Wait::Park, Nanos::MAX), Some(Woke::Ready));
    }
}
