//! OCSP responses that servers staple to their certificates (RFC 6960): what k6 reports of them.
//!
//! Nothing is decided by them: like Go, a connection to a server whose certificate is revoked stands. A response is
//! read once, while hands are shaken, and only what it says is kept. Its signature is not checked.

use std::{cell::Cell, sync::Arc};

use der::{Decode, SliceReader, Tag, TagNumber, Tagged, asn1::AnyRef};
use onrush_calendar::{days_in_month, days_of_date};
use rustls::{
    DigitallySignedStruct, DistinguishedName, SignatureScheme,
    client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
};
use rustls_pki_types::{CertificateDer, ServerName, UnixTime};

/// What a stapled OCSP response says of a server's certificate. Times are seconds of Unix time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OcspResponse {
    /// When it was signed.
    pub produced_at: i64,
    /// Since when its status was known to be right.
    pub this_update: i64,
    /// When there will be a newer one.
    pub next_update: Option<i64>,
    /// The certificate's status.
    pub status: OcspStatus,
}

/// A certificate's status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OcspStatus {
    /// Not revoked.
    Good,
    /// Revoked.
    Revoked {
        /// When, in seconds of Unix time.
        at: i64,
        /// Why, as RFC 5280 numbers it; 0, unspecified, where nothing was said.
        reason: i64,
    },
    /// The responder does not know the certificate.
    Unknown,
}

/// Longer responses are not read. One with a chain of RSA certificates has 8 KiB; a TLS message has no more than this.
const STAPLE_BYTES_MAX: usize = 64 << 10;
/// id-pkix-ocsp-basic, 1.3.6.1.5.5.7.48.1.1.
const BASIC: &[u8] = &[0x2b, 6, 1, 5, 5, 7, 0x30, 1, 1];

thread_local! {
    /// What the server staples whose certificate is being verified. A session takes it as soon as rustls returns.
    static STAPLED: Cell<Option<OcspResponse>> = const { Cell::new(None) };
}

/// Takes what was stapled to the certificate verified last on this thread.
pub(super) fn take() -> Option<OcspResponse> {
    STAPLED.take()
}

/// A verifier that notes what is stapled and leaves the rest to another one.
#[derive(Debug)]
pub(super) struct NotesStaple(pub(super) Arc<dyn ServerCertVerifier>);

impl ServerCertVerifier for NotesStaple {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        STAPLED.set(if ocsp_response.is_empty() { None } else { OcspResponse::parse(ocsp_response) });
        self.0.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.0.verify_tls12_signature(message, cert, dss)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.0.verify_tls13_signature(message, cert, dss)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_verify_schemes()
    }

    fn requires_raw_public_keys(&self) -> bool {
        self.0.requires_raw_public_keys()
    }

    fn root_hint_subjects(&self) -> Option<&[DistinguishedName]> {
        self.0.root_hint_subjects()
    }
}

impl OcspResponse {
    /// Reads a DER-encoded response. `None` for what Go does not read either: a responder's error, several statuses,
    /// critical extensions, bytes that are no response.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        if bytes.len() > STAPLE_BYTES_MAX {
            return None;
        }
        let mut response = Fields::of_only(bytes, Tag::Sequence)?;
        if response.take(Tag::Enumerated)? != [0] {
            return None;
        }
        let mut typed = Fields::of_only(response.take(context(0))?, Tag::Sequence)?;
        if typed.take(Tag::ObjectIdentifier)? != BASIC {
            return None;
        }
        let mut basic = Fields::of_only(typed.take(Tag::OctetString)?, Tag::Sequence)?;
        let mut data = Fields::of(basic.take(Tag::Sequence)?)?;
        let _algorithm = basic.take(Tag::Sequence)?;
        let _signature = basic.take(Tag::BitString)?;

        let _version = data.take_if(context(0))?;
        let by_name = data.take_if(context(1))?;
        if by_name.is_none() {
            let _by_key = data.take(context(2))?;
        }
        let produced_at = seconds(data.take(Tag::GeneralizedTime)?)?;
        let mut responses = Fields::of(data.take(Tag::Sequence)?)?;
        let single = responses.take(Tag::Sequence)?;
        if !responses.is_over() {
            return None;
        }
        Self::single(produced_at, Fields::of(single)?)
    }

    fn single(produced_at: i64, mut single: Fields<'_>) -> Option<Self> {
        let _certificate_id = single.take(Tag::Sequence)?;
        let status = if single.take_if(context_primitive(0))?.is_some() {
            OcspStatus::Good
        } else if let Some(revoked) = single.take_if(context(1))? {
            let mut revoked = Fields::of(revoked)?;
            let at = seconds(revoked.take(Tag::GeneralizedTime)?)?;
            let reason = match revoked.take_if(context(0))? {
                Some(reason) => small_number(Fields::of(reason)?.take(Tag::Enumerated)?)?,
                None => 0,
            };
            OcspStatus::Revoked { at, reason }
        } else {
            let _unknown = single.take(context_primitive(2))?;
            OcspStatus::Unknown
        };
        let this_update = seconds(single.take(Tag::GeneralizedTime)?)?;
        let next_update = match single.take_if(context(0))? {
            Some(next) => Some(seconds(Fields::of(next)?.take(Tag::GeneralizedTime)?)?),
            None => None,
        };
        if let Some(extensions) = single.take_if(context(1))? {
            let mut extensions = Fields::of_only(extensions, Tag::Sequence)?;
            while !extensions.is_over() {
                let mut extension = Fields::of(extensions.take(Tag::Sequence)?)?;
                let _id = extension.take(Tag::ObjectIdentifier)?;
                // Nobody may ignore a critical extension he does not know, and none is known.
                if extension.take_if(Tag::Boolean)?.is_some_and(|is_critical| is_critical != [0]) {
                    return None;
                }
            }
        }
        Some(Self { produced_at, this_update, next_update, status })
    }
}

