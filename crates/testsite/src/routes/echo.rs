//! Endpoints that answer with what they were sent, as httpbin does.

use std::borrow::Cow;

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::value::RawValue;

use super::request::{Request, fields};
use crate::{
    body::{Body, starts_with_ignore_case},
    head::Head,
    json::Json,
    multipart::Part,
    reply::Built,
};

/// The request as JSON.
pub(super) fn echo(request: &Request<'_>) -> Built {
    let head = request.head;
    let mut json = Json::new();
    json.open();
    json.key("args");
    write_fields(&mut json, fields(head.query.as_bytes()).collect());
    let truncated = write_body(&mut json, request);
    json.key("headers");
    write_headers(&mut json, head);
    json.key("method").string(head.method);
    json.key("origin").string(&request.link.peer.ip().to_string());
    if truncated {
        json.key("truncated").boolean(true);
    }
    json.key("url").string(&request.url());
    json.close();
    Built::json(json.finish())
}

/// Writes `data`, `files`, `form` and `json`; returns whether something was left out.
fn write_body(json: &mut Json, request: &Request<'_>) -> bool {
    let mut data = Cow::Borrowed("");
    let mut form = Vec::new();
    let mut files: Vec<(&str, &Part)> = Vec::new();
    let mut value = None;
    let truncated;
    match &request.body {
        Body::Counted(bytes) => truncated = *bytes > 0,
        Body::Kept { data: kept, total } => {
            truncated = *total > kept.len() as u64;
            let content_type = request.head.header("content-type").unwrap_or_default();
            if starts_with_ignore_case(content_type, b"application/x-www-form-urlencoded") {
                form = fields(kept).collect();
            } else {
                data = text(kept);
                if !truncated && !kept.is_empty() {
                    value = serde_json::from_slice::<&RawValue>(kept).ok();
                }
            }
        }
        Body::Multipart(reader) => {
            truncated = reader.truncated();
            for part in reader.parts() {
                if part.file_name.is_some() {
                    files.push((&part.name, part));
                } else {
                    form.push((Cow::Borrowed(part.name.as_str()), text(&part.value)));
                }
            }
        }
    }
    json.key("data").string(&data);
    json.key("files");
    write_grouped(json, files, |json, part| {
        json.open();
        json.key("filename").string(part.file_name.as_deref().unwrap_or_default());
        json.key("content_type").string(&part.content_type);
        json.key("size").number(part.bytes);
        json.close();
    });
    json.key("form");
    write_fields(json, form);
    json.key("json");
    match value {
        Some(value) => json.raw(value.get().as_bytes()),
        None => json.null(),
    }
    truncated
}

/// Bytes as text; what is not UTF-8 becomes a data URL, as in httpbin.
fn text(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => Cow::Owned(format!("data:application/octet-stream;base64,{}", STANDARD.encode(bytes))),
    }
}

/// Writes fields as an object.
pub(super) fn write_fields(json: &mut Json, fields: Vec<(Cow<'_, str>, Cow<'_, str>)>) {
    write_grouped(json, fields, |json, value| json.string(value));
}

/// Writes an object sorted by key; a key that comes more than once has a list.
fn write_grouped<K: Ord + AsRef<str>, V>(json: &mut Json, mut pairs: Vec<(K, V)>, write: impl Fn(&mut Json, &V)) {
    pairs.sort_by(|(left, _), (right, _)| left.cmp(right));
    json.open();
    for group in pairs.chunk_by(|(left, _), (right, _)| left == right) {
        json.key(group[0].0.as_ref());
        if let [(_, value)] = group {
            write(json, value);
        } else {
            json.open_list();
            for (_, value) in group {
                write(json, value);
            }
            json.close_list();
        }
    }
    json.close();
}

/// Writes the request's headers as an object, names as `Content-Type`, values of the same name joined.
pub(super) fn write_headers(json: &mut Json, head: &Head<'_>) {
    let mut headers: Vec<(String, Cow<'_, str>)> =
        head.headers.iter().map(|header| (title_case(header.name), String::from_utf8_lossy(header.value))).collect();
    headers.sort_by(|(left, _), (right, _)| left.cmp(right));
    json.open();
    for group in headers.chunk_by(|(left, _), (right, _)| left == right) {
        let values: Vec<&str> = group.iter().map(|(_, value)| value.as_ref()).collect();
        json.key(&group[0].0).string(&values.join(","));
    }
    json.close();
}

fn title_case(name: &str) -> String {
    let mut start = true;
    name.chars()
        .map(|letter| {
            let cased = if start { letter.to_ascii_uppercase() } else { letter.to_ascii_lowercase() };
            start = letter == '-';
            cased
        })
        .collect()
}
