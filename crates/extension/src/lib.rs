//! Extensions of scripts: WebAssembly modules whose exported functions scripts call.
//!
//! An [`Extension`] is such a module, checked and translated once a process, with what its functions take and return as
//! its own [description](Function) has it. An [`Instance`] is one copy of its memory, in which functions are called; a call
//! that takes long pauses after every [`SLICE_FUEL`], so that its thread is never held. An extension reaches nothing but
//! what [`Host`] hands out.
//!
//! This crate knows no JavaScript: values cross as [`Raw`] numbers and bytes. It is the only user of wasmi. Where to
//! read next: `description` for the text an extension describes itself with, `module` for what is checked when one is
//! loaded, `instance` for calls. The reasons are in docs/design/006-extensions.md.
//!
//! ```
//! use onrush_extension::{CallError, Extension, Host, Instance, Raw};
//!
//! struct Nothing;
//! impl Host for Nothing {
//!     fn log(&mut self, _: onrush_extension::LogLevel, _: &str) {}
//!     fn now_ms(&mut self) -> f64 { 0.0 }
//!     fn random(&mut self, into: &mut [u8]) -> bool { into.fill(0); true }
//! }
//!
//! // (module (func (export "twice") (param i32) (result i32) (i32.shl (local.get 0) (i32.const 1))))
//! let wasm = b"\0asm\x01\0\0\0\x01\x06\x01\x60\x01\x7f\x01\x7f\x03\x02\x01\x00\x07\x09\x01\x05twice\x00\x00\
//!     \x0a\x09\x01\x07\x00\x20\x00\x41\x01\x74\x0b";
//! let extension = Extension::load(wasm.to_vec().into()).expect("a valid module");
//! assert_eq!(extension.functions()[0].name, "twice");
//! let mut instance = Instance::new(&extension, Nothing).expect("there is memory");
//! let result: Result<_, CallError<()>> = instance.call(0, &[Raw::I32(21)], &mut || Ok(()));
//! assert_eq!(result.unwrap(), Some(Raw::I32(42)));
//! ```

mod description;
mod imports;
mod instance;
mod module;

pub use description::{DescriptionError, Function, Type};
pub use imports::{Host, LogLevel};
pub use instance::{CallError, Instance, MEMORY_BYTES_MAX, Raw, SLICE_FUEL};
pub use module::{Extension, FUNCTIONS_MAX, LoadError, MODULE_BYTES_MAX};

#[cfg(test)]
mod tests;
