//! All lines of a moment.

use onrush_fiber::Nanos;
use onrush_plan::{ExecutorPlan, Live, Plan, fixed_width_time};
use onrush_session::protocol::ScenarioProgress;

use super::{
    bar::{Drawn, WIDTH, WIDTH_MIN, bar, percent},
    line::{Screen, clip, cut, fitting_parts},
    row::{Mark, Row, fitting, joined},
    stage::{Stage, Totals},
};

#[cfg(test)]
mod tests;

/// Draws the lines of one run.
pub(crate) struct Board {
    plan: Plan,
    /// Scenario names, cut.
    names: Vec<String>,
    name_width: usize,
}

/// Longest scenario name that is shown whole, in characters.
const NAME_MAX: usize = 30;
/// What is left of it on the narrowest terminal.
const NAME_MIN: usize = 6;
/// k6: names are at least as wide as `Init`.
const HEAD_WIDTH: usize = 4;

impl Board {
    /// A board for the scenarios of a plan.
    pub(crate) fn new(plan: &Plan) -> Self {
        let names: Vec<String> = plan.scenarios.iter().map(|scenario| cut(scenario.name(), NAME_MAX)).collect();
        let widest = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
        Self { plan: plan.clone(), names, name_width: widest.max(HEAD_WIDTH) }
    }

    /// The lines without a terminal, each ended.
    pub(crate) fn block(&self, stage: Stage, totals: &Totals, now: Nanos, scenarios: &[ScenarioProgress]) -> String {
        let lines = self.lines(stage, totals, now, scenarios, None);
        format!("\n{}\n", lines.join("\n"))
    }

    /// The lines for a terminal of so many columns, the first of them empty, the last one `pulse`.
    pub(crate) fn frame(
        &self,
        stage: Stage,
        totals: &Totals,
        now: Nanos,
        scenarios: &[ScenarioProgress],
        pulse: [Vec<String>; 2],
        terminal: Screen,
    ) -> Vec<String> {
        let mut lines = vec![String::new()];
        lines.extend(self.lines(stage, totals, now, scenarios, Some(terminal)));
        for (parts, separator) in pulse.iter().zip([" | ", "; "]).filter(|(parts, _)| !parts.is_empty()) {
            let is_wrong = parts[0].starts_with('✗');
            let text = fitting_parts(parts, separator, terminal.columns);
            let text = if is_wrong && terminal.color { format!("\x1b[31m{text}\x1b[0m") } else { text };
            lines.push(clip(text, terminal.columns));
        }
        lines
    }

    /// One line, for logs.
    pub(crate) fn line(&self, stage: Stage, totals: &Totals, more: &[String]) -> String {
        let mut parts = vec![match stage.is_before_scenarios() {
            true => self.head(stage, totals).columns.join(" "),
            false => self.totals_line(stage, totals),
        }];
        parts.extend_from_slice(more);
        format!("{}\n", parts.join("; "))
    }

    /// The lines of the run as far as it has begun, in parts: one for what comes before scenarios, one for each of them.
    pub(crate) fn rows(&self, stage: Stage, totals: &Totals, now: Nanos, scenarios: &[ScenarioProgress]) -> Vec<Row> {
        let mut rows = Vec::with_capacity(scenarios.len() + 1);
        if stage.is_before_scenarios() {
            rows.push(self.head(stage, totals));
        }
        for (index, progress) in scenarios.iter().enumerate().take(self.names.len()) {
            rows.push(match stage.is_before_scenarios() {
                false => self.row(index, totals, now, progress),
                // There is nothing to say about them yet.
                true => {
                    Row { name: self.names[index].clone(), mark: Mark::Running, fraction: 0.0, columns: Vec::new() }
                }
            });
        }
        rows
    }

