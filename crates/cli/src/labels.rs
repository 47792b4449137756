//! `--label`: what an agent says of itself, and the tags its samples get from it.

use std::collections::BTreeMap;

use onrush_cluster::Capacity;
use onrush_engine::Allowance;

use crate::{failure::Failure, flags::Flags};

/// The label that `--zone` chooses agents by.
pub(crate) const ZONE: &str = "zone";

/// The labels of this agent.
///
/// # Errors
/// 255 for a text that is no label.
pub(crate) fn labels(flags: &Flags) -> Result<BTreeMap<String, String>, Failure> {
    let mut labels = BTreeMap::new();
    for text in flags.values("label") {
        let is_name = |name: &str| {
            !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
        };
        let label = text.split_once('=').filter(|(name, value)| is_name(name) && !value.is_empty());
        let Some((name, value)) = label else {
            return Err(Failure::other(format!("invalid --label \"{text}\": use NAME=VALUE, such as zone=eu")));
        };
        labels.insert(name.to_owned(), value.to_owned());
    }
    Ok(labels)
}

/// The tags of an agent in a zone, as k6's cloud has them.
pub(crate) fn tags(labels: &BTreeMap<String, String>, agent: u32) -> Vec<(String, String)> {
    let Some(zone) = labels.get(ZONE) else { return Vec::new() };
    vec![("load_zone".to_owned(), zone.clone()), ("instance_id".to_owned(), agent.to_string())]
}

/// What this machine can bear.
pub(crate) fn capacity() -> Capacity {
    let files = onrush_fiber::raise_fd_limit().soft.unwrap_or(u64::MAX);
    let Allowance { cores, memory_bytes } = Allowance::of_process();
    Capacity { cores, memory_bytes, files }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_have_names_and_values() {
        let read = |texts: &[&str]| {
            let values = texts.iter().map(|&text| text.to_owned()).collect();
            labels(&Flags { by_name: [("label", values)].into(), ..Flags::default() }).map_err(|error| error.message)
        };
        let both = read(&["zone=amazon:us:ashburn", "disk=a=b"]).expect("right");
        assert_eq!((both["zone"].as_str(), both["disk"].as_str()), ("amazon:us:ashburn", "a=b"));
        for bad in ["", "zone", "zone=", "=eu", "a b=c"] {
            let error = read(&[bad]).expect_err(bad);
            assert_eq!(error, format!("invalid --label \"{bad}\": use NAME=VALUE, such as zone=eu"));
        }
        assert_eq!(tags(&both, 3)[1], ("instance_id".to_owned(), "3".to_owned()));
        assert!(tags(&BTreeMap::new(), 3).is_empty());
    }
}
