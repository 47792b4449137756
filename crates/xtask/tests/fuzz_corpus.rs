//! Every input of the fuzz corpus, and a fixed number of mutations of it, under `cargo test`.

#[path = "../examples/support/targets.rs"]
mod targets;

use std::time::Duration;

use targets::TARGETS;
use xtask::{
    fuzzing::{self, Corpus, Effort, Outcome},
    workspace,
};

/// Some seconds in all: pages and encodings take a millisecond each. `cargo xtask fuzz` is for more.
const RUNS: u64 = 3_000;

#[test]
fn corpus_and_mutations_of_it_break_nothing() {
    let folder = workspace::root().join("fuzz");
    for target in TARGETS {
        let corpus = Corpus::read(&folder, target.name).expect("the corpus is part of the repository");
        if let Err(finding) = fuzzing::replay(target, &corpus) {
            panic!("{}: {} with \"{}\"", target.name, finding.message, finding.input.escape_ascii());
        }
        let effort = Effort { seed: 1, time: Duration::from_secs(3600), runs: RUNS };
        if let Outcome::Broken(finding) = fuzzing::fuzz(target, &corpus, effort) {
            panic!("{}: {} with \"{}\"", target.name, finding.message, finding.input.escape_ascii());
        }
    }
}

#[test]
fn every_target_of_cargo_fuzz_is_one_of_the_driver() {
    let folder = workspace::root().join("fuzz/fuzz_targets");
    let files = std::fs::read_dir(folder).expect("the targets are part of the repository");
    let mut names: Vec<String> = files
        .map(|file| file.expect("readable").path())
        .map(|path| path.file_stem().expect("a file").to_string_lossy().into_owned())
        .collect();
    names.sort_unstable();
    let mut driven: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
    driven.sort_unstable();
    assert_eq!(names, driven);
}
