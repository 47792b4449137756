//! The k6 script of a one-liner.

use std::time::Duration;

use serde_json::{Map, Value, json};

/// What to send, and how often.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Request {
    /// Beginning with `http://` or `https://`.
    pub(super) url: String,
    /// Such as `GET`.
    pub(super) method: String,
    /// In their order.
    pub(super) headers: Vec<(String, String)>,
    /// What is sent with it.
    pub(super) body: Option<Body>,
    /// The limit of one request; k6's if not given.
    pub(super) timeout: Option<Duration>,
    /// VUs, each with one connection at a time.
    pub(super) connections: u64,
    /// Requests a second; without it each connection goes as fast as it can.
    pub(super) rate: Option<u64>,
    /// When it ends.
    pub(super) stop: Stop,
    /// What flags say about all requests, as options of a script.
    pub(super) options: Map<String, Value>,
    /// Flags that no option of a script stands for, as they were given.
    pub(super) flags_only: Vec<String>,
}

/// A request's body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Body {
    /// This text.
    Text(String),
    /// The file with this absolute path.
    File(String),
}

/// When the load ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    /// After this time.
    At(Duration),
    /// After so many requests, or this time if that comes first.
    After {
        /// All requests together.
        requests: u64,
        /// The time.
        at_most: Option<Duration>,
    },
}

impl Request {
    /// What will be done, in one line.
    pub(super) fn heading(&self) -> String {
        let Self { method, url, connections, .. } = self;
        let load = match (self.rate, self.stop) {
            (Some(rate), Stop::At(time)) => format!("{rate} requests/s for {}", go(time)),
            (Some(rate), Stop::After { requests, .. }) => format!("{requests} requests, {rate}/s"),
            (None, Stop::At(time)) => go(time),
            (None, Stop::After { requests, .. }) => format!("{requests} requests"),
        };
        let plural = if *connections == 1 { "" } else { "s" };
        format!("{method} {url}: {load}, {connections} connection{plural}\n")
    }

    /// The script as k6 understands it, too.
    pub(super) fn to_script(&self) -> String {
        self.script(self.scenario())
    }

    /// The script that is run: requests that find no connection free wait for one, which k6 knows no way to say.
    pub(super) fn to_own_script(&self) -> String {
        let mut scenario = self.scenario();
        if self.rate.is_some()
            && let Some(scenario) = scenario.as_object_mut()
        {
            scenario.insert("whenBusy".to_owned(), "wait".into());
        }
        self.script(scenario)
    }

    fn script(&self, scenario: Value) -> String {
        let with_trend = if self.rate.is_some() { "import { Trend } from 'k6/metrics';\n" } else { "" };
        let mut options = self.options.clone();
        options.insert("discardResponseBodies".to_owned(), true.into());
        options.insert("scenarios".to_owned(), json!({"http": scenario}));
        let flags_only = if self.flags_only.is_empty() {
            String::new()
        } else {
            format!(
                "// No option of a script stands for these flags, give them to `onrush run`: {}\n",
                self.flags_only.join(" ")
            )
        };
        let mut text = format!(
            "// Written by `onrush http`. It runs with `onrush run` and `k6 run`.\n{flags_only}import http from 'k6/http';\n{with_trend}\nexport const options = {};\n\n",
            literal(&Value::Object(options))
        );
        if self.rate.is_some() {
            text.push_str(
                "// Onrush adds the time from the intended start of each request to its end; in k6 this metric stays empty.\n\
                 new Trend('iteration_intended_duration', true);\n\n",
            );
        }
        let body = match &self.body {
            None => "null".to_owned(),
            Some(Body::Text(body)) => {
                text.push_str(&format!("const body = {};\n", js(body)));
                "body".to_owned()
            }
            Some(Body::File(path)) => {
                text.push_str(&format!("const body = open({}, 'b');\n", js(path)));
                "body".to_owned()
            }
        };
        let params = self.params();
        let params = if params.is_empty() {
            String::new()
        } else {
            text.push_str(&format!("const params = {};\n", literal(&Value::Object(params))));
            ", params".to_owned()
        };
        let body = if params.is_empty() && self.body.is_none() { String::new() } else { format!(", {body}") };
        if !text.ends_with("\n\n") {
            text.push('\n');
        }
        let (method, url) = (js(&self.method), js(&self.url));
        text + &format!("export default function () {{\n  http.request({method}, {url}{body}{params});\n}}\n")
    }

    fn params(&self) -> Map<String, Value> {
        let mut params = Map::new();
        if !self.headers.is_empty() {
            let mut headers: Map<String, Value> = Map::new();
            for (name, value) in &self.headers {
                // An object has each name once; a list of values means the same as several headers.
                let joined = headers.get(name).and_then(Value::as_str).map(|first| format!("{first}, {value}"));
                headers.insert(name.clone(), joined.unwrap_or_else(|| value.clone()).into());
            }
            params.insert("headers".to_owned(), headers.into());
        }
        if let Some(timeout) = self.timeout {
            params.insert("timeout".to_owned(), go(timeout).into());
        }
        params
    }

