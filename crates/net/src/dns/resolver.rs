//! Real lookups: one helper thread a process, a shared cache, waiting fibers woken by it.
//!
//! The thread is started by the first name that needs it; a run against addresses, static hosts and
//! `localhost` never starts it. Several fibers that ask for the same name wait for one lookup.

use std::{
    collections::HashMap,
    future::Future,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, Weak},
    task::{Context, Poll, Waker},
};

use onrush_fiber::{Clock, Nanos, Woke, block_on};

use super::{DnsOptions, Policy, Select, Ttl, system::System};
use crate::error::NetError;

/// Names remembered at once; when there are more, all are forgotten.
const CACHED_HOSTS_MAX: usize = 10_000;
/// Names being looked up at once: each has a socket or two.
const LOOKUPS_MAX: usize = 256;
/// Names that wait for their turn. A test that uses more than this many new names at once is told so.
const QUEUED_MAX: usize = 16_384;

/// A handle on the process's resolver. Cheap to clone, usable from every thread.
#[derive(Clone)]
pub struct Resolver {
    shared: Arc<Shared>,
}

struct Shared {
    options: DnsOptions,
    /// What the helper thread asks.
    source: Arc<dyn Source>,
    state: Mutex<State>,
}

/// Where answers come from: the system's resolver, or a test.
pub(super) trait Source: Send + Sync {
    /// Prepares to answer; called once, on the helper thread, inside its runtime.
    fn open(&self, policy: Policy) -> Result<Arc<dyn Lookup>, String>;
}

/// Answers questions.
pub(super) trait Lookup: Send + Sync {
    fn look_up(&self, host: String) -> Pin<Box<dyn Future<Output = Outcome> + Send + '_>>;
}

#[derive(Default)]
struct State {
    cache: HashMap<Box<str>, Entry>,
    /// Names being looked up, and who waits for them.
    pending: HashMap<Box<str>, Vec<Arc<Answer>>>,
    worker: Option<tokio::sync::mpsc::Sender<Box<str>>>,
    random: u64,
}

struct Entry {
    ips: Vec<IpAddr>,
    /// When the answer is not used any more; `None` for never.
    expires: Option<Nanos>,
    /// Whose turn it is; it goes on when the answer is renewed.
    next: usize,
}

pub(super) type Outcome = Result<Vec<IpAddr>, NetError>;

/// Where a waiting fiber finds its answer.
#[derive(Default)]
struct Answer {
    slot: Mutex<(Option<Outcome>, Option<Waker>)>,
}

impl Resolver {
    /// A resolver under the `dns` option.
    pub fn new(options: DnsOptions) -> Self {
        Self::with_source(options, Arc::new(System))
    }

    pub(super) fn with_source(options: DnsOptions, source: Arc<dyn Source>) -> Self {
        let state = State { random: Clock::now().0 | 1, ..State::default() };
        Self { shared: Arc::new(Shared { options, source, state: Mutex::new(state) }) }
    }

    /// The address to use for a name. Suspends the fiber unless the answer is cached.
    ///
    /// # Errors
    /// 1101 when the name does not exist, 1100 for other failures, 1050 when the deadline passes.
    pub fn resolve(&self, host: &str, deadline: Option<Nanos>) -> Result<IpAddr, NetError> {
        let answer = {
            let mut state = self.shared.lock();
            // k6: each spelling of a name is a name of its own.
            if let Some(ip) = state.cached(host, Clock::now(), self.shared.options.select) {
                return Ok(ip);
            }
            if host.strip_suffix('.').unwrap_or(host).eq_ignore_ascii_case("localhost") {
                // RFC 6761: never asked over the network.
                let both = vec![IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)];
                return self.shared.settle(&mut state, host, both);
            }
            state.ask(host, &self.shared)?
        };
        let ips = wait_for(answer, deadline)?;
        let mut state = self.shared.lock();
        self.shared.settle(&mut state, host, ips)
    }

    /// All addresses of a name, asked anew each time. Suspends the fiber.
    ///
    /// # Errors
    /// As [`Resolver::resolve`].
    pub fn look_up(&self, host: &str, deadline: Option<Nanos>) -> Result<Vec<IpAddr>, NetError> {
        let answer = self.shared.lock().ask(host, &self.shared)?;
        wait_for(answer, deadline)
    }
}

