//! The reactor: the loop of one thread, and the switches into and out of its fibers.
//!
//! A *turn* is: what other threads posted, then ready fibers in the order they became ready, then
//! the kernel's events, then timers. While fibers are ready the loop asks the kernel only every
//! [`POLL_INTERVAL`]: under load that is once for many events. A fiber that yields ends the turn: it may have run for long,
//! and goes behind all who became ready meanwhile. Where several yield again and again, all others that are ready run
//! between two of them.
#![expect(unsafe_code, reason = "switches stacks")]

use std::{
    any::Any,
    cell::{Cell, RefCell},
    io,
    marker::PhantomData,
    num::NonZeroU64,
    panic::{AssertUnwindSafe, catch_unwind},
    ptr,
    sync::atomic::{AtomicU32, Ordering},
};

use rustix::thread::set_current_timer_slack;

use crate::{
    arrival::Sampling,
    clock::{Clock, Nanos},
    fiber::{FiberId, FiberPanic, StackRange, State, Woke},
    local,
    poller::Poller,
    prefetch::prefetch,
    readiness::Readiness,
    remote::{Message, Remote},
    sched::{Sched, Wait},
    stack::{NO_OCCUPANT, Stacks},
    stats::Stats,
    switch::switch,
};

/// How long ready fibers may keep the loop from asking the kernel for events. An empty
/// `epoll_wait` costs 0.16 µs: every 500 µs, that is nothing.
const POLL_INTERVAL: Nanos = Nanos(500_000);
/// How many fibers run between two looks at the clock. Reading it takes 24 ns, a third of waking a fiber; a timer that
/// is due queues behind the ready fibers anyway.
const CLOCK_INTERVAL: u32 = 8;
/// An idle thread looks at some of its stacks at most so often. One that gives 8 MiB back is held for a millisecond.
const LOOK_INTERVAL: Nanos = Nanos(100_000_000);
/// The default of [`ReactorConfig::timer_interval`]: 200 µs, so that timers alone cause at most 5,000 wake-ups a
/// second. One costs 14 to 20 µs of CPU on a virtual machine, whatever it does then.
const TIMER_INTERVAL: Nanos = Nanos(200_000);
/// The default size of a fiber stack: as much as a main thread has. It is address space; memory is used only as deep as
/// a fiber ever went.
const STACK_BYTES: usize = 8 << 20;
/// The kernel may delay a wait by this much to save wake-ups; its default is 50 µs, which would be a systematic delay
/// of every arrival.
const TIMER_SLACK_NANOS: NonZeroU64 = NonZeroU64::MIN;
/// The token of the descriptor other threads wake the loop with.
const WAKEUP_TOKEN: u64 = u64::MAX;
/// No fiber is running.
const NO_FIBER: u32 = u32::MAX;
/// Apart, so that ids of different reactors are mistaken for each other only after 2^24 spawns.
const SEED_STEP: u32 = 1 << 24;

/// How to set up a reactor.
#[derive(Clone, Debug)]
pub struct ReactorConfig {
    /// The size of each stack that fibers of the thread run on, in bytes (rounded up to pages, 64 KiB to 1 GiB). Code
    /// that goes deeper hits a guard and ends the process, as on any thread.
    pub stack_bytes: usize,
    /// How many fibers (at most 1024) have a stack of their own, in the order they start; all others share one, and
    /// waiting costs them a copy of their frames. A stack of its own saves a fiber these copies and costs as much
    /// memory as its deepest moment needed, in pages.
    pub own_stacks: usize,
    /// After a wake-up the thread sleeps for at least this long, unless the kernel has events: fibers whose deadlines
    /// lie closer together wake together. A deadline without another one shortly before it is met exactly; in a dense
    /// stream of them each may be this late.
    pub timer_interval: Nanos,
}

impl Default for ReactorConfig {
    fn default() -> Self {
        ReactorConfig { stack_bytes: STACK_BYTES, own_stacks: 0, timer_interval: TIMER_INTERVAL }
    }
}

