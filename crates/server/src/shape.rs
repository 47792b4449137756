//! The API's JSON: k6's shapes, recorded from it, and those of the endpoints k6 does not have.

use std::time::Duration;

use serde_json::{Map, Value, json, value::RawValue};

use crate::{Change, ChangeRequest, Reply};

/// The version of the shapes that k6 does not have, in `meta.version`: it changes when a client must.
pub const VERSION: u32 = 1;

/// How a run stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Status {
    /// k6's number of the phase.
    pub status: u8,
    /// It stands still.
    pub paused: bool,
    /// VUs at work.
    pub vus: u64,
    /// VUs that are initialised.
    pub vus_max: u64,
    /// Something asked for its end.
    pub stopped: bool,
    /// It has started and is not over.
    pub running: bool,
    /// Some threshold is crossed at the moment.
    pub tainted: bool,
}

/// One scenario and its targets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scenario {
    /// Its name.
    pub name: String,
    /// Its executor.
    pub executor: &'static str,
    /// VUs that are to loop.
    pub vus: Option<u64>,
    /// The limit of VUs.
    pub max_vus: Option<u64>,
    /// Iterations per `time_unit`.
    pub rate: Option<u64>,
    /// The unit of the rate, such as `1s`.
    pub time_unit: Option<String>,
    /// Where VUs or rate are on their way to, and how long it takes yet.
    pub ramp: Option<(u64, Duration)>,
    /// VUs inside an iteration, on this instance.
    pub running_vus: u64,
    /// It is over.
    pub over: bool,
}

/// `GET /v1/status`
pub fn status(status: &Status) -> Value {
    let attributes = json!({
        "status": status.status,
        "paused": status.paused,
        "vus": status.vus,
        "vus-max": status.vus_max,
        "stopped": status.stopped,
        "running": status.running,
        "tainted": status.tainted,
    });
    json!({"data": {"type": "status", "id": "default", "attributes": attributes}})
}

