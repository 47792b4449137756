//! Has a thread interrupted each time it has computed for a while, by a timer of the kernel's on the thread's own CPU
//! time.
//!
//! A thread that wakes up to look at the others costs each of them two changes of threads: 200 times a second that was
//! 2.4 % of a busy thread's CPU on a virtual machine. A signal to the thread itself costs some 2 µs, and a thread that
//! waits gets none.
#![expect(unsafe_code, reason = "timers and signal handlers have no safe wrapper")]

use std::{io, mem, ptr};

use crate::Nanos;

/// Ignored unless somebody has a handler for it, so one that comes late does no harm; Go uses it for the same.
const SIGNAL: libc::c_int = libc::SIGURG;

/// The timer of one thread; dropping it ends it.
#[derive(Debug)]
pub struct BusyTicks(libc::timer_t);

impl BusyTicks {
    /// Has `look` run on this thread each time the thread has used `period` more of CPU time, or as soon after it as the
    /// kernel looks at the time: at its own ticks, 100 to 1,000 times a second. Where threads have no such timers, it
    /// runs as often by the clock. There is one function for the process: the last one given.
    ///
    /// # Errors
    ///
    /// The system has no timer or no handler to give.
    ///
    /// # Safety
    ///
    /// `look` runs in the middle of whatever the thread does, and may run on any thread: it must only do what a signal
    /// handler may.
    pub unsafe fn start(period: Nanos, look: extern "C" fn(libc::c_int)) -> io::Result<Self> {
        // SAFETY: zeroes are a valid value of it.
        let mut action: libc::sigaction = unsafe { mem::zeroed() };
        action.sa_sigaction = look as *const () as usize;
        // On the thread's stack for signals: that of a fiber may be nearly full.
        action.sa_flags = libc::SA_RESTART | libc::SA_ONSTACK;
        // SAFETY: `action` is whole, and `look` as harmless as the caller promises.
        check(unsafe { libc::sigaction(SIGNAL, &action, ptr::null_mut()) })?;
        // Whoever started this process may have left it blocked.
        mask(libc::SIG_UNBLOCK);
        let timer = Self::create(libc::CLOCK_THREAD_CPUTIME_ID).or_else(|_| Self::create(libc::CLOCK_MONOTONIC))?;
        let period = libc::timespec {
            tv_sec: (period.0 / 1_000_000_000) as libc::time_t,
            tv_nsec: (period.0 % 1_000_000_000) as libc::c_long,
        };
        let setting = libc::itimerspec { it_interval: period, it_value: period };
        // SAFETY: the timer was just made, `setting` lives through the call.
        check(unsafe { libc::timer_settime(timer.0, 0, &setting, ptr::null_mut()) })?;
        Ok(timer)
    }

    fn create(clock: libc::clockid_t) -> io::Result<Self> {
        // SAFETY: zeroes are a valid value of it.
        let mut event: libc::sigevent = unsafe { mem::zeroed() };
        event.sigev_notify = libc::SIGEV_THREAD_ID;
        event.sigev_signo = SIGNAL;
        // SAFETY: asks for a number.
        event.sigev_notify_thread_id = unsafe { libc::gettid() };
        let mut timer = ptr::null_mut();
        // SAFETY: `event` lives through the call, which writes `timer`.
        check(unsafe { libc::timer_create(clock, &mut event, &mut timer) })?;
        Ok(Self(timer))
    }
}

impl Drop for BusyTicks {
    fn drop(&mut self) {
        // SAFETY: made by `create` and not deleted yet.
        unsafe { libc::timer_delete(self.0) };
    }
}

/// Blocks the signal for this thread, or lets it through.
fn mask(how: libc::c_int) {
    // SAFETY: zeroes are a valid value of it, and the calls only read and write the set and this thread's mask.
    unsafe {
        let mut signals: libc::sigset_t = mem::zeroed();
        libc::sigemptyset(&mut signals);
        libc::sigaddset(&mut signals, SIGNAL);
        libc::pthread_sigmask(how, &signals, ptr::null_mut());
    }
}

fn check(result: libc::c_int) -> io::Result<()> {
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use std::{
        sync::atomic::{AtomicU32, Ordering},
        thread,
        time::{Duration, Instant},
    };

    use super::*;

    static LOOKS: AtomicU32 = AtomicU32::new(0);

    extern "C" fn look(_: libc::c_int) {
        LOOKS.fetch_add(1, Ordering::Relaxed);
    }

    fn start() -> BusyTicks {
        // SAFETY: the handler only adds to a number.
        unsafe { BusyTicks::start(Nanos::from_millis(4), look) }.unwrap()
    }

    fn compute_until(is_enough: impl Fn() -> bool) {
        let begin = Instant::now();
        while !is_enough() {
            assert!(begin.elapsed() < Duration::from_secs(60), "{} looks", LOOKS.load(Ordering::Relaxed));
        }
    }

    #[test]
    fn a_thread_that_computes_is_looked_at_and_one_that_sleeps_is_not() {
        thread::spawn(|| {
            mask(libc::SIG_BLOCK);
            let ticks = start();
            compute_until(|| LOOKS.load(Ordering::Relaxed) >= 5);
            // What the thread used before it slept may still count.
            let before = LOOKS.load(Ordering::Relaxed);
            thread::sleep(Duration::from_millis(200));
            assert!(LOOKS.load(Ordering::Relaxed) <= before + 1);
            drop(ticks);
            let ended = LOOKS.load(Ordering::Relaxed);
            let begin = Instant::now();
            compute_until(|| begin.elapsed() > Duration::from_millis(50));
            assert!(LOOKS.load(Ordering::Relaxed) <= ended + 1, "a timer that was dropped goes on");
        })
        .join()
        .unwrap();
    }
}
