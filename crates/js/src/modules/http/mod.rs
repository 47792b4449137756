//! `k6/http`: requests, responses, cookies.
//!
//! A call (`call`) goes through `arguments` (script values to a `Prepared` request that owns all it needs), `send` (hops,
//! cookies, samples; no JavaScript, so it can run on a child fiber) and `response` (a lazy object over what came back). Bodies
//! that are read as they arrive go by `streamed` and `body_stream` instead.

mod arguments;
mod asynchronous;
mod batch;
mod body;
mod body_stream;
mod call;
mod cookies;
mod debug;
mod expected;
mod file;
mod handshake;
mod hop;
mod json;
mod json_error;
mod lists;
mod ocsp;
mod page;
mod params;
mod response;
mod response_body;
mod sample;
mod selector;
mod send;
mod spelled_out;
mod state;
mod stream_object;
mod streamed;
mod trace;
mod url_template;

pub(super) use cookies::{cookie_header, given_jar, own_jar, store_cookies};
pub(crate) use json::fuzz as fuzz_json_path;
pub(super) use state::SharedJar;
pub(super) use streamed::{Ask, Lost, Streamed};

use super::export::{export, export_class};
use crate::embed::{Ctx, HostClass, JsResult, Val};

pub(super) fn install_classes(ctx: Ctx) -> JsResult<()> {
    response::install_class(ctx)?;
    cookies::install_class(ctx)?;
    url_template::install_class(ctx)?;
    expected::install_class(ctx)?;
    stream_object::install_class(ctx)?;
    file::install_class(ctx)
}

pub(super) fn build(ctx: Ctx) -> JsResult {
    body_stream::declare_metrics()?;
    let exports = ctx.object()?;
    export(ctx, &exports, "get", 2, |ctx, _, args| call::bodiless(ctx, "GET", "get", args))?;
    export(ctx, &exports, "head", 2, |ctx, _, args| call::bodiless(ctx, "HEAD", "head", args))?;
    export(ctx, &exports, "post", 3, |ctx, _, args| call::with_body(ctx, "POST", args))?;
    export(ctx, &exports, "put", 3, |ctx, _, args| call::with_body(ctx, "PUT", args))?;
    export(ctx, &exports, "patch", 3, |ctx, _, args| call::with_body(ctx, "PATCH", args))?;
    export(ctx, &exports, "del", 3, |ctx, _, args| call::with_body(ctx, "DELETE", args))?;
    export(ctx, &exports, "options", 3, |ctx, _, args| call::with_body(ctx, "OPTIONS", args))?;
    export(ctx, &exports, "request", 4, call::request)?;
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
