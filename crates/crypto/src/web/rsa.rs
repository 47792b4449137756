//! RSA keys: signatures with PKCS #1 v1.5 and PSS padding, encryption with OAEP.

use std::{
    collections::BTreeMap,
    sync::{Mutex, OnceLock, PoisonError},
};

use aws_lc_rs::{
    encoding::AsDer,
    rand::SystemRandom,
    rsa::{
        KeySize, OAEP_SHA1_MGF1SHA1, OAEP_SHA256_MGF1SHA256, OAEP_SHA384_MGF1SHA384, OAEP_SHA512_MGF1SHA512,
        OaepAlgorithm, OaepPrivateDecryptingKey, OaepPublicEncryptingKey, PrivateDecryptingKey, PublicEncryptingKey,
    },
    signature::{self, RsaKeyPair, RsaParameters, RsaPssSaltLength, RsaPublicKeyComponents, RsaSignatureEncoding},
};
use der::{
    Encode,
    asn1::{AnyRef, BitStringRef, OctetStringRef, UintRef},
};
use pkcs8::PrivateKeyInfoRef;
use spki::{AlgorithmIdentifierRef, ObjectIdentifier, SubjectPublicKeyInfoRef};

use super::{WebError, hash_bytes};
use crate::Hash;

/// The longest modulus that is read: longer ones take seconds to use.
pub(super) const MODULUS_BITS_MAX: usize = 16_384;

/// The moduli the library can use.
const LIBRARY_BITS: std::ops::RangeInclusive<usize> = 2048..=8192;

const RSA_OID: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.1");

/// A modulus and an exponent.
pub struct RsaPublic {
    /// Without leading zeros.
    n: Box<[u8]>,
    e: Box<[u8]>,
}

impl RsaPublic {
    /// Reads the two numbers.
    pub fn new(n: &[u8], e: &[u8]) -> Result<Self, WebError> {
        let (n, e) = (trimmed(n), trimmed(e));
        let key = Self { n: n.into(), e: e.into() };
        if n.is_empty() || e.is_empty() {
            return Err(WebError::data("an RSA key needs a modulus and an exponent other than 0"));
        }
        if key.bits() > MODULUS_BITS_MAX {
            return Err(WebError::data(format!(
                "the RSA modulus has {} bits, at most {MODULUS_BITS_MAX} are allowed",
                key.bits()
            )));
        }
        Ok(key)
    }

    /// Reads a `SubjectPublicKeyInfo`.
    pub(super) fn from_spki(info: &SubjectPublicKeyInfoRef<'_>) -> Result<Self, WebError> {
        let invalid = |error: pkcs1::Error| WebError::data(format!("unable to import RSA public key data: {error}"));
        if info.algorithm.oid != RSA_OID {
            return Err(WebError::data("a public key is not an RSA key"));
        }
        let key = pkcs1::RsaPublicKeyRef::try_from(info.subject_public_key.raw_bytes()).map_err(invalid)?;
        Self::new(key.modulus.as_bytes(), key.public_exponent.as_bytes())
    }

    /// The bits of the modulus.
    pub fn bits(&self) -> usize {
        self.n.first().map_or(0, |first| self.n.len() * 8 - first.leading_zeros() as usize)
    }

    pub(super) fn numbers(&self) -> (&[u8], &[u8]) {
        (&self.n, &self.e)
    }

    /// The key as `SubjectPublicKeyInfo`.
    pub(super) fn to_spki(&self) -> Result<Vec<u8>, WebError> {
        let encode = || -> der::Result<Vec<u8>> {
            let key =
                pkcs1::RsaPublicKeyRef { modulus: UintRef::new(&self.n)?, public_exponent: UintRef::new(&self.e)? };
            let key = key.to_der()?;
            SubjectPublicKeyInfoRef {
                algorithm: AlgorithmIdentifierRef { oid: RSA_OID, parameters: Some(AnyRef::NULL) },
                subject_public_key: BitStringRef::from_bytes(&key)?,
            }
            .to_der()
        };
        encode().map_err(|error| WebError::operation(format!("could not encode the RSA key: {error}")))
    }

