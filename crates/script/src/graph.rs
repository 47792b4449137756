//! Loading: reads the script, follows its imports, and puts the program together.
//!
//! A static import that fails makes its importer fail, and so on up to the script. What only `require()` or `import()`
//! asks for may fail: the error is kept for the moment the call is executed, as many scripts never get there.

mod assemble;
mod extension;
mod fetching;

use std::{
    collections::VecDeque,
    path::{Path, PathBuf},
    sync::Arc,
};

use onrush_archive::FileTree;
use onrush_extension::Extension;
use rustc_hash::{FxHashMap, FxHashSet};
use url::Url;

use crate::{
    analyze::Request,
    compile::{Compiled, Language, compile},
    error::{ErrorKind, ScriptError},
    map,
    position::{Lines, Position},
    program::{ImportKind, Program},
    remote::{Fetch, REMOTE_DEPTH_MAX, Remote, Unfetched},
    source::{self, FoundMap},
    specifier::{self, Base, Resolved, STDIN, Unresolved},
};

/// What loading depends on besides the script.
#[derive(Debug, Clone)]
pub struct LoadOptions {
    /// Where relative script names, and imports of a script from standard input, start. Absolute.
    pub working_dir: PathBuf,
    /// How scripts are read.
    pub compatibility_mode: CompatibilityMode,
    /// The names of the built-in modules that exist, such as `k6` and `k6/http`.
    pub builtins: &'static [&'static str],
    /// The largest source file that is read, in bytes.
    pub source_bytes_max: u64,
    /// The files of the archive the script comes from. Then nothing is read from the disk, and nothing fetched.
    pub archived: Option<Arc<FileTree>>,
    /// Who gets modules from servers. Without it, imports of URLs fail.
    pub remote: Option<Arc<dyn Remote>>,
}

/// k6's `--compatibility-mode`. All modes load scripts alike: they differ in the globals the engine offers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CompatibilityMode {
    /// The default.
    #[default]
    Extended,
    /// Without the alias `global`.
    Base,
    /// k6: deprecated, behaves as extended.
    ExperimentalEnhanced,
}

impl std::str::FromStr for CompatibilityMode {
    type Err = UnknownMode;

    fn from_str(text: &str) -> Result<Self, UnknownMode> {
        match text {
            "extended" => Ok(Self::Extended),
            "base" => Ok(Self::Base),
            "experimental_enhanced" => Ok(Self::ExperimentalEnhanced),
            other => Err(UnknownMode(other.to_owned())),
        }
    }
}

/// A compatibility mode that does not exist. k6: its text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid compatibility mode \"{0}\". Use: \"extended\", \"base\", \"experimental_enhanced\"")]
pub struct UnknownMode(pub String);

/// The script to load.
#[derive(Debug, Clone)]
pub enum Entry {
    /// A file, relative to [`LoadOptions::working_dir`].
    File(PathBuf),
    /// The text of a script read from standard input (`-`). It may be TypeScript.
    Stdin(String),
}

/// The most modules a script may consist of.
pub const MODULES_MAX: usize = 10_000;

/// Stacks to try for the thread that compiles. The compiler recurses with the nesting of the source: up to 2.6 KiB a
/// bracket ([`crate::compile::NESTING_MAX`] of them take 130 MiB), up to 1 KiB an operator that nests to the right. It
/// is reserved, and not used until it is needed; where even reserving is limited, a smaller one has to do.
const STACK_BYTES: [usize; 2] = [512 * 1024 * 1024, 32 * 1024 * 1024];

/// A request whose name is no literal, known because the code that makes it has run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Computed {
    /// The specifier of the module that asks.
    pub importer: String,
    /// The name it asks for.
    pub request: String,
    /// How it asks.
    pub kind: ImportKind,
}

/// Loads a script and everything it imports.
///
/// # Errors
/// As [`load_with`].
pub fn load(entry: Entry, options: &LoadOptions) -> Result<Program, ScriptError> {
    load_with(entry, options, &[])
}

