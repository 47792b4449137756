//! `subtle.encrypt()` and `subtle.decrypt()`.

use onrush_crypto::web::{Algorithm, Key, Material, TAG_BITS_DEFAULT, WebError};

use super::{
    Refusal, Step,
    algorithm::{Operation, algorithm, optional_integer},
    data::{data, member, members_expected},
    key::{self, CryptoKey},
    work::{Answer, Work, promise},
};
use crate::embed::{Args, Ctx, Handle, JsResult};

pub(super) fn encrypt(ctx: Ctx, _: &Handle, args: Args<'_>) -> JsResult {
    promise(ctx, || call(ctx, args, Operation::Encrypt))
}

pub(super) fn decrypt(ctx: Ctx, _: &Handle, args: Args<'_>) -> JsResult {
    promise(ctx, || call(ctx, args, Operation::Decrypt))
}

fn call(ctx: Ctx, args: Args<'_>, operation: Operation) -> Step<Work> {
    data(ctx, args.at(2))?;
    let cipher = Cipher::read(ctx, args.at(0), args.at(1), operation)?;
    let is_long = cipher.is_long();
    Work::on(data(ctx, args.at(2))?, is_long, move |bytes| cipher.run(bytes).map(Answer::Bytes))
}

/// Encryption or decryption with a key, ready to be run.
pub(super) struct Cipher {
    key: std::sync::Arc<Key>,
    encrypts: bool,
    parameters: Parameters,
}

enum Parameters {
    Cbc { iv: Vec<u8> },
    Ctr { counter: Vec<u8>, bits: i64 },
    Gcm { iv: Vec<u8>, aad: Vec<u8>, tag_bits: i64 },
    Oaep { label: Vec<u8> },
    Wrap,
}

impl Cipher {
    /// Reads algorithm and key of a call.
    pub(super) fn read(ctx: Ctx, value: &Handle, key: &Handle, operation: Operation) -> Step<Self> {
        let name = operation.name();
        let algorithm = algorithm(ctx, value, operation)?;
        let key: &CryptoKey = key::expect(ctx, key, &format!("{name}'s "))?;
        if key.key.algorithm != algorithm {
            return Err(Refusal::access(format!("{name}'s algorithm name does not match key algorithm name")));
        }
        let parameters = Parameters::read(ctx, value, algorithm)?;
        if !key.allows(name) {
            return Err(Refusal::access(format!("{name}'s key does not contain the '{name}' usage")));
        }
        let encrypts = matches!(operation, Operation::Encrypt | Operation::WrapKey);
        Ok(Self { key: key.key.clone(), encrypts, parameters })
    }

    /// Whether it takes longer than its input suggests.
    pub(super) fn is_long(&self) -> bool {
        !self.encrypts && self.key.algorithm == Algorithm::RsaOaep && rsa_is_long(&self.key)
    }

    pub(super) fn run(&self, bytes: &[u8]) -> Result<Vec<u8>, WebError> {
        let hash = self.key.hash.unwrap_or(onrush_crypto::Hash::Sha256);
        match (&self.key.material, &self.parameters, self.encrypts) {
            (Material::Aes(key), Parameters::Cbc { iv }, true) => key.encrypt_cbc(iv, bytes),
            (Material::Aes(key), Parameters::Cbc { iv }, false) => key.decrypt_cbc(iv, bytes),
            (Material::Aes(key), Parameters::Ctr { counter, bits }, true) => key.encrypt_ctr(counter, *bits, bytes),
            (Material::Aes(key), Parameters::Ctr { counter, bits }, false) => key.decrypt_ctr(counter, *bits, bytes),
            (Material::Aes(key), Parameters::Gcm { iv, aad, tag_bits }, true) => {
                key.encrypt_gcm(iv, aad, *tag_bits, bytes)
            }
            (Material::Aes(key), Parameters::Gcm { iv, aad, tag_bits }, false) => {
                key.decrypt_gcm(iv, aad, *tag_bits, bytes)
            }
            (Material::Aes(key), Parameters::Wrap, true) => key.wrap(bytes),
            (Material::Aes(key), Parameters::Wrap, false) => key.unwrap(bytes),
            (Material::RsaPublic(key), Parameters::Oaep { label }, true) => key.encrypt(hash, label, bytes),
            (Material::RsaPrivate(key), Parameters::Oaep { label }, false) => key.decrypt(hash, label, bytes),
            (Material::RsaPrivate(_), _, _) => {
                Err(WebError::invalid_access("given CryptoKey is not a public RSA key, it's *rsa.PrivateKey"))
            }
            (Material::RsaPublic(_), _, _) => {
                Err(WebError::invalid_access("given CryptoKey is not a private RSA key, it's *rsa.PublicKey"))
            }
            _ => Err(WebError::invalid_access("the key is not one of the algorithm")),
        }
    }
}

impl Parameters {
    fn read(ctx: Ctx, value: &Handle, algorithm: Algorithm) -> Step<Self> {
        if algorithm == Algorithm::AesKw {
            return Ok(Self::Wrap);
        }
        members_expected(value)?;
        Ok(match algorithm {
            Algorithm::AesCbc => Self::Cbc { iv: member(ctx, value, "iv")? },
            Algorithm::AesCtr => Self::Ctr {
                counter: member(ctx, value, "counter")?,
                bits: optional_integer(ctx, value, "length")?.unwrap_or(0),
            },
            Algorithm::AesGcm => Self::Gcm {
                iv: member(ctx, value, "iv")?,
                aad: member(ctx, value, "additionalData")?,
                tag_bits: match optional_integer(ctx, value, "tagLength")? {
                    // k6: 0 is as good as missing.
                    None | Some(0) => TAG_BITS_DEFAULT,
                    Some(bits) => bits,
                },
            },
            _ => Self::Oaep { label: member(ctx, value, "label")? },
        })
    }
}

/// Whether a private operation with an RSA key takes a good part of a slice.
pub(super) fn rsa_is_long(key: &Key) -> bool {
    key.bits.is_some_and(|bits| bits > RSA_INLINE_BITS_MAX)
}

/// Private operations take about 1 ms with 2048 bits, 3 ms with 3072 and 6 ms with 4096.
const RSA_INLINE_BITS_MAX: usize = 3072;
