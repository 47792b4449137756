//! What a run says about its connections, as plain data, and what is built from it: one [`Client`] a
//! process, one [`ClientShared`] a thread, one [`crate::client::Connections`] a VU.

use std::{
    cell::{Cell, RefCell},
    collections::HashMap,
    rc::Rc,
    sync::Arc,
    time::Duration,
};

use rustc_hash::FxBuildHasher;

use crate::{
    dial::proxy::{Proxy, ProxyOptions, ProxyRules},
    dns::{DnsOptions, HostPattern, HostTable, IpRange, NameRules, Resolver},
    error::NetError,
    http1::Limits,
    link::Origin,
    tls::{ClientAuth, TlsOptions, TlsOptionsError, TlsSettings},
    url::Url,
};

/// Origins kept by name; those without a connection are forgotten when there are more.
const ORIGINS_MAX: usize = 1024;

/// What is asked of the kernel about arrivals ([`onrush_fiber::ask_arrivals`]), and what for. Nothing, unless somebody wants to
/// know.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Arrivals {
    /// One of so many connections is asked; 0 for none.
    pub one_of: u32,
    /// Durations end when the kernel had the last byte, where it says so, not when the VU read it.
    pub end_durations: bool,
}

impl Arrivals {
    /// One of so many is what a run asks: `docs/measured.md` says what asking costs.
    pub const SAMPLED: u32 = 32;
}

/// The connection options of a run.
#[derive(Debug, Clone)]
pub struct ClientOptions {
    /// TLS.
    pub tls: TlsOptions,
    /// `dns`
    pub dns: DnsOptions,
    /// `hosts`: pairs of `host[:port]` (or `*.x`) and `ip[:port]` or `unix:/path`.
    pub hosts: Vec<(String, String)>,
    /// `blockHostnames`
    pub block_hostnames: Vec<String>,
    /// `blacklistIPs`
    pub blacklist_ips: Vec<String>,
    /// Proxies of the environment.
    pub proxies: ProxyOptions,
    /// `noConnectionReuse`: each request says `Connection: close` and none is kept.
    pub no_connection_reuse: bool,
    /// Speaks HTTP/2 without being asked to by `http://` servers (k6 cannot).
    pub http2_prior_knowledge: bool,
    /// `batch`: idle connections a VU keeps in all.
    pub idle_total: usize,
    /// `batchPerHost`: idle connections a VU keeps to one host and port.
    pub idle_per_host: usize,
    /// How long a TCP connect may take (the request's own deadline may be shorter).
    pub dial_timeout: Duration,
    /// Limits against hostile servers.
    pub limits: Limits,
    /// Which connections tell when the kernel had their bytes.
    pub arrivals: Arrivals,
}

impl Default for ClientOptions {
    fn default() -> Self {
        const DIAL_TIMEOUT: Duration = Duration::from_secs(30);
        Self {
            tls: TlsOptions::default(),
            dns: DnsOptions::default(),
            hosts: Vec::new(),
            block_hostnames: Vec::new(),
            blacklist_ips: Vec::new(),
            proxies: ProxyOptions::default(),
            no_connection_reuse: false,
            http2_prior_knowledge: false,
            idle_total: 20,
            idle_per_host: 6,
            dial_timeout: DIAL_TIMEOUT,
            limits: Limits::default(),
            arrivals: Arrivals::default(),
        }
    }
}

/// Options that cannot be used. The texts are k6's where k6 has them.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ClientOptionsError {
    /// `hosts`, `blockHostnames` or `blacklistIPs`.
    #[error("{0}")]
    Names(String),
    /// A proxy of the environment.
    #[error("{0}")]
    Proxy(String),
    /// TLS.
    #[error(transparent)]
    Tls(#[from] TlsOptionsError),
}

/// Checked options and what all threads share: the resolver and its cache, TLS configurations.
#[derive(Clone)]
pub struct Client {
    inner: Arc<ClientInner>,
}

