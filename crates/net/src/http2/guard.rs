//! Judges frames by their headers before `h2` sees them, with Go's verdicts.
//!
//! `h2` knows fewer shades of wrong than Go (a frame of a wrong size and a wrong stream are the same to it) and
//! does not say which stream a GOAWAY named. It remains in charge of everything within a frame but these.

use super::fault::Fault;

/// Length, kind, flags and stream.
pub(super) const HEAD_BYTES: usize = 9;
/// The largest frame we take: the protocol's smallest maximum, which is what we announce by saying nothing.
pub(super) const FRAME_BYTES_MAX: usize = 16 << 10;
/// What is kept of a GOAWAY's debug data, for the log.
const DEBUG_BYTES_MAX: usize = 256;

/// Kinds of frames (RFC 9113, section 6).
pub(super) mod kind {
    pub(in crate::http2) const DATA: u8 = 0;
    pub(in crate::http2) const HEADERS: u8 = 1;
    pub(in crate::http2) const PRIORITY: u8 = 2;
    pub(in crate::http2) const RST_STREAM: u8 = 3;
    pub(in crate::http2) const SETTINGS: u8 = 4;
    pub(in crate::http2) const PUSH_PROMISE: u8 = 5;
    pub(in crate::http2) const PING: u8 = 6;
    pub(in crate::http2) const GOAWAY: u8 = 7;
    pub(in crate::http2) const WINDOW_UPDATE: u8 = 8;
    pub(in crate::http2) const CONTINUATION: u8 = 9;
}

/// Error codes (RFC 9113, section 7).
pub(super) mod reason {
    pub(in crate::http2) const NO_ERROR: u32 = 0;
    pub(in crate::http2) const PROTOCOL_ERROR: u32 = 1;
    pub(in crate::http2) const FLOW_CONTROL_ERROR: u32 = 3;
    pub(in crate::http2) const FRAME_SIZE_ERROR: u32 = 6;
    pub(in crate::http2) const REFUSED_STREAM: u32 = 7;
    pub(in crate::http2) const COMPRESSION_ERROR: u32 = 9;
    pub(in crate::http2) const ENHANCE_YOUR_CALM: u32 = 11;
}

const ACK: u8 = 1;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;
const PADDED: u8 = 8;
const HAS_PRIORITY: u8 = 0x20;
const SETTING_ENABLE_PUSH: u16 = 2;
const SETTING_INITIAL_WINDOW: u16 = 4;
const SETTING_MAX_FRAME: u16 = 5;
/// The largest flow-control window.
const WINDOW_MAX: u32 = 0x7fff_ffff;
const FRAME_BYTES_LIMIT: u32 = 0xff_ffff;

/// What a GOAWAY said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct GoAway {
    pub(super) last_stream: u32,
    pub(super) code: u32,
    pub(super) debug: Box<[u8]>,
}

/// A frame's header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) length: usize,
    pub(super) kind: u8,
    flags: u8,
    stream: u32,
}

impl Head {
    pub(super) fn parse(bytes: &[u8; HEAD_BYTES]) -> Self {
        let [a, b, c, kind, flags, stream @ ..] = *bytes;
        Self {
            length: usize::from(a) << 16 | usize::from(b) << 8 | usize::from(c),
            kind,
            flags,
            stream: u32::from_be_bytes(stream) & WINDOW_MAX,
        }
    }

    /// Whether it can be judged only with what it carries. Header blocks are, once `h2` has refused them.
    pub(super) fn needs_payload(self) -> bool {
        matches!(self.kind, kind::SETTINGS | kind::WINDOW_UPDATE | kind::GOAWAY | kind::HEADERS)
    }
}

