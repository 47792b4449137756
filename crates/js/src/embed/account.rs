//! Memory that Rust holds for a script: it counts towards the VU's heap limit like the script's own.
#![expect(unsafe_code, reason = "the runtime's account of memory")]

use std::cell::RefCell;

use onrush_quickjs_sys as sys;

use super::{JsResult, Throw, runtime_ptr};

/// Bytes on the account of the VU that was running when they were taken; given back when dropped.
#[derive(Debug, Default)]
pub(crate) struct Charge {
    bytes: usize,
}

impl Charge {
    /// Puts `bytes` on the account.
    ///
    /// # Errors
    ///
    /// Throws where they do not fit the VU's limit.
    pub(crate) fn take(bytes: usize) -> JsResult<Self> {
        // SAFETY: the runtime of this thread is never freed, and natives may collect.
        let is_charged = bytes == 0
            || unsafe {
                sys::onrush_rt_charge(runtime_ptr(), bytes) != 0 || {
                    // What is in the way may be garbage: the collector does not know when Rust needs memory.
                    sys::JS_RunGC(runtime_ptr());
                    sys::onrush_rt_take_oom(runtime_ptr());
                    sys::onrush_rt_charge(runtime_ptr(), bytes) != 0
                }
            };
        if is_charged { Ok(Self { bytes }) } else { Err(Throw::error("out of memory")) }
    }
}

/// The charge of what grows while a native makes it out of a script's values. A script may name one long text a million
/// times.
#[derive(Debug, Default)]
pub(crate) struct GrowingCharge {
    charge: Charge,
    room: usize,
}

impl GrowingCharge {
    /// Has at least `bytes` on the account; as long as they are few, none.
    ///
    /// # Errors
    ///
    /// Throws where they do not fit the VU's limit.
    pub(crate) fn hold(&mut self, bytes: usize) -> JsResult<()> {
        if bytes <= self.room.max(UNCHARGED_BYTES) {
            return Ok(());
        }
        let room = bytes.saturating_add(bytes / 8);
        let more = Charge::take(room - self.room)?;
        self.charge.bytes += more.bytes;
        std::mem::forget(more);
        self.room = room;
        Ok(())
    }
}

/// A charge that follows what something holds, not to the byte: what it holds changes all the time.
#[derive(Debug, Default)]
pub(crate) struct FollowingCharge(RefCell<Charge>);

impl FollowingCharge {
    /// Has the account show that `held` bytes are held; as long as they are few, none.
    ///
    /// # Errors
    ///
    /// Throws where they do not fit the VU's limit.
    pub(crate) fn follow(&self, held: usize) -> JsResult<()> {
        let charged = self.0.borrow().bytes;
        if held.abs_diff(charged) <= charged / 4 + UNCHARGED_BYTES {
            return Ok(());
        }
        self.release();
        if held > UNCHARGED_BYTES {
            self.0.replace(Charge::take(held)?);
        }
        Ok(())
    }

    /// Gives the account back what it was charged.
    pub(crate) fn release(&self) {
        drop(self.0.take());
    }
}

/// What is held for a moment, or is about a read, need not be counted.
const UNCHARGED_BYTES: usize = 64 << 10;

impl Drop for Charge {
    fn drop(&mut self) {
        if self.bytes > 0 {
            // SAFETY: as above; and what was charged was charged there.
            unsafe { sys::onrush_rt_discharge(runtime_ptr(), self.bytes) }
        }
    }
}