/// The elements of a DER element, one after the other. What comes after those that are asked for is ignored, as in Go.
struct Fields<'a>(SliceReader<'a>);

impl<'a> Fields<'a> {
    fn of(bytes: &'a [u8]) -> Option<Self> {
        SliceReader::new(bytes).ok().map(Self)
    }

    /// The elements of the only element in `bytes`.
    fn of_only(bytes: &'a [u8], tag: Tag) -> Option<Self> {
        let mut all = Self::of(bytes)?;
        let content = all.take(tag)?;
        if all.is_over() { Self::of(content) } else { None }
    }

    /// The next element's content; `None` if it has another tag or is malformed.
    fn take(&mut self, tag: Tag) -> Option<&'a [u8]> {
        let element = AnyRef::decode(&mut self.0).ok()?;
        (element.tag() == tag).then(|| element.value())
    }

    /// The same for an element that may be missing.
    #[expect(clippy::option_option, reason = "malformed, missing, there")]
    fn take_if(&mut self, tag: Tag) -> Option<Option<&'a [u8]>> {
        let is_there = Tag::peek(&self.0).is_ok_and(|next| next == tag);
        if is_there { self.take(tag).map(Some) } else { Some(None) }
    }

    fn is_over(&self) -> bool {
        der::Reader::is_finished(&self.0)
    }
}

const fn context(number: u32) -> Tag {
    Tag::ContextSpecific { constructed: true, number: TagNumber(number) }
}

const fn context_primitive(number: u32) -> Tag {
    Tag::ContextSpecific { constructed: false, number: TagNumber(number) }
}

/// An integer that fits.
fn small_number(bytes: &[u8]) -> Option<i64> {
    let (&first, rest) = bytes.split_first()?;
    let is_padded = rest.first().is_some_and(|&second| matches!((first, second & 0x80), (0, 0) | (0xff, 0x80)));
    if bytes.len() > 8 || is_padded {
        return None;
    }
    let sign = i64::from(first.cast_signed());
    Some(rest.iter().fold(sign, |number, &byte| number << 8 | i64::from(byte)))
}

