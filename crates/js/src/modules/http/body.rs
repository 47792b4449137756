//! Request bodies.

use bytes::Bytes;
use onrush_net::{Body, encoding};

use super::{
    arguments::{Params, Problem},
    file::FilePart,
    params::go_type,
};
use crate::{
    embed::{Ctx, Handle, HostClass, JsResult},
    log::Level,
    vu::Vu,
};

/// A multipart body built around one shared file, kept because rebuilding it copies the file.
///
/// `open(…, 'b')` gives every VU the same immutable bytes, so their address identifies them; with the same part
/// headers the whole body is the same and can be sent again, boundary included.
pub(super) struct CachedMultipart {
    data: usize,
    len: usize,
    /// Everything of the body but the file, which tells whether the rest is equal too.
    frame: Vec<u8>,
    content_type: String,
    body: Bytes,
}

/// Multipart bodies a thread keeps.
const CACHED_MAX: usize = 8;
/// Smaller files are copied faster than they are looked up.
const CACHED_BYTES_MIN: usize = 64 << 10;

/// Converts a body argument, setting the content type it implies.
pub(super) fn convert(ctx: Ctx, vu: &Vu, value: &Handle, params: &mut Params) -> Result<Body, Problem> {
    if !value.is_set() {
        return Ok(Body::None);
    }
    if value.is_string() {
        return Ok(Body::Bytes(string_bytes(ctx, value)?));
    }
    if let Some(bytes) = value.array_buffer(ctx) {
        return Ok(Body::Bytes(Bytes::copy_from_slice(bytes)));
    }
    if let Some(bytes) = value.typed_array(ctx) {
        return Ok(Body::Bytes(Bytes::copy_from_slice(bytes)));
    }
    if !value.is_object() || value.is_array() || value.is_function(ctx) {
        return Err(Problem::Refused(format!("unknown request body type {}", go_type(ctx, value))));
    }
    Ok(form(ctx, vu, value, params)?)
}

/// What warnings call a request.
pub(super) struct Label<'a> {
    pub(super) method: &'a str,
    pub(super) url: &'a str,
}

/// Warns about a `Content-Length` header that is not the body's length. Either way the real length is sent.
pub(super) fn check_length(vu: &Vu, body: &Body, params: &mut Params, label: &Label<'_>) {
    let Some(given) = params.content_length.take() else { return };
    let length = match body {
        Body::Bytes(bytes) => bytes.len(),
        Body::None => 0,
    };
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

fn string_bytes(ctx: Ctx, value: &Handle) -> JsResult<Bytes> {
    Ok(match value.ascii() {
        Some(bytes) => Bytes::copy_from_slice(bytes),
        None => Bytes::from(value.to_text(ctx)?.into_bytes()),
    })
}

fn form(ctx: Ctx, vu: &Vu, object: &Handle, params: &mut Params) -> JsResult<Body> {
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
    let mut text = String::new();
    let mut append = |name: &str, value: &str| {
        text.push_str(if text.is_empty() { "" } else { "&" });
        escape(name, &mut text);
        text.push('=');
        escape(value, &mut text);
    };
    for (name, value) in &fields {
        if value.is_array() {
            for index in 0..value.length(ctx)? {
                let item = value.get_index(ctx, index)?;
                append(name, &field_text(ctx, vu, name, &item)?);
            }
        } else {
            append(name, &field_text(ctx, vu, name, value)?);
        }
    }
    if params.headers.get("Content-Type").is_none() {
        params.headers.set("Content-Type", "application/x-www-form-urlencoded");
    }
    Ok(Body::Bytes(Bytes::from(text)))
}

/// Go's query escaping: all but letters, digits and `-_.~`; a blank is `+`.
fn escape(text: &str, out: &mut String) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => out.push(char::from(byte)),
            b' ' => out.push('+'),
            _ => out.extend([
                '%',
                char::from(DIGITS[usize::from(byte >> 4)]),
                char::from(DIGITS[usize::from(byte & 15)]),
            ]),
        }
    }
}

fn field_text(ctx: Ctx, vu: &Vu, name: &str, value: &Handle) -> JsResult<String> {
    if !value.is_set() {
        return Ok(String::new());
    }
    if value.is_object() {
        vu.log(Level::Warn, format!("the field '{name}' of a form body is an object: only strings, numbers and booleans can be encoded, it is sent empty"));
        return Ok(String::new());
    }
    value.to_text(ctx)
}

