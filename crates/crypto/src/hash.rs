//! Hash functions, and hashing in pieces.
//!
//! aws-lc-rs has the SHA family; what it lacks, old hashes and SHA-512/224, comes from RustCrypto. Keyed hashes are
//! next door ([`crate::Hmac`]).

use std::{fmt, ops::Deref};

use aws_lc_rs::digest::{self, Context, SHA1_FOR_LEGACY_USE_ONLY, SHA256, SHA384, SHA512, SHA512_256};
use md4::Md4;
use md5::{Digest as _, Md5};
use ripemd::Ripemd160;
use sha2::Sha512_224;

/// A hash function by the name scripts use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hash {
    /// MD4, 16 bytes.
    Md4,
    /// MD5, 16 bytes.
    Md5,
    /// SHA-1, 20 bytes.
    Sha1,
    /// SHA-256, 32 bytes.
    Sha256,
    /// SHA-384, 48 bytes.
    Sha384,
    /// SHA-512, 64 bytes.
    Sha512,
    /// SHA-512/224, 28 bytes.
    Sha512_224,
    /// SHA-512/256, 32 bytes.
    Sha512_256,
    /// RIPEMD-160, 20 bytes.
    Ripemd160,
}

impl Hash {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Md4,
        Self::Md5,
        Self::Sha1,
        Self::Sha256,
        Self::Sha384,
        Self::Sha512,
        Self::Sha512_224,
        Self::Sha512_256,
        Self::Ripemd160,
    ];

    /// The hash function `k6/crypto` calls `name`: lower case, as it stands.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|hash| hash.name() == name)
    }

    /// Its name in `k6/crypto`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Md4 => "md4",
            Self::Md5 => "md5",
            Self::Sha1 => "sha1",
            Self::Sha256 => "sha256",
            Self::Sha384 => "sha384",
            Self::Sha512 => "sha512",
            Self::Sha512_224 => "sha512_224",
            Self::Sha512_256 => "sha512_256",
            Self::Ripemd160 => "ripemd160",
        }
    }

    /// The hash of some bytes.
    #[must_use]
    pub fn digest(self, bytes: &[u8]) -> Digest {
        match self.in_aws() {
            // At once: no state is allocated.
            Some(algorithm) => Digest::of(digest::digest(algorithm, bytes).as_ref()),
            None => {
                let mut hasher = self.hasher();
                hasher.update(bytes);
                hasher.digest()
            }
        }
    }

    /// A hash of bytes that come in pieces.
    #[must_use]
    pub fn hasher(self) -> Hasher {
        Hasher(match self {
            Self::Md4 => State::Md4(Md4::new()),
            Self::Md5 => State::Md5(Md5::new()),
            Self::Sha1 => State::Aws(Context::new(&SHA1_FOR_LEGACY_USE_ONLY)),
            Self::Sha256 => State::Aws(Context::new(&SHA256)),
            Self::Sha384 => State::Aws(Context::new(&SHA384)),
            Self::Sha512 => State::Aws(Context::new(&SHA512)),
            Self::Sha512_256 => State::Aws(Context::new(&SHA512_256)),
            Self::Sha512_224 => State::Sha512_224(Sha512_224::new()),
            Self::Ripemd160 => State::Ripemd160(Ripemd160::new()),
        })
    }

    const fn in_aws(self) -> Option<&'static digest::Algorithm> {
        Some(match self {
            Self::Sha1 => &SHA1_FOR_LEGACY_USE_ONLY,
            Self::Sha256 => &SHA256,
            Self::Sha384 => &SHA384,
            Self::Sha512 => &SHA512,
            Self::Sha512_256 => &SHA512_256,
            Self::Md4 | Self::Md5 | Self::Sha512_224 | Self::Ripemd160 => return None,
        })
    }
}

/// A hash of bytes that come in pieces. Its digest can be taken any number of times.
#[derive(Clone)]
pub struct Hasher(State);

#[derive(Clone)]
enum State {
    Aws(Context),
    Md4(Md4),
    Md5(Md5),
    Sha512_224(Sha512_224),
    Ripemd160(Ripemd160),
}

