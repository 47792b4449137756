//! Frames as bytes (RFC 9113 section 6), right or wrong.

/// DATA.
pub const DATA: u8 = 0;
/// HEADERS.
pub const HEADERS: u8 = 1;
/// PRIORITY.
pub const PRIORITY: u8 = 2;
/// RST_STREAM.
pub const RST_STREAM: u8 = 3;
/// SETTINGS.
pub const SETTINGS: u8 = 4;
/// PUSH_PROMISE.
pub const PUSH_PROMISE: u8 = 5;
/// PING.
pub const PING: u8 = 6;
/// GOAWAY.
pub const GOAWAY: u8 = 7;
/// WINDOW_UPDATE.
pub const WINDOW_UPDATE: u8 = 8;
/// CONTINUATION.
pub const CONTINUATION: u8 = 9;

/// END_STREAM of DATA and HEADERS, ACK of SETTINGS and PING.
pub const END_STREAM: u8 = 1;
/// ACK of SETTINGS and PING.
pub const ACK: u8 = 1;
/// END_HEADERS.
pub const END_HEADERS: u8 = 4;
/// PADDED.
pub const PADDED: u8 = 8;
/// Both ends: a response without a body.
pub const END: u8 = END_STREAM | END_HEADERS;

/// NO_ERROR.
pub const NO_ERROR: u32 = 0;
/// PROTOCOL_ERROR.
pub const PROTOCOL_ERROR: u32 = 1;
/// INTERNAL_ERROR.
pub const INTERNAL_ERROR: u32 = 2;
/// REFUSED_STREAM.
pub const REFUSED_STREAM: u32 = 7;
/// CANCEL.
pub const CANCEL: u32 = 8;
/// ENHANCE_YOUR_CALM.
pub const ENHANCE_YOUR_CALM: u32 = 11;

/// What a client says first.
pub const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// A frame whose header tells the truth about its length.
pub fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    frame_of_length(payload.len(), kind, flags, stream, payload)
}

/// A frame whose header claims any length.
pub fn frame_of_length(length: usize, kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(length).unwrap_or(u32::MAX).to_be_bytes();
    let mut out = length[1..].to_vec();
    out.extend_from_slice(&[kind, flags]);
    out.extend_from_slice(&stream.to_be_bytes());
    out.extend_from_slice(payload);
    out
}

/// SETTINGS with pairs of identifier and value.
pub fn settings(pairs: &[(u16, u32)]) -> Vec<u8> {
    let mut payload = Vec::new();
    for (id, value) in pairs {
        payload.extend_from_slice(&id.to_be_bytes());
        payload.extend_from_slice(&value.to_be_bytes());
    }
    frame(SETTINGS, 0, 0, &payload)
}

/// The acknowledgement of the other side's SETTINGS.
pub fn settings_ack() -> Vec<u8> {
    frame(SETTINGS, ACK, 0, &[])
}

/// HEADERS with all its fields.
pub fn headers(stream: u32, flags: u8, fields: &[(&str, &str)]) -> Vec<u8> {
    frame(HEADERS, flags, stream, &block(fields))
}

/// DATA.
pub fn data(stream: u32, flags: u8, payload: &[u8]) -> Vec<u8> {
    frame(DATA, flags, stream, payload)
}

/// RST_STREAM.
pub fn reset(stream: u32, code: u32) -> Vec<u8> {
    frame(RST_STREAM, 0, stream, &code.to_be_bytes())
}

/// GOAWAY.
pub fn goaway(last_stream: u32, code: u32, debug: &str) -> Vec<u8> {
    let mut payload = last_stream.to_be_bytes().to_vec();
    payload.extend_from_slice(&code.to_be_bytes());
    payload.extend_from_slice(debug.as_bytes());
    frame(GOAWAY, 0, 0, &payload)
}

/// WINDOW_UPDATE.
pub fn window_update(stream: u32, increment: u32) -> Vec<u8> {
    frame(WINDOW_UPDATE, 0, stream, &increment.to_be_bytes())
}

/// PING.
pub fn ping(flags: u8, payload: &[u8]) -> Vec<u8> {
    frame(PING, flags, 0, payload)
}

/// A header block: literals without indexing, nothing compressed.
pub fn block(fields: &[(&str, &str)]) -> Vec<u8> {
    let mut out = Vec::new();
    for (name, value) in fields {
        out.push(0);
        string(&mut out, name.as_bytes());
        string(&mut out, value.as_bytes());
    }
    out
}

/// A literal that goes into the dynamic table.
pub fn indexed_literal(name: &[u8], value: &[u8]) -> Vec<u8> {
    let mut out = vec![0x40];
    string(&mut out, name);
    string(&mut out, value);
    out
}

/// An HPACK string without Huffman coding.
pub fn string(out: &mut Vec<u8>, text: &[u8]) {
    integer(out, 0, 7, text.len());
    out.extend_from_slice(text);
}

/// An HPACK integer behind a prefix of `bits` bits.
pub fn integer(out: &mut Vec<u8>, first: u8, bits: u32, mut value: usize) {
    let max = (1_usize << bits) - 1;
    if value < max {
        out.push(first | value as u8);
        return;
    }
    out.push(first | max as u8);
    value -= max;
    while value >= 128 {
        out.push((value & 127) as u8 | 128);
        value >>= 7;
    }
    out.push(value as u8);
}
