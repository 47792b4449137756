//! What the dashboard shows, row by row: the same for every database, as far as it has it.

use super::figure::{
    Figure,
    What::{self, FailedPerSecond, FailedShare, Heat, Level, Mean, PerSecond, Percentile, Share, Total},
};

/// A row of panels with a heading.
pub(super) struct Section {
    pub(super) title: &'static str,
    pub(super) panels: Vec<Panel>,
}

/// A panel.
pub(super) struct Panel {
    pub(super) title: &'static str,
    /// What it says to who wonders.
    pub(super) about: &'static str,
    pub(super) kind: Kind,
    pub(super) unit: Unit,
    /// Columns of the dashboard's 24, and rows.
    pub(super) size: (u32, u32),
    pub(super) lines: Vec<Line>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// One number.
    Number,
    /// Lines over time.
    Lines,
    /// Areas on top of each other over time.
    Stacked,
    Heatmap,
    Table,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Plain,
    PerSecond,
    Seconds,
    Share,
    BytesPerSecond,
}

impl Unit {
    /// Grafana's name of it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Plain => "short",
            Self::PerSecond => "cps",
            Self::Seconds => "s",
            Self::Share => "percentunit",
            Self::BytesPerSecond => "Bps",
        }
    }
}

/// A line, a column, or the number itself.
pub(super) struct Line {
    pub(super) name: &'static str,
    pub(super) figure: Figure,
    /// Its own unit, where it is not the panel's.
    pub(super) unit: Option<Unit>,
}

fn line(name: &'static str, what: What) -> Line {
    Line { name, figure: Figure { what, by: &[] }, unit: None }
}

fn by(name: &'static str, by: &'static [&'static str], what: What, unit: Unit) -> Line {
    Line { name, figure: Figure { what, by }, unit: Some(unit) }
}

fn number(title: &'static str, unit: Unit, what: What) -> Panel {
    Panel { title, about: "", kind: Kind::Number, unit, size: (4, 4), lines: vec![line("", what)] }
}

fn chart(title: &'static str, about: &'static str, unit: Unit, lines: Vec<Line>) -> Panel {
    Panel { title, about, kind: Kind::Lines, unit, size: (12, 8), lines }
}

const NAMES: &[&str] = &["name"];
const CHECKS: &[&str] = &["check"];
const STATUS: &[&str] = &["status"];
const SCENARIOS: &[&str] = &["scenario"];

/// All of it.
pub(super) fn sections() -> Vec<Section> {
    vec![overview(), requests(), parts(), rest()]
}

fn overview() -> Section {
    let panels = vec![
        number("Requests", Unit::Plain, Total("http_reqs")),
        number("Requests a second", Unit::PerSecond, PerSecond("http_reqs")),
        number("Failed requests", Unit::Share, FailedShare),
        number("p95 of requests", Unit::Seconds, Percentile("http_req_duration", 95)),
        number("Checks that passed", Unit::Share, Share("checks")),
        number("VUs", Unit::Plain, Level("vus")),
        chart(
            "Load",
            "",
            Unit::PerSecond,
            vec![
                line("requests/s", PerSecond("http_reqs")),
                line("failed/s", FailedPerSecond),
                line("iterations/s", PerSecond("iterations")),
                Line { unit: Some(Unit::Plain), ..line("VUs", Level("vus")) },
            ],
        ),
        chart(
            "Duration of requests",
            "Histograms give the percentiles of each interval. Trend statistics are over the whole run so far, those of InfluxDB over each second; of several series the worst is shown.",
            Unit::Seconds,
            vec![
                line("p50", Percentile("http_req_duration", 50)),
                line("p90", Percentile("http_req_duration", 90)),
                line("p95", Percentile("http_req_duration", 95)),
                line("p99", Percentile("http_req_duration", 99)),
            ],
        ),
    ];
    Section { title: "Overview", panels }
}

fn requests() -> Section {
    let heatmap = Panel {
        title: "Distribution of durations",
        about: "How many requests a second took how long.",
        kind: Kind::Heatmap,
        unit: Unit::Seconds,
        size: (12, 8),
        lines: vec![line("", Heat("http_req_duration"))],
    };
    let phases = Panel {
        title: "Parts of a request, on average",
        about: "",
        kind: Kind::Stacked,
        unit: Unit::Seconds,
        size: (12, 8),
        lines: vec![
            line("blocked", Mean("http_req_blocked")),
            line("sending", Mean("http_req_sending")),
            line("waiting", Mean("http_req_waiting")),
            line("receiving", Mean("http_req_receiving")),
        ],
    };
    let statuses = chart(
        "Requests by status",
        "0: there was no response.",
        Unit::PerSecond,
        vec![by("{{status}}", STATUS, PerSecond("http_reqs"), Unit::PerSecond)],
    );
    let table = Panel {
        title: "Requests by name",
        about: "Set the tag name where URLs have ids in them.",
        kind: Kind::Table,
        unit: Unit::Seconds,
        size: (24, 8),
        lines: vec![
            by("requests", NAMES, Total("http_reqs"), Unit::Plain),
            by("mean", NAMES, Mean("http_req_duration"), Unit::Seconds),
            by("p50", NAMES, Percentile("http_req_duration", 50), Unit::Seconds),
            by("p95", NAMES, Percentile("http_req_duration", 95), Unit::Seconds),
            by("p99", NAMES, Percentile("http_req_duration", 99), Unit::Seconds),
        ],
    };
    Section { title: "Requests", panels: vec![heatmap, phases, statuses, failures(), table] }
}

fn failures() -> Panel {
    chart("Failed requests by name", "", Unit::PerSecond, vec![by("{{name}}", NAMES, FailedPerSecond, Unit::PerSecond)])
}

fn parts() -> Section {
    let checks = Panel {
        title: "Checks",
        about: "How often each of them passed.",
        kind: Kind::Table,
        unit: Unit::Share,
        size: (12, 8),
        lines: vec![by("passed", CHECKS, Share("checks"), Unit::Share)],
    };
    let scenarios = chart(
        "Iterations by scenario",
        "",
        Unit::PerSecond,
        vec![by("{{scenario}}", SCENARIOS, PerSecond("iterations"), Unit::PerSecond)],
    );
    Section { title: "Checks and scenarios", panels: vec![checks, scenarios] }
}

fn rest() -> Section {
    let panels = vec![
        chart(
            "Duration of iterations",
            "",
            Unit::Seconds,
            vec![line("p50", Percentile("iteration_duration", 50)), line("p95", Percentile("iteration_duration", 95))],
        ),
        chart(
            "Bytes on the network",
            "",
            Unit::BytesPerSecond,
            vec![line("sent", PerSecond("data_sent")), line("received", PerSecond("data_received"))],
        ),
        chart(
            "Iterations dropped",
            "There was no VU for them: raise maxVUs, or the system is too slow for the rate.",
            Unit::PerSecond,
            vec![line("dropped/s", PerSecond("dropped_iterations"))],
        ),
    ];
    Section { title: "Iterations and network", panels }
}
