//! Starting and stopping a target.

use std::{
    collections::hash_map::RandomState,
    io,
    net::SocketAddr,
    os::fd::OwnedFd,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
};

use rustix::{
    event::{EventfdFlags, eventfd},
    process::{Resource, Rlimit, getrlimit, setrlimit},
};

use crate::{
    context::{Context, Shared},
    freeze::Freezer,
    listener::listeners,
    options::{THREADS_MAX, TargetOptions},
    record::Record,
    stats::Stats,
    timers::Timers,
    tls::certificate,
    worker::{Parts, Setup},
};

/// File descriptors left to refused connections and the rest of the process.
const FILES_RESERVED: u64 = 256;
/// Connections one thread can number, far beyond what ports and memory allow.
const CONNECTIONS_MAX: u64 = 1 << 31;

/// A running target. Dropping it stops it.
#[derive(Debug)]
pub struct TargetHandle {
    /// Where it listens for plain HTTP.
    pub addr: SocketAddr,
    /// Where it listens for HTTPS, if it does.
    pub tls_addr: Option<SocketAddr>,
    /// The self-made certificate in PEM, if it has one.
    pub certificate_pem: Option<String>,
    stopper: Stopper,
    stats: Stats,
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<io::Result<()>>>,
}

/// Stops a target from anywhere, for example from a signal handler's thread.
#[derive(Clone, Debug)]
pub struct Stopper {
    stop: Arc<AtomicBool>,
    wakers: Arc<[Arc<OwnedFd>]>,
}

/// Starts a target and returns as soon as it listens.
///
/// # Errors
/// `InvalidInput` for an address other machines can reach without
/// [`TargetOptions::allow_remote`], for a number of threads out of range, or for
/// TLS settings that cannot be; otherwise what the system says, such as
/// `AddrInUse`.
pub fn start(options: TargetOptions) -> io::Result<TargetHandle> {
    check(&options)?;
    let threads = options.threads;
    let plain = listeners(options.listen, threads)?;
    let addr = plain[0].local_addr()?;
    let (tls, tls_addr, certificate_pem) = match options.tls_listen {
        None => (Vec::new(), None, None),
        Some(address) => {
            let (config, pem) = certificate(&options.tls, options.http2)?;
            let sockets = listeners(address, threads)?;
            let address = sockets[0].local_addr()?;
            let pairs = sockets.into_iter().map(|socket| (socket, Arc::clone(&config)));
            (pairs.collect(), Some(address), Some(pem))
        }
    };
    let connections_max = connections_max(&options) / threads;
    let shared = Arc::new(Shared {
        delay_ns: u64::try_from(options.delay.as_nanos()).unwrap_or(u64::MAX),
        freezer: options.freeze.and_then(Freezer::new),
        record: options.record.then(Mutex::default),
        http2: options.http2,
        accept_fault: options.accept_fault,
        handshake_fault: options.handshake_fault,
        connections_max: connections_max.max(1),
        buffer_bytes_max: options.limits.buffer_bytes_max / threads,
        secret: RandomState::new(),
        limits: options.limits,
    });
    let stats = Stats::new(threads);
    let wakers = (0..threads)
        .map(|_| Ok(Arc::new(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?)))
        .collect::<io::Result<Vec<_>>>()?;
    let stopper = Stopper { stop: Arc::default(), wakers: wakers.into() };
    let mut handle =
        TargetHandle { addr, tls_addr, certificate_pem, stopper, stats, shared, threads: Vec::with_capacity(threads) };
    let mut tls = tls.into_iter();
    for (index, listener) in plain.into_iter().enumerate() {
        let timers = Timers::new()?;
        let context = Context::new(Arc::clone(&handle.shared), handle.stats.clone(), index, timers);
        let setup = Setup::new(Parts {
            listener,
            tls: tls.next(),
            waker: Arc::clone(&handle.stopper.wakers[index]),
            stop: Arc::clone(&handle.stopper.stop),
            context,
        })?;
        let builder = thread::Builder::new().name(format!("target-{index}"));
        // On an error the handle is dropped, which ends the threads before it.
        let end = StopAll(handle.stopper());
        handle.threads.push(builder.spawn(move || {
            let _end = end;
            setup.into_worker().run()
        })?);
    }
    Ok(handle)
}

