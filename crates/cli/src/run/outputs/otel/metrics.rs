//! `--out opentelemetry`: what all agents measured together, exported to a receiver of OTLP.

use std::time::Duration;

use onrush_net::TlsOptions;
use onrush_output::{
    Began, Told,
    otlp::{Config, Histograms, Metrics, News, Rates, Receiver, Temporality, Way},
};

use super::{
    super::{
        asked::Asked,
        delivered::{self, Arrived},
        output::{Output, Started, Starting, Wish},
    },
    environment::{Environment, grpc, http, pairs, server, wrong},
};
use crate::{failure::Failure, masked, run::prepare::Readers};

/// k6's way over HTTP.
const HTTP_PATH: &str = "/v1/metrics";
/// The end is one export, which is tried a few times.
const SILENCE: Duration = Duration::from_secs(30);

/// An output that is wanted.
struct Wanted(Config);

/// `opentelemetry=RECEIVER`, and variables.
pub(in super::super) fn read(asked: &Asked<'_>) -> Result<Wish, Failure> {
    let environment = Environment { flags: asked.flags, asked: Some(asked), signal: "METRICS" };
    let config = environment.config(asked.argument_or_empty()).map_err(|failure| Failure {
        message: format!("error validating OpenTelemetry output config: {}", failure.message),
        ..failure
    });
    asked.naming(config.map(|config| Wish::Folded(Box::new(Wanted(config)))))
}

impl Environment<'_> {
    fn config(&self, argument: &str) -> Result<Config, Failure> {
        // What is folded a second after the other has no other interval. A wrong one is a mistake all the same.
        self.interval("FLUSH_INTERVAL", Duration::from_secs(1))?;
        let (temporality, histograms) = self.kinds()?;
        Ok(Config {
            receiver: self.receiver(argument)?,
            resource: self.resource()?,
            prefix: self.own("METRIC_PREFIX").unwrap_or_default(),
            export_interval: self.interval("EXPORT_INTERVAL", Metrics::EXPORT_INTERVAL)?,
            temporality,
            histograms,
            rates: if self.switch("SINGLE_COUNTER_FOR_RATE")?.unwrap_or(true) {
                Rates::OneCounter
            } else {
                Rates::TwoCounters
            },
        })
    }

    fn kinds(&self) -> Result<(Temporality, Histograms), Failure> {
        let preference = "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE";
        let temporality = match self.variable(preference).unwrap_or_default().to_lowercase().as_str() {
            "" | "cumulative" => Temporality::Cumulative,
            // What differs between the two is not among the instruments there are.
            "delta" | "lowmemory" => Temporality::Delta,
            other => return Err(wrong(preference, other, "use cumulative or delta")),
        };
        let aggregation = "OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION";
        let histograms = match self.variable(aggregation).unwrap_or_default().to_lowercase().as_str() {
            "" | "explicit_bucket_histogram" => Histograms::Explicit,
            "base2_exponential_bucket_histogram" => Histograms::Exponential,
            other => {
                let hint = "use explicit_bucket_histogram or base2_exponential_bucket_histogram";
                return Err(wrong(aggregation, other, hint));
            }
        };
        Ok((temporality, histograms))
    }

    fn receiver(&self, argument: &str) -> Result<Receiver, Failure> {
        let headers = match self.own("HEADERS") {
            Some(text) => pairs("K6_OTEL_HEADERS", &text)?,
            None => pairs("OTEL_EXPORTER_OTLP_HEADERS", &self.of_sdk("HEADERS").unwrap_or_default())?,
        };
        let basic = self
            .own("HTTP_EXPORTER_USERNAME")
            .map(|user| (user, self.own("HTTP_EXPORTER_PASSWORD").unwrap_or_default()));
        self.to(self.way(argument)?, headers, basic, self.tls()?)
    }

    fn way(&self, argument: &str) -> Result<Way, Failure> {
        if !argument.is_empty() {
            return way_of(argument);
        }
        // Its name in k6 1.x.
        let old = self.own("EXPORTER_TYPE").map(|name| if name == "http" { HTTP_PROTOBUF.to_owned() } else { name });
        match self.own("EXPORTER_PROTOCOL").or(old).as_deref() {
            None | Some("grpc") => {
                let address = self.own("GRPC_EXPORTER_ENDPOINT").unwrap_or_else(|| "localhost:4317".to_owned());
                let is_plaintext = self.switch("GRPC_EXPORTER_INSECURE")?.unwrap_or(false);
                grpc(&address, is_plaintext)
            }
            Some(HTTP_PROTOBUF) => {
                let endpoint = self.own("HTTP_EXPORTER_ENDPOINT").unwrap_or_else(|| "localhost:4318".to_owned());
                if endpoint.contains("://") {
                    return Err(Failure::config("HTTP exporter endpoint must only be host and port, no scheme")
                        .hint("K6_OTEL_HTTP_EXPORTER_INSECURE=true is http, else it is https"));
                }
                let is_plaintext = self.switch("HTTP_EXPORTER_INSECURE")?.unwrap_or(false);
                let path = self.own("HTTP_EXPORTER_URL_PATH").unwrap_or_else(|| HTTP_PATH.to_owned());
                let scheme = if is_plaintext { "http" } else { "https" };
                way_of(&format!("{scheme}://{endpoint}/{}", path.trim_start_matches('/')))
            }
            Some(other) => Err(Failure::config(format!(
                "unsupported exporter protocol \"{other}\", only \"grpc\" and \"{HTTP_PROTOBUF}\" are supported"
            ))),
        }
    }

    fn tls(&self) -> Result<TlsOptions, Failure> {
        let insecure_skip_verify = self.switch("TLS_INSECURE_SKIP_VERIFY")?;
        self.tls_of(insecure_skip_verify, Some(["TLS_CERTIFICATE", "TLS_CLIENT_CERTIFICATE", "TLS_CLIENT_KEY"]))
    }
}

