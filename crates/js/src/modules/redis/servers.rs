//! Whom a command goes to: one server, the one that sentinels name, or the one of a cluster that has the key.

use onrush_fiber::{Clock, Nanos, Woke, sleep_until};
use onrush_redis::Reply;

use super::{
    cluster::Cluster,
    options::Wanted,
    pool::{Failed, Pool},
    sentinel::Sentinel,
};
use crate::{
    embed::{JsResult, Throw},
    vu::Vu,
};

/// The servers of a client.
pub(super) enum Servers {
    One(Pool),
    Sentinel(Sentinel),
    Cluster(Cluster),
}

/// A command that is to be sent.
pub(super) struct Question {
    pub(super) bytes: Vec<u8>,
    /// That of its first key; only known where it matters.
    pub(super) slot: Option<u16>,
    /// It changes nothing.
    pub(super) is_read: bool,
}

impl Servers {
    pub(super) fn new(wanted: Wanted) -> Self {
        match wanted {
            Wanted::One(options) => Self::One(Pool::new(options)),
            Wanted::Sentinel { sentinel, master_name, master } => {
                Self::Sentinel(Sentinel::new(sentinel, master_name, master))
            }
            Wanted::Cluster(options) => Self::Cluster(Cluster::new(options)),
        }
    }

    /// Whether commands go where their keys are.
    pub(super) fn are_many(&self) -> bool {
        matches!(self, Self::Cluster(_))
    }

    /// Sends a command and waits for its reply. An error of the server is a reply.
    pub(super) fn ask(&self, vu: &Vu, question: &Question) -> JsResult<Result<Reply, String>> {
        let asked = match self {
            Self::One(pool) => pool.ask(vu, None, &question.bytes),
            Self::Sentinel(sentinel) => sentinel.ask(vu, question),
            Self::Cluster(cluster) => cluster.ask(vu, question),
        };
        match asked {
            Ok(reply) => Ok(Ok(reply)),
            Err(Failed::Cancelled) => Err(Throw::Interrupted),
            Err(Failed::Because(text) | Failed::Unsent(text)) => Ok(Err(text)),
            Err(Failed::Stale) => Ok(Err("EOF".to_owned())),
        }
    }
}

/// Waits before another try, longer each time, as go-redis does.
pub(super) fn back_off(tries: u32) -> Result<(), Failed> {
    let ms = (BACKOFF_MS << tries.min(16)).min(BACKOFF_MS_MAX);
    match sleep_until(after_ms(ms)) {
        Woke::Cancelled => Err(Failed::Cancelled),
        _ => Ok(()),
    }
}

pub(super) fn after_ms(ms: u64) -> Nanos {
    Nanos(Clock::now().0.saturating_add(ms.saturating_mul(1_000_000)))
}

const BACKOFF_MS: u64 = 8;
const BACKOFF_MS_MAX: u64 = 512;
