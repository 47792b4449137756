//! `csv.Parser`: one record after another.

use std::{cell::Cell, sync::Arc};

use onrush_csv::{Cursor, Field, RecordError, Selection};

use super::{
    options::{Options, file},
    rows::{breath, row},
};
use crate::{
    embed::{Args, Charge, Ctx, Handle, HostClass, HostObject, JsResult, Throw, Val},
    modules::promise::{plain_reason, settled_later},
    vu::context::vu,
};

/// A file and the record that is next.
pub(super) struct Parser {
    content: Arc<[u8]>,
    selection: Selection,
    header: Box<[Field]>,
    _charge: Charge,
    cursor: Cell<Cursor>,
    /// The number of the next record, those left out and the header included.
    record: Cell<u64>,
}

impl HostObject for Parser {
    const NAME: &'static str = "Parser";
}

pub(super) fn install_class(ctx: Ctx) -> JsResult<()> {
    let prototype = ctx.object()?;
    prototype.method(ctx, "next", 0, next)?;
    HostClass::<Parser>::set_prototype(ctx, prototype);
    Ok(())
}

pub(super) fn construct(ctx: Ctx, _: &Handle, args: Args<'_>) -> JsResult {
    if !vu().in_init() {
        return Err(Throw::error("csv Parser constructor must be called in the init context"));
    }
    if !args.at(0).is_set() {
        return Err(Throw::error("csv Parser constructor takes at least one non-nil source argument"));
    }
    let file = file(args.at(0))?;
    let options = Options::read(ctx, args.at(1), "encountered an error while interpreting Parser options")?;
    let content = file.content().clone();
    let mut cursor = Cursor::at(options.delimiter, file.position());
    let (mut header, mut halted) = (Vec::new(), None);
    let begun = options.selection.begin(&mut cursor, &content, &mut header, &mut breath(&mut halted));
    if let Some(halted) = halted {
        return Err(halted);
    }
    let record = begun.map_err(|error| Throw::error(error.to_string()))?;
    let charge = Charge::take(size_of_val(&*header))?;
    HostClass::create(
        ctx,
        Parser {
            content,
            selection: options.selection,
            header: header.into(),
            _charge: charge,
            cursor: Cell::new(cursor),
            record: Cell::new(record),
        },
    )
}

fn next(ctx: Ctx, this: &Handle, _: Args<'_>) -> JsResult {
    let parser = HostClass::<Parser>::expect(this)?;
    let done = |value: Val, is_done: bool| {
        let result = ctx.object()?;
        result.define(ctx, "done", Val::bool(is_done))?;
        result.define(ctx, "value", value)?;
        settled_later(ctx, Ok(result))
    };
    if parser.selection.is_past(parser.record.get()) {
        return done(ctx.array()?, true);
    }
    let (mut cursor, mut fields, mut halted) = (parser.cursor.get(), Vec::new(), None);
    let read = cursor.read(&parser.content, &mut fields, &mut breath(&mut halted));
    if let Some(halted) = halted {
        return Err(halted);
    }
    parser.cursor.set(cursor);
    match read {
        None => done(ctx.array()?, true),
        Some(Ok(())) => {
            parser.record.set(parser.record.get() + 1);
            done(row(ctx, &parser.content, &fields, &parser.header)?, false)
        }
        Some(Err(error)) => settled_later(ctx, Err(described(ctx, &error)?)),
    }
}

/// k6: the error says where it is, too.
fn described(ctx: Ctx, error: &RecordError) -> JsResult {
    let reason = plain_reason(ctx, &error.to_string())?;
    if let Some((start, line, column)) = error.place() {
        for (key, number) in [("start_line", start), ("line", line), ("column", column)] {
            reason.define(ctx, key, Val::number(number as f64))?;
        }
    }
    Ok(reason)
}
