//! Randomness scripts ask for.

use std::fmt::Write as _;

use super::WebError;
use crate::random;

/// Fills `bytes` with what nobody can predict.
pub fn random_bytes(bytes: &mut [u8]) -> Result<(), WebError> {
    random::fill(bytes).map_err(|_| WebError::operation("the system has no randomness"))
}

/// A random UUID (version 4, RFC 9562), in lower case.
pub fn random_uuid() -> Result<String, WebError> {
    let mut bytes = [0; 16];
    random_bytes(&mut bytes)?;
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let mut text = String::with_capacity(36);
    for (index, byte) in bytes.into_iter().enumerate() {
        if matches!(index, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        let _ = write!(text, "{byte:02x}");
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uuids_have_their_version() {
        let uuids: Vec<String> = (0..64).map(|_| random_uuid().expect("there is randomness")).collect();
        for uuid in &uuids {
            assert_eq!((uuid.len(), &uuid[14..15]), (36, "4"), "{uuid}");
            assert!("89ab".contains(&uuid[19..20]), "{uuid}");
        }
        assert_ne!(uuids[0], uuids[1]);
    }
}
