//! Endpoints behind credentials.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::body::starts_with_ignore_case;
use crate::head::Head;
use crate::json::Json;
use crate::reply::Built;
use crate::routes::{GET, Outcome, allow, decode, not_found};

/// `rest` is `{user}/{password}`; without them the answer is `denied`.
pub(super) fn basic(head: &Head<'_>, rest: &str, denied: u16) -> Outcome {
    let (user, password) = rest.split_once('/').ok_or_else(not_found)?;
    allow(head, GET)?;
    let (user, password) = (decode(user), decode(password));
    let given = credentials(head, b"basic ").and_then(|text| STANDARD.decode(text).ok());
    if given.is_none_or(|given| given != format!("{user}:{password}").as_bytes()) {
        let built = Built::empty(denied);
        return Err(Box::new(match denied {
            401 => built.with("WWW-Authenticate", "Basic realm=\"onrush\""),
            _ => built,
        }));
    }
    let mut json = Json::new();
    json.open();
    json.key("authenticated").boolean(true);
    json.key("user").string(&user);
    json.close();
    Ok(Built::json(json.finish()))
}

pub(super) fn bearer(head: &Head<'_>) -> Outcome {
    allow(head, GET)?;
    let Some(token) = credentials(head, b"bearer ") else {
        return Err(Box::new(Built::empty(401).with("WWW-Authenticate", "Bearer")));
    };
    let mut json = Json::new();
    json.open();
    json.key("authenticated").boolean(true);
    json.key("token").string(&String::from_utf8_lossy(token));
    json.close();
    Ok(Built::json(json.finish()))
}

/// What follows the scheme's name in `Authorization`.
fn credentials<'a>(head: &Head<'a>, scheme: &[u8]) -> Option<&'a [u8]> {
    let value = head.header("authorization")?;
    starts_with_ignore_case(value, scheme).then(|| value[scheme.len()..].trim_ascii())
}
