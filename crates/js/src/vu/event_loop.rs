//! A VU's event loop: microtasks, timers and the completions of asynchronous operations.
//!
//! k6 ends an iteration only when nothing is left to run: an un-awaited timer or request keeps it alive. `sleep()` and
//! synchronous requests block the VU and with it this loop, as in k6.
#![expect(unsafe_code, reason = "QuickJS's promise rejection callback")]

use std::{
    cell::{Cell, RefCell},
    collections::VecDeque,
    ffi::c_void,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    rc::Rc,
};

use onrush_fiber::{Clock, Nanos, Woke};
use onrush_quickjs_sys as sys;

use super::{
    Vu, context,
    rejections::Rejections,
    timers::{TIMERS_MAX, Timers},
};
use crate::embed::{Ctx, Exception, Handle, JsResult, PromiseState, Throw, Val, contained};

/// Work handed back to the VU by a child fiber, run on the VU's own fiber.
type Completion = Box<dyn FnOnce(Ctx) -> JsResult<()>>;

/// Pending work of one VU.
#[derive(Default)]
pub(crate) struct EventLoop {
    /// Callbacks and their arguments.
    timers: RefCell<Timers<(Val, Box<[Val]>)>>,
    /// Operations under way whose completion will arrive.
    operations: Cell<usize>,
    completions: RefCell<VecDeque<Completion>>,
    rejections: RefCell<Rejections<Val>>,
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

    /// The call has ended: lets go of everything. Runs no script code.
    fn abandon(&self, vu: &Vu);

    /// Whether a call goes on while it is there. What does not hold a call is abandoned at its end, however it ends.
    fn holds_call(&self) -> bool {
        true
    }
}

/// Events of sources handled before other VUs have their turn.
const EVENTS_PER_TURN: u32 = 64;

// Values are dropped where nothing is borrowed: freeing what they hold may take long, and then others run.
impl EventLoop {
    /// Adds a timer and returns its id.
    pub(crate) fn add_timer(&self, callback: Val, args: Box<[Val]>, delay_ms: f64, repeat: bool) -> JsResult<u32> {
        // A negative or NaN delay is 0; beyond a century it never fires.
        let delay = Nanos((delay_ms.max(0.0) * 1e6).min(3e18) as u64);
        let due = Nanos(Clock::now().0.saturating_add(delay.0));
        let id = self.timers.borrow_mut().add((callback, args), due, repeat.then_some(delay));
        id.ok_or_else(|| Throw::Range(format!("a VU cannot have more than {TIMERS_MAX} timers")))
    }

    /// Forgets a timer; unknown ids do nothing.
    pub(crate) fn clear_timer(&self, id: u32) {
        let removed = self.timers.borrow_mut().remove(id);
        drop(removed);
    }

    /// Adds something that has events; if it holds the call, it counts as an operation until it is removed.
    pub(crate) fn add_source(&self, source: Rc<dyn Source>) {
        self.operations.set(self.operations.get() + usize::from(source.holds_call()));
        self.sources.borrow_mut().push(source);
    }

    /// Removes a source; one that is not there does nothing.
    pub(crate) fn remove_source(&self, source: &Rc<dyn Source>) {
        let mut sources = self.sources.borrow_mut();
        if let Some(index) = sources.iter().position(|known| Rc::ptr_eq(known, source)) {
            let removed = sources.swap_remove(index);
            drop(sources);
            self.operations.set(self.operations.get() - usize::from(removed.holds_call()));
            drop(removed);
        }
    }

    /// Lets go of all sources.
    pub(crate) fn abandon_sources(&self, vu: &Vu) {
        let sources = self.sources.take();
        let holding = sources.iter().filter(|source| source.holds_call()).count();
        self.operations.set(self.operations.get() - holding);
        for source in sources {
            source.abandon(vu);
        }
    }

    /// The source whose turn is in `offset` turns.
    fn source(&self, offset: usize) -> Option<Rc<dyn Source>> {
        let sources = self.sources.borrow();
        let index = (self.next_source.get() + offset).checked_rem(sources.len())?;
        Some(sources[index].clone())
    }

