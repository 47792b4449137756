//! `k6/x/faker`: made-up data.
//!
//! `onrush_faker` makes it; here are the objects. A Faker has a property for each category and each of these one for each
//! function, none of which exists before a script asks for it: a VU that imports the module pays for the state of its
//! generator alone. The default Faker is shared by the VUs of a thread and finds the generator of the VU that calls.
#![expect(unsafe_code, reason = "exotic properties: categories and functions by name")]

use std::{cell::RefCell, rc::Rc};

use onrush_faker::{Argument, FakerError, Function, Rng, Value, categories};
use onrush_fiber::Clock;
use onrush_quickjs_sys as sys;

use super::export::export_class;
use crate::{
    embed::{Args, Atom, Ctx, Handle, HostClass, HostObject, JsResult, Throw, Val, guarded},
    vu::context::{pause, vu},
};

/// What `new Faker()` makes, and the default export.
struct Faker {
    /// `None` is the running VU's.
    generator: Option<Generator>,
}

/// The functions of a category.
struct Category {
    generator: Option<Generator>,
    /// `zen` has the functions of all.
    name: &'static str,
}

type Generator = Rc<RefCell<Rng>>;

/// The generator of the default Faker in a VU.
struct DefaultGenerator(Generator);

/// The category of all functions.
const ZEN: &str = "zen";

/// The variable that seeds the default Faker.
const SEED_VARIABLE: &str = "XK6_FAKER_SEED";

impl HostObject for Faker {
    const NAME: &'static str = "Faker";

    fn exotic() -> Option<&'static sys::JSClassExoticMethods> {
        static EXOTIC: sys::JSClassExoticMethods = sys::JSClassExoticMethods {
            get_own_property: Some(category_property),
            get_own_property_names: None,
            ..NOTHING
        };
        Some(&EXOTIC)
    }
}

impl HostObject for Category {
    const NAME: &'static str = "Category";

    fn exotic() -> Option<&'static sys::JSClassExoticMethods> {
        static EXOTIC: sys::JSClassExoticMethods = sys::JSClassExoticMethods {
            get_own_property: Some(function_property),
            get_own_property_names: Some(function_names),
            ..NOTHING
        };
        Some(&EXOTIC)
    }
}

const NOTHING: sys::JSClassExoticMethods = sys::JSClassExoticMethods {
    get_own_property: None,
    get_own_property_names: None,
    delete_property: None,
    define_own_property: None,
    has_property: None,
    get_property: None,
    set_property: None,
};

pub(super) fn install_classes(ctx: Ctx) -> JsResult<()> {
    let prototype = ctx.object()?;
    prototype.method(ctx, "call", 1, call_by_name)?;
    HostClass::<Faker>::set_prototype(ctx, prototype);
    HostClass::<Category>::set_prototype(ctx, ctx.object()?);
    Ok(())
}

pub(super) fn build(ctx: Ctx) -> JsResult {
    let exports = HostClass::create(ctx, Faker { generator: None })?;
    export_class(ctx, &exports, "Faker", &HostClass::<Faker>::prototype(ctx), construct)?;
    Ok(exports)
}

fn construct(ctx: Ctx, _: &Handle, args: Args<'_>) -> JsResult {
    let seed = if args.at(0).is_set() { args.at(0).to_i64(ctx)? } else { 0 };
    HostClass::create(ctx, Faker { generator: Some(generator(seed)) })
}

/// Seed 0 is any.
fn generator(seed: i64) -> Generator {
    let seed = if seed == 0 { vu().thread.next_seed() } else { seed.cast_unsigned() };
    Rc::new(RefCell::new(Rng::new(seed)))
}

/// The generator of an object: its own, or the running VU's.
fn running(generator: Option<&Generator>) -> JsResult<Generator> {
    if let Some(generator) = generator {
        return Ok(generator.clone());
    }
    let vu = vu();
    let of_vu = vu.slots.of_or_try(|| {
        let seed = vu.script().env.get(SEED_VARIABLE).and_then(|text| text.trim().parse().ok()).unwrap_or(0);
        Ok::<_, Throw>(DefaultGenerator(self::generator(seed)))
    })?;
    Ok(of_vu.0.clone())
}