/// What has been seen on one connection.
#[derive(Debug, Default)]
pub(super) struct Guard {
    /// The server's SETTINGS have come.
    greeted: bool,
    /// A header block is open on this stream: only CONTINUATION may follow.
    block: Option<u32>,
    /// The highest stream we have opened.
    opened: u32,
    /// The last frame that was let through.
    last: Option<Head>,
    goaway: Option<Box<GoAway>>,
    /// Streams with a request body on its way, and whether the server has ended them: it may do so and then reset them,
    /// to say that it wants no more of the body.
    uploads: Vec<(u32, bool)>,
}

impl Guard {
    /// Notes that a stream has a request body.
    pub(super) fn watch(&mut self, stream: u32) {
        self.uploads.push((stream, false));
    }

    /// Forgets a stream with a request body; whether the server had ended it.
    pub(super) fn unwatch(&mut self, stream: u32) -> bool {
        let Some(at) = self.uploads.iter().position(|&(other, _)| other == stream) else { return false };
        self.uploads.swap_remove(at).1
    }

    /// Whether the server has ended a stream that is watched.
    pub(super) fn has_ended(&self, stream: u32) -> bool {
        self.uploads.contains(&(stream, true))
    }

    /// Notes that a stream was opened.
    pub(super) fn open(&mut self, stream: u32) {
        self.opened = self.opened.max(stream);
    }

    /// Whether the server's SETTINGS have come.
    pub(super) fn is_greeted(&self) -> bool {
        self.greeted
    }

    /// The last GOAWAY.
    pub(super) fn goaway(&self) -> Option<&GoAway> {
        self.goaway.as_deref()
    }

    /// Whether the last frame carried a part of a header block.
    pub(super) fn is_at_headers(&self) -> bool {
        self.last.is_some_and(|last| matches!(last.kind, kind::HEADERS | kind::CONTINUATION))
    }

    /// How much the last frame carried, where it was DATA.
    pub(super) fn last_data_bytes(&self) -> u64 {
        self.last.map_or(0, |last| if last.kind == kind::DATA { last.length as u64 } else { 0 })
    }

    /// The stream of the last frame.
    pub(super) fn last_stream(&self) -> u32 {
        self.last.map_or(0, |last| last.stream)
    }

    /// Where the header block is in what the last frame carried; `None` for a block that went over several.
    pub(super) fn last_block(&self, payload: &[u8]) -> Option<std::ops::Range<usize>> {
        let last = self.last.filter(|last| last.kind == kind::HEADERS && last.flags & END_HEADERS != 0)?;
        let padding = if last.flags & PADDED != 0 { usize::from(*payload.first()?) } else { 0 };
        let start = usize::from(last.flags & PADDED != 0) + if last.flags & HAS_PRIORITY != 0 { 5 } else { 0 };
        let end = payload.len().checked_sub(padding)?;
        (start <= end).then_some(start..end)
    }

    /// How much the last frame carried.
    pub(super) fn last_bytes(&self) -> usize {
        self.last.map_or(0, |last| last.length)
    }

