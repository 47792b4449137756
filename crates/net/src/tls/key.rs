//! Private keys of client certificates: plain, or encrypted with a password.
//!
//! Two encryptions are in use: that inside of PKCS #8 (`BEGIN ENCRYPTED PRIVATE KEY`, what `openssl` writes today,
//! which k6 refuses) and the older one of PEM itself (`Proc-Type: 4,ENCRYPTED`, which k6 reads): there the key is what
//! MD5 makes of password and salt.

use aes::cipher::{BlockModeDecrypt, KeyIvInit, block_padding::Pkcs7};
use base64::Engine as _;
use md5::{Digest as _, Md5};
use pkcs8::{EncryptedPrivateKeyInfoRef, SecretDocument};
use rustls_pki_types::{PrivateKeyDer, PrivatePkcs1KeyDer, PrivatePkcs8KeyDer, PrivateSec1KeyDer, pem::PemObject};

/// Decodes a key in PEM.
///
/// # Errors
/// What is wrong with the key or its password, in Go's words where there are any.
pub(super) fn decode(pem: &str, password: &str) -> Result<PrivateKeyDer<'static>, String> {
    if pem.contains("-----BEGIN ENCRYPTED PRIVATE KEY-----") {
        return decrypt_pkcs8(pem, password);
    }
    if pem.lines().any(|line| line.starts_with("Proc-Type:") && line.contains("ENCRYPTED")) {
        return decrypt_legacy(pem, password);
    }
    PrivateKeyDer::from_pem_slice(pem.as_bytes()).map_err(|_| UNREADABLE.to_owned())
}

fn decrypt_pkcs8(pem: &str, password: &str) -> Result<PrivateKeyDer<'static>, String> {
    if password.is_empty() {
        return Err(NO_PASSWORD.to_owned());
    }
    let start = pem.find("-----BEGIN ENCRYPTED").unwrap_or_default();
    let (_, encrypted) = SecretDocument::from_pem(pem[start..].trim_end()).map_err(|_| UNREADABLE.to_owned())?;
    let encrypted = EncryptedPrivateKeyInfoRef::try_from(encrypted.as_bytes()).map_err(|_| UNREADABLE.to_owned())?;
    let key = encrypted.decrypt(password).map_err(|error| match error {
        pkcs8::Error::EncryptedPrivateKey(pkcs8::pkcs5::Error::UnsupportedAlgorithm { oid }) => {
            format!("the key is encrypted with an algorithm that is not supported ({oid})")
        }
        _ => WRONG_PASSWORD.to_owned(),
    })?;
    Ok(PrivatePkcs8KeyDer::from(key.as_bytes().to_vec()).into())
}

fn decrypt_legacy(pem: &str, password: &str) -> Result<PrivateKeyDer<'static>, String> {
    if password.is_empty() {
        return Err(NO_PASSWORD.to_owned());
    }
    let block = LegacyBlock::parse(pem).ok_or_else(|| UNREADABLE.to_owned())?;
    let plain = block.decrypt(password.as_bytes())?;
    match block.label {
        "RSA PRIVATE KEY" => Ok(PrivatePkcs1KeyDer::from(plain).into()),
        "EC PRIVATE KEY" => Ok(PrivateSec1KeyDer::from(plain).into()),
        "PRIVATE KEY" => Ok(PrivatePkcs8KeyDer::from(plain).into()),
        label => Err(format!("{UNREADABLE}: a {label} is no key for TLS")),
    }
}

/// An encrypted block of PEM.
struct LegacyBlock<'a> {
    label: &'a str,
    cipher: &'a str,
    iv: Vec<u8>,
    bytes: Vec<u8>,
}

impl<'a> LegacyBlock<'a> {
    fn parse(pem: &'a str) -> Option<Self> {
        let mut lines = pem.lines().map(str::trim).skip_while(|line| !line.ends_with("PRIVATE KEY-----"));
        let label = lines.next()?.strip_prefix("-----BEGIN ")?.strip_suffix("-----")?;
        let mut info = None;
        for line in lines.by_ref().take_while(|line| !line.is_empty()) {
            if let Some(value) = line.strip_prefix("DEK-Info:") {
                info = value.trim().split_once(',');
            }
        }
        let (cipher, iv) = info?;
        let text: String = lines.take_while(|line| !line.starts_with("-----END")).collect();
        let bytes = base64::engine::general_purpose::STANDARD.decode(text).ok()?;
        Some(Self { label, cipher: cipher.trim(), iv: from_hex(iv.trim())?, bytes })
    }

