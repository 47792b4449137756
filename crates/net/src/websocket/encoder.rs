//! From messages to bytes.

use super::{
    deflate::{Agreement, Deflater},
    frame::{CONTROL_BYTES_MAX, Opcode, put_head},
    mask,
};

/// Writes a client's frames. Messages go out in one frame each.
#[derive(Debug)]
pub struct Encoder {
    deflater: Option<Deflater>,
}

impl Encoder {
    /// For a connection with this agreement on compression.
    pub fn new(agreement: Option<Agreement>) -> Self {
        Self { deflater: agreement.map(Deflater::new) }
    }

    /// Appends a message, compressed where that was agreed on. A large one takes a while: `breathe` is called now and
    /// then.
    pub fn put_message(&mut self, out: &mut Vec<u8>, is_text: bool, payload: &[u8], breathe: impl FnMut()) {
        let opcode = if is_text { Opcode::Text } else { Opcode::Binary };
        match &mut self.deflater {
            Some(deflater) => put(out, opcode, true, &deflater.deflate(payload, breathe)),
            None => put(out, opcode, false, payload),
        }
    }

    /// Appends a control frame; what does not fit one is cut.
    pub fn put_control(&mut self, out: &mut Vec<u8>, opcode: Opcode, payload: &[u8]) {
        put(out, opcode, false, &payload[..payload.len().min(CONTROL_BYTES_MAX)]);
    }
}

fn put(out: &mut Vec<u8>, opcode: Opcode, is_compressed: bool, payload: &[u8]) {
    out.reserve(payload.len() + HEAD_BYTES);
    let mask = mask::random();
    put_head(out, opcode, is_compressed, payload.len(), mask);
    let start = out.len();
    out.extend_from_slice(payload);
    mask::apply(mask, &mut out[start..]);
}

/// Room for a head with its mask.
const HEAD_BYTES: usize = 14;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_masked() {
        let mut out = Vec::new();
        Encoder::new(None).put_message(&mut out, true, b"Hello", || {});
        assert_eq!(out[..2], [0x81, 0x85]);
        let mask = [out[2], out[3], out[4], out[5]];
        mask::apply(mask, &mut out[6..]);
        assert_eq!(&out[6..], b"Hello");
    }

    #[test]
    fn control_frames_are_short() {
        let mut out = Vec::new();
        Encoder::new(Some(Agreement::NO_CONTEXT)).put_control(&mut out, Opcode::Ping, &[7; 200]);
        assert_eq!((out[0], out[1], out.len()), (0x89, 0x80 | 125, 2 + 4 + 125));
    }
}
