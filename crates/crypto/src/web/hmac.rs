//! HMAC keys.

use aws_lc_rs::hmac;

use super::WebError;
use crate::Hash;

/// A key with the hash function it is for.
pub struct HmacKey {
    /// The hash function.
    pub hash: Hash,
    bytes: Box<[u8]>,
    key: hmac::Key,
}

impl HmacKey {
    /// A key over some bytes.
    pub fn new(hash: Hash, bytes: &[u8]) -> Result<Self, WebError> {
        if bytes.is_empty() {
            return Err(WebError::data("key length cannot be 0"));
        }
        Ok(Self { hash, bytes: bytes.into(), key: hmac::Key::new(algorithm(hash), bytes) })
    }

    /// The key itself.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The tag of some bytes.
    pub fn sign(&self, message: &[u8]) -> Vec<u8> {
        hmac::sign(&self.key, message).as_ref().to_vec()
    }

    /// Whether a tag is that of some bytes; takes the same time whatever differs.
    pub fn verify(&self, message: &[u8], tag: &[u8]) -> bool {
        hmac::verify(&self.key, message, tag).is_ok()
    }
}

/// The bits a generated key has where none are asked for: a block of the hash function.
pub(super) fn default_bits(hash: Hash) -> i64 {
    if matches!(hash, Hash::Sha384 | Hash::Sha512) { 1024 } else { 512 }
}

pub(super) fn algorithm(hash: Hash) -> hmac::Algorithm {
    match hash {
        Hash::Sha1 => hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY,
        Hash::Sha384 => hmac::HMAC_SHA384,
        Hash::Sha512 => hmac::HMAC_SHA512,
        _ => hmac::HMAC_SHA256,
    }
}
