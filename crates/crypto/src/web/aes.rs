//! AES: cipher block chaining, counter mode, Galois/counter mode and key wrap.

use std::sync::OnceLock;

use aes_kw::{KeyInit, KwAes128, KwAes192, KwAes256};
use aws_lc_rs::{
    aead::{self, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey},
    cipher::{
        self, DecryptingKey, DecryptionContext, EncryptingKey, EncryptionContext, PaddedBlockDecryptingKey,
        PaddedBlockEncryptingKey, UnboundCipherKey,
    },
    constant_time::verify_slices_are_equal,
    iv::FixedLength,
};

use super::WebError;

/// The length of a Galois/counter mode tag where none is asked for.
pub const TAG_BITS_DEFAULT: i64 = 128;

const BLOCK_BYTES: usize = 16;
const TAG_BYTES: usize = 16;

/// An AES key of any mode.
pub struct AesKey {
    bytes: Box<[u8]>,
    /// Made when it is first used: the mode whose key takes longest to prepare.
    gcm: OnceLock<Option<Box<LessSafeKey>>>,
}

impl AesKey {
    /// A key of 16, 24 or 32 bytes.
    pub fn new(bytes: &[u8]) -> Result<Self, WebError> {
        if !matches!(bytes.len(), 16 | 24 | 32) {
            return Err(WebError::data(format!("invalid key length {} bytes", bytes.len())));
        }
        Ok(Self { bytes: bytes.into(), gcm: OnceLock::new() })
    }

    /// The key itself.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Its length in bits.
    pub fn bits(&self) -> usize {
        self.bytes.len() * 8
    }

    /// Encrypts with cipher block chaining and PKCS #7 padding.
    pub fn encrypt_cbc(&self, iv: &[u8], plain: &[u8]) -> Result<Vec<u8>, WebError> {
        let iv = FixedLength::try_from(iv).map_err(|_| WebError::operation("iv length is not 16 bytes"))?;
        if plain.is_empty() {
            // k6: there is nothing to pad for it.
            return Err(WebError::operation("could not pad plaintext"));
        }
        let key = PaddedBlockEncryptingKey::cbc_pkcs7(self.cipher_key()?).map_err(|_| failed())?;
        let mut out = Vec::with_capacity(plain.len() + BLOCK_BYTES);
        out.extend_from_slice(plain);
        key.less_safe_encrypt(&mut out, EncryptionContext::Iv128(iv)).map_err(|_| failed())?;
        Ok(out)
    }

    /// Decrypts what [`AesKey::encrypt_cbc`] gives.
    pub fn decrypt_cbc(&self, iv: &[u8], sealed: &[u8]) -> Result<Vec<u8>, WebError> {
        let iv =
            FixedLength::try_from(iv).map_err(|_| WebError::operation("iv length is invalid, should be 16 bytes"))?;
        let invalid = || WebError::operation("invalid padding");
        if sealed.is_empty() || !sealed.len().is_multiple_of(BLOCK_BYTES) {
            return Err(invalid());
        }
        let key = PaddedBlockDecryptingKey::cbc_pkcs7(self.cipher_key()?).map_err(|_| failed())?;
        let mut out = sealed.to_vec();
        let length = key.decrypt(&mut out, DecryptionContext::Iv128(iv)).map_err(|_| invalid())?.len();
        out.truncate(length);
        Ok(out)
    }

    /// Encrypts in counter mode. `bits` is checked and then without effect: all of the counter counts.
    pub fn encrypt_ctr(&self, counter: &[u8], bits: i64, plain: &[u8]) -> Result<Vec<u8>, WebError> {
        let counter =
            FixedLength::try_from(counter).map_err(|_| WebError::operation("counter length is not 16 bytes"))?;
        if !(1..=128).contains(&bits) {
            return Err(WebError::operation("invalid counter length, out of the 0 < x < 128 bounds"));
        }
        let key = EncryptingKey::ctr(self.cipher_key()?).map_err(|_| failed())?;
        let mut out = plain.to_vec();
        key.less_safe_encrypt(&mut out, EncryptionContext::Iv128(counter)).map_err(|_| failed())?;
        Ok(out)
    }

    /// Decrypts in counter mode.
    pub fn decrypt_ctr(&self, counter: &[u8], bits: i64, sealed: &[u8]) -> Result<Vec<u8>, WebError> {
        let counter = FixedLength::try_from(counter)
            .map_err(|_| WebError::operation("counter length is invalid, should be 16 bytes"))?;
        if !(1..=128).contains(&bits) {
            return Err(WebError::operation("invalid length, should be within 1 <= length <= 128 bounds"));
        }
        let key = DecryptingKey::ctr(self.cipher_key()?).map_err(|_| failed())?;
        let mut out = sealed.to_vec();
        key.decrypt(&mut out, DecryptionContext::Iv128(counter)).map_err(|_| failed())?;
        Ok(out)
    }

    /// Encrypts in Galois/counter mode; the tag follows the data.
    pub fn encrypt_gcm(&self, iv: &[u8], aad: &[u8], tag_bits: i64, plain: &[u8]) -> Result<Vec<u8>, WebError> {
        if matches!(tag_bits, 32 | 64) {
            return Err(WebError::not_supported("tag length 32 and 64 are not supported"));
        }
        let tag_bytes = tag_bytes(tag_bits)
            .ok_or_else(|| WebError::operation("invalid tag length, should be one of 96, 104, 112, 120, 128"))?;
        let nonce = nonce(iv)?;
        let mut out = Vec::with_capacity(plain.len() + TAG_BYTES);
        out.extend_from_slice(plain);
        let tag = self.gcm()?.seal_in_place_separate_tag(nonce, Aad::from(aad), &mut out).map_err(|_| failed())?;
        out.extend_from_slice(&tag.as_ref()[..tag_bytes]);
        Ok(out)
    }

