//! The `onrush` program: flags and terminal around the crates that do the work.
//!
//! Nothing here knows JavaScript, HTTP or schedules. `run` is the way through a test, `flags` holds the one table of
//! flags, `terminal` prints everything there is to print.

#![forbid(unsafe_code)]

mod args;
mod banner;
mod control;
mod failure;
mod flags;
mod gate;
mod line;
mod log;
mod progress;
mod run;
mod save;
mod signals;
mod target;
mod terminal;
mod tools;
mod version;

use std::{collections::BTreeMap, io::Write as _, panic::AssertUnwindSafe, process, sync::Arc};

use onrush_output::loki;
use onrush_session::ExitCode;

use crate::{
    failure::Failure,
    flags::{Command, Given, Invocation},
    line::{Format, Level, Line, Style},
    log::{Logger, destination::Destination},
    run::Surroundings,
    terminal::{LogFile, Look, Sinks, Terminal},
};

fn main() -> process::ExitCode {
    let env = environment();
    let code = match flags::parse(std::env::args_os(), env.clone()) {
        Ok(Invocation::Print(text)) => print(&text, env),
        Ok(Invocation::Do { command, given, files }) => execute(command, given, &files),
        Err(failure) => {
            // No flag can be trusted, so the log has its default look.
            let given = Given { env, ..Given::default() };
            without_terminal(&given, &failure)
        }
    };
    process::ExitCode::from(code as u8)
}

/// The environment; what is not UTF-8 is replaced sign by sign.
fn environment() -> BTreeMap<String, String> {
    std::env::vars_os()
        .map(|(name, value)| (name.to_string_lossy().into_owned(), value.to_string_lossy().into_owned()))
        .collect()
}

fn print(text: &str, env: BTreeMap<String, String>) -> ExitCode {
    match surroundings(Given { env, ..Given::default() }) {
        Ok(around) => {
            around.terminal.stdout(text);
            around.terminal.flush();
            ExitCode::Success
        }
        Err(failure) => failure.code,
    }
}

fn execute(command: Command, given: Given, files: &[String]) -> ExitCode {
    let around = match surroundings(given.clone()) {
        Ok(around) => around,
        Err(failure) => return without_terminal(&given, &failure),
    };
    // A panic anywhere is a bug; it has its own exit code and must not look like a failed test.
    let result = std::panic::catch_unwind(AssertUnwindSafe(|| match command {
        Command::Run => run::run(&around, files),
        Command::Check => tools::check(&around, files),
        Command::Http => tools::http(&around, files),
        Command::Archive => tools::archive(&around, files),
        Command::Inspect => tools::inspect(&around, files),
        Command::New => tools::new(&around, files),
        Command::Deps => tools::deps(&around, files),
        Command::Completion => tools::completion(&around, files),
        Command::Status => control::status(&around, files),
        Command::Stats => control::stats(&around, files),
        Command::Pause => control::pause(&around, files, true),
        Command::Resume => control::pause(&around, files, false),
        Command::Scale => control::scale(&around, files),
        Command::Scenarios => control::scenarios(&around, files),
        Command::Stop => control::stop(&around, files),
        Command::Target => target::target(&around, files),
        Command::Version | Command::Help => {
            around.terminal.stdout(version::text());
            Ok(ExitCode::Success)
        }
    }));
    let code = match result {
        Ok(Ok(code)) => code,
        Ok(Err(failure)) => {
            around.logger.failure(&failure);
            failure.code
        }
        Err(_) => ExitCode::Panic,
    };
    around.terminal.flush();
    code
}

/// The printing thread and the logger, as flags and variables say.
fn surroundings(given: Given) -> Result<Surroundings, Failure> {
    let look = Look::of_process(given.switch("no-color").ok().flatten().unwrap_or(false), &given.env);
    let destination = given.text("log-output").map_or(Ok(Destination::Stderr), |text| Destination::parse(&text))?;
    let open = |path: &str, level, mode| {
        LogFile::open(path, level, mode)
            .map_err(|error| Failure::other(format!("failed to open the log file '{path}': {error}")))
    };
    let file = match &destination {
        Destination::File { path, level } => Some(open(path, *level, 0o600)?),
        _ => None,
    };
    let redactor = Arc::new(onrush_secrets::Redactor::default());
    let loki = match &destination {
        Destination::Loki { config, .. } => Some(loki(config, look, &redactor)?),
        _ => None,
    };
    // k6: an empty path is none.
    let console = given.text("console-output").filter(|path| !path.is_empty());
    let console = console.map(|path| open(&path, Level::Debug, 0o644)).transpose()?;
    let format = given.text("log-format").map_or(Format::Text, |text| Format::parse(&text));
    let is_verbose = given.switch("verbose")?.unwrap_or(false);
    let level = if is_verbose { Level::Debug } else { Level::Info };
    let has_console_file = console.is_some();
    let terminal = Terminal::start(look, Sinks { destination, file, loki, console, format, folds: !is_verbose })
        .map_err(|error| Failure::other(format!("failed to start the printing thread: {error}")))?;
    let logger = Logger::new(terminal.clone(), level, has_console_file, redactor);
    if let Some(wrong) = given.text("log-format").filter(|text| !["text", "json", "raw"].contains(&text.as_str())) {
        // k6: says nothing.
        logger.warn(format!("there is no log format '{wrong}', so it is text: use text, json or raw"));
    }
    Ok(Surroundings { given, logger, terminal, look })
}

/// The connection to Loki. What it has to say about itself goes to stderr: the log's own place is what failed.
fn loki(config: &loki::Config, look: Look, redactor: &Arc<onrush_secrets::Redactor>) -> Result<loki::Loki, Failure> {
    let redactor = redactor.clone();
    let tell = move |text: String| {
        let message = redactor.redact(&text).into_owned();
        let line = Line { level: Level::Warn, message, fields: Vec::new() };
        let style = Style { format: Format::Text, is_terminal: look.stderr_tty, color: look.stderr_tty && look.color };
        // There is nowhere left to say that stderr is closed.
        let _ = std::io::stderr().lock().write_all(style.render(onrush_fiber::Clock::now(), &line).as_bytes());
    };
    loki::Loki::start(config.clone(), tell)
        .map_err(|error| Failure::other(format!("failed to set up the log output to Loki: {error}")))
}

/// Says why the program ends when its log could not be set up as wanted.
fn without_terminal(given: &Given, failure: &Failure) -> ExitCode {
    let plain = Given { env: given.env.clone(), ..Given::default() };
    let wanted = plain.env.iter().filter(|(name, _)| !name.starts_with("K6_LOG") && *name != "K6_CONSOLE_OUTPUT");
    let plain = Given { env: wanted.map(|(name, value)| (name.clone(), value.clone())).collect(), ..Given::default() };
    if let Ok(around) = surroundings(plain) {
        around.logger.failure(failure);
        around.terminal.flush();
    }
    failure.code
}
