//! A VU's metadata: what raw outputs write beside a sample's tags, and nothing else reads.

use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    sync::Arc,
};

use onrush_metrics::TagPairs;

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

    /// What the script has set.
    pub(super) fn entries(&self) -> BTreeMap<String, String> {
        self.entries.borrow().clone()
    }

    /// What samples carry; `None` for nothing. `visible` is asked once for each iteration or change, and only for raw
    /// outputs.
    pub(super) fn pairs(&self, visible: impl FnOnce() -> BTreeMap<String, String>) -> Option<TagPairs> {
        if !self.is_current.replace(true) {
            let pairs = visible().into_iter().map(|(name, value)| (Arc::from(name), Arc::from(value)));
            *self.pairs.borrow_mut() = Some(pairs.collect::<TagPairs>()).filter(|pairs| !pairs.is_empty());
        }
        self.pairs.borrow().clone()
    }
}
