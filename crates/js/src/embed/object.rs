//! Property access.
#![expect(unsafe_code, reason = "wraps QuickJS property calls")]

use onrush_quickjs_sys as sys;

use super::{Ctx, Handle, JsResult, JsString, Native, Throw, Val, runtime_ptr};

/// An interned property name.
pub(crate) struct Atom(sys::JSAtom);

impl Atom {
    pub(crate) fn new(ctx: Ctx, name: &str) -> Self {
        // SAFETY: the text is copied. Running out of memory gives JS_ATOM_NULL, which reads as a missing property.
        Self(unsafe { sys::JS_NewAtomLen(ctx.raw(), name.as_ptr().cast(), name.len()) })
    }

    /// The property name a value stands for; symbols stay symbols. May run user code.
    pub(crate) fn of(ctx: Ctx, key: &Handle) -> JsResult<Self> {
        // SAFETY: the value is alive; 0 is QuickJS's null atom.
        match unsafe { sys::JS_ValueToAtom(ctx.raw(), key.raw()) } {
            0 => Err(Throw::Pending),
            atom => Ok(Self(atom)),
        }
    }

    pub(crate) fn from_raw(raw: sys::JSAtom) -> Self {
        Self(raw)
    }

    pub(crate) fn raw(&self) -> sys::JSAtom {
        self.0
    }

    /// Another reference to the same name.
    pub(crate) fn dup(&self) -> Self {
        // SAFETY: the atom is alive; this adds one reference.
        Self(unsafe { sys::JS_DupAtomRT(runtime_ptr(), self.0) })
    }

    pub(crate) fn text(&self, ctx: Ctx) -> JsResult<String> {
        Ok(self.to_js_string(ctx)?.text().into_owned())
    }

    /// The same without a copy, where it is ASCII.
    pub(crate) fn to_js_string(&self, ctx: Ctx) -> JsResult<JsString> {
        // SAFETY: the atom is alive.
        Val::checked(unsafe { sys::JS_AtomToString(ctx.raw(), self.0) })?.to_js_string(ctx)
    }

    /// The text, if it is ASCII and no index: nothing is copied and nothing counted.
    pub(crate) fn ascii(&self) -> Option<&str> {
        let mut len = 0;
        // SAFETY: the bytes live as long as the atom, which `self` keeps alive; all of them are ASCII.
        unsafe {
            let bytes = sys::onrush_atom_ascii(runtime_ptr(), self.0, &mut len);
            (!bytes.is_null()).then(|| std::str::from_utf8_unchecked(std::slice::from_raw_parts(bytes, len)))
        }
    }

    /// Calls `f` with the text.
    pub(crate) fn with_text<R>(&self, ctx: Ctx, f: impl FnOnce(&str) -> R) -> JsResult<R> {
        match self.ascii() {
            Some(text) => Ok(f(text)),
            None => Ok(f(&self.to_js_string(ctx)?.text())),
        }
    }
}

impl Drop for Atom {
    fn drop(&mut self) {
        // SAFETY: this holds one reference of the thread's runtime.
        unsafe { sys::JS_FreeAtomRT(runtime_ptr(), self.0) }
    }
}

/// The keys an object had when it was asked for them.
pub(crate) struct Keys {
    ctx: Ctx,
    names: Names,
    next: usize,
    count: usize,
}

/// Holds a reference to each name that is still to come.
enum Names {
    /// Those of a small plain object.
    Few([sys::JSAtom; FEW]),
    /// QuickJS's table.
    Table(*mut sys::JSPropertyEnum),
}

/// Objects with up to so many properties are looked at without a table: parameters, tags, checks.
const FEW: usize = 12;

impl Iterator for Keys {
    type Item = Atom;

    fn next(&mut self) -> Option<Atom> {
        if self.next == self.count {
            return None;
        }
        let atom = match &self.names {
            Names::Few(names) => names[self.next],
            // SAFETY: the table has `count` entries.
            Names::Table(table) => unsafe { (*table.add(self.next)).atom },
        };
        self.next += 1;
        // Each reference moves into one `Atom`.
        Some(Atom::from_raw(atom))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.count - self.next, Some(self.count - self.next))
    }
}

impl Drop for Keys {
    fn drop(&mut self) {
        self.by_ref().for_each(drop);
        if let Names::Table(table) = self.names {
            // SAFETY: QuickJS allocated the table for this realm, and nothing else refers to it; null is nothing.
            unsafe { sys::js_free(self.ctx.raw(), table.cast()) }
        }
    }
}

