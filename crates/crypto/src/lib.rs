//! Cryptography that scripts ask for: hashes and HMAC now; certificates, keys and Web Crypto's algorithms find their
//! place here.
//!
//! The mathematics is aws-lc-rs's, or that of a well-kept crate where it lacks something; what is ours are the names,
//! formats and errors scripts know. Nothing here knows JavaScript.

mod hash;
mod hmac;

pub use hash::{Digest, Hash, Hasher};
pub use hmac::Hmac;
