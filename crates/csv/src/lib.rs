//! Comma-separated values as k6 reads them: the rules and error texts of Go's `encoding/csv`.
//!
//! A [`Cursor`] walks over a file in memory, record by record, and says where the fields are; nothing is copied unless
//! a field has quotes or line breaks to rewrite. A [`Table`] is a whole file that has been checked once: it keeps where
//! records begin, so that any of them can be read later. Nothing here knows JavaScript or opens a file.
//!
//! ```
//! use onrush_csv::{Cursor, Delimiter, Field};
//!
//! let data = b"name,said\nAnna,\"\"\"hello\"\"\"\n";
//! let mut cursor = Cursor::new(Delimiter::COMMA);
//! let mut fields = Vec::new();
//! assert!(cursor.read(data, &mut fields, &mut |_| true).is_some_and(|record| record.is_ok()));
//! assert!(cursor.read(data, &mut fields, &mut |_| true).is_some_and(|record| record.is_ok()));
//! let texts: Vec<_> = fields.iter().map(|field| field.text(data)).collect();
//! assert_eq!(texts, ["Anna", "\"hello\""]);
//! assert!(cursor.read(data, &mut fields, &mut |_| true).is_none());
//! ```

mod cursor;
mod error;
mod field;
mod fuzz;
mod scan;
mod table;

#[cfg(test)]
mod tests;

pub use cursor::{Cursor, Delimiter, FIELDS_MAX};
pub use error::RecordError;
pub use field::Field;
pub use fuzz::fuzz;
pub use scan::Pause;
pub use table::{Selection, Table, TableError};
