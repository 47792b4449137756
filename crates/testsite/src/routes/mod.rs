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
mod request;
mod respond;
mod sample;
mod site;
mod status;
mod tls;
mod websocket;

pub(crate) use self::request::Request;
use self::request::{
    DELAY_SECONDS_MAX, GET, Outcome, POST, allow, bad_request, decode, field, not_found, parse_size, seconds_ns,
};
use crate::{
    body::Sink,
    clock::NANOS_PER_MILLI,
    context::Context,
    head::{Head, Refusal},
    options::Limits,
    reply::{Built, Payload, Reply},
    response_head::TEXT,
    statics::Statics,
    stats::Class,
};

/// Every endpoint and what it answers: what `/endpoints` says.
pub const ENDPOINTS: &str = include_str!("../../assets/endpoints.txt");

/// What is answered, and when.
pub(crate) struct Answer {
    pub(crate) reply: Reply,
    pub(crate) class: Class,
    /// How long to wait before answering.
    pub(crate) hold_ns: u64,
}

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

#[cfg(test)]
mod tests {
    use super::*;

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
}
