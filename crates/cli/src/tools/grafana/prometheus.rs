//! Queries of Prometheus: what `--out prometheus-rw` pushes, and what a Collector makes of `--out opentelemetry`.

use onrush_metrics::{Contains, summary::TrendStat};
use onrush_output::prometheus::names;

use super::figure::{Figure, What};

/// How metrics got into Prometheus.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flavour {
    Native,
    Statistics,
    Otlp,
}

impl Flavour {
    pub(super) fn query(self, figure: &Figure) -> Option<String> {
        let Figure { what, by } = figure;
        let filter = filter(*what, "");
        let grouped = |of: &str, series: String| match by {
            [] => format!("{of}({series})"),
            by => format!("{of} by ({}) ({series})", by.join(", ")),
        };
        let per_second = |metric: &str, more: &str| {
            grouped("sum", format!("rate({}{{{filter}{more}}}[$__rate_interval])", self.counter(metric)))
        };
        let failed = || per_second("http_reqs", FAILED);
        Some(match *what {
            What::PerSecond(metric) => per_second(metric, ""),
            // No series is there before the first of them failed.
            What::FailedPerSecond if by.is_empty() => format!("{} or vector(0)", failed()),
            What::FailedPerSecond => failed(),
            What::FailedShare if by.is_empty() => {
                format!("({} or vector(0)) / {}", failed(), per_second("http_reqs", ""))
            }
            What::FailedShare => format!("{} / {}", failed(), per_second("http_reqs", "")),
            What::Total(metric) => {
                grouped("sum", format!("last_over_time({}{{{filter}}}[$__range])", self.counter(metric)))
            }
            What::Share(metric) => match self {
                // A share of each series: how many values it is of is not told.
                Self::Native | Self::Statistics => {
                    grouped("avg", format!("last_over_time({}{{{filter}}}[$__range])", names::rate(metric)))
                }
                Self::Otlp => {
                    let of = |more: &str| {
                        grouped("sum", format!("last_over_time({}{{{filter}{more}}}[$__range])", self.counter(metric)))
                    };
                    format!("{} / {}", of(",condition=\"nonzero\""), of(""))
                }
            },
            What::Level(metric) => match self {
                Self::Native | Self::Statistics => grouped("sum", format!("{}{{{filter}}}", names::gauge(metric))),
                Self::Otlp => grouped("sum", format!("{metric}{{{filter}}}")),
            },
            What::Percentile(metric, percent) => match self {
                Self::Native => {
                    let histogram = names::histogram(metric, Contains::Time);
                    let rates = grouped("sum", format!("rate({histogram}{{{filter}}}[$__rate_interval])"));
                    format!("histogram_quantile({}, {rates})", fraction(percent))
                }
                // Percentiles of series cannot be put together: the worst is shown.
                Self::Statistics => {
                    grouped("max", format!("{}{{{filter}}}", names::statistic(metric, &statistic(percent)?)))
                }
                Self::Otlp => {
                    let by = [&["le"], *by].concat().join(", ");
                    let rates =
                        format!("sum by ({by}) (rate({}_bucket{{{filter}}}[$__rate_interval]))", otlp_time(metric));
                    format!("histogram_quantile({}, {rates}) / 1000", fraction(percent))
                }
            },
            What::Mean(metric) => match self {
                Self::Native => {
                    let histogram = names::histogram(metric, Contains::Time);
                    let rates =
                        |of: &str| grouped("sum", format!("{of}(rate({histogram}{{{filter}}}[$__rate_interval]))"));
                    format!("{} / {}", rates("histogram_sum"), rates("histogram_count"))
                }
                Self::Statistics => {
                    let mean = TrendStat::parse_list(&["avg".to_owned()]).ok()?.pop()?;
                    grouped("avg", format!("{}{{{filter}}}", names::statistic(metric, &mean)))
                }
                Self::Otlp => {
                    let of = |part: &str| {
                        grouped("sum", format!("rate({}_{part}{{{filter}}}[$__rate_interval])", otlp_time(metric)))
                    };
                    format!("{} / {} / 1000", of("sum"), of("count"))
                }
            },
            What::Heat(metric) => match self {
                Self::Native => {
                    let histogram = names::histogram(metric, Contains::Time);
                    format!("sum(rate({histogram}{{{filter}}}[$__rate_interval]))")
                }
                Self::Statistics => return None,
                Self::Otlp => format!("sum by (le) (rate({}_bucket{{{filter}}}[$__rate_interval]))", otlp_time(metric)),
            },
        })
    }

    /// The values of a label of the runs there are.
    pub(super) fn values(self, label: &str) -> String {
        let metric = if label == "name" { "http_reqs" } else { "iterations" };
        format!("label_values({}, {label})", self.counter(metric))
    }

    fn counter(self, metric: &str) -> String {
        match self {
            Self::Native | Self::Statistics => names::counter(metric),
            // The unit of bytes becomes a part of the name.
            Self::Otlp if metric.starts_with("data_") => format!("{metric}_bytes_total"),
            Self::Otlp => format!("{metric}_total"),
        }
    }
}

/// Requests that did not get what was expected.
const FAILED: &str = ",expected_response=\"false\"";

fn filter(what: What, more: &str) -> String {
    let mut filter = "testid=~\"$testid\"".to_owned();
    if !what.is_of_run() {
        filter.push_str(",scenario=~\"$scenario\"");
    }
    if what.is_of_requests() {
        filter.push_str(",name=~\"$name\"");
    }
    filter + more
}

/// What a Collector calls a trend of milliseconds.
fn otlp_time(metric: &str) -> String {
    format!("{metric}_milliseconds")
}

fn fraction(percent: u8) -> f64 {
    f64::from(percent) / 100.0
}

/// The statistic that has a percentile: k6's names.
fn statistic(percent: u8) -> Option<TrendStat> {
    let name = match percent {
        50 => "med".to_owned(),
        percent => format!("p({percent})"),
    };
    TrendStat::parse_list(&[name]).ok()?.pop()
}
