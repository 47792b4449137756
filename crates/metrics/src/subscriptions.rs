//! Who reads which tag: what a sample's tags are reduced to before it is folded.
//!
//! A tag nobody reads is never built: not by the protocol code (which asks
//! [`Subscriptions::wants`]) and not by the shard. Readers are thresholds on
//! sub-metrics, the summary (checks by name, groups) and outputs.

use rustc_hash::FxHashMap;

use crate::{
    builtin,
    registry::MetricId,
    submetric::SubMetric,
    tag::{KeySet, SystemTag, SystemTags, TagKey},
};

/// The tags each metric keeps. Immutable once built; one serves all threads.
#[derive(Clone, Debug)]
pub struct Subscriptions {
    names: Vec<Box<str>>,
    keys: FxHashMap<Box<str>, TagKey>,
    everywhere: KeySet,
    by_metric: FxHashMap<MetricId, KeySet>,
    /// System tags that are both switched on and read by some metric.
    wanted: SystemTags,
    keeps_all: bool,
    builds_all: bool,
    /// The system tags that are switched on.
    enabled: SystemTags,
    named_values: Vec<Box<str>>,
}

impl Subscriptions {
    /// Most tag names that can be subscribed to.
    pub const KEYS_MAX: usize = 4_096;

    /// Starts with no reader and the default system tags.
    pub fn builder() -> SubscriptionsBuilder {
        SubscriptionsBuilder::default()
    }

    /// Whether any metric keeps this system tag, so that its value is worth computing.
    pub fn wants(&self, tag: SystemTag) -> bool {
        self.wanted.contains(tag)
    }

    /// The key of a tag name, or `None` if nobody reads it and it can be dropped. With [`Subscriptions::keeps_all`],
    /// unknown names get their keys from [`crate::Shard::key`].
    pub fn key(&self, name: &str) -> Option<TagKey> {
        self.keys.get(name).copied().filter(|key| self.builds_all || self.is_used(*key))
    }

    /// The name behind a key of this table.
    pub fn name(&self, key: TagKey) -> Option<&str> {
        self.names.get(usize::from(key.0)).map(AsRef::as_ref)
    }

    /// Whether every tag of every metric is kept.
    pub fn keeps_all(&self) -> bool {
        self.keeps_all
    }

    /// Whether every tag is built, although metrics keep only what is read: for outputs of raw samples.
    pub fn builds_all(&self) -> bool {
        self.builds_all
    }

    /// Whether the option `systemTags` switches a tag on; for those that are metadata.
    pub fn is_enabled(&self, tag: SystemTag) -> bool {
        self.enabled.contains(tag)
    }

    /// Values that sub-metrics select by.
    pub(crate) fn named_values(&self) -> impl Iterator<Item = &str> {
        self.named_values.iter().map(AsRef::as_ref)
    }

    /// How many keys the table has; keys a shard adds come after them.
    pub(crate) fn keys_len(&self) -> usize {
        self.names.len()
    }

    /// The keys a metric keeps.
    pub(crate) fn kept_by(&self, metric: MetricId) -> &KeySet {
        self.by_metric.get(&metric).unwrap_or(&self.everywhere)
    }

    fn is_used(&self, key: TagKey) -> bool {
        self.everywhere.contains(key) || self.by_metric.values().any(|kept| kept.contains(key))
    }
}

/// Collects readers for [`Subscriptions`].
#[derive(Clone, Debug)]
pub struct SubscriptionsBuilder {
    enabled: SystemTags,
    names: Vec<Box<str>>,
    keys: FxHashMap<Box<str>, TagKey>,
    everywhere: KeySet,
    by_metric: FxHashMap<MetricId, KeySet>,
    keeps_all: bool,
    builds_all: bool,
    named_values: Vec<Box<str>>,
}

impl Default for SubscriptionsBuilder {
    fn default() -> Self {
        let names: Vec<Box<str>> = SystemTag::ALL.into_iter().map(|tag| tag.as_str().into()).collect();
        let keys = names.iter().cloned().zip(SystemTag::ALL.map(SystemTag::key)).collect();
        Self {
            enabled: SystemTag::DEFAULTS,
            names,
            keys,
            everywhere: KeySet::default(),
            by_metric: FxHashMap::default(),
            keeps_all: false,
            builds_all: false,
            named_values: Vec::new(),
        }
    }
}

impl SubscriptionsBuilder {
    /// The system tags that are switched on (option `systemTags`). Those that are off are never set by the system.
    #[must_use]
    pub fn system_tags(mut self, enabled: SystemTags) -> Self {
        self.enabled = enabled;
        self
    }