const HTTP_PROTOBUF: &str = "http/protobuf";

/// Where a URL points: `http`, `https`, or gRPC with and without TLS.
fn way_of(text: &str) -> Result<Way, Failure> {
    let of_grpc = [("grpc://", true), ("grpcs://", false)];
    if let Some((rest, is_plaintext)) =
        of_grpc.iter().find_map(|(scheme, is_plaintext)| Some((text.strip_prefix(scheme)?, *is_plaintext)))
    {
        return grpc(rest, is_plaintext);
    }
    http(text, HTTP_PATH).ok_or_else(|| {
        Failure::config(format!("\"{}\" is no receiver", masked::address(text)))
            .hint("write grpc://host:4317, http://host:4318, or grpcs:// and https:// for TLS")
    })
}

/// What the execution block says.
fn described(config: &Config) -> String {
    match &config.receiver.way {
        Way::Grpc { address, is_plaintext } => {
            format!("opentelemetry (grpc{}, {address})", if *is_plaintext { " (insecure)" } else { "" })
        }
        Way::Http(url) => format!("opentelemetry ({HTTP_PROTOBUF}, {})", url.clean()),
    }
}

impl Output for Wanted {
    fn described(&self) -> String {
        described(&self.0)
    }

    fn readers(&self) -> Readers {
        Readers { series: true, ..Readers::default() }
    }

    fn start(&self, starting: &Starting<'_>) -> Result<Box<dyn Started>, Failure> {
        let failed =
            |error: std::io::Error| Failure::other(format!("failed to create OpenTelemetry exporter: {error}"));
        let (config, logger) = (self.0.clone(), starting.cx.logger.clone());
        let server = server(&config.receiver);
        let (began, shown) = (Began::default(), server.clone());
        let makes_up = match config.temporality {
            Temporality::Cumulative => "the next export has what this one lacked",
            Temporality::Delta => "what it had is kept for the next one",
        };
        let tell = move |news| match news {
            News::Way(Told::Again { failed }) => {
                logger.warn(format!("exports to {shown} arrive again, after {failed} that did not"));
            }
            News::Way(Told::Failed(why) | Told::Lost(why) | Told::Older(why)) => {
                let hint = hint(&why);
                logger.error(format!("failed to export metrics to {shown}: {why}; {makes_up}{hint}"));
            }
            News::Rejected { count, why } => {
                logger.warn(format!("{shown} rejected {count} data points: {why}"));
            }
            // Of spans alone.
            News::Overrun => {}
        };
        let registry = starting.prepared.run.registry.clone();
        let output = Metrics::new(config, registry, began.clone(), tell).map_err(failed)?;
        let arrived = Arrived::Steps(output.delivered());
        delivered::started(server, output, arrived, began, SILENCE).map_err(failed)
    }
}

/// What helps where a receiver speaks no TLS: k6 speaks it unless it is told not to.
fn hint(why: &str) -> &'static str {
    let signs =
        ["does not look like a TLS handshake", "HTTP response to HTTPS client", "authentication handshake failed"];
    if signs.iter().any(|sign| why.contains(sign)) {
        ". If the receiver speaks no TLS, set K6_OTEL_GRPC_EXPORTER_INSECURE=true or K6_OTEL_HTTP_EXPORTER_INSECURE=true"
    } else {
        ""
    }
}

#[cfg(test)]
mod tests {
    use super::{super::environment::VERSION, *};
    use crate::flags::Flags;

