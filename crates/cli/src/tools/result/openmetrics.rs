//! `onrush result export --to prometheus`: the series that `--out prometheus-rw` would have pushed, a point for each step, as
//! OpenMetrics text. `promtool tsdb create-blocks-from openmetrics` makes blocks of it that Prometheus shows.
//!
//! OpenMetrics wants all points of a series together, and all series of a metric. A result file has them by time. So it is read
//! once to know the series, and then as often as it takes to hold their points in limited memory.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    io::{Read, Write},
};

use onrush_metrics::{
    Contains, Metric, MetricId, MetricKind, Registry, Sink, Span, Step, TagPairs,
    summary::{TrendStat, TrendStatKind},
};
use onrush_output::prometheus::names;
use onrush_results::{Ending, Reader, Record};
use onrush_session::ExitCode;

use super::{
    export::{unwritten, warn_of_end},
    failed, open, trend_stats,
};
use crate::{context::Context, failure::Failure, flags::Flags};

/// Points that are held at once: 64 MB.
const POINTS_MAX: usize = 4_000_000;

/// Statistics of trends, unless others are asked for: those of Onrush's dashboard for Grafana, and the summary's.
const STATISTICS: [&str; 8] = ["min", "avg", "med", "p(90)", "p(95)", "p(99)", "max", "count"];

/// The end of the year 9999, in milliseconds since 1970: no run began later.
const STARTED_MS_MAX: f64 = 253_402_300_799_999.0;

/// Prints a file.
///
/// # Errors
/// 255 for a file that cannot be read or does not say when its run began, and when nobody takes the output; 104 for
/// statistics and tags that are none.
pub(super) fn export(cx: &Context, path: &str, mut out: impl Write) -> Result<ExitCode, Failure> {
    let stats = trend_stats(cx, &STATISTICS.map(str::to_owned))?;
    let run = Run::read(path, tags(&cx.flags)?, || open(path))?;
    warn_of_end(cx, path, run.ending);
    let (families, taken) = run.families(&stats);
    taken.iter().for_each(|name| {
        cx.logger.warn(format!("two metrics would both be called {name} in Prometheus: the second is left out"));
    });
    write(&run, &families, POINTS_MAX, || open(path), &mut out)?;
    out.flush().map_err(unwritten)?;
    Ok(ExitCode::Success)
}

/// What is known of a run before its points are read.
struct Run {
    path: String,
    registry: Registry,
    /// What the file's numbers of metrics stand for.
    numbers: Vec<MetricId>,
    times: Times,
    /// Labels of all series.
    tags: Vec<(String, String)>,
    series: Vec<Series>,
    /// Where in `series` each one of the file is.
    places: HashMap<(MetricId, TagPairs), usize>,
    ending: Option<Ending>,
}

/// All series of a metric whose tags are the same labels.
struct Series {
    metric: MetricId,
    labels: String,
    points: usize,
}

/// What OpenMetrics calls a family: one value of every series of a metric.
struct Family<'a> {
    metric: &'a Metric,
    /// What its lines begin with; a counter's family is called so without `_total`.
    name: String,
    /// Of a trend.
    stat: Option<&'a TrendStat>,
}

/// Milliseconds since 1970, and a value.
type Point = (i64, f64);

impl Run {
    fn read<R: Read>(
        path: &str,
        tags: Vec<(String, String)>,
        open: impl Fn() -> Result<R, Failure>,
    ) -> Result<Self, Failure> {
        let mut reader = Reader::new(open()?).map_err(|error| failed(path, &error.into()))?;
        let started_ms =
            reader.head().started_ms.filter(|ms| (0.0..=STARTED_MS_MAX).contains(ms)).ok_or_else(|| {
                Failure::other(format!(
                    "the result file {path} does not say when its run began: an old version wrote it"
                ))
                .hint("use --to json or --to csv, which have the time since the start")
            })?;
        let (registry, numbers) = reader.head().registry().map_err(|error| failed(path, &error))?;
        let mut run = Self {
            path: path.to_owned(),
            registry,
            numbers,
            times: Times { started_ms: started_ms as i64, end_ms: i64::MAX, last_ms: 0 },
            tags,
            series: Vec::new(),
            places: HashMap::new(),
            ending: None,
        };
        let mut by_labels = BTreeMap::new();
        while let Some(record) = reader.next().map_err(|error| failed(path, &error.into()))? {
            match record {
                Record::Step(step) => run.note(&step, &mut by_labels),
                Record::End(end) => run.times.end_ms = ms(end.duration_ns),
                Record::Note { .. } => {}
            }
        }
        run.ending = reader.ending();
        Ok(run)
    }

