//! The endpoints: which path is answered by what.
//!
//! [`ENDPOINTS`] lists them for users.

mod auth;
mod bytes;
mod cookies;
mod digest;
mod echo;
mod encoding;
mod events;
mod fault;
mod headers;
mod pages;
mod redirect;
mod respond;
mod sample;
mod site;
mod status;
mod tls;
mod websocket;

use std::borrow::Cow;

use crate::body::{Body, Sink};
use crate::clock::{NANOS_PER_MILLI, NANOS_PER_SEC};
use crate::context::Context;
use crate::head::{Head, Refusal};
use crate::link::Link;
use crate::options::Limits;
use crate::reply::{Built, Payload, Reply, TEXT};
use crate::statics::Statics;
use crate::stats::Class;

/// Longest delay a request can ask for.
const DELAY_SECONDS_MAX: f64 = 300.0;
/// Query or form fields looked at; further ones are ignored.
const FIELDS_MAX: usize = 1000;

/// Every endpoint and what it answers: what `/endpoints` says.
pub const ENDPOINTS: &str = include_str!("../../assets/endpoints.txt");

const GET: &str = "GET, HEAD";
const POST: &str = "POST";

/// A request with its body, as endpoints see it.
pub(crate) struct Request<'a> {
    pub(crate) head: &'a Head<'a>,
    pub(crate) body: Body<'a>,
    pub(crate) link: Link<'a>,
}

/// What is answered, and when.
pub(crate) struct Answer {
    pub(crate) reply: Reply,
    pub(crate) class: Class,
    /// How long to wait before answering.
    pub(crate) hold_ns: u64,
}

/// An endpoint's answer. `Err` is an answer too: the one that says what is wrong
/// with the request.
type Outcome = Result<Built, Box<Built>>;

/// Chooses what becomes of a request's body.
///
/// # Errors
/// 400 for a multipart body without a boundary.
pub(crate) fn sink(head: &Head<'_>, limits: &Limits) -> Result<Sink, Refusal> {
    let first = head.path.get(1..).unwrap_or("").split('/').next().unwrap_or("");
    match first {
        "get" | "post" | "put" | "patch" | "delete" | "anything" | "my_messages.php" => Sink::echo(head, limits),
        "digest-auth" => Ok(Sink::whole(limits)),
        "login.php" => Ok(Sink::form(limits)),
        _ => Ok(Sink::Count(0)),
    }
}

/// Answers a request.
pub(crate) fn respond(request: &Request<'_>, cx: &mut Context) -> Answer {
    let head = request.head;
    let wanted_ns = match delay_wanted(head.query) {
        Ok(delay_ns) => delay_ns.unwrap_or(cx.shared.delay_ns),
        Err(built) => return answer_now(*built),
    };
    if head.is_get() {
        let fixed = if let Some(bytes) = head.path.strip_prefix("/f/") {
            parse_size(bytes).and_then(|bytes| cx.statics.fixed(bytes))
        } else if let Some(name) = head.path.strip_prefix("/encoded/") {
            cx.statics.encoded(name).filter(|_| head.query.is_empty())
        } else {
            Statics::page(head.path)
        };
        if let Some(id) = fixed {
            let hold_ns = if Statics::is_delayed(id) { wanted_ns } else { 0 };
            return Answer { reply: Reply::Static(id), class: cx.statics.class(id), hold_ns };
        }
    }
    let mut call = Call { class: Class::Other, hold_ns: wanted_ns };
    let built = call.dispatch(request, cx).unwrap_or_else(|built| *built);
    Answer { reply: built.reply(), class: call.class, hold_ns: call.hold_ns }
}

fn answer_now(built: Built) -> Answer {
    Answer { reply: built.reply(), class: Class::Other, hold_ns: 0 }
}

/// What an endpoint decides besides its response.
struct Call {
    class: Class,
    hold_ns: u64,
}

