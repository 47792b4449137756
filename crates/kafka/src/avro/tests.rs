//! Values there and back, and what does not fit.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

const USER: &str = r#"{"type": "record", "name": "User", "namespace": "com.example", "fields": [
    {"name": "id", "type": "long"},
    {"name": "name", "type": "string", "default": "nobody"},
    {"name": "mail", "type": ["null", "string"], "default": null},
    {"name": "kind", "type": {"type": "enum", "name": "Kind", "symbols": ["A", "B"]}},
    {"name": "scores", "type": {"type": "array", "items": "double"}},
    {"name": "tags", "type": {"type": "map", "values": ["null", "int", "string", "boolean", "double"]}},
    {"name": "hash", "type": {"type": "fixed", "name": "Hash", "size": 2}},
    {"name": "data", "type": ["null", "bytes"]},
    {"name": "next", "type": ["null", "User"]}
]}"#;

fn user() -> Value {
    json!({
        "id": 1000, "name": "ö\"", "mail": "a@b", "kind": "B", "scores": [1.5, -2],
        "tags": {"a": null, "b": 7, "c": "x", "d": true, "e": 1.25}, "hash": [0, 255], "data": [1, 2], "next": {
            "id": -1, "kind": "A", "scores": [], "tags": {}, "hash": "\u{0}\u{ff}", "data": null
        }
    })
}

fn there_and_back(schema: &str, value: &Value) -> Result<Value, KafkaError> {
    let schema = Schema::parse(schema, &[])?;
    let bytes = to_binary(&schema, value, &mut |_| Ok(()))?;
    let text = from_binary(&schema, &bytes, &mut |_| Ok(()))?;
    Ok(serde_json::from_str(&text).expect("it is JSON"))
}

#[test]
fn values_come_back() {
    let back = there_and_back(USER, &user()).expect("it fits");
    let mut expect = user();
    expect["scores"][1] = json!(-2);
    expect["next"]["name"] = json!("nobody");
    expect["next"]["mail"] = Value::Null;
    expect["next"]["next"] = Value::Null;
    expect["next"]["hash"] = json!([0, 255]);
    assert_eq!(back, expect);
}

