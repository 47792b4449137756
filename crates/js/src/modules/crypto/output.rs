//! The form in which a script wants a digest.

use onrush_crypto::Base64;

use super::bytes;
use crate::embed::{Ctx, Handle, JsResult, Throw, Val};

/// An output encoding. k6: there is no default.
#[derive(Clone, Copy)]
pub(super) enum Encoding {
    Hex,
    Base64(Base64),
    Binary,
}

impl Encoding {
    pub(super) fn of(ctx: Ctx, name: &Handle) -> JsResult<Self> {
        Ok(match name.ascii() {
            Some("hex") => Self::Hex,
            Some("base64") => Self::Base64(Base64::STD),
            Some("base64url") => Self::Base64(Base64::URL),
            Some("base64rawurl") => Self::Base64(Base64::RAW_URL),
            Some("binary") => Self::Binary,
            // Not a flat string, but perhaps something that gives one.
            None => match bytes::name(ctx, name)?.as_str() {
                "hex" => Self::Hex,
                "base64" => Self::Base64(Base64::STD),
                "base64url" => Self::Base64(Base64::URL),
                "base64rawurl" => Self::Base64(Base64::RAW_URL),
                "binary" => Self::Binary,
                other => return Err(unknown(other)),
            },
            Some(other) => return Err(unknown(other)),
        })
    }

    /// A digest in that form.
    pub(super) fn value(self, ctx: Ctx, digest: &[u8]) -> JsResult {
        let mut text = Vec::new();
        match self {
            Self::Hex => hex(digest, &mut text),
            Self::Base64(variant) => variant.encode(digest, &mut text),
            Self::Binary => return ctx.array_buffer(digest),
        }
        Val::latin1(ctx, &text)
    }
}

fn unknown(name: &str) -> Throw {
    Throw::error(format!("invalid output encoding: {name}"))
}

/// Appends two characters for each byte.
pub(super) fn hex(bytes: &[u8], out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    out.reserve(bytes.len() * 2);
    out.extend(bytes.iter().flat_map(|byte| [DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]));
}