    /// Decrypts what [`AesKey::encrypt_gcm`] gives, with the same parameters.
    pub fn decrypt_gcm(&self, iv: &[u8], aad: &[u8], tag_bits: i64, sealed: &[u8]) -> Result<Vec<u8>, WebError> {
        if matches!(tag_bits, 32 | 64) {
            return Err(WebError::operation("invalid tag length, should be within 96 <= length <= 128 bounds"));
        }
        let tag_bytes = tag_bytes(tag_bits)
            .ok_or_else(|| WebError::operation("invalid tag length, accepted values are 96, 104, 112, 120, 128"))?;
        if sealed.len() < tag_bytes {
            return Err(WebError::operation("ciphertext is too short"));
        }
        if iv.is_empty() {
            return Err(WebError::operation("iv length is too long"));
        }
        let nonce = nonce(iv)?;
        let wrong = || WebError::operation("could not decrypt ciphertext");
        let key = self.gcm()?;
        if tag_bytes == TAG_BYTES {
            let mut out = sealed.to_vec();
            let length = key.open_in_place(nonce, Aad::from(aad), &mut out).map_err(|_| wrong())?.len();
            out.truncate(length);
            return Ok(out);
        }
        // The library only knows whole tags. The mode is counter mode from 2 on (1 is the tag's): what that decrypts,
        // encrypted again, must have a tag that begins as this one does.
        let (data, tag) = sealed.split_at(sealed.len() - tag_bytes);
        let mut counter = [0; BLOCK_BYTES];
        counter[..NONCE_LEN].copy_from_slice(iv);
        counter[BLOCK_BYTES - 1] = 2;
        let plain = self.decrypt_ctr(&counter, 32, data)?;
        let again = self.encrypt_gcm(iv, aad, tag_bits, &plain)?;
        verify_slices_are_equal(&again[data.len()..], tag).map_err(|_| wrong())?;
        Ok(plain)
    }

    /// Wraps a key (RFC 3394).
    pub fn wrap(&self, plain: &[u8]) -> Result<Vec<u8>, WebError> {
        if plain.len() < 16 || !plain.len().is_multiple_of(8) {
            return Err(WebError::operation("AES-KW wraps multiples of 8 bytes, at least 16"));
        }
        let mut out = vec![0; plain.len() + 8];
        let wrapped = match &*self.bytes {
            key if key.len() == 16 => KwAes128::new_from_slice(key).map(|key| key.wrap_key(plain, &mut out).is_ok()),
            key if key.len() == 24 => KwAes192::new_from_slice(key).map(|key| key.wrap_key(plain, &mut out).is_ok()),
            key => KwAes256::new_from_slice(key).map(|key| key.wrap_key(plain, &mut out).is_ok()),
        };
        if wrapped == Ok(true) { Ok(out) } else { Err(failed()) }
    }

    /// Unwraps what [`AesKey::wrap`] gives.
    pub fn unwrap(&self, sealed: &[u8]) -> Result<Vec<u8>, WebError> {
        let wrong = || WebError::operation("could not unwrap the key: it was wrapped with another key, or changed");
        if sealed.len() < 24 || !sealed.len().is_multiple_of(8) {
            return Err(wrong());
        }
        let mut out = vec![0; sealed.len() - 8];
        let unwrapped = match &*self.bytes {
            key if key.len() == 16 => KwAes128::new_from_slice(key).map(|key| key.unwrap_key(sealed, &mut out).is_ok()),
            key if key.len() == 24 => KwAes192::new_from_slice(key).map(|key| key.unwrap_key(sealed, &mut out).is_ok()),
            key => KwAes256::new_from_slice(key).map(|key| key.unwrap_key(sealed, &mut out).is_ok()),
        };
        if unwrapped == Ok(true) { Ok(out) } else { Err(wrong()) }
    }

    fn cipher_key(&self) -> Result<UnboundCipherKey, WebError> {
        let algorithm = match self.bytes.len() {
            16 => &cipher::AES_128,
            24 => &cipher::AES_192,
            _ => &cipher::AES_256,
        };
        UnboundCipherKey::new(algorithm, &self.bytes).map_err(|_| failed())
    }

    fn gcm(&self) -> Result<&LessSafeKey, WebError> {
        let key = self.gcm.get_or_init(|| {
            let algorithm = match self.bytes.len() {
                16 => &aead::AES_128_GCM,
                24 => &aead::AES_192_GCM,
                _ => &aead::AES_256_GCM,
            };
            UnboundKey::new(algorithm, &self.bytes).ok().map(|key| Box::new(LessSafeKey::new(key)))
        });
        key.as_deref().ok_or_else(failed)
    }
}

fn nonce(iv: &[u8]) -> Result<Nonce, WebError> {
    Nonce::try_assume_unique_for_key(iv).map_err(|_| WebError::not_supported("only 12 bytes long iv are supported"))
}

fn tag_bytes(bits: i64) -> Option<usize> {
    matches!(bits, 96 | 104 | 112 | 120 | 128).then(|| bits as usize / 8)
}

fn failed() -> WebError {
    WebError::operation("the cipher failed")
}
