//! The JSON form of options, against `k6 inspect`.

use onrush_plan::parse_json;
use serde_json::Value;

use super::script;

/// Keys, order and values are k6's. k6's `inspect` leaves out the two keys that scripts cannot set.
#[test]
fn as_k6_prints_them() {
    for line in include_str!("k6/options.jsonl").lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let mut got = script(&case["options"].to_string()).unwrap().options.to_json();
        let fields = got.as_object_mut().unwrap();
        assert_eq!(fields.shift_remove("consoleOutput"), Some(Value::Null));
        assert_eq!(fields.shift_remove("localIPs"), Some(Value::Null));
        assert_eq!(got.to_string(), case["inspect"].to_string(), "for {}", case["options"]);
    }
}

#[test]
fn what_is_printed_reads_back() {
    for line in include_str!("k6/options.jsonl").lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let options = parse_json(&case["options"].to_string()).unwrap().options;
        let again = parse_json(&options.to_json().to_string()).unwrap();
        assert_eq!(again.options.to_json(), options.to_json());
        assert_eq!(again.unknown, ["consoleOutput", "localIPs"]);
    }
}

#[test]
fn the_test_view_has_no_shortcuts() {
    let value = script(r#"{"vus": 3, "duration": "1s"}"#).unwrap().options.to_test_json();
    let keys: Vec<&str> = value.as_object().unwrap().keys().map(String::as_str).take(4).collect();
    assert_eq!(keys, ["paused", "scenarios", "executionSegment", "executionSegmentSequence"]);
    assert_eq!(value["scenarios"]["default"]["executor"], "constant-vus");
}
