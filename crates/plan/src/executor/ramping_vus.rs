//! ramping-vus: the number of looping VUs follows stages, as an exact integer staircase.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::fields::{Stage, StageConfig, VUS_MAX, checked, text_ns, total_ns, valid_stages};
use crate::{
    duration::GoDuration,
    error::PlanError,
    json::int,
    reservation::{Step, value_at, windowed},
    share::thread_of,
    stripe::Share,
};

/// As written.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RampingVusConfig {
    /// VUs at the start; 1 if not given.
    #[serde(default, deserialize_with = "int", rename = "startVUs")]
    pub start_vus: Option<i64>,
    /// The stages; targets are VUs.
    #[serde(default)]
    pub stages: Option<Vec<StageConfig>>,
    /// How long a VU that is ramped down may finish its iteration; 30 seconds if not given.
    #[serde(default)]
    pub graceful_ramp_down: Option<GoDuration>,
}

impl RampingVusConfig {
    pub(crate) const FIELDS: &[&str] = &["startVUs", "stages", "gracefulRampDown"];

    pub(crate) fn validate(&self) -> Result<RampingVus, Vec<String>> {
        let mut errors = Vec::new();
        let start_vus = self.start_vus.unwrap_or(1);
        if start_vus < 0 {
            errors.push("the number of start VUs can't be negative".to_owned());
        }
        let written = self.stages.as_deref().unwrap_or_default();
        let peak = written.iter().filter_map(|s| s.target).fold(start_vus, i64::max);
        if peak <= 0 && !(written.is_empty() || start_vus > 0) {
            errors.push("either startVUs or one of the stages' target values must be greater than 0".to_owned());
        }
        if start_vus > VUS_MAX {
            errors.push(format!("the startVUs exceed max limit of {VUS_MAX}"));
        }
        let stages = valid_stages(self.stages.as_deref(), Some(VUS_MAX), &mut errors);
        let graceful_ramp_down = self.graceful_ramp_down.unwrap_or(DEFAULT_GRACEFUL_RAMP_DOWN);
        let start_vus = u64::try_from(start_vus).unwrap_or(0);
        checked(RampingVus { start_vus, stages, graceful_ramp_down }, errors)
    }
}

/// Valid values, for the whole test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RampingVus {
    /// VUs at the start.
    pub start_vus: u64,
    /// The stages; targets are VUs.
    pub stages: Vec<Stage>,
    /// How long a VU that is ramped down may finish its iteration. Counts as 0 when negative.
    pub graceful_ramp_down: GoDuration,
}

impl RampingVus {
    pub(crate) fn describe(&self, share: &Share) -> (String, Vec<String>) {
        let peak = self.stages.iter().map(|s| s.target).fold(self.start_vus, u64::max);
        (
            format!(
                "Up to {} looping VUs for {} over {} stages",
                share.scale(peak),
                text_ns(total_ns(&self.stages)),
                self.stages.len()
            ),
            vec![format!("gracefulRampDown: {}", self.graceful_ramp_down)],
        )
    }

    pub(crate) fn plan(&self, share: &Share, hard_end_ns: u64) -> Result<Option<RampingVusPlan>, PlanError> {
        let peak = self.stages.iter().map(|s| s.target).fold(self.start_vus, u64::max);
        if share.scale(peak) == 0 {
            return Ok(None);
        }
        let mut steps = self.staircase(share)?;
        let window_ns = self.graceful_ramp_down.as_ns();
        let reservation = windowed(&steps, window_ns, hard_end_ns);
        // For the handles only what lasts matters: a level that is left in the same instant starts no VU.
        steps.dedup_by(|next, kept| {
            let same_time = next.at_ns == kept.at_ns;
            if same_time {
                kept.vus = next.vus;
            }
            same_time
        });
        steps.dedup_by(|next, kept| next.vus == kept.vus);
        let end_ns = total_ns(&self.stages);
        // A VU that would start at the very end begins no iteration.
        let before = steps.len().checked_sub(2).map_or(0, |i| steps[i].vus);
        steps.pop_if(|last| last.at_ns == end_ns && last.vus > before);
        let limits = windowed(&steps, window_ns, hard_end_ns);
        match steps.last_mut() {
            Some(last) if last.at_ns == end_ns => last.vus = 0,
            Some(last) if last.vus == 0 => {}
            _ => steps.push(Step { at_ns: end_ns, vus: 0 }),
        }
        Ok(Some(RampingVusPlan { steps: steps.into(), reservation: reservation.into(), limits: limits.into() }))
    }

