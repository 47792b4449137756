//! URLs as scripts give them: text, or an `` http.url`…` `` whose name has holes where values were put in.

use std::{cell::RefCell, rc::Rc, sync::Arc};

use onrush_net::{NetError, Url};
use rustc_hash::FxHashMap;

use crate::{
    embed::{Args, Ctx, Handle, HostClass, HostObject, JsResult, Throw, Val},
    modules::go::go_text,
    vu::Vu,
};

/// A parsed URL and the name its samples carry.
pub(crate) struct Target {
    pub(crate) url: Url,
    /// The template, or the URL without credentials.
    pub(crate) name: Arc<str>,
    /// The name is a template's: redirects keep it.
    pub(crate) is_template: bool,
}

/// What a thread keeps: parsed URLs by text, since scripts ask for the same few again and again.
#[derive(Default)]
struct UrlCache(RefCell<FxHashMap<Box<str>, Rc<Target>>>);

/// URLs a thread remembers; beyond that it forgets all and starts again.
const CACHE_MAX: usize = 4096;
/// Longer URLs are not worth remembering: they are usually unique.
const CACHED_BYTES_MAX: usize = 512;

/// What `` http.url`…` `` returns.
pub(super) struct UrlTemplate {
    url: String,
    name: String,
}

impl HostObject for UrlTemplate {
    const NAME: &'static str = "HTTPURL";
}

pub(super) fn install_class(ctx: Ctx) -> JsResult<()> {
    let prototype = ctx.object()?;
    prototype
        .method(ctx, "toString", 0, |ctx, this, _| Val::string(ctx, &HostClass::<UrlTemplate>::expect(this)?.url))?;
    prototype.define_getter(
        ctx,
        "url",
        ctx.getter("url", |ctx, this| Val::string(ctx, &HostClass::<UrlTemplate>::expect(this)?.url))?,
    )?;
    prototype.define_getter(ctx, "clean_url", ctx.getter("clean_url", clean_url)?)?;
    prototype.define_getter(
        ctx,
        "name",
        ctx.getter("name", |ctx, this| Val::string(ctx, &HostClass::<UrlTemplate>::expect(this)?.name))?,
    )?;
    HostClass::<UrlTemplate>::set_prototype(ctx, prototype);
    Ok(())
}

/// The URL without credentials; k6: where it has none, as it is written.
fn clean_url(ctx: Ctx, this: &Handle) -> JsResult {
    let template = HostClass::<UrlTemplate>::expect(this)?;
    let clean = match Url::parse(&template.url) {
        Ok(url) if url.userinfo().is_some() => url.clean(),
        _ => template.url.as_str().into(),
    };
    Val::string(ctx, &clean)
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
    HostClass::create(ctx, UrlTemplate { url, name })
}

/// Reads a URL argument. The inner error is what parsing it gave.
pub(super) fn target(ctx: Ctx, vu: &Vu, value: &Handle) -> JsResult<Result<Rc<Target>, NetError>> {
    if let Some(template) = HostClass::<UrlTemplate>::of(value) {
        return Ok(Url::parse(&template.url)
            .map(|url| Rc::new(Target { url, name: template.name.as_str().into(), is_template: true })));
    }
    if let Some(Ok(text)) = value.ascii().map(std::str::from_utf8) {
        return Ok(parse(vu, text));
    }
    if !value.is_string() {
        return Ok(Err(NetError::invalid_url(format!("'#{}'", go_text(ctx, value)?))));
    }
    let text = value.to_text(ctx)?;
    Ok(parse(vu, &text))
}

fn parse(vu: &Vu, text: &str) -> Result<Rc<Target>, NetError> {
    let cache = &vu.thread.slots.of::<UrlCache>().0;
    if let Some(target) = cache.borrow().get(text) {
        return Ok(target.clone());
    }
    let url = Url::parse(text)?;
    let target = Rc::new(Target { name: url.clean(), url, is_template: false });
    if text.len() <= CACHED_BYTES_MAX {
        let mut cache = cache.borrow_mut();
        if cache.len() >= CACHE_MAX {
            cache.clear();
        }
        cache.insert(text.into(), target.clone());
    }
    Ok(target)
}
