//! Web Crypto's algorithms against published vectors: the files in `vectors/` say whose, and what their columns are.

use std::collections::BTreeMap;

use onrush_crypto::{
    Base64, Hash,
    web::{
        AesKey, Algorithm, Curve, EcPrivate, EcPublic, HmacKey, KeyData, Material, OkpPrivate, OkpPublic, Parameters,
        RsaPublic, hash_named, hkdf, import, pbkdf2,
    },
};

/// The columns of a row. A row that has others is a mistake in the file.
struct Row<'a>(std::vec::IntoIter<&'a str>);

impl<'a> Row<'a> {
    fn text(&mut self) -> &'a str {
        self.0.next().expect("a column")
    }

    fn bytes(&mut self) -> Vec<u8> {
        let digits = Some(self.text()).filter(|text| *text != "-").unwrap_or_default();
        let pair =
            |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).expect("ASCII"), 16).expect("hexadecimal");
        digits.as_bytes().chunks(2).map(pair).collect()
    }

    fn number(&mut self) -> u32 {
        self.text().parse().expect("a number")
    }

    fn hash(&mut self) -> Hash {
        hash_named(self.text()).expect("a hash")
    }

    fn curve(&mut self) -> Curve {
        Curve::named(self.text()).expect("a curve")
    }

    fn is_valid(&mut self) -> bool {
        matches!(self.text(), "valid")
    }
}

