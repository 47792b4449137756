//! `onrush http URL`: a load test without a script, for what oha, hey and wrk are used for.
//!
//! There is no second way to send requests: `script` writes a k6 script, `run` runs it as any other, and `figures`
//! and `report` show what came of it.

mod figures;
mod report;
mod script;

use std::{collections::BTreeMap, path::Path, time::Duration};

use onrush_session::ExitCode;
use serde_json::{Map, Value};

use self::script::{Body, Request, Stop};
pub(crate) use self::{
    figures::{nothing_succeeded, subscribe},
    report::report,
};
use crate::{
    args::RunArgs,
    context::Context,
    failure::Failure,
    flags::{self, Command, Flags},
    run::{self, config_file::ConfigFile},
};

/// Loads one URL.
///
/// # Errors
/// As `run`, and 255 for flags that make no request.
pub(crate) fn http(cx: &Context, files: &[String]) -> Result<ExitCode, Failure> {
    cx.flags.refuse_unavailable(Command::Http)?;
    let [url] = files else {
        return Err(Failure::other(format!("accepts 1 arg(s), received {}: the URL", files.len()))
            .hint("onrush http http://127.0.0.1:8080/ -c 50 -d 10s"));
    };
    let request = request(&cx.flags, url)?;
    if cx.flags.switch("script")?.unwrap_or(false) {
        cx.terminal.stdout(request.to_script());
        return Ok(ExitCode::Success);
    }
    let cx = Context {
        flags: without_load(&cx.flags),
        logger: cx.logger.clone(),
        terminal: cx.terminal.clone(),
        look: cx.look,
    };
    let config = ConfigFile::read(&cx)?;
    let mut args = RunArgs::new(&cx.flags, &config, files)?;
    args.script.source = Some(request.to_own_script());
    args.one_liner = Some(request.heading());
    run::execute(&cx, config, &args)
}

/// The flags and variables without those that say how much load: the script says it.
fn without_load(flags: &Flags) -> Flags {
    const VARIABLES: [&str; 5] = ["K6_VUS", "K6_DURATION", "K6_ITERATIONS", "K6_STAGES", "K6_RPS"];
    let is_kept = |long: &str| long != "duration";
    let by_name = flags.by_name.iter().filter(|(long, _)| is_kept(long)).map(|(long, values)| (*long, values.clone()));
    let env = flags.env.iter().filter(|(name, _)| !VARIABLES.contains(&name.as_str()));
    let env: BTreeMap<String, String> = env.map(|(name, value)| (name.clone(), value.clone())).collect();
    Flags { by_name: by_name.collect(), env }
}

/// Reads the flags.
fn request(flags: &Flags, url: &str) -> Result<Request, Failure> {
    if !["http://", "https://"].iter().any(|scheme| url.starts_with(scheme)) {
        return Err(Failure::other(format!("invalid URL \"{url}\": it must begin with http:// or https://"))
            .hint(format!("onrush http http://{}", url.trim_start_matches('/'))));
    }
    let number = |long: &str| -> Result<Option<u64>, Failure> {
        let Some(text) = flags.values(long).pop() else { return Ok(None) };
        let value = text.parse::<u64>().ok().filter(|value| (1..=NUMBER_MAX).contains(value));
        let wrong = || invalid(long, &text, &format!("must be a whole number from 1 to {NUMBER_MAX}"));
        value.map(Some).ok_or_else(wrong)
    };
    let duration = |long: &str| -> Result<Option<Duration>, Failure> {
        let Some(text) = flags.values(long).pop() else { return Ok(None) };
        let duration =
            onrush_plan::parse_go_duration(&text).map_err(|error| invalid(long, &text, &error.to_string()))?;
        if duration <= onrush_plan::GoDuration::ZERO {
            return Err(invalid(long, &text, "must be longer than 0s"));
        }
        Ok(Some(duration.as_std()))
    };
    let (rate, requests, time) = (number("rate")?, number("requests")?, duration("duration")?);
    // k6: no arrival rate lasts less than a second.
    if let (Some(rate), Some(requests)) = (rate, requests)
        && requests < rate
    {
        return Err(Failure::other(format!("{requests} requests at {rate} a second are over within a second"))
            .hint(format!("with --rate {rate}, ask for at least {rate} requests")));
    }
    let body = flags.values("body").pop().map(|text| body(&text)).transpose()?;
    let method = match flags.values("method").pop() {
        Some(method) if !is_token(&method) => return Err(invalid("method", &method, "is not an HTTP method")),
        Some(method) => method,
        None if body.is_some() => "POST".to_owned(),
        None => "GET".to_owned(),
    };
    Ok(Request {
        url: url.to_owned(),
        method,
        headers: flags.values("header").iter().map(|text| header(text)).collect::<Result<_, _>>()?,
        body,
        timeout: duration("timeout")?,
        connections: number("connections")?.unwrap_or(CONNECTIONS),
        rate,
        stop: match (requests, time) {
            (Some(requests), time) => Stop::After { requests, at_most: time },
            (None, time) => Stop::At(time.unwrap_or(DURATION)),
        },
        options: options(flags)?,
        flags_only: FLAGS_ONLY.iter().flat_map(|long| given(flags, long)).collect(),
    })
}

