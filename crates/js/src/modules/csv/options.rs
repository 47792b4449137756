//! What `csv.parse()` and `csv.Parser` are given: a file and options.

use onrush_csv::{Delimiter, Selection};

use crate::{
    embed::{Ctx, Handle, HostClass, JsResult, Throw},
    modules::fs::File,
};

/// How to read a file.
pub(super) struct Options {
    pub(super) delimiter: Delimiter,
    pub(super) selection: Selection,
}

impl Options {
    /// Reads them from an object. `failed` is how errors begin.
    pub(super) fn read(ctx: Ctx, object: &Handle, failed: &str) -> JsResult<Self> {
        if object.is_null() {
            return Err(Throw::type_error("Cannot convert undefined or null to object"));
        }
        let mut options = Self { delimiter: Delimiter::COMMA, selection: Selection::default() };
        if !object.is_object() {
            return Ok(options);
        }
        let refused = |reason: &str| Err(Throw::error(format!("{failed}; reason: {reason}")));
        if object.has(ctx, "delimiter")? {
            let text = object.get(ctx, "delimiter")?.to_text(ctx)?;
            let [byte] = text.as_bytes() else { return refused("delimiter must be a single character") };
            // k6: a zero byte is no delimiter at all.
            options.delimiter = if *byte == 0 { Delimiter::COMMA } else { Delimiter::new(*byte) };
        }
        let number = |key: &str| -> JsResult<Option<i64>> {
            let value = object.get(ctx, key)?;
            if value.is_set() { value.to_i64(ctx).map(Some) } else { Ok(None) }
        };
        let (from, to) = (number("fromLine")?, number("toLine")?);
        if let (Some(from), Some(to)) = (from, to)
            && from >= to
        {
            return refused("fromLine must be less than or equal to toLine");
        }
        let refused = |reason: String| Throw::error(format!("failed to create a new parser; reason: {reason}"));
        let natural = |number: Option<i64>, key: &str| {
            let number = number.unwrap_or(0);
            u64::try_from(number)
                .map_err(|_| refused(format!("the '{key}' option must be greater than or equal to 0; got {number}")))
        };
        let selection = Selection {
            skips_first: object.get(ctx, "skipFirstLine")?.truthy(ctx),
            has_header: object.get(ctx, "asObjects")?.truthy(ctx),
            from: natural(from, "fromLine")?,
            to: natural(to, "toLine")?,
        };
        if selection.has_header && selection.skips_first {
            return Err(refused("the 'header' option cannot be enabled when 'skipFirstLine' is true".to_owned()));
        }
        if selection.has_header && selection.from > 0 {
            return Err(refused(
                "the 'header' option cannot be enabled when 'fromLine' is set to a value greater than 0".to_owned(),
            ));
        }
        options.selection = selection;
        Ok(options)
    }
}

/// The file to read.
pub(super) fn file(value: &Handle) -> JsResult<&File> {
    if let Some(file) = HostClass::<File>::of(value) {
        return Ok(file);
    }
    if value.is_object() {
        return Err(Throw::error("failed to create a new parser; reason: the reader cannot be nil"));
    }
    // k6 names the types of its engine.
    let found = if value.is_string() {
        if value.ascii().is_some() { "sobek.asciiString" } else { "sobek.unicodeString" }
    } else if value.as_int().is_some() {
        "sobek.valueInt"
    } else if value.is_number() {
        "sobek.valueFloat"
    } else if value.is_bool() {
        "sobek.valueBool"
    } else if value.is_symbol() {
        "*sobek.Symbol"
    } else if value.is_bigint() {
        "*sobek.valueBigInt"
    } else {
        "<nil>"
    };
    Err(Throw::error(format!("first argument expected to be a fs.File instance, got {found} instead")))
}
