//! `onrush coordinator` without a script: agents stay, users send tests, and each run has a coordinator in a process of its
//! own, which can neither harm the others nor leave anything behind.

use std::{
    collections::BTreeMap,
    fs::{self, DirBuilder},
    io::Read,
    os::unix::{fs::DirBuilderExt as _, process::CommandExt as _},
    path::{Path, PathBuf},
    process::{Child, Stdio},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        mpsc::{RecvTimeoutError, channel},
    },
    time::Duration,
};

use onrush_cluster::{Access, Place, Pool, PoolConfig, PoolEvent, PoolLimits, RunOrder, Token, agents_text};
use onrush_session::ExitCode;

use crate::{
    attached, cluster,
    context::Context,
    failure::Failure,
    flags::{Command, FLAGS, Flags, Group},
    membership,
    run::{how, run_folder},
    save,
    sharing::Sharing,
    signals::Watch,
    version,
};

/// How often signals and processes are looked after.
const TICK: Duration = Duration::from_millis(50);
/// How long agents that were free may take to join the coordinator of their run.
const JOIN_MAX: &str = "60s";
/// Read at once of what a run prints.
const CHUNK: usize = 16 << 10;

/// Serves runs until a signal comes.
///
/// # Errors
/// When it cannot listen, or was ended by a signal.
pub(crate) fn serve(cx: &Context) -> Result<ExitCode, Failure> {
    cx.flags.refuse_unavailable(Command::Coordinator)?;
    refuse_flags_of_a_test(&cx.flags)?;
    let listen = cluster::listen(&cx.flags)?;
    let access = membership::access(&cx.flags, listen, true, &mut |warning| cx.logger.warn(warning))?;
    let signals = Watch::start(cx.logger.clone(), cx.terminal.clone())
        .map_err(|error| Failure::other(format!("failed to watch for signals: {error}")))?;
    let folder = Folder::new()?;
    let (sender, events) = channel();
    let config = PoolConfig {
        listen,
        access: access.clone(),
        program: version::VERSION.to_owned(),
        folder: folder.0.clone(),
        limits: PoolLimits::default(),
    };
    let pool = Pool::listen(config, move |event| {
        // The loop only goes away when the process is about to end.
        let _ = sender.send(event);
    });
    let pool = Arc::new(pool.map_err(|error| cluster::not_listening(&error))?);
    cx.terminal.stdout(invitation(&cx.flags, &pool, &access));
    signals.set_graceful(true);
    let mut runs: BTreeMap<u64, RunProcess> = BTreeMap::new();
    let mut is_ending = false;
    loop {
        if !is_ending && let Some(signal) = signals.first() {
            is_ending = true;
            let count = runs.values().filter(|run| !run.is_over()).count();
            if count > 0 {
                cx.logger.warn(format!("received a '{signal}' signal: {count} running tests are being ended"));
            }
            runs.values().for_each(RunProcess::interrupt);
        }
        runs.retain(|_, run| !run.is_over());
        if is_ending && runs.is_empty() {
            return Err(Failure::new(ExitCode::ExternalAbort, "no more runs are served: Onrush received a signal"));
        }
        match events.recv_timeout(TICK) {
            Ok(PoolEvent::Start(order)) if is_ending => pool.end(order.run, ExitCode::ExternalAbort as u8, Vec::new()),
            Ok(PoolEvent::Start(order)) => {
                let RunOrder { run, request } = &order;
                let run = *run;
                let agents = agents_text(request.agents);
                cx.logger.info(format!("run {run} ({}) starts on {agents}", request.name));
                match RunProcess::start(cx, &pool, &order) {
                    Ok(process) => drop(runs.insert(run, process)),
                    Err(error) => {
                        let text = format!("failed to start the coordinator of the run: {error}\n");
                        pool.log(run, text.into_bytes());
                        pool.end(run, ExitCode::Other as u8, Vec::new());
                    }
                }
            }
            Ok(PoolEvent::Stop { run }) => {
                cx.logger.info(format!("run {run} is being ended, as a user asked"));
                if let Some(run) = runs.get(&run) {
                    run.interrupt();
                }
            }
            Ok(PoolEvent::Note(text)) => cx.logger.info(text),
            Ok(PoolEvent::Refused { peer, why }) => cx.logger.warn(format!("refused {}: {why}", peer.ip())),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
        }
    }
}

/// Whoever gives them has forgotten the script.
///
/// # Errors
/// 255 with the first flag that is for nothing here.
fn refuse_flags_of_a_test(flags: &Flags) -> Result<(), Failure> {
    const OF_A_RUN: [&str; 5] = ["agents", "zone", "share", "on-agent-loss", "journal"];
    let is_of_a_test = |group: Group| matches!(group, Group::Load | Group::Script | Group::Http | Group::Results);
    let given = FLAGS.iter().filter(|flag| !flags.values(flag.long).is_empty());
    match given.into_iter().find(|flag| is_of_a_test(flag.group) || OF_A_RUN.contains(&flag.long)) {
        None => Ok(()),
        Some(flag) => Err(Failure::other(format!("--{} is for a test, and no script is named", flag.long))
            .hint("name the script to run it on agents; without one the coordinator serves runs that are sent to it")),
    }
}

