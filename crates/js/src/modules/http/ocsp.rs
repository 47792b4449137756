//! `res.ocsp`: what the server stapled to its certificate, with k6's names. The constants are [`super`]'s.

use onrush_net::{OcspStatus, TlsInfo};

use crate::embed::{Ctx, JsResult, Val};

/// The status for the tag `ocsp_status`. k6: over TLS, `unknown` also where nothing was stapled or it cannot be read.
pub(super) fn status(tls: &TlsInfo) -> &'static str {
    match tls.ocsp.as_ref().map(|ocsp| ocsp.status) {
        Some(OcspStatus::Good) => "good",
        Some(OcspStatus::Revoked { .. }) => "revoked",
        Some(OcspStatus::Unknown) | None => "unknown",
    }
}

/// The object. Without TLS, and of a request that failed, it says nothing at all.
pub(super) fn object(ctx: Ctx, tls: Option<&TlsInfo>) -> JsResult {
    let object = ctx.object()?;
    let ocsp = tls.and_then(|tls| tls.ocsp.as_ref());
    let (revoked_at, reason) = match ocsp.map(|ocsp| ocsp.status) {
        Some(OcspStatus::Revoked { at, reason }) => (at, reason_name(reason)),
        // k6: a certificate that is not revoked has a reason and Go's zero time as well.
        Some(_) => (GO_ZERO_TIME, reason_name(0)),
        None => (0, ""),
    };
    let next_update = ocsp.map_or(0, |ocsp| ocsp.next_update.unwrap_or(GO_ZERO_TIME));
    let times = [
        ("produced_at", ocsp.map_or(0, |ocsp| ocsp.produced_at)),
        ("this_update", ocsp.map_or(0, |ocsp| ocsp.this_update)),
        ("next_update", next_update),
        ("revoked_at", revoked_at),
    ];
    for (name, seconds) in times {
        object.define(ctx, name, Val::number(seconds as f64))?;
    }
    object.define(ctx, "revocation_reason", Val::string(ctx, reason)?)?;
    object.define(ctx, "status", Val::string(ctx, tls.map_or("", status))?)?;
    Ok(object)
}

/// The reasons of RFC 5280, which has no 7. k6: others have no name.
fn reason_name(reason: i64) -> &'static str {
    match reason {
        0 => "unspecified",
        1 => "key_compromise",
        2 => "ca_compromise",
        3 => "affiliation_changed",
        4 => "superseded",
        5 => "cessation_of_operation",
        6 => "certificate_hold",
        8 => "remove_from_crl",
        9 => "privilege_withdrawn",
        10 => "aa_compromise",
        _ => "",
    }
}

/// January 1 of year 1, which Go shows where there is no time, in seconds.
const GO_ZERO_TIME: i64 = -62_135_596_800;
