//! `onrush compare`: which of two runs was better, by more than noise.

mod curves;
mod fair;
mod figures;
mod margin;
mod measures;
mod mix;
mod report;
mod run;
mod series;

use std::path::{Path, PathBuf};

use onrush_analysis::compare::{Cells, Judged, Measure, Pair, Part, Spread, estimate, judge, value, warm_up};
use onrush_metrics::Span;
use onrush_session::ExitCode;

use self::{
    curves::Curves, margin::Margins, measures::SEED, mix::Adjusted, report::Comparison, run::Recorded, series::Change,
};
use crate::{context::Context, failure::Failure, flags::Command, gate::Gate};

/// What is not judged where there is no earlier run.
const NOTHING: &str = "there is no earlier run of this test";

/// Compares two files.
///
/// # Errors
/// 255 for files that cannot be read or have nothing in common.
pub(crate) fn compare(cx: &Context, files: &[String]) -> Result<ExitCode, Failure> {
    cx.flags.refuse_unavailable(Command::Compare)?;
    let margins = Margins::parse(&cx.flags.values("margin"))?;
    let skipped = cx.flags.text("warm-up").map(|text| warm_up_flag(&text)).transpose()?;
    let gate = Gate::given(&cx.flags)?;
    let mut baseline = cx.flags.text("baseline").filter(|text| !text.is_empty()).map(PathBuf::from);
    let against = cx.flags.text("against");
    if against.as_deref() == Some("last") && baseline.is_none() {
        baseline = Some(kept(cx)?);
    }
    let (before, after) = match files {
        [after] if against.is_some() => (against.as_ref().filter(|against| *against != "last"), after),
        [before, after] => (Some(before), after),
        [after] if baseline.is_some() => (None, after),
        [_] => {
            return Err(Failure::other("onrush compare needs a second file to compare with")
                .hint("onrush compare BEFORE AFTER, or --baseline DIR with the files of earlier runs"));
        }
        _ => {
            return Err(Failure::other(format!("onrush compare takes two result files, not {}", files.len()))
                .hint("onrush help compare shows examples"));
        }
    };
    let after = Recorded::read(cx, Path::new(after))?;
    let mut earlier = match &baseline {
        Some(folder) => run::earlier(cx, folder, &after)?,
        None => Vec::new(),
    };
    let before = match before {
        Some(before) => Recorded::read(cx, Path::new(before))?,
        None => match earlier.pop() {
            Some(before) => before,
            None => return nothing_earlier(cx, gate, baseline.as_deref(), &after),
        },
    };
    earlier.retain(|run| run.file != before.file);
    let has_curves = cx.flags.switch("curves")?.unwrap_or(false);
    let comparison = compared(before, after, &earlier, &margins, skipped, has_curves)?;
    let is_json = cx.flags.switch("json")?.unwrap_or(false);
    let alarms = comparison.alarms();
    for metric in margins.unused(&comparison.judged) {
        cx.logger.warn(format!("--margin {metric}=… is for nothing that is compared: is that the metric's name?"));
    }
    let text = if is_json {
        format!("{:#}\n", comparison.to_json())
    } else {
        cx.look.fitted(comparison.to_text(cx.look.stdout_color()))
    };
    cx.terminal.stdout(text);
    if !alarms.is_empty() {
        cx.logger.error(format!("worse than before: {}", alarms.join(", ")));
        return Ok(ExitCode::ComparedWorse);
    }
    let unjudged = comparison.unjudged();
    if !unjudged.is_empty() && !gate.has_unjudged() {
        let what = unjudged.join(", ");
        cx.logger.warn(format!("not judged: {what}; --fail-on unjudged gives such a comparison exit code 82"));
    }
    Ok(gated(cx, gate, &unjudged, &[&comparison.before, &comparison.after]))
}

/// The exit code where nothing got worse.
fn gated(cx: &Context, gate: Gate, unjudged: &[String], runs: &[&Recorded]) -> ExitCode {
    let verdict = |run: &Recorded| run.end.as_ref().map(|end| end.verdict.clone());
    let runs: Vec<_> = runs.iter().map(|run| (run.file.display().to_string(), verdict(run))).collect();
    match gate.refuses_comparison(unjudged, &runs) {
        Some((code, why)) => {
            cx.logger.error(why);
            code
        }
        None => ExitCode::Success,
    }
}

/// The first run of a test, or the first since it was changed, is no failure unless somebody says so: a pipeline that keeps
/// only what passed would never get to a second one.
fn nothing_earlier(cx: &Context, gate: Gate, baseline: Option<&Path>, after: &Recorded) -> Result<ExitCode, Failure> {
    let folder = baseline.unwrap_or_else(|| Path::new(".")).display();
    let text = format!(
        "nothing is compared: {folder} has no result file of an earlier run of this test (the same script and options); with this one there, the next run has something to be compared with"
    );
    if cx.flags.switch("json")?.unwrap_or(false) {
        let json =
            serde_json::json!({ "measures": [], "names": [], "worse": [], "unjudged": [NOTHING], "notes": [text] });
        cx.terminal.stdout(format!("{json:#}\n"));
    }
    cx.logger.warn(text);
    Ok(gated(cx, gate, &[NOTHING.to_owned()], &[after]))
}