/// How agents join and users send tests.
fn invitation(flags: &Flags, pool: &Pool, access: &Access) -> String {
    let address = pool.address;
    let at = cluster::reachable(address);
    let line = |(name, flag): (&str, &str), token: Option<&Token>, command: &str, role: &str| match token {
        Some(token) => format!("  {name}={} onrush {command}\n", membership::told(flags, flag, token)),
        None => format!("  onrush {command} --tls {role}_FOLDER\n"),
    };
    format!(
        "Serving runs on {address}. On each machine that makes load:\n\n{}\nTo run a test from anywhere:\n\n{}\n",
        line(("ONRUSH_JOIN_TOKEN", "join-token"), access.agent_token(), &format!("agent --join {at}"), "AGENT"),
        line(
            ("ONRUSH_USER_TOKEN", "user-token"),
            access.user_token(),
            &format!("run --on {at} --agents 2 script.js"),
            "USER"
        ),
    )
}

/// Where tests and files are kept; goes with the process.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Result<Self, Failure> {
        // One that was killed leaves its folder behind, and process numbers come again.
        let path = std::env::temp_dir().join(format!("onrush-coordinator-{}", Token::random()));
        DirBuilder::new()
            .mode(0o700)
            .create(&path)
            .map_err(|error| Failure::other(format!("failed to make the folder {}: {error}", path.display())))?;
        Ok(Self(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What cannot be removed is in the system's folder for temporary files.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The coordinator of a run.
struct RunProcess {
    child: Arc<Mutex<Child>>,
    thread: std::thread::JoinHandle<()>,
}

impl RunProcess {
    fn start(cx: &Context, pool: &Arc<Pool>, order: &RunOrder) -> std::io::Result<Self> {
        let (run, request) = (order.run, &order.request);
        let folder = pool.folder(run);
        let secret = Token::random().to_string();
        let api_token = Token::random().to_string();
        let mut process = attached::program()?;
        process
            .args(["coordinator", "--listen", "127.0.0.1:0", "--address", "127.0.0.1:0", "--wait", JOIN_MAX])
            .args(["--agents", &request.agents.to_string()])
            .args(Sharing::zones_text(&request.zones).iter().flat_map(|zones| ["--zone", zones.as_str()]))
            .args(["--share", if request.is_even { "even" } else { "capacity" }])
            .args(request.is_verbose.then_some("--verbose"))
            .env(run_folder::FOLDER, &folder)
            .env("ONRUSH_JOIN_TOKEN", &secret)
            .env("ONRUSH_API_TOKEN", &api_token)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // The terminal's signals are for this process, which decides.
            .process_group(0);
        let mut child = process.spawn()?;
        let reading = |name: &str, source: Option<Box<dyn Read + Send>>, say: fn(&Pool, u64, Vec<u8>)| {
            let pool = pool.clone();
            std::thread::Builder::new().name(format!("{name} {run}")).spawn(move || {
                let Some(mut source) = source else { return };
                let mut chunk = vec![0; CHUNK];
                while let Ok(length @ 1..) = source.read(&mut chunk) {
                    say(&pool, run, chunk[..length].to_vec());
                }
            })
        };
        let output = child.stdout.take().map(|output| Box::new(output) as Box<dyn Read + Send>);
        let log = child.stderr.take().map(|log| Box::new(log) as Box<dyn Read + Send>);
        let stdin = child.stdin.take();
        let child = Arc::new(Mutex::new(child));
        let (own, pool, logger) = (child.clone(), pool.clone(), cx.logger.clone());
        let readers = reading("output", output, Pool::output).and_then(|output| {
            let log = reading("log", log, Pool::log)?;
            Ok([output, log])
        });
        let readers = readers.inspect_err(|_| drop(locked(&child).kill()))?;
        let thread = std::thread::Builder::new().name(format!("run {run}")).spawn(move || {
            // It lives as long as this.
            let _stdin = stdin;
            let status = loop {
                if let Ok(Some(status)) = locked(&own).try_wait() {
                    break status;
                }
                if let Some(place) = place(&folder, &secret, &api_token) {
                    pool.begin(run, place);
                    // Once is enough, and what it says twice does no harm.
                    let _ = fs::remove_file(folder.join(run_folder::HUB));
                }
                std::thread::park_timeout(TICK);
            };
            for reader in readers {
                // A panic there has been printed.
                let _ = reader.join();
            }
            let code = status.code().and_then(|code| u8::try_from(code).ok());
            if code.is_none() {
                pool.log(run, format!("the coordinator of the run ended ({})\n", how(status)).into_bytes());
            }
            let code = code.unwrap_or(ExitCode::Other as u8);
            pool.end(run, code, save::kept_in(&folder.join(run_folder::FILES)));
            // The test is over; what it printed is remembered for a while.
            let _ = fs::remove_file(folder.join(run_folder::TEST));
            logger.info(format!("run {run} is over with exit code {code}"));
        })?;
        Ok(Self { child, thread })
    }

    /// Asks it to end in order.
    fn interrupt(&self) {
        attached::interrupt(&mut locked(&self.child));
    }

    fn is_over(&self) -> bool {
        self.thread.is_finished()
    }
}

/// Where the coordinator of a run takes agents, once it does.
fn place(folder: &Path, secret: &str, api_token: &str) -> Option<Place> {
    let address = |name: &str| fs::read_to_string(folder.join(name)).ok()?.parse().ok();
    let api = || Some((address(run_folder::API)?, api_token.to_owned()));
    Some(Place { hub: address(run_folder::HUB)?, secret: secret.to_owned(), api: api() })
}

fn locked(child: &Mutex<Child>) -> MutexGuard<'_, Child> {
    child.lock().unwrap_or_else(PoisonError::into_inner)
}
