//! The data behind `SharedArray`: one copy a process.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

/// The elements of one shared array, each as JSON text.
pub(crate) type Elements = Arc<[Box<str>]>;

/// All shared arrays of a run, by name.
#[derive(Default)]
pub(crate) struct SharedArrays {
    arrays: Mutex<BTreeMap<String, Elements>>,
}

impl SharedArrays {
    pub(crate) fn get(&self, name: &str) -> Option<Elements> {
        self.arrays.lock().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }

    /// Stores an array unless another VU was first, and returns the one that stays.
    pub(crate) fn insert(&self, name: String, elements: Elements) -> Elements {
        self.arrays.lock().unwrap_or_else(PoisonError::into_inner).entry(name).or_insert(elements).clone()
    }
}
