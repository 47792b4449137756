//! Reading what scripts call an algorithm: a name, or an object with a name and parameters.

use onrush_crypto::{
    Hash,
    web::{Algorithm, WebError, hash_named},
};

use super::{Refusal, Step};
use crate::embed::{Ctx, Handle};

/// What is to be done with an algorithm, as errors name it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Operation {
    Encrypt,
    Decrypt,
    Sign,
    Verify,
    DeriveBits,
    DeriveKey,
    Digest,
    GenerateKey,
    ImportKey,
    KeyLength,
    WrapKey,
    UnwrapKey,
}

impl Operation {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Encrypt => "encrypt",
            Self::Decrypt => "decrypt",
            Self::Sign => "sign",
            Self::Verify => "verify",
            Self::DeriveBits => "deriveBits",
            Self::DeriveKey => "deriveKey",
            Self::Digest => "digest",
            Self::GenerateKey => "generateKey",
            Self::ImportKey => "importKey",
            Self::KeyLength => "getKeyLength",
            Self::WrapKey => "wrapKey",
            Self::UnwrapKey => "unwrapKey",
        }
    }

    fn has(self, algorithm: Algorithm) -> bool {
        use Algorithm::{
            AesCbc, AesCtr, AesGcm, AesKw, Ecdh, Ecdsa, Ed25519, Hkdf, Hmac, Pbkdf2, RsaOaep, RsaPkcs1, RsaPss, X25519,
        };
        match self {
            Self::Encrypt | Self::Decrypt => matches!(algorithm, AesCbc | AesCtr | AesGcm | RsaOaep),
            Self::WrapKey | Self::UnwrapKey => matches!(algorithm, AesCbc | AesCtr | AesGcm | AesKw | RsaOaep),
            Self::Sign | Self::Verify => matches!(algorithm, Hmac | RsaPkcs1 | RsaPss | Ecdsa | Ed25519),
            Self::DeriveBits | Self::DeriveKey => matches!(algorithm, Ecdh | X25519 | Pbkdf2 | Hkdf),
            Self::GenerateKey => !matches!(algorithm, Pbkdf2 | Hkdf),
            Self::KeyLength => algorithm.is_aes() || algorithm == Hmac,
            Self::ImportKey => true,
            Self::Digest => false,
        }
    }
}

/// The name of an algorithm.
fn name(ctx: Ctx, algorithm: &Handle) -> Step<String> {
    if algorithm.is_string() {
        return Ok(algorithm.to_text(ctx)?);
    }
    if !algorithm.is_object() {
        return Err(Refusal::syntax("algorithm cannot be interpreted as a string or an object"));
    }
    let name = algorithm.get(ctx, "name")?;
    Ok(if name.is_set() { name.to_text(ctx)? } else { String::new() })
}

/// The algorithm a script means.
pub(super) fn algorithm(ctx: Ctx, value: &Handle, operation: Operation) -> Step<Algorithm> {
    let name = name(ctx, value)?;
    match Algorithm::named(&name) {
        Some(algorithm) if operation.has(algorithm) => Ok(algorithm),
        Some(Algorithm::RsaPkcs1) => Err(unsupported(Algorithm::RsaPkcs1.name(), operation)),
        _ => Err(unsupported(&name, operation)),
    }
}

/// The hash function a script means.
pub(super) fn hash(ctx: Ctx, value: &Handle, operation: Operation) -> Step<Hash> {
    let name = name(ctx, value)?;
    hash_named(&name).ok_or_else(|| unsupported(&name, operation))
}

/// The hash function in an algorithm's `hash`.
pub(super) fn hash_member(ctx: Ctx, algorithm: &Handle, operation: Operation) -> Step<Hash> {
    let value = algorithm.get(ctx, "hash")?;
    if !value.is_set() {
        return Err(missing("hash"));
    }
    hash(ctx, &value, operation)
}

/// The hash function of RSA keys. k6: its name is read in another way, and case matters.
pub(super) fn rsa_hash_member(ctx: Ctx, algorithm: &Handle) -> Step<Hash> {
    let value = algorithm.get(ctx, "hash")?;
    if !value.is_set() {
        return Err(missing("hash"));
    }
    let name = if value.is_string() { value } else { value.get(ctx, "name")? };
    if !name.is_set() {
        return Err(Refusal::named("TypeError", "hash name is null or undefined"));
    }
    let name = name.to_text(ctx)?;
    hash_named(&name)
        .filter(|&hash| onrush_crypto::web::hash_name(hash) == name)
        .ok_or_else(|| WebError::not_supported(format!("hash algorithm is not supported {name}")).into())
}

/// An integer member that must be there.
pub(super) fn integer_member(ctx: Ctx, algorithm: &Handle, name: &str) -> Step<i64> {
    optional_integer(ctx, algorithm, name)?.ok_or_else(|| missing(name))
}

/// An integer member.
pub(super) fn optional_integer(ctx: Ctx, algorithm: &Handle, name: &str) -> Step<Option<i64>> {
    let value = algorithm.get(ctx, name)?;
    Ok(if value.is_set() { Some(value.to_i64(ctx)?) } else { None })
}

/// The error of a member that is missing.
pub(super) fn missing(name: &str) -> Refusal {
    Refusal::syntax(format!("could not get {name} from algorithm parameter"))
}

/// The error of an algorithm that cannot do that.
pub(super) fn unsupported(name: &str, operation: Operation) -> Refusal {
    let shown = if name == Algorithm::RsaPkcs1.name() { name.to_owned() } else { name.to_uppercase() };
    WebError::not_supported(format!(
        "algorithm \"{shown}\" doesn't support (in implementation) operation \"{}\"",
        operation.name()
    ))
    .into()
}
