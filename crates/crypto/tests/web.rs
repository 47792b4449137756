//! Web Crypto's algorithms against published vectors, and keys in every format. What hostile keys do is in `web_hostile`.

use onrush_crypto::{
    Hash,
    web::{
        AesKey, Algorithm, Curve, EcPrivate, EcPublic, Exported, Generated, HmacKey, ImportFormat, Jwk, Key, KeyData,
        KeyType, Material, OkpPrivate, OkpPublic, Parameters, generate_aes, generate_ec, generate_hmac, generate_okp,
        generate_rsa, hkdf, import, pbkdf2,
    },
};

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    digits
        .chunks(2)
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).expect("ASCII"), 16).expect("hexadecimal"))
        .collect()
}

/// NIST SP 800-38A, F.2.1 and F.5.1.
#[test]
fn cipher_block_chaining_and_counter_mode() {
    let key = AesKey::new(&hex("2b7e151628aed2a6abf7158809cf4f3c")).expect("16 bytes");
    let plain = hex("6bc1bee22e409f96e93d7e117393172a");
    let iv = hex("000102030405060708090a0b0c0d0e0f");
    let sealed = key.encrypt_cbc(&iv, &plain).expect("encrypts");
    assert_eq!(sealed[..16], hex("7649abac8119b246cee98e9b12e9197d"));
    assert_eq!(key.decrypt_cbc(&iv, &sealed).expect("decrypts"), plain);
    let counter = hex("f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff");
    let sealed = key.encrypt_ctr(&counter, 64, &plain).expect("encrypts");
    assert_eq!(sealed, hex("874d6191b620e3261bef6864990db6ce"));
    assert_eq!(key.decrypt_ctr(&counter, 64, &sealed).expect("decrypts"), plain);
}

