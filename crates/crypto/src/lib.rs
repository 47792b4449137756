//! Cryptography that scripts ask for: hashes, and Web Crypto's keys and algorithms ([`web`]).
//!
//! The mathematics is aws-lc-rs's, or that of a well-kept crate where it lacks something; what is ours are the names,
//! formats and errors scripts know. Nothing here knows JavaScript.

mod hash;
pub mod web;

pub use hash::Hash;
