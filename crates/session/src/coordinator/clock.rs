//! The clocks of a run: the test's, which starts before `setup()`, and the scenarios'. Both stand still while it is paused.

use std::time::Duration;

use crate::{Moment, protocol::Time};

#[derive(Debug, Default)]
pub(super) struct RunClock {
    started: Option<Time>,
    scenarios: Option<Time>,
    /// Since when both stand still.
    stopped: Option<Time>,
}

impl RunClock {
    /// Starts the test's clock unless it runs.
    pub(super) fn start(&mut self, at: Time) {
        self.started.get_or_insert(at);
    }

    /// The scenarios begin; what an agent says of it is more exact than what was planned.
    pub(super) fn start_scenarios(&mut self, at: Time) {
        self.start(at);
        self.scenarios = Some(at);
    }

    pub(super) fn started(&self) -> Option<Time> {
        self.started
    }

    pub(super) fn scenarios(&self) -> Option<Time> {
        self.scenarios
    }

    /// Both stand still from now on.
    pub(super) fn stop(&mut self, at: Time) {
        self.stopped.get_or_insert(at);
    }

    /// Both go on; returns how long they stood still.
    pub(super) fn go_on(&mut self, at: Time) -> Duration {
        let Some(stopped) = self.stopped.take() else { return Duration::ZERO };
        let stood = at.since(stopped);
        for start in [&mut self.started, &mut self.scenarios].into_iter().flatten() {
            *start = *start + stood;
        }
        stood
    }

    /// Since when both stand still, if they do.
    pub(super) fn stopped(&self) -> Option<Time> {
        self.stopped
    }

    /// `now`, or when the clocks stopped.
    pub(super) fn unpaused(&self, now: Time) -> Time {
        self.stopped.unwrap_or(now)
    }

    pub(super) fn moment(&self, now: Time) -> Moment {
        let now = self.unpaused(now);
        let since = |start: Option<Time>| start.map_or(Duration::ZERO, |start| now.since(start));
        Moment { test: since(self.started), scenarios: since(self.scenarios) }
    }

    /// When the scenarios' clock shows this time, if it is not stopped.
    pub(super) fn when(&self, scenarios: Duration) -> Option<Time> {
        if self.stopped.is_some() { None } else { Some(self.scenarios? + scenarios) }
    }
}

/// What is shown of a moment in a message.
pub(super) fn seconds(at: Duration) -> String {
    format!("{:.1} s", at.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_is_not_counted() {
        let at = |seconds: u64| Time(seconds * 1_000_000_000);
        let mut clock = RunClock::default();
        assert_eq!(clock.moment(at(9)), Moment::default());
        clock.start(at(10));
        clock.start_scenarios(at(12));
        clock.stop(at(15));
        let seconds =
            |test, scenarios| Moment { test: Duration::from_secs(test), scenarios: Duration::from_secs(scenarios) };
        assert_eq!(clock.moment(at(40)), seconds(5, 3));
        assert_eq!(clock.when(Duration::from_secs(4)), None);
        assert_eq!(clock.go_on(at(45)), Duration::from_secs(30));
        assert_eq!(clock.moment(at(46)), seconds(6, 4));
        assert_eq!(clock.when(Duration::from_secs(4)), Some(at(46)));
    }
}
