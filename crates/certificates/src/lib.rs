//! Certificates: reading their files, fingerprints, whom to believe, and an authority made on the spot.
//!
//! What the load's connections, the REST API and the cluster's connections have in common. Who speaks TLS with whom, and
//! with which versions, is decided by those crates. [`Authority`] issues certificates into folders, [`Member`] is one
//! such folder as a program uses it, [`explain`] says in words what is wrong with a certificate.

#![forbid(unsafe_code)]

mod authority;
mod explain;
mod files;
mod fingerprint;
mod loose;
mod member;
mod role;

pub use authority::{Authority, AuthorityError, Issued};
pub use explain::{Party, day, explain};
pub use files::{FileError, read_certificates, read_key, roots_from};
pub use fingerprint::{Fingerprint, FingerprintError};
pub use loose::LooseVerifier;
pub use member::{Member, MemberError};
pub use role::Role;
