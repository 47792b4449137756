//! When the kernel had what a read returned.
//!
//! A thread that is busy reads a response some time after it arrived, and to whoever looks at the clock then, the
//! server was slow. The kernel knows better: it notes when a packet came in (`SO_TIMESTAMPING`, software receive
//! timestamps: `Documentation/networking/timestamping.rst`) and says so with the bytes. For TCP it is the packet of the
//! last byte that a read returned.
//!
//! It costs a longer system call, so only some connections are asked.

use std::{
    io, mem,
    os::fd::{AsRawFd, OwnedFd},
    ptr,
};

use rustix::{
    io::Errno,
    net::{AddressFamily, SocketFlags, SocketType, ipproto, socket_with},
    time::Timespec,
};

use crate::clock::{Clock, Nanos};

/// Room for what the kernel says of a read: three times of 16 bytes behind a header, and some to spare.
const CONTROL_BYTES: usize = 128;

/// Which connections of a thread are asked.
#[derive(Debug, Default)]
pub(crate) struct Sampling {
    /// One of so many; none for 0.
    every: u64,
    /// Connections so far.
    made: u64,
}

impl Sampling {
    pub(crate) fn one_of(every: u32) -> Self {
        Self { every: every.into(), made: 0 }
    }

    /// Whether the next connection is asked. The first one is: a test with one connection has its figures. The others are
    /// chosen without a rhythm, or a script that makes eight connections in a row would have the same one chosen always.
    pub(crate) fn is_next(&mut self) -> bool {
        self.made += 1;
        match self.every {
            0 => false,
            1 => true,
            every => self.made == 1 || mix(self.made).is_multiple_of(every),
        }
    }
}

/// Spreads numbers in a row over all 64-bit numbers: the output function of SplitMix64 (Steele, Lea and Flood, 2014).
fn mix(number: u64) -> u64 {
    let mut z = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Has the kernel say when something arrived. `false` where it cannot.
#[expect(unsafe_code, reason = "no safe wrapper for this socket option")]
pub(crate) fn ask(fd: &OwnedFd) -> bool {
    let flags: libc::c_uint = libc::SOF_TIMESTAMPING_RX_SOFTWARE | libc::SOF_TIMESTAMPING_SOFTWARE;
    // SAFETY: the option's value is an int that lives through the call.
    let result = unsafe {
        libc::setsockopt(
            fd.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_TIMESTAMPING,
            (&raw const flags).cast(),
            size_of_val(&flags) as libc::socklen_t,
        )
    };
    result == 0
}

/// Whether the kernel says when bytes arrive.
#[must_use]
pub fn has_arrival_times() -> bool {
    socket_with(AddressFamily::INET, SocketType::STREAM, SocketFlags::CLOEXEC, Some(ipproto::TCP))
        .is_ok_and(|socket| ask(&socket))
}

/// `recv`, and when the kernel had the last byte of it, if it says so.
#[expect(unsafe_code, reason = "the safe wrappers of recvmsg know no timestamps")]
pub(crate) fn recv(fd: &OwnedFd, buf: &mut [u8]) -> Result<(usize, Option<Nanos>), Errno> {
    /// Aligned as control messages have to be.
    #[repr(C, align(8))]
    struct Control([u8; CONTROL_BYTES]);

    let mut control = Control([0; CONTROL_BYTES]);
    let mut part = libc::iovec { iov_base: buf.as_mut_ptr().cast(), iov_len: buf.len() };
    // SAFETY: a header of zeros and null pointers is a valid one.
    let mut header: libc::msghdr = unsafe { mem::zeroed() };
    header.msg_iov = &raw mut part;
    header.msg_iovlen = 1;
    header.msg_control = control.0.as_mut_ptr().cast();
    header.msg_controllen = CONTROL_BYTES as _;
    // SAFETY: the header points to buffers of the lengths it says, which live through the call.
    let count = unsafe { libc::recvmsg(fd.as_raw_fd(), &raw mut header, 0) };
    let Ok(count) = usize::try_from(count) else {
        return Err(Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::IO));
    };
    // SAFETY: the kernel has filled in the header and `msg_controllen` bytes of `control`.
    let mut message = unsafe { libc::CMSG_FIRSTHDR(&raw const header) };
    while !message.is_null() {
        // SAFETY: the macros return null or a whole message header within `control`.
        let (level, kind, length) = unsafe { ((*message).cmsg_level, (*message).cmsg_type, (*message).cmsg_len) };
        // SAFETY: it only computes a length.
        let needed = unsafe { libc::CMSG_LEN(size_of::<libc::timespec>() as libc::c_uint) } as usize;
        if level == libc::SOL_SOCKET && kind == libc::SCM_TIMESTAMPING && length >= needed {
            // SAFETY: the message has at least one time, which may lie at any address.
            let at: libc::timespec = unsafe { ptr::read_unaligned(libc::CMSG_DATA(message).cast()) };
            return Ok((count, arrived(at)));
        }
        // SAFETY: as for the first one.
        message = unsafe { libc::CMSG_NXTHDR(&raw const header, message) };
    }
    Ok((count, None))
}

/// The instant on our clock; `None` for the zero that means "not known".
fn arrived(at: libc::timespec) -> Option<Nanos> {
    (at.tv_sec != 0).then(|| Clock::at_unix(Timespec { tv_sec: at.tv_sec, tv_nsec: at.tv_nsec }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_connection_is_asked_and_then_one_of_so_many() {
        let asked = |every| {
            let mut sampling = Sampling::one_of(every);
            (0..80_000).map(|_| sampling.is_next()).collect::<Vec<_>>()
        };
        assert!(asked(0).iter().all(|asked| !asked));
        assert!(asked(1).iter().all(|asked| *asked));
        let eighth = asked(8);
        assert!(eighth[0]);
        let count = eighth.iter().filter(|asked| **asked).count();
        assert!((9_500..10_500).contains(&count), "{count}");
        // Every residue of eight in a row has its share.
        for residue in 0..8 {
            let count = eighth.iter().skip(residue).step_by(8).filter(|asked| **asked).count();
            assert!((1_050..1_450).contains(&count), "{count} of residue {residue}");
        }
    }
}
