//! Packets from bytes that come in pieces.

use thiserror::Error;

use crate::packet::{Connect, Packet, Publish, QoS, Will};

/// What one packet may have behind its length. The protocol allows 256 MiB.
pub const PACKET_BYTES_MAX: usize = 64 << 20;

/// Why bytes are no packet.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Malformed {
    /// Its first byte is none of the protocol's.
    #[error("0x{0:02x} begins no packet")]
    Kind(u8),
    /// Its length has more than four digits.
    #[error("the length of a packet does not end")]
    Length,
    /// More than a client should hold.
    #[error("a packet of {0} bytes is larger than {max} MiB", max = PACKET_BYTES_MAX >> 20)]
    Large(usize),
    /// It ends in the middle of something, or goes on behind its end.
    #[error("a packet is not as long as its parts")]
    Parts,
    /// A text that is not UTF-8.
    #[error("a text is not UTF-8")]
    Text,
    /// A level above 2.
    #[error("a message has a level (QoS) that does not exist")]
    QoS,
    /// A number that is 0, where one is needed.
    #[error("a packet that needs a number has none")]
    Number,
}

/// Bytes that came.
#[derive(Debug, Default)]
pub struct Decoder {
    buffer: Vec<u8>,
    /// Where the next packet begins.
    at: usize,
}

/// Bytes of packets that have been read are let go of from this many on.
const READ_BYTES_MAX: usize = 64 << 10;

impl Decoder {
    /// Where bytes that come belong: to be appended to.
    pub fn buffer(&mut self) -> &mut Vec<u8> {
        if self.at == self.buffer.len() {
            self.buffer.clear();
            self.at = 0;
        } else if self.at >= READ_BYTES_MAX {
            self.buffer.drain(..self.at);
            self.at = 0;
        }
        &mut self.buffer
    }

    /// Bytes that are held.
    pub fn held_bytes(&self) -> usize {
        self.buffer.capacity()
    }

    /// The next packet, if all of it has come.
    ///
    /// # Errors
    /// When the bytes are none; nothing that follows can be read then.
    pub fn packet(&mut self) -> Result<Option<Packet>, Malformed> {
        let rest = &self.buffer[self.at..];
        let Some((&first, rest)) = rest.split_first() else { return Ok(None) };
        if !is_kind(first) {
            return Err(Malformed::Kind(first));
        }
        let mut length = 0_usize;
        for digit in 0..LENGTH_DIGITS_MAX {
            let Some(&byte) = rest.get(digit) else { return Ok(None) };
            length |= usize::from(byte & 127) << (7 * digit);
            if byte & 128 == 0 {
                if length > PACKET_BYTES_MAX {
                    return Err(Malformed::Large(length));
                }
                let Some(body) = rest.get(digit + 1..digit + 1 + length) else { return Ok(None) };
                let packet = read(first, Body(body))?;
                self.at += 2 + digit + length;
                return Ok(Some(packet));
            }
        }
        Err(Malformed::Length)
    }
}

/// Whether it begins a packet: its kind is known, and its flags are those of the kind.
fn is_kind(first: u8) -> bool {
    match first >> 4 {
        1 | 2 | 4 | 5 | 7 | 9 | 11..=14 => first & 15 == 0,
        6 | 8 | 10 => first & 15 == 2,
        3 => true,
        _ => false,
    }
}

/// What is left of a packet.
struct Body<'a>(&'a [u8]);

impl<'a> Body<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], Malformed> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or(Malformed::Parts)?;
        self.0 = rest;
        Ok(taken)
    }

    fn byte(&mut self) -> Result<u8, Malformed> {
        Ok(self.take(1)?[0])
    }

    fn number(&mut self) -> Result<u16, Malformed> {
        let bytes = self.take(2)?;
        Ok(u16::from_be_bytes([bytes[0], bytes[1]]))
    }

    /// A packet's number, which is not 0.
    fn id(&mut self) -> Result<u16, Malformed> {
        match self.number()? {
            0 => Err(Malformed::Number),
            id => Ok(id),
        }
    }

    fn bytes(&mut self) -> Result<&'a [u8], Malformed> {
        let length = self.number()?;
        self.take(usize::from(length))
    }

    fn text(&mut self) -> Result<String, Malformed> {
        std::str::from_utf8(self.bytes()?).map(str::to_owned).map_err(|_| Malformed::Text)
    }

    fn qos(&mut self) -> Result<QoS, Malformed> {
        QoS::of(self.byte()?).ok_or(Malformed::QoS)
    }

    fn rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.0)
    }
}

