//! What a fiber may rely on: waking, permits, cancel, hooks, depth, panics.
#![expect(unsafe_code, reason = "tests hooks, which are unsafe to declare")]

use std::{
    cell::{Cell, RefCell},
    ffi::c_void,
    hint::black_box,
    panic::{AssertUnwindSafe, catch_unwind, panic_any},
    rc::Rc,
    time::Duration,
};

use onrush_fiber::{
    Clock, FiberId, Hooks, Nanos, Reactor, ReactorConfig, StackRange, Woke, cancel, clear_cancel, current, expect_rest,
    is_alive, is_cancelled, park, sleep_until, spawn, stack_range, stats, unpark, yield_now,
};

fn reactor() -> Reactor {
    Reactor::new(ReactorConfig::default()).expect("a reactor")
}

fn soon() -> Nanos {
    Clock::now() + Duration::from_millis(1)
}

/// Runs `f` on a fiber to its end.
fn on_fiber(f: impl FnOnce() + 'static) {
    let reactor = reactor();
    let done = Rc::new(Cell::new(false));
    let flag = Rc::clone(&done);
    spawn(None, move || {
        f();
        flag.set(true);
    });
    reactor.run();
    assert!(done.get(), "the fiber panicked");
}

fn me() -> FiberId {
    current().expect("on a fiber")
}

#[test]
fn one_permit_is_kept() {
    on_fiber(|| {
        unpark(me());
        unpark(me());
        assert_eq!(park(None), Woke::Ready);
        assert_eq!(park(Some(soon())), Woke::Timeout);
    });
}

#[test]
fn unparks_before_a_parked_fiber_runs_count_once() {
    on_fiber(|| {
        let other = spawn(None, || {
            assert_eq!(park(None), Woke::Ready);
            assert_eq!(park(Some(soon())), Woke::Timeout);
        });
        let _ = yield_now();
        unpark(other);
        unpark(other);
        while is_alive(other) {
            let _ = yield_now();
        }
    });
}

#[test]
fn a_permit_outlives_a_sleep_and_a_yield() {
    on_fiber(|| {
        unpark(me());
        assert_eq!(sleep_until(soon()), Woke::Timeout);
        assert_eq!(yield_now(), Woke::Ready);
        assert_eq!(park(None), Woke::Ready);
    });
}

#[test]
fn cancel_is_sticky_and_loses_no_permit() {
    on_fiber(|| {
        let other = spawn(None, || {
            assert_eq!(park(None), Woke::Cancelled);
            assert!(is_cancelled());
            assert_eq!(sleep_until(Nanos::MAX), Woke::Cancelled);
            assert_eq!(yield_now(), Woke::Cancelled);
            clear_cancel();
            assert_eq!(park(None), Woke::Ready, "the unpark that came with the cancel");
            assert_eq!(park(Some(soon())), Woke::Timeout);
        });
        let _ = yield_now();
        unpark(other);
        cancel(other);
        while is_alive(other) {
            let _ = yield_now();
        }
    });
}

#[test]
fn a_fiber_cancelled_before_it_starts_starts_cancelled() {
    on_fiber(|| {
        let seen = Rc::new(Cell::new(false));
        let flag = Rc::clone(&seen);
        let other = spawn(None, move || flag.set(is_cancelled()));
        cancel(other);
        let _ = yield_now();
        assert!(seen.get());
        assert!(!is_alive(other));
    });
}

#[test]
fn an_id_never_means_a_later_fiber() {
    on_fiber(|| {
        let first = spawn(None, || {});
        let _ = yield_now();
        let second = spawn(None, || assert_eq!(park(Some(soon())), Woke::Timeout));
        let _ = yield_now();
        assert_ne!(first, second);
        unpark(first);
        cancel(first);
        assert!(!is_alive(first) && is_alive(second));
    });
}

#[test]
fn a_deadline_in_the_past_lets_others_run() {
    on_fiber(|| {
        let ran = Rc::new(Cell::new(false));
        let flag = Rc::clone(&ran);
        spawn(None, move || flag.set(true));
        assert_eq!(sleep_until(Nanos::ZERO), Woke::Timeout);
        assert!(ran.get());
        assert_eq!(park(Some(Nanos::ZERO)), Woke::Timeout);
    });
}

