//! SIGINT and SIGTERM: the first ends the run in order, the second ends the process.

use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicBool, Ordering},
};

use onrush_session::ExitCode;
use signal_hook::{
    consts::{SIGINT, SIGTERM},
    iterator::Signals,
};

use crate::log::Logger;

/// What the threads of the process know about signals.
#[derive(Default)]
pub(crate) struct Watch {
    /// Somebody will ask for the first signal; otherwise it ends the process at once.
    is_graceful: AtomicBool,
    first: OnceLock<&'static str>,
}

impl Watch {
    /// Starts listening on a thread of its own.
    ///
    /// # Errors
    /// When the system refuses.
    pub(crate) fn start(logger: Arc<Logger>, flush: impl Fn() + Send + 'static) -> std::io::Result<Arc<Self>> {
        let watch = Arc::new(Self::default());
        let mut signals = Signals::new([SIGINT, SIGTERM])?;
        let own = watch.clone();
        std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
            for signal in signals.forever() {
                let name = if signal == SIGINT { "interrupt" } else { "terminated" };
                if own.is_graceful.load(Ordering::Acquire) && own.first.set(name).is_ok() {
                    logger.debug("Stopping Onrush in response to signal...");
                    continue;
                }
                logger.log(
                    crate::log::Level::Error,
                    "Aborting Onrush in response to signal",
                    vec![("sig", name.to_owned())],
                );
                flush();
                exit(ExitCode::ExternalAbort);
            }
        })?;
        Ok(watch)
    }

    /// From now on the first signal is for [`Watch::first`], or, with `false`, no longer.
    pub(crate) fn set_graceful(&self, is_graceful: bool) {
        self.is_graceful.store(is_graceful, Ordering::Release);
    }

    /// The first signal as Go names it, if one came.
    pub(crate) fn first(&self) -> Option<&'static str> {
        self.first.get().copied()
    }
}

#[expect(clippy::exit, reason = "the user asked a second time: nothing may delay the end")]
fn exit(code: ExitCode) -> ! {
    std::process::exit(i32::from(code as u8))
}
