//! From what is named on the command line to something that can be loaded: a script, or the contents of an archive.

use std::{
    fs::File,
    io::{self, Read},
    os::unix::fs::FileTypeExt as _,
    path::{Path, PathBuf},
    sync::Arc,
};

use onrush_archive::{Archive, FileTree, HEADER_BYTES, Metadata};
use onrush_plan::Options;
use onrush_script::{CompatibilityMode, Entry};

use crate::{
    args::{InputKind, ScriptArgs},
    failure::Failure,
};

/// What to load.
pub(crate) struct Input {
    /// The script.
    pub(crate) entry: Entry,
    /// Where relative names start.
    pub(crate) working_dir: PathBuf,
    /// What it was found as, for errors.
    pub(crate) name: String,
    /// What else an archive brought.
    pub(crate) archived: Option<Archived>,
}

/// What an archive brought beside the script.
pub(crate) struct Archived {
    /// The files the script may see.
    pub(crate) files: Arc<FileTree>,
    /// Its variables, compatibility mode and so on.
    pub(crate) metadata: Metadata,
    /// Its options, in the place of those that the script exports.
    pub(crate) options: Options,
    /// Keys among them that are no options.
    pub(crate) unknown: Vec<String>,
}

impl Input {
    /// Finds out what the file is, and reads it if it is an archive or the standard input.
    ///
    /// # Errors
    /// 255 for what cannot be read and archives that cannot be used.
    pub(crate) fn find(args: &ScriptArgs) -> Result<Self, Failure> {
        let working_dir = std::env::current_dir()
            .map_err(|error| Failure::other(format!("failed to find the working directory: {error}")))?;
        if let Some(source) = &args.source {
            let entry = Entry::Stdin(source.clone());
            return Ok(Self { entry, working_dir, name: args.file.clone(), archived: None });
        }
        if let Some(archive) = &args.archive {
            return Self::from_archive(args, &**archive, &args.file);
        }
        if args.file == "-" {
            return Self::from_stream(args, working_dir, io::stdin().lock(), "standard input");
        }
        if is_url(&args.file) && !args.file.starts_with("file://") && !Path::new(&args.file).exists() {
            let entry = Entry::File(PathBuf::from(&args.file));
            return Ok(Self { entry, working_dir, name: args.file.clone(), archived: None });
        }
        let path = PathBuf::from(args.file.strip_prefix("file://").unwrap_or(&args.file));
        let absolute = onrush_script::normalise(&working_dir, &path);
        let name = absolute.display().to_string();
        if absolute.is_dir() {
            return Err(Failure::other(format!("read {name}: is a directory")));
        }
        if is_stream(&absolute) {
            let pipe =
                File::open(&absolute).map_err(|error| Failure::other(format!("failed to read {name}: {error}")))?;
            return Self::from_stream(args, working_dir, pipe, &name);
        }
        let kind = args.kind.unwrap_or_else(|| kind(&absolute));
        if kind == InputKind::Script && is_compressed(&absolute) {
            return Err(Failure::other(format!("could not initialize '{}': it is compressed with gzip", args.file))
                .hint(format!("gunzip --stdout {} | onrush run -", args.file)));
        }
        if kind == InputKind::Script {
            return Ok(Self { entry: Entry::File(path), working_dir, name, archived: None });
        }
        let failed = |reason: String| failed_to(args, &name, &reason);
        let file = File::open(&absolute).map_err(|error| failed(error.to_string()))?;
        // Reading blocks of 512 bytes from a file takes one system call each.
        Self::from_archive(args, io::BufReader::with_capacity(READ_BYTES, file), &name)
    }

    /// From what can be read but once: the standard input, or a pipe that a shell has for `<(command)`.
    fn from_stream(
        args: &ScriptArgs,
        working_dir: PathBuf,
        mut stream: impl Read,
        place: &str,
    ) -> Result<Self, Failure> {
        let wrong = |reason: &str| Failure::other(format!("failed to read the script from {place}: {reason}"));
        let failed = |error: io::Error| wrong(&error.to_string());
        let mut start = Vec::with_capacity(HEADER_BYTES);
        stream.by_ref().take(HEADER_BYTES as u64).read_to_end(&mut start).map_err(failed)?;
        let is_archive =
            args.kind.map_or_else(|| onrush_archive::is_archive(&start), |kind| kind == InputKind::Archive);
        if is_archive {
            return Self::from_archive(args, start.as_slice().chain(stream), "/-");
        }
        stream.take(SOURCE_BYTES_MAX + 1 - start.len() as u64).read_to_end(&mut start).map_err(failed)?;
        if start.len() as u64 > SOURCE_BYTES_MAX {
            return Err(Failure::other(format!("the script from {place} is larger than {SOURCE_BYTES_MAX} bytes")));
        }
        let source = text(&start).map_err(|reason| wrong(&reason))?;
        Ok(Self { entry: Entry::Stdin(source), working_dir, name: "/-".to_owned(), archived: None })
    }

