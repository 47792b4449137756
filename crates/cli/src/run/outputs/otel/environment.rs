//! Variables: k6's own, and those of OpenTelemetry's SDKs, which k6 stands on.

use std::time::Duration;

use onrush_net::{ClientAuth, ClientOptions, ProxyOptions, TlsOptions, TlsVersion, Url, url::unescape};
use onrush_output::otlp::{Receiver, Way};

use super::super::asked::{Asked, duration};
use crate::{
    failure::Failure,
    flags::{Flags, parse_bool},
    masked,
};

/// Where settings are read from.
pub(super) struct Environment<'a> {
    pub(super) flags: &'a Flags,
    /// What was said about the output, where it is one: `collectors` of the config file come after variables.
    pub(super) asked: Option<&'a Asked<'a>>,
    /// `METRICS` or `TRACES`: variables of one kind come before those of all.
    pub(super) signal: &'static str,
}

const PREFIX: &str = "K6_OTEL_";
/// The SDKs' limit of a request.
const TIMEOUT: Duration = Duration::from_secs(10);
pub(super) const VERSION: &str = env!("CARGO_PKG_VERSION");

impl Environment<'_> {
    pub(super) fn variable(&self, name: &str) -> Option<String> {
        self.flags.env.get(name).filter(|value| !value.is_empty()).cloned()
    }

    /// A variable of k6, else its key in the config file.
    pub(super) fn own(&self, name: &str) -> Option<String> {
        let variable = format!("{PREFIX}{name}");
        match self.asked {
            Some(asked) => asked.text(&variable, &key(name)),
            None => self.variable(&variable),
        }
    }

    /// A variable of the SDKs.
    pub(super) fn of_sdk(&self, name: &str) -> Option<String> {
        let of_signal = format!("OTEL_EXPORTER_OTLP_{}_{name}", self.signal);
        self.variable(&of_signal).or_else(|| self.variable(&format!("OTEL_EXPORTER_OTLP_{name}")))
    }

    pub(super) fn switch(&self, name: &str) -> Result<Option<bool>, Failure> {
        let Some(value) = self.own(name) else { return Ok(None) };
        match parse_bool(&value) {
            Some(is_on) => Ok(Some(is_on)),
            None => Err(wrong(&format!("{PREFIX}{name}"), &value, "use true or false")),
        }
    }

    pub(super) fn interval(&self, name: &str, default: Duration) -> Result<Duration, Failure> {
        let Some(text) = self.own(name) else { return Ok(default) };
        duration(&text).ok_or_else(|| wrong(&format!("{PREFIX}{name}"), &text, "use a duration, such as 10s"))
    }

    /// Who measures.
    pub(super) fn resource(&self) -> Result<Vec<(String, String)>, Failure> {
        let name = self.own("SERVICE_NAME").or_else(|| self.variable("OTEL_SERVICE_NAME"));
        let version = self.own("SERVICE_VERSION").unwrap_or_else(|| VERSION.to_owned());
        let mut resource = vec![
            ("service.name".to_owned(), name.unwrap_or_else(|| "k6".to_owned())),
            ("service.version".to_owned(), version),
            ("telemetry.sdk.language".to_owned(), "rust".to_owned()),
            ("telemetry.sdk.name".to_owned(), "onrush".to_owned()),
            ("telemetry.sdk.version".to_owned(), VERSION.to_owned()),
        ];
        let more = self.variable("OTEL_RESOURCE_ATTRIBUTES").unwrap_or_default();
        for (name, value) in pairs("OTEL_RESOURCE_ATTRIBUTES", &more)? {
            if !name.is_empty() && !resource.iter().any(|(known, _)| *known == name) {
                resource.push((name, value));
            }
        }
        Ok(resource)
    }

    /// A receiver, with what all receivers have.
    pub(super) fn to(
        &self,
        way: Way,
        headers: Vec<(String, String)>,
        basic: Option<(String, String)>,
        tls: TlsOptions,
    ) -> Result<Receiver, Failure> {
        let fits = |(name, value): &&(String, String)| {
            let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
            !name.is_empty() && name.bytes().all(is_token) && value.bytes().all(|byte| (0x20..0x7f).contains(&byte))
        };
        if let Some((name, _)) = headers.iter().find(|header| !fits(header)) {
            return Err(Failure::config(format!("the header \"{}\" cannot be sent", name.escape_debug()))
                .hint("names and values of headers are ASCII without control characters"));
        }
        let is_gzipped = match self.of_sdk("COMPRESSION").as_deref() {
            None | Some("none") => false,
            Some("gzip") => true,
            Some(other) => return Err(wrong("OTEL_EXPORTER_OTLP_COMPRESSION", other, "use gzip or none")),
        };
        let timeout = match self.of_sdk("TIMEOUT") {
            None => TIMEOUT,
            Some(text) => match text.parse() {
                Ok(ms) if ms > 0 => Duration::from_millis(ms),
                _ => return Err(wrong("OTEL_EXPORTER_OTLP_TIMEOUT", &text, "use milliseconds, such as 10000")),
            },
        };
        let proxies = ProxyOptions::from_environment(|name| self.variable(name));
        let network = ClientOptions { tls, proxies, ..ClientOptions::default() };
        Ok(Receiver { way, headers, basic, is_gzipped, timeout, network })
    }

    /// Settings of TLS; `names` are k6's for the roots, the certificate and its key.
    pub(super) fn tls_of(
        &self,
        insecure_skip_verify: Option<bool>,
        names: Option<[&str; 3]>,
    ) -> Result<TlsOptions, Failure> {
        let pem = |which: usize, name: &str| {
            let own = names.and_then(|names| self.own(names[which]));
            let Some(path) = own.or_else(|| self.of_sdk(name)) else { return Ok(None) };
            let read = std::fs::read_to_string(&path).map(Some);
            read.map_err(|error| {
                let why = onrush_output::reason(&error);
                Failure::config(format!("failed to load the TLS certificate: open {path}: {why}"))
            })
        };
        let (roots, certificate, key) = (pem(0, "CERTIFICATE")?, pem(1, "CLIENT_CERTIFICATE")?, pem(2, "CLIENT_KEY")?);
        // k6: whoever sets something gets no version before 1.3.
        let is_set = insecure_skip_verify.is_some() || roots.is_some() || certificate.is_some();
        let auth = match (certificate, key) {
            (Some(cert_pem), Some(key_pem)) => {
                vec![ClientAuth { cert_pem, key_pem, password: String::new(), domains: Vec::new() }]
            }
            (None, None) => Vec::new(),
            _ => {
                return Err(Failure::config("a client certificate needs its key, and a key its certificate")
                    .hint("set both K6_OTEL_TLS_CLIENT_CERTIFICATE and K6_OTEL_TLS_CLIENT_KEY"));
            }
        };
        Ok(TlsOptions {
            insecure_skip_verify: insecure_skip_verify.unwrap_or(false),
            version_min: is_set.then_some(TlsVersion::Tls13),
            auth,
            extra_roots_pem: roots,
            ..TlsOptions::default()
        })
    }
}

