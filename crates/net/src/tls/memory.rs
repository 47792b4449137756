//! The TLS sessions a VU remembers, so that its next connection to a server resumes one (`tlsSessionResumption`).
//!
//! Each VU has a memory of its own, as each visitor's browser has: what a server issued to one of them is never shown by
//! another, and how many handshakes are resumed does not depend on how many VUs there are.

use std::{
    cell::{OnceCell, RefCell},
    sync::Arc,
};

use rustls::{ClientConfig, client::Resumption};

/// Servers whose sessions a VU remembers, the one met longest ago is forgotten first. Few tests have more; a session
/// takes some kilobytes, and rustls keeps up to eight a server.
const SERVERS_MAX: usize = 16;
/// rustls counts sessions, eight a server.
const SESSIONS_MAX: usize = SERVERS_MAX * 8;

/// A VU's memory. Empty until its first handshake.
#[derive(Default)]
pub(crate) struct SessionMemory {
    resumption: OnceCell<Resumption>,
    /// Configurations of the process, and the same with this memory.
    configs: RefCell<Vec<(Arc<ClientConfig>, Arc<ClientConfig>)>>,
}

impl SessionMemory {
    /// A configuration like `base` that resumes this VU's sessions.
    pub(super) fn config(&self, base: Arc<ClientConfig>) -> Arc<ClientConfig> {
        let mut configs = self.configs.borrow_mut();
        if let Some((_, own)) = configs.iter().find(|(of, _)| Arc::ptr_eq(of, &base)) {
            return Arc::clone(own);
        }
        let mut own = ClientConfig::clone(&base);
        own.resumption = self.resumption.get_or_init(|| Resumption::in_memory_sessions(SESSIONS_MAX)).clone();
        let own = Arc::new(own);
        // As many as there are entries of `tlsAuth`, twice: few.
        configs.push((base, Arc::clone(&own)));
        own
    }
}