/// Loads a script, everything it imports, and what these modules ask for by computed names.
///
/// # Errors
/// The first failure in the order of the imports: the script or a module it needs cannot be resolved or read, or is
/// not valid.
pub fn load_with(entry: Entry, options: &LoadOptions, computed: &[Computed]) -> Result<Program, ScriptError> {
    let internal = |message: String| ScriptError::new(ErrorKind::Internal, STDIN, message);
    std::thread::scope(|scope| {
        let entry = &entry;
        let spawn = |bytes| {
            std::thread::Builder::new()
                .name("script-loader".to_owned())
                .stack_size(bytes)
                .spawn_scoped(scope, move || Loader::new(options, computed).load(entry))
        };
        spawn(STACK_BYTES[0])
            .or_else(|_| spawn(STACK_BYTES[1]))
            .map_err(|error| internal(format!("cannot start a thread to compile on: {error}")))?
            .join()
            .unwrap_or_else(|_| Err(internal("the script compiler failed on this input".to_owned())))
    })
}

/// Modules are found breadth first; `drafts[0]` is the script.
struct Loader<'o> {
    options: &'o LoadOptions,
    /// Further requests of its modules.
    computed: &'o [Computed],
    drafts: Vec<Draft>,
    by_specifier: FxHashMap<String, usize>,
    /// Files found and not read yet: index of the draft, and the request to name in errors.
    queue: VecDeque<(usize, String)>,
    /// The same for modules on servers: they are fetched together once no file is left to read.
    to_fetch: Vec<(usize, String)>,
    /// Source maps on servers that belong to drafts.
    maps: Vec<(usize, Url)>,
    fetch: Option<Box<dyn Fetch + 'o>>,
    extensions: usize,
    warnings: Vec<String>,
    assets: Vec<(String, Arc<[u8]>)>,
}

/// A module on its way.
struct Draft {
    specifier: String,
    path: PathBuf,
    base: Base,
    source: Arc<str>,
    outcome: Result<Compiled, ScriptError>,
    edges: Vec<Edge>,
    /// How many modules lie between it and the script.
    depth: u32,
    /// Why it is not there, if it is on a server.
    unfetched: Option<Unfetched>,
    /// What it is if it is WebAssembly.
    extension: Option<Arc<Extension>>,
}

/// One request of a draft, in the order of [`crate::analyze::Analysis::requests`].
struct Edge {
    kind: ImportKind,
    position: Position,
    target: Result<EdgeTarget, ScriptError>,
}

/// A file that has been read.
enum Source {
    Text(Arc<str>),
    Extension(Vec<u8>),
}

enum EdgeTarget {
    Builtin(String),
    Draft(usize),
}

impl<'o> Loader<'o> {
    fn new(options: &'o LoadOptions, computed: &'o [Computed]) -> Self {
        Self {
            options,
            computed,
            drafts: Vec::new(),
            by_specifier: FxHashMap::default(),
            queue: VecDeque::new(),
            to_fetch: Vec::new(),
            maps: Vec::new(),
            fetch: None,
            extensions: 0,
            warnings: Vec::new(),
            assets: Vec::new(),
        }
    }

    fn load(mut self, entry: &Entry) -> Result<Program, ScriptError> {
        match entry {
            Entry::Stdin(source) => {
                let dir = self.options.working_dir.clone();
                self.draft(STDIN.to_owned(), dir.join("-"), Base::Folder(dir), 0);
                self.compile(0, source.as_str().into());
            }
            Entry::File(path) => self.entry_file(path)?,
        }
        loop {
            self.read_queue();
            if self.to_fetch.is_empty() {
                break;
            }
            self.fetch_modules();
        }
        self.fetch_maps();
        self.attribute_unread();
        let failed = self.failed();
        if failed[0] {
            return Err(self.failure(0, &failed));
        }
        Ok(self.assemble(&failed))
    }

