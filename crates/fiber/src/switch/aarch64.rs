//! The switch for aarch64 (AAPCS64): x19 to x30, the stack pointer and d8 to d15.
#![expect(unsafe_code, reason = "switching stacks cannot be expressed otherwise")]

use core::arch::naked_asm;

use super::Entry;

/// Size of what [`first_frame`] returns: 160 bytes, a multiple of the stack's 16-byte alignment.
pub(crate) const FIRST_FRAME_WORDS: usize = 20;

/// The words at the top of a new fiber's stack, lowest address first: what [`switch`] restores.
pub(crate) fn first_frame(entry: Entry) -> [usize; FIRST_FRAME_WORDS] {
    let mut frame = [0; FIRST_FRAME_WORDS];
    frame[0] = entry as usize; // x19
    frame[11] = trampoline as *const () as usize; // x30
    frame
}

/// Leaves the current stack, storing its pointer in `*save`, and continues on the stack at `to`. Returns when somebody
/// switches back.
///
/// # Safety
///
/// `to` was stored by an earlier `switch` (or points at a [`first_frame`]) and the bytes from there
/// to the top of that stack are as they were then. `save` is valid for a write.
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn switch(save: *mut usize, to: usize) {
    // `ret`, not `br`: a `br` to a place without a landing pad faults where branch target
    // identification is on.
    naked_asm!(
        ".cfi_startproc",
        "sub sp, sp, #160",
        ".cfi_adjust_cfa_offset 160",
        "stp x19, x20, [sp, #0]",
        "stp x21, x22, [sp, #16]",
        "stp x23, x24, [sp, #32]",
        "stp x25, x26, [sp, #48]",
        "stp x27, x28, [sp, #64]",
        "stp x29, x30, [sp, #80]",
        ".cfi_offset x29, -80",
        ".cfi_offset x30, -72",
        "stp d8, d9, [sp, #96]",
        "stp d10, d11, [sp, #112]",
        "stp d12, d13, [sp, #128]",
        "stp d14, d15, [sp, #144]",
        "mov x9, sp",
        "str x9, [x0]",
        "mov sp, x1",
        "ldp x19, x20, [sp, #0]",
        "ldp x21, x22, [sp, #16]",
        "ldp x23, x24, [sp, #32]",
        "ldp x25, x26, [sp, #48]",
        "ldp x27, x28, [sp, #64]",
        "ldp x29, x30, [sp, #80]",
        "ldp d8, d9, [sp, #96]",
        "ldp d10, d11, [sp, #112]",
        "ldp d12, d13, [sp, #128]",
        "ldp d14, d15, [sp, #144]",
        "add sp, sp, #160",
        ".cfi_adjust_cfa_offset -160",
        ".cfi_restore x29",
        ".cfi_restore x30",
        "ret",
        ".cfi_endproc",
    )
}

/// The outermost frame of every fiber: calls the entry in x19, ends the stack for unwinders.
#[unsafe(naked)]
unsafe extern "C" fn trampoline() -> ! {
    naked_asm!(
        ".cfi_startproc",
        ".cfi_undefined x30",
        "mov x29, xzr",
        "mov x30, xzr",
        "blr x19",
        // The entry never returns.
        "brk #1",
        ".cfi_endproc",
    )
}
