//! Heads of frames: reading those of servers, writing ours.

use super::decoder::ReadError;

/// What a frame carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Opcode {
    /// More of the message before.
    Continuation,
    /// A text, or its beginning.
    Text,
    /// Bytes, or their beginning.
    Binary,
    /// The end.
    Close,
    /// A question that a pong answers.
    Ping,
    /// The answer to a ping.
    Pong,
}

impl Opcode {
    fn of(bits: u8) -> Option<Self> {
        Some(match bits {
            0 => Self::Continuation,
            1 => Self::Text,
            2 => Self::Binary,
            8 => Self::Close,
            9 => Self::Ping,
            10 => Self::Pong,
            _ => return None,
        })
    }

    /// Its four bits.
    pub(super) fn bits(self) -> u8 {
        match self {
            Self::Continuation => 0,
            Self::Text => 1,
            Self::Binary => 2,
            Self::Close => 8,
            Self::Ping => 9,
            Self::Pong => 10,
        }
    }

    pub(super) fn is_control(self) -> bool {
        matches!(self, Self::Close | Self::Ping | Self::Pong)
    }
}

/// The head of a server's frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) opcode: Opcode,
    pub(super) is_last: bool,
    /// RSV1: the message that begins is compressed.
    pub(super) is_compressed: bool,
    pub(super) payload_bytes: u64,
}

/// What the frames before say about the next one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Expected {
    /// A message has begun, and its last frame is still to come.
    pub(super) is_within_message: bool,
    /// Messages may be compressed.
    pub(super) may_be_compressed: bool,
}

/// Longest head: two bytes, eight of a length. Servers do not mask.
pub(super) const HEAD_BYTES_MAX: usize = 10;
/// Longest payload of a control frame.
pub(super) const CONTROL_BYTES_MAX: usize = 125;

impl Head {
    /// Reads a head from the front of `data`, and how many bytes it took; `None` when it is not complete.
    ///
    /// # Errors
    /// All that is wrong with its first two bytes, or a length nothing can have.
    pub(super) fn read(data: &[u8], expected: Expected) -> Result<Option<(Self, usize)>, ReadError> {
        let [first, second, rest @ ..] = data else { return Ok(None) };
        let (is_last, is_compressed, is_masked) = (first & FIN != 0, first & RSV1 != 0, second & MASK != 0);
        let opcode = Opcode::of(first & 0x0f);
        let short = second & 0x7f;
        let is_sound = first & (RSV2 | RSV3) == 0
            && !is_masked
            && (!is_compressed || expected.may_be_compressed)
            && opcode.is_some_and(|opcode| match opcode {
                _ if opcode.is_control() => is_last && usize::from(short) <= CONTROL_BYTES_MAX,
                Opcode::Continuation => expected.is_within_message,
                _ => !expected.is_within_message,
            });
        let Some(opcode) = opcode.filter(|_| is_sound) else {
            return Err(ReadError::protocol(faults(*first, *second, expected)));
        };
        let (payload_bytes, used) = match short {
            126 => match rest.first_chunk() {
                Some(bytes) => (u64::from(u16::from_be_bytes(*bytes)), 4),
                None => return Ok(None),
            },
            127 => match rest.first_chunk() {
                Some(bytes) => (u64::from_be_bytes(*bytes), HEAD_BYTES_MAX),
                None => return Ok(None),
            },
            short => (u64::from(short), 2),
        };
        Ok(Some((Self { opcode, is_last, is_compressed, payload_bytes }, used)))
    }
}

/// Everything that is wrong with a frame's first two bytes.
#[cold]
fn faults(first: u8, second: u8, expected: Expected) -> String {
    let mut faults = Vec::new();
    if first & RSV1 != 0 && !expected.may_be_compressed {
        faults.push("RSV1 set".to_owned());
    }
    if first & RSV2 != 0 {
        faults.push("RSV2 set".to_owned());
    }
    if first & RSV3 != 0 {
        faults.push("RSV3 set".to_owned());
    }
    match Opcode::of(first & 0x0f) {
        None => faults.push(format!("bad opcode {}", first & 0x0f)),
        Some(opcode) if opcode.is_control() => {
            if usize::from(second & 0x7f) > CONTROL_BYTES_MAX {
                faults.push("len > 125 for control".to_owned());
            }
            if first & FIN == 0 {
                faults.push("FIN not set on control".to_owned());
            }
        }
        Some(Opcode::Continuation) if !expected.is_within_message => faults.push("continuation after FIN".to_owned()),
        Some(Opcode::Text | Opcode::Binary) if expected.is_within_message => faults.push("data before FIN".to_owned()),
        Some(_) => {}
    }
    if second & MASK != 0 {
        faults.push("bad MASK".to_owned());
    }
    faults.join(", ")
}

