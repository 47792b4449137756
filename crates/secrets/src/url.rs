//! Secrets from an HTTP service: one request a key, retried and limited in rate.

use std::{
    collections::BTreeMap,
    hash::{BuildHasher as _, RandomState},
    sync::{Mutex, PoisonError},
    time::Duration,
};

use onrush_fiber::{Clock, Nanos, Woke};
use onrush_net::{
    Body, BodyMode, Client, ClientOptions, Connections, ProxyOptions, Request, RequestHeaders, Url,
    redirect::RequestMeta,
};
use serde_json::Value;

use crate::{ConfigError, GetError, config::read};

/// A service that knows secrets.
pub(crate) struct UrlSource {
    settings: Settings,
    client: Client,
    /// When the next request may be sent, the burst left aside.
    next: Mutex<Nanos>,
}

#[derive(Debug, Clone)]
struct Settings {
    template: String,
    method: String,
    headers: RequestHeaders,
    /// Keys from the root of a JSON response to the value.
    path: Vec<String>,
    timeout: Duration,
    retries_max: u32,
    backoff: Duration,
    per_minute: u32,
    burst: u32,
}

/// Longest value: certificates and keys have a few kilobytes.
const VALUE_BYTES_MAX: u64 = 1 << 20;
/// Redirects that are followed, as by Go's client.
const REDIRECTS_MAX: usize = 10;

impl Default for Settings {
    /// k6's.
    fn default() -> Self {
        Self {
            template: String::new(),
            method: "GET".to_owned(),
            headers: RequestHeaders::default(),
            path: Vec::new(),
            timeout: Duration::from_secs(30),
            retries_max: 3,
            backoff: Duration::from_secs(1),
            per_minute: 300,
            burst: 10,
        }
    }
}

impl UrlSource {
    /// Reads variables, then a file, then the arguments, each over the one before.
    pub(crate) fn parse(arguments: &[&str], env: &BTreeMap<String, String>) -> Result<Self, ConfigError> {
        let mut settings = Settings::default();
        let wrong = |error: ConfigError| ConfigError {
            message: format!("missing or invalid config: {}", error.message),
            hint: error.hint,
        };
        settings.read_env(env).map_err(wrong)?;
        for argument in arguments {
            let Some((key, value)) = argument.split_once('=') else {
                return Err(wrong(ConfigError::new("an argument of the url secret source needs =")));
            };
            if key == "config" {
                settings.read_file(value).map_err(wrong)?;
            }
        }
        for (key, value) in arguments.iter().filter_map(|argument| argument.split_once('=')) {
            if key != "config" {
                settings.set(key, value).map_err(wrong)?;
            }
        }
        settings.check().map_err(wrong)?;
        settings.headers.validate().map_err(|error| wrong(ConfigError::new(error.message.to_string())))?;
        let options = ClientOptions {
            limits: onrush_net::Limits { body_bytes_max: VALUE_BYTES_MAX, ..onrush_net::Limits::default() },
            proxies: ProxyOptions::from_environment(|name| env.get(name).cloned()),
            ..ClientOptions::default()
        };
        let client = options.build().map_err(|error| wrong(ConfigError::new(error.to_string())))?;
        Ok(Self { settings, client, next: Mutex::new(Nanos::ZERO) })
    }

    /// Asks for a key. On a fiber.
    pub(crate) fn get(&self, key: &str) -> Result<String, GetError> {
        // k6: the key is put in as it is, so one with slashes is a path. The URL escapes what cannot stand in it.
        let text = self.settings.template.replace("{key}", key);
        let url = Url::parse(&text).map_err(|_| GetError::Service("the URL of the secret is not valid".to_owned()))?;
        let connections = Connections::new(self.client.thread());
        let mut tries = 0;
        loop {
            self.await_turn()?;
            let error = match self.ask(&connections, &url)? {
                Asked::Value(value) => return Ok(value),
                Asked::Failed(error) => return Err(GetError::Service(error)),
                Asked::TryAgain(error) => error,
            };
            if tries >= self.settings.retries_max {
                return Err(GetError::Service(error));
            }
            wait(jittered(self.settings.backoff.saturating_mul(1 << tries.min(10))))?;
            tries += 1;
        }
    }

