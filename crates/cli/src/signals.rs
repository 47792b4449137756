//! SIGINT, SIGTERM and SIGHUP: the first ends the run in order, the second ends the process; once the run is over, the next one only
//! ends the wait for outputs, and if it is the second, the process a second later. SIGCONT: the process goes on after it was stopped.
//! SIGQUIT does what it always does, once the terminal is as it was before a view covered it.

use std::{
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, AtomicU64, Ordering},
        mpsc::channel,
    },
    time::Duration,
};

use onrush_fiber::Clock;
use onrush_output::Patience;
use onrush_session::ExitCode;
use signal_hook::{
    consts::{SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXFSZ},
    iterator::Signals,
    low_level::emulate_default_handler,
};

use crate::{
    line::Level,
    log::Logger,
    terminal::{Message, Terminal, view},
};

/// What the threads of the process know about signals.
#[derive(Default)]
pub(crate) struct Watch {
    /// Somebody will ask for the first signal; otherwise it ends the process at once.
    is_graceful: AtomicBool,
    first: OnceLock<&'static str>,
    /// How often the process went on after it was stopped.
    resumed: AtomicU64,
    /// Somebody else decides when the process ends.
    is_led: AtomicBool,
    /// The run is over: the next signal ends the wait for outputs, and changes nothing else.
    is_ending: AtomicBool,
    is_given_up: AtomicBool,
    /// How long outputs were waited for.
    waited_ms: AtomicU64,
}

impl Watch {
    /// Starts listening on a thread of its own.
    ///
    /// # Errors
    /// When the system refuses.
    pub(crate) fn start(logger: Arc<Logger>, terminal: Terminal) -> std::io::Result<Arc<Self>> {
        let watch = Arc::new(Self::default());
        let mut watched = vec![SIGINT, SIGTERM, SIGCONT, SIGXFSZ];
        // `nohup` has it ignored, and means it.
        watched.extend([SIGHUP, SIGQUIT].into_iter().filter(|signal| !is_ignored(*signal)));
        let mut signals = Signals::new(watched)?;
        let own = watch.clone();
        std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
            for signal in signals.forever() {
                let name = match signal {
                    SIGCONT => {
                        own.resumed.fetch_add(1, Ordering::Relaxed);
                        terminal.send(Message::Resumed);
                        continue;
                    }
                    // Whoever writes the file that may not grow any more is told.
                    SIGXFSZ => continue,
                    SIGQUIT => {
                        view::restore_now();
                        // It ends the process, or nothing does.
                        let _ = emulate_default_handler(signal);
                        continue;
                    }
                    SIGINT => "interrupt",
                    SIGHUP => "hangup",
                    _ => "terminated",
                };
                if own.is_led.load(Ordering::Acquire) {
                    continue;
                }
                if own.is_graceful.load(Ordering::Acquire) {
                    if own.is_ending.load(Ordering::Acquire) {
                        // Also where a signal before has ended the test: the summary is still to come.
                        if !own.is_given_up.swap(true, Ordering::AcqRel) {
                            logger.debug("Waiting for outputs no longer in response to signal...");
                            if own.first().is_none() || abort_soon(&logger, name) {
                                continue;
                            }
                        }
                    } else if own.first.set(name).is_ok() {
                        logger.debug("Stopping Onrush in response to signal...");
                        continue;
                    }
                }
                abort(&logger, name);
            }
        })?;
        Ok(watch)
    }

    /// From now on the first signal is for [`Watch::first`], or, with `false`, no longer.
    pub(crate) fn set_graceful(&self, is_graceful: bool) {
        self.is_graceful.store(is_graceful, Ordering::Release);
    }

    /// The run is over. From now on the next signal, if it comes while signals are for [`Watch::first`], ends the wait for outputs only.
    pub(crate) fn set_ending(&self) {
        self.is_ending.store(true, Ordering::Release);
    }

    /// Whether a signal came that ends the wait for outputs.
    pub(crate) fn is_given_up(&self) -> bool {
        self.is_given_up.load(Ordering::Acquire)
    }

    /// Outputs were waited for so long already.
    pub(crate) fn has_waited(&self, length: Duration) {
        self.waited_ms.fetch_add(u64::try_from(length.as_millis()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// How long the rest of the outputs are waited for.
    pub(crate) fn patience(self: &Arc<Self>) -> Patience {
        /// All outputs of a run.
        const ALL: Duration = Duration::from_secs(30);
        /// Whatever those before took.
        const LEAST: Duration = Duration::from_secs(10);
        let waited = Duration::from_millis(self.waited_ms.load(Ordering::Relaxed));
        let own = self.clone();
        Patience {
            silence: ALL,
            until: Clock::now() + ALL.saturating_sub(waited).max(LEAST),
            is_given_up: Arc::new(move || own.is_given_up()),
        }
    }

    /// From now on no signal ends the process: whoever started it gets the same ones, and decides.
    pub(crate) fn leave_to_others(&self) {
        self.is_led.store(true, Ordering::Release);
    }

    /// The first signal as Go names it, if one came.
    pub(crate) fn first(&self) -> Option<&'static str> {
        self.first.get().copied()
    }

    /// How often the process went on after it was stopped.
    pub(crate) fn resumed(&self) -> u64 {
        self.resumed.load(Ordering::Relaxed)
    }
}

/// Ends the process, whatever nobody reads and whatever is still under way.
fn abort(logger: &Logger, signal: &str) -> ! {
    let fields = vec![("sig", signal.to_owned())];
    logger.last_words(Level::Error, "Aborting Onrush in response to signal", fields);
    view::restore_now();
    exit(ExitCode::ExternalAbort)
}

/// Ends the process in a second at the latest: so long the summary may take after a second signal. Returns whether there was a thread
/// left for that.
fn abort_soon(logger: &Arc<Logger>, signal: &'static str) -> bool {
    // The last words take half a second where nobody reads them.
    const SUMMARY: Duration = Duration::from_millis(400);
    let logger = logger.clone();
    let wait = move || {
        let (_kept, never) = channel::<()>();
        let _ = never.recv_timeout(SUMMARY);
        abort(&logger, signal);
    };
    std::thread::Builder::new().name("last-second".to_owned()).spawn(wait).is_ok()
}

/// Whether whoever started the process had a signal ignored: a bit of `SigIgn` in `/proc/self/status`.
fn is_ignored(signal: i32) -> bool {
    std::fs::read_to_string("/proc/self/status").is_ok_and(|status| ignores(&status, signal))
}

fn ignores(status: &str, signal: i32) -> bool {
    let mask = status.lines().find_map(|line| u64::from_str_radix(line.strip_prefix("SigIgn:")?.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

#[expect(clippy::exit, reason = "the user asked a second time: nothing may delay the end")]
fn exit(code: ExitCode) -> ! {
    std::process::exit(i32::from(code as u8))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ignored_signals_are_bits() {
        let check = |mask: &str, expect: bool| {
            assert_eq!(ignores(&format!("Name:\tx\nSigIgn:\t{mask}\n"), SIGHUP), expect, "{mask}");
        };
        check("0000000000000001", true);
        check("0000000000001000", false);
        check("ffffffffffffffff", true);
        check("zz", false);
    }
}
