//! What the user asks of a benchmark run.

use std::path::PathBuf;

use anyhow::Result;
use xtask::arguments::Arguments;

pub(super) const HELP: &str = "\
cargo xtask bench [--quick] [--only PART[,PART]] [--rounds N] [--onrush FILE] [--out FOLDER] [--port N]

Measures Onrush, wrk and k6 side by side on this machine, prints a table and keeps the raw results.

  --quick         few short rounds (under 7 minutes; without it about 45): to see that it works
  --only PART     one of the parts of bench/README.md; may be repeated
  --rounds N      interleaved rounds of each comparison (default 5, quick 1)
  --onrush FILE   this binary instead of a release build of the workspace
  --before FILE   an earlier build, measured beside it in minimal, website and memory: no more than 3 % may be lost
  --out FOLDER    where raw results go (default bench/runs/<date>-<commit>)
  --port N        first of 20 loopback ports to use (default 18180)";

/// What the user asked for.
#[derive(Debug, Clone)]
pub(super) struct Options {
    pub(super) quick: bool,
    /// Names of parts, not yet looked up; none means all.
    pub(super) only: Vec<String>,
    rounds: Option<usize>,
    pub(super) onrush: Option<PathBuf>,
    /// An earlier build to compare with.
    pub(super) before: Option<PathBuf>,
    pub(super) out: Option<PathBuf>,
    pub(super) port: u16,
}

impl Options {
    /// Reads the command line; `None` asks for help.
    pub(super) fn parse(given: &[String]) -> Result<Option<Self>> {
        let mut arguments = Arguments::new(given);
        if arguments.wants_help() {
            return Ok(None);
        }
        let only: Vec<String> = arguments.values("--only")?;
        let options = Self {
            quick: arguments.flag("--quick"),
            only: only.iter().flat_map(|parts| parts.split(',')).map(str::to_owned).collect(),
            rounds: arguments.number("--rounds", 1..=ROUNDS_MAX)?,
            onrush: arguments.value("--onrush")?,
            before: arguments.value("--before")?,
            out: arguments.value("--out")?,
            port: arguments.number("--port", 1024..=PORT_MAX)?.unwrap_or(PORT_DEFAULT),
        };
        arguments.end(HELP)?;
        Ok(Some(options))
    }

    /// Whether that part is to be measured.
    pub(super) fn wants(&self, part: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|name| name == part)
    }

    /// Interleaved rounds of a comparison.
    pub(super) fn rounds(&self) -> usize {
        self.rounds.unwrap_or(if self.quick { 1 } else { 5 })
    }

    /// Interleaved rounds of what varies little and takes long.
    pub(super) fn rounds_few(&self) -> usize {
        self.rounds.unwrap_or(if self.quick { 1 } else { 3 })
    }

    /// One value or the other.
    pub(super) fn pick<T>(&self, quick: T, full: T) -> T {
        if self.quick { quick } else { full }
    }
}

const ROUNDS_MAX: usize = 100;
const PORT_DEFAULT: u16 = 18_180;
/// Leaves room for the ports that follow.
const PORT_MAX: u16 = 65_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Option<Options>> {
        Options::parse(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn arguments() {
        let options = parse("--quick --only minimal,flat --only=stages --rounds 3").unwrap().unwrap();
        assert!(options.quick && options.wants("flat") && options.wants("stages") && !options.wants("memory"));
        assert_eq!((options.rounds(), options.rounds_few()), (3, 3));
        assert!(parse("").unwrap().unwrap().wants("memory"));
        assert!(parse("--help").unwrap().is_none());
        for bad in ["--rounds 0", "--rounds", "--fast", "--port 80"] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }
}
