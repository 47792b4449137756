//! How long each side waits for the other.

use std::time::Duration;

/// Agreed by the coordinator: agents are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// An agent that says nothing for so long is lost.
    pub silence: Duration,
    /// An agent that does not hear from its coordinator for so long stops its load.
    pub lease: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self { silence: Duration::from_secs(3), lease: Duration::from_secs(5) }
    }
}

/// How often each side looks whether the other is there, and says that it is.
pub(crate) const LOOK_EVERY: Duration = Duration::from_millis(100);
/// How long a connection may take to be made, encrypted and answered.
pub(crate) const HANDSHAKE_MAX: Duration = Duration::from_secs(5);