fn check(options: &TargetOptions) -> io::Result<()> {
    let invalid = |message: String| Err(io::Error::new(io::ErrorKind::InvalidInput, message));
    if options.threads == 0 || options.threads > THREADS_MAX {
        return invalid(format!("threads must be between 1 and {THREADS_MAX}"));
    }
    if options.freeze.is_some_and(|freeze| Freezer::new(freeze).is_none()) {
        return invalid("a freeze must be shorter than the time from one to the next".to_owned());
    }
    for address in std::iter::once(options.listen).chain(options.tls_listen) {
        if !address.ip().is_loopback() && !options.allow_remote {
            return invalid(format!("{address} can be reached by other machines, which must be allowed"));
        }
    }
    Ok(())
}

fn connections_max(options: &TargetOptions) -> usize {
    if options.limits.connections_max > 0 {
        return options.limits.connections_max;
    }
    let files = getrlimit(Resource::Nofile).current.unwrap_or(CONNECTIONS_MAX);
    usize::try_from(files.saturating_sub(FILES_RESERVED).clamp(1, CONNECTIONS_MAX)).unwrap_or(usize::MAX)
}

/// Raises the process's limit of open files to what the system allows, and returns it. A target takes its connection
/// limit from it when it starts.
///
/// # Errors
/// What the system says; the old limit stays.
pub fn raise_file_limit() -> io::Result<u64> {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
    setrlimit(Resource::Nofile, raised)?;
    Ok(limit.maximum.unwrap_or(u64::MAX))
}

impl TargetHandle {
    /// Requests answered so far.
    pub fn requests(&self) -> u64 {
        self.stats.requests()
    }

    /// Connections open now.
    pub fn connections_open(&self) -> u64 {
        self.stats.connections_open()
    }

    /// What `/stats` answers: counters as a JSON object.
    pub fn stats_json(&self) -> String {
        String::from_utf8_lossy(&self.stats.to_json()).into_owned()
    }

    /// Something that can stop this target from another thread.
    pub fn stopper(&self) -> Stopper {
        self.stopper.clone()
    }

    /// Tells the target to stop: it accepts and answers nothing more, and its
    /// connections are closed. Returns at once; [`TargetHandle::join`] waits.
    pub fn stop(&self) {
        self.stopper.stop();
    }

    /// Waits until the target has stopped.
    ///
    /// # Errors
    /// What ended a thread before it was told to stop.
    pub fn join(mut self) -> io::Result<()> {
        self.wait()
    }

    /// Waits until the target has stopped, and returns what it noted: nothing without [`TargetOptions::record`].
    ///
    /// # Errors
    /// As for [`TargetHandle::join`].
    pub fn finish(mut self) -> io::Result<Record> {
        self.wait()?;
        let Some(all) = &self.shared.record else { return Ok(Record::default()) };
        let mut record = std::mem::take(&mut *all.lock().unwrap_or_else(PoisonError::into_inner));
        record.arrivals.sort_unstable();
        Ok(record)
    }

    fn wait(&mut self) -> io::Result<()> {
        let mut outcome = Ok(());
        for thread in self.threads.drain(..) {
            let ended = thread.join().unwrap_or_else(|_| Err(io::Error::other("target thread panicked")));
            if outcome.is_ok() {
                outcome = ended;
            }
        }
        outcome
    }
}

/// Ends all threads when one ends, however it does: a target that serves on some of its listeners only would look alive
/// and lose connections.
struct StopAll(Stopper);

impl Drop for StopAll {
    fn drop(&mut self) {
        self.0.stop();
    }
}

impl Drop for TargetHandle {
    fn drop(&mut self) {
        self.stop();
        // Nobody is left to be told how it ended.
        let _ = self.wait();
    }
}

impl Stopper {
    /// See [`TargetHandle::stop`].
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Release);
        for waker in self.wakers.iter() {
            // Fails only when the counter is full, and then it wakes as well.
            let _ = rustix::io::write(waker, &1_u64.to_ne_bytes());
        }
    }
}
