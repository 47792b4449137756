//! A line of JSON for each second of a run: its metrics in the shape of the summary, over that second and over the run so far.

use std::io;

use onrush_metrics::{
    Merged, Registry, Step, Thresholds,
    summary::{RunInfo, SummaryMode, SummaryModel, TrendStat, handle_summary, input_from},
};
use serde_json::{Map, Value, json};

use crate::{Began, StepOutput, began::now_ns, destination::Destination, reason, time::rfc3339_nanos};

/// Writes the lines.
pub struct Periods {
    to: Destination,
    began: Began,
    registry: Registry,
    /// Whose sub-metrics are told.
    thresholds: Thresholds,
    stats: Vec<TrendStat>,
    /// Everything so far.
    run: Merged,
    until_ns: u64,
    /// A step of a run that is over, which may be the last.
    held: Option<Step>,
}

/// The number in each line, which a change that breaks readers raises.
const VERSION: u32 = 1;

impl Periods {
    /// Lines that go there. Whoever feeds the output notes spans in `began`.
    pub fn new(
        to: Destination,
        registry: &Registry,
        thresholds: &Thresholds,
        stats: &[TrendStat],
        began: Began,
    ) -> Self {
        Self {
            to,
            began,
            run: Merged::new(registry),
            registry: registry.clone(),
            thresholds: thresholds.clone(),
            stats: stats.to_vec(),
            until_ns: 0,
            held: None,
        }
    }

    /// The line of a step. The run so far is `duration_ns` long, or as long as its steps.
    fn line(&mut self, step: &Step, duration_ns: Option<u64>) -> Value {
        self.run.add(&step.delta);
        let mut period = Merged::new(&self.registry);
        period.add(&step.delta);
        let mut length_ns = 0;
        let mut fields = Map::new();
        fields.insert("version".to_owned(), VERSION.into());
        fields.insert("type".to_owned(), "period".into());
        match step.span {
            Some(span) => {
                (length_ns, self.until_ns) = (span.until_ns.saturating_sub(span.from_ns), span.until_ns);
                let time = rfc3339_nanos(self.began.unix_ns(span.from_ns).into());
                fields.insert("time".to_owned(), time.into());
                fields.insert("from_s".to_owned(), seconds(span.from_ns));
                fields.insert("until_s".to_owned(), seconds(span.until_ns));
            }
            // Before the scenarios or after them.
            None => {
                fields.insert("time".to_owned(), rfc3339_nanos(now_ns().into()).into());
                fields.insert("from_s".to_owned(), Value::Null);
                fields.insert("until_s".to_owned(), Value::Null);
            }
        }
        // The last second of a run is seldom a whole one.
        let until_ns = self.began.duration_ns().map_or(self.until_ns, |duration_ns| self.until_ns.min(duration_ns));
        let mut metrics = self.metrics(&self.run, duration_ns.unwrap_or(until_ns));
        for metric in metrics.values_mut().filter_map(Value::as_object_mut) {
            let run = metric.remove("values").unwrap_or_default();
            metric.insert("period".to_owned(), Value::Null);
            metric.insert("run".to_owned(), run);
        }
        for (name, mut of_period) in self.metrics(&period, length_ns) {
            if let Some(metric) = metrics.get_mut(&name) {
                metric["period"] = of_period["values"].take();
            }
        }
        fields.insert("metrics".to_owned(), metrics.into());
        fields.into()
    }

    /// What `handleSummary()` would be given of so long a run.
    fn metrics(&self, merged: &Merged, duration_ns: u64) -> Map<String, Value> {
        let info = RunInfo { duration_ns, trend_stats: self.stats.clone(), ..RunInfo::default() };
        let model = SummaryModel::new(input_from(merged, &self.thresholds, info, SummaryMode::Compact));
        let Value::Object(mut metrics) = handle_summary(&model)["metrics"].take() else { return Map::new() };
        // They are judged elsewhere.
        metrics.values_mut().filter_map(Value::as_object_mut).for_each(|metric| _ = metric.remove("thresholds"));
        metrics
    }

    /// Writes the line of a step that was kept back.
    fn release(&mut self, step: Option<Step>, duration_ns: Option<u64>) -> io::Result<()> {
        let Some(step) = step else { return Ok(()) };
        let line = self.line(&step, duration_ns);
        self.write(&line)
    }

