//! The tag set of a VU's samples.

use std::{collections::BTreeMap, rc::Rc};

use onrush_metrics::{MetricId, Shard, SystemTag, builtin};

use super::{Vu, context};

impl Vu {
    /// Interns the VU's tags again after scenario, group or custom tags changed.
    ///
    /// k6's order, later wins: run tags, scenario tags, group and scenario system tags, `exec.vu.metrics.tags`.
    pub(crate) fn refresh_tags(&self) {
        let custom = self.custom_tags.borrow();
        let is_deleted = |name: &str| custom.as_ref().is_some_and(|tags| matches!(tags.get(name), Some(None)));
        let mut shard = self.thread.shard.borrow_mut();
        let scenario = self.scenario.borrow().as_ref().map(|(index, _)| *index);
        let mut node = context::base_node(&mut shard, &self.thread.config, scenario, &is_deleted);
        if !is_deleted(SystemTag::Group.as_str()) {
            node = shard.with_system(node, SystemTag::Group, &self.group.borrow());
        }
        for (name, value) in custom.iter().flatten() {
            if let Some(value) = value {
                node = context::with_named(&mut shard, node, name, value);
            }
        }
        self.node.set(node);
    }

    /// All tags a sample of this VU would carry now, those of the run first.
    pub(crate) fn visible_tags(&self) -> BTreeMap<String, String> {
        let config = &self.thread.config;
        let mut tags = config.tags.clone();
        if let Some((_, scenario)) = self.scenario.borrow().as_ref() {
            tags.extend(scenario.tags.clone());
            if config.subscriptions.is_enabled(SystemTag::Scenario) {
                tags.insert(SystemTag::Scenario.as_str().to_owned(), scenario.name.clone());
            }
        }
        if config.subscriptions.is_enabled(SystemTag::Group) {
            tags.insert(SystemTag::Group.as_str().to_owned(), self.group.borrow().to_string());
        }
        for (name, value) in self.custom_tags.borrow().iter().flatten() {
            match value {
                Some(value) => tags.insert(name.clone(), value.clone()),
                None => tags.remove(name),
            };
        }
        tags
    }

    /// Deletes a tag, whoever set it. Only one that would be there again is remembered, so that many may come and go.
    pub(crate) fn delete_tag(&self, name: String) {
        if let Some(tags) = self.custom_tags.borrow_mut().as_mut() {
            tags.remove(&name);
        }
        if self.visible_tags().contains_key(&name) {
            self.custom_tags.borrow_mut().get_or_insert_default().insert(name, None);
        }
        self.refresh_tags();
    }

    /// Calls `body` with the tag `name` of the VU, its scenario or the run, if one of them has it: as in k6, requests are
    /// named by it.
    pub(crate) fn with_given_name<R>(&self, body: impl FnOnce(Option<&str>) -> R) -> R {
        let name = SystemTag::Name.as_str();
        if let Some(own) = self.custom_tags.borrow().as_ref().and_then(|tags| tags.get(name)) {
            return body(own.as_deref());
        }
        let scenario = self.scenario.borrow();
        let of_scenario = scenario.as_ref().and_then(|(_, scenario)| scenario.tags.get(name));
        body(of_scenario.or_else(|| self.thread.config.tags.get(name)).map(String::as_str))
    }

    /// Runs `body` inside the group `path`, restoring the outer group whatever happens.
    pub(crate) fn in_group<R>(&self, path: Rc<str>, body: impl FnOnce() -> R) -> R {
        let outer = self.enter_group(path);
        let result = body();
        self.enter_group(outer);
        result
    }

    /// Returns the group there was. k6: one that was deleted is there again; and with the system tag off, a tag of this name is
    /// the script's alone.
    fn enter_group(&self, path: Rc<str>) -> Rc<str> {
        let outer = self.group.replace(path);
        if self.thread.config.subscriptions.is_enabled(SystemTag::Group)
            && let Some(tags) = self.custom_tags.borrow_mut().as_mut()
        {
            tags.remove(SystemTag::Group.as_str());
        }
        self.refresh_tags();
        outer
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
