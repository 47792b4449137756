//! One file a tool. bench/lab/README.md shows how one is added.

mod ab;
mod artillery;
mod autocannon;
mod bombardier;
mod drill;
mod fortio;
mod gatling;
mod goose;
mod grinder;
mod h2load;
mod hey;
mod jmeter;
mod k6;
mod locust;
mod missing;
mod oha;
mod onrush;
mod reason;
#[cfg(test)]
pub(super) mod recorded;
mod siege;
mod tropel;
mod tsung;
mod vegeta;
mod wrk;
mod wrk2;

use super::adapter::Adapter;

/// All tools, in the order of the tables.
pub(crate) const ADAPTERS: &[&dyn Adapter] = &[
    &onrush::OnrushHttp,
    &onrush::OnrushScript,
    &k6::K6 { name: "k6-1", version: "v1.8.1" },
    &k6::K6 { name: "k6-2", version: "v2.2.0" },
    &wrk::Wrk,
    &wrk2::Wrk2,
    &ab::Ab,
    &h2load::H2load,
    &hey::Hey,
    &oha::Oha,
    &bombardier::Bombardier,
    &vegeta::Vegeta,
    &fortio::Fortio,
    &autocannon::Autocannon,
    &siege::Siege,
    &missing::Missing {
        name: "nighthawk",
        about: "C++; flags",
        why: "no package registry has it (looked for in Debian, npm and PyPI): it is a container image or a Bazel build",
    },
    &artillery::Artillery,
    &gatling::Gatling,
    &grinder::Grinder,
    &jmeter::Jmeter,
    &locust::Locust { name: "locust", class: "HttpUser" },
    &locust::Locust { name: "locust-fast", class: "FastHttpUser" },
    &tsung::Tsung,
    &drill::Drill,
    &goose::Goose,
    &tropel::Tropel,
    &missing::Missing {
        name: "loadr",
        about: "Rust; YAML",
        why: "crates.io has it (loadr-cli 1.0.0); this lab has no adapter for its plans yet",
    },
];

#[cfg(test)]
mod tests {
    use super::{
        recorded::{job, printed},
        *,
    };
    use crate::lab::{adapter::Program, experiment::EXPERIMENTS, job::Job, shop::show};

    #[test]
    fn names_are_told_apart_and_no_report_is_made_of_nothing() {
        let mut names: Vec<&str> = ADAPTERS.iter().map(|adapter| adapter.name()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), ADAPTERS.len());
        for adapter in ADAPTERS {
            for text in ["", "Killed\n", "{}", "{\"a\": [", "\u{0}\u{1b}[2J%%%", "Requests/sec: NaN"] {
                assert_eq!(adapter.claim(&job(), &printed(text)), None, "{} of {text:?}", adapter.name());
            }
        }
    }

    #[test]
    fn every_job_gets_a_command_or_a_reason() {
        for adapter in ADAPTERS {
            for experiment in EXPERIMENTS {
                for amount in experiment.loads {
                    let Some(load) = amount.load(Some(10_000.0)) else { continue };
                    let job = Job { load, protocol: experiment.protocol, steps: experiment.steps, ..job() };
                    match adapter.run(&Program::default(), &job) {
                        Ok(run) => {
                            // Whatever a tool wants it is told where to go, by argument or by file.
                            let port = job.address.port().to_string();
                            let said = show(&run.command);
                            let files: String = run.files.iter().map(|(_, text)| text.as_str()).collect();
                            assert!((said + &files).contains(&port), "{} in {}", adapter.name(), experiment.name);
                        }
                        Err(reason) => assert!(!reason.is_empty()),
                    }
                }
            }
        }
    }
}
