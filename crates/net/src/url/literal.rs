//! IPv6 addresses in brackets: what Go's `netip.ParseAddr` says about those that are none, and their zones.

use std::net::IpAddr;

use crate::text::go_quote;

/// Checks what stands between brackets, its escapes undone.
///
/// # Errors
/// Go's text.
pub(super) fn check(text: &str) -> Result<(), String> {
    match fault(text) {
        Some(Fault { reason, at: "" }) => Err(format!("invalid host: ParseAddr({}): {reason}", go_quote(text))),
        Some(Fault { reason, at }) => {
            Err(format!("invalid host: ParseAddr({}): {reason} (at {})", go_quote(text), go_quote(at)))
        }
        None if text.contains(':') => Ok(()),
        None => Err("invalid IP-literal".to_owned()),
    }
}

/// The address of a host that is one, and its zone.
pub(crate) fn address_and_zone(host: &str) -> Option<(IpAddr, Option<&str>)> {
    match host.split_once('%') {
        None => host.parse().ok().map(|ip| (ip, None)),
        Some((address, zone)) => address.parse().ok().filter(IpAddr::is_ipv6).map(|ip| (ip, Some(zone))),
    }
}

/// A host without its zone, which says by which interface of ours to go, not who is there.
pub(crate) fn without_zone(host: &str) -> &str {
    match host.split_once('%') {
        Some((address, _)) if address_and_zone(host).is_some() => address,
        _ => host,
    }
}

/// What is wrong, and from where on (empty where Go does not say).
struct Fault<'a> {
    reason: &'static str,
    at: &'a str,
}

fn wrong<'a>(reason: &'static str, at: &'a str) -> Option<Fault<'a>> {
    Some(Fault { reason, at })
}

fn fault(text: &str) -> Option<Fault<'_>> {
    match text.bytes().find(|byte| matches!(byte, b'.' | b':' | b'%')) {
        Some(b'.') => ipv4_fault(text),
        Some(b':') => ipv6_fault(text),
        Some(_) => wrong("missing IPv6 address", ""),
        None => wrong("unable to parse IP", ""),
    }
}

fn ipv4_fault(text: &str) -> Option<Fault<'_>> {
    const FIELDS: usize = 4;
    let (mut value, mut digits, mut dots) = (0_u32, 0, 0);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'0'..=b'9' => {
                if digits == 1 && value == 0 {
                    return wrong("IPv4 field has octet with leading zero", "");
                }
                value = value * 10 + u32::from(byte - b'0');
                digits += 1;
                if value > 255 {
                    return wrong("IPv4 field has value >255", "");
                }
            }
            b'.' => {
                if digits == 0 || at + 1 == text.len() {
                    return wrong("IPv4 field must have at least one digit", &text[at..]);
                }
                dots += 1;
                if dots == FIELDS {
                    return wrong("IPv4 address too long", "");
                }
                (value, digits) = (0, 0);
            }
            // Before it is ASCII only.
            _ => return wrong("unexpected character", &text[at..]),
        }
    }
    if dots + 1 < FIELDS { wrong("IPv4 address too short", "") } else { None }
}