    fn entry_file(&mut self, path: &Path) -> Result<(), ScriptError> {
        let request = path.to_string_lossy().into_owned();
        if request.contains("://") && (self.options.archived.is_some() || !path.exists()) {
            // A URL: not a file, but the resolver knows what to say.
            let base = Base::Folder(self.options.working_dir.clone());
            match specifier::resolve(&base, &request, self.options.builtins) {
                Err(unresolved) => return Err(entry_error(&request, unresolved)),
                Ok(Resolved::Remote { specifier }) => {
                    let url =
                        Url::parse(&specifier).map_err(|_| entry_error(&request, specifier::not_found(&request)))?;
                    self.draft(specifier, PathBuf::from(url.path()), Base::Remote(url), 0);
                    self.queue.push_back((0, request));
                    return Ok(());
                }
                Ok(_) => {}
            }
        }
        let path = specifier::normalise(&self.options.working_dir, path);
        let Some(specifier) = specifier::url_of_path(&path) else {
            return Err(entry_error(&request, specifier::not_found(&request)));
        };
        let base = Base::Folder(parent(&path));
        self.draft(specifier, path, base, 0);
        self.queue.push_back((0, request));
        Ok(())
    }

    /// Reads the files that were found, until they name no further ones.
    fn read_queue(&mut self) {
        while let Some((index, request)) = self.queue.pop_front() {
            let draft = &self.drafts[index];
            let archived = self.options.archived.as_deref();
            if archived.is_none() && matches!(draft.base, Base::Remote(_)) {
                self.to_fetch.push((index, request));
                continue;
            }
            let bytes_max = self.options.source_bytes_max;
            let read = source::read(&draft.path, &draft.specifier, &request, archived, bytes_max);
            let is_extension = extension::is_extension(&draft.path) && index != 0;
            let read = read.and_then(|bytes| {
                if is_extension {
                    Ok(Source::Extension(bytes))
                } else {
                    source::text(bytes, &draft.path).map(Source::Text)
                }
            });
            match read {
                Ok(Source::Text(source)) => self.compile(index, source),
                Ok(Source::Extension(bytes)) => self.extension(index, bytes.into()),
                Err((kind, unresolved)) => {
                    let specifier = &self.drafts[index].specifier;
                    let error = ScriptError::new(kind, specifier, unresolved.message);
                    self.drafts[index].outcome = Err(error.with_hint(unresolved.hint));
                }
            }
        }
    }

    fn draft(&mut self, specifier: String, path: PathBuf, base: Base, depth: u32) -> usize {
        let index = self.drafts.len();
        self.by_specifier.insert(specifier.clone(), index);
        let unread = ScriptError::new(ErrorKind::Internal, &specifier, "not read");
        self.drafts.push(Draft {
            specifier,
            path,
            base,
            source: "".into(),
            outcome: Err(unread),
            edges: Vec::new(),
            depth,
            unfetched: None,
            extension: None,
        });
        index
    }

