//! `--out prometheus-rw`: what all agents measured together, pushed to a Prometheus by remote write.

use std::{
    sync::{Arc, atomic::AtomicI64},
    time::Duration,
};

use onrush_metrics::summary::TrendStat;
use onrush_net::{ClientAuth, ClientOptions, ProxyOptions, TlsOptions, TlsVersion, Url};
use onrush_output::{
    Told,
    prometheus::{Config, Prometheus, Trends},
};

use super::{prepare::Prepared, pushed::Output};
use crate::{
    context::Context,
    failure::Failure,
    flags::{Flags, parse_bool},
};

/// k6's name of the output, and the one without the warning.
pub(super) const NAMES: [&str; 2] = ["experimental-prometheus-rw", "prometheus-rw"];

const PREFIX: &str = "K6_PROMETHEUS_RW_";
/// A receiver that is asked four times in vain has given up by then.
const PATIENCE: Duration = Duration::from_secs(40);

/// Reads the variables; `argument` is the endpoint, if there is one.
///
/// # Errors
/// 255 with the one that is wrong.
pub(super) fn config(argument: &str, flags: &Flags) -> Result<Config, Failure> {
    read(argument, flags).map_err(|failure| Failure {
        message: format!("could not create the 'prometheus-rw' output: {}", failure.message),
        ..failure
    })
}

fn read(argument: &str, flags: &Flags) -> Result<Config, Failure> {
    let variable = |name: &str| flags.env.get(&format!("{PREFIX}{name}")).filter(|value| !value.is_empty()).cloned();
    let wrong = |name: &str, value: &str, hint: &str| {
        Failure::other(format!("invalid {PREFIX}{name} \"{value}\"")).hint(hint.to_owned())
    };
    let switch = |name: &str| match variable(name) {
        None => Ok(false),
        Some(value) => parse_bool(&value).ok_or_else(|| wrong(name, &value, "use true or false")),
    };
    if let Some(name) =
        ["REGION", "ACCESS_KEY", "SECRET_KEY"].iter().find(|name| variable(&format!("SIGV4_{name}")).is_some())
    {
        return Err(Failure::other(format!("signing with {PREFIX}SIGV4_{name} is not available yet"))
            .hint("write through a proxy that signs, such as aws-sigv4-proxy"));
    }
    let text = Some(argument.to_owned()).filter(|text| !text.is_empty()).or_else(|| variable("SERVER_URL"));
    let text = text.unwrap_or_else(|| Config::URL.to_owned());
    let is_url = text.starts_with("http://") || text.starts_with("https://");
    let url = if is_url { Url::parse(&text).ok() } else { None };
    let url = url.ok_or_else(|| {
        Failure::other(format!("\"{text}\" is no URL")).hint(format!("write --out prometheus-rw={}", Config::URL))
    })?;
    let mut headers = onrush_net::RequestHeaders::default();
    for item in variable("HTTP_HEADERS").iter().flat_map(|text| text.split(',')) {
        let Some((name, value)) = item.split_once(':') else {
            return Err(Failure::other(format!(
                "the provided header ({item}) does not respect the expected format <header key>:<value>"
            )));
        };
        headers.set(name.trim(), value.trim());
    }
    for (name, value) in &flags.env {
        if let Some(name) = name.strip_prefix(PREFIX).and_then(|name| name.strip_prefix("HEADERS_")) {
            headers.set(name, value);
        }
    }
    if let Some(token) = variable("BEARER_TOKEN") {
        headers.set("Authorization", &format!("Bearer {token}"));
    }
    headers.validate().map_err(|error| Failure::other(format!("invalid header: {}", error.message)))?;
    let of_url = url
        .credentials()
        .map(|(user, password)| [user, password].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).into());
    let basic = variable("USERNAME").map(|user| (user, variable("PASSWORD").unwrap_or_default())).or(of_url);
    let push_interval = match variable("PUSH_INTERVAL") {
        None => Config::PUSH_INTERVAL,
        Some(text) => {
            let parsed = onrush_plan::parse_extended_duration(&text).ok().map(|duration| duration.as_std());
            let parsed = parsed.filter(|interval| !interval.is_zero());
            parsed.ok_or_else(|| wrong("PUSH_INTERVAL", &text, "use a duration, such as 5s"))?
        }
    };
    let is_feature = |text: &str| text.split(',').any(|name| name.trim() == "native-histograms");
    let has_feature = flags.values("features").iter().any(|text| is_feature(text))
        || flags.env.get("K6_FEATURES").is_some_and(|text| is_feature(text));
    let trends = if has_feature || switch("TREND_AS_NATIVE_HISTOGRAM")? {
        Trends::Histograms
    } else {
        let text = variable("TREND_STATS").unwrap_or_else(|| "p(99)".to_owned());
        let names: Vec<&str> = text.split(',').map(str::trim).collect();
        Trends::Stats(TrendStat::parse_list(&names).map_err(|error| Failure::other(error.to_string()))?)
    };
    Ok(Config {
        url,
        basic,
        headers,
        network: ClientOptions {
            tls: tls(&variable, switch("INSECURE_SKIP_TLS_VERIFY")?)?,
            proxies: ProxyOptions::from_environment(|name| flags.env.get(name).cloned()),
            ..ClientOptions::default()
        },
        push_interval,
        trends,
        stale_markers: switch("STALE_MARKERS")?,
    })
}

