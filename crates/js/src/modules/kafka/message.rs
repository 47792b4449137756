//! Messages between scripts and clusters.

use bytes::Bytes;
use onrush_calendar::date_of_days;
use onrush_kafka::{Header, Message, Outgoing};

use crate::{
    embed::{Ctx, GrowingCharge, Handle, JsResult, ObjectKind, Throw, Val},
    modules::go::go_type,
    vu::context::pause,
};

/// Reads the messages of a call, and counts what they take while it lasts.
pub(super) fn outgoing(ctx: Ctx, value: &Handle, charge: &mut GrowingCharge) -> JsResult<Vec<Outgoing>> {
    if !value.is_array() {
        let found = go_type(ctx, value);
        return Err(Throw::error(format!("produce() takes an object with an array of messages, not {found}")));
    }
    let mut messages = Vec::new();
    let mut held = 0;
    for index in 0..value.length(ctx)? {
        let item = value.get_index(ctx, index)?;
        if !item.is_object() {
            let found = go_type(ctx, &item);
            return Err(Throw::error(format!("message {index} is not an object but {found}")));
        }
        let message = one(ctx, &item).map_err(|throw| match throw {
            Throw::Error(text) => Throw::error(format!("message {index}: {text}")),
            throw => throw,
        })?;
        let headers: usize = message.headers.iter().map(|header| HEADER_BYTES + header.key.len()).sum();
        let bytes = |bytes: &Option<Bytes>| bytes.as_ref().map_or(0, Bytes::len);
        held += MESSAGE_BYTES + bytes(&message.key) + bytes(&message.value) + headers;
        charge.hold(held)?;
        messages.push(message);
        pause()?;
    }
    Ok(messages)
}

fn one(ctx: Ctx, item: &Handle) -> JsResult<Outgoing> {
    let topic = item.get(ctx, "topic")?;
    let topic = if topic.is_set() { Some(topic.to_text(ctx)?).filter(|topic| !topic.is_empty()) } else { None };
    let partition = item.get(ctx, "partition")?;
    let partition = if partition.is_set() {
        let number = partition.as_number().filter(|number| number.fract() == 0.0 && number.abs() < 2.0_f64.powi(31));
        Some(number.ok_or_else(|| Throw::error("its partition is not a whole number"))? as i32)
    } else {
        None
    };
    let key = bytes_of(ctx, &*item.get(ctx, "key")?, "key")?;
    let value = bytes_of(ctx, &*item.get(ctx, "value")?, "value")?;
    let headers = headers(ctx, &*item.get(ctx, "headers")?)?;
    let time_ms = time(ctx, &*item.get(ctx, "time")?)?;
    Ok(Outgoing { topic, partition, key, value, headers, time_ms })
}

/// A key or a value: bytes, as `serialize()` gives them, or a text.
fn bytes_of(ctx: Ctx, value: &Handle, what: &str) -> JsResult<Option<Bytes>> {
    if !value.is_set() {
        return Ok(None);
    }
    if value.is_string() {
        return Ok(Some(value.to_text(ctx)?.into()));
    }
    if let Some(bytes) = value.array_buffer(ctx).or_else(|| value.typed_array(ctx)) {
        return Ok(Some(Bytes::copy_from_slice(bytes)));
    }
    match numbers(ctx, value)? {
        Some(bytes) => Ok(Some(bytes.into())),
        None => Err(Throw::error(format!(
            "its {what} must be bytes, as SchemaRegistry.serialize() gives them, not {}",
            go_type(ctx, value)
        ))),
    }
}