#[test]
fn off_a_fiber_there_is_nothing_to_suspend() {
    assert_eq!(current(), None);
    unpark(FiberIdOfNobody::get());
    assert!(!is_cancelled());
    assert!(catch_unwind(|| park(None)).is_err());
    let first = reactor();
    assert_eq!(current(), None);
    assert!(catch_unwind(|| park(None)).is_err());
    let second = Reactor::new(ReactorConfig::default()).expect_err("one reactor a thread");
    assert_eq!(second.kind(), std::io::ErrorKind::AlreadyExists);
    drop(first);
    drop(reactor());
}

/// An id of a fiber of another thread's reactor.
struct FiberIdOfNobody;

impl FiberIdOfNobody {
    fn get() -> FiberId {
        let thread = std::thread::spawn(|| {
            let _reactor = reactor();
            spawn(None, || {})
        });
        thread.join().expect("no panic")
    }
}

#[test]
fn hooks_surround_every_run_on_the_reactors_stack() {
    struct Log {
        calls: RefCell<Vec<char>>,
    }
    fn note(data: *mut c_void, call: char) {
        // SAFETY: the log outlives the reactor below.
        let log = unsafe { &*data.cast::<Log>() };
        log.calls.borrow_mut().push(call);
    }
    unsafe fn enter(data: *mut c_void, stack: StackRange) {
        let here = &raw const data as usize;
        assert!(!(stack.low..stack.top).contains(&here), "hooks run on the thread's own stack");
        note(data, '(');
    }
    unsafe fn leave(data: *mut c_void) {
        note(data, ')');
    }
    let reactor = reactor();
    let log = Log { calls: RefCell::default() };
    let data = (&raw const log).cast_mut().cast();
    // SAFETY: the log lives until the reactor has run.
    let hooks = unsafe { Hooks::new(data, enter, leave) };
    let address = data as usize;
    spawn(Some(hooks), move || {
        // SAFETY: as above.
        let log = unsafe { &*(address as *const Log) };
        for _ in 0..3 {
            let here = &raw const address as usize;
            let stack = stack_range().expect("on a fiber");
            assert!((stack.low..stack.top).contains(&here), "fibers run on the stack they are told of");
            log.calls.borrow_mut().push('x');
            let _ = yield_now();
        }
    });
    reactor.run();
    assert_eq!(log.calls.borrow().iter().collect::<String>(), "(x)(x)(x)()");
}

/// Uses about `bytes` of stack, then calls `f`; returns a sum over all frames.
#[inline(never)]
fn at_depth(bytes: usize, f: &mut dyn FnMut()) -> u64 {
    const FRAME: usize = 1024;
    let mut pad = [bytes as u8; FRAME];
    black_box(&mut pad);
    let below = if bytes > FRAME {
        at_depth(bytes - FRAME, f)
    } else {
        f();
        0
    };
    assert!(pad.iter().all(|&b| b == bytes as u8));
    below + u64::from(black_box(&pad)[0])
}

#[test]
fn a_fiber_that_rests_keeps_what_it_uses() {
    let held_after_a_wait = |rests: bool| {
        let reactor = reactor();
        let held = Rc::new(Cell::new(0));
        let held_then = held.clone();
        let waits = spawn(None, move || {
            at_depth(8 << 10, &mut || {
                let _ = yield_now();
            });
            if rests {
                expect_rest();
            }
            let _ = park(None);
        });
        spawn(None, move || {
            // The other one has waited deep and waits further up; this one takes its stack both times.
            for _ in 0..3 {
                let _ = yield_now();
            }
            held_then.set(stats().expect("on a fiber").saved_bytes_total);
            unpark(waits);
        });
        reactor.run();
        held.get()
    };
    assert!(held_after_a_wait(false) > 8 << 10);
    assert!(held_after_a_wait(true) < 4 << 10);
}

#[test]
fn deep_recursion_suspends_and_the_copy_shrinks_again() {
    // What a fiber has on the shared stack moves when another one needs it.
    let reactor = reactor();
    let is_done = Rc::new(Cell::new(false));
    let done = is_done.clone();
    spawn(None, move || {
        while !done.get() {
            let _ = yield_now();
        }
    });
    spawn(None, move || {
        for _ in 0..3 {
            at_depth(4 << 20, &mut || {
                let _ = yield_now();
            });
        }
        let deep = stats().expect("on a fiber");
        assert!(deep.max_saved_bytes > 4 << 20);
        for _ in 0..20 {
            let _ = yield_now();
        }
        assert!(stats().expect("on a fiber").saved_bytes_total < 16 << 10);
        // All but the last part of the stack is usable.
        at_depth(7 << 20, &mut || {});
        is_done.set(true);
    });
    reactor.on_panic(|panic| panic!("{panic:?}"));
    reactor.run();
}