    fn ask(&self, connections: &Connections, url: &Url) -> Result<Asked, GetError> {
        let deadline = Clock::now() + self.settings.timeout;
        let (mut method, mut at, mut headers) =
            (self.settings.method.clone(), url.clone(), self.settings.headers.clone());
        let (mut keep_body, mut strip_sensitive) = (true, false);
        let mut hops = 0;
        let response = loop {
            let mut head = Vec::new();
            headers.write(&mut head);
            let request = Request {
                method: &method,
                url: &at,
                head: &head,
                host: None,
                body: &Body::None,
                user_agent: Some(concat!("Onrush/", env!("CARGO_PKG_VERSION"))),
                is_http1: false,
            };
            let response = match connections.exchange(&request, BodyMode::Keep, Clock::now(), Some(deadline)) {
                Ok(response) => response,
                Err(_) if onrush_fiber::is_cancelled() => return Err(GetError::Cancelled),
                Err(failure) => {
                    return Ok(Asked::TryAgain(format!("{}: failed to get secret", failure.error.message)));
                }
            };
            let meta = RequestMeta { method: &method, url: &at, first_url: url, keep_body, strip_sensitive };
            let next = match onrush_net::redirect::next(&meta, response.status, response.headers.get("location")) {
                Ok(Some(next)) => next,
                Ok(None) => break response,
                Err(error) => return Ok(Asked::Failed(format!("{}: failed to get secret", error.message))),
            };
            if hops == REDIRECTS_MAX {
                return Ok(Asked::Failed(format!("stopped after {REDIRECTS_MAX} redirects: failed to get secret")));
            }
            hops += 1;
            let leaving: Vec<String> =
                headers.iter().map(|(name, _)| name.to_owned()).filter(|name| !next.keeps_header(name)).collect();
            leaving.iter().for_each(|name| headers.remove(name));
            (keep_body, strip_sensitive) = (next.keep_body, next.strip_sensitive);
            (method, at) = (next.method.into_owned(), next.url);
        };
        Ok(match response.status {
            200 => match self.settings.value(&response.body) {
                Ok(value) => Asked::Value(value),
                Err(error) => Asked::Failed(format!("failed to extract secret: {error}")),
            },
            // k6: whatever else a service calls a success is none.
            status @ (429 | 500..) => Asked::TryAgain(format!("status code {status}: failed to get secret")),
            status => Asked::Failed(format!("status code {status}: failed to get secret")),
        })
    }

    /// Waits until the rate allows another request.
    fn await_turn(&self) -> Result<(), GetError> {
        let interval = Duration::from_secs(60) / self.settings.per_minute;
        let now = Clock::now();
        let turn = {
            let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
            let at = (*next).max(now.saturating_sub((interval * (self.settings.burst - 1)).into()));
            *next = at + interval;
            at
        };
        if turn > now { wait(turn.saturating_sub(now).as_duration()) } else { Ok(()) }
    }
}

enum Asked {
    Value(String),
    Failed(String),
    TryAgain(String),
}

fn wait(time: Duration) -> Result<(), GetError> {
    match onrush_fiber::sleep_until(Clock::now() + time) {
        Woke::Cancelled => Err(GetError::Cancelled),
        _ => Ok(()),
    }
}

/// Between half of the time and all of it, so that VUs that failed together do not come back together.
fn jittered(time: Duration) -> Duration {
    let random = RandomState::new().hash_one(Clock::now().0);
    time.mul_f64(0.5 + 0.5 * (random as f64 / u64::MAX as f64))
}

