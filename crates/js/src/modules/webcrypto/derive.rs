//! `subtle.deriveBits()` and `subtle.deriveKey()`.

use std::sync::Arc;

use onrush_crypto::{
    Hash,
    web::{Algorithm, ImportFormat, Key, KeyData, KeyType, Material, WebError, hash_bytes, hkdf, pbkdf2},
};

use super::{
    Refusal, Step,
    algorithm::{Operation, algorithm, hash_member, optional_integer, unsupported},
    data::{buffer, member},
    import::{Target, Wanted},
    key::{self, CryptoKey},
    work::{Answer, Work, promise},
};
use crate::{
    embed::{Args, Ctx, Handle, HostClass, JsResult},
    modules::go::go_type,
    offload,
};

pub(super) fn derive_bits(ctx: Ctx, _: &Handle, args: Args<'_>) -> JsResult {
    promise(ctx, || {
        let source = Source::read(ctx, args.at(0), args.at(1), Operation::DeriveBits)?;
        let bits = if args.at(2).is_set() { args.at(2).to_i64(ctx)? } else { 0 };
        let length = bytes_of_bits(bits)?;
        let is_long = source.is_long(length);
        Ok(Work::plain(is_long, move || source.derive(length).map(Answer::Bytes)))
    })
}

pub(super) fn derive_key(ctx: Ctx, _: &Handle, args: Args<'_>) -> JsResult {
    promise(ctx, || {
        let target = Target::read_usages(ctx, args.at(3), args.at(4), 4)?;
        let kind = args.at(2);
        // What is derived must be a kind of key at all, then one whose length is known.
        algorithm(ctx, kind, Operation::ImportKey)?;
        let derived = algorithm(ctx, kind, Operation::KeyLength)?;
        let source = Source::read(ctx, args.at(0), args.at(1), Operation::DeriveKey)?;
        let wanted = Wanted::read(ctx, kind)?;
        let length = key_bytes(ctx, kind, derived, &wanted)?;
        let is_long = source.is_long(length);
        Ok(Work::plain(is_long, move || {
            let bytes = source.derive(length)?;
            target.key(&wanted, KeyData::Bytes(ImportFormat::Raw, &bytes)).map(|key| Answer::Key(Box::new(key)))
        }))
    })
}

/// The most bytes that are derived.
const DERIVED_BYTES_MAX: i64 = 1 << 20;

fn bytes_of_bits(bits: i64) -> Step<usize> {
    if bits == 0 {
        return Err(Refusal::operation("length can not be 0"));
    }
    if bits % 8 != 0 {
        return Err(Refusal::operation("currently only multiples of 8 are supported for length"));
    }
    if !(0..=DERIVED_BYTES_MAX * 8).contains(&bits) {
        return Err(Refusal::operation(format!("length must be from 8 to {} bits", DERIVED_BYTES_MAX * 8)));
    }
    Ok(bits as usize / 8)
}

/// The bytes of a key that is to be derived.
fn key_bytes(ctx: Ctx, value: &Handle, derived: Algorithm, wanted: &Wanted) -> Step<usize> {
    let bits = optional_integer(ctx, value, "length")?;
    let bits = match (derived, bits) {
        (Algorithm::Hmac, None) => match wanted.parameters.hash {
            Some(Hash::Sha384 | Hash::Sha512) => 1024,
            _ => 512,
        },
        (_, None) => return Err(Refusal::operation("aes length parameter not specified")),
        (_, Some(bits)) => bits,
    };
    if bits % 8 != 0 {
        return Err(Refusal::access("provided length of key must be a multiple of 8"));
    }
    bytes_of_bits(bits)
}

/// What is derived from.
enum Source {
    Agreement { own: Arc<Key>, other: Arc<Key> },
    Pbkdf2 { password: Arc<Key>, hash: Hash, iterations: u32, salt: Vec<u8> },
    Hkdf { secret: Arc<Key>, hash: Hash, salt: Vec<u8>, info: Vec<u8> },
}

impl Source {
    fn read(ctx: Ctx, value: &Handle, base: &Handle, operation: Operation) -> Step<Self> {
        match algorithm(ctx, value, operation)? {
            algorithm @ (Algorithm::Ecdh | Algorithm::X25519) => {
                Self::agreement(ctx, algorithm, value, base, operation)
            }
            Algorithm::Pbkdf2 => {
                // k6: its error names the operation it normalizes hash functions for.
                let hash = hash_member(ctx, value, Operation::DeriveBits)?;
                let salt = salt(ctx, value)?;
                let iterations = optional_integer(ctx, value, "iterations")?
                    .ok_or_else(|| Refusal::named("TypeError", "field iterations is null or undefined"))?;
                let iterations = match iterations {
                    0 => return Err(Refusal::operation("number of iterations can't be 0")),
                    // k6: a negative number is as good as 1.
                    ..0 => 1,
                    _ => u32::try_from(iterations)
                        .map_err(|_| Refusal::operation("number of iterations is too large"))?,
                };
                Ok(Self::Pbkdf2 { password: secret(ctx, base, operation)?, hash, iterations, salt })
            }
            Algorithm::Hkdf => Ok(Self::Hkdf {
                hash: hash_member(ctx, value, operation)?,
                salt: member(ctx, value, "salt")?,
                info: member(ctx, value, "info")?,
                secret: secret(ctx, base, operation)?,
            }),
            other => Err(unsupported(other.name(), operation)),
        }
    }

