//! `/tls`: what the handshake of this connection agreed on.

use rustls::HandshakeKind;

use super::request::{GET, Outcome, Request, allow};
use crate::{
    json::Json,
    reply::Built,
    tls::{Subject, subject, suite_name},
};

pub(super) fn tls(request: &Request<'_>) -> Outcome {
    allow(request.head, GET)?;
    let mut json = Json::new();
    json.open();
    let Some(session) = request.link.tls else {
        json.key("tls").boolean(false);
        json.close();
        return Ok(Built::json(json.finish()));
    };
    json.key("tls").boolean(true);
    let version = session.protocol_version().map_or(String::new(), |version| format!("{version:?}"));
    text(&mut json, "version", Some(&version.replace("TLSv1_", "tls1.")));
    let suite = session.negotiated_cipher_suite().map(|suite| suite_name(suite.suite()));
    text(&mut json, "cipher_suite", suite.as_deref());
    let group = session.negotiated_key_exchange_group().map(|group| format!("{:?}", group.name()));
    text(&mut json, "key_exchange_group", group.as_deref());
    json.key("resumed").boolean(session.handshake_kind() == Some(HandshakeKind::Resumed));
    let alpn = session.alpn_protocol().map(String::from_utf8_lossy);
    text(&mut json, "alpn", alpn.as_deref());
    text(&mut json, "server_name", session.server_name());
    json.key("client_certificate");
    match session.peer_certificates().and_then(|chain| chain.first()).and_then(|first| subject(first)) {
        None => json.null(),
        Some(Subject { subject, issuer, serial }) => {
            json.open();
            json.key("subject").string(&subject);
            json.key("issuer").string(&issuer);
            json.key("serial").string(&serial);
            json.close();
        }
    }
    json.close();
    Ok(Built::json(json.finish()))
}

fn text(json: &mut Json, key: &str, value: Option<&str>) {
    json.key(key);
    match value {
        Some(value) => json.string(value),
        None => json.null(),
    }
}
