//! From a URL's host to an address: blocked names, static hosts, literals, the resolver, blocked ranges.
//!
//! Everything but the resolver itself is arithmetic on this thread. Real lookups go to one helper thread
//! a process ([`resolver`]), whose answers are cached under k6's `dns` option.

mod options;
mod pattern;
mod resolver;

use std::net::{IpAddr, SocketAddr};

use onrush_fiber::Nanos;

pub use options::{DnsOptions, Policy, Select, Ttl};
pub use pattern::{HostPattern, HostTable, IpRange};
pub use resolver::Resolver;

use crate::error::{NetError, code};
use crate::url::Url;

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
    pub fn address_of(&self, url: &Url, resolver: &Resolver, deadline: Option<Nanos>) -> Result<SocketAddr, NetError> {
        let host = url.host();
        if let Some(pattern) = self.blocked.iter().find(|pattern| pattern.matches(host)) {
            return Err(NetError::blocked_hostname(host, pattern.as_str()));
        }
        let Some(port) = url.port() else {
            return Err(NetError::new(code::DIAL, format!("dial tcp: address {}: invalid port", url.port_text())));
        };
        let address = match self.hosts.find(host, port) {
            Some(address) => address,
            None => SocketAddr::new(self.ip_of(host, resolver, deadline)?, port),
        };
        match self.blacklist.iter().find(|range| range.contains(address.ip())) {
            Some(range) => Err(NetError::blacklisted(address.ip(), range.as_str())),
            None => Ok(address),
        }
    }

    fn ip_of(&self, host: &str, resolver: &Resolver, deadline: Option<Nanos>) -> Result<IpAddr, NetError> {
        match host.parse() {
            Ok(ip) => Ok(ip),
            Err(_) => resolver.resolve(host, deadline),
        }
    }
}
