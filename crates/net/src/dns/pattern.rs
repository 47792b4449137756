//! Host patterns (`example.com`, `*.example.com`), the `hosts` table and address ranges.

use std::{
    net::{IpAddr, SocketAddr},
    path::Path,
    sync::Arc,
};

use super::Address;

/// A host name, or a `*` and the end of one. Case does not matter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostPattern {
    text: Box<str>,
}

impl HostPattern {
    /// Parses a pattern.
    ///
    /// # Errors
    /// k6's `invalid hostname pattern '%s'`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let name = text.strip_prefix('*').unwrap_or(text);
        let is_fine = !name.contains('*')
            && (name.is_empty() && !text.is_empty() || !name.is_empty())
            && name
                .chars()
                .all(|letter| letter.is_alphanumeric() || matches!(letter, '-' | '.' | '_' | ':' | '[' | ']'));
        if is_fine {
            Ok(Self { text: text.to_lowercase().into() })
        } else {
            Err(format!("invalid hostname pattern '{text}'"))
        }
    }

    /// The pattern in lower case.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether a host is meant.
    pub fn matches(&self, host: &str) -> bool {
        match self.text.strip_prefix('*') {
            None => host.eq_ignore_ascii_case(&self.text),
            Some(end) => {
                let (host, end) = (host.as_bytes(), end.as_bytes());
                host.len() >= end.len() && host[host.len() - end.len()..].eq_ignore_ascii_case(end)
            }
        }
    }
}

/// k6's `hosts`: static addresses for names, `host[:port]` or `*.x` to `ip[:port]`.
#[derive(Debug, Clone, Default)]
pub struct HostTable {
    entries: Vec<(HostPattern, PatternTarget)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum PatternTarget {
    Ip(IpAddr, Option<u16>),
    Unix(Arc<Path>),
}

impl HostTable {
    /// Parses the option's pairs.
    ///
    /// # Errors
    /// A pattern or an address that is none.
    pub fn parse<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Self, String> {
        let mut entries = Vec::new();
        for (name, address) in pairs {
            let pattern = HostPattern::parse(name).map_err(|_| format!("invalid host pattern '{name}'"))?;
            let target = parse_target(address).ok_or_else(|| format!("invalid host address '{address}'"))?;
            entries.push((pattern, target));
        }
        // Exact names first, then the longest wildcard.
        entries.sort_by_key(|(pattern, _)| (pattern.text.starts_with('*'), std::cmp::Reverse(pattern.text.len())));
        Ok(Self { entries })
    }

    /// The address for a host: a pattern with this port wins over one without.
    pub fn find(&self, host: &str, port: u16) -> Option<Address> {
        if self.entries.is_empty() {
            return None;
        }
        let with_port = if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") };
        let target = self.find_text(&with_port).or_else(|| self.find_text(host))?;
        Some(match target {
            PatternTarget::Ip(ip, own) => Address::Ip(SocketAddr::new(*ip, own.unwrap_or(port))),
            PatternTarget::Unix(path) => Address::Unix(Arc::clone(path)),
        })
    }

    fn find_text(&self, text: &str) -> Option<&PatternTarget> {
        self.entries.iter().find(|(pattern, _)| pattern.matches(text)).map(|(_, target)| target)
    }
}

fn parse_target(text: &str) -> Option<PatternTarget> {
    if let Some(path) = text.strip_prefix("unix:") {
        return path.starts_with('/').then(|| PatternTarget::Unix(Path::new(path).into()));
    }
    if let Ok(address) = text.parse::<SocketAddr>() {
        return Some(PatternTarget::Ip(address.ip(), Some(address.port())));
    }
    let bare = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    bare.parse().ok().map(|ip| PatternTarget::Ip(ip, None))
}

/// An address range in CIDR notation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IpRange {
    text: Box<str>,
    base: IpAddr,
    bits: u8,
}

impl IpRange {
    /// Parses `10.0.0.0/8`. A bare address is refused, as in k6.
    ///
    /// # Errors
    /// k6's `failed to parse CIDR '%s': …`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let bad = || format!("failed to parse CIDR '{text}': invalid CIDR address: {text}");
        let (ip, bits) = text.split_once('/').ok_or_else(bad)?;
        let ip: IpAddr = ip.parse().map_err(|_| bad())?;
        let mut bits: u8 = bits.parse().map_err(|_| bad())?;
        if bits > width(ip) {
            return Err(bad());
        }
        // A range of IPv4 addresses in IPv6's clothes is one of IPv4 addresses, as in Go.
        const MAPPED_BITS: u8 = 96;
        let ip = if bits >= MAPPED_BITS { ip.to_canonical() } else { ip };
        if ip.is_ipv4() && bits >= MAPPED_BITS {
            bits -= MAPPED_BITS;
        }
        let base = masked(ip, bits);
        Ok(Self { text: format!("{base}/{bits}").into(), base, bits })
    }

    /// The range, its host bits cleared.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether an address is in the range. An IPv4 address inside IPv6 counts as the IPv4 address.
    pub fn contains(&self, ip: IpAddr) -> bool {
        let ip = ip.to_canonical();
        width(ip) == width(self.base) && masked(ip, self.bits) == self.base
    }
}

