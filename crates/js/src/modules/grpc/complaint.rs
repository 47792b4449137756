//! The words k6 has for an object that is no message: what protobuf's JSON reader says, with a place in the JSON text.
//!
//! Objects are not made into JSON to be sent. Only when one is wrong its text is made, to find where in it the problem is.

use super::encode::{Reason, Step, Wrong};
use crate::embed::{Args, Ctx, Handle, JsResult, Val};

/// What is wrong, as Go says it.
pub(super) fn text(json: &str, wrong: &Wrong) -> String {
    let concerns_key = matches!(
        wrong.reason,
        Reason::UnknownField | Reason::DuplicateField | Reason::OneofIsSet(_) | Reason::MapKey { .. }
    );
    let start = locate(json, &wrong.path, concerns_key).unwrap_or(0);
    let token = token(json, start);
    let column = json.get(..start).map_or(0, |before| before.chars().count()) + 1;
    let place = format!("(line 1:{column})");
    match &wrong.reason {
        Reason::UnknownField => format!("{place}: unknown field {token}"),
        Reason::DuplicateField => format!("{place}: duplicate field {token}"),
        Reason::OneofIsSet(oneof) => format!("{place}: error parsing {token}, oneof {oneof} is already set"),
        Reason::Value { kind, field } => format!("{place}: invalid value for {kind} field {field}: {token}"),
        Reason::MapKey { kind } => format!("{place}: invalid value for {kind} key: {token}"),
        Reason::WellKnown(name) => format!("{place}: invalid {name} value {token}"),
        Reason::OutOfRange(name) => format!("{place}: {name} value out of range: {token}"),
        Reason::Missing(name) => format!("required field {name} not set"),
        Reason::Text(text) => format!("{place}: {text}"),
        Reason::Unexpected => format!("syntax error {place}: unexpected token {token}"),
    }
}

/// `JSON.stringify` with the texts protobuf has for `NaN` and the infinities.
pub(super) fn stringify_with_specials(ctx: Ctx, value: &Handle) -> JsResult<Option<String>> {
    let replacer = ctx.function("replacer", 2, |ctx, _: &Handle, args: Args<'_>| {
        let item = args.at(1);
        match item.as_number() {
            Some(number) if !number.is_finite() => Val::string(ctx, &item.to_text(ctx)?),
            _ => Ok(item.dup()),
        }
    })?;
    ctx.stringify_with(value, &replacer)
}

/// Where the value at the end of a path begins, or with `key` its key.
fn locate(json: &str, path: &[Step], key: bool) -> Option<usize> {
    let bytes = json.as_bytes();
    let mut at = 0;
    for (left, step) in path.iter().enumerate().rev() {
        let mut index = 0;
        let is_object = *bytes.get(at)? == b'{';
        at += 1;
        loop {
            let start = at;
            if is_object {
                let end = skip(bytes, at)?;
                // What follows a key is a colon.
                at = end + 1;
                let is_it = match step {
                    Step::Key(name) => {
                        serde_json::from_str::<String>(json.get(start..end)?).is_ok_and(|key| key == *name)
                    }
                    Step::Index(_) => false,
                };
                if is_it {
                    if key && left == 0 {
                        return Some(start);
                    }
                    break;
                }
            } else if matches!(step, Step::Index(wanted) if *wanted == index) {
                break;
            }
            at = skip(bytes, at)?;
            if *bytes.get(at)? != b',' {
                return None;
            }
            at += 1;
            index += 1;
        }
    }
    Some(at)
}

/// The end of the value that begins at `at`.
fn skip(bytes: &[u8], at: usize) -> Option<usize> {
    let mut depth = 0_usize;
    let mut at = at;
    loop {
        match *bytes.get(at)? {
            b'"' => {
                at += 1;
                while *bytes.get(at)? != b'"' {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                at += 1;
            }
            b'{' | b'[' => {
                depth += 1;
                at += 1;
            }
            b'}' | b']' => {
                depth = depth.checked_sub(1)?;
                at += 1;
            }
            b',' | b':' => at += 1,
            _ => {
                while bytes.get(at).is_some_and(|byte| !matches!(byte, b',' | b':' | b'}' | b']' | b'"')) {
                    at += 1;
                }
            }
        }
        if depth == 0 {
            return Some(at);
        }
    }
}

/// The token that begins there: brackets one by one.
fn token(json: &str, at: usize) -> &str {
    let bytes = json.as_bytes();
    let end = match bytes.get(at) {
        None => at,
        Some(b'{' | b'[' | b'}' | b']' | b',' | b':') => at + 1,
        Some(_) => skip(bytes, at).unwrap_or(json.len()),
    };
    json.get(at..end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(json: &str, path: &[&str], reason: Reason, expect: &str) {
        let step = |step: &&str| step.parse().map_or_else(|_| Step::Key((*step).to_owned()), Step::Index);
        let wrong = Wrong { path: path.iter().rev().map(step).collect(), reason };
        assert_eq!(text(json, &wrong), expect);
    }

    #[test]
    fn places() {
        check(r#"{"x":1}"#, &["x"], Reason::UnknownField, r#"(line 1:2): unknown field "x""#);
        let value = || Reason::Value { kind: "string", field: "y".to_owned() };
        check(r#"{"x":"é","y":1}"#, &["y"], value(), "(line 1:14): invalid value for string field y: 1");
        check(
            r#"{"a":[{"y":{}},{"y":[2]}]}"#,
            &["a", "1", "y"],
            value(),
            "(line 1:21): invalid value for string field y: [",
        );
        check(
            r#"{"a\"b":{"c":",]"},"d":[1,2]}"#,
            &["d", "1"],
            Reason::Unexpected,
            "syntax error (line 1:27): unexpected token 2",
        );
        check("7", &[], Reason::Unexpected, "syntax error (line 1:1): unexpected token 7");
        check("", &["x"], Reason::UnknownField, "(line 1:1): unknown field ");
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_searched(json in "[\\[\\]{}:,\"a1\\\\ ]{0,30}", key in "[a1]", index in 0_u32..3) {
            let path = vec![Step::Index(index), Step::Key(key)];
            let _ = text(&json, &Wrong { path, reason: Reason::UnknownField });
        }
    }
}
