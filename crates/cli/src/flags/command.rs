//! The command-line parser, built from the table.

use clap::{Arg, ArgAction, builder::StyledStr};

use super::{FLAGS, Flag, Scope, Value};

/// The commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Command {
    /// `onrush run`
    Run,
    /// `onrush target`
    Target,
    /// `onrush version`
    Version,
}

impl Command {
    /// The command of this name.
    pub(crate) fn of(name: &str) -> Option<Self> {
        match name {
            "run" => Some(Self::Run),
            "target" => Some(Self::Target),
            "version" => Some(Self::Version),
            _ => None,
        }
    }

    fn takes(self, flag: &Flag) -> bool {
        match flag.scope {
            Scope::All => true,
            Scope::Both => self != Self::Version,
            Scope::Run => self == Self::Run,
            Scope::Target => self == Self::Target,
        }
    }
}

/// Where positional arguments are found.
pub(crate) const FILES: &str = "FILE";

/// The parser.
pub(crate) fn command() -> clap::Command {
    let root = clap::Command::new("onrush")
        .about("Load testing with k6 scripts: more load per machine, numbers to trust")
        .after_help(ROOT_EXAMPLES)
        .subcommand_required(false)
        .disable_version_flag(true)
        .arg(Arg::new("version").long("version").action(ArgAction::SetTrue).help("Print the version"))
        .args(FLAGS.iter().filter(|flag| flag.scope == Scope::All).map(|flag| arg(flag).global(true)));
    let files = Arg::new(FILES).num_args(0..).hide(true);
    let run = clap::Command::new("run")
        .about("Run a k6 script; - reads it from standard input")
        .override_usage("onrush run [FLAGS] FILE|-")
        .after_help(RUN_EXAMPLES)
        .args(own(Command::Run))
        .arg(files.clone());
    let target = clap::Command::new("target")
        .about("Run the built-in system under test: a demo site and httpbin-like endpoints, until Ctrl+C")
        .override_usage("onrush target [FLAGS]")
        .after_help(TARGET_EXAMPLES)
        .args(own(Command::Target))
        .arg(files.clone());
    let version = clap::Command::new("version").about("Print the version").arg(files);
    root.subcommands([run, target, version])
}

fn own(command: Command) -> impl Iterator<Item = Arg> {
    FLAGS.iter().filter(move |flag| flag.scope != Scope::All && command.takes(flag)).map(arg)
}

fn arg(flag: &'static Flag) -> Arg {
    let arg = Arg::new(flag.long)
        .long(flag.long)
        .help(help(flag))
        .help_heading(flag.group.heading())
        .action(ArgAction::Append)
        .display_order(FLAGS.iter().position(|other| other.long == flag.long).unwrap_or(0));
    let arg = match flag.short {
        Some(short) => arg.short(short),
        None => arg,
    };
    // k6: what follows a flag with a value is its value, whatever it looks like.
    let valued = |arg: Arg, name: &'static str| arg.num_args(1).value_name(name).allow_hyphen_values(true);
    let optional = |arg: Arg, missing: &'static str| arg.num_args(0..=1).require_equals(true).default_missing_value(missing);
    match flag.value {
        Value::Switch => optional(arg, "true").hide_possible_values(true).value_name(""),
        Value::Optional(name) => optional(arg, "headers").value_name(name),
        Value::Int => valued(arg, "N"),
        Value::Duration => valued(arg, "DURATION"),
        Value::Text(name) | Value::Repeated(name) => valued(arg, name),
    }
}

fn help(flag: &Flag) -> StyledStr {
    match flag.env {
        Some(env) => format!("{} [{env}]", flag.help).into(),
        None => flag.help.into(),
    }
}

const ROOT_EXAMPLES: &str = "\
Examples:
  onrush target                            start the built-in system under test
  onrush run --vus 10 --duration 30s script.js
  onrush help run                          all flags of run";

const RUN_EXAMPLES: &str = "\
Options come from, later ones winning: defaults, the config file, the script's `options`, K6_* variables, flags.

Exit codes: 0 passed · 99 thresholds crossed · 104 invalid configuration · 105 interrupted · 107 script exception
            108 aborted by the script · 110 failed by the script · 255 anything else

Examples:
  onrush run script.js                     as the script's options say
  onrush run -u 100 -d 1m script.js        100 VUs for one minute
  onrush run -s 30s:500 -s 2m:500 -s 10s:0 script.js
                                           ramp up to 500 VUs, stay, ramp down
  onrush run -e BASE_URL=http://127.0.0.1:8080 script.js
                                           the script reads __ENV.BASE_URL
  onrush run --summary-export result.json script.js
  cat script.js | onrush run -";

const TARGET_EXAMPLES: &str = "\
Examples:
  onrush target                            http://127.0.0.1:8080
  onrush target --listen 127.0.0.1:0 --delay 20ms
  onrush target --tls-listen 127.0.0.1:8443 --certificate-out cert.pem";
