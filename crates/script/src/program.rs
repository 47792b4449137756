//! The result of loading: modules as plain data, and the way back from the engine's positions to the user's source.

use std::{
    fmt::Write as _,
    sync::{Arc, OnceLock},
};

use onrush_extension::Extension;
use rustc_hash::FxHashMap;

use crate::{
    error::{ErrorKind, ScriptError},
    map::Map,
    position::{Lines, Position},
    specifier::{self, Base, Resolved},
};

/// All modules of a script. Immutable: one copy serves all threads.
#[derive(Debug)]
pub struct Program {
    /// Every module reachable from the entry by `import`, `export ... from`, `require()` and `import()`, with literal
    /// names or those given to [`crate::load_with`]. Indexed by [`ModuleIndex`].
    pub modules: Vec<Module>,
    /// The script itself.
    pub entry: ModuleIndex,
    /// What the user should be told although the script can run, one line each (broken source maps).
    pub warnings: Vec<String>,
    /// Files read beside the modules, by their URLs: source maps.
    pub assets: Vec<(String, Arc<[u8]>)>,
    /// The modules that are extensions, in the order of `modules`.
    pub extensions: Vec<ModuleIndex>,
    pub(crate) by_specifier: FxHashMap<String, ModuleIndex>,
    pub(crate) builtins: &'static [&'static str],
    pub(crate) finding: Option<Finding>,
}

/// The position of a module in [`Program::modules`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ModuleIndex(pub u32);

/// One source file, ready to be compiled.
#[derive(Debug)]
pub struct Module {
    /// `file:///abs/path.js`, percent-encoded, or `https://...`: the module's name in the engine and in stack traces.
    /// A script from standard input is `file:///-`.
    pub specifier: String,
    /// What the engine compiles: an ES module, or for CommonJS one function expression
    /// `(function (module, exports, require) {...})`, to be called with `module.exports` as `this`.
    pub code: String,
    /// How `code` is to be compiled.
    pub kind: ModuleKind,
    /// What the module asks for. Each pair of request and kind occurs once, in source order.
    pub imports: Vec<Import>,
    /// For CommonJS: the source of an ES module for ES modules to link to; it gets its values from
    /// `cjs(specifier)` of the module `onrush:cjs`. Empty for ES modules.
    pub facade: String,
    /// Whether the module contains `import.meta`.
    pub uses_import_meta: bool,
    /// Whether the module contains `await` outside functions.
    pub has_top_level_await: bool,
    /// What the user wrote; empty for extensions.
    pub source: Arc<str>,
    /// The WebAssembly module this is, if it is one: `code` then gets its exports from `extension(specifier)` of the
    /// module `onrush:cjs`.
    pub extension: Option<Arc<Extension>>,
    /// From positions in `code` (after the CommonJS prefix) to the user's source, where they differ.
    pub map: Option<Map>,
    /// Bytes of wrapper in front of the source on the first line of `code`.
    pub(crate) prefix_len: u32,
    /// Where relative requests start from.
    pub(crate) base: Base,
    /// Line starts of `code`, made when the first position is looked up.
    pub(crate) lines: OnceLock<Lines>,
}

/// How a module's code is to be compiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModuleKind {
    /// An ECMAScript module.
    Esm,
    /// A CommonJS module: [`Module::code`] is a function expression.
    CommonJs,
}

/// One module that another asks for.
#[derive(Debug, Clone)]
pub struct Import {
    /// The specifier as written.
    pub request: String,
    /// What it stands for.
    pub target: Target,
    /// How it is asked for.
    pub kind: ImportKind,
    /// 1-based line of the request in the user's source.
    pub line: u32,
    /// 1-based column (UTF-16 units) of the request in the user's source.
    pub column: u32,
}

/// How a module is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ImportKind {
    /// `import ... from "x"`, `export ... from "x"`.
    Static,
    /// `import("x")`.
    Dynamic,
    /// `require("x")`.
    Require,
}

/// What a request stands for.
#[derive(Debug, Clone)]
pub enum Target {
    /// A module of the program.
    Module(ModuleIndex),
    /// A built-in module, such as `k6/http`.
    Builtin(String),
    /// Nothing: the error is to be thrown when the `require()` or `import()` is executed (which may never happen).
    /// Static imports are never missing: they fail [`crate::load`].
    Missing(Box<ScriptError>),
}