impl Hasher {
    /// Adds bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        match &mut self.0 {
            State::Aws(state) => state.update(bytes),
            State::Md4(state) => state.update(bytes),
            State::Md5(state) => state.update(bytes),
            State::Sha512_224(state) => state.update(bytes),
            State::Ripemd160(state) => state.update(bytes),
        }
    }

    /// The hash of all bytes so far; more may follow.
    #[must_use]
    pub fn digest(&self) -> Digest {
        match &self.0 {
            State::Aws(state) => Digest::of(state.clone().finish().as_ref()),
            State::Md4(state) => Digest::of(&state.clone().finalize()),
            State::Md5(state) => Digest::of(&state.clone().finalize()),
            State::Sha512_224(state) => Digest::of(&state.clone().finalize()),
            State::Ripemd160(state) => Digest::of(&state.clone().finalize()),
        }
    }
}

impl fmt::Debug for Hasher {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Hasher")
    }
}

/// What a hash function gives: at most 64 bytes, without an allocation.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Digest {
    bytes: [u8; DIGEST_BYTES_MAX],
    len: u8,
}

impl Digest {
    pub(crate) fn of(digest: &[u8]) -> Self {
        let mut bytes = [0; DIGEST_BYTES_MAX];
        bytes[..digest.len()].copy_from_slice(digest);
        Self { bytes, len: digest.len() as u8 }
    }
}

impl Deref for Digest {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }
}

impl AsRef<[u8]> for Digest {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.iter().try_for_each(|byte| write!(out, "{byte:02x}"))
    }
}

/// SHA-512's.
const DIGEST_BYTES_MAX: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples "abc" and "" of RFC 1320, RFC 1321, FIPS 180-4 and of RIPEMD-160's authors.
    #[test]
    fn known_answers() {
        let check = |hash: Hash, abc: &str, empty: &str| {
            assert_eq!(format!("{:?}", hash.digest(b"abc")), abc, "{hash:?} of abc");
            assert_eq!(format!("{:?}", hash.digest(b"")), empty, "{hash:?} of nothing");
        };
        check(Hash::Md4, "a448017aaf21d8525fc10ae87aa6729d", "31d6cfe0d16ae931b73c59d7e0c089c0");
        check(Hash::Md5, "900150983cd24fb0d6963f7d28e17f72", "d41d8cd98f00b204e9800998ecf8427e");
        check(Hash::Sha1, "a9993e364706816aba3e25717850c26c9cd0d89d", "da39a3ee5e6b4b0d3255bfef95601890afd80709");
        check(
            Hash::Sha256,
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        );
        check(
            Hash::Sha384,
            "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed8086072ba1e7cc2358baeca134c825a7",
            "38b060a751ac96384cd9327eb1b1e36a21fdb71114be07434c0cc7bf63f6e1da274edebfe76f65fbd51ad2f14898b95b",
        );
        check(
            Hash::Sha512,
            "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a\
             2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
            "cf83e1357eefb8bdf1542850d66d8007d620e4050b5715dc83f4a921d36ce9ce\
             47d0d13c5d85f2b0ff8318d2877eec2f63b931bd47417a81a538327af927da3e",
        );
        check(
            Hash::Sha512_224,
            "4634270f707b6a54daae7530460842e20e37ed265ceee9a43e8924aa",
            "6ed0dd02806fa89e25de060c19d3ac86cabb87d6a0ddd05c333b84f4",
        );
        check(
            Hash::Sha512_256,
            "53048e2681941ef99b2e29b76b4c7dabe4c2d0c634fc6d46e0e2f13107e7af23",
            "c672b8d1ef56ed28ab87c3622c5114069bdd3ad7b8f9737498d0c01ecef0967a",
        );
        check(Hash::Ripemd160, "8eb208f7e05d987a9b044a8e98c6b087f15a0bfc", "9c1185a5c5e9fc54612808977ee8f548b2258d31");
    }

    #[test]
    fn pieces_give_the_whole() {
        let text: Vec<u8> = (0..1000_u32).map(|n| n as u8).collect();
        for hash in Hash::ALL {
            let mut hasher = hash.hasher();
            for piece in text.chunks(37) {
                hasher.update(piece);
            }
            assert_eq!(hasher.digest(), hash.digest(&text), "{hash:?}");
            assert_eq!(hasher.digest(), hash.digest(&text), "{hash:?} again");
            hasher.update(b"more");
            assert_eq!(hasher.digest(), hash.digest(&[&text[..], b"more"].concat()), "{hash:?} and more");
        }
    }

    #[test]
    fn names() {
        for hash in Hash::ALL {
            assert_eq!(Hash::named(hash.name()), Some(hash));
        }
        assert_eq!(Hash::named("SHA256"), None);
        assert_eq!(Hash::named(""), None);
    }
}
