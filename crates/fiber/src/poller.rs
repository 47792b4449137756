//! The kernel's events: a thin layer over epoll, edge-triggered.
#![expect(unsafe_code, reason = "epoll_pwait2 has no safe wrapper that always passes nanoseconds")]

use std::{
    cell::{Cell, RefCell},
    io,
    os::fd::{AsFd, AsRawFd, OwnedFd},
    ptr,
};

use rustix::event::epoll;

use crate::clock::Nanos;

/// Events taken from the kernel at once.
const EVENTS_PER_POLL: usize = 1024;
/// Room for the largest wait the kernel takes in milliseconds.
const MILLIS_MAX: u64 = i32::MAX as u64;

/// What the kernel said about a registered descriptor.
#[derive(Clone, Copy)]
pub(crate) struct Event {
    pub(crate) token: u64,
    /// `EPOLL*` bits.
    pub(crate) bits: u32,
}

pub(crate) struct Poller {
    epoll: OwnedFd,
    events: RefCell<Vec<libc::epoll_event>>,
    /// Cleared when the kernel (or a sandbox) does not know epoll_pwait2 (Linux before 5.11).
    has_pwait2: Cell<bool>,
}

impl Poller {
    pub(crate) fn new() -> io::Result<Poller> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let events = RefCell::new(Vec::with_capacity(EVENTS_PER_POLL));
        Ok(Poller { epoll, events, has_pwait2: Cell::new(true) })
    }

    /// Registers a socket for its whole life: reads, writes, the peer's close. Closing it unregisters it.
    pub(crate) fn add_socket(&self, fd: impl AsFd, token: u64) -> io::Result<()> {
        use epoll::EventFlags as F;
        self.add(fd, token, F::IN | F::OUT | F::RDHUP | F::ET)
    }

    /// Registers a descriptor that only wakes the thread up. Being edge-triggered, it is never read.
    pub(crate) fn add_wakeup(&self, fd: impl AsFd, token: u64) -> io::Result<()> {
        self.add(fd, token, epoll::EventFlags::IN | epoll::EventFlags::ET)
    }

    fn add(&self, fd: impl AsFd, token: u64, flags: epoll::EventFlags) -> io::Result<()> {
        Ok(epoll::add(&self.epoll, fd, epoll::EventData::new_u64(token), flags)?)
    }

    /// Waits for events for at most `timeout` (`None`: until there is one) and hands each to
    /// `handle`. An interrupted wait is a wait without events.
    pub(crate) fn wait(&self, timeout: Option<Nanos>, mut handle: impl FnMut(Event)) -> io::Result<()> {
        let mut events = self.events.borrow_mut();
        events.clear();
        let count = match self.wait_raw(timeout, events.as_mut_ptr()) {
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => 0,
            Err(error) => return Err(error),
        };
        // SAFETY: the kernel has filled the first `count` of the EVENTS_PER_POLL entries.
        unsafe { events.set_len(count) };
        for event in events.iter() {
            handle(Event { token: event.u64, bits: event.events });
        }
        Ok(())
    }

    fn wait_raw(&self, timeout: Option<Nanos>, events: *mut libc::epoll_event) -> io::Result<usize> {
        let fd = self.epoll.as_raw_fd();
        let capacity = EVENTS_PER_POLL as libc::c_int;
        let precise = timeout.filter(|t| t.0 > 0 && self.has_pwait2.get());
        if let Some(Nanos(ns)) = precise {
            // Both parts fit: seconds are below 2^34, nanoseconds below 10^9.
            let spec = libc::timespec {
                tv_sec: (ns / 1_000_000_000) as libc::time_t,
                tv_nsec: (ns % 1_000_000_000) as libc::c_long,
            };
            // SAFETY: `events` has room for `capacity` entries, `spec` lives through the call, and
            // a null signal mask is allowed (with whatever size).
            let result = unsafe {
                let no_mask = ptr::null::<libc::sigset_t>();
                libc::syscall(libc::SYS_epoll_pwait2, fd, events, capacity, &spec, no_mask, 8)
            };
            match counted(result) {
                Err(error) if is_unknown_call(&error) => self.has_pwait2.set(false),
                other => return other,
            }
        }
        let millis = match timeout {
            None => -1,
            // Rounded up: a timer that is not due yet would only make the loop spin. Fits: capped.
            Some(Nanos(ns)) => ns.div_ceil(1_000_000).min(MILLIS_MAX) as libc::c_int,
        };
        // SAFETY: `events` has room for `capacity` entries.
        let result = unsafe { libc::epoll_wait(fd, events, capacity, millis) };
        counted(libc::c_long::from(result))
    }
}

fn counted(result: libc::c_long) -> io::Result<usize> {
    usize::try_from(result).map_err(|_| io::Error::last_os_error())
}

/// Old kernels say ENOSYS, old container sandboxes EPERM.
fn is_unknown_call(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::ENOSYS | libc::EPERM))
}
