//! `open()`: files read once a process, shared by all VUs. What VUs hold of them is in `shared_bytes`.

use std::{
    collections::BTreeMap,
    io::Read,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use onrush_archive::FileTree;

use crate::{
    embed::{Args, Ctx, Handle, JsResult, Throw},
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
        thread().shared_bytes.buffer(ctx, &content)
    } else {
        thread().shared_bytes.text(ctx, vu, &path, &content)
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
    // The same text always names the same cache entry.
    onrush_script::normalise(&base, Path::new(shown))
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
