//! All lines of a moment.

use onrush_fiber::Nanos;
use onrush_plan::{ExecutorPlan, Live, Plan, ScenarioPlan, fixed_width_time};
use onrush_session::protocol::ScenarioProgress;

use super::bar::{Drawn, WIDTH, WIDTH_MIN, bar, percent};

/// What the run as a whole is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// VUs run their init code.
    Initializing,
    /// All is ready, and somebody must resume the run for it to start.
    Paused,
    /// `setup()` runs.
    Setup,
    /// Scenarios run, or ran.
    Running,
    /// Somebody ended them, and iterations that had begun are waited for.
    Stopping,
    /// `teardown()` runs.
    Teardown,
    /// All is over, and `--linger` keeps the results to be looked at.
    Lingering,
}

impl Stage {
    fn is_before_scenarios(self) -> bool {
        matches!(self, Self::Initializing | Self::Paused | Self::Setup)
    }

    /// The word in front of the totals.
    fn word(self, is_paused: bool) -> &'static str {
        match self {
            Self::Stopping => "stopping, Ctrl+C ends it at once",
            Self::Teardown => "teardown()",
            Self::Lingering => "over, Ctrl+C ends --linger",
            _ if is_paused => "paused",
            _ => "running",
        }
    }
}

/// Counts over all scenarios.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    /// Since the test's clock started.
    pub(crate) elapsed: Nanos,
    /// The run stands still.
    pub(crate) is_paused: bool,
    /// When the scenarios started, in the process's clock.
    pub(crate) scenarios_at: Option<Nanos>,
    /// VUs a scenario holds.
    pub(crate) vus_active: u64,
    /// VUs whose init code has run.
    pub(crate) vus_initialized: u64,
    /// Iterations that ended.
    pub(crate) complete: u64,
    /// Iterations that were cut.
    pub(crate) interrupted: u64,
}

/// Draws the lines of one run.
pub(crate) struct Board {
    plan: Plan,
    /// Scenario names, cut.
    names: Vec<String>,
    name_width: usize,
}

/// One line, in parts.
struct Row {
    name: String,
    mark: Mark,
    fraction: f64,
    columns: Vec<String>,
}

/// The sign between name and bar.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    Running,
    Waiting,
    Stopping,
    Done,
    Interrupted,
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

    /// The rows for which a terminal has room, and a word on the others: what is drawn over itself must not scroll away.
    /// What runs is shown first, then what is still to come.
    fn fitting(rows: Vec<Row>, screen: Screen) -> (Vec<Row>, Option<String>) {
        // Beside them there are an empty line, the totals, two lines of figures, the word on the others and the cursor's
        // own line.
        const OTHERS: usize = 6;
        let room = screen.rows.saturating_sub(OTHERS).max(1);
        if rows.len() <= room {
            return (rows, None);
        }
        let mut order: Vec<usize> = (0..rows.len()).collect();
        order.sort_by_key(|&index| rows[index].mark.rank());
        let shown = &order[..room];
        let hidden: Vec<Mark> = order[room..].iter().map(|&index| rows[index].mark).collect();
        let count = |of: &[Mark]| hidden.iter().filter(|mark| of.contains(mark)).count();
        let kinds = [
            (count(&[Mark::Running, Mark::Stopping]), "running"),
            (count(&[Mark::Waiting]), "waiting"),
            (count(&[Mark::Done, Mark::Interrupted]), "over"),
        ];
        let kinds: Vec<String> =
            kinds.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect();
        let text = format!("… and {} more scenarios: {}", hidden.len(), kinds.join(", "));
        let rows = rows.into_iter().enumerate().filter(|(index, _)| shown.contains(index)).map(|(_, row)| row);
        (rows.collect(), Some(text))
    }

    fn lines(
        &self,
        stage: Stage,
        totals: &Totals,
        now: Nanos,
        scenarios: &[ScenarioProgress],
        screen: Option<Screen>,
    ) -> Vec<String> {
        let mut rows: Vec<Row> = Vec::with_capacity(scenarios.len() + 1);
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
        let (rows, more) = match screen {
            Some(screen) => Self::fitting(rows, screen),
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
        let mark = mark(plan, progress, fraction, elapsed_ns);
        Row { name, mark, fraction, columns: plan.progress_columns(&live) }
    }
}

