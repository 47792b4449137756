//! The commands around a script: each is a function from flags to an exit code, in a file of its own.

mod archive;
mod capacity;
mod check;
mod child;
mod compare;
mod completion;
mod deps;
mod doctor;
mod grafana;
pub(crate) mod http;
mod inspect;
mod new;
#[cfg(test)]
mod reference;
mod report;
pub(crate) mod result;
mod selftest;
mod template;

pub(crate) use archive::{archive, pack};
pub(crate) use capacity::capacity;
pub(crate) use check::check;
pub(crate) use compare::compare;
pub(crate) use completion::completion;
pub(crate) use deps::deps;
pub(crate) use doctor::doctor;
pub(crate) use grafana::grafana;
pub(crate) use http::http;
pub(crate) use inspect::inspect;
pub(crate) use new::new;
pub(crate) use report::report;
pub(crate) use result::result;
pub(crate) use selftest::selftest;
