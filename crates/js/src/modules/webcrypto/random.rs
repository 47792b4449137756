//! `crypto.getRandomValues()` and `crypto.randomUUID()`.

use onrush_crypto::web::{WebError, random_bytes, random_uuid as uuid};

use super::refusal::thrown;
use crate::embed::{Args, Ctx, Handle, JsResult, Val};

/// The most elements that are filled by one call. k6: elements, where the standard counts bytes.
const ELEMENTS_MAX: usize = 65_536;

pub(super) fn random_values(ctx: Ctx, _: &Handle, args: Args<'_>) -> JsResult {
    let array = args.at(0);
    let filled = array.with_integer_elements(ctx, |bytes, width| {
        if bytes.len() / width > ELEMENTS_MAX {
            return Err(WebError::new(
                "QuotaExceededError",
                format!("typedArray parameter is too big; maximum length is {ELEMENTS_MAX}"),
            ));
        }
        random_bytes(bytes)
    });
    match filled {
        Some(Ok(())) => Ok(array.dup()),
        Some(Err(error)) => Err(thrown(ctx, &error)),
        None => {
            let message = "typedArray parameter isn't a TypedArray instance";
            Err(thrown(ctx, &WebError::new("TypeMismatchError", message)))
        }
    }
}

pub(super) fn random_uuid(ctx: Ctx, _: &Handle, _: Args<'_>) -> JsResult {
    let uuid = uuid().map_err(|error| thrown(ctx, &error))?;
    Val::latin1(ctx, uuid.as_bytes())
}