    /// Whether a PKCS #1 v1.5 signature is right.
    pub fn verify_pkcs1(&self, hash: Hash, message: &[u8], signature: &[u8]) -> Result<bool, WebError> {
        let algorithm = match hash {
            Hash::Sha1 => &signature::RSA_PKCS1_1024_8192_SHA1_FOR_LEGACY_USE_ONLY,
            Hash::Sha384 => &signature::RSA_PKCS1_2048_8192_SHA384,
            Hash::Sha512 => &signature::RSA_PKCS1_1024_8192_SHA512_FOR_LEGACY_USE_ONLY,
            _ => &signature::RSA_PKCS1_1024_8192_SHA256_FOR_LEGACY_USE_ONLY,
        };
        self.usable(algorithm.min_modulus_len() as usize)?;
        Ok(self.components().verify(algorithm, message, signature).is_ok())
    }

    /// Whether a PSS signature with a salt of that length is right.
    pub fn verify_pss(&self, hash: Hash, salt: usize, message: &[u8], signature: &[u8]) -> Result<bool, WebError> {
        if hash == Hash::Sha1 {
            return Err(no_sha1());
        }
        self.usable(*LIBRARY_BITS.start())?;
        if salt > self.salt_max(hash) {
            return Ok(false);
        }
        Ok(self.components().verify(pss_verifying(hash, salt), message, signature).is_ok())
    }

    /// Encrypts with OAEP.
    pub fn encrypt(&self, hash: Hash, label: &[u8], plain: &[u8]) -> Result<Vec<u8>, WebError> {
        self.usable(*LIBRARY_BITS.start())?;
        let failed = |_| WebError::operation("could not encrypt data: the key cannot be used");
        let key = PublicEncryptingKey::from_der(&self.to_spki()?)
            .map_err(|_| WebError::operation("could not encrypt data: the key cannot be used"))?;
        let key = OaepPublicEncryptingKey::new(key).map_err(failed)?;
        if plain.len() > key.max_plaintext_size(oaep(hash)) {
            return Err(WebError::operation("could not encrypt data: crypto/rsa: message too long for RSA key size"));
        }
        let mut out = vec![0; key.ciphertext_size()];
        let length = key.encrypt(oaep(hash), plain, &mut out, Some(label)).map_err(failed)?.len();
        out.truncate(length);
        Ok(out)
    }

    /// The longest salt of a PSS signature.
    fn salt_max(&self, hash: Hash) -> usize {
        (self.bits() + 6).saturating_div(8).saturating_sub(hash_bytes(hash) + 2)
    }

    fn components(&self) -> RsaPublicKeyComponents<&[u8]> {
        RsaPublicKeyComponents { n: &self.n, e: &self.e }
    }

    fn usable(&self, bits_min: usize) -> Result<(), WebError> {
        let bits = self.bits();
        if (bits_min..=*LIBRARY_BITS.end()).contains(&bits) {
            return Ok(());
        }
        Err(WebError::not_supported(format!(
            "the RSA key has {bits} bits; this operation needs {bits_min} to {}",
            LIBRARY_BITS.end()
        )))
    }
}

/// A private key with its public half.
pub struct RsaPrivate {
    /// The public half.
    pub public: RsaPublic,
    /// As `RSAPrivateKey` of PKCS #1.
    der: Box<[u8]>,
    signing: RsaKeyPair,
    decrypting: OnceLock<Option<OaepPrivateDecryptingKey>>,
}

/// The numbers of a private key, in the order of PKCS #1: d, p, q, dp, dq, qi.
pub(super) type PrivateNumbers<'a> = [&'a [u8]; 6];

impl RsaPrivate {
    /// Reads the numbers of a key; they must fit each other.
    pub(super) fn new(n: &[u8], e: &[u8], numbers: PrivateNumbers<'_>) -> Result<Self, WebError> {
        let encode = || -> der::Result<Vec<u8>> {
            let [d, p, q, dp, dq, qi] = numbers;
            pkcs1::RsaPrivateKeyRef {
                modulus: UintRef::new(n)?,
                public_exponent: UintRef::new(e)?,
                private_exponent: UintRef::new(d)?,
                prime1: UintRef::new(p)?,
                prime2: UintRef::new(q)?,
                exponent1: UintRef::new(dp)?,
                exponent2: UintRef::new(dq)?,
                coefficient: UintRef::new(qi)?,
                other_prime_infos: None,
            }
            .to_der()
        };
        let der = encode().map_err(|error| WebError::data(format!("the RSA key cannot be encoded: {error}")))?;
        Self::from_pkcs1(&der)
    }

