//! Several clients on the same work, round by round.

use anyhow::Result;

use crate::bench::{
    client::Client,
    lab::Lab,
    load::{Load, Measurement, measure},
    report::{Bound, Table, cell, medians},
    series::{median, median_ratio, range},
    server::Server,
};

/// One piece of work that several clients do.
#[derive(Debug)]
pub(super) struct Comparison {
    pub(super) part: &'static str,
    /// What tells this work from others of the part, as in "nginx, pinned".
    pub(super) setup: String,
    pub(super) load: Load,
    clients: Vec<(Client, Vec<Measurement>)>,
}

impl Comparison {
    pub(super) fn new(part: &'static str, setup: impl Into<String>, load: Load, clients: &[Client]) -> Self {
        Self { part, setup: setup.into(), load, clients: clients.iter().map(|&client| (client, Vec::new())).collect() }
    }

    /// Measures every client once.
    pub(super) fn round(&mut self, lab: &mut Lab, round: usize, server: &mut Server) -> Result<()> {
        eprintln!("  round {}, {}", round + 1, self.setup);
        let count = self.clients.len();
        for turn in 0..count {
            // Who comes first changes: nobody always runs on the others' heat.
            let (client, measured) = &mut self.clients[(turn + round) % count];
            let measurement = measure(lab, *client, &self.load, server)?;
            let mut record = measurement.to_json();
            record["setup"] = self.setup.as_str().into();
            record["round"] = round.into();
            lab.record(self.part, record);
            measured.push(measurement);
        }
        Ok(())
    }

    pub(super) fn clients(&self) -> impl Iterator<Item = Client> {
        self.clients.iter().map(|(client, _)| *client)
    }

    /// Every round of a client.
    pub(super) fn measurements(&self, client: Client) -> &[Measurement] {
        self.clients.iter().find(|(other, _)| *other == client).map_or(&[], |(_, measured)| measured)
    }

    /// A value of every round.
    pub(super) fn values(&self, client: Client, value: impl Fn(&Measurement) -> f64) -> Vec<f64> {
        self.measurements(client).iter().map(value).collect()
    }

    pub(super) fn median(&self, client: Client, value: impl Fn(&Measurement) -> f64) -> Option<f64> {
        median(&self.values(client, value))
    }

    /// The median of one client's value divided by another's of the same round.
    pub(super) fn ratio(
        &self,
        ours: Client,
        theirs: Client,
        value: impl Fn(&Measurement) -> f64 + Copy,
    ) -> Option<f64> {
        median_ratio(&self.values(ours, value), &self.values(theirs, value))
    }
}

/// Limits on our CPU per request, as ratios to others'.
pub(super) type Ratios<'a> = &'a [(Client, f64)];

/// Measures all comparisons, taking turns, then shows each with its limits.
pub(super) fn compare(
    lab: &mut Lab,
    server: &mut Server,
    title: &str,
    mut comparisons: Vec<(Comparison, Ratios<'_>)>,
) -> Result<()> {
    rounds(lab, server, comparisons.iter_mut().map(|(comparison, _)| comparison).collect())?;
    for (comparison, limits) in &comparisons {
        show(lab, comparison, title, limits);
    }
    Ok(())
}

/// Measures all comparisons round by round, taking turns.
pub(super) fn rounds(lab: &mut Lab, server: &mut Server, mut comparisons: Vec<&mut Comparison>) -> Result<()> {
    for round in 0..lab.options.rounds() {
        for comparison in &mut comparisons {
            comparison.round(lab, round, server)?;
        }
    }
    Ok(())
}

/// The CPU of one operation in microseconds: what requests that do `more` of it cost above those that do fewer, round by
/// round.
pub(super) fn cost_of_one(client: Client, few: &Comparison, many: &Comparison, more: u32) -> Option<f64> {
    let (few, many) = (few.values(client, Measurement::cpu_us), many.values(client, Measurement::cpu_us));
    let each: Vec<f64> = few.iter().zip(&many).map(|(few, many)| (many - few) / f64::from(more)).collect();
    median(&each)
}

/// A table of one comparison, and its limits.
pub(super) fn show(lab: &mut Lab, comparison: &Comparison, title: &str, limits: Ratios<'_>) {
    let mut table = Table::new(
        format!("{title}, {}: {}", comparison.setup, medians(lab.options.rounds())),
        &[
            "client",
            "requests/s",
            "CPU µs/request",
            "lowest–highest",
            "user",
            "system",
            "RSS MB",
            "server µs/request",
            "onrush's CPU / its",
        ],
    );
    for client in comparison.clients() {
        let spread = range(&comparison.values(client, Measurement::cpu_us))
            .map_or_else(String::new, |(low, high)| format!("{low:.1}–{high:.1}"));
        table.row([
            client.name(),
            cell(comparison.median(client, Measurement::rps)),
            cell(comparison.median(client, Measurement::cpu_us)),
            spread,
            cell(comparison.median(client, Measurement::user_us)),
            cell(comparison.median(client, Measurement::system_us)),
            cell(comparison.median(client, Measurement::rss_mb)),
            cell(comparison.median(client, Measurement::server_us)),
            cell(comparison.ratio(Client::Onrush, client, Measurement::cpu_us)),
        ]);
    }
    if comparison.load.pinned {
        table.note(
            "Client on one CPU, server on the other. Requests/s of the fast clients are the server's limit: compare CPU.",
        );
    }
    lab.report.table(table);
    for &(client, bound) in limits {
        lab.report.limit(
            comparison.part,
            format!("{}: CPU per request / {}'s", comparison.setup, client.name()),
            comparison.ratio(Client::Onrush, client, Measurement::cpu_us),
            Bound::AtMost(bound),
            "",
        );
    }
}

/// Any value against that of an earlier build.
pub(super) const BEFORE_RATIO_MAX: f64 = 1.03;

/// Both placements, or the unpinned one where there is one CPU only.
pub(super) fn placements(lab: &Lab) -> &'static [bool] {
    if lab.machine.cpus > 1 { &[true, false] } else { &[false] }
}

/// A placement in a word.
pub(super) fn placement(pinned: bool) -> &'static str {
    if pinned { "pinned" } else { "unpinned" }
}