/// Flags about requests that no option of a script stands for.
const FLAGS_ONLY: [&str; 3] = ["http2-prior-knowledge", "tls-session-resumption", "local-ips"];

/// A flag as it was given.
fn given(flags: &Flags, long: &str) -> Vec<String> {
    flags
        .values(long)
        .iter()
        .map(|value| if value == "true" { format!("--{long}") } else { format!("--{long}={value}") })
        .collect()
}

/// The options of a script that say what flags say about all requests.
fn options(flags: &Flags) -> Result<Map<String, Value>, Failure> {
    const SWITCHES: [(&str, &str); 2] =
        [("insecure-skip-tls-verify", "insecureSkipTLSVerify"), ("no-connection-reuse", "noConnectionReuse")];
    const TEXTS: [(&str, &str); 2] = [("user-agent", "userAgent"), ("http-debug", "httpDebug")];
    let mut options = Map::new();
    for (long, option) in SWITCHES {
        if flags.switch(long)?.unwrap_or(false) {
            options.insert(option.to_owned(), true.into());
        }
    }
    for (long, option) in TEXTS {
        if let Some(text) = flags.values(long).pop() {
            options.insert(option.to_owned(), text.into());
        }
    }
    if let Some(redirects) = flags.values("max-redirects").pop().and_then(|text| text.parse::<u64>().ok()) {
        options.insert("maxRedirects".to_owned(), redirects.into());
    }
    let pairs = |texts: Vec<String>| -> Map<String, Value> {
        let pairs = texts.iter().filter_map(|text| text.split_once('='));
        pairs.map(|(name, value)| (name.trim().to_owned(), value.into())).collect()
    };
    let dns = flags.values("dns").iter().flat_map(|text| text.split(',')).map(str::to_owned).collect();
    for (option, pairs) in [("tags", pairs(flags.values("tag"))), ("dns", pairs(dns))] {
        if !pairs.is_empty() {
            options.insert(option.to_owned(), pairs.into());
        }
    }
    Ok(options)
}

/// As many connections as hey and oha have.
const CONNECTIONS: u64 = 50;
/// As long as wrk runs.
const DURATION: Duration = Duration::from_secs(10);
/// No load of this kind is larger.
const NUMBER_MAX: u64 = 1_000_000_000;

fn invalid(long: &str, value: &str, reason: &str) -> Failure {
    match flags::find(long) {
        Some(flag) => flags::invalid_argument(flag, value, reason),
        None => Failure::other(reason),
    }
}

fn header(text: &str) -> Result<(String, String), Failure> {
    let wrong = |reason: &str| invalid("header", text, reason);
    let (name, value) = text.split_once(':').ok_or_else(|| wrong("must be 'NAME: VALUE'"))?;
    if !is_token(name.trim()) {
        return Err(wrong("the header's name has characters that names cannot have"));
    }
    let value = value.trim();
    if value.contains(['\r', '\n', '\0']) {
        return Err(wrong("the header's value has a line break"));
    }
    Ok((name.trim().to_owned(), value.to_owned()))
}