    /// Judges a frame by its header.
    pub(super) fn judge_head(&mut self, head: Head) -> Result<(), Fault> {
        let Head { length, kind, flags, stream } = head;
        let protocol = || Err(Fault::connection(reason::PROTOCOL_ERROR));
        let size = || Err(Fault::connection(reason::FRAME_SIZE_ERROR));
        if length > FRAME_BYTES_MAX {
            return Err(Fault::FrameTooLarge);
        }
        if let Some(open) = self.block
            && (kind != kind::CONTINUATION || stream != open)
        {
            return protocol();
        }
        if !self.greeted && kind != kind::SETTINGS {
            return protocol();
        }
        match kind {
            kind::SETTINGS if stream != 0 => return protocol(),
            kind::SETTINGS if length % 6 != 0 || flags & ACK != 0 && length > 0 => return size(),
            kind::SETTINGS => self.greeted = true,
            kind::PING if length != 8 => return size(),
            kind::PING if stream != 0 => return protocol(),
            kind::GOAWAY if stream != 0 => return protocol(),
            kind::GOAWAY if length < 8 => return size(),
            kind::PRIORITY if stream == 0 => return protocol(),
            kind::PRIORITY if length != 5 => return size(),
            kind::RST_STREAM if length != 4 => return size(),
            kind::RST_STREAM if self.is_idle(stream) => return protocol(),
            kind::WINDOW_UPDATE if length != 4 => return size(),
            kind::WINDOW_UPDATE if stream != 0 && self.is_idle(stream) => return protocol(),
            kind::DATA if self.is_idle(stream) => return protocol(),
            kind::HEADERS if self.is_idle(stream) => return protocol(),
            kind::CONTINUATION if self.block.is_none() => return protocol(),
            // We have said that we take none.
            kind::PUSH_PROMISE => return protocol(),
            _ => {}
        }
        if matches!(kind, kind::HEADERS | kind::CONTINUATION) {
            self.block = (flags & END_HEADERS == 0).then_some(stream);
        }
        if matches!(kind, kind::HEADERS | kind::DATA) && flags & END_STREAM != 0 {
            for upload in self.uploads.iter_mut().filter(|upload| upload.0 == stream) {
                upload.1 = true;
            }
        }
        self.last = Some(head);
        Ok(())
    }

    /// Judges a frame that [needs](Head::needs_payload) it by what it carries.
    pub(super) fn judge_payload(&mut self, head: Head, payload: &[u8]) -> Result<(), Fault> {
        let word = |at: usize| {
            let bytes = payload.get(at..at + 4).and_then(|bytes| bytes.try_into().ok());
            u32::from_be_bytes(bytes.unwrap_or_default())
        };
        match head.kind {
            kind::SETTINGS => {
                for pair in payload.chunks_exact(6) {
                    let id = u16::from_be_bytes([pair[0], pair[1]]);
                    let value = u32::from_be_bytes([pair[2], pair[3], pair[4], pair[5]]);
                    judge_setting(id, value)?;
                }
            }
            kind::WINDOW_UPDATE if word(0) & WINDOW_MAX == 0 => {
                let code = reason::PROTOCOL_ERROR;
                return Err(match head.stream {
                    0 => Fault::connection(code),
                    stream => Fault::Stream { stream, code, from_peer: false },
                });
            }
            kind::GOAWAY => {
                let debug = &payload[8.min(payload.len())..];
                self.goaway = Some(Box::new(GoAway {
                    last_stream: word(0) & WINDOW_MAX,
                    code: word(4),
                    debug: debug[..debug.len().min(DEBUG_BYTES_MAX)].into(),
                }));
            }
            _ => {}
        }
        Ok(())
    }

    /// Streams we have not opened; those of the server are all idle, since we take no pushes.
    fn is_idle(&self, stream: u32) -> bool {
        stream.is_multiple_of(2) || stream > self.opened
    }
}

