//! `subtle.exportKey()`.

use onrush_crypto::web::{Exported, KeyType};

use super::{
    Refusal, Step,
    key::{CryptoKey, Usages},
    work::{Answer, Work, promise},
};
use crate::embed::{Args, Ctx, Handle, HostClass, JsResult};

pub(super) fn export_key(ctx: Ctx, _: &Handle, args: Args<'_>) -> JsResult {
    promise(ctx, || {
        let format = args.at(0).to_text(ctx)?;
        let (exported, usages) = exported(args.at(1), &format)?;
        Ok(Work::Done(Ok(Answer::Exported(exported, usages))))
    })
}

/// A key in a format, and for secrets as JSON what they may be used for.
pub(super) fn exported(key: &Handle, format: &str) -> Step<(Exported, Option<Usages>)> {
    let key: &CryptoKey = HostClass::of(key)
        .ok_or_else(|| Refusal::named("ImplementationError", "unable to extract CryptoKey from key object"))?;
    if !key.extractable {
        return Err(Refusal::access("the key is not extractable"));
    }
    let exported = key.key.export(format)?;
    // k6: only secrets have `ext` and `key_ops`.
    let usages = (key.key.key_type() == KeyType::Secret).then(|| key.usages.clone());
    Ok((exported, usages))
}