#[test]
fn a_stack_overflow_hits_the_guard() {
    const CHILD: &str = "ONRUSH_FIBER_OVERFLOW";
    if std::env::var_os(CHILD).is_some() {
        on_fiber(|| {
            at_depth(1 << 40, &mut || {});
        });
        return;
    }
    let status = std::process::Command::new(std::env::current_exe().expect("this test"))
        .args(["--exact", "a_stack_overflow_hits_the_guard"])
        .env(CHILD, "1")
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .status()
        .expect("this test runs");
    let signal = std::os::unix::process::ExitStatusExt::signal(&status);
    assert!(matches!(signal, Some(libc::SIGSEGV | libc::SIGBUS)), "{status}");
}

struct OnDrop<F: FnMut()>(F);

impl<F: FnMut()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

#[test]
fn a_panic_ends_its_fiber_only() {
    let reactor = reactor();
    let reports = Rc::new(RefCell::new(Vec::new()));
    let sink = Rc::clone(&reports);
    reactor.on_panic(move |panic| sink.borrow_mut().push(panic.clone()));
    let dropped = Rc::new(Cell::new(0));

    let count = Rc::clone(&dropped);
    let first = spawn(None, move || {
        at_depth(8 << 10, &mut || {
            let _unwound = OnDrop(|| {
                // No other fiber may run while this one unwinds.
                assert_eq!(park(None), Woke::Cancelled);
                count.set(count.get() + 1);
            });
            let _ = yield_now();
            panic!("at {}", "depth");
        });
    });
    let second = spawn(None, || panic!("at once"));
    let third = spawn(None, || panic_any(7u8));
    let fourth = spawn(None, || {
        struct Bomb;
        impl Drop for Bomb {
            fn drop(&mut self) {
                panic!("again");
            }
        }
        panic_any(Bomb);
    });
    let survived = Rc::new(Cell::new(false));
    let flag = Rc::clone(&survived);
    spawn(None, move || {
        assert_eq!(sleep_until(soon()), Woke::Timeout);
        flag.set(true);
    });
    reactor.run();

    assert!(survived.get());
    assert_eq!(dropped.get(), 1);
    assert_eq!(reactor.stats().panics, 4);
    let message = |id| {
        let reports = reports.borrow();
        reports.iter().find(|r| r.fiber == Some(id)).map(|r| r.message.clone()).unwrap_or_default()
    };
    assert_eq!(message(first), "at depth");
    assert_eq!(message(second), "at once");
    assert_eq!(message(third), "a panic without a message");
    assert_eq!(message(fourth), "a panic without a message");
}

#[test]
fn a_panic_is_caught_within_a_fiber_across_suspensions() {
    on_fiber(|| {
        let other = spawn(None, || {
            for _ in 0..10 {
                let caught = catch_unwind(AssertUnwindSafe(|| {
                    let _ = yield_now();
                    panic!("inner");
                }));
                assert!(caught.is_err());
                let _ = yield_now();
            }
        });
        for _ in 0..10 {
            let caught = catch_unwind(AssertUnwindSafe(|| {
                at_depth(2000, &mut || {
                    let _ = yield_now();
                    panic!("outer");
                });
            }));
            assert!(caught.is_err());
        }
        while is_alive(other) {
            let _ = yield_now();
        }
        assert_eq!(stats().expect("on a fiber").panics, 0);
    });
}

#[test]
fn a_backtrace_ends_at_the_fibers_entry() {
    on_fiber(|| {
        let _ = yield_now();
        let trace = std::backtrace::Backtrace::force_capture().to_string();
        assert!(trace.contains("fiber_main"), "{trace}");
        assert!(!trace.contains("Reactor::run"), "{trace}");
    });
}

#[test]
fn vector_registers_and_odd_alignments_survive() {
    // Floating-point values live across a suspension must come back, and frames stay 16-aligned.
    #[inline(never)]
    fn sum(values: &[f64]) -> f64 {
        let mut total = 0.0;
        for value in values {
            total += black_box(value) * 1.5;
            let _ = yield_now();
        }
        total
    }
    #[repr(align(64))]
    struct Aligned([u8; 64]);
    on_fiber(|| {
        for _ in 0..2 {
            spawn(None, || assert_eq!(sum(&[1.0, 2.0, 3.0]), 9.0));
        }
        let aligned = Aligned([7; 64]);
        assert_eq!(black_box(&aligned).0.as_ptr() as usize % 64, 0);
        assert_eq!(sum(&[0.5, 0.25]), 1.125);
        assert_eq!(aligned.0, [7; 64]);
    });
}

