//! Certificates as `k6/crypto/x509` shows them: read from PEM, with Go's names of algorithms and Go's texts of what is
//! wrong. Nothing is verified: no signature, no date, no chain.

mod key;
mod names;
mod pem;
mod signature;

use x509_cert::{
    certificate::{CertificateInner, Raw},
    der::{Any, Decode, Error, ErrorKind, Tag, Tagged},
};

pub use self::{key::PublicKey, names::Attribute};

/// A certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Certificate {
    /// Whom it is for.
    pub subject: Vec<Attribute>,
    /// Who issued it.
    pub issuer: Vec<Attribute>,
    /// From when it is valid: `2019-01-01T00:00:00Z`.
    pub not_before: String,
    /// Until when.
    pub not_after: String,
    /// DNS names, e-mail addresses, IP addresses and URIs, in this order.
    pub alt_names: Vec<String>,
    /// How it was signed: `SHA256-RSA`.
    pub signature_algorithm: &'static str,
    /// The SHA-1 hash of all of it.
    pub fingerprint: [u8; 20],
    /// The key it is about.
    pub public_key: PublicKey,
}

/// Why there is no certificate.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum X509Error {
    /// There is no block of PEM.
    #[error("failed to decode certificate PEM file")]
    Pem,
    /// What is in it is not a certificate.
    #[error("failed to parse certificate: x509: {0}")]
    Certificate(&'static str),
    /// It is larger than any certificate.
    #[error("failed to parse certificate: larger than {} KiB", BYTES_MAX >> 10)]
    TooLarge,
}

impl Certificate {
    /// Reads the first block of PEM in a text, whatever its label says.
    ///
    /// # Errors
    ///
    /// There is none, or it is not a certificate.
    pub fn from_pem(text: &[u8]) -> Result<Self, X509Error> {
        if text.len() > BYTES_MAX {
            return Err(X509Error::TooLarge);
        }
        Self::from_der(&pem::first_block(text).ok_or(X509Error::Pem)?)
    }

    /// Reads a certificate in its binary form.
    ///
    /// # Errors
    ///
    /// It is not one.
    pub fn from_der(der: &[u8]) -> Result<Self, X509Error> {
        let outer = Any::from_der(der).map_err(|error| X509Error::Certificate(outer_error(error)))?;
        if outer.tag() != Tag::Sequence {
            return Err(X509Error::Certificate("malformed certificate"));
        }
        let parsed =
            CertificateInner::<Raw>::from_der(der).map_err(|_| X509Error::Certificate("malformed tbs certificate"))?;
        let tbs = parsed.tbs_certificate();
        let mut fingerprint = [0; 20];
        fingerprint.copy_from_slice(&crate::Hash::Sha1.digest(der));
        Ok(Self {
            subject: names::attributes(tbs.subject())?,
            issuer: names::attributes(tbs.issuer())?,
            not_before: tbs.validity().not_before.to_date_time().to_string(),
            not_after: tbs.validity().not_after.to_date_time().to_string(),
            alt_names: names::alternatives(tbs.extensions())?,
            signature_algorithm: signature::name(parsed.signature_algorithm()),
            fingerprint,
            public_key: PublicKey::of(tbs.subject_public_key_info())?,
        })
    }
}

fn outer_error(error: Error) -> &'static str {
    if matches!(error.kind(), ErrorKind::TrailingData { .. }) { "trailing data" } else { "malformed certificate" }
}

/// Certificates have a few kilobytes; a chain in one file, some dozens.
const BYTES_MAX: usize = 1 << 20;

#[cfg(test)]
mod tests;