    /// Every change of our number of VUs, from the start to the regular end, without the drop to 0 there.
    ///
    /// On the way up our k-th VU starts at its proportional instant; on the way down one stops a slot later, which
    /// makes the staircase symmetric. Divisions truncate toward zero.
    pub(crate) fn staircase(&self, share: &Share) -> Result<Vec<Step>, PlanError> {
        let mut count: u64 = 1;
        let mut level = share.scale(self.start_vus);
        for stage in &self.stages {
            let next = share.scale(stage.target);
            count = count.saturating_add(next.abs_diff(level));
            level = next;
        }
        if count > STEPS_MAX {
            return Err(PlanError::TooManySteps { steps: count, max: STEPS_MAX });
        }
        let mut steps = vec![];
        let mut emit = |at_ns: i128, vus: u64| {
            if steps.last().is_none_or(|last: &Step| last.vus != vus) {
                steps.push(Step { at_ns: u64::try_from(at_ns.max(0)).unwrap_or(u64::MAX), vus });
            }
        };
        let mut index = share.index();
        index.go_to(self.start_vus);
        emit(0, index.scaled());
        let (mut from, mut end_ns) = (i128::from(self.start_vus), 0_i128);
        for stage in &self.stages {
            let (duration, target) = (i128::from(stage.duration_ns), i128::from(stage.target));
            end_ns += duration;
            let rise = target - from;
            from = target;
            if rise == 0 {
                continue;
            }
            if duration == 0 {
                index.go_to(stage.target);
                emit(end_ns, index.scaled());
                continue;
            }
            if i128::from(index.unscaled()) > target {
                while i128::from(index.unscaled()) > target {
                    let slots = target - i128::from(index.unscaled()) + 1;
                    emit(end_ns - duration * slots / rise, index.scaled() - 1);
                    index.step_back();
                }
            } else {
                while i128::from(index.unscaled()) <= target {
                    let slots = target - i128::from(index.unscaled());
                    emit(end_ns - duration * slots / rise, index.scaled());
                    index.step_forward();
                }
            }
        }
        Ok(steps)
    }
}

/// One instance's share.
#[derive(Clone, Debug)]
pub struct RampingVusPlan {
    steps: Arc<[Step]>,
    reservation: Arc<[Step]>,
    /// The reservation without levels that last no time: where handles are cut.
    limits: Arc<[Step]>,
}

impl RampingVusPlan {
    /// How many VUs should be working from when on; the last step is to 0, at the regular end or before.
    #[must_use]
    pub fn steps(&self) -> Arc<[Step]> {
        Arc::clone(&self.steps)
    }

    /// How many VUs are kept from when on, with those that may still finish; the last step is to 0, at the hard end or
    /// before. It also has the levels that are left in the same instant, as k6 counts them.
    #[must_use]
    pub fn reservation(&self) -> Arc<[Step]> {
        Arc::clone(&self.reservation)
    }

    /// The most VUs at any moment: handles are numbered 0 up to this.
    #[must_use]
    pub fn max_vus(&self) -> u64 {
        self.reservation.iter().map(|s| s.vus).max().unwrap_or(0)
    }

    /// When the number of VUs changes for the last time, to 0: at the regular end, or before when the last stages keep
    /// none. k6: the scenario is over then, but for what may still finish.
    #[must_use]
    pub fn last_step_ns(&self) -> u64 {
        self.steps.last().map_or(0, |step| step.at_ns)
    }

