//! `k6/encoding`: Base64.

use onrush_crypto::{Base64, DecodeError};

use super::{
    bytes::{self, Input, Output, PIECE_BYTES},
    export::export,
};
use crate::{
    embed::{Args, Ctx, Handle, JsResult, TextBuilder, Throw, Units},
    vu::context,
};

pub(super) fn build(ctx: Ctx) -> JsResult {
    let exports = ctx.object()?;
    export(ctx, &exports, "b64encode", 2, |ctx, _, args| {
        let variant = variant(ctx, args.at(1))?;
        encode(ctx, &Input::of(ctx, args.at(0))?, variant)
    })?;
    export(ctx, &exports, "b64decode", 3, decode)?;
    Ok(exports)
}

/// k6: any other name is `std`.
fn variant(ctx: Ctx, name: &Handle) -> JsResult<Base64> {
    Ok(match bytes::name(ctx, name)?.as_str() {
        "rawstd" => Base64::RAW_STD,
        "url" => Base64::URL,
        "rawurl" => Base64::RAW_URL,
        _ => Base64::STD,
    })
}

/// The text of bytes.
pub(super) fn encode(ctx: Ctx, input: &Input, variant: Base64) -> JsResult {
    let length = variant.encoded_len(input.byte_count(ctx)?);
    let mut text = TextBuilder::new(ctx, length.unwrap_or(usize::MAX))?;
    let (mut encoder, mut encoded) = (variant.encoder(), Vec::new());
    input.each_piece(ctx, |piece| {
        encoded.clear();
        encoder.update(piece, &mut encoded);
        text.write(&encoded);
    })?;
    encoded.clear();
    encoder.finish(&mut encoded);
    text.write(&encoded);
    text.finish()
}

fn decode(ctx: Ctx, _: &Handle, args: Args<'_>) -> JsResult {
    let text = bytes::text(ctx, args.at(0))?;
    let variant = variant(ctx, args.at(1))?;
    let is_text = bytes::name(ctx, args.at(2))? == "s";
    let output = match text.units() {
        Units::Latin1(units) => decoded(units, variant)?,
        Units::Wide(units) => {
            // Up to the first character beyond Latin-1, at which it is wrong anyway.
            let mut narrow = Output::new(units.len())?;
            let mut is_narrow = true;
            bytes::in_pieces(units, |piece| {
                for &unit in piece {
                    if !is_narrow {
                        break;
                    }
                    narrow.bytes.push(u8::try_from(unit).unwrap_or(u8::MAX));
                    is_narrow = unit < 0x80;
                }
            })?;
            decoded(&narrow.bytes, variant)?
        }
    };
    if is_text { output.text(ctx) } else { output.buffer(ctx) }
}

fn decoded(text: &[u8], variant: Base64) -> JsResult<Output> {
    let mut output = Output::new(Base64::decoded_len_max(text.len()))?;
    let mut decoder = variant.decoder(text);
    let mut looked = 0;
    while decoder.step(&mut output.bytes).map_err(|error: DecodeError| Throw::error(error.to_string()))? {
        if output.bytes.len() - looked > PIECE_BYTES {
            looked = output.bytes.len();
            context::pause()?;
        }
    }
    Ok(output)
}
