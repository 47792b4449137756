//! Content that is known by its hash: a test with all its files travels once to each agent, in pieces.

use std::{collections::BTreeMap, fmt, sync::Arc};

use aws_lc_rs::digest;

/// SHA-256 of some content.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hash(pub [u8; 32]);

impl Hash {
    /// That of these bytes.
    pub fn of(content: &[u8]) -> Self {
        let mut bytes = [0; 32];
        bytes.copy_from_slice(digest::digest(&digest::SHA256, content).as_ref());
        Self(bytes)
    }

    /// Reads what [`Hash::0`] was sent as.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0[..4].iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// What a coordinator has to offer.
#[derive(Debug, Default)]
pub(crate) struct Contents(BTreeMap<Hash, Arc<[u8]>>);

impl Contents {
    pub(crate) fn offer(&mut self, content: Arc<[u8]>) -> Hash {
        let hash = Hash::of(&content);
        self.0.insert(hash, content);
        hash
    }

    pub(crate) fn find(&self, hash: &[u8]) -> Option<Arc<[u8]>> {
        self.0.get(&Hash::from_bytes(hash)?).cloned()
    }
}

/// Bytes of one piece.
pub(crate) const PIECE_BYTES: usize = 256 << 10;
/// Largest content an agent fetches: an archive with the data files of a test.
pub(crate) const CONTENT_BYTES_MAX: u64 = 2 << 30;
