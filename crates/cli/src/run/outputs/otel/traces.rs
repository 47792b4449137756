//! `--traces-output`: a span for each request and iteration, sent to a receiver of OTLP by whichever process made them.

use std::{sync::Arc, time::Duration};

use onrush_agent::Test;
use onrush_engine::Tracers;
use onrush_js::{Propagator, TraceSettings, Tracer};
use onrush_output::{
    Patience, Told,
    otlp::{News, Outcome, Receiver, Traces, Way},
};

use super::environment::{Environment, grpc, http, server};
use crate::{context::Context, failure::Failure, flags::Flags, log::Logger, masked};

/// What was asked for.
#[derive(Clone)]
pub(in crate::run) struct Wanted {
    receiver: Receiver,
    resource: Vec<(String, String)>,
    settings: TraceSettings,
}

/// Traces under way.
pub(in crate::run) struct Running {
    traces: Traces,
    server: String,
    settings: TraceSettings,
}

/// Where k6 sends traces to.
const ADDRESS: &str = "127.0.0.1:4317";
/// The SDKs' way over HTTP.
const HTTP_PATH: &str = "/v1/traces";
/// How long an agent tries to send what is left at the end.
const PATIENCE: Duration = Duration::from_secs(30);

/// Reads the flag or its variable; `None` where nothing is traced.
///
/// # Errors
/// 104 for what cannot be used; k6's texts where it has them.
pub(in crate::run) fn wanted(flags: &Flags) -> Result<Option<Wanted>, Failure> {
    let Some(text) = flags.text("traces-output") else { return Ok(None) };
    match text.split_once('=').unwrap_or((&text, "")) {
        ("none", "") => Ok(None),
        ("otel", settings) => Environment { flags, asked: None, signal: "TRACES" }.traces(settings).map(Some),
        // Settings behind it may be secret.
        (name, _) => Err(Failure::config(format!("invalid traces output \"{}\"", masked::address(name)))
            .hint(format!("use none, otel, or otel=http://host:4318 or otel={ADDRESS},proto=grpc"))),
    }
}

impl Environment<'_> {
    fn traces(&self, text: &str) -> Result<Wanted, Failure> {
        let (mut address, mut proto) = (None, None);
        let (mut headers, mut settings) = (Vec::new(), TraceSettings { sampling: 1.0, propagator: Propagator::W3c });
        for item in text.split(',').filter(|item| !item.is_empty()) {
            match item.split_once('=') {
                None if address.is_none() => address = Some(item),
                Some(("proto", value @ ("http" | "grpc"))) => proto = Some(value),
                Some(("proto", _)) => {
                    return Err(Failure::config("invalid protocol").hint("use proto=http or proto=grpc"));
                }
                Some(("sampling", value)) => {
                    let share = value.parse().ok().filter(|share| (0.0..=1.0).contains(share));
                    settings.sampling = share.ok_or_else(|| {
                        Failure::config(format!("invalid sampling \"{value}\"")).hint("use a fraction from 0 to 1")
                    })?;
                }
                Some(("propagator", value)) => {
                    let known = PROPAGATORS.iter().find(|(name, _)| *name == value);
                    settings.propagator = known.map(|(_, propagator)| *propagator).ok_or_else(|| {
                        let names = PROPAGATORS.map(|(name, _)| name).join(", ");
                        Failure::config(format!("invalid propagator \"{value}\"")).hint(format!("use one of {names}"))
                    })?;
                }
                Some((key, value)) if key.strip_prefix("header.").is_some_and(|name| !name.is_empty()) => {
                    headers.push((key["header.".len()..].to_owned(), value.to_owned()));
                }
                Some((key, _)) => {
                    return Err(Failure::config(format!("unknown otel config key {}", masked::key(key)))
                        .hint("the keys are proto, header.NAME, sampling and propagator"));
                }
                // It may be the rest of a secret.
                None => {
                    let shown = if headers.is_empty() { masked::key(item) } else { "behind a header" };
                    return Err(Failure::config(format!("unknown otel config key {shown}")));
                }
            }
        }
        let of_sdk =
            super::environment::pairs("OTEL_EXPORTER_OTLP_HEADERS", &self.of_sdk("HEADERS").unwrap_or_default())?;
        let is_set = |name: &str| headers.iter().any(|(known, _)| known.eq_ignore_ascii_case(name));
        let of_sdk: Vec<_> = of_sdk.into_iter().filter(|(name, _)| !is_set(name)).collect();
        headers.extend(of_sdk);
        let way = way(address.unwrap_or(ADDRESS), proto)?;
        Ok(Wanted {
            receiver: self.to(way, headers, None, self.tls_of(None, None)?)?,
            resource: self.resource()?,
            settings,
        })
    }
}

