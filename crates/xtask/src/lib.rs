//! What developers' commands and tests share: their arguments, the workspace as data, the tidy check, the fuzz driver.
//!
//! Not part of the product. `main.rs` has the commands.

pub mod arguments;
pub mod fuzzing;
pub mod packages;
pub mod tidy;
pub mod workspace;
