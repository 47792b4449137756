//! Web Crypto: the global `crypto`, and `k6/experimental/webcrypto`, which older scripts import it from.
//!
//! Algorithms and key formats are [`onrush_crypto::web`]'s. Here are the objects: what a script passes is read as k6 reads
//! it (`algorithm`, `data`, `key`), the work is done at once or, where it takes long, by the threads of `crate::offload`, and `work`
//! settles the promise. A file a method or a pair of them: `cipher`, `derive`, `digest`, `export`, `generate`, `import`,
//! `signature`, `wrap`.

mod algorithm;
mod cipher;
mod data;
mod derive;
mod digest;
mod export;
mod generate;
mod import;
mod key;
mod random;
mod refusal;
mod signature;
mod work;
mod wrap;

use self::refusal::{Refusal, Step};
use super::export::export;
use crate::embed::{Args, Ctx, Handle, HostClass, JsResult, Throw};

/// Adds the class of keys and the global to a realm.
pub(super) fn install(ctx: Ctx) -> JsResult<()> {
    let subtle = ctx.object()?;
    export(ctx, &subtle, "decrypt", 3, cipher::decrypt)?;
    export(ctx, &subtle, "deriveBits", 3, derive::derive_bits)?;
    export(ctx, &subtle, "deriveKey", 5, derive::derive_key)?;
    export(ctx, &subtle, "digest", 2, digest::digest)?;
    export(ctx, &subtle, "encrypt", 3, cipher::encrypt)?;
    export(ctx, &subtle, "exportKey", 2, export::export_key)?;
    export(ctx, &subtle, "generateKey", 3, generate::generate_key)?;
    export(ctx, &subtle, "importKey", 5, import::import_key)?;
    export(ctx, &subtle, "sign", 3, signature::sign)?;
    export(ctx, &subtle, "unwrapKey", 7, wrap::unwrap_key)?;
    export(ctx, &subtle, "verify", 4, signature::verify)?;
    export(ctx, &subtle, "wrapKey", 4, wrap::wrap_key)?;
    subtle.freeze(ctx)?;

    let prototype = ctx.object()?;
    let constructor = ctx.callable_constructor("CryptoKey", 0, no_constructor)?;
    constructor.define_hidden(ctx, "prototype", prototype.clone())?;
    prototype.define_hidden(ctx, "constructor", constructor.clone())?;
    HostClass::<key::CryptoKey>::set_prototype(ctx, prototype);

    let crypto = ctx.object()?;
    export(ctx, &crypto, "getRandomValues", 1, random::random_values)?;
    export(ctx, &crypto, "randomUUID", 0, random::random_uuid)?;
    crypto.define(ctx, "subtle", subtle)?;
    crypto.define(ctx, "CryptoKey", constructor)?;
    crypto.freeze(ctx)?;
    ctx.global().define(ctx, "crypto", crypto)
}

/// What `import { crypto } from "k6/experimental/webcrypto"` gave before the global came.
pub(super) fn build(ctx: Ctx) -> JsResult {
    let crypto = ctx.global().get(ctx, "crypto")?;
    let exports = ctx.object()?;
    exports.define(ctx, "CryptoKey", crypto.get(ctx, "CryptoKey")?)?;
    exports.define(ctx, "crypto", crypto)?;
    Ok(exports)
}

fn no_constructor(_: Ctx, _: &Handle, _: Args<'_>) -> JsResult {
    Err(Throw::type_error("a CryptoKey is made by crypto.subtle.generateKey() or importKey()"))
}
