//! Host name patterns (`blockHostnames`, `hosts`) and what `hosts` maps them to.

use std::{collections::BTreeMap, fmt, net::IpAddr, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Where a host name leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HostTarget {
    /// To an address.
    Ip {
        /// The address.
        ip: IpAddr,
        /// The port, if it replaces the URL's.
        port: Option<u16>,
    },
    /// To the Unix domain socket with this absolute path (k6 has none).
    Unix(String),
}

impl fmt::Display for HostTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ip { ip, port: None } => write!(f, "{ip}"),
            Self::Ip { ip: IpAddr::V4(ip), port: Some(port) } => write!(f, "{ip}:{port}"),
            Self::Ip { ip: IpAddr::V6(ip), port: Some(port) } => write!(f, "[{ip}]:{port}"),
            Self::Unix(path) => write!(f, "unix:{path}"),
        }
    }
}

impl FromStr for HostTarget {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let invalid = || format!("invalid host address '{text}'");
        if let Some(path) = text.strip_prefix("unix:") {
            return if path.starts_with('/') && path.len() <= UNIX_PATH_BYTES_MAX && !path.contains('\0') {
                Ok(Self::Unix(path.to_owned()))
            } else {
                Err(format!(
                    "{}: the path of a Unix domain socket must be absolute, with at most {UNIX_PATH_BYTES_MAX} bytes",
                    invalid()
                ))
            };
        }
        if let Ok(ip) = text.parse() {
            return Ok(Self::Ip { ip, port: None });
        }
        let (host, port) = text.rsplit_once(':').ok_or_else(invalid)?;
        let host = host.strip_prefix('[').and_then(|h| h.strip_suffix(']')).unwrap_or(host);
        let ip = host.parse().map_err(|_| invalid())?;
        let port: u16 = port.parse().map_err(|_| invalid())?;
        // k6: port 0 is as good as none.
        Ok(Self::Ip { ip, port: (port != 0).then_some(port) })
    }
}

