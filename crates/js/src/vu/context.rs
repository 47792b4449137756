//! Whose code is running: the current VU of a thread, entering and leaving it, and its tags.
#![expect(unsafe_code, reason = "thread-local raw pointers set by fiber hooks")]

use std::{cell::Cell, ffi::c_void, rc::Rc, sync::atomic::Ordering};

use onrush_fiber::{Hooks, StackRange, Woke};
use onrush_metrics::{Shard, SystemTag, TagNode};
use onrush_quickjs_sys as sys;

use super::{Vu, slices};
use crate::{
    JsThread, RunConfig,
    embed::{Asked, JsResult, Throw, contained, flag, is_undivided, look_at_halt_mark, runtime_ptr, undivided},
    thread::STACK_RESERVE_BYTES,
};

thread_local! {
    static CURRENT: Cell<*const Vu> = const { Cell::new(std::ptr::null()) };
    static THREAD: Cell<*const JsThread> = const { Cell::new(std::ptr::null()) };
}

/// The VU whose code is running.
///
/// Natives call this; they only ever run inside a VU, because scripts only do.
pub(crate) fn vu() -> &'static Vu {
    let vu = CURRENT.get();
    assert!(!vu.is_null(), "native functions run inside a VU");
    // SAFETY: set by `enter` to a VU that its fiber keeps alive until `leave`; natives do not keep the reference.
    unsafe { &*vu }
}

/// The VU whose code is running, if any.
pub(crate) fn try_vu() -> Option<&'static Vu> {
    let vu = CURRENT.get();
    // SAFETY: see `vu`.
    unsafe { vu.as_ref() }
}

/// The VU whose code is running, kept alive by the caller: for child fibers.
pub(crate) fn vu_rc() -> Rc<Vu> {
    let vu: *const Vu = vu();
    // SAFETY: every VU is made by `Vu::new` inside an Rc, and `enter` got its pointer from `Rc::as_ptr`; one more count
    // makes the returned Rc an owner of its own.
    unsafe {
        Rc::increment_strong_count(vu);
        Rc::from_raw(vu)
    }
}

/// This thread's engine.
pub(crate) fn thread() -> &'static JsThread {
    let thread = THREAD.get();
    assert!(!thread.is_null(), "scripts run on worker threads");
    // SAFETY: set once to an Rc that is leaked for the thread's life.
    unsafe { &*thread }
}

/// Makes `thread` this thread's engine for good.
pub(crate) fn install_thread(thread: &Rc<JsThread>) {
    THREAD.set(Rc::into_raw(thread.clone()));
}

/// The hooks that swap a VU's execution state in and out around every switch of its fiber.
pub(crate) fn hooks(vu: &Rc<Vu>) -> Hooks {
    let data = Rc::as_ptr(vu).cast_mut().cast();
    // SAFETY: all three functions take a pointer to a live VU; the spawner keeps the VU beyond the fiber's end.
    unsafe { Hooks::new(data, enter, leave).approached(size_of::<Vu>(), approach) }
}

/// Has what the VU's next steps use brought near while the VU before it runs.
unsafe fn approach(data: *mut c_void) {
    // SAFETY: see `enter`; nothing is changed.
    let vu = unsafe { &*data.cast::<Vu>() };
    onrush_fiber::prefetch(vu.vm.cast(), VM_BYTES);
    vu.connections.approach();
}

/// About what a swap touches: the C side's `OnrushVm`.
const VM_BYTES: usize = 256;

unsafe fn enter(data: *mut c_void, stack: StackRange) {
    // SAFETY: `data` is the VU given to `hooks`, kept alive by the closure its fiber runs.
    let vu = unsafe { &*data.cast::<Vu>() };
    debug_assert!(CURRENT.get().is_null(), "one VU runs at a time");
    CURRENT.set(vu);
    slices::begin(vu.is_halted.get());
    // SAFETY: the VU stays where it is until `leave`.
    unsafe { look_at_halt_mark(Some(&vu.is_halted)) }
    let stack_bytes = (stack.top - stack.low).saturating_sub(STACK_RESERVE_BYTES);
    // SAFETY: the VM belongs to this runtime and is swapped out now; its code runs on `stack` until it leaves.
    unsafe {
        sys::onrush_set_stack(runtime_ptr(), stack.top, stack_bytes);
        sys::onrush_vm_swap(runtime_ptr(), vu.vm);
    }
}

