//! `TextEncoder` and `TextDecoder` (k6 2.2), UTF-8 only in the encoding direction as the standard has it.
#![expect(unsafe_code, reason = "creates Uint8Arrays")]

use onrush_quickjs_sys as sys;

use crate::embed::{Args, Ctx, Handle, HostClass, HostObject, JsResult, Throw, Val};

struct Encoder;
impl HostObject for Encoder {
    const NAME: &'static str = "TextEncoder";
}

struct Decoder {
    fatal: bool,
    ignore_bom: bool,
    encoding: &'static str,
}
impl HostObject for Decoder {
    const NAME: &'static str = "TextDecoder";
}

pub(super) fn install(ctx: Ctx, global: &Handle) -> JsResult<()> {
    let prototype = ctx.object()?;
    prototype.method(ctx, "encode", 1, encode)?;
    prototype.define_getter(ctx, "encoding", ctx.getter("encoding", |ctx, _| Val::string(ctx, "utf-8"))?)?;
    class::<Encoder, _>(ctx, global, prototype, |ctx, _, _| HostClass::create(ctx, Encoder))?;

    let prototype = ctx.object()?;
    prototype.method(ctx, "decode", 1, decode)?;
    prototype.define_getter(
        ctx,
        "encoding",
        ctx.getter("encoding", |ctx, this| Val::string(ctx, HostClass::<Decoder>::expect(this)?.encoding))?,
    )?;
    prototype.define_getter(
        ctx,
        "fatal",
        ctx.getter("fatal", |_, this| Ok(Val::bool(HostClass::<Decoder>::expect(this)?.fatal)))?,
    )?;
    prototype.define_getter(
        ctx,
        "ignoreBOM",
        ctx.getter("ignoreBOM", |_, this| Ok(Val::bool(HostClass::<Decoder>::expect(this)?.ignore_bom)))?,
    )?;
    class::<Decoder, _>(ctx, global, prototype, new_decoder)
}

fn class<T: HostObject, F: crate::embed::Native>(
    ctx: Ctx,
    global: &Handle,
    prototype: Val,
    constructor: F,
) -> JsResult<()> {
    let constructor = ctx.constructor(T::NAME, 0, constructor)?;
    constructor.define_hidden(ctx, "prototype", prototype.clone())?;
    prototype.define_hidden(ctx, "constructor", constructor.clone())?;
    HostClass::<T>::set_prototype(ctx, prototype);
    global.define_hidden(ctx, T::NAME, constructor)
}

fn encode(ctx: Ctx, this: &Handle, args: Args<'_>) -> JsResult {
    HostClass::<Encoder>::expect(this)?;
    let text = if args.at(0).is_undefined() { String::new() } else { args.at(0).to_text(ctx)? };
    // SAFETY: QuickJS copies the bytes.
    Val::checked(unsafe { sys::JS_NewUint8ArrayCopy(ctx.raw(), text.as_ptr(), text.len()) })
}

fn new_decoder(ctx: Ctx, _: &Handle, args: Args<'_>) -> JsResult {
    let label = if args.at(0).is_undefined() { "utf-8".to_owned() } else { args.at(0).to_text(ctx)? };
    let encoding = match label.trim().to_ascii_lowercase().as_str() {
        "utf-8" | "utf8" | "unicode-1-1-utf-8" => "utf-8",
        "utf-16" | "utf-16le" => "utf-16le",
        "utf-16be" => "utf-16be",
        other => return Err(Throw::Range(format!("unsupported encoding: {other}"))),
    };
    let flag = |name: &str| -> JsResult<bool> {
        if args.at(1).is_object() { Ok(args.at(1).get(ctx, name)?.truthy(ctx)) } else { Ok(false) }
    };
    HostClass::create(ctx, Decoder { fatal: flag("fatal")?, ignore_bom: flag("ignoreBOM")?, encoding })
}

fn decode(ctx: Ctx, this: &Handle, args: Args<'_>) -> JsResult {
    let decoder = HostClass::<Decoder>::expect(this)?;
    let input = args.at(0);
    let bytes = if input.is_undefined() {
        &[][..]
    } else {
        input
            .array_buffer(ctx)
            .or_else(|| input.typed_array(ctx))
            .ok_or_else(|| Throw::type_error("decode() expects an ArrayBuffer or a view of one"))?
    };
    let malformed = || Throw::type_error("the encoded data was not valid");
    let text = match decoder.encoding {
        "utf-8" if decoder.fatal => std::str::from_utf8(bytes).map_err(|_| malformed())?.to_owned(),
        "utf-8" => String::from_utf8_lossy(bytes).into_owned(),
        encoding => {
            let unit = |pair: &[u8]| {
                if encoding == "utf-16le" {
                    u16::from_le_bytes([pair[0], pair[1]])
                } else {
                    u16::from_be_bytes([pair[0], pair[1]])
                }
            };
            let units: Vec<u16> = bytes.chunks_exact(2).map(unit).collect();
            if decoder.fatal {
                String::from_utf16(&units).map_err(|_| malformed())?
            } else {
                String::from_utf16_lossy(&units)
            }
        }
    };
    let text = if decoder.ignore_bom { text.as_str() } else { text.strip_prefix('\u{FEFF}').unwrap_or(&text) };
    Val::string(ctx, text)
}
