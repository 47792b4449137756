//! `/respond`: an answer put together from the query.

use super::request::{Outcome, bad_request, field, fields, number_field};
use crate::{
    head::Head,
    reply::Built,
    response_head::{TEXT, is_token},
    routes::headers::is_reserved,
    status_code::code_in,
};

/// Interim responses, and trailers, of one answer.
const EXTRAS_MAX: usize = 1000;
/// Longest body; `/f/{n}` streams longer ones.
const BODY_BYTES_MAX: u64 = 1024 * 1024;

/// `status`, `header`, `body` or `bytes`, `interim`, `trailer`, `chunk_size`; for any method.
pub(super) fn respond(head: &Head<'_>) -> Outcome {
    let status = match field(head.query, "status") {
        None => 200,
        Some(text) => code_in(&text).ok_or_else(|| bad_request("status must be between 200 and 599"))?,
    };
    let bytes = number_field(head.query, "bytes", 0)?;
    if bytes > BODY_BYTES_MAX {
        return Err(bad_request("bytes must be up to 1048576"));
    }
    let body = match field(head.query, "body") {
        Some(text) => text.into_owned().into_bytes(),
        None => vec![b'x'; bytes as usize],
    };
    let mut built = Built::new(status, "", body);
    let mut typed = false;
    let mut hints = Vec::new();
    let mut interim = Vec::new();
    for (name, value) in fields(head.query.as_bytes()) {
        match &*name {
            "header" => {
                let (name, value) = line(&value)?;
                typed |= name.eq_ignore_ascii_case("content-type");
                built.add(name, value);
            }
            "hint" => hints.push(value.into_owned()),
            "interim" => match value.parse() {
                Ok(100 | 102..=199) if interim.len() < EXTRAS_MAX => interim.push(value.parse().unwrap_or(100)),
                Ok(100 | 102..=199) => return Err(bad_request("too many interim responses")),
                _ => return Err(bad_request("interim must be 100 or between 102 and 199")),
            },
            "trailer" => {
                let (name, value) = line(&value)?;
                if built.extra().trailers >= EXTRAS_MAX {
                    return Err(bad_request("too many trailers"));
                }
                built.add_trailer(name, value);
            }
            _ => {}
        }
    }
    if !typed {
        built.add("Content-Type", TEXT);
    }
    for status in interim {
        built.add_interim(status);
        // What 103 is for: headers that come early.
        for hint in hints.iter().filter(|_| status == 103) {
            let (name, value) = line(hint)?;
            built.add_to_interim(name, value);
        }
    }
    let chunk_bytes = number_field(head.query, "chunk_size", 0)?;
    if chunk_bytes > 0 {
        built.extra().chunk_bytes = Some(usize::try_from(chunk_bytes).unwrap_or(usize::MAX));
    }
    Ok(built)
}

/// Splits `Name: value`.
fn line(text: &str) -> Result<(&str, &str), Box<Built>> {
    let (name, value) = text.split_once(':').ok_or_else(|| bad_request("a header is written as Name: value"))?;
    if !is_token(name.as_bytes()) || is_reserved(name) {
        return Err(bad_request("not a header that can be chosen"));
    }
    Ok((name, value.trim()))
}
