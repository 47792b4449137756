//! Percentiles against k6's: the same seeded data, every percentile within the stated error of what k6 printed.
//!
//! `percentiles/record.js` feeds the data to k6 and `percentiles/k6.json` is what k6 1.8.1 made of it; the command is
//! in the script. Here the data is made again, from the same generator.

use onrush_metrics::{EXACT_VALUES_MAX, Histogram, RELATIVE_ERROR};
use serde_json::Value;

/// Mulberry32, as in the script.
struct Random(u32);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x6d2b_79f5);
        let mut t = self.0;
        t = (t ^ (t >> 15)).wrapping_mul(t | 1);
        t ^= t.wrapping_add((t ^ (t >> 7)).wrapping_mul(t | 61));
        f64::from(t ^ (t >> 14)) / 4_294_967_296.0
    }
}

type Make = fn(&mut Random) -> f64;

/// In the order of the script, which gives the seeds.
fn sets() -> Vec<(String, usize, Make)> {
    let large: [(&str, usize, Make); 11] = [
        ("uniform", 20_000, |r| r.next() * 1000.0),
        ("exponential", 20_000, |r| {
            let mut scale = 1.0;
            while r.next() < 0.5 && scale < 1e6 {
                scale *= 2.0;
            }
            scale * r.next()
        }),
        ("bimodal", 20_000, |r| if r.next() < 0.9 { 10.0 + r.next() } else { 900.0 + 200.0 * r.next() }),
        ("nine_decades", 20_000, |r| {
            let mut scale = 1e-6;
            for _ in 0..(r.next() * 10.0) as u32 {
                scale *= 10.0;
            }
            scale * (1.0 + 9.0 * r.next())
        }),
        ("outliers", 20_000, |r| if r.next() < 0.999 { 5.0 + r.next() } else { 1e9 * (1.0 + r.next()) }),
        ("negatives", 20_000, |r| (r.next() - 0.7) * 100.0),
        ("zeros", 20_000, |r| if r.next() < 0.95 { 0.0 } else { 3.0 + r.next() }),
        ("whole_numbers", 20_000, |r| (r.next() * 50.0).floor()),
        ("constant", 1_000, |_| 42.5),
        ("sixty_four", 64, |r| r.next() * 1000.0),
        ("sixty_five", 65, |r| r.next() * 1000.0),
    ];
    let tiny = (1..=10).map(|count| (format!("tiny_{count}"), count, (|r| r.next() * 100.0 - 20.0) as Make));
    large.into_iter().map(|(name, count, make)| (name.to_owned(), count, make)).chain(tiny).collect()
}

/// k6's value, and how far off an interpolation between order statistics that are each within the error may be. For
/// values of one sign that is the error of the value itself.
fn exact(sorted: &[f64], q: f64) -> (f64, f64) {
    let position = q * (sorted.len() - 1) as f64;
    let (lower, upper) = (sorted[position.floor() as usize], sorted[position.ceil() as usize]);
    let fraction = position.fract();
    let value = lower + (upper - lower) * fraction;
    (value, RELATIVE_ERROR * (lower.abs() * (1.0 - fraction) + upper.abs() * fraction))
}

/// Rounding of sums and interpolations, relative.
const ROUNDING: f64 = 1e-12;

#[track_caller]
fn check(what: &str, got: f64, expect: f64, error: f64) {
    let allowed = error + ROUNDING * expect.abs();
    assert!((got - expect).abs() <= allowed, "{what}: {got} instead of {expect}, allowed ±{allowed}");
}

fn check_against_k6(name: &str, values: &[f64], histogram: &Histogram, k6: &Value) -> usize {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let is_exact = values.len() <= EXACT_VALUES_MAX;
    assert_eq!(histogram.is_exact(), is_exact, "{name}");
    let mut checked = 0;
    for (stat, k6) in k6.as_object().expect("an object") {
        let k6 = k6.as_f64().expect("a number");
        let what = format!("{name} {stat}");
        match stat.as_str() {
            // The same but for the last digit of what was read from text.
            "min" => check(&what, histogram.min(), k6, 0.0),
            "max" => check(&what, histogram.max(), k6, 0.0),
            "count" => assert_eq!(histogram.count() as f64, k6, "{what}"),
            // k6 adds up in order of arrival with an error at each step; ours is the exact sum.
            "avg" => check(&what, histogram.mean(), k6, 1e-9 * k6.abs()),
            _ => {
                let percent = stat.strip_prefix("p(").and_then(|rest| rest.strip_suffix(')'));
                let q = percent.map_or(0.5, |percent| percent.parse::<f64>().expect("a number") / 100.0);
                let (value, error) = exact(&sorted, q);
                check(&format!("{what}, k6's definition"), value, k6, 1e-9 * k6.abs());
                check(&what, histogram.quantile(q), k6, if is_exact { 0.0 } else { error });
            }
        }
        checked += 1;
    }
    checked
}

#[test]
fn every_percentile_is_within_the_stated_error_of_k6() {
    let recorded: Value = serde_json::from_str(include_str!("percentiles/k6.json")).expect("JSON");
    let mut checked = 0;
    for (index, (name, count, make)) in sets().into_iter().enumerate() {
        let mut random = Random(index as u32 + 1);
        let values: Vec<f64> = (0..count).map(|_| make(&mut random)).collect();
        // One thread, and seven whose parts are put together.
        for parts in [1, 7] {
            let mut whole = Histogram::new();
            for part in 0..parts {
                let mut histogram = Histogram::new();
                values.iter().skip(part).step_by(parts).for_each(|value| histogram.record(*value));
                whole.merge(&histogram);
            }
            checked += check_against_k6(&name, &values, &whole, &recorded[&name]);
        }
    }
    assert_eq!(checked, 2 * 17 * 21, "every number that was recorded");
}
