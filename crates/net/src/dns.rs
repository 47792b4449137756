//! From a URL's host to an address: blocked names, static hosts, literals, the resolver, blocked ranges.
//!
//! Everything but the resolver itself is arithmetic on this thread. Real lookups go to one helper thread a process
//! ([`resolver`]), whose answers are cached under k6's `dns` option; whom it asks is in [`system`].

mod options;
mod order;
mod pattern;
mod provider;
mod query;
mod resolver;
mod system;
#[cfg(test)]
mod tests;

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6, UdpSocket},
    path::Path,
    sync::Arc,
};

use onrush_fiber::Nanos;

pub use options::{DnsOptions, Policy, Select, Ttl};
pub use pattern::{HostPattern, HostTable, IpRange};
pub use query::{QueryFailure, RecordKind, query, server_address};
pub use resolver::Resolver;

use crate::{
    error::{NetError, code},
    url::{Url, literal::address_and_zone},
};

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

/// An address with its zone, an interface's name or number. Only link-local addresses need one: elsewhere it is left
/// out, as it is if this machine has no such interface; the system then refuses to connect.
#[cold]
fn in_zone(ip: IpAddr, zone: &str, port: u16) -> SocketAddr {
    match ip {
        IpAddr::V6(ip) if ip.is_unicast_link_local() => {
            let number = zone.parse().ok().or_else(|| interface_number(zone)).unwrap_or(0);
            SocketAddrV6::new(ip, port, 0, number).into()
        }
        _ => SocketAddr::new(ip, port),
    }
}

fn interface_number(name: &str) -> Option<u32> {
    let socket = UdpSocket::bind((Ipv6Addr::LOCALHOST, 0)).ok()?;
    rustix::net::netdevice::name_to_index(&socket, name).ok()
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

    /// Whether a name may be asked for at all.
    ///
    /// # Errors
    /// 1111 for a name that is blocked.
    pub fn check_name(&self, host: &str) -> Result<(), NetError> {
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
        let mut address = match self.hosts.find(host, port) {
            Some(Address::Ip(address)) => address,
            Some(unix) => return Ok(unix),
            None => match address_and_zone(host) {
                Some((ip, None)) => SocketAddr::new(ip, port),
                Some((ip, Some(zone))) => in_zone(ip, zone, port),
                None if host.is_empty() => return Err(NetError::no_such_host(host)),
                None => SocketAddr::new(resolver.resolve(host, deadline)?, port),
            },
        };
        // IPv4 addresses in IPv6's clothes are IPv4 addresses, as in Go.
        address.set_ip(address.ip().to_canonical());
        self.check_address(address.ip())?;
        if address.ip().is_unspecified() {
            // Connects to this machine: `remote_ip` should say so, and a range that forbids it means this, too. (k6
            // compares the address as it was written, and connects.)
            let here: IpAddr = if address.is_ipv4() { Ipv4Addr::LOCALHOST.into() } else { Ipv6Addr::LOCALHOST.into() };
            self.check_address(here)?;
            address.set_ip(here);
        }
        Ok(Address::Ip(address))
    }

    /// Whether an address may be used.
    ///
    /// # Errors
    /// 1110 for one that is blocked.
    pub fn check_address(&self, ip: IpAddr) -> Result<(), NetError> {
        match self.blacklist.iter().find(|range| range.contains(ip)) {
            Some(range) => Err(NetError::blacklisted(ip, range.as_str())),
            None => Ok(()),
        }
    }
}
