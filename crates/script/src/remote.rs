//! Modules on servers: what the loader asks of whoever may use the network, and what it makes of the answers.
//!
//! This crate fetches nothing itself: the caller of [`crate::load`] brings a [`Remote`].

use std::{fmt, sync::Arc};

use crate::specifier::Unresolved;

/// Gets modules from servers.
pub trait Remote: fmt::Debug + Send + Sync {
    /// Begins to load one script. It is called on the thread that loads, and only if there is something to fetch.
    fn begin(&self) -> Box<dyn Fetch + '_>;
}

/// Gets the modules of one script. Its connections may serve many of them.
pub trait Fetch {
    /// Gets these URLs, all at once where it can: one result each, in their order.
    fn fetch(&mut self, urls: &[&str]) -> Vec<Result<Arc<[u8]>, Unfetched>>;
}

/// Why a module could not be had.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unfetched {
    /// A fragment that goes behind `couldn't be retrieved …. Error :`.
    pub reason: String,
    /// What the user can do; empty if there is nothing useful to say.
    pub hint: String,
}

impl Unfetched {
    /// With a hint.
    pub fn new(reason: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { reason: reason.into(), hint: hint.into() }
    }

    /// The error of an import of `request`, which stands for `url`. k6: its text.
    pub(crate) fn named(&self, request: &str, url: &str) -> Unresolved {
        let message = format!(
            "The moduleSpecifier {request:?} couldn't be retrieved from the resolved url {url:?}. Error : \"{}\"",
            self.reason
        );
        Unresolved::new(message, self.hint.clone())
    }
}

/// The most modules that may stand between the script and a remote module it imports in the end. Real graphs have a
/// few dozen; a server that invents one import after the other must come to an end.
pub const REMOTE_DEPTH_MAX: u32 = 1_000;

/// What a server sent instead of a module, if that can be seen. Nothing JavaScript begins with `<`, but for a comment
/// of the web's early days.
pub(crate) fn is_page(source: &str) -> bool {
    let start = source.trim_start();
    start.starts_with('<') && !start.starts_with("<!--")
}

/// The failure of a module that is a page.
pub(crate) fn page() -> Unfetched {
    Unfetched::new(
        "the server sent a page (HTML or XML) and no JavaScript",
        "open the URL in a browser: servers answer like this when they are busy, want a login or moved the file. \
         For a file on GitHub use its raw URL",
    )
}

/// The failure where nobody may fetch.
pub(crate) fn no_network() -> Unfetched {
    Unfetched::new(
        "remote modules are not fetched here",
        "download the module next to the script and import it by a relative path, such as \"./module.js\"",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_told_from_modules() {
        for page in ["<!DOCTYPE html><html>", "\n <html>", "<?xml version='1.0'?>", "<Error><Code>AccessDenied"] {
            assert!(is_page(page), "{page}");
        }
        for module in ["", "export {}", "<!-- old\nvar a", "/* < */", "1 < 2"] {
            assert!(!is_page(module), "{module}");
        }
    }
}
