//! Address blocks (`blacklistIPs`) and pools (`localIPs`).

use std::{
    fmt,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    str::FromStr,
};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// An address block in CIDR notation. A bare address is not one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cidr {
    network: IpAddr,
    prefix: u8,
}

impl Cidr {
    /// Whether the block holds the address. An IPv4 address mapped into IPv6 counts as IPv4.
    #[must_use]
    pub fn contains(&self, ip: IpAddr) -> bool {
        let (network, ip) = (self.network.to_canonical(), ip.to_canonical());
        match (network, ip) {
            (IpAddr::V4(_), IpAddr::V4(_)) | (IpAddr::V6(_), IpAddr::V6(_)) => {
                bits(network) == bits(ip) & mask(network, self.prefix)
            }
            _ => false,
        }
    }
}

impl FromStr for Cidr {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let invalid = || format!("failed to parse CIDR '{text}': invalid CIDR address: {text}");
        let (ip, prefix) = text.split_once('/').ok_or_else(invalid)?;
        let ip: IpAddr = ip.parse().map_err(|_| invalid())?;
        if prefix.is_empty() || !prefix.bytes().all(|b| b.is_ascii_digit()) {
            return Err(invalid());
        }
        let prefix: u8 = prefix.parse().map_err(|_| invalid())?;
        if u32::from(prefix) > width(ip) {
            return Err(invalid());
        }
        Ok(Self { network: from_bits(bits(ip) & mask(ip, prefix), ip.is_ipv6()), prefix })
    }
}

impl fmt::Display for Cidr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.network, self.prefix)
    }
}

impl Serialize for Cidr {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Cidr {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// The addresses VUs connect from: single ones, ranges `a-b` and CIDR blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IpPool {
    text: String,
    /// First address, count, and whether it is IPv6.
    blocks: Vec<(u128, u128, bool)>,
}

impl IpPool {
    /// The address of number `index` (from 0), going round. `None` only for an empty pool.
    #[must_use]
    pub fn address(&self, index: u64) -> Option<IpAddr> {
        let total = self.blocks.iter().fold(0_u128, |sum, block| sum.saturating_add(block.1));
        let mut rest = u128::from(index).checked_rem(total)?;
        for &(first, count, v6) in &self.blocks {
            if rest < count {
                return Some(from_bits(first + rest, v6));
            }
            rest -= count;
        }
        None
    }
}

impl FromStr for IpPool {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let blocks = text.split(',').map(block).collect::<Result<_, _>>()?;
        Ok(Self { text: text.to_owned(), blocks })
    }
}

impl Serialize for IpPool {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

fn block(text: &str) -> Result<(u128, u128, bool), String> {
    if let Ok(ip) = text.parse::<IpAddr>() {
        return Ok((bits(ip), 1, ip.is_ipv6()));
    }
    if let Some((from, to)) = text.split_once('-') {
        let (Ok(from), Ok(to)) = (from.parse::<IpAddr>(), to.parse::<IpAddr>()) else {
            return Err(format!("wrong IP range format: {text}"));
        };
        if from.is_ipv6() != to.is_ipv6() {
            return Err(format!("mixed IP range format: {text}"));
        }
        if bits(to) < bits(from) {
            return Err(format!("negative IP range: {text}"));
        }
        return Ok((bits(from), (bits(to) - bits(from)).saturating_add(1), from.is_ipv6()));
    }
    let cidr: Cidr = text.parse().map_err(|_| format!("{text} is not a valid IP, IP range or CIDR"))?;
    let host_bits = width(cidr.network) - u32::from(cidr.prefix);
    let count = 1_u128.checked_shl(host_bits).unwrap_or(u128::MAX);
    // k6: the network and the broadcast address of an IPv4 block are not used to connect from, where there are others.
    if cidr.network.is_ipv4() && host_bits >= 2 {
        return Ok((bits(cidr.network) + 1, count - 2, false));
    }
    Ok((bits(cidr.network), count, cidr.network.is_ipv6()))
}

fn width(ip: IpAddr) -> u32 {
    if ip.is_ipv4() { 32 } else { 128 }
}

fn bits(ip: IpAddr) -> u128 {
    match ip {
        IpAddr::V4(ip) => u128::from(ip.to_bits()),
        IpAddr::V6(ip) => ip.to_bits(),
    }
}

fn from_bits(value: u128, v6: bool) -> IpAddr {
    // An IPv4 value never exceeds 32 bits: it came from one, or lies within a block of one.
    if v6 { Ipv6Addr::from_bits(value).into() } else { Ipv4Addr::from_bits(value as u32).into() }
}

fn mask(ip: IpAddr, prefix: u8) -> u128 {
    let width = width(ip);
    let all = if width == 128 { u128::MAX } else { u128::from(u32::MAX) };
    all & !(all.checked_shr(u32::from(prefix)).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_cidr(text: &str, expect: &str) {
        assert_eq!(text.parse::<Cidr>().map_or_else(|e| e, |c| c.to_string()), expect);
    }

    #[test]
    fn blocks_read_and_print() {
        check_cidr("10.0.0.1/8", "10.0.0.0/8");
        check_cidr("::1/128", "::1/128");
        check_cidr("0.0.0.0/0", "0.0.0.0/0");
        check_cidr("::/0", "::/0");
        check_cidr("10.0.0.1", "failed to parse CIDR '10.0.0.1': invalid CIDR address: 10.0.0.1");
        check_cidr("x/8", "failed to parse CIDR 'x/8': invalid CIDR address: x/8");
        check_cidr("10.0.0.0/33", "failed to parse CIDR '10.0.0.0/33': invalid CIDR address: 10.0.0.0/33");
        check_cidr("10.0.0.0/+8", "failed to parse CIDR '10.0.0.0/+8': invalid CIDR address: 10.0.0.0/+8");
    }

    #[test]
    fn blocks_hold_addresses() {
        let holds = |block: &str, ip: &str| block.parse::<Cidr>().unwrap().contains(ip.parse().unwrap());
        assert!(holds("10.0.0.0/8", "10.255.0.1"));
        assert!(!holds("10.0.0.0/8", "11.0.0.1"));
        assert!(holds("10.0.0.0/8", "::ffff:10.1.1.1"));
        assert!(!holds("::/0", "10.0.0.1"));
        assert!(holds("0.0.0.0/0", "1.2.3.4"));
        assert!(holds("2001:db8::/32", "2001:db8:1::1"));
    }

    #[test]
    fn pools() {
        let check = |text: &str, index: u64, expect: &str| {
            let got = text.parse::<IpPool>().map(|p| p.address(index).unwrap().to_string());
            assert_eq!(got.unwrap_or_else(|e| e), expect);
        };
        check("10.0.0.1", 7, "10.0.0.1");
        check("10.0.0.1,10.0.0.5-10.0.0.6", 2, "10.0.0.6");
        check("10.0.0.1,10.0.0.5-10.0.0.6", 3, "10.0.0.1");
        check("10.0.0.0/30", 0, "10.0.0.1");
        check("10.0.0.0/30", 2, "10.0.0.1");
        check("::/0", 5, "::5");
        check("fd00::1-fd00::2", 1, "fd00::2");
        check("foo", 0, "foo is not a valid IP, IP range or CIDR");
        check("1.1.1.1-foo", 0, "wrong IP range format: 1.1.1.1-foo");
        check("1.1.1.1-::1", 0, "mixed IP range format: 1.1.1.1-::1");
        check("1.1.1.2-1.1.1.1", 0, "negative IP range: 1.1.1.2-1.1.1.1");
    }
}
