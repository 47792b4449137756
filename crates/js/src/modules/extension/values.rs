//! Values on their way into an extension and out of it.

use onrush_extension::{CallError, Instance, Raw, Type};

use super::{Callee, instances::World};
use crate::{
    embed::{Ctx, FlatText, Handle, JsResult, Throw, Val},
    modules::bytes::{Input, Output, PIECE_BYTES},
    vu::context,
};

/// An argument that has been converted.
pub(super) enum Argument {
    /// It crosses as it is.
    Raw(Raw),
    /// It is copied into the extension's memory.
    Bytes(Input),
    /// The same for what was made here.
    Text(String),
}

impl Argument {
    /// Strictly: an extension is written in a language with types, and what it gets must be what it says.
    pub(super) fn of(ctx: Ctx, callee: &Callee<'_>, name: &str, kind: Type, value: &Handle) -> JsResult<Self> {
        let wrong = |expected: &str| callee.type_error(&format!("{name} has to be {expected}"));
        let whole = |least: f64, most: f64| match value.as_number() {
            Some(number) if number.fract() == 0.0 && (least..=most).contains(&number) => Ok(number),
            _ => Err(wrong(&format!("a whole number from {least} to {most}"))),
        };
        let number = || value.as_number().ok_or_else(|| wrong("a number"));
        Ok(match kind {
            Type::Bool if value.is_bool() => Self::Raw(Raw::I32(i32::from(value.truthy(ctx)))),
            Type::Bool => return Err(wrong("true or false")),
            Type::I32 => Self::Raw(Raw::I32(whole(i32::MIN.into(), i32::MAX.into())? as i32)),
            Type::U32 => Self::Raw(Raw::I32(whole(0.0, u32::MAX.into())? as u32 as i32)),
            Type::I64 | Type::U64 if value.is_bigint() => Self::Raw(Raw::I64(value.to_big_i64(ctx)?)),
            Type::I64 | Type::U64 => {
                let least = if kind == Type::I64 { -SAFE_INTEGER_MAX } else { 0.0 };
                let number = whole(least, SAFE_INTEGER_MAX).map_err(|_| wrong("a BigInt or a whole number"))?;
                Self::Raw(Raw::I64(number as i64))
            }
            Type::F32 => Self::Raw(Raw::F32(number()? as f32)),
            Type::F64 => Self::Raw(Raw::F64(number()?)),
            Type::String if value.is_string() => Self::Bytes(Input::Text(FlatText::of(ctx, value)?)),
            Type::String => return Err(wrong("a string")),
            Type::Bytes if value.is_symbol() => return Err(wrong("a string, an ArrayBuffer or a Uint8Array")),
            Type::Bytes => {
                Self::Bytes(Input::of(ctx, value).map_err(|_| wrong("a string, an ArrayBuffer or a Uint8Array"))?)
            }
            Type::Json => Self::Text(ctx.stringify(value)?.unwrap_or_else(|| "null".to_owned())),
        })
    }

    /// Puts it where the function finds it, and its numbers behind those of the arguments before it.
    pub(super) fn place(
        &self,
        ctx: Ctx,
        instance: &mut Instance<World>,
        raw: &mut Vec<Raw>,
    ) -> Result<(), CallError<Throw>> {
        let length = match self {
            Self::Raw(number) => {
                raw.push(*number);
                return Ok(());
            }
            Self::Text(text) => text.len(),
            Self::Bytes(input) => input.byte_count(ctx).map_err(CallError::Cut)?,
        };
        let start = instance.allocate(length, &mut context::pause)?;
        let (mut at, end) = (start as usize, start as usize + length);
        let mut is_written = true;
        let mut write = |piece: &[u8]| {
            // The script's bytes may have become more meanwhile.
            let piece = &piece[..piece.len().min(end - at)];
            is_written &= instance.write(at, piece);
            at += piece.len();
        };
        match self {
            Self::Raw(_) => {}
            Self::Text(text) => {
                crate::modules::bytes::in_pieces(text.as_bytes(), &mut write).map_err(CallError::Cut)?;
            }
            Self::Bytes(input) => input.each_piece(ctx, &mut write).map_err(CallError::Cut)?,
        }
        if !is_written {
            return Err(CallError::Trap("its memory has become smaller than an argument".to_owned()));
        }
        raw.extend(Instance::<World>::argument(start, length));
        Ok(())
    }
}

/// A result as the script gets it.
pub(super) fn lift(ctx: Ctx, instance: &mut Instance<World>, kind: Type, result: Raw) -> Result<Val, CallError<Throw>> {
    let packed = match (kind, result) {
        (Type::Bool, Raw::I32(value)) => return Ok(Val::bool(value != 0)),
        (Type::U32, Raw::I32(value)) => return Ok(Val::number((value as u32).into())),
        (_, Raw::I32(value)) => return Ok(Val::int(value)),
        (_, Raw::F32(value)) => return Ok(Val::number(value.into())),
        (_, Raw::F64(value)) => return Ok(Val::number(value)),
        (Type::I64, Raw::I64(value)) => return ctx.bigint_i64(value).map_err(CallError::Cut),
        (Type::U64, Raw::I64(value)) => return ctx.bigint_u64(value as u64).map_err(CallError::Cut),
        (_, Raw::I64(packed)) => packed,
    };
    let length = instance.result(packed).map_err(CallError::Trap)?.len();
    let mut output = Output::new(length).map_err(CallError::Cut)?;
    while output.bytes.len() < length {
        let bytes = instance.result(packed).map_err(CallError::Trap)?;
        let from = output.bytes.len();
        output.bytes.extend_from_slice(&bytes[from..length.min(from + PIECE_BYTES)]);
        if output.bytes.len() < length {
            context::pause().map_err(CallError::Cut)?;
        }
    }
    instance.release(packed, &mut context::pause)?;
    match kind {
        Type::Bytes => output.buffer(ctx).map_err(CallError::Cut),
        Type::Json => ctx.parse_json(&output.bytes).map_err(|throw| {
            let exception = ctx.take_exception(throw);
            if exception.interrupted {
                return CallError::Cut(Throw::Interrupted);
            }
            CallError::Failed(format!("its result is not JSON: {}", exception.message))
        }),
        _ => output.text(ctx).map_err(CallError::Cut),
    }
}

/// `Number.MAX_SAFE_INTEGER`
const SAFE_INTEGER_MAX: f64 = 9_007_199_254_740_991.0;
