//! Endpoints about headers: the request's, the response's, and caching.

use std::borrow::Cow;

use super::request::{GET, Outcome, Request, allow, bad_request, decode, fields, parse_size};
use crate::{
    clock::http_date,
    head::Head,
    json::Json,
    link::Protocol,
    reply::Built,
    response_head::{JSON, is_token},
    routes::echo::{echo, write_fields, write_headers},
};

/// Headers the connection decides about; requests cannot choose them.
const RESERVED: [&str; 7] =
    ["content-length", "transfer-encoding", "connection", "keep-alive", "upgrade", "trailer", "date"];
/// When the cached resource was last modified: some time in 2024.
const MODIFIED_SECONDS: u64 = 1_718_000_000;

pub(super) fn headers(head: &Head<'_>) -> Outcome {
    allow(head, GET)?;
    Ok(Built::json(headers_json(head)))
}

pub(super) fn headers_json(head: &Head<'_>) -> Vec<u8> {
    let mut json = Json::new();
    json.open();
    json.key("headers");
    write_headers(&mut json, head);
    json.close();
    json.finish()
}

pub(super) fn user_agent(head: &Head<'_>) -> Outcome {
    allow(head, GET)?;
    let agent = head.header_text("user-agent").unwrap_or_default();
    Ok(single("user-agent", &agent))
}

pub(super) fn ip(request: &Request<'_>) -> Outcome {
    allow(request.head, GET)?;
    Ok(single("origin", &request.link.peer.ip().to_string()))
}

fn single(key: &str, value: &str) -> Built {
    let mut json = Json::new();
    json.open();
    json.key(key).string(value);
    json.close();
    Built::json(json.finish())
}

/// `/cache`: 304 for any conditional request.
pub(super) fn cache(request: &Request<'_>) -> Outcome {
    allow(request.head, GET)?;
    let conditional = ["if-modified-since", "if-none-match"];
    if conditional.iter().any(|name| request.head.header(name).is_some()) {
        return Ok(Built::empty(304));
    }
    let modified = http_date(MODIFIED_SECONDS);
    Ok(echo(request).with("Last-Modified", &String::from_utf8_lossy(&modified)).with("ETag", "\"onrush\""))
}

pub(super) fn cache_for(request: &Request<'_>, seconds: &str) -> Outcome {
    allow(request.head, GET)?;
    let seconds = parse_size(seconds).ok_or_else(|| bad_request("seconds must be a whole number"))?;
    Ok(echo(request).with("Cache-Control", &format!("public, max-age={seconds}")))
}

/// `/etag/{tag}`: honours `If-None-Match` and `If-Match`.
pub(super) fn etag(request: &Request<'_>, tag: &str) -> Outcome {
    let head = request.head;
    allow(head, GET)?;
    let tag = decode(tag);
    let matches = |list: Cow<'_, str>| {
        list.split(',').any(|one| {
            let one = one.trim().trim_start_matches("W/");
            one == "*" || one.trim_matches('"') == tag
        })
    };
    let quoted = format!("\"{tag}\"");
    if head.header_text("if-none-match").is_some_and(matches) {
        return Ok(Built::empty(304).with("ETag", &quoted));
    }
    if head.header_text("if-match").is_some_and(|list| !matches(list)) {
        return Ok(Built::empty(412));
    }
    Ok(echo(request).with("ETag", &quoted))
}

/// Whether a header says how the message is framed, which no request can choose.
pub(super) fn is_reserved(name: &str) -> bool {
    RESERVED.iter().any(|reserved| name.eq_ignore_ascii_case(reserved))
}

/// `/connection`: what this connection is, and how often it was used.
pub(super) fn connection(request: &Request<'_>) -> Outcome {
    allow(request.head, GET)?;
    let link = &request.link;
    let mut json = Json::new();
    json.open();
    json.key("number").number(link.number);
    json.key("requests").number(link.requests);
    json.key("peer").string(&link.peer.to_string());
    json.key("protocol").string(match link.protocol {
        Protocol::Http1 => "HTTP/1.1",
        Protocol::Http2 => "HTTP/2.0",
    });
    json.key("tls").boolean(link.tls.is_some());
    json.close();
    Ok(Built::json(json.finish()))
}

/// `/response-headers?name=value`: the response has these headers.
pub(super) fn response_headers(head: &Head<'_>) -> Outcome {
    allow(head, "GET, HEAD, POST")?;
    let pairs: Vec<_> = fields(head.query.as_bytes()).filter(|(name, _)| name != "delay_ms").collect();
    for (name, _) in &pairs {
        if is_reserved(name) || !is_token(name.as_bytes()) {
            return Err(bad_request("not a header that can be chosen"));
        }
    }
    let content_type =
        pairs.iter().find(|(name, _)| name.eq_ignore_ascii_case("content-type")).map(|(_, value)| value.clone());
    let mut json = Json::new();
    write_fields(&mut json, pairs.clone());
    let mut built = Built::new(200, "", json.finish());
    built.add("Content-Type", content_type.as_deref().unwrap_or(JSON));
    for (name, value) in &pairs {
        if !name.eq_ignore_ascii_case("content-type") {
            built.add(name, value);
        }
    }
    Ok(built)
}