impl Settings {
    fn read_env(&mut self, env: &BTreeMap<String, String>) -> Result<(), ConfigError> {
        const PREFIX: &str = "K6_SECRET_SOURCE_URL_";
        for (name, value) in env.iter().filter(|(_, value)| !value.is_empty()) {
            let Some(name) = name.strip_prefix(PREFIX) else { continue };
            match name {
                "URL_TEMPLATE" => self.set("urlTemplate", value)?,
                "METHOD" => self.set("method", value)?,
                "RESPONSE_PATH" => self.set("responsePath", value)?,
                "TIMEOUT" => self.set("timeout", value)?,
                "MAX_RETRIES" => self.set("maxRetries", value)?,
                "RETRY_BACKOFF" => self.set("retryBackoff", value)?,
                "REQUESTS_PER_MINUTE_LIMIT" => self.set("requestsPerMinuteLimit", value)?,
                "REQUESTS_BURST" => self.set("requestsBurst", value)?,
                _ => match name.strip_prefix("HEADER_") {
                    Some(header) => self.headers.set(&header.replace('_', "-"), value),
                    None => return Err(ConfigError::new(format!("unknown variable {PREFIX}{name}"))),
                },
            }
        }
        Ok(())
    }

    fn read_file(&mut self, path: &str) -> Result<(), ConfigError> {
        let value: Value = serde_json::from_str(&read(path)?).map_err(|error| {
            ConfigError::new(format!("{path} is not JSON: line {}, column {}", error.line(), error.column()))
        })?;
        let Value::Object(object) = value else {
            return Err(ConfigError::new(format!("{path} must hold a JSON object")));
        };
        for (key, value) in object {
            match (key.as_str(), value) {
                ("headers", Value::Object(headers)) => {
                    for (name, value) in headers {
                        let Value::String(value) = value else {
                            return Err(ConfigError::new(format!("headers.{name} in {path} must be a text")));
                        };
                        self.headers.set(&name, &value);
                    }
                }
                ("headers", _) => return Err(ConfigError::new(format!("headers in {path} must be an object"))),
                (key, Value::String(text)) => self.set(key, &text)?,
                (key, Value::Number(number)) => self.set(key, &number.to_string())?,
                (key, _) => return Err(ConfigError::new(format!("{key} in {path} must be a text or a number"))),
            }
        }
        Ok(())
    }

    fn set(&mut self, key: &str, value: &str) -> Result<(), ConfigError> {
        let number = || -> Result<u32, ConfigError> {
            value.parse().map_err(|_| ConfigError::new(format!("{key} must be a whole number")))
        };
        let duration = || -> Result<Duration, ConfigError> {
            let parsed = onrush_plan::parse_extended_duration(value);
            parsed.map(|duration| duration.as_std()).map_err(|error| ConfigError::new(format!("{key}: {error}")))
        };
        match key {
            "urlTemplate" => value.clone_into(&mut self.template),
            "method" => self.method = value.to_ascii_uppercase(),
            "responsePath" => self.path = value.split('.').filter(|part| !part.is_empty()).map(str::to_owned).collect(),
            "timeout" => self.timeout = duration()?,
            "maxRetries" => self.retries_max = number()?,
            "retryBackoff" => self.backoff = duration()?,
            "requestsPerMinuteLimit" => self.per_minute = number()?,
            "requestsBurst" => self.burst = number()?,
            _ => match key.strip_prefix("headers.").filter(|name| !name.is_empty()) {
                Some(name) => self.headers.set(name, value),
                None => return Err(ConfigError::new(format!("unknown configuration key: \"{key}\"")).hint(KEYS)),
            },
        }
        Ok(())
    }

