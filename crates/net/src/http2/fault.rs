//! What can go wrong with an HTTP/2 session or stream, and k6's codes and texts for it.

use std::borrow::Cow;

use crate::{
    error::{NetError, code},
    text::go_quote,
};

use super::guard::{GoAway, reason};

/// Something went wrong on the level of frames.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fault {
    /// The connection is of no use any more.
    Connection { code: u32 },
    /// Only one stream is concerned.
    Stream {
        stream: u32,
        code: u32,
        /// The server reset it; else we did.
        from_peer: bool,
    },
    /// A frame that is longer than we take. k6: an error without a code.
    FrameTooLarge,
}

impl Fault {
    pub(super) fn connection(code: u32) -> Self {
        Self::Connection { code }
    }

    /// The code we tell the server.
    pub(super) fn code(&self) -> u32 {
        match self {
            Self::Connection { code } | Self::Stream { code, .. } => *code,
            Self::FrameTooLarge => reason::FRAME_SIZE_ERROR,
        }
    }

    /// Whether Go would send the request again, on another connection.
    pub(super) fn is_retried(&self) -> bool {
        match self {
            Self::Stream { code: reason::REFUSED_STREAM, .. } => true,
            // k6: Go takes this for a sign of a server that has closed its side.
            Self::Stream { code: reason::PROTOCOL_ERROR, from_peer, .. } => *from_peer,
            _ => false,
        }
    }

    pub(super) fn to_net_error(&self) -> NetError {
        match self {
            Self::Connection { code } => {
                let name = reason_name(*code);
                NetError::with_detail(
                    known(*code, code::HTTP2_CONNECTION),
                    format!("http2: connection error with http2 ErrCode {name}"),
                    format!("connection error: {name}"),
                )
            }
            Self::Stream { stream, code, from_peer } => {
                let name = reason_name(*code);
                let origin = if *from_peer { "; received from peer" } else { "" };
                NetError::with_detail(
                    known(*code, code::HTTP2_STREAM),
                    format!("http2: stream error with http2 ErrCode {name}"),
                    format!("stream error: stream ID {stream}; {name}{origin}"),
                )
            }
            Self::FrameTooLarge => NetError::generic("http2: frame too large"),
        }
    }
}

impl GoAway {
    /// The connection was closed after this GOAWAY, with the request unanswered.
    pub(super) fn closed_error(&self) -> NetError {
        let name = reason_name(self.code);
        NetError::with_detail(
            known(self.code, code::HTTP2_GOAWAY),
            format!("http2: received GoAway with http2 ErrCode {name}"),
            format!(
                "http2: server sent GOAWAY and closed the connection; LastStreamID={}, ErrCode={name}, debug={}",
                self.last_stream,
                go_quote(&self.debug)
            ),
        )
    }

    /// Whether Go sends a request again that this GOAWAY says was not looked at: always, but on a connection that has
    /// answered nothing else and failed.
    pub(super) fn is_retried(&self, stream: u32) -> bool {
        self.code == reason::NO_ERROR || stream != 1
    }

    /// This GOAWAY says that the request was not looked at.
    pub(super) fn unprocessed_error(&self, stream: u32) -> NetError {
        if self.is_retried(stream) {
            return NetError::generic("http2: Transport received Server's graceful shutdown GOAWAY");
        }
        let name = reason_name(self.code);
        NetError::generic(format!("http2: Transport received GOAWAY from server ErrCode:{name}"))
    }
}

/// The k6 code of an HTTP/2 error code: the base plus one plus the code, or the base for codes k6 has no name for.
fn known(reason: u32, base: u16) -> u16 {
    match u16::try_from(reason) {
        Ok(number) if usize::from(number) < NAMES.len() => base + 1 + number,
        _ => base,
    }
}

/// The name of an HTTP/2 error code, RFC 9113 section 7, as Go writes it.
pub fn reason_name(reason: u32) -> Cow<'static, str> {
    match NAMES.get(reason as usize) {
        Some(name) => Cow::Borrowed(name),
        None => Cow::Owned(format!("unknown error code 0x{reason:x}")),
    }
}

const NAMES: [&str; 14] = [
    "NO_ERROR",
    "PROTOCOL_ERROR",
    "INTERNAL_ERROR",
    "FLOW_CONTROL_ERROR",
    "SETTINGS_TIMEOUT",
    "STREAM_CLOSED",
    "FRAME_SIZE_ERROR",
    "REFUSED_STREAM",
    "CANCEL",
    "COMPRESSION_ERROR",
    "CONNECT_ERROR",
    "ENHANCE_YOUR_CALM",
    "INADEQUATE_SECURITY",
    "HTTP_1_1_REQUIRED",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_and_texts_are_k6s() {
        let check = |error: NetError, code: u16, message: &str, detail: &str| {
            assert_eq!((error.code, &*error.message, &*error.detail), (code, message, detail));
        };
        check(
            Fault::connection(1).to_net_error(),
            1652,
            "http2: connection error with http2 ErrCode PROTOCOL_ERROR",
            "connection error: PROTOCOL_ERROR",
        );
        check(
            Fault::Stream { stream: 3, code: 8, from_peer: true }.to_net_error(),
            1639,
            "http2: stream error with http2 ErrCode CANCEL",
            "stream error: stream ID 3; CANCEL; received from peer",
        );
        check(
            Fault::Stream { stream: 1, code: 14, from_peer: false }.to_net_error(),
            1630,
            "http2: stream error with http2 ErrCode unknown error code 0xe",
            "stream error: stream ID 1; unknown error code 0xe",
        );
        let goaway = GoAway { last_stream: 1, code: 0, debug: (*b"a\"").into() };
        check(
            goaway.closed_error(),
            1611,
            "http2: received GoAway with http2 ErrCode NO_ERROR",
            "http2: server sent GOAWAY and closed the connection; LastStreamID=1, ErrCode=NO_ERROR, debug=\"a\\\"\"",
        );
    }
}
