//! Why a call is not carried out, and how the script learns of it.

use std::borrow::Cow;

use onrush_crypto::web::WebError;

use crate::embed::{Ctx, JsResult, Throw, Val};

/// A call that fails before its work begins.
pub(super) enum Refusal {
    /// Thrown by the call itself, as k6 does for arguments of the wrong kind.
    Thrown(Throw),
    /// The promise is rejected.
    Rejected(WebError),
    /// The promise is rejected with what reading an argument threw.
    Exception(Throw),
}

/// A step of reading a call's arguments.
pub(super) type Step<T> = Result<T, Refusal>;

impl From<WebError> for Refusal {
    fn from(error: WebError) -> Self {
        Self::Rejected(error)
    }
}

impl From<Throw> for Refusal {
    fn from(throw: Throw) -> Self {
        match throw {
            Throw::Interrupted => Self::Thrown(throw),
            throw => Self::Exception(throw),
        }
    }
}

impl Refusal {
    /// A rejection whose name is not one of Web Crypto's common ones.
    pub(super) fn named(name: &'static str, message: impl Into<Cow<'static, str>>) -> Self {
        Self::Rejected(WebError::new(name, message))
    }

    /// `InvalidAccessError`.
    pub(super) fn access(message: impl Into<Cow<'static, str>>) -> Self {
        Self::Rejected(WebError::invalid_access(message))
    }

    /// `SyntaxError`.
    pub(super) fn syntax(message: impl Into<Cow<'static, str>>) -> Self {
        Self::Rejected(WebError::syntax(message))
    }

    /// `OperationError`.
    pub(super) fn operation(message: impl Into<Cow<'static, str>>) -> Self {
        Self::Rejected(WebError::operation(message))
    }
}

/// What a promise is rejected with: an `Error` whose name and message are also listed, as those of k6's objects are.
pub(super) fn error_value(ctx: Ctx, error: &WebError) -> JsResult {
    ctx.raise(Throw::error(error.message.as_ref()));
    let value = ctx.take_exception_value();
    value.define(ctx, "name", Val::string(ctx, error.name)?)?;
    value.define(ctx, "message", Val::string(ctx, &error.message)?)?;
    Ok(value)
}

/// What a call throws: k6's `GoError` with the error's name in its text, and the error itself in `value`.
pub(super) fn thrown(ctx: Ctx, error: &WebError) -> Throw {
    let build = || -> JsResult {
        let inner = ctx.object()?;
        inner.define(ctx, "name", Val::string(ctx, error.name)?)?;
        inner.define(ctx, "message", Val::string(ctx, &error.message)?)?;
        ctx.raise(Throw::error(error.to_string()));
        let value = ctx.take_exception_value();
        value.define(ctx, "value", inner)?;
        Ok(value)
    };
    match build() {
        Ok(value) => ctx.throw_value(value),
        Err(throw) => throw,
    }
}