    fn check(&self) -> Result<(), ConfigError> {
        let wrong = if self.template.is_empty() {
            "urlTemplate is required"
        } else if !self.template.contains("{key}") {
            "urlTemplate must contain {key} placeholder"
        } else if !self.template.starts_with("http://") && !self.template.starts_with("https://") {
            "urlTemplate must begin with http:// or https://"
        } else if self.per_minute == 0 || self.burst == 0 {
            "requestsPerMinuteLimit and requestsBurst must be greater than 0"
        } else if self.timeout.is_zero() {
            "timeout must be greater than 0"
        } else {
            return Ok(());
        };
        Err(ConfigError::new(wrong))
    }

    /// The secret within a response: all of it, or what the path leads to.
    fn value(&self, body: &[u8]) -> Result<String, String> {
        let text = || std::str::from_utf8(body).map_err(|_| "the response is not UTF-8".to_owned());
        if self.path.is_empty() {
            return text().map(str::to_owned);
        }
        let value: Value = serde_json::from_slice(body).map_err(|_| "the response is not JSON".to_owned())?;
        let found = self.path.iter().try_fold(&value, |value, part| match value {
            Value::Array(items) => items.get(part.parse::<usize>().ok()?),
            value => value.get(part),
        });
        let path = self.path.join(".");
        // k6: its words.
        let kind = match found {
            Some(Value::String(text)) => return Ok(text.clone()),
            None => return Err(format!("path \"{path}\" not found in response")),
            Some(Value::Number(_)) => "Number",
            Some(Value::Bool(true)) => "True",
            Some(Value::Bool(false)) => "False",
            Some(Value::Null) => "Null",
            Some(Value::Array(_) | Value::Object(_)) => "JSON",
        };
        Err(format!("secret value at path \"{path}\" is not a string (got {kind})"))
    }
}

const KEYS: &str = "the keys are config, urlTemplate, headers.NAME, method, responsePath, timeout, maxRetries, retryBackoff, requestsPerMinuteLimit and requestsBurst";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_service_is_asked_through_the_environments_proxy() {
        let server = onrush_testkit::GoodServer::start(|request| onrush_testkit::Reply::text(request.target.clone()));
        let proxy = onrush_testkit::GoodProxy::start(server.addr());
        let env = BTreeMap::from([("HTTP_PROXY".to_owned(), proxy.addr().to_string())]);
        let source = UrlSource::parse(&["urlTemplate=http://vault.invalid/v1/{key}"], &env).expect("a source");
        let reactor = onrush_fiber::Reactor::new(onrush_fiber::ReactorConfig::default()).expect("a reactor");
        let got = std::rc::Rc::new(std::cell::RefCell::new(None));
        let slot = std::rc::Rc::clone(&got);
        onrush_fiber::spawn(None, move || *slot.borrow_mut() = Some(source.get("k")));
        reactor.run();
        let got = got.take().expect("the fiber ended");
        assert!(got.is_ok_and(|value| value.ends_with("/v1/k")));
        assert!(proxy.heads()[0].starts_with("GET http://vault.invalid/v1/k HTTP/1.1"));
    }

    #[test]
    fn values_in_responses() {
        let check = |path: &str, body: &str, expect: Result<&str, &str>| {
            let mut settings = Settings::default();
            settings.set("responsePath", path).expect("a path");
            assert_eq!(settings.value(body.as_bytes()).as_deref().map_err(String::as_str), expect);
        };
        check("", "hello\n", Ok("hello\n"));
        check("data.value", r#"{"data":{"value":"x"}}"#, Ok("x"));
        check("list.0", r#"{"list":["a",7]}"#, Ok("a"));
        check("a", "nope", Err("the response is not JSON"));
        // The texts are k6's, of 1.8.1.
        check("a.b", r#"{"a":{}}"#, Err("path \"a.b\" not found in response"));
        check("a", r#"{"a":{}}"#, Err("secret value at path \"a\" is not a string (got JSON)"));
        check("a", r#"{"a":5}"#, Err("secret value at path \"a\" is not a string (got Number)"));
        check("a", r#"{"a":null}"#, Err("secret value at path \"a\" is not a string (got Null)"));
    }
}