    fn compile(&mut self, index: usize, source: Arc<str>) {
        let draft = &mut self.drafts[index];
        let language = if draft.specifier == STDIN || draft.path.extension().is_some_and(|e| e == "ts") {
            Language::MaybeTypeScript
        } else {
            Language::JavaScript
        };
        draft.source = Arc::clone(&source);
        let mut compiled = match compile(&draft.specifier, &source, language) {
            Ok(compiled) => compiled,
            Err(error) => {
                draft.outcome = Err(error);
                return;
            }
        };
        if compiled.map.is_none()
            && let Some(url) = map::mapping_url(&source)
        {
            match source::map(url, &draft.specifier, self.options.archived.as_deref()) {
                Ok(FoundMap::Read(map, file)) => {
                    compiled.map = Some(map);
                    self.assets.extend(file);
                }
                Ok(FoundMap::Remote(url)) => self.maps.push((index, url)),
                Err(reason) => self.warn_of_map(index, &reason),
            }
        }
        let draft = &self.drafts[index];
        for Computed { importer, request, kind } in self.computed {
            if *importer == draft.specifier {
                compiled.analysis.request_computed(request, *kind);
            }
        }
        let lines = Lines::new(&source);
        let base = draft.base.clone();
        let (specifier, depth) = (draft.specifier.clone(), draft.depth);
        let mut edges = Vec::with_capacity(compiled.analysis.requests.len());
        for request in &compiled.analysis.requests {
            let position = lines.position(&source, request.offset);
            let target = self.target(&base, depth, request).map_err(|unresolved| {
                ScriptError::new(ErrorKind::Resolve, &specifier, unresolved.message)
                    .at(&source, position, request.len)
                    .with_hint(unresolved.hint)
            });
            edges.push(Edge { kind: request.kind, position, target });
        }
        let draft = &mut self.drafts[index];
        draft.edges = edges;
        draft.outcome = Ok(compiled);
    }

    fn target(&mut self, base: &Base, depth: u32, request: &Request) -> Result<EdgeTarget, Unresolved> {
        let (path, specifier, base) = match specifier::resolve(base, &request.text, self.options.builtins)? {
            Resolved::Builtin(name) => return Ok(EdgeTarget::Builtin(name)),
            Resolved::File { path, specifier } => {
                let folder = Base::Folder(parent(&path));
                (path, specifier, folder)
            }
            Resolved::Remote { specifier } => {
                // It is a URL: the resolver made it from one.
                let url = Url::parse(&specifier).map_err(|error| Unresolved::new(error.to_string(), ""))?;
                (PathBuf::from(url.path()), specifier, Base::Remote(url))
            }
        };
        if let Some(&index) = self.by_specifier.get(&specifier) {
            return Ok(EdgeTarget::Draft(index));
        }
        if path.extension().is_some_and(|e| e.eq_ignore_ascii_case("json")) {
            let hint = match base {
                Base::Folder(_) => format!("use JSON.parse(open({:?}))", request.text),
                Base::Remote(_) => "download it and use JSON.parse(open(…))".to_owned(),
            };
            return Err(Unresolved::new(format!("JSON files cannot be imported: {:?}", request.text), hint));
        }
        if extension::is_extension(&path) {
            self.count_extension()?;
        }
        if self.drafts.len() >= MODULES_MAX {
            return Err(Unresolved::new(
                format!("the script consists of more than {MODULES_MAX} modules"),
                "bundle the script",
            ));
        }
        if depth >= REMOTE_DEPTH_MAX && matches!(base, Base::Remote(_)) {
            return Err(Unresolved::new(
                format!("more than {REMOTE_DEPTH_MAX} modules import one another up to {:?}", request.text),
                "bundle the module",
            ));
        }
        let index = self.draft(specifier, path, base, depth + 1);
        self.queue.push_back((index, request.text.clone()));
        Ok(EdgeTarget::Draft(index))
    }