fn compared(
    before: Recorded,
    after: Recorded,
    earlier: &[Recorded],
    margins: &Margins,
    skipped: Option<u64>,
    has_curves: bool,
) -> Result<Comparison, Failure> {
    let step_ns = earlier.iter().chain([&before, &after]).map(|run| run.timeline.step_ns()).max().unwrap_or_default();
    let (skipped_ns, is_settled) = match skipped {
        Some(skipped) => (skipped, true),
        None => warm_ups(&before, &after, step_ns),
    };
    let part = |run: &Recorded| Part::new(&run.spans(), step_ns, skipped_ns, run.timeline.end_ns());
    let parts = [part(&before), part(&after)];
    if let Some((run, _)) = [&before, &after].into_iter().zip(&parts).find(|(_, part)| part.cells() == 0) {
        return Err(Failure::other(format!(
            "{} has no second that could be compared: it lasted {:.0} s",
            run.file.display(),
            run.timeline.end_ns() as f64 / 1e9
        ))
        .hint("compare longer runs, or say --warm-up 0s"));
    }
    let row = |measure: &Measure| {
        let none = || Cells::Amounts(Vec::new());
        let cells = |run: &Recorded, part: &Part| run.timeline.cells(&measure.metric, part).unwrap_or_else(none);
        let of = |cells: &Cells, part: &Part, seed: u64| estimate(cells, measure.statistic, part.cell_seconds(), seed);
        let both = [cells(&before, &parts[0]), cells(&after, &parts[1])];
        let spread = || {
            let own = |run: &Recorded| {
                let part = part(run);
                of(&cells(run, &part), &part, SEED).ok()
            };
            Spread::of(&earlier.iter().chain([&before]).filter_map(own).collect::<Vec<_>>())
        };
        Pair {
            measure: measure.clone(),
            margin: margins.of(measure),
            before: of(&both[0], &parts[0], SEED),
            after: of(&both[1], &parts[1], SEED + 1),
            values: std::array::from_fn(|run| value(&both[run], measure.statistic, parts[run].cell_seconds())),
            spread: if earlier.is_empty() { None } else { spread() },
        }
    };
    let measures = measures(&before, &after);
    let pairs: Vec<Pair> = measures.iter().map(row).collect();
    let is_spread_known = pairs.iter().any(|pair| pair.spread.is_some());
    // Names are looked at to find out where a difference comes from: they have their own chance of false alarms.
    let names: Vec<Judged> = judge(run::names(&before, &after).iter().map(row).collect());
    let notes = fair::notes(&before, &after, &parts, is_settled, is_spread_known);
    let history = if earlier.is_empty() { 0 } else { earlier.len() + 1 };
    let curves = has_curves.then(|| Curves::of(&before, &after, &parts)).flatten();
    let adjusted = fair::mix(&before, &after).and_then(|_| Adjusted::of(&before, &after, &parts));
    let mut series: Vec<&Recorded> = earlier.iter().chain([&before, &after]).collect();
    // RFC 3339 in UTC: texts are in the order of time.
    series.sort_by(|first, second| first.head.started.cmp(&second.head.started));
    let value = |run: &Recorded, measure: &Measure| {
        let part = part(run);
        value(&run.timeline.cells(&measure.metric, &part)?, measure.statistic, part.cell_seconds())
    };
    let changes = if earlier.is_empty() { Vec::new() } else { Change::all(&series, &measures, value) };
    Ok(Comparison {
        judged: judge(pairs),
        names,
        notes,
        parts,
        skipped_ns,
        history,
        before,
        after,
        curves,
        adjusted,
        changes,
    })
}

/// The folder that runs are kept in unless it is said otherwise: where `--against last` looks without `--baseline`.
///
/// # Errors
/// 255 where there is none.
fn kept(cx: &Context) -> Result<PathBuf, Failure> {
    let set = |name: &str| cx.flags.env.get(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let state = set("XDG_STATE_HOME").or_else(|| Some(set("HOME")?.join(".local/state")));
    let folder = state.map(|state| state.join("onrush/runs")).filter(|folder| folder.is_dir());
    folder.ok_or_else(|| {
        Failure::other("--against last needs earlier runs, and none are kept")
            .hint("say where their files are with --baseline DIR")
    })
}

/// How long the start of the slower run takes, and whether both settle at all.
fn warm_ups(before: &Recorded, after: &Recorded, step_ns: u64) -> (u64, bool) {
    let of = |run: &Recorded| {
        let first: Vec<Span> = run.spans().into_iter().take(1).collect();
        let part = Part::new(&first, step_ns, 0, run.timeline.end_ns());
        let trend = run.main_trend();
        warm_up(&run.timeline.means(trend, &part)).map(|cells| cells as u64 * step_ns)
    };
    let found = [of(before), of(after)];
    (found.iter().flatten().copied().max().unwrap_or(0), found.iter().all(Option::is_some))
}

/// What is judged: what the thresholds of either run limit, and the usual measures of what it did.
fn measures(before: &Recorded, after: &Recorded) -> Vec<Measure> {
    let mut measures: Vec<Measure> = Vec::new();
    let usual = after.usual().into_iter().filter(|measure| before.has(&measure.metric));
    for measure in after.limited.iter().cloned().chain(usual).chain(before.limited.iter().cloned()) {
        let is_known = |known: &Measure| known.metric == measure.metric && known.statistic == measure.statistic;
        if !measures.iter().any(is_known) {
            measures.push(measure);
        }
    }
    measures
}

fn warm_up_flag(text: &str) -> Result<u64, Failure> {
    let parsed = onrush_plan::parse_go_duration(text).ok().and_then(|duration| u64::try_from(duration.ns()).ok());
    parsed.ok_or_else(|| Failure::other(format!("invalid --warm-up \"{text}\"")).hint("use a duration, such as 30s"))
}
