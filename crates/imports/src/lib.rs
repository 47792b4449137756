//! Modules that scripts import from servers: fetched, kept in a cache, checked against a lock file.
//!
//! [`Imports`] is the [`Remote`] that `onrush-script` asks while it loads a script. What k6 does for each URL is done
//! here (`_k6=1`, one more attempt without it, redirects, proxies, the system's certificates); what it does not do is
//! kept apart: a cache of what was fetched (`cache`), hashes that pin modules (`lock`), limits against hostile servers
//! (`get`). Nothing happens, and nothing is built, for scripts that import nothing from servers.
//!
//! Where to read next: `session` decides where a module comes from, `get` asks a server.

mod cache;
mod get;
mod lock;
mod session;
#[cfg(test)]
mod tests;

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use onrush_net::ProxyOptions;
use onrush_script::{Fetch, Remote};

use cache::Cache;
pub use lock::{Lock, LockError};
use session::Session;

/// How modules are fetched.
#[derive(Debug, Clone)]
pub struct ImportOptions {
    /// Proxies of the environment.
    pub proxies: ProxyOptions,
    /// Certificates to trust beside the system's, in PEM.
    pub extra_roots_pem: Option<String>,
    /// How long a module may take. All modules of a script may take five times as long.
    pub timeout: Duration,
    /// Nothing is fetched: modules come from the cache, or not at all.
    pub offline: bool,
    /// The folder of the cache. Without one, nothing is kept.
    pub cache: Option<PathBuf>,
    /// What modules must be.
    pub lock: Option<Lock>,
    /// Most bytes of a module, before and after decompression.
    pub module_bytes_max: u64,
}

impl Default for ImportOptions {
    fn default() -> Self {
        Self {
            proxies: ProxyOptions::default(),
            extra_roots_pem: None,
            timeout: TIMEOUT,
            offline: false,
            cache: None,
            lock: None,
            module_bytes_max: MODULE_BYTES_MAX,
        }
    }
}

/// k6: a minute for each attempt.
pub const TIMEOUT: Duration = Duration::from_secs(60);
/// The largest bundles people import have a few megabytes.
pub const MODULE_BYTES_MAX: u64 = 32 << 20;
/// Most bytes of all remote modules of a script.
pub const ALL_BYTES_MAX: u64 = 256 << 20;

/// Gets the remote modules of a script.
#[derive(Debug)]
pub struct Imports {
    options: ImportOptions,
    cache: Option<Cache>,
    /// The hash of each module that was had.
    used: Mutex<BTreeMap<String, String>>,
    /// Why the cache could not be written, if it could not.
    cache_failure: Mutex<Option<String>>,
}

impl Imports {
    /// Nothing is opened or connected to yet.
    pub fn new(options: ImportOptions) -> Self {
        let cache = options.cache.clone().map(Cache::new);
        Self { options, cache, used: Mutex::default(), cache_failure: Mutex::default() }
    }

    /// The modules the script got so far, with the hashes of their contents, as a lock file.
    pub fn used(&self) -> Lock {
        Lock::from(self.used.lock().unwrap_or_else(PoisonError::into_inner).clone())
    }

    /// The modules the script got that the lock file does not mention; none if there is no lock file.
    pub fn unlocked(&self) -> Vec<String> {
        let Some(lock) = &self.options.lock else { return Vec::new() };
        let used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        used.keys().filter(|url| lock.get(url).is_none()).cloned().collect()
    }

    /// Why modules were not kept for the next run, if they were not.
    pub fn cache_failure(&self) -> Option<String> {
        self.cache_failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Remote for Imports {
    fn begin(&self) -> Box<dyn Fetch + '_> {
        Box::new(Session::new(self))
    }
}
