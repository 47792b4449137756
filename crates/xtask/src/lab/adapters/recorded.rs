//! What adapters' tests need: a job, and outputs of tools that were recorded while they did it (`lab/recorded`).

use std::fs;

use tempfile::TempDir;

use crate::lab::{
    adapter::{Claim, Output},
    experiment::EXPERIMENTS,
    job::{Job, Load, Protocol},
};

/// 20 users on the address that the recorded outputs are of.
pub(in crate::lab) fn job() -> Job {
    Job {
        address: ([127, 0, 0, 1], 18_950).into(),
        protocol: Protocol::Http1,
        steps: EXPERIMENTS[0].steps,
        load: Load::Closed { users: 20 },
        seconds: 2,
        delay_ms: 10,
    }
}

/// What a tool printed.
pub(in crate::lab) fn printed(text: &str) -> Output {
    Output { stdout: text.to_owned(), ..Output::default() }
}

/// What a tool wrote to a file of its folder, which goes away with the first of the two.
pub(in crate::lab) fn wrote(name: &str, text: &str) -> (TempDir, Output) {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
    let output = Output { folder: folder.path().to_owned(), ..Output::default() };
    (folder, output)
}

/// Figures that are compared to four digits.
pub(in crate::lab) fn check(claim: Option<Claim>, expect: &str) {
    let claim = claim.expect("a recorded report is read");
    let shown: Vec<String> = claim
        .fields()
        .iter()
        .filter_map(|(name, value)| value.map(|value| format!("{name}={}", (value * 1e3).round() / 1e3)))
        .collect();
    assert_eq!(shown.join(" "), expect);
}
