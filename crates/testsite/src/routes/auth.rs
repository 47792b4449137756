//! Endpoints behind credentials.

use base64::{Engine, engine::general_purpose::STANDARD};

use super::request::{GET, Outcome, Request, allow, decode, not_found};
use crate::{
    body::starts_with_ignore_case,
    clock::wall_seconds,
    context::Context,
    head::Head,
    json::Json,
    ntlm::{self, Message, State},
    reply::Built,
};

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
pub(super) fn credentials<'a>(head: &Head<'a>, scheme: &[u8]) -> Option<&'a [u8]> {
    let value = head.header("authorization")?;
    starts_with_ignore_case(value, scheme).then(|| value[scheme.len()..].trim_ascii())
}

/// `/ntlm/{user}/{password}`: NTLMv2, bound to the connection.
pub(super) fn ntlm(request: &Request<'_>, rest: &str, cx: &mut Context) -> Outcome {
    let (user, password) = rest.split_once('/').ok_or_else(not_found)?;
    let (user, password) = (decode(user), decode(password));
    let Some(state) = request.link.ntlm else {
        return Err(Box::new(Built::explained(403, "NTLM authenticates connections, which HTTP/2 shares")));
    };
    let denied = |why: &str, state: &std::cell::Cell<State>| {
        state.set(State::Start);
        Box::new(Built::explained(401, why).with("WWW-Authenticate", "NTLM"))
    };
    let message = credentials(request.head, b"ntlm ").and_then(|text| STANDARD.decode(text).ok());
    let kind = message.as_deref().map(ntlm::kind);
    let mut json = Json::new();
    json.open();
    json.key("authenticated").boolean(true);
    match (kind, state.get()) {
        (None, State::Done) => {}
        (None, _) => return Err(denied("credentials are needed", state)),
        (Some(None), _) => return Err(denied("not an NTLM message", state)),
        (Some(Some(Message::Negotiate)), _) => {
            let challenge = cx.random().to_le_bytes();
            state.set(State::Challenged(challenge));
            // Seconds since 1601 in 100 ns.
            let filetime = (wall_seconds() + 11_644_473_600).saturating_mul(10_000_000);
            let answer = STANDARD.encode(ntlm::challenge_message(challenge, filetime));
            return Err(Box::new(Built::empty(401).with("WWW-Authenticate", &format!("NTLM {answer}"))));
        }
        (Some(Some(Message::Authenticate)), State::Challenged(challenge)) => {
            let message = message.unwrap_or_default();
            let domain = ntlm::verify(&message, challenge, &user, &password).map_err(|why| denied(why, state))?;
            state.set(State::Done);
            json.key("domain").string(&domain);
        }
        (Some(Some(Message::Authenticate)), _) => {
            return Err(denied("no challenge was sent on this connection", state));
        }
    }
    json.key("user").string(&user);
    json.close();
    Ok(Built::json(json.finish()))
}
