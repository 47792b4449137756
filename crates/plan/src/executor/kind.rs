//! The names of the executors.

/// An executor by itself, without its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ExecutorKind {
    /// VUs share one count of iterations.
    SharedIterations,
    /// Each VU runs its own count of iterations.
    PerVuIterations,
    /// A fixed number of VUs loop for a time.
    ConstantVus,
    /// The number of looping VUs follows stages.
    RampingVus,
    /// Iterations start at a fixed rate.
    ConstantArrivalRate,
    /// The rate at which iterations start follows stages.
    RampingArrivalRate,
    /// The number of looping VUs is whatever somebody outside asks for.
    ExternallyControlled,
}

impl ExecutorKind {
    /// All of them, as k6's documentation lists them.
    pub const ALL: [Self; 7] = [
        Self::SharedIterations,
        Self::PerVuIterations,
        Self::ConstantVus,
        Self::RampingVus,
        Self::ConstantArrivalRate,
        Self::RampingArrivalRate,
        Self::ExternallyControlled,
    ];

    /// The name users write in `executor:`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::SharedIterations => "shared-iterations",
            Self::PerVuIterations => "per-vu-iterations",
            Self::ConstantVus => "constant-vus",
            Self::RampingVus => "ramping-vus",
            Self::ConstantArrivalRate => "constant-arrival-rate",
            Self::RampingArrivalRate => "ramping-arrival-rate",
            Self::ExternallyControlled => "externally-controlled",
        }
    }

    /// The executor with this name.
    #[must_use]
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}