/// A place that writes to built-in objects that VUs may share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The module that contains the write.
    pub module: ModuleIndex,
    /// 1-based line in the user's source.
    pub line: u32,
    /// 1-based column (UTF-16 units) in the user's source.
    pub column: u32,
    /// What is written, such as `Array.prototype.last`.
    pub what: String,
}

impl Program {
    /// A module by its index.
    pub fn module(&self, index: ModuleIndex) -> Option<&Module> {
        self.modules.get(index.0 as usize)
    }

    /// A module by its specifier (`file:///...`, `https://...`).
    pub fn find(&self, specifier: &str) -> Option<ModuleIndex> {
        self.by_specifier.get(specifier).copied()
    }

    /// An extension by its place in [`Program::extensions`].
    pub fn extension(&self, place: usize) -> Option<(&Module, &Arc<Extension>)> {
        let module = self.module(*self.extensions.get(place)?)?;
        Some((module, module.extension.as_ref()?))
    }

    /// Resolves a request that was not a literal (`require(name)`), as written in module `importer`.
    ///
    /// # Errors
    /// [`ErrorKind::Resolve`] if the request names nothing, or a module that was not loaded with the script.
    pub fn target(&self, importer: ModuleIndex, request: &str) -> Result<Target, ScriptError> {
        match self.resolve(importer, request)? {
            Resolved::Builtin(name) => Ok(Target::Builtin(name)),
            Resolved::File { specifier, .. } | Resolved::Remote { specifier } => match self.find(&specifier) {
                Some(index) => Ok(Target::Module(index)),
                None => Err(self
                    .unresolved(
                        importer,
                        format!(
                            "the module {request:?} was not loaded with the script: no literal in require() or \
                             import() names it, and init code did not ask for it the first time it ran (as VU 0)"
                        ),
                    )
                    .with_hint("name it once as a literal, or import it statically")),
            },
        }
    }

    /// Whether any module asks for this built-in module.
    pub fn asks_for(&self, builtin: &str) -> bool {
        let is_it = |target: &Target| matches!(target, Target::Builtin(name) if name == builtin);
        self.modules.iter().flat_map(|module| &module.imports).any(|import| is_it(&import.target))
    }

    /// Who asks the module `specifier` for an export of that name: the first static import of it in a module whose source has
    /// the name.
    pub fn import_of(&self, specifier: &str, export: &str) -> Option<(&Module, &Import)> {
        let is_it = |target: &Target| match target {
            Target::Module(index) => self.module(*index).is_some_and(|module| module.specifier == specifier),
            Target::Builtin(name) => name == specifier,
            Target::Missing(_) => false,
        };
        let asks = |import: &&Import| import.kind == ImportKind::Static && is_it(&import.target);
        let mut having_name = self.modules.iter().filter(|module| module.source.contains(export));
        having_name.find_map(|module| Some((module, module.imports.iter().find(asks)?)))
    }

    /// Resolves a request as written in module `importer`, whether or not such a module was loaded
    /// (`import.meta.resolve`, `open`).
    ///
    /// # Errors
    /// [`ErrorKind::Resolve`], with k6's text where it has one.
    pub fn resolve(&self, importer: ModuleIndex, request: &str) -> Result<Resolved, ScriptError> {
        let Some(module) = self.module(importer) else {
            return Err(self.unresolved(importer, "no such module".to_owned()));
        };
        specifier::resolve(&module.base, request, self.builtins)
            .map_err(|unresolved| self.unresolved(importer, unresolved.message).with_hint(unresolved.hint))
    }

    /// A write to shared built-ins found by a static look at the sources: the first in the order of the modules.
    /// Writes that a static look cannot see have to be caught at run time.
    pub fn shared_builtin_writes(&self) -> Option<Finding> {
        self.finding.clone()
    }

    /// Leads every `file:///x.ts:LINE:COLUMN` (or `https://…`) in `stack` back to what the user wrote. Positions of unknown files and
    /// all other text are left as they are.
    pub fn remap_stack(&self, stack: &str) -> String {
        let mut out = String::with_capacity(stack.len());
        let mut rest = stack;
        while let Some((at, scheme)) = first_url(rest) {
            out.push_str(&rest[..at]);
            rest = &rest[at..];
            let Some((module, line, column, len)) = self.located(rest) else {
                out.push_str(scheme);
                rest = &rest[scheme.len()..];
                continue;
            };
            let (source, position) = self.original(module, line, column.unwrap_or(1));
            // Writing to a String cannot fail.
            let _ = if column.is_some() {
                write!(out, "{source}:{}:{}", position.line, position.column)
            } else {
                write!(out, "{source}:{}", position.line)
            };
            rest = &rest[len..];
        }
        out.push_str(rest);
        out
    }