fn multipart(ctx: Ctx, vu: &Vu, fields: &[(String, crate::embed::Val)], params: &mut Params) -> JsResult<Body> {
    // The largest file decides whether the body is worth keeping.
    let mut shared: Option<(usize, usize)> = None;
    let mut files = 0;
    for (_, value) in fields {
        if HostClass::<FilePart>::of(value).is_some() {
            files += 1;
            let data = value.get(ctx, "data")?;
            if data.is_immutable_buffer()
                && let Some(bytes) = data.array_buffer(ctx)
            {
                shared = Some((bytes.as_ptr().addr(), bytes.len()));
            }
        }
    }
    let shared = shared.filter(|(_, len)| files == 1 && *len >= CACHED_BYTES_MIN);
    if let Some((data, len)) = shared {
        let frame = render(ctx, fields, "", false)?;
        if let Some(found) = vu
            .thread
            .http
            .multipart
            .borrow()
            .iter()
            .find(|cached| (cached.data, cached.len) == (data, len) && cached.frame == frame)
        {
            set_multipart_type(params, &found.content_type);
            return Ok(Body::Bytes(found.body.clone()));
        }
        let boundary = boundary(vu);
        let content_type = format!("multipart/form-data; boundary={boundary}");
        let body = Bytes::from(render(ctx, fields, &boundary, true)?);
        set_multipart_type(params, &content_type);
        let mut cache = vu.thread.http.multipart.borrow_mut();
        if cache.len() >= CACHED_MAX {
            cache.remove(0);
        }
        cache.push(CachedMultipart { data, len, frame, content_type, body: body.clone() });
        return Ok(Body::Bytes(body));
    }
    let boundary = boundary(vu);
    set_multipart_type(params, &format!("multipart/form-data; boundary={boundary}"));
    Ok(Body::Bytes(Bytes::from(render(ctx, fields, &boundary, true)?)))
}

/// k6: the user's Content-Type wins, also where it then lacks the boundary.
fn set_multipart_type(params: &mut Params, content_type: &str) {
    if params.headers.get("Content-Type").is_none() {
        params.headers.set("Content-Type", content_type);
    }
}

/// 60 hexadecimal digits, as Go's multipart writer makes them.
fn boundary(vu: &Vu) -> String {
    (0..4).map(|_| format!("{:015x}", vu.thread.next_seed() >> 4)).collect()
}

fn render(ctx: Ctx, fields: &[(String, crate::embed::Val)], boundary: &str, with_files: bool) -> JsResult<Vec<u8>> {
    let mut out = Vec::new();
    for (name, value) in fields {
        let name = quote(name);
        if HostClass::<FilePart>::of(value).is_some() {
            let (filename, content_type) =
                (value.get(ctx, "filename")?.to_text(ctx)?, value.get(ctx, "content_type")?.to_text(ctx)?);
            let disposition = format!(
                "--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"; filename=\"{}\"\r\nContent-Type: {}\r\n\r\n",
                quote(&filename),
                content_type.replace(['\r', '\n'], " ")
            );
            out.extend_from_slice(disposition.as_bytes());
            let data = value.get(ctx, "data")?;
            if with_files {
                match data.array_buffer(ctx).or_else(|| data.typed_array(ctx)) {
                    Some(bytes) => out.extend_from_slice(bytes),
                    None => out.extend_from_slice(&string_bytes(ctx, &data)?),
                }
            }
        } else {
            out.extend_from_slice(
                format!("--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n").as_bytes(),
            );
            if value.is_set() {
                out.extend_from_slice(value.to_text(ctx)?.as_bytes());
            }
        }
        out.extend_from_slice(b"\r\n");
    }
    out.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    Ok(out)
}

/// Go's escaping of names in Content-Disposition.
fn quote(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\r', "%0D").replace('\n', "%0A")
}

/// Applies the `compression` parameter and sets Content-Encoding.
pub(super) fn compress(vu: &Vu, body: Body, params: &mut Params, label: &Label<'_>) -> Result<Body, Problem> {
    let Body::Bytes(bytes) = &body else { return Ok(body) };
    if params.compression.is_empty() || bytes.is_empty() {
        return Ok(body);
    }
    let compressed = encoding::encode(bytes, &params.compression)
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
        None => params.headers.set("Content-Encoding", &names),
    }
    Ok(Body::Bytes(compressed.into()))
}
