//! Host classes: JavaScript objects that own a Rust value.
#![expect(unsafe_code, reason = "class registration and opaque pointers")]

use std::{any::TypeId, cell::RefCell, ffi::CString, rc::Rc};

use onrush_quickjs_sys as sys;
use rustc_hash::FxHashMap;

use super::{BoundMethod, Ctx, Handle, JsResult, LazyProperty, Throw, Val, contained, lazy, runtime_ptr};

/// A Rust type scripts see as objects of one class.
///
/// The value sits in an `Rc` behind the object's opaque pointer, which the object's finalizer drops. Several objects may be
/// over one value, and a script can come back to it while a method of it runs: a method has `&self` only, and keeps nothing
/// borrowed while script code may run or others may.
///
/// It must not hold JavaScript values for as long as it lives: QuickJS's cycle collector would not see them. What holds some
/// lets go of them when the connection or call they are for is over, however that came about.
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
    static CLASS_IDS: RefCell<FxHashMap<TypeId, sys::JSClassID>> = RefCell::new(FxHashMap::default());
}

/// Registration and creation of objects of one host class.
pub(crate) struct HostClass<T>(std::marker::PhantomData<T>);

impl<T: HostObject> HostClass<T> {
    /// The class id in this thread's runtime, registered at first use.
    pub(crate) fn id() -> sys::JSClassID {
        CLASS_IDS.with_borrow_mut(|ids| {
            *ids.entry(TypeId::of::<T>()).or_insert_with(|| {
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
        let pointer = Self::pointer(object);
        if pointer.is_null() {
            return Err(Throw::type_error(format!("this is not a {}", T::NAME)));
        }
        // SAFETY: the pointer behind an object came from `Rc::into_raw`, and the object is alive. It is not made from a
        // reference to the value, which would not reach the counts beside that.
        let value = unsafe {
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
        // SAFETY: the pointer was set by `create` (or a template clone) and lives as long as the object, which is borrowed.
        unsafe { Self::pointer(object).as_ref() }
    }

    /// What is behind an object: null if it is none of this class.
    fn pointer(object: &Handle) -> *const T {
        if !object.is_object() {
            return std::ptr::null();
        }
        // SAFETY: JS_GetOpaque checks the class.
        unsafe { sys::JS_GetOpaque(object.raw(), Self::id()).cast() }
    }

    /// The same, or a TypeError.
    pub(crate) fn expect(object: &Handle) -> JsResult<&T> {
        Self::of(object).ok_or_else(|| Throw::type_error(format!("this is not a {}", T::NAME)))
    }
}

unsafe extern "C" fn finalize<T: HostObject>(_: *mut sys::JSRuntime, object: sys::JSValue) {
    contained((), || {
        let pointer = HostClass::<T>::pointer(Handle::from_raw_ref(&object));
        if !pointer.is_null() {
            // SAFETY: called once per object by QuickJS; the pointer came from Rc::into_raw.
            drop(unsafe { Rc::from_raw(pointer) });
        }
    });
}

#[cfg(test)]
mod tests {
    use std::{cell::Cell, thread};

    use super::{
        super::{Runtime, Template},
        *,
    };

    /// Runs `body` with a realm of a runtime of its own, which is never freed.
    fn in_realm(body: impl FnOnce(Ctx) + Send + 'static) {
        let thread = thread::spawn(|| {
            let here = 0_u8;
            body(Runtime::new(std::ptr::from_ref(&here).addr(), 0).new_realm());
        });
        thread.join().expect("it does not panic");
    }

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
        in_realm(|ctx| {
            drop(HostClass::create(ctx, Trap).expect("there is memory"));
            assert!(ctx.object().is_ok());
        });
    }

    thread_local! {
        static DROPPED: Cell<u32> = const { Cell::new(0) };
    }

    /// A number with a method that is bound to each object, and properties that cannot be made.
    struct Counter(Cell<i32>);

    impl HostObject for Counter {
        const NAME: &'static str = "Counter";
        const LAZY: &'static [LazyProperty<Self>] =
            &[("broken", |_, _| panic!("on purpose")), ("refused", |_, _| Err(Throw::error("refused")))];
        const BOUND: &'static [BoundMethod] = &[("add", 1, |_, this, args| {
            let number = &HostClass::<Self>::expect(this)?.0;
            number.set(number.get() + args.at(0).as_int().unwrap_or(1));
            Ok(Val::int(number.get()))
        })];
    }

    impl Drop for Counter {
        fn drop(&mut self) {
            DROPPED.set(DROPPED.get() + 1);
        }
    }

    #[test]
    fn objects_over_one_value_keep_it() {
        in_realm(|ctx| {
            let number = |object: &Handle| HostClass::<Counter>::of(object).map(|counter| counter.0.get());
            let object = HostClass::create(ctx, Counter(Cell::new(1))).expect("there is memory");
            let others: Vec<Val> = (0..3).map(|_| HostClass::<Counter>::alias(ctx, &object).expect("memory")).collect();
            HostClass::<Counter>::of(&others[0]).expect("one of the class").0.set(7);
            assert_eq!(number(&object), Some(7));
            drop(object);
            assert_eq!((DROPPED.get(), number(&others[2])), (0, Some(7)));
            drop(others);
            assert_eq!(DROPPED.get(), 1);
        });
    }

    #[test]
    fn an_object_of_another_class_is_none_of_this() {
        in_realm(|ctx| {
            let plain = ctx.object().expect("there is memory");
            let template = HostClass::create(ctx, Counter(Cell::new(1))).expect("there is memory");
            std::mem::forget(HostClass::create(ctx, Trap).map(|trap| {
                assert!(HostClass::<Counter>::of(&trap).is_none());
                assert!(HostClass::<Counter>::alias(ctx, &trap).is_err());
                trap
            }));
            assert!(HostClass::<Trap>::of(&template).is_none() && HostClass::<Trap>::of(&plain).is_none());
            assert!(HostClass::<Trap>::of(Handle::UNDEFINED).is_none());
        });
    }

    #[test]
    fn a_property_that_cannot_be_made_leaves_its_object_whole() {
        in_realm(|ctx| {
            let template = Template::<Counter>::new(ctx, &[]).expect("there is memory");
            let object = template.create(ctx, Rc::new(Counter(Cell::new(1))), []).expect("there is memory");
            ctx.global().define(ctx, "counter", object).expect("a global");
            let said = ctx
                .eval(SCRIPT, "test", sys::JS_EVAL_TYPE_GLOBAL)
                .and_then(|said| said.to_text(ctx))
                .expect("the script catches what is thrown");
            assert_eq!(
                said,
                "broken: error, refused: error, undefined, undefined, 4, 6, broken,refused,add, not called"
            );
            let add = ctx.global().get(ctx, "add").expect("a global");
            ctx.global().delete(ctx, "counter").expect("a global");
            assert_eq!(DROPPED.get(), 0, "the method keeps the value");
            assert_eq!(ctx.call(&add, Handle::UNDEFINED, &[&Val::int(10)]).expect("works").as_int(), Some(16));
        });
    }

    /// Whatever fails calls `prepareStackTrace`, which would change the object the property is being made for.
    const SCRIPT: &str = "
        let how = 'not called';
        Error.prepareStackTrace = () => {
            how = 'called';
            for (let i = 0; i < 40; i++) counter['x' + i] = i;
            try { counter.broken; } catch (error) {}
            delete counter.broken;
        };
        const said = ['broken', 'refused'].map((name) => {
            try { return `${name}: ${counter[name]}`; } catch (error) { return `${name}: error`; }
        });
        Error.prepareStackTrace = undefined;
        globalThis.add = counter.add;
        said.push(typeof counter.broken, typeof counter.refused, add(3), add.call(null, 2), Object.keys(counter), how);
        said.join(', ')";
}