    /// Notes the series of a step.
    fn note(&mut self, step: &Step, by_labels: &mut BTreeMap<(MetricId, String), usize>) {
        for part in &step.delta.series {
            let Some(metric) = self.metric(part.metric, &part.sink) else { continue };
            let (series, more) = (&mut self.series, &self.tags);
            let place = *self.places.entry((metric, part.tags.clone())).or_insert_with(|| {
                let labels = labels(&part.tags, more);
                *by_labels.entry((metric, labels.clone())).or_insert_with(|| {
                    series.push(Series { metric, labels, points: 0 });
                    series.len() - 1
                })
            });
            series[place].points += 1;
        }
    }

    /// The metric that the file calls so, if the sink is one of its kind.
    fn metric(&self, number: MetricId, sink: &Sink) -> Option<MetricId> {
        let metric = *self.numbers.get(number.0 as usize)?;
        self.registry.find(metric).filter(|metric| metric.kind == sink.kind()).map(|_| metric)
    }

    /// The families of all metrics that were measured, and names that would be there twice.
    fn families<'a>(&'a self, stats: &'a [TrendStat]) -> (Vec<Family<'a>>, Vec<String>) {
        let measured: BTreeSet<MetricId> = self.series.iter().map(|series| series.metric).collect();
        let all = self.registry.iter().filter(|metric| measured.contains(&metric.id)).flat_map(|metric| {
            let family = |name: String, stat| Family { metric, name, stat };
            match metric.kind {
                MetricKind::Counter => vec![family(names::counter(&metric.name), None)],
                MetricKind::Gauge => vec![family(names::gauge(&metric.name), None)],
                MetricKind::Rate => vec![family(names::rate(&metric.name), None)],
                MetricKind::Trend => {
                    stats.iter().map(|stat| family(names::statistic(&metric.name, stat), Some(stat))).collect()
                }
            }
        });
        let mut known = BTreeSet::new();
        let (own, taken): (Vec<_>, Vec<_>) = all.partition(|family| known.insert(family.name.clone()));
        (own, taken.into_iter().map(|family| family.name).collect())
    }

    /// Reads the points of some lines.
    fn points(&self, file: impl Read, families: &[Family<'_>], lines: &[Line]) -> Result<Vec<Vec<Point>>, Failure> {
        let failed = |error: onrush_results::ReadError| failed(&self.path, &error.into());
        let mut of_series: HashMap<usize, (Option<Sink>, Vec<usize>)> = HashMap::new();
        for (place, line) in lines.iter().enumerate() {
            of_series.entry(line.series).or_default().1.push(place);
        }
        let mut points = vec![Vec::new(); lines.len()];
        let (mut reader, mut times) = (Reader::new(file).map_err(failed)?, self.times);
        while let Some(record) = reader.next().map_err(failed)? {
            let Record::Step(step) = record else { continue };
            let at_ms = times.at_ms(step.span);
            // Series with the same labels have one point together.
            let mut has_news = BTreeSet::new();
            for part in step.delta.series {
                // A file that is still being written may have more by now.
                let place = self
                    .metric(part.metric, &part.sink)
                    .and_then(|metric| self.places.get(&(metric, part.tags.clone())).copied());
                let Some((place, (sink, _))) = place.and_then(|place| Some((place, of_series.get_mut(&place)?))) else {
                    continue;
                };
                match sink {
                    // Of one kind, so it is merged.
                    Some(sink) => _ = sink.merge(&part.sink),
                    None => *sink = Some(part.sink),
                }
                has_news.insert(place);
            }
            for (sink, own) in has_news.iter().filter_map(|place| of_series.get(place)) {
                for place in own {
                    let value = sink.as_ref().map(|sink| families[lines[*place].family].value(sink));
                    points[*place].extend(value.map(|value| (at_ms, value)));
                }
            }
        }
        Ok(points)
    }
}

