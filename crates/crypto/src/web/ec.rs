//! Keys on NIST's curves, for ECDSA and ECDH.

use std::sync::OnceLock;

use aws_lc_rs::{
    agreement::{self, UnparsedPublicKey},
    digest::Digest,
    encoding::{AsBigEndian, EcPrivateKeyBin},
    signature::{EcdsaKeyPair, ParsedPublicKey},
};

use super::{Curve, WebError};
use crate::Hash;

/// A point of a curve.
pub struct EcPublic {
    /// The curve.
    pub curve: Curve,
    /// Uncompressed: 4, x and y.
    point: Box<[u8]>,
    verifying: ParsedPublicKey,
}

impl EcPublic {
    /// Reads an uncompressed point.
    pub fn new(curve: Curve, point: &[u8]) -> Result<Self, WebError> {
        let invalid = || WebError::data(format!("the public key is not an uncompressed point of {}", curve.name()));
        if point.len() != 1 + 2 * curve.bytes() || point[0] != 4 {
            return Err(invalid());
        }
        let verifying = ParsedPublicKey::new(curve.verifying(), point).map_err(|_| invalid())?;
        Ok(Self { curve, point: point.into(), verifying })
    }

    /// The point from its coordinates, whose leading zeros may be missing.
    pub(super) fn from_coordinates(curve: Curve, x: &[u8], y: &[u8]) -> Result<Self, WebError> {
        let mut point = vec![4];
        for coordinate in [x, y] {
            point.extend(
                padded(coordinate, curve.bytes())
                    .ok_or_else(|| WebError::data("a coordinate is longer than the curve's"))?,
            );
        }
        Self::new(curve, &point)
    }

    /// The point, uncompressed.
    pub fn point(&self) -> &[u8] {
        &self.point
    }

    /// The two coordinates.
    pub(super) fn coordinates(&self) -> (&[u8], &[u8]) {
        self.point[1..].split_at(self.curve.bytes())
    }

    /// Whether a signature (r and s, each as long as the curve's numbers) is right.
    pub fn verify(&self, hash: Hash, message: &[u8], signature: &[u8]) -> bool {
        signature.len() == 2 * self.curve.bytes()
            && digest(self.curve, hash, message)
                .is_some_and(|digest| self.verifying.verify_digest_sig(&digest, signature).is_ok())
    }
}

/// A private key and its point.
pub struct EcPrivate {
    /// The point.
    pub public: EcPublic,
    /// As long as the curve's numbers.
    secret: Box<[u8]>,
    agreeing: agreement::PrivateKey,
    signing: OnceLock<Option<EcdsaKeyPair>>,
}

impl EcPrivate {
    /// Reads a private key; its leading zeros may be missing.
    pub fn new(curve: Curve, secret: &[u8]) -> Result<Self, WebError> {
        let invalid = || WebError::data(format!("the private key is not one of {}", curve.name()));
        let secret = padded(secret, curve.bytes()).ok_or_else(invalid)?;
        let agreeing = agreement::PrivateKey::from_private_key(curve.agreement(), &secret).map_err(|_| invalid())?;
        Self::with(curve, secret, agreeing)
    }

    /// A new key.
    pub(super) fn generate(curve: Curve) -> Result<Self, WebError> {
        let failed = |_| WebError::operation("could not generate an elliptic curve key pair");
        let agreeing = agreement::PrivateKey::generate(curve.agreement()).map_err(failed)?;
        let secret: EcPrivateKeyBin<'_> = agreeing.as_be_bytes().map_err(failed)?;
        let secret = secret.as_ref().to_vec();
        Self::with(curve, secret, agreeing)
    }

    fn with(curve: Curve, secret: Vec<u8>, agreeing: agreement::PrivateKey) -> Result<Self, WebError> {
        let point = agreeing
            .compute_public_key()
            .map_err(|_| WebError::data(format!("the private key is not one of {}", curve.name())))?;
        Ok(Self {
            public: EcPublic::new(curve, point.as_ref())?,
            secret: secret.into(),
            agreeing,
            signing: OnceLock::new(),
        })
    }

    /// The private number.
    pub(super) fn secret(&self) -> &[u8] {
        &self.secret
    }

    /// A signature: r and s, each as long as the curve's numbers.
    pub fn sign(&self, hash: Hash, message: &[u8]) -> Result<Vec<u8>, WebError> {
        let curve = self.public.curve;
        let signing = self.signing.get_or_init(|| {
            EcdsaKeyPair::from_private_key_and_public_key(curve.signing(), &self.secret, &self.public.point).ok()
        });
        signing
            .as_ref()
            .zip(digest(curve, hash, message))
            .and_then(|(key, digest)| key.sign_digest(&digest).ok())
            .map(|signature| signature.as_ref().to_vec())
            .ok_or_else(|| WebError::operation("could not sign data"))
    }

    /// The secret that this key and another's point agree on.
    pub fn agree(&self, other: &EcPublic) -> Result<Vec<u8>, WebError> {
        let theirs = UnparsedPublicKey::new(other.curve.agreement(), &other.point);
        agreement::agree(&self.agreeing, theirs, WebError::operation("could not derive the shared secret"), |secret| {
            Ok(secret.to_vec())
        })
    }
}

/// The digest of a message, as long as the one the curve's algorithm takes. ECDSA uses as many of the leftmost bits as the
/// curve has; a shorter digest is the same number with zeros before it.
fn digest(curve: Curve, hash: Hash, message: &[u8]) -> Option<Digest> {
    let full = hash.digest(message);
    let wanted = curve.digest().output_len();
    let fitting = if full.len() >= wanted { full[..wanted].to_vec() } else { padded(&full, wanted)? };
    Digest::import_less_safe(&fitting, curve.digest()).ok()
}

/// A number with leading zeros up to a length, which it may not exceed.
pub(super) fn padded(number: &[u8], length: usize) -> Option<Vec<u8>> {
    let start = number.iter().position(|&byte| byte != 0).unwrap_or(number.len());
    let digits = &number[start..];
    let zeros = length.checked_sub(digits.len())?;
    let mut out = vec![0; zeros];
    out.extend_from_slice(digits);
    Some(out)
}
