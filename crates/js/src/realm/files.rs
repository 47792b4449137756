//! `open()`: files read once a process, shared by all VUs.
#![expect(unsafe_code, reason = "array buffers over shared file contents")]

use std::{
    collections::BTreeMap,
    ffi::c_void,
    io::Read,
    path::{Component, Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use onrush_archive::FileTree;
use onrush_quickjs_sys as sys;

use crate::{
    embed::{Args, Ctx, Handle, JsResult, Throw, Val},
    vu::context::{thread, vu},
};

/// Contents of the files scripts opened, by absolute path.
#[derive(Default)]
pub(crate) struct FileCache {
    files: Mutex<BTreeMap<PathBuf, Arc<[u8]>>>,
}

/// Largest file `open()` takes: it is held in memory for the whole run.
const FILE_BYTES_MAX: u64 = 2 << 30;

impl FileCache {
    fn get(&self, path: &Path) -> Option<Arc<[u8]>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner).get(path).cloned()
    }

    /// All files that were opened.
    pub(crate) fn all(&self) -> Vec<(PathBuf, Arc<[u8]>)> {
        let files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        files.iter().map(|(path, content)| (path.clone(), content.clone())).collect()
    }

    /// Reads from the archive the script comes from.
    fn archived(&self, files: &FileTree, path: &Path) -> Result<Arc<[u8]>, Throw> {
        let url = url::Url::from_file_path(path).ok();
        let content = url.and_then(|url| files.get(url.as_str()).cloned()).ok_or_else(|| {
            Throw::error(format!(
                "stat {}: no such file or directory: the archive does not contain it, and nothing outside an archive is read",
                path.display()
            ))
        })?;
        self.files.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_owned(), content.clone());
        Ok(content)
    }

    fn read(&self, path: &Path, shown: &str) -> Result<Arc<[u8]>, Throw> {
        let failed = |error: std::io::Error| Throw::error(format!("failed to open {shown}: {error}"));
        let metadata = std::fs::metadata(path).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => Throw::error(format!("stat {}: no such file or directory", path.display())),
            _ => failed(error),
        })?;
        if metadata.is_dir() {
            return Err(Throw::error(format!("open() can't be used with directories, path: \"{}\"", path.display())));
        }
        let mut bytes = Vec::with_capacity(metadata.len().min(FILE_BYTES_MAX) as usize);
        std::fs::File::open(path)
            .and_then(|file| file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes))
            .map_err(failed)?;
        if bytes.len() as u64 > FILE_BYTES_MAX {
            return Err(Throw::error(format!(
                "failed to open {shown}: it is larger than {} GiB",
                FILE_BYTES_MAX >> 30
            )));
        }
        let bytes: Arc<[u8]> = bytes.into();
        self.files.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_owned(), bytes.clone());
        Ok(bytes)
    }
}

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
    let path = resolve(&shown);
    let cache = &vu.script().files;
    let content = match cache.get(&path) {
        Some(content) => content,
        None if thread().config.init_pass => match &vu.script().archived {
            Some(files) => cache.archived(files, &path)?,
            None => cache.read(&path, &shown)?,
        },
        None => {
            return Err(Throw::error(format!(
                "open() can't be used with files that weren't previously opened during initialization (__VU==0), path: \"{}\"",
                path.display()
            )));
        }
    };
    if args.at(1).is_string() && args.at(1).to_text(ctx)? == "b" {
        binary(ctx, content)
    } else {
        Val::text(ctx, &content)
    }
}

/// Paths are relative to the entry script, as in k6.
fn resolve(shown: &str) -> PathBuf {
    let shown = shown.strip_prefix("file://").unwrap_or(shown);
    let script = vu().script();
    let entry = &script.program.modules[script.program.entry.0 as usize].specifier;
    let base = match url::Url::parse(entry).ok().and_then(|url| url.to_file_path().ok()) {
        Some(path) if path.file_name().is_some_and(|name| name != "-") => {
            path.parent().map_or_else(|| script.working_dir.clone(), Path::to_owned)
        }
        _ => script.working_dir.clone(),
    };
    normalise(&base.join(shown))
}

/// Removes `.` and `..` without asking the file system, so that the same text always names the same cache entry.
fn normalise(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                clean.pop();
            }
            other => clean.push(other),
        }
    }
    clean
}

/// An `ArrayBuffer` over the shared contents: no copy per VU.
///
/// Scripts may write into what `open(…, 'b')` gives them, and in k6 each VU has its own copy. The buffer is therefore
/// marked immutable: reading and sending it is free, and a write throws instead of changing other VUs' data.
pub(crate) fn binary(ctx: Ctx, content: Arc<[u8]>) -> JsResult {
    let len = content.len();
    let data = content.as_ptr().cast_mut();
    let owner = Box::into_raw(Box::new(content));
    // SAFETY: the Arc in `owner` keeps the bytes alive until QuickJS calls `release`; the buffer is immutable.
    unsafe {
        let buffer = Val::checked(sys::JS_NewArrayBuffer(ctx.raw(), data, len, 0, Some(release), owner.cast(), false));
        let buffer = match buffer {
            Ok(buffer) => buffer,
            Err(throw) => {
                drop(Box::from_raw(owner));
                return Err(throw);
            }
        };
        sys::JS_SetImmutableArrayBuffer(buffer.raw(), true);
        Ok(buffer)
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

/// QuickJS asks to reallocate (never: the buffer has a fixed length) or, with size 0, to free.
unsafe extern "C" fn release(_: *mut sys::JSRuntime, opaque: *mut c_void, _: *mut c_void, size: usize) -> *mut c_void {
    if size == 0 {
        // SAFETY: called once when the buffer dies; the pointer came from `Box::into_raw` above.
        drop(unsafe { Box::from_raw(opaque.cast::<Arc<[u8]>>()) });
    }
    std::ptr::null_mut()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_are_removed_by_text() {
        assert_eq!(normalise(Path::new("/a/./b/../c")), Path::new("/a/c"));
        assert_eq!(normalise(Path::new("/../a")), Path::new("/a"));
    }
}