/// Test case 4 of McGrew and Viega's specification, which NIST SP 800-38D took over.
#[test]
fn galois_counter_mode() {
    let key = AesKey::new(&hex("feffe9928665731c6d6a8f9467308308")).expect("16 bytes");
    let iv = hex("cafebabefacedbaddecaf888");
    let plain = hex("d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72
         1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39");
    let aad = hex("feedfacedeadbeeffeedfacedeadbeefabaddad2");
    let data = hex("42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e
         21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e091");
    let tag = hex("5bc94fbc3221a5db94fae95ae7121a47");
    for bits in [128, 120, 112, 104, 96] {
        let sealed = key.encrypt_gcm(&iv, &aad, bits, &plain).expect("encrypts");
        let expect = [&data[..], &tag[..bits as usize / 8]].concat();
        assert_eq!(sealed, expect, "{bits}");
        assert_eq!(key.decrypt_gcm(&iv, &aad, bits, &sealed).expect("decrypts"), plain, "{bits}");
        let mut changed = sealed.clone();
        *changed.last_mut().expect("a tag") ^= 1;
        let error = key.decrypt_gcm(&iv, &aad, bits, &changed).expect_err("another tag");
        assert_eq!(error.to_string(), "OperationError: could not decrypt ciphertext");
        assert!(key.decrypt_gcm(&iv, b"other", bits, &sealed).is_err(), "{bits}");
    }
}

/// RFC 3394, sections 4.1 and 4.2.
#[test]
fn key_wrap() {
    let check = |key: &str, expect: &str| {
        let key = AesKey::new(&hex(key)).expect("an AES key");
        let plain = hex("00112233445566778899aabbccddeeff");
        let sealed = key.wrap(&plain).expect("wraps");
        assert_eq!(sealed, hex(expect));
        assert_eq!(key.unwrap(&sealed).expect("unwraps"), plain);
        assert!(key.unwrap(&sealed[..16]).is_err() && key.unwrap(&[&sealed[..16], &[0; 8]].concat()).is_err());
    };
    check("000102030405060708090a0b0c0d0e0f", "1fa68b0a8112b447aef34bd8fb5a7b829d3e862371d2cfe5");
    check("000102030405060708090a0b0c0d0e0f1011121314151617", "96778b25ae6ca435f92b5b97c050aed2468ab8a17ad84e5d");
}

/// RFC 4231, case 2.
#[test]
fn keyed_hashes() {
    let key = HmacKey::new(Hash::Sha256, b"Jefe").expect("a key");
    let tag = key.sign(b"what do ya want for nothing?");
    assert_eq!(tag, hex("5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"));
    assert!(key.verify(b"what do ya want for nothing?", &tag));
    assert!(!key.verify(b"what do ya want for nothing", &tag) && !key.verify(b"", &[]));
}

/// RFC 6070 and RFC 5869, case 1.
#[test]
fn derivation() {
    let password = |rounds| pbkdf2(Hash::Sha1, rounds, b"salt", b"password", 20, || true).expect("derives");
    assert_eq!(password(1), hex("0c60c80f961f0e71f3a9b524af6012062fe037a6"));
    assert_eq!(password(4096), hex("4b007901b765489abead49d926f721d065a429c1"));
    assert!(pbkdf2(Hash::Sha1, 0, b"salt", b"password", 20, || true).is_err());
    let secret = [0x0b; 22];
    let salt = hex("000102030405060708090a0b0c");
    let info = hex("f0f1f2f3f4f5f6f7f8f9");
    let derived = hkdf(Hash::Sha256, &salt, &info, &secret, 42).expect("derives");
    let expect = "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865";
    assert_eq!(derived, hex(expect));
    assert!(hkdf(Hash::Sha256, &salt, &info, &secret, 255 * 32 + 1).is_err());
}

/// RFC 6979, A.2.5: a hash shorter than the curve, one as long and one longer.
#[test]
fn signatures_on_curves() {
    let secret = hex("c9afa9d845ba75166b5c215767b1d6934e50c3db36e89b127b8a622b120f6721");
    let key = EcPrivate::new(Curve::P256, &secret).expect("a key");
    let point = hex("04 60fed4ba255a9d31c961eb74c6356d68c049b8923b61fa6ce669622e60f29fb6
            7903fe1008b8bc99a41ae9e95628bc64f2f1b20c2d7e9f5177a3c294d4462299");
    assert_eq!(key.public.point(), point);
    let check = |hash, signature: &str| assert!(key.public.verify(hash, b"sample", &hex(signature)), "{hash:?}");
    check(
        Hash::Sha1,
        "61340c88c3aaebeb4f6d667f672ca9759a6ccaa9fa8811313039ee4a35471d32
         6d7f147dac089441bb2e2fe8f7a3fa264b9c475098fdcf6e00d7c996e1b8b7eb",
    );
    check(
        Hash::Sha256,
        "efd48b2aacb6a8fd1140dd9cd45e81d69d2c877b56aaf991c34d0ea84eaf3716
         f7cb1c942d657c41d436c7a1b6e29f65f3e900dbb9aff4064dc4ab2f843acda8",
    );
    check(
        Hash::Sha512,
        "8496a60b5e9b47c825488827e0495b0e3fa109ec4568fd3f8d1097678eb97f00
         2362ab1adbe2b8adf9cb9edab740ea6049c028114f2460f96554f61fae3302fe",
    );
    for curve in [Curve::P256, Curve::P384, Curve::P521] {
        let Generated::Pair(private, public) = generate_ec(Algorithm::Ecdsa, curve).expect("generates") else {
            panic!("not a pair");
        };
        let (Material::EcPrivate(private), Material::EcPublic(public)) = (&private.material, &public.material) else {
            panic!("not on a curve");
        };
        for hash in [Hash::Sha1, Hash::Sha256, Hash::Sha384, Hash::Sha512] {
            let signature = private.sign(hash, b"message").expect("signs");
            assert!(public.verify(hash, b"message", &signature), "{curve:?} {hash:?}");
            assert!(!public.verify(hash, b"messages", &signature), "{curve:?} {hash:?}");
        }
        assert!(!public.verify(Hash::Sha256, b"message", &[]));
    }
}

/// RFC 5903, 8.1, and RFC 7748, 6.1.
#[test]
fn agreement() {
    let own = EcPrivate::new(Curve::P256, &hex("c88f01f510d9ac3f70a292daa2316de544e9aab8afe84049c62a9c57862d1433"));
    let other = hex("04 d12dfb5289c8d4f81208b70270398c342296970a0bccb74c736fc7554494bf63
            56fbf3ca366cc23e8157854c13c58d6aac23f046ada30f8353e74f33039872ab");
    let other = EcPublic::new(Curve::P256, &other).expect("a point");
    assert_eq!(
        own.expect("a key").agree(&other).expect("agrees"),
        hex("d6840f6b42f6edafd13116e0e12565202fef8e9ece7dce03812464d04b9442de")
    );
    let own = hex("5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb");
    let own = OkpPrivate::new(Algorithm::X25519, &own).expect("a key");
    assert_eq!(own.public.bytes(), hex("de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f"));
    let other = hex("8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a");
    let other = OkpPublic::new(Algorithm::X25519, &other).expect("a key");
    assert_eq!(
        own.agree(&other).expect("agrees"),
        hex("4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742")
    );
}

/// RFC 8032, 7.1, test 1.
#[test]
fn edwards_signatures() {
    let seed = hex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60");
    let key = OkpPrivate::new(Algorithm::Ed25519, &seed).expect("a key");
    assert_eq!(key.public.bytes(), hex("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"));
    let signature = key.sign(b"").expect("signs");
    assert_eq!(
        signature,
        hex("e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155
             5fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b")
    );
    assert!(key.public.verify(b"", &signature) && !key.public.verify(b"x", &signature));
}

#[test]
fn rsa_signs_and_decrypts() {
    let Generated::Pair(private, public) = generate_rsa(Algorithm::RsaPss, Hash::Sha256, 2048).expect("generates")
    else {
        panic!("not a pair");
    };
    let (Material::RsaPrivate(private), Material::RsaPublic(public)) = (&private.material, &public.material) else {
        panic!("not RSA");
    };
    for hash in [Hash::Sha256, Hash::Sha384, Hash::Sha512] {
        let signature = private.sign_pkcs1(hash, b"message").expect("signs");
        assert_eq!(public.verify_pkcs1(hash, b"message", &signature), Ok(true));
        assert_eq!(public.verify_pkcs1(hash, b"other", &signature), Ok(false));
        for salt in [1, 20, 32, 100] {
            let signature = private.sign_pss(hash, salt, b"message").expect("signs");
            assert_eq!(public.verify_pss(hash, salt, b"message", &signature), Ok(true), "{hash:?} {salt}");
            assert_eq!(public.verify_pss(hash, salt + 1, b"message", &signature), Ok(false), "{hash:?} {salt}");
        }
        let sealed = public.encrypt(hash, b"label", b"message").expect("encrypts");
        assert_eq!(private.decrypt(hash, b"label", &sealed).expect("decrypts"), b"message");
        assert!(private.decrypt(hash, b"", &sealed).is_err() && private.decrypt(hash, b"label", &[]).is_err());
    }
    assert_eq!(
        private.sign_pss(Hash::Sha256, 223, b"message").expect_err("too long").to_string(),
        "OperationError: could not sign data: crypto/rsa: message too long for RSA key size"
    );
}

/// Every key in every format it can be exported in, and read again.
#[test]
fn keys_survive_their_formats() {
    let rsa = generate_rsa(Algorithm::RsaOaep, Hash::Sha1, 2048);
    let generated = [
        generate_aes(Algorithm::AesGcm, 192),
        generate_aes(Algorithm::AesKw, 256),
        generate_hmac(Hash::Sha384, None),
        generate_ec(Algorithm::Ecdsa, Curve::P256),
        generate_ec(Algorithm::Ecdh, Curve::P384),
        generate_ec(Algorithm::Ecdh, Curve::P521),
        generate_okp(Algorithm::Ed25519),
        generate_okp(Algorithm::X25519),
        rsa,
    ];
    for generated in generated {
        let keys = match generated.expect("generates") {
            Generated::Key(key) => vec![*key],
            Generated::Pair(private, public) => vec![*private, *public],
        };
        for key in &keys {
            let formats: &[&str] = match (key.key_type(), key.algorithm.is_rsa()) {
                (KeyType::Secret, _) => &["raw", "jwk"],
                (KeyType::Private, _) => &["pkcs8", "jwk"],
                (KeyType::Public, true) => &["spki", "jwk"],
                (KeyType::Public, false) => &["raw", "spki", "jwk"],
            };
            for format in formats {
                let exported = key.export(format).expect("exports");
                let again = import_again(key, format, &exported);
                assert_eq!(again.key_type(), key.key_type(), "{} {format}", key.algorithm.name());
                assert_eq!(again.export(format), Ok(exported), "{} {format}", key.algorithm.name());
            }
            for format in ["raw", "pkcs8", "spki", "jwk", "RAW", ""] {
                assert_eq!(key.export(format).is_ok(), formats.contains(&format), "{} {format}", key.algorithm.name());
            }
        }
    }
}

fn import_again(key: &Key, format: &str, exported: &Exported) -> Key {
    let parameters = Parameters {
        hash: key.hash,
        curve: key.curve.map_or_else(String::new, |curve| curve.name().to_owned()),
        bits: None,
    };
    let text;
    let data = match exported {
        Exported::Bytes(bytes) => KeyData::Bytes(ImportFormat::named(format).expect("a format"), bytes),
        Exported::Jwk(jwk) => {
            text = json(jwk);
            KeyData::Jwk(&text)
        }
    };
    import(key.algorithm, data, &parameters)
        .unwrap_or_else(|error| panic!("{} {format}: {error}", key.algorithm.name()))
}

fn json(jwk: &Jwk) -> String {
    let members: Vec<String> = jwk.members().iter().map(|(name, text)| format!("{name:?}:{text:?}")).collect();
    format!("{{{}}}", members.join(","))
}
