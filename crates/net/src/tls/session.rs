//! One TLS session without its socket: bytes in, bytes out.
//!
//! It uses rustls's unbuffered interface, so that an idle connection holds keys and nothing else: what arrives is
//! decrypted from the thread's shared buffer, and only the tail of an incomplete record is kept between reads.

use std::sync::Arc;

use rustls::{
    ClientConfig, HandshakeKind,
    client::UnbufferedClientConnection,
    unbuffered::{ConnectionState, EncodeError, EncryptError, UnbufferedStatus},
};
use rustls_pki_types::ServerName;

use super::{
    names::{cipher_name, version_name},
    staple::{self, OcspResponse},
};
use crate::http1::TlsInfo;

/// HTTP/2 in ALPN.
pub(super) const ALPN_HTTP2: &[u8] = b"h2";
/// Most bytes a record adds to what it carries.
const RECORD_OVERHEAD_MAX: usize = 5 + 1 + 8 + 16 + 16;
/// Plaintext per record.
const RECORD_PLAINTEXT_MAX: usize = 16 << 10;
/// More undecrypted bytes than this are kept for no peer: a handshake message may span records up to rustls's own limit
/// of 64 KiB.
pub(crate) const PENDING_BYTES_MAX: usize = 256 << 10;
/// Steps of one call without progress on the input before the peer is considered to be playing games.
const STEPS_MAX: usize = 100_000;

/// What driving a session led to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Advance {
    /// The handshake needs more bytes.
    Handshaking,
    /// Application data may be sent.
    Open,
    /// The peer has closed its side.
    Closed,
}

/// A client session.
pub(crate) struct TlsSession {
    connection: UnbufferedClientConnection,
    /// Undecrypted bytes: the beginning of a record.
    pending: Vec<u8>,
    /// Encoded records that wait to be sent.
    outgoing: Vec<u8>,
    info: Option<Arc<TlsInfo>>,
    /// What was stapled to the server's certificate, until `info` has it.
    ocsp: Option<OcspResponse>,
    closed: bool,
    /// The session this one goes through: that with an HTTPS proxy.
    outer: Option<Box<TlsSession>>,
}

impl TlsSession {
    pub(crate) fn new(config: Arc<ClientConfig>, name: ServerName<'static>) -> Result<Self, rustls::Error> {
        let connection = UnbufferedClientConnection::new(config, name)?;
        Ok(Self {
            connection,
            pending: Vec::new(),
            outgoing: Vec::new(),
            info: None,
            ocsp: None,
            closed: false,
            outer: None,
        })
    }

    /// What was negotiated, once the handshake is done.
    pub(crate) fn info(&self) -> Option<&Arc<TlsInfo>> {
        self.info.as_ref()
    }

    /// Whether ALPN chose HTTP/2.
    pub(crate) fn speaks_http2(&self) -> bool {
        self.connection.alpn_protocol() == Some(ALPN_HTTP2)
    }

    /// How many bytes a caller must leave at the front of its buffer for what is pending.
    pub(crate) fn pending(&self) -> &[u8] {
        self.outer.as_ref().map_or(&self.pending, |outer| &outer.pending)
    }

    /// Whether bytes wait to be sent.
    pub(crate) fn has_outgoing(&self) -> bool {
        !self.outgoing.is_empty() || self.outer.as_ref().is_some_and(|outer| !outer.outgoing.is_empty())
    }

    /// Takes the bytes that wait to be sent.
    pub(crate) fn take_outgoing(&mut self) -> Vec<u8> {
        let own = std::mem::take(&mut self.outgoing);
        let Some(outer) = &mut self.outer else { return own };
        let mut out = std::mem::take(&mut outer.outgoing);
        if !own.is_empty() {
            // A session that cannot encrypt any more has ended: the next read says so.
            let _ = outer.encrypt_own(&own, &mut out);
        }
        out
    }

    /// Drives the session over `input`, which starts with [`TlsSession::pending`] and goes on with what has newly
    /// arrived; hands decrypted data to `sink`. What is left of the input is kept.
    pub(crate) fn advance(&mut self, input: &mut [u8], sink: impl FnMut(&[u8])) -> Result<Advance, rustls::Error> {
        if self.outer.is_some() { self.advance_inside(input, sink) } else { self.advance_own(input, sink) }
    }

    /// From now on this session's records go through another one, which is open.
    pub(crate) fn go_inside(&mut self, outer: Box<TlsSession>) {
        self.outer = Some(outer);
    }

    #[cold]
    #[inline(never)]
    fn advance_inside(&mut self, input: &mut [u8], sink: impl FnMut(&[u8])) -> Result<Advance, rustls::Error> {
        let mut records = std::mem::take(&mut self.pending);
        let outer = self.outer.as_mut().expect("advance_inside is called where there is an outer session");
        let around = outer.advance_own(input, |plain| records.extend_from_slice(plain))?;
        let advance = self.advance_own(&mut records, sink)?;
        Ok(if around == Advance::Closed { Advance::Closed } else { advance })
    }

    fn advance_own(&mut self, input: &mut [u8], mut sink: impl FnMut(&[u8])) -> Result<Advance, rustls::Error> {
        let mut start = 0;
        let outcome = self.steps(input, &mut start, &mut sink);
        let rest = &input[start.min(input.len())..];
        if rest.is_empty() {
            self.pending = Vec::new();
        } else {
            self.pending.clear();
            self.pending.extend_from_slice(rest);
        }
        if self.pending.len() > PENDING_BYTES_MAX {
            return Err(rustls::Error::PeerSentOversizedRecord);
        }
        outcome
    }

