//! How a connection ends: codes, reasons, and Go's texts about them.

use super::{decoder::ReadError, frame::CONTROL_BYTES_MAX};

/// The server's close frame, or what stands for one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CloseError {
    /// The code; 1005 where the frame has none, 1006 where there was no frame.
    pub code: u16,
    /// The reason, as it came.
    pub reason: String,
}

impl CloseError {
    /// A close without a code.
    pub const NO_STATUS: u16 = 1005;
    /// The connection ended without a close.
    pub const ABNORMAL: u16 = 1006;

    /// The connection ended in the middle.
    pub fn unexpected_eof() -> Self {
        Self { code: Self::ABNORMAL, reason: "unexpected EOF".to_owned() }
    }

    /// Reads a close frame's payload.
    ///
    /// # Errors
    /// For a code that nobody may send, or a reason that is no text.
    pub(super) fn read(payload: &[u8]) -> Result<Self, ReadError> {
        let Some((code, reason)) = payload.split_first_chunk() else {
            return Ok(Self { code: Self::NO_STATUS, reason: String::new() });
        };
        let code = u16::from_be_bytes(*code);
        if !matches!(code, 1000..=1003 | 1007..=1013 | 3000..=4999) {
            return Err(ReadError::protocol(format!("bad close code {code}")));
        }
        match std::str::from_utf8(reason) {
            Ok(reason) => Ok(Self { code, reason: reason.to_owned() }),
            Err(_) => Err(ReadError::protocol("invalid utf8 payload in close frame".to_owned())),
        }
    }
}

impl std::fmt::Display for CloseError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let meaning = match self.code {
            1000 => " (normal)",
            1001 => " (going away)",
            1002 => " (protocol error)",
            1003 => " (unsupported data)",
            1005 => " (no status)",
            1006 => " (abnormal closure)",
            1007 => " (invalid payload data)",
            1008 => " (policy violation)",
            1009 => " (message too big)",
            1010 => " (mandatory extension missing)",
            1011 => " (internal server error)",
            1015 => " (TLS handshake error)",
            _ => "",
        };
        write!(f, "websocket: close {}{meaning}", self.code)?;
        if self.reason.is_empty() { Ok(()) } else { write!(f, ": {}", self.reason) }
    }
}

/// The payload of a close frame. A reason that is too long is cut.
pub fn close_payload(code: u16, reason: &str) -> Vec<u8> {
    // 1005 stands for a frame without a code.
    if code == CloseError::NO_STATUS {
        return Vec::new();
    }
    let mut end = reason.len().min(CONTROL_BYTES_MAX - 2);
    while !reason.is_char_boundary(end) {
        end -= 1;
    }
    let mut payload = code.to_be_bytes().to_vec();
    payload.extend_from_slice(&reason.as_bytes()[..end]);
    payload
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closes_are_read() {
        let check = |payload: &[u8], expect: &str| {
            let shown = CloseError::read(payload).map_or_else(|error| error.to_string(), |close| close.to_string());
            assert_eq!(shown, expect);
        };
        check(b"", "websocket: close 1005 (no status)");
        check(b"\x03", "websocket: close 1005 (no status)");
        check(b"\x03\xe8", "websocket: close 1000 (normal)");
        check(b"\x03\xf3why", "websocket: close 1011 (internal server error): why");
        check(b"\x0b\xb9r", "websocket: close 3001: r");
        check(b"\x03\xed", "websocket: bad close code 1005");
        check(b"\x00\x00", "websocket: bad close code 0");
        check(b"\x13\x88", "websocket: bad close code 5000");
        check(b"\x03\xe8\xff", "websocket: invalid utf8 payload in close frame");
    }

    #[test]
    fn reasons_fit_a_control_frame() {
        assert_eq!(close_payload(1000, "bye"), b"\x03\xe8bye");
        assert_eq!(close_payload(1005, "bye"), b"");
        assert_eq!(close_payload(1000, &"é".repeat(100)).len(), 124);
    }
}
