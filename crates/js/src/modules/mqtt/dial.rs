//! Connecting, on a child fiber. No JavaScript runs here.

use std::time::Duration;

use onrush_fiber::Clock;
use onrush_mqtt::{Connect, Decoder, Packet};
use onrush_net::NetError;

use super::{options::Server, way::Way};
use crate::{
    embed::{JsResult, Throw},
    vu::Vu,
};

/// A server that has said yes.
pub(super) struct Dialled {
    pub(super) wire: Way,
    /// With what has come behind its answer.
    pub(super) decoder: Decoder,
    pub(super) server: Server,
}

/// Tries the servers, one after the other.
pub(super) fn dial(
    vu: &Vu,
    servers: Vec<Server>,
    hello: &Connect,
    timeout_ms: u64,
) -> JsResult<Result<Dialled, String>> {
    let mut failed = String::new();
    for server in servers {
        let deadline = Clock::now() + Duration::from_millis(timeout_ms.min(TIMEOUT_MS_MAX));
        let dialled = greet(vu, server, hello, deadline);
        if onrush_fiber::is_cancelled() {
            return Err(Throw::Interrupted);
        }
        match dialled {
            Ok(dialled) => return Ok(Ok(dialled)),
            Err(text) => failed = text,
        }
    }
    Ok(Err(failed))
}

fn greet(vu: &Vu, server: Server, hello: &Connect, deadline: onrush_fiber::Nanos) -> Result<Dialled, String> {
    let text = |error: NetError| error.detail;
    let mut bytes = Vec::new();
    Packet::Connect(Box::new(hello.clone())).write(&mut bytes).map_err(|error| error.to_string())?;
    let wire = Way::open(vu, &server, deadline).map_err(text)?;
    if !wire.try_write(&bytes).map_err(text)? {
        wire.finish_writes(Some(deadline)).map_err(text)?;
    }
    let mut decoder = Decoder::default();
    loop {
        match decoder.packet().map_err(|malformed| malformed.to_string())? {
            Some(Packet::ConnectAck { code: 0, .. }) => return Ok(Dialled { wire, decoder, server }),
            Some(Packet::ConnectAck { code, .. }) => return Err(refusal(code)),
            Some(_) => return Err("the server does not begin with its answer".to_owned()),
            None => {}
        }
        if !wire.read(decoder.buffer(), Some(deadline)).map_err(text)? {
            return Err("EOF".to_owned());
        }
    }
}

/// Reasons of the standard, section 3.2.2.3.
fn refusal(code: u8) -> String {
    match code {
        1 => "unacceptable protocol version".to_owned(),
        2 => "identifier rejected".to_owned(),
        3 => "server unavailable".to_owned(),
        4 => "bad user name or password".to_owned(),
        5 => "not authorized".to_owned(),
        _ => format!("the server refuses with code {code}"),
    }
}

/// A week.
const TIMEOUT_MS_MAX: u64 = 7 * 24 * 3_600_000;