fn tls(variable: &dyn Fn(&str) -> Option<String>, insecure_skip_verify: bool) -> Result<TlsOptions, Failure> {
    let pem = |name: &str| {
        let Some(path) = variable(name) else { return Ok(None) };
        let read = std::fs::read_to_string(&path).map(Some);
        read.map_err(|error| Failure::other(format!("failed to load the TLS certificate: open {path}: {error}")))
    };
    let auth = match (pem("CLIENT_CERTIFICATE")?, pem("CLIENT_CERTIFICATE_KEY")?) {
        (Some(cert_pem), Some(key_pem)) => {
            vec![ClientAuth { cert_pem, key_pem, password: String::new(), domains: Vec::new() }]
        }
        (None, None) => Vec::new(),
        _ => {
            return Err(Failure::other("a client certificate needs its key, and a key its certificate")
                .hint(format!("set both {PREFIX}CLIENT_CERTIFICATE and {PREFIX}CLIENT_CERTIFICATE_KEY")));
        }
    };
    // k6's documentation and its code have different names.
    let least = variable("TLS_MINIMUM_VERSION").or_else(|| variable("TLS_MIN_VERSION"));
    let version_min = Some(if least.as_deref() == Some("1.2") { TlsVersion::Tls12 } else { TlsVersion::Tls13 });
    Ok(TlsOptions { insecure_skip_verify, version_min, auth, ..TlsOptions::default() })
}

/// What the execution block says.
pub(super) fn described(config: &Config) -> String {
    format!("Prometheus remote write ({})", config.url.clean())
}

/// Starts them.
///
/// # Errors
/// 255 with what keeps one from being started.
pub(super) fn start(cx: &Context, configs: &[Config], prepared: &Prepared) -> Result<Vec<Output>, Failure> {
    let start = |config: &Config| {
        let failed = |error: std::io::Error| {
            Failure::other(format!("failed to initialize the Prometheus remote write client: {error}"))
        };
        let (url, logger) = (config.url.clean().to_string(), cx.logger.clone());
        let began = Arc::new(AtomicI64::new(0));
        let shown = url.clone();
        let tell = move |told| match told {
            Told::Failed(why) => logger.error(format!(
                "failed to push to Prometheus at {shown}: {why}; the next push has what this one lacked"
            )),
            Told::Again { failed } => {
                logger.warn(format!("pushes to Prometheus at {shown} arrive again, after {failed} that did not"));
            }
        };
        let output =
            Prometheus::new(config.clone(), prepared.run.registry.clone(), began.clone(), tell).map_err(failed)?;
        Output::start(format!("Prometheus at {url}"), output, began, PATIENCE).map_err(failed)
    };
    configs.iter().map(start).collect()
}