    fn from_archive(args: &ScriptArgs, source: impl Read, name: &str) -> Result<Self, Failure> {
        let failed = |reason: String| failed_to(args, name, &reason);
        let archive = Archive::read(source).map_err(|error| failed(error.to_string()))?;
        let Archive { mut metadata, data, mut files } = archive;
        // k6: what has no scheme is a file.
        for place in [&mut metadata.filename, &mut metadata.pwd] {
            if place.starts_with('/') {
                place.insert_str(0, "file://");
            }
        }
        let options =
            onrush_plan::parse_json(&metadata.options.to_string()).map_err(|error| failed(error.to_string()))?;
        let entry = if metadata.filename == STDIN {
            Entry::Stdin(text(&data).map_err(|reason| failed(format!("data: {reason}")))?)
        } else if files.insert(&metadata.filename, data) {
            // Not as a path: what is no file URL goes to the resolver as it is, which knows what to say.
            Entry::File(path_of(&metadata.filename).unwrap_or_else(|| PathBuf::from(&metadata.filename)))
        } else {
            return Err(failed(format!("metadata.json: the script's name '{}' is no file URL", metadata.filename)));
        };
        let working_dir = path_of(&metadata.pwd).unwrap_or_else(|| PathBuf::from("/"));
        let archived =
            Archived { files: Arc::new(files), metadata, options: options.options, unknown: options.unknown };
        Ok(Self { entry, working_dir, name: name.to_owned(), archived: Some(archived) })
    }

    /// How the script is read: as the flags say, else the archive, else the default.
    ///
    /// # Errors
    /// 255 for an archive with a mode that does not exist.
    pub(crate) fn compatibility(&self, args: &ScriptArgs) -> Result<CompatibilityMode, Failure> {
        match (args.compatibility, &self.archived) {
            (Some(mode), _) => Ok(mode),
            (None, Some(archived)) if !archived.metadata.compatibility_mode.is_empty() => {
                let mode = archived.metadata.compatibility_mode.parse();
                mode.map_err(|error: onrush_script::UnknownMode| failed_to(args, &self.name, &error.to_string()))
            }
            _ => Ok(CompatibilityMode::default()),
        }
    }
}

/// The name of a script from the standard input.
pub(crate) const STDIN: &str = "file:///-";
/// Largest source file that is read: bundles of real test suites have a few megabytes.
pub(super) const SOURCE_BYTES_MAX: u64 = 64 << 20;
/// Bytes read from an archive at once.
const READ_BYTES: usize = 256 << 10;

/// Whether what is named on the command line is a URL.
pub(crate) fn is_url(name: &str) -> bool {
    name.split_once("://").is_some_and(|(scheme, _)| {
        scheme.starts_with(|first: char| first.is_ascii_alphabetic())
            && scheme.bytes().all(|b| b.is_ascii_alphanumeric())
    })
}

/// What a file looks like. What cannot be read is a script: there the error is found again, and explained.
fn kind(path: &Path) -> InputKind {
    let mut start = [0; HEADER_BYTES];
    let has_start = File::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok();
    if has_start && onrush_archive::is_archive(&start) { InputKind::Archive } else { InputKind::Script }
}

/// Whether what is read of it is gone. To look at its start would take that from whoever reads it then.
fn is_stream(path: &Path) -> bool {
    path.metadata().is_ok_and(|metadata| {
        let kind = metadata.file_type();
        kind.is_fifo() || kind.is_char_device()
    })
}

fn is_compressed(path: &Path) -> bool {
    const GZIP: [u8; 2] = [0x1f, 0x8b];
    let mut start = [0; 2];
    File::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok() && start == GZIP
}

fn failed_to(args: &ScriptArgs, name: &str, reason: &str) -> Failure {
    Failure::other(format!(
        "could not initialize '{}': could not load test archive bundle 'file://{name}': {reason}",
        args.file
    ))
}

fn text(bytes: &[u8]) -> Result<String, String> {
    let text = str::from_utf8(bytes).map_err(|error| {
        let line = bytes[..error.valid_up_to()].iter().filter(|byte| **byte == b'\n').count() + 1;
        format!("it is not valid UTF-8 (line {line})")
    })?;
    Ok(text.to_owned())
}

/// The path of a `file://` URL as it stands there; nothing is opened by it.
fn path_of(url: &str) -> Option<PathBuf> {
    let path = url.strip_prefix("file://")?;
    path.starts_with('/').then(|| onrush_script::path_of_url(url)).flatten()
}