fn ipv6_fault(text: &str) -> Option<Fault<'_>> {
    /// Groups of 16 bits.
    const GROUPS: usize = 8;
    const DIGITS_MAX: usize = 4;
    let mut rest = text;
    if let Some((address, zone)) = text.split_once('%') {
        if zone.is_empty() {
            return wrong("zone must be a non-empty string", "");
        }
        rest = address;
    }
    let (mut groups, mut gap) = (0, false);
    if let Some(after) = rest.strip_prefix("::") {
        (rest, gap) = (after, true);
    }
    while groups < GROUPS && !(gap && rest.is_empty()) {
        let digits = rest.bytes().take_while(u8::is_ascii_hexdigit).count();
        if digits > DIGITS_MAX {
            return wrong("each group must have 4 or less digits", rest);
        }
        if digits == 0 {
            return wrong("each colon-separated field must have at least one digit", rest);
        }
        if rest[digits..].starts_with('.') {
            if !gap && groups != GROUPS - 2 {
                return wrong("embedded IPv4 address must replace the final 2 fields of the address", rest);
            }
            if groups + 2 > GROUPS {
                return wrong("too many hex fields to fit an embedded IPv4 at the end of the address", rest);
            }
            if let Some(fault) = ipv4_fault(rest) {
                return Some(fault);
            }
            (groups, rest) = (groups + 2, "");
            break;
        }
        groups += 1;
        rest = &rest[digits..];
        let Some(after) = rest.strip_prefix(':') else {
            if rest.is_empty() {
                break;
            }
            return wrong("unexpected character, want colon", rest);
        };
        if after.is_empty() {
            return wrong("colon must be followed by more characters", rest);
        }
        rest = after;
        if let Some(after) = rest.strip_prefix(':') {
            if gap {
                return wrong("multiple :: in address", rest);
            }
            (rest, gap) = (after, true);
        }
    }
    match (rest.is_empty(), groups < GROUPS, gap) {
        (false, ..) => wrong("trailing garbage after address", rest),
        (true, true, false) => wrong("address string too short", ""),
        (true, false, true) => wrong("the :: must expand to at least one field of zeros", ""),
        (true, ..) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Recorded from k6.
    #[test]
    fn what_is_wrong_as_k6_says_it() {
        let says = |text: &str, expect: &str| {
            let error = check(text).unwrap_err();
            let rest = error.strip_prefix(&format!("invalid host: ParseAddr({}): ", go_quote(text)));
            assert_eq!(rest.unwrap_or(&error), expect, "{text}");
        };
        says("", "unable to parse IP");
        says("x", "unable to parse IP");
        says("127.0.0.1", "invalid IP-literal");
        says("v1.x", r#"unexpected character (at "v1.x")"#);
        says("1.2.3.4%lo", r#"unexpected character (at "%lo")"#);
        says("1.2.3:4", r#"unexpected character (at ":4")"#);
        says("%lo", "missing IPv6 address");
        says("fe80::1%", "zone must be a non-empty string");
        says("1::2::3", r#"multiple :: in address (at ":3")"#);
        says("1:2", "address string too short");
        says("12345::", r#"each group must have 4 or less digits (at "12345::")"#);
        says("::1.2.3", "IPv4 address too short");
        says("::1.2.3.456", "IPv4 field has value >255");
        says("::1.2.3.04", "IPv4 field has octet with leading zero");
        says(":::", r#"each colon-separated field must have at least one digit (at ":")"#);
        says(":1::", r#"each colon-separated field must have at least one digit (at ":1::")"#);
        says("g::", r#"each colon-separated field must have at least one digit (at "g::")"#);
        says("1::2:", r#"colon must be followed by more characters (at ":")"#);
        says("1:2:3:4:5:6:7:8:9", r#"trailing garbage after address (at "9")"#);
        says("1:2:3:4:5:6:7::8", "the :: must expand to at least one field of zeros");
        says(
            "1:2:3:4:5:6:7:1.2.3.4",
            r#"embedded IPv4 address must replace the final 2 fields of the address (at "1.2.3.4")"#,
        );
    }

    #[test]
    fn zones() {
        let ip = |text: &str| text.parse::<IpAddr>().unwrap();
        assert_eq!(address_and_zone("fe80::1%eth0"), Some((ip("fe80::1"), Some("eth0"))));
        assert_eq!(address_and_zone("127.0.0.1"), Some((ip("127.0.0.1"), None)));
        assert_eq!(address_and_zone("127.0.0.1%lo"), None);
        assert_eq!(address_and_zone("a.test"), None);
        for (host, bare) in [("fe80::1%eth0", "fe80::1"), ("::1", "::1"), ("a.test", "a.test"), ("a%b", "a%b")] {
            assert_eq!(without_zone(host), bare);
        }
    }

    proptest! {
        /// The two parsers agree on what an address is.
        #[test]
        fn fits_the_parser(text in "[0-9a-f:.]{0,24}|([0-9a-f]{1,4}:){0,8}(:|[0-9a-f]{1,4})([.][0-9]{1,3}){0,4}|[0-9]{1,3}([.][0-9]{1,3}){3}") {
            prop_assert_eq!(fault(&text).is_none(), text.parse::<IpAddr>().is_ok(), "{}", text);
        }
    }
}
