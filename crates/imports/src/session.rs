//! The loading of one script: where each of its remote modules comes from.
//!
//! What the lock file pins and the cache has is not asked for: it cannot have changed. Everything else is, as in k6,
//! on every run; a server that still has the version of the cache need not send it again.

use std::{
    cell::RefCell,
    collections::{BTreeMap, VecDeque},
    rc::Rc,
    sync::{Arc, PoisonError},
};

use onrush_fiber::{Clock, Nanos, Reactor, ReactorConfig};
use onrush_net::{ClientOptions, Connections, Limits, TlsOptions};
use onrush_script::{Fetch, Unfetched};

use crate::{
    ALL_BYTES_MAX, Imports,
    cache::{Cache, Entry, Validators},
    get::{Answer, Getter},
    lock,
};

/// Modules fetched at a time: so many may be in memory twice, compressed and not.
const FETCHES_AT_ONCE: usize = 16;
/// How much longer than one module all of them may take.
const TIMEOUTS_OF_ALL: u32 = 5;

/// What is known while a script is loaded.
pub(crate) struct Session<'i> {
    imports: &'i Imports,
    /// Modules that were asked for, by their keys.
    done: BTreeMap<String, Result<Arc<[u8]>, Unfetched>>,
    bytes: u64,
    /// Built with the first module that has to be fetched.
    network: Option<Network>,
    deadline: Option<Nanos>,
}

/// The fibers that fetch, and their connections. Connections go before their reactor.
struct Network {
    connections: Rc<Connections>,
    reactor: Reactor,
}

/// A module to fetch.
struct Job {
    url: String,
    known: Option<Entry>,
    outcome: Option<Result<Answer, Unfetched>>,
}

impl<'i> Session<'i> {
    pub(crate) fn new(imports: &'i Imports) -> Self {
        Self { imports, done: BTreeMap::new(), bytes: 0, network: None, deadline: None }
    }

    /// A module that nobody has to be asked for, or the failure that is certain; `None` if it has to be fetched.
    fn at_hand(&self, url: &str) -> Option<Result<Arc<[u8]>, Unfetched>> {
        let options = &self.imports.options;
        let pinned = options.lock.as_ref().and_then(|lock| lock.get(&key(url)));
        let kept = |hash: &str| self.imports.cache.as_ref()?.content(hash, options.module_bytes_max);
        if let Some(hash) = pinned
            && let Some(content) = kept(hash)
        {
            return Some(Ok(content));
        }
        if !options.offline {
            return None;
        }
        let entry = self.imports.cache.as_ref().and_then(|cache| cache.entry(&key(url)));
        Some(match (pinned, entry) {
            (None, Some(entry)) => kept(&entry.hash).ok_or_else(not_kept),
            _ => Err(not_kept()),
        })
    }

    /// Fetches modules, several at a time.
    fn get(&mut self, jobs: Vec<Job>) -> Result<Vec<Job>, Unfetched> {
        let options = &self.imports.options;
        let deadline = *self.deadline.get_or_insert_with(|| Clock::now() + options.timeout * TIMEOUTS_OF_ALL);
        if self.network.is_none() {
            self.network = Some(Network::new(self.imports)?);
        }
        let Some(network) = &self.network else { return Ok(jobs) };
        let getter = Getter {
            connections: Rc::clone(&network.connections),
            timeout: options.timeout,
            deadline,
            bytes_max: options.module_bytes_max,
        };
        let fibers = jobs.len().min(FETCHES_AT_ONCE);
        let waiting: Rc<RefCell<VecDeque<(usize, Job)>>> =
            Rc::new(RefCell::new(jobs.into_iter().enumerate().collect()));
        let done: Rc<RefCell<Vec<(usize, Job)>>> = Rc::default();
        for _ in 0..fibers {
            let (getter, waiting, done) = (getter.clone(), Rc::clone(&waiting), Rc::clone(&done));
            onrush_fiber::spawn(None, move || {
                loop {
                    // The borrow ends here: nothing is borrowed while the fiber waits.
                    let next = waiting.borrow_mut().pop_front();
                    let Some((place, mut job)) = next else { return };
                    let none = Validators::default();
                    let known = job.known.as_ref().map_or(&none, |entry| &entry.validators);
                    job.outcome = Some(getter.get(&job.url, known));
                    done.borrow_mut().push((place, job));
                }
            });
        }
        network.reactor.run();
        let mut done = done.take();
        done.sort_by_key(|(place, _)| *place);
        Ok(done.into_iter().map(|(_, job)| job).collect())
    }

