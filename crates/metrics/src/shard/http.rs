//! The nine metrics of an HTTP request, resolved once per tag set and recorded together.

use rustc_hash::FxHashMap;

use super::{SeriesIdx, TagNode};
use crate::{builtin, registry::MetricId};

/// Where one request's time went, in milliseconds: the values of its samples.
///
/// `net` measures them as its own `Timings`: neither crate may use the other, and `js`, which knows both, copies them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HttpTimings {
    /// Sending + waiting + receiving.
    pub duration: f64,
    /// Before a connection was available.
    pub blocked: f64,
    /// TCP connect.
    pub connecting: f64,
    /// TLS handshake.
    pub tls_handshaking: f64,
    /// Writing the request.
    pub sending: f64,
    /// To the first byte of the response.
    pub waiting: f64,
    /// Reading the response.
    pub receiving: f64,
}

/// The nine HTTP series of one tag set of one shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HttpIdx(u32);

impl HttpIdx {
    /// Its position among the blocks of the shard.
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

/// In the order of [`METRICS`].
pub(super) type HttpBlock = [SeriesIdx; 9];

pub(super) const METRICS: [MetricId; 9] = [
    builtin::HTTP_REQS,
    builtin::HTTP_REQ_FAILED,
    builtin::HTTP_REQ_DURATION,
    builtin::HTTP_REQ_BLOCKED,
    builtin::HTTP_REQ_CONNECTING,
    builtin::HTTP_REQ_TLS_HANDSHAKING,
    builtin::HTTP_REQ_SENDING,
    builtin::HTTP_REQ_WAITING,
    builtin::HTTP_REQ_RECEIVING,
];

/// The blocks of a shard, by tag set. The number of tag sets bounds them.
#[derive(Debug, Default)]
pub(super) struct HttpBlocks {
    by_node: FxHashMap<TagNode, HttpIdx>,
    blocks: Vec<HttpBlock>,
}

impl HttpBlocks {
    #[inline]
    pub(super) fn find(&self, node: TagNode) -> Option<HttpIdx> {
        self.by_node.get(&node).copied()
    }

    pub(super) fn insert(&mut self, node: TagNode, block: HttpBlock) -> HttpIdx {
        // The cast cannot truncate: there are fewer nodes than 2^32, and one block a node.
        let index = HttpIdx(self.blocks.len() as u32);
        self.blocks.push(block);
        self.by_node.insert(node, index);
        index
    }

    #[inline]
    pub(super) fn block(&self, http: HttpIdx) -> Option<&HttpBlock> {
        self.blocks.get(http.0 as usize)
    }
}