/// The bytes of an array of numbers, if it is one.
pub(super) fn numbers(ctx: Ctx, value: &Handle) -> JsResult<Option<Vec<u8>>> {
    if !value.is_array() {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    let mut charge = GrowingCharge::default();
    for index in 0..value.length(ctx)? {
        let number = value.get_index(ctx, index)?.as_number();
        let byte = number.filter(|number| number.fract() == 0.0 && (0.0..256.0).contains(number));
        let Some(byte) = byte else { return Ok(None) };
        bytes.push(byte as u8);
        charge.hold(bytes.len())?;
        pause()?;
    }
    Ok(Some(bytes))
}

fn headers(ctx: Ctx, value: &Handle) -> JsResult<Vec<Header>> {
    let mut headers = Vec::new();
    if !value.is_object() {
        return Ok(headers);
    }
    for key in value.keys(ctx)?.into_iter().take(HEADERS_MAX) {
        let item = value.get(ctx, &key)?;
        let value = if !item.is_set() {
            None
        } else if let Some(bytes) = item.array_buffer(ctx).or_else(|| item.typed_array(ctx)) {
            Some(Bytes::copy_from_slice(bytes))
        } else {
            Some(item.to_text(ctx)?.into())
        };
        headers.push(Header { key: key.text(ctx)?, value });
        pause()?;
    }
    Ok(headers)
}

/// A `Date`, milliseconds, or a text that `Date` understands.
fn time(ctx: Ctx, value: &Handle) -> JsResult<Option<i64>> {
    if !value.is_set() {
        return Ok(None);
    }
    let ms = if value.is_string() {
        let date = ctx.global().get(ctx, "Date")?;
        let parse = date.get(ctx, "parse")?;
        ctx.call(&parse, &date, &[value])?.to_number(ctx)?
    } else if value.is_number() || value.object_kind() == ObjectKind::Date {
        value.to_number(ctx)?
    } else {
        f64::NAN
    };
    if ms.is_finite() { Ok(Some(ms as i64)) } else { Err(Throw::error("its time is not a date")) }
}

/// A message as a script gets it.
pub(super) fn incoming(ctx: Ctx, message: &Message, has_ms: bool) -> JsResult {
    let object = ctx.object()?;
    object.define(ctx, "topic", Val::string(ctx, &message.topic)?)?;
    object.define(ctx, "partition", Val::int(message.partition))?;
    object.define(ctx, "offset", Val::number(message.offset as f64))?;
    object.define(ctx, "time", Val::string(ctx, &go_time(message.time_ms, has_ms))?)?;
    object.define(ctx, "highwaterMark", Val::number(message.high_watermark as f64))?;
    let bytes = |bytes: &Option<Bytes>| bytes.as_ref().map_or_else(|| Ok(Val::null()), |bytes| ctx.uint8_array(bytes));
    object.define(ctx, "key", bytes(&message.key)?)?;
    object.define(ctx, "value", bytes(&message.value)?)?;
    let headers = ctx.object()?;
    for header in &message.headers {
        headers.define(ctx, header.key.as_str(), bytes(&header.value)?)?;
        pause()?;
    }
    object.define(ctx, "headers", headers)?;
    Ok(object)
}

/// k6: Go's RFC 3339, to the second, or with what there is of it.
fn go_time(ms: i64, has_ms: bool) -> String {
    // The years 0 to 9999.
    let ms = ms.clamp(-62_167_219_200_000, 253_402_300_799_999);
    let (seconds, ms) = (ms.div_euclid(1_000), ms.rem_euclid(1_000));
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let (year, month, day) = date_of_days(days);
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    let fraction = if has_ms && ms > 0 { format!(".{ms:03}").trim_end_matches('0').to_owned() } else { String::new() };
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{fraction}Z")
}

/// What a message or header takes besides its bytes.
const MESSAGE_BYTES: usize = 160;
const HEADER_BYTES: usize = 80;
/// Of one message.
const HEADERS_MAX: usize = 10_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_gos() {
        let check = |ms, has_ms, expect: &str| assert_eq!(go_time(ms, has_ms), expect);
        check(0, true, "1970-01-01T00:00:00Z");
        check(1_732_332_761_120, true, "2024-11-23T03:32:41.12Z");
        check(1_732_332_761_120, false, "2024-11-23T03:32:41Z");
        check(951_782_400_000, true, "2000-02-29T00:00:00Z");
        check(-1, true, "1969-12-31T23:59:59.999Z");
        check(i64::MAX, false, "9999-12-31T23:59:59Z");
        check(i64::MIN, false, "0000-01-01T00:00:00Z");
    }
}
