//! Secrets from passwords and other secrets.

use std::num::NonZeroU32;

use aws_lc_rs::{hkdf as library_hkdf, pbkdf2 as library};

use super::WebError;
use crate::Hash;

/// Derives `length` bytes from a password.
pub fn pbkdf2(hash: Hash, iterations: u32, salt: &[u8], password: &[u8], length: usize) -> Result<Vec<u8>, WebError> {
    let iterations =
        NonZeroU32::new(iterations).ok_or_else(|| WebError::operation("number of iterations can't be 0"))?;
    let algorithm = match hash {
        Hash::Sha1 => library::PBKDF2_HMAC_SHA1,
        Hash::Sha384 => library::PBKDF2_HMAC_SHA384,
        Hash::Sha512 => library::PBKDF2_HMAC_SHA512,
        _ => library::PBKDF2_HMAC_SHA256,
    };
    let mut out = vec![0; length];
    if !out.is_empty() {
        library::derive(algorithm, iterations, salt, password, &mut out);
    }
    Ok(out)
}

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
