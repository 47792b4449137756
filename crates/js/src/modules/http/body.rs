//! Request bodies.

use std::rc::Rc;

use bytes::Bytes;
use onrush_net::{Body, encoding};

use super::{
    arguments::{Params, Problem},
    file::FilePart,
};
use crate::{
    embed::{Ctx, GrowingCharge, Handle, HostClass, JsResult, Throw},
    log::Level,
    modules::go::{OBJECT, escape, go_number, go_text, go_type},
    realm::shared_bytes::SharedBytes,
    vu::{Vu, context::pause},
};

/// Converts a body argument, setting the content type it implies. Also says how many of the body's bytes are no file's, which
/// all VUs share. Not inlined: most requests have none.
#[inline(never)]
pub(super) fn convert(ctx: Ctx, vu: &Vu, value: &Handle, params: &mut Rc<Params>) -> Result<(Body, usize), Problem> {
    if !value.is_set() {
        return Ok((Body::None, 0));
    }
    if let Some(bytes) = vu.thread.slots.of::<SharedBytes>().of(ctx, value) {
        return Ok((Body::Bytes(bytes), 0));
    }
    if let Some(bytes) = content(ctx, vu, value)? {
        let own_bytes = bytes.len();
        return Ok((Body::Bytes(bytes), own_bytes));
    }
    let go_type = go_type(ctx, value);
    if go_type != OBJECT {
        return Err(Problem::Refused(format!("unknown request body type {go_type}")));
    }
    Ok(form(ctx, vu, value, params)?)
}

/// What warnings call a request.
pub(super) struct Label<'a> {
    pub(super) method: &'a str,
    pub(super) url: &'a str,
}

/// Warns about a `Content-Length` header that is not the body's length. Either way the real length is sent.
pub(super) fn check_length(vu: &Vu, body: &Body, params: &Params, label: &Label<'_>) {
    let Some(given) = &params.content_length else { return };
    let length = body.len();
    if given.parse() != Ok(length) {
        vu.log(
            Level::Warn,
            format!(
                "The specified Content-Length header \"{given}\" in the {} request for {} doesn't match the actual request body length of {length}, so it will be ignored!",
                label.method, label.url
            ),
        );
    }
}

/// The bytes of a text or a buffer: shared where they are a file, else copied. `None` for other values.
fn content(ctx: Ctx, vu: &Vu, value: &Handle) -> JsResult<Option<Bytes>> {
    if let Some(bytes) = vu.thread.slots.of::<SharedBytes>().of(ctx, value) {
        return Ok(Some(bytes));
    }
    if value.is_string() {
        return string_bytes(ctx, value).map(Some);
    }
    Ok(value.array_buffer(ctx).or_else(|| value.typed_array(ctx)).map(Bytes::copy_from_slice))
}

fn string_bytes(ctx: Ctx, value: &Handle) -> JsResult<Bytes> {
    Ok(match value.ascii() {
        Some(text) => Bytes::copy_from_slice(text.as_bytes()),
        None => Bytes::from(value.to_text(ctx)?.into_bytes()),
    })
}

fn form(ctx: Ctx, vu: &Vu, object: &Handle, params: &mut Rc<Params>) -> JsResult<(Body, usize)> {
    let mut fields = Vec::new();
    let mut has_file = false;
    for key in object.keys(ctx)? {
        let value = object.get(ctx, &key)?;
        has_file |= HostClass::<FilePart>::of(&value).is_some();
        fields.push((key.text(ctx)?, value));
    }
    if has_file {
        return multipart(ctx, vu, &fields, params);
    }
    // k6: keys are sorted, as Go's url.Values encodes them.
    fields.sort_by(|a, b| a.0.cmp(&b.0));
    let (mut text, mut charge) = (String::new(), GrowingCharge::default());
    let (mut count, mut paused_at) = (0_u32, 0);
    let mut append = |name: &str, value: &str| {
        text.push_str(if text.is_empty() { "" } else { "&" });
        escape(name, &mut text);
        text.push('=');
        escape(value, &mut text);
        charge.hold(text.len())?;
        count = count.wrapping_add(1);
        if count.is_multiple_of(FIELDS_PER_PAUSE) || text.len() - paused_at > BYTES_PER_PAUSE {
            paused_at = text.len();
            pause()?;
        }
        Ok::<(), Throw>(())
    };
    for (name, value) in &fields {
        if value.is_array() {
            for index in 0..value.length(ctx)? {
                let item = value.get_index(ctx, index)?;
                append(name, &field_text(ctx, vu, name, &item)?)?;
            }
        } else {
            append(name, &field_text(ctx, vu, name, value)?)?;
        }
    }
    if params.headers.get("Content-Type").is_none() {
        Rc::make_mut(params).headers.set("Content-Type", "application/x-www-form-urlencoded");
    }
    let own_bytes = text.len();
    Ok((Body::Bytes(Bytes::from(text)), own_bytes))
}

fn field_text(ctx: Ctx, vu: &Vu, name: &str, value: &Handle) -> JsResult<String> {
    if !value.is_set() {
        return Ok(String::new());
    }
    if value.is_object() {
        vu.log(Level::Warn, format!("the field '{name}' of a form body is an object: only strings, numbers and booleans can be encoded, it is sent empty"));
        return Ok(String::new());
    }
    if value.is_number() { value.to_number(ctx).map(go_number) } else { value.to_text(ctx) }
}