fn mark(plan: &ScenarioPlan, progress: &ScenarioProgress, fraction: f64, elapsed_ns: u64) -> Mark {
    // The clock may stop a hair before the end.
    const WHOLE: f64 = 0.9999;
    if progress.over {
        // k6: also what ended by itself is marked so when it did not do all it was to do.
        let is_whole = fraction >= WHOLE && (progress.interrupted == 0 || plan.total_iterations().is_none());
        return if is_whole { Mark::Done } else { Mark::Interrupted };
    }
    if progress.stopping || elapsed_ns >= plan.regular_end_ns { Mark::Stopping } else { Mark::Running }
}

impl Mark {
    /// What is worth a line most.
    fn rank(self) -> u8 {
        match self {
            Self::Running | Self::Stopping => 0,
            Self::Waiting => 1,
            Self::Interrupted | Self::Done => 2,
        }
    }

    fn text(self, color: bool) -> &'static str {
        match (self, color) {
            (Self::Running, _) => " ",
            (Self::Waiting, false) => "•",
            (Self::Waiting, true) => "\x1b[2m•\x1b[22m",
            (Self::Stopping, _) => "↓",
            (Self::Done, false) => "✓",
            (Self::Done, true) => "\x1b[32m✓\x1b[0m",
            (Self::Interrupted, false) => "✗",
            (Self::Interrupted, true) => "\x1b[31m✗\x1b[0m",
        }
    }
}

/// A terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Screen {
    /// Its columns.
    pub(crate) columns: usize,
    /// Its lines.
    pub(crate) rows: usize,
    /// It shows colours.
    pub(crate) color: bool,
}

/// The columns right of the bars, padded so that they line up.
///
/// k6: a column is as wide as its widest text that is not the last of its row, and one more.
fn joined(rows: &[Row]) -> Vec<String> {
    let count = rows.iter().map(|row| row.columns.len()).max().unwrap_or(0);
    let inner =
        |row: &Row, column: usize| if column + 1 < row.columns.len() { row.columns[column].chars().count() } else { 0 };
    let widths: Vec<usize> =
        (0..count).map(|column| rows.iter().map(|row| inner(row, column)).max().unwrap_or(0)).collect();
    let pad = |text: &String, width: usize| if width == 0 { text.clone() } else { format!("{text:<0$}", width + 1) };
    rows.iter()
        .map(|row| row.columns.iter().zip(&widths).map(|(text, width)| pad(text, *width)).collect::<Vec<_>>().join(" "))
        .collect()
}

/// As many parts as fit a line, the first in any case.
fn fitting_parts(parts: &[String], separator: &str, columns: usize) -> String {
    let mut text = String::new();
    for part in parts {
        let more = if text.is_empty() { part.clone() } else { format!("{text}{separator}{part}") };
        if !text.is_empty() && more.chars().count() > columns {
            break;
        }
        text = more;
    }
    text
}

fn cut(name: &str, max: usize) -> String {
    if name.chars().count() <= max {
        return name.to_owned();
    }
    name.chars().take(max.saturating_sub(3)).chain("...".chars()).collect()
}

