//! SQL databases: what PostgreSQL and MySQL servers are sent and answer, and SQLite's files.
//!
//! It knows no JavaScript, no sockets and no fibers. Whoever calls brings a [`Stream`] to the server, and keeps the
//! [`postgres::Connection`] or [`mysql::Connection`] that was made over it; SQLite blocks, and belongs on a thread of its
//! own. All three take and give [`Value`]s; what a server sends is limited before it is kept.
//!
//! Where Go's drivers have a behaviour or a text that scripts can see, it is theirs.

mod error;
pub mod mysql;
pub mod postgres;
mod source;
#[cfg(feature = "sqlite")]
pub mod sqlite;
mod stream;
mod time;
mod value;

pub use error::SqlError;
pub use stream::Stream;
pub use value::{Done, NO_LAST_ID, Outcome, RESULT_BYTES_MAX, Rows, Value, Wanted};

#[cfg(test)]
mod tests;
