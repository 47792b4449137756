//! `--journal FILE`: a coordinator's run is kept while it lasts, so that another process can go on with it (`--resume`), or say
//! what was measured until its coordinator was gone (`onrush result recover`).

use std::{
    fs::{File, OpenOptions, TryLockError},
    io::{self, BufReader, Seek, SeekFrom},
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use onrush_cluster::{Entry, JournalAgent, JournalHead, JournalReader, JournalWriter};
use onrush_fiber::Clock;
use onrush_session::{
    Coordinator, Input, Journal, Notice,
    protocol::{AgentId, Command, Time},
};

use super::bundle::Bundle;
use crate::{
    context::Context,
    failure::Failure,
    flags::{self, Flags},
    log::Logger,
    version,
};

/// What is kept of a run.
pub(crate) enum Kept {
    /// Nothing.
    Nothing,
    /// All of it, in a file that does not exist yet or is of a run that is over.
    Anew(PathBuf),
    /// All of it: it was begun by a coordinator that is gone.
    Before(Box<Before>),
}

/// A run as its coordinator left it.
pub(crate) struct Before {
    path: PathBuf,
    /// Locked while this process goes on with it; `None` for those who only look.
    file: File,
    reader: JournalReader<BufReader<File>>,
}

/// A run that was made again from its journal.
pub(super) struct Repeated {
    /// All that each agent was ever sent.
    pub(super) commands: Vec<Vec<Command>>,
    /// Reports of each that were dealt with.
    pub(super) reports: Vec<u64>,
    /// What the coordinator had to say.
    pub(super) notices: Vec<Notice>,
    /// When it was last there.
    pub(super) at: Time,
    /// How long the file is, up to its last whole entry.
    bytes: u64,
    /// What is wrong with the file behind that.
    pub(super) damage: Option<String>,
}

/// Settings that are the coordinator's, not the test's, and that whoever goes on with the run has as well.
const SETTINGS: [&str; 20] = [
    "agents",
    "wait",
    "on-agent-loss",
    "agent-suspect",
    "agent-silence",
    "agent-lease",
    "out",
    "out-local",
    "report",
    "keep",
    "summary-export",
    "new-machine-readable-summary",
    "fail-on",
    "force",
    "quiet",
    "address",
    "linger",
    "replay",
    "zone",
    "share",
];

/// Settings of the process that goes on: what it is let in with, and how it looks.
const OWN: [&str; 8] =
    ["journal", "verbose", "no-color", "tls", "join-token", "api-token", "api-tls-cert", "api-tls-key"];

/// The setting with the folder of certificates.
const TLS: &str = "tls";

/// The journal of a run that begins, or goes on. Cheap to clone.
#[derive(Clone)]
pub(super) struct JournalFile(Arc<Mutex<State>>);

struct State {
    path: PathBuf,
    /// `None` once it cannot be written.
    writer: Option<JournalWriter<File>>,
    logger: Arc<Logger>,
}

/// What damage in a journal means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Damage {
    /// Nothing is to be done with it.
    Refused,
    /// It ends there: a power cut leaves zeros behind what was written.
    Ends,
}

/// What `--journal` asks for.
///
/// # Errors
/// 255 for a file that must not be overwritten.
pub(crate) fn wanted(flags: &Flags) -> Result<Kept, Failure> {
    let Some(path) = flags.text("journal").map(PathBuf::from) else { return Ok(Kept::Nothing) };
    let refused = |why: &str| Failure::other(format!("--journal {}: {why}", path.display()));
    let file = match File::open(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Kept::Anew(path)),
        Err(error) => return Err(refused(&error.to_string())),
        Ok(file) => file,
    };
    if file.metadata().is_ok_and(|file| file.len() == 0) {
        return Ok(Kept::Anew(path));
    }
    let reader = JournalReader::open(BufReader::new(file));
    let mut reader = reader.map_err(|error| refused(&error.to_string()).hint("choose another file"))?;
    let mut last = None;
    while let Some(entry) = reader.next_entry().map_err(|error| refused(&error.to_string()))? {
        last = Some(entry);
    }
    if last == Some(Entry::Over) {
        return Ok(Kept::Anew(path));
    }
    Err(refused("it is the journal of a run that has not ended")
        .hint("add --resume to go on with it, or remove the file"))
}

/// The run of `--journal`, for a process that goes on with it.
///
/// # Errors
/// 255 when it cannot.
pub(crate) fn before(flags: &Flags) -> Result<Before, Failure> {
    let path = flags.text("journal").map(PathBuf::from);
    let path = path.ok_or_else(|| Failure::other("--resume needs --journal FILE: which run is to go on?"))?;
    let refused = |why: String| Failure::other(format!("the run of {} cannot go on: {why}", path.display()));
    let before = Before::open(&path)?;
    match before.file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Err(refused("its coordinator is still there".to_owned())),
        Err(TryLockError::Error(error)) => return Err(refused(error.to_string())),
    }
    let head = &before.reader.head;
    if head.program != version::VERSION {
        return Err(refused(format!("it was begun by Onrush {}, this is {}", head.program, version::VERSION)));
    }
    if head.boot != boot() || !Clock::continue_from(head.clock_epoch) {
        let why = "the machine was started anew since, or it is another one: its agents have stopped";
        return Err(
            refused(why.to_owned()).hint(format!("onrush result recover {} shows what was measured", path.display()))
        );
    }
    Ok(before)
}

