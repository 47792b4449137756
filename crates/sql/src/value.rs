//! What goes into statements and comes out of them.

use crate::SqlError;

/// An argument, or a column of a row.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// `NULL`.
    Null,
    /// A truth value.
    Boolean(bool),
    /// A whole number.
    Integer(i64),
    /// Any number.
    Float(f64),
    /// A text.
    Text(String),
    /// Bytes, and texts that Go's driver gives as such.
    Bytes(Vec<u8>),
    /// A point in time, in milliseconds since 1970.
    Time(f64),
}

impl Value {
    fn bytes(&self) -> usize {
        size_of::<Self>()
            + match self {
                Self::Text(text) => text.len(),
                Self::Bytes(bytes) => bytes.len(),
                _ => 0,
            }
    }
}

/// What is wanted of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// What it did.
    Done,
    /// Its rows.
    Rows,
}

/// What a statement came to.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Outcome {
    /// What it did.
    pub done: Done,
    /// Its rows, if they were wanted.
    pub rows: Rows,
}

/// What a statement did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Done {
    /// The id of the row it inserted last; `None` where the driver cannot tell.
    pub last_insert_id: Option<i64>,
    /// How many rows it changed.
    pub rows_affected: i64,
}

/// What drivers say that cannot tell the id of a row. Go's text.
pub const NO_LAST_ID: &str = "LastInsertId is not supported by this driver";

/// Rows, one after another.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Rows {
    columns: Vec<String>,
    values: Vec<Value>,
    bytes: usize,
}

/// The most memory that a result takes before it becomes values of a script.
pub const RESULT_BYTES_MAX: usize = 64 << 20;

/// The most columns of a result: PostgreSQL has 1,664, MySQL 4,096 and SQLite 32,767.
pub(crate) const COLUMNS_MAX: usize = 32_768;

impl Rows {
    pub(crate) fn new(columns: Vec<String>) -> Self {
        let bytes = columns.iter().map(|name| name.len() + size_of::<String>()).sum();
        Self { columns, values: Vec::new(), bytes }
    }

    /// Adds the next value of the row.
    pub(crate) fn push(&mut self, value: Value) -> Result<(), SqlError> {
        self.bytes += value.bytes();
        if self.bytes > RESULT_BYTES_MAX {
            return Err(too_large());
        }
        self.values.push(value);
        Ok(())
    }

    /// The names of the columns.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// Row by row. Without columns there are none.
    pub fn iter(&self) -> impl Iterator<Item = &[Value]> {
        self.values.chunks_exact(self.columns.len().max(1))
    }

    /// What they take of memory.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

pub(crate) fn too_large() -> SqlError {
    SqlError::Broken(format!("a result is larger than {} MiB: select fewer rows or columns", RESULT_BYTES_MAX >> 20))
}
