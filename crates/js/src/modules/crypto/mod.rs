//! `k6/crypto`: hashes, HMAC, random bytes. `k6/crypto/x509` is next door ([`super::x509`]), and so is Web Crypto.

mod hasher;
mod output;

pub(super) use hasher::install_classes;
use onrush_crypto::{Hash, Hmac};

use self::{hasher::Hasher, output::Encoding};
use super::{
    bytes::{self, Input, Output, PIECE_BYTES},
    export::export,
};
use crate::{
    embed::{Args, Ctx, Handle, JsResult, TextBuilder, Throw},
    vu::context,
};

pub(super) fn build(ctx: Ctx) -> JsResult {
    let exports = ctx.object()?;
    export(ctx, &exports, "createHash", 1, |ctx, _, args| {
        Hasher::create(ctx, Hasher::Plain(hash(ctx, args.at(0))?.hasher()))
    })?;
    export(ctx, &exports, "createHMAC", 2, |ctx, _, args| {
        Hasher::create(ctx, Hasher::Keyed(Box::new(keyed(ctx, args)?)))
    })?;
    export(ctx, &exports, "hexEncode", 1, |ctx, _, args| hex_encode(ctx, args.at(0)))?;
    export(ctx, &exports, "hmac", 4, |ctx, _, args| {
        let mut hmac = keyed(ctx, args)?;
        Input::of(ctx, args.at(2))?.each_piece(ctx, |piece| hmac.update(piece))?;
        Encoding::of(ctx, args.at(3))?.value(ctx, &hmac.finish())
    })?;
    for (number, hash) in Hash::ALL.into_iter().enumerate() {
        let function =
            ctx.numbered(hash.name(), 2, number as i16, |ctx, _, args, number| digest(ctx, Hash::ALL[number], args))?;
        exports.define(ctx, hash.name(), function)?;
    }
    export(ctx, &exports, "randomBytes", 1, |ctx, _, args| random_bytes(ctx, args.at(0)))?;
    Ok(exports)
}

/// `sha256(data, encoding)` and its like.
fn digest(ctx: Ctx, hash: Hash, args: Args<'_>) -> JsResult {
    let input = Input::of(ctx, args.at(0)).map_err(|throw| match throw {
        Throw::Error(message) => Throw::Error(format!("{} failed: {message}", hash.name())),
        throw => throw,
    })?;
    let digest = if let Some(short) = input.whole(ctx) {
        hash.digest(short)
    } else {
        let mut hasher = hash.hasher();
        input.each_piece(ctx, |piece| hasher.update(piece))?;
        hasher.digest()
    };
    Encoding::of(ctx, args.at(1))?.value(ctx, &digest)
}

fn hash(ctx: Ctx, name: &Handle) -> JsResult<Hash> {
    let name = bytes::name(ctx, name)?;
    Hash::named(&name).ok_or_else(|| Throw::error(format!("invalid algorithm: {name}")))
}

/// An HMAC from `algorithm` and `secret`, the first two arguments.
fn keyed(ctx: Ctx, args: Args<'_>) -> JsResult<Hmac> {
    let hash = hash(ctx, args.at(0))?;
    let secret = Input::of(ctx, args.at(1))?;
    if let Some(short) = secret.whole(ctx) {
        return Ok(Hmac::new(hash, short));
    }
    if secret.byte_count(ctx)? <= PIECE_BYTES {
        let mut bytes = Vec::new();
        secret.each_piece(ctx, |piece| bytes.extend_from_slice(piece))?;
        return Ok(Hmac::new(hash, &bytes));
    }
    // RFC 2104: a key longer than a block stands for its hash.
    let mut hasher = hash.hasher();
    secret.each_piece(ctx, |piece| hasher.update(piece))?;
    Ok(Hmac::new(hash, &hasher.digest()))
}

fn hex_encode(ctx: Ctx, value: &Handle) -> JsResult {
    let input = Input::of(ctx, value)?;
    let length = input.byte_count(ctx)?.checked_mul(2);
    let mut text = TextBuilder::new(ctx, length.unwrap_or(usize::MAX))?;
    let mut encoded = Vec::new();
    input.each_piece(ctx, |piece| {
        encoded.clear();
        output::hex(piece, &mut encoded);
        text.write(&encoded);
    })?;
    text.finish()
}

fn random_bytes(ctx: Ctx, size: &Handle) -> JsResult {
    let size = size.to_i64(ctx)?;
    if size < 1 {
        return Err(Throw::error("invalid size"));
    }
    let size = usize::try_from(size).map_err(|_| Throw::error("invalid size"))?;
    let mut output = Output::new(size)?;
    while output.bytes.len() < size {
        let start = output.bytes.len();
        output.bytes.resize(size.min(start + PIECE_BYTES), 0);
        onrush_crypto::fill_random(&mut output.bytes[start..])
            .map_err(|_| Throw::error("the system has no random bytes"))?;
        context::pause()?;
    }
    output.buffer(ctx)
}
