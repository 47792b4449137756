//! Numbers, and choices among numbers.

use crate::{
    arguments::{optional, required},
    definition::{Definition, Made, define},
    source::Source,
    value::Value,
};

const N: &str = "numbers";

pub(crate) const DEFINITIONS: &[Definition] = &[
    define(N, "boolean", &[], |source, _| Ok(Value::Boolean(source.rng.coin()))),
    define(N, "int8", &[], |source, _| between(source, i8::MIN.into(), i8::MAX.into())),
    define(N, "int16", &[], |source, _| between(source, i16::MIN.into(), i16::MAX.into())),
    define(N, "int32", &[], |source, _| between(source, i32::MIN.into(), i32::MAX.into())),
    define(N, "int64", &[], |source, _| between(source, i64::MIN, i64::MAX)),
    define(N, "uint8", &[], |source, _| between(source, 0, u8::MAX.into())),
    define(N, "uint16", &[], |source, _| between(source, 0, u16::MAX.into())),
    define(N, "uint32", &[], |source, _| between(source, 0, u32::MAX.into())),
    define(N, "uint64", &[], |source, _| Ok(Value::Unsigned(source.rng.bits()))),
    define(N, "number", &[optional("min", "-2147483648"), optional("max", "2147483647")], |source, arguments| {
        between(source, arguments.integer(0)?, arguments.integer(1)?)
    }),
    define(N, "intRange", &[required("min"), required("max")], |source, arguments| {
        between(source, arguments.integer(0)?, arguments.integer(1)?)
    }),
    define(N, "uintRange", &[optional("min", "0"), optional("max", "4294967295")], |source, arguments| {
        between(source, arguments.integer(0)?.max(0), arguments.integer(1)?.max(0))
    }),
    define(N, "float32", &[], |source, _| Ok(Value::Float(f64::from(source.rng.unit() as f32)))),
    define(N, "float64", &[], |source, _| Ok(Value::Float(source.rng.unit()))),
    define(N, "float32Range", &[required("min"), required("max")], |source, arguments| {
        let (min, max) = (arguments.float(0)?, arguments.float(1)?);
        Ok(Value::Float(f64::from(within(source, min, max) as f32).clamp(min.min(max), min.max(max))))
    }),
    define(N, "float64Range", &[required("min"), required("max")], |source, arguments| {
        let (min, max) = (arguments.float(0)?, arguments.float(1)?);
        Ok(Value::Float(within(source, min, max)))
    }),
    define(N, "hexUint8", &[], |source, _| hex(source, 2)),
    define(N, "hexUint16", &[], |source, _| hex(source, 4)),
    define(N, "hexUint32", &[], |source, _| hex(source, 8)),
    define(N, "hexUint64", &[], |source, _| hex(source, 16)),
    define(N, "hexUint128", &[], |source, _| hex(source, 32)),
    define(N, "hexUint256", &[], |source, _| hex(source, 64)),
    define(N, "randomInt", &[required("ints")], |source, arguments| {
        Ok(Value::Integer(source.rng.one(&arguments.integers(0)?).copied().unwrap_or(0)))
    }),
    define(N, "randomUint", &[required("uints")], |source, arguments| {
        Ok(Value::Integer(source.rng.one(&arguments.integers(0)?).copied().unwrap_or(0).max(0)))
    }),
    define(N, "shuffleInts", &[required("ints")], |source, arguments| {
        let mut items = arguments.integers(0)?;
        source.rng.shuffle(&mut items);
        Ok(Value::List(items.into_iter().map(Value::Integer).collect()))
    }),
    define("address", "latitude", &[], |source, _| degrees(source, -90.0, 90.0)),
    define("address", "longitude", &[], |source, _| degrees(source, -180.0, 180.0)),
    define("address", "latitudeRange", &[optional("min", "0"), optional("max", "90")], |source, arguments| {
        degrees(source, arguments.float(0)?, arguments.float(1)?)
    }),
    define("address", "longitudeRange", &[optional("min", "0"), optional("max", "180")], |source, arguments| {
        degrees(source, arguments.float(0)?, arguments.float(1)?)
    }),
    define("game", "dice", &[optional("numdice", "1"), optional("sides", "6")], |source, arguments| {
        let (count, sides) = (arguments.count(0)?, arguments.integers(1)?);
        source.take(count.saturating_mul(size_of::<Value>()))?;
        // The last number of sides is that of all dice that are left.
        let sides = |index: usize| sides.get(index).or(sides.last()).copied().unwrap_or(6).max(1);
        Ok(Value::List((0..count).map(|index| Value::Integer(source.rng.between(1, sides(index)))).collect()))
    }),
];

fn between(source: &mut Source<'_>, min: i64, max: i64) -> Made {
    Ok(Value::Integer(source.rng.between(min, max)))
}

pub(crate) fn within(source: &mut Source<'_>, min: f64, max: f64) -> f64 {
    let unit = source.rng.unit();
    // Written so that the distance of two huge numbers does not overflow.
    (min * (1.0 - unit) + max * unit).clamp(min.min(max), min.max(max))
}

/// Six decimals: a tenth of a metre.
pub(crate) fn degrees(source: &mut Source<'_>, min: f64, max: f64) -> Made {
    let degrees = within(source, min, max);
    Ok(Value::Float(if degrees.abs() < 1e9 { (degrees * 1e6).round() / 1e6 } else { degrees }))
}

fn hex(source: &mut Source<'_>, digits: usize) -> Made {
    let digits = source.characters(digits, |rng| rng.character("0123456789abcdef"))?;
    Ok(Value::Text(format!("0x{digits}")))
}