    fn write(&mut self, line: &Value) -> io::Result<()> {
        self.to.write(format!("{line}\n").as_bytes())?;
        // Whoever follows the file sees it now.
        self.to.flush()
    }
}

fn seconds(ns: u64) -> Value {
    json!(ns as f64 / 1e9)
}

impl StepOutput for Periods {
    /// What the last line says about the run.
    type End = Map<String, Value>;

    fn step(&mut self, step: Step) -> Result<(), String> {
        // Only the end tells which of the last steps is the last: that one has the numbers of the summary.
        let step = match self.began.duration_ns() {
            Some(_) => self.held.replace(step),
            None => Some(step),
        };
        self.release(step, None).map_err(|error| reason(&error))
    }

    fn end(mut self, mut end: Map<String, Value>) -> Result<(), String> {
        end.insert("version".to_owned(), VERSION.into());
        end.insert("type".to_owned(), "end".into());
        let (last, duration_ns) = (self.held.take(), self.began.duration_ns());
        let written = self.release(last, duration_ns).and_then(|()| self.write(&end.into()));
        let written = written.and_then(|()| self.to.finish());
        written.map_err(|error| reason(&error))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use onrush_metrics::{Delta, ExactSum, Histogram, Sink, Span, TagPairs, builtin};

    use super::*;

    #[derive(Clone, Default)]
    struct Kept(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Kept {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().expect("no panic").extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn step(second: Option<u64>, value: f64) -> Step {
        let mut delta = Delta::default();
        let mut sum = ExactSum::default();
        sum.add(value);
        delta.push(builtin::ITERATIONS, TagPairs::default(), Sink::Counter { sum });
        let mut values = Histogram::new();
        values.record(value);
        delta.push(builtin::HTTP_REQ_DURATION, TagPairs::default(), Sink::Trend(values));
        let span =
            second.map(|second| Span { from_ns: second * 1_000_000_000, until_ns: (second + 1) * 1_000_000_000 });
        Step { span, delta }
    }

    #[test]
    fn a_line_has_the_period_and_the_run() {
        let kept = Kept::default();
        let stats = TrendStat::parse_list(&["max", "count"]).expect("valid");
        let to = Destination::stream(Box::new(kept.clone()));
        let began = Began::default();
        let mut periods = Periods::new(to, &Registry::new(), &Thresholds::default(), &stats, began.clone());
        for step in [step(Some(0), 5.0), step(Some(1), 3.0)] {
            periods.step(step).expect("memory takes it");
        }
        // Half of the second that was the last, and teardown().
        began.over(1_500_000_000);
        for step in [step(Some(1), 0.0), step(None, 4.0)] {
            periods.step(step).expect("memory takes it");
        }
        let Value::Object(end) = json!({ "exit_code": 0 }) else { panic!("an object") };
        periods.end(end).expect("memory takes it");
        let text = String::from_utf8(kept.0.lock().expect("no panic").clone()).expect("text");
        let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        assert_eq!(lines.len(), 5);
        assert_eq!((lines[1]["from_s"].as_f64(), lines[1]["until_s"].as_f64()), (Some(1.0), Some(2.0)));
        assert_eq!(lines[1]["metrics"]["iterations"]["period"], json!({ "count": 3, "rate": 3 }));
        assert_eq!(lines[1]["metrics"]["iterations"]["run"], json!({ "count": 8, "rate": 4 }));
        assert_eq!(lines[1]["metrics"]["http_req_duration"]["period"], json!({ "max": 3, "count": 1 }));
        assert_eq!(lines[1]["metrics"]["http_req_duration"]["run"], json!({ "max": 5, "count": 2 }));
        // The run so far is no longer than the run.
        assert_eq!(lines[2]["metrics"]["iterations"]["run"], json!({ "count": 8, "rate": 8.0 / 1.5 }));
        assert_eq!(lines[3]["from_s"], Value::Null);
        assert_eq!(lines[3]["metrics"]["iterations"]["run"], json!({ "count": 12, "rate": 8 }));
        assert_eq!(lines[4], json!({ "version": 1, "type": "end", "exit_code": 0 }));
    }
}