    /// Reads an `RSAPrivateKey`.
    fn from_pkcs1(der: &[u8]) -> Result<Self, WebError> {
        let invalid =
            |error: &dyn std::fmt::Display| WebError::data(format!("unable to import RSA private key data: {error}"));
        let key = pkcs1::RsaPrivateKeyRef::try_from(der).map_err(|error| invalid(&error))?;
        let public = RsaPublic::new(key.modulus.as_bytes(), key.public_exponent.as_bytes())?;
        public.usable(*LIBRARY_BITS.start())?;
        let signing = RsaKeyPair::from_der(der).map_err(|_| invalid(&"its numbers do not make an RSA key"))?;
        Ok(Self { public, der: der.into(), signing, decrypting: OnceLock::new() })
    }

    /// Reads a PKCS #8 key.
    pub(super) fn from_pkcs8(info: &PrivateKeyInfoRef<'_>) -> Result<Self, WebError> {
        if info.algorithm.oid != RSA_OID {
            return Err(WebError::data("a private key is not an RSA key"));
        }
        Self::from_pkcs1(info.private_key.as_bytes())
    }

    /// A new key with the exponent 65537.
    pub(super) fn generate(bits: usize) -> Result<Self, WebError> {
        let size = match bits {
            2048 => KeySize::Rsa2048,
            3072 => KeySize::Rsa3072,
            4096 => KeySize::Rsa4096,
            8192 => KeySize::Rsa8192,
            _ => {
                return Err(WebError::not_supported(format!(
                    "RSA keys of {bits} bits cannot be generated; use 2048, 3072, 4096 or 8192"
                )));
            }
        };
        let failed = || WebError::operation("could not generate RSA key pair");
        let key = RsaKeyPair::generate(size).map_err(|_| failed())?;
        let der = key.as_der().map_err(|_| failed())?;
        Self::from_pkcs8(&PrivateKeyInfoRef::try_from(der.as_ref()).map_err(|_| failed())?)
    }

    /// The key as PKCS #8.
    pub(super) fn to_pkcs8(&self) -> Result<Vec<u8>, WebError> {
        let encode = || -> der::Result<Vec<u8>> {
            let algorithm = AlgorithmIdentifierRef { oid: RSA_OID, parameters: Some(AnyRef::NULL) };
            PrivateKeyInfoRef::new(algorithm, OctetStringRef::new(&self.der)?).to_der()
        };
        encode().map_err(|error| WebError::operation(format!("could not encode the RSA key: {error}")))
    }

