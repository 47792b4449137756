//! What a test is going to do, as arithmetic: options and their tiers, scenarios, the seven executors and execution
//! segments.
//!
//! Nothing here reads a clock, starts a thread, opens a file or looks at the environment: the same inputs give the
//! same schedule on every machine, so a ten-minute ramp is checked in microseconds. The crate does not run anything
//! (that is `onrush-engine`) and does not parse threshold expressions (that is `onrush-metrics`).
//!
//! The way through it:
//!
//! 1. [`parse_json`], [`from_env`] and [`from_flags`] read one tier of [`Options`] each;
//! 2. [`consolidate`] lays the tiers over each other, turns the shortcuts into scenarios and validates everything;
//! 3. [`Plan::new`] takes the validated [`Scenario`]s and this instance's [`Share`] (its share of the whole test) and
//!    gives one [`ScenarioPlan`] for each scenario that has work here.
//!
//! ```
//! use onrush_plan::{Options, Plan, Tier, consolidate, parse_json};
//!
//! let script = parse_json(r#"{"vus": 20, "duration": "1m"}"#)?;
//! let test = consolidate(vec![(Tier::Defaults, Options::defaults()), (Tier::Script, script.options)])?;
//! let plan = Plan::new(&test.scenarios, &test.share)?;
//! assert_eq!(plan.max_vus, 20);
//! assert_eq!(plan.end_offset.to_string(), "1m30s");
//! assert_eq!(plan.descriptions[0].text, "20 looping VUs for 1m0s (gracefulStop: 30s)");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod duration;
mod error;
mod executor;
mod joined;
mod json;
mod names;
mod options;
mod placement;
mod plan;
mod planned;
mod progress;
mod ratio;
mod reservation;
mod scenario;
mod segment;
mod share;
mod steady;
pub mod steer;
mod stripe;
mod take_up;

pub use duration::{DurationError, GoDuration, format_go_duration, parse_extended_duration, parse_go_duration};
pub use error::{OptionsError, PlanError};
pub use executor::{
    ArrivalEvent, ArrivalVus, ConstantArrivalRate, ConstantArrivalRateConfig, ConstantArrivalRatePlan, ConstantVus,
    ConstantVusConfig, ConstantVusPlan, Executor, ExecutorKind, ExecutorPlan, ExternallyControlled,
    ExternallyControlledConfig, ExternallyControlledPlan, FOREVER_NS, HandleAction, HandleActions, HandleChange,
    PerVuIterations, PerVuIterationsConfig, PerVuIterationsPlan, RampingArrivalRate, RampingArrivalRateConfig,
    RampingArrivalRateCursor, RampingArrivalRatePlan, RampingVus, RampingVusConfig, RampingVusPlan, SharedIterations,
    SharedIterationsConfig, SharedIterationsPlan, Stage, StageConfig, WhenBusy,
};
pub use joined::JOINED_MAX;
pub use names::{closest, meant};
pub use options::{
    Area, Cidr, ConfigErrors, Consolidated, DnsConfig, DnsPolicy, DnsSelect, ExecutorConfig, FlagInfo, HostTarget,
    IpPool, Kind, OPTIONS, OptionInfo, Options, Parsed, SCENARIO_FIELDS, ScenarioConfig, ScenarioField, Settings,
    SystemTags, ThresholdConfig, Tier, TlsAuth, TlsVersion, TlsVersions, consolidate, consolidate_with_exports,
    from_env, from_flags, lookup_host, matches_hostname, parse_json,
};
pub use placement::{Placement, ScenarioPlacement};
pub use plan::{Description, PLANNED_VUS_MAX, Plan, ScenarioPlan};
pub use planned::Planned;
pub use progress::{Live, fixed_width_time};
pub use ratio::Ratio;
pub use reservation::{RequirementStep, Step};
pub use scenario::{DEFAULT_EXEC, DEFAULT_GRACEFUL_STOP, DEFAULT_SCENARIO, Scenario};
pub use segment::{Segment, SegmentError, SegmentSequence};
pub use share::{count_for, first_for, thread_of};
pub use stripe::{Cut, SegmentedIndex, Share};
pub use take_up::TakenUp;