/// Something that names a property.
pub(crate) trait Key {
    fn with<R>(&self, ctx: Ctx, f: impl FnOnce(sys::JSAtom) -> R) -> R;
}

impl Key for &str {
    fn with<R>(&self, ctx: Ctx, f: impl FnOnce(sys::JSAtom) -> R) -> R {
        f(Atom::new(ctx, self).raw())
    }
}

impl Key for &String {
    fn with<R>(&self, ctx: Ctx, f: impl FnOnce(sys::JSAtom) -> R) -> R {
        self.as_str().with(ctx, f)
    }
}

impl Key for &Atom {
    fn with<R>(&self, _: Ctx, f: impl FnOnce(sys::JSAtom) -> R) -> R {
        f(self.0)
    }
}

impl Handle {
    /// The value as an object, as `Object(value)` makes one; null and undefined are a TypeError.
    pub(crate) fn to_object(&self, ctx: Ctx) -> JsResult {
        // SAFETY: the value is alive over the call.
        Val::checked(unsafe { sys::JS_ToObject(ctx.raw(), self.raw()) })
    }

    /// `this[key]`, as script code would read it.
    pub(crate) fn get(&self, ctx: Ctx, key: impl Key) -> JsResult {
        // SAFETY: the object and the atom are alive over the call.
        key.with(ctx, |atom| Val::checked(unsafe { sys::JS_GetProperty(ctx.raw(), self.raw(), atom) }))
    }

    pub(crate) fn get_index(&self, ctx: Ctx, index: u32) -> JsResult {
        // SAFETY: the object is alive over the call.
        Val::checked(unsafe { sys::JS_GetPropertyUint32(ctx.raw(), self.raw(), index) })
    }

    /// `this[key] = value`.
    pub(crate) fn set(&self, ctx: Ctx, key: impl Key, value: Val) -> JsResult<()> {
        // SAFETY: ownership of the value moves to QuickJS.
        let status =
            key.with(ctx, |atom| unsafe { sys::JS_SetProperty(ctx.raw(), self.raw(), atom, value.into_raw()) });
        if status < 0 { Err(Throw::Pending) } else { Ok(()) }
    }

    /// Defines an own, enumerable, writable data property, whatever the prototypes hold.
    pub(crate) fn define(&self, ctx: Ctx, key: impl Key, value: Val) -> JsResult<()> {
        self.define_with(ctx, key, value, sys::JS_PROP_C_W_E)
    }

    /// Defines an own data property that `for…in` does not list.
    pub(crate) fn define_hidden(&self, ctx: Ctx, key: impl Key, value: Val) -> JsResult<()> {
        self.define_with(ctx, key, value, sys::JS_PROP_WRITABLE | sys::JS_PROP_CONFIGURABLE)
    }

    fn define_with(&self, ctx: Ctx, key: impl Key, value: Val, flags: i32) -> JsResult<()> {
        // SAFETY: ownership of the value moves to QuickJS.
        let status = key.with(ctx, |atom| unsafe {
            sys::JS_DefinePropertyValue(ctx.raw(), self.raw(), atom, value.into_raw(), flags)
        });
        if status < 0 { Err(Throw::Pending) } else { Ok(()) }
    }

    /// Defines a property whose value the lazy hook makes at its first touch; `which` tells it what is asked for.
    pub(crate) fn define_lazy(&self, ctx: Ctx, key: &str, which: i32) -> JsResult<()> {
        let atom = Atom::new(ctx, key);
        // SAFETY: the object and the atom are alive over the call.
        let status = unsafe { sys::onrush_define_lazy(ctx.raw(), self.raw(), atom.raw(), which) };
        if status < 0 { Err(Throw::Pending) } else { Ok(()) }
    }

    pub(crate) fn define_index(&self, ctx: Ctx, index: u32, value: Val) -> JsResult<()> {
        // SAFETY: ownership of the value moves to QuickJS.
        let status = unsafe {
            sys::JS_DefinePropertyValueUint32(ctx.raw(), self.raw(), index, value.into_raw(), sys::JS_PROP_C_W_E)
        };
        if status < 0 { Err(Throw::Pending) } else { Ok(()) }
    }

    /// Defines an enumerable accessor without a setter.
    pub(crate) fn define_getter(&self, ctx: Ctx, key: &str, getter: Val) -> JsResult<()> {
        self.define_accessor(ctx, key, getter, Val::undefined())
    }

