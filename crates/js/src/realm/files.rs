//! `open()`: files read once a process, shared by all VUs. What VUs hold of them is in `shared_bytes`.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use super::shared_bytes::SharedBytes;
use crate::{
    embed::{Args, Ctx, Handle, JsResult, Throw},
    log::Level,
    vu::{
        Vu,
        context::{thread, vu},
    },
};

/// `open(path, mode?)`.
pub(super) fn open(ctx: Ctx, _: &Handle, args: Args<'_>) -> JsResult {
    let vu = vu();
    if !vu.in_init() {
        return Err(Throw::error(
            "the \"open\" function is only available in the init stage (i.e. the global scope), see https://grafana.com/docs/k6/latest/using-k6/test-lifecycle/ for more information",
        ));
    }
    let shown = if args.at(0).is_set() { args.at(0).to_text(ctx)? } else { String::new() };
    if shown.is_empty() {
        return Err(Throw::error("open() can't be used with an empty filename"));
    }
    let path = resolve(vu, &shown)?;
    let content = content(vu, &path, &shown)?;
    if args.at(1).is_string() && args.at(1).to_text(ctx)? == "b" {
        thread().slots.of::<SharedBytes>().buffer(ctx, &content)
    } else {
        thread().slots.of::<SharedBytes>().text(ctx, vu, &path, &content)
    }
}

/// A text that an object of a module names as a file; to be asked for in init code.
#[cfg(feature = "kafka")]
pub(crate) fn text_of(vu: &Vu, shown: &str) -> JsResult<String> {
    if !vu.in_init() {
        return Err(Throw::error(format!("the file {shown:?} can be read in the init context only")));
    }
    let path = resolve(vu, shown)?;
    content(vu, &path, shown).map(|content| String::from_utf8_lossy(&content).into_owned())
}

fn content(vu: &Vu, path: &Path, shown: &str) -> JsResult<Arc<[u8]>> {
    let cache = &vu.script().files;
    match cache.get(path) {
        Some(content) => Ok(content),
        None if thread().config.init_pass => match &vu.script().archived {
            Some(files) => cache.archived(files, path),
            None => cache.read(path, shown),
        }
        .map_err(|throw| cache.note(path, throw)),
        None => Err(cache.failure(path).unwrap_or_else(|| {
            Throw::error(format!(
                "open() can't be used with files that weren't previously opened during initialization (__VU==0), path: \"{}\"",
                path.display()
            ))
        })),
    }
}

/// k6: a path is relative to the module being evaluated, which for a function that is called is the module that calls
/// it; k6 warns where that is not the folder of the function itself.
fn resolve(vu: &Vu, shown: &str) -> JsResult<PathBuf> {
    let path = Path::new(shown.strip_prefix("file://").unwrap_or(shown));
    if path.is_absolute() {
        return Ok(onrush_script::normalise(Path::new("/"), path));
    }
    let program = &vu.script().program;
    let (caller, evaluated) = vu.running_files()?;
    let base = folder(vu, evaluated.as_ref().unwrap_or(&program.modules[program.entry.0 as usize].specifier));
    if thread().config.init_pass && caller.as_ref().is_none_or(|caller| folder(vu, caller) != base) {
        let shown = url::Url::from_directory_path(&base).map_or_else(|()| base.display().to_string(), String::from);
        let caller = caller.as_deref().unwrap_or("<eval>");
        vu.log(
            Level::Warn,
            format!(
                "open() was used and is currently relative to '{shown}', but in the future it will be aligned with how `require` and imports work and will be relative to '{caller}'. This means that in the future open will open relative path relative to the module/file it is written in. You can future proof this by using `import.meta.resolve()` to get relative paths to the file it is written in the current k6 version."
            ),
        );
    }
    // The same text always names the same cache entry.
    Ok(onrush_script::normalise(&base, path))
}

/// Where relative paths of the main script start.
pub(crate) fn main_folder(vu: &Vu) -> PathBuf {
    let program = &vu.script().program;
    folder(vu, &program.modules[program.entry.0 as usize].specifier)
}

/// Where relative paths of a module start: its folder, or for what is no file the working folder.
fn folder(vu: &Vu, specifier: &str) -> PathBuf {
    match url::Url::parse(specifier).ok().and_then(|url| url.to_file_path().ok()) {
        Some(path) if path.file_name().is_some_and(|name| name != "-") => {
            path.parent().map_or_else(|| vu.script().working_dir.clone(), Path::to_owned)
        }
        _ => vu.script().working_dir.clone(),
    }
}

/// `ArrayBuffer.prototype.slice`, which in QuickJS refuses immutable buffers: cutting a file into pieces must work.
pub(super) fn slice(ctx: Ctx, this: &Handle, args: Args<'_>) -> JsResult {
    if !this.is_immutable_buffer() {
        let args: Vec<&Handle> = args.iter().collect();
        return ctx.call(vu().realm().stock_slice(), this, &args);
    }
    let length = this.array_buffer(ctx).map_or(0, <[u8]>::len);
    let place = |arg: &Handle, default: usize| -> JsResult<usize> {
        if arg.is_undefined() {
            return Ok(default);
        }
        let relative = arg.to_number(ctx)?.trunc();
        let absolute = if relative < 0.0 { relative + length as f64 } else { relative };
        // NaN becomes 0 here, as it should.
        Ok(absolute.max(0.0).min(length as f64) as usize)
    };
    let (start, end) = (place(args.at(0), 0)?, place(args.at(1), length)?);
    ctx.array_buffer(this.array_buffer(ctx).and_then(|bytes| bytes.get(start..end)).unwrap_or_default())
}