/// `faker.call("firstName")`
fn call_by_name(ctx: Ctx, this: &Handle, args: Args<'_>) -> JsResult {
    let faker = HostClass::<Faker>::expect(this)?;
    let name = args.at(0).to_text(ctx)?;
    let Some(function) = Function::find(&name) else {
        return Err(Throw::type_error(format!("faker has no function {name:?}")));
    };
    let arguments = arguments(ctx, args, 1)?;
    make(ctx, function, faker.generator.as_ref(), &arguments)
}

/// Calls the function of a category with that number.
fn call(ctx: Ctx, this: &Handle, args: Args<'_>, number: usize) -> JsResult {
    let category = HostClass::<Category>::expect(this)?;
    let function = u16::try_from(number).ok().and_then(Function::numbered);
    let function = function.ok_or_else(|| Throw::error("unknown function"))?;
    let arguments = arguments(ctx, args, 0)?;
    make(ctx, function, category.generator.as_ref(), &arguments)
}

/// The arguments from number `from` on, as texts. k6: whatever they are.
fn arguments(ctx: Ctx, args: Args<'_>, from: usize) -> JsResult<Vec<Option<Argument>>> {
    let mut arguments = Vec::new();
    for index in from..args.len().min(from + PARAMETERS_MAX) {
        let value = args.at(index);
        arguments.push(if !value.is_set() {
            None
        } else if value.is_array() {
            let length = value.length(ctx)?;
            if length > ITEMS_MAX {
                return Err(Throw::Range(format!("faker takes arrays of at most {ITEMS_MAX} items, not {length}")));
            }
            let mut items = Vec::with_capacity(length as usize);
            for index in 0..length {
                items.push(value.get_index(ctx, index)?.to_text(ctx)?);
                pause()?;
            }
            Some(Argument::Many(items))
        } else {
            Some(Argument::One(value.to_text(ctx)?))
        });
    }
    Ok(arguments)
}

fn make(ctx: Ctx, function: Function, generator: Option<&Generator>, arguments: &[Option<Argument>]) -> JsResult {
    let now = (Clock::unix_ms(Clock::now()) / 1e3) as i64;
    let generator = running(generator)?;
    let made = function.call(&mut generator.borrow_mut(), now, arguments);
    match made {
        Ok(value) => into_js(ctx, &value),
        Err(error @ FakerError::MissingParameter(_)) => Err(Throw::type_error(error.to_string())),
        Err(error) => Err(Throw::error(error.to_string())),
    }
}

fn into_js(ctx: Ctx, value: &Value) -> JsResult {
    match value {
        Value::Boolean(is_true) => Ok(Val::bool(*is_true)),
        Value::Integer(number) => Ok(Val::number(*number as f64)),
        Value::Unsigned(number) => Ok(Val::number(*number as f64)),
        Value::Float(number) => Ok(Val::number(*number)),
        Value::Text(text) => Val::string(ctx, text),
        Value::List(items) => {
            let array = ctx.array()?;
            for (index, item) in items.iter().enumerate() {
                array.define_index(ctx, index as u32, into_js(ctx, item)?)?;
            }
            pause()?;
            Ok(array)
        }
        Value::Object(members) => {
            let object = ctx.object()?;
            for (name, member) in members {
                object.define(ctx, name, into_js(ctx, member)?)?;
            }
            Ok(object)
        }
    }
}

