//! Two runs on the same cores, so that what slows one down slows down the other: on a machine that is never quiet two
//! programs that run one after the other differ by a tenth though they are the same.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rustix::process::Signal;
use serde_json::json;

use super::comparison::{BEFORE_RATIO_MAX, Comparison};
use crate::bench::{
    client::{Client, command},
    lab::Lab,
    load::{Load, per, read_summary, wait},
    process::{Cpus, Process, Usage},
    report::Bound,
    series::median_ratio,
    server::Server,
};

/// Longer than what a change of turns costs, shorter than what disturbs a machine lasts.
const TURN: Duration = Duration::from_millis(150);

/// How two runs share the cores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Manner {
    /// As the kernel divides the time: differences of half a percent show. But each also pays for the caches that the other
    /// has emptied, which no test does, and more so the larger a program is: for two runs of one build.
    AtOnce,
    /// One is always stopped, in turns: differences of one or two percent show.
    InTurns,
}

impl Manner {
    fn text(self) -> &'static str {
        match self {
            Self::AtOnce => "at once",
            Self::InTurns => "in turns",
        }
    }
}

/// Who does what.
type Side<'a> = (Client, &'a Load);

/// Limits the CPU of what `counter` counts to that of the earlier build, if there is one, and a little more.
pub(super) fn limit(lab: &mut Lab, server: &Server, comparison: &Comparison, counter: &str) -> Result<()> {
    if lab.before().is_none() {
        return Ok(());
    }
    let load = &comparison.load;
    let sides = [(Client::Onrush, load), (Client::Before, load)];
    let belongs = (comparison.part, comparison.setup.as_str());
    let ratio = ratio(lab, server, belongs, Manner::InTurns, sides, counter, Usage::cpu)?;
    let what = format!("{}: CPU of {counter} / that of the build before, in turns", comparison.setup);
    lab.report.limit(comparison.part, what, ratio, Bound::AtMost(BEFORE_RATIO_MAX), "");
    Ok(())
}

/// What one of the things that `counter` counts takes on the first side, divided by that of the second: the median of all
/// rounds. `(part, setup)` says where the records belong.
pub(super) fn ratio(
    lab: &mut Lab,
    server: &Server,
    (part, setup): (&'static str, &str),
    manner: Manner,
    sides: [Side<'_>; 2],
    counter: &str,
    time: impl Fn(&Usage) -> Duration,
) -> Result<Option<f64>> {
    let (mut first, mut second) = (Vec::new(), Vec::new());
    for round in 0..lab.options.rounds() {
        // Who starts first changes.
        let costs = if round % 2 == 0 {
            both(lab, server, manner, sides, counter, &time)?
        } else {
            let [b, a] = both(lab, server, manner, [sides[1], sides[0]], counter, &time)?;
            [a, b]
        };
        lab.record(
            part,
            json!({ "setup": setup, "manner": manner.text(), "round": round, "counter": counter, "us": costs }),
        );
        eprintln!(
            "  {}, {setup}, round {}: {:.2} µs of CPU each, and {:.2}",
            manner.text(),
            round + 1,
            costs[0],
            costs[1]
        );
        first.push(costs[0]);
        second.push(costs[1]);
    }
    Ok(median_ratio(&first, &second))
}

/// Microseconds for one counted thing on each side.
fn both(
    lab: &mut Lab,
    server: &Server,
    manner: Manner,
    sides: [Side<'_>; 2],
    counter: &str,
    time: impl Fn(&Usage) -> Duration,
) -> Result<[f64; 2]> {
    let pinned = sides[0].1.pinned;
    server.move_to(if pinned { Cpus::One(1) } else { Cpus::All })?;
    let cpus = if pinned { Cpus::One(0) } else { Cpus::All };
    // Each has half of the time.
    let loads = sides.map(|(_, load)| Load { seconds: 2 * load.seconds, ..load.clone() });
    let start = |number: usize| {
        let (command, summary) = command(lab, sides[number].0, &loads[number]);
        let output = lab.scratch.path().join(format!("client-{number}.log"));
        Ok::<_, anyhow::Error>((Process::start(command, cpus, &output)?, summary.context("it runs no scripts")?))
    };
    let [(mut first, first_summary), (mut second, second_summary)] = [start(0)?, start(1)?];
    if manner == Manner::InTurns {
        second.signal(Signal::STOP);
    }
    let (mut is_first, mut since) = (true, Instant::now());
    let first_usage = wait(lab, &mut first, sides[0].0, &loads[0], |first| {
        if manner == Manner::InTurns && since.elapsed() >= TURN {
            (is_first, since) = (!is_first, Instant::now());
            let (goes_on, rests) = if is_first { (first, &mut second) } else { (&mut second, first) };
            rests.signal(Signal::STOP);
            goes_on.signal(Signal::CONT);
        }
        Ok(())
    })?;
    second.signal(Signal::CONT);
    let second_usage = wait(lab, &mut second, sides[1].0, &loads[1], |_| Ok(()))?;
    let mut costs = [0.0; 2];
    let ended = [(&first, first_summary, first_usage), (&second, second_summary, second_usage)];
    for (((process, summary, usage), (client, _)), cost) in ended.iter().zip(sides).zip(&mut costs) {
        let count = read_summary(summary)?["metrics"][counter]["count"].as_f64().unwrap_or_default();
        if count < 1.0 {
            bail!("{} counted no {counter}: {}", client.name(), process.printed());
        }
        *cost = per(time(usage), count as u64);
    }
    lab.report.ran(false);
    Ok(costs)
}