/// Checks every row of a file; the first column says what it is. Gives how many there are of each.
fn each(file: &str, mut check: impl FnMut(&str, &mut Row<'_>)) -> Vec<(String, usize)> {
    let mut counts = BTreeMap::new();
    for line in file.lines().filter(|line| !line.starts_with('#')) {
        let mut row = Row(line.split(' ').collect::<Vec<_>>().into_iter());
        let kind = row.text();
        check(kind, &mut row);
        assert!(row.0.next().is_none(), "more columns than are read: {line}");
        *counts.entry(kind.to_owned()).or_default() += 1;
    }
    counts.into_iter().collect()
}

fn counts(expect: &[(&str, usize)]) -> Vec<(String, usize)> {
    expect.iter().map(|(kind, count)| ((*kind).to_owned(), *count)).collect()
}

#[test]
fn aes() {
    let found = each(include_str!("vectors/aes.txt"), |kind, row| {
        let key = AesKey::new(&row.bytes()).expect("an AES key");
        match kind {
            "cbc" => {
                let (iv, plain, expect) = (row.bytes(), row.bytes(), row.bytes());
                let sealed = key.encrypt_cbc(&iv, &plain).expect("encrypts");
                // A block of padding follows.
                assert_eq!((&sealed[..expect.len()], sealed.len()), (&expect[..], expect.len() + 16));
                assert_eq!(key.decrypt_cbc(&iv, &sealed).expect("decrypts"), plain);
            }
            "ctr" => {
                let (counter, plain, expect) = (row.bytes(), row.bytes(), row.bytes());
                assert_eq!(key.encrypt_ctr(&counter, 32, &plain).expect("encrypts"), expect);
                assert_eq!(key.decrypt_ctr(&counter, 32, &expect).expect("decrypts"), plain);
            }
            "gcm" => {
                let (iv, aad, plain, expect) = (row.bytes(), row.bytes(), row.bytes(), row.bytes());
                let tag_bits = (expect.len() - plain.len()) as i64 * 8;
                assert_eq!(key.encrypt_gcm(&iv, &aad, tag_bits, &plain).expect("encrypts"), expect);
                assert_eq!(key.decrypt_gcm(&iv, &aad, tag_bits, &expect).expect("decrypts"), plain);
            }
            "wrap" => {
                let (plain, expect) = (row.bytes(), row.bytes());
                assert_eq!(key.wrap(&plain).expect("wraps"), expect);
                assert_eq!(key.unwrap(&expect).expect("unwraps"), plain);
            }
            "unwrap" => assert!(key.unwrap(&row.bytes()).is_err()),
            other => panic!("{other}"),
        }
    });
    assert_eq!(found, counts(&[("cbc", 9), ("ctr", 9), ("gcm", 72), ("unwrap", 6), ("wrap", 12)]));
}

#[test]
fn keyed_hashes_and_derivation() {
    let found = each(include_str!("vectors/keyed.txt"), |kind, row| {
        let (hash, secret) = (row.hash(), row.bytes());
        match kind {
            "hmac" => {
                let key = HmacKey::new(hash, &secret).expect("a key");
                let (message, tag) = (row.bytes(), row.bytes());
                assert_eq!(key.sign(&message), tag);
                assert!(key.verify(&message, &tag) && !key.verify(&message, &tag[1..]));
            }
            "hkdf" => {
                let (salt, info, expect) = (row.bytes(), row.bytes(), row.bytes());
                assert_eq!(hkdf(hash, &salt, &info, &secret, expect.len()).expect("derives"), expect);
            }
            "pbkdf2" => {
                let (salt, rounds, expect) = (row.bytes(), row.number(), row.bytes());
                assert_eq!(pbkdf2(hash, rounds, &salt, &secret, expect.len(), || true).expect("derives"), expect);
            }
            other => panic!("{other}"),
        }
    });
    assert_eq!(found, counts(&[("hkdf", 7), ("hmac", 25), ("pbkdf2", 5)]));
}

#[test]
fn curves() {
    let found = each(include_str!("vectors/curves.txt"), |kind, row| match kind {
        "ecdsa" => {
            let (curve, hash, point, message, signature) =
                (row.curve(), row.hash(), row.bytes(), row.bytes(), row.bytes());
            // A key that was changed may be no point of the curve.
            let is_valid = EcPublic::new(curve, &point).is_ok_and(|key| key.verify(hash, &message, &signature));
            assert_eq!(is_valid, row.is_valid(), "{} {hash:?}", curve.name());
        }
        "ecdh" => {
            let (curve, secret, point, shared) = (row.curve(), row.bytes(), row.bytes(), row.bytes());
            let own = EcPrivate::new(curve, &secret).expect("a key");
            let agreed = EcPublic::new(curve, &point).and_then(|other| own.agree(&other));
            assert_eq!(agreed.ok(), row.is_valid().then_some(shared), "{}", curve.name());
        }
        "ed25519" => {
            let (seed, public, message, signature) = (row.bytes(), row.bytes(), row.bytes(), row.bytes());
            let key = OkpPrivate::new(Algorithm::Ed25519, &seed).expect("a key");
            assert_eq!(key.public.bytes(), public);
            assert_eq!(key.sign(&message).expect("signs"), signature);
            assert!(key.public.verify(&message, &signature) && !key.public.verify(&[0], &signature));
        }
        "x25519" => {
            let (secret, public, shared) = (row.bytes(), row.bytes(), row.bytes());
            let own = OkpPrivate::new(Algorithm::X25519, &secret).expect("a key");
            let other = OkpPublic::new(Algorithm::X25519, &public).expect("a key");
            assert_eq!(own.agree(&other).expect("agrees"), shared);
        }
        other => panic!("{other}"),
    });
    assert_eq!(found, counts(&[("ecdh", 18), ("ecdsa", 72), ("ed25519", 6), ("x25519", 3)]));
}

#[test]
fn rsa() {
    let found = each(include_str!("vectors/rsa.txt"), |kind, row| {
        let hash = row.hash();
        match kind {
            "pkcs1" | "pss" => {
                let salt = if kind == "pss" { row.number() } else { 0 };
                let key = RsaPublic::new(&row.bytes(), &row.bytes()).expect("a key");
                let (message, signature) = (row.bytes(), row.bytes());
                let is_valid = match kind {
                    "pss" => key.verify_pss(hash, salt as usize, &message, &signature),
                    _ => key.verify_pkcs1(hash, &message, &signature),
                };
                assert_eq!(is_valid, Ok(row.is_valid()), "{hash:?}");
            }
            "oaep" => {
                let members = ["n", "e", "d", "p", "q", "dp", "dq", "qi"].map(|name| {
                    let mut text = Vec::new();
                    Base64::RAW_URL.encode(&row.bytes(), &mut text);
                    format!("{name:?}:{:?}", String::from_utf8(text).expect("ASCII"))
                });
                let jwk = format!("{{\"kty\":\"RSA\",{}}}", members.join(","));
                let parameters = Parameters { hash: Some(hash), ..Parameters::default() };
                let key = import(Algorithm::RsaOaep, KeyData::Jwk(&jwk), &parameters).expect("a key");
                let Material::RsaPrivate(key) = &key.material else { panic!("no private key") };
                let (message, sealed) = (row.bytes(), row.bytes());
                assert_eq!(key.decrypt(hash, b"", &sealed).expect("decrypts"), message, "{hash:?}");
            }
            other => panic!("{other}"),
        }
    });
    assert_eq!(found, counts(&[("oaep", 8), ("pkcs1", 18), ("pss", 15)]));
}