unsafe fn leave(data: *mut c_void) {
    // SAFETY: see `enter`; the VM is swapped in now.
    unsafe {
        sys::onrush_vm_swap(runtime_ptr(), (*data.cast::<Vu>()).vm);
        look_at_halt_mark(None);
    }
    CURRENT.set(std::ptr::null());
    slices::end();
}

/// A call of the running VU begins: what cut the one before is forgotten.
pub(crate) fn begin_call(vu: &Vu) {
    vu.is_halted.set(false);
    // That others have their turn was asked of the VU, not of the call: one that iterates without end hardly polls.
    if Asked::by(flag()) == Asked::Halt {
        slices::fresh().of(flag());
    }
}

/// Forgets the running VU's microtasks.
pub(crate) fn drop_jobs() {
    // SAFETY: frees what only the job queue holds.
    unsafe { sys::onrush_drop_jobs(runtime_ptr()) }
}

/// Runs `body` while `vu` is entered but swapped out: what it allocates is the thread's and not the VU's. It must not
/// run script code.
pub(crate) fn off_account<R>(vu: &Vu, body: impl FnOnce() -> R) -> R {
    struct Back(*mut sys::OnrushVm);
    impl Drop for Back {
        fn drop(&mut self) {
            // SAFETY: swapped out below.
            unsafe { sys::onrush_vm_swap(runtime_ptr(), self.0) }
        }
    }
    // SAFETY: the VM is swapped in, as its VU runs; `Back` swaps it in again.
    unsafe { sys::onrush_vm_swap(runtime_ptr(), vu.vm) };
    let _back = Back(vu.vm);
    undivided(body)
}

/// Runs `body` as `vu` outside its fiber, for short work that never suspends.
pub(crate) fn with_entered<R>(vu: &Vu, body: impl FnOnce() -> R) -> R {
    struct Leave(*mut c_void);
    impl Drop for Leave {
        fn drop(&mut self) {
            // SAFETY: entered below with the same pointer.
            unsafe { leave(self.0) }
        }
    }
    let data = std::ptr::from_ref(vu).cast_mut().cast();
    // Outside of a fiber, where `body` only frees objects, the depth is not checked: an empty range says so.
    let stack = onrush_fiber::stack_range().unwrap_or(StackRange { low: 0, top: 0 });
    // SAFETY: `vu` outlives this call and is swapped out, as nothing else runs on this thread.
    unsafe { enter(data, stack) };
    let _leave = Leave(data);
    undivided(body)
}

/// QuickJS asks whether to go on, while its flag is raised. Suspends a VU that used up its time slice, and ends one that
/// was cancelled.
pub(crate) unsafe extern "C" fn interrupt(_: *mut sys::JSRuntime, _: *mut c_void) -> i32 {
    // A panic of ours must not unwind into QuickJS's frames: it ends the call.
    contained(1, may_go_on)
}

fn may_go_on() -> i32 {
    let Some(vu) = try_vu() else { return 0 };
    if Asked::by(flag()) == Asked::Yield {
        if is_undivided() || onrush_fiber::current().is_none() {
            // The flag stays up: there will be a better moment.
            return 0;
        }
        note_slice(vu);
        // Entering again lowers the flag.
        if onrush_fiber::yield_now() == Woke::Cancelled {
            vu.is_halted.set(true);
        }
    }
    if vu.is_halted.get() {
        Asked::Halt.of(flag());
    }
    i32::from(vu.is_halted.get())
}

/// Notes whose code it is that others wait for.
#[cold]
fn note_slice(vu: &Vu) {
    if let Ok(scenario) = vu.scenario.try_borrow()
        && let Some((_, scenario)) = scenario.as_ref()
    {
        scenario.slices.fetch_add(1, Ordering::Relaxed);
    }
}

/// Lets the thread's other VUs run if this one has used up its slice: for natives, between pieces of long work. No borrow
/// of what scripts can change may live across it.
pub(crate) fn pause() -> JsResult<()> {
    // SAFETY: the hook looks at the running VU only.
    if unsafe { interrupt(std::ptr::null_mut(), std::ptr::null_mut()) } == 0 { Ok(()) } else { Err(Throw::Interrupted) }
}

/// The error that unwinds a cancelled VU, if the running one is.
pub(crate) fn alive() -> JsResult<()> {
    if onrush_fiber::is_cancelled() { Err(Throw::Interrupted) } else { Ok(()) }
}

