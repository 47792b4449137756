//! What lets an agent in, and what tells it that it talks to the right coordinator.

use std::fmt;

use aws_lc_rs::{constant_time, rand};
use onrush_certificates::Fingerprint;

/// A secret, and the fingerprint of the coordinator's certificate where the connection is encrypted:
/// `SECRET` or `SECRET.FINGERPRINT`.
#[derive(Clone, PartialEq, Eq)]
pub struct Token {
    pub(crate) secret: String,
    pub(crate) fingerprint: Option<Fingerprint>,
}

/// A text that is no token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("invalid token: copy all of what the coordinator prints")]
pub struct TokenError;

/// Shorter ones could be guessed.
const SECRET_CHARS_MIN: usize = 8;

impl Token {
    /// A new secret of 128 bits.
    pub fn random() -> Self {
        Self { secret: hex(&random::<16>()), fingerprint: None }
    }

    /// With the certificate that belongs to it.
    #[must_use]
    pub fn with_fingerprint(self, fingerprint: Option<Fingerprint>) -> Self {
        Self { fingerprint, ..self }
    }

    /// Reads a token.
    ///
    /// # Errors
    /// When it cannot be one.
    pub fn parse(text: &str) -> Result<Self, TokenError> {
        let text = text.trim();
        let (secret, fingerprint) = match text.split_once('.') {
            Some((secret, fingerprint)) => (secret, Some(Fingerprint::parse(fingerprint).map_err(|_| TokenError)?)),
            None => (text, None),
        };
        let is_header_text = secret.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
        if secret.len() < SECRET_CHARS_MIN || !is_header_text {
            return Err(TokenError);
        }
        Ok(Self { secret: secret.to_owned(), fingerprint })
    }

    /// The token for those who chose the secret themselves and know it: it does not show.
    pub fn without_secret(&self) -> String {
        Self { secret: "YOUR_SECRET".to_owned(), ..self.clone() }.to_string()
    }

    /// Whether somebody knows the secret.
    pub(crate) fn admits(&self, secret: &str) -> bool {
        constant_time::verify_slices_are_equal(self.secret.as_bytes(), secret.as_bytes()).is_ok()
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.secret)?;
        self.fingerprint.iter().try_for_each(|fingerprint| write!(f, ".{fingerprint}"))
    }
}

/// The secret does not show.
impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Token").field("fingerprint", &self.fingerprint).finish_non_exhaustive()
    }
}

/// Bytes that nobody can guess.
pub(crate) fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    rand::fill(&mut bytes).expect("the system has random numbers");
    bytes
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_read_as_they_are_printed() {
        let plain = Token::random();
        assert_eq!(Token::parse(&plain.to_string()), Ok(plain.clone()));
        let full = plain.clone().with_fingerprint(Fingerprint::parse(&hex(&random::<32>())).ok());
        assert_eq!(Token::parse(&format!(" {full}\n")), Ok(full.clone()));
        assert_ne!(full, plain);
        assert!(!format!("{full:?}").contains(&full.secret));
        assert_eq!(full.to_string().replace(&full.secret, "YOUR_SECRET"), full.without_secret());
        assert!(plain.admits(&plain.secret) && !plain.admits("") && !plain.admits(&Token::random().secret));
    }

    #[test]
    fn what_is_no_token_is_refused() {
        for bad in [
            "",
            "short",
            "with space",
            "newline\nnewline",
            "secret-secret.",
            "secret-secret.abcd",
            &format!("secret-secret.{}", "g".repeat(64)),
        ] {
            assert_eq!(Token::parse(bad), Err(TokenError), "{bad}");
        }
    }
}
