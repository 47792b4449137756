//! `csv.parse()`.

use std::sync::Arc;

use onrush_csv::{Table, TableError};

use super::{
    Rows,
    options::{Options, file},
    rows::breath,
};
use crate::{
    embed::{Args, Charge, Ctx, Handle, JsResult, Throw},
    modules::{
        data::shared_array,
        promise::{reason, settled_later},
    },
    shared::{FileTable, TableKey},
    vu::context::vu,
};

/// A promise of the records of a file. Init code reads each file once a process; what is read later is the VU's own.
pub(super) fn parse(ctx: Ctx, _: &Handle, args: Args<'_>) -> JsResult {
    let file = file(args.at(0))?;
    let options = Options::read(ctx, args.at(1), "failed to interpret the provided Parser options")?;
    let key = TableKey {
        path: file.path().clone(),
        offset: file.position(),
        delimiter: options.delimiter,
        selection: options.selection,
    };
    let vu = vu();
    let tables = &vu.script().shared_tables;
    if let Some(table) = tables.get(&key) {
        let array = shared_array(ctx, Rows::new(table, Charge::default()))?;
        return settled_later(ctx, Ok(array));
    }
    let content = file.content().clone();
    let mut halted = None;
    let read = Table::read(&content, key.offset, key.delimiter, &key.selection, &mut breath(&mut halted));
    if let Some(halted) = halted {
        return Err(halted);
    }
    match read {
        Ok(table) => {
            let charge = if vu.in_init() { Charge::default() } else { Charge::take(table.bytes())? };
            let table = Arc::new(FileTable { content, table });
            let table = if vu.in_init() { tables.insert(key, table) } else { table };
            settled_later(ctx, Ok(shared_array(ctx, Rows::new(table, charge))?))
        }
        // k6: what fails before the first record throws.
        Err(error @ TableError::Record(_)) => settled_later(ctx, Err(reason(ctx, Throw::error(error.to_string())))),
        Err(error) => Err(Throw::error(error.to_string())),
    }
}
