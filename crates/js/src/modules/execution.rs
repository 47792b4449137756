//! `k6/execution`: what a script can learn about the run, and how it ends it.
#![expect(unsafe_code, reason = "exotic property methods of the tag map")]

use std::{collections::BTreeMap, sync::atomic::Ordering};

use onrush_fiber::{Clock, Nanos};
use onrush_metrics::SystemTag;
use onrush_quickjs_sys as sys;

use super::{export::export, tag_value};
use crate::{
    Abort,
    embed::{Args, Ctx, Getter, Handle, HostClass, HostObject, JsResult, Throw, Val, guarded},
    log::Level,
    state::RunState,
    vu::{
        Vu, VuPhase,
        context::{thread, vu},
    },
};

pub(super) fn build(ctx: Ctx) -> JsResult {
    let exports = ctx.object()?;
    exports.define(ctx, "instance", instance(ctx)?)?;
    exports.define(ctx, "scenario", scenario(ctx)?)?;
    exports.define(ctx, "test", test(ctx)?)?;
    exports.define(ctx, "vu", vu_object(ctx)?)?;
    Ok(exports)
}

fn getter<F: Getter>(ctx: Ctx, object: &Handle, name: &str, function: F) -> JsResult<()> {
    object.define_getter(ctx, name, ctx.getter(name, function)?)
}

fn run() -> &'static RunState {
    &thread().config.state
}

fn outside_init(what: &str) -> JsResult<&'static Vu> {
    let vu = vu();
    if vu.in_init() {
        Err(Throw::error(format!("getting {what} in the init context is not supported")))
    } else {
        Ok(vu)
    }
}

fn instance(ctx: Ctx) -> JsResult {
    let object = ctx.object()?;
    getter(ctx, &object, "currentTestRunDuration", |_, _| instance_value(|state| state.elapsed_ms()))?;
    getter(ctx, &object, "iterationsCompleted", |_, _| {
        instance_value(|state| state.iterations_completed.get() as f64)
    })?;
    getter(ctx, &object, "iterationsInterrupted", |_, _| {
        instance_value(|state| state.iterations_interrupted.get() as f64)
    })?;
    getter(ctx, &object, "vusActive", |_, _| instance_value(|state| state.vus_active.get() as f64))?;
    getter(ctx, &object, "vusInitialized", |_, _| {
        instance_value(|state| state.vus_initialized.load(Ordering::Relaxed) as f64)
    })?;
    Ok(object)
}

fn instance_value(read: impl FnOnce(&RunState) -> f64) -> JsResult {
    outside_init("instance information")?;
    Ok(Val::number(read(run())))
}

fn scenario(ctx: Ctx) -> JsResult {
    let object = ctx.object()?;
    getter(ctx, &object, "name", |ctx, _| in_scenario(|_, scenario| Val::string(ctx, &scenario.name)))?;
    getter(ctx, &object, "executor", |ctx, _| in_scenario(|_, scenario| Val::string(ctx, &scenario.executor)))?;
    getter(ctx, &object, "startTime", |_, _| {
        in_scenario(|_, scenario| {
            Ok(Val::number(Clock::unix_ms(Nanos(scenario.started_at.load(Ordering::Relaxed))).floor()))
        })
    })?;
    getter(ctx, &object, "progress", |_, _| {
        in_scenario(|_, scenario| Ok(Val::number(scenario.progress(Clock::now()))))
    })?;
    getter(ctx, &object, "iterationInInstance", |_, _| {
        in_scenario(|vu, _| Ok(Val::number(vu.ids.get().scenario_in_instance as f64)))
    })?;
    getter(ctx, &object, "iterationInTest", |_, _| {
        in_scenario(|vu, _| Ok(Val::number(vu.ids.get().scenario_in_test as f64)))
    })?;
    Ok(object)
}

fn in_scenario(read: impl FnOnce(&Vu, &crate::ScenarioContext) -> JsResult) -> JsResult {
    let vu = vu();
    let scenario = vu.scenario.borrow().as_ref().map(|(_, scenario)| scenario.clone());
    match scenario {
        Some(scenario) if !vu.in_init() => read(vu, &scenario),
        _ => Err(Throw::error("getting scenario information outside of the VU context is not supported")),
    }
}

impl crate::ScenarioContext {
    /// How far the scenario is, 0 to 1: by iterations where their number is known, else by time.
    pub fn progress(&self, now: Nanos) -> f64 {
        let part = if self.iterations_total > 0 {
            // k6: counts what has ended.
            self.done.get() as f64 / self.iterations_total as f64
        } else if self.duration_ns > 0 {
            now.0.saturating_sub(self.started_at.load(Ordering::Relaxed)) as f64 / self.duration_ns as f64
        } else {
            0.0
        };
        part.clamp(0.0, 1.0)
    }
}

fn test(ctx: Ctx) -> JsResult {
    let object = ctx.object()?;
    export(ctx, &object, "abort", 1, abort)?;
    export(ctx, &object, "fail", 1, fail)?;
    getter(ctx, &object, "options", options)?;
    Ok(object)
}

