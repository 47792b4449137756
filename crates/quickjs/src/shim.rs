//! The functions of `shim/onrush_quickjs.h`, where they are documented.

use crate::{
    types::*,
    value::{JSValue, JSValueConst},
};
use core::ffi::{c_char, c_int, c_long, c_void};

unsafe extern "C" {
    // Per-VU execution state.
    pub fn onrush_vm_new(
        rt: *mut JSRuntime,
        dense_ctx: *mut JSContext,
        memory_limit: usize,
        gc_threshold: usize,
        random_seed: u64,
    ) -> *mut OnrushVm;
    pub fn onrush_vm_swap(rt: *mut JSRuntime, vm: *mut OnrushVm);
    pub fn onrush_vm_free(rt: *mut JSRuntime, vm: *mut OnrushVm);
    pub fn onrush_vm_memory_used(vm: *const OnrushVm) -> usize;
    pub fn onrush_rt_memory_used(rt: *mut JSRuntime) -> usize;
    pub fn onrush_rt_charge(rt: *mut JSRuntime, size: usize) -> c_int;
    pub fn onrush_rt_discharge(rt: *mut JSRuntime, size: usize);
    pub fn onrush_rt_lend(rt: *mut JSRuntime);
    pub fn onrush_rt_return(rt: *mut JSRuntime);
    pub fn onrush_rt_take_oom(rt: *mut JSRuntime) -> c_int;
    pub fn onrush_vm_seed_random(ctx: *mut JSContext, seed: u64);
    pub fn onrush_set_stack(rt: *mut JSRuntime, top: usize, size: usize);

    // Shared realm and write traps.
    pub fn onrush_share_realm(ctx: *mut JSContext) -> c_int;
    pub fn onrush_is_shared(obj: JSValueConst) -> c_int;
    pub fn onrush_shared_violations(rt: *mut JSRuntime) -> u64;
    pub fn onrush_last_violation(rt: *mut JSRuntime) -> *const c_char;

    // Modules.
    pub fn onrush_module_detach(ctx: *mut JSContext, m: *mut JSModuleDef);
    pub fn onrush_module_clone(ctx: *mut JSContext, tmpl: *mut JSModuleDef) -> *mut JSModuleDef;
    pub fn onrush_module_request_count(m: *mut JSModuleDef) -> c_int;
    pub fn onrush_module_request_name(ctx: *mut JSContext, m: *mut JSModuleDef, i: c_int) -> JSAtom;
    pub fn onrush_module_set_request(m: *mut JSModuleDef, i: c_int, dep: *mut JSModuleDef);
    pub fn onrush_module_evaluate(ctx: *mut JSContext, m: *mut JSModuleDef) -> JSValue;
    pub fn onrush_module_namespace(ctx: *mut JSContext, m: *mut JSModuleDef) -> JSValue;
    pub fn onrush_module_free(ctx: *mut JSContext, m: *mut JSModuleDef);
    pub fn onrush_modules_release(ctx: *mut JSContext) -> c_int;
    pub fn onrush_module_link_exports(ctx: *mut JSContext, m: *mut JSModuleDef, obj: JSValueConst) -> c_int;
    pub fn onrush_module_is_async(m: *mut JSModuleDef) -> c_int;

    // Host objects.
    pub fn onrush_set_lazy_hook(rt: *mut JSRuntime, hook: Option<OnrushLazyHook>);
    pub fn onrush_define_lazy(ctx: *mut JSContext, obj: JSValueConst, prop: JSAtom, which: c_int) -> c_int;
    pub fn onrush_clone_template(
        ctx: *mut JSContext,
        tmpl: JSValueConst,
        vals: *mut JSValue,
        n: c_int,
        opaque: *mut c_void,
    ) -> JSValue;

    // Odds and ends.
    pub fn onrush_stack_frame(ctx: *mut JSContext) -> *mut c_void;
    pub fn onrush_script_files(
        ctx: *mut JSContext,
        boundary: *const c_void,
        caller: *mut JSAtom,
        outermost: *mut JSAtom,
    );
    pub fn onrush_script_place(ctx: *mut JSContext, name: *mut JSValue, line: *mut c_int, column: *mut c_int)
    -> JSAtom;
    pub fn onrush_is_async_function(func: JSValueConst) -> c_int;
    pub fn onrush_gc_count(rt: *mut JSRuntime) -> c_long;
    pub fn onrush_drop_jobs(rt: *mut JSRuntime);
    pub fn onrush_rt_poke(rt: *mut JSRuntime) -> *mut u32;
    pub fn onrush_string_ascii(s: JSValueConst, len: *mut usize) -> *const u8;
    pub fn onrush_atom_ascii(rt: *mut JSRuntime, atom: JSAtom, len: *mut usize) -> *const u8;
    pub fn onrush_plain_keys(rt: *mut JSRuntime, obj: JSValueConst, names: *mut JSAtom, max: c_int) -> c_int;
    pub fn onrush_literals(rt: *mut JSRuntime, obj: JSValueConst, words: *mut u64, max: c_int) -> c_int;
    pub fn onrush_refer_literals(rt: *mut JSRuntime, words: *const u64, count: c_int, is_kept: c_int);
    pub fn onrush_new_string_latin1(ctx: *mut JSContext, p: *const u8, len: usize) -> JSValue;
    pub fn onrush_string_units(s: JSValueConst, len: *mut usize, is_wide: *mut c_int) -> *const c_void;
    pub fn onrush_boxed_tag(obj: JSValueConst) -> i64;
    pub fn onrush_begin_string_latin1(ctx: *mut JSContext, len: usize, units: *mut *mut u8) -> JSValue;
}

/// Whether the defect of that name was put back in, for the fuzzer of module graphs to find; see `fuzz/README.md`.
#[cfg(onrush_plants)]
#[must_use]
pub fn planted(name: &str) -> bool {
    std::env::var("ONRUSH_PLANT").is_ok_and(|planted| planted == name)
}

/// Whether the defect of that name was put back in: never in this build.
#[cfg(not(onrush_plants))]
#[must_use]
pub const fn planted(_name: &str) -> bool {
    false
}

/// Whether every poll is to suspend the VU that runs, instead of one each few milliseconds; see `fuzz/README.md`.
#[cfg(onrush_plants)]
#[must_use]
pub fn suspends_at_every_poll() -> bool {
    static ASKED: std::sync::OnceLock<bool> = std::sync::OnceLock::new();
    *ASKED.get_or_init(|| std::env::var_os("ONRUSH_SUSPEND").is_some())
}

/// Whether every poll is to suspend the VU that runs: never in this build.
#[cfg(not(onrush_plants))]
#[must_use]
pub const fn suspends_at_every_poll() -> bool {
    false
}