/// One thread's reactor. While it exists it is *the* reactor of the thread that made it.
///
/// Dropping it while fibers are suspended leaks what is on their stacks: a fiber is resumed until
/// it ends, never unwound from outside. Let [`Reactor::run`] return by itself, or
/// [`cancel_all`](Reactor::cancel_all) and run it again.
pub struct Reactor {
    inner: Box<Inner>,
    /// It stays on its thread.
    _not_send: PhantomData<*mut ()>,
}

impl Reactor {
    /// Sets up this thread's reactor.
    ///
    /// # Errors
    ///
    /// When the thread has a reactor already ([`io::ErrorKind::AlreadyExists`]), or the system refuses the stack, the
    /// epoll instance or the eventfd.
    pub fn new(config: ReactorConfig) -> io::Result<Reactor> {
        let inner = Box::new(Inner::new(&config)?);
        if !local::install(&inner) {
            let error = "this thread has a reactor already";
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, error));
        }
        Ok(Reactor { inner, _not_send: PhantomData })
    }

    /// A handle for other threads.
    #[must_use]
    pub fn remote(&self) -> Remote {
        self.inner.remote.clone()
    }

    /// Runs fibers until none is left alive and no [`Hold`](crate::Hold) exists, or until
    /// [`Remote::stop`].
    ///
    /// # Panics
    ///
    /// When called from within itself: from a fiber, a hook or a posted function.
    pub fn run(&self) {
        self.inner.run();
    }

    /// Cancels every fiber alive; those that wait are resumed with [`Woke::Cancelled`] by the next turns.
    pub fn cancel_all(&self) {
        let ids = self.inner.sched.borrow().ids();
        for id in ids {
            local::cancel(id);
        }
    }

    /// Calls `hook` after each fiber or posted function that ended in a panic, on the reactor's own stack: it must not
    /// wait. Replaces the previous hook.
    pub fn on_panic(&self, hook: impl Fn(&FiberPanic) + 'static) {
        *self.inner.on_panic.borrow_mut() = Some(Box::new(hook));
    }

    /// A snapshot; restarts peaks and lag. (On a fiber: [`stats`](crate::stats).)
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.inner.stats()
    }
}

impl Drop for Reactor {
    fn drop(&mut self) {
        local::uninstall();
        self.inner.remote.close();
    }
}

impl std::fmt::Debug for Reactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reactor").finish_non_exhaustive()
    }
}

/// Everything a reactor consists of. No borrow of a cell is held across a switch or while foreign code (hooks, posted
/// functions, wakers) runs.
pub(crate) struct Inner {
    pub(crate) sched: RefCell<Sched>,
    pub(crate) sockets: RefCell<Readiness>,
    pub(crate) poller: Poller,
    pub(crate) remote: Remote,
    pub(crate) stacks: Stacks,
    /// Where the loop's own stack was left.
    loop_sp: Cell<usize>,
    /// Where the fiber's stack was left.
    fiber_sp: Cell<usize>,
    /// The fiber on the stack.
    current: Cell<u32>,
    /// Set by a fiber's last switch.
    ended: Cell<bool>,
    running: Cell<bool>,
    /// The fiber that ran last and gave up its turn: it goes behind all that became ready meanwhile. It may have run for
    /// long, so the loop looks for events and due timers first.
    yielded: Cell<Option<u32>>,
    /// The current fiber's next wait may be long.
    rests: Cell<bool>,
    timer_interval: Nanos,
    last_poll: Cell<Nanos>,
    /// When stacks were last looked at for depth that nobody needs any more.
    last_look: Cell<Nanos>,
    /// Reads and writes of the current fiber since it was last resumed; see `tcp`.
    pub(crate) io_streak: Cell<u32>,
    /// Which connections tell when something arrived.
    pub(crate) arrivals: RefCell<Sampling>,
    panics: Cell<u64>,
    polls: Cell<u64>,
    /// The message of the panic that has just ended a fiber.
    panic_message: Cell<Option<String>>,
    on_panic: RefCell<Option<PanicHook>>,
}

