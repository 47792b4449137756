//! No built-in holds the thread: each of those that may work long asks the host again and again whether to go on, gives
//! the same result when others run meanwhile, and ends when it is told to.

mod support;

#[path = "polls/cases.rs"]
mod cases;

use std::{
    ffi::{c_int, c_void},
    sync::atomic::{AtomicU32, Ordering},
};

use cases::CASES;
use onrush_quickjs_sys::*;
use support::{Engine, Layout, with_stack};

/// Elements, characters or bits: enough for a poll in each thousand rounds to be many.
const N: u32 = 1 << 17;
/// How often a case polls at least, besides what its words do, of which each is a poll of the parser: reversing looks at
/// half of the elements, once in a thousand.
const POLLS_MIN: u32 = 60;
/// What goes through its input more than once, and how often it polls at least: for each thousandth element.
const TWICE: (&[&str], u32) = (&["assign", "spread", "for…in", "for…in of inherited names"], 2 * (N >> 10));
/// A size at which the words of a case poll, and the built-in hardly does.
const LITTLE: u32 = 64;
/// So many polls later the built-in is in the middle of it.
const INTO: u32 = 8;
/// A loop that cannot fail goes on to its end, which takes linear time, and does not poll any more. Others end at once.
const LAST_POLLS: u32 = 64;
/// What the flag says before.
const YIELD: u32 = 2;
/// What is done at once: see docs/design/003-patched-quickjs.md.
const UNDIVIDED: &str = "freeing a map";

/// What the handler counts, and when it wants an end.
struct Host {
    polls: u32,
    cut_after: u32,
    flag: *const AtomicU32,
}

unsafe extern "C" fn handler(_: *mut JSRuntime, host: *mut c_void) -> c_int {
    // SAFETY: the host outlives the engine's last evaluation.
    let host = unsafe { &mut *host.cast::<Host>() };
    host.polls += 1;
    let is_cut = host.polls > host.cut_after;
    if is_cut {
        // SAFETY: set before, it lies in the runtime.
        unsafe { (*host.flag).store(ONRUSH_POKE_HALT, Ordering::Relaxed) };
    }
    c_int::from(is_cut)
}

impl Host {
    fn new() -> Self {
        Self { polls: 0, cut_after: 0, flag: std::ptr::null() }
    }

    /// Evaluates with the flag raised all the time; what came of it and how often the handler was asked.
    fn watch(&mut self, engine: &Engine, source: &str, cut_after: u32) -> (Result<String, String>, u32) {
        self.polls = 0;
        self.cut_after = cut_after;
        // SAFETY: the runtime is alive, and the host until the handler is taken away.
        let flag = unsafe {
            JS_SetInterruptHandler(engine.rt, Some(handler), std::ptr::from_mut(self).cast());
            AtomicU32::from_ptr(onrush_rt_poke(engine.rt))
        };
        self.flag = flag;
        flag.store(YIELD, Ordering::Relaxed);
        let result = engine.eval("work.js", source, false);
        flag.store(0, Ordering::Relaxed);
        (result, self.polls)
    }
}

fn polls_min(what: &str) -> u32 {
    if what == UNDIVIDED {
        0
    } else if TWICE.0.contains(&what) {
        TWICE.1
    } else {
        POLLS_MIN
    }
}

/// Makes what a case works on.
fn prepare(case: &cases::Case, engine: &Engine, size: u32) -> Result<(), String> {
    engine.eval("size.js", &format!("var N = {size}"), false)?;
    engine.eval("make.js", &case.input(), false)?;
    Ok(())
}

/// Runs `check` on each case; it says what is wrong.
fn each(layout: Layout, check: fn(&cases::Case, &Engine, &mut Host) -> Result<(), String>) {
    let mut wrong = Vec::new();
    for case in CASES {
        let result = with_stack(|| {
            let engine = Engine::new(layout);
            prepare(case, &engine, N)?;
            check(case, &engine, &mut Host::new())?;
            // It goes on as if nothing had happened.
            assert_eq!(engine.eval("after.js", "[3, 1, 2].sort().join()", false)?, "1,2,3");
            Ok::<(), String>(())
        });
        wrong.extend(result.err().map(|error| format!("{}: {error}", case.what)));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn long_work_polls_and_its_result_is_the_same() {
    each(Layout::Shared, |case, engine, host| {
        prepare(case, engine, LITTLE)?;
        let (_, words) = host.watch(engine, &case.work(), u32::MAX);
        prepare(case, engine, N)?;
        let (watched, polls) = host.watch(engine, &case.work(), u32::MAX);
        engine.eval("make.js", &case.input(), false)?;
        let polls = polls.saturating_sub(words);
        let alone = engine.eval("work.js", &case.work(), false);
        match () {
            () if polls < polls_min(case.what) => Err(format!("only {polls} polls")),
            () if watched != alone => Err(format!("{watched:?} instead of {alone:?}")),
            () => Ok(()),
        }
    });
}

#[test]
fn freeing_takes_turns_and_what_waits_is_dead_for_weak_references() {
    let result = with_stack(|| {
        let engine = Engine::new(Layout::Shared);
        let mut host = Host::new();
        let make = "var a = []; for (let i = 0; i < 5000; i++) a.push([i]); \
                    for (const at of [0, 4999]) a[at] = { at }; \
                    var ends = [new WeakRef(a[0]), new WeakRef(a[4999])];";
        engine.eval("make.js", make, false)?;
        let look = "a = null; ends.map((end) => typeof end.deref()).join()";
        let (seen, polls) = host.watch(&engine, look, u32::MAX);
        assert!(polls > 5000, "only {polls} polls: the list was freed at once");
        assert_eq!(seen?, "undefined,undefined");
        Ok::<(), String>(())
    });
    assert_eq!(result, Ok(()));
}

#[test]
fn long_work_ends_when_it_is_told_to() {
    each(Layout::Plain, |case, engine, host| {
        prepare(case, engine, LITTLE)?;
        let (_, words) = host.watch(engine, &case.work(), u32::MAX);
        prepare(case, engine, N)?;
        let (_, all) = host.watch(engine, &case.work(), u32::MAX);
        prepare(case, engine, N)?;
        let cut_after = (words + INTO).min(all / 2);
        match host.watch(engine, &case.work(), cut_after) {
            (Err(error), polls) if error.contains("interrupted") && polls <= cut_after + LAST_POLLS => Ok(()),
            (result, polls) => Err(format!("{polls} polls, cut after {cut_after} of {all}: {result:?}")),
        }
    });
}
