//! The commands around a script: each is a function from flags to an exit code, in a file of its own.

mod archive;
mod completion;
mod deps;
mod inspect;
mod new;
#[cfg(test)]
mod reference;
mod template;

pub(crate) use archive::archive;
pub(crate) use completion::completion;
pub(crate) use deps::deps;
pub(crate) use inspect::inspect;
pub(crate) use new::new;
