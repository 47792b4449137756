//! Frames: those of clients are read, ours are written.

/// Largest message that is taken from a client.
pub(super) const MESSAGE_BYTES_MAX: usize = 64 << 20;

pub(super) const CONTINUATION: u8 = 0;
pub(super) const TEXT: u8 = 1;
pub(super) const BINARY: u8 = 2;
pub(super) const CLOSE: u8 = 8;
pub(super) const PING: u8 = 9;
pub(super) const PONG: u8 = 10;

/// A client's frame, unmasked.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Frame {
    pub(super) is_last: bool,
    /// RSV1: the message is compressed.
    pub(super) is_compressed: bool,
    pub(super) opcode: u8,
    pub(super) payload: Vec<u8>,
}

/// Takes a frame off the front of `input`. `Ok(None)` when it is not complete; `Err` is the close code that says what is
/// wrong with it.
pub(super) fn take(input: &mut Vec<u8>) -> Result<Option<Frame>, u16> {
    let [first, second, rest @ ..] = input.as_slice() else { return Ok(None) };
    if second & 0x80 == 0 || first & 0x30 != 0 {
        return Err(1002);
    }
    let (length_bytes, length) = match second & 0x7f {
        126 => (2, rest.get(..2).map(|bytes| u64::from(u16::from_be_bytes([bytes[0], bytes[1]])))),
        127 => (8, rest.first_chunk().map(|bytes| u64::from_be_bytes(*bytes))),
        short => (0, Some(u64::from(short))),
    };
    let Some(length) = length else { return Ok(None) };
    let length = usize::try_from(length).ok().filter(|length| *length <= MESSAGE_BYTES_MAX).ok_or(1009_u16)?;
    let Some(mask) = rest.get(length_bytes..).and_then(|rest| rest.first_chunk::<4>()) else { return Ok(None) };
    let start = 2 + length_bytes + mask.len();
    let Some(payload) = input.get(start..start + length) else { return Ok(None) };
    let payload = payload.iter().zip(mask.iter().cycle()).map(|(byte, mask)| byte ^ mask).collect();
    let frame = Frame { is_last: first & 0x80 != 0, is_compressed: first & 0x40 != 0, opcode: first & 0x0f, payload };
    input.drain(..start + length);
    Ok(Some(frame))
}

/// Appends a frame of ours. `first` is its first byte.
pub(super) fn put(out: &mut Vec<u8>, first: u8, payload: &[u8]) {
    out.push(first);
    match payload.len() {
        short @ ..126 => out.push(short as u8),
        length @ 126..=0xffff => {
            out.push(126);
            out.extend_from_slice(&(length as u16).to_be_bytes());
        }
        length => {
            out.push(127);
            out.extend_from_slice(&(length as u64).to_be_bytes());
        }
    }
    out.extend_from_slice(payload);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_frames_are_read_whole() {
        // RFC 6455, section 5.7: a masked "Hello".
        let wire = [0x81, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f, 0x9f, 0x4d, 0x51, 0x58];
        for cut in 0..wire.len() {
            assert_eq!(take(&mut wire[..cut].to_vec()), Ok(None), "{cut}");
        }
        let mut input = [&wire[..], &[0x89]].concat();
        let frame = take(&mut input).unwrap().unwrap();
        assert_eq!((frame.is_last, frame.opcode, frame.payload.as_slice()), (true, TEXT, &b"Hello"[..]));
        assert_eq!(input, [0x89]);
        assert_eq!(take(&mut vec![0x81, 0x05]), Err(1002));
        assert_eq!(take(&mut vec![0x82, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0]), Err(1009));
    }

    #[test]
    fn lengths_have_three_forms() {
        let head = |length: usize| {
            let mut out = Vec::new();
            put(&mut out, 0x82, &vec![7; length]);
            out[..out.len() - length].to_vec()
        };
        assert_eq!(head(125), [0x82, 125]);
        assert_eq!(head(126), [0x82, 126, 0, 126]);
        assert_eq!(head(65536), [0x82, 127, 0, 0, 0, 0, 0, 1, 0, 0]);
    }
}