/// The Unix time of `YYYYMMDDHHMMSS[.F]Z`, or with an offset such as `+0100`, as Go reads it.
fn seconds(text: &[u8]) -> Option<i64> {
    let digits = |bytes: &[u8]| {
        let is_number = !bytes.is_empty() && bytes.iter().all(u8::is_ascii_digit);
        is_number.then(|| bytes.iter().fold(0_i64, |number, byte| number * 10 + i64::from(byte - b'0')))
    };
    let (date, mut zone) = text.split_at_checked(14)?;
    if let Some(rest) = zone.strip_prefix(b".") {
        let end = rest.iter().position(|byte| !byte.is_ascii_digit())?;
        // A fraction of a second, without needless zeros.
        if !(1..=9).contains(&end) || rest[end - 1] == b'0' {
            return None;
        }
        zone = &rest[end..];
    }
    let offset = match zone {
        b"Z" => 0,
        [sign @ (b'+' | b'-'), clock @ ..] if clock.len() == 4 => {
            let (hours, minutes) = (digits(&clock[..2])?, digits(&clock[2..])?);
            if hours > 24 || minutes > 59 || hours + minutes == 0 {
                return None;
            }
            let offset = (hours * 60 + minutes) * 60;
            if *sign == b'+' { offset } else { -offset }
        }
        _ => return None,
    };
    let (year, month, day) = (digits(&date[..4])?, digits(&date[4..6])?, digits(&date[6..8])?);
    let (hour, minute, second) = (digits(&date[8..10])?, digits(&date[10..12])?, digits(&date[12..])?);
    if !(1..=12).contains(&month) || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    if !(1..=days_in_month(year, month)).contains(&day) {
        return None;
    }
    Some(days_of_date(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second - offset)
}

#[cfg(test)]
mod tests {
    use onrush_testkit::{staple, staples};
    use proptest::prelude::*;

    use super::*;

    const PRODUCED_AT: i64 = 1_700_006_400;
    const THIS_UPDATE: i64 = 1_700_000_000;
    const NEXT_UPDATE: i64 = 1_704_067_200;
    const REVOKED_AT: i64 = 1_699_701_071;

    fn parse(name: &str) -> Option<OcspResponse> {
        OcspResponse::parse(&staple(name).unwrap())
    }

    #[test]
    fn statuses() {
        let check = |name: &str, status| {
            let next_update = Some(NEXT_UPDATE);
            let expect = OcspResponse { produced_at: PRODUCED_AT, this_update: THIS_UPDATE, next_update, status };
            assert_eq!(parse(name), Some(expect), "{name}");
        };
        check("good", OcspStatus::Good);
        check("unknown", OcspStatus::Unknown);
        check("revoked", OcspStatus::Revoked { at: REVOKED_AT, reason: 0 });
        check("reason-1", OcspStatus::Revoked { at: REVOKED_AT, reason: 1 });
        check("reason-127", OcspStatus::Revoked { at: REVOKED_AT, reason: 127 });
        check("version", OcspStatus::Good);
        check("by-name", OcspStatus::Good);
    }

    #[test]
    fn unusual_times() {
        let check = |name: &str, this_update, next_update| {
            let got = parse(name).map(|response| (response.this_update, response.next_update));
            assert_eq!(got, Some((this_update, next_update)), "{name}");
        };
        check("no-next-update", THIS_UPDATE, None);
        check("fraction", THIS_UPDATE, None);
        check("offset", THIS_UPDATE - 3600, None);
        check("early", -315_619_200, None);
    }

    #[test]
    fn times() {
        let check = |text: &str, expect| assert_eq!(seconds(text.as_bytes()), expect, "{text}");
        check("19700101000000Z", Some(0));
        check("20240229235959Z", Some(1_709_251_199));
        check("20231231235959Z", Some(1_704_067_199));
        for wrong in [
            "",
            "20240101000000",
            "20230229000000Z",
            "20240101240000Z",
            "20240101006000Z",
            "20240101000060Z",
            "20240100000000Z",
            "20241301000000Z",
            "20240101000000.Z",
            "20240101000000.50Z",
            "20240101000000.0123456789Z",
            "20240101000000+0000",
            "20240101000000+01",
            "202401010000Z",
            "2024010100000ZZ",
            "2024-1-1000000Z",
        ] {
            check(wrong, None);
        }
    }

    #[test]
    fn what_is_no_answer() {
        for (name, staple) in staples() {
            let is_none =
                ["no-time", "critical", "other-status", "two", "none", "no-responder", "other-type", "trailing"]
                    .contains(&name.as_str())
                    || ["truncated", "garbage", "indefinite", "status-"].iter().any(|start| name.starts_with(start));
            assert_eq!(OcspResponse::parse(&staple).is_none(), is_none, "{name}");
        }
        let long = vec![0x30; STAPLE_BYTES_MAX + 1];
        assert_eq!(OcspResponse::parse(&long), None);
    }

    proptest! {
        /// Nothing a server sends panics, and a changed byte is no other panic.
        #[test]
        fn no_staple_panics(bytes in proptest::collection::vec(any::<u8>(), 0..200), name in 0..40_usize, at: usize, byte: u8) {
            let _ = OcspResponse::parse(&bytes);
            let all = staples();
            let mut staple = all[name % all.len()].1.clone();
            let at = at % staple.len();
            staple[at] = byte;
            let _ = OcspResponse::parse(&staple);
        }
    }
}
