//! `k6/http`: requests, responses, cookies.
//!
//! A call goes through `arguments` (script values to a [`Prepared`] request that owns all it needs), `send` (hops,
//! cookies, samples; no JavaScript, so it can run on a child fiber) and `response` (a lazy object over what came back).

mod arguments;
mod asynchronous;
mod batch;
mod body;
mod cookies;
mod debug;
mod expected;
mod file;
mod handshake;
mod hop;
mod json;
mod json_error;
mod ocsp;
mod page;
mod params;
mod response;
mod response_body;
mod sample;
mod selector;
mod send;
mod url_template;

use std::{
    cell::{OnceCell, RefCell},
    rc::Rc,
};

use rustc_hash::FxHashMap;

pub(crate) use asynchronous::cancel_operations;
pub(crate) use body::escape;
pub(crate) use expected::ResponseCallback;
pub(crate) use json::fuzz as fuzz_json_path;
pub(crate) use params::go_type;
pub(crate) use response::{materialise, template as response_template};

use self::arguments::Prepared;
use super::{export, export_class};
use crate::{
    RunConfig,
    embed::{Args, Ctx, Handle, HostClass, JsResult, Throw, Val},
    vu::{Vu, context::vu},
};

/// What the module keeps per thread.
pub(crate) struct HttpThread {
    /// Parsed URLs by text: scripts ask for the same few again and again.
    urls: RefCell<FxHashMap<Box<str>, Rc<url_template::Target>>>,
    /// Parameters of requests without any: one for all VUs.
    plain_params: OnceCell<Rc<arguments::Params>>,
    /// The statuses a VU expects that sets no callback of its own.
    pub(crate) expected: ResponseCallback,
}

impl HttpThread {
    pub(crate) fn new(_: &RunConfig) -> Self {
        Self { urls: RefCell::default(), plain_params: OnceCell::new(), expected: ResponseCallback::default() }
    }

    fn plain_params(&self, vu: &Vu) -> &Rc<arguments::Params> {
        self.plain_params.get_or_init(|| Rc::new(params::plain(vu)))
    }
}

pub(super) fn install_classes(ctx: Ctx) -> JsResult<()> {
    response::install_class(ctx)?;
    cookies::install_class(ctx)?;
    url_template::install_class(ctx)?;
    expected::install_class(ctx)?;
    file::install_class(ctx)
}

pub(super) fn build(ctx: Ctx) -> JsResult {
    let exports = ctx.object()?;
    export(ctx, &exports, "get", 2, |ctx, _, args| bodiless(ctx, "GET", "get", args))?;
    export(ctx, &exports, "head", 2, |ctx, _, args| bodiless(ctx, "HEAD", "head", args))?;
    export(ctx, &exports, "post", 3, |ctx, _, args| with_body(ctx, "POST", args))?;
    export(ctx, &exports, "put", 3, |ctx, _, args| with_body(ctx, "PUT", args))?;
    export(ctx, &exports, "patch", 3, |ctx, _, args| with_body(ctx, "PATCH", args))?;
    export(ctx, &exports, "del", 3, |ctx, _, args| with_body(ctx, "DELETE", args))?;
    export(ctx, &exports, "options", 3, |ctx, _, args| with_body(ctx, "OPTIONS", args))?;
    export(ctx, &exports, "request", 4, request)?;
    export(ctx, &exports, "asyncRequest", 4, asynchronous::async_request)?;
    export(ctx, &exports, "batch", 1, batch::batch)?;
    export(ctx, &exports, "url", 1, url_template::url)?;
    export(ctx, &exports, "file", 3, file::file)?;
    export(ctx, &exports, "cookieJar", 0, cookies::vu_jar)?;
    export(ctx, &exports, "expectedStatuses", 1, expected::expected_statuses)?;
    export(ctx, &exports, "setResponseCallback", 1, expected::set_response_callback)?;
    export_class(ctx, &exports, "CookieJar", &HostClass::<cookies::Jar>::prototype(ctx), cookies::construct)?;
    for (name, value) in CONSTANTS {
        exports.define(ctx, *name, Val::string(ctx, value)?)?;
    }
    Ok(exports)
}

