//! What a client knows: the schemas of its loads, most of them shared with the other VUs of the process.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

use onrush_grpc::{
    Schema,
    schema::{MessageId, Method},
};

/// Schemas by what they were made from. VUs run the same init code: all but the first find theirs here.
#[derive(Default)]
pub(crate) struct SchemaCache {
    loads: Mutex<BTreeMap<LoadKey, Arc<Schema>>>,
}

/// What a schema was made from.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum LoadKey {
    /// Import paths, and files.
    Files(Vec<PathBuf>, Vec<String>),
    /// A protoset.
    Set(PathBuf),
    /// What a server has said.
    Learnt(u64),
}

impl SchemaCache {
    /// The schema of a load, made now if it is the first.
    pub(super) fn of_or_try<E>(
        &self,
        key: LoadKey,
        make: impl FnOnce() -> Result<Schema, E>,
    ) -> Result<Arc<Schema>, E> {
        if let Some(schema) = self.loads.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
            return Ok(schema.clone());
        }
        let schema = Arc::new(make()?);
        let mut loads = self.loads.lock().unwrap_or_else(PoisonError::into_inner);
        if loads.len() >= SCHEMAS_MAX {
            // A server that describes itself anew each time: its schemas are the clients' own.
            return Ok(loads.get(&key).cloned().unwrap_or(schema));
        }
        Ok(loads.entry(key).or_insert(schema).clone())
    }
}

/// Far more than a script loads.
const SCHEMAS_MAX: usize = 1000;

/// A client's schemas, oldest first.
#[derive(Debug, Default, Clone)]
pub(super) struct Schemas(Vec<Arc<Schema>>);

/// A method, and the schema it is described in.
#[derive(Debug, Clone)]
pub(super) struct MethodRef {
    pub(super) schema: Arc<Schema>,
    path: Box<str>,
}

impl Schemas {
    pub(super) fn add(&mut self, schema: Arc<Schema>) {
        if !self.0.iter().any(|known| Arc::ptr_eq(known, &schema)) {
            self.0.push(schema);
        }
    }

    /// A method by its path. k6: of two with one name the last counts.
    pub(super) fn method(&self, path: &str) -> Option<MethodRef> {
        let schema = self.0.iter().rev().find(|schema| schema.method(path).is_some())?;
        Some(MethodRef { schema: schema.clone(), path: path.into() })
    }

    /// A message type by its full name. k6: of two with one name the first counts.
    pub(super) fn message(&self, name: &str) -> Option<(&Arc<Schema>, MessageId)> {
        self.0.iter().find_map(|schema| schema.message_named(name).map(|id| (schema, id)))
    }
}

impl MethodRef {
    pub(super) fn get(&self) -> &Method {
        self.schema.method(&self.path).expect("it was found there, and schemas do not change")
    }
}
