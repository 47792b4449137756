//! How soon the kernel lets a thread run that has something to do.
//!
//! Where threads share a core, Linux lets the one that runs go on until its slice is over, some 3 ms, whatever becomes ready
//! meanwhile and whatever its priority: a timer that is due, or a response, waits as long. A thread that asks for shorter
//! slices than others goes first when it wakes (since 6.12), for its own slice; its share of the core stays what it was.
#![expect(unsafe_code, reason = "a system call that libc has no function for")]

/// Longer than the work of most wakes, and as short as the kernel takes: it allows 0.1 ms to 100 ms.
#[cfg(target_os = "linux")]
const SLICE_NS: u64 = 200_000;

/// Asks for short slices for the calling thread. Kernels that know no such thing, and those that refuse, leave it as it was.
pub fn ask_for_short_slices() {
    #[cfg(target_os = "linux")]
    {
        const SIZE: u32 = size_of::<libc::sched_attr>() as u32;
        let mut attributes = libc::sched_attr {
            size: SIZE,
            sched_policy: 0,
            sched_flags: 0,
            sched_nice: 0,
            sched_priority: 0,
            sched_runtime: 0,
            sched_deadline: 0,
            sched_period: 0,
        };
        // SAFETY: both read or write one structure of the size that is said, of the calling thread (0).
        unsafe {
            if libc::syscall(libc::SYS_sched_getattr, 0, &raw mut attributes, SIZE, 0) != 0
                || attributes.sched_policy != libc::SCHED_OTHER as u32
            {
                return;
            }
            attributes.sched_runtime = SLICE_NS;
            libc::syscall(libc::SYS_sched_setattr, 0, &raw const attributes, 0);
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_thread_keeps_its_priority_and_policy() {
        let niceness = || rustix::process::getpriority_process(Some(rustix::thread::gettid())).expect("it is alive");
        // SAFETY: reads the policy of the calling thread.
        let policy = || unsafe { libc::sched_getscheduler(0) };
        let thread = std::thread::spawn(move || {
            rustix::process::setpriority_process(Some(rustix::thread::gettid()), 3).expect("anybody may step back");
            ask_for_short_slices();
            (niceness(), policy())
        });
        assert_eq!(thread.join().expect("no panic"), (3, libc::SCHED_OTHER));
    }
}
