//! Comparisons of made-up systems whose truth is known: how often unchanged ones are called different, how often changes are
//! found, and whether intervals hold what they promise. All from seeds: the figures are the same everywhere
//! (`cargo test -p onrush-analysis -- --nocapture` prints them).
#![allow(clippy::print_stdout, reason = "the figures are what is looked at")]

use fastrand::Rng;
use onrush_analysis::compare::{
    Cells, Direction, Estimate, Judged, Margin, Measure, Pair, Spread, Statistic, Unclear, Verdict, estimate, judge,
};
use onrush_metrics::Histogram;

/// A service whose load remembers the second before.
#[derive(Clone, Copy)]
struct Service {
    /// The median of its times, in ms.
    median: f64,
    /// By how much the state of a second moves its times.
    noise: f64,
    /// How much of a second's state the next one keeps.
    memory: f64,
    /// The part of requests that take five times as long.
    slow: f64,
    /// By how much it differs from run to run.
    spread: f64,
}

const STEADY: Service = Service { median: 20.0, noise: 0.05, memory: 0.5, slow: 0.02, spread: 0.0 };

fn normal(random: &mut Rng) -> f64 {
    // Box and Muller.
    (-2.0 * (1.0 - random.f64()).ln()).sqrt() * (std::f64::consts::TAU * random.f64()).cos()
}

impl Service {
    /// A run of so many seconds with 100 requests each.
    fn run(self, seconds: usize, seed: u64) -> Cells {
        let mut random = Rng::with_seed(seed);
        let shift = self.spread * normal(&mut random);
        let mut state = normal(&mut random);
        let mut second = || {
            state = self.memory * state + (1.0 - self.memory * self.memory).sqrt() * normal(&mut random);
            let mut times = Histogram::new();
            for _ in 0..100 {
                let slow = if random.f64() < self.slow { 5.0 } else { 1.0 };
                times.record(self.median * slow * (shift + self.noise * state + 0.3 * normal(&mut random)).exp());
            }
            times
        };
        Cells::Values((0..seconds).map(|_| second()).collect())
    }
}

fn measure(statistic: Statistic) -> Measure {
    Measure { metric: "http_req_duration".to_owned(), statistic, direction: Direction::Lower }
}

const JUDGED: [Statistic; 3] = [Statistic::Quantile(0.5), Statistic::Quantile(0.95), Statistic::Mean];

fn compared(before: &Cells, after: &Cells, spread: &dyn Fn(Statistic) -> Option<Spread>) -> Vec<Judged> {
    let row = |statistic| {
        let [before, after] = [(before, 1), (after, 2)].map(|(cells, seed)| estimate(cells, statistic, 1.0, seed));
        Pair {
            measure: measure(statistic),
            margin: Margin::usual(statistic),
            before,
            after,
            values: [None; 2],
            spread: spread(statistic),
        }
    };
    judge(JUDGED.map(row).into())
}

fn is_different(judged: &[Judged]) -> bool {
    judged.iter().any(|row| matches!(row.verdict, Verdict::Better | Verdict::Worse | Verdict::Different))
}

#[test]
fn unchanged_systems_are_rarely_called_different() {
    // Three measures each; of 200 pairs at most one in twenty. Where seconds remember each other for long, how long is an estimate
    // from few of them: at most one in twelve.
    for (noise, memory, seconds, most) in [
        (0.05, 0.5, 600, 10),
        (0.2, 0.0, 600, 10),
        (0.2, 0.7, 600, 10),
        (0.2, 0.5, 120, 16),
        (0.2, 0.9, 180, 16),
        (0.2, 0.98, 300, 16),
    ] {
        let service = Service { noise, memory, ..STEADY };
        let (mut alarms, mut silent) = (0, 0);
        for seed in 0..200 {
            let judged = compared(&service.run(seconds, 2 * seed), &service.run(seconds, 2 * seed + 1), &|_| None);
            alarms += u32::from(is_different(&judged));
            silent += u32::from(judged.iter().all(|row| row.verdict == Verdict::Unknown));
        }
        println!(
            "noise {noise}, memory {memory}, {seconds} s: {alarms} of 200 unchanged pairs called different, {silent} not compared"
        );
        assert!(alarms <= most, "noise {noise}, memory {memory}: {alarms} false alarms of 200");
    }
}

