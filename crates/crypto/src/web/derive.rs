//! Secrets from passwords and other secrets.

use std::num::NonZeroU32;

use aws_lc_rs::{hkdf as library_hkdf, hmac, pbkdf2 as library};

use super::WebError;
use crate::Hash;

/// Derives `length` bytes from a password (RFC 8018, section 5.2). Between some thousand rounds `is_wanted` is asked whether
/// to go on; if not, that is an error.
pub fn pbkdf2(
    hash: Hash,
    iterations: u32,
    salt: &[u8],
    password: &[u8],
    length: usize,
    is_wanted: impl Fn() -> bool,
) -> Result<Vec<u8>, WebError> {
    let iterations =
        NonZeroU32::new(iterations).ok_or_else(|| WebError::operation("number of iterations can't be 0"))?;
    let (algorithm, digest) = match hash {
        Hash::Sha1 => (library::PBKDF2_HMAC_SHA1, hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY),
        Hash::Sha384 => (library::PBKDF2_HMAC_SHA384, hmac::HMAC_SHA384),
        Hash::Sha512 => (library::PBKDF2_HMAC_SHA512, hmac::HMAC_SHA512),
        _ => (library::PBKDF2_HMAC_SHA256, hmac::HMAC_SHA256),
    };
    let mut out = vec![0; length];
    if out.is_empty() {
        return Ok(out);
    }
    if iterations.get() <= LIBRARY_ITERATIONS_MAX {
        library::derive(algorithm, iterations, salt, password, &mut out);
        return Ok(out);
    }
    let key = hmac::Key::new(digest, password);
    for (index, block) in (1_u32..).zip(out.chunks_mut(digest.digest_algorithm().output_len())) {
        derive_block(&key, iterations.get(), salt, index, block, &is_wanted)?;
    }
    Ok(out)
}

/// One block of the output: the library does all rounds in one call, which nobody can end.
fn derive_block(
    key: &hmac::Key,
    iterations: u32,
    salt: &[u8],
    index: u32,
    block: &mut [u8],
    is_wanted: &impl Fn() -> bool,
) -> Result<(), WebError> {
    let mut first = hmac::Context::with_key(key);
    first.update(salt);
    first.update(&index.to_be_bytes());
    let mut round = first.sign();
    let mut sum = round.as_ref().to_vec();
    for done in 1..iterations {
        if done % ROUNDS_PER_LOOK == 0 && !is_wanted() {
            return Err(WebError::operation("interrupted"));
        }
        round = hmac::sign(key, round.as_ref());
        sum.iter_mut().zip(round.as_ref()).for_each(|(sum, byte)| *sum ^= byte);
    }
    block.copy_from_slice(&sum[..block.len()]);
    Ok(())
}

/// Up to here the library's own loop is used, which is faster: a second at most.
const LIBRARY_ITERATIONS_MAX: u32 = 1_000_000;
/// A few milliseconds.
const ROUNDS_PER_LOOK: u32 = 10_000;

/// Derives `length` bytes from a secret (RFC 5869).
pub fn hkdf(hash: Hash, salt: &[u8], info: &[u8], secret: &[u8], length: usize) -> Result<Vec<u8>, WebError> {
    struct Length(usize);
    impl library_hkdf::KeyType for Length {
        fn len(&self) -> usize {
            self.0
        }
    }
    let algorithm = match hash {
        Hash::Sha1 => library_hkdf::HKDF_SHA1_FOR_LEGACY_USE_ONLY,
        Hash::Sha384 => library_hkdf::HKDF_SHA384,
        Hash::Sha512 => library_hkdf::HKDF_SHA512,
        _ => library_hkdf::HKDF_SHA256,
    };
    let too_long = || WebError::operation("length is too large");
    let key = library_hkdf::Salt::new(algorithm, salt).extract(secret);
    let mut out = vec![0; length];
    key.expand(&[info], Length(length)).map_err(|_| too_long())?.fill(&mut out).map_err(|_| too_long())?;
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_of_ours_are_the_librarys() {
        let (salt, password) = (b"salt", b"password");
        for hash in [Hash::Sha1, Hash::Sha256, Hash::Sha384, Hash::Sha512] {
            let library = pbkdf2(hash, 3, salt, password, 150, || true).unwrap();
            let digest = match hash {
                Hash::Sha1 => hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY,
                Hash::Sha384 => hmac::HMAC_SHA384,
                Hash::Sha512 => hmac::HMAC_SHA512,
                _ => hmac::HMAC_SHA256,
            };
            let key = hmac::Key::new(digest, password);
            let mut own = vec![0; 150];
            for (index, block) in (1_u32..).zip(own.chunks_mut(digest.digest_algorithm().output_len())) {
                derive_block(&key, 3, salt, index, block, &|| true).unwrap();
            }
            assert_eq!(own, library, "{hash:?}");
        }
    }

    #[test]
    fn unwanted_rounds_end() {
        let ended = pbkdf2(Hash::Sha256, u32::MAX, b"salt", b"password", 32, || false);
        assert!(ended.is_err());
    }
}