    /// A module that is not there is an error at the import that names it, not in the module. One from a server that
    /// is no JavaScript says who wants it.
    fn attribute_unread(&mut self) {
        let unread: Vec<Option<(ScriptError, Option<Unfetched>)>> = self
            .drafts
            .iter()
            .map(|draft| match &draft.outcome {
                Err(error) if matches!(error.kind, ErrorKind::Resolve | ErrorKind::Read | ErrorKind::Fetch) => {
                    Some((error.clone(), draft.unfetched.clone()))
                }
                _ => None,
            })
            .collect();
        let urls: Vec<String> = self.drafts.iter().map(|draft| draft.specifier.clone()).collect();
        let mut importers: Vec<Option<String>> = vec![None; self.drafts.len()];
        for draft in &mut self.drafts {
            let Ok(compiled) = &draft.outcome else {
                continue;
            };
            for (edge, request) in draft.edges.iter_mut().zip(&compiled.analysis.requests) {
                let Ok(EdgeTarget::Draft(index)) = edge.target else { continue };
                let Position { line, column } = edge.position;
                importers[index].get_or_insert_with(|| format!("{}:{line}:{column}", draft.specifier));
                if let Some((error, unfetched)) = &unread[index] {
                    let mut error = error.clone();
                    error.specifier.clone_from(&draft.specifier);
                    // Name the file as this importer does.
                    match unfetched {
                        Some(unfetched) => error.message = unfetched.named(&request.text, &urls[index]).message,
                        None if error.kind == ErrorKind::Resolve => {
                            error.message = specifier::not_found(&request.text).message;
                        }
                        None => {}
                    }
                    edge.target = Err(error.at(&draft.source, edge.position, request.len));
                }
            }
        }
        for (draft, importer) in self.drafts.iter_mut().zip(importers) {
            if let (Err(error), Base::Remote(_), Some(importer)) = (&mut draft.outcome, &draft.base, importer)
                && matches!(error.kind, ErrorKind::Syntax | ErrorKind::MixedStyles)
            {
                error.hint = format!("{importer} imports it: see whether the URL leads to a module");
            }
        }
    }

    /// Which drafts cannot be used: those with an error, and those that statically import them.
    fn failed(&self) -> Vec<bool> {
        let mut failed: Vec<bool> = self.drafts.iter().map(|d| d.outcome.is_err()).collect();
        loop {
            let mut changed = false;
            for (index, draft) in self.drafts.iter().enumerate() {
                if failed[index] {
                    continue;
                }
                let broken =
                    draft.edges.iter().filter(|edge| edge.kind == ImportKind::Static).any(|edge| match edge.target {
                        Err(_) => true,
                        Ok(EdgeTarget::Draft(target)) => failed[target],
                        Ok(EdgeTarget::Builtin(_)) => false,
                    });
                if broken {
                    failed[index] = true;
                    changed = true;
                }
            }
            if !changed {
                return failed;
            }
        }
    }

    /// The error of a failed draft: the first in the order in which modules would be evaluated.
    fn failure(&self, index: usize, failed: &[bool]) -> ScriptError {
        let mut seen = FxHashSet::default();
        let mut stack = vec![index];
        // Depth first: the edges of a draft are pushed in reverse.
        while let Some(index) = stack.pop() {
            if !seen.insert(index) {
                continue;
            }
            let draft = &self.drafts[index];
            if let Err(error) = &draft.outcome {
                return error.clone();
            }
            let edges = draft.edges.iter().filter(|e| e.kind == ImportKind::Static);
            let broken = edges.clone().position(|edge| match &edge.target {
                Err(_) => true,
                Ok(EdgeTarget::Draft(target)) => failed[*target] && !seen.contains(target),
                Ok(EdgeTarget::Builtin(_)) => false,
            });
            let Some(broken) = broken else { continue };
            if let Some(Edge { target: Err(error), .. }) = edges.clone().nth(broken) {
                return error.clone();
            }
            let targets: Vec<usize> = edges
                .skip(broken)
                .filter_map(|edge| match edge.target {
                    Ok(EdgeTarget::Draft(target)) if failed[target] => Some(target),
                    _ => None,
                })
                .collect();
            stack.extend(targets.into_iter().rev());
        }
        let specifier = &self.drafts[index].specifier;
        ScriptError::new(ErrorKind::Internal, specifier, "an import failed")
    }
}

fn entry_error(request: &str, unresolved: Unresolved) -> ScriptError {
    ScriptError::new(ErrorKind::Resolve, request, unresolved.message).with_hint(unresolved.hint)
}

fn parent(path: &Path) -> PathBuf {
    path.parent().unwrap_or(path).to_path_buf()
}
