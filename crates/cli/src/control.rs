//! `onrush status`, `scenarios`, `stats`, `scale`, `pause`, `resume` and `stop`: asking a running test over its REST API.
//!
//! People get sentences, `--json` prints the API's own answers.

mod remote;
mod text;

use onrush_plan::{ExecutorKind, GoDuration};
use onrush_server::Answer;
use onrush_session::ExitCode;
use serde_json::{Map, Value, json};

use self::remote::Remote;
use crate::{context::Context, failure::Failure, flags};

/// Shows the status of the test.
///
/// # Errors
/// When no test answers, or it refuses.
pub(crate) fn status(cx: &Context, files: &[String]) -> Result<ExitCode, Failure> {
    let client = client(cx, files)?;
    let status = answered(client.get("/v1/status"))?;
    print_status(cx, &client, &status)
}

/// Lists the scenarios of the test.
///
/// # Errors
/// When no test answers, or it refuses.
pub(crate) fn scenarios(cx: &Context, files: &[String]) -> Result<ExitCode, Failure> {
    let body = answered(client(cx, files)?.get(SCENARIOS))?;
    print(cx, &body, || text::scenarios(&body))
}

/// Shows the metrics of the test.
///
/// # Errors
/// When no test answers, or it refuses.
pub(crate) fn stats(cx: &Context, files: &[String]) -> Result<ExitCode, Failure> {
    let body = answered(client(cx, files)?.get("/v1/metrics"))?;
    cx.terminal.stdout(text::stats(&body));
    Ok(ExitCode::Success)
}

/// Pauses or resumes the test.
///
/// # Errors
/// When no test answers, or it refuses.
pub(crate) fn pause(cx: &Context, files: &[String], is_paused: bool) -> Result<ExitCode, Failure> {
    let client = client(cx, files)?;
    let status = change(&client, &json!({"paused": is_paused}))?;
    print_status(cx, &client, &status)
}

/// Stops the test.
///
/// # Errors
/// When no test answers, or it refuses.
pub(crate) fn stop(cx: &Context, files: &[String]) -> Result<ExitCode, Failure> {
    let status = change(&client(cx, files)?, &json!({"stopped": true}))?;
    print(cx, &status, || text::stopped(&status).to_owned())
}

/// Changes the VUs or the rate of a scenario.
///
/// # Errors
/// When there is nothing to change, no test answers, or it refuses.
pub(crate) fn scale(cx: &Context, files: &[String]) -> Result<ExitCode, Failure> {
    let client = client(cx, files)?;
    // Flags only: K6_VUS is meant for runs. That they are numbers was checked when they were parsed.
    let number = |long: &str| cx.flags.values(long).pop().and_then(|text| text.parse::<i64>().ok());
    let (vus, max, rate) = (number("vus"), number("max"), number("rate"));
    if vus.is_none() && max.is_none() && rate.is_none() {
        return Err(Failure::other("Specify either -u/--vus or -m/--max, or --rate for an arrival rate"));
    }
    let over = cx.flags.values("over").pop().map(|text| over(&text)).transpose()?;
    let attributes = |names: [(&str, Option<i64>); 3]| {
        let set = names.into_iter().filter_map(|(name, value)| Some((name.to_owned(), json!(value?))));
        let over = over.map(|seconds| ("overSeconds".to_owned(), json!(seconds)));
        Value::Object(set.chain(over).collect::<Map<String, Value>>())
    };
    let name = match cx.flags.values("scenario").pop() {
        Some(name) if !is_scenario_name(&name) => {
            return Err(Failure::other(format!(
                "invalid scenario name \"{name}\": names have letters, digits, underscores and dashes"
            )));
        }
        Some(name) => Some(name),
        None => default_scenario(&client, rate.is_none() && over.is_none())?,
    };
    let Some(name) = name else {
        let status = change(&client, &attributes([("vus", vus), ("vus-max", max), ("rate", None)]))?;
        return print_status(cx, &client, &status);
    };
    let body = json!({"data": {"attributes": attributes([("vus", vus), ("maxVUs", max), ("rate", rate)])}});
    let body = answered(client.patch(&format!("{SCENARIOS}/{name}"), &body))?;
    print(cx, &body, || text::scenario(&body["data"]) + "\n")
}

/// Where scenarios are.
const SCENARIOS: &str = "/v1/scenarios";

/// The scenario to change when none is named. `None`: the externally-controlled one, as in k6, which `/v1/status` knows.
fn default_scenario(client: &Remote, takes_external: bool) -> Result<Option<String>, Failure> {
    let answer = client.get(SCENARIOS);
    // k6 has no such endpoint.
    if answer.as_ref().is_ok_and(|answer| answer.status == 404) {
        return Ok(None);
    }
    let body = answered(answer)?;
    let all: Vec<&Value> = body["data"].as_array().into_iter().flatten().collect();
    let external = ExecutorKind::ExternallyControlled.name();
    if takes_external && all.iter().any(|scenario| scenario["attributes"]["executor"] == external) {
        return Ok(None);
    }
    let open: Vec<&&Value> = all.iter().filter(|scenario| scenario["attributes"]["over"] == false).collect();
    let name = |scenario: &Value| scenario["id"].as_str().unwrap_or_default().to_owned();
    match open.as_slice() {
        [only] => Ok(Some(name(only))),
        [] if all.len() == 1 => Ok(Some(name(all[0]))),
        [] => Err(Failure::other("no scenario to change: all of them are over")),
        several => {
            let list: Vec<String> = several.iter().map(|scenario| text::scenario(scenario)).collect();
            Err(Failure::other(format!("which scenario? The test has {}", several.len()))
                .hint(format!("name one with --scenario: {}", list.join("; "))))
        }
    }
}

/// Reads a duration for a change.
fn over(text: &str) -> Result<f64, Failure> {
    let wrong = |reason: String| match flags::find("over") {
        Some(flag) => flags::invalid_argument(flag, text, &reason),
        None => Failure::other(reason),
    };
    let over = onrush_plan::parse_go_duration(text).map_err(|error| wrong(error.to_string()))?;
    if over < GoDuration::ZERO {
        return Err(wrong("must not be negative".to_owned()));
    }
    Ok(over.as_std().as_secs_f64())
}

fn is_scenario_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}

fn client(cx: &Context, files: &[String]) -> Result<Remote, Failure> {
    if !files.is_empty() {
        return Err(Failure::other(format!("accepts 0 arg(s), received {}", files.len())));
    }
    Remote::new(cx)
}

/// Changes the test's status and returns the new one.
fn change(client: &Remote, attributes: &Value) -> Result<Value, Failure> {
    answered(client.patch("/v1/status", &json!({"data": {"attributes": attributes}})))
}

/// The body of an answer, unless it is an error.
fn answered(answer: Result<Answer, Failure>) -> Result<Value, Failure> {
    let answer = answer?;
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

/// The status as sentences, with the scenarios where the test lists them.
fn print_status(cx: &Context, client: &Remote, status: &Value) -> Result<ExitCode, Failure> {
    print(cx, status, || {
        let scenarios = client.get(SCENARIOS).ok().filter(|answer| answer.status < 300);
        text::status(status) + &scenarios.map(|answer| text::scenarios(&answer.body)).unwrap_or_default()
    })
}

fn print(cx: &Context, body: &Value, text: impl FnOnce() -> String) -> Result<ExitCode, Failure> {
    let is_json = cx.flags.switch("json")?.unwrap_or(false);
    cx.terminal.stdout(if is_json { format!("{body:#}\n") } else { text() });
    Ok(ExitCode::Success)
}
