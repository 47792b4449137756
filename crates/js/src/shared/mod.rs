//! What all VUs of a process have one copy of, whatever thread they are on.

mod arrays;
mod files;
mod tables;

pub(crate) use arrays::{Elements, SharedArrays};
pub(crate) use files::FileCache;
pub(crate) use tables::{FileTable, SharedTables, TableKey};