    fn steps(
        &mut self,
        input: &mut [u8],
        start: &mut usize,
        sink: &mut impl FnMut(&[u8]),
    ) -> Result<Advance, rustls::Error> {
        for _ in 0..STEPS_MAX {
            let UnbufferedStatus { discard, state } = self.connection.process_tls_records(&mut input[*start..]);
            if self.info.is_none()
                && let Some(ocsp) = staple::take()
            {
                self.ocsp = Some(ocsp);
            }
            let outcome = match state? {
                ConnectionState::ReadTraffic(mut traffic) => {
                    while let Some(record) = traffic.next_record() {
                        sink(record?.payload);
                    }
                    None
                }
                ConnectionState::EncodeTlsData(mut data) => {
                    append(&mut self.outgoing, |space| match data.encode(space) {
                        Ok(count) => Ok(count),
                        Err(EncodeError::InsufficientSize(error)) => Err(Some(error.required_size)),
                        Err(EncodeError::AlreadyEncoded) => Err(None),
                    })?;
                    None
                }
                ConnectionState::TransmitTlsData(data) => {
                    // The bytes are in `outgoing`; whoever drives the session sends them next.
                    data.done();
                    None
                }
                ConnectionState::PeerClosed => {
                    self.closed = true;
                    None
                }
                ConnectionState::Closed => Some(Advance::Closed),
                ConnectionState::BlockedHandshake => Some(Advance::Handshaking),
                ConnectionState::WriteTraffic(_) => Some(Advance::Open),
                other => return Err(rustls::Error::General(format!("unexpected TLS state {other:?}"))),
            };
            *start += discard;
            match outcome {
                None => {}
                Some(Advance::Open) => {
                    self.note_info();
                    return Ok(if self.closed { Advance::Closed } else { Advance::Open });
                }
                Some(outcome) => return Ok(outcome),
            }
        }
        Err(rustls::Error::General("no progress in TLS session".to_owned()))
    }

    /// Encrypts `plain` onto the end of `out`.
    pub(crate) fn encrypt(&mut self, plain: &[u8], out: &mut Vec<u8>) -> Result<(), rustls::Error> {
        if self.outer.is_none() {
            return self.encrypt_own(plain, out);
        }
        let mut records = Vec::new();
        self.encrypt_own(plain, &mut records)?;
        match &mut self.outer {
            Some(outer) => outer.encrypt_own(&records, out),
            None => Ok(()),
        }
    }

    fn encrypt_own(&mut self, plain: &[u8], out: &mut Vec<u8>) -> Result<(), rustls::Error> {
        for _ in 0..STEPS_MAX {
            // Pending bytes belong to an incomplete record: nothing is discarded here.
            let UnbufferedStatus { state, .. } = self.connection.process_tls_records(&mut self.pending);
            match state? {
                ConnectionState::WriteTraffic(mut traffic) => {
                    let records = plain.len() / RECORD_PLAINTEXT_MAX + 1;
                    let start = out.len();
                    out.append(&mut self.outgoing);
                    out.reserve(plain.len() + records * RECORD_OVERHEAD_MAX);
                    return append_sized(out, plain.len() + records * RECORD_OVERHEAD_MAX, |space| {
                        match traffic.encrypt(plain, space) {
                            Ok(count) => Ok(count),
                            Err(EncryptError::InsufficientSize(error)) => Err(Some(error.required_size)),
                            Err(EncryptError::EncryptExhausted) => Err(None),
                        }
                    })
                    .inspect_err(|_| out.truncate(start));
                }
                ConnectionState::EncodeTlsData(mut data) => {
                    append(&mut self.outgoing, |space| match data.encode(space) {
                        Ok(count) => Ok(count),
                        Err(EncodeError::InsufficientSize(error)) => Err(Some(error.required_size)),
                        Err(EncodeError::AlreadyEncoded) => Err(None),
                    })?;
                }
                ConnectionState::TransmitTlsData(data) => data.done(),
                ConnectionState::PeerClosed => self.closed = true,
                _ => return Err(rustls::Error::HandshakeNotComplete),
            }
        }
        Err(rustls::Error::General("no progress in TLS session".to_owned()))
    }

    fn note_info(&mut self) {
        if self.info.is_some() {
            return;
        }
        let version = self.connection.protocol_version().map_or("", version_name);
        let cipher = self.connection.negotiated_cipher_suite().map_or("", |suite| cipher_name(suite.suite()));
        let is_resumed = self.connection.handshake_kind() == Some(HandshakeKind::Resumed);
        self.info = Some(Arc::new(TlsInfo { version, cipher, ocsp: self.ocsp.take(), is_resumed }));
    }
}

/// Appends what `fill` writes into space at the end of `out`, trying again with the size it asks for.
fn append(out: &mut Vec<u8>, fill: impl FnMut(&mut [u8]) -> Result<usize, Option<usize>>) -> Result<(), rustls::Error> {
    /// A client hello fits.
    const FIRST_TRY_BYTES: usize = 512;
    append_sized(out, FIRST_TRY_BYTES, fill)
}

fn append_sized(
    out: &mut Vec<u8>,
    mut size: usize,
    mut fill: impl FnMut(&mut [u8]) -> Result<usize, Option<usize>>,
) -> Result<(), rustls::Error> {
    let start = out.len();
    loop {
        out.resize(start + size, 0);
        match fill(&mut out[start..]) {
            Ok(count) => {
                out.truncate(start + count);
                return Ok(());
            }
            Err(Some(required)) if required > size => size = required,
            Err(_) => {
                out.truncate(start);
                return Err(rustls::Error::EncryptError);
            }
        }
    }
}