impl Before {
    /// Opens a journal.
    ///
    /// # Errors
    /// 255 when it is none.
    pub(crate) fn open(path: &Path) -> Result<Self, Failure> {
        let failed = |why: String| Failure::other(format!("failed to read the journal {}: {why}", path.display()));
        let file = OpenOptions::new().read(true).write(true).open(path).or_else(|_| File::open(path));
        let file = file.map_err(|error| failed(error.to_string()))?;
        let bytes = BufReader::new(file.try_clone().map_err(|error| failed(error.to_string()))?);
        let reader = JournalReader::open(bytes).map_err(|error| failed(error.to_string()))?;
        Ok(Self { path: path.to_owned(), file, reader })
    }

    /// Where agents dial the coordinator.
    pub(super) fn listen(&self) -> std::net::SocketAddr {
        self.reader.head.listen
    }

    /// Whom it lets in, where a token says that.
    ///
    /// # Errors
    /// 255 when what is in the journal cannot be used.
    pub(super) fn access(&self) -> Result<Option<onrush_cluster::Access>, Failure> {
        self.reader.head.access().map_err(|error| Failure::other(error.to_string()))
    }

    /// What the coordinator knew.
    pub(super) fn head(&self) -> &JournalHead {
        &self.reader.head
    }

    /// The test, as its agents have it.
    pub(super) fn test(&self) -> Arc<[u8]> {
        self.reader.test.as_slice().into()
    }

    /// The test, and the settings that the run had beside it.
    ///
    /// # Errors
    /// 255 when the journal has no test.
    pub(crate) fn settings(&self, own: &Flags) -> Result<(Bundle, Flags), Failure> {
        let bundle = Bundle::read(&self.reader.test)?;
        let mut flags = bundle.flags(own);
        // Whoever sends a test has no REST API of its own; this run had.
        flags.by_name.remove("address");
        for name in OWN {
            flags.by_name.extend(own.text(name).map(|value| (name, vec![value])));
        }
        let settings = self.reader.head.settings.iter();
        // The folder may be elsewhere now, and then somebody says where.
        for (name, values) in settings.filter(|(name, _)| name != TLS || own.text(TLS).is_none()) {
            flags.by_name.extend(flags::find(name).map(|flag| (flag.long, values.clone())));
        }
        Ok((bundle, flags))
    }

    /// Has a coordinator take all that its predecessor took.
    ///
    /// # Errors
    /// 255 for a journal that is damaged, or of a run that is over.
    pub(super) fn repeat(&mut self, coordinator: &mut Coordinator, damage: Damage) -> Result<Repeated, Failure> {
        let path = self.path.clone();
        let failed = |why: String| Failure::other(format!("the run of {} cannot be read: {why}", path.display()));
        let agents = self.reader.head.agents.len();
        let mut repeated = Repeated {
            commands: vec![Vec::new(); agents],
            reports: vec![0; agents],
            notices: Vec::new(),
            at: Time(0),
            bytes: 0,
            damage: None,
        };
        loop {
            let entry = match self.reader.next_entry() {
                Ok(Some(entry)) => entry,
                Ok(None) => break,
                Err(error) if damage == Damage::Ends && repeated.at > Time(0) => {
                    repeated.damage = Some(error.to_string());
                    break;
                }
                Err(error) => return Err(failed(error.to_string())),
            };
            let Entry::Input(at, input) = entry else { return Err(self.is_over()) };
            let from: Vec<AgentId> = match &*input {
                Input::Report { from, .. } => vec![*from],
                Input::Relayed(relayed) => relayed.parts.iter().map(|part| part.agent).collect(),
                _ => Vec::new(),
            };
            for agent in from {
                // The file may say anything.
                let reports = repeated.reports.get_mut(agent.0 as usize);
                *reports.ok_or_else(|| failed(format!("there is no agent {}", agent.0)))? += 1;
            }
            for (AgentId(agent), command) in coordinator.repeat(*input, at) {
                if let Some(commands) = repeated.commands.get_mut(agent as usize) {
                    commands.push(command);
                }
            }
            repeated.notices.extend(coordinator.notices());
            repeated.at = repeated.at.max(at);
        }
        if coordinator.is_over() {
            return Err(self.is_over());
        }
        repeated.bytes = self.reader.bytes();
        Ok(repeated)
    }

    fn is_over(&self) -> Failure {
        Failure::other(format!("the run of {} is over: its coordinator has told its result", self.path.display()))
    }

