//! `--out prometheus-rw`: what all agents measured together, pushed to a Prometheus by remote write.

use std::time::Duration;

use onrush_metrics::summary::TrendStat;
use onrush_net::{ClientAuth, ClientOptions, ProxyOptions, RequestHeaders, TlsOptions, TlsVersion, Url};
use onrush_output::{
    Began, SigV4, Told,
    prometheus::{Config, Prometheus, Trends, Version},
};

use super::{
    super::prepare::Readers,
    asked::Asked,
    delivered::{self, Arrived},
    output::{Output, Started, Starting, Wish},
};
use crate::{failure::Failure, masked};

const PREFIX: &str = "K6_PROMETHEUS_RW_";
/// The end is one push, which is tried a few times.
const SILENCE: Duration = Duration::from_secs(30);

/// An output that is wanted.
struct Wanted(Config);

/// `prometheus-rw=URL`, and variables.
pub(super) fn read(asked: &Asked<'_>) -> Result<Wish, Failure> {
    asked.naming(config(asked).map(|config| Wish::Folded(Box::new(Wanted(config)))))
}

fn config(asked: &Asked<'_>) -> Result<Config, Failure> {
    let setting = |name: &str, key: &str| asked.text(&format!("{PREFIX}{name}"), key);
    let switch = |name: &str, key: &str| asked.switch(&format!("{PREFIX}{name}"), key).map(Option::unwrap_or_default);
    let text = asked.argument().or_else(|| setting("SERVER_URL", "url")).unwrap_or_else(|| Config::URL.to_owned());
    let is_url = text.starts_with("http://") || text.starts_with("https://");
    let url = if is_url { Url::parse(&text).ok() } else { None };
    let url = url.ok_or_else(|| {
        Failure::other(format!("\"{}\" is no URL", masked::address(&text)))
            .hint(format!("write --out prometheus-rw={}", Config::URL))
    })?;
    let of_url = url
        .credentials()
        .map(|(user, password)| [user, password].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).into());
    let basic = setting("USERNAME", "username")
        .map(|user| (user, setting("PASSWORD", "password").unwrap_or_default()))
        .or(of_url);
    let push_interval = asked.duration(&format!("{PREFIX}PUSH_INTERVAL"), "pushInterval")?;
    let is_feature = |text: &str| text.split(',').any(|name| name.trim() == "native-histograms");
    let has_feature = asked.flags.values("features").iter().any(|text| is_feature(text))
        || asked.variable("K6_FEATURES").is_some_and(|text| is_feature(&text));
    let trends = if has_feature || switch("TREND_AS_NATIVE_HISTOGRAM", "trendAsNativeHistogram")? {
        Trends::Histograms
    } else {
        let text = setting("TREND_STATS", "trendStats").unwrap_or_else(|| "p(99)".to_owned());
        let (sums, names): (Vec<&str>, Vec<&str>) = text.split(',').map(str::trim).partition(|name| *name == "sum");
        let stats = TrendStat::parse_list(&names).map_err(|error| Failure::other(error.to_string()))?;
        Trends::Stats(stats, !sums.is_empty())
    };
    Ok(Config {
        url,
        basic,
        headers: headers(asked)?,
        network: ClientOptions {
            tls: tls(&setting, switch("INSECURE_SKIP_TLS_VERIFY", "insecureSkipTLSVerify")?)?,
            proxies: ProxyOptions::from_environment(|name| asked.flags.env.get(name).cloned()),
            ..ClientOptions::default()
        },
        push_interval: push_interval.unwrap_or(Config::PUSH_INTERVAL),
        trends,
        version: version(asked)?,
        signer: signer(asked)?,
        stale_markers: switch("STALE_MARKERS", "staleMarkers")?,
    })
}

/// Remote write 2.0 where that is wanted: k6 has no such setting.
fn version(asked: &Asked<'_>) -> Result<Version, Failure> {
    let read = |text: &str| match text {
        "1" | "1.0" => Some(Version::One),
        "2" | "2.0" => Some(Version::Two),
        _ => None,
    };
    Ok(asked.parsed("ONRUSH_PROMETHEUS_RW_VERSION", "version", "use 1 or 2", read)?.unwrap_or(Version::One))
}

