//! A key: what it is made of, how scripts see it, and its export.

use der::{
    Encode,
    asn1::{AnyRef, BitStringRef, OctetStringRef},
};
use pkcs8::PrivateKeyInfoRef;
use spki::{AlgorithmIdentifierRef, ObjectIdentifier, SubjectPublicKeyInfoRef};

use super::{
    AesKey, Algorithm, Curve, EcPrivate, EcPublic, HmacKey, Jwk, OkpPrivate, OkpPublic, RsaPrivate, RsaPublic, WebError,
};
use crate::Hash;

/// What a key is, as `key.type` shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyType {
    /// Both sides have it.
    Secret,
    /// One side has it.
    Private,
    /// Anybody may have it.
    Public,
}

impl KeyType {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Secret => "secret",
            Self::Private => "private",
            Self::Public => "public",
        }
    }
}

/// What a key is made of.
pub enum Material {
    /// An AES key.
    Aes(AesKey),
    /// An HMAC key.
    Hmac(Box<HmacKey>),
    /// What secrets are derived from.
    Secret(Box<[u8]>),
    /// RSA, public.
    RsaPublic(RsaPublic),
    /// RSA, private.
    RsaPrivate(Box<RsaPrivate>),
    /// NIST's curves, public.
    EcPublic(EcPublic),
    /// NIST's curves, private.
    EcPrivate(Box<EcPrivate>),
    /// Curve25519, public.
    OkpPublic(OkpPublic),
    /// Curve25519, private.
    OkpPrivate(Box<OkpPrivate>),
}

/// A key and the algorithm it is for.
pub struct Key {
    /// The algorithm.
    pub algorithm: Algorithm,
    /// The hash function of HMAC and RSA keys.
    pub hash: Option<Hash>,
    /// The name of the curve, as it was asked for.
    pub curve: Option<Curve>,
    /// The bits of AES, HMAC and RSA keys.
    pub bits: Option<usize>,
    /// The key itself.
    pub material: Material,
}

/// A key as others read it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Exported {
    /// Raw bytes or DER.
    Bytes(Vec<u8>),
    /// A JSON Web Key.
    Jwk(Jwk),
}

impl Key {
    /// A key with nothing but its algorithm.
    pub(super) fn new(algorithm: Algorithm, material: Material) -> Self {
        let (hash, curve, bits) = match &material {
            Material::Aes(key) => (None, None, Some(key.bits())),
            Material::Hmac(key) => (Some(key.hash), None, Some(key.bytes().len() * 8)),
            Material::RsaPublic(key) => (None, None, Some(key.bits())),
            Material::RsaPrivate(key) => (None, None, Some(key.public.bits())),
            Material::EcPublic(key) => (None, Some(key.curve), None),
            Material::EcPrivate(key) => (None, Some(key.public.curve), None),
            Material::Secret(_) | Material::OkpPublic(_) | Material::OkpPrivate(_) => (None, None, None),
        };
        Self { algorithm, hash, curve, bits, material }
    }

    /// What it is.
    pub fn key_type(&self) -> KeyType {
        match self.material {
            Material::Aes(_) | Material::Hmac(_) | Material::Secret(_) => KeyType::Secret,
            Material::RsaPublic(_) | Material::EcPublic(_) | Material::OkpPublic(_) => KeyType::Public,
            Material::RsaPrivate(_) | Material::EcPrivate(_) | Material::OkpPrivate(_) => KeyType::Private,
        }
    }

    /// About the memory it takes.
    pub fn bytes_held(&self) -> usize {
        match &self.material {
            Material::Aes(_) => 1 << 10,
            Material::Hmac(key) => (1 << 10) + key.bytes().len(),
            Material::Secret(bytes) => 64 + bytes.len(),
            Material::RsaPublic(key) => 256 + key.bits() / 4,
            // The numbers, the library's copies of them, and what it prepares for each modulus.
            Material::RsaPrivate(key) => (1 << 10) + 3 * key.public.bits(),
            Material::EcPublic(_) | Material::OkpPublic(_) => 1 << 10,
            Material::EcPrivate(_) | Material::OkpPrivate(_) => 2 << 10,
        }
    }

