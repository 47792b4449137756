//! What deltas carry beside their series.

use crate::{
    delta::{CardinalityWarning, Delta},
    outcome::Outcomes,
};

/// The sum of several deltas, their series left out.
#[derive(Clone, Debug, Default)]
pub(crate) struct Remarks {
    /// The first warning about each tag.
    pub(crate) warnings: Vec<CardinalityWarning>,
    pub(crate) values_cut: u64,
    pub(crate) samples_lost: u64,
    pub(crate) outcomes: Outcomes,
}

impl Remarks {
    pub(crate) fn add(&mut self, delta: &Delta) {
        for warning in &delta.warnings {
            if self.warnings.iter().all(|known| known.tag != warning.tag) {
                self.warnings.push(warning.clone());
            }
        }
        self.values_cut += delta.values_cut;
        self.samples_lost += delta.samples_lost;
        delta.outcomes.iter().for_each(|outcome| self.outcomes.add(outcome));
    }
}
