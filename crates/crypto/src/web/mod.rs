//! Web Crypto's algorithms, keys and key formats, with k6's errors; what a script's objects look like is not here.
//!
//! A [`Key`] is what an algorithm made or read; its parts do the work: [`AesKey`], [`HmacKey`], [`RsaPrivate`] and so on.
//! Functions take and give bytes, and every failure is a [`WebError`]. `aws-lc-rs` calculates; `der` and its relatives
//! read and write key formats.

mod aes;
mod algorithm;
mod curve;
mod derive;
mod ec;
mod error;
mod fuzz;
mod generate;
mod hmac;
mod import;
mod jwk;
mod key;
mod okp;
mod random;
mod rsa;

pub use aes::{AesKey, TAG_BITS_DEFAULT};
pub use algorithm::{Algorithm, hash_bytes, hash_name, hash_named};
pub use curve::Curve;
pub use derive::{hkdf, pbkdf2};
pub use ec::{EcPrivate, EcPublic};
pub use error::WebError;
pub use fuzz::fuzz;
pub use generate::{Generated, generate_aes, generate_ec, generate_hmac, generate_okp, generate_rsa};
pub use hmac::HmacKey;
pub use import::{ImportFormat, KeyData, Parameters, import};
pub use jwk::Jwk;
pub use key::{Exported, Key, KeyType, Material};
pub use okp::{OkpPrivate, OkpPublic};
pub use random::{random_bytes, random_uuid};
pub use rsa::{RsaPrivate, RsaPublic};