/// The part of a line that fits, colours not counted: a line that wraps would be left behind when the next is drawn.
fn clip(line: String, columns: usize) -> String {
    let mut shown = 0;
    let mut in_escape = false;
    for (at, char) in line.char_indices() {
        match char {
            '\x1b' => in_escape = true,
            _ if in_escape => in_escape = !char.is_ascii_alphabetic(),
            _ => shown += 1,
        }
        if shown > columns {
            return format!("{}\x1b[0m", &line[..at]);
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use onrush_plan::{Options, Tier, consolidate, parse_json};
    use onrush_session::protocol::Time;

    use super::*;

    const NO_PULSE: [Vec<String>; 2] = [Vec::new(), Vec::new()];
    const S: u64 = 1_000_000_000;
    const MS: u64 = 1_000_000;

    fn board() -> Board {
        let options = parse_json(
            r#"{"scenarios": {
                "contacts": {"executor": "constant-vus", "vus": 20, "duration": "2s"},
                "a_very_long_scenario_name_over_thirty_chars": {"executor": "ramping-vus", "startTime": "1s",
                    "stages": [{"duration": "1s", "target": 10}, {"duration": "1s", "target": 0}]},
                "rate": {"executor": "constant-arrival-rate", "rate": 10, "duration": "3s", "preAllocatedVUs": 5, "maxVUs": 7},
                "sh": {"executor": "shared-iterations", "vus": 3, "iterations": 300, "maxDuration": "2s"}}}"#,
        );
        let tiers = vec![(Tier::Defaults, Options::defaults()), (Tier::Script, options.unwrap().options)];
        let test = consolidate(tiers).unwrap();
        Board::new(&Plan::new(&test.scenarios, &test.share).unwrap())
    }

    fn totals(elapsed_ms: u64) -> Totals {
        Totals {
            elapsed: Nanos(elapsed_ms * MS),
            is_paused: false,
            scenarios_at: Some(Nanos(10 * S)),
            vus_active: 26,
            vus_initialized: 38,
            complete: 28,
            interrupted: 0,
        }
    }

    fn time(ns: u64) -> Option<Time> {
        Some(Time(ns))
    }

    fn running(started_at_ns: u64, running_vus: u64, active_vus: u64, done: u64) -> ScenarioProgress {
        let started_at = time(started_at_ns);
        ScenarioProgress { started_at, running_vus, active_vus, done, ..ScenarioProgress::default() }
    }

    /// The layout was printed by k6 1.8.1.
    #[test]
    fn a_block_lines_up_as_in_k6() {
        let board = board();
        let at = 10 * S;
        let scenarios =
            [running(at, 20, 20, 0), running(at, 3, 5, 0), running(at, 3, 3, 0), ScenarioProgress::default()];
        let block = board.block(Stage::Running, &totals(1_500), Nanos(at + 300 * MS), &scenarios);
        assert_eq!(
            block,
            "\nrunning (01.5s), 26/38 VUs, 28 complete and 0 interrupted iterations\n\
             contacts                         [  15% ] 20 VUs   0.3s/2s \n\
             rate                             [  10% ] 3/5 VUs  0.3s/3s  10.00 iters/s\n\
             sh                               [   0% ] 3 VUs    0.3s/2s  000/300 shared iters\n\
             a_very_long_scenario_name_o... • [   0% ] waiting  0.7s    \n"
        );
    }

    #[test]
    fn marks_tell_how_scenarios_end() {
        let board = board();
        let at = 10 * S;
        let over = |progress: ScenarioProgress| ScenarioProgress {
            over: true,
            stopping: true,
            ended_at: time(at + 3_400 * MS),
            ..progress
        };
        let scenarios = [
            over(running(at, 0, 0, 60)),
            running(at, 2, 5, 9),
            over(running(at, 0, 0, 9)),
            over(running(at + S, 0, 0, 9)),
        ];
        let block = board.block(Stage::Running, &totals(3_500), Nanos(at + 3_500 * MS), &scenarios);
        let marks: Vec<char> = block.lines().skip(2).filter_map(|line| line.chars().nth(31)).collect();
        assert_eq!(marks, ['✓', '↓', '✗', '✓'], "{block}");
        // A line stands still once its scenario is over.
        let later = board.block(Stage::Running, &totals(9_500), Nanos(at + 9_500 * MS), &scenarios);
        assert_eq!(block.lines().nth(4), later.lines().nth(4));
    }

    #[test]
    fn before_the_scenarios_the_first_line_says_what_goes_on() {
        let board = board();
        let scenarios = [ScenarioProgress::default(); 4];
        let init = Totals { vus_initialized: 7, ..Totals::default() };
        let block = board.block(Stage::Initializing, &init, Nanos(0), &scenarios);
        assert!(block.starts_with("\nInit                             [  18% ] 07/38 VUs initialized\ncontacts                         [   0% ]\n"), "{block}");
        let block = board.block(Stage::Setup, &init, Nanos(0), &scenarios);
        assert!(block.starts_with("\nRun                              [ 100% ] setup()\n"), "{block}");
    }

    #[test]
    fn a_log_has_one_line_for_all() {
        let more = ["now 12 req/s, 0.00% failed".to_owned(), "✓ 2 thresholds hold".to_owned()];
        let check = |stage: Stage, expect: &str| assert_eq!(board().line(stage, &totals(10_000), &more), expect);
        check(
            Stage::Running,
            "running (10.0s), 26/38 VUs, 28 complete and 0 interrupted iterations; now 12 req/s, 0.00% failed; ✓ 2 thresholds hold\n",
        );
        check(
            Stage::Stopping,
            "stopping, Ctrl+C ends it at once (10.0s), 26/38 VUs, 28 complete and 0 interrupted iterations; now 12 req/s, 0.00% failed; ✓ 2 thresholds hold\n",
        );
        check(Stage::Setup, "setup(); now 12 req/s, 0.00% failed; ✓ 2 thresholds hold\n");
    }

    #[test]
    fn a_frame_fits_the_terminal() {
        let at = 10 * S;
        let scenarios =
            [running(at, 20, 20, 0), running(at, 3, 5, 0), running(at, 3, 3, 0), ScenarioProgress::default()];
        for columns in [200, 100, 60, 10, 1, 0] {
            let screen = Screen { columns, rows: 24, color: false };
            let frame = board().frame(
                Stage::Running,
                &totals(1_500),
                Nanos(at + 300 * MS),
                &scenarios,
                [
                    vec!["now 203 req/s".to_owned(), "all 406 requests".to_owned()],
                    vec!["✗ http_reqs count>9".to_owned()],
                ],
                screen,
            );
            let widest = frame.iter().map(|line| line.replace("\x1b[0m", "").chars().count()).max();
            assert!(widest <= Some(columns), "{columns}: {frame:?}");
        }
    }

    #[test]
    fn a_narrow_terminal_has_the_numbers() {
        let at = 10 * S;
        let scenarios =
            [running(at, 20, 20, 0), running(at, 3, 5, 0), running(at, 3, 3, 0), ScenarioProgress::default()];
        let screen = Screen { columns: 42, rows: 24, color: false };
        let frame = board().frame(Stage::Running, &totals(1_500), Nanos(at + 300 * MS), &scenarios, NO_PULSE, screen);
        assert_eq!(
            frame,
            [
                "",
                "01.5s, 26/38 VUs, 28 iters",
                "con...    15% 20 VUs   0.3s/2s ",
                "rate      10% 3/5 VUs  0.3s/3s  10.00 iter",
                "sh         0% 3 VUs    0.3s/2s  000/300 sh",
                "a_v... •   0% waiting  0.7s    ",
            ]
            .map(|line| if line.chars().count() == 42 {
                format!("{line}\x1b[0m")
            } else {
                line.to_owned()
            })
        );
    }

    #[test]
    fn a_low_terminal_has_what_runs() {
        let names: Vec<String> = (0..40)
            .map(|index| {
                format!(
                    r#""s{index:02}": {{"executor": "constant-vus", "duration": "9s", "startTime": "{}s"}}"#,
                    index / 20
                )
            })
            .collect();
        let options = parse_json(&format!(r#"{{"scenarios": {{{}}}}}"#, names.join(",")));
        let tiers = vec![(Tier::Defaults, Options::defaults()), (Tier::Script, options.unwrap().options)];
        let test = consolidate(tiers).unwrap();
        let board = Board::new(&Plan::new(&test.scenarios, &test.share).unwrap());
        let at = 10 * S;
        let mut scenarios = vec![running(at, 1, 1, 0); 20];
        scenarios[..15].fill(ScenarioProgress { over: true, ended_at: time(at + 100 * MS), ..running(at, 0, 0, 9) });
        scenarios.resize(40, ScenarioProgress::default());
        let screen = Screen { columns: 80, rows: 12, color: false };
        let frame = board.frame(Stage::Running, &totals(300), Nanos(at + 300 * MS), &scenarios, NO_PULSE, screen);
        let names: Vec<&str> = frame[2..].iter().filter_map(|line| line.split(' ').next()).collect();
        assert_eq!(names, ["s15", "s16", "s17", "s18", "s19", "s20", "…"]);
        assert_eq!(frame.last().unwrap(), "… and 34 more scenarios: 19 waiting, 15 over");
        assert!(frame.len() < 12);
    }

    #[test]
    fn what_ended_between_two_blocks_shows_its_own_end() {
        let at = 10 * S;
        let over = ScenarioProgress { over: true, ended_at: time(at + 1_100 * MS), ..running(at, 0, 0, 300) };
        let scenarios = [running(at, 20, 20, 0), running(at, 3, 5, 0), over, ScenarioProgress::default()];
        let block = board().block(Stage::Running, &totals(2_000), Nanos(at + 2_000 * MS), &scenarios);
        assert!(block.contains("3 VUs    1.1s/2s  300/300 shared iters"), "{block}");
    }
}
