//! How a call ended: a code, a message, and details.

use std::borrow::Cow;

/// gRPC's codes; others are numbers without a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Code(pub u32);

/// How a call ended.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("rpc error: code = {} desc = {message}", code.name())]
pub struct Status {
    /// The code; [`Code::OK`] where all went well.
    pub code: Code,
    /// What the server, or we, say about it.
    pub message: String,
    /// The server's `google.rpc.Status`, serialised, if it sent one.
    pub details: Option<Vec<u8>>,
}

impl Code {
    #![expect(missing_docs, reason = "gRPC's own names")]
    pub const OK: Self = Self(0);
    pub const CANCELED: Self = Self(1);
    pub const UNKNOWN: Self = Self(2);
    pub const INVALID_ARGUMENT: Self = Self(3);
    pub const DEADLINE_EXCEEDED: Self = Self(4);
    pub const PERMISSION_DENIED: Self = Self(7);
    pub const RESOURCE_EXHAUSTED: Self = Self(8);
    pub const UNIMPLEMENTED: Self = Self(12);
    pub const INTERNAL: Self = Self(13);
    pub const UNAVAILABLE: Self = Self(14);
    pub const UNAUTHENTICATED: Self = Self(16);

    /// As Go writes it.
    pub fn name(self) -> Cow<'static, str> {
        match NAMES.get(self.0 as usize) {
            Some(name) => Cow::Borrowed(name),
            None => Cow::Owned(format!("Code({})", self.0)),
        }
    }

    /// What an HTTP status means where there is no gRPC status.
    pub fn of_http(status: u16) -> Self {
        match status {
            400 => Self::INTERNAL,
            401 => Self::UNAUTHENTICATED,
            403 => Self::PERMISSION_DENIED,
            404 => Self::UNIMPLEMENTED,
            429 | 502..=504 => Self::UNAVAILABLE,
            _ => Self::UNKNOWN,
        }
    }

    /// What a stream's reset means.
    pub fn of_reset(reason: u32) -> Self {
        match reason {
            0..=2 | 4..=6 | 9 | 10 | 13 => Self::INTERNAL,
            3 | 11 => Self::RESOURCE_EXHAUSTED,
            7 => Self::UNAVAILABLE,
            8 => Self::CANCELED,
            12 => Self::PERMISSION_DENIED,
            _ => Self::UNKNOWN,
        }
    }
}

impl Status {
    /// All went well.
    pub const OK: Self = Self { code: Code::OK, message: String::new(), details: None };

    /// A status of our own.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), details: None }
    }

    /// The time is up.
    pub fn deadline_exceeded() -> Self {
        Self::new(Code::DEADLINE_EXCEEDED, "context deadline exceeded")
    }

    /// Nobody wants the answer any more.
    pub fn canceled() -> Self {
        Self::new(Code::CANCELED, "context canceled")
    }

    /// Whether all went well.
    pub fn is_ok(&self) -> bool {
        self.code == Code::OK
    }
}

/// Undoes the escapes of `grpc-message`: `%` and two digits; whatever is none stays.
pub(crate) fn decode_message(text: &[u8]) -> String {
    let hex = |byte: u8| (byte as char).to_digit(16).map(|digit| digit as u8);
    let mut bytes = Vec::with_capacity(text.len());
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        let escaped = (byte == b'%')
            .then(|| text.get(at + 1).copied().and_then(hex).zip(text.get(at + 2).copied().and_then(hex)))
            .flatten();
        match escaped {
            Some((high, low)) => {
                bytes.push(high << 4 | low);
                at += 3;
            }
            None => {
                bytes.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// `google.rpc.Status`, which details are sent in.
pub fn schema() -> crate::Schema {
    crate::schema::built_in("status.proto", include_str!("status.proto"))
}

const NAMES: [&str; 17] = [
    "OK",
    "Canceled",
    "Unknown",
    "InvalidArgument",
    "DeadlineExceeded",
    "NotFound",
    "AlreadyExists",
    "PermissionDenied",
    "ResourceExhausted",
    "FailedPrecondition",
    "Aborted",
    "OutOfRange",
    "Unimplemented",
    "Internal",
    "Unavailable",
    "DataLoss",
    "Unauthenticated",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_unescaped() {
        let check = |text: &str, expect: &str| assert_eq!(decode_message(text.as_bytes()), expect);
        check("all is well", "all is well");
        check("50%25 of %E2%82%AC", "50% of €");
        check("%", "%");
        check("%4", "%4");
        check("%zz%41", "%zzA");
        check("%ff", "\u{fffd}");
    }

    #[test]
    fn statuses_read_as_gos() {
        let check = |code: u32, expect: &str| assert_eq!(Status::new(Code(code), "m").to_string(), expect);
        check(5, "rpc error: code = NotFound desc = m");
        check(17, "rpc error: code = Code(17) desc = m");
        assert_eq!(onrush_net::reason_name(20), "unknown error code 0x14");
    }
}
