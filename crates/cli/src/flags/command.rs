//! The command-line parser, built from the table.

use clap::{Arg, ArgAction};

use super::{FLAGS, Flag, Scope, Value};

/// The commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Command {
    /// `onrush run`
    Run,
    /// `onrush coordinator`
    Coordinator,
    /// `onrush agent`
    Agent,
    /// `onrush relay`
    Relay,
    /// `onrush attach`
    Attach,
    /// `onrush cluster`
    Cluster,
    /// `onrush check`
    Check,
    /// `onrush capacity`
    Capacity,
    /// `onrush doctor`
    Doctor,
    /// `onrush selftest`
    Selftest,
    /// `onrush http`
    Http,
    /// `onrush archive`
    Archive,
    /// `onrush inspect`
    Inspect,
    /// `onrush new`
    New,
    /// `onrush deps`
    Deps,
    /// `onrush result`
    Result,
    /// `onrush report`
    Report,
    /// `onrush compare`
    Compare,
    /// `onrush grafana`
    Grafana,
    /// `onrush completion`
    Completion,
    /// `onrush status`
    Status,
    /// `onrush stats`
    Stats,
    /// `onrush pause`
    Pause,
    /// `onrush resume`
    Resume,
    /// `onrush scale`
    Scale,
    /// `onrush scenarios`
    Scenarios,
    /// `onrush stop`
    Stop,
    /// `onrush target`
    Target,
    /// `onrush version`
    Version,
    /// `onrush help`
    Help,
}

impl Command {
    /// All commands, as help lists them.
    pub(crate) const ALL: [Self; 30] = [
        Self::Run,
        Self::Check,
        Self::Doctor,
        Self::Selftest,
        Self::Http,
        Self::New,
        Self::Inspect,
        Self::Archive,
        Self::Deps,
        Self::Result,
        Self::Report,
        Self::Compare,
        Self::Grafana,
        Self::Capacity,
        Self::Status,
        Self::Scenarios,
        Self::Stats,
        Self::Scale,
        Self::Pause,
        Self::Resume,
        Self::Stop,
        Self::Coordinator,
        Self::Agent,
        Self::Relay,
        Self::Attach,
        Self::Cluster,
        Self::Target,
        Self::Completion,
        Self::Version,
        Self::Help,
    ];

    /// The command of this name.
    pub(crate) fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|command| command.name() == name)
    }

    /// Its name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Coordinator => "coordinator",
            Self::Agent => "agent",
            Self::Relay => "relay",
            Self::Attach => "attach",
            Self::Cluster => "cluster",
            Self::Check => "check",
            Self::Capacity => "capacity",
            Self::Doctor => "doctor",
            Self::Selftest => "selftest",
            Self::Http => "http",
            Self::Archive => "archive",
            Self::Inspect => "inspect",
            Self::New => "new",
            Self::Deps => "deps",
            Self::Result => "result",
            Self::Report => "report",
            Self::Compare => "compare",
            Self::Grafana => "grafana",
            Self::Completion => "completion",
            Self::Status => "status",
            Self::Stats => "stats",
            Self::Pause => "pause",
            Self::Resume => "resume",
            Self::Scale => "scale",
            Self::Scenarios => "scenarios",
            Self::Stop => "stop",
            Self::Target => "target",
            Self::Version => "version",
            Self::Help => "help",
        }
    }

    /// What it does, in a few words.
    pub(crate) fn about(self) -> &'static str {
        match self {
            Self::Run => "Run a k6 script",
            Self::Coordinator => "Run a k6 script on agents that join from other machines, or serve runs",
            Self::Agent => "Join a coordinator and run shares of its tests",
            Self::Relay => "Stand between many agents and their coordinator, and add up what they measure",
            Self::Attach => "Follow a run of a coordinator that serves many, or list its runs",
            Self::Cluster => "Make certificates for coordinators, agents and users",
            Self::Check => "Check a script, its options and what it needs without sending a request",
            Self::Capacity => "Search for the highest load that holds its goals",
            Self::Selftest => "Measure what this machine can do as a generator",
            Self::Doctor => "Check whether this machine is fit for a test, and what mends it",
            Self::Http => "Load one URL without writing a script",
            Self::Archive => "Bundle a script and everything it needs into one file",
            Self::Inspect => "Print the options of a script or archive as JSON",
            Self::New => "Create a new script",
            Self::Deps => "List the modules a script imports",
            Self::Result => "Show or export what a run kept with --out result or --keep",
            Self::Report => "Make an HTML report of a result file, or of an exported summary",
            Self::Compare => "Compare two runs: faster, slower, the same, or too noisy to tell",
            Self::Grafana => "Print a dashboard for Grafana",
            Self::Completion => "Print a shell completion script",
            Self::Status => "Show the status of the running test",
            Self::Stats => "Show the metrics of the running test",
            Self::Pause => "Pause the running test",
            Self::Resume => "Resume a paused test",
            Self::Scale => "Change the VUs or the rate of a running scenario",
            Self::Scenarios => "List the scenarios of the running test",
            Self::Stop => "Stop the running test",
            Self::Target => "Start the built-in server to test against",
            Self::Version => "Print the version",
            Self::Help => "Show help for a command",
        }
    }

    /// Whether it talks to a running test.
    pub(super) fn is_control(self) -> bool {
        matches!(
            self,
            Self::Status | Self::Stats | Self::Scenarios | Self::Pause | Self::Resume | Self::Scale | Self::Stop
        )
    }

    /// Whether the flag means something to it.
    pub(crate) fn takes(self, flag: &Flag) -> bool {
        // A coordinator runs tests itself.
        if (self, flag.long) == (Self::Coordinator, "on") {
            return false;
        }
        // The command line of a run with `check` in the place of `run` checks just that run.
        if matches!(self, Self::Check | Self::Doctor | Self::Capacity | Self::Coordinator) && Self::Run.takes(flag) {
            return true;
        }
        if self.is_control() && OF_USERS.contains(&flag.long) {
            return true;
        }
        if self == Self::Http && OF_HTTP.contains(&flag.long)
            || self == Self::Result && OF_RESULTS.contains(&flag.long)
            || self == Self::Report && OF_REPORTS.contains(&flag.long)
            || self == Self::Compare && OF_COMPARISONS.contains(&flag.long)
        {
            return true;
        }
        match flag.scope {
            Scope::All => true,
            Scope::Both => matches!(self, Self::Run | Self::Target),
            Scope::Run => self == Self::Run,
            Scope::Option => matches!(self, Self::Run | Self::Archive),
            Scope::OptionAndScale => matches!(self, Self::Run | Self::Archive | Self::Scale),
            Scope::Load => matches!(self, Self::Run | Self::Archive | Self::Inspect | Self::Deps),
            Scope::Only(command) => self == command,
            Scope::Several(commands) => commands.contains(&self),
            Scope::RunAndControl => self == Self::Run || self.is_control(),
            Scope::Control => self.is_control(),
        }
    }
}

