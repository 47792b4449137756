//! Processes of ours that live only as long as the one that started them.

use std::{
    io::Read as _,
    process::{Child, Command as Process, Stdio},
};

use onrush_session::ExitCode;

use crate::{failure::Failure, flags::FLAGS};

/// Whoever started this process holds the other end of its standard input: when that is closed, nobody needs the process any
/// more, whatever it does.
///
/// # Errors
/// When no thread can be had.
pub(crate) fn end_with_stdin() -> Result<(), Failure> {
    let wait = || {
        let mut stdin = std::io::stdin().lock();
        while !matches!(stdin.read(&mut [0; 64]), Ok(0) | Err(_)) {}
        exit();
    };
    let thread = std::thread::Builder::new().name("stdin".to_owned()).spawn(wait);
    thread.map(drop).map_err(|error| Failure::other(format!("failed to watch the standard input: {error}")))
}

#[expect(clippy::exit, reason = "there is no coordinator any more: nothing may go on making load")]
fn exit() {
    std::process::exit(i32::from(ExitCode::AgentLost as u8))
}

/// This program again, in an environment where no setting of this process counts: the test has those it needs.
///
/// # Errors
/// When this program cannot be found any more.
pub(crate) fn program() -> std::io::Result<Process> {
    let mut process = Process::new(std::env::current_exe()?);
    FLAGS.iter().filter_map(|flag| flag.env).for_each(|name| {
        process.env_remove(name);
    });
    process.stdin(Stdio::piped());
    Ok(process)
}

/// Asks a process that has not been waited for to end in order.
pub(crate) fn interrupt(child: &mut Child) {
    // Once it has been waited for, its number may be somebody else's.
    if matches!(child.try_wait(), Ok(None))
        && let Some(pid) = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw)
    {
        // It may end at this moment.
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::INT);
    }
}
