//! Tables of CSV files: read once a process.

use std::{
    collections::BTreeMap,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use onrush_csv::{Delimiter, Selection, Table};

/// A file and where its records are.
pub(crate) struct FileTable {
    pub(crate) content: Arc<[u8]>,
    pub(crate) table: Table,
}

/// What a table was read from, and how.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct TableKey {
    pub(crate) path: Arc<Path>,
    pub(crate) offset: usize,
    pub(crate) delimiter: Delimiter,
    pub(crate) selection: Selection,
}

/// The tables that init code has read. Their number is that of the calls in it.
#[derive(Default)]
pub(crate) struct SharedTables {
    tables: Mutex<BTreeMap<TableKey, Arc<FileTable>>>,
}

impl SharedTables {
    pub(crate) fn get(&self, key: &TableKey) -> Option<Arc<FileTable>> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner).get(key).cloned()
    }

    /// Stores a table unless another VU was first, and returns the one that stays.
    pub(crate) fn insert(&self, key: TableKey, table: Arc<FileTable>) -> Arc<FileTable> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner).entry(key).or_insert(table).clone()
    }
}