/// `@FILE` is a file.
fn body(text: &str) -> Result<Body, Failure> {
    let Some(file) = text.strip_prefix('@') else { return Ok(Body::Text(text.to_owned())) };
    let unreadable = |error: std::io::Error| Failure::other(format!("failed to read the body from '{file}': {error}"));
    let path = std::path::absolute(Path::new(file)).map_err(unreadable)?;
    if path.metadata().map_err(unreadable)?.is_dir() {
        return Err(Failure::other(format!("failed to read the body from '{file}': it is a folder")));
    }
    match path.to_str() {
        Some(path) => Ok(Body::File(path.to_owned())),
        None => Err(Failure::other(format!("failed to read the body from '{file}': its path is not UTF-8"))),
    }
}

/// A `token` of HTTP: methods and names of headers.
fn is_token(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(values: &[(&'static str, &str)], url: &str) -> Result<Request, String> {
        let mut flags = Flags::default();
        for (long, value) in values {
            flags.by_name.entry(long).or_default().push((*value).to_owned());
        }
        request(&flags, url).map_err(|failure| failure.message)
    }

    #[test]
    fn flags_become_a_request() {
        let request = parsed(&[], "http://a/").expect("a request");
        assert_eq!((request.method.as_str(), request.connections, request.stop), ("GET", 50, Stop::At(DURATION)));
        let request =
            parsed(&[("body", "x"), ("requests", "7"), ("duration", "2s"), ("header", "A:  b ")], "http://a/");
        let request = request.expect("a request");
        assert_eq!((request.method.as_str(), request.headers), ("POST", vec![("A".to_owned(), "b".to_owned())]));
        assert_eq!(request.stop, Stop::After { requests: 7, at_most: Some(Duration::from_secs(2)) });
    }

    #[test]
    fn what_flags_say_about_all_requests_is_in_the_script() {
        let flags = [
            ("user-agent", "me"),
            ("max-redirects", "3"),
            ("no-connection-reuse", "true"),
            ("tag", "a=b"),
            ("dns", "ttl=0,select=first"),
            ("http2-prior-knowledge", "true"),
            ("local-ips", "127.0.0.1-127.0.0.9"),
        ];
        let script = parsed(&flags, "http://a/").expect("a request").to_script();
        for expect in [
            "userAgent: \"me\"",
            "maxRedirects: 3",
            "noConnectionReuse: true",
            "tags: {\n    a: \"b\"",
            "ttl: \"0\"",
            "select: \"first\"",
            "give them to `onrush run`: --http2-prior-knowledge --local-ips=127.0.0.1-127.0.0.9\n",
        ] {
            assert!(script.contains(expect), "{expect} is not in {script}");
        }
    }

    #[test]
    fn mistakes() {
        let check = |flags: &[(&'static str, &str)], expect: &str| {
            let message = parsed(flags, "http://a/").expect_err("a mistake");
            assert!(message.contains(expect), "{message}");
        };
        check(&[("connections", "0")], "invalid argument \"0\" for \"-c, --connections\" flag: must be a whole number");
        check(&[("requests", "-3")], "for \"-n, --requests\" flag");
        check(&[("duration", "0s")], "must be longer than 0s");
        check(&[("duration", "10")], "for \"-d, --duration\" flag");
        check(&[("method", "GET /")], "is not an HTTP method");
        check(&[("header", "novalue")], "must be 'NAME: VALUE'");
        check(&[("header", "a b: c")], "characters that names cannot have");
        check(&[("header", "a: c\r\nd: e")], "line break");
        check(&[("body", "@/no/such/file")], "failed to read the body from '/no/such/file'");
        assert!(parsed(&[], "a/b").expect_err("a mistake").contains("must begin with http://"));
    }
}
