//! A Response as a page: `html()`, `submitForm()`, `clickLink()`.

use std::{borrow::Cow, rc::Rc};

use onrush_html::{Chosen, FieldValue, Selection, Selector};
use onrush_net::Url;

use super::{
    arguments,
    call::{in_vu_context, synchronous},
    response,
    url_template::parse_url,
};
use crate::{
    embed::{Args, Ctx, Handle, JsResult, Throw, Val},
    log::Level,
    modules::{go::escape, html},
    vu::context::vu,
};

/// k6's text for a Response without a body.
const NO_BODY: &str = "the body is null so we can't transform it to HTML - this likely was because of a request error getting the response";

/// `Response.html(selector?)`. The body is parsed at each call, as nothing keeps a tree that no script holds.
pub(super) fn html(ctx: Ctx, this: &Handle, args: Args<'_>) -> JsResult {
    let page = document(this)?;
    if args.len() == 0 {
        return html::create_selection(ctx, page);
    }
    // k6: also `undefined` is a selector once it is given, and names nothing.
    let found = page.find_chosen(&selector(&args.at(0).to_text(ctx)?));
    html::create_selection(ctx, Rc::new(found))
}

fn document(this: &Handle) -> JsResult<Rc<Selection>> {
    let exchange = response::exchange_of(this)?;
    let body = exchange.whole_body(NO_BODY)?;
    let text = String::from_utf8_lossy(&body);
    html::parse(vu(), &text, &response::url(exchange)).map(Rc::new)
}

fn selector(text: &str) -> Chosen {
    match Selector::parse(text) {
        Ok(selector) => Chosen::Matching(Some(selector)),
        Err(error) => {
            vu().log(Level::Warn, format!("{error}: it matches nothing"));
            Chosen::Matching(None)
        }
    }
}

/// The first argument: options, of which there may be none.
fn options(args: Args<'_>, method: &str) -> JsResult<Val> {
    if args.len() > 0 && !args.at(0).is_set() {
        return Err(Throw::type_error(format!("{method}() takes an object with options")));
    }
    Ok(args.at(0).dup())
}

/// A selector among the options. k6: whatever is given is taken as its text.
fn option<'a>(ctx: Ctx, options: &Handle, name: &str, default: &'a str) -> JsResult<Cow<'a, str>> {
    if options.is_object() && options.has(ctx, name)? {
        return options.get(ctx, name)?.to_text(ctx).map(Cow::Owned);
    }
    Ok(Cow::Borrowed(default))
}

fn params(ctx: Ctx, options: &Handle) -> JsResult {
    if options.is_object() { options.get(ctx, "params") } else { Ok(Val::undefined()) }
}

/// An address in a page against the page's own.
fn resolve(page: &Selection, reference: &str) -> JsResult<Url> {
    let own = parse_url(page.document().url()).map_err(|error| Throw::error(error.message))?;
    own.join(reference).map_err(Throw::error)
}

/// `Response.clickLink({selector, params})`.
pub(super) fn click_link(ctx: Ctx, this: &Handle, args: Args<'_>) -> JsResult {
    let vu = in_vu_context()?;
    let options = options(args, "clickLink")?;
    let wanted = option(ctx, &options, "selector", "a[href]")?;
    let page = document(this)?;
    let link = page.find_chosen(&selector(&wanted));
    let own = page.document().url();
    if link.is_empty() {
        return Err(Throw::error(format!("no element found for selector '{wanted}' in response '{own}'")));
    }
    let href = link.attribute("href").ok_or_else(|| {
        Throw::error(format!("no valid href attribute value found on element '{wanted}' in response '{own}'"))
    })?;
    let url = Val::string(ctx, &resolve(&page, href)?.to_text())?;
    // The document is not needed while the request is under way.
    drop((link, page));
    let params = params(ctx, &options)?;
    synchronous(ctx, vu, arguments::prepare(ctx, vu, "GET".into(), &url, Handle::UNDEFINED, &params))
}