impl std::fmt::Debug for Resolver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Resolver").field("options", &self.shared.options).finish_non_exhaustive()
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        // A panic while it was held cannot have left it half changed: each change is one assignment.
        self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Applies the policy to an answer, remembers it and picks an address.
    fn settle(&self, state: &mut State, host: &str, ips: Vec<IpAddr>) -> Result<IpAddr, NetError> {
        let ips = self.options.policy.filter(ips);
        if ips.is_empty() {
            return Err(NetError::other_family_only(host));
        }
        let expires = match self.options.ttl {
            // Only for whose turn it is.
            Ttl::None => Some(Nanos(0)),
            Ttl::For(ttl) => Some(Clock::now() + ttl),
            Ttl::Forever => None,
        };
        if state.cache.len() >= CACHED_HOSTS_MAX && !state.cache.contains_key(host) {
            state.cache.clear();
        }
        let next = state.cache.get(host).map_or(0, |entry| entry.next);
        let mut entry = Entry { ips, expires, next };
        let picked = entry.pick(self.options.select, &mut state.random);
        if self.options.ttl != Ttl::None || self.options.select == Select::RoundRobin {
            state.cache.insert(host.into(), entry);
        }
        picked.ok_or_else(|| NetError::no_such_host(host))
    }

    /// Hands an answer to everyone who waits for it.
    fn deliver(&self, host: &str, outcome: &Outcome) {
        let waiting = self.lock().pending.remove(host).unwrap_or_default();
        for answer in waiting {
            let mut slot = answer.slot.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            slot.0 = Some(outcome.clone());
            if let Some(waker) = slot.1.take() {
                waker.wake();
            }
        }
    }
}

impl State {
    fn cached(&mut self, host: &str, now: Nanos, select: Select) -> Option<IpAddr> {
        let entry = self.cache.get_mut(host)?;
        if entry.expires.is_some_and(|expires| expires <= now) {
            return None;
        }
        entry.pick(select, &mut self.random)
    }

    /// Joins the lookup of a name, starting it when it is the first.
    fn ask(&mut self, host: &str, shared: &Arc<Shared>) -> Result<Arc<Answer>, NetError> {
        let answer = Arc::new(Answer::default());
        if let Some(waiting) = self.pending.get_mut(host) {
            waiting.push(Arc::clone(&answer));
            return Ok(answer);
        }
        if self.worker.as_ref().is_none_or(tokio::sync::mpsc::Sender::is_closed) {
            self.worker = Some(start_worker(shared).map_err(|reason| NetError::dns(host, &reason))?);
        }
        let sent = self.worker.as_ref().map(|worker| worker.try_send(host.into()));
        match sent {
            Some(Ok(())) => {
                self.pending.insert(host.into(), vec![Arc::clone(&answer)]);
                Ok(answer)
            }
            _ => Err(NetError::dns(host, &format!("more than {QUEUED_MAX} names wait to be looked up"))),
        }
    }
}

impl Entry {
    fn pick(&mut self, select: Select, random: &mut u64) -> Option<IpAddr> {
        let count = self.ips.len();
        if count == 0 {
            return None;
        }
        let at = match select {
            Select::First => 0,
            Select::RoundRobin => {
                let at = self.next % count;
                self.next = at + 1;
                at
            }
            Select::Random => {
                // xorshift64: which of a few addresses comes next needs no better.
                *random ^= *random << 13;
                *random ^= *random >> 7;
                *random ^= *random << 17;
                usize::try_from(*random % count as u64).unwrap_or(0)
            }
        };
        self.ips.get(at).copied()
    }
}

fn wait_for(answer: Arc<Answer>, deadline: Option<Nanos>) -> Outcome {
    match block_on(Box::pin(WaitFor { answer }), deadline) {
        Ok(outcome) => outcome,
        Err(Woke::Cancelled) => Err(NetError::cancelled()),
        Err(_) => Err(NetError::timeout()),
    }
}

struct WaitFor {
    answer: Arc<Answer>,
}

