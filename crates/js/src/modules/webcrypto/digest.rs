//! `subtle.digest()`.

use onrush_crypto::web::WebError;

use super::{
    Refusal,
    algorithm::{Operation, hash},
    data::buffer,
    work::{Answer, Work, promise},
};
use crate::embed::{Args, Ctx, Handle, JsResult, Throw};

pub(super) fn digest(ctx: Ctx, _: &Handle, args: Args<'_>) -> JsResult {
    promise(ctx, || {
        let (algorithm, value) = (args.at(0), args.at(1));
        if !value.is_set() {
            return Err(Throw::type_error("Cannot convert undefined or null to object").into());
        }
        if buffer(ctx, value).is_none() {
            // k6: an error without a name.
            return Err(WebError::plain("data must be an ArrayBuffer, TypedArray, or DataView").into());
        }
        let hash = hash(ctx, algorithm, Operation::Digest)?;
        let bytes = buffer(ctx, value).ok_or_else(|| Refusal::operation("the data is gone"))?;
        Work::on(bytes, false, move |bytes| Ok(Answer::Bytes(hash.digest(bytes).to_vec())))
    })
}