    fn scenario(&self) -> Value {
        let vus = match self.stop {
            Stop::After { requests, .. } => self.connections.min(requests),
            Stop::At(_) => self.connections,
        };
        match (self.rate, self.stop) {
            (Some(rate), stop) => {
                let duration = match stop {
                    Stop::At(time) => time,
                    Stop::After { requests, at_most } => {
                        // Request `j` starts at `j / rate`: the last of `n` does before `n / rate`, the next does not.
                        let all = u128::from(requests) * 1_000_000_000 / u128::from(rate);
                        let all = Duration::from_nanos(u64::try_from(all).unwrap_or(u64::MAX));
                        at_most.map_or(all, |time| time.min(all))
                    }
                };
                json!({"executor": "constant-arrival-rate", "rate": rate, "timeUnit": "1s", "duration": go(duration),
                    "preAllocatedVUs": vus, "maxVUs": vus})
            }
            (None, Stop::At(time)) => json!({"executor": "constant-vus", "vus": vus, "duration": go(time)}),
            (None, Stop::After { requests, at_most }) => {
                let at_most = at_most.map_or_else(|| "24h".to_owned(), go);
                json!({"executor": "shared-iterations", "vus": vus, "iterations": requests, "maxDuration": at_most})
            }
        }
    }
}

/// As Go writes durations, which is how k6 reads them.
fn go(duration: Duration) -> String {
    onrush_plan::GoDuration::from_ns(i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX)).to_string()
}

/// A value as a literal of JavaScript: JSON, keys without the quotes they do not need.
fn literal(value: &Value) -> String {
    let pretty = format!("{value:#}");
    let lines = pretty.lines().map(|line| {
        let (indent, rest) = line.split_at(line.len() - line.trim_start().len());
        // A text has its line breaks escaped, so a line that begins with a quote and has `": ` begins with a key.
        match rest.strip_prefix('"').and_then(|rest| rest.split_once("\": ")) {
            Some((key, value)) if is_identifier(key) => format!("{indent}{key}: {value}"),
            _ => line.to_owned(),
        }
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn is_identifier(key: &str) -> bool {
    key.starts_with(|first: char| first.is_ascii_alphabetic()) && key.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// A text as a literal of JavaScript: JSON's are.
fn js(text: &str) -> String {
    Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request() -> Request {
        Request {
            url: "http://a/?q=\"'`${x}\\".to_owned(),
            method: "GET".to_owned(),
            headers: Vec::new(),
            body: None,
            timeout: None,
            connections: 5,
            rate: None,
            stop: Stop::At(Duration::from_millis(1500)),
            options: Map::new(),
            flags_only: Vec::new(),
        }
    }

    #[test]
    fn a_script_is_readable() {
        insta::assert_snapshot!(Request { url: "http://a/".to_owned(), ..request() }.to_script(), @r#"
        // Written by `onrush http`. It runs with `onrush run` and `k6 run`.
        import http from 'k6/http';

        export const options = {
          discardResponseBodies: true,
          scenarios: {
            http: {
              executor: "constant-vus",
              vus: 5,
              duration: "1.5s"
            }
          }
        };

        export default function () {
          http.request("GET", "http://a/");
        }
        "#);
        let all = Request {
            method: "POST".to_owned(),
            headers: vec![("content-type".to_owned(), "application/json".to_owned())],
            body: Some(Body::Text("{\"a\": 'b'}".to_owned())),
            timeout: Some(Duration::from_secs(5)),
            rate: Some(3),
            stop: Stop::After { requests: 10, at_most: None },
            ..request()
        };
        insta::assert_snapshot!(all.to_script(), @r#"
        // Written by `onrush http`. It runs with `onrush run` and `k6 run`.
        import http from 'k6/http';
        import { Trend } from 'k6/metrics';

        export const options = {
          discardResponseBodies: true,
          scenarios: {
            http: {
              executor: "constant-arrival-rate",
              rate: 3,
              timeUnit: "1s",
              duration: "3.333333333s",
              preAllocatedVUs: 5,
              maxVUs: 5
            }
          }
        };

        // Onrush adds the time from the intended start of each request to its end; in k6 this metric stays empty.
        new Trend('iteration_intended_duration', true);

        const body = "{\"a\": 'b'}";
        const params = {
          headers: {
            "content-type": "application/json"
          },
          timeout: "5s"
        };

        export default function () {
          http.request("POST", "http://a/?q=\"'`${x}\\", body, params);
        }
        "#);
        assert_eq!(all.heading(), "POST http://a/?q=\"'`${x}\\: 10 requests, 3/s, 5 connections\n");
    }

    #[test]
    fn load() {
        let check = |rate, stop, expect: Value| assert_eq!(Request { rate, stop, ..request() }.scenario(), expect);
        let after = |requests, at_most| Stop::After { requests, at_most };
        check(None, Stop::At(Duration::from_secs(1)), json!({"executor": "constant-vus", "vus": 5, "duration": "1s"}));
        check(
            None,
            after(3, None),
            json!({"executor": "shared-iterations", "vus": 3, "iterations": 3, "maxDuration": "24h"}),
        );
        check(
            Some(3),
            after(10, None),
            json!({"executor": "constant-arrival-rate", "rate": 3, "timeUnit": "1s", "duration": "3.333333333s",
                "preAllocatedVUs": 5, "maxVUs": 5}),
        );
        check(
            Some(3),
            after(10, Some(Duration::from_secs(1))),
            json!({"executor": "constant-arrival-rate", "rate": 3, "timeUnit": "1s", "duration": "1s",
                "preAllocatedVUs": 5, "maxVUs": 5}),
        );
    }
}
