//! The parameters of a WebSocket.

use onrush_metrics::TagNode;
use onrush_net::RequestHeaders;

use crate::{
    embed::{Ctx, Handle, JsResult, Throw},
    modules::{
        http::{SharedJar, given_jar},
        tag_value,
    },
    vu::{Vu, context::with_named},
};

/// What a script says about a WebSocket besides its URL.
pub(super) struct Params {
    pub(super) headers: RequestHeaders,
    /// A `Host` header.
    pub(super) host: Option<String>,
    /// A `User-Agent` header; `None` uses the option.
    pub(super) user_agent: Option<String>,
    pub(super) jar: Option<SharedJar>,
    /// Messages may be compressed.
    pub(super) deflate: bool,
    /// Tags of the VU and those given.
    pub(super) node: TagNode,
    /// The tag `name`, where it is given.
    pub(super) name: Option<String>,
}

/// Whose parameters they are: the modules differ in what they refuse.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    /// `k6/ws`.
    Legacy,
    /// `k6/websockets`.
    Events,
}

impl Params {
    /// Reads them.
    ///
    /// # Errors
    /// k6's texts, and what the script's getters throw.
    pub(super) fn read(ctx: Ctx, vu: &Vu, value: &Handle, style: Style) -> JsResult<Self> {
        let mut params = Self {
            headers: RequestHeaders::new(),
            host: None,
            user_agent: None,
            jar: None,
            deflate: false,
            node: vu.node.get(),
            name: None,
        };
        if value.is_string() && style == Style::Events && !value.to_text(ctx)?.is_empty() {
            // k6: a text is taken for the list of its letters.
            return Err(Throw::error("unknown WebSocket's option 0"));
        }
        if !value.is_object() {
            return Ok(params);
        }
        for key in value.each_key(ctx)? {
            let item = value.get(ctx, &key)?;
            let key = key.text(ctx)?;
            match key.as_str() {
                "headers" => params.read_headers(ctx, &item)?,
                "tags" => params.read_tags(ctx, vu, &item, style)?,
                // k6 ignores what is no jar.
                "jar" => params.jar = given_jar(&item),
                "compression" => params.deflate = is_deflate(ctx, &item, style)?,
                _ if style == Style::Legacy => {}
                unknown => return Err(Throw::error(format!("unknown WebSocket's option {unknown}"))),
            }
        }
        Ok(params)
    }

    fn read_headers(&mut self, ctx: Ctx, value: &Handle) -> JsResult<()> {
        if !value.is_object() {
            return Ok(());
        }
        for key in value.each_key(ctx)? {
            let name = key.text(ctx)?;
            let text = value.get(ctx, &key)?.to_text(ctx)?;
            if name.eq_ignore_ascii_case("host") {
                self.host = Some(text);
            } else if name.eq_ignore_ascii_case("user-agent") {
                self.user_agent = Some(text);
            } else {
                // k6: what would end a line is a blank.
                self.headers.set(&name, &text.replace(['\r', '\n'], " "));
            }
        }
        Ok(())
    }

    fn read_tags(&mut self, ctx: Ctx, vu: &Vu, value: &Handle, style: Style) -> JsResult<()> {
        let outcome = tag_value::for_each(ctx, value, |name, text| {
            if name == "name" {
                self.name = Some(text.to_owned());
            }
            self.node = with_named(&mut vu.thread.shard.borrow_mut(), self.node, name, text);
        })?;
        outcome.map_err(|tag| {
            let complaint = tag_value::complaint(&tag);
            Throw::error(match style {
                Style::Legacy => format!("invalid ws.connect() metric tags: {complaint}"),
                Style::Events => format!("invalid WebSocket tags option: {complaint}"),
            })
        })
    }
}

fn is_deflate(ctx: Ctx, value: &Handle, style: Style) -> JsResult<bool> {
    let text = value.to_text(ctx)?;
    match text.trim() {
        "" if style == Style::Legacy => Ok(false),
        "deflate" => Ok(true),
        other => {
            Err(Throw::error(format!("unsupported compression algorithm '{other}', supported algorithm is 'deflate'")))
        }
    }
}
