//! `k6`: check, fail, group, randomSeed, sleep.

use std::cell::RefCell;

use onrush_fiber::{Clock, Nanos};
use onrush_metrics::{SeriesIdx, SystemTag, TagNode, builtin};
use onrush_quickjs_sys as sys;
use rustc_hash::FxHashMap;

use super::{export::export, tag_value};
use crate::{
    embed::{Args, Atom, Ctx, Handle, JsResult, Throw, Val},
    vu::{
        Vu,
        context::{not_cancelled, vu, with_named},
    },
};

/// What separates the parts of a group path.
const SEPARATOR: &str = "::";

pub(super) fn build(ctx: Ctx) -> JsResult {
    let exports = ctx.object()?;
    export(ctx, &exports, "check", 2, check)?;
    export(ctx, &exports, "fail", 1, fail)?;
    export(ctx, &exports, "group", 2, group)?;
    export(ctx, &exports, "randomSeed", 1, random_seed)?;
    export(ctx, &exports, "sleep", 1, sleep)?;
    Ok(exports)
}

fn check(ctx: Ctx, _: &Handle, args: Args<'_>) -> JsResult {
    let vu = vu();
    if vu.in_init() {
        return Err(Throw::error("Using check() in the init context is not supported"));
    }
    if args.len() < 2 {
        return Err(Throw::error("no checks provided to `check`"));
    }
    if !args.at(1).is_set() {
        return Err(Throw::type_error("Cannot convert undefined or null to object"));
    }
    // k6: a string's checks are its letters; other primitive values have none.
    let (value, sets) = (args.at(0), args.at(1).to_object(ctx)?);
    let mut node = vu.node.get();
    let outcome = tag_value::for_each(ctx, args.at(2), |name, text| {
        node = with_named(&mut vu.thread.shard.borrow_mut(), node, name, text);
    })?;
    if let Err(name) = outcome {
        return Err(Throw::error(tag_value::complaint(&name)));
    }
    let mut all = true;
    for key in sets.each_key(ctx)? {
        let series = vu.thread.slots.of::<CheckCache>().series(ctx, vu, node, &key)?;
        let mut outcome = sets.get(ctx, &key)?;
        let mut thrown = None;
        if outcome.is_function(ctx) {
            if outcome.is_async_function() {
                return Err(Throw::error(
                    "the built-in check() does not support async functions as arguments. Use the check() of the k6-utils library, or await the value first",
                ));
            }
            match ctx.call(&outcome, Handle::UNDEFINED, &[value]) {
                Ok(result) => outcome = result,
                Err(throw) => thrown = Some(throw),
            }
            if outcome.is_promise() {
                return Err(Throw::error(
                    "the built-in check() does not support async functions as arguments. Use the check() of the k6-utils library, or await the value first",
                ));
            }
        }
        // k6: a VU that is cut while it checks has checked nothing.
        if onrush_fiber::is_cancelled() {
            return Err(thrown.unwrap_or(Throw::Interrupted));
        }
        let passed = thrown.is_none() && outcome.truthy(ctx);
        {
            let mut shard = vu.thread.shard.borrow_mut();
            vu.annotate(&mut shard);
            shard.add(series, f64::from(u8::from(passed)));
        }
        // k6: a check that throws counts as failed, and the exception goes on; the checks after it are not run.
        if let Some(throw) = thrown {
            return Err(throw);
        }
        all &= passed;
    }
    Ok(Val::bool(all))
}

/// The series of checks by tags and name. Names are property keys, which the engine has interned: finding a series by
/// key needs neither the name's text nor a look at the tags.
#[derive(Default)]
struct CheckCache {
    series: RefCell<FxHashMap<(TagNode, u32), (SeriesIdx, Atom)>>,
}

/// Series remembered; beyond that the cache starts again.
const CHECK_CACHE_MAX: usize = 4096;

impl CheckCache {
    fn series(&self, ctx: Ctx, vu: &Vu, node: TagNode, key: &Atom) -> JsResult<SeriesIdx> {
        let id = (node, key.raw());
        if let Some((series, _)) = self.series.borrow().get(&id) {
            return Ok(*series);
        }
        let name = key.text(ctx)?;
        if name.contains(SEPARATOR) {
            return Err(Throw::error("group and check names may not contain '::'"));
        }
        let mut shard = vu.thread.shard.borrow_mut();
        let node = shard.with_system(node, SystemTag::Check, &name);
        let series = shard.series(builtin::CHECKS, node);
        let mut cache = self.series.borrow_mut();
        if cache.len() >= CHECK_CACHE_MAX {
            cache.clear();
        }
        // The cache's own reference keeps the key's number from being used for another name.
        cache.insert(id, (series, key.dup()));
        Ok(series)
    }
}

fn fail(ctx: Ctx, _: &Handle, args: Args<'_>) -> JsResult {
    let message = if args.at(0).is_undefined() { String::new() } else { args.at(0).to_text(ctx)? };
    Err(Throw::error(message))
}

fn group(ctx: Ctx, _: &Handle, args: Args<'_>) -> JsResult {
    let vu = vu();
    if vu.in_init() {
        return Err(Throw::error("Using group() in the init context is not supported"));
    }
    let body = args.at(1);
    if !body.is_function(ctx) {
        return Err(Throw::error("group() requires a callback as a second argument"));
    }
    if body.is_async_function() {
        return Err(Throw::error(
            "group() does not support async functions as arguments, please see https://grafana.com/docs/k6/latest/javascript-api/k6/group/#working-with-async-functions for more info",
        ));
    }
    let name = args.at(0).to_text(ctx)?;
    if name.contains(SEPARATOR) {
        return Err(Throw::error("group and check names may not contain '::'"));
    }
    let path = match (&**vu.group.borrow(), name.as_str()) {
        // k6: a group without a name in the root is the root.
        ("", "") => String::new(),
        (outer, name) => format!("{outer}{SEPARATOR}{name}"),
    };
    vu.in_group(path.into(), || {
        let start = Clock::now();
        let result = ctx.call(body, Handle::UNDEFINED, &[]);
        // k6: the duration is emitted also when the callback throws, but not when it is cut.
        if !onrush_fiber::is_cancelled() {
            vu.sample(builtin::GROUP_DURATION, (Clock::now().0 - start.0) as f64 / 1e6);
        }
        result
    })
}

#[expect(unsafe_code, reason = "seeds QuickJS's generator")]
fn random_seed(ctx: Ctx, _: &Handle, args: Args<'_>) -> JsResult {
    let seed = args.at(0).to_i64(ctx)?;
    // SAFETY: writes the running VU's generator state. Zero would be a fixed point of xorshift.
    unsafe { sys::onrush_vm_seed_random(ctx.raw(), (seed as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1) };
    Ok(Val::undefined())
}

fn sleep(ctx: Ctx, _: &Handle, args: Args<'_>) -> JsResult {
    let seconds = args.at(0).to_number(ctx)?;
    let wait_ns = seconds * 1e9;
    // k6: what does not fit Go's durations, infinity among it, has passed already.
    if wait_ns.is_nan() || wait_ns <= 0.0 || wait_ns >= i64::MAX as f64 {
        return Ok(Val::undefined());
    }
    let until = Nanos(Clock::now().0.saturating_add(wait_ns as u64));
    not_cancelled(onrush_fiber::sleep_until(until))?;
    Ok(Val::undefined())
}