const PROPAGATORS: [(&str, Propagator); 5] = [
    ("w3c", Propagator::W3c),
    ("b3", Propagator::B3),
    ("b3multi", Propagator::B3Multi),
    ("jaeger", Propagator::Jaeger),
    ("none", Propagator::None),
];

/// k6: what is a URL is asked over HTTP unless it is said; its scheme decides about TLS. Its help shows an address without a scheme,
/// which k6 itself does not take.
fn way(address: &str, proto: Option<&str>) -> Result<Way, Failure> {
    let of_url = [("http://", true), ("https://", false)];
    let url = of_url.iter().find_map(|(scheme, is_plaintext)| Some((address.strip_prefix(scheme)?, *is_plaintext)));
    let (rest, is_plaintext) = url.unwrap_or((address, true));
    if proto == Some("grpc") || proto.is_none() && url.is_none() {
        let rest = rest.trim_end_matches('/');
        if rest.contains('/') {
            return Err(Failure::config("grpc protocol does not support URL path"));
        }
        return grpc(rest, is_plaintext);
    }
    let scheme = if is_plaintext { "http" } else { "https" };
    http(&format!("{scheme}://{rest}"), HTTP_PATH).ok_or_else(|| {
        Failure::config(format!("\"{}\" is no receiver of traces", masked::address(address)))
            .hint("write otel=http://host:4318,proto=http")
    })
}

/// Starts what sends them.
///
/// # Errors
/// 255 with what keeps it from being started.
pub(in crate::run) fn start(cx: &Context, wanted: Option<Wanted>) -> Result<Option<Running>, Failure> {
    let Some(Wanted { receiver, resource, settings }) = wanted else { return Ok(None) };
    let server = server(&receiver);
    let (logger, shown) = (cx.logger.clone(), server.clone());
    let tell = move |news| {
        match news {
        News::Way(Told::Failed(why) | Told::Lost(why) | Told::Older(why)) => {
            logger.error(format!("failed to send traces to {shown}: {why}; spans wait for it, as many as there is room for"));
        }
        News::Way(Told::Again { failed }) => {
            logger.warn(format!("traces arrive at {shown} again, after {failed} requests that did not"));
        }
        News::Rejected { count, why } => logger.warn(format!("{shown} rejected {count} spans: {why}")),
        News::Overrun => logger.warn(format!(
            "spans come faster than {shown} takes them, and some are lost; trace a part of the iterations, such as sampling=0.1"
        )),
    }
    };
    let traces = Traces::start(receiver, &resource, tell)
        .map_err(|error| Failure::other(format!("failed to start the thread of the traces: {error}")))?;
    Ok(Some(Running { traces, server, settings }))
}

impl Running {
    /// Makes the tracers of worker threads.
    pub(in crate::run) fn tracers(&self) -> Tracers {
        let (sinks, settings) = (self.traces.sinks(), self.settings);
        Arc::new(move |_| Tracer::new(settings, sinks(), seed()))
    }

    /// Traces the test of an agent, which sends its spans by itself.
    pub(in crate::run) fn attached(self, mut test: Test, logger: Arc<Logger>) -> Test {
        test.engine.tracers = Some(self.tracers());
        let finish = test.finish_outputs.take();
        test.finish_outputs = Some(Box::new(move || {
            self.finish(&logger, &Patience::of(PATIENCE));
            finish.map_or(0, |finish| finish())
        }));
        test
    }

