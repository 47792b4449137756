//! URLs as scripts give them: text, or an `` http.url`…` `` whose name has holes where values were put in.

use std::{cell::RefCell, rc::Rc, sync::Arc};

use onrush_net::{NetError, Url};
use rustc_hash::FxHashMap;

use crate::{
    embed::{Args, Charge, Ctx, Handle, HostClass, HostObject, JsResult, LazyProperty, Template, Throw, Val},
    modules::go::go_text,
    vu::{Vu, context::vu},
};

/// A parsed URL and the name its samples carry.
pub(crate) struct RequestTarget {
    pub(crate) url: Url,
    /// The template, or the URL without credentials.
    pub(crate) name: Arc<str>,
    /// The name is a template's: redirects keep it.
    pub(crate) is_template: bool,
}

/// What a thread keeps: parsed URLs by text, since scripts ask for the same few again and again.
#[derive(Default)]
struct UrlCache(RefCell<FxHashMap<Box<str>, Rc<RequestTarget>>>);

/// URLs a thread remembers; beyond that it forgets all and starts again.
const CACHE_MAX: usize = 4096;
/// Longer URLs are not worth remembering: they are usually unique.
const CACHED_BYTES_MAX: usize = 512;

/// What `` http.url`…` `` returns; its memory counts towards the heap limit of the VU.
pub(super) struct UrlTemplate(Rc<RequestTarget>, #[expect(dead_code, reason = "is given back when dropped")] Charge);

impl HostObject for UrlTemplate {
    const NAME: &'static str = "HTTPURL";
    const LAZY: &'static [LazyProperty<Self>] = &[
        ("name", |ctx, template| Val::string(ctx, &template.0.name)),
        ("url", |ctx, template| Val::string(ctx, template.0.url.as_str())),
        ("clean_url", clean_url),
    ];
}

pub(super) fn install_class(ctx: Ctx) -> JsResult<()> {
    let prototype = ctx.object()?;
    prototype.method(ctx, "toString", 0, |ctx, this, _| {
        Val::string(ctx, HostClass::<UrlTemplate>::expect(this)?.0.url.as_str())
    })?;
    HostClass::<UrlTemplate>::set_prototype(ctx, prototype);
    Ok(())
}

/// The URL without credentials; k6: where it has none, as it is written.
fn clean_url(ctx: Ctx, template: &UrlTemplate) -> JsResult {
    let url = &template.0.url;
    if url.userinfo().is_some() { Val::string(ctx, &url.clean()) } else { Val::string(ctx, url.as_str()) }
}

/// The tag function `http.url`.
pub(super) fn url(ctx: Ctx, _: &Handle, args: Args<'_>) -> JsResult {
    let parts = args.at(0);
    if !parts.is_array() {
        return Err(Throw::type_error("http.url is a tag for template literals: http.url`https://host/${id}`"));
    }
    let (mut url, mut name) = (String::new(), String::new());
    for index in 0..parts.length(ctx)? {
        let part = parts.get_index(ctx, index)?.to_text(ctx)?;
        url.push_str(&part);
        name.push_str(&part);
        if (index as usize) + 1 < args.len() {
            url.push_str(&args.at(index as usize + 1).to_text(ctx)?);
            name.push_str("${}");
        }
    }
    let url = parse_url(&url).map_err(|error| Throw::error(error.message))?;
    let charge = Charge::take(url.as_str().len() + name.len() + size_of::<RequestTarget>())?;
    let template = vu().realm().slots.of_or_try(|| Template::<UrlTemplate>::new(ctx, &[]))?;
    let target = Rc::new(RequestTarget { url, name: name.into(), is_template: true });
    template.create(ctx, Rc::new(UrlTemplate(target, charge)), [])
}

/// Parses a URL. The error does not show credentials: it is logged.
pub(super) fn parse_url(text: &str) -> Result<Url, NetError> {
    Url::parse(text).map_err(|error| {
        let Some(masked) = without_credentials(text) else { return error };
        match Url::parse(&masked) {
            Err(error) => error,
            Ok(_) => NetError::invalid_url(format!("parse \"{masked}\": net/url: invalid userinfo")),
        }
    })
}

/// The text with what may be credentials replaced, if there is such.
fn without_credentials(text: &str) -> Option<String> {
    let start = text.find("//").map_or(0, |slashes| slashes + 2);
    let end = text.find(['?', '#']).unwrap_or(text.len());
    let at = text.get(start..end)?.rfind('@')?;
    Some(format!("{}****:****{}", &text[..start], &text[start + at..]))
}

/// Reads a URL argument. The inner error is what parsing it gave.
pub(super) fn target(ctx: Ctx, vu: &Vu, value: &Handle) -> JsResult<Result<Rc<RequestTarget>, NetError>> {
    if let Some(template) = HostClass::<UrlTemplate>::of(value) {
        return Ok(Ok(template.0.clone()));
    }
    if let Some(text) = value.ascii() {
        return Ok(parse(vu, text));
    }
    if !value.is_string() {
        return Ok(Err(NetError::invalid_url(format!("'#{}'", go_text(ctx, value)?))));
    }
    let text = value.to_text(ctx)?;
    Ok(parse(vu, &text))
}

fn parse(vu: &Vu, text: &str) -> Result<Rc<RequestTarget>, NetError> {
    let cache = &vu.thread.slots.of::<UrlCache>().0;
    if let Some(target) = cache.borrow().get(text) {
        return Ok(target.clone());
    }
    parse_new(cache, text)
}

/// Not inlined: it is rare, and takes much of the stack.
#[inline(never)]
fn parse_new(
    cache: &RefCell<FxHashMap<Box<str>, Rc<RequestTarget>>>,
    text: &str,
) -> Result<Rc<RequestTarget>, NetError> {
    let url = parse_url(text)?;
    let target = Rc::new(RequestTarget { name: url.clean(), url, is_template: false });
    if text.len() <= CACHED_BYTES_MAX {
        let mut cache = cache.borrow_mut();
        if cache.len() >= CACHE_MAX {
            cache.clear();
        }
        cache.insert(text.into(), target.clone());
    }
    Ok(target)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_do_not_show_credentials() {
        let check = |text: &str, shown: &str| {
            let error = parse_url(text).expect_err(text);
            assert!(error.message.contains(&format!("\"{shown}\"")), "{}", error.message);
            assert!(
                !error.message.contains("pw") && !error.detail.contains("pw"),
                "{} {}",
                error.message,
                error.detail
            );
        };
        check("http://user:pw@[bad/", "http://****:****@[bad/");
        check("http://user:p%pw@host/", "http://****:****@host/");
        check("http://user:a/pw@host:x/", "http://****:****@host:x/");
        check("http://[bad/?mail=a@b", "http://[bad/?mail=a@b");
    }
}