impl Call {
    fn dispatch(&mut self, request: &Request<'_>, cx: &mut Context) -> Outcome {
        let head = request.head;
        if head.method == "CONNECT" || head.method == "TRACE" {
            return Err(Box::new(Built::explained(501, "method not implemented")));
        }
        let Some(path) = head.path.strip_prefix('/') else {
            // "*" asks about the server as a whole.
            return Ok(Built::empty(204).with("Allow", "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"));
        };
        let (first, rest) = match path.split_once('/') {
            Some((first, rest)) => (first, Some(rest)),
            None => (path, None),
        };
        self.class = class_of(first);
        match (first, rest) {
            ("", None) | ("healthz", None) | ("static", Some(_)) => {
                allow(head, GET)?;
                Err(not_found())
            }
            ("my_messages.php", None) => site::messages(request, cx),
            ("login.php", None) => site::login(request, cx),
            ("contacts.php", None) => site::contacts(head),
            ("news.php", None) => site::news(head),
            ("flip_coin.php", None) => site::flip_coin(head, cx),
            ("pi.php", None) => site::pi(head),
            ("f", Some(size)) => bytes::fixed(head, size),
            ("get", None) => allow(head, GET).map(|()| echo::echo(request)),
            ("post", None) => allow(head, POST).map(|()| echo::echo(request)),
            ("put", None) => allow(head, "PUT").map(|()| echo::echo(request)),
            ("patch", None) => allow(head, "PATCH").map(|()| echo::echo(request)),
            ("delete", None) => allow(head, "DELETE").map(|()| echo::echo(request)),
            ("anything", _) => Ok(echo::echo(request)),
            ("headers", None) => headers::headers(head),
            ("user-agent", None) => headers::user_agent(head),
            ("tls", None) => tls::tls(request),
            ("connection", None) => headers::connection(request),
            ("respond", None) => respond::respond(head),
            ("endpoints", None) => {
                allow(head, GET).map(|()| Built::with_payload(200, TEXT, Payload::Text(ENDPOINTS.as_bytes())))
            }
            ("pages", Some(name)) => pages::page(head, name),
            ("ip", None) => headers::ip(request),
            ("uuid", None) => sample::uuid(head, cx),
            ("json", None) => sample::json(head),
            ("html", None) => sample::html(head),
            ("xml", None) => sample::xml(head),
            ("encoding", Some("utf8")) => sample::utf8(head),
            ("status", Some(codes)) => status::status(codes, cx),
            ("delay", Some(seconds)) => {
                self.hold_ns = self.hold_ns.saturating_add(seconds_ns(&decode(seconds))?);
                Ok(echo::echo(request))
            }
            ("drip", None) => {
                let (built, delay_ns) = bytes::drip(head)?;
                self.hold_ns = self.hold_ns.saturating_add(delay_ns);
                Ok(built)
            }
            ("sse", None) => events::events(head, true),
            ("stream", None) => events::events(head, false),
            ("bytes", Some(size)) => bytes::bytes(head, size, cx),
            ("stream-bytes", Some(size)) => bytes::stream_bytes(head, size, cx),
            ("upload", None) => bytes::upload(request),
            ("cookies", None) => cookies::show(head),
            ("cookies", Some("set")) => cookies::set_all(head),
            ("cookies", Some("delete")) => cookies::delete(head),
            ("cookies", Some("raw")) => cookies::raw(head),
            ("cookies", Some(rest)) if rest.starts_with("many/") => cookies::many(head, &rest["many/".len()..]),
            ("cookies", Some(rest)) => cookies::set_one(head, rest),
            ("redirect", Some(count)) => redirect::redirect(request, count),
            ("relative-redirect", Some(count)) => redirect::relative(request, count),
            ("absolute-redirect", Some(count)) => redirect::absolute(request, count),
            ("redirect-loop", None) => redirect::endless(head),
            ("redirect-to", None) => redirect::redirect_to(head),
            ("gzip" | "deflate" | "brotli" | "zstd", None) => encoding::encoded(request, first),
            ("encoded", Some(rest)) => encoding::sized(head, rest, cx),
            ("fault", Some(kind)) => fault::fault(request, kind, cx),
            ("ws", Some(kind)) => websocket::websocket(request, kind),
            ("basic-auth", Some(rest)) => auth::basic(head, rest, 401),
            ("hidden-basic-auth", Some(rest)) => auth::basic(head, rest, 404),
            ("digest-auth", Some(rest)) => digest::digest_auth(request, rest, cx),
            ("ntlm", Some(rest)) => auth::ntlm(request, rest, cx),
            ("bearer", None) => auth::bearer(head),
            ("cache", None) => headers::cache(request),
            ("cache", Some(seconds)) => headers::cache_for(request, seconds),
            ("etag", Some(tag)) => headers::etag(request, tag),
            ("response-headers", None) => headers::response_headers(head),
            ("stats", None) => {
                self.hold_ns = 0;
                allow(head, GET)?;
                Ok(Built::json(cx.stats.to_json()))
            }
            _ => Err(not_found()),
        }
    }
}

fn class_of(first: &str) -> Class {
    match first {
        "" | "static" => Class::Site,
        "f" => Class::Fixed,
        "bytes" | "stream-bytes" | "drip" | "encoded" => Class::Bytes,
        "upload" => Class::Upload,
        "get" | "post" | "put" | "patch" | "delete" | "anything" | "delay" => Class::Echo,
        _ if first.ends_with(".php") => Class::Site,
        _ => Class::Other,
    }
}

fn not_found() -> Box<Built> {
    Box::new(Built::explained(404, "there is nothing at this path"))
}

fn bad_request(reason: &str) -> Box<Built> {
    Box::new(Built::explained(400, reason))
}