/// All points of a series in a family.
struct Line {
    family: usize,
    series: usize,
}

/// Writes all families, with at most so many points in memory, or those of one series.
fn write<R: Read>(
    run: &Run,
    families: &[Family<'_>],
    points_max: usize,
    open: impl Fn() -> Result<R, Failure>,
    out: &mut impl Write,
) -> Result<(), Failure> {
    let mut sorted: Vec<usize> = (0..run.series.len()).collect();
    sorted.sort_by(|first, second| run.series[*first].labels.cmp(&run.series[*second].labels));
    let mut by_metric: BTreeMap<MetricId, Vec<usize>> = BTreeMap::new();
    for series in sorted {
        by_metric.entry(run.series[series].metric).or_default().push(series);
    }
    let lines: Vec<Line> = families
        .iter()
        .enumerate()
        .flat_map(|(family, of)| by_metric[&of.metric.id].iter().map(move |series| Line { family, series: *series }))
        .collect();
    let (mut rest, mut begun) = (lines.as_slice(), None);
    while !rest.is_empty() {
        let mut points = 0;
        let fit = rest.iter().take_while(|line| {
            points += run.series[line.series].points;
            points <= points_max
        });
        let (some, others) = rest.split_at(fit.count().max(1));
        for (line, points) in some.iter().zip(run.points(open()?, families, some)?) {
            let Family { metric, name, .. } = &families[line.family];
            if begun != Some(line.family) {
                begun = Some(line.family);
                let (name, kind) = match metric.kind {
                    MetricKind::Counter => (name.strip_suffix("_total").unwrap_or(name), "counter"),
                    _ => (name.as_str(), "gauge"),
                };
                writeln!(out, "# TYPE {name} {kind}").map_err(unwritten)?;
            }
            let labels = &run.series[line.series].labels;
            for (at_ms, value) in points {
                let (seconds, millis) = (at_ms / 1_000, at_ms % 1_000);
                writeln!(out, "{name}{labels} {} {seconds}.{millis:03}", number(value)).map_err(unwritten)?;
            }
        }
        rest = others;
    }
    writeln!(out, "# EOF").map_err(unwritten)
}

impl Family<'_> {
    /// Its value of a series.
    fn value(&self, sink: &Sink) -> f64 {
        match sink {
            Sink::Counter { .. } => sink.counter().unwrap_or_default(),
            Sink::Gauge(gauge) => gauge.last,
            Sink::Rate { hits, total } => *hits as f64 / (*total).max(1) as f64,
            Sink::Trend(values) => {
                let Some(stat) = self.stat else { return f64::NAN };
                let is_time = self.metric.contains == Contains::Time && stat.kind() != TrendStatKind::Count;
                stat.of(values) * if is_time { 0.001 } else { 1.0 }
            }
        }
    }
}

/// When steps were, by the clock on the wall.
#[derive(Debug, Clone, Copy)]
struct Times {
    started_ms: i64,
    /// How long the run took: its last step may reach beyond that.
    end_ms: i64,
    /// Of the step before.
    last_ms: i64,
}

impl Times {
    /// The end of the next step, in milliseconds since 1970: a series has no two points of one time.
    fn at_ms(&mut self, span: Option<Span>) -> i64 {
        let since = span.map_or(0, |span| ms(span.until_ns).min(self.end_ms.max(ms(span.from_ns))));
        self.last_ms = self.started_ms.saturating_add(since).max(self.last_ms.saturating_add(1));
        self.last_ms
    }
}

fn ms(ns: u64) -> i64 {
    i64::try_from(ns / 1_000_000).unwrap_or(i64::MAX)
}

/// What `--tag` adds to all series: a result file has only the tags that something reads.
fn tags(flags: &Flags) -> Result<Vec<(String, String)>, Failure> {
    let read = |text: String| match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err(Failure::config(format!("invalid --tag \"{text}\"")).hint("write it as NAME=VALUE")),
    };
    flags.values("tag").into_iter().map(read).collect()
}

