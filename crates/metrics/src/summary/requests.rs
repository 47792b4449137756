//! What became of requests, as JSON: the tables of errors, statuses and endpoints under a key of their own, which k6's
//! shapes do not have.

use serde_json::{Map, Value, json};

use super::{endpoint::Endpoint, export::number};
use crate::outcome::{Ending, Outcome, Outcomes};

/// `{errors, statuses, interrupted, endpoints}`; `None` without requests. Durations are milliseconds, times are seconds of
/// the test. `endpoints` are there where they were asked for.
pub fn requests(outcomes: &Outcomes, endpoints: &[Endpoint]) -> Option<Value> {
    let rows = outcomes.by_count();
    if rows.is_empty() && endpoints.is_empty() {
        return None;
    }
    let mut value = Map::new();
    let all = |of: fn(&Outcome) -> Option<Map<String, Value>>| -> Vec<Value> {
        rows.iter().filter_map(|row| of(row).map(|head| with_counts(head, row))).collect()
    };
    value.insert("errors".to_owned(), all(error).into());
    value.insert("statuses".to_owned(), all(status).into());
    if let Some(row) = outcomes.interrupted() {
        value.insert("interrupted".to_owned(), with_counts(Map::new(), row));
    }
    if !endpoints.is_empty() {
        value.insert("endpoints".to_owned(), endpoints.iter().map(endpoint).collect());
    }
    Some(value.into())
}

fn error(row: &Outcome) -> Option<Map<String, Value>> {
    let Ending::Error { code, text } = &row.ending else { return None };
    Some(Map::from_iter([("error_code".to_owned(), json!(code)), ("error".to_owned(), json!(text))]))
}

fn status(row: &Outcome) -> Option<Map<String, Value>> {
    let Ending::Status(status) = &row.ending else { return None };
    Some(Map::from_iter([("status".to_owned(), json!(status))]))
}

fn with_counts(mut value: Map<String, Value>, row: &Outcome) -> Value {
    let seconds = |ns: u64| json!(ns / 1_000_000_000);
    value.insert("count".to_owned(), json!(row.count));
    value.insert("first".to_owned(), seconds(row.first_ns));
    value.insert("last".to_owned(), seconds(row.last_ns));
    value.insert("example".to_owned(), json!(row.example));
    value.into()
}

fn endpoint(endpoint: &Endpoint) -> Value {
    let durations = &endpoint.durations;
    json!({
        "name": endpoint.name,
        "count": endpoint.count,
        "failed": endpoint.failed,
        "avg": number(durations.mean()),
        "med": number(durations.quantile(0.5)),
        "p(95)": number(durations.quantile(0.95)),
        "p(99)": number(durations.quantile(0.99)),
        "max": number(durations.max()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_by_kind() {
        assert_eq!(requests(&Outcomes::default(), &[]), None);
        let mut outcomes = Outcomes::default();
        outcomes.note(200, 0, None, || "GET http://a/".to_owned());
        outcomes.note(200, 0, None, String::new);
        outcomes.note(0, 1_212, Some("refused"), || "GET http://b/".to_owned());
        outcomes.note_interrupted(|| "GET http://c/".to_owned());
        let endpoint = Endpoint { name: "a".to_owned(), count: 2, failed: None, ..Endpoint::default() };
        assert_eq!(
            requests(&outcomes, &[endpoint]),
            Some(json!({
                "errors": [
                    {"error_code": 1212, "error": "refused", "count": 1, "first": 0, "last": 0, "example": "GET http://b/"},
                ],
                "statuses": [{"status": 200, "count": 2, "first": 0, "last": 0, "example": "GET http://a/"}],
                "interrupted": {"count": 1, "first": 0, "last": 0, "example": "GET http://c/"},
                "endpoints": [{
                    "name": "a", "count": 2, "failed": null, "avg": 0, "med": 0, "p(95)": 0, "p(99)": 0, "max": 0,
                }],
            }))
        );
    }
}
