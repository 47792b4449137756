//! `--out web-dashboard`, `K6_WEB_DASHBOARD`, `--open` and `--report`: what of the view is asked for.

use std::path::PathBuf;

use crate::{
    failure::Failure,
    flags::{Flags, parse_bool},
    masked,
};

const PREFIX: &str = "K6_WEB_DASHBOARD_";
/// k6's port.
const PORT: u16 = 5665;
/// k6 listens on all addresses; whoever reaches the dashboard can steer the run.
const HOST: &str = "127.0.0.1";

/// The dashboard as it is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Dashboard {
    pub(super) host: String,
    /// Without one there is no server of its own.
    pub(super) port: Option<u16>,
    /// Somebody chose host or port: then the run does not start without it.
    pub(super) is_chosen: bool,
    /// Show it in a browser.
    pub(super) opens: bool,
    /// Further tags that samples keep.
    pub(super) tags: Vec<String>,
    /// An HTML report at the end.
    pub(super) report: Option<PathBuf>,
    /// What is accepted and changes nothing, and why.
    pub(super) ignored: Vec<&'static str>,
}

impl Dashboard {
    /// Reads the variables, over them the parameters of `web-dashboard=port=5666&open`, and over these `--open`.
    ///
    /// # Errors
    /// 255 for what cannot be.
    pub(crate) fn read(argument: &str, flags: &Flags) -> Result<Self, Failure> {
        read(argument, flags).map_err(|failure| Failure {
            message: format!("could not create the 'web-dashboard' output: {}", failure.message),
            ..failure
        })
    }

    /// Whether `K6_WEB_DASHBOARD` asks for one; `None` where it says nothing.
    ///
    /// # Errors
    /// 255 for what is neither true nor false.
    pub(crate) fn is_on(flags: &Flags) -> Result<Option<bool>, Failure> {
        let Some(text) = flags.env.get("K6_WEB_DASHBOARD").filter(|text| !text.is_empty()) else { return Ok(None) };
        parse_bool(text)
            .map(Some)
            .ok_or_else(|| Failure::other(format!("invalid K6_WEB_DASHBOARD \"{text}\"")).hint("use true or false"))
    }

    /// Further tags that samples keep.
    pub(crate) fn tags(&self) -> &[String] {
        &self.tags
    }

    /// An HTML report that it is to end with.
    pub(crate) fn report(&self) -> Option<PathBuf> {
        self.report.clone()
    }
}

/// A host as it is in addresses.
pub(super) fn shown_host(host: &str) -> String {
    if host.contains(':') { format!("[{host}]") } else { host.to_owned() }
}

fn read(argument: &str, flags: &Flags) -> Result<Dashboard, Failure> {
    let variable = |name: &str| flags.env.get(&format!("{PREFIX}{name}")).filter(|text| !text.is_empty()).cloned();
    let mut host = variable("HOST");
    let mut port = variable("PORT");
    let mut period = variable("PERIOD");
    let mut opens = variable("OPEN").is_some_and(|text| text == "true");
    let mut report = variable("EXPORT").or_else(|| variable("REPORT"));
    let mut record = variable("RECORD");
    let list =
        |text: &str| text.split(',').map(|tag| tag.trim().to_owned()).filter(|tag| !tag.is_empty()).collect::<Vec<_>>();
    let mut tags = variable("TAGS").map(|text| list(&text)).unwrap_or_default();
    let mut is_first_tag = true;
    for pair in argument.split('&').filter(|pair| !pair.is_empty()) {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        let value = decoded(value).ok_or_else(|| Failure::other(format!("invalid value of {key}: \"{value}\"")))?;
        match key {
            "host" => host = Some(value),
            "port" => port = Some(value),
            "period" => period = Some(value),
            "open" => opens = value.is_empty() || value == "true",
            "export" | "report" => report = Some(value).filter(|path| !path.is_empty()),
            "record" => record = Some(value).filter(|path| !path.is_empty()),
            "tag" => {
                if std::mem::take(&mut is_first_tag) {
                    tags.clear();
                }
                tags.push(value);
            }
            "tags" => tags.extend(list(&value)),
            _ => {
                return Err(Failure::other(format!("unknown parameter \"{}\"", masked::key(key)))
                    .hint("there are host, port, open, report, tag and tags: web-dashboard=port=5666&open"));
            }
        }
    }
    let is_asked_to_open = flags.switch("open")?;
    opens = is_asked_to_open.unwrap_or(opens);
    let is_chosen = host.is_some() || port.is_some();
    let port = match &port {
        None => Some(PORT),
        // k6: a negative port is none.
        Some(text) => match text.parse::<i64>() {
            Ok(port) if port < 0 => None,
            Ok(port) => Some(u16::try_from(port).map_err(|_| wrong_port(text))?),
            Err(_) => return Err(wrong_port(text)),
        },
    };
    if port.is_none() && is_asked_to_open == Some(true) {
        return Err(
            Failure::other("--open has no page to show: port -1 is no server").hint("leave out the port, or --open")
        );
    }
    let mut ignored = Vec::new();
    if let Some(text) = period {
        onrush_plan::parse_extended_duration(&text)
            .map_err(|error| Failure::other(format!("invalid period: {error}")))?;
        ignored.push("the dashboard shows every second: its period changes nothing");
    }
    if record.is_some() {
        ignored.push(
            "the dashboard records nothing: --out result=FILE keeps the run, and onrush report makes a report of it",
        );
    }
    let host = host.unwrap_or_else(|| HOST.to_owned());
    let host =
        host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).map_or_else(|| host.clone(), str::to_owned);
    Ok(Dashboard { host, port, is_chosen, opens, tags, report: report.map(PathBuf::from), ignored })
}

