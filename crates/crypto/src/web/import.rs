//! Reading keys. What is read may be hostile: everything has a limit, and nothing is trusted before it was checked.

use der::asn1::{ObjectIdentifier, OctetStringRef};
use pkcs8::PrivateKeyInfoRef;
use spki::SubjectPublicKeyInfoRef;

use super::{
    AesKey, Algorithm, Curve, EcPrivate, EcPublic, HmacKey, Jwk, Key, Material, OkpPrivate, OkpPublic, RsaPrivate,
    RsaPublic, WebError,
    jwk::{check_kind, data},
    key::{EC_OID, okp_oid},
};
use crate::Hash;

/// A format keys are read in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImportFormat {
    /// The bytes of a secret, or a point.
    Raw,
    /// A private key in DER.
    Pkcs8,
    /// A public key in DER.
    Spki,
    /// A JSON Web Key.
    Jwk,
}

impl ImportFormat {
    /// The format of that name; case matters.
    pub fn named(name: &str) -> Option<Self> {
        [Self::Raw, Self::Pkcs8, Self::Spki, Self::Jwk].into_iter().find(|format| format.name() == name)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Raw => "raw",
            Self::Pkcs8 => "pkcs8",
            Self::Spki => "spki",
            Self::Jwk => "jwk",
        }
    }
}

