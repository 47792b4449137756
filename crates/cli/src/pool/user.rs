//! `onrush run --on` and `onrush attach`: sending a test to a coordinator that serves many, and following a run there.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    ops::ControlFlow,
    path::{Component, Path},
    sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel},
    time::Duration,
};

use onrush_certificates::Role;
use onrush_cluster::{AgentInfo, Destination, Happened, RunInfo, RunRequest, User, UserError};
use onrush_fiber::Clock;
use onrush_session::ExitCode;

use crate::{
    args::RunArgs,
    cluster,
    context::Context,
    failure::Failure,
    flags::Command,
    membership,
    run::{self, config_file::ConfigFile},
    save::save,
    sharing::Sharing,
    signals::Watch,
    terminal::Message,
    version,
};

/// How often signals are looked for.
const TICK: Duration = Duration::from_millis(100);
/// Things that happened and are not printed yet: with more, the connection waits.
const QUEUE: usize = 64;
/// How long a connection that broke is made again.
const BACK_MAX: Duration = Duration::from_secs(300);
/// Between two attempts.
const PAUSE: Duration = Duration::from_secs(1);
/// Largest file that a run may have for whoever sent it.
const FILE_BYTES_MAX: usize = 1 << 30;

/// Sends a test to the coordinator of `--on` and follows the run to its end.
///
/// # Errors
/// What keeps the test from starting, here or there.
pub(crate) fn run(cx: &Context, files: &[String]) -> Result<ExitCode, Failure> {
    cx.flags.refuse_unavailable(Command::Run)?;
    let to = destination(cx)?;
    let signals = watch(cx)?;
    let request = RunRequest {
        name: files.first().cloned().unwrap_or_default(),
        agents: cluster::wanted(&cx.flags)?,
        zones: Vec::new(),
        wait: cluster::wait(&cx.flags)?,
        is_verbose: cx.flags.switch("verbose")?.unwrap_or(false),
        is_even: false,
    };
    let sharing = Sharing::new(&cx.flags)?;
    let request = RunRequest { zones: sharing.zones, is_even: sharing.is_even, ..request };
    for (flag, why) in
        [("linger", "the agents are for others afterwards"), ("ui", "the coordinator has the numbers it shows")]
    {
        // A variable of the shell's profile is no wish for this run.
        let wanted = if flag == "ui" { cx.flags.values(flag).pop() } else { cx.flags.text(flag) };
        if wanted.is_some_and(|value| value != "false" && value != "board") {
            return Err(Failure::other(format!("--{flag} is not available with --on: {why}")));
        }
    }
    let config = ConfigFile::read(cx)?;
    let args = RunArgs::new(&cx.flags, &config, files)?;
    let ready = run::ready(cx, config, &args)?;
    let test = ready.pack(cx, &args)?;
    drop(ready);
    let user = User::new(to.clone()).map_err(no_means)?;
    let run = user.submit(version::VERSION, &request, &test).map_err(|error| failed(&error))?;
    drop(test);
    cx.logger.info(format!(
        "the test is run {run} on {0}; `onrush attach --on {0} {run}` follows it again, should this end",
        to.coordinator
    ));
    follow(cx, to, &run, &signals, Files::Anywhere)
}

/// Lists runs, or follows one.
///
/// # Errors
/// When the coordinator does not answer, or there is no such run.
pub(crate) fn attach(cx: &Context, files: &[String]) -> Result<ExitCode, Failure> {
    cx.flags.refuse_unavailable(Command::Attach)?;
    let to = destination(cx)?;
    match files {
        [] => {
            let user = User::new(to).map_err(no_means)?;
            let (runs, agents) = user.list().map_err(|error| failed(&error))?;
            cx.terminal.stdout(listed(&runs, &agents));
            Ok(ExitCode::Success)
        }
        [run] => {
            let signals = watch(cx)?;
            // Whether anybody is there shows at once: later it would be tried again for a while.
            User::new(to.clone()).map_err(no_means)?.list().map_err(|error| failed(&error))?;
            follow(cx, to, run, &signals, Files::BelowHere)
        }
        _ => Err(Failure::other(format!("accepts at most 1 arg(s), received {}", files.len()))),
    }
}