fn judge_setting(id: u16, value: u32) -> Result<(), Fault> {
    match id {
        SETTING_ENABLE_PUSH if value > 1 => Err(Fault::connection(reason::PROTOCOL_ERROR)),
        SETTING_INITIAL_WINDOW if value > WINDOW_MAX => Err(Fault::connection(reason::FLOW_CONTROL_ERROR)),
        SETTING_MAX_FRAME if !(FRAME_BYTES_MAX as u32..=FRAME_BYTES_LIMIT).contains(&value) => {
            Err(Fault::connection(reason::PROTOCOL_ERROR))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(length: usize, kind: u8, flags: u8, stream: u32) -> Head {
        Head { length, kind, flags, stream }
    }

    fn greeted() -> Guard {
        let mut guard = Guard { greeted: true, ..Guard::default() };
        guard.open(1);
        guard
    }

    #[test]
    fn frames_are_judged_as_go_does() {
        let check = |head: Head, expect: Result<(), Fault>| {
            assert_eq!(greeted().judge_head(head), expect, "{head:?}");
        };
        let protocol = || Err(Fault::connection(reason::PROTOCOL_ERROR));
        let size = || Err(Fault::connection(reason::FRAME_SIZE_ERROR));
        check(head(0, kind::DATA, 0, 1), Ok(()));
        check(head(0, kind::DATA, 0, 0), protocol());
        check(head(0, kind::DATA, 0, 3), protocol());
        check(head(FRAME_BYTES_MAX + 1, kind::DATA, 0, 1), Err(Fault::FrameTooLarge));
        check(head(1, kind::HEADERS, END_HEADERS, 2), protocol());
        check(head(1, kind::CONTINUATION, 0, 1), protocol());
        check(head(4, kind::PRIORITY, 0, 9), size());
        check(head(5, kind::PRIORITY, 0, 9), Ok(()));
        check(head(7, kind::PING, 0, 0), size());
        check(head(8, kind::PING, 0, 1), protocol());
        check(head(7, kind::SETTINGS, 0, 0), size());
        check(head(6, kind::SETTINGS, ACK, 0), size());
        check(head(6, kind::SETTINGS, 0, 1), protocol());
        check(head(3, kind::RST_STREAM, 0, 1), size());
        check(head(4, kind::WINDOW_UPDATE, 0, 99), protocol());
        check(head(4, kind::GOAWAY, 0, 0), size());
        check(head(9, kind::PUSH_PROMISE, 0, 1), protocol());
        check(head(9, 0xbb, 0, 77), Ok(()));
    }

    #[test]
    fn settings_come_first_and_header_blocks_are_not_interrupted() {
        let mut guard = Guard::default();
        assert!(guard.judge_head(head(8, kind::PING, 0, 0)).is_err());
        let mut guard = greeted();
        assert_eq!(guard.judge_head(head(1, kind::HEADERS, 0, 1)), Ok(()));
        assert_eq!(guard.judge_head(head(1, kind::CONTINUATION, 0, 1)), Ok(()));
        assert!(guard.is_at_headers());
        assert!(guard.judge_head(head(8, kind::PING, 0, 0)).is_err());
        assert!(guard.judge_head(head(1, kind::CONTINUATION, 0, 3)).is_err());
        assert_eq!(guard.judge_head(head(1, kind::CONTINUATION, END_HEADERS, 1)), Ok(()));
        assert_eq!(guard.judge_head(head(8, kind::PING, 0, 0)), Ok(()));
    }

    #[test]
    fn payloads_that_matter() {
        let check = |kind: u8, stream: u32, payload: &[u8], expect: Result<(), Fault>| {
            let mut guard = greeted();
            assert_eq!(guard.judge_payload(head(payload.len(), kind, 0, stream), payload), expect);
        };
        let connection = |code| Err(Fault::connection(code));
        check(kind::SETTINGS, 0, &[0, 4, 0x80, 0, 0, 0], connection(reason::FLOW_CONTROL_ERROR));
        check(kind::SETTINGS, 0, &[0, 5, 0, 0, 0, 100], connection(reason::PROTOCOL_ERROR));
        check(kind::SETTINGS, 0, &[0, 2, 0, 0, 0, 2], connection(reason::PROTOCOL_ERROR));
        check(kind::SETTINGS, 0, &[0, 3, 0, 0, 0, 0], Ok(()));
        check(kind::WINDOW_UPDATE, 0, &[0x80, 0, 0, 0], connection(reason::PROTOCOL_ERROR));
        check(
            kind::WINDOW_UPDATE,
            1,
            &[0; 4],
            Err(Fault::Stream { stream: 1, code: reason::PROTOCOL_ERROR, from_peer: false }),
        );
        let mut guard = greeted();
        guard.judge_payload(head(9, kind::GOAWAY, 0, 0), &[0, 0, 0, 5, 0, 0, 0, 2, b'!']).unwrap();
        let expect = GoAway { last_stream: 5, code: 2, debug: (*b"!").into() };
        assert_eq!(guard.goaway(), Some(&expect));
    }
}