    /// Drops microtasks, timers, completions and noted rejections of the running VU; returns how many timers there were,
    /// and what the first `shown` of them were called, oldest first.
    pub(crate) fn clear(&self, shown: usize) -> (usize, Vec<String>) {
        context::drop_jobs();
        let timers = self.timers.take();
        let named = timers.named(shown);
        drop(timers);
        drop(self.completions.take());
        drop(self.rejections.take());
        named
    }

    /// Forgets that a promise was rejected without a handler: its reason is thrown instead.
    pub(crate) fn forget_rejection(&self, promise: &Handle) {
        let forgotten = self.rejections.borrow_mut().forget(promise.identity());
        drop(forgotten);
    }

    /// Has something done by the loop, after the code and the microtasks that are running now.
    pub(crate) fn defer(&self, completion: Completion) {
        self.completions.borrow_mut().push_back(completion);
    }

    /// Delivers the end of an operation. Called from a child fiber of the same thread; the caller then unparks the VU.
    fn complete(&self, completion: Completion) {
        self.operations.set(self.operations.get() - 1);
        self.completions.borrow_mut().push_back(completion);
    }
}

/// Starts an operation of the running VU: `work` runs on a fiber of its own, and what became of it goes to `settle`, on
/// the VU's fiber. The VU's call goes on meanwhile and does not end before it.
///
/// If `work` panics, the operation fails with an error, as a native function does, and the panic is reported.
pub(crate) fn start<T: 'static>(
    work: impl FnOnce(&Vu) -> JsResult<T> + 'static,
    settle: impl FnOnce(Ctx, JsResult<T>) -> JsResult<()> + 'static,
) {
    let vu = context::vu_rc();
    vu.event_loop.operations.set(vu.event_loop.operations.get() + 1);
    let own = vu.clone();
    let fiber = onrush_fiber::spawn(None, move || {
        let outcome = catch_unwind(AssertUnwindSafe(|| work(&own)));
        let (result, panic) = match outcome {
            Ok(result) => (result, None),
            Err(panic) => (Err(Throw::panic(&*panic)), Some(panic)),
        };
        // The values within `settle` are freed on the VU's fiber, even if it is never called.
        own.event_loop.complete(Box::new(move |ctx| settle(ctx, result)));
        own.children.borrow_mut().retain(|child| Some(*child) != onrush_fiber::current());
        if let Some(fiber) = own.fiber.get() {
            onrush_fiber::unpark(fiber);
        }
        if let Some(panic) = panic {
            resume_unwind(panic);
        }
    });
    vu.children.borrow_mut().push(fiber);
}

/// Has `settle` called by the running VU's loop after the microtasks that are due: for an operation that k6 does in the
/// background and that is done here already.
pub(crate) fn later(settle: impl FnOnce(Ctx) -> JsResult<()> + 'static) {
    context::vu().event_loop.completions.borrow_mut().push_back(Box::new(settle));
}

/// Has the VU's fiber run something while an operation is under way that has more to come. Called from the operation's
/// fiber.
pub(crate) fn post(vu: &Vu, event: impl FnOnce(Ctx) -> JsResult<()> + 'static) {
    vu.event_loop.completions.borrow_mut().push_back(Box::new(event));
    if let Some(fiber) = vu.fiber.get() {
        onrush_fiber::unpark(fiber);
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
            let due = has_timers.then(|| self.event_loop.timers.borrow_mut().take_due(Clock::now())).flatten();
            if let Some((callback, args)) = due {
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
            let due = self.event_loop.timers.borrow().next_due();
            if due.is_none() && self.event_loop.operations.get() == 0 {
                return Ok(());
            }
            onrush_fiber::expect_rest();
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
        // Its own failure is reported below. That of any other promise ends the call, as in k6.
        self.event_loop.forget_rejection(&value);
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
    contained((), || {
        let Some(vu) = context::try_vu() else { return };
        let promise = Handle::from_raw_ref(&promise);
        if is_handled {
            vu.event_loop.forget_rejection(promise);
        } else {
            vu.event_loop.rejections.borrow_mut().note(promise.identity(), promise.dup());
        }
    });
}