fn read(first: u8, mut body: Body<'_>) -> Result<Packet, Malformed> {
    let packet = match first >> 4 {
        1 => Packet::Connect(Box::new(read_connect(&mut body)?)),
        2 => Packet::ConnectAck { session_present: body.byte()? & 1 != 0, code: body.byte()? },
        3 => {
            let qos = QoS::of(first >> 1 & 3).ok_or(Malformed::QoS)?;
            let topic = body.text()?;
            let id = if qos > QoS::AtMostOnce { body.id()? } else { 0 };
            let payload = body.rest().to_vec();
            Packet::Publish(Publish { duplicate: first & 8 != 0, qos, retain: first & 1 != 0, topic, id, payload })
        }
        4 => Packet::PublishAck(body.id()?),
        5 => Packet::PublishReceived(body.id()?),
        6 => Packet::PublishRelease(body.id()?),
        7 => Packet::PublishComplete(body.id()?),
        8 => {
            let id = body.id()?;
            let mut filters = Vec::new();
            while !body.0.is_empty() {
                filters.push((body.text()?, body.qos()?));
            }
            Packet::Subscribe { id, filters }
        }
        9 => Packet::SubscribeAck { id: body.id()?, codes: body.rest().to_vec() },
        10 => {
            let id = body.id()?;
            let mut filters = Vec::new();
            while !body.0.is_empty() {
                filters.push(body.text()?);
            }
            Packet::Unsubscribe { id, filters }
        }
        11 => Packet::UnsubscribeAck(body.id()?),
        12 => Packet::Ping,
        13 => Packet::Pong,
        14 => Packet::Disconnect,
        _ => return Err(Malformed::Kind(first)),
    };
    if body.0.is_empty() { Ok(packet) } else { Err(Malformed::Parts) }
}

fn read_connect(body: &mut Body<'_>) -> Result<Connect, Malformed> {
    let name = body.text()?;
    if (name.as_str(), body.byte()?) != ("MQTT", 4) {
        return Err(Malformed::Parts);
    }
    let flags = body.byte()?;
    // A password without a name.
    if flags & 0xc0 == 0x40 {
        return Err(Malformed::Parts);
    }
    let keep_alive_s = body.number()?;
    let client_id = body.text()?;
    let will = if flags & 4 != 0 {
        let qos = QoS::of(flags >> 3 & 3).ok_or(Malformed::QoS)?;
        Some(Will { topic: body.text()?, payload: body.bytes()?.to_vec(), qos, retain: flags & 32 != 0 })
    } else {
        None
    };
    let username = if flags & 128 != 0 { Some(body.text()?) } else { None };
    let password = if flags & 64 != 0 { Some(body.text()?) } else { None };
    Ok(Connect { client_id, clean_session: flags & 2 != 0, keep_alive_s, will, username, password })
}

/// Feeds arbitrary bytes in pieces that depend on the first: the entry of the fuzz target. Panics are findings; so is
/// another outcome in pieces than in one go, and a packet that is not written as it was read.
pub fn fuzz(data: &[u8]) {
    let Some((&control, stream)) = data.split_first() else { return };
    let run = |step: usize| {
        let mut decoder = Decoder::default();
        let mut packets = Vec::new();
        for piece in stream.chunks(step) {
            decoder.buffer().extend_from_slice(piece);
            loop {
                match decoder.packet() {
                    Ok(Some(packet)) => packets.push(packet),
                    Ok(None) => break,
                    Err(malformed) => return (packets, Some(malformed)),
                }
            }
        }
        (packets, None)
    };
    let whole = run(stream.len().max(1));
    assert_eq!(whole, run(usize::from(control) + 1), "in pieces of {}", usize::from(control) + 1);
    for packet in whole.0 {
        let mut bytes = Vec::new();
        packet.write(&mut bytes).expect("it was read");
        let mut decoder = Decoder::default();
        decoder.buffer().extend_from_slice(&bytes);
        assert_eq!(decoder.packet(), Ok(Some(packet)));
    }
}

const LENGTH_DIGITS_MAX: usize = 4;
