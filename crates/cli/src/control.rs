//! `onrush status`, `stats`, `pause`, `resume` and `scale`: asking a run over its REST API.

use onrush_plan::GoDuration;
use onrush_server::{Address, Answer, Client, Fingerprint, TlsError, Trust};
use onrush_session::ExitCode;
use serde_json::{Map, Value, json};

use crate::{args::ApiArgs, failure::Failure, flags, run::Surroundings};

/// Prints how the run stands.
///
/// # Errors
/// When there is no run to ask, or it refuses.
pub(crate) fn status(around: &Surroundings, files: &[String]) -> Result<ExitCode, Failure> {
    let client = client(around, files)?;
    print_status(around, client.get("/v1/status"))
}

/// Prints the run's metrics.
///
/// # Errors
/// When there is no run to ask, or it refuses.
pub(crate) fn stats(around: &Surroundings, files: &[String]) -> Result<ExitCode, Failure> {
    let body = answered(client(around, files)?.get("/v1/metrics"))?;
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
    around.terminal.stdout(if text.is_empty() { "[]\n".to_owned() } else { text });
    Ok(ExitCode::Success)
}

/// Pauses the run, or lets it go on.
///
/// # Errors
/// When there is no run to ask, or it refuses.
pub(crate) fn pause(around: &Surroundings, files: &[String], is_paused: bool) -> Result<ExitCode, Failure> {
    let client = client(around, files)?;
    print_status(around, client.patch("/v1/status", &json!({"data": {"attributes": {"paused": is_paused}}})))
}

/// Changes the target of a scenario.
///
/// # Errors
/// When nothing is to be changed, there is no run to ask, or it refuses.
pub(crate) fn scale(around: &Surroundings, files: &[String]) -> Result<ExitCode, Failure> {
    let client = client(around, files)?;
    // Flags only: K6_VUS is meant for runs. That they are numbers was checked when they were parsed.
    let number = |long: &str| around.given.values(long).pop().and_then(|text| text.parse::<i64>().ok());
    let (vus, max, rate) = (number("vus"), number("max"), number("rate"));
    let scenario = around.given.values("scenario").pop();
    let over = around.given.values("over").pop().map(|text| over(&text)).transpose()?;
    let wanted = |names: [(&str, Option<i64>); 3]| {
        let set = names.into_iter().filter_map(|(name, value)| Some((name.to_owned(), json!(value?))));
        let over = over.map(|seconds| ("overSeconds".to_owned(), json!(seconds)));
        json!({"data": {"attributes": set.chain(over).collect::<Map<String, Value>>()}})
    };
    match scenario {
        None if rate.is_some() => {
            Err(Failure::other("--rate needs --scenario NAME").hint("GET /v1/scenarios of the run lists them"))
        }
        None if over.is_some() => {
            Err(Failure::other("--over needs --scenario NAME").hint("GET /v1/scenarios of the run lists them"))
        }
        None if vus.is_none() && max.is_none() => Err(Failure::other("Specify either -u/--vus or -m/--max")),
        None => {
            let body = wanted([("vus", vus), ("vus-max", max), ("rate", None)]);
            print_status(around, client.patch("/v1/status", &body))
        }
        Some(_) if vus.is_none() && max.is_none() && rate.is_none() => {
            Err(Failure::other("Specify -u/--vus, -m/--max or --rate"))
        }
        Some(name) if !is_scenario_name(&name) => Err(Failure::other(format!(
            "invalid scenario name \"{name}\": names have letters, digits, underscores and dashes"
        ))),
        Some(name) => {
            let body = wanted([("vus", vus), ("maxVUs", max), ("rate", rate)]);
            let body = answered(client.patch(&format!("/v1/scenarios/{name}"), &body))?;
            let mut text = format!("scenario: {name}\n");
            for (attribute, value) in body["data"]["attributes"].as_object().into_iter().flatten() {
                let value = match value {
                    Value::String(text) => text.clone(),
                    Value::Object(ramp) => {
                        let number = |name: &str| ramp.get(name).and_then(Value::as_f64).unwrap_or(0.0);
                        format!("to {}, {:.1}s left", number("to"), number("leftSeconds"))
                    }
                    other => other.to_string(),
                };
                text.push_str(&format!("{attribute}: {value}\n"));
            }
            around.terminal.stdout(text);
            Ok(ExitCode::Success)
        }
    }
}