    fn lines(
        &self,
        stage: Stage,
        totals: &Totals,
        now: Nanos,
        scenarios: &[ScenarioProgress],
        screen: Option<Screen>,
    ) -> Vec<String> {
        let rows = self.rows(stage, totals, now, scenarios);
        let (rows, more) = match screen {
            Some(screen) => fitting(rows, screen),
            None => (rows, None),
        };
        let columns = joined(&rows);
        let widest = columns.iter().map(|text| text.chars().count()).max().unwrap_or(0);
        let (mut name_width, mut is_narrow) = (self.name_width, false);
        let drawn = screen.map(|screen| {
            // Name, blank, mark, blank, bracket, bar, bracket, blank, columns.
            let room = screen.columns.saturating_sub(name_width + widest + 6);
            is_narrow = room < WIDTH_MIN;
            Drawn { width: room.clamp(WIDTH_MIN, WIDTH), color: screen.color }
        });
        if let Some(screen) = screen.filter(|_| is_narrow) {
            // Name, blank, mark, blank, percent, blank, columns: names give way to numbers.
            let room = screen.columns.saturating_sub(widest + 8);
            name_width = name_width.min(room.max(NAME_MIN));
        }
        let mut lines = Vec::with_capacity(rows.len() + 1);
        if !stage.is_before_scenarios() {
            let whole = self.totals_line(stage, totals);
            let fits = screen.is_none_or(|screen| whole.chars().count() <= screen.columns);
            lines.push(if fits { whole } else { self.short_totals_line(stage, totals) });
        }
        let color = screen.is_some_and(|screen| screen.color);
        for (row, columns) in rows.iter().zip(columns) {
            let (name, mark) = (cut(&row.name, name_width), row.mark.text(color));
            let bar = if is_narrow { percent(row.fraction) } else { bar(row.fraction, drawn) };
            let mut line = format!("{name:<name_width$} {mark} {bar}");
            if !columns.is_empty() {
                line.push(' ');
                line.push_str(&columns);
            }
            lines.push(line);
        }
        lines.extend(more);
        match screen {
            Some(screen) => lines.into_iter().map(|line| clip(line, screen.columns)).collect(),
            None => lines,
        }
    }

    fn head(&self, stage: Stage, totals: &Totals) -> Row {
        let planned = self.plan.planned_vus;
        let (name, fraction, text) = match stage {
            Stage::Setup => ("Run", 1.0, "setup()".to_owned()),
            Stage::Paused => ("Run", 1.0, "paused".to_owned()),
            _ => {
                let done = totals.vus_initialized.min(planned);
                let width = planned.to_string().len();
                let fraction = if planned == 0 { 1.0 } else { done as f64 / planned as f64 };
                ("Init", fraction, format!("{done:0width$}/{planned} VUs initialized"))
            }
        };
        Row { name: name.to_owned(), mark: Mark::Running, fraction, columns: vec![text] }
    }

    /// `running (01.0s), 2/2 VUs, 0 complete and 0 interrupted iterations`
    fn totals_line(&self, stage: Stage, totals: &Totals) -> String {
        let time = fixed_width_time(totals.elapsed.0, self.plan.end_offset.as_ns());
        let Totals { vus_active, vus_initialized, complete, interrupted, .. } = totals;
        let width = self.plan.max_vus.max(*vus_initialized).to_string().len();
        let word = stage.word(totals.is_paused);
        format!(
            "{word} ({time}), {vus_active:0width$}/{vus_initialized} VUs, {complete} complete and {interrupted} interrupted iterations"
        )
    }

    /// The same where there is little room.
    fn short_totals_line(&self, stage: Stage, totals: &Totals) -> String {
        let time = fixed_width_time(totals.elapsed.0, self.plan.end_offset.as_ns());
        let Totals { vus_active, vus_initialized, complete, interrupted, .. } = totals;
        let word = match stage.word(totals.is_paused).split(',').next() {
            Some("running") | None => String::new(),
            Some(word) => format!("{word} "),
        };
        let cut = if *interrupted > 0 { format!(", {interrupted} cut") } else { String::new() };
        format!("{word}{time}, {vus_active}/{vus_initialized} VUs, {complete} iters{cut}")
    }

    fn row(&self, index: usize, totals: &Totals, now: Nanos, progress: &ScenarioProgress) -> Row {
        let plan = &self.plan.scenarios[index];
        let name = self.names[index].clone();
        if progress.started_at.is_none() && plan.start_ns > 0 {
            let since = totals.scenarios_at.map_or(0, |at| now.saturating_sub(at).0);
            let left = plan.start_ns.saturating_sub(since);
            let columns = vec!["waiting".to_owned(), fixed_width_time(left, plan.start_ns)];
            return Row { name, mark: Mark::Waiting, fraction: 0.0, columns };
        }
        // The line stands still once its scenario is over.
        let until = if progress.over { progress.ended_at.map_or(0, |at| at.0) } else { now.0 };
        let elapsed_ns = progress.started_at.map_or(0, |at| until.saturating_sub(at.0));
        // k6: the VUs a scenario had are still shown after it gave them back.
        let is_external = matches!(plan.executor, ExecutorPlan::ExternallyControlled(_));
        let held = match (progress.active_vus, is_external) {
            (0, false) => progress.active_vus_max,
            (active, _) => active,
        };
        let live = Live {
            elapsed_ns,
            running_vus: progress.running_vus,
            active_vus: held,
            done_iterations: progress.done,
            steered: progress.steered,
            max_vus: progress.max_vus,
        };
        let fraction = plan.progress(&live);
        let mark = Mark::new(plan, progress, fraction, elapsed_ns);
        Row { name, mark, fraction, columns: plan.progress_columns(&live) }
    }
}