    /// Who gets them, for people.
    pub(in crate::run) fn receiver(&self) -> String {
        format!("{} (traces)", self.server)
    }

    /// Has what is left sent, and says what did not arrive.
    pub(in crate::run) fn finish(self, logger: &Logger, patience: &Patience) {
        let Outcome { sent, overrun, refused, left } = self.traces.finish(patience);
        let lost = [
            (overrun, "came faster than they could be sent"),
            (refused, "were not accepted"),
            (left, "were left when the run had ended"),
        ];
        let lost: Vec<String> =
            lost.iter().filter(|(count, _)| *count > 0).map(|(count, why)| format!("{count} {why}")).collect();
        if lost.is_empty() {
            logger.debug(format!("{sent} spans were sent to {}", self.server));
        } else {
            logger.error(format!("{} lacks spans: {}; it has {sent}", self.server, lost.join(", ")));
        }
    }
}

/// Threads of all agents must not give out the same ids.
fn seed() -> u64 {
    use std::hash::{BuildHasher as _, Hasher as _};
    // Its keys are random.
    std::collections::hash_map::RandomState::new().build_hasher().finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: Result<&str, &str>) {
        let flags = Flags { by_name: [("traces-output", vec![text.to_owned()])].into(), ..Flags::default() };
        let found = wanted(&flags).map_err(|failure| failure.message).map(|wanted| {
            wanted.map_or_else(String::new, |wanted| {
                let TraceSettings { sampling, propagator } = wanted.settings;
                let headers: Vec<_> =
                    wanted.receiver.headers.iter().map(|(name, value)| format!(" {name}: {value}")).collect();
                let way = match &wanted.receiver.way {
                    Way::Grpc { address, is_plaintext } => format!("grpc {address} {is_plaintext}"),
                    Way::Http(url) => url.to_string(),
                };
                format!("{way} {sampling} {propagator:?}{}", headers.concat())
            })
        });
        assert_eq!(found.as_deref().map_err(String::as_str), expect, "{text}");
    }

    #[test]
    fn where_traces_go() {
        check("none", Ok(""));
        check("otel", Ok("grpc 127.0.0.1:4317 true 1 W3c"));
        check("otel=h:1", Ok("grpc h:1 true 1 W3c"));
        check("otel=h:1,proto=http", Ok("http://h:1/v1/traces 1 W3c"));
        check("otel=http://h:4318", Ok("http://h:4318/v1/traces 1 W3c"));
        check("otel=https://h/otlp/v1/traces", Ok("https://h/otlp/v1/traces 1 W3c"));
        check("otel=https://h:4317,proto=grpc", Ok("grpc h:4317 false 1 W3c"));
        check("otel=http://h:4317/,proto=grpc,header.x=y=z,header.A=b", Ok("grpc h:4317 true 1 W3c x: y=z A: b"));
        check("otel=h:1,sampling=0.25,propagator=b3", Ok("grpc h:1 true 0.25 B3"));
        check("jaeger", Err("invalid traces output \"jaeger\""));
        check("none=x", Err("invalid traces output \"none\""));
        check("otel=h:1,proto=tcp", Err("invalid protocol"));
        check("otel=http://h:1/x,proto=grpc", Err("grpc protocol does not support URL path"));
        check("otel=h:1,colour=red", Err("unknown otel config key colour"));
        check("otel=h:1,header.=red", Err("unknown otel config key header."));
        check("otel=h:1,h:2", Err("unknown otel config key h"));
        check("otel=h", Err("\"h\" is no address of a gRPC receiver"));
        check("otel=http://,proto=http", Err("\"http://\" is no receiver of traces"));
        check("otel=h:1,sampling=2", Err("invalid sampling \"2\""));
        check("otel=h:1,sampling=NaN", Err("invalid sampling \"NaN\""));
        check("otel=h:1,propagator=x", Err("invalid propagator \"x\""));
        check("otel=h:1,header.a=ü", Err("the header \"a\" cannot be sent"));
    }
}