    fn environment(flags: &Flags) -> Environment<'_> {
        Environment { flags, asked: None, signal: "METRICS" }
    }

    fn check(argument: &str, env: &[(&str, &str)], expect: Result<&str, &str>) {
        let env = env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let flags = Flags { by_name: [].into(), env };
        let found = environment(&flags).config(argument);
        let found = found.map(|config| described(&config)).map_err(|failure| failure.message);
        assert_eq!(found.as_deref().map_err(String::as_str), expect, "{argument} {flags:?}");
    }

    #[test]
    fn receivers() {
        check("", &[], Ok("opentelemetry (grpc, localhost:4317)"));
        let insecure = ("K6_OTEL_GRPC_EXPORTER_INSECURE", "true");
        let endpoint = ("K6_OTEL_GRPC_EXPORTER_ENDPOINT", "h:1");
        check("", &[insecure, endpoint], Ok("opentelemetry (grpc (insecure), h:1)"));
        check("", &[("K6_OTEL_GRPC_EXPORTER_ENDPOINT", "h")], Err("\"h\" is no address of a gRPC receiver"));
        let http = ("K6_OTEL_EXPORTER_PROTOCOL", "http/protobuf");
        check("", &[http], Ok("opentelemetry (http/protobuf, https://localhost:4318/v1/metrics)"));
        check(
            "",
            &[("K6_OTEL_EXPORTER_TYPE", "http")],
            Ok("opentelemetry (http/protobuf, https://localhost:4318/v1/metrics)"),
        );
        let (insecure, path) = (("K6_OTEL_HTTP_EXPORTER_INSECURE", "true"), ("K6_OTEL_HTTP_EXPORTER_URL_PATH", "x/y"));
        check("", &[http, insecure, path], Ok("opentelemetry (http/protobuf, http://localhost:4318/x/y)"));
        check(
            "",
            &[http, ("K6_OTEL_HTTP_EXPORTER_ENDPOINT", "http://h:1")],
            Err("HTTP exporter endpoint must only be host and port, no scheme"),
        );
        check(
            "",
            &[("K6_OTEL_EXPORTER_PROTOCOL", "http/json")],
            Err("unsupported exporter protocol \"http/json\", only \"grpc\" and \"http/protobuf\" are supported"),
        );
        check("http://h:4318", &[], Ok("opentelemetry (http/protobuf, http://h:4318/v1/metrics)"));
        check("https://u:p@h/otlp?x=1", &[], Ok("opentelemetry (http/protobuf, https://****:****@h/otlp?x=1)"));
        check("grpc://h:4317", &[], Ok("opentelemetry (grpc (insecure), h:4317)"));
        check("grpcs://[::1]:4317", &[], Ok("opentelemetry (grpc, [::1]:4317)"));
        for argument in ["h:4317", "grpc://", "grpc://h:1/x", "grpc://u@h:1", "http://", "ftp://h"] {
            let flags = Flags::default();
            assert!(environment(&flags).config(argument).is_err(), "{argument}");
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        let check = |name: &str, value: &str, expect: &str| check("", &[(name, value)], Err(expect));
        check("K6_OTEL_EXPORT_INTERVAL", "0s", "invalid K6_OTEL_EXPORT_INTERVAL \"0s\"");
        check("K6_OTEL_FLUSH_INTERVAL", "x", "invalid K6_OTEL_FLUSH_INTERVAL \"x\"");
        check("K6_OTEL_HEADERS", "a", "invalid header, expected format key=value");
        check("K6_OTEL_HEADERS", "a=b%0ac", "the header \"a\" cannot be sent");
        check("OTEL_EXPORTER_OTLP_HEADERS", "a b=c", "the header \"a b\" cannot be sent");
        check("OTEL_EXPORTER_OTLP_COMPRESSION", "zstd", "invalid OTEL_EXPORTER_OTLP_COMPRESSION \"zstd\"");
        check("OTEL_EXPORTER_OTLP_METRICS_TIMEOUT", "10s", "invalid OTEL_EXPORTER_OTLP_TIMEOUT \"10s\"");
        check("K6_OTEL_GRPC_EXPORTER_INSECURE", "maybe", "invalid K6_OTEL_GRPC_EXPORTER_INSECURE \"maybe\"");
        check(
            "K6_OTEL_TLS_CLIENT_KEY",
            "/none/x",
            "failed to load the TLS certificate: open /none/x: no such file or directory",
        );
    }

    #[test]
    fn who_measured() {
        let attributes = |env: &[(&str, &str)]| {
            let env = env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
            let config = environment(&Flags { by_name: [].into(), env }).config("").expect("valid");
            let shown = config.resource.into_iter().filter(|(name, _)| !name.starts_with("telemetry."));
            shown.map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(attributes(&[]), format!("service.name=k6 service.version={VERSION}"));
        let env = [
            ("OTEL_SERVICE_NAME", "a"),
            ("OTEL_RESOURCE_ATTRIBUTES", "service.name=c, team=%C3%A9 x"),
            ("K6_OTEL_SERVICE_VERSION", "3"),
        ];
        assert_eq!(attributes(&env), "service.name=a service.version=3 team=é x");
        assert_eq!(
            attributes(&[env[0], ("K6_OTEL_SERVICE_NAME", "b")]),
            format!("service.name=b service.version={VERSION}")
        );
    }
}
