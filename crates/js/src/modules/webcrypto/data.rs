//! Bytes that scripts pass: as data, and as members of an algorithm.

use onrush_crypto::web::WebError;

use super::{Refusal, Step};
use crate::embed::{Ctx, Handle, Val};

/// The most bytes that are read as a member of an algorithm, such as additional data: they are worked on at once.
const MEMBER_BYTES_MAX: usize = 1 << 20;

/// The longest array of numbers that is read as one: each takes a call.
const MEMBER_ITEMS_MAX: u32 = 1 << 16;

/// What an `ArrayBuffer` holds or a typed array shows. Good until script code runs again.
pub(super) fn buffer(ctx: Ctx, value: &Handle) -> Option<&[u8]> {
    value.array_buffer(ctx).or_else(|| value.typed_array(ctx))
}

/// The data of a call. k6: a `DataView` is none.
pub(super) fn data(ctx: Ctx, value: &Handle) -> Step<&[u8]> {
    if !value.is_set() {
        return Err(Refusal::named("TypeError", "data is null or undefined"));
    }
    buffer(ctx, value)
        .ok_or_else(|| Refusal::operation("data is neither an ArrayBuffer, nor a TypedArray nor DataView"))
}

/// The bytes of an algorithm's member, empty where it is missing. k6: texts and arrays of numbers will do.
pub(super) fn member(ctx: Ctx, algorithm: &Handle, name: &str) -> Step<Vec<u8>> {
    let value = algorithm.get(ctx, name)?;
    if !value.is_set() {
        return Ok(Vec::new());
    }
    if let Some(bytes) = buffer(ctx, &value) {
        return limited(name, bytes);
    }
    if value.is_string() {
        return limited(name, value.to_js_string(ctx)?.text().as_bytes());
    }
    if value.is_array() {
        let length = value.length(ctx)?;
        if length > MEMBER_ITEMS_MAX {
            return Err(Refusal::operation(format!("{name} is an array of more than {MEMBER_ITEMS_MAX} numbers")));
        }
        let mut bytes = Vec::with_capacity(length as usize);
        for index in 0..length {
            bytes.push(value.get_index(ctx, index)?.to_i64(ctx)? as u8);
        }
        return Ok(bytes);
    }
    let bytes = view(ctx, &value)?.ok_or_else(unreadable)?;
    limited(name, &bytes)
}

fn limited(name: &str, bytes: &[u8]) -> Step<Vec<u8>> {
    if bytes.len() > MEMBER_BYTES_MAX {
        return Err(Refusal::operation(format!(
            "{name} has {} bytes, at most {MEMBER_BYTES_MAX} are allowed",
            bytes.len()
        )));
    }
    Ok(bytes.to_vec())
}

/// What a `DataView` shows.
fn view(ctx: Ctx, value: &Val) -> Step<Option<Vec<u8>>> {
    if !value.is_object() {
        return Ok(None);
    }
    let offset = value.get(ctx, "byteOffset")?.as_number();
    let length = value.get(ctx, "byteLength")?.as_number();
    let buffer = value.get(ctx, "buffer")?;
    let (Some(offset), Some(length), Some(bytes)) = (offset, length, buffer.array_buffer(ctx)) else {
        return Ok(None);
    };
    let end = offset as usize + length as usize;
    Ok(bytes.get(offset as usize..end).map(<[u8]>::to_vec))
}

fn unreadable() -> Refusal {
    // k6: the structure it means has no name.
    WebError::syntax("invalid algorithm parameters, unable to interpret as \"\" object").into()
}

/// Refuses an algorithm that is only a name where it needs members.
pub(super) fn members_expected(algorithm: &Handle) -> Step<()> {
    if algorithm.is_object() { Ok(()) } else { Err(unreadable()) }
}
