//! NIST's curves.

use aws_lc_rs::{agreement, digest, signature};
use der::asn1::ObjectIdentifier;

/// A curve by the name scripts use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Curve {
    /// secp256r1.
    P256,
    /// secp384r1.
    P384,
    /// secp521r1.
    P521,
}

impl Curve {
    /// The curve of that name; case matters.
    pub fn named(name: &str) -> Option<Self> {
        [Self::P256, Self::P384, Self::P521].into_iter().find(|curve| curve.name() == name)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::P256 => "P-256",
            Self::P384 => "P-384",
            Self::P521 => "P-521",
        }
    }

    /// Bytes of a coordinate or a private key.
    pub(super) fn bytes(self) -> usize {
        match self {
            Self::P256 => 32,
            Self::P384 => 48,
            Self::P521 => 66,
        }
    }

    pub(super) fn oid(self) -> ObjectIdentifier {
        ObjectIdentifier::new_unwrap(match self {
            Self::P256 => "1.2.840.10045.3.1.7",
            Self::P384 => "1.3.132.0.34",
            Self::P521 => "1.3.132.0.35",
        })
    }

    pub(super) fn of_oid(oid: ObjectIdentifier) -> Option<Self> {
        [Self::P256, Self::P384, Self::P521].into_iter().find(|curve| curve.oid() == oid)
    }

    pub(super) fn agreement(self) -> &'static agreement::Algorithm {
        match self {
            Self::P256 => &agreement::ECDH_P256,
            Self::P384 => &agreement::ECDH_P384,
            Self::P521 => &agreement::ECDH_P521,
        }
    }

    pub(super) fn signing(self) -> &'static signature::EcdsaSigningAlgorithm {
        match self {
            Self::P256 => &signature::ECDSA_P256_SHA256_FIXED_SIGNING,
            Self::P384 => &signature::ECDSA_P384_SHA384_FIXED_SIGNING,
            Self::P521 => &signature::ECDSA_P521_SHA512_FIXED_SIGNING,
        }
    }

    pub(super) fn verifying(self) -> &'static signature::EcdsaVerificationAlgorithm {
        match self {
            Self::P256 => &signature::ECDSA_P256_SHA256_FIXED,
            Self::P384 => &signature::ECDSA_P384_SHA384_FIXED,
            Self::P521 => &signature::ECDSA_P521_SHA512_FIXED,
        }
    }

    /// The hash function [`Curve::signing`] and [`Curve::verifying`] take digests of.
    pub(super) fn digest(self) -> &'static digest::Algorithm {
        match self {
            Self::P256 => &digest::SHA256,
            Self::P384 => &digest::SHA384,
            Self::P521 => &digest::SHA512,
        }
    }
}
