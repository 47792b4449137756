//! k6's `dns` option: how long answers live, which of them is used, and which family is preferred.

use std::{net::IpAddr, time::Duration};

/// The `dns` option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DnsOptions {
    /// `ttl`
    pub ttl: Ttl,
    /// `select`
    pub select: Select,
    /// `policy`
    pub policy: Policy,
}

/// How long an answer is used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ttl {
    /// Not at all (`0`).
    None,
    /// This long.
    For(Duration),
    /// For the whole run (`inf`).
    Forever,
}

/// Which of several addresses is dialled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Select {
    /// The first.
    First,
    /// Any.
    Random,
    /// Each in turn.
    RoundRobin,
}

/// Which address family is dialled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Policy {
    /// IPv4 when there is one.
    PreferIpv4,
    /// IPv6 when there is one.
    PreferIpv6,
    /// IPv4 or nothing.
    OnlyIpv4,
    /// IPv6 or nothing.
    OnlyIpv6,
    /// Whatever comes.
    Any,
}

impl Default for DnsOptions {
    fn default() -> Self {
        const TTL: Duration = Duration::from_secs(300);
        Self { ttl: Ttl::For(TTL), select: Select::Random, policy: Policy::PreferIpv4 }
    }
}

impl Select {
    /// Parses k6's name.
    ///
    /// # Errors
    /// k6's text.
    pub fn parse(text: &str) -> Result<Self, String> {
        match text {
            "first" => Ok(Self::First),
            "random" => Ok(Self::Random),
            "roundRobin" => Ok(Self::RoundRobin),
            _ => Err(format!("{text} does not belong to DNSSelect values")),
        }
    }
}

impl Policy {
    /// Parses k6's name.
    ///
    /// # Errors
    /// k6's text.
    pub fn parse(text: &str) -> Result<Self, String> {
        match text {
            "preferIPv4" => Ok(Self::PreferIpv4),
            "preferIPv6" => Ok(Self::PreferIpv6),
            "onlyIPv4" => Ok(Self::OnlyIpv4),
            "onlyIPv6" => Ok(Self::OnlyIpv6),
            "any" => Ok(Self::Any),
            _ => Err(format!("{text} does not belong to DNSPolicy values")),
        }
    }

    /// The addresses this policy allows, in their order.
    pub(crate) fn filter(self, mut ips: Vec<IpAddr>) -> Vec<IpAddr> {
        let (has_v4, has_v6) = (ips.iter().any(IpAddr::is_ipv4), ips.iter().any(IpAddr::is_ipv6));
        match self {
            Self::PreferIpv4 if has_v4 => ips.retain(IpAddr::is_ipv4),
            Self::PreferIpv6 if has_v6 => ips.retain(IpAddr::is_ipv6),
            Self::OnlyIpv4 => ips.retain(IpAddr::is_ipv4),
            Self::OnlyIpv6 => ips.retain(IpAddr::is_ipv6),
            Self::PreferIpv4 | Self::PreferIpv6 | Self::Any => {}
        }
        ips
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policies() {
        let v4: IpAddr = "1.2.3.4".parse().unwrap();
        let v6: IpAddr = "::1".parse().unwrap();
        let check = |name: &str, input: &[IpAddr], expect: &[IpAddr]| {
            assert_eq!(Policy::parse(name).unwrap().filter(input.to_vec()), expect, "{name}");
        };
        check("preferIPv4", &[v6, v4], &[v4]);
        check("preferIPv4", &[v6], &[v6]);
        check("preferIPv6", &[v4, v6], &[v6]);
        check("onlyIPv4", &[v6], &[]);
        check("onlyIPv6", &[v6, v4], &[v6]);
        check("any", &[v6, v4], &[v6, v4]);
        assert_eq!(Policy::parse("x").unwrap_err(), "x does not belong to DNSPolicy values");
        assert_eq!(Select::parse("x").unwrap_err(), "x does not belong to DNSSelect values");
    }
}