struct ClientInner {
    rules: NameRules,
    proxies: ProxyRules,
    resolver: Resolver,
    tls: TlsSettings,
    no_connection_reuse: bool,
    http2_prior_knowledge: bool,
    idle_total: usize,
    idle_per_host: usize,
    dial_timeout: Duration,
    limits: Limits,
    arrivals: Arrivals,
}

impl ClientOptions {
    /// Checks the options and builds what a process shares.
    ///
    /// # Errors
    /// The first option that cannot be used.
    pub fn build(self) -> Result<Client, ClientOptionsError> {
        let names = ClientOptionsError::Names;
        let pairs = self.hosts.iter().map(|(name, address)| (name.as_str(), address.as_str()));
        let rules = NameRules {
            hosts: HostTable::parse(pairs).map_err(names)?,
            blocked: self
                .block_hostnames
                .iter()
                .map(|pattern| HostPattern::parse(pattern).map_err(names))
                .collect::<Result<_, _>>()?,
            blacklist: self
                .blacklist_ips
                .iter()
                .map(|range| IpRange::parse(range).map_err(names))
                .collect::<Result<_, _>>()?,
        };
        let inner = ClientInner {
            rules,
            proxies: ProxyRules::new(&self.proxies).map_err(ClientOptionsError::Proxy)?,
            resolver: Resolver::new(self.dns),
            tls: TlsSettings::new(self.tls)?,
            no_connection_reuse: self.no_connection_reuse,
            http2_prior_knowledge: self.http2_prior_knowledge,
            idle_total: self.idle_total,
            idle_per_host: self.idle_per_host,
            dial_timeout: self.dial_timeout,
            limits: self.limits,
            arrivals: self.arrivals,
        };
        Ok(Client { inner: Arc::new(inner) })
    }

    /// Builds what one thread needs when there is only one.
    ///
    /// # Errors
    /// As [`ClientOptions::build`].
    pub fn build_thread(self) -> Result<Rc<ClientShared>, ClientOptionsError> {
        Ok(self.build()?.thread())
    }
}

impl Client {
    /// What one thread's VUs share. Call it once on each thread, which from then on asks for arrivals as the options say.
    pub fn thread(&self) -> Rc<ClientShared> {
        onrush_fiber::ask_arrivals(self.inner.arrivals.one_of);
        Rc::new(ClientShared { inner: Arc::clone(&self.inner), origins: RefCell::default() })
    }
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client").field("rules", &self.inner.rules).finish_non_exhaustive()
    }
}

/// Settings of TLS that replace the run's for some connections: its certificates are others, the rest is the run's.
#[derive(Clone)]
pub struct OwnTls(Arc<TlsSettings>);

impl OwnTls {
    pub(crate) fn settings(&self) -> &TlsSettings {
        &self.0
    }
}

impl std::fmt::Debug for OwnTls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OwnTls").finish_non_exhaustive()
    }
}

/// What the VUs of one thread share.
pub struct ClientShared {
    inner: Arc<ClientInner>,
    /// Hosts that are or were connected to, so that idle connections share their names.
    origins: RefCell<HashMap<Box<str>, Rc<Origin>, FxBuildHasher>>,
}

impl ClientShared {
    pub(crate) fn rules(&self) -> &NameRules {
        &self.inner.rules
    }

    /// The proxy a URL goes through. What `hosts` sends to a Unix domain socket goes there.
    ///
    /// # Errors
    /// As [`ProxyRules::proxy_for`].
    #[inline]
    pub(crate) fn proxy_for(&self, url: &Url) -> Result<Option<&Proxy>, NetError> {
        match self.inner.proxies.proxy_for(url)? {
            Some(proxy) if !self.inner.rules.is_local(url) => Ok(Some(proxy)),
            _ => Ok(None),
        }
    }

    pub(crate) fn resolver(&self) -> &Resolver {
        &self.inner.resolver
    }

    /// The run's settings of TLS with another client certificate, or none, and further roots.
    ///
    /// # Errors
    /// What is wrong with the certificates or the key.
    pub fn own_tls(&self, auth: Option<ClientAuth>, roots_pem: Option<&str>) -> Result<OwnTls, TlsOptionsError> {
        self.changed_tls(|options| {
            options.auth = auth.into_iter().collect();
            if let Some(pem) = roots_pem {
                let known = options.extra_roots_pem.get_or_insert_default();
                known.push('\n');
                known.push_str(pem);
            }
        })
    }

