//! Series of a step without some of their tags: those that are alike then become one.

use std::collections::BTreeMap;

use onrush_metrics::{MetricId, Sink, Step, TagPairs};

/// A series and the tags that were taken out of it.
pub(crate) struct Regrouped {
    pub(crate) metric: MetricId,
    /// The tags it keeps.
    pub(crate) tags: TagPairs,
    /// Tags that were taken out; those that its parts do not agree on are left out.
    pub(crate) apart: TagPairs,
    pub(crate) sink: Sink,
}

/// Takes out tags, and those without a name or a value. In an order that is always the same.
pub(crate) fn regrouped(step: Step, is_taken_out: impl Fn(&str) -> bool) -> Vec<Regrouped> {
    let mut all: BTreeMap<(MetricId, TagPairs), Regrouped> = BTreeMap::new();
    for series in step.delta.series {
        let named = series.tags.iter().filter(|(name, value)| !name.is_empty() && !value.is_empty()).cloned();
        let (apart, tags): (Vec<_>, Vec<_>) = named.partition(|(name, _)| is_taken_out(name));
        let (tags, apart) = (TagPairs::from(tags), TagPairs::from(apart));
        match all.get_mut(&(series.metric, tags.clone())) {
            Some(known) => {
                // Of one metric, so of one kind.
                let is_added = known.sink.merge(&series.sink);
                if is_added && known.apart != apart {
                    known.apart = known.apart.iter().filter(|pair| apart.contains(pair)).cloned().collect();
                }
            }
            None => {
                let key = (series.metric, tags.clone());
                all.insert(key, Regrouped { metric: series.metric, tags, apart, sink: series.sink });
            }
        }
    }
    all.into_values().collect()
}

#[cfg(test)]
mod tests {
    use onrush_metrics::{Delta, builtin};

    use super::*;

    #[test]
    fn what_is_alike_without_a_tag_is_added_up() {
        let mut delta = Delta::default();
        for (url, status, total) in [("/1", "200", 1), ("/2", "200", 2), ("/2", "500", 4), ("", "500", 8)] {
            let tags: TagPairs =
                [("host".into(), "h".into()), ("status".into(), status.into()), ("url".into(), url.into())].into();
            delta.push(builtin::HTTP_REQ_FAILED, tags, Sink::Rate { hits: 0, total });
        }
        let found = regrouped(Step { span: None, delta }, |name| name == "url");
        let shown: Vec<_> = found
            .iter()
            .map(|series| {
                let text = |tags: &TagPairs| {
                    tags.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(",")
                };
                (text(&series.tags), text(&series.apart), series.sink.rate())
            })
            .collect();
        let expect = [("host=h,status=200", "", Some((0, 3))), ("host=h,status=500", "", Some((0, 12)))];
        assert_eq!(shown, expect.map(|(tags, apart, rate)| (tags.to_owned(), apart.to_owned(), rate)));
        let found = regrouped(Step::default(), |_| true);
        assert!(found.is_empty());
    }
}