impl Serialize for HostTarget {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for HostTarget {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// What Linux takes, without the zero at its end.
const UNIX_PATH_BYTES_MAX: usize = 107;

/// True when `name` (any letter case) is matched by a `blockHostnames` pattern: exactly, or by a leading `*`.
#[must_use]
pub fn matches_hostname(pattern: &str, name: &str) -> bool {
    let (pattern, name) = (pattern.to_ascii_lowercase(), name.to_ascii_lowercase());
    match pattern.strip_prefix('*') {
        Some(suffix) => name.ends_with(suffix),
        None => name == pattern,
    }
}

/// Where `hosts` sends `name` with `port`: `name:port` before `name`, exact before `*`, longer before shorter.
#[must_use]
pub fn lookup_host(hosts: &BTreeMap<String, HostTarget>, name: &str, port: u16) -> Option<HostTarget> {
    let name = name.to_ascii_lowercase();
    let with_port = format!("{name}:{port}");
    let wildcard = |text: &str| {
        hosts
            .iter()
            .filter_map(|(pattern, target)| Some((pattern.strip_prefix('*')?, target)))
            .filter(|(suffix, _)| text.ends_with(suffix))
            .max_by_key(|(suffix, _)| suffix.len())
            .map(|(_, target)| target)
    };
    hosts
        .get(&with_port)
        .or_else(|| hosts.get(&name))
        .or_else(|| wildcard(&with_port))
        .or_else(|| wildcard(&name))
        .cloned()
}

/// `*` or `*.` may lead; then dot-separated labels of letters, digits and inner dashes, or nothing.
fn is_hostname_pattern(text: &str) -> bool {
    let rest = text.strip_prefix('*').map_or(text, |rest| rest.strip_prefix('.').unwrap_or(rest));
    let label = |label: &str| {
        let bytes = label.as_bytes();
        bytes.first().is_some_and(u8::is_ascii_alphanumeric)
            && bytes.last().is_some_and(u8::is_ascii_alphanumeric)
            && bytes.iter().all(|b| b.is_ascii_alphanumeric() || *b == b'-')
    };
    rest.is_empty() || rest.split('.').all(label)
}

fn is_host_pattern(text: &str) -> bool {
    match text.split_once(':') {
        None => is_hostname_pattern(text),
        Some((name, port)) => {
            is_hostname_pattern(name) && (1..=5).contains(&port.len()) && port.bytes().all(|b| b.is_ascii_digit())
        }
    }
}

/// Checks `blockHostnames`.
pub(super) fn checked_patterns(patterns: Vec<String>) -> Result<Vec<String>, String> {
    match patterns.iter().find(|pattern| !is_hostname_pattern(pattern)) {
        Some(pattern) => Err(format!("invalid hostname pattern '{pattern}'")),
        // k6: an empty one blocks nothing.
        None => Ok(patterns.into_iter().filter(|pattern| !pattern.is_empty()).collect()),
    }
}

/// Checks the keys of `hosts` and lowers their case.
pub(super) fn checked_targets(hosts: BTreeMap<String, HostTarget>) -> Result<BTreeMap<String, HostTarget>, String> {
    hosts
        .into_iter()
        .map(|(pattern, target)| {
            if is_host_pattern(&pattern) {
                Ok((pattern.to_ascii_lowercase(), target))
            } else {
                Err(format!("invalid host pattern '{pattern}'"))
            }
        })
        .collect()
}

pub(super) fn patterns<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<String>>, D::Error> {
    let patterns = Option::<Vec<String>>::deserialize(deserializer)?;
    patterns.map(|p| checked_patterns(p).map_err(serde::de::Error::custom)).transpose()
}

pub(super) fn targets<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<BTreeMap<String, HostTarget>>, D::Error> {
    let hosts = Option::<BTreeMap<String, HostTarget>>::deserialize(deserializer)?;
    hosts.map(|h| checked_targets(h).map_err(serde::de::Error::custom)).transpose()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostname_patterns() {
        for good in ["*a", "EXAMPLE.com", "xn--4ca.com", "1.2.3.4", "*", "", "*.a.b", "a-b.c"] {
            assert!(is_hostname_pattern(good), "{good:?}");
        }
        for bad in
            ["a.*", "ü.com", "foo_bar", "*.b.*", "-a", "a-", "a..b", ".a", "a.", "*..a", "[::1]", "a:80", "**", "a b"]
        {
            assert!(!is_hostname_pattern(bad), "{bad:?}");
        }
    }

    #[test]
    fn host_patterns() {
        for good in ["*.a:80", "1.2.3.4:80", "a:80", "a:99999", ":80", "*:80", "a:080"] {
            assert!(is_host_pattern(good), "{good:?}");
        }
        for bad in ["a:", "a:123456", "a:foo", "[::1]:80", "a*"] {
            assert!(!is_host_pattern(bad), "{bad:?}");
        }
    }

    #[test]
    fn targets_read_and_print() {
        for (text, expect) in [
            ("1.2.3.4", "1.2.3.4"),
            ("1.2.3.4:80", "1.2.3.4:80"),
            ("1.2.3.4:0", "1.2.3.4"),
            ("::1", "::1"),
            ("[::1]:8080", "[::1]:8080"),
            ("unix:/run/app.sock", "unix:/run/app.sock"),
            (
                "unix:app.sock",
                "invalid host address 'unix:app.sock': the path of a Unix domain socket must be absolute, with at most \
                 107 bytes",
            ),
            ("foo", "invalid host address 'foo'"),
            ("", "invalid host address ''"),
            ("1.2.3.4:99999", "invalid host address '1.2.3.4:99999'"),
        ] {
            assert_eq!(text.parse::<HostTarget>().map_or_else(|e| e, |t| t.to_string()), expect);
        }
    }

    #[test]
    fn the_most_exact_host_wins() {
        let hosts: BTreeMap<String, HostTarget> = [
            ("a.com", "1.1.1.1"),
            ("a.com:8080", "1.1.1.2"),
            ("*.com", "1.1.1.3"),
            ("*.b.com", "1.1.1.4"),
            ("*.b.com:81", "1.1.1.5"),
        ]
        .into_iter()
        .map(|(k, v)| (k.to_owned(), v.parse().unwrap()))
        .collect();
        let check = |name: &str, port, expect: Option<&str>| {
            assert_eq!(lookup_host(&hosts, name, port).map(|t| t.to_string()).as_deref(), expect, "{name}:{port}");
        };
        check("A.com", 80, Some("1.1.1.1"));
        check("a.com", 8080, Some("1.1.1.2"));
        check("x.b.com", 80, Some("1.1.1.4"));
        check("x.b.com", 81, Some("1.1.1.5"));
        check("x.com", 80, Some("1.1.1.3"));
        check("x.org", 80, None);
        assert!(matches_hostname("*.Com", "a.cOM"));
        assert!(!matches_hostname("a.com", "b.a.com"));
    }
}
