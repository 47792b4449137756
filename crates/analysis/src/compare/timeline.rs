//! What a run measured over its time, and the part of it that is compared.

use std::collections::BTreeMap;

use onrush_metrics::{MetricId, MetricKind, Registry, Sink, Span, Step, SubMetric};

use super::{Cells, Measure, Statistic};

/// The steps of a run, of some of its metrics only.
#[derive(Debug, Clone)]
pub struct Timeline {
    watched: Vec<Watched>,
    /// By their beginnings: what they measured of each metric, by its place.
    steps: BTreeMap<u64, (Span, BTreeMap<usize, Sink>)>,
}

#[derive(Debug, Clone)]
struct Watched {
    name: String,
    metric: MetricId,
    kind: MetricKind,
    only: Option<SubMetric>,
}

impl Timeline {
    /// Of these metrics and sub-metrics; those that the run does not have are left out.
    pub fn new<'a>(registry: &Registry, names: impl Iterator<Item = &'a str>) -> Self {
        let mut watched: Vec<Watched> = Vec::new();
        for name in names {
            if watched.iter().any(|known| known.name == name) {
                continue;
            }
            let only = SubMetric::parse(name, registry).ok();
            let metric = only.as_ref().map(|only| only.metric).or_else(|| registry.lookup(name));
            let Some(metric) = metric.and_then(|metric| registry.find(metric)) else { continue };
            watched.push(Watched { name: name.to_owned(), metric: metric.id, kind: metric.kind, only });
        }
        Self { watched, steps: BTreeMap::new() }
    }

    /// Of this sub-metric as well.
    pub fn watch(&mut self, registry: &Registry, only: SubMetric) {
        let Some(metric) = registry.find(only.metric) else { return };
        self.watched.push(Watched { name: only.name.clone(), metric: metric.id, kind: metric.kind, only: Some(only) });
    }

    /// Takes a step. Those outside of the scenarios' time are not compared.
    pub fn add(&mut self, step: &Step) {
        let Some(span) = step.span else { return };
        let (_, sinks) = self.steps.entry(span.from_ns).or_insert_with(|| (span, BTreeMap::new()));
        for (place, watched) in self.watched.iter().enumerate() {
            let is_of = |tags| watched.only.as_ref().is_none_or(|only| only.matches(tags));
            let parts =
                step.delta.series.iter().filter(|series| series.metric == watched.metric && is_of(&series.tags));
            for part in parts.filter(|part| part.sink.kind() == watched.kind) {
                // Of the same kind, so it is merged.
                sinks.entry(place).and_modify(|total| _ = total.merge(&part.sink)).or_insert_with(|| part.sink.clone());
            }
        }
    }

    /// The length of its longest step, in nanoseconds: it cannot be told apart more finely.
    pub fn step_ns(&self) -> u64 {
        self.steps.values().map(|(span, _)| span.until_ns - span.from_ns).max().unwrap_or(0)
    }

    /// Until when there are steps, in nanoseconds of the scenarios.
    pub fn end_ns(&self) -> u64 {
        self.steps.values().map(|(span, _)| span.until_ns).max().unwrap_or(0)
    }

    /// A metric cell by cell; `None` for one that the run does not have, or that is a gauge.
    pub fn cells(&self, name: &str, part: &Part) -> Option<Cells> {
        let place = self.watched.iter().position(|watched| watched.name == name)?;
        let watched = &self.watched[place];
        let count = part.cells();
        let mut sinks: Vec<Option<Sink>> = vec![None; count];
        for (span, row) in self.steps.values() {
            let (Some(cell), Some(sink)) = (part.cell_of(span.from_ns), row.get(&place)) else { continue };
            match &mut sinks[cell] {
                Some(total) => _ = total.merge(sink),
                empty => *empty = Some(sink.clone()),
            }
        }
        let sinks = sinks.into_iter();
        match watched.kind {
            MetricKind::Trend => Some(Cells::Values(
                sinks.map(|sink| sink.as_ref().and_then(Sink::trend).cloned().unwrap_or_default()).collect(),
            )),
            MetricKind::Rate => {
                Some(Cells::Shares(sinks.map(|sink| sink.as_ref().and_then(Sink::rate).unwrap_or_default()).collect()))
            }
            MetricKind::Counter => Some(Cells::Amounts(
                sinks.map(|sink| sink.as_ref().and_then(Sink::counter).unwrap_or_default()).collect(),
            )),
            MetricKind::Gauge => None,
        }
    }

    /// The average of a gauge over the steps of a part; `None` where it has no value there.
    pub fn level(&self, name: &str, part: &Part) -> Option<f64> {
        let place = self.watched.iter().position(|watched| watched.name == name)?;
        let steps = self.steps.values().filter(|(span, _)| part.cell_of(span.from_ns).is_some());
        let values: Vec<f64> = steps.filter_map(|(_, row)| Some(row.get(&place)?.gauge()?.last)).collect();
        (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
    }

    /// The average of a trend, cell by cell, as [`super::warm_up`] takes it: cells without values are like the one before.
    pub fn means(&self, name: &str, part: &Part) -> Vec<f64> {
        let Some(Cells::Values(cells)) = self.cells(name, part) else { return Vec::new() };
        let mut last = cells.iter().find(|cell| !cell.is_empty()).map_or(0.0, onrush_metrics::Histogram::mean);
        let mut mean = |cell: &onrush_metrics::Histogram| {
            last = if cell.is_empty() { last } else { cell.mean() };
            last
        };
        cells.iter().map(&mut mean).collect()
    }
}

/// The part of the time of two runs that is compared, in cells of one length.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    cell_ns: u64,
    /// The cells of each span: from the first to before the last.
    ranges: Vec<(u64, u64)>,
}

