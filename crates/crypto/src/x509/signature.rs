//! Go's names of the algorithms with which certificates are signed.

use x509_cert::{
    der::{Any, Encode},
    spki::AlgorithmIdentifierOwned,
};

pub(super) fn name(algorithm: &AlgorithmIdentifierOwned) -> &'static str {
    match algorithm.oid.to_string().as_str() {
        "1.2.840.113549.1.1.2" => "MD2-RSA",
        "1.2.840.113549.1.1.4" => "MD5-RSA",
        "1.2.840.113549.1.1.5" | "1.3.14.3.2.29" => "SHA1-RSA",
        "1.2.840.113549.1.1.11" => "SHA256-RSA",
        "1.2.840.113549.1.1.12" => "SHA384-RSA",
        "1.2.840.113549.1.1.13" => "SHA512-RSA",
        "1.2.840.113549.1.1.10" => algorithm.parameters.as_ref().and_then(pss).unwrap_or(UNKNOWN),
        "1.2.840.10040.4.3" => "DSA-SHA1",
        "2.16.840.1.101.3.4.3.2" => "DSA-SHA256",
        "1.2.840.10045.4.1" => "ECDSA-SHA1",
        "1.2.840.10045.4.3.2" => "ECDSA-SHA256",
        "1.2.840.10045.4.3.3" => "ECDSA-SHA384",
        "1.2.840.10045.4.3.4" => "ECDSA-SHA512",
        "1.3.101.112" => "Ed25519",
        _ => UNKNOWN,
    }
}

/// Go knows RSA-PSS with one hash for everything, and a salt of its length.
fn pss(parameters: &Any) -> Option<&'static str> {
    let der = parameters.to_der().ok()?;
    [(1, 32, "SHA256-RSAPSS"), (2, 48, "SHA384-RSAPSS"), (3, 64, "SHA512-RSAPSS")]
        .into_iter()
        .find(|&(hash, salt, _)| [true, false].into_iter().any(|has_null| der == pss_parameters(hash, salt, has_null)))
        .map(|(_, _, name)| name)
}

/// `SEQUENCE { [0] hash, [1] { mgf1, hash }, [2] salt }`: all lengths fit one byte.
fn pss_parameters(hash: u8, salt: u8, has_null: bool) -> Vec<u8> {
    let tagged = |tag: u8, content: Vec<u8>| [vec![tag, content.len() as u8], content].concat();
    // 2.16.840.1.101.3.4.2.N
    let mut identifier = vec![0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, hash];
    if has_null {
        identifier.extend([0x05, 0x00]);
    }
    let identifier = tagged(0x30, identifier);
    // 1.2.840.113549.1.1.8
    let mgf1 = vec![0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x08];
    let mask = tagged(0x30, [mgf1, identifier.clone()].concat());
    let salt = tagged(0xa2, vec![0x02, 0x01, salt]);
    tagged(0x30, [tagged(0xa0, identifier), tagged(0xa1, mask), salt].concat())
}

const UNKNOWN: &str = "UnknownSignatureAlgorithm";
