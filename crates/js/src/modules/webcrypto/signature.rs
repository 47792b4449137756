//! `subtle.sign()` and `subtle.verify()`.

use std::sync::Arc;

use onrush_crypto::{
    Hash,
    web::{Algorithm, Key, Material, WebError, hash_bytes},
};

use super::{
    Refusal, Step,
    algorithm::{Operation, algorithm, hash_member, integer_member},
    cipher::rsa_is_long,
    data::data,
    key,
    work::{Answer, Work, promise},
};
use crate::embed::{Args, Ctx, Handle, JsResult};

pub(super) fn sign(ctx: Ctx, _: &Handle, args: Args<'_>) -> JsResult {
    promise(ctx, || {
        data(ctx, args.at(2))?;
        let scheme = Scheme::read(ctx, args.at(0), args.at(1), Operation::Sign)?;
        let is_long = rsa_is_long(&scheme.key);
        Work::on(data(ctx, args.at(2))?, is_long, move |bytes| scheme.sign(bytes).map(Answer::Bytes))
    })
}

pub(super) fn verify(ctx: Ctx, _: &Handle, args: Args<'_>) -> JsResult {
    promise(ctx, || {
        data(ctx, args.at(2))?;
        data(ctx, args.at(3))?;
        let scheme = Scheme::read(ctx, args.at(0), args.at(1), Operation::Verify)?;
        let signature = data(ctx, args.at(2))?;
        if signature.len() > SIGNATURE_BYTES_MAX {
            return Ok(Work::Done(Ok(Answer::Bool(false))));
        }
        let signature = signature.to_vec();
        Work::on(data(ctx, args.at(3))?, false, move |bytes| scheme.verify(bytes, &signature).map(Answer::Bool))
    })
}

/// Longer than any signature.
const SIGNATURE_BYTES_MAX: usize = 4096;

/// A key and how to sign with it.
struct Scheme {
    key: Arc<Key>,
    /// ECDSA's; the others have it in their key.
    hash: Hash,
    salt: i64,
}

impl Scheme {
    fn read(ctx: Ctx, value: &Handle, key: &Handle, operation: Operation) -> Step<Self> {
        let algorithm = algorithm(ctx, value, operation)?;
        let mut hash = Hash::Sha256;
        let mut salt = 0;
        match algorithm {
            // k6: its error names the operation it normalizes hash functions for.
            Algorithm::Ecdsa => hash = hash_member(ctx, value, Operation::GenerateKey)?,
            Algorithm::RsaPss => {
                salt = integer_member(ctx, value, "saltLength")?;
                if salt == 0 {
                    return Err(Refusal::named(
                        "ImplementationError",
                        match operation {
                            Operation::Sign => PSS_SIGN_ZERO,
                            _ => PSS_VERIFY_ZERO,
                        },
                    ));
                }
            }
            _ => {}
        }
        let key = key::expect(ctx, key, "")?;
        if key.key.algorithm != algorithm {
            return Err(Refusal::access("algorithm name does not match key algorithm name"));
        }
        if !key.allows(operation.name()) {
            return Err(Refusal::access(format!("key does not contain the '{}' usage", operation.name())));
        }
        Ok(Self { key: key.key.clone(), hash: key.key.hash.unwrap_or(hash), salt })
    }

    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, WebError> {
        match &self.key.material {
            Material::Hmac(key) => Ok(key.sign(message)),
            Material::EcPrivate(key) => key.sign(self.hash, message),
            Material::OkpPrivate(key) => key.sign(message),
            Material::RsaPrivate(key) if self.key.algorithm == Algorithm::RsaPss => {
                let salt = self
                    .salt_bytes()
                    .ok_or_else(|| WebError::operation("could not sign data: crypto/rsa: invalid PSS salt length"))?;
                key.sign_pss(self.hash, salt, message)
            }
            Material::RsaPrivate(key) => key.sign_pkcs1(self.hash, message),
            Material::RsaPublic(_) => {
                Err(WebError::invalid_access("given CryptoKey is not a private RSA key, it's *rsa.PublicKey"))
            }
            _ => Err(WebError::invalid_access(format!("key is not a valid {} private key", self.key.algorithm.name()))),
        }
    }

    fn verify(&self, message: &[u8], signature: &[u8]) -> Result<bool, WebError> {
        match &self.key.material {
            Material::Hmac(key) => Ok(key.verify(message, signature)),
            Material::EcPublic(key) => Ok(key.verify(self.hash, message, signature)),
            Material::OkpPublic(key) => Ok(key.verify(message, signature)),
            Material::RsaPublic(key) if self.key.algorithm == Algorithm::RsaPss => {
                self.salt_bytes().map_or(Ok(false), |salt| key.verify_pss(self.hash, salt, message, signature))
            }
            Material::RsaPublic(key) => key.verify_pkcs1(self.hash, message, signature),
            Material::RsaPrivate(_) => {
                Err(WebError::invalid_access("given CryptoKey is not a public RSA key, it's *rsa.PrivateKey"))
            }
            _ => Err(WebError::invalid_access(format!("key is not a valid {} public key", self.key.algorithm.name()))),
        }
    }

    /// k6: -1 stands for the length of the hash.
    fn salt_bytes(&self) -> Option<usize> {
        if self.salt == -1 { Some(hash_bytes(self.hash)) } else { usize::try_from(self.salt).ok() }
    }
}

/// k6's texts, to the letter.
const PSS_SIGN_ZERO: &str = "k6 RSA-PSS uses standard Golang SDK that doesn't supportsalt length=0 but generates salt \
                             with maximum length . Sign result might be different.";
const PSS_VERIFY_ZERO: &str = "k6 RSA-PSS uses standard Golang SDK that doesn't supportsalt length=0 but tries to \
                               auto-detect salt length if 0 is used. Verify result might be different.";
