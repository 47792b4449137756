//! What names exactly one certificate.

use std::fmt;

use aws_lc_rs::digest;
use rustls_pki_types::CertificateDer;

/// SHA-256 of a certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fingerprint([u8; 32]);

/// A text that is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid fingerprint \"{0}\": it has 64 hexadecimal digits, as the run prints it")]
pub struct FingerprintError(String);

impl Fingerprint {
    /// Reads 64 hexadecimal digits, colons between them or not.
    ///
    /// # Errors
    /// When it is something else.
    pub fn parse(text: &str) -> Result<Self, FingerprintError> {
        let invalid = || FingerprintError(text.to_owned());
        let digits: Option<Vec<u8>> = text
            .trim()
            .chars()
            .filter(|char| *char != ':')
            .map(|digit| digit.to_digit(16).and_then(|digit| u8::try_from(digit).ok()))
            .collect();
        let digits = digits.filter(|digits| digits.len() == 64).ok_or_else(invalid)?;
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks(2)) {
            *byte = pair[0] << 4 | pair[1];
        }
        Ok(Self(bytes))
    }

    /// That of a certificate.
    pub fn of(certificate: &CertificateDer<'_>) -> Self {
        let mut bytes = [0; 32];
        bytes.copy_from_slice(digest::digest(&digest::SHA256, certificate).as_ref());
        Self(bytes)
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fingerprints_are_read_as_they_are_printed() {
        let made = Fingerprint::of(&CertificateDer::from(vec![1, 2, 3]));
        let text = made.to_string();
        assert_eq!(Fingerprint::parse(&text), Ok(made));
        let colons: Vec<&str> =
            text.as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).expect("digits")).collect();
        assert_eq!(Fingerprint::parse(&colons.join(":").to_uppercase()), Ok(made));
        for bad in ["", "abc", &"+1".repeat(32), &"g".repeat(64), &"a".repeat(63), &"é".repeat(32)] {
            assert!(Fingerprint::parse(bad).is_err(), "{bad}");
        }
    }
}
