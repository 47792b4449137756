//! Bytes that scripts pass to modules and get from them: a string stands for its UTF-8 form. However long they are, they
//! are worked on piece by piece, and between the pieces others of the thread have their turn.

use super::go::go_type;
use crate::{
    embed::{Charge, Ctx, FlatText, Handle, JsResult, Lent, TextBuilder, Throw, TypedArray, Units, Val},
    vu::context,
};

/// What k6 takes for bytes: a string, an `ArrayBuffer`, or a view of bytes.
pub(super) enum Input {
    Text(FlatText),
    Buffer(Val),
    View(Val),
}

impl Input {
    pub(super) fn of(ctx: Ctx, value: &Handle) -> JsResult<Self> {
        if value.is_string() {
            Ok(Self::Text(FlatText::of(ctx, value)?))
        } else if value.is_array_buffer() {
            Ok(Self::Buffer(value.dup()))
        } else if matches!(value.typed_array_kind(), Some(TypedArray::Uint8 | TypedArray::Uint8Clamped)) {
            Ok(Self::View(value.dup()))
        } else if value.is_symbol() {
            Ok(Self::Text(text(ctx, value)?))
        } else {
            Err(Throw::error(format!("invalid type {}, expected string, []byte or ArrayBuffer", go_type(ctx, value))))
        }
    }

    /// All bytes at once, where they are few and lie in memory as they are. Good until script code runs.
    pub(super) fn whole(&self, ctx: Ctx) -> Option<&[u8]> {
        let bytes = match self {
            Self::Text(text) => match text.units() {
                Units::Latin1(units) if units.len() <= PIECE_BYTES && units.is_ascii() => units,
                _ => return None,
            },
            Self::Buffer(value) | Self::View(value) => held(ctx, value),
        };
        (bytes.len() <= PIECE_BYTES).then_some(bytes)
    }

    /// Hands over all bytes, in order.
    pub(super) fn each_piece(&self, ctx: Ctx, mut take: impl FnMut(&[u8])) -> JsResult<()> {
        match self {
            Self::Text(text) => each_piece_of_text(text.units(), take),
            Self::Buffer(value) | Self::View(value) => {
                let mut at = 0;
                loop {
                    // Looked at anew for each piece: code that ran meanwhile may have taken the memory away.
                    let bytes = held(ctx, value);
                    let rest = bytes.get(at..).unwrap_or_default();
                    if rest.len() <= PIECE_BYTES {
                        take(rest);
                        return Ok(());
                    }
                    take(&rest[..PIECE_BYTES]);
                    at += PIECE_BYTES;
                    context::pause()?;
                }
            }
        }
    }

    /// How many bytes there are.
    pub(super) fn byte_count(&self, ctx: Ctx) -> JsResult<usize> {
        match self {
            Self::Buffer(value) | Self::View(value) => Ok(held(ctx, value).len()),
            Self::Text(text) => {
                let mut count = 0;
                match text.units() {
                    Units::Latin1(units) => in_pieces(units, |piece| {
                        count += piece.len() + piece.iter().filter(|unit| **unit >= 0x80).count();
                    })?,
                    units @ Units::Wide(_) => each_piece_of_text(units, |piece| count += piece.len())?,
                }
                Ok(count)
            }
        }
    }
}

fn held(ctx: Ctx, value: &Handle) -> &[u8] {
    value.array_buffer(ctx).or_else(|| value.typed_array(ctx)).unwrap_or_default()
}

/// Works on a slice that scripts cannot change, with pauses.
pub(super) fn in_pieces<T>(items: &[T], mut take: impl FnMut(&[T])) -> JsResult<()> {
    let mut rest = items;
    while rest.len() > PIECE_BYTES {
        take(&rest[..PIECE_BYTES]);
        rest = &rest[PIECE_BYTES..];
        context::pause()?;
    }
    take(rest);
    Ok(())
}

/// The UTF-8 form of a text.
fn each_piece_of_text(units: Units<'_>, mut take: impl FnMut(&[u8])) -> JsResult<()> {
    let mut converted = Vec::new();
    match units {
        Units::Latin1(units) => in_pieces(units, |piece| {
            if piece.is_ascii() {
                take(piece);
                return;
            }
            converted.clear();
            for &unit in piece {
                if unit < 0x80 {
                    converted.push(unit);
                } else {
                    converted.extend([0xc0 | unit >> 6, 0x80 | unit & 0x3f]);
                }
            }
            take(&converted);
        }),
        Units::Wide(mut units) => {
            while !units.is_empty() {
                let mut end = units.len().min(PIECE_BYTES);
                // A pair stays together.
                if end < units.len() && is_high_surrogate(units[end - 1]) {
                    end -= 1;
                }
                converted.clear();
                let (piece, rest) = units.split_at(end);
                for character in char::decode_utf16(piece.iter().copied()) {
                    let character = character.unwrap_or(char::REPLACEMENT_CHARACTER);
                    converted.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                }
                take(&converted);
                units = rest;
                if !units.is_empty() {
                    context::pause()?;
                }
            }
            Ok(())
        }
    }
}

const fn is_high_surrogate(unit: u16) -> bool {
    unit & 0xfc00 == 0xd800
}

/// What k6 makes of an argument that is to be a string: nothing is the empty one, a symbol its description.
pub(super) fn text(ctx: Ctx, value: &Handle) -> JsResult<FlatText> {
    if !value.is_set() {
        return FlatText::of(ctx, &*Val::string(ctx, "")?);
    }
    if value.is_symbol() {
        let description = value.get(ctx, "description")?;
        return text(ctx, &description);
    }
    FlatText::of(ctx, value)
}

/// The same where it is short: a name, an encoding.
pub(super) fn name(ctx: Ctx, value: &Handle) -> JsResult<String> {
    if let Some(text) = value.ascii() {
        return Ok(text.to_owned());
    }
    match text(ctx, value)?.units() {
        Units::Latin1(units) => Ok(units.iter().copied().map(char::from).collect()),
        Units::Wide(units) => Ok(String::from_utf16_lossy(units)),
    }
}

/// Bytes for a script, as many as `most` at once; they count towards its memory.
pub(super) struct Output {
    pub(super) bytes: Vec<u8>,
    charge: Charge,
}

impl Output {
    pub(super) fn new(most: usize) -> JsResult<Self> {
        let charge = if most > COPIED_BYTES_MAX { Charge::take(most)? } else { Charge::default() };
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(most).map_err(|_| Throw::error("out of memory"))?;
        Ok(Self { bytes, charge })
    }

    /// As an `ArrayBuffer`.
    pub(super) fn buffer(self, ctx: Ctx) -> JsResult {
        if self.bytes.len() <= COPIED_BYTES_MAX {
            ctx.array_buffer(&self.bytes)
        } else {
            Lent::of(self.bytes).array_buffer(ctx, self.charge)
        }
    }

    /// As a string, from UTF-8.
    pub(super) fn text(self, ctx: Ctx) -> JsResult {
        let mut is_ascii = true;
        in_pieces(&self.bytes, |piece| is_ascii &= piece.is_ascii())?;
        if !is_ascii {
            return Val::text(ctx, &self.bytes);
        }
        let mut text = TextBuilder::new(ctx, self.bytes.len())?;
        in_pieces(&self.bytes, |piece| text.write(piece))?;
        text.finish()
    }
}

/// What is worked on between two looks at the clock: the slowest hash takes a millisecond for as much.
pub(super) const PIECE_BYTES: usize = 256 << 10;

/// As little is copied into the engine's own memory, which is one allocation instead of three.
const COPIED_BYTES_MAX: usize = 4 << 10;