#[test]
fn changes_are_found() {
    for (noise, change, least) in
        [(0.05, 1.03, 90), (0.05, 1.05, 98), (0.1, 1.05, 85), (0.2, 1.05, 30), (0.2, 1.10, 80)]
    {
        let service = Service { noise, ..STEADY };
        let slower = Service { median: STEADY.median * change, ..service };
        let found = (0..100)
            .filter(|seed| {
                let judged = compared(&service.run(300, 1_000 + seed), &slower.run(300, 2_000 + seed), &|_| None);
                // Smaller changes than the margin are the same on purpose.
                judged.iter().any(|row| row.difference.is_some_and(|found| found.low > 0.0))
            })
            .count();
        println!("noise {noise}: a change of {change} is found in {found} of 100 pairs of 300 s");
        assert!(found >= least, "noise {noise}, {change}: found {found} of 100");
    }
    let slower = Service { median: STEADY.median * 1.10, ..STEADY };
    let judged = compared(&STEADY.run(300, 1), &slower.run(300, 2), &|_| None);
    assert!(judged.iter().all(|row| row.verdict == Verdict::Worse), "{judged:?}");
    let judged = compared(&slower.run(300, 1), &STEADY.run(300, 2), &|_| None);
    assert!(judged.iter().all(|row| row.verdict == Verdict::Better), "{judged:?}");
}

#[test]
fn a_slow_tail_is_seen_where_it_is() {
    let tail = Service { slow: 0.10, ..STEADY };
    let judged = compared(&STEADY.run(600, 3), &tail.run(600, 4), &|_| None);
    let verdicts: Vec<_> = judged.iter().map(|row| row.verdict).collect();
    assert_eq!(verdicts[1], Verdict::Worse, "{judged:?}");
    // The median moves by the few requests that left it.
    assert!(judged[0].difference.is_some_and(|found| found.size < 0.05), "{judged:?}");
}

#[test]
fn intervals_hold_the_truth_as_often_as_they_say() {
    // 95 % intervals of the ratio of two runs of the same system should hold 1 in 95 % of pairs, give or take 1.8 %; where seconds
    // remember each other, in a few less, as how long they do is an estimate.
    for memory in [0.0, 0.3, 0.7] {
        let service = Service { memory, ..STEADY };
        let held = |row: &Judged| row.difference.is_some_and(|found| found.low <= 0.0 && found.high >= 0.0);
        let pairs = 150;
        let mut holding = [0; JUDGED.len()];
        for seed in 0..pairs {
            let judged = compared(&service.run(600, 10_000 + seed), &service.run(600, 20_000 + seed), &|_| None);
            judged.iter().zip(&mut holding).for_each(|(row, count)| *count += u64::from(held(row)));
        }
        println!("memory {memory}: intervals hold the truth in {holding:?} of {pairs} pairs");
        assert!(holding.iter().all(|count| *count * 100 >= pairs * 87), "memory {memory}: {holding:?}");
    }
}

#[test]
fn runs_that_drift_are_refused() {
    // A tenth slower every minute.
    let drifting = |seed| {
        let Cells::Values(seconds) = STEADY.run(600, seed) else { unreachable!("times") };
        let slower = |(second, times): (usize, &Histogram)| {
            let mut slower = Histogram::new();
            times
                .buckets()
                .iter()
                .for_each(|bucket| slower.record_n(bucket.outer * (1.0 + second as f64 / 600.0), bucket.count));
            slower
        };
        Cells::Values(seconds.iter().enumerate().map(slower).collect())
    };
    for seed in 500..510 {
        let found = estimate(&drifting(seed), Statistic::Quantile(0.5), 1.0, 1);
        assert!(matches!(found, Err(Unclear::TooSimilar { needed }) if needed > 600.0), "{found:?}");
    }
}