/// `GET /v1/setup`: a text, because `data`, which is JSON, may be nested more deeply than values are read. It is absent
/// when there is none.
pub fn setup(data: Option<&str>) -> String {
    let attributes = data.map_or_else(String::new, |data| format!(r#""data":{data}"#));
    format!(r#"{{"data":{{"type":"setupData","id":"default","attributes":{{{attributes}}}}}}}"#)
}

/// `GET /v1/metrics`, from the data `handleSummary()` gets.
pub fn metrics(summary: &Value) -> Value {
    json!({"data": all_metrics(summary).collect::<Vec<Value>>()})
}

/// `GET /v1/metrics/{name}`
pub fn metric(summary: &Value, id: &str) -> Option<Value> {
    let found = all_metrics(summary).find(|metric| metric["id"] == id)?;
    Some(json!({"data": found}))
}

fn all_metrics(summary: &Value) -> impl Iterator<Item = Value> {
    summary["metrics"].as_object().into_iter().flatten().map(|(name, metric)| {
        let values: &[&str] = match metric["type"].as_str() {
            Some("counter") => &["count", "rate"],
            Some("gauge") => &["value"],
            Some("rate") => &["rate"],
            _ => &["avg", "max", "med", "min", "p(90)", "p(95)"],
        };
        let sample: Map<String, Value> =
            values.iter().map(|&value| (value.to_owned(), metric["values"][value].clone())).collect();
        let thresholds = metric["thresholds"].as_object();
        let tainted = thresholds.map(|all| all.values().any(|one| one["ok"] == false));
        json!({"type": "metrics", "id": name, "attributes": {
            "type": metric["type"], "contains": metric["contains"], "tainted": tainted, "sample": sample,
        }})
    })
}

/// `GET /v1/groups`: all groups in a flat list, the root first.
pub fn groups(summary: &Value) -> Value {
    json!({"data": all_groups(summary)})
}

/// `GET /v1/groups/{id}`
pub fn group(summary: &Value, id: &str) -> Option<Value> {
    let found = all_groups(summary).into_iter().find(|group| group["id"] == id)?;
    Some(json!({"data": found}))
}

fn all_groups(summary: &Value) -> Vec<Value> {
    let mut all = Vec::new();
    let mut open = vec![(&summary["root_group"], &Value::Null)];
    while let Some((group, parent)) = open.pop() {
        let checks = group["checks"].as_array().filter(|checks| !checks.is_empty());
        let children = group["groups"].as_array().map_or(&[][..], Vec::as_slice);
        let reference = |id: &Value| json!({"type": "groups", "id": id});
        let parent = if parent.is_null() { Value::Null } else { reference(parent) };
        let below: Vec<Value> = children.iter().map(|child| reference(&child["id"])).collect();
        all.push(json!({
            "type": "groups",
            "id": group["id"],
            "attributes": {
                "path": group["path"],
                "name": group["name"],
                "checks": checks.map(|checks| checks.iter().map(check).collect::<Vec<Value>>()),
            },
            "relationships": {"groups": {"data": below}, "parent": {"data": parent}},
        }));
        open.extend(children.iter().rev().map(|child| (child, &group["id"])));
    }
    all
}

fn check(check: &Value) -> Value {
    let field = |name: &str| check[name].clone();
    json!({"id": field("id"), "path": field("path"), "name": field("name"), "passes": field("passes"), "fails": field("fails")})
}

/// `GET /v1/scenarios`
pub fn scenarios(scenarios: &[Scenario]) -> Value {
    json!({"data": scenarios.iter().map(one_scenario).collect::<Vec<Value>>(), "meta": {"version": VERSION}})
}

/// `GET /v1/scenarios/{name}`
pub fn scenario(scenario: &Scenario) -> Value {
    json!({"data": one_scenario(scenario), "meta": {"version": VERSION}})
}

fn one_scenario(scenario: &Scenario) -> Value {
    let mut attributes = Map::new();
    attributes.insert("executor".to_owned(), json!(scenario.executor));
    let numbers = [("vus", scenario.vus), ("maxVUs", scenario.max_vus), ("rate", scenario.rate)];
    for (name, value) in numbers {
        if let Some(value) = value {
            attributes.insert(name.to_owned(), json!(value));
        }
    }
    if let Some(time_unit) = &scenario.time_unit {
        attributes.insert("timeUnit".to_owned(), json!(time_unit));
    }
    if let Some((to, left)) = scenario.ramp {
        attributes.insert("ramp".to_owned(), json!({"to": to, "leftSeconds": left.as_secs_f64()}));
    }
    attributes.insert("runningVUs".to_owned(), json!(scenario.running_vus));
    attributes.insert("over".to_owned(), json!(scenario.over));
    json!({"type": "scenarios", "id": scenario.name, "attributes": attributes})
}

/// `GET /v1/steering`: the journal.
pub fn steering(journal: Value) -> Value {
    json!({"data": {"type": "steering", "id": "default", "attributes": journal}, "meta": {"version": VERSION}})
}

/// Reads the body of `PATCH /v1/status`. What only a response says may be sent back as it came.
pub(crate) fn change(body: &[u8]) -> Result<Change, Reply> {
    let attributes = attributes(body)?;
    let mut change = Change::default();
    for (name, value) in &attributes {
        match name.as_str() {
            "stopped" => change.stopped = boolean(name, value)?.unwrap_or(false),
            "paused" => change.paused = boolean(name, value)?,
            "vus" => change.wish.vus = whole(name, value)?,
            "vus-max" => change.wish.max_vus = whole(name, value)?,
            "status" | "running" | "tainted" => {}
            _ => return Err(unknown(name, "paused, vus, vus-max, stopped")),
        }
    }
    Ok(change)
}

/// Reads the body of `PATCH /v1/scenarios/{name}`.
pub(crate) fn wish(body: &[u8]) -> Result<ChangeRequest, Reply> {
    let attributes = attributes(body)?;
    let mut wish = ChangeRequest::default();
    for (name, value) in &attributes {
        match name.as_str() {
            "vus" => wish.vus = whole(name, value)?,
            "maxVUs" => wish.max_vus = whole(name, value)?,
            "rate" => wish.rate = whole(name, value)?,
            "overSeconds" => wish.over = seconds(name, value)?,
            _ => return Err(unknown(name, "vus, maxVUs, rate, overSeconds")),
        }
    }
    Ok(wish)
}

/// Reads the body of `PUT /v1/setup`: any JSON, as it is.
pub(crate) fn setup_data(body: &[u8]) -> Result<Option<Box<RawValue>>, Reply> {
    if body.iter().all(u8::is_ascii_whitespace) {
        return Ok(None);
    }
    let failed = |detail: &str| Reply::error(400, "Error parsing request body", detail);
    // Every VU reads it, on a stack of its own.
    if depth(body) > SETUP_DEPTH_MAX {
        return Err(failed(&format!("lists and objects are nested more than {SETUP_DEPTH_MAX} deep")));
    }
    serde_json::from_slice(body).map(Some).map_err(|error| failed(&error.to_string()))
}

/// Most levels of setup data, k6's limit: far more than programs make, and few enough for the stack of a VU.
const SETUP_DEPTH_MAX: usize = 10_000;

/// How deeply lists and objects are nested in a JSON text; some number for what is no JSON.
fn depth(json: &[u8]) -> usize {
    let (mut now, mut most, mut in_text, mut is_escaped) = (0_usize, 0, false, false);
    for byte in json {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if in_text => is_escaped = true,
            b'"' => in_text = !in_text,
            b'[' | b'{' if !in_text => {
                now += 1;
                most = most.max(now);
            }
            b']' | b'}' if !in_text => now = now.saturating_sub(1),
            _ => {}
        }
    }
    most
}

/// `{"data": {"attributes": {…}}}`; what is absent sets nothing.
fn attributes(body: &[u8]) -> Result<Map<String, Value>, Reply> {
    let value: Value = serde_json::from_slice(body).map_err(|error| invalid(&error.to_string()))?;
    let object = |value: Value, what: &str| match value {
        Value::Object(fields) => Ok(fields),
        Value::Null => Ok(Map::new()),
        _ => Err(invalid(&format!("{what} must be an object"))),
    };
    let mut document = object(value, "the body")?;
    let mut data = object(document.remove("data").unwrap_or_default(), "data")?;
    // What JSON:API has beside them says nothing here; anything else is a mistake that would change nothing.
    let strange = |fields: &Map<String, Value>, known: &[&str]| {
        fields
            .keys()
            .find(|field| !known.contains(&field.as_str()))
            .map(|field| field.chars().take(80).collect::<String>())
    };
    let is_strange = |name: String| {
        invalid(&format!(r#"{name} is not known: what is to be changed stands in {{"data": {{"attributes": {{…}}}}}}"#))
    };
    if let Some(name) = strange(&document, &["jsonapi", "meta", "links", "included"]) {
        return Err(is_strange(name));
    }
    if let Some(name) = strange(&data, &["type", "id", "attributes", "relationships", "links", "meta"]) {
        return Err(is_strange(format!("data.{name}")));
    }
    object(data.remove("attributes").unwrap_or_default(), "data.attributes")
}

fn boolean(name: &str, value: &Value) -> Result<Option<bool>, Reply> {
    match value {
        Value::Null => Ok(None),
        Value::Bool(value) => Ok(Some(*value)),
        _ => Err(invalid(&format!("data.attributes.{name} must be true or false"))),
    }
}

/// k6: a number in quotes is a number.
fn whole(name: &str, value: &Value) -> Result<Option<i64>, Reply> {
    let number = match value {
        Value::Null => return Ok(None),
        Value::Number(number) => number.as_i64(),
        Value::String(text) => text.parse().ok(),
        _ => None,
    };
    number.map(Some).ok_or_else(|| invalid(&format!("data.attributes.{name} must be a whole number")))
}

/// A time from now on.
fn seconds(name: &str, value: &Value) -> Result<Option<Duration>, Reply> {
    if value.is_null() {
        return Ok(None);
    }
    let time = value.as_f64().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    time.map(Some).ok_or_else(|| invalid(&format!("data.attributes.{name} must be a number of seconds, 0 or more")))
}

fn unknown(name: &str, known: &str) -> Reply {
    let name: String = name.chars().take(80).collect();
    invalid(&format!("data.attributes.{name} is not known, use {known}"))
}

fn invalid(detail: &str) -> Reply {
    Reply::error(400, "Invalid data", detail)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(attributes: &str) -> Result<Change, String> {
        let body = format!(r#"{{"data":{{"type":"status","id":"default","attributes":{attributes}}}}}"#);
        change(body.as_bytes()).map_err(|reply| {
            assert_eq!(reply.status, 400);
            let body: Value = serde_json::from_str(&reply.body.unwrap_or_default()).unwrap_or_default();
            body["errors"][0]["detail"].to_string()
        })
    }

    #[test]
    fn changes() {
        let wish = |vus, max_vus| ChangeRequest { vus, max_vus, ..ChangeRequest::default() };
        assert_eq!(changed(r#"{"vus":4}"#), Ok(Change { wish: wish(Some(4), None), ..Change::default() }));
        assert_eq!(
            changed(r#"{"vus":"4","vus-max":-1}"#),
            Ok(Change { wish: wish(Some(4), Some(-1)), ..Change::default() })
        );
        assert_eq!(changed(r#"{"paused":null,"vus":null}"#), Ok(Change::default()));
        assert_eq!(
            changed(r#"{"paused":true,"stopped":true,"status":7}"#),
            Ok(Change { stopped: true, paused: Some(true), ..Change::default() })
        );
        assert_eq!(changed("null"), Ok(Change::default()));
        for body in ["{}", r#"{"data":{}}"#, r#"{"data":null}"#] {
            assert_eq!(change(body.as_bytes()), Ok(Change::default()));
        }
        assert_eq!(changed(r#"{"vus":3.5}"#), Err(r#""data.attributes.vus must be a whole number""#.to_owned()));
        assert_eq!(changed(r#"{"vus":1e30}"#), Err(r#""data.attributes.vus must be a whole number""#.to_owned()));
        assert_eq!(changed(r#"{"paused":1}"#), Err(r#""data.attributes.paused must be true or false""#.to_owned()));
        assert!(changed(r#"{"vusmax":1}"#).is_err_and(|error| error.contains("vusmax is not known")));
        for body in ["", "[]", "5", "{bad", r#"{"data":5}"#, r#"{"data":{"attributes":[]}}"#, "\u{0}"] {
            assert!(change(body.as_bytes()).is_err(), "{body}");
        }
        // What would change nothing because it stands at the wrong place.
        for body in [r#"{"attributes":{"vus":2}}"#, r#"{"vus":2}"#, r#"{"data":{"vus":2}}"#] {
            assert!(change(body.as_bytes()).is_err(), "{body}");
        }
        assert!(change(br#"{"jsonapi":{"version":"1.0"},"data":{"meta":{},"attributes":{"vus":2}}}"#).is_ok());
        let deep = "[".repeat(100_000);
        assert!(change(deep.as_bytes()).is_err());
    }

    #[test]
    fn setup_data_is_any_json() {
        let text = |body: &str| setup_data(body.as_bytes()).map(|data| data.map(|data| data.get().to_owned()));
        assert_eq!(text(r#"{"b": 2}"#), Ok(Some(r#"{"b": 2}"#.to_owned())));
        assert_eq!(text(" "), Ok(None));
        assert!(text("{bad").is_err());
        let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        assert!(text(&nested(10_000)).is_ok_and(|data| data.is_some()));
        assert!(text(&nested(10_001)).is_err());
        assert_eq!([depth(br#"{"a\"[":"[{"}"#), depth(b"[[],[[]]]"), depth(b"]]5")], [1, 3, 0]);
        assert_eq!(setup(Some("[1]")), r#"{"data":{"type":"setupData","id":"default","attributes":{"data":[1]}}}"#);
        assert_eq!(setup(None), r#"{"data":{"type":"setupData","id":"default","attributes":{}}}"#);
    }

    #[test]
    fn wishes() {
        let wanted = |attributes: &str| {
            let body = format!(r#"{{"data":{{"attributes":{attributes}}}}}"#);
            wish(body.as_bytes()).map_err(|reply| reply.body.unwrap_or_default())
        };
        let over = Some(Duration::from_millis(1_500));
        assert_eq!(
            wanted(r#"{"rate":7,"overSeconds":1.5}"#),
            Ok(ChangeRequest { rate: Some(7), over, ..ChangeRequest::default() })
        );
        assert_eq!(wanted(r#"{"overSeconds":null}"#), Ok(ChangeRequest::default()));
        for wrong in ["-1", "\"5s\"", "1e300", "true"] {
            let error = wanted(&format!(r#"{{"vus":1,"overSeconds":{wrong}}}"#)).unwrap_err();
            assert!(error.contains("overSeconds must be a number of seconds"), "{error}");
        }
    }
}