fn wrong_port(text: &str) -> Failure {
    Failure::other(format!("invalid port \"{text}\"")).hint("use 1 to 65535, 0 for a free port, or -1 for no server")
}

/// What `%20` and `+` stand for in a parameter.
fn decoded(value: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(value.len());
    let mut rest = value.as_bytes();
    while let [first, more @ ..] = rest {
        rest = more;
        match first {
            b'+' => bytes.push(b' '),
            b'%' => {
                let (digits, after) = more.split_at_checked(2)?;
                bytes.push(u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?);
                rest = after;
            }
            byte => bytes.push(*byte),
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Host, port, whether it was chosen, whether a browser opens; tags, report, how many options change nothing.
    type Expect<'a> = (&'a str, Option<u16>, bool, bool, &'a [&'a str], Option<&'a str>, usize);

    fn check(argument: &str, env: &[(&str, &str)], expect: Result<Expect<'_>, &str>) {
        check_with(&[], argument, env, expect);
    }

    fn check_with(open: &[&str], argument: &str, env: &[(&str, &str)], expect: Result<Expect<'_>, &str>) {
        let env = env.iter().map(|(name, value)| (format!("{PREFIX}{name}"), (*value).to_owned())).collect();
        let by_name = [("open", open.iter().map(|value| (*value).to_owned()).collect())].into();
        let read = Dashboard::read(argument, &Flags { env, by_name }).map_err(|failure| failure.message);
        let read = read.as_ref().map_err(String::as_str).map(|read| {
            let tags: Vec<&str> = read.tags.iter().map(String::as_str).collect();
            let report = read.report.as_ref().and_then(|path| path.to_str());
            (read.host.as_str(), read.port, read.is_chosen, read.opens, tags, report, read.ignored.len())
        });
        let expect = expect.map(|(host, port, chosen, opens, tags, report, ignored)| {
            (host, port, chosen, opens, tags.to_vec(), report, ignored)
        });
        assert_eq!(read, expect, "{argument} {env:?}", env = ());
    }

    #[test]
    fn parameters_and_variables() {
        check("", &[], Ok((HOST, Some(PORT), false, false, &[], None, 0)));
        check(
            "port=0&open&report=a%20b.html",
            &[("PORT", "1")],
            Ok((HOST, Some(0), true, true, &[], Some("a b.html"), 0)),
        );
        check("host=%5B::1%5D&open=no", &[("OPEN", "true")], Ok(("::1", Some(PORT), true, false, &[], None, 0)));
        check(
            "",
            &[("PORT", "-1"), ("EXPORT", "r"), ("REPORT", "s")],
            Ok((HOST, None, true, false, &[], Some("r"), 0)),
        );
        check("period=5s&record=x", &[("TAGS", "a, b")], Ok((HOST, Some(PORT), false, false, &["a", "b"], None, 2)));
        check("tag=c&tag=d&tags=e", &[("TAGS", "a")], Ok((HOST, Some(PORT), false, false, &["c", "d", "e"], None, 0)));
        check("", &[("OPEN", "1")], Ok((HOST, Some(PORT), false, false, &[], None, 0)));
        // The flag has the last word.
        check_with(&["true"], "open=no", &[], Ok((HOST, Some(PORT), false, true, &[], None, 0)));
        check_with(&["false"], "open", &[("OPEN", "true")], Ok((HOST, Some(PORT), false, false, &[], None, 0)));
        let failed = "could not create the 'web-dashboard' output: ";
        let no_page = format!("{failed}--open has no page to show: port -1 is no server");
        check_with(&["true"], "port=-1", &[], Err(&no_page));
        check("port=x", &[], Err(&format!("{failed}invalid port \"x\"")));
        check("port=65536", &[], Err(&format!("{failed}invalid port \"65536\"")));
        check("colour=red", &[], Err(&format!("{failed}unknown parameter \"colour\"")));
        check("report=%zz", &[], Err(&format!("{failed}invalid value of report: \"%zz\"")));
        check("period=soon", &[], Err(&format!("{failed}invalid period: time: invalid duration \"soon\"")));
    }
}
