//! The options of the network side, from those of the test.

use std::{
    io::ErrorKind,
    net::{IpAddr, UdpSocket},
    sync::Arc,
};

use onrush_net::{
    Arrivals, Client, ClientAuth, ClientOptions, ClientOptionsError, KeyLog, Limits, ProxyOptions, TlsOptions,
    TlsOptionsError, TlsVersion,
    dns::{DnsOptions, Policy, Select, Ttl},
};
use onrush_plan::{Consolidated, DnsConfig, IpPool};

use crate::failure::Failure;

/// The first address of `localIPs` that is not this machine's, among those of the first VUs.
pub(super) fn foreign_address(pool: &IpPool, vus: u64) -> Option<IpAddr> {
    /// A test of more addresses than these takes noticeable time.
    const ADDRESSES_MAX: u64 = 1_000;
    let addresses = (0..vus.min(ADDRESSES_MAX)).map_while(|index| pool.address(index));
    let is_foreign =
        |ip: &IpAddr| UdpSocket::bind((*ip, 0)).is_err_and(|error| error.kind() == ErrorKind::AddrNotAvailable);
    addresses.into_iter().find(is_foreign)
}

/// Checks the options that concern connections and builds what all threads share.
///
/// # Errors
/// 104 with what cannot be used.
pub(super) fn client(
    test: &Consolidated,
    limits: Limits,
    arrivals: Arrivals,
    key_log: Option<Arc<KeyLog>>,
) -> Result<Arc<Client>, Failure> {
    let (options, settings) = (&test.options, &test.settings);
    let texts = |list: &Option<Vec<String>>| list.clone().unwrap_or_default();
    let count = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    let client = ClientOptions {
        tls: TlsOptions { key_log, ..tls(test) },
        dns: dns(&settings.dns)?,
        hosts: options.hosts.iter().flatten().map(|(name, target)| (name.clone(), target.to_string())).collect(),
        block_hostnames: texts(&options.block_hostnames),
        blacklist_ips: options.blacklist_ips.iter().flatten().map(ToString::to_string).collect(),
        proxies: ProxyOptions::from_environment(|name| std::env::var(name).ok()),
        no_connection_reuse: settings.no_connection_reuse,
        http2_prior_knowledge: settings.http2_prior_knowledge,
        idle_total: count(settings.batch),
        idle_per_host: count(settings.batch_per_host),
        limits,
        arrivals,
        ..ClientOptions::default()
    };
    client.build().map(Arc::new).map_err(|error| {
        // Of all options only these are parsed as late as here.
        let is_auth = matches!(error, ClientOptionsError::Tls(TlsOptionsError::Auth(_)));
        let place = if is_auth { "tlsAuth: " } else { "" };
        Failure::config(format!("{place}{error}"))
    })
}

fn tls(test: &Consolidated) -> TlsOptions {
    let options = &test.options;
    let versions = options.tls_version.unwrap_or_default();
    let auth = options.tls_auth.iter().flatten().map(|auth| ClientAuth {
        cert_pem: auth.cert.clone(),
        key_pem: auth.key.clone(),
        password: auth.password.clone().unwrap_or_default(),
        domains: auth.domains.clone().unwrap_or_default(),
    });
    TlsOptions {
        insecure_skip_verify: test.settings.insecure_skip_tls_verify,
        version_min: versions.min.map(version),
        version_max: versions.max.map(version),
        cipher_suites: options.tls_cipher_suites.clone().unwrap_or_default(),
        auth: auth.collect(),
        resumption: test.settings.tls_session_resumption,
        ..TlsOptions::default()
    }
}

fn version(version: onrush_plan::TlsVersion) -> TlsVersion {
    match version {
        onrush_plan::TlsVersion::Tls10 => TlsVersion::Tls10,
        onrush_plan::TlsVersion::Tls11 => TlsVersion::Tls11,
        onrush_plan::TlsVersion::Tls12 => TlsVersion::Tls12,
        onrush_plan::TlsVersion::Tls13 => TlsVersion::Tls13,
    }
}

fn dns(config: &DnsConfig) -> Result<DnsOptions, Failure> {
    let defaults = DnsOptions::default();
    let ttl = match config.ttl.as_deref() {
        None | Some("") => defaults.ttl,
        Some(_) => match config.ttl_duration() {
            None => Ttl::Forever,
            Some(ttl) if ttl.as_ns() == 0 => Ttl::None,
            Some(ttl) => Ttl::For(ttl.as_std()),
        },
    };
    // Both crates know k6's names, so what one wrote the other reads.
    let select = config.select.map_or(Ok(defaults.select), |select| Select::parse(select.as_str()));
    let policy = config.policy.map_or(Ok(defaults.policy), |policy| Policy::parse(policy.as_str()));
    Ok(DnsOptions { ttl, select: select.map_err(Failure::config)?, policy: policy.map_err(Failure::config)? })
}