/// Whether what was thrown is the end of a VU that is cut. Seen from outside of script code it is an exception like others.
/// k6: what was measured when a VU is cut makes no sample.
pub(crate) fn is_cut(throw: &Throw) -> bool {
    matches!(throw, Throw::Interrupted) || onrush_fiber::is_cancelled()
}

/// Turns the outcome of a wait into the error that unwinds a cancelled VU.
pub(crate) fn not_cancelled(woke: Woke) -> JsResult<()> {
    if woke == Woke::Cancelled { Err(Throw::Interrupted) } else { Ok(()) }
}

/// The interned tag set of run tags, then scenario name and scenario tags, without those that `is_deleted` names.
pub(crate) fn base_node(
    shard: &mut Shard,
    config: &RunConfig,
    scenario: Option<usize>,
    is_deleted: &dyn Fn(&str) -> bool,
) -> TagNode {
    let scenario = scenario.and_then(|index| config.scenarios.get(index));
    let mut node = TagNode::ROOT;
    for (name, value) in config.tags.iter().chain(scenario.iter().flat_map(|scenario| &scenario.tags)) {
        if !is_deleted(name) {
            node = with_named(shard, node, name, value);
        }
    }
    match scenario {
        Some(scenario) if !is_deleted(SystemTag::Scenario.as_str()) => {
            shard.with_system(node, SystemTag::Scenario, &scenario.name)
        }
        _ => node,
    }
}

/// Adds a tag by name, if anyone subscribed to it.
pub(crate) fn with_named(shard: &mut Shard, node: TagNode, name: &str, value: &str) -> TagNode {
    match shard.key(name) {
        Some(key) => shard.with(node, key, value),
        None => node,
    }
}

/// A new, swapped-out execution state.
pub(crate) fn new_vm(thread: &JsThread, seed: u64) -> *mut sys::OnrushVm {
    let shared = thread.shared_realm().map_or(std::ptr::null_mut(), |ctx| ctx.raw());
    // SAFETY: the runtime and the shared realm live as long as the thread.
    let vm = unsafe {
        sys::onrush_vm_new(
            thread.runtime.raw(),
            shared,
            thread.config.script.memory_limit_bytes,
            GC_THRESHOLD_BYTES,
            seed,
        )
    };
    assert!(!vm.is_null(), "the process is out of memory");
    vm
}

/// Bytes in a VU's account, whether it is running or not.
pub(crate) fn memory_used(vu: &Vu) -> usize {
    // SAFETY: reads counters of a live VM or of the runtime it is swapped into.
    unsafe {
        if std::ptr::eq(CURRENT.get(), vu) {
            sys::onrush_rt_memory_used(runtime_ptr())
        } else {
            sys::onrush_vm_memory_used(vu.vm)
        }
    }
}

/// Frees the objects a dropped VU still owns.
pub(crate) fn free_vm(vu: &Vu) {
    // SAFETY: called once, from the VU's drop, swapped out.
    unsafe { sys::onrush_vm_free(runtime_ptr(), vu.vm) }
}

/// How large a VU's heap is when its cycles are first collected, and the least at which they are again: what reference
/// counting leaves behind stays below that, for each of thousands of VUs, and so does not triple what they need. A VU that
/// does little has 4 to 12 KB, and collecting them costs a microsecond for each 8 KB. After a collection QuickJS waits for
/// one and a half times what is left, so that a VU with a larger heap collects as rarely as one alone in its process.
const GC_THRESHOLD_BYTES: usize = 12 << 10;

/// Frees the unreachable cycles of the running VU.
pub(crate) fn collect_garbage() {
    // SAFETY: the runtime is alive; only the swapped-in VU's objects are on its list.
    unsafe { sys::JS_RunGC(runtime_ptr()) }
}

/// Whether an allocation of the running VU was refused by its memory limit since last asked.
pub(crate) fn take_out_of_memory() -> bool {
    // SAFETY: reads and clears a flag of the runtime.
    unsafe { sys::onrush_rt_take_oom(runtime_ptr()) != 0 }
}

/// Runs `body` as `vu`, entering it if it is not the one running.
pub(crate) fn with_current<R>(vu: &Vu, body: impl FnOnce() -> R) -> R {
    if std::ptr::eq(CURRENT.get(), vu) { body() } else { with_entered(vu, body) }
}