/// The labels of a series as `--out prometheus-rw` names them: sorted, each once, `_` for what Prometheus does not take in a name.
/// What somebody adds replaces what is there.
fn labels(tags: &TagPairs, more: &[(String, String)]) -> String {
    let more = more.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let mut labels: Vec<(String, &str)> = more
        .chain(tags.iter().map(|(name, value)| (&**name, &**value)))
        .filter(|(name, value)| !name.is_empty() && !value.is_empty())
        .map(|(name, value)| (names::label(name), value))
        .collect();
    labels.sort_by(|first, second| first.0.cmp(&second.0));
    labels.dedup_by(|later, first| later.0 == first.0);
    if labels.is_empty() {
        return String::new();
    }
    let texts: Vec<String> = labels.iter().map(|(name, value)| format!("{name}=\"{}\"", escaped(value))).collect();
    format!("{{{}}}", texts.join(","))
}

fn escaped(value: &str) -> String {
    let mut text = String::with_capacity(value.len());
    for sign in value.chars() {
        match sign {
            '\\' => text.push_str("\\\\"),
            '"' => text.push_str("\\\""),
            '\n' => text.push_str("\\n"),
            // Prometheus takes it for the end of the text.
            '\0' => text.push('\u{fffd}'),
            other => text.push(other),
        }
    }
    text
}

fn number(value: f64) -> String {
    if value.is_infinite() {
        return if value > 0.0 { "+Inf" } else { "-Inf" }.to_owned();
    }
    value.to_string()
}

#[cfg(test)]
mod tests {
    use onrush_metrics::{Delta, ExactSum, Gauge, Histogram, builtin};
    use onrush_results::{End, Head, MetricRow, Writer};

    use super::*;

    const NS_PER_S: u64 = 1_000_000_000;

    fn tags(pairs: &[(&str, &str)]) -> TagPairs {
        pairs.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect()
    }

    /// One of `seconds`; `None` is before or after the scenarios.
    fn step(second: Option<u64>, value: f64) -> Step {
        let mut delta = Delta::default();
        for tags in [tags(&[("name", "b")]), tags(&[("name", "a\\\n\"")]), tags(&[("name", "b"), ("empty", "")])] {
            let mut sum = ExactSum::default();
            sum.add(value);
            delta.push(builtin::HTTP_REQS, tags, Sink::Counter { sum });
        }
        let mut times = Histogram::new();
        times.record(value * 1e3);
        delta.push(builtin::HTTP_REQ_DURATION, tags(&[("Größe", "1"), ("__name__", "x")]), Sink::Trend(times));
        delta.push(builtin::HTTP_REQ_FAILED, tags(&[]), Sink::Rate { hits: 1, total: 1 + value as u64 });
        delta.push(builtin::VUS, tags(&[]), Sink::Gauge(Gauge::new(value, value as u64)));
        let span = second.map(|second| Span { from_ns: second * NS_PER_S, until_ns: (second + 1) * NS_PER_S });
        Step { span, delta }
    }

    fn file(started_ms: Option<f64>, steps: Vec<Step>) -> Vec<u8> {
        let head = Head { started_ms, metrics: MetricRow::all(&Registry::new()), ..Head::default() };
        let mut writer = Writer::new(Vec::new(), &head).expect("memory takes it");
        steps.into_iter().for_each(|step| writer.step(step).expect("memory takes it"));
        let end = End { duration_ns: NS_PER_S * 3 / 2, ..End::default() };
        writer.end(&end).expect("memory takes it")
    }

    fn text(file: &[u8], stats: &[&str], points_max: usize) -> Result<String, String> {
        let stats = TrendStat::parse_list(stats).expect("valid");
        let run = Run::read("r.onrush", Vec::new(), || Ok(file)).map_err(|failure| failure.message)?;
        let (families, _) = run.families(&stats);
        let mut out = Vec::new();
        write(&run, &families, points_max, || Ok(file), &mut out).map_err(|failure| failure.message)?;
        Ok(String::from_utf8(out).expect("text"))
    }