fn abort(ctx: Ctx, _: &Handle, args: Args<'_>) -> JsResult {
    let vu = vu();
    let mut message = "test aborted".to_owned();
    if args.at(0).is_set() {
        message = format!("{message}: {}", args.at(0).to_text(ctx)?);
    }
    let place = vu.place();
    // k6: no place in `setup()` and `teardown()`.
    if vu.phase.get() != VuPhase::Lifecycle && !place.is_empty() {
        message = format!("{message} {place}");
    }
    run().abort(Abort { message });
    vu.has_aborted.set(true);
    Err(Throw::Interrupted)
}

fn fail(ctx: Ctx, _: &Handle, args: Args<'_>) -> JsResult {
    let vu = vu();
    if vu.in_init() {
        return Err(Throw::error("execution.test.fail() called outside of VU context"));
    }
    let reason = if args.at(0).is_set() { format!(": {}", args.at(0).to_text(ctx)?) } else { String::new() };
    run().mark_failed();
    vu.log(Level::Error, format!("test marked as failed{reason}"));
    Ok(Val::undefined())
}

/// A frozen copy of the consolidated options, built when asked for.
fn options(ctx: Ctx, _: &Handle) -> JsResult {
    outside_init("test options")?;
    let options = ctx.parse_json(thread().config.options_json.as_bytes())?;
    options.freeze_deep(ctx)?;
    Ok(options)
}

fn vu_object(ctx: Ctx) -> JsResult {
    let object = ctx.object()?;
    getter(ctx, &object, "idInInstance", |_, _| Ok(Val::number(outside_init("VU information")?.id as f64)))?;
    getter(ctx, &object, "idInTest", |_, _| Ok(Val::number(outside_init("VU information")?.id_in_test as f64)))?;
    getter(ctx, &object, "iterationInInstance", |_, _| {
        Ok(Val::number(outside_init("VU information")?.iteration.get().unwrap_or(0) as f64))
    })?;
    getter(ctx, &object, "iterationInScenario", |_, _| {
        let vu = outside_init("VU information")?;
        Ok(Val::number(vu.ids.get().in_scenario as f64))
    })?;
    getter(ctx, &object, "tags", |ctx, _| tag_map(ctx))?;
    let metrics = ctx.object()?;
    getter(ctx, &metrics, "tags", |ctx, _| tag_map(ctx))?;
    getter(ctx, &metrics, "metadata", |ctx, _| metadata(ctx))?;
    object.define(ctx, "metrics", metrics)?;
    Ok(object)
}

fn tag_map(ctx: Ctx) -> JsResult {
    outside_init("VU information")?;
    HostClass::create(ctx, TagMap { is_metadata: false })
}

fn metadata(ctx: Ctx) -> JsResult {
    outside_init("VU information")?;
    HostClass::create(ctx, TagMap { is_metadata: true })
}

/// `exec.vu.metrics.tags` and `.metadata`: a live view of the running VU's, without state of its own.
struct TagMap {
    is_metadata: bool,
}

/// Whether the object of an exotic call is the view of the metadata.
fn is_metadata(object: sys::JSValue) -> bool {
    HostClass::<TagMap>::expect(Handle::from_raw_ref(&object)).is_ok_and(|map| map.is_metadata)
}

fn visible(object: sys::JSValue) -> BTreeMap<String, String> {
    let vu = vu();
    if is_metadata(object) { vu.visible_metadata() } else { vu.visible_tags() }
}

impl HostObject for TagMap {
    const NAME: &'static str = "Tags";

    fn exotic() -> Option<&'static sys::JSClassExoticMethods> {
        Some(&EXOTIC)
    }
}

static EXOTIC: sys::JSClassExoticMethods = sys::JSClassExoticMethods {
    get_own_property: Some(get_own_property),
    get_own_property_names: Some(get_own_property_names),
    delete_property: Some(delete_property),
    define_own_property: Some(define_own_property),
    has_property: None,
    get_property: None,
    set_property: Some(set_property),
};

pub(super) fn install_classes(ctx: Ctx) -> JsResult<()> {
    HostClass::<TagMap>::set_prototype(ctx, ctx.object()?);
    Ok(())
}

/// Tags a script may set in one VU.
const TAGS_MAX: usize = 1000;

fn atom_text(ctx: Ctx, property: sys::JSAtom) -> JsResult<Option<String>> {
    // SAFETY: the atom is alive during the exotic call.
    let key = Val::from_raw(unsafe { sys::JS_AtomToValue(ctx.raw(), property) });
    if key.is_symbol() { Ok(None) } else { key.to_text(ctx).map(Some) }
}

fn status(ctx: Ctx, body: impl FnOnce() -> JsResult<bool>) -> i32 {
    guarded(ctx, -1, || body().map(i32::from))
}