fn width(ip: IpAddr) -> u8 {
    if ip.is_ipv4() { 32 } else { 128 }
}

fn masked(ip: IpAddr, bits: u8) -> IpAddr {
    match ip {
        IpAddr::V4(ip) => {
            let mask = u32::MAX.checked_shl(32 - u32::from(bits)).unwrap_or(0);
            IpAddr::V4((ip.to_bits() & mask).into())
        }
        IpAddr::V6(ip) => {
            let mask = u128::MAX.checked_shl(128 - u32::from(bits)).unwrap_or(0);
            IpAddr::V6((ip.to_bits() & mask).into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        let check = |pattern: &str, host: &str, expect: bool| {
            assert_eq!(HostPattern::parse(pattern).unwrap().matches(host), expect, "{pattern} {host}");
        };
        check("a.test", "A.TEST", true);
        check("a.test", "b.a.test", false);
        check("*.a.test", "b.a.test", true);
        check("*.a.test", "c.b.A.test", true);
        check("*.a.test", "a.test", false);
        check("*a.test", "a.test", true);
        check("*", "anything", true);
        for bad in ["", "a*b", "**", "*.*", "a b", "a/b"] {
            assert_eq!(HostPattern::parse(bad).unwrap_err(), format!("invalid hostname pattern '{bad}'"));
        }
    }

    #[test]
    fn tables() {
        let table = HostTable::parse([
            ("*.wild.test", "127.0.0.1:18139"),
            ("*.x.wild.test", "127.0.0.3"),
            ("exact.test", "127.0.0.1"),
            ("exact.test:99", "127.0.0.2:5"),
            ("*suffix.test", "::1"),
            ("a.wild.test", "[::2]:7"),
        ])
        .unwrap();
        let check = |host: &str, port: u16, expect: Option<&str>| {
            assert_eq!(
                table.find(host, port),
                expect.map(|address| Address::Ip(address.parse().unwrap())),
                "{host}:{port}"
            );
        };
        check("sub.wild.test", 80, Some("127.0.0.1:18139"));
        check("b.x.wild.test", 80, Some("127.0.0.3:80"));
        check("a.wild.test", 80, Some("[::2]:7"));
        check("wild.test", 80, None);
        check("EXACT.test", 81, Some("127.0.0.1:81"));
        check("exact.test", 99, Some("127.0.0.2:5"));
        check("mysuffix.test", 80, Some("[::1]:80"));
        check("other.test", 80, None);
        assert_eq!(HostTable::parse([("a*", "1.1.1.1")]).unwrap_err(), "invalid host pattern 'a*'");
        assert_eq!(HostTable::parse([("a", "x")]).unwrap_err(), "invalid host address 'x'");
    }

    #[test]
    fn ranges() {
        let check = |range: &str, ip: &str, expect: bool| {
            assert_eq!(IpRange::parse(range).unwrap().contains(ip.parse().unwrap()), expect, "{range} {ip}");
        };
        check("10.0.0.0/8", "10.1.2.3", true);
        check("10.1.2.3/8", "10.9.9.9", true);
        check("10.0.0.0/8", "11.0.0.0", false);
        check("10.0.0.0/8", "::ffff:10.1.1.1", true);
        check("0.0.0.0/0", "255.1.1.1", true);
        check("::/0", "1.1.1.1", false);
        check("::/0", "::ffff:1.1.1.1", false);
        check("::ffff:10.0.0.0/104", "10.1.2.3", true);
        check("::ffff:0:0/96", "::ffff:1.1.1.1", true);
        assert_eq!(IpRange::parse("::ffff:10.1.2.3/104").unwrap().as_str(), "10.0.0.0/8");
        check("fe80::/10", "febf::1", true);
        check("1.2.3.4/32", "1.2.3.4", true);
        for bad in ["10.0.0.1", "10.0.0.0/33", "x/8", "10.0.0.0/"] {
            assert!(IpRange::parse(bad).unwrap_err().starts_with("failed to parse CIDR"), "{bad}");
        }
    }
}