    #[test]
    fn families_and_series_are_together() {
        let steps = vec![step(None, 1.0), step(Some(0), 2.0), step(Some(1), 4.0), step(None, 8.0)];
        let file = file(Some(1_000_000.0), steps);
        let found = text(&file, &["max", "count"], POINTS_MAX).expect("it is read");
        let expect = r#"# TYPE k6_vus gauge
k6_vus 1 1000.000
k6_vus 2 1001.000
k6_vus 4 1001.500
k6_vus 8 1001.501
# TYPE k6_http_reqs counter
k6_http_reqs_total{name="a\\\n\""} 1 1000.000
k6_http_reqs_total{name="a\\\n\""} 3 1001.000
k6_http_reqs_total{name="a\\\n\""} 7 1001.500
k6_http_reqs_total{name="a\\\n\""} 15 1001.501
k6_http_reqs_total{name="b"} 2 1000.000
k6_http_reqs_total{name="b"} 6 1001.000
k6_http_reqs_total{name="b"} 14 1001.500
k6_http_reqs_total{name="b"} 30 1001.501
# TYPE k6_http_req_failed_rate gauge
k6_http_req_failed_rate 0.5 1000.000
k6_http_req_failed_rate 0.4 1001.000
k6_http_req_failed_rate 0.3 1001.500
k6_http_req_failed_rate 0.21052631578947367 1001.501
# TYPE k6_http_req_duration_max gauge
k6_http_req_duration_max{Gr__e="1",tag__name__="x"} 1 1000.000
k6_http_req_duration_max{Gr__e="1",tag__name__="x"} 2 1001.000
k6_http_req_duration_max{Gr__e="1",tag__name__="x"} 4 1001.500
k6_http_req_duration_max{Gr__e="1",tag__name__="x"} 8 1001.501
# TYPE k6_http_req_duration_count gauge
k6_http_req_duration_count{Gr__e="1",tag__name__="x"} 1 1000.000
k6_http_req_duration_count{Gr__e="1",tag__name__="x"} 2 1001.000
k6_http_req_duration_count{Gr__e="1",tag__name__="x"} 3 1001.500
k6_http_req_duration_count{Gr__e="1",tag__name__="x"} 4 1001.501
# EOF
"#;
        assert_eq!(found, expect);
        // However often it is read.
        for points_max in [0, 1, 5, 9] {
            assert_eq!(text(&file, &["max", "count"], points_max).as_ref(), Ok(&found), "{points_max}");
        }
    }

    #[test]
    fn names_are_there_once() {
        let stats = TrendStat::parse_list(&["p(99)", "p(9.9)"]).expect("valid");
        let file = file(Some(0.0), vec![step(Some(0), 1.0)]);
        let run = Run::read("r.onrush", Vec::new(), || Ok(file.as_slice()))
            .map_err(|failure| failure.message)
            .expect("it is read");
        assert_eq!(run.families(&stats).1, ["k6_http_req_duration_p99"]);
    }

    #[test]
    fn a_run_without_a_beginning_is_refused() {
        for started_ms in [None, Some(-1.0), Some(f64::MAX)] {
            let refused = text(&file(started_ms, Vec::new()), &[], POINTS_MAX).expect_err("no time is known");
            assert!(refused.contains("does not say when its run began"), "{refused}");
        }
        assert_eq!(text(&file(Some(0.0), Vec::new()), &[], POINTS_MAX).as_deref(), Ok("# EOF\n"));
    }

    #[test]
    fn times_go_on() {
        let span = |from_ns, until_ns| Some(Span { from_ns, until_ns });
        let mut times = Times { started_ms: 1_000, end_ms: 1_500, last_ms: 0 };
        let found = [None, span(0, NS_PER_S), span(NS_PER_S, 2 * NS_PER_S), span(0, 1), None, span(u64::MAX, u64::MAX)]
            .map(|span| times.at_ms(span));
        // The last step ends with the run; what comes out of order has its own time.
        assert_eq!(found[..5], [1_000, 2_000, 2_500, 2_501, 2_502]);
        assert!(found[5] > found[4]);
    }

    #[test]
    fn numbers() {
        for (value, expect) in [(1.5, "1.5"), (f64::INFINITY, "+Inf"), (f64::NEG_INFINITY, "-Inf"), (f64::NAN, "NaN")] {
            assert_eq!(number(value), expect);
        }
    }
}
