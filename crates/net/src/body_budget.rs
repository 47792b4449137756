//! How much memory the response bodies of a process may take together.
//!
//! A VU's own bodies are limited by [`Limits::body_bytes_max`](crate::Limits) and by its heap; this limit is for thousands
//! of VUs that each receive a large one. Small bodies are not counted.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::error::NetError;

/// A limit that all who receive bodies share.
#[derive(Debug)]
pub struct BodyBudget {
    bytes_max: AtomicU64,
    held: AtomicU64,
}

/// Bodies up to this size are not counted, so that common requests touch no memory that threads share: a million of them
/// would be more VUs than a machine holds.
const COUNTED_FROM_BYTES: usize = 256 << 10;

/// The budget of [`Limits::default`](crate::Limits::default).
pub(crate) static PROCESS: BodyBudget = BodyBudget::new(u64::MAX);

impl BodyBudget {
    /// A budget of so many bytes.
    pub const fn new(bytes_max: u64) -> Self {
        Self { bytes_max: AtomicU64::new(bytes_max), held: AtomicU64::new(0) }
    }

    /// The budget that all limits of this process share unless they name another.
    pub fn of_process() -> &'static Self {
        &PROCESS
    }

    /// Changes the limit. What is held stays.
    pub fn set_bytes_max(&self, bytes: u64) {
        self.bytes_max.store(bytes, Relaxed);
    }

    /// Bytes of bodies that are held now.
    pub fn held(&self) -> u64 {
        self.held.load(Relaxed)
    }
}

/// A body's share of a budget, given back when it is dropped.
#[derive(Debug)]
pub struct BodyHold {
    budget: &'static BodyBudget,
    bytes: u64,
}

impl BodyHold {
    /// A share of nothing yet.
    pub fn new(budget: &'static BodyBudget) -> Self {
        Self { budget, bytes: 0 }
    }

    /// Makes it a share of at least so many bytes.
    ///
    /// # Errors
    /// Code 1000 if they do not fit.
    #[inline]
    pub fn cover(&mut self, bytes: usize) -> Result<(), NetError> {
        if self.covers(bytes) { Ok(()) } else { self.grow(bytes as u64) }
    }

    /// Whether it is a share of so many bytes.
    pub fn covers(&self, bytes: usize) -> bool {
        bytes <= COUNTED_FROM_BYTES || bytes as u64 <= self.bytes
    }

    #[cold]
    fn grow(&mut self, bytes: u64) -> Result<(), NetError> {
        let more = bytes - self.bytes;
        let max = self.budget.bytes_max.load(Relaxed);
        let fits = |held: u64| held.checked_add(more).filter(|sum| *sum <= max);
        if self.budget.held.try_update(Relaxed, Relaxed, fits).is_err() {
            let text =
                format!("response bodies of all VUs exceed {max} bytes: use fewer VUs, or discardResponseBodies");
            return Err(NetError::generic(text).in_body());
        }
        self.bytes = bytes;
        Ok(())
    }
}

impl Default for BodyHold {
    fn default() -> Self {
        Self::new(&PROCESS)
    }
}

impl Drop for BodyHold {
    fn drop(&mut self) {
        if self.bytes > 0 {
            self.budget.held.fetch_sub(self.bytes, Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_fit_or_are_refused() {
        let budget: &'static BodyBudget = Box::leak(Box::new(BodyBudget::new(3 << 20)));
        let (mut one, mut other) = (BodyHold::new(budget), BodyHold::new(budget));
        one.cover(COUNTED_FROM_BYTES).unwrap();
        assert_eq!(budget.held(), 0);
        one.cover(1 << 20).unwrap();
        one.cover(1 << 19).unwrap();
        other.cover(2 << 20).unwrap();
        assert_eq!(budget.held(), 3 << 20);
        let error = one.cover((1 << 20) + 1).unwrap_err();
        assert_eq!((error.code, &error.message[..46]), (1000, "response bodies of all VUs exceed 3145728 byte"));
        drop(other);
        one.cover(2 << 20).unwrap();
        drop(one);
        assert_eq!(budget.held(), 0);
    }
}
