//! What a panel can show, whatever database it comes from.

use super::{influxdb, prometheus};

/// Where the numbers are, and how they got there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::tools) enum Database {
    /// `--out prometheus-rw` with native histograms.
    PrometheusNative,
    /// The same with statistics of trends.
    Prometheus,
    /// `--out influxdb`.
    InfluxDb,
    /// `--out opentelemetry` by way of a Collector into Prometheus.
    Otlp,
}

impl Database {
    /// All of them, the one that tells the most first.
    pub(in crate::tools) const ALL: [Self; 4] = [Self::PrometheusNative, Self::Prometheus, Self::InfluxDb, Self::Otlp];

    /// Its name in `--for`, and that of its file in `dashboards/`.
    pub(in crate::tools) fn name(self) -> &'static str {
        match self {
            Self::PrometheusNative => "prometheus-native",
            Self::Prometheus => "prometheus",
            Self::InfluxDb => "influxdb",
            Self::Otlp => "otlp",
        }
    }

    /// What a person calls it.
    pub(super) fn title(self) -> &'static str {
        match self {
            Self::PrometheusNative => "Prometheus, native histograms",
            Self::Prometheus => "Prometheus, trend statistics",
            Self::InfluxDb => "InfluxDB",
            Self::Otlp => "OpenTelemetry in Prometheus",
        }
    }

    /// Grafana's type of its data source.
    pub(super) fn source(self) -> &'static str {
        match self {
            Self::InfluxDb => "influxdb",
            Self::PrometheusNative | Self::Prometheus | Self::Otlp => "prometheus",
        }
    }

    /// How it is asked for a figure; `None` where it does not have it.
    pub(super) fn query(self, figure: &Figure) -> Option<String> {
        match self {
            Self::PrometheusNative => prometheus::Flavour::Native.query(figure),
            Self::Prometheus => prometheus::Flavour::Statistics.query(figure),
            Self::Otlp => prometheus::Flavour::Otlp.query(figure),
            Self::InfluxDb => influxdb::query(figure),
        }
    }

    /// How it is asked for the values of a label.
    pub(super) fn values(self, label: &str) -> String {
        match self {
            Self::PrometheusNative | Self::Prometheus => prometheus::Flavour::Native.values(label),
            Self::Otlp => prometheus::Flavour::Otlp.values(label),
            Self::InfluxDb => influxdb::values(label),
        }
    }
}

/// Something to be shown.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Figure {
    pub(super) what: What,
    /// A line or row for each value of these labels; one for all if there are none.
    pub(super) by: &'static [&'static str],
}

/// Numbers of metrics. All are of the chosen runs, scenarios and, for HTTP, names.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum What {
    /// By how much a counter grows in a second.
    PerSecond(&'static str),
    /// Requests that failed, a second.
    FailedPerSecond,
    /// What a counter came to.
    Total(&'static str),
    /// Requests that failed, of all; 0 to 1.
    FailedShare,
    /// How often a rate was true since the start; 0 to 1.
    Share(&'static str),
    /// A gauge.
    Level(&'static str),
    /// A quantile of a trend of times, of a hundred, in seconds.
    Percentile(&'static str, u8),
    /// Its mean, in seconds.
    Mean(&'static str),
    /// How it is distributed over time.
    Heat(&'static str),
}

impl What {
    /// The metric, for whoever filters by labels that only some have.
    pub(super) fn is_of_requests(self) -> bool {
        match self {
            Self::FailedPerSecond | Self::FailedShare => true,
            Self::PerSecond(metric)
            | Self::Total(metric)
            | Self::Share(metric)
            | Self::Level(metric)
            | Self::Percentile(metric, _)
            | Self::Mean(metric)
            | Self::Heat(metric) => metric.starts_with("http_"),
        }
    }

    /// Whether all VUs together have it, so that no label tells scenarios apart.
    pub(super) fn is_of_run(self) -> bool {
        matches!(self, Self::Level(_) | Self::PerSecond("data_sent" | "data_received"))
    }
}