#[test]
fn bytes_are_those_of_the_specification() {
    let check = |schema: &str, value: Value, expect: &[u8]| {
        let schema = Schema::parse(schema, &[]).expect("it is a schema");
        assert_eq!(to_binary(&schema, &value, &mut |_| Ok(())).expect("it fits"), expect, "{value}");
    };
    // From the specification's sections on the binary encoding.
    check(r#""string""#, json!("foo"), b"\x06foo");
    check("string", json!("foo"), b"\x06foo");
    check(r#"{"type": "array", "items": "long"}"#, json!([3, 27]), &[4, 6, 54, 0]);
    check(r#"["null", "string"]"#, json!(null), &[0]);
    check(r#"["null", "string"]"#, json!("a"), &[2, 2, 0x61]);
    check(r#"["null", "string"]"#, json!({"string": "a"}), &[2, 2, 0x61]);
    check(r#"["int", "long"]"#, json!({"long": 1}), &[2, 2]);
    check(
        r#"{"type": "record", "name": "test", "fields": [{"name": "a", "type": "long"}, {"name": "b", "type": "string"}]}"#,
        json!({"a": 27, "b": "foo"}),
        b"\x36\x06foo",
    );
    check("int", json!(-64), &[0x7F]);
    check("int", json!(64), &[0x80, 1]);
    check("float", json!(1.5), &[0, 0, 0xC0, 0x3F]);
}

#[test]
fn values_that_do_not_fit_say_where() {
    let check = |change: fn(&mut Value), expect: &str| {
        let mut value = user();
        change(&mut value);
        let error = there_and_back(USER, &value).expect_err("it does not fit");
        assert_eq!(error.to_string(), expect);
    };
    check(|value| value["id"] = json!("1"), "avro: id must be long, not \"1\"");
    check(|value| value["id"] = json!(1.5), "avro: id must be long, not 1.5");
    check(|value| value["kind"] = json!("C"), "avro: kind must be com.example.Kind, not \"C\"");
    check(|value| value["scores"][1] = json!(true), "avro: scores.1 must be double, not true");
    check(|value| value["mail"] = json!(7), "avro: mail must be one of null, string");
    check(|value| value["hash"] = json!([1]), "avro: hash must be com.example.Hash, not [1]");
    check(|value| value["data"] = json!([256]), "avro: data must be bytes, not [256]");
    check(|value| *value = json!({}), "avro: id is missing");
}

#[test]
fn schemas_are_refused_with_a_reason() {
    let check = |text: &str, expect: &str| {
        let error = Schema::parse(text, &[]).expect_err("it is not a schema");
        assert!(error.to_string().contains(expect), "{error}");
    };
    check("{", "the schema is not JSON");
    check("1", "a type is a name");
    check("[]", "a union has no types");
    check(r#"{"type": "array"}"#, "array without items");
    check(r#"{"type": "record"}"#, "record without a name");
    check(r#"{"type": "record", "name": "R"}"#, "the record R has no fields");
    check(r#"{"type": "nope"}"#, "the schema has no type \"nope\"");
    check(r#"{"type": "fixed", "name": "F", "size": 99999999999}"#, "the size of F is more than");
    let deep = format!("{}\"int\"{}", r#"{"type": "array", "items": "#.repeat(100), "}".repeat(100));
    check(&deep, "deeper than 64");
}

#[test]
fn types_of_other_schemas_are_known() {
    let kind = r#"{"type": "enum", "name": "Kind", "namespace": "com.example", "symbols": ["A"]}"#;
    let text = r#"{"type": "record", "name": "R", "namespace": "com.example", "fields": [{"name": "k", "type": "com.example.Kind"}, {"name": "l", "type": "Kind"}]}"#;
    let schema = Schema::parse(text, &[kind]).expect("it is a schema");
    assert_eq!(schema.name(), Some("com.example.R"));
    assert_eq!(to_binary(&schema, &json!({"k": "A", "l": "A"}), &mut |_| Ok(())), Ok(vec![0, 0]));
}

#[test]
fn hostile_bytes_come_to_an_end() {
    let check = |schema: &str, bytes: &[u8]| {
        let schema = Schema::parse(schema, &[]).expect("it is a schema");
        assert!(from_binary(&schema, bytes, &mut |_| Ok(())).is_err());
    };
    let nulls = r#"{"type": "array", "items": "null"}"#;
    // Two to the power of 62 nothings, in a few bytes.
    check(nulls, &[0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F]);
    check(nulls, &[0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01, 0]);
    check("string", &[0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F]);
    check("long", &[0xFF; 11]);
    check("long", &[2, 2]);
    check(r#"["null"]"#, &[4]);
    // A list whose end never comes, as deep as one likes.
    let list = r#"{"type": "record", "name": "L", "fields": [{"name": "next", "type": ["null", "L"]}]}"#;
    check(list, &[2; 1_000]);
    let forever = r#"{"type": "record", "name": "L", "fields": [{"name": "next", "type": "L"}]}"#;
    check(forever, &[]);
}

#[test]
fn unions_that_fit_in_part_come_to_an_end() {
    // Each level can be tried as two types, and fits neither at the bottom.
    let list = r#"{"type": "record", "name": "A", "fields": [{"name": "x", "type": ["null", "A",
        {"type": "record", "name": "B", "fields": [{"name": "x", "type": ["null", "A", "B"]}]}]}]}"#;
    let mut value = json!(7);
    for _ in 0..40 {
        value = json!({"x": value});
    }
    let schema = Schema::parse(list, &[]).expect("it is a schema");
    assert!(to_binary(&schema, &value, &mut |_| Ok(())).is_err());
}

#[test]
fn what_a_schema_unfolds_to_is_limited() {
    // Each level has two of the next by default: two to the power of 36 bytes from nothing.
    let mut text = r#""boolean""#.to_owned();
    for level in 0..36 {
        let default = if level == 0 { "true" } else { "{}" };
        text = format!(
            r#"{{"type": "record", "name": "R{level}", "fields": [{{"name": "a", "type": {text}, "default": {default}}}, {{"name": "b", "type": "{}", "default": {default}}}]}}"#,
            if level == 0 { "boolean".to_owned() } else { format!("R{}", level - 1) }
        );
    }
    let schema = Schema::parse(&text, &[]).expect("it is a schema");
    let mut most = 0;
    let made = to_binary(&schema, &json!({}), &mut |bytes| {
        most = most.max(bytes);
        Ok(())
    });
    assert!(matches!(made, Err(KafkaError::TooLarge(_))), "{:?}", made.map(|bytes| bytes.len()));
    assert!(most > 1_000_000, "whoever pays for it is told: {most}");
    // Long names of fields, again and again.
    let name = "n".repeat(10_000);
    let text = format!(
        r#"{{"type": "array", "items": {{"type": "record", "name": "R", "fields": [{{"name": "{name}", "type": "null"}}]}}}}"#
    );
    let schema = Schema::parse(&text, &[]).expect("it is a schema");
    let mut pauses = 0;
    let made = from_binary(&schema, &[0x80, 0x89, 0x7A, 0], &mut |_| {
        pauses += 1;
        Ok(())
    });
    assert!(matches!(made, Err(KafkaError::TooLarge(_))), "{:?}", made.map(|text| text.len()));
    assert!(pauses > 100, "{pauses}");
    // Whoever has no room says so.
    let full = from_binary(&schema, &[0x80, 0x89, 0x7A, 0], &mut |bytes| {
        if bytes > 1 << 20 { Err(KafkaError::TooLarge("out of memory".to_owned())) } else { Ok(()) }
    });
    assert_eq!(full, Err(KafkaError::TooLarge("out of memory".to_owned())));
}

#[test]
fn whoever_no_longer_waits_is_heard() {
    let schema = Schema::parse(r#"{"type": "array", "items": "null"}"#, &[]).expect("it is a schema");
    let many = [0x80, 0x89, 0x7A, 0];
    let left = from_binary(&schema, &many, &mut |_| Err(KafkaError::Cancelled));
    assert_eq!(left, Err(KafkaError::Cancelled));
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let schema = Schema::parse(USER, &[]).expect("it is a schema");
        if let Ok(text) = from_binary(&schema, &bytes, &mut |_| Ok(())) {
            prop_assert!(serde_json::from_str::<Value>(&text).is_ok());
        }
    }

    #[test]
    fn numbers_come_back(value: i64, float: f64) {
        prop_assert_eq!(there_and_back("long", &json!(value)), Ok(json!(value)));
        if float.is_finite() {
            let schema = Schema::parse("double", &[]).expect("it is a schema");
            let text = from_binary(&schema, &float.to_le_bytes(), &mut |_| Ok(())).expect("it is one");
            prop_assert_eq!(text.parse::<f64>(), Ok(float));
        }
    }
}
