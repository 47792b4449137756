//! From the process's arguments to an [`Invocation`], with k6's words for what is wrong.

use std::{collections::BTreeMap, ffi::OsString};

use clap::{
    ArgMatches,
    error::{ContextKind, ContextValue, ErrorKind},
};

use super::{
    Command, FLAGS, Flag, Flags, Value,
    command::{FILES, HELP, VERSION, parser},
    find,
    help::help,
    values::parse_bool,
};
use crate::failure::Failure;

/// What the user wants.
#[derive(Debug)]
pub(crate) enum Invocation {
    /// Print this and succeed.
    Print(String),
    /// Run a command.
    Do {
        /// Which one.
        command: Command,
        /// Flags and variables.
        flags: Flags,
        /// Positional arguments.
        files: Vec<String>,
    },
}

/// Reads arguments, the program's name first. `env` is the process's environment.
///
/// # Errors
/// Exit code 255, with k6's text.
pub(crate) fn parse(
    args: impl IntoIterator<Item = OsString>,
    env: BTreeMap<String, String>,
) -> Result<Invocation, Failure> {
    let matches = parser().try_get_matches_from(args).map_err(|error| refused(&error))?;
    if matches.get_flag(VERSION) {
        return Ok(Invocation::Print(crate::version::text()));
    }
    let columns = crate::terminal::Look::columns();
    let Some((name, own)) = matches.subcommand() else {
        return Ok(Invocation::Print(help(None, columns)));
    };
    let command = Command::of(name).ok_or_else(|| unknown_command(name))?;
    if own.get_flag(HELP) {
        return Ok(Invocation::Print(help(Some(command), columns)));
    }
    if command == Command::Help {
        let about = match strings(own, FILES).first() {
            Some(name) => Some(Command::of(name).ok_or_else(|| unknown_command(name))?),
            None => None,
        };
        return Ok(Invocation::Print(help(about, columns)));
    }
    let mut by_name = BTreeMap::new();
    for flag in FLAGS.iter() {
        // Some by_name may stand before the command's name.
        let mut values = strings(&matches, flag.long);
        values.extend(strings(own, flag.long));
        if !values.is_empty() {
            by_name.insert(flag.long, values);
        }
    }
    let flags = Flags { by_name, env };
    for flag in FLAGS.iter() {
        check_value(flag, &flags)?;
    }
    Ok(Invocation::Do { command, flags, files: strings(own, FILES) })
}

/// All values of an argument; none where the command does not have it.
fn strings(matches: &ArgMatches, id: &str) -> Vec<String> {
    matches.try_get_many::<String>(id).ok().flatten().map(|values| values.cloned().collect()).unwrap_or_default()
}

/// Switches and whole numbers are checked here, other values by who reads them.
fn check_value(flag: &Flag, flags: &Flags) -> Result<(), Failure> {
    for value in flags.values(flag.long) {
        let (is_valid, function) = match flag.value {
            Value::Switch => (parse_bool(&value).is_some(), "ParseBool"),
            Value::Int => (value.parse::<i64>().is_ok(), "ParseInt"),
            _ => continue,
        };
        if !is_valid {
            return Err(invalid_argument(
                flag,
                &value,
                &format!("strconv.{function}: parsing \"{value}\": invalid syntax"),
            ));
        }
    }
    Ok(())
}

/// k6: `invalid argument "10" for "-d, --duration" flag: …`.
pub(crate) fn invalid_argument(flag: &Flag, value: &str, reason: &str) -> Failure {
    let short = flag.short.map(|short| format!("-{short}, ")).unwrap_or_default();
    Failure::other(format!("invalid argument \"{value}\" for \"{short}--{}\" flag: {reason}", flag.long))
}

/// Commands of k6, past and present, that are none here.
const COMMANDS_OF_K6: [&str; 4] = ["cloud", "features", "login", "x"];

fn unknown_command(name: &str) -> Failure {
    if COMMANDS_OF_K6.contains(&name) {
        return Failure::other(format!("the command \"{name}\" of k6 is not available yet in this version of Onrush"))
            .hint("onrush help lists the commands");
    }
    Failure::other(format!("unknown command \"{name}\" for \"onrush\"")).hint("onrush help lists the commands")
}

/// The parser's error in k6's words.
fn refused(error: &clap::Error) -> Failure {
    let context = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        Some(ContextValue::Strings(texts)) => texts.first().cloned(),
        _ => None,
    };
    let argument = context(ContextKind::InvalidArg).unwrap_or_default();
    let failure = match error.kind() {
        ErrorKind::UnknownArgument if argument.starts_with("--") => {
            Failure::other(format!("unknown flag: {}", argument.split('=').next().unwrap_or_default()))
        }
        ErrorKind::UnknownArgument if argument.starts_with('-') => {
            let short = argument.chars().nth(1).unwrap_or('-');
            Failure::other(format!("unknown shorthand flag: '{short}' in {argument}"))
        }
        ErrorKind::UnknownArgument => unknown_command(&argument),
        ErrorKind::InvalidSubcommand => unknown_command(&context(ContextKind::InvalidSubcommand).unwrap_or_default()),
        // clap shows the argument as `--vus <N>`.
        ErrorKind::InvalidValue | ErrorKind::TooFewValues | ErrorKind::WrongNumberOfValues => {
            Failure::other(format!("flag needs an argument: {}", argument.split(' ').next().unwrap_or_default()))
        }
        _ => {
            // The first paragraph is the error itself, the rest usage.
            let text = error.to_string();
            let first = text.lines().next().unwrap_or_default();
            Failure::other(first.strip_prefix("error: ").unwrap_or(first))
        }
    };
    let suggestion = context(ContextKind::SuggestedArg)
        .or_else(|| context(ContextKind::SuggestedSubcommand))
        .filter(|name| !name.starts_with("--") || find(name.trim_start_matches('-')).is_some());
    // One that other commands have is no slip of the pen.
    let name = argument.split('=').next().unwrap_or_default();
    let flag = name.strip_prefix("--").filter(|_| error.kind() == ErrorKind::UnknownArgument).and_then(find);
    if let Some(flag) = flag {
        let commands: Vec<&str> =
            Command::ALL.iter().filter(|command| command.takes(flag)).map(|command| command.name()).collect();
        return failure.hint(format!("{name} is a flag of onrush {}", commands.join(", ")));
    }
    match suggestion {
        Some(name) => failure.hint(format!("did you mean {name}?")),
        None => failure,
    }
}
