//! Arguments of statements, and their rows, as values of the script.

use onrush_sql::{NO_LAST_ID, Outcome, Rows, Value};

use crate::{
    embed::{Args, Atom, Charge, Ctx, Handle, HostClass, HostObject, JsResult, ObjectKind, Throw, Val},
    modules::go::{OBJECT, go_type},
    vu::context::pause,
};

/// The most arguments of a statement: PostgreSQL and MySQL count them with 16 bits.
const ARGUMENTS_MAX: usize = 65_535;

/// The arguments from number `from` on.
pub(super) fn arguments(ctx: Ctx, args: Args<'_>, from: usize) -> JsResult<Vec<Value>> {
    if args.len() > ARGUMENTS_MAX + from {
        return Err(Throw::error(format!("a statement takes at most {ARGUMENTS_MAX} arguments")));
    }
    (from..args.len()).map(|index| argument(ctx, args.at(index), index - from)).collect()
}

fn argument(ctx: Ctx, value: &Handle, index: usize) -> JsResult<Value> {
    if !value.is_set() {
        return Ok(Value::Null);
    }
    if value.is_bool() {
        return Ok(Value::Boolean(value.truthy(ctx)));
    }
    if let Some(number) = value.as_number() {
        return Ok(of_number(number));
    }
    if value.is_string() {
        return Ok(Value::Text(value.to_text(ctx)?));
    }
    if value.is_bigint() {
        let text = value.to_text(ctx)?;
        return Ok(text.parse().map_or(Value::Text(text), Value::Integer));
    }
    if let Some(bytes) = value.array_buffer(ctx).or_else(|| value.typed_array(ctx)) {
        return Ok(Value::Bytes(bytes.to_vec()));
    }
    if value.object_kind() == ObjectKind::Date {
        return Ok(Value::Time(value.to_number(ctx)?));
    }
    let found = go_type(ctx, value);
    let kind = match found {
        OBJECT => ", a map",
        "[]interface {}" => ", a slice of interface",
        _ => "",
    };
    Err(Throw::error(format!("sql: converting argument ${} type: unsupported type {found}{kind}", index + 1)))
}

/// k6: a whole number is an integer.
fn of_number(number: f64) -> Value {
    let is_whole = number == number.trunc() && number.abs() < 2.0_f64.powi(63);
    if is_whole && !(number == 0.0 && number.is_sign_negative()) {
        Value::Integer(number as i64)
    } else {
        Value::Float(number)
    }
}

/// Rows as an array of objects.
pub(super) fn rows(ctx: Ctx, rows: &Rows) -> JsResult {
    let _charge = Charge::take(rows.bytes())?;
    let names: Vec<Atom> = rows.columns().iter().map(|name| Atom::new(ctx, name)).collect();
    let array = ctx.array()?;
    for (index, row) in rows.iter().enumerate() {
        let object = ctx.object()?;
        for (name, value) in names.iter().zip(row) {
            object.define(ctx, name, column(ctx, value)?)?;
        }
        array.define_index(ctx, index as u32, object)?;
        pause()?;
    }
    Ok(array)
}

fn column(ctx: Ctx, value: &Value) -> JsResult {
    match value {
        Value::Null => Ok(Val::null()),
        Value::Boolean(is_true) => Ok(Val::bool(*is_true)),
        Value::Integer(number) => Ok(Val::number(*number as f64)),
        Value::Float(number) => Ok(Val::number(*number)),
        Value::Text(text) => Val::string(ctx, text),
        Value::Bytes(bytes) => ctx.uint8_array(bytes),
        Value::Time(ms) => ctx.date(*ms),
    }
}

/// What `exec()` gives.
struct Done(onrush_sql::Done);

impl HostObject for Done {
    const NAME: &'static str = "Result";
}

pub(super) fn install_class(ctx: Ctx) -> JsResult<()> {
    let prototype = ctx.object()?;
    prototype.method(ctx, "lastInsertId", 0, |_, this, _| {
        let id = HostClass::<Done>::expect(this)?.0.last_insert_id;
        id.map(|id| Val::number(id as f64)).ok_or_else(|| Throw::error(NO_LAST_ID))
    })?;
    prototype.method(ctx, "rowsAffected", 0, |_, this, _| {
        Ok(Val::number(HostClass::<Done>::expect(this)?.0.rows_affected as f64))
    })?;
    HostClass::<Done>::set_prototype(ctx, prototype);
    Ok(())
}

pub(super) fn done(ctx: Ctx, outcome: &Outcome) -> JsResult {
    HostClass::create(ctx, Done(outcome.done))
}
