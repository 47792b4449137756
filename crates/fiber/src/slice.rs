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
    if let Some(mut attributes) = attributes().filter(|own| own.sched_policy == libc::SCHED_OTHER as u32) {
        attributes.sched_runtime = SLICE_NS;
        // SAFETY: reads one structure, which says its size, for the calling thread (0).
        unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const attributes, 0) };
    }
}

/// How the calling thread is scheduled.
#[cfg(target_os = "linux")]
fn attributes() -> Option<libc::sched_attr> {
    const SIZE: u32 = size_of::<libc::sched_attr>() as u32;
    let mut attributes = std::mem::MaybeUninit::<libc::sched_attr>::zeroed();
    // SAFETY: all zeros is a structure of numbers; the kernel writes as many bytes of it as it is told it has.
    unsafe {
        let status = libc::syscall(libc::SYS_sched_getattr, 0, attributes.as_mut_ptr(), SIZE, 0);
        (status == 0).then(|| attributes.assume_init())
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_thread_keeps_its_priority_and_policy() {
        let thread = std::thread::spawn(|| {
            rustix::process::setpriority_process(Some(rustix::thread::gettid()), 3).expect("anybody may step back");
            ask_for_short_slices();
            attributes().expect("the kernel tells")
        });
        let own = thread.join().expect("no panic");
        assert_eq!((own.sched_nice, own.sched_policy), (3, libc::SCHED_OTHER as u32));
        // Before 6.12 there are no slices of one's own.
        assert!(matches!(own.sched_runtime, SLICE_NS | 0), "{}", own.sched_runtime);
    }
}
