//! What a target can be asked to do wrong: on a listener, or in an answer.

/// How a connection breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Break {
    /// With a TCP reset.
    Reset,
    /// With an orderly end, where none is due.
    Close,
    /// Not at all: nothing is sent any more.
    Stall,
}

/// A break during TLS handshakes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HandshakeFault {
    /// How it breaks.
    pub how: Break,
    /// After how many bytes of the server's side of the handshake.
    pub at_bytes: usize,
}

/// What is wrong with one answer.
#[derive(Debug)]
pub(crate) struct Fault {
    /// Sent instead of a well-formed response.
    pub(crate) raw: Option<Vec<u8>>,
    /// Counted from the body's first byte on the wire, not from the response's.
    pub(crate) in_body: bool,
    /// Where it goes wrong.
    pub(crate) at_bytes: usize,
    pub(crate) ending: Ending,
}

/// What happens from there on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    Break(Break),
    /// The rest comes a byte at a time, at this interval.
    Slow(u64),
    /// Nothing: the connection is as good as before.
    Keep,
}

/// A break by its name.
pub(crate) fn break_in(text: &str) -> Option<Break> {
    Some(match text {
        "reset" => Break::Reset,
        "close" => Break::Close,
        "stall" => Break::Stall,
        _ => return None,
    })
}

impl std::str::FromStr for Break {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        break_in(text).ok_or("it is reset, close or stall")
    }
}

impl std::str::FromStr for HandshakeFault {
    type Err = &'static str;

    /// Reads `reset`, `close` or `stall`, with `@BYTES` or from the start.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (how, at) = text.split_once('@').unwrap_or((text, "0"));
        let at_bytes = at.parse().map_err(|_| "what follows the @ is a number of bytes")?;
        Ok(Self { how: how.parse()?, at_bytes })
    }
}
