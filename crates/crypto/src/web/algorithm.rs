//! Names of algorithms and hash functions.

use crate::Hash;

/// An algorithm that has keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// AES in cipher block chaining mode.
    AesCbc,
    /// AES in counter mode.
    AesCtr,
    /// AES in Galois/counter mode.
    AesGcm,
    /// AES key wrap.
    AesKw,
    /// Keyed hashes.
    Hmac,
    /// RSA encryption with OAEP padding.
    RsaOaep,
    /// RSA signatures with PKCS #1 v1.5 padding.
    RsaPkcs1,
    /// RSA signatures with PSS padding.
    RsaPss,
    /// Signatures on NIST's curves.
    Ecdsa,
    /// Key agreement on NIST's curves.
    Ecdh,
    /// Key derivation from passwords.
    Pbkdf2,
    /// Key derivation from secrets.
    Hkdf,
    /// Signatures on Curve25519.
    Ed25519,
    /// Key agreement on Curve25519.
    X25519,
}

impl Algorithm {
    pub(super) const ALL: [Self; 14] = [
        Self::AesCbc,
        Self::AesCtr,
        Self::AesGcm,
        Self::AesKw,
        Self::Hmac,
        Self::RsaOaep,
        Self::RsaPkcs1,
        Self::RsaPss,
        Self::Ecdsa,
        Self::Ecdh,
        Self::Pbkdf2,
        Self::Hkdf,
        Self::Ed25519,
        Self::X25519,
    ];

    /// The name scripts know it by.
    pub fn name(self) -> &'static str {
        match self {
            Self::AesCbc => "AES-CBC",
            Self::AesCtr => "AES-CTR",
            Self::AesGcm => "AES-GCM",
            Self::AesKw => "AES-KW",
            Self::Hmac => "HMAC",
            Self::RsaOaep => "RSA-OAEP",
            Self::RsaPkcs1 => "RSASSA-PKCS1-v1_5",
            Self::RsaPss => "RSA-PSS",
            Self::Ecdsa => "ECDSA",
            Self::Ecdh => "ECDH",
            Self::Pbkdf2 => "PBKDF2",
            Self::Hkdf => "HKDF",
            Self::Ed25519 => "Ed25519",
            Self::X25519 => "X25519",
        }
    }

    /// The algorithm of that name, in upper or lower case.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|algorithm| algorithm.name().eq_ignore_ascii_case(name))
    }

    /// Whether its keys are AES keys.
    pub fn is_aes(self) -> bool {
        matches!(self, Self::AesCbc | Self::AesCtr | Self::AesGcm | Self::AesKw)
    }

    /// Whether its keys are RSA keys.
    pub fn is_rsa(self) -> bool {
        matches!(self, Self::RsaOaep | Self::RsaPkcs1 | Self::RsaPss)
    }

    /// Whether its keys are on one of NIST's curves.
    pub fn is_ec(self) -> bool {
        matches!(self, Self::Ecdsa | Self::Ecdh)
    }

    /// What its keys may be used for: private or secret keys, then public ones.
    pub fn usages(self) -> (&'static [&'static str], &'static [&'static str]) {
        match self {
            Self::AesCbc | Self::AesCtr | Self::AesGcm => (&["encrypt", "decrypt", "wrapKey", "unwrapKey"], &[]),
            Self::AesKw => (&["wrapKey", "unwrapKey"], &[]),
            Self::Hmac => (&["sign", "verify"], &[]),
            Self::RsaOaep => (&["decrypt", "unwrapKey"], &["encrypt", "wrapKey"]),
            Self::RsaPkcs1 | Self::RsaPss | Self::Ecdsa | Self::Ed25519 => (&["sign"], &["verify"]),
            Self::Ecdh | Self::X25519 => (&["deriveKey", "deriveBits"], &[]),
            Self::Pbkdf2 | Self::Hkdf => (&["deriveKey", "deriveBits"], &[]),
        }
    }
}

/// Web Crypto's hash function of that name, in upper or lower case.
pub fn hash_named(name: &str) -> Option<Hash> {
    [Hash::Sha1, Hash::Sha256, Hash::Sha384, Hash::Sha512]
        .into_iter()
        .find(|&hash| hash_name(hash).eq_ignore_ascii_case(name))
}

/// The name Web Crypto has for a hash function.
pub fn hash_name(hash: Hash) -> &'static str {
    match hash {
        Hash::Sha1 => "SHA-1",
        Hash::Sha384 => "SHA-384",
        Hash::Sha512 => "SHA-512",
        _ => "SHA-256",
    }
}

/// The length of a hash.
pub fn hash_bytes(hash: Hash) -> usize {
    match hash {
        Hash::Sha1 => 20,
        Hash::Sha384 => 48,
        Hash::Sha512 => 64,
        _ => 32,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        let check = |name: &str, expect: Option<Algorithm>| assert_eq!(Algorithm::named(name), expect, "{name}");
        check("aes-gcm", Some(Algorithm::AesGcm));
        check("RSASSA-PKCS1-V1_5", Some(Algorithm::RsaPkcs1));
        check("ed25519", Some(Algorithm::Ed25519));
        check("AES", None);
        check("", None);
        assert_eq!(hash_named("sha-384"), Some(Hash::Sha384));
        assert_eq!(hash_named("SHA-512/256"), None);
    }
}