    fn agreement(ctx: Ctx, algorithm: Algorithm, value: &Handle, base: &Handle, operation: Operation) -> Step<Self> {
        let public = value.get(ctx, "public")?;
        if !public.is_set() {
            return Err(Refusal::named("TypeError", "algorithm does not contain a public key"));
        }
        let other = HostClass::<CryptoKey>::of(&public).ok_or_else(|| {
            Refusal::named("TypeError", "algorithm's public key is not a valid CryptoKey: invalid key type")
        })?;
        let own = HostClass::<CryptoKey>::of(base)
            .ok_or_else(|| Refusal::access("provided baseKey is not a valid CryptoKey: invalid key type"))?;
        if other.key.key_type() != KeyType::Public {
            return Err(Refusal::access("algorithm's public key is not a public key"));
        }
        if other.key.algorithm != algorithm {
            return Err(Refusal::access(format!(
                "algorithm name does not match public key's algorithm name: {} != {}",
                algorithm.name(),
                other.key.algorithm.name()
            )));
        }
        if own.key.key_type() != KeyType::Private {
            return Err(Refusal::access("provided baseKey is not a private key"));
        }
        if !own.allows(operation.name()) {
            return Err(Refusal::access(format!("provided baseKey does not contain the '{}' usage", operation.name())));
        }
        if own.key.algorithm != algorithm {
            return Err(Refusal::access("algorithm name does not match baseKey's algorithm name"));
        }
        if let (Some(own), Some(other)) = (own.key.curve, other.key.curve)
            && own != other
        {
            return Err(Refusal::access(format!("keys have different curves {} and {}", own.name(), other.name())));
        }
        Ok(Self::Agreement { own: own.key.clone(), other: other.key.clone() })
    }

    /// Whether it takes a good part of a slice.
    fn is_long(&self, length: usize) -> bool {
        match self {
            Self::Pbkdf2 { hash, iterations, .. } => {
                u64::from(*iterations) * (length.div_ceil(hash_bytes(*hash)) as u64) > ITERATIONS_INLINE_MAX
            }
            Self::Agreement { .. } | Self::Hkdf { .. } => false,
        }
    }

    fn derive(&self, length: usize) -> Result<Vec<u8>, WebError> {
        match self {
            Self::Agreement { own, other } => {
                let mut secret = match (&own.material, &other.material) {
                    (Material::EcPrivate(own), Material::EcPublic(other)) => own.agree(other)?,
                    (Material::OkpPrivate(own), Material::OkpPublic(other)) => own.agree(other)?,
                    _ => return Err(WebError::invalid_access("the keys are not of the same kind")),
                };
                if length > secret.len() {
                    return Err(WebError::operation("length is too large"));
                }
                secret.truncate(length);
                Ok(secret)
            }
            Self::Pbkdf2 { password, hash, iterations, salt } => {
                pbkdf2(*hash, *iterations, salt, secret_bytes(password)?, length, offload::is_wanted)
            }
            Self::Hkdf { secret, hash, salt, info } => hkdf(*hash, salt, info, secret_bytes(secret)?, length),
        }
    }
}

/// Rounds of PBKDF2 that are done at once: each takes about half a microsecond.
const ITERATIONS_INLINE_MAX: u64 = 4_000;

fn secret(ctx: Ctx, base: &Handle, operation: Operation) -> Step<Arc<Key>> {
    let key = key::expect(ctx, base, "provided baseKey's ")?;
    if !matches!(key.key.material, Material::Secret(_)) {
        return Err(Refusal::access("algorithm's password key is not a secret key"));
    }
    if !key.allows(operation.name()) {
        return Err(Refusal::access(format!("provided baseKey doesn't contain `{}` usage", operation.name())));
    }
    Ok(key.key.clone())
}

fn secret_bytes(key: &Key) -> Result<&[u8], WebError> {
    match &key.material {
        Material::Secret(bytes) => Ok(bytes),
        _ => Err(WebError::invalid_access("algorithm's password key is not a secret key")),
    }
}

/// PBKDF2's salt. k6: it is read as k6/crypto reads its data.
fn salt(ctx: Ctx, value: &Handle) -> Step<Vec<u8>> {
    let salt = value.get(ctx, "salt")?;
    if !salt.is_set() {
        return Err(Refusal::named("TypeError", "field salt is null or undefined"));
    }
    if salt.is_string() {
        return Ok(salt.to_text(ctx)?.into_bytes());
    }
    match buffer(ctx, &salt) {
        Some(bytes) => Ok(bytes.to_vec()),
        None => Err(WebError::plain(format!(
            "invalid type {}, expected string, []byte or ArrayBuffer",
            go_type(ctx, &salt)
        ))
        .into()),
    }
}
