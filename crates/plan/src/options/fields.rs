//! The table of the fields of scenarios, for the reference page.

use crate::executor::{
    ExecutorKind,
    ExecutorKind::{
        ConstantArrivalRate, ConstantVus, ExternallyControlled, PerVuIterations, RampingArrivalRate, RampingVus,
        SharedIterations,
    },
};

/// One field of a scenario.
#[derive(Debug, Clone, Copy)]
pub struct ScenarioField {
    /// Its key.
    pub key: &'static str,
    /// The executors that have it; none listed are all of them.
    pub executors: &'static [ExecutorKind],
    /// What it is when it is not set; empty when it must be.
    pub default: &'static str,
    /// What it is for.
    pub about: &'static str,
}

const VUS: &[ExecutorKind] = &[SharedIterations, PerVuIterations, ConstantVus, ExternallyControlled];
const ARRIVAL: &[ExecutorKind] = &[ConstantArrivalRate, RampingArrivalRate];
const ITERATIONS: &[ExecutorKind] = &[SharedIterations, PerVuIterations];
const DURATION: &[ExecutorKind] = &[ConstantVus, ConstantArrivalRate, ExternallyControlled];
const RAMPING: &[ExecutorKind] = &[RampingVus, RampingArrivalRate];

const fn field(
    key: &'static str,
    executors: &'static [ExecutorKind],
    default: &'static str,
    about: &'static str,
) -> ScenarioField {
    ScenarioField { key, executors, default, about }
}

/// The fields of scenarios.
pub const SCENARIO_FIELDS: &[ScenarioField] = &[
    field("executor", &[], "", "How iterations are scheduled: one of the executors in this table"),
    field("exec", &[], "default", "The exported function VUs call"),
    field("startTime", &[], "0s", "When it starts, from the start of the test"),
    field("gracefulStop", &[], "30s", "How long iterations may go on after its end"),
    field("env", &[], "none", "Variables that override those in __ENV"),
    field("tags", &[], "none", "Tags for its samples"),
    field("options", &[], "none", "Settings of the browser module: kept, not used"),
    field("vus", VUS, "1", "Number of VUs; for externally-controlled, at its start"),
    field("iterations", ITERATIONS, "1", "Iterations: in total, or of each VU"),
    field("maxDuration", ITERATIONS, "10m0s", "Latest end, from its start"),
    field("duration", DURATION, "", "How long it runs; for externally-controlled 0 means unlimited"),
    field("startVUs", &[RampingVus], "1", "VUs at its start"),
    field("startRate", &[RampingArrivalRate], "0", "Rate at its start"),
    field("stages", RAMPING, "", "Objects with duration and target, one after another"),
    field("gracefulRampDown", &[RampingVus], "30s", "How long an iteration may go on when its VU is removed"),
    field("rate", &[ConstantArrivalRate], "", "Iterations per timeUnit"),
    field("timeUnit", ARRIVAL, "1s", "Period that rates refer to"),
    field("preAllocatedVUs", ARRIVAL, "", "VUs made before the test"),
    field(
        "maxVUs",
        &[ConstantArrivalRate, RampingArrivalRate, ExternallyControlled],
        "preAllocatedVUs or vus",
        "Maximum number of VUs",
    ),
];
