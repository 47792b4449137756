//! `--features`: k6's switches for behaviour that may become the default later.

use std::collections::BTreeMap;

use onrush_plan::{Options, Tier};

use crate::{failure::Failure, flags::Flags};

/// A feature flag of k6 2.x.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Feature {
    /// Trends are kept as histograms. Here they always are.
    NativeHistograms,
    /// `tags` of a higher tier are added to those of the lower ones instead of replacing them.
    MergeRunTags,
    /// `__ENV` cannot be changed.
    FreezeEnv,
}

const ALL: [(Feature, &str); 3] = [
    (Feature::NativeHistograms, "native-histograms"),
    (Feature::MergeRunTags, "merge-run-tags"),
    (Feature::FreezeEnv, "freeze-env"),
];

/// The features that are on.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Features(Vec<Feature>);

impl Features {
    /// Reads `--features`, else `K6_FEATURES`, else the config file's. k6 leaves out one that is unknown, and goes on.
    ///
    /// # Errors
    /// 104 for a feature that there is not.
    pub(crate) fn read(flags: &Flags, config: &[String]) -> Result<Self, Failure> {
        let mut names = flags.values("features");
        if names.is_empty() {
            names.extend(flags.env.get("K6_FEATURES").cloned());
        }
        if names.is_empty() {
            names = config.to_vec();
        }
        let mut on = Vec::new();
        for name in names.iter().flat_map(|names| names.split(',')).map(str::trim).filter(|name| !name.is_empty()) {
            match ALL.iter().find(|(_, known)| *known == name) {
                Some((feature, _)) => on.push(*feature),
                None => {
                    let known: Vec<&str> = ALL.iter().map(|(_, name)| *name).collect();
                    let what = match onrush_plan::closest(name, &known) {
                        Some(meant) => format!("did you mean {meant}?"),
                        None => format!("use {}", known.join(", ")),
                    };
                    return Err(Failure::config(format!("unknown feature flag '{name}', {what}")));
                }
            }
        }
        on.sort_unstable();
        on.dedup();
        Ok(Self(on))
    }

    /// The names of those that are on, between commas.
    pub(crate) fn names(&self) -> String {
        let names = ALL.iter().filter(|(feature, _)| self.0.contains(feature)).map(|(_, name)| *name);
        names.collect::<Vec<_>>().join(",")
    }

    /// `__ENV` is frozen.
    pub(crate) fn freezes_env(&self) -> bool {
        self.0.contains(&Feature::FreezeEnv)
    }

    /// Adds to the run's tags what the features make of them. k6: each that is on is a tag, too.
    pub(crate) fn lay_tags(&self, tiers: &mut [(Tier, Options)]) {
        if self.0.is_empty() {
            return;
        }
        let mut given = tiers.iter().filter_map(|(_, options)| options.tags.as_ref());
        let mut tags: BTreeMap<String, String> = if self.0.contains(&Feature::MergeRunTags) {
            given.flatten().map(|(name, value)| (name.clone(), value.clone())).collect()
        } else {
            given.next_back().cloned().unwrap_or_default()
        };
        let names = ALL.iter().filter(|(feature, _)| self.0.contains(feature)).map(|(_, name)| name.replace('-', "_"));
        tags.extend(names.map(|name| (format!("k6_feature_{name}"), "true".to_owned())));
        if let Some((_, highest)) = tiers.last_mut() {
            highest.tags = Some(tags);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags() {
        let tier = |tier, pairs: &[(&str, &str)]| {
            let tags = pairs.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect();
            (tier, Options { tags: Some(tags), ..Options::default() })
        };
        let check = |on: &[Feature], expect: &str| {
            let mut tiers = vec![
                tier(Tier::Config, &[("a", "1"), ("b", "1")]),
                tier(Tier::Script, &[("b", "2")]),
                (Tier::Cli, Options::default()),
            ];
            Features(on.to_vec()).lay_tags(&mut tiers);
            let tags = tiers.into_iter().rev().find_map(|(_, options)| options.tags).unwrap_or_default();
            let tags: Vec<String> = tags.iter().map(|(name, value)| format!("{name}={value}")).collect();
            assert_eq!(tags.join(" "), expect, "{on:?}");
        };
        check(&[], "b=2");
        check(&[Feature::FreezeEnv], "b=2 k6_feature_freeze_env=true");
        check(&[Feature::MergeRunTags], "a=1 b=2 k6_feature_merge_run_tags=true");
    }
}
