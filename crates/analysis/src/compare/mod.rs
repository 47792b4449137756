//! Two runs beside each other: which measures differ by more than noise, by how much, and how sure that is.
//!
//! Requests of a second are not independent (queues, collections of garbage, shared connections), and neither are
//! neighbouring seconds. So seconds are resampled, never requests, and in blocks as long as their memory
//! ([`blocks`](self::blocks)). Differences of times and rates are ratios, those of shares are differences; an interval of
//! Student's t around them says what noise within the runs explains, and earlier runs of the same test add what varies
//! from run to run ([`Spread`]).
//!
//! Several measures that are judged at once would find differences by chance: what counts as different is decided with
//! Holm's correction over all judged ones.

mod blocks;
mod cells;
mod changes;
mod curve;
mod estimate;
mod measure;
mod spread;
mod steady;
mod timeline;
mod verdict;

pub use cells::Cells;
pub use changes::{ChangePoint, LEVEL_LEAST, change_points};
pub use curve::{Below, CurvePoint, curve, distributions, mixed_quantile};
pub use estimate::{Estimate, Unclear, estimate, value};
pub use measure::{Direction, Measure, Statistic};
pub use spread::Spread;
pub use steady::warm_up;
pub use timeline::{Part, Timeline};
pub use verdict::{Difference, Judged, Margin, Pair, Verdict, difference, judge};
