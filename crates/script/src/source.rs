//! Reading source files and source maps: all the input and output of this crate.

use std::{fs::File, io::Read, path::Path, sync::Arc};

use onrush_archive::FileTree;
use url::Url;

use crate::{
    error::ErrorKind,
    map::{self, Map},
    specifier::{self, Unresolved},
};

/// The largest external source map that is read, in bytes. Maps embed their sources, so they are larger than bundles.
pub const SOURCE_MAP_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// Reads a source file: from the archive, if the script comes from one. `request` is how the script calls it.
pub(crate) fn read(
    path: &Path,
    specifier: &str,
    request: &str,
    archived: Option<&FileTree>,
    bytes_max: u64,
) -> Result<Vec<u8>, (ErrorKind, Unresolved)> {
    let read = match archived {
        Some(files) => match files.get(specifier) {
            Some(bytes) if bytes.len() as u64 > bytes_max => Err(ReadError::TooLarge),
            Some(bytes) => Ok(bytes.to_vec()),
            None => {
                let missing = Unresolved::new(
                    specifier::not_found(request).message,
                    "the archive does not contain it; nothing outside an archive is read",
                );
                return Err((ErrorKind::Resolve, missing));
            }
        },
        None => read_limited(path, bytes_max),
    };
    read.map_err(|error| match error {
        ReadError::Io(error) if error.kind() == std::io::ErrorKind::NotFound => {
            (ErrorKind::Resolve, specifier::not_found(request))
        }
        // k6: its text for folders.
        ReadError::Io(error) => failed(format!("read {}: {}", path.display(), cause(&error))),
        ReadError::TooLarge => failed(format!("{} is larger than {bytes_max} bytes", path.display())),
    })
}

/// The text of a file that was read from `path`.
pub(crate) fn text(bytes: Vec<u8>, path: &Path) -> Result<Arc<str>, (ErrorKind, Unresolved)> {
    decode(bytes).map_err(|reason| failed(format!("{} {}", path.display(), reason.trim_start_matches("it "))))
}

fn failed(message: String) -> (ErrorKind, Unresolved) {
    (ErrorKind::Read, Unresolved::new(message, ""))
}

/// The text of a source file. The reason it has none begins with `it`.
pub(crate) fn decode(bytes: Vec<u8>) -> Result<Arc<str>, String> {
    let text = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let line = error.as_bytes()[..at].iter().filter(|b| **b == b'\n').count() + 1;
        format!("it is not valid UTF-8 (line {line})")
    })?;
    // A byte order mark is no part of the program; the engine would count it as a column.
    Ok(text.strip_prefix('\u{feff}').unwrap_or(&text).into())
}

enum ReadError {
    Io(std::io::Error),
    TooLarge,
}

fn read_limited(path: &Path, bytes_max: u64) -> Result<Vec<u8>, ReadError> {
    let file = File::open(path).map_err(ReadError::Io)?;
    let mut bytes = Vec::new();
    // Not by the file's length: it may be a pipe or a device.
    file.take(bytes_max.saturating_add(1)).read_to_end(&mut bytes).map_err(ReadError::Io)?;
    if u64::try_from(bytes.len()).is_ok_and(|len| len > bytes_max) {
        return Err(ReadError::TooLarge);
    }
    Ok(bytes)
}

/// An I/O error as Go (and so k6) words it, where it matters.
fn cause(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::IsADirectory => "is a directory".to_owned(),
        std::io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        _ => error.to_string(),
    }
}

/// A file that is no module: its URL and its contents.
type Asset = (String, Arc<[u8]>);

/// Where a source map is.
pub(crate) enum FoundMap {
    /// Here, and the file it was read from if it has one of its own.
    Read(Map, Option<Asset>),
    /// On a server.
    Remote(Url),
}

/// The map that `//# sourceMappingURL=` names.
pub(crate) fn map(url: &str, specifier: &str, archived: Option<&FileTree>) -> Result<FoundMap, String> {
    let base = Url::parse(specifier).map_err(|error| error.to_string())?;
    if url.starts_with("data:") {
        return Ok(FoundMap::Read(Map::parse(&map::data_url(url)?, Some(&base))?, None));
    }
    let location = base.join(url).map_err(|error| error.to_string())?;
    let bytes: Arc<[u8]> = if let Some(files) = archived {
        files.get(location.as_str()).ok_or_else(|| format!("{location} is not in the archive"))?.clone()
    } else if location.scheme() == "https" {
        return Ok(FoundMap::Remote(location));
    } else if location.scheme() == "file" && base.scheme() == "file" {
        let path = location.to_file_path().map_err(|()| format!("{location} is not a path"))?;
        match read_limited(&path, SOURCE_MAP_BYTES_MAX) {
            Ok(bytes) => bytes.into(),
            Err(ReadError::Io(error)) => return Err(format!("{}: {}", path.display(), cause(&error))),
            Err(ReadError::TooLarge) => {
                return Err(format!("{} is larger than {SOURCE_MAP_BYTES_MAX} bytes", path.display()));
            }
        }
    } else {
        return Err(format!("{location} may not be read from {specifier}"));
    };
    let json = str::from_utf8(&bytes).map_err(|_| "not UTF-8".to_owned())?;
    let map = Map::parse(json, Some(&location))?;
    Ok(FoundMap::Read(map, Some((location.into(), bytes))))
}