/// How to reach the coordinator of `--on`.
///
/// # Errors
/// 255 without an address or what lets users in.
pub(crate) fn destination(cx: &Context) -> Result<Destination, Failure> {
    let on = cx.flags.text("on").ok_or_else(|| Failure::other("--on is missing: where is the coordinator?"))?;
    membership::destination(&cx.flags, &on, Role::User, &mut |warning| cx.logger.warn(warning))
}

fn watch(cx: &Context) -> Result<std::sync::Arc<Watch>, Failure> {
    Watch::start(cx.logger.clone(), cx.terminal.clone())
        .map_err(|error| Failure::other(format!("failed to watch for signals: {error}")))
}

fn no_means(error: std::io::Error) -> Failure {
    Failure::other(format!("failed to set up the connection: {error}"))
}

/// What went wrong with a call, for people.
pub(crate) fn failed(error: &UserError) -> Failure {
    let failure = Failure::other(error.to_string());
    match error {
        UserError::Failed { may_pass: true, .. } => {
            failure.hint("is the coordinator running, and does its port accept connections from here?")
        }
        _ => failure,
    }
}

/// Which files of a run are written here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Files {
    /// All: the test is that of whoever follows.
    Anywhere,
    /// Those of a test that somebody else may have sent: only below the current folder.
    BelowHere,
}

/// What comes from the thread that follows.
enum News {
    Happened(Happened),
    Broke(UserError),
    Back,
    Lost(UserError),
}