impl Future for WaitFor {
    type Output = Outcome;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut slot = self.answer.slot.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        match slot.0.take() {
            Some(outcome) => Poll::Ready(outcome),
            None => {
                slot.1 = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }
}

/// Starts the helper thread; it ends when the last [`Resolver`] is gone.
fn start_worker(shared: &Arc<Shared>) -> Result<tokio::sync::mpsc::Sender<Box<str>>, String> {
    let (sender, receiver) = tokio::sync::mpsc::channel(QUEUED_MAX);
    let weak = Arc::downgrade(shared);
    let (source, policy) = (Arc::clone(&shared.source), shared.options.policy);
    std::thread::Builder::new()
        .name("dns".to_owned())
        .spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            match runtime {
                Ok(runtime) => runtime.block_on(serve(receiver, weak, source, policy)),
                Err(error) => refuse_all(receiver, &weak, &error.to_string()),
            }
        })
        .map_err(|error| format!("cannot start the resolver thread: {error}"))?;
    Ok(sender)
}

async fn serve(
    mut jobs: tokio::sync::mpsc::Receiver<Box<str>>,
    shared: Weak<Shared>,
    source: Arc<dyn Source>,
    policy: Policy,
) {
    let opened = source.open(policy);
    let places = Arc::new(tokio::sync::Semaphore::new(LOOKUPS_MAX));
    // A place first: a name that has none stays in the queue. The semaphore is never closed.
    while let Ok(place) = Arc::clone(&places).acquire_owned().await {
        let Some(host) = jobs.recv().await else { return };
        let (opened, shared) = (opened.clone(), shared.clone());
        tokio::spawn(async move {
            let _place = place;
            let asked = host.to_string();
            let lookup = tokio::spawn(async move {
                match opened {
                    Ok(lookup) => lookup.look_up(asked).await,
                    Err(reason) => Err(NetError::dns(&asked, &reason)),
                }
            });
            // A panic in the resolver must not leave the waiting fibers without an answer.
            let outcome = lookup.await.unwrap_or_else(|error| Err(NetError::dns(&host, &error.to_string())));
            if let Some(shared) = shared.upgrade() {
                shared.deliver(&host, &outcome);
            }
        });
    }
}