#[test]
fn everyone_gets_a_turn() {
    on_fiber(|| {
        // Two fibers that never wait do not keep timers or each other from running.
        let stop = Rc::new(Cell::new(false));
        let turns = Rc::new(Cell::new([0u64; 2]));
        for i in 0..2 {
            let (stop, turns) = (Rc::clone(&stop), Rc::clone(&turns));
            spawn(None, move || {
                while !stop.get() {
                    let mut all = turns.get();
                    all[i] += 1;
                    turns.set(all);
                    let _ = yield_now();
                }
            });
        }
        assert_eq!(sleep_until(Clock::now() + Duration::from_millis(3)), Woke::Timeout);
        stop.set(true);
        let [first, second] = turns.get();
        assert!(first > 0 && first.abs_diff(second) <= 1, "{first} {second}");
    });
}

#[test]
fn a_dropped_reactor_leaves_suspended_fibers_alone() {
    let dropped = Rc::new(Cell::new(false));
    let flag = Rc::clone(&dropped);
    let reactor = reactor();
    let remote = reactor.remote();
    spawn(None, move || {
        let _guard = OnDrop(|| flag.set(true));
        let _ = park(None);
    });
    spawn(None, move || remote.stop());
    reactor.run();
    assert_eq!(reactor.stats().fibers, 1);
    drop(reactor);
    assert!(!dropped.get(), "its stack is leaked, never unwound");
}

#[test]
fn cancel_all_ends_what_waits() {
    let reactor = reactor();
    let remote = reactor.remote();
    let woke = Rc::new(Cell::new(0));
    for i in 0..100 {
        let woke = Rc::clone(&woke);
        spawn(None, move || {
            let result = if i % 2 == 0 { park(None) } else { sleep_until(Nanos::MAX) };
            assert_eq!(result, Woke::Cancelled);
            woke.set(woke.get() + 1);
        });
    }
    spawn(None, move || remote.stop());
    reactor.run();
    assert_eq!(woke.get(), 0);
    reactor.cancel_all();
    reactor.run();
    assert_eq!(woke.get(), 100);
}

/// How many KiB of a fiber's own stack are in memory.
fn resident_kb(stack: StackRange) -> usize {
    let page = 4096;
    let mut pages = vec![0u8; (stack.top - stack.low) / page];
    // SAFETY: the range is mapped; the kernel writes a byte for each page of it.
    let result = unsafe { libc::mincore(stack.low as *mut c_void, stack.top - stack.low, pages.as_mut_ptr()) };
    assert_eq!(result, 0, "pages of another size");
    pages.iter().filter(|&&page| page & 1 == 1).count() * page / 1024
}

#[test]
fn a_stack_of_ones_own_gives_the_depth_of_a_recursion_back() {
    fn recurse(depth: usize) -> usize {
        let frame = black_box([depth as u8; 1024]);
        if depth == 0 { 0 } else { recurse(depth - 1) + usize::from(frame[depth % 1024]) }
    }
    let reactor = Reactor::new(ReactorConfig { own_stacks: 3, ..ReactorConfig::default() }).expect("a reactor");
    let seen = Rc::new(RefCell::new(Vec::new()));
    for fiber in 0..3 {
        let seen = Rc::clone(&seen);
        spawn(None, move || {
            let held = black_box([fiber; 16 << 10]);
            black_box(recurse(2_000));
            let stack = stack_range().expect("on a fiber");
            let deep = resident_kb(stack);
            for _ in 0..6 {
                assert_eq!(sleep_until(Clock::now() + Duration::from_millis(120)), Woke::Timeout);
            }
            assert!(black_box(&held).iter().all(|&byte| byte == fiber), "what is in use stays");
            seen.borrow_mut().push((deep, resident_kb(stack)));
            black_box(recurse(2_000));
        });
    }
    reactor.run();
    assert_eq!(seen.borrow().len(), 3);
    for &(deep, rested) in seen.borrow().iter() {
        assert!(deep > 2_000, "{deep} KiB");
        assert!(rested <= 300, "{rested} KiB are still there");
    }
}
