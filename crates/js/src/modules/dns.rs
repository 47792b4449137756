//! `k6/x/dns`: names resolved by a server of the script's choice, and looked up as the system does.

use std::net::SocketAddr;

use onrush_fiber::Clock;
use onrush_metrics::{Contains, MetricKind, TagNode};
use onrush_net::{
    NetError,
    dns::{QueryFailure, RecordKind, server_address},
    error::code,
};

use super::{
    export::export,
    go::go_text,
    own_metrics::{self, OwnMetric},
    promise::{named_reason, settled_later},
};
use crate::{
    embed::{Args, Ctx, Handle, JsResult, Throw, Val},
    vu::{
        Vu,
        context::{self, vu, with_named},
        event_loop,
    },
};

const RESOLUTIONS: OwnMetric = ("dns_resolutions", MetricKind::Counter, Contains::Default);
const RESOLUTION_DURATION: OwnMetric = ("dns_resolution_duration", MetricKind::Trend, Contains::Time);
const RESOLUTION_FAILED: OwnMetric = ("dns_resolution_failed", MetricKind::Rate, Contains::Default);
const LOOKUPS: OwnMetric = ("dns_lookups", MetricKind::Counter, Contains::Default);
const LOOKUP_DURATION: OwnMetric = ("dns_lookup_duration", MetricKind::Trend, Contains::Time);
const LOOKUP_FAILED: OwnMetric = ("dns_lookup_failed", MetricKind::Rate, Contains::Default);

pub(super) fn build(ctx: Ctx) -> JsResult {
    own_metrics::declare(
        "k6/x/dns",
        &[RESOLUTIONS, RESOLUTION_DURATION, RESOLUTION_FAILED, LOOKUPS, LOOKUP_DURATION, LOOKUP_FAILED],
    )?;
    let exports = ctx.object()?;
    export(ctx, &exports, "lookup", 1, lookup)?;
    export(ctx, &exports, "resolve", 3, resolve)?;
    Ok(exports)
}

/// What a script is told about a failure.
struct Complaint {
    name: &'static str,
    message: String,
    kind: i32,
}

impl Complaint {
    fn new(message: impl Into<String>) -> Self {
        Self { name: "Error", message: message.into(), kind: 0 }
    }

    fn of_net(error: &NetError, prefix: &str) -> Self {
        match error.code {
            code::BLOCKED_HOSTNAME => Self { name: "BlockedHostname", message: error.detail.clone(), kind: 0 },
            code::NO_SUCH_HOST => Self { name: "NonExistingDomain", message: error.detail.clone(), kind: 3 },
            _ => Self::new(format!("{prefix}{}", error.detail)),
        }
    }

    fn of_query(failure: QueryFailure, name: &str) -> Self {
        const FAILED: &str = "querying the DNS nameserver failed: ";
        match failure {
            QueryFailure::Code(code) => match CODES.iter().find(|(known, ..)| *known == code) {
                Some((_, error, text)) => {
                    Self { name: error, message: format!("{text}: {name}"), kind: i32::from(code) }
                }
                None => Self { kind: i32::from(code), ..Self::new(format!("{FAILED}response code {code}")) },
            },
            QueryFailure::Wrong(text) => Self::new(format!("{FAILED}{text}")),
            QueryFailure::Net(error) => Self::of_net(&error, FAILED),
        }
    }

    fn reason(&self, ctx: Ctx) -> JsResult {
        let reason = named_reason(ctx, self.name, &self.message)?;
        reason.define(ctx, "kind", Val::int(self.kind))?;
        Ok(reason)
    }
}

/// `resolve(query, recordType, nameserver)`.
fn resolve(ctx: Ctx, _: &Handle, args: Args<'_>) -> JsResult {
    if vu().in_init() {
        return refused(ctx, "resolve can not be used in the init context");
    }
    if !args.at(0).is_string() {
        let shown = go_text(ctx, args.at(0))?;
        return refused(ctx, &format!("query must be a string; got {shown} instead"));
    }
    let (name, given) = (args.at(0).to_text(ctx)?, args.at(1).to_text(ctx)?);
    let kind = match given.as_str() {
        "A" => RecordKind::A,
        "AAAA" => RecordKind::Aaaa,
        "TXT" => RecordKind::Txt,
        other => {
            let text =
                format!("resolve operation failed with unsupported record type, {other} is an invalid DNS record type");
            return refused(ctx, &text);
        }
    };
    if !args.at(2).is_set() {
        return refused(ctx, "nameserver argument must be provided");
    }
    let shown = args.at(2).to_text(ctx)?;
    let Some(server) = server_address(&shown) else {
        return refused(ctx, &format!("invalid nameserver IP address: {shown}"));
    };
    let node = tagged(vu(), &[("query", &name), ("recordType", &given), ("nameserver", &shown)]);
    let metrics = [RESOLUTIONS, RESOLUTION_DURATION, RESOLUTION_FAILED];
    start(ctx, metrics, node, move |vu| ask(vu, server, &name, kind))
}