fn refuse_all(mut jobs: tokio::sync::mpsc::Receiver<Box<str>>, shared: &Weak<Shared>, reason: &str) {
    while let Some(host) = jobs.blocking_recv() {
        if let Some(shared) = shared.upgrade() {
            shared.deliver(&host, &Err(NetError::dns(&host, reason)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(count: u8) -> Entry {
        let ips = (0..count).map(|last| IpAddr::from([10, 0, 0, last])).collect();
        Entry { ips, expires: None, next: 0 }
    }

    #[test]
    fn picks() {
        let mut random = 7;
        let mut three = entry(3);
        let turn: Vec<_> = (0..4).map(|_| three.pick(Select::RoundRobin, &mut random).unwrap()).collect();
        assert_eq!(turn, [[10, 0, 0, 0], [10, 0, 0, 1], [10, 0, 0, 2], [10, 0, 0, 0]].map(IpAddr::from));
        assert_eq!(three.pick(Select::First, &mut random), Some(IpAddr::from([10, 0, 0, 0])));
        let mut seen = [0; 3];
        for _ in 0..300 {
            let IpAddr::V4(ip) = three.pick(Select::Random, &mut random).unwrap() else { unreachable!() };
            seen[usize::from(ip.octets()[3])] += 1;
        }
        assert!(seen.iter().all(|&count| count > 50), "{seen:?}");
        assert_eq!(entry(0).pick(Select::Random, &mut random), None);
    }

    #[test]
    fn answers_live_as_long_as_ttl_says() {
        let run = |ttl: Ttl| {
            let resolver = Resolver::new(DnsOptions { ttl, select: Select::First, ..DnsOptions::default() });
            let mut state = resolver.shared.lock();
            let ips = vec![IpAddr::from([1, 2, 3, 4])];
            resolver.shared.settle(&mut state, "h", ips).unwrap();
            let now = Clock::now();
            let hour = now + std::time::Duration::from_secs(3600);
            let select = Select::First;
            (state.cached("h", now, select).is_some(), state.cached("h", hour, select).is_some())
        };
        assert_eq!(run(Ttl::None), (false, false));
        assert_eq!(run(Ttl::For(std::time::Duration::from_secs(60))), (true, false));
        assert_eq!(run(Ttl::Forever), (true, true));
    }

    /// Answers by the name asked for, after a moment; counts its questions.
    #[derive(Default)]
    struct Fake {
        asked: std::sync::atomic::AtomicU32,
        /// Questions at this moment, and the most at once.
        open: std::sync::atomic::AtomicUsize,
        open_max: std::sync::atomic::AtomicUsize,
    }

    impl Source for Arc<Fake> {
        fn open(&self, _policy: Policy) -> Result<Arc<dyn Lookup>, String> {
            Ok(Arc::new(Arc::clone(self)))
        }
    }

    impl Lookup for Arc<Fake> {
        fn look_up(&self, host: String) -> Pin<Box<dyn Future<Output = Outcome> + Send + '_>> {
            self.asked.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            Box::pin(async move {
                let open = self.open.fetch_add(1, std::sync::atomic::Ordering::SeqCst) + 1;
                self.open_max.fetch_max(open, std::sync::atomic::Ordering::SeqCst);
                tokio::time::sleep(std::time::Duration::from_millis(20)).await;
                self.open.fetch_sub(1, std::sync::atomic::Ordering::SeqCst);
                match host.as_str() {
                    "good.test" => Ok(vec![IpAddr::from([1, 2, 3, 4])]),
                    "broken.test" => Err(NetError::dns(&host, "server misbehaving")),
                    "panic.test" => panic!("a resolver that panics"),
                    "never.test" => std::future::pending().await,
                    _ => Err(NetError::no_such_host(&host)),
                }
            })
        }
    }

    /// Asks for each name on a fiber of its own; the codes (0 for an address) and the questions.
    fn ask_all(names: &[&str], limit_ms: u64) -> (Vec<u16>, u32) {
        let (codes, fake) = ask_fake(names, limit_ms);
        (codes, fake.asked.load(std::sync::atomic::Ordering::SeqCst))
    }

    fn ask_fake(names: &[&str], limit_ms: u64) -> (Vec<u16>, Arc<Fake>) {
        let fake = Arc::new(Fake::default());
        let resolver = Resolver::with_source(DnsOptions::default(), Arc::new(Arc::clone(&fake)));
        let reactor = onrush_fiber::Reactor::new(onrush_fiber::ReactorConfig::default()).unwrap();
        let codes = std::rc::Rc::new(std::cell::RefCell::new(vec![9; names.len()]));
        for (at, name) in names.iter().enumerate() {
            let (resolver, codes) = (resolver.clone(), std::rc::Rc::clone(&codes));
            let name = (*name).to_owned();
            onrush_fiber::spawn(None, move || {
                let deadline = Clock::now() + std::time::Duration::from_millis(limit_ms);
                let outcome = resolver.resolve(&name, Some(deadline));
                codes.borrow_mut()[at] = outcome.map_or_else(|error| error.code, |_| 0);
            });
        }
        reactor.run();
        let codes = codes.borrow().clone();
        (codes, fake)
    }

    #[test]
    fn look_ups_at_once_are_limited() {
        let names: Vec<String> = (0..3 * LOOKUPS_MAX).map(|at| format!("h{at}.test")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let (codes, fake) = ask_fake(&names, 60_000);
        assert!(codes.iter().all(|code| *code == 1101));
        assert_eq!(fake.open_max.load(std::sync::atomic::Ordering::SeqCst), LOOKUPS_MAX);
    }

    #[test]
    fn many_fibers_wait_for_one_lookup() {
        let names = &["good.test", "good.test", "good.test", "none.test", "none.test", "broken.test", "localhost"];
        assert_eq!(ask_all(names, 10_000), (vec![0, 0, 0, 1101, 1101, 1100, 0], 3));
    }

    #[test]
    fn a_lookup_that_never_ends_or_panics_is_an_error() {
        assert_eq!(ask_all(&["never.test"], 50), (vec![1050], 1));
        assert_eq!(ask_all(&["panic.test"], 10_000), (vec![1100], 1));
    }

    #[test]
    fn an_answer_without_a_fitting_address_is_an_error_of_its_own() {
        let resolver = Resolver::new(DnsOptions { policy: Policy::OnlyIpv6, ..DnsOptions::default() });
        let mut state = resolver.shared.lock();
        let error = resolver.shared.settle(&mut state, "h", vec![IpAddr::from([1, 2, 3, 4])]).unwrap_err();
        assert_eq!((error.code, error.message.as_str()), (1000, "lookup h: no such host"));
    }
}
