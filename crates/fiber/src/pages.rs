//! Memory of the system's, whole pages of it: mapped, looked at, given back.
#![expect(unsafe_code, reason = "maps memory and asks the kernel about it")]

use std::{io, ptr};

use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous};

/// Maps fresh memory, at `wish` if that is free and not 0. It is not reserved: pages count only once touched.
pub(crate) fn map(bytes: usize, wish: usize) -> io::Result<*mut u8> {
    let (prot, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE | MapFlags::NORESERVE);
    // SAFETY: an anonymous mapping where nothing is mapped yet: the address is a wish.
    let mapping = unsafe { mmap_anonymous(ptr::without_provenance_mut(wish), bytes, prot, flags) }?;
    Ok(mapping.cast())
}

/// How many pages are in memory from `start`, the address of a page, on; none if that is not known.
pub(crate) fn resident(start: usize, bytes: usize) -> usize {
    let mut pages = vec![0u8; bytes.div_ceil(rustix::param::page_size())];
    // SAFETY: the kernel looks at its own tables and writes a byte for each page; where nothing is mapped, it refuses.
    let result = unsafe { libc::mincore(ptr::without_provenance_mut(start), bytes, pages.as_mut_ptr()) };
    if result == 0 { pages.iter().filter(|&&page| page & 1 == 1).count() } else { 0 }
}
