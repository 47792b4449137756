//! `client.load()` and `client.loadProtoset()`: files, from the disk or from the archive the script comes from.

use std::{
    path::{Path, PathBuf},
    rc::Rc,
    sync::Arc,
};

use onrush_grpc::{
    Schema,
    schema::{LoadError, Sources},
};

use super::schemas::LoadKey;
use crate::{
    embed::{Args, Ctx, Handle, JsResult, Throw, Val},
    vu::{Vu, context},
};

/// Import paths as a script gives them.
struct Disk {
    vu: Rc<Vu>,
    import_paths: Vec<PathBuf>,
}

impl Sources for Disk {
    fn read(&self, import_path: usize, name: &str) -> Result<Option<String>, String> {
        let Some(folder) = self.import_paths.get(import_path) else { return Ok(None) };
        let path = onrush_script::normalise(folder, Path::new(name));
        let is_there = match &self.vu.script().archived {
            Some(files) => url::Url::from_file_path(&path).is_ok_and(|url| files.get(url.as_str()).is_some()),
            None => path.is_file(),
        };
        if !is_there {
            return Ok(None);
        }
        let bytes = content(&self.vu, &path)?;
        String::from_utf8(bytes.to_vec()).map(Some).map_err(|_| format!("{}: invalid UTF-8", path.display()))
    }

    fn import_paths(&self) -> usize {
        self.import_paths.len()
    }
}

/// A file's bytes, read once a process.
fn content(vu: &Vu, path: &Path) -> Result<Arc<[u8]>, String> {
    let files = &vu.script().files;
    if let Some(content) = files.get(path) {
        return Ok(content);
    }
    let read = match &vu.script().archived {
        Some(archived) => files.archived(archived, path),
        None => files.read(path, &path.display().to_string()),
    };
    read.map_err(|throw| match throw {
        Throw::Error(text) => text,
        _ => format!("failed to read {}", path.display()),
    })
}

/// `load(importPaths, ...files)`
pub(super) fn files(ctx: Ctx, vu: &Vu, args: Args<'_>) -> JsResult<Arc<Schema>> {
    let base = folder(vu);
    let mut import_paths = Vec::new();
    for text in texts(ctx, args.at(0))? {
        import_paths.push(onrush_script::normalise(&base, Path::new(text.strip_prefix("file://").unwrap_or(&text))));
    }
    if import_paths.is_empty() {
        import_paths.push(base);
    }
    let mut files = Vec::new();
    for arg in args.iter().skip(1) {
        files.push(arg.to_text(ctx)?);
    }
    if files.iter().any(String::is_empty) {
        return Err(Throw::error("proto:\u{a0}file path must be populated"));
    }
    let key = LoadKey::Files(import_paths.clone(), files.clone());
    let last = import_paths[import_paths.len() - 1].clone();
    let vu = context::vu_rc();
    let schemas = &context::vu().script().schemas;
    let made = schemas.of_or_try(key, || {
        let sources = Rc::new(Disk { vu, import_paths: import_paths.clone() });
        let files: Vec<String> = files.iter().map(|file| below(&import_paths, file)).collect();
        Schema::compile(sources, &files)
    });
    made.map_err(|error| match error {
        LoadError::Missing(name) => {
            // k6: a path that starts at the root is looked for below the import path all the same.
            let path = onrush_script::normalise(&last, Path::new(name.trim_start_matches('/')));
            Throw::error(format!("stat {}: no such file or directory", path.display()))
        }
        LoadError::Invalid(text) => Throw::error(text),
    })
}

/// A file's name below its import path: what was given as an absolute path is cut.
fn below(import_paths: &[PathBuf], file: &str) -> String {
    let file = file.strip_prefix("file://").unwrap_or(file);
    let path = Path::new(file);
    if !path.is_absolute() {
        let clean = onrush_script::normalise(Path::new("/"), path);
        return clean.strip_prefix("/").map_or_else(|_| file.to_owned(), |path| path.display().to_string());
    }
    let below = import_paths.iter().find_map(|folder| path.strip_prefix(folder).ok());
    below.map_or_else(|| file.to_owned(), |path| path.display().to_string())
}

/// `loadProtoset(path)`
pub(super) fn protoset(ctx: Ctx, vu: &Vu, path: &Handle) -> JsResult<Arc<Schema>> {
    let shown = if path.is_set() { path.to_text(ctx)? } else { String::new() };
    let path = onrush_script::normalise(&folder(vu), Path::new(shown.strip_prefix("file://").unwrap_or(&shown)));
    vu.script().schemas.of_or_try(LoadKey::Set(path.clone()), || {
        let is_there = vu.script().archived.is_some() || path.exists();
        if !is_there {
            let missing = format!("stat {}: no such file or directory", path.display());
            return Err(Throw::error(format!("couldn't open protoset: {missing}")));
        }
        let bytes = content(vu, &path).map_err(|text| Throw::error(format!("couldn't open protoset: {text}")))?;
        Schema::from_descriptor_set(&bytes)
            .map_err(|error| Throw::error(format!("couldn't unmarshal protoset file {}: {error}", path.display())))
    })
}

/// The folder of the main script, or the working folder where that has none.
fn folder(vu: &Vu) -> PathBuf {
    let program = &vu.script().program;
    let specifier = &program.modules[program.entry.0 as usize].specifier;
    match url::Url::parse(specifier).ok().and_then(|url| url.to_file_path().ok()) {
        Some(path) if path.file_name().is_some_and(|name| name != "-") => {
            path.parent().map_or_else(|| vu.script().working_dir.clone(), Path::to_owned)
        }
        _ => vu.script().working_dir.clone(),
    }
}

fn texts(ctx: Ctx, value: &Handle) -> JsResult<Vec<String>> {
    if !value.is_object() {
        return Ok(Vec::new());
    }
    let mut texts = Vec::new();
    for index in 0..value.length(ctx)? {
        texts.push(value.get_index(ctx, index)?.to_text(ctx)?);
    }
    Ok(texts)
}

/// What `load()` returns: the methods, described.
pub(super) fn described(ctx: Ctx, schema: &Schema) -> JsResult {
    let list = ctx.array()?;
    for (index, method) in (0..).zip(schema.methods()) {
        let item = ctx.object()?;
        item.define(ctx, "package", Val::string(ctx, &method.package)?)?;
        item.define(ctx, "service", Val::string(ctx, &method.service)?)?;
        item.define(ctx, "full_method", Val::string(ctx, &method.path)?)?;
        item.define(ctx, "name", Val::string(ctx, &method.name)?)?;
        item.define(ctx, "is_client_stream", Val::bool(method.is_client_stream))?;
        item.define(ctx, "is_server_stream", Val::bool(method.is_server_stream))?;
        list.define_index(ctx, index, item)?;
    }
    Ok(list)
}
