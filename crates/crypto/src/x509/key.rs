//! The key of a certificate, as numbers.

use x509_cert::{
    der::{
        Any, Decode, Encode, Reader, SliceReader, Tag, Tagged,
        asn1::{ObjectIdentifier, UintRef},
    },
    spki::SubjectPublicKeyInfoOwned,
};

use super::X509Error;

/// A public key; numbers are big-endian, without leading zeros.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PublicKey {
    /// RSA.
    Rsa {
        /// The modulus.
        n: Vec<u8>,
        /// The exponent.
        e: u64,
    },
    /// A point on one of NIST's curves.
    Ecdsa {
        /// Its first coordinate.
        x: Vec<u8>,
        /// Its second one.
        y: Vec<u8>,
    },
    /// DSA.
    Dsa {
        /// The modulus.
        p: Vec<u8>,
        /// The order of the group.
        q: Vec<u8>,
        /// The generator.
        g: Vec<u8>,
        /// The key.
        y: Vec<u8>,
    },
    /// Any other, such as Ed25519's.
    Other,
}

impl PublicKey {
    pub(super) fn of(info: &SubjectPublicKeyInfoOwned) -> Result<Self, X509Error> {
        let key = info.subject_public_key.raw_bytes();
        match info.algorithm.oid.to_string().as_str() {
            RSA => rsa(key),
            ECDSA => ecdsa(info.algorithm.parameters.as_ref(), key),
            DSA => dsa(info.algorithm.parameters.as_ref(), key),
            _ => Ok(Self::Other),
        }
    }
}

fn rsa(key: &[u8]) -> Result<PublicKey, X509Error> {
    let [n, e] = numbers(key).ok_or(X509Error::Certificate("invalid RSA public key"))?;
    let exponent = e.iter().try_fold(0_u64, |sum, byte| {
        sum.checked_mul(256).map(|sum| sum + u64::from(*byte)).filter(|sum| *sum <= i64::MAX as u64)
    });
    match exponent {
        Some(0) => Err(X509Error::Certificate("RSA public exponent is not a positive number")),
        Some(e) if n != [0] => Ok(PublicKey::Rsa { n, e }),
        Some(_) => Err(X509Error::Certificate("RSA modulus is not a positive number")),
        None => Err(X509Error::Certificate("invalid RSA public exponent")),
    }
}

fn ecdsa(parameters: Option<&Any>, key: &[u8]) -> Result<PublicKey, X509Error> {
    let curve = parameters
        .and_then(|any| any.decode_as::<ObjectIdentifier>().ok())
        .ok_or(X509Error::Certificate("invalid ECDSA parameters"))?;
    let bytes = match curve.to_string().as_str() {
        "1.3.132.0.33" => 28,
        "1.2.840.10045.3.1.7" => 32,
        "1.3.132.0.34" => 48,
        "1.3.132.0.35" => 66,
        _ => return Err(X509Error::Certificate("unsupported elliptic curve")),
    };
    match key.split_first() {
        Some((4, point)) if point.len() == 2 * bytes => {
            let (x, y) = point.split_at(bytes);
            Ok(PublicKey::Ecdsa { x: x.to_vec(), y: y.to_vec() })
        }
        _ => Err(X509Error::Certificate("failed to unmarshal elliptic curve point")),
    }
}

fn dsa(parameters: Option<&Any>, key: &[u8]) -> Result<PublicKey, X509Error> {
    let parameters = parameters.and_then(|any| any.to_der().ok());
    let [p, q, g] = parameters
        .and_then(|parameters| numbers(&parameters))
        .ok_or(X509Error::Certificate("invalid DSA parameters"))?;
    let y = UintRef::from_der(key).map_err(|_| X509Error::Certificate("invalid DSA public key"))?;
    Ok(PublicKey::Dsa { p, q, g, y: y.as_bytes().to_vec() })
}

/// A sequence of exactly so many whole numbers.
fn numbers<const N: usize>(der: &[u8]) -> Option<[Vec<u8>; N]> {
    let sequence = Any::from_der(der).ok().filter(|any| any.tag() == Tag::Sequence)?;
    let mut reader = SliceReader::new(sequence.value()).ok()?;
    let mut found = Vec::with_capacity(N);
    for _ in 0..N {
        found.push(UintRef::decode(&mut reader).ok()?.as_bytes().to_vec());
    }
    reader.is_finished().then(|| found.try_into().ok())?
}

const RSA: &str = "1.2.840.113549.1.1.1";
const ECDSA: &str = "1.2.840.10045.2.1";
const DSA: &str = "1.2.840.10040.4.1";
