//! The callbacks that a script gives an object, each for one kind of event.

use std::cell::RefCell;

use crate::embed::{Ctx, Handle, JsResult, Throw, Val};

/// Callbacks in the order they were given. They are to be forgotten when the object is over, because what a host object
/// holds is hidden from the cycle collector.
pub(super) struct Handlers<On>(RefCell<Vec<(On, Val)>>);

impl<On> Default for Handlers<On> {
    fn default() -> Self {
        Self(RefCell::default())
    }
}

impl<On: Copy + PartialEq> Handlers<On> {
    /// Adds one.
    ///
    /// # Errors
    /// Beyond a limit: each keeps a closure alive. `whose` begins the message, as in `a socket`, and `what` ends it.
    pub(super) fn add(&self, on: On, handler: Val, whose: &str, what: &str) -> JsResult<()> {
        let mut handlers = self.0.borrow_mut();
        if handlers.len() >= HANDLERS_MAX {
            return Err(Throw::Range(format!("{whose} cannot have more than {HANDLERS_MAX} {what}")));
        }
        handlers.push((on, handler));
        Ok(())
    }

    pub(super) fn has(&self, on: On) -> bool {
        self.0.borrow().iter().any(|(known, _)| *known == on)
    }

    /// Calls those for something; also those that are added meanwhile, and none once they are forgotten.
    pub(super) fn emit(&self, ctx: Ctx, on: On, args: &[&Handle]) -> JsResult<()> {
        let mut index = 0;
        loop {
            let handler = {
                let handlers = self.0.borrow();
                let Some((known, handler)) = handlers.get(index) else { return Ok(()) };
                (*known == on).then(|| handler.clone())
            };
            if let Some(handler) = handler {
                ctx.call(&handler, Handle::UNDEFINED, args)?;
            }
            index += 1;
        }
    }

    /// Those for something as they are now, for [`call_all`].
    pub(super) fn of(&self, on: On) -> Vec<Val> {
        self.0.borrow().iter().filter(|(known, _)| *known == on).map(|(_, handler)| handler.clone()).collect()
    }

    /// Forgets all, and returns those for something.
    pub(super) fn take_of(&self, on: On) -> Vec<Val> {
        self.0.take().into_iter().filter(|(known, _)| *known == on).map(|(_, handler)| handler).collect()
    }

    /// Forgets all.
    pub(super) fn forget(&self) {
        drop(self.0.take());
    }
}

/// Calls them in order.
pub(super) fn call_all(ctx: Ctx, handlers: &[Val], args: &[&Handle]) -> JsResult<()> {
    handlers.iter().try_for_each(|handler| ctx.call(handler, Handle::UNDEFINED, args).map(drop))
}

const HANDLERS_MAX: usize = 10_000;