/// Flags that say which run of which coordinator is meant.
const OF_USERS: [&str; 4] = ["on", "run", "user-token", "tls"];

/// Flags of `run` that mean the same to `http`.
const OF_HTTP: [&str; 23] = [
    "api-token",
    "dns",
    "duration",
    "fail-on",
    "force",
    "http-debug",
    "http2-prior-knowledge",
    "insecure-skip-tls-verify",
    "keep",
    "latency",
    "local-ips",
    "max-redirects",
    "no-connection-reuse",
    "open",
    "out",
    "own-delay",
    "report",
    "response-body-limit",
    "summary-export",
    "tag",
    "threads",
    "tls-session-resumption",
    "user-agent",
];

/// Flags of `run` that mean the same to `result`: of what it shows, and of what it exports for Prometheus.
const OF_RESULTS: [&str; 5] = ["summary-export", "summary-mode", "summary-time-unit", "summary-trend-stats", "tag"];

/// Flags of `run` that mean the same to `report`.
const OF_REPORTS: [&str; 2] = ["summary-time-unit", "summary-trend-stats"];

/// Flags of `run` that `compare` has as well: there they are about the comparison.
const OF_COMPARISONS: [&str; 1] = ["fail-on"];

/// Where positional arguments are found.
pub(crate) const FILES: &str = "FILE";
/// Switches of the parser's own.
pub(super) const HELP: &str = "help";
pub(super) const VERSION: &str = "version";

/// The parser. Help is not its business, see [`super::help`].
pub(crate) fn parser() -> clap::Command {
    // Only the command that is used gets its flags: there are hundreds in all.
    commands(arg, |command| command.defer(|command| with_flags(command, arg)))
}

/// The same for shells that complete what is typed: there a switch takes nothing, although `--quiet=false` is understood.
pub(crate) fn parser_for_completion() -> clap::Command {
    commands(completed, |command| with_flags(command, completed))
}

/// `of_command` adds a command's own flags.
fn commands(arg: fn(&'static Flag) -> Arg, of_command: fn(clap::Command) -> clap::Command) -> clap::Command {
    let switch = |name: &'static str| Arg::new(name).long(name).action(ArgAction::SetTrue);
    let root = clap::Command::new("onrush")
        .disable_help_flag(true)
        .disable_help_subcommand(true)
        .arg(switch(HELP).short('h').global(true))
        .arg(switch(VERSION))
        .args(FLAGS.iter().filter(|flag| flag.scope == Scope::All).map(|flag| short(arg(flag), flag.short)));
    Command::ALL.into_iter().fold(root, |root, command| {
        root.subcommand(of_command(clap::Command::new(command.name()).about(command.about())))
    })
}

fn with_flags(parser: clap::Command, arg: fn(&'static Flag) -> Arg) -> clap::Command {
    let Some(command) = Command::of(parser.get_name()) else { return parser };
    let own = FLAGS.iter().filter(|flag| command.takes(flag));
    let own = own.map(|flag| short(arg(flag), flag.short_for(command)));
    parser.args(own).arg(Arg::new(FILES).num_args(0..))
}

fn completed(flag: &'static Flag) -> Arg {
    match flag.value {
        Value::Switch => named(flag).action(ArgAction::SetTrue),
        _ => arg(flag),
    }
}

fn short(arg: Arg, short: Option<char>) -> Arg {
    match short {
        Some(short) => arg.short(short),
        None => arg,
    }
}

fn named(flag: &'static Flag) -> Arg {
    Arg::new(flag.long).long(flag.long).help(flag.help)
}

fn arg(flag: &'static Flag) -> Arg {
    let arg = named(flag).action(ArgAction::Append);
    let optional =
        |arg: Arg, missing: &'static str| arg.num_args(0..=1).require_equals(true).default_missing_value(missing);
    match flag.value {
        Value::Switch => optional(arg, "true"),
        Value::Optional(_) => optional(arg, "headers"),
        // k6: what follows a flag with a value is its value, whatever it looks like.
        Value::Int | Value::Duration | Value::Text(_) | Value::Repeated(_) => arg.num_args(1).allow_hyphen_values(true),
    }
}
