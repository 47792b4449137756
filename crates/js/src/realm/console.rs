//! `console.log` and its siblings, and how values look there.

use crate::{
    embed::{Args, Ctx, Handle, JsResult, Val},
    log::{Level, Line},
    vu::context::vu,
};

/// Text beyond which no further value is added to a line. Values are whole here: who takes the line shortens it, after
/// secrets were removed, of which a cut could leave a part.
const LINE_BYTES_MAX: usize = Line::BYTES_MAX;

/// Depth at which nested objects are no longer opened.
const DEPTH_MAX: usize = 64;

pub(super) fn install(ctx: Ctx, global: &Handle) -> JsResult<()> {
    let console = ctx.object()?;
    console.define(ctx, "log", ctx.function("log", 0, |ctx, _, args| write(ctx, Level::Info, args))?)?;
    console.define(ctx, "info", ctx.function("info", 0, |ctx, _, args| write(ctx, Level::Info, args))?)?;
    console.define(ctx, "debug", ctx.function("debug", 0, |ctx, _, args| write(ctx, Level::Debug, args))?)?;
    console.define(ctx, "warn", ctx.function("warn", 0, |ctx, _, args| write(ctx, Level::Warn, args))?)?;
    console.define(ctx, "error", ctx.function("error", 0, |ctx, _, args| write(ctx, Level::Error, args))?)?;
    global.define_hidden(ctx, "console", console)
}

fn write(ctx: Ctx, level: Level, args: Args<'_>) -> JsResult {
    let mut text = String::new();
    for (index, arg) in args.iter().enumerate() {
        if index > 0 {
            text.push(' ');
        }
        if arg.is_string() {
            text.push_str(&arg.to_text(ctx)?)
        } else {
            render(ctx, arg, &mut text, &mut Vec::new())?
        }
        if text.len() > LINE_BYTES_MAX {
            break;
        }
    }
    vu().script().log.line(Line { level, message: text, fields: vec![("source".into(), "console".to_owned())] });
    Ok(Val::undefined())
}

/// Appends a value as k6 shows it: `{ a: 1, b: "x" }`, `[ 1, "a" ]`.
fn render(ctx: Ctx, value: &Handle, out: &mut String, open: &mut Vec<usize>) -> JsResult<()> {
    if value.is_string() {
        quoted(&value.to_text(ctx)?, out);
        return Ok(());
    }
    if !value.is_object() {
        match () {
            // k6: a symbol is its description, and inside of objects undefined is null.
            () if value.is_symbol() => {
                let description = value.get(ctx, "description")?;
                let description = if description.is_set() { description.to_text(ctx)? } else { String::new() };
                if open.is_empty() { out.push_str(&description) } else { quoted(&description, out) }
            }
            () if value.is_undefined() && !open.is_empty() => out.push_str("null"),
            () => out.push_str(&value.to_text(ctx)?),
        }
        return Ok(());
    }
    if value.is_function(ctx) {
        out.push_str("[object Function]");
        return Ok(());
    }
    if value.is_error() {
        out.push_str(&value.to_text(ctx)?);
        return Ok(());
    }
    let identity = value.identity();
    if open.contains(&identity) || open.len() > DEPTH_MAX {
        out.push_str("[Circular]");
        return Ok(());
    }
    open.push(identity);
    let result = render_object(ctx, value, out, open);
    open.pop();
    result
}

/// k6: nothing in it is escaped.
fn quoted(text: &str, out: &mut String) {
    out.push('"');
    out.push_str(text);
    out.push('"');
}

fn render_object(ctx: Ctx, value: &Handle, out: &mut String, open: &mut Vec<usize>) -> JsResult<()> {
    if value.is_array() || value.is_proxied_array(ctx) {
        return render_list(ctx, value, "", out, open);
    }
    if let Some(bytes) = value.array_buffer(ctx) {
        // A byte takes three characters.
        let hex: Vec<String> = bytes.iter().take(LINE_BYTES_MAX / 3).map(|byte| format!("{byte:02x}")).collect();
        let rest = if hex.len() < bytes.len() { " …" } else { "" };
        out.push_str(&format!(
            "ArrayBuffer {{ [Uint8Contents]: <{}{rest}>, byteLength: {} }}",
            hex.join(" "),
            bytes.len()
        ));
        return Ok(());
    }
    let class = value.get(ctx, "constructor").and_then(|constructor| {
        if constructor.is_object() { constructor.get(ctx, "name")?.to_text(ctx) } else { Ok(String::new()) }
    });
    let class = class.unwrap_or_else(|_| {
        drop(ctx.take_exception_value());
        String::new()
    });
    if value.typed_array(ctx).is_some() {
        return render_list(ctx, value, &format!("{class}({}) ", value.length(ctx)?), out, open);
    }
    if class == "Date" {
        let iso = value.get(ctx, "toISOString").and_then(|method| ctx.call(&method, value, &[])?.to_text(ctx));
        match iso {
            Ok(iso) => out.push_str(&format!("\"{iso}\"")),
            Err(_) => {
                drop(ctx.take_exception_value());
                out.push_str("Invalid Date");
            }
        }
        return Ok(());
    }
    let keys = value.keys(ctx)?;
    if keys.is_empty() {
        out.push_str("{}");
        return Ok(());
    }
    out.push_str("{ ");
    for (index, key) in keys.iter().enumerate() {
        if index > 0 {
            out.push_str(", ");
        }
        out.push_str(&key.text(ctx)?);
        out.push_str(": ");
        let item = value.get(ctx, key)?;
        render(ctx, &item, out, open)?;
        if out.len() > LINE_BYTES_MAX {
            break;
        }
    }
    out.push_str(" }");
    Ok(())
}

fn render_list(ctx: Ctx, value: &Handle, prefix: &str, out: &mut String, open: &mut Vec<usize>) -> JsResult<()> {
    out.push_str(prefix);
    let length = value.length(ctx)?;
    if length == 0 {
        out.push_str("[]");
        return Ok(());
    }
    out.push_str("[ ");
    for index in 0..length {
        if index > 0 {
            out.push_str(", ");
        }
        let item = value.get_index(ctx, index)?;
        render(ctx, &item, out, open)?;
        if out.len() > LINE_BYTES_MAX {
            break;
        }
    }
    out.push_str(" ]");
    Ok(())
}
