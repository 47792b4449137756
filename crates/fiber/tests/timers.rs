//! Timers: order, never early, lazily moved deadlines, lag.

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
    time::Duration,
};

use onrush_fiber::{
    Clock, Nanos, Reactor, ReactorConfig, Woke, current, is_alive, park, sleep_until, spawn, stats, unpark, yield_now,
};

fn reactor() -> Reactor {
    Reactor::new(ReactorConfig::default()).expect("a reactor")
}

/// Sleeps 500 fibers until instants after `start`; returns the deadlines in the order they woke, or `None` if this
/// machine was too slow to have them all asleep in time.
fn sleepers(start: Nanos) -> Option<Vec<Nanos>> {
    let reactor = reactor();
    let woken = Rc::new(RefCell::new(Vec::new()));
    let asleep_in_time = Rc::new(Cell::new(true));
    for i in 0..500u64 {
        let at = start + Nanos(i * 7_919_000 % 20_000_000 + i % 3);
        let (woken, asleep) = (Rc::clone(&woken), Rc::clone(&asleep_in_time));
        spawn(None, move || {
            if Clock::now() >= start {
                asleep.set(false);
            }
            assert_eq!(sleep_until(at), Woke::Timeout);
            assert!(Clock::now() >= at, "too early");
            woken.borrow_mut().push(at);
        });
    }
    reactor.run();
    let order = woken.borrow().clone();
    asleep_in_time.get().then_some(order)
}

#[test]
fn sleepers_wake_in_order_and_never_early() {
    let mut ahead = Duration::from_millis(10);
    let order = loop {
        if let Some(order) = sleepers(Clock::now() + ahead) {
            break order;
        }
        ahead *= 4;
    };
    assert_eq!(order.len(), 500);
    assert!(order.is_sorted());
}

#[test]
fn a_later_deadline_outlives_the_timer_of_an_earlier_wait() {
    let reactor = reactor();
    let fiber = spawn(None, || {
        // The timer armed here stays when the fiber is unparked (in time, unless this machine is very slow) ...
        let me = current().expect("on a fiber");
        let mut ahead = Duration::from_millis(2);
        let early = loop {
            let early = Clock::now() + ahead;
            spawn(None, move || unpark(me));
            if park(Some(early)) == Woke::Ready {
                break early;
            }
            ahead *= 4;
        };
        // ... and must not end the next wait.
        let late = early + Duration::from_millis(3);
        assert_eq!(sleep_until(late), Woke::Timeout);
        assert!(Clock::now() >= late);
        // A wait without a deadline is not ended by one either.
        let _ = park(Some(Clock::now() + Duration::from_millis(1)));
        assert_eq!(park(None), Woke::Ready);
    });
    spawn(None, move || {
        while is_alive(fiber) {
            let _ = sleep_until(Clock::now() + Duration::from_millis(20));
            unpark(fiber);
        }
    });
    reactor.run();
    assert_eq!(reactor.stats().panics, 0);
}

#[test]
fn an_earlier_deadline_moves_the_timer() {
    let reactor = reactor();
    let fiber = spawn(None, || {
        assert_eq!(park(Some(Clock::now() + Duration::from_secs(3600))), Woke::Ready);
        // With the hour-long timer still armed.
        for _ in 0..3 {
            let at = Clock::now() + Duration::from_millis(1);
            assert_eq!(sleep_until(at), Woke::Timeout);
        }
    });
    spawn(None, move || unpark(fiber));
    reactor.run();
    assert_eq!(reactor.stats().panics, 0);
}

#[test]
fn lag_is_counted_per_timeout_and_drained() {
    let reactor = reactor();
    spawn(None, || {
        for _ in 0..5 {
            let _ = sleep_until(Clock::now() + Duration::from_micros(200));
        }
        // Keep the thread busy past the sleeper's deadline: that is lag.
        let at = Clock::now() + Duration::from_millis(1);
        let sleeper = spawn(None, move || {
            assert_eq!(sleep_until(at), Woke::Timeout);
        });
        let _ = yield_now();
        let busy_until = at + Duration::from_millis(2);
        while Clock::now() < busy_until {
            std::hint::spin_loop();
        }
        while is_alive(sleeper) {
            let _ = yield_now();
        }
        let first = stats().expect("on a fiber").loop_lag;
        assert_eq!(first.count, 6);
        assert!(first.max >= Nanos::from_millis(2));
        assert!(first.sum >= first.max && first.mean() <= first.max);
        assert_eq!(stats().expect("on a fiber").loop_lag.count, 0);
    });
    reactor.run();
    assert_eq!(reactor.stats().panics, 0);
}

#[test]
fn a_timer_that_is_due_comes_before_a_fiber_that_yields_again() {
    let reactor = reactor();
    let turns = Rc::new(Cell::new(0));
    let (is_awake, seen) = (Rc::new(Cell::new(false)), Rc::new(Cell::new(None)));
    {
        let (turns, is_awake, seen) = (Rc::clone(&turns), Rc::clone(&is_awake), Rc::clone(&seen));
        spawn(None, move || {
            let due = Clock::now() + Duration::from_millis(1);
            let hog_turns = Rc::clone(&turns);
            let hog_sees = Rc::clone(&is_awake);
            spawn(None, move || {
                while !hog_sees.get() {
                    hog_turns.set(hog_turns.get() + 1);
                    // Longer than the other wants to sleep.
                    let until = Clock::now() + Duration::from_millis(2);
                    while Clock::now() < until {}
                    let _ = yield_now();
                }
            });
            assert_eq!(sleep_until(due), Woke::Timeout);
            is_awake.set(true);
            seen.set(Some(turns.get()));
        });
    }
    reactor.run();
    assert_eq!(seen.get(), Some(1));
}
