//! The thin layer over the patched QuickJS: values, exceptions, native functions, host classes.
//!
//! Everything here is about one thread's runtime; what a VU is, and the k6 modules, live elsewhere in this crate.
//! `Val` owns a reference, `&Handle` borrows one, and a native function is an ordinary Rust function
//! `fn(Ctx, &Handle, Args) -> JsResult`. No pointer into QuickJS escapes this folder except through these types, and
//! nothing here uses the rest of the crate: it can be read alone.

mod account;
mod bytes;
mod class;
mod context;
mod error;
mod halt;
mod lazy;
mod lent;
mod literal;
mod native;
mod object;
mod place;
mod poll;
mod text;
mod value;

pub(crate) use account::{Charge, FollowingCharge, GrowingCharge};
pub(crate) use class::{HostClass, HostObject};
pub(crate) use context::{Ctx, PromiseState, Runtime, runtime_ptr};
pub(crate) use error::{Exception, JsResult, Throw};
pub(crate) use halt::{halt, is_halted, look_at as look_at_halt_mark};
pub(crate) use lazy::{BoundMethod, LazyProperty, Template};
pub(crate) use lent::Lent;
pub(crate) use literal::{KeptLiterals, Literals};
pub(crate) use native::{Args, Getter, Native, contained, guarded};
pub(crate) use object::Atom;
pub(crate) use poll::{Asked, flag, is_undivided, undivided};
pub(crate) use text::{FlatText, TextBuilder, Units};
pub(crate) use value::{Handle, JsString, ObjectKind, TypedArray, Val};