#[test]
fn earlier_runs_say_what_varies_between_them() {
    let varying = Service { spread: 0.05, ..STEADY };
    let history = |statistic| {
        let runs: Vec<Estimate> =
            (0..8).filter_map(|seed| estimate(&varying.run(300, 700 + seed), statistic, 1.0, 1).ok()).collect();
        Spread::of(&runs)
    };
    let spreads = JUDGED.map(|statistic| (statistic, history(statistic)));
    let spread = |wanted: Statistic| spreads.iter().find(|(known, _)| *known == wanted).and_then(|(_, spread)| *spread);
    let alarms = |spread: &dyn Fn(Statistic) -> Option<Spread>| {
        let pair = |seed: &u64| {
            is_different(&compared(&varying.run(300, 3_000 + seed), &varying.run(300, 4_000 + seed), spread))
        };
        (0..100_u64).filter(pair).count()
    };
    let (without, with) = (alarms(&|_| None), alarms(&spread));
    println!(
        "of 100 pairs that differ from run to run by 5 %: {without} called different without history, {with} with it"
    );
    assert!(without > 50, "{without}");
    assert!(with <= 10, "{with}");
}

#[test]
fn too_few_values_are_no_quantile() {
    let short = STEADY.run(120, 5);
    let found = estimate(&short, Statistic::Quantile(0.999), 1.0, 1);
    assert!(matches!(found, Err(Unclear::TooFewBeyond { values: 11 | 12 })), "{found:?}");
    let found = estimate(&STEADY.run(40, 5), Statistic::Quantile(0.5), 1.0, 1);
    assert!(matches!(found, Err(Unclear::TooShort { needed }) if needed > 40.0), "{found:?}");
    assert_eq!(estimate(&Cells::Values(Vec::new()), Statistic::Mean, 1.0, 1), Err(Unclear::Nothing));
}

#[test]
fn failures_and_rates_are_compared() {
    let mut random = Rng::with_seed(9);
    let mut failures = |part: f64| {
        let mut second = || ((0..200).filter(|_| random.f64() < part).count() as u64, 200);
        Cells::Shares((0..300).map(|_| second()).collect())
    };
    let verdict = |before: &Cells, after: &Cells| {
        let [before, after] = [before, after].map(|cells| estimate(cells, Statistic::Share, 1.0, 1));
        let measure = measure(Statistic::Share);
        judge(vec![Pair {
            measure,
            margin: Margin::usual(Statistic::Share),
            before,
            after,
            values: [None; 2],
            spread: None,
        }])
        .remove(0)
        .verdict
    };
    let none = Cells::Shares(vec![(0, 200); 300]);
    assert_eq!(verdict(&none, &none), Verdict::Same);
    assert_eq!(verdict(&failures(0.01), &failures(0.02)), Verdict::Worse);
    assert_eq!(verdict(&none, &failures(0.005)), Verdict::Worse);
    let per_second = |rate: f64| Cells::Amounts(vec![rate; 300]);
    let found = [per_second(100.0), per_second(90.0)].map(|cells| estimate(&cells, Statistic::PerSecond, 1.0, 1));
    let measure =
        Measure { metric: "http_reqs".to_owned(), statistic: Statistic::PerSecond, direction: Direction::Higher };
    let [before, after] = found;
    let judged = judge(vec![Pair {
        measure,
        margin: Margin::usual(Statistic::PerSecond),
        before,
        after,
        values: [None; 2],
        spread: None,
    }]);
    assert_eq!(judged[0].verdict, Verdict::Worse);
    assert!(judged[0].difference.is_some_and(|found| (found.size + 0.1).abs() < 1e-9), "{judged:?}");
}

#[test]
fn hours_are_compared_as_minutes_are() {
    let long = Cells::Amounts((0..30_000).map(|second| 100.0 + f64::from(second % 7)).collect());
    let found = estimate(&long, Statistic::PerSecond, 1.0, 1);
    assert!(found.is_ok_and(|found| found.seconds == 30_000.0 && (found.value - 103.0).abs() < 0.01), "{found:?}");
}
