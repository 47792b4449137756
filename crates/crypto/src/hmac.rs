//! Keyed hashes (HMAC, RFC 2104) over every hash function.

use std::fmt;

use aws_lc_rs::hmac::{Context, HMAC_SHA1_FOR_LEGACY_USE_ONLY, HMAC_SHA256, HMAC_SHA384, HMAC_SHA512, Key};
use hmac::{Hmac as Keyed, KeyInit, Mac};
use md4::Md4;
use md5::Md5;
use ripemd::Ripemd160;
use sha2::{Sha512_224, Sha512_256};

use crate::{Digest, Hash};

/// A keyed hash of bytes that come in pieces. Its digest can be taken any number of times.
#[derive(Clone)]
pub struct Hmac(State);

#[derive(Clone)]
#[expect(clippy::large_enum_variant, reason = "the one almost everybody uses; boxed it would cost an allocation")]
enum State {
    Aws(Context),
    Md4(Keyed<Md4>),
    Md5(Keyed<Md5>),
    Sha512_224(Keyed<Sha512_224>),
    Sha512_256(Keyed<Sha512_256>),
    Ripemd160(Keyed<Ripemd160>),
}

impl Hmac {
    /// Starts a hash with a key of any length.
    #[must_use]
    pub fn new(hash: Hash, key: &[u8]) -> Self {
        let in_aws = |algorithm| State::Aws(Context::with_key(&Key::new(algorithm, key)));
        Self(match hash {
            Hash::Sha1 => in_aws(HMAC_SHA1_FOR_LEGACY_USE_ONLY),
            Hash::Sha256 => in_aws(HMAC_SHA256),
            Hash::Sha384 => in_aws(HMAC_SHA384),
            Hash::Sha512 => in_aws(HMAC_SHA512),
            Hash::Md4 => State::Md4(keyed(key)),
            Hash::Md5 => State::Md5(keyed(key)),
            Hash::Sha512_224 => State::Sha512_224(keyed(key)),
            Hash::Sha512_256 => State::Sha512_256(keyed(key)),
            Hash::Ripemd160 => State::Ripemd160(keyed(key)),
        })
    }

    /// Adds bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        match &mut self.0 {
            State::Aws(state) => state.update(bytes),
            State::Md4(state) => state.update(bytes),
            State::Md5(state) => state.update(bytes),
            State::Sha512_224(state) => state.update(bytes),
            State::Sha512_256(state) => state.update(bytes),
            State::Ripemd160(state) => state.update(bytes),
        }
    }

    /// The hash of all bytes so far; more may follow.
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.clone().finish()
    }

    /// The hash of all bytes.
    #[must_use]
    pub fn finish(self) -> Digest {
        match self.0 {
            State::Aws(state) => Digest::of(state.sign().as_ref()),
            State::Md4(state) => Digest::of(&state.finalize().into_bytes()),
            State::Md5(state) => Digest::of(&state.finalize().into_bytes()),
            State::Sha512_224(state) => Digest::of(&state.finalize().into_bytes()),
            State::Sha512_256(state) => Digest::of(&state.finalize().into_bytes()),
            State::Ripemd160(state) => Digest::of(&state.finalize().into_bytes()),
        }
    }
}

fn keyed<M: KeyInit>(key: &[u8]) -> M {
    M::new_from_slice(key).expect("HMAC takes keys of any length")
}

impl fmt::Debug for Hmac {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Hmac")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(hash: Hash, key: &[u8], text: &[u8], expect: &str) {
        let mut hmac = Hmac::new(hash, key);
        for piece in text.chunks(7) {
            hmac.update(piece);
        }
        assert_eq!(format!("{:?}", hmac.digest()), expect, "{hash:?}");
        assert_eq!(format!("{:?}", hmac.finish()), expect, "{hash:?}");
    }

    /// Test cases 2 and 6 of RFC 2202, RFC 4231 and RFC 2286: a short key, and one longer than a block.
    #[test]
    fn known_answers() {
        let short = |hash, expect| check(hash, b"Jefe", b"what do ya want for nothing?", expect);
        short(Hash::Md5, "750c783e6ab0b503eaa86e310a5db738");
        short(Hash::Sha1, "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79");
        short(Hash::Sha256, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
        short(
            Hash::Sha384,
            "af45d2e376484031617f78d2b58a6b1b9c7ef464f5a01b47e42ec3736322445e8e2240ca5e69e2c78b3239ecfab21649",
        );
        short(
            Hash::Sha512,
            "164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea250554\
             9758bf75c05a994a6d034f65f8f0e6fdcaeab1a34d4a6b4b636e070a38bce737",
        );
        short(Hash::Ripemd160, "dda6c0213a485a9e24f4742064a7f033b43c4069");

        let text = b"Test Using Larger Than Block-Size Key - Hash Key First";
        check(Hash::Md5, &[0xaa; 80], text, "6b1ab7fe4bd7bf8f0b62e6ce61b9d0cd");
        check(Hash::Sha1, &[0xaa; 80], text, "aa4ae5e15272d00e95705637ce8a3b55ed402112");
        check(Hash::Ripemd160, &[0xaa; 80], text, "6466ca07ac5eac29e1bd523e5ada7605b791fd8b");
        let long = |hash, expect| check(hash, &[0xaa; 131], text, expect);
        long(Hash::Sha256, "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
    }

    /// Against the definition, for those without published vectors.
    #[test]
    fn each_is_what_rfc_2104_says() {
        for hash in Hash::ALL {
            let block = match hash {
                Hash::Sha384 | Hash::Sha512 | Hash::Sha512_224 | Hash::Sha512_256 => 128,
                _ => 64,
            };
            for key in [&b""[..], b"key", &[7; 64], &[7; 65], &[7; 128], &[7; 129]] {
                let mut padded = if key.len() > block { hash.digest(key).to_vec() } else { key.to_vec() };
                padded.resize(block, 0);
                let with = |pad: u8| padded.iter().map(|byte| byte ^ pad).collect::<Vec<u8>>();
                let inner = hash.digest(&[&with(0x36)[..], b"text"].concat());
                let outer = hash.digest(&[&with(0x5c)[..], &inner].concat());
                let mut hmac = Hmac::new(hash, key);
                hmac.update(b"text");
                assert_eq!(hmac.finish(), outer, "{hash:?} with a key of {} bytes", key.len());
            }
        }
    }
}