type PanicHook = Box<dyn Fn(&FiberPanic)>;

impl Inner {
    fn new(config: &ReactorConfig) -> io::Result<Inner> {
        static SEED: AtomicU32 = AtomicU32::new(1);
        let seed = SEED.fetch_add(SEED_STEP, Ordering::Relaxed);
        let poller = Poller::new()?;
        let remote = Remote::new()?;
        poller.add_wakeup(remote.wakeup_fd(), WAKEUP_TOKEN)?;
        // Precision only: without it timers are up to 50 µs later.
        let _ = set_current_timer_slack(Some(TIMER_SLACK_NANOS));
        Ok(Inner {
            sched: RefCell::new(Sched::new(seed)),
            sockets: RefCell::new(Readiness::new(seed)),
            poller,
            remote,
            stacks: Stacks::new(config.stack_bytes, config.own_stacks)?,
            loop_sp: Cell::new(0),
            fiber_sp: Cell::new(0),
            current: Cell::new(NO_FIBER),
            ended: Cell::new(false),
            running: Cell::new(false),
            yielded: Cell::new(None),
            rests: Cell::new(false),
            timer_interval: config.timer_interval,
            last_poll: Cell::new(Nanos::ZERO),
            last_look: Cell::new(Nanos::ZERO),
            io_streak: Cell::new(0),
            arrivals: RefCell::default(),
            panics: Cell::new(0),
            polls: Cell::new(0),
            panic_message: Cell::new(None),
            on_panic: RefCell::new(None),
        })
    }

    // On a fiber.

    pub(crate) fn current_index(&self) -> Option<u32> {
        let index = self.current.get();
        (index != NO_FIBER).then_some(index)
    }

    pub(crate) fn current(&self) -> Option<FiberId> {
        self.current_index().map(|index| self.sched.borrow().id(index))
    }

    pub(crate) fn stack_range(&self) -> Option<StackRange> {
        self.current_index().map(|index| self.stacks.range(self.sched.borrow_mut().record_mut(index).stack))
    }

    pub(crate) fn expect_rest(&self) {
        self.rests.set(true);
    }

    /// Suspends the current fiber.
    #[inline]
    pub(crate) fn wait(&self, wait: Wait, deadline: Nanos) -> Woke {
        let index = self.current_index().expect("this is not a fiber: only fibers can wait");
        if std::thread::panicking() {
            // Whether a thread is unwinding is the thread's state, not the fiber's: another fiber must not run in the
            // middle of it.
            return Woke::Cancelled;
        }
        let rests = self.rests.take();
        {
            let mut sched = self.sched.borrow_mut();
            if let Some(woke) = sched.wait(index, wait, deadline) {
                return woke;
            }
            sched.record_mut(index).rests = rests;
        }
        if wait == Wait::Yield {
            self.yielded.set(Some(index));
        }
        // SAFETY: the loop's stack was left by the `switch` in `resume_next` that started or resumed
        // this fiber and has not been touched since. `resume_next` sees to it that our frames are
        // in place before it switches back here.
        unsafe { switch(self.fiber_sp.as_ptr(), self.loop_sp.get()) };
        self.sched.borrow_mut().woke(index)
    }

    /// Runs the closure of the fiber on the stack.
    fn run_entry(&self) {
        let entry = self.current_index().and_then(|i| self.sched.borrow_mut().take_entry(i));
        let Some(entry) = entry else { return };
        if let Err(payload) = catch_unwind(AssertUnwindSafe(entry)) {
            self.panic_message.set(Some(panic_message(payload)));
        }
    }

    // On the thread's own stack.

    fn run(&self) {
        assert!(!self.running.replace(true), "a reactor is run by one caller at a time");
        let _running = Running(&self.running);
        loop {
            self.receive();
            if let Some(index) = self.yielded.take() {
                self.sched.borrow_mut().push_yielded(index);
            }
            self.run_ready();
            if self.remote.take_stop() {
                break;
            }
            let idle = self.sched.borrow().alive() == 0;
            if idle && !self.remote.is_held() && !self.remote.is_signalled() {
                break;
            }
            self.poll();
        }
    }