fn follow(cx: &Context, to: Destination, run: &str, signals: &Watch, files: Files) -> Result<ExitCode, Failure> {
    let (sender, news) = sync_channel(QUEUE);
    let (own_to, own_run) = (to.clone(), run.to_owned());
    std::thread::Builder::new()
        .name("follow".to_owned())
        .spawn(move || keep_following(own_to, &own_run, &sender))
        .map_err(no_means)?;
    signals.set_graceful(true);
    // `None` where one is longer than it may be.
    let mut parts: BTreeMap<String, Option<Vec<u8>>> = BTreeMap::new();
    let (mut is_stopping, mut not_written) = (false, false);
    loop {
        if !is_stopping && let Some(signal) = signals.first() {
            let again = format!("`onrush attach --on {} {run}` follows it again", to.coordinator);
            if signal == "hangup" {
                let message = format!("left run {run}, which goes on; {again}");
                return Err(Failure::new(ExitCode::ExternalAbort, message));
            }
            is_stopping = true;
            cx.logger.warn(format!("asking run {run} to end; once more, and it is left to itself"));
            let user = User::new(to.clone()).map_err(no_means)?;
            user.stop(run).map_err(|error| failed(&error).hint(again))?;
        }
        match news.recv_timeout(TICK) {
            Ok(News::Happened(Happened::Output(bytes))) => cx.terminal.send(Message::Stdout(bytes)),
            Ok(News::Happened(Happened::Log(bytes))) => cx.terminal.send(Message::Stderr(bytes)),
            Ok(News::Happened(Happened::Skipped(count))) => {
                cx.logger.warn(format!("{count} pieces of what the run said are gone: they were not read in time"));
            }
            Ok(News::Happened(Happened::File { path, data, is_last })) => {
                let part = parts.entry(path.clone()).or_insert_with(|| Some(Vec::new()));
                let is_too_long = part.as_ref().is_none_or(|part| part.len() + data.len() > FILE_BYTES_MAX);
                match part {
                    Some(_) if is_too_long => *part = None,
                    Some(part) => part.extend_from_slice(&data),
                    None => {}
                }
                if is_last {
                    let content = parts.remove(&path).flatten();
                    not_written |= !write(cx, &path, content, files);
                }
            }
            Ok(News::Happened(Happened::End { code })) => {
                let code = ExitCode::of_process(code);
                // Whoever waits for the file must not take an old one, or none, for the result.
                return Ok(if code == ExitCode::Success && not_written { ExitCode::Other } else { code });
            }
            Ok(News::Broke(error)) => {
                // A file is sent again from its beginning.
                parts.clear();
                cx.logger.warn(format!("{error}; trying again, the run goes on"));
            }
            Ok(News::Back) => cx.logger.info("the coordinator is back"),
            Ok(News::Lost(error)) => {
                let again = format!("the run goes on: `onrush attach --on {} {run}` follows it again", to.coordinator);
                return Err(match &error {
                    UserError::Failed { may_pass: true, .. } => Failure::other(error.to_string()).hint(again),
                    _ => failed(&error),
                });
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Err(Failure::other("the thread that follows has ended")),
        }
    }
}

/// Follows a run over one connection after another.
fn keep_following(to: Destination, run: &str, sender: &SyncSender<News>) {
    let Ok(user) = User::new(to) else { return };
    let mut next = 0;
    let mut broken_since = None;
    loop {
        let followed = user.follow(run, &mut next, |happened| {
            if broken_since.take().is_some() && sender.send(News::Back).is_err() {
                return ControlFlow::Break(());
            }
            match sender.send(News::Happened(happened)) {
                Ok(()) => ControlFlow::Continue(()),
                Err(_) => ControlFlow::Break(()),
            }
        });
        // It is over, or nobody wants to know any more.
        let Err(error) = followed else { return };
        let may_pass = matches!(error, UserError::Failed { may_pass: true, .. });
        let news = match broken_since {
            _ if !may_pass => News::Lost(error),
            None => News::Broke(error),
            Some(since) if Clock::now() > since + BACK_MAX => News::Lost(error),
            Some(_) => {
                std::thread::park_timeout(PAUSE);
                continue;
            }
        };
        broken_since = Some(Clock::now());
        let is_lost = matches!(news, News::Lost(_));
        if sender.send(news).is_err() || is_lost {
            return;
        }
        std::thread::park_timeout(PAUSE);
    }
}

/// Writes a file of the run; returns whether it is there.
fn write(cx: &Context, path: &str, content: Option<Vec<u8>>, files: Files) -> bool {
    let is_below = Path::new(path).components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    if files == Files::BelowHere && !is_below {
        cx.logger.warn(format!(
            "{path} was not written: of a run that is attached to, only files below the current folder are"
        ));
        return true;
    }
    let Some(content) = content else {
        cx.logger.error(format!("'{path}' was not written: it has more than {} MiB", FILE_BYTES_MAX >> 20));
        return false;
    };
    match save(path, content) {
        Ok(()) => true,
        Err(error) => {
            cx.logger.error(format!("failed to write '{path}': {error}"));
            false
        }
    }
}

fn listed(runs: &[RunInfo], agents: &[AgentInfo]) -> String {
    let mut text = String::new();
    if runs.is_empty() {
        text.push_str("No runs.\n");
    }
    for run in runs {
        let state = match run.exit_code {
            Some(code) => format!("ended with exit code {code}"),
            None => run.state.clone(),
        };
        let age = run.age.as_secs();
        // Texts have no errors.
        let _ = writeln!(text, "run {}  {}  {state}, {age} s ago, agents: {}", run.run, run.name, run.agents);
    }
    text.push('\n');
    if agents.is_empty() {
        text.push_str("No agents.\n");
    }
    for agent in agents {
        let labels: String = agent.labels.iter().map(|(name, value)| format!("  {name}={value}")).collect();
        let work = agent.run.as_ref().map_or_else(|| "free".to_owned(), |run| format!("in run {run}"));
        let (cores, gib) = (agent.capacity.cores, agent.capacity.memory_bytes >> 30);
        let _ = writeln!(text, "agent {}  {work}, {cores} cores, {gib} GiB{labels}", agent.name);
    }
    text
}