    /// How many VUs should be working at a moment.
    #[must_use]
    pub fn planned_at(&self, at_ns: u64) -> u64 {
        value_at(&self.steps, at_ns)
    }

    /// What happens to all handles, in the order of time.
    #[must_use]
    pub fn handle_actions(&self) -> HandleActions {
        HandleActions {
            steps: self.steps(),
            limits: Arc::clone(&self.limits),
            next_step: 0,
            next_limit: 0,
            running: 0,
            kept: 0,
            pending: None,
        }
    }

    /// What happens to the handles one of several threads owns, in the order of time.
    pub fn handle_actions_for(
        &self,
        thread: u64,
        threads: u64,
        offset: u64,
    ) -> impl Iterator<Item = HandleAction> + use<> {
        self.handle_actions().filter(move |action| thread_of(action.handle, threads, offset) == thread)
    }

    /// What happens to one handle, in the order of time.
    pub fn handle_actions_of(&self, handle: u64) -> impl Iterator<Item = HandleAction> + use<> {
        self.handle_actions().filter(move |action| action.handle == handle)
    }
}

/// What a VU handle is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HandleChange {
    /// Loop. If it is still finishing since the last stop, the same VU goes on without restart.
    Start,
    /// Finish the current iteration and begin no other.
    GracefulStop,
    /// End now, cutting an iteration that still runs. Follows a graceful stop and means nothing to an idle handle.
    HardStop,
}

/// One change for one handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HandleAction {
    /// Nanoseconds from the scenario's start.
    pub at_ns: u64,
    /// Which handle, from 0.
    pub handle: u64,
    /// What it is told.
    pub change: HandleChange,
}

/// The merged changes of all handles: starts bottom-up, stops top-down; at one instant the staircase's changes come
/// before hard stops.
#[derive(Clone, Debug)]
pub struct HandleActions {
    steps: Arc<[Step]>,
    limits: Arc<[Step]>,
    next_step: usize,
    next_limit: usize,
    running: u64,
    kept: u64,
    /// The change in progress: (time, what, level to reach).
    pending: Option<(u64, HandleChange, u64)>,
}

impl HandleActions {
    fn pull(&mut self) -> Option<()> {
        let step = self.steps.get(self.next_step);
        let limit = self.limits.get(self.next_limit);
        let take_step = match (step, limit) {
            (Some(s), Some(r)) => s.at_ns <= r.at_ns,
            (Some(_), None) => true,
            (None, Some(_)) => false,
            (None, None) => return None,
        };
        if let Some(s) = step.filter(|_| take_step) {
            self.next_step += 1;
            let change = if s.vus > self.running { HandleChange::Start } else { HandleChange::GracefulStop };
            self.pending = Some((s.at_ns, change, s.vus));
        } else if let Some(r) = limit {
            self.next_limit += 1;
            if r.vus > self.kept {
                self.kept = r.vus;
            } else {
                self.pending = Some((r.at_ns, HandleChange::HardStop, r.vus));
            }
        }
        Some(())
    }
}

impl Iterator for HandleActions {
    type Item = HandleAction;

    fn next(&mut self) -> Option<HandleAction> {
        loop {
            if let Some((at_ns, change, level)) = self.pending {
                let count = if change == HandleChange::HardStop { &mut self.kept } else { &mut self.running };
                if *count < level {
                    *count += 1;
                    return Some(HandleAction { at_ns, handle: *count - 1, change });
                }
                if *count > level {
                    *count -= 1;
                    return Some(HandleAction { at_ns, handle: *count, change });
                }
                self.pending = None;
            }
            self.pull()?;
        }
    }
}

/// `gracefulRampDown` when it is not given.
const DEFAULT_GRACEFUL_RAMP_DOWN: GoDuration = GoDuration::from_secs(30);
/// Most changes one instance's staircase may have: 256 MiB of steps.
const STEPS_MAX: u64 = 1 << 24;