/// Seconds that a change is to take.
fn over(text: &str) -> Result<f64, Failure> {
    let wrong = |reason: String| match flags::find("over") {
        Some(flag) => flags::invalid_argument(flag, text, &reason),
        None => Failure::other(reason),
    };
    let over = onrush_plan::parse_go_duration(text).map_err(|error| wrong(error.to_string()))?;
    if over < GoDuration::ZERO {
        return Err(wrong("a change cannot take less than no time".to_owned()));
    }
    Ok(over.as_std().as_secs_f64())
}

fn is_scenario_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}

fn client(around: &Surroundings, files: &[String]) -> Result<Client, Failure> {
    if !files.is_empty() {
        return Err(Failure::other(format!("accepts 0 arg(s), received {}", files.len())));
    }
    let Some(api) = ApiArgs::new(&around.given)? else {
        return Err(Failure::other("no address to ask").hint("--address says where the REST API of the run is"));
    };
    let address = Address::parse(&api.address).map_err(|error| Failure::other(error.to_string()))?;
    let trust = trust(around, address.is_tls()).map_err(|error| Failure::other(error.to_string()))?;
    Ok(Client::new(address, api.token, trust))
}

/// Whom to believe; `None` where TLS is not asked for.
fn trust(around: &Surroundings, is_tls: bool) -> Result<Option<Trust>, TlsError> {
    if let Some(fingerprint) = around.given.text("api-fingerprint") {
        return Ok(Some(Trust::fingerprint(Fingerprint::parse(&fingerprint)?)));
    }
    if let Some(file) = around.given.text("api-tls-ca") {
        return Ok(Some(Trust::authority(file.as_ref())?));
    }
    is_tls.then(Trust::system).transpose()
}

/// The body of an answer that grants what was asked.
fn answered(answer: Result<Answer, onrush_server::ClientError>) -> Result<Value, Failure> {
    let answer = answer.map_err(|error| {
        Failure::other(error.to_string()).hint("is a test running, and is its REST API there? See --address")
    })?;
    if answer.status < 300 {
        return Ok(answer.body);
    }
    // k6: title and detail of the first error.
    let text = |name: &str| answer.body["errors"][0][name].as_str().unwrap_or_default().to_owned();
    let (title, detail) = (text("title"), text("detail"));
    let failure = match (title.is_empty(), detail.is_empty()) {
        (true, _) => Failure::other(format!("the REST API answered with status {}", answer.status)),
        (_, true) => Failure::other(title),
        _ => Failure::other(format!("{title}: {detail}")),
    };
    Err(if answer.status == 401 { failure.hint("set ONRUSH_API_TOKEN to the token of the run") } else { failure })
}

/// k6's text, in which what may be absent is in quotes.
fn print_status(
    around: &Surroundings,
    answer: Result<Answer, onrush_server::ClientError>,
) -> Result<ExitCode, Failure> {
    let body = answered(answer)?;
    let attributes = &body["data"]["attributes"];
    let mut text = String::new();
    for (name, is_quoted) in [
        ("status", false),
        ("paused", true),
        ("vus", true),
        ("vus-max", true),
        ("stopped", false),
        ("running", false),
        ("tainted", false),
    ] {
        let value = attributes[name].to_string();
        text.push_str(&if is_quoted { format!("{name}: \"{value}\"\n") } else { format!("{name}: {value}\n") });
    }
    around.terminal.stdout(text);
    Ok(ExitCode::Success)
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

    #[test]
    fn names_in_yaml() {
        let check = |name: &str, expect: &str| assert_eq!(scalar(name), expect);
        check("http_reqs", "http_reqs");
        check("iterations{scenario:ext}", "iterations{scenario:ext}");
        check("a{b: c}", r#""a{b: c}""#);
        check("a{b:\"c\n\"}", r#""a{b:\"c\n\"}""#);
        check("", r#""""#);
    }
}