    /// The run's settings of TLS, but that any certificate will do.
    ///
    /// # Errors
    /// What is wrong with the run's settings, which were right before.
    pub fn unchecked_tls(&self) -> Result<OwnTls, TlsOptionsError> {
        self.changed_tls(|options| options.insecure_skip_verify = true)
    }

    /// The run's settings of TLS with changes.
    ///
    /// # Errors
    /// What is wrong with the changes.
    pub fn changed_tls(&self, change: impl FnOnce(&mut TlsOptions)) -> Result<OwnTls, TlsOptionsError> {
        let mut options = self.inner.tls.options().clone();
        change(&mut options);
        Ok(OwnTls(Arc::new(TlsSettings::new(options)?)))
    }

    pub(crate) fn tls(&self) -> &TlsSettings {
        &self.inner.tls
    }

    pub(crate) fn limits(&self) -> Limits {
        self.inner.limits
    }

    /// Whether durations end when the kernel had the last byte.
    pub(crate) fn ends_durations_by_kernel(&self) -> bool {
        self.inner.arrivals.end_durations
    }

    pub(crate) fn dial_timeout(&self) -> Duration {
        self.inner.dial_timeout
    }

    pub(crate) fn no_connection_reuse(&self) -> bool {
        self.inner.no_connection_reuse
    }

    pub(crate) fn http2_prior_knowledge(&self) -> bool {
        self.inner.http2_prior_knowledge
    }

    pub(crate) fn idle_total(&self) -> usize {
        self.inner.idle_total
    }

    pub(crate) fn idle_per_host(&self) -> usize {
        self.inner.idle_per_host
    }

    /// The shared record of an origin.
    pub(crate) fn origin(&self, host: &str, port: u16, is_tls: bool) -> Rc<Origin> {
        let scheme = if is_tls { 's' } else { 'p' };
        let key: Box<str> = format!("{scheme}{port} {host}").to_ascii_lowercase().into();
        let mut origins = self.origins.borrow_mut();
        if let Some(origin) = origins.get(&key) {
            return Rc::clone(origin);
        }
        if origins.len() >= ORIGINS_MAX {
            origins.retain(|_, origin| Rc::strong_count(origin) > 1);
        }
        let origin = Rc::new(Origin { host: host.into(), port, is_tls, streams: Cell::new(0) });
        origins.insert(key, Rc::clone(&origin));
        origin
    }
}

impl std::fmt::Debug for ClientShared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ClientShared").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_options_are_named() {
        let check = |change: fn(&mut ClientOptions), expect: &str| {
            let mut options = ClientOptions::default();
            change(&mut options);
            assert_eq!(options.build().unwrap_err().to_string(), expect);
        };
        check(|options| options.hosts.push(("a*".into(), "1.1.1.1".into())), "invalid host pattern 'a*'");
        check(|options| options.block_hostnames.push("a*b".into()), "invalid hostname pattern 'a*b'");
        check(
            |options| options.blacklist_ips.push("1.1.1.1".into()),
            "failed to parse CIDR '1.1.1.1': invalid CIDR address: 1.1.1.1",
        );
        check(|options| options.tls.cipher_suites.push("x".into()), "unknown cipher suite 'x'");
    }

    #[test]
    fn origins_are_shared() {
        let shared = ClientOptions::default().build_thread().unwrap();
        let one = shared.origin("h", 80, false);
        assert!(Rc::ptr_eq(&one, &shared.origin("H", 80, false)));
        assert!(!Rc::ptr_eq(&one, &shared.origin("h", 80, true)));
        for port in 0..2_000 {
            shared.origin("many", port, false);
        }
        assert!(shared.origins.borrow().len() <= ORIGINS_MAX);
        assert!(Rc::ptr_eq(&one, &shared.origin("h", 80, false)));
    }
}
