//! Packets, and how they are written.

use thiserror::Error;

use crate::decoder::PACKET_BYTES_MAX;

/// How surely a message arrives.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum QoS {
    /// It may be lost.
    #[default]
    AtMostOnce = 0,
    /// It may come twice.
    AtLeastOnce = 1,
    /// Neither.
    ExactlyOnce = 2,
}

impl QoS {
    /// The level of a number.
    pub fn of(number: u8) -> Option<Self> {
        match number {
            0 => Some(Self::AtMostOnce),
            1 => Some(Self::AtLeastOnce),
            2 => Some(Self::ExactlyOnce),
            _ => None,
        }
    }
}

/// A client's first packet.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Connect {
    /// Who it is; a server gives an empty one a name.
    pub client_id: String,
    /// The server forgets what it knew of the client.
    pub clean_session: bool,
    /// Seconds without a packet after which the server gives the client up; 0 for never.
    pub keep_alive_s: u16,
    /// For the server to publish when the connection is lost.
    pub will: Option<Will>,
    /// Who logs in.
    pub username: Option<String>,
    /// With what.
    pub password: Option<String>,
}

/// What a server publishes when a client is gone without a word.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Will {
    /// Where.
    pub topic: String,
    /// What.
    pub payload: Vec<u8>,
    /// How surely.
    pub qos: QoS,
    /// It is kept for those who subscribe later.
    pub retain: bool,
}

/// A message, both ways.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Publish {
    /// It may have been sent before.
    pub duplicate: bool,
    /// How surely it is to arrive.
    pub qos: QoS,
    /// It is kept for those who subscribe later.
    pub retain: bool,
    /// Where.
    pub topic: String,
    /// Its number; 0 where the level needs none.
    pub id: u16,
    /// What.
    pub payload: Vec<u8>,
}

/// One packet of either side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Packet {
    /// The client's first.
    Connect(Box<Connect>),
    /// The server's answer.
    ConnectAck {
        /// The server remembers the client.
        session_present: bool,
        /// 0 if it may go on.
        code: u8,
    },
    /// A message.
    Publish(Publish),
    /// It has arrived (level 1).
    PublishAck(u16),
    /// It has arrived (level 2).
    PublishReceived(u16),
    /// It is not sent again.
    PublishRelease(u16),
    /// It is forgotten.
    PublishComplete(u16),
    /// The client wants messages.
    Subscribe {
        /// Its number.
        id: u16,
        /// Filters, and how surely their messages are to arrive.
        filters: Vec<(String, QoS)>,
    },
    /// The server's answer.
    SubscribeAck {
        /// The number of what it answers.
        id: u16,
        /// For each filter the level, or 0x80 for a refusal.
        codes: Vec<u8>,
    },
    /// The client wants no more of them.
    Unsubscribe {
        /// Its number.
        id: u16,
        /// Filters.
        filters: Vec<String>,
    },
    /// The server's answer.
    UnsubscribeAck(u16),
    /// Is anybody there?
    Ping,
    /// Yes.
    Pong,
    /// The client's last.
    Disconnect,
}

/// A packet that cannot be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum TooLong {
    /// A text has more bytes than its length has room for.
    #[error("a text is longer than 65535 bytes")]
    Text,
    /// All of it.
    #[error("a packet is larger than {} MiB", PACKET_BYTES_MAX >> 20)]
    Packet,
}

impl Packet {
    /// Appends its bytes.
    ///
    /// # Errors
    /// When it is too long; nothing is appended then.
    pub fn write(&self, out: &mut Vec<u8>) -> Result<(), TooLong> {
        let mut body = Vec::new();
        let first = self.write_body(&mut body)?;
        if body.len() > PACKET_BYTES_MAX {
            return Err(TooLong::Packet);
        }
        out.push(first);
        let mut length = body.len();
        loop {
            let digit = (length & 127) as u8;
            length >>= 7;
            out.push(if length > 0 { digit | 128 } else { digit });
            if length == 0 {
                break;
            }
        }
        out.append(&mut body);
        Ok(())
    }

    /// Appends what follows the length, and gives the first byte.
    fn write_body(&self, out: &mut Vec<u8>) -> Result<u8, TooLong> {
        match self {
            Self::Connect(connect) => {
                write_connect(connect, out)?;
                Ok(0x10)
            }
            Self::ConnectAck { session_present, code } => {
                out.extend([u8::from(*session_present), *code]);
                Ok(0x20)
            }
            Self::Publish(publish) => {
                write_text(&publish.topic, out)?;
                if publish.qos > QoS::AtMostOnce {
                    out.extend(publish.id.to_be_bytes());
                }
                out.extend_from_slice(&publish.payload);
                let flags = u8::from(publish.duplicate) << 3 | (publish.qos as u8) << 1 | u8::from(publish.retain);
                Ok(0x30 | flags)
            }
            Self::PublishAck(id) => Ok(numbered(0x40, *id, out)),
            Self::PublishReceived(id) => Ok(numbered(0x50, *id, out)),
            Self::PublishRelease(id) => Ok(numbered(0x62, *id, out)),
            Self::PublishComplete(id) => Ok(numbered(0x70, *id, out)),
            Self::Subscribe { id, filters } => {
                out.extend(id.to_be_bytes());
                for (filter, qos) in filters {
                    write_text(filter, out)?;
                    out.push(*qos as u8);
                }
                Ok(0x82)
            }
            Self::SubscribeAck { id, codes } => {
                out.extend(id.to_be_bytes());
                out.extend_from_slice(codes);
                Ok(0x90)
            }
            Self::Unsubscribe { id, filters } => {
                out.extend(id.to_be_bytes());
                for filter in filters {
                    write_text(filter, out)?;
                }
                Ok(0xa2)
            }
            Self::UnsubscribeAck(id) => Ok(numbered(0xb0, *id, out)),
            Self::Ping => Ok(0xc0),
            Self::Pong => Ok(0xd0),
            Self::Disconnect => Ok(0xe0),
        }
    }
}

fn numbered(first: u8, id: u16, out: &mut Vec<u8>) -> u8 {
    out.extend(id.to_be_bytes());
    first
}

fn write_connect(connect: &Connect, out: &mut Vec<u8>) -> Result<(), TooLong> {
    // The protocol's name, and its version 3.1.1.
    write_text("MQTT", out)?;
    out.push(4);
    let mut flags = u8::from(connect.clean_session) << 1;
    if let Some(will) = &connect.will {
        flags |= 1 << 2 | (will.qos as u8) << 3 | u8::from(will.retain) << 5;
    }
    // A password goes with a name only.
    let username = connect.username.as_deref().or_else(|| connect.password.is_some().then_some(""));
    flags |= u8::from(username.is_some()) << 7 | u8::from(connect.password.is_some()) << 6;
    out.push(flags);
    out.extend(connect.keep_alive_s.to_be_bytes());
    write_text(&connect.client_id, out)?;
    if let Some(will) = &connect.will {
        write_text(&will.topic, out)?;
        write_bytes(&will.payload, out)?;
    }
    for text in [username, connect.password.as_deref()].into_iter().flatten() {
        write_text(text, out)?;
    }
    Ok(())
}

fn write_text(text: &str, out: &mut Vec<u8>) -> Result<(), TooLong> {
    write_bytes(text.as_bytes(), out)
}

fn write_bytes(bytes: &[u8], out: &mut Vec<u8>) -> Result<(), TooLong> {
    let length = u16::try_from(bytes.len()).map_err(|_| TooLong::Text)?;
    out.extend(length.to_be_bytes());
    out.extend_from_slice(bytes);
    Ok(())
}