fn bodiless(ctx: Ctx, method: &'static str, name: &str, args: Args<'_>) -> JsResult {
    let vu = in_vu_context()?;
    if args.len() > 2 {
        vu.log(
            crate::log::Level::Warn,
            format!(
                "http.{name} only accepts a url and a params argument (2 arguments), but {} were given",
                args.len()
            ),
        );
    }
    synchronous(ctx, vu, arguments::prepare(ctx, vu, method.into(), args.at(0), Handle::UNDEFINED, args.at(1)))
}

fn with_body(ctx: Ctx, method: &'static str, args: Args<'_>) -> JsResult {
    let vu = in_vu_context()?;
    synchronous(ctx, vu, arguments::prepare(ctx, vu, method.into(), args.at(0), args.at(1), args.at(2)))
}

fn request(ctx: Ctx, _: &Handle, args: Args<'_>) -> JsResult {
    let vu = in_vu_context()?;
    let method = arguments::method(ctx, args.at(0))?;
    synchronous(ctx, vu, arguments::prepare(ctx, vu, method, args.at(1), args.at(2), args.at(3)))
}

fn in_vu_context() -> JsResult<&'static Vu> {
    let vu = vu();
    if vu.in_init() { Err(Throw::error("Making http requests in the init context is not supported")) } else { Ok(vu) }
}

/// Sends a request on the VU's own fiber.
fn synchronous(ctx: Ctx, vu: &Vu, prepared: JsResult<Result<Rc<Prepared>, send::Refused>>) -> JsResult {
    let prepared = match prepared? {
        Ok(prepared) => prepared,
        Err(refused) => return finish(ctx, vu, send::Exchange::refused(refused)),
    };
    crate::realm::throttle::wait(vu.thread.config.http.rps)?;
    let exchange = send::send(vu, &prepared)?;
    finish(ctx, vu, exchange)
}

/// Turns an ended exchange into a Response, or into an exception where the script asked for that.
fn finish(ctx: Ctx, vu: &Vu, exchange: Box<send::Exchange>) -> JsResult {
    if let Some(failure) = exchange.failure() {
        if exchange.is_thrown() {
            return Err(Throw::error(failure.to_owned()));
        }
        vu.log_request_failure(failure);
    }
    if exchange.status() == send::SWITCHING_PROTOCOLS {
        return Err(Throw::error(format!("unsupported response status: {}", exchange.status_text())));
    }
    response::create(ctx, vu, exchange)
}

impl Vu {
    /// k6's warning for a request that failed without throwing.
    pub(crate) fn log_request_failure(&self, error: &str) {
        let fields = vec![("error".into(), error.to_owned())];
        self.script().log.line(crate::log::Line {
            level: crate::log::Level::Warn,
            message: "Request Failed".to_owned(),
            fields,
        });
    }
}

const CONSTANTS: &[(&str, &str)] = &[
    ("TLS_1_0", "tls1.0"),
    ("TLS_1_1", "tls1.1"),
    ("TLS_1_2", "tls1.2"),
    ("TLS_1_3", "tls1.3"),
    ("OCSP_STATUS_GOOD", "good"),
    ("OCSP_STATUS_REVOKED", "revoked"),
    ("OCSP_STATUS_SERVER_FAILED", "server_failed"),
    ("OCSP_STATUS_UNKNOWN", "unknown"),
    ("OCSP_REASON_UNSPECIFIED", "unspecified"),
    ("OCSP_REASON_KEY_COMPROMISE", "key_compromise"),
    ("OCSP_REASON_CA_COMPROMISE", "ca_compromise"),
    ("OCSP_REASON_AFFILIATION_CHANGED", "affiliation_changed"),
    ("OCSP_REASON_SUPERSEDED", "superseded"),
    ("OCSP_REASON_CESSATION_OF_OPERATION", "cessation_of_operation"),
    ("OCSP_REASON_CERTIFICATE_HOLD", "certificate_hold"),
    ("OCSP_REASON_REMOVE_FROM_CRL", "remove_from_crl"),
    ("OCSP_REASON_PRIVILEGE_WITHDRAWN", "privilege_withdrawn"),
    ("OCSP_REASON_AA_COMPROMISE", "aa_compromise"),
];
