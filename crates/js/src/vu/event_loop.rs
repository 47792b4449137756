//! A VU's event loop: microtasks, timers and the completions of asynchronous operations.
//!
//! k6 ends an iteration only when nothing is left to run: an un-awaited timer or request keeps it alive. `sleep()` and
//! synchronous requests block the VU and with it this loop, as in k6.
#![expect(unsafe_code, reason = "QuickJS's promise rejection callback")]

use std::{
    cell::{Cell, RefCell},
    collections::VecDeque,
    ffi::c_void,
    rc::Rc,
};

use onrush_fiber::{Clock, Nanos, Woke};
use onrush_quickjs_sys as sys;

use super::{Vu, context};
use crate::embed::{Ctx, Exception, Handle, JsResult, PromiseState, Throw, Val};

/// Work handed back to the VU by a child fiber, run on the VU's own fiber.
pub(crate) type Completion = Box<dyn FnOnce(Ctx) -> JsResult<()>>;

/// Timers a VU may have at once; each keeps a closure alive.
const TIMERS_MAX: usize = 100_000;

/// Pending work of one VU.
#[derive(Default)]
pub(crate) struct EventLoop {
    timers: RefCell<Vec<Timer>>,
    next_timer: Cell<u32>,
    /// Operations under way whose completion will arrive.
    operations: Cell<usize>,
    completions: RefCell<VecDeque<Completion>>,
    rejections: RefCell<Vec<Val>>,
    /// What else has events.
    sources: RefCell<Vec<Rc<dyn Source>>>,
    /// The source whose turn is next.
    next_source: Cell<usize>,
}

/// Something that has events by itself, such as an open connection: the loop asks it, and does not end before it is
/// removed. What it waits for unparks the VU's fiber.
pub(crate) trait Source {
    /// Handles one event, if there is one. Does not wait for any.
    fn turn(self: Rc<Self>, ctx: Ctx, vu: &Vu) -> JsResult<bool>;

    /// The call has ended early: lets go of everything. Runs no script code.
    fn abandon(&self);
}

/// Events of sources handled before other VUs have their turn.
const EVENTS_PER_TURN: u32 = 64;

struct Timer {
    id: u32,
    due: Nanos,
    /// `setInterval`'s period.
    period: Option<Nanos>,
    callback: Val,
    args: Box<[Val]>,
}

impl EventLoop {
    /// Adds a timer and returns its id.
    pub(crate) fn add_timer(&self, callback: Val, args: Box<[Val]>, delay_ms: f64, repeat: bool) -> JsResult<u32> {
        let mut timers = self.timers.borrow_mut();
        if timers.len() >= TIMERS_MAX {
            return Err(Throw::Range(format!("a VU cannot have more than {TIMERS_MAX} timers")));
        }
        // A negative or NaN delay is 0; beyond a century it never fires.
        let delay = Nanos((delay_ms.max(0.0) * 1e6).min(3e18) as u64);
        let id = self.next_timer.get() + 1;
        self.next_timer.set(id);
        timers.push(Timer {
            id,
            due: Nanos(Clock::now().0.saturating_add(delay.0)),
            period: repeat.then_some(delay),
            callback,
            args,
        });
        Ok(id)
    }

    /// Forgets a timer; unknown ids do nothing.
    pub(crate) fn clear_timer(&self, id: u32) {
        let removed = {
            let mut timers = self.timers.borrow_mut();
            timers.iter().position(|timer| timer.id == id).map(|index| timers.remove(index))
        };
        drop(removed);
    }

    /// Announces an operation; each must be followed by exactly one [`EventLoop::complete`].
    pub(crate) fn begin(&self) {
        self.operations.set(self.operations.get() + 1);
    }

    /// Delivers the end of an operation. Called from a child fiber of the same thread; the caller then unparks the VU.
    pub(crate) fn complete(&self, completion: Completion) {
        self.operations.set(self.operations.get() - 1);
        self.completions.borrow_mut().push_back(completion);
    }

    /// Adds something that has events; it counts as an operation until it is removed.
    pub(crate) fn add_source(&self, source: Rc<dyn Source>) {
        self.begin();
        self.sources.borrow_mut().push(source);
    }

    /// Removes a source; one that is not there does nothing.
    pub(crate) fn remove_source(&self, source: &Rc<dyn Source>) {
        let mut sources = self.sources.borrow_mut();
        if let Some(index) = sources.iter().position(|known| Rc::ptr_eq(known, source)) {
            let removed = sources.swap_remove(index);
            drop(sources);
            self.operations.set(self.operations.get() - 1);
            drop(removed);
        }
    }

    /// Lets go of all sources.
    pub(crate) fn abandon_sources(&self) {
        let sources = self.sources.take();
        self.operations.set(self.operations.get() - sources.len());
        for source in sources {
            source.abandon();
        }
    }

    /// The source whose turn is in `offset` turns.
    fn source(&self, offset: usize) -> Option<Rc<dyn Source>> {
        let sources = self.sources.borrow();
        let index = (self.next_source.get() + offset).checked_rem(sources.len())?;
        Some(sources[index].clone())
    }

    /// Drops microtasks, timers, completions and noted rejections of the running VU; returns what the timers were called, oldest first.
    pub(crate) fn clear(&self) -> Vec<String> {
        context::drop_jobs();
        let mut timers = self.timers.take();
        self.completions.take();
        self.rejections.take();
        timers.sort_by_key(|timer| timer.id);
        timers
            .iter()
            .map(|timer| format!("{} {}", if timer.period.is_some() { "setInterval" } else { "setTimeout" }, timer.id))
            .collect()
    }

    /// Forgets that a promise was rejected without a handler: its reason is thrown instead.
    pub(crate) fn forget_rejection(&self, promise: &Handle) {
        self.rejections.borrow_mut().retain(|known| known.identity() != promise.identity());
    }

