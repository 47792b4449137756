//! What the commands about a running test print for people.

use serde_json::Value;

/// One line: phase, VUs, thresholds.
pub(super) fn status(body: &Value) -> String {
    let attributes = &body["data"]["attributes"];
    let on = |name: &str| attributes[name] == true;
    // k6's numbers of phases.
    let phase = match attributes["status"].as_u64() {
        _ if on("stopped") => "stopping",
        _ if on("paused") => "paused",
        Some(0 | 1) => "initializing VUs",
        Some(2 | 3) => "starting",
        Some(4) => "paused",
        Some(5) => "started",
        Some(6) => "running setup()",
        Some(7) => "running",
        Some(8) => "running teardown()",
        Some(9) => "finished",
        Some(10) => "interrupted",
        _ => "in an unknown phase",
    };
    let thresholds = if on("tainted") { "a threshold is crossed" } else { "no threshold is crossed" };
    format!("{phase}: {} of {} VUs active, {thresholds}\n", attributes["vus"], attributes["vus-max"])
}

/// What follows when a test is told to stop.
pub(super) fn stopped(body: &Value) -> &'static str {
    // Finished before it was told: only --linger keeps it.
    if body["data"]["attributes"]["status"] == 9 {
        "The test is over already; with --linger its process waits for Ctrl+C.\n"
    } else {
        "The test is stopping: iterations are cut, then teardown() and the summary follow.\n"
    }
}

/// A line for each scenario.
pub(super) fn scenarios(body: &Value) -> String {
    let all = body["data"].as_array().into_iter().flatten();
    all.map(|one| format!("  {}\n", scenario(one))).collect()
}

/// `visitors (ramping-vus): 50 VUs, 48 in an iteration`
pub(super) fn scenario(scenario: &Value) -> String {
    let attributes = &scenario["attributes"];
    let number = |name: &str| attributes[name].as_u64();
    let mut parts: Vec<String> = Vec::new();
    if let Some(rate) = number("rate") {
        parts.push(match attributes["timeUnit"].as_str() {
            None | Some("1s") => format!("{rate} iterations/s"),
            Some(unit) => format!("{rate} iterations per {unit}"),
        });
    }
    parts.extend(number("vus").map(|vus| format!("{vus} VUs")));
    parts.extend(number("maxVUs").map(|max| format!("at most {max} VUs")));
    if let Some(to) = attributes["ramp"]["to"].as_f64() {
        let left = attributes["ramp"]["leftSeconds"].as_f64().unwrap_or(0.0);
        parts.push(format!("on the way to {to} for {left:.1}s more"));
    }
    if attributes["over"] == true {
        parts.push("over".to_owned());
    } else {
        parts.extend(number("runningVUs").map(|running| format!("{running} in an iteration")));
    }
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    format!("{} ({}): {}", text(&scenario["id"]), text(&attributes["executor"]), parts.join(", "))
}

/// The metrics in k6's YAML.
pub(super) fn stats(body: &Value) -> String {
    let mut text = String::new();
    for metric in body["data"].as_array().into_iter().flatten() {
        let attributes = &metric["attributes"];
        // k6: types are printed as the objects they are inside, and what may be absent as text.
        let plain = |name: &str| attributes[name].as_str().unwrap_or_default();
        let tainted = attributes["tainted"].as_bool().map(|tainted| tainted.to_string()).unwrap_or_default();
        let name = scalar(metric["id"].as_str().unwrap_or_default());
        text.push_str(&format!("- name: {name}\n"));
        for name in ["type", "contains"] {
            text.push_str(&format!("  {name}:\n    type: {}\n    valid: true\n", plain(name)));
        }
        text.push_str(&format!("  tainted: \"{tainted}\"\n  sample:\n"));
        for (stat, value) in attributes["sample"].as_object().into_iter().flatten() {
            text.push_str(&format!("    {stat}: {value}\n"));
        }
    }
    if text.is_empty() { "[]\n".to_owned() } else { text }
}

/// A metric's name in YAML: names of sub-metrics may hold what YAML gives a meaning.
fn scalar(name: &str) -> String {
    let is_plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-{}.".contains(&byte))
        || !(name.contains(": ") || name.contains(" #") || name.contains('"') || name.contains('\\'))
            && name.bytes().all(|byte| (b' '..0x7f).contains(&byte));
    let starts_plain = name.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_');
    if is_plain && starts_plain && !name.ends_with(':') { name.to_owned() } else { Value::from(name).to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn names_in_yaml() {
        let check = |name: &str, expect: &str| assert_eq!(scalar(name), expect);
        check("http_reqs", "http_reqs");
        check("iterations{scenario:ext}", "iterations{scenario:ext}");
        check("a{b: c}", r#""a{b: c}""#);
        check("a{b:\"c\n\"}", r#""a{b:\"c\n\"}""#);
        check("", r#""""#);
    }

    #[test]
    fn sentences() {
        let check = |attributes: Value, expect: &str| {
            let body = json!({"data": {"attributes": attributes}});
            assert_eq!(status(&body), expect);
        };
        check(
            json!({"status": 7, "paused": false, "vus": 2, "vus-max": 5, "stopped": false, "tainted": false}),
            "running: 2 of 5 VUs active, no threshold is crossed\n",
        );
        check(
            json!({"status": 7, "paused": true, "vus": 0, "vus-max": 5, "stopped": false, "tainted": true}),
            "paused: 0 of 5 VUs active, a threshold is crossed\n",
        );
        let told = |status: u64| stopped(&json!({"data": {"attributes": {"status": status}}}));
        assert!(told(7).starts_with("The test is stopping") && told(9).contains("--linger"));
        let rate = json!({"id": "api", "attributes": {"executor": "constant-arrival-rate", "rate": 30, "timeUnit": "1m",
            "maxVUs": 9, "runningVUs": 3, "over": false, "ramp": {"to": 60.0, "leftSeconds": 2.25}}});
        assert_eq!(
            scenario(&rate),
            "api (constant-arrival-rate): 30 iterations per 1m, at most 9 VUs, on the way to 60 for 2.2s more, 3 in an iteration"
        );
    }
}
