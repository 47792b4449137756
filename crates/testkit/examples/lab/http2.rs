//! HTTP/2 that fails: `goaway-7.h2.lab.test` answers a request with GOAWAY and that code, `stream-7` with RST_STREAM;
//! others break the protocol so that the client has to give up the connection.
//!
//! It reads frames but understands none: a request is whatever ends a stream.

use std::io::{Read, Result, Write};

/// Serves one connection, behind the TLS handshake.
pub(crate) fn serve(stream: &mut (impl Read + Write), name: &str) -> Result<()> {
    let kind = name.split('.').next().unwrap_or_default();
    stream.read_exact(&mut [0; PREFACE_BYTES])?;
    frame(stream, SETTINGS, 0, 0, &[])?;
    loop {
        let (type_of, flags, stream_id) = read_frame(stream)?;
        if type_of == SETTINGS && flags & ACK == 0 {
            frame(stream, SETTINGS, ACK, 0, &[])?;
        }
        if !matches!(type_of, HEADERS | DATA) || flags & END_STREAM == 0 {
            continue;
        }
        let (what, code) = kind.split_once('-').unwrap_or((kind, ""));
        let code: u32 = code.parse().unwrap_or(0);
        match what {
            "goaway" => {
                // No stream was processed; the requests that wait are told so, and a client may try again elsewhere.
                let mut payload = 0_u32.to_be_bytes().to_vec();
                payload.extend(code.to_be_bytes());
                frame(stream, GOAWAY, 0, 0, &payload)?;
            }
            // The request was taken on, and then the connection ends.
            "taken" => {
                let mut payload = stream_id.to_be_bytes().to_vec();
                payload.extend(code.to_be_bytes());
                frame(stream, GOAWAY, 0, 0, &payload)?;
                return Ok(());
            }
            "stream" => frame(stream, RST_STREAM, 0, stream_id, &code.to_be_bytes())?,
            // What a client must call: a protocol error, a wrong size, a flow control error, a compression error.
            "protocol" => frame(stream, DATA, 0, 0, b"x")?,
            "size" => frame(stream, SETTINGS, 0, 0, b"x")?,
            "flow" => frame(stream, WINDOW_UPDATE, 0, 0, &0x7fff_ffff_u32.to_be_bytes())?,
            "compression" => frame(stream, HEADERS, END_HEADERS, stream_id, &[0xff, 0xff, 0xff, 0xff, 0xff])?,
            "close" => return Ok(()),
            // `:status: 200` of the static table, then a body.
            _ => {
                frame(stream, HEADERS, END_HEADERS, stream_id, &[0x88])?;
                frame(stream, DATA, END_STREAM, stream_id, b"hi")?;
            }
        }
    }
}

fn frame(stream: &mut impl Write, type_of: u8, flags: u8, stream_id: u32, payload: &[u8]) -> Result<()> {
    let length = u32::try_from(payload.len()).unwrap_or(u32::MAX).to_be_bytes();
    let mut bytes = vec![length[1], length[2], length[3], type_of, flags];
    bytes.extend(stream_id.to_be_bytes());
    bytes.extend(payload);
    stream.write_all(&bytes)?;
    stream.flush()
}

/// A frame's type, flags and stream; its payload is left out.
fn read_frame(stream: &mut impl Read) -> Result<(u8, u8, u32)> {
    let mut head = [0; 9];
    stream.read_exact(&mut head)?;
    let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
    std::io::copy(&mut stream.take(u64::from(length)), &mut std::io::sink())?;
    Ok((head[3], head[4], u32::from_be_bytes([head[5] & 0x7f, head[6], head[7], head[8]])))
}

/// `PRI * HTTP/2.0…`.
const PREFACE_BYTES: usize = 24;
const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const GOAWAY: u8 = 7;
const WINDOW_UPDATE: u8 = 8;
const ACK: u8 = 1;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;