    fn next_due(&self) -> Option<Nanos> {
        self.timers.borrow().iter().map(|timer| timer.due).min()
    }

    /// Takes the earliest timer that is due: its callback and arguments. Ties go to the older timer.
    fn take_due(&self, now: Nanos) -> Option<(Val, Box<[Val]>)> {
        let mut timers = self.timers.borrow_mut();
        let index =
            (0..timers.len()).filter(|&i| timers[i].due <= now).min_by_key(|&i| (timers[i].due, timers[i].id))?;
        match timers[index].period {
            Some(period) => {
                let timer = &mut timers[index];
                timer.due = Nanos(now.0 + period.0.max(1));
                Some((timer.callback.clone(), timer.args.clone()))
            }
            None => {
                let timer = timers.remove(index);
                Some((timer.callback, timer.args))
            }
        }
    }
}

impl Vu {
    /// Runs microtasks until none is left.
    pub(crate) fn run_jobs(&self) -> JsResult<()> {
        let ctx = self.ctx();
        while ctx.run_job()? {
            self.not_halted()?;
        }
        Ok(())
    }

    /// Promises swallow the exception that ends a call; this brings it back.
    pub(crate) fn not_halted(&self) -> JsResult<()> {
        if self.is_halted.get() { Err(Throw::Interrupted) } else { Ok(()) }
    }

    /// Runs everything that is pending until the loop is empty, waiting where it must.
    pub(crate) fn drain(&self) -> JsResult<()> {
        let ctx = self.ctx();
        let (mut events, mut was_timer) = (0_u32, false);
        loop {
            self.not_halted()?;
            self.run_jobs()?;
            self.check_rejections()?;
            let completion = self.event_loop.completions.borrow_mut().pop_front();
            if let Some(completion) = completion {
                completion(ctx)?;
                continue;
            }
            // The clock is only read where there are timers: this runs after every iteration.
            let has_sources = !self.event_loop.sources.borrow().is_empty();
            // Timers that are always due must not keep everything else waiting.
            let has_timers = !(was_timer && has_sources || self.event_loop.timers.borrow().is_empty());
            was_timer = false;
            if let Some((callback, args)) = has_timers.then(|| self.event_loop.take_due(Clock::now())).flatten() {
                let args: Vec<&Handle> = args.iter().map(|arg| &**arg).collect();
                ctx.call(&callback, Handle::UNDEFINED, &args)?;
                was_timer = true;
                continue;
            }
            if has_sources && self.turn_of_sources(ctx)? {
                events += 1;
                if events.is_multiple_of(EVENTS_PER_TURN) {
                    context::not_cancelled(onrush_fiber::yield_now())?;
                }
                continue;
            }
            let due = self.event_loop.next_due();
            if due.is_none() && self.event_loop.operations.get() == 0 {
                return Ok(());
            }
            if onrush_fiber::park(due) == Woke::Cancelled {
                return Err(Throw::Interrupted);
            }
        }
    }

    /// Has one source handle one event; false if none has any.
    fn turn_of_sources(&self, ctx: Ctx) -> JsResult<bool> {
        let count = self.event_loop.sources.borrow().len();
        for offset in 0..count {
            let Some(source) = self.event_loop.source(offset) else { return Ok(false) };
            if source.turn(ctx, self)? {
                // The others come first next time.
                self.event_loop.next_source.set(self.event_loop.next_source.get().wrapping_add(offset + 1));
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Waits for a promise, running the loop meanwhile, and returns its value or throws its reason.
    pub(crate) fn settle(&self, value: Val) -> JsResult {
        if !value.is_promise() {
            return Ok(value);
        }
        let ctx = self.ctx();
        ctx.mark_handled(&value);
        self.event_loop.rejections.borrow_mut().clear();
        self.drain()?;
        match ctx.promise_state(&value) {
            PromiseState::Fulfilled(result) => Ok(result),
            PromiseState::Rejected(reason) => Err(ctx.throw_value(reason)),
            // Nothing is left that could settle it: as in k6 the function just ends.
            PromiseState::Pending => Ok(Val::undefined()),
        }
    }

    /// Waits until no asynchronous operation is under way, without running script code: for a VU that was cancelled.
    pub(crate) fn await_operations(&self) {
        while self.event_loop.operations.get() > 0 {
            onrush_fiber::clear_cancel();
            // Whatever woke it, the loop looks again.
            let _ = onrush_fiber::park(None);
        }
    }

    fn check_rejections(&self) -> JsResult<()> {
        let rejected = self.event_loop.rejections.borrow_mut().pop();
        let Some(promise) = rejected else { return Ok(()) };
        let ctx = self.ctx();
        match ctx.promise_state(&promise) {
            PromiseState::Rejected(reason) => {
                // k6: `Uncaught (in promise) …`, and the iteration ends.
                let described = Exception::describe(ctx, &reason);
                if described.interrupted {
                    Err(ctx.throw_value(reason))
                } else {
                    Err(Throw::Uncaught(Box::new(described)))
                }
            }
            _ => Ok(()),
        }
    }
}

/// QuickJS reports promises rejected without a handler, and those that get one later.
pub(crate) unsafe extern "C" fn track_rejection(
    _: *mut sys::JSContext,
    promise: sys::JSValue,
    _: sys::JSValue,
    is_handled: bool,
    _: *mut c_void,
) {
    let Some(vu) = context::try_vu() else { return };
    let promise = Handle::from_raw_ref(&promise);
    let mut rejections = vu.event_loop.rejections.borrow_mut();
    if is_handled {
        rejections.retain(|known| known.identity() != promise.identity());
    } else {
        rejections.push(promise.dup());
    }
}