    fn decrypt(&self, password: &[u8]) -> Result<Vec<u8>, String> {
        let salt = self.iv.get(..SALT_BYTES).ok_or_else(|| UNREADABLE.to_owned())?;
        let key = |bytes: usize| derive(password, salt, bytes);
        let plain = match self.cipher {
            "AES-128-CBC" => open::<cbc::Decryptor<aes::Aes128>>(&key(16), &self.iv, &self.bytes),
            "AES-192-CBC" => open::<cbc::Decryptor<aes::Aes192>>(&key(24), &self.iv, &self.bytes),
            "AES-256-CBC" => open::<cbc::Decryptor<aes::Aes256>>(&key(32), &self.iv, &self.bytes),
            "DES-EDE3-CBC" => open::<cbc::Decryptor<des::TdesEde3>>(&key(24), &self.iv, &self.bytes),
            "DES-CBC" => open::<cbc::Decryptor<des::Des>>(&key(8), &self.iv, &self.bytes),
            other => return Err(format!("the key is encrypted with {other}, which is not supported")),
        };
        // Wrong padding is a wrong password; so is what is no sequence of ASN.1.
        plain.filter(|plain| plain.first() == Some(&ASN1_SEQUENCE)).ok_or_else(|| WRONG_PASSWORD.to_owned())
    }
}

fn open<D: BlockModeDecrypt + KeyIvInit>(key: &[u8], iv: &[u8], bytes: &[u8]) -> Option<Vec<u8>> {
    D::new_from_slices(key, iv).ok()?.decrypt_padded_vec::<Pkcs7>(bytes).ok()
}

/// OpenSSL's `EVP_BytesToKey` with MD5 and one round.
fn derive(password: &[u8], salt: &[u8], bytes: usize) -> Vec<u8> {
    let mut key = Vec::with_capacity(bytes + 16);
    let mut last = Vec::new();
    while key.len() < bytes {
        last = Md5::new().chain_update(&last).chain_update(password).chain_update(salt).finalize().to_vec();
        key.extend_from_slice(&last);
    }
    key.truncate(bytes);
    key
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes();
    let pairs = digits.chunks(2).map(|pair| {
        let pair = std::str::from_utf8(pair).ok().filter(|pair| pair.len() == 2)?;
        u8::from_str_radix(pair, 16).ok()
    });
    pairs.collect()
}

/// k6's text.
const UNREADABLE: &str = "failed to decode PEM key";
const NO_PASSWORD: &str = "the key is encrypted: give its password";
/// Go's text.
const WRONG_PASSWORD: &str = "x509: decryption password incorrect";
/// The salt is the beginning of the initialisation vector.
const SALT_BYTES: usize = 8;
const ASN1_SEQUENCE: u8 = 0x30;

#[cfg(test)]
mod tests {
    use super::*;

    /// Made with `openssl`, all of the same key, all with the password `secret`.
    const PLAIN: &str = include_str!("keys/plain.pem");
    const ENCRYPTED: [&str; 6] = [
        include_str!("keys/aes128.pem"),
        include_str!("keys/aes192.pem"),
        include_str!("keys/aes256.pem"),
        include_str!("keys/des3.pem"),
        include_str!("keys/pkcs8.pem"),
        include_str!("keys/pkcs8_des3.pem"),
    ];

    fn signs_like_the_plain_one(key: &PrivateKeyDer<'static>) -> bool {
        let public = |key: &PrivateKeyDer<'static>| {
            let key = rustls::crypto::aws_lc_rs::sign::any_supported_type(key).unwrap();
            key.public_key().unwrap().to_vec()
        };
        public(key) == public(&decode(PLAIN, "").unwrap())
    }

    #[test]
    fn keys_of_each_kind_open_with_their_password() {
        for pem in ENCRYPTED {
            assert!(signs_like_the_plain_one(&decode(pem, "secret").unwrap()), "{pem}");
            assert_eq!(decode(pem, "").unwrap_err(), NO_PASSWORD, "{pem}");
            assert_eq!(decode(pem, "Secret").unwrap_err(), WRONG_PASSWORD, "{pem}");
        }
    }

    #[test]
    fn what_is_no_key_is_said() {
        let check = |pem: &str, expect: &str| assert_eq!(decode(pem, "secret").unwrap_err(), expect, "{pem}");
        check("", UNREADABLE);
        check("-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n", UNREADABLE);
        let legacy = |info: &str, body: &str| {
            format!(
                "-----BEGIN EC PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n{info}\n\n{body}\n-----END EC PRIVATE KEY-----\n"
            )
        };
        check(&legacy("", "AAAA"), UNREADABLE);
        check(&legacy("DEK-Info: AES-128-CBC,00", "AAAA"), UNREADABLE);
        check(&legacy("DEK-Info: AES-128-CBC,é0", "AAAA"), UNREADABLE);
        let iv = "00112233445566778899AABBCCDDEEFF";
        check(&legacy(&format!("DEK-Info: AES-128-CBC,{iv}"), "AAAA"), WRONG_PASSWORD);
        check(
            &legacy(&format!("DEK-Info: CAMELLIA-128-CBC,{iv}"), "AAAA"),
            "the key is encrypted with CAMELLIA-128-CBC, which is not supported",
        );
    }
}
