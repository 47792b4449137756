//! `--out statsd` and `--out datadog`: what all agents measured together, as datagrams.

use onrush_output::statsd::{Address, Config, Dialect, StatsD};

use super::{
    asked::Asked,
    delivered::{self, Arrived},
    output::Wish,
};
use crate::{failure::Failure, masked};

/// `statsd=host:port`, `statsd=unix:///path`, and variables.
pub(super) fn read_statsd(asked: &Asked<'_>) -> Result<Wish, Failure> {
    asked.naming(read(asked, Dialect::StatsD))
}

/// The same for `datadog`.
pub(super) fn read_datadog(asked: &Asked<'_>) -> Result<Wish, Failure> {
    asked.naming(read(asked, Dialect::Datadog))
}

fn read(asked: &Asked<'_>, dialect: Dialect) -> Result<Wish, Failure> {
    // Datadog's own output of k6 had fewer settings, and another name for the list of tags.
    let (prefix, list) = match dialect {
        Dialect::StatsD => ("K6_STATSD_", "TAG_BLOCKLIST"),
        Dialect::Datadog => ("K6_DATADOG_", "TAG_BLACKLIST"),
    };
    let name = |name: &str| format!("{prefix}{name}");
    let text = asked.argument().or_else(|| asked.text(&name("ADDR"), "addr"));
    let text = text.unwrap_or_else(|| Config::ADDRESS.to_owned());
    let address = address(&text).ok_or_else(|| {
        Failure::other(format!("\"{}\" is no address", masked::address(&text))).hint(format!(
            "write {}={} or {}=unix:///var/run/datadog/dsd.socket",
            asked.name,
            Config::ADDRESS,
            asked.name
        ))
    })?;
    let lines = |text: &str| text.parse::<usize>().ok().filter(|lines| (1..=LINES_MAX).contains(lines));
    let hint = format!("use a number from 1 to {LINES_MAX}");
    let left_out =
        asked.text(&name("TAG_BLOCKLIST"), "tagBlocklist").or_else(|| asked.text(&name(list), "tagBlacklist"));
    let left_out = left_out.unwrap_or_else(|| Config::LEFT_OUT.to_owned());
    let config = Config {
        address,
        dialect,
        // An empty one is one, too.
        namespace: match asked.flags.env.get(&name("NAMESPACE")) {
            Some(namespace) => namespace.clone(),
            None => asked.text(&name("NAMESPACE"), "namespace").unwrap_or_else(|| Config::NAMESPACE.to_owned()),
        },
        push_interval: asked.duration(&name("PUSH_INTERVAL"), "pushInterval")?.unwrap_or(Config::PUSH_INTERVAL),
        lines_max: asked.parsed(&name("BUFFER_SIZE"), "bufferSize", &hint, lines)?.unwrap_or(Config::LINES_MAX),
        has_tags: asked.switch(&name("ENABLE_TAGS"), "enableTags")?.unwrap_or(dialect == Dialect::Datadog),
        left_out: left_out.split(',').map(|tag| tag.trim().to_owned()).collect(),
    };
    Ok(delivered::wish(config, format!("{} ({text})", asked.name), |config, registry, began, tell| {
        let (output, datagrams) = StatsD::new(config, registry, began, tell);
        Ok((output, Arrived::Datagrams(datagrams)))
    }))
}

/// More lines than a datagram has bytes are no more.
const LINES_MAX: usize = 8_192;

fn address(text: &str) -> Option<Address> {
    if let Some(path) = text.strip_prefix("unix://").or_else(|| text.strip_prefix("unixgram://")) {
        return (!path.is_empty()).then(|| Address::Unix(path.into()));
    }
    let text = text.strip_prefix("udp://").unwrap_or(text);
    let (host, port) = text.rsplit_once(':')?;
    let port: u16 = port.parse().ok()?;
    // What is none is not shown as one later: a password may be in it.
    let is_host = !host.is_empty() && !host.contains(['@', '/', '?', '#']);
    (is_host && port > 0).then(|| Address::Udp(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        let check = |text: &str, expect: Option<Address>| assert_eq!(address(text), expect, "{text}");
        check("localhost:8125", Some(Address::Udp("localhost:8125".to_owned())));
        check("udp://[::1]:1", Some(Address::Udp("[::1]:1".to_owned())));
        check("unix:///run/dsd.socket", Some(Address::Unix("/run/dsd.socket".into())));
        for wrong in ["", "localhost", ":8125", "a:b", "a:0", "a:65536", "unix://", "u:p@h:1", "http://h:1"] {
            check(wrong, None);
        }
    }
}
