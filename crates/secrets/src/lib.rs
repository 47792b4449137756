//! Secrets for scripts: where they come from, and their removal from everything that is logged.
//!
//! [`Secrets`] is what `--secret-source` asks for: named sources, each with keys. A value is registered with the
//! [`Redactor`] before anybody else sees it, so no log line made afterwards can show it. Errors never quote what might
//! be a secret; that is why some of them say less than k6's.

#![forbid(unsafe_code)]

mod config;
mod elsewhere;
mod redactor;
mod source;
mod url;

pub use config::ConfigError;
pub use elsewhere::Elsewhere;
pub use redactor::{Redactor, TooManySecrets};
pub use source::{GetError, Secrets, SourceId};
