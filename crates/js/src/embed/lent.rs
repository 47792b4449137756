//! Bytes that came from outside and that a script reads and writes in place.
#![expect(unsafe_code, reason = "array buffers over memory that is not QuickJS's")]

use std::{cell::UnsafeCell, ffi::c_void, ptr, rc::Rc};

use bytes::Bytes;
use onrush_net::BodyHold;
use onrush_quickjs_sys as sys;

use super::{Charge, Ctx, JsResult, Val, contained};

/// Bytes under an `ArrayBuffer`, which whoever made it can still look at. Cloning shares them.
#[derive(Clone)]
pub(crate) struct Lent(Rc<(UnsafeCell<Vec<u8>>, BodyHold)>);

impl Lent {
    /// Takes the bytes over; without a copy when nobody else holds them. `hold` is their share of a limit.
    pub(crate) fn new(bytes: Bytes, hold: BodyHold) -> Self {
        Self(Rc::new((UnsafeCell::new(bytes.into()), hold)))
    }

    /// The same for bytes of our own.
    pub(crate) fn of(bytes: Vec<u8>) -> Self {
        Self(Rc::new((UnsafeCell::new(bytes), BodyHold::default())))
    }

    /// What they are now, as the script may have written to them.
    pub(crate) fn copied(&self) -> Bytes {
        // SAFETY: one thread, no script runs meanwhile, and no reference leaves this function.
        Bytes::copy_from_slice(unsafe { &*self.0.0.get() })
    }

    /// An `ArrayBuffer` over the bytes themselves. `charge` is for them, and moves to it.
    pub(crate) fn array_buffer(&self, ctx: Ctx, charge: Charge) -> JsResult {
        // SAFETY: no reference to the vector is alive, and none is kept.
        let (data, len) = unsafe { ((*self.0.0.get()).as_mut_ptr(), (*self.0.0.get()).len()) };
        let owner = Box::into_raw(Box::new(Owner { lent: self.clone(), _charge: charge }));
        // SAFETY: `owner` keeps the bytes where they are until QuickJS hands it to `reallocate`, and nothing else
        // changes the vector. The element memory is reached through raw pointers only.
        let buffer = Val::checked(unsafe {
            sys::JS_NewArrayBuffer(ctx.raw(), data, len, 0, Some(reallocate), owner.cast(), false)
        });
        buffer.inspect_err(|_| {
            // SAFETY: without a buffer nobody else owns the box.
            drop(unsafe { Box::from_raw(owner) });
        })
    }
}

/// What a buffer keeps alive.
struct Owner {
    lent: Lent,
    _charge: Charge,
}

/// QuickJS asks to free, with size 0, or for `ArrayBuffer.prototype.transfer` to another length. The latter gets memory
/// of its own: what was lent stays as it is.
unsafe extern "C" fn reallocate(
    _: *mut sys::JSRuntime,
    opaque: *mut c_void,
    _: *mut c_void,
    size: usize,
) -> *mut c_void {
    let owner = opaque.cast::<Owner>();
    if size == 0 {
        // SAFETY: called once when the buffer dies; the pointer came from `Box::into_raw` above.
        contained((), || drop(unsafe { Box::from_raw(owner) }));
        return ptr::null_mut();
    }
    // SAFETY: the buffer lives, and so does its owner, which nobody else refers to.
    let owner = unsafe { &mut *owner };
    let mut moved = Vec::new();
    let (Ok(charge), Ok(())) = (Charge::take(size), moved.try_reserve_exact(size)) else { return ptr::null_mut() };
    // SAFETY: as in `copied`.
    let held = unsafe { &*owner.lent.0.0.get() };
    moved.extend_from_slice(&held[..held.len().min(size)]);
    moved.resize(size, 0);
    let data = moved.as_mut_ptr();
    *owner = Owner { lent: Lent(Rc::new((UnsafeCell::new(moved), BodyHold::default()))), _charge: charge };
    data.cast()
}
