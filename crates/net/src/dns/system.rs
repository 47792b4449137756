//! Lookups as the system is configured: the hosts file, and the servers of `resolv.conf` in their order.
//!
//! hickory speaks to one server at a time. Going from one to the next is done here, as Go and the C library do it: a
//! server that says no is believed, one that says nothing, or nonsense, is followed by the next, and all are tried
//! `attempts` times. That is not hickory's way, which asks two at once and prefers the fastest: where the second is a
//! server of last resort that does not know the names inside, its answer must not count.

use std::{
    future::Future,
    io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    pin::Pin,
    sync::Arc,
    time::Duration,
};

use hickory_resolver::{
    config::{ConnectionConfig, LookupIpStrategy, NameServerConfig, ResolverConfig, ResolverOpts},
    net::{DnsError, NetError as HickoryError},
    proto::{
        op::ResponseCode,
        rr::{IntoName, Name, RecordType},
    },
};

use super::{
    Policy, order,
    provider::Provider,
    resolver::{Lookup, Outcome, Source},
};
use crate::error::NetError;

/// The system's settings, read when the first name is asked for.
pub(super) struct System;

impl Source for System {
    fn open(&self, policy: Policy) -> Result<Arc<dyn Lookup>, String> {
        Settings::of_system().open(policy)
    }
}

/// Whom to ask, and how.
#[derive(Clone)]
pub(super) struct Settings {
    pub(super) servers: Vec<SocketAddr>,
    pub(super) domain: Option<Name>,
    pub(super) search: Vec<Name>,
    /// How often all servers are tried.
    pub(super) attempts: usize,
    /// How long to wait for one.
    pub(super) timeout: Duration,
    pub(super) options: ResolverOpts,
}

impl Settings {
    /// What `resolv.conf` says. Without a server there, or without the file, the one on this machine is asked.
    fn of_system() -> Self {
        let (config, options) = hickory_resolver::system_conf::read_system_conf().unwrap_or_else(|_| {
            let local = [Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()].map(NameServerConfig::udp_and_tcp);
            (ResolverConfig::from_parts(None, Vec::new(), local.to_vec()), ResolverOpts::default())
        });
        Self {
            servers: config.name_servers().iter().map(|server| SocketAddr::new(server.ip, PORT)).collect(),
            domain: config.domain().cloned(),
            search: config.search().to_vec(),
            attempts: options.attempts,
            timeout: options.timeout,
            options,
        }
    }

    fn open(&self, policy: Policy) -> Result<Arc<dyn Lookup>, String> {
        let servers: Result<Vec<_>, _> = self.servers.iter().map(|addr| self.server(*addr, policy)).collect();
        let other_family = match policy {
            Policy::OnlyIpv4 => Some(RecordType::AAAA),
            Policy::OnlyIpv6 => Some(RecordType::A),
            Policy::PreferIpv4 | Policy::PreferIpv6 | Policy::Any => None,
        };
        Ok(Arc::new(Servers { servers: servers?, attempts: self.attempts.max(1), other_family }))
    }

    fn server(&self, addr: SocketAddr, policy: Policy) -> Result<Server, String> {
        let over = [ConnectionConfig::udp(), ConnectionConfig::tcp()].map(|mut connection| {
            connection.port = addr.port();
            connection
        });
        let server = NameServerConfig::new(addr.ip(), true, over.to_vec());
        let config = ResolverConfig::from_parts(self.domain.clone(), self.search.clone(), vec![server]);
        let mut builder = hickory_resolver::Resolver::builder_with_config(config, Provider::default());
        let options = builder.options_mut();
        *options = self.options.clone();
        options.timeout = self.timeout;
        // Our own cache follows `ttl`, and the loop over servers tries again.
        options.cache_size = 0;
        options.attempts = 0;
        // As Go: it announces that it takes answers longer than 512 bytes over UDP, whatever resolv.conf says.
        options.edns0 = true;
        options.ip_strategy = match policy {
            Policy::OnlyIpv4 => LookupIpStrategy::Ipv4Only,
            Policy::OnlyIpv6 => LookupIpStrategy::Ipv6Only,
            Policy::PreferIpv4 | Policy::PreferIpv6 | Policy::Any => LookupIpStrategy::Ipv4AndIpv6,
        };
        let resolver = builder.build().map_err(|error| error.to_string())?;
        Ok(Server { addr, resolver })
    }
}

#[cfg(test)]
impl Source for Settings {
    fn open(&self, policy: Policy) -> Result<Arc<dyn Lookup>, String> {
        Settings::open(self, policy)
    }
}

struct Servers {
    servers: Vec<Server>,
    attempts: usize,
    /// The family that the policy does not want.
    other_family: Option<RecordType>,
}

struct Server {
    addr: SocketAddr,
    resolver: hickory_resolver::Resolver<Provider>,
}

impl Lookup for Servers {
    fn look_up(&self, host: String) -> Pin<Box<dyn Future<Output = Outcome> + Send + '_>> {
        Box::pin(async move { self.ask(&host).await })
    }
}

impl Servers {
    async fn ask(&self, host: &str) -> Outcome {
        // What cannot even be asked for does not exist.
        let Ok(name) = host.into_name() else { return Err(NetError::no_such_host(host)) };
        let mut failure = NetError::dns(host, "no name server is configured");
        for _ in 0..self.attempts {
            for server in &self.servers {
                match server.resolver.lookup_ip(name.clone()).await {
                    Ok(found) => {
                        let mut ips: Vec<IpAddr> = found.iter().collect();
                        order::sort(&mut ips);
                        return if ips.is_empty() { Err(server.knows_no(host)) } else { Ok(ips) };
                    }
                    Err(HickoryError::Dns(DnsError::NoRecordsFound(none))) => {
                        let exists = none.response_code == ResponseCode::NoError;
                        return Err(match self.other_family {
                            Some(family) if exists && server.has(&name, family).await => {
                                NetError::other_family_only(host)
                            }
                            _ => server.knows_no(host),
                        });
                    }
                    Err(error) => failure = server.failure(host, &error),
                }
            }
        }
        Err(failure)
    }
}

impl Server {
    /// The server's answer is that there is no such name, or nothing to connect to by it.
    fn knows_no(&self, host: &str) -> NetError {
        NetError::no_such_host_on(host, self.addr)
    }

    async fn has(&self, name: &Name, family: RecordType) -> bool {
        self.resolver.lookup(name.clone(), family).await.is_ok_and(|found| !found.answers().is_empty())
    }

    fn failure(&self, host: &str, error: &HickoryError) -> NetError {
        let reason = match error {
            // k6: whatever has a timeout of its own is the request's timeout.
            HickoryError::Timeout => return NetError::timeout(),
            HickoryError::Io(error) if error.kind() == io::ErrorKind::TimedOut => return NetError::timeout(),
            HickoryError::Io(error) => crate::error::errno_text(error),
            // What hickory makes of a socket's failure.
            HickoryError::NoConnections => "connection refused, or no way to the server".to_owned(),
            HickoryError::Dns(DnsError::ResponseCode(_)) => "server misbehaving".to_owned(),
            HickoryError::Proto(_) => "cannot unmarshal DNS message".to_owned(),
            error => error.to_string(),
        };
        NetError::dns_on(host, self.addr, &reason)
    }
}

/// Where servers listen.
const PORT: u16 = 53;
