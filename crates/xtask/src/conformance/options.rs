//! What the user asks of a conformance run.

use std::{num::NonZero, path::PathBuf};

use anyhow::{Result, bail};
use xtask::arguments::Arguments;

/// The arguments in one line.
pub(crate) const ARGUMENTS: &str = "[--record] [--k6] [--coverage] [--only NAME] [--jobs N] [--onrush FILE] [--help]";

pub(super) const HELP: &str = "\
cargo xtask conformance [--record] [--k6] [--coverage] [--only NAME] [--jobs N] [--onrush FILE]

Runs the scripts in conformance/ and compares with what k6 does, as it is recorded beside them.
What differs and is not in conformance/differences.json is printed, and the exit code is 1.

  --record        run k6 instead (K6=/path/to/k6, or k6 of the PATH) and rewrite the recordings
  --k6            run k6 as well, and compare with it instead of the recordings
  --coverage      print which script shows which row of k6's surface, and run nothing
  --only NAME     scripts whose name contains this, for example http/ or thresholds/rate; may be repeated
  --jobs N        scripts at a time (default: twice the cores)
  --onrush FILE   this binary instead of a debug build of the workspace";

/// What the user asked for.
#[derive(Debug, Clone, Default)]
pub(super) struct Options {
    pub(super) record: bool,
    pub(super) k6: bool,
    pub(super) coverage: bool,
    pub(super) only: Vec<String>,
    pub(super) jobs: usize,
    pub(super) onrush: Option<PathBuf>,
}

impl Options {
    /// Reads the command line; `None` asks for help.
    pub(super) fn parse(given: &[String]) -> Result<Option<Self>> {
        let mut arguments = Arguments::new(given);
        if arguments.wants_help() {
            return Ok(None);
        }
        let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
        let options = Self {
            record: arguments.flag("--record"),
            k6: arguments.flag("--k6"),
            coverage: arguments.flag("--coverage"),
            only: arguments.values("--only")?,
            jobs: arguments.number("--jobs", 1..=JOBS_MAX)?.unwrap_or(cores * JOBS_PER_CORE),
            onrush: arguments.value("--onrush")?,
        };
        arguments.end(HELP)?;
        if options.record && options.k6 {
            bail!("--record and --k6 exclude each other: the first writes what k6 does, the second compares with it");
        }
        Ok(Some(options))
    }

    /// Whether a script was asked for.
    pub(super) fn wants(&self, name: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|part| name.contains(part.as_str()))
    }
}

/// Most scripts wait most of their time, for a second to pass.
const JOBS_PER_CORE: usize = 2;
const JOBS_MAX: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_read() {
        let parse = |text: &str| Options::parse(&text.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
        let options = parse("--k6 --only http/ --only=cookies --jobs 3").unwrap().unwrap();
        assert!(options.k6 && !options.record && options.jobs == 3);
        assert!(options.wants("http/get") && options.wants("a/cookies_b") && !options.wants("cli/x"));
        assert!(parse("--help").unwrap().is_none());
        for wrong in ["--jobs 0", "--jobs", "--nonsense", "--k6 --record"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