    /// Defines an enumerable accessor.
    pub(crate) fn define_accessor(&self, ctx: Ctx, key: &str, getter: Val, setter: Val) -> JsResult<()> {
        let atom = Atom::new(ctx, key);
        // SAFETY: ownership of both functions moves to QuickJS.
        let status = unsafe {
            sys::JS_DefinePropertyGetSet(
                ctx.raw(),
                self.raw(),
                atom.raw(),
                getter.into_raw(),
                setter.into_raw(),
                sys::JS_PROP_CONFIGURABLE | sys::JS_PROP_ENUMERABLE,
            )
        };
        if status < 0 { Err(Throw::Pending) } else { Ok(()) }
    }

    /// Adds a native method, as built-in methods are: not enumerable.
    pub(crate) fn method<F: Native>(&self, ctx: Ctx, name: &str, length: i32, function: F) -> JsResult<()> {
        let function = ctx.function(name, length, function)?;
        self.define_hidden(ctx, name, function)
    }

    pub(crate) fn has(&self, ctx: Ctx, key: impl Key) -> JsResult<bool> {
        // SAFETY: the object and the atom are alive over the call.
        match key.with(ctx, |atom| unsafe { sys::JS_HasProperty(ctx.raw(), self.raw(), atom) }) {
            status if status < 0 => Err(Throw::Pending),
            status => Ok(status > 0),
        }
    }

    pub(crate) fn delete(&self, ctx: Ctx, key: &str) -> JsResult<()> {
        let atom = Atom::new(ctx, key);
        // SAFETY: the object and the atom are alive over the call.
        if unsafe { sys::JS_DeleteProperty(ctx.raw(), self.raw(), atom.raw(), 0) } < 0 {
            Err(Throw::Pending)
        } else {
            Ok(())
        }
    }

    /// `this.length` as an integer.
    pub(crate) fn length(&self, ctx: Ctx) -> JsResult<u32> {
        let mut length = 0;
        // SAFETY: `length` outlives the call.
        if unsafe { sys::JS_GetLength(ctx.raw(), self.raw(), &mut length) } < 0 {
            return Err(Throw::Pending);
        }
        u32::try_from(length).map_err(|_| Throw::Range("array is too long".to_owned()))
    }

    /// Own enumerable string keys in property order.
    pub(crate) fn keys(&self, ctx: Ctx) -> JsResult<Vec<Atom>> {
        Ok(self.each_key(ctx)?.collect())
    }

    /// The same, one after another.
    pub(crate) fn each_key(&self, ctx: Ctx) -> JsResult<Keys> {
        let mut few = [0; FEW];
        // SAFETY: there is room for so many names; the object is alive over the call.
        let count = unsafe { sys::onrush_plain_keys(runtime_ptr(), self.raw(), few.as_mut_ptr(), FEW as i32) };
        if let Ok(count) = usize::try_from(count) {
            return Ok(Keys { ctx, names: Names::Few(few), next: 0, count });
        }
        let (mut table, mut count) = (std::ptr::null_mut(), 0);
        // SAFETY: QuickJS allocates the table, which `Keys` owns from then on.
        let status = unsafe {
            sys::JS_GetOwnPropertyNames(
                ctx.raw(),
                &mut table,
                &mut count,
                self.raw(),
                sys::JS_GPN_STRING_MASK | sys::JS_GPN_ENUM_ONLY,
            )
        };
        if status < 0 {
            return Err(Throw::Pending);
        }
        Ok(Keys { ctx, names: Names::Table(table), next: 0, count: count as usize })
    }

    pub(crate) fn freeze(&self, ctx: Ctx) -> JsResult<()> {
        // SAFETY: the object is alive over the call.
        if unsafe { sys::JS_FreezeObject(ctx.raw(), self.raw()) } < 0 { Err(Throw::Pending) } else { Ok(()) }
    }

    /// Freezes the object and all it holds. It must be a tree, as parsed JSON is. Nested as deep as it may be, this does
    /// not recurse: a script may ask deep in a recursion of its own.
    pub(crate) fn freeze_deep(&self, ctx: Ctx) -> JsResult<()> {
        let mut left = vec![self.dup()];
        while let Some(value) = left.pop() {
            if !value.is_object() {
                continue;
            }
            for key in value.keys(ctx)? {
                left.push(value.get(ctx, &key)?);
            }
            value.freeze(ctx)?;
        }
        Ok(())
    }

    /// Replaces the prototype.
    pub(crate) fn set_prototype(&self, ctx: Ctx, prototype: &Self) -> JsResult<()> {
        // SAFETY: both objects are alive over the call.
        if unsafe { sys::JS_SetPrototype(ctx.raw(), self.raw(), prototype.raw()) } < 0 {
            Err(Throw::Pending)
        } else {
            Ok(())
        }
    }
}
