//! Replies from bytes that come in pieces.

use thiserror::Error;

/// What a server answers.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply {
    /// Nothing: no such key.
    Nil,
    /// A number.
    Integer(i64),
    /// A number that is none of the integers.
    Double(f64),
    /// Yes or no.
    Boolean(bool),
    /// A text or bytes.
    Bytes(Vec<u8>),
    /// What went wrong, in the server's words.
    Error(String),
    /// Several; of a map, each key and then its value.
    List(Vec<Self>),
}

/// Why bytes are no reply.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Malformed {
    /// The line is none of the protocol's.
    #[error("redis: can't parse {0:?}")]
    Line(String),
    /// A length that is negative or no number.
    #[error("redis: invalid length in {0:?}")]
    Length(String),
    /// A line that does not end.
    #[error("redis: a line of a reply is longer than {LINE_BYTES_MAX} bytes")]
    LongLine,
    /// Lists in lists in lists.
    #[error("redis: a reply is nested deeper than {DEPTH_MAX} levels")]
    Deep,
    /// More than a client should hold.
    #[error("redis: a reply is larger than {} MiB", REPLY_BYTES_MAX >> 20)]
    Large,
    /// Bytes that do not end as announced.
    #[error("redis: a text does not end where its length says")]
    NoEnd,
}

/// The longest line: errors are lines, and a long one is no error any more.
const LINE_BYTES_MAX: usize = 64 << 10;

/// How deep replies nest: scripts of the server return trees, but not deep ones.
pub const DEPTH_MAX: usize = 32;

/// What one reply may take in memory, its elements included.
pub const REPLY_BYTES_MAX: usize = 128 << 20;

/// A list whose elements are still to come.
#[derive(Debug)]
struct Open {
    left: usize,
    items: Vec<Reply>,
    /// Attributes and messages nobody asked for.
    is_dropped: bool,
}

/// Bytes that came, and the reply that is being put together.
#[derive(Debug, Default)]
pub struct Decoder {
    buffer: Vec<u8>,
    /// Where the next element begins.
    at: usize,
    /// Up to where its line has been searched for an end.
    searched: usize,
    open: Vec<Open>,
    held: usize,
}

/// What a piece of the input is.
enum Step {
    Value(Reply),
    List { count: usize, is_dropped: bool },
    Wait,
}

impl Decoder {
    /// Where what comes is appended.
    pub fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.buffer
    }

    /// Nothing is left over: the connection can take another command.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.at == self.buffer.len() && self.open.is_empty()
    }

    /// The next reply, if all of it has come.
    ///
    /// # Errors
    ///
    /// What came is no reply; the connection is of no use any more.
    pub fn reply(&mut self) -> Result<Option<Reply>, Malformed> {
        loop {
            let mut value = match self.step()? {
                Step::Wait => return Ok(None),
                Step::Value(value) => value,
                Step::List { count, is_dropped } => {
                    if self.open.len() == DEPTH_MAX {
                        return Err(Malformed::Deep);
                    }
                    if count > 0 {
                        self.open.push(Open { left: count, items: Vec::new(), is_dropped });
                        continue;
                    }
                    if is_dropped {
                        continue;
                    }
                    Reply::List(Vec::new())
                }
            };
            // Puts it where it belongs; what that completes is the next value.
            loop {
                let Some(list) = self.open.last_mut() else {
                    self.buffer.drain(..self.at);
                    (self.at, self.searched, self.held) = (0, 0, 0);
                    return Ok(Some(value));
                };
                list.items.push(value);
                list.left -= 1;
                if list.left > 0 {
                    break;
                }
                let list = self.open.pop().expect("it was looked at");
                if list.is_dropped {
                    break;
                }
                value = Reply::List(list.items);
            }
        }
    }

    fn step(&mut self) -> Result<Step, Malformed> {
        let from = self.at.max(self.searched);
        let Some(end) = memchr::memchr(b'\n', &self.buffer[from..]).map(|end| from + end) else {
            self.searched = self.buffer.len();
            return if self.buffer.len() - self.at > LINE_BYTES_MAX {
                Err(Malformed::LongLine)
            } else {
                Ok(Step::Wait)
            };
        };
        // Searching begins here again where the bytes after the line have not come yet.
        self.searched = end;
        let line = &self.buffer[self.at..end];
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let shown = || String::from_utf8_lossy(&line[..line.len().min(100)]).into_owned();
        let Some((kind, rest)) = line.split_first() else { return Err(Malformed::Line(shown())) };
        let text = std::str::from_utf8(rest);
        let number = || text.ok().and_then(|text| text.parse::<i64>().ok());
        let length = || match number() {
            Some(-1) => Ok(None),
            Some(length) => usize::try_from(length).map(Some).map_err(|_| Malformed::Length(shown())),
            None => Err(Malformed::Length(shown())),
        };
        let list = |factor: usize, is_dropped: bool| match length()? {
            None => Ok(Step::Value(Reply::Nil)),
            // Each takes three bytes of the input at least, and much more here: a count alone reserves nothing.
            Some(count) if count > REPLY_BYTES_MAX / factor => Err(Malformed::Large),
            Some(count) => Ok(Step::List { count: count * factor, is_dropped }),
        };
        let wrong = || Malformed::Line(shown());
        let step = match kind {
            b'+' => Step::Value(Reply::Bytes(rest.to_vec())),
            b'-' => Step::Value(Reply::Error(String::from_utf8_lossy(rest).into_owned())),
            b':' => Step::Value(Reply::Integer(number().ok_or_else(wrong)?)),
            b'_' if rest.is_empty() => Step::Value(Reply::Nil),
            b',' => Step::Value(Reply::Double(text.ok().and_then(|text| text.parse().ok()).ok_or_else(wrong)?)),
            b'#' if rest == b"t" || rest == b"f" => Step::Value(Reply::Boolean(rest == b"t")),
            b'(' => Step::Value(Reply::Bytes(rest.to_vec())),
            b'*' | b'~' => list(1, false)?,
            b'%' => list(2, false)?,
            b'>' => list(1, true)?,
            b'|' => list(2, true)?,
            b'$' | b'=' | b'!' => match length()? {
                None => Step::Value(Reply::Nil),
                Some(length) if length > REPLY_BYTES_MAX => return Err(Malformed::Large),
                Some(length) => {
                    let start = end + 1;
                    let Some(bytes) = self.buffer.get(start..start + length + 2) else { return Ok(Step::Wait) };
                    let Some(bytes) = bytes.strip_suffix(b"\r\n") else { return Err(Malformed::NoEnd) };
                    let value = match kind {
                        b'!' => Reply::Error(String::from_utf8_lossy(bytes).into_owned()),
                        // `txt:` and the like.
                        b'=' => Reply::Bytes(bytes.get(4..).unwrap_or_default().to_vec()),
                        _ => Reply::Bytes(bytes.to_vec()),
                    };
                    self.advance(start + length + 2)?;
                    return Ok(Step::Value(value));
                }
            },
            _ => return Err(wrong()),
        };
        self.advance(end + 1)?;
        Ok(step)
    }

    /// Goes behind an element, and counts what is kept of it.
    fn advance(&mut self, to: usize) -> Result<(), Malformed> {
        self.held += to - self.at + size_of::<Reply>();
        self.at = to;
        self.searched = to;
        // What has been read goes, in pieces that are worth it.
        if self.at > 1 << 20 {
            self.buffer.drain(..self.at);
            (self.at, self.searched) = (0, 0);
        }
        if self.held > REPLY_BYTES_MAX { Err(Malformed::Large) } else { Ok(()) }
    }
}
