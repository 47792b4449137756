//! Keys on Curve25519: Ed25519 signs, X25519 agrees on secrets.

use aws_lc_rs::{
    agreement::{self, UnparsedPublicKey},
    encoding::{AsBigEndian, Curve25519SeedBin},
    signature::{ED25519, Ed25519KeyPair, KeyPair, UnparsedPublicKey as UnparsedVerifyingKey},
};

use super::{Algorithm, WebError};

/// Bytes of any of these keys.
const KEY_BYTES: usize = 32;

/// A public key.
pub struct OkpPublic {
    /// What it is for.
    pub algorithm: Algorithm,
    bytes: [u8; KEY_BYTES],
}

impl OkpPublic {
    /// Reads a public key.
    pub fn new(algorithm: Algorithm, bytes: &[u8]) -> Result<Self, WebError> {
        Ok(Self { algorithm, bytes: key_bytes(algorithm, bytes)? })
    }

    /// The key itself.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Whether a signature is right.
    pub fn verify(&self, message: &[u8], signature: &[u8]) -> bool {
        UnparsedVerifyingKey::new(&ED25519, &self.bytes).verify(message, signature).is_ok()
    }
}

/// A private key and its public one.
pub struct OkpPrivate {
    /// The public key.
    pub public: OkpPublic,
    seed: [u8; KEY_BYTES],
    secret: Secret,
}

enum Secret {
    Signing(Ed25519KeyPair),
    Agreeing(agreement::PrivateKey),
}

impl OkpPrivate {
    /// Reads a private key.
    pub fn new(algorithm: Algorithm, seed: &[u8]) -> Result<Self, WebError> {
        let seed = key_bytes(algorithm, seed)?;
        let invalid = || WebError::data(format!("the private key is not one of {}", algorithm.name()));
        let (secret, public) = if algorithm == Algorithm::Ed25519 {
            let pair = Ed25519KeyPair::from_seed_unchecked(&seed).map_err(|_| invalid())?;
            let public = pair.public_key().as_ref().to_vec();
            (Secret::Signing(pair), public)
        } else {
            let key = agreement::PrivateKey::from_private_key(&agreement::X25519, &seed).map_err(|_| invalid())?;
            let public = key.compute_public_key().map_err(|_| invalid())?.as_ref().to_vec();
            (Secret::Agreeing(key), public)
        };
        Ok(Self { public: OkpPublic::new(algorithm, &public)?, seed, secret })
    }

    /// A new key.
    pub(super) fn generate(algorithm: Algorithm) -> Result<Self, WebError> {
        let failed = |_| WebError::operation("could not generate a key pair");
        if algorithm == Algorithm::Ed25519 {
            let pair = Ed25519KeyPair::generate().map_err(failed)?;
            let seed: Curve25519SeedBin<'_> = pair.seed().map_err(failed)?.as_be_bytes().map_err(failed)?;
            Self::new(algorithm, seed.as_ref())
        } else {
            let key = agreement::PrivateKey::generate(&agreement::X25519).map_err(failed)?;
            let seed: Curve25519SeedBin<'_> = key.as_be_bytes().map_err(failed)?;
            Self::new(algorithm, seed.as_ref())
        }
    }

    /// The private key itself.
    pub(super) fn seed(&self) -> &[u8] {
        &self.seed
    }

    /// A signature.
    pub fn sign(&self, message: &[u8]) -> Result<Vec<u8>, WebError> {
        match &self.secret {
            Secret::Signing(pair) => Ok(pair.sign(message).as_ref().to_vec()),
            Secret::Agreeing(_) => Err(WebError::operation("could not sign data")),
        }
    }

    /// The secret that this key and another's public key agree on.
    pub fn agree(&self, other: &OkpPublic) -> Result<Vec<u8>, WebError> {
        let failed = || WebError::operation("could not derive the shared secret");
        let Secret::Agreeing(key) = &self.secret else { return Err(failed()) };
        let theirs = UnparsedPublicKey::new(&agreement::X25519, &other.bytes);
        agreement::agree(key, theirs, failed(), |secret| Ok(secret.to_vec()))
    }
}

fn key_bytes(algorithm: Algorithm, bytes: &[u8]) -> Result<[u8; KEY_BYTES], WebError> {
    bytes.try_into().map_err(|_| {
        WebError::data(format!("keys of {} have {KEY_BYTES} bytes, not {}", algorithm.name(), bytes.len()))
    })
}
