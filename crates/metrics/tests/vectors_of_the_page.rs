//! What histograms say, written down for `web/`: the dashboard computes percentiles in TypeScript, and its tests hold it to
//! these numbers. With `ONRUSH_WRITE_VECTORS=1` the file is written anew.

use std::{fs, path::Path};

use onrush_metrics::Histogram;
use serde_json::{Value, json};

const SHARES: [f64; 9] = [0.0, 0.01, 0.25, 0.5, 0.9, 0.95, 0.99, 0.999, 1.0];

#[test]
fn the_page_is_tested_with_what_this_crate_computes() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web/test/vectors.json");
    let text = serde_json::to_string(&vectors()).expect("numbers are JSON") + "\n";
    if std::env::var_os("ONRUSH_WRITE_VECTORS").is_some() {
        fs::write(&path, &text).expect("the clone is writable");
    }
    // As text: a number that is read and written again may be another.
    let kept = fs::read_to_string(&path).expect("the file is checked in");
    assert!(kept == text, "web/test/vectors.json is not what histograms say: ONRUSH_WRITE_VECTORS=1 writes it anew");
}

fn vectors() -> Vec<Value> {
    let mut random = Random(1);
    let mut spread = |count: usize, low: f64, decades: f64| -> Vec<f64> {
        (0..count).map(|_| low * 10_f64.powf(decades * random.next())).collect()
    };
    let cases: Vec<(&str, Vec<Vec<f64>>)> = vec![
        ("one value", vec![vec![12.5]]),
        ("few values in two parts", vec![spread(20, 1.0, 2.0), spread(30, 1.0, 2.0)]),
        ("exactly 64 values", vec![spread(64, 0.1, 3.0)]),
        ("65 values in two parts that kept theirs", vec![spread(64, 0.1, 3.0), spread(1, 0.1, 3.0)]),
        ("many values", vec![spread(1_000, 5.0, 1.5)]),
        ("many parts, small and large", vec![spread(500, 5.0, 1.0), spread(3, 900.0, 1.0), spread(200, 0.001, 1.0)]),
        ("zeros among them", vec![vec![0.0; 90], spread(100, 1.0, 1.0), vec![0.0; 5]]),
        ("only zeros", vec![vec![0.0; 200]]),
        (
            "negative values",
            vec![spread(100, 1.0, 2.0).iter().map(|value| -value).collect(), spread(50, 1.0, 2.0), vec![0.0, -0.5]],
        ),
        ("the same value, many times", vec![vec![33.3; 500]]),
        ("very small and very large", vec![spread(100, 1e-300, 2.0), spread(100, 1e300, 2.0)]),
    ];
    cases.into_iter().map(|(name, parts)| vector(name, &parts)).collect()
}

fn vector(name: &str, parts: &[Vec<f64>]) -> Value {
    let mut sum = Histogram::new();
    let mut written = Vec::new();
    for values in parts {
        let mut part = Histogram::new();
        values.iter().for_each(|value| part.record(*value));
        written.push(as_in_the_stream(&part, values));
        sum.merge(&part);
    }
    json!({
        "name": name, "parts": written, "count": sum.count(), "sum": sum.sum(), "min": sum.min(), "max": sum.max(),
        "shares": SHARES, "quantiles": SHARES.map(|share| sum.quantile(share)),
    })
}

/// As docs/reference/view-stream.md says.
fn as_in_the_stream(part: &Histogram, values: &[f64]) -> Value {
    let mut trend = json!({"n": part.count(), "s": part.sum(), "a": part.min(), "z": part.max()});
    if part.is_exact() {
        trend["v"] = json!(values);
        return trend;
    }
    let (mut zeros, mut positive, mut negative) = (0, Vec::new(), Vec::new());
    for bucket in part.buckets() {
        // A bound is a power of 2^(1/256), so its logarithm is close to a whole number.
        let index = (bucket.outer.abs().log2() * 256.0).round() as i64;
        match bucket.outer {
            outer if outer > 0.0 => positive.push((index, bucket.count)),
            outer if outer < 0.0 => negative.push((index, bucket.count)),
            _ => zeros = bucket.count,
        }
    }
    negative.reverse();
    trend["o"] = json!(zeros);
    trend["p"] = json!(distances(&positive));
    trend["m"] = json!(distances(&negative));
    trend
}

fn distances(buckets: &[(i64, u64)]) -> Vec<i64> {
    let mut before = 0;
    let mut pairs = Vec::new();
    for (index, count) in buckets {
        pairs.extend([index - before, *count as i64]);
        before = *index;
    }
    pairs
}

/// The same numbers everywhere (Knuth's MMIX).
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }
}
