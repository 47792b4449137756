//! Where a tool says something else than the server saw, by more than bounds that are stated in the report.

use crate::lab::{experiment::EXPERIMENTS, report::rows::Row};

/// A claim beside the truth.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::lab) struct Mark {
    pub(in crate::lab) what: &'static str,
    pub(in crate::lab) claimed: f64,
    pub(in crate::lab) truth: f64,
    pub(in crate::lab) unit: &'static str,
    /// Whether they differ by more than the bound.
    pub(in crate::lab) is_off: bool,
}

/// The bounds in words.
pub(in crate::lab) const BOUNDS: &str = "A claim is marked if it is off by more than: requests, 1 % and one for each user; \
    requests a second, 5 %; mean, 10 % and 0.1 ms; p99, if it is lower by 25 % and 1 ms. The truth for a mean is the time from one request of a user to the \
    next: users by seconds by requests; for p99 the server's delay plus the time from each answer to the next request on its \
    connection. A tool's own work between two requests counts, as it does for the load it makes. For a standstill the truth is what users meet who come at even times; a claim below four fifths of it is marked.";

/// All claims of a row that there is a truth for.
pub(in crate::lab) fn marks(row: &Row<'_>) -> Vec<Mark> {
    let mut marks = Vec::new();
    let mut compare = |what, claimed: Option<f64>, truth: Option<f64>, unit, share: f64, besides: f64| {
        if let (Some(claimed), Some(truth)) = (claimed, truth) {
            marks.push(Mark { what, claimed, truth, unit, is_off: (claimed - truth).abs() > truth * share + besides });
        }
    };
    let (claim, truth) =
        (|name: &str| row.median(&format!("/claim/{name}")), |name: &str| row.median(&format!("/truth/{name}")));
    let users = row.median("/users").unwrap_or(0.0);
    compare("requests", claim("requests"), truth("requests"), "", 0.01, users);
    // Where users wait for seconds, or one works for one, a rate depends on where it is cut off.
    if row.experiment != "start" && row.experiment != "memory" {
        compare("requests/s", claim("rps"), truth("rps"), "", 0.05, 0.0);
    }
    if row.experiment == "standstill" {
        for (what, claimed, met) in [("p90", "p90_ms", "met_ms/p90"), ("p99", "p99_ms", "met_ms/p99")] {
            let met = truth(met).filter(|met| *met > 0.0);
            if let (Some(claimed), Some(truth)) = (claim(claimed), met) {
                marks.push(Mark { what, claimed, truth, unit: " ms", is_off: claimed < truth * 0.8 });
            }
        }
        return marks;
    }
    // With a rate users wait before they send: that is no latency.
    let is_closed = row.median("/rate").is_none();
    let delay_ms = EXPERIMENTS.iter().find(|one| one.name == row.experiment).map(|one| one.delay_ms as f64);
    if is_closed && row.experiment != "start" && row.experiment != "memory" {
        let total = |name: &str| truth(&format!("added_ms/{name}")).zip(delay_ms).map(|(added, delay)| added + delay);
        compare("mean", claim("mean_ms"), truth("cycle_ms"), " ms", 0.1, 0.1);
        // The server may have been late itself: a higher claim is no sign of anything.
        if let (Some(claimed), Some(truth)) = (claim("p99_ms"), total("p99")) {
            marks.push(Mark { what: "p99", claimed, truth, unit: " ms", is_off: claimed < truth * 0.75 - 1.0 });
        }
    }
    marks
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn off(cell: &Value) -> Vec<&'static str> {
        let cells = [cell.clone()];
        let rows = Row::all(&cells);
        marks(&rows[0]).iter().filter(|mark| mark.is_off).map(|mark| mark.what).collect()
    }

    #[test]
    fn what_is_off() {
        let cell = |mean: f64, p99: f64, requests: f64| {
            json!({
                "experiment": "delay", "amount": "20", "tool": "x", "round": 0, "users": 20,
                "claim": { "requests": requests, "rps": 1000.0, "mean_ms": mean, "p99_ms": p99 },
                "truth": { "requests": 5000, "rps": 1001.0, "cycle_ms": 11.0, "added_ms": { "p99": 8.0 } },
            })
        };
        assert_eq!(off(&cell(11.5, 18.0, 5010.0)), [""; 0]);
        // Nobody is faster than the server's delay.
        assert_eq!(off(&cell(9.0, 18.0, 5010.0)), ["mean"]);
        assert_eq!(off(&cell(11.0, 12.0, 4900.0)), ["requests", "p99"]);
    }

    #[test]
    fn a_standstill_that_is_not_seen() {
        let cell = |p90: f64, p99: f64| {
            json!({
                "experiment": "standstill", "amount": "50", "tool": "x", "round": 0, "users": 50,
                "claim": { "p90_ms": p90, "p99_ms": p99 }, "truth": { "met_ms": { "p90": 900.0, "p99": 1900.0 } },
            })
        };
        assert_eq!(off(&cell(880.0, 1850.0)), [""; 0]);
        assert_eq!(off(&cell(0.3, 1850.0)), ["p90"]);
    }
}
