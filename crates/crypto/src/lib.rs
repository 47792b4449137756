//! Cryptography that scripts ask for: hashes, HMAC, and Web Crypto's keys and algorithms ([`web`]); certificates find
//! their place here.
//!
//! The mathematics is aws-lc-rs's, or that of a well-kept crate where it lacks something; what is ours are the names,
//! formats and errors scripts know. Nothing here knows JavaScript.

mod hash;
mod hmac;
pub mod web;

pub use hash::{Digest, Hash, Hasher};
pub use hmac::Hmac;