/// `Response.submitForm({formSelector, submitSelector, fields, params})`.
pub(super) fn submit_form(ctx: Ctx, this: &Handle, args: Args<'_>) -> JsResult {
    let vu = in_vu_context()?;
    let options = options(args, "submitForm")?;
    let form_selector = option(ctx, &options, "formSelector", "form")?;
    let submit_selector = option(ctx, &options, "submitSelector", "[type=\"submit\"]")?;
    let page = document(this)?;
    let form = Rc::new(page.find_chosen(&selector(&form_selector)));
    if form.is_empty() {
        return Err(Throw::error(format!(
            "no form found for selector '{form_selector}' in response '{}'",
            page.document().url()
        )));
    }
    let method = match form.attribute("method") {
        Some(method) if !method.is_empty() => method.to_uppercase(),
        _ => "GET".to_owned(),
    };
    let url = resolve(&page, form.attribute("action").unwrap_or_default())?;
    let button = form.find_chosen(&selector(&submit_selector));
    let mut fields: Vec<(String, Option<FieldValue>)> = form.fields_by_name().into_iter().collect();
    if let (Some(name), Some(node)) = (button.attribute("name"), button.first())
        && !name.is_empty()
        && let Some(value) = button.document().control_value(node)
    {
        fields.retain(|(known, _)| known != name);
        fields.push((name.to_owned(), Some(value)));
    }
    drop((button, form, page));
    let is_get = method == "GET";
    let values = ctx.object()?;
    for (name, value) in fields {
        values.define(ctx, &name, sent(ctx, value, is_get)?)?;
    }
    let given = if options.is_object() { options.get(ctx, "fields")? } else { Val::undefined() };
    if given.is_object() {
        for key in given.keys(ctx)? {
            let value = given.get(ctx, &key)?;
            // k6: a query has values as JavaScript writes them, a body as any body made from an object.
            let value = if is_get { Val::string(ctx, &value.to_text(ctx)?)? } else { value };
            values.define(ctx, &key, value)?;
        }
    }
    let params = params(ctx, &options)?;
    if is_get {
        let target = Val::string(ctx, &with_query(ctx, &url, &values)?)?;
        return synchronous(ctx, vu, arguments::prepare(ctx, vu, method.into(), &target, Handle::UNDEFINED, &params));
    }
    let target = Val::string(ctx, &url.to_text())?;
    synchronous(ctx, vu, arguments::prepare(ctx, vu, method.into(), &target, &values, &params))
}

/// What a control sends. k6: several values are written as JavaScript or Go write lists.
fn sent(ctx: Ctx, value: Option<FieldValue>, is_get: bool) -> JsResult {
    match value {
        Some(FieldValue::Text(text)) => Val::string(ctx, &text),
        Some(FieldValue::Texts(texts)) if is_get => Val::string(ctx, &texts.join(",")),
        Some(FieldValue::Texts(texts)) => Val::string(ctx, &format!("[{}]", texts.join(" "))),
        None if is_get => Val::string(ctx, "undefined"),
        None => Ok(Val::undefined()),
    }
}

/// The fields instead of the address's own query, sorted by name as Go does.
fn with_query(ctx: Ctx, url: &Url, values: &Handle) -> JsResult<String> {
    let mut pairs = Vec::new();
    for key in values.keys(ctx)? {
        pairs.push((key.text(ctx)?, values.get(ctx, &key)?.to_text(ctx)?));
    }
    pairs.sort();
    let text = url.to_text();
    let (address, fragment) = text.split_once('#').map_or((&*text, None), |(address, rest)| (address, Some(rest)));
    let mut out = address.split('?').next().unwrap_or_default().to_owned();
    for (index, (name, value)) in pairs.iter().enumerate() {
        out.push(if index == 0 { '?' } else { '&' });
        escape(name, &mut out);
        out.push('=');
        escape(value, &mut out);
    }
    if let Some(fragment) = fragment {
        out.push('#');
        out.push_str(fragment);
    }
    Ok(out)
}
