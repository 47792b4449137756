//! A reader of the stream that knows nothing but docs/reference/view-stream.md.

use std::collections::BTreeMap;

use serde_json::Value;

/// What it knows of a run.
#[derive(Debug, Default)]
pub(crate) struct Client {
    pub(crate) last_id: String,
    /// Metric and tags by number.
    pub(crate) series: BTreeMap<u64, (u64, Value)>,
    pub(crate) steps: Vec<Value>,
    pub(crate) open: Option<Value>,
    pub(crate) health: Vec<Value>,
    pub(crate) state: Value,
    pub(crate) logs: BTreeMap<u64, Value>,
    pub(crate) end: Option<Value>,
    /// How often it was told to begin anew.
    pub(crate) heads: usize,
}

/// The values of a trend, and what else is said of them.
#[derive(Debug, Default)]
pub(crate) struct Trend {
    pub(crate) count: u64,
    pub(crate) sum: f64,
    pub(crate) min: f64,
    pub(crate) max: f64,
    values: Vec<f64>,
    buckets: BTreeMap<i64, u64>,
    negative: BTreeMap<i64, u64>,
    zeros: u64,
    bucketed: bool,
}

impl Client {
    /// Takes server-sent events.
    pub(crate) fn take_events(&mut self, text: &str) {
        for event in text.split("\n\n").filter(|event| !event.is_empty()) {
            let field = |name: &str| event.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
            let (Some(name), Some(data)) = (field("event"), field("data")) else { panic!("{event}") };
            self.last_id = field("id").expect("an id").to_owned();
            self.take(name, serde_json::from_str(data).expect("JSON"));
        }
    }

    /// Takes lines of a report.
    pub(crate) fn take_lines(&mut self, text: &str) {
        for line in text.lines() {
            let mut line: Value = serde_json::from_str(line).expect("JSON");
            let name = line["event"].as_str().expect("a name").to_owned();
            self.take(&name, line["data"].take());
        }
    }

    fn take(&mut self, name: &str, data: Value) {
        assert!(self.end.is_none() || name == "head", "{name} behind the end");
        match name {
            "head" => {
                *self = Self { heads: self.heads + 1, last_id: std::mem::take(&mut self.last_id), ..Self::default() }
            }
            "series" => {
                for row in data["series"].as_array().expect("a list") {
                    let number = row["id"].as_u64().expect("a number");
                    let known =
                        self.series.insert(number, (row["metric"].as_u64().expect("a number"), row["tags"].clone()));
                    assert!(known.is_none(), "series {number} twice");
                }
            }
            "step" => {
                self.open = None;
                self.steps.push(data);
            }
            "open" => self.open = Some(data),
            "health" => self.health.push(data),
            "state" => self.state = data,
            "log" => drop(self.logs.insert(data["line"].as_u64().expect("a number"), data)),
            "end" => self.end = Some(data),
            other => panic!("{other}"),
        }
    }

    fn values(&self, metric: u64, matches: impl Fn(&Value) -> bool) -> Vec<&Value> {
        let steps = self.steps.iter().chain(&self.open);
        let pairs = steps.flat_map(|step| step["values"].as_array().expect("a list"));
        let is_of = |number: &Value| {
            let (of, tags) = &self.series[&number.as_u64().expect("a number")];
            *of == metric && matches(tags)
        };
        pairs.filter(|pair| is_of(&pair[0])).map(|pair| &pair[1]).collect()
    }

    pub(crate) fn counter(&self, metric: u64) -> f64 {
        self.values(metric, |_| true).iter().filter_map(|value| value.as_f64()).sum()
    }

    pub(crate) fn rate(&self, metric: u64) -> (u64, u64) {
        let pairs = self.values(metric, |_| true).into_iter();
        pairs.fold((0, 0), |(hits, total), pair| {
            (hits + pair[0].as_u64().expect("hits"), total + pair[1].as_u64().expect("all"))
        })
    }

    pub(crate) fn trend(&self, metric: u64, matches: impl Fn(&Value) -> bool) -> Trend {
        let mut trend = Trend { min: f64::INFINITY, max: f64::NEG_INFINITY, ..Trend::default() };
        self.values(metric, matches).into_iter().for_each(|value| trend.add(value));
        trend
    }
}

impl Trend {
    /// Up to so many values are kept as they are.
    const VALUES_MAX: u64 = 64;

    fn add(&mut self, value: &Value) {
        let number = |name: &str| value[name].as_f64().expect("a number");
        self.count += value["n"].as_u64().expect("a count");
        self.sum += number("s");
        self.min = self.min.min(number("a"));
        self.max = self.max.max(number("z"));
        let Some(values) = value.get("v") else {
            self.bucketed = true;
            self.zeros += value["o"].as_u64().expect("a count");
            for (name, buckets) in [("p", &mut self.buckets), ("m", &mut self.negative)] {
                let mut index = 0;
                for pair in value.get(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default().chunks(2) {
                    index += pair[0].as_i64().expect("a distance");
                    *buckets.entry(index).or_insert(0) += pair[1].as_u64().expect("a count");
                }
            }
            return;
        };
        self.values.extend(values.as_array().expect("a list").iter().filter_map(Value::as_f64));
    }

    /// As the summary has it.
    pub(crate) fn quantile(&self, q: f64) -> f64 {
        let position = q * (self.count - 1) as f64;
        let rank = position.floor() as u64;
        let (lower, upper) = (self.at(rank), self.at((rank + 1).min(self.count - 1)));
        if lower < upper { lower + (upper - lower) * (position - rank as f64) } else { lower }
    }

    fn at(&self, rank: u64) -> f64 {
        let is_exact = !self.bucketed && self.count <= Self::VALUES_MAX;
        if is_exact {
            let mut sorted = self.values.clone();
            sorted.sort_by(f64::total_cmp);
            return sorted[rank as usize];
        }
        if rank == 0 || rank == self.count - 1 {
            return if rank == 0 { self.min } else { self.max };
        }
        let middle = |index: i64| ((index as f64 - 0.5) / 256.0).exp2();
        let (mut positive, mut negative, mut zeros) = (self.buckets.clone(), self.negative.clone(), self.zeros);
        for value in &self.values {
            if *value == 0.0 {
                zeros += 1;
                continue;
            }
            let side = if *value < 0.0 { &mut negative } else { &mut positive };
            *side.entry((value.abs().log2() * 256.0).ceil() as i64).or_insert(0) += 1;
        }
        let all = negative.iter().rev().map(|(index, count)| (-middle(*index), *count));
        let all = all.chain([(0.0, zeros)]).chain(positive.iter().map(|(index, count)| (middle(*index), *count)));
        let mut below = 0;
        for (value, count) in all {
            below += count;
            if rank < below {
                return value.clamp(self.min, self.max);
            }
        }
        self.max
    }
}
