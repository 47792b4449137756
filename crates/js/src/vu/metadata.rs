//! A VU's metadata: what raw outputs write beside a sample's tags, and nothing else reads.

use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    sync::Arc,
};

use onrush_metrics::{SystemTag, TagPairs};

use super::Vu;

/// Entries a script has set, and the whole as samples carry it.
#[derive(Default)]
pub(crate) struct Metadata {
    entries: RefCell<BTreeMap<String, String>>,
    pairs: RefCell<Option<TagPairs>>,
    /// `pairs` is what it should be.
    is_current: Cell<bool>,
}

impl Metadata {
    /// Entries a script may set.
    const ENTRIES_MAX: usize = 1000;

    /// Sets an entry; `false` if there are too many.
    pub(crate) fn set(&self, name: String, value: String) -> bool {
        let mut entries = self.entries.borrow_mut();
        if entries.len() >= Self::ENTRIES_MAX && !entries.contains_key(&name) {
            return false;
        }
        entries.insert(name, value);
        self.is_current.set(false);
        true
    }

    /// Removes an entry.
    pub(crate) fn remove(&self, name: &str) {
        self.entries.borrow_mut().remove(name);
        self.is_current.set(false);
    }

    /// Forgets all entries: the VU begins another scenario.
    pub(crate) fn clear(&self) {
        self.entries.borrow_mut().clear();
        self.is_current.set(false);
    }

    /// The iteration has changed.
    pub(crate) fn outdate(&self) {
        self.is_current.set(false);
    }

    /// Everything a script can see, system metadata included.
    pub(crate) fn visible(&self, vu: &Vu) -> BTreeMap<String, String> {
        let mut all = system(vu);
        all.extend(self.entries.borrow().clone());
        all
    }

    /// What samples carry; `None` for nothing. Made once for each iteration or change, and only for raw outputs.
    pub(super) fn pairs(&self, vu: &Vu) -> Option<TagPairs> {
        if !self.is_current.replace(true) {
            let all = self.visible(vu);
            let pairs = all.into_iter().map(|(name, value)| (Arc::from(name), Arc::from(value)));
            *self.pairs.borrow_mut() = Some(pairs.collect::<TagPairs>()).filter(|pairs| !pairs.is_empty());
        }
        self.pairs.borrow().clone()
    }
}

/// k6: the system tags `vu` and `iter` are metadata.
fn system(vu: &Vu) -> BTreeMap<String, String> {
    let subscriptions = &vu.thread.config.subscriptions;
    let mut all = BTreeMap::new();
    // k6: setup() and teardown() have an iteration but no VU.
    let is_life_cycle = vu.id == 0;
    if subscriptions.is_enabled(SystemTag::Vu) && !is_life_cycle {
        all.insert("vu".to_owned(), vu.id.to_string());
    }
    if subscriptions.is_enabled(SystemTag::Iter)
        && let Some(iteration) = vu.iteration.get().or_else(|| is_life_cycle.then_some(0))
    {
        all.insert("iter".to_owned(), iteration.to_string());
    }
    all
}