/// The key of a variable in k6's config file: `SERVICE_NAME` is `serviceName`.
fn key(name: &str) -> String {
    match name {
        "HTTP_EXPORTER_USERNAME" => return "username".to_owned(),
        "HTTP_EXPORTER_PASSWORD" => return "password".to_owned(),
        "HTTP_EXPORTER_URL_PATH" => return "httpExporterURLPath".to_owned(),
        _ => {}
    }
    let mut key = String::new();
    let mut is_large = false;
    for sign in name.chars() {
        match sign {
            '_' => is_large = true,
            sign if std::mem::take(&mut is_large) => key.push(sign),
            sign => key.push(sign.to_ascii_lowercase()),
        }
    }
    key
}

pub(super) fn wrong(name: &str, value: &str, hint: &str) -> Failure {
    Failure::config(format!("invalid {name} \"{value}\"")).hint(hint.to_owned())
}

/// A receiver of gRPC, `host:port`.
pub(super) fn grpc(address: &str, is_plaintext: bool) -> Result<Way, Failure> {
    let url = Url::parse(&format!("http://{address}/")).ok();
    let is_address =
        url.is_some_and(|url| url.authority() == address && !url.host().is_empty() && !url.port_text().is_empty());
    if !is_address {
        return Err(Failure::config(format!("\"{}\" is no address of a gRPC receiver", masked::address(address)))
            .hint("write host and port, such as localhost:4317"));
    }
    Ok(Way::Grpc { address: address.to_owned(), is_plaintext })
}

/// A receiver of HTTP; `path` is where there is none in the URL.
pub(super) fn http(text: &str, path: &str) -> Option<Way> {
    let is_url = text.starts_with("http://") || text.starts_with("https://");
    let url =
        if is_url { Url::parse(text).ok().filter(|url| !url.host().is_empty() && url.port().is_some()) } else { None }?;
    let is_whole = !matches!(url.path(), "" | "/") || url.query().is_some();
    if is_whole { Some(url) } else { Url::parse(&format!("{}{path}", text.trim_end_matches('/'))).ok() }.map(Way::Http)
}

/// `name=value,name=value`, with escapes as in URLs.
pub(super) fn pairs(variable: &str, text: &str) -> Result<Vec<(String, String)>, Failure> {
    let mut pairs = Vec::new();
    for item in text.split(',').map(str::trim).filter(|item| !item.is_empty()) {
        let Some((name, value)) = item.split_once('=') else {
            // k6 quotes it, and it may be a secret.
            return Err(Failure::config("invalid header, expected format key=value")
                .hint(format!("{variable} is a list: name=value,name=value")));
        };
        let plain = |text: &str| String::from_utf8_lossy(&unescape(text.trim().as_bytes())).into_owned();
        pairs.push((plain(name), plain(value)));
    }
    Ok(pairs)
}

/// A receiver, in a sentence.
pub(super) fn server(receiver: &Receiver) -> String {
    match &receiver.way {
        Way::Grpc { address, .. } => format!("the OpenTelemetry receiver at {address}"),
        Way::Http(url) => format!("the OpenTelemetry receiver at {}", url.clean()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_those_of_k6() {
        let check = |name: &str, expect: &str| assert_eq!(key(name), expect);
        check("SERVICE_NAME", "serviceName");
        check("HEADERS", "headers");
        check("TLS_INSECURE_SKIP_VERIFY", "tlsInsecureSkipVerify");
        check("GRPC_EXPORTER_ENDPOINT", "grpcExporterEndpoint");
        check("HTTP_EXPORTER_URL_PATH", "httpExporterURLPath");
        check("HTTP_EXPORTER_USERNAME", "username");
    }
}