/// More cells than ten days have seconds: what says that it is longer is no run.
const CELLS_MAX: u64 = 1_000_000;

impl Part {
    /// The whole cells of these spans, without the first `skipped_ns` of each, that end before `end_ns`.
    pub fn new(spans: &[Span], cell_ns: u64, skipped_ns: u64, end_ns: u64) -> Self {
        let cell_ns = cell_ns.max(1);
        let mut left = CELLS_MAX;
        let range = |span: &Span| {
            let first = span.from_ns.saturating_add(skipped_ns).div_ceil(cell_ns);
            let end = (span.until_ns.min(end_ns) / cell_ns).min(first.saturating_add(left));
            left -= end.saturating_sub(first);
            (first < end).then_some((first, end))
        };
        Self { cell_ns, ranges: spans.iter().filter_map(range).collect() }
    }

    /// How many cells it has.
    pub fn cells(&self) -> usize {
        // At most CELLS_MAX.
        self.ranges.iter().map(|(first, end)| end - first).sum::<u64>() as usize
    }

    /// The length of a cell in seconds.
    pub fn cell_seconds(&self) -> f64 {
        self.cell_ns as f64 / 1e9
    }

    /// The length of all cells, in seconds.
    pub fn seconds(&self) -> f64 {
        self.cells() as f64 * self.cell_seconds()
    }

    fn cell_of(&self, at_ns: u64) -> Option<usize> {
        let cell = at_ns / self.cell_ns;
        let mut before = 0;
        for (first, end) in &self.ranges {
            if (*first..*end).contains(&cell) {
                return Some((before + cell - first) as usize);
            }
            before += end - first;
        }
        None
    }
}

impl Measure {
    /// Of a threshold's metric: what it limits. `None` for what a part of a run cannot say, such as a largest value.
    pub fn of_threshold(metric: &str, expression: &onrush_metrics::Expression, kind: MetricKind) -> Option<Self> {
        use onrush_metrics::{Method, Operator};

        use super::Direction;
        let statistic = match (expression.method, kind) {
            (Method::Avg, _) => Statistic::Mean,
            (Method::Med, _) => Statistic::Quantile(0.5),
            (Method::Percentile(percent), _) if percent < 100.0 => Statistic::Quantile(percent / 100.0),
            (Method::Rate, MetricKind::Rate) => Statistic::Share,
            (Method::Rate | Method::Count, MetricKind::Counter) => Statistic::PerSecond,
            _ => return None,
        };
        let direction = match expression.operator {
            Operator::Less | Operator::LessOrEqual => Direction::Lower,
            Operator::Greater | Operator::GreaterOrEqual => Direction::Higher,
            Operator::Equal | Operator::NotEqual => Direction::Neither,
        };
        Some(Self { metric: metric.to_owned(), statistic, direction })
    }
}

#[cfg(test)]
mod tests {
    use onrush_metrics::{Delta, TagPairs, builtin};

    use super::*;

    const NS_PER_S: u64 = 1_000_000_000;

    fn step(from: u64, until: u64, hits: u64) -> Step {
        let mut delta = Delta::default();
        delta.push(builtin::HTTP_REQ_FAILED, TagPairs::default(), Sink::Rate { hits, total: 10 });
        let tags: TagPairs = [("name".into(), "a".into())].into();
        delta.push(builtin::HTTP_REQ_FAILED, tags, Sink::Rate { hits: 0, total: 5 });
        Step { span: Some(Span { from_ns: from * NS_PER_S, until_ns: until * NS_PER_S }), delta }
    }

    #[test]
    fn steps_become_cells_of_one_length() {
        let names = ["http_req_failed", "http_req_failed{name:a}", "nothing", "vus"];
        let mut timeline = Timeline::new(&Registry::new(), names.into_iter());
        for second in 0..10 {
            timeline.add(&step(second, second + 1, second));
        }
        timeline.add(&step(10, 15, 7));
        timeline.add(&step(15, 20, 8));
        assert_eq!((timeline.step_ns(), timeline.end_ns()), (5 * NS_PER_S, 20 * NS_PER_S));
        let span = Span { from_ns: 0, until_ns: u64::MAX };
        let part = Part::new(&[span], timeline.step_ns(), 4 * NS_PER_S, timeline.end_ns());
        // The first whole cell after four seconds begins at five.
        assert_eq!((part.cells(), part.seconds()), (3, 15.0));
        let Some(Cells::Shares(cells)) = timeline.cells("http_req_failed", &part) else { panic!("a rate") };
        assert_eq!(cells, [(5 + 6 + 7 + 8 + 9, 75), (7, 15), (8, 15)]);
        let Some(Cells::Shares(cells)) = timeline.cells("http_req_failed{name:a}", &part) else { panic!("a rate") };
        assert_eq!(cells, [(0, 25), (0, 5), (0, 5)]);
        assert!(timeline.cells("nothing", &part).is_none() && timeline.cells("vus", &part).is_none());
    }

    #[test]
    fn spans_that_cannot_be_are_short() {
        let span = |from_ns, until_ns| Span { from_ns, until_ns };
        assert_eq!(Part::new(&[span(5, 3), span(u64::MAX - 1, u64::MAX)], 1, u64::MAX, u64::MAX).cells(), 0);
        assert_eq!(Part::new(&[span(0, u64::MAX), span(0, u64::MAX)], 0, 0, u64::MAX).cells(), 1_000_000);
        let parts = Part::new(&[span(0, 3), span(5, 9)], 1, 1, 8);
        assert_eq!((parts.cells(), parts.cell_of(1), parts.cell_of(4), parts.cell_of(7)), (4, Some(0), None, Some(3)));
    }
}
