//! What the user asks of the lab.

use std::path::PathBuf;

use anyhow::{Result, bail};
use xtask::arguments::Arguments;

use super::{
    adapters::ADAPTERS,
    experiment::{Amount, EXPERIMENTS, Experiment},
};

pub(super) const ARGUMENTS: &str =
    "[--quick] [--only TOOL,TOOL] [--experiments NAME,NAME] [--list] [--report RUN] [--agree RUN --with RUN] [--help]";

pub(super) const HELP: &str = "\
cargo xtask lab [--quick] [--only TOOL[,TOOL]] [--experiments NAME[,NAME]] [--rounds N] [--minutes N]

Measures load generators side by side on this machine, holds what each says of itself against what the server saw, and
writes bench/lab/runs/<date>-<commit>: raw results, report.html and summary.md. Started again, it goes on where it was.
bench/lab/README.md explains the figures and how a tool is added.

  --quick               one short round: about ten minutes once the tools are installed
  --only TOOL           these tools; may be repeated
  --experiments NAME    these experiments; may be repeated
  --rounds N            interleaved rounds (default 3, quick 1)
  --minutes N           begin no cell after so many minutes (default 150, quick 15); the next start goes on
  --onrush FILE         this program instead of a release build of the workspace
  --tools FOLDER        where tools are installed (default: onrush/lab in the user's cache folder)
  --out FOLDER          where results go
  --fresh               a new folder, even if there is one of this commit
  --keep                keep the folders that tools ran in, and say where they are: for a new adapter
  --list                show tools and experiments, and stop
  --report RUN          write the report of a run again, and stop
  --agree RUN --with RUN  say how well two runs agree, and stop";

/// What the user asked for.
#[derive(Debug, Clone)]
pub(super) struct Options {
    pub(super) quick: bool,
    only: Vec<String>,
    experiments: Vec<String>,
    rounds: Option<u64>,
    minutes: Option<u64>,
    pub(super) onrush: Option<PathBuf>,
    pub(super) tools: Option<PathBuf>,
    pub(super) out: Option<PathBuf>,
    pub(super) fresh: bool,
    /// The folders that tools ran in stay.
    pub(super) keep: bool,
    pub(super) list: bool,
    pub(super) report: Option<PathBuf>,
    pub(super) agree: Option<PathBuf>,
    pub(super) with: Option<PathBuf>,
}

impl Options {
    /// Reads the command line; `None` asks for help.
    pub(super) fn parse(given: &[String]) -> Result<Option<Self>> {
        let mut arguments = Arguments::new(given);
        if arguments.wants_help() {
            return Ok(None);
        }
        let names = |values: Vec<String>| -> Vec<String> {
            values.iter().flat_map(|names| names.split(',')).map(str::to_owned).collect()
        };
        let options = Self {
            quick: arguments.flag("--quick"),
            only: names(arguments.values("--only")?),
            experiments: names(arguments.values("--experiments")?),
            rounds: arguments.number("--rounds", 1..=ROUNDS_MAX)?,
            minutes: arguments.number("--minutes", 1..=MINUTES_MAX)?,
            onrush: arguments.value("--onrush")?,
            tools: arguments.value("--tools")?,
            out: arguments.value("--out")?,
            keep: arguments.flag("--keep"),
            fresh: arguments.flag("--fresh"),
            list: arguments.flag("--list"),
            report: arguments.value("--report")?,
            agree: arguments.value("--agree")?,
            with: arguments.value("--with")?,
        };
        arguments.end(HELP)?;
        if options.agree.is_some() != options.with.is_some() {
            bail!("--agree and --with need each other: which two runs?");
        }
        let tools: Vec<&str> = ADAPTERS.iter().map(|adapter| adapter.name()).collect();
        let experiments: Vec<&str> = EXPERIMENTS.iter().map(|experiment| experiment.name).collect();
        for (asked, known, what) in [(&options.only, tools, "tool"), (&options.experiments, experiments, "experiment")]
        {
            if let Some(unknown) = asked.iter().find(|name| !known.contains(&name.as_str())) {
                bail!("unknown {what} `{unknown}`; there are {}", known.join(", "));
            }
        }
        Ok(Some(options))
    }

    pub(super) fn wants_tool(&self, name: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|wanted| wanted == name)
    }

    pub(super) fn wants_experiment(&self, name: &str) -> bool {
        self.experiments.is_empty() || self.experiments.iter().any(|wanted| wanted == name)
    }

    /// Interleaved rounds.
    pub(super) fn rounds(&self) -> u64 {
        self.rounds.unwrap_or(if self.quick { 1 } else { 3 })
    }

    /// After how long no cell is begun.
    pub(super) fn minutes(&self) -> u64 {
        self.minutes.unwrap_or(if self.quick { 15 } else { 150 })
    }

    pub(super) fn loads(&self, experiment: &'static Experiment) -> &'static [Amount] {
        if self.quick { experiment.quick } else { experiment.loads }
    }

    pub(super) fn seconds(&self, experiment: &Experiment) -> u64 {
        experiment.seconds[usize::from(self.quick)]
    }
}

const ROUNDS_MAX: u64 = 100;
const MINUTES_MAX: u64 = 24 * 60;

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Option<Options>> {
        Options::parse(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn arguments() {
        let options = parse("--quick --only wrk,k6-1 --only=ab --experiments delay --minutes 3").unwrap().unwrap();
        assert!(options.quick && options.wants_tool("ab") && !options.wants_tool("hey"));
        assert!(options.wants_experiment("delay") && !options.wants_experiment("static"));
        assert_eq!((options.rounds(), options.minutes()), (1, 3));
        assert!(parse("--help").unwrap().is_none());
        for bad in ["--rounds 0", "--only wget", "--experiments x", "--fast", "--agree a"] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }
}