/// Appends the head of a client's frame.
pub(super) fn put_head(out: &mut Vec<u8>, opcode: Opcode, is_compressed: bool, payload_bytes: usize, mask: [u8; 4]) {
    out.push(FIN | if is_compressed { RSV1 } else { 0 } | opcode.bits());
    match payload_bytes {
        short @ ..126 => out.push(MASK | short as u8),
        length @ 126..=0xffff => {
            out.push(MASK | 126);
            out.extend_from_slice(&(length as u16).to_be_bytes());
        }
        length => {
            out.push(MASK | 127);
            out.extend_from_slice(&(length as u64).to_be_bytes());
        }
    }
    out.extend_from_slice(&mask);
}

const FIN: u8 = 0x80;
const RSV1: u8 = 0x40;
const RSV2: u8 = 0x20;
const RSV3: u8 = 0x10;
const MASK: u8 = 0x80;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_of_servers() {
        let check = |data: &[u8], is_within_message: bool, may_be_compressed: bool, expect: &str| {
            let read = Head::read(data, Expected { is_within_message, may_be_compressed });
            let shown = match read {
                Ok(None) => "more".to_owned(),
                Ok(Some((head, used))) => format!(
                    "{:?}{}{} {} after {used}",
                    head.opcode,
                    if head.is_last { "" } else { " begins" },
                    if head.is_compressed { " compressed" } else { "" },
                    head.payload_bytes
                ),
                Err(error) => error.to_string(),
            };
            assert_eq!(shown, expect, "{data:x?}");
        };
        check(&[], false, false, "more");
        check(&[0x81], false, false, "more");
        check(&[0x81, 5], false, false, "Text 5 after 2");
        check(&[0x02, 126, 1], false, false, "more");
        check(&[0x02, 126, 1, 0], false, false, "Binary begins 256 after 4");
        check(&[0x82, 127, 0, 0, 0, 0, 0, 1, 0], false, false, "more");
        check(&[0x82, 127, 0, 0, 0, 0, 0, 1, 0, 0], false, false, "Binary 65536 after 10");
        check(&[0xc1, 5], false, true, "Text compressed 5 after 2");
        check(&[0x80, 5], true, false, "Continuation 5 after 2");
        check(&[0x89, 0], true, false, "Ping 0 after 2");
        check(&[0xc1, 5], false, false, "websocket: RSV1 set");
        check(&[0xf1, 5], false, true, "websocket: RSV2 set, RSV3 set");
        check(&[0x83, 5], false, false, "websocket: bad opcode 3");
        check(&[0x8f, 0x85], false, false, "websocket: bad opcode 15, bad MASK");
        check(&[0x08, 126], false, false, "websocket: len > 125 for control, FIN not set on control");
        check(&[0x81, 5], true, false, "websocket: data before FIN");
        check(&[0x80, 5], false, false, "websocket: continuation after FIN");
        check(&[0x81, 0x85], false, false, "websocket: bad MASK");
    }

    #[test]
    fn heads_of_clients() {
        let head = |length| {
            let mut out = Vec::new();
            put_head(&mut out, Opcode::Binary, true, length, [1, 2, 3, 4]);
            out
        };
        assert_eq!(head(0), [0xc2, 0x80, 1, 2, 3, 4]);
        assert_eq!(head(126), [0xc2, 0xfe, 0, 126, 1, 2, 3, 4]);
        assert_eq!(head(65536), [0xc2, 0xff, 0, 0, 0, 0, 0, 1, 0, 0, 1, 2, 3, 4]);
    }
}