    /// The module of a finished job, checked and kept.
    fn settle(&mut self, job: Job) -> Result<Arc<[u8]>, Unfetched> {
        let options = &self.imports.options;
        let cache = self.imports.cache.as_ref();
        let key = key(&job.url);
        let known = job.known;
        let (bytes, validators): (Arc<[u8]>, Validators) = match job.outcome {
            Some(Ok(Answer::Module(bytes, validators))) => (bytes.as_ref().into(), validators),
            Some(Ok(Answer::Unchanged)) => {
                let entry = known.unwrap_or_default();
                let kept = cache.and_then(|cache| cache.content(&entry.hash, options.module_bytes_max));
                (kept.ok_or_else(not_kept)?, entry.validators)
            }
            Some(Err(mut unfetched)) => {
                if known.is_some() {
                    unfetched.hint = "it was fetched before: --offline uses that version".to_owned();
                }
                return Err(unfetched);
            }
            None => return Err(Unfetched::new("the fetch ended early", "")),
        };
        self.bytes = self.bytes.saturating_add(bytes.len() as u64);
        if self.bytes > ALL_BYTES_MAX {
            return Err(Unfetched::new(
                format!("the remote modules of the script are larger than {ALL_BYTES_MAX} bytes"),
                "bundle the script, so that only what it uses is left",
            ));
        }
        let hash = lock::hash(&bytes);
        let pinned = options.lock.as_ref().and_then(|lock| lock.get(&key));
        if let Some(pinned) = pinned.filter(|pinned| *pinned != hash) {
            return Err(Unfetched::new(
                format!("its content has changed: onrush.lock has {pinned}, the server sent {hash}"),
                "if you expect the change, write the file again with `onrush deps --lock SCRIPT`",
            ));
        }
        if let Some(cache) = cache {
            self.keep(cache, &key, Entry { hash, validators }, &bytes);
        }
        Ok(bytes)
    }

    fn keep(&self, cache: &Cache, key: &str, entry: Entry, bytes: &[u8]) {
        if let Err(error) = cache.keep(key, &entry, bytes) {
            let mut failure = self.imports.cache_failure.lock().unwrap_or_else(PoisonError::into_inner);
            failure.get_or_insert_with(|| error.to_string());
        }
    }
}

impl Fetch for Session<'_> {
    fn fetch(&mut self, urls: &[&str]) -> Vec<Result<Arc<[u8]>, Unfetched>> {
        let mut jobs = Vec::new();
        for url in urls {
            let url = without_fragment(url);
            if self.done.contains_key(url) {
                continue;
            }
            let found = self.at_hand(url);
            let is_missing = found.is_none();
            // What is fetched gets its result below; that it stands here keeps it from being fetched twice.
            self.done.insert(url.to_owned(), found.unwrap_or_else(|| Err(not_kept())));
            if is_missing {
                let cache = self.imports.cache.as_ref();
                let max = self.imports.options.module_bytes_max;
                let known = cache.and_then(|cache| {
                    let entry = cache.entry(&key(url))?;
                    cache.content(&entry.hash, max).map(|_| entry)
                });
                jobs.push(Job { url: url.to_owned(), known, outcome: None });
            }
        }
        if !jobs.is_empty() {
            let wanted: Vec<String> = jobs.iter().map(|job| job.url.clone()).collect();
            match self.get(jobs) {
                Ok(jobs) => {
                    for job in jobs {
                        let url = job.url.clone();
                        let settled = self.settle(job);
                        self.done.insert(url, settled);
                    }
                }
                Err(unfetched) => {
                    self.done.extend(wanted.into_iter().map(|url| (url, Err(unfetched.clone()))));
                }
            }
        }
        let mut used = self.imports.used.lock().unwrap_or_else(PoisonError::into_inner);
        urls.iter()
            .map(|url| {
                let found = self.done.get(without_fragment(url)).cloned().unwrap_or_else(|| Err(not_kept()));
                if let Ok(bytes) = &found {
                    used.entry(key(url)).or_insert_with(|| lock::hash(bytes));
                }
                found
            })
            .collect()
    }
}

impl Network {
    fn new(imports: &Imports) -> Result<Self, Unfetched> {
        let options = &imports.options;
        let limits = Limits { body_bytes_max: options.module_bytes_max, ..Limits::default() };
        let tls = TlsOptions { extra_roots_pem: options.extra_roots_pem.clone(), ..TlsOptions::default() };
        let client = ClientOptions { tls, proxies: options.proxies.clone(), limits, ..ClientOptions::default() };
        let failed = |reason: String| Unfetched::new(reason, "");
        let shared = client.build_thread().map_err(|error| failed(error.to_string()))?;
        let reactor = Reactor::new(ReactorConfig::default()).map_err(|error| failed(error.to_string()))?;
        Ok(Self { connections: Rc::new(Connections::new(shared)), reactor })
    }
}

fn not_kept() -> Unfetched {
    Unfetched::new("it is not in the cache, and --offline forbids to fetch it", "run the script once without --offline")
}

/// What is asked for: fragments stay at home.
fn without_fragment(url: &str) -> &str {
    url.split_once('#').map_or(url, |(url, _)| url)
}

/// The name of a module in cache and lock file: its URL without fragment, user and password.
fn key(url: &str) -> String {
    let url = without_fragment(url);
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let authority = rest.find(['/', '?']).unwrap_or(rest.len());
    match rest[..authority].rfind('@') {
        Some(at) => format!("{scheme}://{}", &rest[at + 1..]),
        None => url.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_no_secrets() {
        let check = |url: &str, expect: &str| assert_eq!(key(url), expect);
        check("https://h/a.js", "https://h/a.js");
        check("https://u:p@h:1/a.js?b#c", "https://h:1/a.js?b");
        check("https://u:p@h", "https://h");
        check("https://h/@scope/a.js", "https://h/@scope/a.js");
        check("https://h?a@b", "https://h?a@b");
    }
}
