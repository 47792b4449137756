//! The order of a name's addresses: RFC 6724, as Go and the C library sort them. `select: 'first'` takes what the
//! machine reaches best, whatever order the server's answer has.

use std::{
    cmp::Reverse,
    net::{IpAddr, Ipv6Addr, UdpSocket},
};

/// Sorts addresses, the best first; equal ones keep their order.
pub(super) fn sort(ips: &mut [IpAddr]) {
    if ips.len() > 1 {
        sort_with(ips, source_for);
    }
}

/// The address this machine would connect from, if it has a way there. Nothing is sent.
fn source_for(ip: IpAddr) -> Option<IpAddr> {
    /// Any port will do.
    const PORT: u16 = 9;
    let any: IpAddr = if ip.is_ipv4() { [0; 4].into() } else { Ipv6Addr::UNSPECIFIED.into() };
    let socket = UdpSocket::bind((any, 0)).ok()?;
    socket.connect((ip, PORT)).ok()?;
    Some(socket.local_addr().ok()?.ip())
}

fn sort_with(ips: &mut [IpAddr], source_for: impl Fn(IpAddr) -> Option<IpAddr>) {
    ips.sort_by_cached_key(|ip| {
        let source = source_for(*ip);
        let (precedence, label) = policy(*ip);
        // Rules 1, 2, 5, 6, 8 and 9; the others need to know more of interfaces than programs do.
        (
            source.is_none(),
            source.map(scope) != Some(scope(*ip)),
            source.map(|source| policy(source).1) != Some(label),
            Reverse(precedence),
            scope(*ip),
            Reverse(source.map_or(0, |source| common_prefix(source, *ip))),
        )
    });
}

/// Precedence and label of the default policy table (section 2.1).
fn policy(ip: IpAddr) -> (u8, u8) {
    let bits = as_ipv6(ip).to_bits();
    let starts = |prefix: u128, length: u32| (bits ^ prefix).checked_shr(128 - length).unwrap_or(0) == 0;
    TABLE
        .iter()
        .find(|(prefix, length, ..)| starts(*prefix, *length))
        .map_or((40, 1), |(_, _, precedence, label)| (*precedence, *label))
}

/// Prefix, its length, precedence, label; longer prefixes first.
const TABLE: [(u128, u32, u8, u8); 9] = [
    (1, 128, 50, 0),
    (0xffff_0000_0000, 96, 35, 4),
    (0, 96, 1, 3),
    (0x2001_0000 << 96, 32, 5, 5),
    (0x2002 << 112, 16, 30, 2),
    (0x3ffe << 112, 16, 1, 12),
    (0xfec0 << 112, 10, 1, 11),
    (0xfc00 << 112, 7, 3, 13),
    (0, 0, 40, 1),
];

/// How far an address reaches (section 3.1), as multicast scopes are numbered.
fn scope(ip: IpAddr) -> u8 {
    const LINK: u8 = 2;
    const SITE: u8 = 5;
    const GLOBAL: u8 = 14;
    match ip {
        IpAddr::V4(ip) if ip.is_loopback() || ip.is_link_local() => LINK,
        IpAddr::V6(ip) if ip.is_loopback() || ip.is_unicast_link_local() => LINK,
        IpAddr::V6(ip) if ip.is_multicast() => ip.octets()[1] & 0xf,
        IpAddr::V6(ip) if ip.segments()[0] & 0xffc0 == 0xfec0 => SITE,
        _ => GLOBAL,
    }
}

/// How many leading bits an IPv6 address shares with its source, of the half that names a network.
fn common_prefix(source: IpAddr, ip: IpAddr) -> u32 {
    const NETWORK_BITS: u32 = 64;
    match (source, ip) {
        (IpAddr::V6(source), IpAddr::V6(ip)) => (source.to_bits() ^ ip.to_bits()).leading_zeros().min(NETWORK_BITS),
        // Of IPv4 addresses the first bits say nothing about the way to them.
        _ => 0,
    }
}

fn as_ipv6(ip: IpAddr) -> Ipv6Addr {
    match ip {
        IpAddr::V4(ip) => ip.to_ipv6_mapped(),
        IpAddr::V6(ip) => ip,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_address_goes_first() {
        // This machine, in the examples: an address of either family, and a private one of IPv6.
        let sources: [IpAddr; 4] =
            ["192.0.2.10", "2001:db8:1::10", "fd00::10", "fe80::10"].map(|text| text.parse().unwrap());
        let source_for = |ip: IpAddr| match ip {
            ip if ip.is_loopback() => Some(ip),
            IpAddr::V4(_) => Some(sources[0]),
            IpAddr::V6(ip) if ip.is_unicast_link_local() => Some(sources[3]),
            IpAddr::V6(ip) if ip.segments()[0] & 0xfe00 == 0xfc00 => Some(sources[2]),
            IpAddr::V6(_) => Some(sources[1]),
        };
        let check = |input: &[&str], expect: &[&str], has_ipv6: bool| {
            let mut ips: Vec<IpAddr> = input.iter().map(|text| text.parse().unwrap()).collect();
            sort_with(&mut ips, |ip| source_for(ip).filter(|_| has_ipv6 || ip.is_ipv4()));
            let shown: Vec<String> = ips.iter().map(ToString::to_string).collect();
            assert_eq!(shown, expect);
        };
        check(&["198.51.100.1", "2001:db8:1::1"], &["2001:db8:1::1", "198.51.100.1"], true);
        check(&["2001:db8:1::1", "198.51.100.1"], &["198.51.100.1", "2001:db8:1::1"], false);
        check(&["127.0.0.2", "127.0.0.1", "::1"], &["::1", "127.0.0.2", "127.0.0.1"], true);
        check(&["198.51.100.7", "198.51.100.3"], &["198.51.100.7", "198.51.100.3"], true);
        // Private IPv6 after IPv4, the nearer network first, old transition networks last.
        check(
            &["2002:102:304::1", "fd00::1", "198.51.100.1", "2001:db8:2::1", "2001:db8:1::1"],
            &["2001:db8:1::1", "2001:db8:2::1", "198.51.100.1", "fd00::1", "2002:102:304::1"],
            true,
        );
        check(&["2001:db8:1::1", "fe80::1"], &["fe80::1", "2001:db8:1::1"], true);
    }
}