    /// The error of a module that the engine does not compile although the loader could parse it (an invalid regular
    /// expression, syntax it does not know yet). `message` and `stack` are the exception's; `None` if the place that
    /// the stack begins with is in no module of the program.
    pub fn engine_syntax_error(&self, message: &str, stack: &str) -> Option<ScriptError> {
        let place = stack.trim_start().strip_prefix("at ")?;
        let (index, line, column, _) = self.located(place)?;
        let module = self.module(index)?;
        let (source, position) = module.original(line, column.unwrap_or(1));
        let message = message.strip_prefix("SyntaxError: ").unwrap_or(message);
        let error = ScriptError::new(ErrorKind::Syntax, source, message);
        let error = if source == module.specifier {
            error.at(&module.source, position, 1)
        } else {
            // Of what a bundler made the module from only the positions are known.
            ScriptError { line: position.line, column: position.column, ..error }
        };
        Some(error.with_hint("write it in another way: the script engine cannot compile this"))
    }

    /// Where a position the engine reports lies in the user's sources: its name (of the module, or of the file a
    /// bundler made it from) and position. `column` counts UTF-8 bytes from 1, as QuickJS does.
    pub fn original(&self, module: ModuleIndex, line: u32, column: u32) -> (&str, Position) {
        match self.module(module) {
            Some(module) => module.original(line, column),
            None => ("", Position { line, column }),
        }
    }

    /// Parses `SPECIFIER:LINE[:COLUMN]` at the start of `text` for a known module. Returns the length, too.
    fn located(&self, text: &str) -> Option<(ModuleIndex, u32, Option<u32>, usize)> {
        let line_end = text.find('\n').unwrap_or(text.len());
        for (colon, _) in text[..line_end].match_indices(':').skip(1) {
            let Some(index) = self.find(&text[..colon]) else {
                continue;
            };
            let (line, len) = number(&text[colon + 1..])?;
            let end = colon + 1 + len;
            let column = text[end..].strip_prefix(':').and_then(number).map(|(column, len)| (column, end + 1 + len));
            return Some(match column {
                Some((column, end)) => (index, line, Some(column), end),
                None => (index, line, None, end),
            });
        }
        None
    }

    fn unresolved(&self, importer: ModuleIndex, message: String) -> ScriptError {
        let specifier = self.module(importer).map_or("", |m| m.specifier.as_str());
        ScriptError::new(ErrorKind::Resolve, specifier, message)
    }
}

impl Module {
    /// Where a position in [`Module::code`] lies in the user's sources. `column` counts UTF-8 bytes from 1.
    pub fn original(&self, line: u32, column: u32) -> (&str, Position) {
        let lines = self.lines.get_or_init(|| Lines::new(&self.code));
        let mut column = lines.utf16_column(&self.code, line, column);
        if line == 1 {
            // The wrapper is ASCII, so its bytes are its UTF-16 units.
            column = column.saturating_sub(self.prefix_len).max(1);
        }
        let position = Position { line, column };
        self.map.as_ref().and_then(|map| map.lookup(position)).unwrap_or((&self.specifier, position))
    }
}

/// k6: the text for a file that uses `module` or `exports` although it is an ES module; `%s` is the identifier.
/// [`crate::load`] reports it for code that surely runs; the engine has to throw it for the rest.
pub const MIXED_STYLES: &str = "you are trying to access identifier \"%s\", this likely is due to mixing ECMAScript \
    Modules (ESM) and CommonJS syntax. This isn't supported in the JavaScript standard, please use only one or the other";

/// [`MIXED_STYLES`] for one identifier.
pub fn mixed_styles_message(identifier: &str) -> String {
    MIXED_STYLES.replacen("%s", identifier, 1)
}

/// Where the first URL of a module may begin, and its scheme.
fn first_url(text: &str) -> Option<(usize, &'static str)> {
    ["file://", "https://"].into_iter().filter_map(|scheme| Some((text.find(scheme)?, scheme))).min()
}

/// The decimal number at the start of `text` and its length.
fn number(text: &str) -> Option<(u32, usize)> {
    let len = text.bytes().take_while(u8::is_ascii_digit).count();
    text[..len].parse().ok().map(|number| (number, len))
}