/// Answers an exotic call: whether there is a property of that name, and its value if that is asked for.
///
/// # Safety
/// The pointers are those QuickJS passes to `get_own_property`.
unsafe fn property(
    ctx: *mut sys::JSContext,
    descriptor: *mut sys::JSPropertyDescriptor,
    property: sys::JSAtom,
    value: impl FnOnce(Ctx, &str) -> JsResult<Option<Val>>,
) -> i32 {
    // SAFETY: the context is alive; the descriptor may be null.
    let (ctx, descriptor) = unsafe { (Ctx::from_raw(ctx), descriptor.as_mut()) };
    guarded(ctx, -1, || {
        // SAFETY: the atom is alive during the call.
        let key = Val::from_raw(unsafe { sys::JS_AtomToValue(ctx.raw(), property) });
        if key.is_symbol() {
            return Ok(0);
        }
        let Some(value) = value(ctx, &key.to_js_string(ctx)?.text())? else { return Ok(0) };
        if let Some(descriptor) = descriptor {
            descriptor.flags = sys::JS_PROP_ENUMERABLE;
            descriptor.value = value.into_raw();
            descriptor.getter = sys::JS_UNDEFINED;
            descriptor.setter = sys::JS_UNDEFINED;
        }
        Ok(1)
    })
}

unsafe extern "C" fn category_property(
    ctx: *mut sys::JSContext,
    descriptor: *mut sys::JSPropertyDescriptor,
    object: sys::JSValue,
    name: sys::JSAtom,
) -> i32 {
    // SAFETY: these are what QuickJS passes.
    unsafe {
        property(ctx, descriptor, name, |ctx, name| {
            let Some(name) = categories().chain([ZEN]).find(|known| *known == name) else { return Ok(None) };
            let faker = HostClass::<Faker>::expect(Handle::from_raw_ref(&object))?;
            HostClass::create(ctx, Category { generator: faker.generator.clone(), name }).map(Some)
        })
    }
}

unsafe extern "C" fn function_property(
    ctx: *mut sys::JSContext,
    descriptor: *mut sys::JSPropertyDescriptor,
    object: sys::JSValue,
    name: sys::JSAtom,
) -> i32 {
    // SAFETY: these are what QuickJS passes.
    unsafe {
        property(ctx, descriptor, name, |ctx, name| {
            let object = Handle::from_raw_ref(&object);
            let category = HostClass::<Category>::expect(object)?;
            let Some(function) = Function::find(name).filter(|function| category.has(*function)) else {
                return Ok(None);
            };
            let number = usize::from(function.number());
            ctx.bound(function.name(), function.parameter_count() as i32, number, call, object).map(Some)
        })
    }
}

impl Category {
    fn has(&self, function: Function) -> bool {
        self.name == ZEN || self.name == function.category()
    }
}

unsafe extern "C" fn function_names(
    ctx: *mut sys::JSContext,
    table: *mut *mut sys::JSPropertyEnum,
    count: *mut u32,
    object: sys::JSValue,
) -> i32 {
    // SAFETY: QuickJS passes a live context and places to write to, and frees the table it is given with js_free.
    unsafe {
        let ctx = Ctx::from_raw(ctx);
        guarded(ctx, -1, || {
            let category = HostClass::<Category>::expect(Handle::from_raw_ref(&object))?;
            let names: Vec<&str> = Function::all().filter(|each| category.has(*each)).map(Function::name).collect();
            let bytes = names.len().max(1) * size_of::<sys::JSPropertyEnum>();
            let entries: *mut sys::JSPropertyEnum = sys::js_malloc(ctx.raw(), bytes).cast();
            if entries.is_null() {
                return Err(Throw::Pending);
            }
            for (index, name) in names.iter().enumerate() {
                let atom = Atom::new(ctx, name);
                entries.add(index).write(sys::JSPropertyEnum { is_enumerable: true, atom: atom.raw() });
                // The reference moves into the table.
                std::mem::forget(atom);
            }
            (*table, *count) = (entries, names.len() as u32);
            Ok(0)
        })
    }
}

/// No function has more parameters.
const PARAMETERS_MAX: usize = 8;
/// The longest array that is looked at.
const ITEMS_MAX: u32 = 100_000;
