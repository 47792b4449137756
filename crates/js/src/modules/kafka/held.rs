//! A client that a script's object holds: one call at a time uses it.

use std::cell::{Cell, RefCell};

use onrush_kafka::KafkaError;

use crate::embed::{JsResult, Throw};

/// The client behind an object.
pub(super) struct Held<T> {
    what: &'static str,
    client: RefCell<Option<T>>,
    is_closed: Cell<bool>,
}

impl<T> Held<T> {
    pub(super) fn new(what: &'static str, client: T) -> Self {
        Self { what, client: RefCell::new(Some(client)), is_closed: Cell::new(false) }
    }

    /// Uses it. While the VU waits in here, a callback of the script may come by and find it in use.
    pub(super) fn with<R>(&self, body: impl FnOnce(&mut T) -> R) -> JsResult<R> {
        if self.is_closed.get() {
            return Err(Throw::error(format!("the {} is closed", self.what)));
        }
        let Some(mut client) = self.client.take() else {
            return Err(Throw::error(format!("the {} is in use by another call", self.what)));
        };
        let result = body(&mut client);
        if !self.is_closed.get() {
            self.client.replace(Some(client));
        }
        Ok(result)
    }

    /// Uses it for the last time; where it is closed already, nothing happens.
    pub(super) fn close(&self, body: impl FnOnce(&mut T)) {
        self.is_closed.set(true);
        if let Some(mut client) = self.client.take() {
            body(&mut client);
        }
    }
}

/// What a script is told: what it wanted, and why that failed. k6: its form.
pub(super) fn thrown(what: &str, error: &KafkaError) -> Throw {
    match error {
        KafkaError::Cancelled => Throw::Interrupted,
        error => Throw::error(format!("{what}., OriginalError: {error}")),
    }
}
