//! From a URL's host to an address: blocked names, static hosts, literals, the resolver, blocked ranges.
//!
//! Everything but the resolver itself is arithmetic on this thread. Real lookups go to one helper thread
//! a process ([`resolver`]), whose answers are cached under k6's `dns` option.

mod options;
mod pattern;
mod resolver;

use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::sync::Arc;

use onrush_fiber::Nanos;

pub use options::{DnsOptions, Policy, Select, Ttl};
pub use pattern::{HostPattern, HostTable, IpRange};
pub use resolver::Resolver;

use crate::error::{NetError, code};
use crate::url::Url;

/// Where a connection is made to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// An IP address and a port.
    Ip(SocketAddr),
    /// A Unix domain socket (k6 has none).
    Unix(Arc<Path>),
}

impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Ip(address) => write!(f, "tcp {address}"),
            Self::Unix(path) => write!(f, "unix {}", path.display()),
        }
    }
}

/// The rules about names and addresses of a run.
#[derive(Debug, Clone, Default)]
pub struct NameRules {
    /// `hosts`
    pub hosts: HostTable,
    /// `blockHostnames`
    pub blocked: Vec<HostPattern>,
    /// `blacklistIPs`
    pub blacklist: Vec<IpRange>,
}

impl NameRules {
    /// The address to dial for a URL. May suspend the fiber in the resolver.
    ///
    /// # Errors
    /// 1111 and 1110 for what is blocked, 1101 and 1100 from the resolver, 1210 for a port that is none,
    /// 1050 when the deadline passes first.
    pub fn address_of(&self, url: &Url, resolver: &Resolver, deadline: Option<Nanos>) -> Result<Address, NetError> {
        match url.port() {
            Some(port) => self.address(url.host(), port, resolver, deadline),
            None => {
                self.check_name(url.host())?;
                Err(NetError::new(code::DIAL, format!("dial tcp: address {}: invalid port", url.port_text())))
            }
        }
    }

    /// Whether `hosts` sends a URL to a socket of this machine's file system.
    pub(crate) fn is_local(&self, url: &Url) -> bool {
        matches!(self.hosts.find(url.host(), url.port().unwrap_or_default()), Some(Address::Unix(_)))
    }

    fn check_name(&self, host: &str) -> Result<(), NetError> {
        match self.blocked.iter().find(|pattern| pattern.matches(host)) {
            Some(pattern) => Err(NetError::blocked_hostname(host, pattern.as_str())),
            None => Ok(()),
        }
    }

    /// The address to dial for a name and a port.
    ///
    /// # Errors
    /// As [`NameRules::address_of`].
    pub fn address(
        &self,
        host: &str,
        port: u16,
        resolver: &Resolver,
        deadline: Option<Nanos>,
    ) -> Result<Address, NetError> {
        self.check_name(host)?;
        let address = match self.hosts.find(host, port) {
            Some(Address::Ip(address)) => address,
            Some(unix) => return Ok(unix),
            None => SocketAddr::new(self.ip_of(host, resolver, deadline)?, port),
        };
        match self.blacklist.iter().find(|range| range.contains(address.ip())) {
            Some(range) => Err(NetError::blacklisted(address.ip(), range.as_str())),
            None => Ok(Address::Ip(address)),
        }
    }

    fn ip_of(&self, host: &str, resolver: &Resolver, deadline: Option<Nanos>) -> Result<IpAddr, NetError> {
        match host.parse() {
            Ok(ip) => Ok(ip),
            Err(_) => resolver.resolve(host, deadline),
        }
    }
}
