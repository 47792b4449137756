//! Records as values of scripts.

use std::sync::Arc;

use onrush_csv::Field;

use crate::{
    embed::{Charge, Ctx, JsResult, Throw, Val},
    shared::FileTable,
    vu::context::pause,
};

/// Fields turned into values between two looks at whether others want to run.
const PIECE_FIELDS: usize = 1024;

/// The records of a table, as the elements of a shared array.
pub(in crate::modules) struct Rows {
    table: Arc<FileTable>,
    _charge: Charge,
}

impl Rows {
    pub(super) fn new(table: Arc<FileTable>, charge: Charge) -> Self {
        Self { table, _charge: charge }
    }

    pub(in crate::modules) fn len(&self) -> usize {
        self.table.table.len()
    }

    /// A fresh, frozen copy of one.
    pub(in crate::modules) fn element(&self, ctx: Ctx, index: usize) -> JsResult<Option<Val>> {
        let FileTable { content, table } = &*self.table;
        let (mut fields, mut halted) = (Vec::new(), None);
        let read = table.record(content, index, &mut fields, &mut breath(&mut halted));
        if let Some(halted) = halted {
            return Err(halted);
        }
        let Some(read) = read else { return Ok(None) };
        read.map_err(|error| Throw::error(error.to_string()))?;
        let row = row(ctx, content, &fields, table.header())?;
        row.freeze(ctx)?;
        Ok(Some(row))
    }
}

/// A record: an array of its fields, or an object where there is a header.
pub(super) fn row(ctx: Ctx, content: &[u8], fields: &[Field], header: &[Field]) -> JsResult {
    let row = if header.is_empty() { ctx.array()? } else { ctx.object()? };
    for (index, field) in fields.iter().enumerate() {
        let value = Val::text(ctx, &field.bytes(content))?;
        match header.get(index) {
            Some(key) => row.define(ctx, &key.text(content).into_owned(), value)?,
            None => row.define_index(ctx, index as u32, value)?,
        }
        if index % PIECE_FIELDS == PIECE_FIELDS - 1 {
            pause()?;
        }
    }
    Ok(row)
}

/// The pause of a reader: lets others run, and keeps what ended the VU meanwhile.
pub(super) fn breath(halted: &mut Option<Throw>) -> impl FnMut(usize) -> bool {
    |_| match pause() {
        Ok(()) => true,
        Err(throw) => {
            *halted = Some(throw);
            false
        }
    }
}
