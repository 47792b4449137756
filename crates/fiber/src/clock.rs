//! The clock: the only place of the project that asks the system for the time.
//!
//! Instants are [`Nanos`]: monotonic nanoseconds since the process first asked. Wall-clock time is derived from one
//! anchor taken at that moment, so timestamps of one run never jump or go backwards when the system clock is stepped.

use std::{
    fmt,
    ops::{Add, AddAssign, Sub},
    sync::{
        OnceLock,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use rustix::time::{ClockId, Timespec, clock_gettime};

const NANOS_PER_MILLI: f64 = 1e6;
const NANOS_PER_SECOND: u64 = 1_000_000_000;

/// A monotonic instant, or the span between two, in nanoseconds since the process's clock epoch.
///
/// Arithmetic saturates at both ends: a deadline "infinitely" far away stays representable.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Nanos(pub u64);

impl Nanos {
    /// The clock epoch, and the empty span.
    pub const ZERO: Nanos = Nanos(0);
    /// Later than every instant a run can reach (584 years).
    pub const MAX: Nanos = Nanos(u64::MAX);

    /// A span of whole milliseconds.
    #[must_use]
    pub const fn from_millis(ms: u64) -> Nanos {
        Nanos(ms.saturating_mul(1_000_000))
    }

    /// A span of whole seconds.
    #[must_use]
    pub const fn from_secs(secs: u64) -> Nanos {
        Nanos(secs.saturating_mul(NANOS_PER_SECOND))
    }

    /// A span from fractional milliseconds; negative and NaN give zero, too large gives [`Nanos::MAX`].
    #[must_use]
    pub fn from_millis_f64(ms: f64) -> Nanos {
        // `as` saturates and maps NaN to zero.
        Nanos((ms * NANOS_PER_MILLI) as u64)
    }

    /// In milliseconds, the unit of every k6 timing.
    #[must_use]
    pub fn as_millis_f64(self) -> f64 {
        self.0 as f64 / NANOS_PER_MILLI
    }

    /// In seconds.
    #[must_use]
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / NANOS_PER_SECOND as f64
    }

    /// As a [`Duration`] (since the epoch, or of the span).
    #[must_use]
    pub const fn as_duration(self) -> Duration {
        Duration::from_nanos(self.0)
    }

    /// The span from `earlier` to `self`, zero if `earlier` is later.
    #[must_use]
    pub const fn saturating_sub(self, earlier: Nanos) -> Nanos {
        Nanos(self.0.saturating_sub(earlier.0))
    }
}

impl From<Duration> for Nanos {
    fn from(span: Duration) -> Nanos {
        Nanos(u64::try_from(span.as_nanos()).unwrap_or(u64::MAX))
    }
}

impl From<Nanos> for Duration {
    fn from(span: Nanos) -> Duration {
        span.as_duration()
    }
}

impl Add<Duration> for Nanos {
    type Output = Nanos;
    fn add(self, span: Duration) -> Nanos {
        self + Nanos::from(span)
    }
}

impl Sub<Duration> for Nanos {
    type Output = Nanos;
    fn sub(self, span: Duration) -> Nanos {
        self - Nanos::from(span)
    }
}

impl Add for Nanos {
    type Output = Nanos;
    fn add(self, span: Nanos) -> Nanos {
        Nanos(self.0.saturating_add(span.0))
    }
}

impl Sub for Nanos {
    type Output = Nanos;
    fn sub(self, other: Nanos) -> Nanos {
        self.saturating_sub(other)
    }
}

impl AddAssign<Duration> for Nanos {
    fn add_assign(&mut self, span: Duration) {
        *self = *self + span;
    }
}

impl fmt::Debug for Nanos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.as_duration())
    }
}

/// The process's clock. Never constructed: all functions are associated.
#[derive(Debug)]
pub enum Clock {}

impl Clock {
    /// The current instant. About 20 ns: a vDSO call, no system call.
    #[must_use]
    #[inline]
    pub fn now() -> Nanos {
        Nanos((monotonic() + AHEAD.load(Ordering::Relaxed)).saturating_sub(anchor().monotonic))
    }

    /// What the machine's monotonic clock showed at [`Nanos::ZERO`]: another process on this machine goes on from it.
    #[must_use]
    pub fn epoch() -> u64 {
        anchor().monotonic.saturating_sub(AHEAD.load(Ordering::Relaxed))
    }

