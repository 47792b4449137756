//! The tag set of a VU's samples.

use std::rc::Rc;

use onrush_metrics::{MetricId, SystemTag};

use super::{Vu, context};

impl Vu {
    /// Interns the VU's tags again after scenario, group or custom tags changed.
    ///
    /// k6's order, later wins: run tags, scenario tags, group and scenario system tags, `exec.vu.metrics.tags`.
    pub(crate) fn refresh_tags(&self) {
        let mut shard = self.thread.shard.borrow_mut();
        let scenario = self.scenario.borrow().as_ref().map(|(index, _)| *index);
        let config = &self.thread.config;
        let mut node = context::base_node(&mut shard, config, scenario);
        node = shard.with_system(node, SystemTag::Group, &self.group.borrow());
        if let Some(tags) = self.custom_tags.borrow().as_deref() {
            for (name, value) in tags {
                node = context::with_named(&mut shard, config, node, name, value);
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

    /// Adds a sample with the VU's current tags.
    pub(crate) fn sample(&self, metric: MetricId, value: f64) {
        let mut shard = self.thread.shard.borrow_mut();
        let series = shard.series(metric, self.node.get());
        shard.add(series, value);
    }
}
