//! SASL: PLAIN and SCRAM (RFC 5802).

use aws_lc_rs::{constant_time, digest, hmac, pbkdf2, rand};
use base64::{Engine as _, engine::general_purpose::STANDARD};

use crate::{KafkaError, World};

/// A way to say who one is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mechanism {
    /// The password itself.
    Plain,
    /// SCRAM with SHA-256.
    ScramSha256,
    /// SCRAM with SHA-512.
    ScramSha512,
}

impl Mechanism {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Plain => "PLAIN",
            Self::ScramSha256 => "SCRAM-SHA-256",
            Self::ScramSha512 => "SCRAM-SHA-512",
        }
    }
}

/// Who one is.
#[derive(Clone, PartialEq, Eq)]
pub struct Login {
    /// How it is said.
    pub mechanism: Mechanism,
    /// The user's name.
    pub username: String,
    /// The user's password.
    pub password: String,
}

impl std::fmt::Debug for Login {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Login").field("mechanism", &self.mechanism).finish_non_exhaustive()
    }
}

/// The conversation of a login: what is sent, and what comes back.
pub(crate) enum Conversation {
    /// What is sent is all.
    Plain,
    First {
        login: Login,
        nonce: String,
    },
    Final {
        server_signature: Vec<u8>,
    },
}

impl Conversation {
    /// Begins it: the first words.
    pub(crate) fn begin(login: &Login) -> Result<(Self, Vec<u8>), KafkaError> {
        if login.mechanism == Mechanism::Plain {
            return Ok((Self::Plain, format!("\0{}\0{}", login.username, login.password).into_bytes()));
        }
        let mut random = [0; 18];
        rand::fill(&mut random).map_err(|_| KafkaError::broken("there are no random numbers"))?;
        let nonce = STANDARD.encode(random);
        let words = format!("n,,{}", bare(&login.username, &nonce));
        Ok((Self::First { login: login.clone(), nonce }, words.into_bytes()))
    }

    /// What to say to an answer; nothing at the end.
    pub(crate) fn go_on<W: World>(self, world: &mut W, answer: &[u8]) -> Result<Option<(Self, Vec<u8>)>, KafkaError> {
        match self {
            Self::Plain => Ok(None),
            Self::First { login, nonce } => {
                let text = std::str::from_utf8(answer).map_err(|_| strange())?;
                let challenge = Challenge::read(text, &nonce)?;
                let first = format!("{},{text}", bare(&login.username, &nonce));
                let (words, server_signature) = world.aside(move || challenge.answer(&login, &first))?;
                Ok(Some((Self::Final { server_signature }, words)))
            }
            Self::Final { server_signature } => {
                let proof = answer.strip_prefix(b"v=").and_then(|proof| STANDARD.decode(proof).ok());
                let is_same = proof
                    .is_some_and(|proof| constant_time::verify_slices_are_equal(&proof, &server_signature).is_ok());
                if is_same { Ok(None) } else { Err(KafkaError::broken("SASL: the broker does not know the password")) }
            }
        }
    }
}

/// What a server asks.
struct Challenge {
    nonce: String,
    salt: Vec<u8>,
    rounds: std::num::NonZeroU32,
}

impl Challenge {
    fn read(text: &str, own_nonce: &str) -> Result<Self, KafkaError> {
        let part = |name: &str| text.split(',').find_map(|part| part.strip_prefix(name));
        let (Some(nonce), Some(salt), Some(rounds)) = (part("r="), part("s="), part("i=")) else {
            return Err(strange());
        };
        if !nonce.starts_with(own_nonce) || nonce.len() == own_nonce.len() {
            return Err(KafkaError::broken("SASL: the broker answers somebody else's question"));
        }
        let salt = STANDARD.decode(salt).map_err(|_| strange())?;
        let rounds: std::num::NonZeroU32 = rounds.parse().map_err(|_| strange())?;
        if rounds.get() > ROUNDS_MAX {
            return Err(KafkaError::broken(format!("SASL: the broker asks for more than {ROUNDS_MAX} rounds")));
        }
        Ok(Self { nonce: nonce.to_owned(), salt, rounds })
    }

    /// The proof, and the one that the server has to give.
    fn answer(&self, login: &Login, first: &str) -> (Vec<u8>, Vec<u8>) {
        let (kdf, mac, hash) = match login.mechanism {
            Mechanism::ScramSha512 => (pbkdf2::PBKDF2_HMAC_SHA512, hmac::HMAC_SHA512, &digest::SHA512),
            Mechanism::Plain | Mechanism::ScramSha256 => {
                (pbkdf2::PBKDF2_HMAC_SHA256, hmac::HMAC_SHA256, &digest::SHA256)
            }
        };
        let mut salted = vec![0; hash.output_len()];
        pbkdf2::derive(kdf, self.rounds, &self.salt, login.password.as_bytes(), &mut salted);
        let sign = |key: &[u8], text: &[u8]| hmac::sign(&hmac::Key::new(mac, key), text);
        let client_key = sign(&salted, b"Client Key");
        let stored_key = digest::digest(hash, client_key.as_ref());
        // `biws` is `n,,` in base 64.
        let without_proof = format!("c=biws,r={}", self.nonce);
        let all = format!("{first},{without_proof}");
        let signature = sign(stored_key.as_ref(), all.as_bytes());
        let proof: Vec<u8> = client_key.as_ref().iter().zip(signature.as_ref()).map(|(key, mask)| key ^ mask).collect();
        let server_key = sign(&salted, b"Server Key");
        let expected = sign(server_key.as_ref(), all.as_bytes());
        (format!("{without_proof},p={}", STANDARD.encode(proof)).into_bytes(), expected.as_ref().to_vec())
    }
}

fn bare(username: &str, nonce: &str) -> String {
    format!("n={},r={nonce}", username.replace('=', "=3D").replace(',', "=2C"))
}

fn strange() -> KafkaError {
    KafkaError::broken("SASL: the broker's challenge cannot be read")
}

/// Sixty times what Kafka allows: a broker cannot have us compute for minutes.
const ROUNDS_MAX: u32 = 1_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scram_is_that_of_the_standard() {
        // RFC 7677, section 3.
        let login =
            Login { mechanism: Mechanism::ScramSha256, username: "user".to_owned(), password: "pencil".to_owned() };
        let server = "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096";
        let nonce = "rOprNGfwEbeRWgbNEkqO";
        let challenge = Challenge::read(server, nonce).expect("the challenge can be read");
        let (answer, expected) = challenge.answer(&login, &format!("{},{server}", bare("user", nonce)));
        let text = String::from_utf8(answer).expect("it is text");
        assert!(text.ends_with("p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="), "{text}");
        assert_eq!(STANDARD.encode(expected), "6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=");
    }

    #[test]
    fn challenges_are_looked_at() {
        let check = |text: &str| assert!(Challenge::read(text, "own").is_err(), "{text}");
        check("");
        check("r=other,s=AAAA,i=4096");
        check("r=own,s=AAAA,i=4096");
        check("r=ownX,s=*,i=4096");
        check("r=ownX,s=AAAA,i=0");
        check("r=ownX,s=AAAA,i=4000000000");
        check("r=ownX,s=AAAA,i=99999999999");
        assert_eq!(bare("a=b,c", "n"), "n=a=3Db=2Cc,r=n");
    }
}
