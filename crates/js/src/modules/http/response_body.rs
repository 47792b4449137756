//! The body of a response: bytes that are held once, whether the script reads them as text, bytes or not at all.

use std::cell::RefCell;

use bytes::Bytes;
use onrush_net::BodyHold;

use crate::embed::{Charge, Ctx, JsResult, Lent};

/// A decoded body, or what arrived of it.
#[derive(Default)]
pub(super) struct ResponseBody(RefCell<State>);

enum State {
    /// Nobody but the Response has it.
    Held { bytes: Bytes, hold: BodyHold, charge: Charge },
    /// The script has it as an `ArrayBuffer`, and may write to it.
    Lent(Lent),
}

impl Default for State {
    fn default() -> Self {
        Self::Held { bytes: Bytes::new(), hold: BodyHold::default(), charge: Charge::default() }
    }
}

impl ResponseBody {
    /// `hold` is its share of the limit on all bodies of the process.
    pub(super) fn new(bytes: Bytes, hold: BodyHold) -> Self {
        Self(RefCell::new(State::Held { bytes, hold, charge: Charge::default() }))
    }

    /// Counts it towards the heap limit of the VU, whose script can keep it from now on.
    ///
    /// # Errors
    ///
    /// Throws where it is beyond the limit.
    pub(super) fn charge(&self) -> JsResult<()> {
        if let State::Held { bytes, charge, .. } = &mut *self.0.borrow_mut() {
            *charge = Charge::take(bytes.len())?;
        }
        Ok(())
    }

    /// What it is now. A copy only where the script has the bytes themselves.
    pub(super) fn bytes(&self) -> Bytes {
        match &*self.0.borrow() {
            State::Held { bytes, .. } => bytes.clone(),
            State::Lent(lent) => lent.copied(),
        }
    }

    /// An `ArrayBuffer` over it.
    pub(super) fn array_buffer(&self, ctx: Ctx) -> JsResult {
        let (lent, charge) = match self.0.take() {
            State::Held { bytes, hold, charge } => (Lent::new(bytes, hold), charge),
            // k6: `body` is made once. Nothing asks again; if it did, it would see the same bytes.
            State::Lent(lent) => (lent, Charge::default()),
        };
        self.0.replace(State::Lent(lent.clone()));
        lent.array_buffer(ctx, charge)
    }
}
