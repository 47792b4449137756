//! Exceptions between Rust and scripts.

use std::any::Any;

use super::{Ctx, Handle, Val};

/// What a native function gives back when it does not return a value.
#[derive(Debug)]
pub(crate) enum Throw {
    /// An exception is already pending in the context.
    Pending,
    /// `GoError(message)`: an `Error` with the name k6 gives errors of its Go side.
    Error(String),
    /// `TypeError(message)`.
    Type(String),
    /// `RangeError(message)`.
    Range(String),
    /// A promise was rejected and nobody handles it.
    Uncaught(Box<Exception>),
    /// The iteration is being ended from outside: scripts cannot catch this.
    Interrupted,
}

pub(crate) type JsResult<T = Val> = Result<T, Throw>;

impl Throw {
    pub(crate) fn error(message: impl Into<String>) -> Self {
        Self::Error(message.into())
    }

    pub(crate) fn type_error(message: impl Into<String>) -> Self {
        Self::Type(message.into())
    }

    /// What a panic of ours is to the script.
    pub(crate) fn panic(panic: &(dyn Any + Send)) -> Self {
        let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
        Self::Error(format!("internal error in Onrush (please report it): {}", text.unwrap_or("panic")))
    }
}

/// An exception taken out of a context, ready to be reported.
#[derive(Debug, Clone)]
pub(crate) struct Exception {
    /// `Error: boom`, or the thrown value as text.
    pub(crate) message: String,
    /// The engine's stack text, `    at f (file:///x.js:1:2)` lines; empty when a non-error was thrown.
    pub(crate) stack: String,
    /// Ended from outside rather than by the script.
    pub(crate) interrupted: bool,
}

impl Exception {
    /// Describes a thrown value without throwing again.
    pub(crate) fn describe(ctx: Ctx, thrown: &Handle) -> Self {
        let interrupted = ctx.is_uncatchable(thrown);
        let read = |key: &str| -> Option<String> {
            let text = thrown
                .get(ctx, key)
                .and_then(|value| if value.is_string() { value.to_text(ctx) } else { Ok(String::new()) });
            match text {
                Ok(text) => (!text.is_empty()).then_some(text),
                Err(_) => {
                    drop(ctx.take_exception_value());
                    None
                }
            }
        };
        let mut stack = if thrown.is_error() { read("stack").unwrap_or_default() } else { String::new() };
        let message = match thrown.to_text(ctx) {
            Ok(text) => text,
            Err(_) => {
                drop(ctx.take_exception_value());
                let shown = if thrown.is_symbol() { Some(read("description").unwrap_or_default()) } else { None };
                shown.unwrap_or_else(|| "an exception that cannot be shown as text".to_owned())
            }
        };
        // The property begins with the error itself.
        if let Some(frames) = stack.strip_prefix(message.as_str()).and_then(|rest| rest.strip_prefix('\n')) {
            stack = frames.to_owned();
        }
        Self { message, stack, interrupted }
    }
}
