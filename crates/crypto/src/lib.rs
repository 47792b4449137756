//! Cryptography that scripts ask for: hashes, HMAC, Base64, and Web Crypto's keys and algorithms ([`web`]); certificates
//! find their place here.
//!
//! The mathematics is aws-lc-rs's, or that of a well-kept crate where it lacks something; what is ours are the names,
//! formats and errors scripts know. Nothing here knows JavaScript.

mod base64;
mod hash;
mod hmac;
mod random;
pub mod web;
pub mod x509;

pub use base64::{Base64, DecodeError, Decoder, Encoder};
pub use hash::{Digest, Hash, Hasher};
pub use hmac::Hmac;
pub use random::{NoRandom, fill as fill_random};