    /// Goes on with the clock of a process that has ended, whose [`Clock::epoch`] this was: instants of that process are
    /// instants of this one. For the beginning of a process, as the clock leaps forward.
    ///
    /// Returns whether it can be: not if the machine was started since, or if this process's clock began before.
    pub fn continue_from(epoch: u64) -> bool {
        let Some(ahead) = anchor().monotonic.checked_sub(epoch) else { return false };
        AHEAD.store(ahead, Ordering::Relaxed);
        true
    }

    /// Milliseconds since 1970 at `at`, as JavaScript's `Date.now()` counts them.
    #[must_use]
    pub fn unix_ms(at: Nanos) -> f64 {
        Clock::unix_nanos(at) as f64 / NANOS_PER_MILLI
    }

    /// The instant at which the system's clock shows this: what the kernel says of packets. The system's clock is read, so
    /// that it is right although it may have been set since the process began. Never later than now.
    pub(crate) fn at_unix(wall: Timespec) -> Nanos {
        let (now, wall_now) = (Clock::now(), clock_gettime(ClockId::Realtime));
        let nanos = |time: Timespec| i128::from(time.tv_sec) * i128::from(NANOS_PER_SECOND) + i128::from(time.tv_nsec);
        let age = u64::try_from(nanos(wall_now) - nanos(wall)).unwrap_or_default();
        Nanos(now.0.saturating_sub(age))
    }

    /// Nanoseconds since 1970 at `at`.
    #[must_use]
    pub fn unix_nanos(at: Nanos) -> i128 {
        anchor().unix + i128::from(at.0) - i128::from(AHEAD.load(Ordering::Relaxed))
    }
}

/// By how much the process's clock is ahead of the time since its anchor: the age of the process it goes on from.
static AHEAD: AtomicU64 = AtomicU64::new(0);

/// What both clocks showed at the same moment.
struct Anchor {
    monotonic: u64,
    unix: i128,
}

#[inline]
fn anchor() -> &'static Anchor {
    static ANCHOR: OnceLock<Anchor> = OnceLock::new();
    ANCHOR.get_or_init(|| {
        let before = monotonic();
        let wall = clock_gettime(ClockId::Realtime);
        let after = monotonic();
        let elapsed = i128::from(after - before) / 2;
        let unix = i128::from(wall.tv_sec) * i128::from(NANOS_PER_SECOND) + i128::from(wall.tv_nsec);
        Anchor { monotonic: before, unix: unix - elapsed }
    })
}

#[inline]
fn monotonic() -> u64 {
    let Timespec { tv_sec, tv_nsec } = clock_gettime(ClockId::Monotonic);
    // Both are non-negative for the monotonic clock.
    (tv_sec as u64) * NANOS_PER_SECOND + tv_nsec as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_saturates() {
        let check = |got: Nanos, expect: u64| assert_eq!(got, Nanos(expect));
        check(Nanos(5) - Nanos(7), 0);
        check(Nanos::MAX + Duration::from_secs(1), u64::MAX);
        check(Nanos::from_millis(u64::MAX), u64::MAX);
        check(Nanos::from_millis(3) + Duration::from_micros(1), 3_001_000);
        check(Nanos::from_millis_f64(-1.0), 0);
        check(Nanos::from_millis_f64(f64::NAN), 0);
        check(Nanos::from_millis_f64(1.5), 1_500_000);
        assert_eq!(Nanos(2_500_000).as_millis_f64(), 2.5);
    }

    #[test]
    fn a_clock_goes_on_where_another_process_began_it() {
        // The process's clock is that of all of its tests: this one leaves it as it was.
        let epoch = Clock::epoch();
        assert!(Clock::continue_from(epoch) && Clock::epoch() == epoch);
        assert!(!Clock::continue_from(u64::MAX), "the machine was started since");
        assert_eq!(Clock::epoch(), epoch);
    }

    #[test]
    fn now_never_goes_back_and_wall_clock_follows_it() {
        let first = Clock::now();
        let second = Clock::now();
        assert!(second >= first);
        let span = Clock::unix_nanos(second) - Clock::unix_nanos(first);
        assert_eq!(span, i128::from((second - first).0));
        // 2020-01-01: any machine that runs this is past it.
        assert!(Clock::unix_ms(first) > 1.577e12);
    }
}
