//! What a client asks for, and whether the answer grants it.

use base64::{Engine as _, engine::general_purpose::STANDARD};

use super::{deflate::Agreement, mask};
use crate::{
    header::{HeaderBlock, RequestHeaders},
    text::trim_ows,
};

/// A request for a WebSocket.
#[derive(Debug)]
pub struct Offer {
    /// 16 random bytes, in Base64.
    key: String,
    /// Asks for compression.
    deflate: bool,
}

/// Why there is no WebSocket.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HandshakeError {
    /// A header that the handshake writes itself.
    #[error("websocket: duplicate header not allowed: {0}")]
    DuplicateHeader(&'static str),
    /// The answer is no, or does not belong to the question.
    #[error("websocket: bad handshake")]
    Bad,
    /// The server wants another compression than was offered.
    #[error("websocket: invalid compression negotiation")]
    Compression,
}

impl Offer {
    /// With a key that nobody can foresee.
    pub fn new(deflate: bool) -> Self {
        let key = [mask::bits().to_ne_bytes(), mask::bits().to_ne_bytes()].concat();
        Self { key: STANDARD.encode(key), deflate }
    }

    /// Adds the handshake to the headers of a request.
    ///
    /// # Errors
    /// When they contain a part of it already.
    pub fn add_to(&self, headers: &mut RequestHeaders, protocols: &[String]) -> Result<(), HandshakeError> {
        for name in OWN_HEADERS {
            if headers.get(name).is_some() {
                return Err(HandshakeError::DuplicateHeader(name));
            }
        }
        if !protocols.is_empty() {
            if headers.get(PROTOCOL).is_some() {
                return Err(HandshakeError::DuplicateHeader(PROTOCOL));
            }
            headers.set(PROTOCOL, &protocols.join(", "));
        }
        headers.set("Upgrade", "websocket");
        headers.set("Connection", "Upgrade");
        headers.set("Sec-Websocket-Key", &self.key);
        headers.set("Sec-Websocket-Version", "13");
        if self.deflate {
            headers.set(EXTENSIONS, "permessage-deflate; server_no_context_takeover; client_no_context_takeover");
        }
        Ok(())
    }

    /// Judges an answer with the status 101: what was agreed on.
    ///
    /// # Errors
    /// When it is no answer to this offer.
    pub fn judge(&self, headers: &HeaderBlock) -> Result<Option<Agreement>, HandshakeError> {
        let says = |name: &str, token: &str| headers.get_all(name).any(|value| has_token(value, token));
        let is_sound = says("upgrade", "websocket")
            && says("connection", "upgrade")
            && headers
                .get("sec-websocket-accept")
                .is_some_and(|accept| trim_ows(accept) == accept_key(&self.key).as_bytes());
        if !is_sound {
            return Err(HandshakeError::Bad);
        }
        let mut extensions = headers.get_all("sec-websocket-extensions").flat_map(|value| value.split(|&b| b == b','));
        let agreed = extensions.find(|extension| {
            let name = extension.split(|&byte| byte == b';').next().unwrap_or_default();
            trim_ows(name).eq_ignore_ascii_case(b"permessage-deflate")
        });
        let Some(agreed) = agreed else { return Ok(None) };
        let has = |wanted: &str| {
            let mut parameters = agreed.split(|&byte| byte == b';').skip(1);
            parameters.any(|parameter| {
                let name = parameter.split(|&byte| byte == b'=').next().unwrap_or_default();
                trim_ows(name).eq_ignore_ascii_case(wanted.as_bytes())
            })
        };
        // k6: both, even where nobody had asked for compression.
        if has("server_no_context_takeover") && has("client_no_context_takeover") {
            Ok(Some(Agreement::NO_CONTEXT))
        } else {
            Err(HandshakeError::Compression)
        }
    }
}

/// Whether a list of tokens contains one, whatever its letters' case.
fn has_token(list: &[u8], token: &str) -> bool {
    list.split(|&byte| byte == b',').any(|item| trim_ows(item).eq_ignore_ascii_case(token.as_bytes()))
}

/// What a server answers to a key.
fn accept_key(key: &str) -> String {
    let text = [key, "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"].concat();
    STANDARD.encode(aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA1_FOR_LEGACY_USE_ONLY, text.as_bytes()))
}

const PROTOCOL: &str = "Sec-Websocket-Protocol";
const EXTENSIONS: &str = "Sec-Websocket-Extensions";
/// Headers that only the handshake may have.
const OWN_HEADERS: [&str; 5] = ["Upgrade", "Connection", "Sec-Websocket-Key", "Sec-Websocket-Version", EXTENSIONS];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http1::{HeadParser, HeadState, Limits};

    fn offer() -> Offer {
        Offer { key: "dGhlIHNhbXBsZSBub25jZQ==".to_owned(), deflate: true }
    }

    #[test]
    fn offers_are_headers() {
        let mut headers = RequestHeaders::new();
        headers.set("X-Mine", "1");
        offer().add_to(&mut headers, &["a".to_owned(), "b".to_owned()]).unwrap();
        assert_eq!(headers.get("Sec-WebSocket-Protocol"), Some("a, b"));
        assert_eq!(headers.get("Upgrade"), Some("websocket"));
        for name in ["upgrade", "Sec-WebSocket-Key", "sec-websocket-extensions"] {
            let mut headers = RequestHeaders::new();
            headers.set(name, "x");
            let error = offer().add_to(&mut headers, &[]).unwrap_err();
            assert_eq!(
                error.to_string(),
                format!("websocket: duplicate header not allowed: {}", crate::canonical_name(name))
            );
        }
        assert_ne!(Offer::new(false).key, Offer::new(false).key);
    }

    #[test]
    fn answers_are_judged() {
        let check = |lines: &str, expect: &str| {
            let text = format!("HTTP/1.1 101 Switching Protocols\r\n{lines}\r\n");
            let state = HeadParser::default().feed(text.as_bytes(), false, &Limits::default()).unwrap();
            let HeadState::Complete { head, .. } = state else { panic!("the head is complete") };
            let outcome = offer().judge(&head.headers);
            let shown = outcome.map_or_else(|error| error.to_string(), |agreed| format!("{}", agreed.is_some()));
            assert_eq!(shown, expect, "{lines}");
        };
        let good = "Upgrade: WebSocket\r\nConnection: keep-alive, Upgrade\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n";
        check(good, "false");
        for (part, other) in
            [("WebSocket", "h2c"), ("Upgrade\r\n", "close\r\n"), ("s3pP", "S3pP"), ("Sec-WebSocket-Accept", "X")]
        {
            check(&good.replace(part, other), "websocket: bad handshake");
        }
        let with = |extensions: &str| format!("{good}Sec-WebSocket-Extensions: {extensions}\r\n");
        check(&with("permessage-deflate; server_no_context_takeover; client_no_context_takeover"), "true");
        check(&with("x, permessage-deflate;client_no_context_takeover;server_no_context_takeover"), "true");
        check(&with("permessage-deflate"), "websocket: invalid compression negotiation");
        check(&with("permessage-deflate; server_no_context_takeover"), "websocket: invalid compression negotiation");
        check(&with("x-webkit-deflate-frame"), "false");
    }
}