    fn receive(&self) {
        for message in self.remote.receive() {
            match message {
                Message::Run(f) => {
                    if let Err(payload) = catch_unwind(AssertUnwindSafe(f)) {
                        self.report_panic(None, panic_message(payload));
                    }
                }
                Message::Unpark(fiber) => self.sched.borrow_mut().unpark(fiber),
            }
        }
    }

    fn run_ready(&self) {
        let mut switches = 0u32;
        while self.resume_next() {
            if self.yielded.get().is_some() {
                break;
            }
            switches += 1;
            if switches.is_multiple_of(CLOCK_INTERVAL) {
                let now = Clock::now();
                self.sched.borrow_mut().advance(now);
                if now - self.last_poll.get() >= POLL_INTERVAL {
                    break;
                }
            }
        }
    }

    /// Runs the next ready fiber until it suspends or ends. False if there is none.
    #[inline]
    fn resume_next(&self) -> bool {
        let mut sched = self.sched.borrow_mut();
        let Some((index, fiber)) = sched.next() else {
            return false;
        };
        let hooks = fiber.hooks;
        if fiber.sp == 0 {
            fiber.stack = self.stacks.assign();
        }
        let (stack, mut sp) = (fiber.stack, fiber.sp);
        let occupant = self.stacks.occupant(stack);
        if occupant != index {
            if occupant != NO_OCCUPANT {
                self.evict(&mut sched, occupant);
            }
            // SAFETY: nobody's frames are on the stack any more, and what a suspended fiber saved came from `evict`.
            unsafe {
                if sp == 0 {
                    sp = self.stacks.start(stack, fiber_main);
                } else {
                    self.stacks.load(stack, sp, &sched.record_mut(index).saved);
                }
            }
            self.stacks.occupy(stack, index);
        }
        self.approach(&sched);
        drop(sched);
        self.current.set(index);
        self.io_streak.set(0);
        self.rests.set(false);
        if let Some(hooks) = hooks {
            // SAFETY: promised to `Hooks::new`.
            unsafe { (hooks.enter)(hooks.data, self.stacks.range(stack)) };
        }
        // SAFETY: `sp` is a fresh first frame or where the fiber, whose frames are in place, was left; it switches
        // back through `loop_sp`, from `wait` or `fiber_main`.
        unsafe { switch(self.loop_sp.as_ptr(), sp) };
        if let Some(hooks) = hooks {
            // SAFETY: promised to `Hooks::new`.
            unsafe { (hooks.leave)(hooks.data) };
        }
        self.current.set(NO_FIBER);
        if self.ended.replace(false) {
            self.stacks.vacate(stack);
            self.end(index);
            return true;
        }
        self.sched.borrow_mut().record_mut(index).sp = self.fiber_sp.get();
        true
    }

    /// Has what the next fibers need brought near while this one runs: a fiber's record first, one turn later what its
    /// hooks work on, then its frames and whatever the hooks know of.
    #[inline]
    fn approach(&self, sched: &Sched) {
        if let Some(record) = sched.upcoming(2) {
            prefetch(ptr::from_ref(record).cast(), size_of_val(record));
        }
        if let Some(hooks) = sched.upcoming(1).and_then(|fiber| fiber.hooks) {
            prefetch(hooks.data.cast(), hooks.data_bytes);
        }
        if let Some(next) = sched.upcoming(0) {
            self.stacks.prefetch(next.stack, next.sp, &next.saved);
            if let Some(hooks) = next.hooks {
                // SAFETY: promised to `Hooks::approached`.
                unsafe { (hooks.approach)(hooks.data) };
            }
        }
    }