    /// The private numbers.
    pub(super) fn numbers(&self) -> Result<PrivateNumbers<'_>, WebError> {
        let key = pkcs1::RsaPrivateKeyRef::try_from(&*self.der)
            .map_err(|error| WebError::operation(format!("could not decode the RSA key: {error}")))?;
        Ok([
            key.private_exponent.as_bytes(),
            key.prime1.as_bytes(),
            key.prime2.as_bytes(),
            key.exponent1.as_bytes(),
            key.exponent2.as_bytes(),
            key.coefficient.as_bytes(),
        ])
    }

    /// A PKCS #1 v1.5 signature.
    pub fn sign_pkcs1(&self, hash: Hash, message: &[u8]) -> Result<Vec<u8>, WebError> {
        self.sign(
            match hash {
                Hash::Sha1 => return Err(no_sha1()),
                Hash::Sha384 => &signature::RSA_PKCS1_SHA384,
                Hash::Sha512 => &signature::RSA_PKCS1_SHA512,
                _ => &signature::RSA_PKCS1_SHA256,
            },
            message,
        )
    }

    /// A PSS signature with a salt of that length.
    pub fn sign_pss(&self, hash: Hash, salt: usize, message: &[u8]) -> Result<Vec<u8>, WebError> {
        if hash == Hash::Sha1 {
            return Err(no_sha1());
        }
        if salt > self.public.salt_max(hash) {
            return Err(WebError::operation("could not sign data: crypto/rsa: message too long for RSA key size"));
        }
        self.sign(pss_signing(hash, salt), message)
    }

    fn sign(&self, encoding: &'static RsaSignatureEncoding, message: &[u8]) -> Result<Vec<u8>, WebError> {
        let mut out = vec![0; self.signing.public_modulus_len()];
        self.signing
            .sign(encoding, &SystemRandom::new(), message, &mut out)
            .map_err(|_| WebError::operation("could not sign data"))?;
        Ok(out)
    }

    /// Decrypts what [`RsaPublic::encrypt`] gives.
    pub fn decrypt(&self, hash: Hash, label: &[u8], sealed: &[u8]) -> Result<Vec<u8>, WebError> {
        let failed = || WebError::operation("could not decrypt data: crypto/rsa: decryption error");
        let key = self.decrypting.get_or_init(|| {
            let key = PrivateDecryptingKey::from_pkcs8(&self.to_pkcs8().ok()?).ok()?;
            OaepPrivateDecryptingKey::new(key).ok()
        });
        let key = key.as_ref().ok_or_else(failed)?;
        if sealed.len() != key.key_size_bytes() {
            return Err(failed());
        }
        let mut out = vec![0; key.min_output_size()];
        let length = key.decrypt(oaep(hash), sealed, &mut out, Some(label)).map_err(|_| failed())?.len();
        out.truncate(length);
        Ok(out)
    }
}

fn trimmed(number: &[u8]) -> &[u8] {
    &number[number.iter().position(|&byte| byte != 0).unwrap_or(number.len())..]
}

fn oaep(hash: Hash) -> &'static OaepAlgorithm {
    match hash {
        Hash::Sha1 => &OAEP_SHA1_MGF1SHA1,
        Hash::Sha384 => &OAEP_SHA384_MGF1SHA384,
        Hash::Sha512 => &OAEP_SHA512_MGF1SHA512,
        _ => &OAEP_SHA256_MGF1SHA256,
    }
}

fn no_sha1() -> WebError {
    WebError::not_supported("RSA signatures with SHA-1 cannot be made; use SHA-256, SHA-384 or SHA-512")
}

/// Values the library wants for ever, by hash function and salt length. There are few: a salt fits its key, so at most
/// a thousand for each hash function.
type Kept<T> = Mutex<BTreeMap<(usize, u16), &'static T>>;

fn pss_signing(hash: Hash, salt: usize) -> &'static RsaSignatureEncoding {
    static KEPT: Kept<RsaSignatureEncoding> = Mutex::new(BTreeMap::new());
    kept(&KEPT, hash, salt, |salt| {
        match hash {
            Hash::Sha384 => signature::RSA_PSS_SHA384,
            Hash::Sha512 => signature::RSA_PSS_SHA512,
            _ => signature::RSA_PSS_SHA256,
        }
        .with_pss_salt_length(salt)
    })
}

fn pss_verifying(hash: Hash, salt: usize) -> &'static RsaParameters {
    static KEPT: Kept<RsaParameters> = Mutex::new(BTreeMap::new());
    kept(&KEPT, hash, salt, |salt| {
        match hash {
            Hash::Sha384 => signature::RSA_PSS_2048_8192_SHA384,
            Hash::Sha512 => signature::RSA_PSS_2048_8192_SHA512,
            _ => signature::RSA_PSS_2048_8192_SHA256,
        }
        .with_pss_salt_length(salt)
    })
}

fn kept<T>(kept: &Kept<T>, hash: Hash, salt: usize, make: impl FnOnce(RsaPssSaltLength) -> T) -> &'static T {
    let salt = salt.min(u16::MAX.into()) as u16;
    kept.lock()
        .unwrap_or_else(PoisonError::into_inner)
        .entry((hash_bytes(hash), salt))
        .or_insert_with(|| Box::leak(Box::new(make(RsaPssSaltLength::Custom(salt)))))
}
