//! What a search says while it goes on and at its end.

use onrush_analysis::capacity::{End, Found, Outcome, Purpose, Search};
use serde_json::{Value, json};

use super::{
    Tried,
    trial::{Bench, Kind},
};

/// The knee is where p(95) is so many times that of the lowest load.
const KNEE: f64 = 2.0;

fn unit(bench: &Bench) -> &'static str {
    match bench.kind {
        Kind::Rate => "/s",
        Kind::Vus => " VUs",
    }
}

/// What comes first.
pub(super) fn heading(bench: &Bench, search: &Search, known: usize) -> String {
    let goals: Vec<&str> = bench.slos.iter().map(|slo| slo.text.as_str()).collect();
    let what = match bench.kind {
        Kind::Rate => "highest rate of iterations",
        Kind::Vus => "highest number of VUs",
    };
    let going_on = if known > 0 { format!(", going on after {known} trials") } else { String::new() };
    format!(
        "The {what} up to {} that holds {}; {:.0} s each after {:.0} s of warm-up{going_on}\n\n{:>12}  {:<8} {:>10} {:>9} {:>9} {:>9} {:>8}\n",
        search.max,
        goals.join(" and "),
        bench.step.as_secs_f64(),
        bench.warm_up.as_secs_f64(),
        "load",
        "",
        "requests/s",
        "median",
        "p(95)",
        "p(99)",
        "failed"
    )
}

/// A trial.
pub(super) fn row(bench: &Bench, tried: &Tried) -> String {
    let figures = &tried.figures;
    let time = |ms: Option<f64>| ms.map_or_else(|| "-".to_owned(), |ms| format!("{ms:.1} ms"));
    let word = match tried.trial.outcome {
        Outcome::Held => "held",
        Outcome::Broke => "broke",
        Outcome::Limited => "limited",
    };
    let mut text = format!(
        "{:>12}  {word:<8} {:>10.1} {:>9} {:>9} {:>9} {:>7.2}%  {}",
        format!("{:.0}{}", tried.trial.load, unit(bench)),
        figures.requests,
        time(figures.median_ms),
        time(figures.p95_ms),
        time(figures.p99_ms),
        figures.failed * 100.0,
        named(tried.trial.purpose),
    );
    text.truncate(text.trim_end().len());
    for why in &figures.why {
        text.push_str(&format!("\n{:>14}↳ {why}", ""));
    }
    text + "\n"
}

/// Why a load is tried.
fn named(purpose: Purpose) -> &'static str {
    match purpose {
        Purpose::Climb => "",
        Purpose::Halve => "between",
        Purpose::Confirm => "again",
        Purpose::Recover => "recovered?",
    }
}

/// What was found.
pub(super) fn text(bench: &Bench, found: &Found, trials: &[Tried]) -> String {
    let unit = unit(bench);
    let load = |load: f64| format!("{load:.0}{unit}");
    let (held, of) = found.held;
    let highest = found.highest.map(load);
    let mut text = match (found.end, highest) {
        (End::Found | End::TooNoisy, Some(highest)) => {
            let broke = found.broke.map(|broke| format!("; {} did not", load(broke))).unwrap_or_default();
            format!("Up to {highest} all goals were held (in {held} of {of} trials){broke}.\n")
        }
        (End::Unbroken, Some(highest)) => {
            format!(
                "Even {highest} held all goals (in {held} of {of} trials): the capacity is higher. Search on with a higher limit.\n"
            )
        }
        (End::GeneratorLimit, Some(highest)) => {
            format!(
                "Up to {highest} all goals were held (in {held} of {of} trials). Above, this generator was the limit, not the system: use more cores, or --agents.\n"
            )
        }
        (End::NotRecovered, Some(highest)) => {
            format!(
                "Up to {highest} all goals were held. Above, the system broke and did not recover: the search ends here to leave it alone.\n"
            )
        }
        _ => "No load held all goals, not even a low one: see what is wrong with the first trial.\n".to_owned(),
    };
    if found.end == End::TooNoisy {
        text.push_str(
            "The trials contradict each other too often for a closer answer: longer steps (--step) are calmer.\n",
        );
    }
    if let Some((knee, first, p95)) = knee(trials) {
        text.push_str(&format!(
            "The knee is at {}: p(95) is {p95:.1} ms there, more than twice the {first:.1} ms of the lowest load.\n",
            load(knee)
        ));
    }
    format!("\n{text}{}", curve(bench, trials))
}

/// The lowest load whose p(95) is more than twice that of the lowest one tried: the load, both times.
fn knee(trials: &[Tried]) -> Option<(f64, f64, f64)> {
    let points = points(trials);
    let first = points.first()?.1;
    let (load, p95) = points.iter().find(|(_, p95)| *p95 > KNEE * first)?;
    Some((*load, first, *p95))
}

/// Loads with the median of their p(95), lowest first.
fn points(trials: &[Tried]) -> Vec<(f64, f64)> {
    let counted = trials.iter().filter(|tried| tried.trial.purpose != Purpose::Recover);
    let mut all: Vec<(f64, f64)> =
        counted.filter_map(|tried| Some((tried.trial.load, tried.figures.p95_ms?))).collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let groups = all.chunk_by(|a, b| a.0.total_cmp(&b.0).is_eq());
    groups.map(|group| group[group.len() / 2]).collect()
}

/// Load against p(95), a bar each.
fn curve(bench: &Bench, trials: &[Tried]) -> String {
    const WIDTH: f64 = 40.0;
    let points = points(trials);
    let most = points.iter().map(|(_, p95)| *p95).fold(0.0, f64::max);
    if points.len() < 2 || most <= 0.0 {
        return String::new();
    }
    let bars: String = points
        .iter()
        .map(|(load, p95)| {
            let bar = "■".repeat(((p95 / most * WIDTH).round() as usize).max(1));
            format!("{:>12}  {p95:>9.1} ms  {bar}\n", format!("{load:.0}{}", unit(bench)))
        })
        .collect();
    format!("\n  load against p(95):\n{bars}")
}

pub(super) fn to_json(bench: &Bench, found: &Found, trials: &[Tried]) -> Value {
    json!({
        "kind": bench.kind,
        "slos": bench.slos.iter().map(|slo| &slo.text).collect::<Vec<_>>(),
        "highest": found.highest,
        "held": { "trials": found.held.1, "held": found.held.0 },
        "broke": found.broke,
        "end": match found.end {
            End::Found => "found",
            End::Unbroken => "unbroken",
            End::Broken => "broken",
            End::GeneratorLimit => "generator-limit",
            End::NotRecovered => "not-recovered",
            End::TooNoisy => "too-noisy",
        },
        "knee": knee(trials).map(|(load, ..)| load),
        "trials": trials,
    })
}
