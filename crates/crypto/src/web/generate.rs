//! New keys.

use super::{
    AesKey, Algorithm, Curve, EcPrivate, EcPublic, HmacKey, Key, Material, OkpPrivate, OkpPublic, RsaPrivate,
    RsaPublic, WebError, hmac, random_bytes,
};
use crate::Hash;

/// What generating gives.
pub enum Generated {
    /// A secret.
    Key(Box<Key>),
    /// A private key and its public half.
    Pair(Box<Key>, Box<Key>),
}

/// The longest HMAC key: nobody needs more than a block of the hash function.
const HMAC_BITS_MAX: i64 = 1 << 20;

/// A new AES key.
pub fn generate_aes(algorithm: Algorithm, bits: i64) -> Result<Generated, WebError> {
    if !matches!(bits, 128 | 192 | 256) {
        return Err(WebError::operation("invalid key length"));
    }
    let mut bytes = vec![0; bits as usize / 8];
    random_bytes(&mut bytes)?;
    Ok(Generated::Key(Box::new(Key::new(algorithm, Material::Aes(AesKey::new(&bytes)?)))))
}

/// A new HMAC key, as long as a block of its hash function unless `bits` says otherwise.
pub fn generate_hmac(hash: Hash, bits: Option<i64>) -> Result<Generated, WebError> {
    let bits = bits.unwrap_or_else(|| hmac::default_bits(hash));
    if bits == 0 {
        return Err(WebError::operation("algorithm's length cannot be 0"));
    }
    if !(1..=HMAC_BITS_MAX).contains(&bits) {
        return Err(WebError::operation(format!("algorithm's length must be from 1 to {HMAC_BITS_MAX} bits")));
    }
    let mut bytes = vec![0; (bits as usize).div_ceil(8)];
    random_bytes(&mut bytes)?;
    let mut key = Key::new(Algorithm::Hmac, Material::Hmac(Box::new(HmacKey::new(hash, &bytes)?)));
    key.bits = Some(bits as usize);
    Ok(Generated::Key(Box::new(key)))
}

/// A new RSA key pair with the exponent 65537.
pub fn generate_rsa(algorithm: Algorithm, hash: Hash, bits: i64) -> Result<Generated, WebError> {
    let bits = usize::try_from(bits).unwrap_or(0);
    if bits < 1024 {
        return Err(WebError::operation("could not generate RSA key pair"));
    }
    let private = RsaPrivate::generate(bits)?;
    let (n, e) = private.public.numbers();
    let public = RsaPublic::new(n, e)?;
    let mut pair = [
        Box::new(Key::new(algorithm, Material::RsaPrivate(Box::new(private)))),
        Box::new(Key::new(algorithm, Material::RsaPublic(public))),
    ];
    for key in &mut pair {
        key.hash = Some(hash);
    }
    let [private, public] = pair;
    Ok(Generated::Pair(private, public))
}

/// A new key pair on one of NIST's curves.
pub fn generate_ec(algorithm: Algorithm, curve: Curve) -> Result<Generated, WebError> {
    let private = EcPrivate::generate(curve)?;
    let public = EcPublic::new(curve, private.public.point())?;
    Ok(Generated::Pair(
        Box::new(Key::new(algorithm, Material::EcPrivate(Box::new(private)))),
        Box::new(Key::new(algorithm, Material::EcPublic(public))),
    ))
}

/// A new key pair on Curve25519.
pub fn generate_okp(algorithm: Algorithm) -> Result<Generated, WebError> {
    let private = OkpPrivate::generate(algorithm)?;
    let public = OkpPublic::new(algorithm, private.public.bytes())?;
    Ok(Generated::Pair(
        Box::new(Key::new(algorithm, Material::OkpPrivate(Box::new(private)))),
        Box::new(Key::new(algorithm, Material::OkpPublic(public))),
    ))
}