    /// Whether agents may still be there. The journal of a run that nobody goes on with is as it was, for `result recover`.
    ///
    /// # Errors
    /// 255 when all of them have stopped by themselves.
    pub(super) fn check_lease(&self, repeated: &Repeated, lease: Duration, now: Time) -> Result<(), Failure> {
        let away = now.since(repeated.at);
        if away <= lease {
            return Ok(());
        }
        let (path, away, lease) = (self.path.display(), away.as_secs_f64(), lease.as_secs_f64());
        let why = format!("its coordinator was gone for {away:.1} s, and agents stop after {lease} s (--agent-lease)");
        let hint =
            format!("onrush result recover {path} FILE... shows what was measured, with the files that agents left");
        Err(Failure::other(format!("the run of {path} cannot go on: {why}")).hint(hint))
    }
}

impl JournalFile {
    /// Begins the journal of a run whose agents have joined.
    ///
    /// # Errors
    /// 255 when it cannot be written.
    pub(super) fn begin(cx: &Context, path: &Path, head: &JournalHead, test: &[u8]) -> Result<Self, Failure> {
        let failed =
            |error: io::Error| Failure::other(format!("failed to write the journal {}: {error}", path.display()));
        // It has what lets agents in, and the test.
        let mut options = OpenOptions::new();
        let file = options.write(true).create(true).truncate(true).mode(0o600).open(path).map_err(failed)?;
        file.try_lock().map_err(|error| failed(error.into()))?;
        let writer = JournalWriter::begin(file, head, test).map_err(failed)?;
        Ok(Self::new(cx, path, writer))
    }

    /// Goes on with the journal of a run that was repeated.
    ///
    /// # Errors
    /// 255 when it cannot be written.
    pub(super) fn go_on(cx: &Context, before: Before, repeated: &Repeated) -> Result<Self, Failure> {
        let Before { path, mut file, .. } = before;
        let failed =
            |error: io::Error| Failure::other(format!("failed to write the journal {}: {error}", path.display()));
        // Of what is torn nobody has heard.
        file.set_len(repeated.bytes).map_err(failed)?;
        file.seek(SeekFrom::End(0)).map_err(failed)?;
        Ok(Self::new(cx, &path, JournalWriter::append(file, repeated.bytes)))
    }

    fn new(cx: &Context, path: &Path, writer: JournalWriter<File>) -> Self {
        let state = State { path: path.to_owned(), writer: Some(writer), logger: cx.logger.clone() };
        Self(Arc::new(Mutex::new(state)))
    }

    /// The run is over: nobody is to go on with it.
    pub(super) fn end(&self) {
        self.write(JournalWriter::end);
    }

    fn write(&self, what: impl FnOnce(&mut JournalWriter<File>) -> io::Result<()>) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(writer) = &mut state.writer else { return };
        if let Err(error) = what(writer) {
            state.give_up(&error);
        }
    }
}

impl State {
    /// A journal with a gap would be worse than none: whoever went on with it would wait for reports that are gone.
    fn give_up(&mut self, error: &io::Error) {
        self.writer = None;
        let removed = std::fs::remove_file(&self.path);
        let kept = removed.err().map(|error| format!(", and the file cannot be removed ({error})")).unwrap_or_default();
        self.logger.error(format!(
            "the journal {} cannot be written any more: {error}{kept}; the run goes on without one, and would end with its coordinator",
            self.path.display()
        ));
    }
}

impl Journal for JournalFile {
    fn note(&mut self, input: &Input<'_>, now: Time) {
        self.write(|writer| writer.note(input, now));
    }
}

/// What a journal begins with.
pub(super) fn head(
    cx: &Context,
    listen: std::net::SocketAddr,
    access: &onrush_cluster::Access,
    agents: Vec<JournalAgent>,
    weights: Vec<u64>,
) -> JournalHead {
    let given = SETTINGS.iter().filter_map(|name| {
        let mut values = cx.flags.values(name);
        if values.is_empty() {
            values.extend(cx.flags.text(name));
        }
        (!values.is_empty()).then(|| ((*name).to_owned(), values))
    });
    let mut head = JournalHead::new(listen, access);
    head.program = version::VERSION.to_owned();
    head.boot = boot();
    head.clock_epoch = Clock::epoch();
    // Agents that trust an authority believe no other coordinator, so whoever goes on needs the same certificate.
    let folder = cx.flags.text("tls").and_then(|folder| std::path::absolute(folder).ok());
    let tls = folder.map(|folder| (TLS.to_owned(), vec![folder.display().to_string()]));
    let given = given.chain(tls);
    (head.settings, head.agents, head.weights) = (given.collect(), agents, weights);
    head
}

/// Which start of the machine this is.
fn boot() -> String {
    std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default().trim().to_owned()
}

/// The places of the run's agents. What follows from the last input was perhaps never sent, and is among the commands.
pub(super) fn seats(head: &JournalHead, repeated: &mut Repeated, lost: &[AgentId]) -> Vec<onrush_cluster::Seat> {
    let commands = std::mem::take(&mut repeated.commands).into_iter();
    let agents = head.agents.iter().zip(commands).zip(&repeated.reports).zip(0_u32..);
    let seats = agents.map(|(((agent, commands), reports), number)| onrush_cluster::Seat {
        agent: AgentId(number),
        session: agent.session(),
        reports: *reports,
        commands,
        is_lost: lost.contains(&AgentId(number)),
    });
    seats.collect()
}
