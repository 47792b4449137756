//! The hostile suite: what servers do that they must not, one case each, in one table.
//!
//! A case says what its server does and what a client asks of it. What k6 makes of it is recorded
//! in `hostile/k6.json` beside this crate's manifest; where Onrush differs on purpose the case says
//! so and why. `cargo run -p onrush-testkit --example hostile_cases` lists the cases, and records
//! and compares. The tests are in `net` (descriptors, connections) and `cli` (whole runs).

mod authorities;
mod bodies;
mod case;
mod certificates;
mod connections;
mod handshakes;
mod heads;
mod lengths;
mod page;
mod redirects;
mod slow;

pub use crate::steps::Step;
pub use authorities::Authorities;
pub use case::{Ask, Case, CaseServer, Difference, Outcome, mask};
pub use page::{PAGE, page};

/// What k6 v1.8.1 does with each case, as `hostile_cases record` writes it.
pub const RECORDED: &str = include_str!("../../hostile/k6.json");

/// A script that asks every case, one VU each, and prints `CASE` lines. Its input is `cases.json`.
pub const SCRIPT: &str = include_str!("../../hostile/script.js");

/// What [`SCRIPT`] reads.
pub fn script_input(cases: &[Case], servers: &[CaseServer]) -> serde_json::Value {
    let rows = cases.iter().zip(servers).map(|(case, server)| {
        serde_json::json!({
            "name": case.name,
            "url": server.url(&case.ask),
            "method": case.ask.method,
            "body_bytes": case.ask.body_bytes,
            "timeout_ms": case.ask.timeout_ms,
            "times": case.ask.times,
        })
    });
    rows.collect()
}

/// All cases.
pub fn cases() -> Vec<Case> {
    groups().into_iter().flat_map(|(_, _, cases)| cases).collect()
}

/// The cases by what they are about: a title, a sentence, the cases.
fn groups() -> Vec<(&'static str, &'static str, Vec<Case>)> {
    vec![
        ("Slow", "Slowloris in both directions; the request's own timeout ends it.", slow::cases()),
        ("Heads", "Status lines, versions, headers, floods of them, interim responses.", heads::cases()),
        ("Lengths", "Framing that contradicts itself: what smuggling is made of.", lengths::cases()),
        ("Bodies", "Invalid chunks and codings, and bombs.", bodies::cases()),
        ("Connections", "Early ends, resets, answers nobody asked for.", connections::cases()),
        ("Redirects and cookies", "Redirects that lead nowhere, cookies by the thousand.", redirects::cases()),
        ("TLS", "Records, handshakes and alerts.", handshakes::cases()),
        ("Certificates", "Wrong ones of every kind, and some that only look wrong.", certificates::cases()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_there_are_enough() {
        let all = cases();
        let names: std::collections::HashSet<_> = all.iter().map(|case| case.name).collect();
        assert_eq!(names.len(), all.len());
        assert!(all.len() >= 75);
    }
}
