//! Values as JSON as Go writes what scripts give it. k6 exports them first, so that methods `toJSON` mean nothing, and some
//! values are refused.

use base64::{Engine, engine::general_purpose::STANDARD};

use crate::embed::{Args, Ctx, Handle, JsResult, ObjectKind, Throw, TypedArray, Val};

/// Options as JSON: `None` for undefined. What is wrong with a value is found when they are read.
pub(crate) fn options(ctx: Ctx, value: &Handle) -> JsResult<Option<String>> {
    let replacer = ctx.function("replacer", 2, |ctx, holder: &Handle, args: Args<'_>| {
        let item = holder.get(ctx, &args.at(0).to_text(ctx)?)?;
        Ok(if item.is_object() && item.object_kind() != ObjectKind::Date { item } else { args.at(1).dup() })
    })?;
    Ok(ctx.stringify_with(value, &replacer)?.map(whole_characters))
}

/// JSON whose halves of surrogate pairs are U+FFFD, as in k6: readers of JSON refuse them. What `JSON.stringify` escapes is half
/// a pair always; it writes pairs as the characters they are.
fn whole_characters(json: String) -> String {
    if !json.contains("\\ud") {
        return json;
    }
    let mut whole = String::with_capacity(json.len());
    let mut rest = json.as_str();
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        whole.push_str(before);
        let is_half = escape.starts_with("\\ud")
            && escape.as_bytes().get(3).is_some_and(|digit| !digit.is_ascii_digit() || *digit > b'7');
        // An escape is two characters, and these six.
        let length = if is_half { 6 } else { 2 };
        whole.push_str(if is_half { "\u{fffd}" } else { escape.get(..length).unwrap_or(escape) });
        rest = escape.get(length..).unwrap_or_default();
    }
    whole.push_str(rest);
    whole
}

/// Data that goes from one VU to the others: `None` for undefined. The inner error is Go's text about what cannot be sent.
pub(crate) fn data(ctx: Ctx, value: &Handle) -> JsResult<Result<Option<String>, String>> {
    if value.is_undefined() {
        return Ok(Ok(None));
    }
    let replacer = ctx.function("replacer", 2, |ctx, holder: &Handle, args: Args<'_>| {
        let item = holder.get(ctx, &args.at(0).to_text(ctx)?)?;
        exported(ctx, item, args.at(1))
    })?;
    match ctx.stringify_with(value, &replacer) {
        Ok(json) => Ok(Ok(json)),
        Err(Throw::Interrupted) => Err(Throw::Interrupted),
        Err(throw) => {
            ctx.raise(throw);
            let thrown = ctx.take_exception_value();
            let message = thrown.get(ctx, "message").and_then(|message| message.to_text(ctx)).unwrap_or_default();
            match message.starts_with(REFUSED) {
                true => Ok(Err(message)),
                false => Err(ctx.throw_value(thrown)),
            }
        }
    }
}

/// What `JSON.stringify` is to write instead of `item`; `converted` is what a method `toJSON` has made of it.
fn exported(ctx: Ctx, item: Val, converted: &Handle) -> JsResult {
    if item.is_undefined() {
        return Ok(Val::null());
    }
    if item.is_function(ctx) {
        return Err(Throw::error(format!("{REFUSED} type: func(sobek.FunctionCall) sobek.Value")));
    }
    if item.is_symbol() {
        return item.get(ctx, "description");
    }
    if item.is_bigint() {
        return Ok(Val::number(item.to_text(ctx)?.parse().unwrap_or(f64::NAN)));
    }
    if let Some(number) = item.as_number().filter(|number| !number.is_finite()) {
        let text = if number.is_nan() { "NaN" } else { ["-Inf", "+Inf"][usize::from(number > 0.0)] };
        return Err(Throw::error(format!("{REFUSED} value: {text}")));
    }
    match item.typed_array_kind() {
        None => {}
        Some(TypedArray::Uint8 | TypedArray::Uint8Clamped) => {
            let text = STANDARD.encode(item.typed_array(ctx).unwrap_or_default());
            return Val::string(ctx, &text);
        }
        Some(_) => return listed(ctx, &item),
    }
    match item.object_kind() {
        ObjectKind::Set | ObjectKind::Map => listed(ctx, &item),
        // Go leaves out the zeros at the end of a fraction, and the fraction if it is zero.
        ObjectKind::Date if converted.is_string() => {
            let text = converted.to_text(ctx)?;
            let Some((time, fraction)) = text.strip_suffix('Z').and_then(|text| text.split_once('.')) else {
                return Ok(converted.dup());
            };
            let fraction = fraction.trim_end_matches('0');
            Val::string(ctx, &format!("{time}{}{fraction}Z", if fraction.is_empty() { "" } else { "." }))
        }
        ObjectKind::Date => Ok(converted.dup()),
        _ => Ok(item),
    }
}

/// `Array.from(item)`
fn listed(ctx: Ctx, item: &Handle) -> JsResult {
    let array = ctx.global().get(ctx, "Array")?;
    let from = array.get(ctx, "from")?;
    ctx.call(&from, &array, &[item])
}

/// How Go's texts about values that have no JSON begin.
const REFUSED: &str = "json: unsupported";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_of_pairs_are_replaced() {
        let check = |json: &str, expect: &str| assert_eq!(whole_characters(json.to_owned()), expect, "{json}");
        check(r#""\ud800x\udfff""#, "\"\u{fffd}x\u{fffd}\"");
        // Not an escape, and characters below the halves.
        check(r#""\\ud800 \ud7ff \n\u0001""#, r#""\\ud800 \ud7ff \n\u0001""#);
        check(r#"{"a":"ü\udbff"}"#, "{\"a\":\"ü\u{fffd}\"}");
    }
}
