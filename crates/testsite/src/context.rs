//! What all connections of one thread share: ready responses, counters, timers and scratch buffers. Idle connections
//! therefore own no buffers at all.

use std::{
    collections::hash_map::RandomState,
    hash::BuildHasher,
    sync::{Arc, Mutex},
};

use crate::{
    clock::{monotonic_ns, wall_seconds},
    fault::{Break, HandshakeFault},
    freeze::Freezer,
    options::Limits,
    record::{Record, Recorder},
    source::split_mix,
    statics::{StaticId, Statics},
    stats::{Stats, ThreadStats},
    timers::Timers,
};

/// Bytes read from a socket at once. Large enough that uploads are not bound by system calls, small enough to stay in
/// the second-level cache.
const READ_BYTES: usize = 64 * 1024;
/// A scratch buffer that grew beyond this is given back.
const SCRATCH_BYTES_MAX: usize = 1024 * 1024;

/// What is the same for all threads of a target.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) limits: Limits,
    pub(crate) delay_ns: u64,
    pub(crate) freezer: Option<Freezer>,
    /// What threads noted that have ended; `None` where nothing is noted.
    pub(crate) record: Option<Mutex<Record>>,
    pub(crate) http2: bool,
    pub(crate) accept_fault: Option<Break>,
    pub(crate) handshake_fault: Option<HandshakeFault>,
    /// Connections one thread accepts before it answers 503.
    pub(crate) connections_max: usize,
    /// Bytes one thread's connections may hold together.
    pub(crate) buffer_bytes_max: usize,
    /// Keys the login cookie, so that nobody can make one up.
    pub(crate) secret: RandomState,
}

/// One thread's shared state.
pub(crate) struct Context {
    pub(crate) shared: Arc<Shared>,
    pub(crate) statics: Statics,
    pub(crate) stats: Stats,
    thread: usize,
    pub(crate) timers: Timers,
    pub(crate) recorder: Recorder,
    /// Monotonic seconds, read once per batch of events; for time limits.
    pub(crate) now_s: u32,
    random_state: u64,
    /// Responses of the connection that is being served, not yet sent.
    out: Vec<u8>,
    /// A ready response that can be sent from where it lies, when it is the only thing to send.
    direct: Option<StaticId>,
    /// Received bytes.
    pub(crate) read: Vec<u8>,
    /// Received bytes after decryption.
    pub(crate) plain: Vec<u8>,
}

impl Context {
    pub(crate) fn new(shared: Arc<Shared>, stats: Stats, thread: usize, timers: Timers) -> Self {
        let recorder = Recorder::new(shared.record.is_some());
        let random_state = shared.secret.hash_one((thread, monotonic_ns()));
        Self {
            shared,
            statics: Statics::new(wall_seconds()),
            stats,
            thread,
            timers,
            recorder,
            now_s: 0,
            random_state,
            out: Vec::new(),
            direct: None,
            read: vec![0; READ_BYTES],
            plain: Vec::new(),
        }
    }

    pub(crate) fn counters(&self) -> &ThreadStats {
        self.stats.of(self.thread)
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.shared.limits
    }

    /// Notes a request that is no question about the target itself. `answered_ns` is when its connection was last
    /// answered, 0 for never.
    pub(crate) fn arrived(&mut self, path: &str, answered_ns: u64) {
        if matches!(path, "/stats" | "/healthz") {
            return;
        }
        if let Some(freezer) = &self.shared.freezer {
            freezer.arrived();
        }
        self.recorder.arrived(answered_ns);
    }

    /// 64 bits that look random. Not for secrets.
    pub(crate) fn random(&mut self) -> u64 {
        split_mix(&mut self.random_state)
    }

    /// Where to append what is to be sent.
    pub(crate) fn out(&mut self) -> &mut Vec<u8> {
        if let Some(id) = self.direct.take() {
            self.out.extend_from_slice(self.statics.wire(id));
        }
        &mut self.out
    }

    /// The buffer of [`Context::out`] together with the ready responses.
    pub(crate) fn out_and_statics(&mut self) -> (&mut Vec<u8>, &Statics) {
        self.out();
        (&mut self.out, &self.statics)
    }

    /// Sends a ready response.
    pub(crate) fn put_static(&mut self, id: StaticId) {
        if self.out.is_empty() && self.direct.is_none() {
            self.direct = Some(id);
        } else {
            self.out();
            self.out.extend_from_slice(self.statics.wire(id));
        }
    }

    /// Bytes waiting to be sent.
    pub(crate) fn unsent(&self) -> &[u8] {
        match self.direct {
            Some(id) => self.statics.wire(id),
            None => &self.out,
        }
    }

    /// Forgets what was waiting: it is sent, or kept by its connection.
    pub(crate) fn clear_unsent(&mut self) {
        self.direct = None;
        if self.out.capacity() > SCRATCH_BYTES_MAX {
            self.out = Vec::new();
        } else {
            self.out.clear();
        }
    }
}
