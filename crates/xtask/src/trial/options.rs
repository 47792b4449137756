//! What the user asks of a trial.

/// What a trial was asked for.
pub(super) struct Options {
    pub(super) kind: String,
    pub(super) seconds: Option<u64>,
    /// Healthy runs, or pairs.
    pub(super) runs: usize,
    /// Faults whose names have this in them.
    pub(super) only: Option<String>,
    pub(super) out: Option<String>,
}

impl Options {
    /// How long a run of a generator takes.
    pub(super) fn seconds(&self) -> u64 {
        self.seconds.unwrap_or(10)
    }

    pub(super) fn wants(&self, name: &str) -> bool {
        self.only.as_ref().is_none_or(|only| name.contains(only.as_str()))
    }
}