    /// What the end-of-test summary reads: checks by group and name, the group
    /// tree, and `http_req_duration{expected_response:true}`.
    #[must_use]
    pub fn for_summary(self) -> Self {
        self.keep(builtin::CHECKS, SystemTag::Group)
            .keep(builtin::CHECKS, SystemTag::Check)
            .keep(builtin::GROUP_DURATION, SystemTag::Group)
            .keep(builtin::HTTP_REQ_DURATION, SystemTag::ExpectedResponse)
    }

    /// Makes `submetric`'s metric keep the tags it selects by.
    #[must_use]
    pub fn submetric(mut self, submetric: &SubMetric) -> Self {
        for (name, value) in &submetric.tags {
            self = self.keep_key(submetric.metric, name);
            self.named_values.push(value.as_str().into());
        }
        self
    }

    /// Makes one metric keep a system tag.
    #[must_use]
    pub fn keep(mut self, metric: MetricId, tag: SystemTag) -> Self {
        self.by_metric.entry(metric).or_default().insert(tag.key());
        self
    }

    /// Makes one metric keep the tag called `name`.
    #[must_use]
    pub fn keep_key(mut self, metric: MetricId, name: &str) -> Self {
        if let Some(key) = self.intern(name) {
            self.by_metric.entry(metric).or_default().insert(key);
        }
        self
    }

    /// Makes every metric keep a system tag.
    #[must_use]
    pub fn keep_everywhere(mut self, tag: SystemTag) -> Self {
        self.everywhere.insert(tag.key());
        self
    }

    /// Makes every metric keep the tag called `name`.
    #[must_use]
    pub fn keep_key_everywhere(mut self, name: &str) -> Self {
        if let Some(key) = self.intern(name) {
            self.everywhere.insert(key);
        }
        self
    }

    /// Has every tag built, whoever reads it, so that raw samples carry all of them ([`crate::Tap`]).
    #[must_use]
    pub fn build_all(mut self) -> Self {
        self.builds_all = true;
        self
    }

    /// Makes every metric keep every tag: for outputs of whole time series.
    #[must_use]
    pub fn keep_all(mut self) -> Self {
        self.keeps_all = true;
        self.builds_all = true;
        self.everywhere.insert_all();
        self
    }

    /// The finished table.
    pub fn build(self) -> Subscriptions {
        let Self { enabled, names, keys, everywhere, mut by_metric, keeps_all, builds_all, named_values } = self;
        for kept in by_metric.values_mut() {
            kept.union(&everywhere);
        }
        let wanted = SystemTags::NONE;
        let mut built =
            Subscriptions { names, keys, everywhere, by_metric, wanted, keeps_all, builds_all, enabled, named_values };
        built.wanted =
            enabled.iter().filter(|tag| !tag.is_metadata() && (builds_all || built.is_used(tag.key()))).collect();
        built
    }

    fn intern(&mut self, name: &str) -> Option<TagKey> {
        if let Some(key) = self.keys.get(name) {
            return Some(*key);
        }
        if self.names.len() >= Subscriptions::KEYS_MAX {
            return None;
        }
        // The cast cannot truncate: KEYS_MAX bounds the length.
        let key = TagKey(self.names.len() as u16);
        self.names.push(name.into());
        self.keys.insert(name.into(), key);
        Some(key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_wanted_by_default() {
        let none = Subscriptions::builder().build();
        assert!(SystemTag::ALL.into_iter().all(|tag| !none.wants(tag)));
        assert_eq!(none.key("status"), None);
        assert_eq!(none.key("mine"), None);
    }

    #[test]
    fn a_metric_keeps_its_own_and_the_common_keys() {
        let built = Subscriptions::builder()
            .for_summary()
            .keep_everywhere(SystemTag::Scenario)
            .keep_key(builtin::CHECKS, "mine")
            .build();
        assert!(built.wants(SystemTag::Check) && built.wants(SystemTag::Scenario) && !built.wants(SystemTag::Url));
        let mine = built.key("mine").expect("subscribed");
        assert_eq!(built.name(mine), Some("mine"));
        assert!(built.kept_by(builtin::CHECKS).contains(mine));
        assert!(built.kept_by(builtin::CHECKS).contains(SystemTag::Scenario.key()));
        assert!(built.kept_by(builtin::HTTP_REQS).contains(SystemTag::Scenario.key()));
        assert!(!built.kept_by(builtin::HTTP_REQS).contains(mine));
        assert!(!built.kept_by(builtin::HTTP_REQS).contains(SystemTag::Check.key()));
    }

    #[test]
    fn switched_off_and_metadata_tags_are_never_wanted() {
        let built = Subscriptions::builder().system_tags(SystemTags::NONE).for_summary().build();
        assert!(!built.wants(SystemTag::Check));
        let all = Subscriptions::builder().system_tags(SystemTag::ALL.into_iter().collect()).keep_all().build();
        assert!(all.wants(SystemTag::Ip) && !all.wants(SystemTag::Vu) && !all.wants(SystemTag::Iter));
    }
}
