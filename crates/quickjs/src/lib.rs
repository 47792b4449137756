//! QuickJS-ng, patched so that thousands of VUs share one runtime and one realm a thread: raw FFI to `quickjs.h` and to
//! Onrush's shim `shim/onrush_quickjs.h`.
//!
//! This crate is not a safe binding and knows nothing of k6, fibers or VUs' life cycles: the
//! `js` crate is its only user. It holds patches and a shim, never QuickJS's source, which
//! `build.rs` takes from the registry. Read `docs/design/003-patched-quickjs.md` first, then
//! the shim's header.
//!
//! ```
//! use onrush_quickjs_sys::*;
//!
//! let source = c"6 * 7";
//! // SAFETY: one thread, checked results, everything freed in reverse order.
//! unsafe {
//!     let rt = JS_NewRuntime();
//!     let ctx = JS_NewContext(rt);
//!     let value = JS_Eval(ctx, source.as_ptr(), source.count_bytes(), c"doc".as_ptr(), JS_EVAL_TYPE_GLOBAL);
//!     assert_eq!((value.tag, value.int32()), (JS_TAG_INT, 42));
//!     JS_FreeContext(ctx);
//!     JS_FreeRuntime(rt);
//! }
//! ```
#![allow(non_camel_case_types, non_snake_case, reason = "the names are those of quickjs.h")]

mod inline;
mod layout;
mod raw;
mod shim;
mod types;
mod value;

pub use inline::*;
pub use raw::*;
pub use shim::*;
pub use types::*;
pub use value::*;

/// The patched source in `OUT_DIR`, for this crate's tests.
#[doc(hidden)]
pub const PATCHED_SOURCE: &str = env!("ONRUSH_QUICKJS_PATCHED");
/// The untouched source in the registry, for this crate's tests.
#[doc(hidden)]
pub const STOCK_SOURCE: &str = env!("ONRUSH_QUICKJS_STOCK");
