//! The switch for x86_64 (System V ABI): rbx, rbp, r12 to r15 and the return address.
#![expect(unsafe_code, reason = "switching stacks cannot be expressed otherwise")]

use core::arch::naked_asm;

use super::Entry;

/// Size of what [`first_frame`] returns. With the top of the stack 16-byte aligned, `trampoline`
/// starts with rsp = top - 16, so its `call` leaves rsp as the ABI wants it at a function's entry.
pub(crate) const FIRST_FRAME_WORDS: usize = 9;

/// The words at the top of a new fiber's stack, lowest address first: what [`switch`] restores.
pub(crate) fn first_frame(entry: Entry) -> [usize; FIRST_FRAME_WORDS] {
    let start = trampoline as *const () as usize;
    // r15, r14, r13, r12, rbx, rbp, return address, and two words of padding for alignment.
    [0, 0, 0, 0, entry as usize, 0, start, 0, 0]
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
    // The jump instead of a `ret` keeps the processor's return predictor from mispredicting: it is always taken to the
    // same place, so the branch predictor knows it.
    naked_asm!(
        ".cfi_startproc",
        "push rbp",
        ".cfi_adjust_cfa_offset 8",
        "push rbx",
        ".cfi_adjust_cfa_offset 8",
        "push r12",
        ".cfi_adjust_cfa_offset 8",
        "push r13",
        ".cfi_adjust_cfa_offset 8",
        "push r14",
        ".cfi_adjust_cfa_offset 8",
        "push r15",
        ".cfi_adjust_cfa_offset 8",
        "mov [rdi], rsp",
        "mov rsp, rsi",
        "pop r15",
        ".cfi_adjust_cfa_offset -8",
        "pop r14",
        ".cfi_adjust_cfa_offset -8",
        "pop r13",
        ".cfi_adjust_cfa_offset -8",
        "pop r12",
        ".cfi_adjust_cfa_offset -8",
        "pop rbx",
        ".cfi_adjust_cfa_offset -8",
        "pop rbp",
        ".cfi_adjust_cfa_offset -8",
        "pop rcx",
        ".cfi_adjust_cfa_offset -8",
        ".cfi_register rip, rcx",
        "jmp rcx",
        ".cfi_endproc",
    )
}

/// The outermost frame of every fiber: calls the entry in rbx, ends the stack for unwinders.
#[unsafe(naked)]
unsafe extern "C" fn trampoline() -> ! {
    naked_asm!(
        ".cfi_startproc",
        ".cfi_undefined rip",
        "xor ebp, ebp",
        "call rbx",
        // The entry never returns.
        "ud2",
        ".cfi_endproc",
    )
}
