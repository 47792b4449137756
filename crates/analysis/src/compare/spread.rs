//! How much runs of an unchanged system differ among themselves.

use super::Estimate;

/// What varies from run to run beyond the noise within each: placement, caches, neighbours.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// The variance between runs, on the scale of comparison.
    pub variance: f64,
    /// Runs it was found from.
    pub runs: usize,
}

impl Spread {
    /// Fewer runs say nothing about how runs differ.
    pub const RUNS_LEAST: usize = 5;

    /// From earlier runs of the same test: the variance of their estimates less what noise within them explains. `None` for
    /// fewer than [`Spread::RUNS_LEAST`].
    pub fn of(runs: &[Estimate]) -> Option<Self> {
        if runs.len() < Self::RUNS_LEAST {
            return None;
        }
        let count = runs.len() as f64;
        let mean = runs.iter().map(|run| run.scaled).sum::<f64>() / count;
        let all = runs.iter().map(|run| (run.scaled - mean).powi(2)).sum::<f64>() / (count - 1.0);
        let within = runs.iter().map(|run| run.error * run.error).sum::<f64>() / count;
        Some(Self { variance: (all - within).max(0.0), runs: runs.len() })
    }

    /// How sure the variance itself is, as degrees of freedom.
    pub(super) fn freedom(self) -> f64 {
        (self.runs - 1) as f64
    }
}
