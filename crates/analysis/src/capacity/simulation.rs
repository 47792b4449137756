//! Searches on servers whose capacity is known.

use fastrand::Rng;

use super::{End, Outcome, Purpose, Search, Step, Trial, next};

fn exponential(random: &mut Rng, mean: f64) -> f64 {
    // Not 0, which has no logarithm.
    -mean * (1.0 - random.f64()).ln()
}

/// A queue with `servers` servers that each take `service_secs` on average.
struct Queue {
    servers: usize,
    service_secs: f64,
}

impl Queue {
    /// 95th percentile of the response times of `seconds` of Poisson arrivals, after as long a warm-up.
    fn p95(&self, rate: f64, seconds: f64, random: &mut Rng) -> f64 {
        let mut free_at = vec![0.0_f64; self.servers];
        let (mut now, mut times) = (0.0, Vec::new());
        while now < 2.0 * seconds {
            now += exponential(random, 1.0 / rate);
            let first = free_at.iter_mut().min_by(|a, b| a.total_cmp(b)).expect("a server");
            let begins = first.max(now);
            *first = begins + exponential(random, self.service_secs);
            if now >= seconds {
                times.push(*first - now);
            }
        }
        times.sort_by(f64::total_cmp);
        times.get(times.len() * 95 / 100).copied().unwrap_or_default()
    }
}

fn searched(search: &Search, mut outcome: impl FnMut(f64, Purpose) -> Outcome) -> (Option<f64>, End, usize) {
    let mut trials: Vec<Trial> = Vec::new();
    loop {
        match next(search, &trials) {
            Step::Done(found) => return (found.highest, found.end, trials.len()),
            Step::Try(load, purpose) => trials.push(Trial { load, purpose, outcome: outcome(load, purpose) }),
        }
    }
}

/// How many of 60 seeds found the knee within 5 %.
fn right(knee: f64, search: impl FnMut(u64) -> Option<f64>) -> usize {
    (0..60).filter_map(search).filter(|found| (found / knee - 1.0).abs() <= 0.05).count()
}

const SEARCH: Search = Search { start: 20.0, max: 100_000.0, precision: 0.03, is_whole: false };

#[test]
fn queues_have_their_knees_found() {
    // Where p(95) is six service times is the knee; a long look finds it to a per mille.
    for (servers, service_secs) in [(1, 0.005), (4, 0.04), (16, 0.16)] {
        let queue = Queue { servers, service_secs };
        let goal = 6.0 * service_secs;
        let mut random = Rng::with_seed(1);
        let (mut low, mut high) = (0.1 / service_secs, servers as f64 / service_secs);
        for _ in 0..12 {
            let middle = (low + high) / 2.0;
            if queue.p95(middle, 2_000.0, &mut random) <= goal { low = middle } else { high = middle }
        }
        let count = right(low, |seed| {
            let mut random = Rng::with_seed(seed * 7 + 3);
            searched(&SEARCH, |load, _| {
                let seconds = 120.0;
                if queue.p95(load, seconds, &mut random) <= goal { Outcome::Held } else { Outcome::Broke }
            })
            .0
        });
        assert!(count >= 57, "M/M/{servers}: {count} of 60 within 5 % of {low}");
    }
}

#[test]
fn a_cliff_in_noise_is_found() {
    // A tenth of all trials near the cliff, and one of fifty anywhere below, end wrongly.
    let knee = 1_234.0;
    let mut trials = 0;
    let count = right(knee, |seed| {
        let mut random = Rng::with_seed(seed);
        let (found, _, count) = searched(&SEARCH, |load, _| {
            let is_near = (load / knee - 1.0).abs() < 0.1;
            let is_wrong = random.f64() < if is_near { 0.1 } else { 0.02 };
            if (load <= knee) != is_wrong { Outcome::Held } else { Outcome::Broke }
        });
        trials += count;
        found
    });
    assert!(count >= 57, "{count} of 60");
    assert!(trials < 2_700, "{trials} trials in 60 searches");
}

#[test]
fn a_system_that_takes_a_while_to_recover_is_waited_for() {
    // Once overloaded it breaks under anything, until it had two trials of rest.
    let knee = 800.0;
    let count = right(knee, |seed| {
        let mut random = Rng::with_seed(seed);
        let mut tired = 0;
        searched(&SEARCH, |load, _| {
            if load > knee {
                tired = 2 + u32::from(random.f64() < 0.5);
                return Outcome::Broke;
            }
            tired = if load < 0.6 * knee { u32::saturating_sub(tired, 1) } else { tired };
            if tired == 0 { Outcome::Held } else { Outcome::Broke }
        })
        .0
    });
    assert!(count >= 57, "{count} of 60");
}
