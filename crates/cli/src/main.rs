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
    flags::{Command, Flags, Invocation},
    line::{Format, Level, Line, Style},
    log::{Logger, destination::Destination},
    run::Context,
    terminal::{LogFile, Look, Sinks, Terminal},
};

fn main() -> process::ExitCode {
    let env = environment();
    let code = match flags::parse(std::env::args_os(), env.clone()) {
        Ok(Invocation::Print(text)) => print(&text, env),
        Ok(Invocation::Do { command, flags, files }) => execute(command, flags, &files),
        Err(failure) => {
            // No flag can be trusted, so the log has its default look.
            let flags = Flags { env, ..Flags::default() };
            without_terminal(&flags, &failure)
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
    match context(Flags { env, ..Flags::default() }) {
        Ok(cx) => {
            cx.terminal.stdout(text);
            cx.terminal.flush();
            ExitCode::Success
        }
        Err(failure) => failure.code,
    }
}

fn execute(command: Command, flags: Flags, files: &[String]) -> ExitCode {
    let cx = match context(flags.clone()) {
        Ok(cx) => cx,
        Err(failure) => return without_terminal(&flags, &failure),
    };
    // A panic anywhere is a bug; it has its own exit code and must not look like a failed test.
    let result = std::panic::catch_unwind(AssertUnwindSafe(|| match command {
        Command::Run => run::run(&cx, files),
        Command::Check => tools::check(&cx, files),
        Command::Http => tools::http(&cx, files),
        Command::Archive => tools::archive(&cx, files),
        Command::Inspect => tools::inspect(&cx, files),
        Command::New => tools::new(&cx, files),
        Command::Deps => tools::deps(&cx, files),
        Command::Completion => tools::completion(&cx, files),
        Command::Status => control::status(&cx, files),
        Command::Stats => control::stats(&cx, files),
        Command::Pause => control::pause(&cx, files, true),
        Command::Resume => control::pause(&cx, files, false),
        Command::Scale => control::scale(&cx, files),
        Command::Scenarios => control::scenarios(&cx, files),
        Command::Stop => control::stop(&cx, files),
        Command::Target => target::target(&cx, files),
        Command::Version | Command::Help => {
            cx.terminal.stdout(version::text());
            Ok(ExitCode::Success)
        }
    }));
    let code = match result {
        Ok(Ok(code)) => code,
        Ok(Err(failure)) => {
            cx.logger.failure(&failure);
            failure.code
        }
        Err(_) => ExitCode::Panic,
    };
    cx.terminal.flush();
    code
}

/// The printing thread and the logger, as flags and variables say.
fn context(flags: Flags) -> Result<Context, Failure> {
    let look = Look::of_process(flags.switch("no-color").ok().flatten().unwrap_or(false), &flags.env);
    let destination = flags.text("log-output").map_or(Ok(Destination::Stderr), |text| Destination::parse(&text))?;
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
    let console = flags.text("console-output").filter(|path| !path.is_empty());
    let console = console.map(|path| open(&path, Level::Debug, 0o644)).transpose()?;
    let format = flags.text("log-format").map_or(Format::Text, |text| Format::parse(&text));
    let is_verbose = flags.switch("verbose")?.unwrap_or(false);
    let level = if is_verbose { Level::Debug } else { Level::Info };
    let has_console_file = console.is_some();
    let terminal = Terminal::start(look, Sinks { destination, file, loki, console, format, folds: !is_verbose })
        .map_err(|error| Failure::other(format!("failed to start the printing thread: {error}")))?;
    let logger = Logger::new(terminal.clone(), level, has_console_file, redactor);
    if let Some(wrong) = flags.text("log-format").filter(|text| !["text", "json", "raw"].contains(&text.as_str())) {
        // k6: says nothing.
        logger.warn(format!("there is no log format '{wrong}', so it is text: use text, json or raw"));
    }
    Ok(Context { flags, logger, terminal, look })
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
fn without_terminal(flags: &Flags, failure: &Failure) -> ExitCode {
    let plain = Flags { env: flags.env.clone(), ..Flags::default() };
    let wanted = plain.env.iter().filter(|(name, _)| !name.starts_with("K6_LOG") && *name != "K6_CONSOLE_OUTPUT");
    let plain = Flags { env: wanted.map(|(name, value)| (name.clone(), value.clone())).collect(), ..Flags::default() };
    if let Ok(cx) = context(plain) {
        cx.logger.failure(failure);
        cx.terminal.flush();
    }
    failure.code
}
