//! How long each side waits for the other.

use std::time::Duration;

use onrush_session::link::Link;

/// Agreed by the coordinator: agents are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// Of an agent that says nothing for so long people are told.
    pub suspect: Duration,
    /// One that says nothing for so long is lost.
    pub silence: Duration,
    /// An agent that does not hear from its coordinator for so long stops its load.
    pub lease: Duration,
}

/// Waits that make no sense together.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct PatienceError(String);

impl Patience {
    /// Both sides say that they are there twice a second, so a shorter silence means nothing.
    pub const SHORTEST: Duration = Duration::from_secs(1);
    /// Nobody wants to learn of a loss later than this.
    pub const LONGEST: Duration = Duration::from_secs(3600);

    /// How long an agent may go on making load after it was lost in silence. It says that it is there twice a second, and so
    /// does the coordinator: either may have heard the other half a second longer.
    #[must_use]
    pub fn lingers(self) -> Duration {
        self.lease.saturating_sub(self.silence) + HEARTBEAT + LOOK_EVERY
    }

    /// Checks that the waits fit together: an agent is suspected, then lost, and only then stops by itself what others
    /// may have taken over.
    ///
    /// # Errors
    /// Which do not.
    pub fn checked(self) -> Result<Self, PatienceError> {
        let Self { suspect, silence, lease } = self;
        let problem = if suspect < Self::SHORTEST {
            format!("an agent can be suspected after {} at the earliest", shown(Self::SHORTEST))
        } else if lease > Self::LONGEST {
            format!("an agent's lease can be {} at most", shown(Self::LONGEST))
        } else if silence < suspect {
            format!("an agent cannot be lost ({}) before it is suspected ({})", shown(silence), shown(suspect))
        } else if lease < silence {
            format!(
                "an agent's lease ({}) cannot be shorter than the silence after which it is lost ({}): it would stop its \
                 load although it still belongs to the run",
                shown(lease),
                shown(silence)
            )
        } else {
            return Ok(self);
        };
        Err(PatienceError(problem))
    }
}

fn shown(time: Duration) -> String {
    format!("{} s", time.as_secs_f64())
}

impl Default for Patience {
    fn default() -> Self {
        Self { suspect: Duration::from_secs(1), silence: Duration::from_secs(3), lease: Duration::from_secs(5) }
    }
}

/// How often each side says that it is there, at least.
pub(crate) const HEARTBEAT: Duration = Link::<(), ()>::HEARTBEAT;
/// How often each side looks whether the other is there, and says that it is.
pub(crate) const LOOK_EVERY: Duration = Duration::from_millis(100);
/// How long a connection may take to be made, encrypted and answered.
pub(crate) const HANDSHAKE_MAX: Duration = Duration::from_secs(5);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_fit_together() {
        let check = |suspect: u64, silence: u64, lease: u64, expect: &str| {
            let [suspect, silence, lease] = [suspect, silence, lease].map(Duration::from_millis);
            let got = Patience { suspect, silence, lease }
                .checked()
                .map_or_else(|error| error.to_string(), |_| String::new());
            assert!(got.starts_with(expect) && got.is_empty() == expect.is_empty(), "{got}");
        };
        check(1_000, 1_000, 1_000, "");
        check(1_000, 3_000, 5_000, "");
        check(999, 3_000, 5_000, "an agent can be suspected after 1 s at the earliest");
        check(2_000, 1_500, 5_000, "an agent cannot be lost (1.5 s) before it is suspected (2 s)");
        check(1_000, 3_000, 2_999, "an agent's lease (2.999 s) cannot be shorter than the silence");
        check(1_000, 3_000, 4_000_000, "an agent's lease can be 3600 s at most");
    }
}