/// Keys for Amazon's service: all of them or none.
fn signer(asked: &Asked<'_>) -> Result<Option<SigV4>, Failure> {
    let [region, access_key, secret_key] =
        [("REGION", "sigV4Region"), ("ACCESS_KEY", "sigV4AccessKey"), ("SECRET_KEY", "sigV4SecretKey")]
            .map(|(name, key)| asked.text(&format!("{PREFIX}SIGV4_{name}"), key));
    match (region, access_key, secret_key) {
        (None, None, None) => Ok(None),
        (Some(region), Some(access_key), Some(secret_key)) => {
            // k6 has none.
            let session_token = asked.variable("ONRUSH_PROMETHEUS_RW_SIGV4_SESSION_TOKEN");
            Ok(Some(SigV4 { region, service: "aps", access_key, secret_key, session_token }))
        }
        _ => Err(Failure::other(format!(
            "sigv4 seems to be partially configured. All of {PREFIX}SIGV4_REGION, {PREFIX}SIGV4_ACCESS_KEY, {PREFIX}SIGV4_SECRET_KEY must all be set. Unset all to bypass sigv4"
        ))),
    }
}

/// The headers of requests: what is more particular replaces what is less.
fn headers(asked: &Asked<'_>) -> Result<RequestHeaders, Failure> {
    let mut headers = RequestHeaders::default();
    for (name, value) in asked.texts("headers") {
        headers.set(&name, &value);
    }
    for item in asked.variable(&format!("{PREFIX}HTTP_HEADERS")).iter().flat_map(|text| text.split(',')) {
        let Some((name, value)) = item.split_once(':') else {
            // It may be a secret, so it is not quoted as in k6.
            return Err(Failure::other(
                "the provided header does not respect the expected format <header key>:<value>",
            ));
        };
        headers.set(name.trim(), value.trim());
    }
    for (name, value) in &asked.flags.env {
        if let Some(name) = name.strip_prefix(PREFIX).and_then(|name| name.strip_prefix("HEADERS_")) {
            headers.set(name, value);
        }
    }
    if let Some(token) = asked.text(&format!("{PREFIX}BEARER_TOKEN"), "bearerToken") {
        headers.set("Authorization", &format!("Bearer {token}"));
    }
    headers.validate().map_err(|error| Failure::other(format!("invalid header: {}", error.message)))?;
    Ok(headers)
}

fn tls(setting: &dyn Fn(&str, &str) -> Option<String>, insecure_skip_verify: bool) -> Result<TlsOptions, Failure> {
    let pem = |name: &str, key: &str| {
        let Some(path) = setting(name, key) else { return Ok(None) };
        let read = std::fs::read_to_string(&path).map(Some);
        read.map_err(|error| Failure::other(format!("failed to load the TLS certificate: open {path}: {error}")))
    };
    let auth =
        match (pem("CLIENT_CERTIFICATE", "clientCertificate")?, pem("CLIENT_CERTIFICATE_KEY", "clientCertificateKey")?)
        {
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
    let least = setting("TLS_MINIMUM_VERSION", "tlsMinVersion").or_else(|| setting("TLS_MIN_VERSION", "tlsMinVersion"));
    let version_min = Some(if least.as_deref() == Some("1.2") { TlsVersion::Tls12 } else { TlsVersion::Tls13 });
    Ok(TlsOptions { insecure_skip_verify, version_min, auth, ..TlsOptions::default() })
}

impl Output for Wanted {
    fn described(&self) -> String {
        format!("Prometheus remote write ({})", self.0.url.clean())
    }

    fn readers(&self) -> Readers {
        Readers { series: true, ..Readers::default() }
    }

    fn start(&self, starting: &Starting<'_>) -> Result<Box<dyn Started>, Failure> {
        let failed = |error: std::io::Error| {
            Failure::other(format!("failed to initialize the Prometheus remote write client: {error}"))
        };
        let (server, logger) = (format!("Prometheus at {}", self.0.url.clean()), starting.cx.logger.clone());
        let began = Began::default();
        let shown = server.clone();
        let tell = move |told| {
            match told {
            Told::Failed(why) => logger.error(format!(
                "failed to push to {shown}: {why}; it is asked again and again, and the next push has what this one lacked"
            )),
            Told::Lost(why) => logger.error(format!("{shown} has all that was measured, but {why}")),
            Told::Older(why) => {
                logger.warn(format!("{shown} does not know remote write 2.0 ({why}) and gets 1.0 from now on"));
            }
            Told::Again { failed } => {
                logger.warn(format!("pushes to {shown} arrive again, after {failed} that did not"));
            }
        }
        };
        let registry = starting.prepared.run.registry.clone();
        let output = Prometheus::new(self.0.clone(), registry, began.clone(), tell).map_err(failed)?;
        let arrived = Arrived::Steps(output.delivered());
        delivered::started(server, output, arrived, began, SILENCE).map_err(failed)
    }
}