    /// The key in one of the formats `raw`, `spki`, `pkcs8` and `jwk`. Usages and extractability are the caller's.
    pub fn export(&self, format: &str) -> Result<Exported, WebError> {
        match (&self.material, format) {
            (Material::Secret(_), _) => {
                Err(WebError::not_supported(format!("unsupported algorithm {}", self.algorithm.name())))
            }
            (Material::Aes(key), "raw") => Ok(Exported::Bytes(key.bytes().to_vec())),
            (Material::Hmac(key), "raw") => Ok(Exported::Bytes(key.bytes().to_vec())),
            (Material::Aes(key), "jwk") => Ok(Exported::Jwk(self.symmetric_jwk(key.bytes()))),
            (Material::Hmac(key), "jwk") => Ok(Exported::Jwk(self.symmetric_jwk(key.bytes()))),
            (Material::RsaPublic(key), "jwk") => Ok(Exported::Jwk(rsa_jwk(key))),
            (Material::RsaPrivate(key), "jwk") => {
                let mut jwk = rsa_jwk(&key.public);
                for (name, number) in ["d", "p", "q", "dp", "dq", "qi"].into_iter().zip(key.numbers()?) {
                    jwk = jwk.with_bytes(name, number);
                }
                Ok(Exported::Jwk(jwk))
            }
            (Material::RsaPublic(key), "spki") => key.to_spki().map(Exported::Bytes),
            (Material::RsaPrivate(key), "pkcs8") => key.to_pkcs8().map(Exported::Bytes),
            (Material::RsaPrivate(_), "spki") => {
                Err(WebError::invalid_access("given CryptoKey is not a public RSA key, it's *rsa.PrivateKey"))
            }
            (Material::RsaPublic(_), "pkcs8") => {
                Err(WebError::invalid_access("given CryptoKey is not a private RSA key, it's *rsa.PublicKey"))
            }
            (Material::EcPublic(key), "raw") => Ok(Exported::Bytes(key.point().to_vec())),
            (Material::EcPublic(key), "jwk") => Ok(Exported::Jwk(ec_jwk(key))),
            (Material::EcPrivate(key), "jwk") => Ok(Exported::Jwk(ec_jwk(&key.public).with_bytes("d", key.secret()))),
            (Material::EcPublic(key), "spki") => ec_spki(key).map_err(not_encoded),
            (Material::EcPrivate(key), "pkcs8") => ec_pkcs8(key).map_err(not_encoded),
            (Material::OkpPublic(key), "raw") => Ok(Exported::Bytes(key.bytes().to_vec())),
            (Material::OkpPublic(key), "jwk") => Ok(Exported::Jwk(okp_jwk(key))),
            (Material::OkpPrivate(key), "jwk") => Ok(Exported::Jwk(okp_jwk(&key.public).with_bytes("d", key.seed()))),
            (Material::OkpPublic(key), "spki") => okp_spki(key).map_err(not_encoded),
            (Material::OkpPrivate(key), "pkcs8") => okp_pkcs8(key).map_err(not_encoded),
            (Material::EcPrivate(_) | Material::OkpPrivate(_), "raw" | "spki") => {
                Err(WebError::invalid_access("key is not a valid elliptic curve public key"))
            }
            (Material::EcPublic(_) | Material::OkpPublic(_), "pkcs8") => {
                Err(WebError::invalid_access("key is not a valid elliptic curve private key"))
            }
            (_, format) => Err(WebError::not_supported(format!("unsupported key format {format}"))),
        }
    }

    fn symmetric_jwk(&self, bytes: &[u8]) -> Jwk {
        let algorithm = match (self.algorithm, self.hash) {
            (Algorithm::Hmac, Some(Hash::Sha1)) => "HS1".to_owned(),
            (Algorithm::Hmac, Some(Hash::Sha384)) => "HS384".to_owned(),
            (Algorithm::Hmac, Some(Hash::Sha512)) => "HS512".to_owned(),
            (Algorithm::Hmac, _) => "HS256".to_owned(),
            (other, _) => format!("A{}{}", bytes.len() * 8, other.name().trim_start_matches("AES-")),
        };
        Jwk::of_kind("oct").with_bytes("k", bytes).with("alg", &algorithm)
    }
}

/// The object identifier of keys on NIST's curves.
pub(super) const EC_OID: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.2.1");

/// The object identifier of an algorithm on Curve25519.
pub(super) fn okp_oid(algorithm: Algorithm) -> ObjectIdentifier {
    ObjectIdentifier::new_unwrap(if algorithm == Algorithm::Ed25519 { "1.3.101.112" } else { "1.3.101.110" })
}

fn rsa_jwk(key: &RsaPublic) -> Jwk {
    let (n, e) = key.numbers();
    Jwk::of_kind("RSA").with_bytes("n", n).with_bytes("e", e)
}

fn ec_jwk(key: &EcPublic) -> Jwk {
    let (x, y) = key.coordinates();
    Jwk::of_kind("EC").with("crv", key.curve.name()).with_bytes("x", x).with_bytes("y", y)
}

fn okp_jwk(key: &OkpPublic) -> Jwk {
    Jwk::of_kind("OKP").with("crv", key.algorithm.name()).with_bytes("x", key.bytes())
}

fn ec_spki(key: &EcPublic) -> der::Result<Exported> {
    let curve = key.curve.oid();
    let info = SubjectPublicKeyInfoRef {
        algorithm: AlgorithmIdentifierRef { oid: EC_OID, parameters: Some(AnyRef::from(&curve)) },
        subject_public_key: BitStringRef::from_bytes(key.point())?,
    };
    info.to_der().map(Exported::Bytes)
}

fn ec_pkcs8(key: &EcPrivate) -> der::Result<Exported> {
    let curve = key.public.curve.oid();
    let inner =
        sec1::EcPrivateKey { private_key: key.secret(), parameters: None, public_key: Some(key.public.point()) };
    let inner = inner.to_der()?;
    let algorithm = AlgorithmIdentifierRef { oid: EC_OID, parameters: Some(AnyRef::from(&curve)) };
    PrivateKeyInfoRef::new(algorithm, OctetStringRef::new(&inner)?).to_der().map(Exported::Bytes)
}

fn okp_spki(key: &OkpPublic) -> der::Result<Exported> {
    let info = SubjectPublicKeyInfoRef {
        algorithm: AlgorithmIdentifierRef { oid: okp_oid(key.algorithm), parameters: None },
        subject_public_key: BitStringRef::from_bytes(key.bytes())?,
    };
    info.to_der().map(Exported::Bytes)
}

fn okp_pkcs8(key: &OkpPrivate) -> der::Result<Exported> {
    let inner = OctetStringRef::new(key.seed())?.to_der()?;
    let algorithm = AlgorithmIdentifierRef { oid: okp_oid(key.public.algorithm), parameters: None };
    PrivateKeyInfoRef::new(algorithm, OctetStringRef::new(&inner)?).to_der().map(Exported::Bytes)
}

fn not_encoded(error: der::Error) -> WebError {
    WebError::operation(format!("could not encode the key: {error}"))
}