/// Checks the method; the error is the 405, or the answer to OPTIONS.
fn allow(head: &Head<'_>, allowed: &str) -> Result<(), Box<Built>> {
    if allowed.split(", ").any(|method| method == head.method) {
        return Ok(());
    }
    let built = match head.method {
        "OPTIONS" => Built::empty(204),
        _ => Built::explained(405, "this path does not take that method"),
    };
    Err(Box::new(built.with("Allow", &format!("{allowed}, OPTIONS"))))
}

/// The delay a request asks for with `delay_ms`.
fn delay_wanted(query: &str) -> Result<Option<u64>, Box<Built>> {
    if query.is_empty() || !query.contains("delay_ms=") {
        return Ok(None);
    }
    let Some(millis) = field(query, "delay_ms") else {
        return Ok(None);
    };
    match millis.parse::<f64>() {
        Ok(millis) if (0.0..=DELAY_SECONDS_MAX * 1000.0).contains(&millis) => {
            Ok(Some((millis * NANOS_PER_MILLI as f64) as u64))
        }
        _ => Err(bad_request("delay_ms must be a number between 0 and 300000")),
    }
}

fn seconds_ns(text: &str) -> Result<u64, Box<Built>> {
    match text.parse::<f64>() {
        Ok(seconds) if (0.0..=DELAY_SECONDS_MAX).contains(&seconds) => Ok((seconds * NANOS_PER_SEC as f64) as u64),
        _ => Err(bad_request("seconds must be a number between 0 and 300")),
    }
}

/// A decimal number without sign, for sizes in paths.
fn parse_size(text: &str) -> Option<usize> {
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    text.parse().ok()
}

/// The fields of a query or an urlencoded form.
fn fields(text: &[u8]) -> impl Iterator<Item = (Cow<'_, str>, Cow<'_, str>)> {
    form_urlencoded::parse(text).take(FIELDS_MAX)
}

/// The first query field of that name.
fn field<'a>(query: &'a str, name: &str) -> Option<Cow<'a, str>> {
    fields(query.as_bytes()).find(|(key, _)| key == name).map(|(_, value)| value)
}

/// A query field that is a number; the default when it is missing.
fn number_field(query: &str, name: &str, default: u64) -> Result<u64, Box<Built>> {
    match field(query, name) {
        None => Ok(default),
        Some(text) => text.parse().map_err(|_| bad_request(&format!("{name} must be a whole number"))),
    }
}

/// Decodes percent escapes in a path. Unlike in a query, `+` is a plus sign.
fn decode(segment: &str) -> String {
    if !segment.contains('%') {
        return segment.to_owned();
    }
    let mut bytes = segment.bytes();
    let mut decoded = Vec::with_capacity(segment.len());
    while let Some(byte) = bytes.next() {
        let mut ahead = bytes.clone();
        let digit = |byte: Option<u8>| byte.and_then(|byte| (byte as char).to_digit(16));
        match (byte, digit(ahead.next()), digit(ahead.next())) {
            (b'%', Some(high), Some(low)) => {
                decoded.push((high * 16 + low) as u8);
                bytes = ahead;
            }
            _ => decoded.push(byte),
        }
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

impl Request<'_> {
    /// The request's scheme and authority, such as `http://localhost:8080`.
    fn base(&self) -> String {
        let scheme = if self.link.tls.is_some() { "https" } else { "http" };
        let host = self.head.header_text("host").unwrap_or(Cow::Borrowed("localhost"));
        format!("{scheme}://{host}")
    }

    /// The request's whole address.
    fn url(&self) -> String {
        let mut url = self.base();
        url.push_str(self.head.path);
        if !self.head.query.is_empty() {
            url.push('?');
            url.push_str(self.head.query);
        }
        url
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_decoded() {
        assert_eq!(decode("a+b%20c%2Fd"), "a+b c/d");
        assert_eq!(decode("100%"), "100%");
        assert_eq!(decode("%zz%4"), "%zz%4");
        assert_eq!(decode("%ff"), "\u{fffd}");
    }

    #[test]
    fn delays_are_read_from_queries() {
        let wanted = |query| delay_wanted(query).map_err(|built| built.status);
        assert_eq!(wanted(""), Ok(None));
        assert_eq!(wanted("a=1&delay_ms=2.5"), Ok(Some(2_500_000)));
        assert_eq!(wanted("xdelay_ms=2"), Ok(None));
        for bad in ["delay_ms=", "delay_ms=-1", "delay_ms=NaN", "delay_ms=300001", "delay_ms=inf"] {
            assert_eq!(wanted(bad), Err(400), "{bad}");
        }
    }

    #[test]
    fn sizes_are_plain_numbers() {
        assert_eq!(parse_size("100"), Some(100));
        for bad in ["", "+1", "-1", "1.0", "99999999999999999999999", "1/2"] {
            assert_eq!(parse_size(bad), None, "{bad}");
        }
    }
}
