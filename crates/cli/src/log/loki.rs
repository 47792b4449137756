//! The grammar of `--log-output=loki=URL,key=value,…`.

use onrush_net::{ProxyOptions, RequestHeaders, Url};
use onrush_output::loki::Config;

use super::destination::parse_level;
use crate::{failure::Failure, line::Level, masked};

const KEYS: &str = "limit, level, pushPeriod, msgMaxSize, profile, allowedLabels, label.NAME and header.NAME";

/// Reads what follows `loki`; the least level that is sent comes beside it.
///
/// # Errors
/// Exit code 255, k6's texts where it has them.
pub(super) fn parse(text: &str) -> Result<(Config, Level), Failure> {
    let mut config = Config {
        url: Url::parse(Config::URL).map_err(|error| Failure::other(error.message.to_string()))?,
        limit: Config::LIMIT,
        push_period: Config::PUSH_PERIOD,
        message_bytes_max: Config::MESSAGE_BYTES_MAX,
        labels: Vec::new(),
        headers: RequestHeaders::default(),
        allowed_labels: None,
        profile: false,
        proxies: ProxyOptions::from_environment(|name| std::env::var(name).ok()),
    };
    let mut level = Level::Debug;
    for (index, part) in split(text)?.into_iter().enumerate() {
        if index == 0 && (part.is_empty() || is_url(part)) {
            if !part.is_empty() {
                config.url = url(part)?;
            }
            continue;
        }
        let (key, value) = match part.split_once('=') {
            Some(pair) => pair,
            None if part == "profile" => ("profile", "true"),
            None => {
                // It may be the rest of a secret.
                let is_behind = !config.headers.is_empty();
                let shown = if is_behind { "behind a header" } else { masked::key(part) };
                return Err(Failure::other(format!(
                    "error while parsing loki configuration key `{shown}` with no value"
                ))
                .hint(format!("the keys are {KEYS}")));
            }
        };
        set(&mut config, &mut level, key, value)?;
    }
    config.headers.validate().map_err(|error| Failure::other(format!("invalid header for loki: {}", error.message)))?;
    Ok((config, level))
}

/// Whether the first part is meant to be a URL, right or wrong, and not a key.
fn is_url(part: &str) -> bool {
    part.find(['/', ':']).is_some_and(|at| !part[..at].contains('='))
}

fn url(text: &str) -> Result<Url, Failure> {
    let wrong = || {
        let text = masked::address(text);
        Failure::other(format!("couldn't parse the URL of loki \"{text}\"")).hint(format!("write loki={}", Config::URL))
    };
    if !text.starts_with("http://") && !text.starts_with("https://") {
        return Err(wrong());
    }
    Url::parse(text).map_err(|_| wrong())
}

fn set(config: &mut Config, level: &mut Level, key: &str, value: &str) -> Result<(), Failure> {
    let wrong =
        |wanted: &str| Failure::other(format!("couldn't parse the loki {key} \"{value}\": it must be {wanted}"));
    let positive = || value.parse::<u64>().ok().filter(|number| *number > 0);
    match key {
        "limit" => config.limit = positive().ok_or_else(|| wrong("a whole number greater than 0"))?,
        "msgMaxSize" => {
            let size = positive().and_then(|size| usize::try_from(size).ok());
            config.message_bytes_max = size.ok_or_else(|| wrong("a whole number greater than 0"))?;
        }
        "pushPeriod" => {
            let parsed = onrush_plan::parse_go_duration(value).ok().map(|period| period.as_std());
            let parsed = parsed.filter(|period| !period.is_zero());
            config.push_period = parsed.ok_or_else(|| wrong("a duration greater than 0, such as 1s"))?;
        }
        "level" => *level = parse_level(value).ok_or_else(|| Failure::other(format!("unknown log level {value}")))?,
        "profile" => {
            config.profile = crate::flags::parse_bool(value).ok_or_else(|| wrong("true or false"))?;
        }
        "allowedLabels" => {
            let list = value.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(value);
            let names = list.split(',').map(str::trim).filter(|name| !name.is_empty());
            config.allowed_labels = Some(names.map(str::to_owned).collect());
        }
        _ => match key.split_once('.') {
            Some(("label", name)) if !name.is_empty() => config.labels.push((name.to_owned(), value.to_owned())),
            Some(("header", name)) if !name.is_empty() => config.headers.set(name, value),
            _ => {
                return Err(Failure::other(format!("unknown loki config key {}", masked::key(key)))
                    .hint(format!("the keys are {KEYS}")));
            }
        },
    }
    Ok(())
}

/// Splits at commas that are not within brackets.
fn split(text: &str) -> Result<Vec<&str>, Failure> {
    let (mut parts, mut start, mut opened) = (Vec::new(), 0, None);
    for (at, char) in text.char_indices() {
        match char {
            '[' if opened.is_none() && text[..at].ends_with('=') => opened = Some(start),
            ']' => opened = None,
            ',' if opened.is_none() => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    if let Some(start) = opened {
        let key = text[start..].split('=').next().unwrap_or_default();
        return Err(Failure::other(format!(
            "error while parsing loki configuration array value for key `{key}` didn't end"
        ))
        .hint("close the list with ]"));
    }
    parts.push(&text[start..]);
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn configurations() {
        let (config, level) = parse(
            "https://h:1/push,limit=5,level=info,pushPeriod=300ms,msgMaxSize=10,label.a=x=y,header.X-Scope-OrgID=me,allowedLabels=[a,level],profile",
        )
        .expect("a configuration");
        assert_eq!((config.url.clean().as_ref(), level), ("https://h:1/push", Level::Info));
        assert_eq!((config.limit, config.push_period.as_millis(), config.message_bytes_max), (5, 300, 10));
        assert_eq!(config.labels, [("a".to_owned(), "x=y".to_owned())]);
        assert_eq!(config.allowed_labels, Some(vec!["a".to_owned(), "level".to_owned()]));
        assert!(config.profile);
        let (config, level) = parse("").expect("the default");
        assert_eq!((config.url.clean().as_ref(), config.limit, level), (Config::URL, 100, Level::Debug));
        assert_eq!(parse("limit=3").expect("no URL").0.limit, 3);
    }

    #[test]
    fn mistakes() {
        let check = |text: &str, expect: &str| {
            assert_eq!(parse(text).map(|_| ()).map_err(|failure| failure.message), Err(expect.to_owned()), "{text}");
        };
        check("http://h,foo=1", "unknown loki config key foo");
        check("http://h,label.=1", "unknown loki config key label.");
        check("http://h,foo", "error while parsing loki configuration key `foo` with no value");
        check(
            "http://h,allowedLabels=[a",
            "error while parsing loki configuration array value for key `allowedLabels` didn't end",
        );
        check("http://h,limit=0", "couldn't parse the loki limit \"0\": it must be a whole number greater than 0");
        check(
            "http://h,pushPeriod=1",
            "couldn't parse the loki pushPeriod \"1\": it must be a duration greater than 0, such as 1s",
        );
        check("http://h,level=loud", "unknown log level loud");
        check("ftp://h", "couldn't parse the URL of loki \"ftp://h\"");
        check("localhost:3100", "couldn't parse the URL of loki \"localhost:3100\"");
        check("ht:/x?a=1", "couldn't parse the URL of loki \"ht:/x?****\"");
    }
}