fn ask(vu: &Vu, server: SocketAddr, name: &str, kind: RecordKind) -> Result<Vec<String>, Complaint> {
    vu.connections.query(server, name, kind, None).map_err(|failure| Complaint::of_query(failure, name))
}

/// `lookup(host)`.
fn lookup(ctx: Ctx, _: &Handle, args: Args<'_>) -> JsResult {
    if vu().in_init() {
        return refused(ctx, "lookup can not be used in the init context");
    }
    if !args.at(0).is_string() {
        let shown = go_text(ctx, args.at(0))?;
        return refused(ctx, &format!("host must be a string; got {shown} instead"));
    }
    let host = args.at(0).to_text(ctx)?;
    let node = tagged(vu(), &[("host", &host)]);
    start(ctx, [LOOKUPS, LOOKUP_DURATION, LOOKUP_FAILED], node, move |vu| {
        let found = vu.connections.look_up(&host, None);
        let ips = found.map_err(|error| Complaint::of_net(&error, "lookup failed: "))?;
        Ok(ips.iter().map(ToString::to_string).collect())
    })
}

/// Has `work` done in the background, measured, and its texts as a promise.
fn start(
    ctx: Ctx,
    metrics: [OwnMetric; 3],
    node: TagNode,
    work: impl FnOnce(&Vu) -> Result<Vec<String>, Complaint> + 'static,
) -> JsResult {
    let [count, duration, failed] =
        [own_metrics::id(&metrics[0])?, own_metrics::id(&metrics[1])?, own_metrics::id(&metrics[2])?];
    let (promise, resolve, reject) = ctx.promise()?;
    event_loop::start(
        move |vu| {
            let start = Clock::now();
            let outcome = work(vu);
            // A VU that is cut while it waits makes no sample.
            if onrush_fiber::is_cancelled() {
                return Err(Throw::Interrupted);
            }
            own_metrics::add(vu, count, node, 1.0);
            own_metrics::add(vu, duration, node, (Clock::now() - start).as_millis_f64());
            own_metrics::add(vu, failed, node, f64::from(u8::from(outcome.is_err())));
            Ok(outcome)
        },
        move |ctx, outcome| {
            let (settle, value) = match outcome? {
                Ok(texts) => (resolve, list(ctx, &texts)?),
                Err(complaint) => (reject, complaint.reason(ctx)?),
            };
            ctx.call(&settle, Handle::UNDEFINED, &[&value]).map(drop)
        },
    );
    Ok(promise)
}

fn list(ctx: Ctx, texts: &[String]) -> JsResult {
    let array = ctx.array()?;
    for (index, text) in (0..).zip(texts) {
        array.define_index(ctx, index, Val::string(ctx, text)?)?;
        context::pause()?;
    }
    Ok(array)
}

fn refused(ctx: Ctx, text: &str) -> JsResult {
    let reason = Complaint::new(text).reason(ctx)?;
    settled_later(ctx, Err(reason))
}

/// The VU's tags and these.
fn tagged(vu: &Vu, tags: &[(&str, &str)]) -> TagNode {
    let mut shard = vu.thread.shard.borrow_mut();
    tags.iter().fold(vu.node.get(), |node, (name, value)| with_named(&mut shard, node, name, value))
}

/// Codes of DNS servers (RFC 1035 and 2136), and what the extension of k6 calls them.
const CODES: &[(u16, &str, &str)] = &[
    (1, "FormatError", "the nameserver could not read the query"),
    (2, "ServerFailure", "the nameserver could not process the query"),
    (3, "NonExistingDomain", "the domain does not exist"),
    (4, "NotImplemented", "the nameserver does not support such a query"),
    (5, "Refused", "the nameserver refuses the query"),
    (6, "YXDomain", "a name exists that should not"),
    (7, "YXRRset", "records exist that should not"),
    (8, "NXRRset", "records that should exist do not"),
    (9, "NotAuth", "the nameserver is not authoritative"),
    (10, "NotZone", "the name is not within the zone"),
];