unsafe extern "C" fn get_own_property(
    ctx: *mut sys::JSContext,
    descriptor: *mut sys::JSPropertyDescriptor,
    object: sys::JSValue,
    property: sys::JSAtom,
) -> i32 {
    // SAFETY: QuickJS passes a live context; the descriptor may be null.
    let (ctx, descriptor) = unsafe { (Ctx::from_raw(ctx), descriptor.as_mut()) };
    status(ctx, || {
        let Some(name) = atom_text(ctx, property)? else { return Ok(false) };
        let Some(value) = visible(object).remove(&name) else { return Ok(false) };
        if let Some(descriptor) = descriptor {
            descriptor.flags = sys::JS_PROP_C_W_E;
            descriptor.value = Val::string(ctx, &value)?.into_raw();
            descriptor.getter = sys::JS_UNDEFINED;
            descriptor.setter = sys::JS_UNDEFINED;
        }
        Ok(true)
    })
}

unsafe extern "C" fn get_own_property_names(
    ctx: *mut sys::JSContext,
    table: *mut *mut sys::JSPropertyEnum,
    count: *mut u32,
    object: sys::JSValue,
) -> i32 {
    // SAFETY: QuickJS passes a live context and frees the table it is given with js_free.
    unsafe {
        guarded(Ctx::from_raw(ctx), -1, || {
            let tags = visible(object);
            let entries: *mut sys::JSPropertyEnum =
                sys::js_malloc(ctx, tags.len().max(1) * size_of::<sys::JSPropertyEnum>()).cast();
            if entries.is_null() {
                return Err(Throw::Pending);
            }
            for (index, name) in tags.keys().enumerate() {
                let atom = sys::JS_NewAtomLen(ctx, name.as_ptr().cast(), name.len());
                entries.add(index).write(sys::JSPropertyEnum { is_enumerable: true, atom });
            }
            *table = entries;
            *count = tags.len() as u32;
            Ok(0)
        })
    }
}

unsafe extern "C" fn delete_property(ctx: *mut sys::JSContext, object: sys::JSValue, property: sys::JSAtom) -> i32 {
    // SAFETY: QuickJS passes a live context.
    let ctx = unsafe { Ctx::from_raw(ctx) };
    status(ctx, || {
        let (vu, name) = (vu(), atom_text(ctx, property)?);
        if is_metadata(object) {
            name.iter().for_each(|name| vu.metadata.remove(name));
            return Ok(true);
        }
        if let Some(name) = name {
            if is_group(vu, &name) {
                vu.group.replace(vu.thread.root_group.clone());
            }
            vu.delete_tag(name);
        }
        Ok(true)
    })
}

/// k6: the tag `group` is where `group()` begins, unless `systemTags` leaves it out.
fn is_group(vu: &Vu, name: &str) -> bool {
    name == SystemTag::Group.as_str() && vu.thread.config.subscriptions.is_enabled(SystemTag::Group)
}

fn set_tag(ctx: Ctx, object: sys::JSValue, property: sys::JSAtom, value: &Handle) -> JsResult<bool> {
    let Some(name) = atom_text(ctx, property)? else { return Ok(false) };
    let vu = vu();
    if is_metadata(object) {
        let Some(value) = tag_value::text(ctx, value)? else {
            return Err(Throw::type_error(format!(
                "invalid value for metric metadata '{name}': only String, Boolean and Number types are accepted as a metric metadata value"
            )));
        };
        return if vu.metadata.set(name, value.text().into_owned()) {
            Ok(true)
        } else {
            Err(Throw::Range(format!("a VU cannot have more than {TAGS_MAX} metadata entries")))
        };
    }
    let Some(value) = tag_value::text(ctx, value)? else {
        return Err(Throw::type_error(tag_value::complaint(&name)));
    };
    if is_group(vu, &name) {
        vu.group.replace(value.text().into());
        if let Some(tags) = vu.custom_tags.borrow_mut().as_mut() {
            tags.remove(&name);
        }
    } else {
        let mut custom = vu.custom_tags.borrow_mut();
        let tags = custom.get_or_insert_default();
        if tags.len() >= TAGS_MAX && !tags.contains_key(&name) {
            return Err(Throw::Range(format!("a VU cannot have more than {TAGS_MAX} tags")));
        }
        tags.insert(name, Some(value.text().into_owned()));
    }
    vu.refresh_tags();
    Ok(true)
}

unsafe extern "C" fn define_own_property(
    ctx: *mut sys::JSContext,
    object: sys::JSValue,
    property: sys::JSAtom,
    value: sys::JSValue,
    _: sys::JSValue,
    _: sys::JSValue,
    _: i32,
) -> i32 {
    // SAFETY: QuickJS passes a live context and value.
    let ctx = unsafe { Ctx::from_raw(ctx) };
    status(ctx, || set_tag(ctx, object, property, Handle::from_raw_ref(&value)))
}

unsafe extern "C" fn set_property(
    ctx: *mut sys::JSContext,
    object: sys::JSValue,
    property: sys::JSAtom,
    value: sys::JSValue,
    _: sys::JSValue,
    _: i32,
) -> i32 {
    // SAFETY: QuickJS passes a live context and value.
    let ctx = unsafe { Ctx::from_raw(ctx) };
    status(ctx, || set_tag(ctx, object, property, Handle::from_raw_ref(&value)))
}
