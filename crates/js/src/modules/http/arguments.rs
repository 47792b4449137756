//! A call's arguments as a request that owns everything it needs.

use std::{borrow::Cow, cell::RefCell, rc::Rc, sync::Arc};

use onrush_metrics::TagNode;
use onrush_net::{Body, CookieJar, NetError, RequestHeaders, encoding::Algorithm, header};

use super::{
    body,
    expected::ResponseCallback,
    params,
    url_template::{self, RequestTarget},
};
use crate::{
    embed::{Charge, Ctx, Handle, JsResult, Throw},
    vu::Vu,
};

/// A request ready to be sent; holds no script values.
pub(crate) struct Prepared {
    pub(crate) method: Cow<'static, str>,
    pub(crate) target: Rc<RequestTarget>,
    pub(crate) body: Body,
    pub(crate) params: Rc<Params>,
    /// Node of the VU's tags when the request was made, and of those given with it: later requests may run after a
    /// group has ended.
    pub(crate) node: TagNode,
    /// What is wrong with its headers: it fails without being sent.
    pub(crate) fault: Option<Box<NetError>>,
    /// For the body: its Response keeps it.
    pub(super) _charge: Charge,
}

/// The request's parameters, defaults filled in.
#[derive(Clone)]
pub(crate) struct Params {
    pub(crate) headers: RequestHeaders,
    /// A `Host` header.
    pub(crate) host: Option<Box<str>>,
    /// A `User-Agent` header; `None` uses the option.
    pub(crate) user_agent: Option<Box<str>>,
    /// A `Content-Length` header: never sent, but checked.
    pub(crate) content_length: Option<Box<str>>,
    /// A `Cookie` header: goes before the cookies of the parameters and the jar, on the same line.
    pub(crate) cookie_header: Option<Box<str>>,
    pub(crate) cookies: Vec<ParamCookie>,
    pub(crate) jar: Option<Rc<RefCell<CookieJar>>>,
    /// Its tags as they were given, where the log of HTTP traffic shows them.
    pub(crate) shown_tags: Vec<(Box<str>, Box<str>)>,
    /// The `name` tag, when the script gave one.
    pub(crate) name: Option<Arc<str>>,
    pub(crate) timeout_ns: u64,
    /// The script gave a timeout.
    pub(crate) has_timeout: bool,
    /// `redirects`, when given.
    pub(crate) redirects: Option<u32>,
    pub(crate) response_type: ResponseType,
    pub(crate) compression: Vec<Algorithm>,
    /// `responseCallback`: outer `None` uses the VU's, inner `None` disables.
    pub(crate) callback: Option<Option<ResponseCallback>>,
    pub(crate) throw: bool,
    pub(crate) auth: Auth,
}

/// How the credentials of a URL are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Auth {
    /// As a header: basic authentication.
    Header,
    Digest,
    Ntlm,
}

/// A cookie given as a parameter.
#[derive(Clone)]
pub(crate) struct ParamCookie {
    pub(crate) name: Box<str>,
    pub(crate) value: Box<str>,
    /// The jar's cookie of that name is left out.
    pub(crate) replace: bool,
}

/// What becomes of the body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ResponseType {
    Text,
    Binary,
    /// The script reads it as it arrives. k6 has no such thing.
    Stream,
    None,
}

/// The method argument of a call; k6 sends it as it is written, and GET where there is none.
pub(super) fn method(ctx: Ctx, value: &Handle) -> JsResult<Cow<'static, str>> {
    if !value.is_set() {
        return Ok("".into());
    }
    let text = value.to_text(ctx)?;
    Ok(match text.as_str() {
        "GET" => "GET".into(),
        "POST" => "POST".into(),
        "PUT" => "PUT".into(),
        "DELETE" => "DELETE".into(),
        "PATCH" => "PATCH".into(),
        "HEAD" => "HEAD".into(),
        "OPTIONS" => "OPTIONS".into(),
        _ => text.into(),
    })
}

/// Reads a call. `Err(Refused)` is a request that cannot be sent: the script gets a Response that says so.
pub(super) fn prepare(
    ctx: Ctx,
    vu: &Vu,
    method: Cow<'static, str>,
    url: &Handle,
    body: &Handle,
    params: &Handle,
) -> JsResult<Result<Rc<Prepared>, Refused>> {
    let target = match url_template::target(ctx, vu, url)? {
        Ok(target) => target,
        Err(error) => return Ok(Err(refuse(vu, error))),
    };
    if !params.is_object() && !body.is_set() {
        // Most requests are this plain: nothing to build, and nothing to keep with each Response.
        let params = params::shared_plain(vu);
        return Ok(Ok(Rc::new(Prepared {
            method,
            target,
            body: Body::None,
            params,
            node: vu.node.get(),
            fault: None,
            _charge: Charge::default(),
        })));
    }
    prepare_more(ctx, vu, method, target, body, params)
}

/// A request with a body or parameters. Not inlined: reading them takes 4 KiB of stack, and what a plain request calls
/// would lie behind them, in memory that is in no cache.
#[inline(never)]
fn prepare_more(
    ctx: Ctx,
    vu: &Vu,
    method: Cow<'static, str>,
    target: Rc<RequestTarget>,
    body: &Handle,
    params: &Handle,
) -> JsResult<Result<Rc<Prepared>, Refused>> {
    let built = params::parse(ctx, vu, params).and_then(|(mut params, node)| {
        let label = body::Label { method: &method, url: target.url.as_str() };
        let body = body::convert(ctx, vu, body, &mut params)?;
        body::check_length(vu, &body.0, &params, &label);
        let (body, own_bytes) = body::compress(vu, body, &mut params, &label)?;
        Ok((params, node, body, Charge::take(own_bytes)?))
    });
    match built {
        Ok((params, node, body, charge)) => {
            let cookie = params.cookie_header.as_deref().unwrap_or_default();
            let valid = params.headers.validate().and_then(|()| header::check_value("Cookie", cookie));
            let fault = valid.err().map(Box::new);
            Ok(Ok(Rc::new(Prepared { method, target, body, params, node, fault, _charge: charge })))
        }
        Err(Problem::Refused(text)) => Ok(Err(refuse(vu, NetError::new(0, text)))),
        Err(Problem::Throw(throw)) => Err(throw),
    }
}

/// k6: what is wrong with a call is reported like a failed request, and only the option makes it throw.
fn refuse(vu: &Vu, error: NetError) -> Refused {
    Refused { error, throw: vu.thread.config.http.throw }
}

/// A request that was never sent: its URL or parameters are invalid.
pub(crate) struct Refused {
    pub(crate) error: NetError,
    pub(crate) throw: bool,
}

/// Why a call cannot become a request.
pub(super) enum Problem {
    /// The script gets a Response that says so.
    Refused(String),
    /// Script code threw, or an argument cannot be used at all.
    Throw(Throw),
}

impl From<Throw> for Problem {
    fn from(throw: Throw) -> Self {
        Self::Throw(throw)
    }
}