/// A key to be read.
#[derive(Clone, Copy, Debug)]
pub enum KeyData<'a> {
    /// Bytes in that format.
    Bytes(ImportFormat, &'a [u8]),
    /// The JSON text of a JSON Web Key.
    Jwk(&'a str),
}

/// What is asked of the key besides its algorithm.
#[derive(Clone, Debug, Default)]
pub struct Parameters {
    /// The hash function of HMAC and RSA keys.
    pub hash: Option<Hash>,
    /// The curve's name.
    pub curve: String,
    /// The bits an HMAC key must have.
    pub bits: Option<i64>,
}

/// Reads a key.
pub fn import(algorithm: Algorithm, data: KeyData<'_>, parameters: &Parameters) -> Result<Key, WebError> {
    let format = match data {
        KeyData::Bytes(format, _) => format,
        KeyData::Jwk(_) => ImportFormat::Jwk,
    };
    if !offered(algorithm, format) {
        return Err(WebError::not_supported(match algorithm {
            Algorithm::Pbkdf2 | Algorithm::Hkdf => format!("invalid format: {}", format.name()),
            _ if algorithm.is_aes() || algorithm == Algorithm::Hmac => {
                format!("unsupported key format {}", format.name())
            }
            _ => format!("unsupported key format {} for algorithm {}", format.name(), algorithm.name()),
        }));
    }
    let material = match algorithm {
        _ if algorithm.is_aes() => Material::Aes(AesKey::new(&secret(data)?)?),
        Algorithm::Hmac => hmac(&secret(data)?, parameters)?,
        Algorithm::Pbkdf2 | Algorithm::Hkdf => Material::Secret(secret(data)?.into()),
        _ if algorithm.is_rsa() => rsa(data)?,
        _ if algorithm.is_ec() => ec(algorithm, data, parameters)?,
        _ => okp(algorithm, data)?,
    };
    let mut key = Key::new(algorithm, material);
    key.hash = key.hash.or(parameters.hash);
    Ok(key)
}

fn offered(algorithm: Algorithm, format: ImportFormat) -> bool {
    match format {
        ImportFormat::Raw => !algorithm.is_rsa(),
        ImportFormat::Jwk => !matches!(algorithm, Algorithm::Pbkdf2 | Algorithm::Hkdf),
        ImportFormat::Spki | ImportFormat::Pkcs8 => {
            algorithm.is_rsa() || algorithm.is_ec() || matches!(algorithm, Algorithm::Ed25519 | Algorithm::X25519)
        }
    }
}

fn secret(key: KeyData<'_>) -> Result<Vec<u8>, WebError> {
    let text = match key {
        KeyData::Bytes(_, bytes) => return Ok(bytes.to_vec()),
        KeyData::Jwk(text) => text,
    };
    let jwk = Jwk::from_json(text, "symmetricJWK")
        .map_err(|message| data(format!("failed to parse symmetric JWK: {message}")))?;
    check_kind(&jwk, "oct").map_err(|message| data(format!("invalid symmetric JWK: {message}")))?;
    if jwk.text("k").is_empty() {
        return Err(data("invalid symmetric JWK: key (k) is required".to_owned()));
    }
    jwk.bytes("k", "symmetric key").map_err(data)
}

fn hmac(bytes: &[u8], parameters: &Parameters) -> Result<Material, WebError> {
    let hash = parameters.hash.ok_or_else(|| WebError::syntax("could not get hash from algorithm parameter"))?;
    let key = HmacKey::new(hash, bytes)?;
    if parameters.bits.is_some_and(|bits| bits != bytes.len() as i64 * 8) {
        return Err(WebError::data("key length cannot be different from the length of the imported data"));
    }
    Ok(Material::Hmac(Box::new(key)))
}

fn rsa(key: KeyData<'_>) -> Result<Material, WebError> {
    match key {
        KeyData::Bytes(ImportFormat::Spki, bytes) => {
            let info = SubjectPublicKeyInfoRef::try_from(bytes)
                .map_err(|error| data(format!("unable to import RSA public key data: {error}")))?;
            RsaPublic::from_spki(&info).map(Material::RsaPublic)
        }
        KeyData::Bytes(_, bytes) => {
            let info = PrivateKeyInfoRef::try_from(bytes)
                .map_err(|error| data(format!("unable to import RSA private key data: {error}")))?;
            RsaPrivate::from_pkcs8(&info).map(|key| Material::RsaPrivate(Box::new(key)))
        }
        KeyData::Jwk(text) => rsa_jwk(text).map_err(WebError::plain),
    }
}

/// k6 gives the errors of RSA and EC keys as JSON no name.
fn rsa_jwk(text: &str) -> Result<Material, String> {
    let jwk =
        Jwk::from_json(text, "rsaJWK").map_err(|message| format!("failed to parse input as RSA JWK key: {message}"))?;
    let invalid = |message: &str| format!("invalid RSA JWK key: {message}");
    check_kind(&jwk, "RSA").map_err(|message| invalid(&message))?;
    for (name, what) in [("n", "modulus (n)"), ("e", "exponent (e)")] {
        if jwk.text(name).is_empty() {
            return Err(invalid(&format!("{what} is required")));
        }
    }
    let (n, e) = (jwk.bytes("n", "modulus")?, jwk.bytes("e", "exponent")?);
    if jwk.text("d").is_empty() {
        return RsaPublic::new(&n, &e).map(Material::RsaPublic).map_err(|error| error.message.into_owned());
    }
    let names = [
        ("d", "private exponent"),
        ("p", "first prime factor"),
        ("q", "second prime factor"),
        ("dp", "first exponent"),
        ("dq", "second exponent"),
        ("qi", "coefficient"),
    ];
    let mut numbers = Vec::with_capacity(names.len());
    for (name, what) in names {
        if jwk.text(name).is_empty() {
            return Err(invalid(&format!("{what} ({name}) is required")));
        }
        numbers.push(jwk.bytes(name, what)?);
    }
    let numbers: [&[u8]; 6] = std::array::from_fn(|index| numbers[index].as_slice());
    RsaPrivate::new(&n, &e, numbers)
        .map(|key| Material::RsaPrivate(Box::new(key)))
        .map_err(|error| format!("failed to validate private key: {}", error.message))
}

fn ec(algorithm: Algorithm, key: KeyData<'_>, parameters: &Parameters) -> Result<Material, WebError> {
    let name = algorithm.name();
    let asked = Curve::named(&parameters.curve);
    let material = match key {
        KeyData::Bytes(ImportFormat::Raw, bytes) => {
            let curve = asked.ok_or_else(|| {
                let what = if algorithm == Algorithm::Ecdh { "ECDH" } else { "elliptic" };
                WebError::not_supported(format!("invalid {what} curve {}", parameters.curve))
            })?;
            let point = EcPublic::new(curve, bytes).map_err(|error| {
                WebError::data(if algorithm == Algorithm::Ecdsa {
                    "unable to import ECDSA public key data".to_owned()
                } else {
                    format!("unable to import ECDH public key data: {}", error.message)
                })
            })?;
            Material::EcPublic(point)
        }
        KeyData::Bytes(ImportFormat::Spki, bytes) => {
            let invalid = |what: &dyn std::fmt::Display| data(format!("unable to import ECDH public key data: {what}"));
            let info = SubjectPublicKeyInfoRef::try_from(bytes).map_err(|error| invalid(&error))?;
            if info.algorithm.oid != EC_OID {
                return Err(data("a public key is not an ECDSA key".to_owned()));
            }
            let curve = curve_of(info.algorithm.parameters_oid().ok())?;
            EcPublic::new(curve, info.subject_public_key.raw_bytes())
                .map(Material::EcPublic)
                .map_err(|error| invalid(&error.message))?
        }
        KeyData::Bytes(_, bytes) => {
            let invalid =
                |what: &dyn std::fmt::Display| data(format!("unable to import {name} private key data: {what}"));
            let info = PrivateKeyInfoRef::try_from(bytes).map_err(|error| invalid(&error))?;
            if info.algorithm.oid != EC_OID {
                return Err(data("a private key is not an ECDSA key".to_owned()));
            }
            let curve = curve_of(info.algorithm.parameters_oid().ok())?;
            let inner = sec1::EcPrivateKey::try_from(info.private_key.as_bytes()).map_err(|error| invalid(&error))?;
            EcPrivate::new(curve, inner.private_key)
                .map(|key| Material::EcPrivate(Box::new(key)))
                .map_err(|error| invalid(&error.message))?
        }
        KeyData::Jwk(text) => ec_jwk(text).map_err(|message| {
            WebError::plain(if algorithm == Algorithm::Ecdh {
                format!("failed to parse input as ECDH key: {message}")
            } else {
                message
            })
        })?,
    };
    let found = match &material {
        Material::EcPublic(key) => key.curve,
        Material::EcPrivate(key) => key.public.curve,
        _ => return Ok(material),
    };
    if asked != Some(found) {
        return Err(data(format!("the key is on {}, and namedCurve is {}", found.name(), parameters.curve)));
    }
    Ok(material)
}

fn ec_jwk(text: &str) -> Result<Material, String> {
    let jwk =
        Jwk::from_json(text, "ecJWK").map_err(|message| format!("failed to parse input as EC JWK key: {message}"))?;
    let invalid = |message: &str| format!("invalid EC JWK key: {message}");
    check_kind(&jwk, "EC").map_err(|message| invalid(&message))?;
    for (name, what) in [("crv", "curve"), ("x", "coordinate X"), ("y", "coordinate Y")] {
        if jwk.text(name).is_empty() {
            return Err(invalid(&format!("{what} is required")));
        }
    }
    let crv = jwk.text("crv");
    let curve =
        Curve::named(crv).ok_or_else(|| format!("failed to parse elliptic curve: invalid elliptic curve {crv}"))?;
    let (x, y) = (jwk.bytes("x", "X coordinate")?, jwk.bytes("y", "Y coordinate")?);
    let public = EcPublic::from_coordinates(curve, &x, &y).map_err(|error| invalid(&error.message))?;
    if jwk.text("d").is_empty() {
        return Ok(Material::EcPublic(public));
    }
    let private = EcPrivate::new(curve, &jwk.bytes("d", "D")?).map_err(|error| invalid(&error.message))?;
    if private.public.point() != public.point() {
        return Err(invalid("d does not belong to x and y"));
    }
    Ok(Material::EcPrivate(Box::new(private)))
}

fn okp(algorithm: Algorithm, key: KeyData<'_>) -> Result<Material, WebError> {
    let name = algorithm.name();
    let other = || data(format!("the key is not one of {name}"));
    let private = |seed: &[u8]| OkpPrivate::new(algorithm, seed).map(|key| Material::OkpPrivate(Box::new(key)));
    match key {
        KeyData::Bytes(ImportFormat::Raw, bytes) => OkpPublic::new(algorithm, bytes).map(Material::OkpPublic),
        KeyData::Bytes(ImportFormat::Spki, bytes) => {
            let info = SubjectPublicKeyInfoRef::try_from(bytes)
                .map_err(|error| data(format!("unable to import {name} public key data: {error}")))?;
            if info.algorithm.oid != okp_oid(algorithm) {
                return Err(other());
            }
            OkpPublic::new(algorithm, info.subject_public_key.raw_bytes()).map(Material::OkpPublic)
        }
        KeyData::Bytes(_, bytes) => {
            let invalid = |error: der::Error| data(format!("unable to import {name} private key data: {error}"));
            let info = PrivateKeyInfoRef::try_from(bytes)
                .map_err(|error| data(format!("unable to import {name} private key data: {error}")))?;
            if info.algorithm.oid != okp_oid(algorithm) {
                return Err(other());
            }
            let seed: &OctetStringRef = der::Decode::from_der(info.private_key.as_bytes()).map_err(invalid)?;
            private(seed.as_bytes())
        }
        KeyData::Jwk(text) => {
            let invalid = |message: String| data(format!("invalid OKP JWK key: {message}"));
            let jwk = Jwk::from_json(text, "okpJWK").map_err(invalid)?;
            check_kind(&jwk, "OKP").map_err(invalid)?;
            if jwk.text("crv") != name {
                return Err(other());
            }
            let public = OkpPublic::new(algorithm, &jwk.bytes("x", "x").map_err(invalid)?)?;
            if jwk.text("d").is_empty() {
                return Ok(Material::OkpPublic(public));
            }
            let material = private(&jwk.bytes("d", "d").map_err(invalid)?)?;
            match &material {
                Material::OkpPrivate(key) if key.public.bytes() != public.bytes() => {
                    Err(invalid("d does not belong to x".to_owned()))
                }
                _ => Ok(material),
            }
        }
    }
}

fn curve_of(oid: Option<ObjectIdentifier>) -> Result<Curve, WebError> {
    oid.and_then(Curve::of_oid)
        .ok_or_else(|| data("the key is on a curve other than P-256, P-384 and P-521".to_owned()))
}
