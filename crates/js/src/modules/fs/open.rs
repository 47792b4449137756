//! `fs.open()`.

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use super::File;
use crate::{
    embed::{Args, Ctx, Exception, Handle, JsResult, Val},
    modules::promise::{named_reason, plain_reason, settled_later},
    realm::files::main_folder,
    vu::{
        Vu,
        context::{thread, vu},
    },
};

/// Why a file cannot be opened.
enum Refusal {
    Named(&'static str, String),
    /// An error of the system, in words.
    Plain(String),
}

pub(super) fn open(ctx: Ctx, _: &Handle, args: Args<'_>) -> JsResult {
    let result = match opened(ctx, args.at(0))? {
        Ok(file) => Ok(file),
        Err(Refusal::Named(name, message)) => Err(named_reason(ctx, name, &message)?),
        Err(Refusal::Plain(text)) => Err(plain_reason(ctx, &text)?),
    };
    settled_later(ctx, result)
}

fn opened(ctx: Ctx, path: &Handle) -> JsResult<Result<Val, Refusal>> {
    let failed = |name, reason: &str| Ok(Err(Refusal::Named(name, format!("open() failed; reason: {reason}"))));
    let vu = vu();
    if !vu.in_init() {
        return failed("ForbiddenError", "opening a file is allowed only in the Init context");
    }
    if !path.is_set() {
        return failed("TypeError", "path cannot be null or undefined");
    }
    let shown = path.to_text(ctx)?;
    if shown.is_empty() {
        return failed("TypeError", "path cannot be empty");
    }
    let path = resolve(vu, &shown);
    Ok(match content(ctx, vu, &path, &shown) {
        Ok(content) => Ok(File::create(ctx, &path, content)?),
        Err(refusal) => Err(refusal),
    })
}

/// k6: a path is relative to the main script's folder, wherever the call is.
fn resolve(vu: &Vu, shown: &str) -> PathBuf {
    let path = Path::new(shown.strip_prefix("file://").unwrap_or(shown));
    let base = if path.is_absolute() { PathBuf::from("/") } else { main_folder(vu) };
    onrush_script::normalise(&base, path)
}

fn content(ctx: Ctx, vu: &Vu, path: &Path, shown: &str) -> Result<Arc<[u8]>, Refusal> {
    let cache = &vu.script().files;
    if let Some(content) = cache.get(path) {
        return Ok(content);
    }
    let missing = || Refusal::Named("NotFoundError", format!("no such file or directory \"{}\"", path.display()));
    if let Some(files) = &vu.script().archived {
        return cache.archived(files, path).map_err(|_| missing());
    }
    let metadata = std::fs::metadata(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => missing(),
        _ => Refusal::Plain(format!("cannot open \"{}\": {error}", path.display())),
    })?;
    if metadata.is_dir() {
        let message = format!("cannot open \"{}\": opening a directory is not supported", path.display());
        return Err(Refusal::Named("InvalidResourceError", message));
    }
    if !thread().config.init_pass {
        return Err(Refusal::Plain(format!(
            "open() failed, unable to verify if \"{}\" exists; reason: path never requested before",
            path.display()
        )));
    }
    cache.read(path, shown).map_err(|throw| {
        let Exception { message, .. } = ctx.take_exception(throw);
        Refusal::Plain(message.strip_prefix("GoError: ").unwrap_or(&message).to_owned())
    })
}
