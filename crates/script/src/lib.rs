//! From a script's file name to modules a JavaScript engine can compile.
//!
//! [`load`] reads a k6 script and everything it imports, turns TypeScript into JavaScript, recognises CommonJS, and
//! returns a [`Program`]: plain data, shared by all threads, that also leads positions in stack traces back to what
//! the user wrote. It reads source files (and their source maps) and does nothing else: modules on servers come from
//! the [`Remote`] of the caller. It knows no engine and runs no script. The engine has native ES modules, so nothing is bundled and ES modules stay ES modules.
//!
//! This is the only crate that uses oxc.
//!
//! Where to read next: `graph` walks the imports, `specifier` says what an import names, `compile` handles one source,
//! `program` is the result.
//!
//! ```
//! use onrush_script::{CompatibilityMode, Entry, LoadOptions, load};
//!
//! let options = LoadOptions {
//!     working_dir: std::env::temp_dir(),
//!     compatibility_mode: CompatibilityMode::Extended,
//!     builtins: &["k6", "k6/http"],
//!     source_bytes_max: 64 * 1024 * 1024,
//!     archived: None,
//!     remote: None,
//! };
//! let source = "import http from 'k6/http'; export default function () { let n: number = 1; }";
//! let program = load(Entry::Stdin(source.to_owned()), &options).expect("a valid script");
//! assert_eq!(program.modules[0].specifier, "file:///-");
//! assert!(!program.modules[0].code.contains("number"));
//! ```

mod analyze;
mod builtin;
mod compile;
mod error;
mod facade;
mod graph;
mod map;
mod namespaces;
mod position;
mod program;
mod remote;
mod source;
mod specifier;
mod writes;

#[cfg(test)]
mod tests;

pub use onrush_archive::FileTree;

pub use error::{ErrorKind, ScriptError};
pub use graph::{CompatibilityMode, Computed, Entry, LoadOptions, MODULES_MAX, UnknownMode, load, load_with};
pub use map::Map;
pub use position::Position;
pub use program::{
    Finding, Import, ImportKind, MIXED_STYLES, Module, ModuleIndex, ModuleKind, Program, Target, mixed_styles_message,
};
pub use remote::{Fetch, REMOTE_DEPTH_MAX, Remote, Unfetched};
pub use source::SOURCE_MAP_BYTES_MAX;
pub use specifier::{EXTENSIONS, Resolved, normalise, path_of_url, url_of_path};
