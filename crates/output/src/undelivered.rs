//! What is said at the end about samples that went out as messages.

/// What somebody who takes messages does not have, or has twice.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Undelivered {
    /// The output.
    pub name: String,
    /// All samples there were.
    pub of: u64,
    /// Those that nobody said were written.
    pub lacking: u64,
    /// Of these: sent, but the answer did not come.
    pub unconfirmed: u64,
    /// Of these: found no room while others waited.
    pub overflowed: u64,
    /// Of these: their format has no way to say them.
    pub unspeakable: u64,
    /// Written for certain, and sent once before without an answer.
    pub repeated: u64,
    /// What was wrong last.
    pub why: Option<String>,
}

impl Undelivered {
    /// Whether there is nothing to say.
    pub fn is_whole(&self) -> bool {
        self.lacking == 0 && self.repeated == 0
    }
}
