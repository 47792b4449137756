//! Properties of host classes whose values are made at their first touch, and templates of objects that have such.
#![expect(unsafe_code, reason = "QuickJS's hook for lazy properties, and clones of templates")]

use std::{cell::RefCell, ffi::c_void, marker::PhantomData, rc::Rc};

use onrush_quickjs_sys as sys;

use super::{Args, Ctx, Handle, HostClass, HostObject, JsResult, Throw, Val, native, runtime_ptr, undivided};

/// A property of objects over a `T`: its name, and what makes its value.
pub(crate) type LazyProperty<T> = (&'static str, fn(Ctx, &T) -> JsResult);

/// A method of objects of a class that is bound to each: its name, length, and what it does; `this` is an object over the
/// same value.
pub(crate) type BoundMethod = (&'static str, i32, fn(Ctx, &Handle, Args<'_>) -> JsResult);

/// Makes the value of a class's lazy property with that number; bound methods are numbered after them.
type Materialise = fn(Ctx, &Handle, usize) -> JsResult;

thread_local! {
    /// By class id, for the classes that have lazy properties.
    static CLASSES: RefCell<Vec<Option<Materialise>>> = const { RefCell::new(Vec::new()) };
}

/// Notes what makes the lazy properties of a class.
pub(super) fn register<T: HostObject>(id: sys::JSClassID) {
    if T::LAZY.is_empty() && T::BOUND.is_empty() {
        return;
    }
    CLASSES.with_borrow_mut(|classes| {
        let index = id as usize;
        if classes.len() <= index {
            classes.resize(index + 1, None);
        }
        classes[index] = Some(materialise::<T>);
    });
    // SAFETY: the hook lives as long as the program; it is the same for all classes.
    unsafe { sys::onrush_set_lazy_hook(runtime_ptr(), Some(hook)) }
}

fn materialise<T: HostObject>(ctx: Ctx, object: &Handle, number: usize) -> JsResult {
    // A template has nothing behind it.
    let Some(value) = HostClass::<T>::of(object) else { return Ok(Val::undefined()) };
    if let Some((index, (name, length, _))) =
        number.checked_sub(T::LAZY.len()).and_then(|index| T::BOUND.get(index).map(|method| (index, method)))
    {
        let alias = HostClass::<T>::alias(ctx, object)?;
        return ctx.bound(name, *length, index, bound::<T>, &alias);
    }
    let (_, make) = T::LAZY.get(number).ok_or_else(|| Throw::error("unknown lazy property"))?;
    make(ctx, value)
}

/// Calls a bound method.
fn bound<T: HostObject>(ctx: Ctx, this: &Handle, args: Args<'_>, index: usize) -> JsResult {
    let (_, _, method) = T::BOUND.get(index).ok_or_else(|| Throw::error("unknown method"))?;
    method(ctx, this, args)
}

unsafe extern "C" fn hook(
    ctx: *mut sys::JSContext,
    object: sys::JSValue,
    _: *mut c_void,
    number: std::ffi::c_int,
) -> sys::JSValue {
    // SAFETY: QuickJS passes a live context and an object of it.
    let (ctx, id) = unsafe { (Ctx::from_raw(ctx), sys::JS_GetClassID(object)) };
    let materialise = CLASSES.with_borrow(|classes| classes.get(id as usize).copied().flatten());
    // The engine holds on to the property meanwhile.
    native::finish(ctx, || match materialise {
        Some(materialise) => undivided(|| materialise(ctx, Handle::from_raw_ref(&object), number.max(0) as usize)),
        None => Ok(Val::undefined()),
    })
}

impl<T: HostObject> HostClass<T> {
    /// Gives an object of the class one of its lazy properties.
    pub(crate) fn define_lazy(ctx: Ctx, object: &Handle, name: &str) -> JsResult<()> {
        let number = T::LAZY.iter().position(|(known, _)| *known == name);
        object.define_lazy(ctx, name, number.expect("the class lists its lazy properties") as i32)
    }
}

/// What objects of a class with lazy properties are cloned from: they have one hidden class, and cost one allocation
/// and what is behind them.
pub(crate) struct Template<T>(Val, PhantomData<T>);

impl<T: HostObject> Template<T> {
    /// Made after a realm was shared: sharing materialises the lazy properties of everything that exists then. `values`
    /// are the properties that are not lazy, each with the lazy one it comes before.
    pub(crate) fn new(ctx: Ctx, values: &[(&str, &str, &Handle)]) -> JsResult<Self> {
        // SAFETY: a plain object of the class with nothing behind it; nobody but `create` sees it.
        let object = Val::checked(unsafe { sys::JS_NewObjectClass(ctx.raw(), HostClass::<T>::id()) })?;
        for (lazy, _) in T::LAZY {
            for (name, _, value) in values.iter().filter(|(_, before, _)| before == lazy) {
                object.define(ctx, *name, value.dup())?;
            }
            HostClass::<T>::define_lazy(ctx, &object, lazy)?;
        }
        for (index, (name, ..)) in T::BOUND.iter().enumerate() {
            object.define_lazy(ctx, name, (T::LAZY.len() + index) as i32)?;
        }
        Ok(Self(object, PhantomData))
    }

    /// A new object over `value`. `first` are the values of its first properties that are not lazy; the others are the
    /// template's.
    pub(crate) fn create<const N: usize>(&self, ctx: Ctx, value: Rc<T>, first: [Val; N]) -> JsResult {
        let mut first = first.map(Val::into_raw);
        let opaque = Rc::into_raw(value).cast_mut();
        // SAFETY: the references to the values and to `value` move to the new object, whose finalizer drops the latter.
        let object = Val::checked(unsafe {
            sys::onrush_clone_template(ctx.raw(), self.0.raw(), first.as_mut_ptr(), N as i32, opaque.cast())
        });
        object.inspect_err(|_| {
            // SAFETY: without an object nobody else owns the reference.
            drop(unsafe { Rc::from_raw(opaque) });
        })
    }
}
