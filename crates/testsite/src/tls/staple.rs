//! OCSP responses of our own making, stapled to the handshake (RFC 6960). The certificate signs itself, so it also
//! answers for itself.

use std::io;

use aws_lc_rs::digest::{SHA1_FOR_LEGACY_USE_ONLY, digest};
use rcgen::KeyPair;

use super::{
    der::{BIT_STRING, ENUMERATED, GENERALIZED_TIME, INTEGER, OCTETS, OID, SEQUENCE, context, element, list},
    subject::parts,
};
use crate::{
    clock::{http_date, wall_seconds},
    options::StapledStatus,
};

/// How long a staple says it is good for.
const VALID_SECONDS: u64 = 7 * 24 * 3600;
/// A staple is from before it is asked for, also with clocks that differ.
const AGE_SECONDS: u64 = 3600;

/// id-pkix-ocsp-basic, 1.3.6.1.5.5.7.48.1.1.
const BASIC: &[u8] = &[0x2b, 6, 1, 5, 5, 7, 0x30, 1, 1];
/// ecdsa-with-SHA256, 1.2.840.10045.4.3.2: what the certificate's key makes.
const ECDSA_SHA256: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 3, 2];
/// sha1, 1.3.14.3.2.26: what names certificates in OCSP.
const SHA1: &[u8] = &[0x2b, 0x0e, 3, 2, 0x1a];
/// keyCompromise.
const REASON: u8 = 1;

/// A signed response about `certificate`, made now.
///
/// # Errors
/// When the certificate cannot be read or the key cannot sign.
pub(super) fn staple(certificate: &[u8], key: &KeyPair, status: StapledStatus) -> io::Result<Vec<u8>> {
    let parts = parts(certificate).ok_or_else(|| io::Error::other("unreadable certificate"))?;
    let hash = |data: &[u8]| element(OCTETS, digest(&SHA1_FOR_LEGACY_USE_ONLY, data).as_ref());
    let now = wall_seconds();
    let made = time(now - AGE_SECONDS);
    let null = element(0x05, &[]);
    let certificate_id = list(
        SEQUENCE,
        &[
            &list(SEQUENCE, &[&element(OID, SHA1), &null]),
            &hash(parts.issuer.whole),
            &hash(parts.key),
            &element(INTEGER, parts.serial.content),
        ],
    );
    let status = match status {
        StapledStatus::Good => element(0x80, &[]),
        StapledStatus::Revoked => list(context(1), &[&made, &element(context(0), &element(ENUMERATED, &[REASON]))]),
        StapledStatus::Unknown => element(0x82, &[]),
    };
    let until = element(context(0), &time(now + VALID_SECONDS));
    let single = list(SEQUENCE, &[&certificate_id, &status, &made, &until]);
    let responder = element(context(2), &hash(parts.key));
    let data = list(SEQUENCE, &[&responder, &made, &element(SEQUENCE, &single)]);
    let signature = [&[0], super::sign(key, &data)?.as_slice()].concat();
    let basic =
        list(SEQUENCE, &[&data, &element(SEQUENCE, &element(OID, ECDSA_SHA256)), &element(BIT_STRING, &signature)]);
    let bytes = list(SEQUENCE, &[&element(OID, BASIC), &element(OCTETS, &basic)]);
    Ok(list(SEQUENCE, &[&element(ENUMERATED, &[0]), &element(context(0), &bytes)]))
}

/// `YYYYMMDDHHMMSSZ`, from the parts of an HTTP date.
fn time(seconds: u64) -> Vec<u8> {
    const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let date = http_date(seconds);
    let text = |from: usize, to: usize| std::str::from_utf8(&date[from..to]).unwrap_or_default();
    let month = MONTHS.iter().position(|month| *month == text(8, 11)).unwrap_or(0) + 1;
    let time = text(17, 25).replace(':', "");
    element(GENERALIZED_TIME, format!("{}{month:02}{}{time}Z", text(12, 16), text(5, 7)).as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_generalized() {
        assert_eq!(time(784_111_777)[2..], *b"19941106084937Z");
    }
}
