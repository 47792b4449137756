//! The tag set of a VU's samples.

use std::{collections::BTreeMap, rc::Rc};

use onrush_metrics::{MetricId, Shard, SystemTag, builtin};

use super::{Vu, context};

impl Vu {
    /// Interns the VU's tags again after scenario, group or custom tags changed.
    ///
    /// k6's order, later wins: run tags, scenario tags, group and scenario system tags, `exec.vu.metrics.tags`.
    pub(crate) fn refresh_tags(&self) {
        let mut shard = self.thread.shard.borrow_mut();
        let scenario = self.scenario.borrow().as_ref().map(|(index, _)| *index);
        let mut node = context::base_node(&mut shard, &self.thread.config, scenario);
        node = shard.with_system(node, SystemTag::Group, &self.group.borrow());
        if let Some(tags) = self.custom_tags.borrow().as_ref() {
            for (name, value) in tags {
                node = context::with_named(&mut shard, node, name, value);
            }
        }
        self.node.set(node);
    }

    /// Runs `body` inside the group `path`, restoring the outer group whatever happens.
    pub(crate) fn in_group<R>(&self, path: Rc<str>, body: impl FnOnce() -> R) -> R {
        let outer = self.group.replace(path);
        self.refresh_tags();
        let result = body();
        self.group.replace(outer);
        self.refresh_tags();
        result
    }

    /// All metadata a script can see, system metadata included.
    pub(crate) fn visible_metadata(&self) -> BTreeMap<String, String> {
        let mut all = self.system_metadata();
        all.extend(self.metadata.entries());
        all
    }

    /// k6: the system tags `vu` and `iter` are metadata.
    fn system_metadata(&self) -> BTreeMap<String, String> {
        let subscriptions = &self.thread.config.subscriptions;
        let mut all = BTreeMap::new();
        // k6: setup() and teardown() have an iteration but no VU.
        let is_life_cycle = self.id == 0;
        if subscriptions.is_enabled(SystemTag::Vu) && !is_life_cycle {
            all.insert("vu".to_owned(), self.id.to_string());
        }
        if subscriptions.is_enabled(SystemTag::Iter)
            && let Some(iteration) = self.iteration.get().or_else(|| is_life_cycle.then_some(0))
        {
            all.insert("iter".to_owned(), iteration.to_string());
        }
        all
    }

    /// Tells a tapped shard what metadata the samples to come have.
    #[inline]
    pub(crate) fn annotate(&self, shard: &mut Shard) {
        if shard.is_tapped() {
            shard.annotate(self.metadata.pairs(|| self.visible_metadata()).as_ref());
        }
    }

    /// The four samples of an iteration, or the first two of them for other calls.
    pub(crate) fn iteration_samples(&self, duration_ms: Option<f64>) {
        let node = self.node.get();
        let mut shard = self.thread.shard.borrow_mut();
        // Iterations of one scenario have the same tags: the series are looked up when they change.
        let cached = self.thread.iteration_series.get().filter(|(known, _)| *known == node);
        let (_, series) = cached.unwrap_or_else(|| {
            let metrics =
                [builtin::DATA_SENT, builtin::DATA_RECEIVED, builtin::ITERATION_DURATION, builtin::ITERATIONS];
            (node, metrics.map(|metric| shard.series(metric, node)))
        });
        self.thread.iteration_series.set(Some((node, series)));
        self.annotate(&mut shard);
        // k6's order, which raw outputs show.
        shard.add(series[0], self.connections.take_bytes_sent() as f64);
        shard.add(series[1], self.connections.take_bytes_received() as f64);
        if let Some(duration_ms) = duration_ms {
            shard.add(series[2], duration_ms);
            shard.add(series[3], 1.0);
        }
    }

    /// Adds a sample with the VU's current tags.
    pub(crate) fn sample(&self, metric: MetricId, value: f64) {
        let mut shard = self.thread.shard.borrow_mut();
        let series = shard.series(metric, self.node.get());
        self.annotate(&mut shard);
        shard.add(series, value);
    }
}
