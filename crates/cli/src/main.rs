//! The `onrush` program: flags and terminal around the crates that do the work.
//!
//! Nothing here knows JavaScript, HTTP or schedules. `run` is the way through a test, `flags` holds the one table of
//! flags, `terminal` prints everything there is to print.

#![forbid(unsafe_code)]

mod agent;
mod args;
mod attached;
mod authority;
mod banner;
mod cluster;
mod context;
mod control;
mod failure;
mod flags;
mod full_screen;
mod gate;
mod host;
mod labels;
mod line;
mod log;
mod masked;
mod membership;
mod pool;
mod progress;
mod relay;
mod run;
mod save;
mod sharing;
mod signals;
mod target;
mod terminal;
mod tools;
mod unheard;
mod version;

use std::{collections::BTreeMap, panic::AssertUnwindSafe, process};

use onrush_session::ExitCode;

use crate::{
    context::Context,
    failure::Failure,
    flags::{Command, Flags, Invocation},
    terminal::Message,
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
    match Context::new(Flags { env, ..Flags::default() }) {
        Ok(cx) => {
            cx.terminal.stdout(text);
            cx.terminal.flush();
            ExitCode::Success
        }
        Err(failure) => failure.code,
    }
}

fn execute(command: Command, flags: Flags, files: &[String]) -> ExitCode {
    let cx = match Context::new(flags.clone()) {
        Ok(cx) => cx,
        Err(failure) => return without_terminal(&flags, &failure),
    };
    // A panic anywhere is a bug; it has its own exit code and must not look like a failed test.
    let result = std::panic::catch_unwind(AssertUnwindSafe(|| match command {
        Command::Run if flags_on(&cx) => pool::user::run(&cx, files),
        Command::Run => run::run(&cx, files, command),
        Command::Coordinator => coordinator(&cx, files),
        Command::Attach => pool::user::attach(&cx, files),
        Command::Agent => agent::agent(&cx, files),
        Command::Relay => relay::relay(&cx, files),
        Command::Cluster => authority::cluster(&cx, files),
        Command::Check => tools::check(&cx, files),
        Command::Capacity => tools::capacity(&cx, files),
        Command::Selftest => tools::selftest(&cx, files),
        Command::Doctor => tools::doctor(&cx, files),
        Command::Http => tools::http(&cx, files),
        Command::Archive => tools::archive(&cx, files),
        Command::Inspect => tools::inspect(&cx, files),
        Command::New => tools::new(&cx, files),
        Command::Deps => tools::deps(&cx, files),
        Command::Result => tools::result(&cx, files),
        Command::Report => tools::report(&cx, files),
        Command::Compare => tools::compare(&cx, files),
        Command::Grafana => tools::grafana(&cx, files),
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
            if let Some(line) = run::tell_failure(&cx.flags, &failure.message) {
                cx.terminal.send(Message::Stderr(line.into_bytes()));
            }
            failure.code
        }
        Err(_) => ExitCode::Panic,
    };
    cx.terminal.flush();
    code
}

/// The run is for a coordinator elsewhere.
fn flags_on(cx: &Context) -> bool {
    cx.flags.text("on").is_some()
}

/// With a script for that alone; without one for whatever is sent.
fn coordinator(cx: &Context, files: &[String]) -> Result<ExitCode, Failure> {
    match run::run_folder::folder(&cx.flags) {
        Some(folder) => run::submitted::submitted(cx, &folder),
        None if cx.flags.switch("resume")?.unwrap_or(false) => run::resume(cx, files),
        None if files.is_empty() => pool::serve::serve(cx),
        None => run::run(cx, files, Command::Coordinator),
    }
}

/// Says why the program ends when its log could not be set up as wanted.
fn without_terminal(flags: &Flags, failure: &Failure) -> ExitCode {
    let plain = Flags { env: flags.env.clone(), ..Flags::default() };
    let wanted = plain.env.iter().filter(|(name, _)| !name.starts_with("K6_LOG") && *name != "K6_CONSOLE_OUTPUT");
    let plain = Flags { env: wanted.map(|(name, value)| (name.clone(), value.clone())).collect(), ..Flags::default() };
    if let Ok(cx) = Context::new(plain) {
        cx.logger.failure(failure);
        cx.terminal.flush();
    }
    failure.code
}
