//! Host classes: JavaScript objects that own a Rust value.
#![expect(unsafe_code, reason = "class registration and opaque pointers")]

use std::{any::type_name, cell::RefCell, ffi::CString, rc::Rc};

use onrush_quickjs_sys as sys;
use rustc_hash::FxHashMap;

use super::{BoundMethod, Ctx, Handle, JsResult, LazyProperty, Throw, Val, contained, lazy, runtime_ptr};

/// A Rust type scripts see as objects of one class.
///
/// The value sits in an `Rc` behind the object's opaque pointer, which the object's finalizer drops. It must not
/// hold JavaScript values: QuickJS's cycle collector would not see them.
pub(crate) trait HostObject: Sized + 'static {
    /// The class name, as `Object.prototype.toString` shows it.
    const NAME: &'static str;

    /// Properties whose values are made at their first touch; see [`super::Template`].
    const LAZY: &'static [LazyProperty<Self>] = &[];

    /// Methods that are properties of each object: they work without the object, as in `{...res}.json()`. Made at their first
    /// touch, like [`HostObject::LAZY`], and after those.
    const BOUND: &'static [BoundMethod] = &[];

    /// Exotic property behaviour, if the class has one.
    fn exotic() -> Option<&'static sys::JSClassExoticMethods> {
        None
    }
}

thread_local! {
    static CLASS_IDS: RefCell<FxHashMap<&'static str, sys::JSClassID>> = RefCell::new(FxHashMap::default());
}

/// Registration and creation of objects of one host class.
pub(crate) struct HostClass<T>(std::marker::PhantomData<T>);

impl<T: HostObject> HostClass<T> {
    /// The class id in this thread's runtime, registered at first use.
    pub(crate) fn id() -> sys::JSClassID {
        CLASS_IDS.with_borrow_mut(|ids| {
            *ids.entry(type_name::<T>()).or_insert_with(|| {
                let name = CString::new(T::NAME).expect("class names are literals");
                let mut id = 0;
                // SAFETY: registers a class with static callbacks; the name is interned by QuickJS.
                unsafe {
                    sys::JS_NewClassID(runtime_ptr(), &mut id);
                    let definition = sys::JSClassDef {
                        class_name: name.as_ptr(),
                        finalizer: Some(finalize::<T>),
                        gc_mark: None,
                        call: None,
                        exotic: T::exotic()
                            .map_or(std::ptr::null_mut(), |methods| std::ptr::from_ref(methods).cast_mut()),
                    };
                    let status = sys::JS_NewClass(runtime_ptr(), id, &definition);
                    assert!(status >= 0, "a class is registered once per runtime");
                }
                lazy::register::<T>(id);
                id
            })
        })
    }

    /// Makes `prototype` the prototype of new objects in this realm.
    pub(crate) fn set_prototype(ctx: Ctx, prototype: Val) {
        // SAFETY: ownership of the prototype moves to the realm.
        unsafe { sys::JS_SetClassProto(ctx.raw(), Self::id(), prototype.into_raw()) }
    }

    /// The prototype of new objects in this realm.
    pub(crate) fn prototype(ctx: Ctx) -> Val {
        // SAFETY: returns a new reference to the realm's prototype.
        Val::from_raw(unsafe { sys::JS_GetClassProto(ctx.raw(), Self::id()) })
    }

    /// Wraps a value in a new object.
    pub(crate) fn create(ctx: Ctx, value: T) -> JsResult {
        Self::over(ctx, Rc::new(value))
    }

    /// Another object over the value of `object`: it keeps the value, and not the object.
    pub(super) fn alias(ctx: Ctx, object: &Handle) -> JsResult {
        let Some(value) = Self::of(object) else { return Err(Throw::type_error(format!("this is not a {}", T::NAME))) };
        // SAFETY: the pointer behind an object came from `Rc::into_raw`, and the object is alive.
        let value = unsafe {
            let pointer = std::ptr::from_ref(value);
            Rc::increment_strong_count(pointer);
            Rc::from_raw(pointer)
        };
        Self::over(ctx, value)
    }

    fn over(ctx: Ctx, value: Rc<T>) -> JsResult {
        // SAFETY: the class is registered; the object then owns the reference.
        unsafe {
            let object = Val::checked(sys::JS_NewObjectClass(ctx.raw(), Self::id()))?;
            sys::JS_SetOpaque(object.raw(), Rc::into_raw(value).cast_mut().cast());
            Ok(object)
        }
    }

    /// The Rust value of an object of this class. The reference is good while the object is.
    pub(crate) fn of(object: &Handle) -> Option<&T> {
        if !object.is_object() {
            return None;
        }
        // SAFETY: JS_GetOpaque checks the class; the pointer was set by `create` (or a template clone) and lives as long as the object.
        unsafe { sys::JS_GetOpaque(object.raw(), Self::id()).cast::<T>().as_ref() }
    }

    /// The same, or a TypeError.
    pub(crate) fn expect(object: &Handle) -> JsResult<&T> {
        Self::of(object).ok_or_else(|| Throw::type_error(format!("this is not a {}", T::NAME)))
    }
}

unsafe extern "C" fn finalize<T: HostObject>(_: *mut sys::JSRuntime, object: sys::JSValue) {
    // SAFETY: called once per object by QuickJS; the pointer, if set, came from Rc::into_raw.
    unsafe {
        let pointer = sys::JS_GetOpaque(object, HostClass::<T>::id()).cast::<T>();
        if !pointer.is_null() {
            contained((), || drop(Rc::from_raw(pointer)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{super::Runtime, *};

    struct Trap;

    impl HostObject for Trap {
        const NAME: &'static str = "Trap";
    }

    impl Drop for Trap {
        fn drop(&mut self) {
            panic!("on purpose");
        }
    }

    #[test]
    fn a_panic_in_a_finalizer_does_not_end_the_process() {
        let here = 0_u8;
        let _runtime = Runtime::new(std::ptr::from_ref(&here).addr(), 0);
        // SAFETY: a realm of this thread's runtime, which is never freed.
        let ctx = unsafe { Ctx::from_raw(sys::JS_NewContext(runtime_ptr())) };
        drop(HostClass::create(ctx, Trap).expect("there is memory"));
        assert!(ctx.object().is_ok());
    }
}