    /// Saves the frames of a suspended fiber whose stack somebody else needs.
    #[inline]
    fn evict(&self, sched: &mut Sched, index: u32) {
        let (fiber, copies) = sched.record_and_copies(index);
        // On a load generator a sleep is long.
        let is_resting = fiber.rests || fiber.state == State::Sleeping;
        // SAFETY: `wait` left the fiber, which is on its stack, at `sp`.
        let (len, grown) = unsafe { self.stacks.save(fiber.stack, fiber.sp, &mut fiber.saved, copies, is_resting) };
        sched.count_saved(len, grown);
    }

    fn end(&self, index: u32) {
        let fiber = self.sched.borrow().id(index);
        self.sched.borrow_mut().end(index);
        if let Some(message) = self.panic_message.take() {
            self.report_panic(Some(fiber), message);
        }
    }

    fn report_panic(&self, fiber: Option<FiberId>, message: String) {
        self.panics.set(self.panics.get() + 1);
        if let Some(hook) = &*self.on_panic.borrow() {
            hook(&FiberPanic { fiber, message });
        }
    }

    /// Takes the kernel's events; sleeps until there are some, or a timer is due, if no fiber is ready.
    fn poll(&self) {
        let mut is_for_memory = false;
        let timeout = {
            let mut sched = self.sched.borrow_mut();
            if sched.has_ready() || self.yielded.get().is_some() || self.remote.is_signalled() {
                Some(Nanos::ZERO)
            } else {
                let now = Clock::now();
                let memory_at = sched.give_memory_back(now);
                if now - self.last_look.get() >= LOOK_INTERVAL {
                    self.last_look.set(now);
                    self.stacks.give_depth_back(|fiber| sched.record(fiber).sp);
                }
                let timer_at = match sched.wake_at() {
                    Nanos::MAX => Nanos::MAX,
                    at => at.max(self.last_poll.get() + self.timer_interval),
                };
                is_for_memory = memory_at < timer_at;
                let at = memory_at.min(timer_at);
                (at != Nanos::MAX).then(|| at - now)
            }
        };
        self.polls.set(self.polls.get() + 1);
        let result = self.poller.wait(timeout, |event| {
            is_for_memory = false;
            if event.token != WAKEUP_TOKEN {
                let waiters = self.sockets.borrow_mut().event(event.token, event.bits);
                let mut sched = self.sched.borrow_mut();
                for waiter in waiters.into_iter().filter(|&id| id != FiberId::NONE) {
                    sched.unpark(waiter);
                }
            }
        });
        // Its arguments are our own descriptor and buffer: only a bug elsewhere that closes a foreign descriptor can
        // make it fail, and then no fiber would ever wake again.
        result.expect("epoll_wait on the reactor's own descriptor");
        let now = Clock::now();
        // A wake-up for memory delays no timer.
        if !is_for_memory {
            self.last_poll.set(now);
        }
        self.sched.borrow_mut().advance(now);
    }

    pub(crate) fn stats(&self) -> Stats {
        let stats = self.sched.borrow_mut().stats();
        Stats { panics: self.panics.get(), polls: self.polls.get(), ..stats }
    }
}

/// Resets the flag however `run` is left.
struct Running<'a>(&'a Cell<bool>);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.set(false);
    }
}

/// The first function on every fiber's stack.
extern "C" fn fiber_main() -> ! {
    let inner = local::inner().expect("a fiber runs within its reactor");
    inner.run_entry();
    inner.ended.set(true);
    // SAFETY: as in `Inner::wait`. Nothing on this stack is needed any more.
    unsafe { switch(inner.fiber_sp.as_ptr(), inner.loop_sp.get()) };
    // An ended fiber's stack is never restored.
    std::process::abort()
}

/// The text of a panic.
fn panic_message(payload: Box<dyn Any + Send>) -> String {
    let text = payload.downcast_ref::<&str>().map(|&text| text.to_owned());
    let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
    // A payload's own destructor may panic. Nobody would catch that, so it is leaked then.
    if let Err(second) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        std::mem::forget(second);
    }
    text.unwrap_or_else(|| "a panic without a message".to_owned())
}
