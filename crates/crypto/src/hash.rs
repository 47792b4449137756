//! Hash functions, and hashing in pieces.

use aws_lc_rs::digest::{Context, SHA1_FOR_LEGACY_USE_ONLY, SHA256, SHA384, SHA512, SHA512_256};

/// A hash function by the name scripts use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hash {
    /// SHA-1, 20 bytes.
    Sha1,
    /// SHA-256, 32 bytes.
    Sha256,
    /// SHA-384, 48 bytes.
    Sha384,
    /// SHA-512, 64 bytes.
    Sha512,
    /// SHA-512/256, 32 bytes.
    Sha512_256,
}

impl Hash {
    /// The hash of some bytes.
    pub fn digest(self, bytes: &[u8]) -> Vec<u8> {
        let mut context = Context::new(match self {
            Self::Sha1 => &SHA1_FOR_LEGACY_USE_ONLY,
            Self::Sha256 => &SHA256,
            Self::Sha384 => &SHA384,
            Self::Sha512 => &SHA512,
            Self::Sha512_256 => &SHA512_256,
        });
        context.update(bytes);
        context.finish().as_ref().to_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// FIPS 180-4's example "abc".
    #[test]
    fn a_known_answer() {
        let digest = Hash::Sha1.digest(b"abc");
        assert_eq!(digest[..4], [0xa9, 0x99, 0x3e, 0x36]);
        assert_eq!(Hash::Sha256.digest(b"abc")[..4], [0xba, 0x78, 0x16, 0xbf]);
    }
}