fn multipart(
    ctx: Ctx,
    vu: &Vu,
    fields: &[(String, crate::embed::Val)],
    params: &mut Rc<Params>,
) -> JsResult<(Body, usize)> {
    let boundary = boundary(vu);
    set_multipart_type(params, &format!("multipart/form-data; boundary={boundary}"));
    let (mut out, mut charge) = (Multipart::default(), GrowingCharge::default());
    for (name, value) in fields {
        charge.hold(out.own_bytes)?;
        let name = quote(name);
        if HostClass::<FilePart>::of(value).is_some() {
            let (filename, content_type) =
                (value.get(ctx, "filename")?.to_text(ctx)?, value.get(ctx, "content_type")?.to_text(ctx)?);
            let disposition = format!(
                "--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"; filename=\"{}\"\r\nContent-Type: {}\r\n\r\n",
                quote(&filename),
                content_type.replace(['\r', '\n'], " ")
            );
            out.append(disposition.as_bytes());
            let data = value.get(ctx, "data")?;
            match content(ctx, vu, &data)? {
                Some(bytes) => out.append_shared(bytes),
                None => out.append(data.to_text(ctx)?.as_bytes()),
            }
        } else {
            out.append(format!("--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n").as_bytes());
            if value.is_set() {
                // k6: a list is one part, as Go prints it.
                let text = if value.is_array() { go_text(ctx, value)? } else { value.to_text(ctx)? };
                out.append(text.as_bytes());
            }
        }
        out.append(b"\r\n");
    }
    out.append(format!("--{boundary}--\r\n").as_bytes());
    let own_bytes = out.own_bytes;
    Ok((out.finish(), own_bytes))
}

/// A multipart body in the making: small pieces of its own between shared ones.
#[derive(Default)]
struct Multipart {
    pieces: Vec<Bytes>,
    /// What is appended next goes here.
    open: Vec<u8>,
    /// Bytes that were copied.
    own_bytes: usize,
}

impl Multipart {
    fn append(&mut self, bytes: &[u8]) {
        self.own_bytes += bytes.len();
        self.open.extend_from_slice(bytes);
    }

    fn append_shared(&mut self, bytes: Bytes) {
        if bytes.len() < SHARED_PIECE_BYTES_MIN {
            return self.append(&bytes);
        }
        self.pieces.push(std::mem::take(&mut self.open).into());
        self.pieces.push(bytes);
    }

    fn finish(mut self) -> Body {
        self.pieces.push(self.open.into());
        Body::from_pieces(self.pieces)
    }
}

/// What is written of a form before others run: some 0.1 ms.
const FIELDS_PER_PAUSE: u32 = 256;
const BYTES_PER_PAUSE: usize = 256 << 10;
/// Smaller parts are copied: one piece more costs a system call.
const SHARED_PIECE_BYTES_MIN: usize = 16 << 10;

/// k6: the user's Content-Type wins, also where it then lacks the boundary.
fn set_multipart_type(params: &mut Rc<Params>, content_type: &str) {
    if params.headers.get("Content-Type").is_none() {
        Rc::make_mut(params).headers.set("Content-Type", content_type);
    }
}

/// 60 hexadecimal digits, as Go's multipart writer makes them.
fn boundary(vu: &Vu) -> String {
    (0..4).map(|_| format!("{:015x}", vu.thread.next_seed() >> 4)).collect()
}

/// Go's escaping of names in Content-Disposition.
fn quote(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\r', "%0D").replace('\n', "%0A")
}

/// Applies the `compression` parameter and sets Content-Encoding.
pub(super) fn compress(
    vu: &Vu,
    (body, own_bytes): (Body, usize),
    params: &mut Rc<Params>,
    label: &Label<'_>,
) -> Result<(Body, usize), Problem> {
    if params.compression.is_empty() || matches!(body, Body::None) {
        return Ok((body, own_bytes));
    }
    compressed(vu, &body, params, label)
}

/// Not inlined: compressing takes much of the stack, and hardly any request asks for it.
#[inline(never)]
fn compressed(vu: &Vu, body: &Body, params: &mut Rc<Params>, label: &Label<'_>) -> Result<(Body, usize), Problem> {
    let compressed = encoding::encode(&body.to_bytes(), &params.compression)
        .map_err(|error| Problem::Refused(format!("failed to compress the request body: {error}")))?;
    let names = params.compression.iter().map(|algorithm| algorithm.name()).collect::<Vec<_>>().join(", ");
    match params.headers.get("Content-Encoding") {
        Some(given) if given != names => {
            vu.log(
                Level::Warn,
                format!(
                    "There's a mismatch between the desired `compression` the manually set `Content-Encoding` header in the {} request for '{}', the custom header has precedence and won't be overwritten. This may result in invalid data being sent to the server.",
                    label.method, label.url
                ),
            );
        }
        Some(_) => {}
        None => Rc::make_mut(params).headers.set("Content-Encoding", &names),
    }
    let own_bytes = compressed.len();
    Ok((Body::Bytes(compressed.into()), own_bytes))
}
