//! Several clients on the same work, round by round.

use anyhow::Result;

use crate::bench::{
    lab::Lab,
    load::{Client, Load, Measurement, measure},
    series::{median, median_ratio},
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

    /// A value of every round.
    pub(super) fn values(&self, client: Client, value: impl Fn(&Measurement) -> f64) -> Vec<f64> {
        let measured = self.clients.iter().find(|(other, _)| *other == client);
        measured.map(|(_, measured)| measured.iter().map(value).collect()).unwrap_or_default()
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

/// Both placements, or the unpinned one where there is one CPU only.
pub(super) fn placements(lab: &Lab) -> &'static [bool] {
    if lab.machine.cpus > 1 { &[true, false] } else { &[false] }
}

/// A placement in a word.
pub(super) fn placement(pinned: bool) -> &'static str {
    if pinned { "pinned" } else { "unpinned" }
}
