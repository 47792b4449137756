//! Turns: fibers that may not do something at the same time, such as writing to one connection, do it one after another.

use std::{
    cell::{Cell, RefCell},
    collections::VecDeque,
};

use onrush_fiber::{FiberId, IoFailure, Nanos, Woke, current, park, unpark};

/// What only one fiber may do at a time.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    is_taken: Cell<bool>,
    /// In the order they came.
    waiting: RefCell<VecDeque<FiberId>>,
}

/// A fiber's turn, which ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Turn<'a>(&'a Turns);

impl Turns {
    /// Whether some fiber has its turn.
    pub(crate) fn is_taken(&self) -> bool {
        self.is_taken.get()
    }

    /// Waits for the current fiber's turn.
    ///
    /// # Errors
    /// Why the wait ended.
    pub(crate) fn take(&self, deadline: Option<Nanos>) -> Result<Turn<'_>, IoFailure> {
        if !self.is_taken.get() && self.waiting.borrow().is_empty() {
            self.is_taken.set(true);
            return Ok(Turn(self));
        }
        let me = current().ok_or(IoFailure::Cancelled)?;
        self.waiting.borrow_mut().push_back(me);
        loop {
            let woke = park(deadline);
            let failure = match woke {
                Woke::Ready if !self.is_taken.get() && self.waiting.borrow().front() == Some(&me) => {
                    self.waiting.borrow_mut().pop_front();
                    self.is_taken.set(true);
                    return Ok(Turn(self));
                }
                Woke::Ready => continue,
                Woke::Timeout => IoFailure::Timeout,
                Woke::Cancelled => IoFailure::Cancelled,
            };
            self.waiting.borrow_mut().retain(|other| *other != me);
            self.call_next();
            return Err(failure);
        }
    }

    fn call_next(&self) {
        if !self.is_taken.get()
            && let Some(&next) = self.waiting.borrow().front()
        {
            unpark(next);
        }
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.0.is_taken.set(false);
        self.0.call_next();
    }
}

#[cfg(test)]
mod tests {
    use std::{rc::Rc, time::Duration};

    use onrush_fiber::{Clock, Reactor, ReactorConfig, cancel, sleep_until, spawn};

    use super::*;

    #[test]
    fn turns_come_in_order_and_pass_by_those_who_left() {
        let reactor = Reactor::new(ReactorConfig::default()).unwrap();
        let (turns, log) = (Rc::new(Turns::default()), Rc::new(RefCell::new(Vec::new())));
        let start = |number: u32, limit_ms: u64| {
            let (turns, log) = (Rc::clone(&turns), Rc::clone(&log));
            spawn(None, move || {
                let deadline = Clock::now() + Duration::from_millis(limit_ms);
                match turns.take(Some(deadline)) {
                    Ok(turn) => {
                        log.borrow_mut().push(number);
                        let _ = sleep_until(Clock::now() + Duration::from_millis(30));
                        assert!(turns.is_taken.get());
                        drop(turn);
                    }
                    Err(_) => log.borrow_mut().push(100 + number),
                }
            })
        };
        start(1, 10_000);
        let second = start(2, 10_000);
        start(3, 1);
        start(4, 10_000);
        spawn(None, move || {
            let _ = sleep_until(Clock::now() + Duration::from_millis(15));
            cancel(second);
        });
        reactor.run();
        let mut log = log.take();
        // Those that leave do so in any order.
        log.retain(|number| *number < 100);
        assert_eq!(log, [1, 4]);
        assert!(!turns.is_taken.get() && turns.waiting.borrow().is_empty());
    }
}
