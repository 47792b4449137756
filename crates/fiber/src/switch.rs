//! Switching the processor from one stack to another.
//!
//! A switch saves the callee-saved registers on the stack it leaves, stores that stack's pointer,
//! loads the other one and restores its registers: to the compiler it is an ordinary call of an
//! `extern "C"` function, so everything else is saved by the caller.
//!
//! The floating-point control words (mxcsr, x87 control word, fpcr) are part of the ABI's
//! callee-saved state and are deliberately *not* saved: no code of the project changes them (a
//! JavaScript engine must not), and `ldmxcsr` plus `fldcw` would double the price of a switch.
//!
//! The first frame of a fiber carries call frame information that ends the stack there, so panics, backtraces and
//! profilers stop at the fiber's entry instead of running into the void.

#[cfg(target_arch = "aarch64")]
mod aarch64;
#[cfg(target_arch = "x86_64")]
mod x86_64;

#[cfg(target_arch = "aarch64")]
pub(crate) use aarch64::{FIRST_FRAME_WORDS, first_frame, switch};
#[cfg(target_arch = "x86_64")]
pub(crate) use x86_64::{FIRST_FRAME_WORDS, first_frame, switch};

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
compile_error!("onrush-fiber switches stacks on x86_64 and aarch64 only");

/// What a fiber starts with, on its own stack. It never returns: there is nothing to return to.
pub(crate) type Entry = extern "C" fn() -> !;
