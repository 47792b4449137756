//! Keys that are broken, of another kind or too large: each is an error, with k6's name and text where it has one.

use onrush_crypto::{
    Hash,
    web::{
        Algorithm, Curve, Exported, Generated, ImportFormat, KeyData, Parameters, generate_ec, generate_rsa, import,
    },
};
use proptest::prelude::*;

fn parameters() -> Parameters {
    Parameters { hash: Some(Hash::Sha256), curve: "P-256".to_owned(), bits: None }
}

fn error(algorithm: Algorithm, data: KeyData<'_>) -> String {
    match import(algorithm, data, &parameters()) {
        Ok(_) => "imported".to_owned(),
        Err(error) => error.to_string(),
    }
}

/// JSON Web Keys: the error begins with this. k6's texts, but for those after `k6:`.
#[test]
fn json_web_keys() {
    let check = |algorithm, text: &str, expect: &str| {
        let error = error(algorithm, KeyData::Jwk(text));
        assert!(error.starts_with(expect), "{} {text}: {error}", algorithm.name());
    };
    let aes = Algorithm::AesCbc;
    check(aes, "{}", "DataError: invalid symmetric JWK: invalid key type: ");
    check(aes, "null", "DataError: invalid symmetric JWK: invalid key type: ");
    check(aes, r#"{"kty":"RSA","k":"AAAA"}"#, "DataError: invalid symmetric JWK: invalid key type: RSA");
    check(aes, r#"{"kty":"oct"}"#, "DataError: invalid symmetric JWK: key (k) is required");
    check(
        aes,
        r#"{"kty":"oct","k":5}"#,
        "DataError: failed to parse symmetric JWK: json: cannot unmarshal number into Go struct field symmetricJWK.k of \
         type string",
    );
    check(
        aes,
        "[]",
        "DataError: failed to parse symmetric JWK: json: cannot unmarshal array into Go value of type \
         webcrypto.symmetricJWK",
    );
    let base64 = "DataError: failed to decode symmetric key: illegal base64 data at input byte";
    check(aes, r#"{"kty":"oct","k":"$$"}"#, &format!("{base64} 0"));
    check(aes, r#"{"kty":"oct","k":"AAAAAAAAAAAAAAAAAAAAAA=="}"#, &format!("{base64} 22"));
    check(aes, r#"{"kty":"oct","k":"AAA"}"#, "DataError: invalid key length 2 bytes");
    check(
        aes,
        &format!(r#"{{"kty":"oct","k":"{}"}}"#, "A".repeat(70_000)),
        "DataError: failed to parse symmetric JWK: the key has",
    );
    check(aes, &"[".repeat(1000), "DataError: failed to parse symmetric JWK: ");

    let rsa = Algorithm::RsaPss;
    check(rsa, "{}", "invalid RSA JWK key: invalid key type: ");
    check(rsa, r#"{"kty":"EC"}"#, "invalid RSA JWK key: invalid key type: EC");
    check(rsa, r#"{"kty":"RSA"}"#, "invalid RSA JWK key: modulus (n) is required");
    check(rsa, r#"{"kty":"RSA","n":"AQ"}"#, "invalid RSA JWK key: exponent (e) is required");
    check(rsa, r#"{"kty":"RSA","n":"$$","e":"AQAB"}"#, "failed to decode modulus: illegal base64 data at input byte 0");
    check(
        rsa,
        r#"{"kty":"RSA","n":"AQ","e":{}}"#,
        "failed to parse input as RSA JWK key: json: cannot unmarshal object into Go struct field rsaJWK.e of type string",
    );
    check(
        rsa,
        r#"{"kty":"RSA","n":"AQAB","e":"AQAB","d":"AQAB"}"#,
        "invalid RSA JWK key: first prime factor (p) is required",
    );
    check(
        rsa,
        r#"{"kty":"RSA","n":"AQAB","e":"AQAB","d":"AQAB","p":"AQAB","q":"AQAB","dp":"AQAB","dq":"AQAB","qi":"AQAB"}"#,
        "failed to validate private key: ",
    );
    check(rsa, r#"{"kty":"RSA","n":"AAAA","e":"AQAB"}"#, "an RSA key needs a modulus");
    let huge = format!(r#"{{"kty":"RSA","n":"{}","e":"AQAB"}}"#, "_".repeat(4 * 1024));
    check(rsa, &huge, "the RSA modulus has 24576 bits, at most 16384 are allowed");

    let point =
        r#""x":"YP7UuiVanTHJYet0xjVtaMBJuJI7Yfps5mliLmDyn7Y","y":"eQP-EAi4vJmkGunpVii8ZPLxsgwtfp9Rd6PClNRGIpk""#;
    for (algorithm, prefix) in [(Algorithm::Ecdsa, ""), (Algorithm::Ecdh, "failed to parse input as ECDH key: ")] {
        let check = |text: &str, expect: &str| check(algorithm, text, &format!("{prefix}{expect}"));
        check("{}", "invalid EC JWK key: invalid key type: ");
        check(r#"{"kty":"EC"}"#, "invalid EC JWK key: curve is required");
        check(r#"{"kty":"EC","crv":"P-256"}"#, "invalid EC JWK key: coordinate X is required");
        check(r#"{"kty":"EC","crv":"P-256","x":"AQ"}"#, "invalid EC JWK key: coordinate Y is required");
        check(
            &format!(r#"{{"kty":"EC","crv":"P-224",{point}}}"#),
            "failed to parse elliptic curve: invalid elliptic curve P-224",
        );
        check(r#"{"kty":"EC","crv":"P-256","x":"AQ","y":"AQ"}"#, "invalid EC JWK key: the public key is not");
        check(&format!(r#"{{"kty":"EC","crv":"P-384",{point}}}"#), "invalid EC JWK key: the public key is not");
        check(
            &format!(r#"{{"kty":"EC","crv":"P-256",{point},"d":"AA"}}"#),
            "invalid EC JWK key: the private key is not",
        );
        check(&format!(r#"{{"kty":"EC","crv":"P-256",{point},"d":"AQ"}}"#), "invalid EC JWK key: d does not belong");
        check(&format!(r#"{{"kty":"EC","crv":"P-256",{point},"d":"$$"}}"#), "failed to decode D: illegal base64");
        assert_eq!(error(algorithm, KeyData::Jwk(&format!(r#"{{"kty":"EC","crv":"P-256",{point}}}"#))), "imported");
        let long = "_".repeat(60_000);
        check(
            &format!(r#"{{"kty":"EC","crv":"P-521","x":"{long}","y":"AQ"}}"#),
            "invalid EC JWK key: a coordinate is longer",
        );
    }
    let okp = Algorithm::Ed25519;
    check(okp, r#"{"kty":"EC"}"#, "DataError: invalid OKP JWK key: invalid key type: EC");
    check(okp, r#"{"kty":"OKP","crv":"X25519","x":"AQ"}"#, "DataError: the key is not one of Ed25519");
    check(okp, r#"{"kty":"OKP","crv":"Ed25519","x":"AQ"}"#, "DataError: keys of Ed25519 have 32 bytes, not 1");
}

/// Truncated and foreign DER, points off their curve.
#[test]
fn der() {
    let raw = ImportFormat::Raw;
    let check = |algorithm, format, bytes: &[u8], expect: &str| {
        let error = error(algorithm, KeyData::Bytes(format, bytes));
        assert!(error.starts_with(expect), "{} {format:?} {bytes:02x?}: {error}", algorithm.name());
    };
    check(Algorithm::AesGcm, raw, &[0; 33], "DataError: invalid key length 33 bytes");
    check(Algorithm::Hmac, raw, &[], "DataError: key length cannot be 0");
    check(Algorithm::RsaPss, raw, &[0; 33], "NotSupportedError: unsupported key format raw for algorithm RSA-PSS");
    check(Algorithm::AesGcm, ImportFormat::Spki, &[], "NotSupportedError: unsupported key format spki");
    check(Algorithm::Pbkdf2, ImportFormat::Spki, &[], "NotSupportedError: invalid format: spki");
    let point = |first: u8| [&[first][..], &[0; 64]].concat();
    for bytes in [vec![], vec![0], vec![4], point(4), point(2), vec![4; 66]] {
        check(Algorithm::Ecdsa, raw, &bytes, "DataError: unable to import ECDSA public key data");
        check(Algorithm::Ecdh, raw, &bytes, "DataError: unable to import ECDH public key data: ");
    }
    let Generated::Pair(rsa, rsa_public) = generate_rsa(Algorithm::RsaPss, Hash::Sha256, 2048).expect("generates")
    else {
        panic!("not a pair");
    };
    let Generated::Pair(ec, ec_public) = generate_ec(Algorithm::Ecdsa, Curve::P384).expect("generates") else {
        panic!("not a pair");
    };
    let bytes = |key: &onrush_crypto::web::Key, format| match key.export(format).expect("exports") {
        Exported::Bytes(bytes) => bytes,
        Exported::Jwk(_) => panic!("not bytes"),
    };
    let (rsa, rsa_public) = (bytes(&rsa, "pkcs8"), bytes(&rsa_public, "spki"));
    let (ec, ec_public) = (bytes(&ec, "pkcs8"), bytes(&ec_public, "spki"));
    let (pkcs8, spki) = (ImportFormat::Pkcs8, ImportFormat::Spki);
    for cut in [0, 1, 2, 5, 20, 60] {
        check(Algorithm::RsaPss, pkcs8, &rsa[..cut], "DataError: unable to import RSA private key data: ");
        check(Algorithm::RsaPss, spki, &rsa_public[..cut], "DataError: unable to import RSA public key data: ");
        check(Algorithm::Ecdsa, pkcs8, &ec[..cut], "DataError: unable to import ECDSA private key data: ");
        check(Algorithm::Ecdh, spki, &ec_public[..cut], "DataError: unable to import ECDH public key data: ");
    }
    check(Algorithm::RsaPss, spki, &[&rsa_public[..], &[0]].concat(), "DataError: unable to import RSA public");
    check(Algorithm::RsaPss, pkcs8, &rsa_public, "DataError: unable to import RSA private key data: ");
    check(Algorithm::RsaPss, spki, &rsa, "DataError: unable to import RSA public key data: ");
    check(Algorithm::RsaPss, spki, &ec_public, "DataError: a public key is not an RSA key");
    check(Algorithm::RsaPss, pkcs8, &ec, "DataError: a private key is not an RSA key");
    check(Algorithm::Ecdsa, spki, &rsa_public, "DataError: a public key is not an ECDSA key");
    check(Algorithm::Ecdsa, pkcs8, &rsa, "DataError: a private key is not an ECDSA key");
    check(Algorithm::Ecdsa, spki, &ec_public, "DataError: the key is on P-384, and namedCurve is P-256");
    check(Algorithm::Ecdsa, pkcs8, &ec, "DataError: the key is on P-384, and namedCurve is P-256");
    check(Algorithm::Ed25519, spki, &ec_public, "DataError: the key is not one of Ed25519");
    check(Algorithm::X25519, pkcs8, &ec, "DataError: the key is not one of X25519");
}

proptest! {
    /// A changed byte gives an error or another key, never a panic, and what is read can be written.
    #[test]
    fn a_changed_byte(at in 0_usize..200, with: u8, cut in 0_usize..240) {
        let keys = [
            (Algorithm::Ecdsa, ImportFormat::Pkcs8, EC_PKCS8),
            (Algorithm::Ed25519, ImportFormat::Pkcs8, ED_PKCS8),
        ];
        for (algorithm, format, key) in keys {
            let mut bytes = key.to_vec();
            let place = at % bytes.len();
            bytes[place] = with;
            bytes.truncate(cut.max(1));
            if let Ok(key) = import(algorithm, KeyData::Bytes(format, &bytes), &parameters()) {
                prop_assert!(key.export("pkcs8").is_ok());
            }
        }
    }
}

/// The key of RFC 6979, A.2.5.
const EC_PKCS8: &[u8] = b"\x30\x41\x02\x01\x00\x30\x13\x06\x07\x2a\x86\x48\xce\x3d\x02\x01\x06\x08\x2a\x86\x48\xce\x3d\
\x03\x01\x07\x04\x27\x30\x25\x02\x01\x01\x04\x20\xc9\xaf\xa9\xd8\x45\xba\x75\x16\x6b\x5c\x21\x57\x67\xb1\xd6\x93\x4e\
\x50\xc3\xdb\x36\xe8\x9b\x12\x7b\x8a\x62\x2b\x12\x0f\x67\x21";

/// The key of RFC 8410, 10.3.
const ED_PKCS8: &[u8] = b"\x30\x2e\x02\x01\x00\x30\x05\x06\x03\x2b\x65\x70\x04\x22\x04\x20\xd4\xee\x72\xdb\xf9\x13\x58\
\x4a\xd5\xb6\xd8\xf1\xf7\x69\xf8\xad\x3a\xfe\x7c\x28\xcb\xf1\xd4\xfb\xe0\x97\xa8\x8f\x44\x75\x58\x42";

#[test]
fn keys_of_the_standards() {
    for (algorithm, bytes) in [(Algorithm::Ecdsa, EC_PKCS8), (Algorithm::Ed25519, ED_PKCS8)] {
        assert_eq!(error(algorithm, KeyData::Bytes(ImportFormat::Pkcs8, bytes)), "imported");
    }
}
