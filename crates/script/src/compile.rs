//! One source text: parsed, checked, recognised as ES module or CommonJS, and made into code for the engine.
//!
//! JavaScript that parses is passed through byte for byte, so positions stay exact. Only TypeScript is printed anew,
//! with a source map.

use std::path::Path;

use oxc_allocator::Allocator;
use oxc_codegen::{Codegen, CodegenOptions, CommentOptions};
use oxc_diagnostics::Diagnostics;
use oxc_parser::{ParseOptions, Parser};
use oxc_semantic::{Scoping, SemanticBuilder};
use oxc_span::SourceType;
use oxc_transformer::{TransformOptions, Transformer};

use crate::{
    analyze::{Analysis, analyze},
    error::{ErrorKind, ScriptError},
    map::Map,
    namespaces,
    position::Lines,
    program::{ModuleKind, mixed_styles_message},
    writes::{self, Write},
};

/// What a source is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    /// JavaScript only.
    JavaScript,
    /// k6: JavaScript if it parses as such, otherwise TypeScript (files named `.ts`, standard input).
    MaybeTypeScript,
}

/// A compiled source.
#[derive(Debug)]
pub(crate) struct Compiled {
    pub(crate) code: String,
    pub(crate) kind: ModuleKind,
    /// Bytes of wrapper before the source on the first line of `code`.
    pub(crate) prefix_len: u32,
    pub(crate) map: Option<Map>,
    pub(crate) analysis: Analysis,
    /// The first write to shared built-ins.
    pub(crate) write: Option<Write>,
}

impl Compiled {
    /// A module that was not written by anybody, without its code.
    pub(crate) fn generated(kind: ModuleKind) -> Self {
        Self { code: String::new(), kind, prefix_len: 0, map: None, analysis: Analysis::default(), write: None }
    }
}

/// What is put before CommonJS code, on its first line.
///
/// k6: CommonJS modules are strict, too.
const PREFIX: &str = "(function (module, exports, require) {\"use strict\";";
const SUFFIX: &str = "\n})";

/// The deepest nesting of brackets. The compiler recurses, so its stack is what limits it; generated code has been
/// seen to nest some hundred levels.
pub(crate) const NESTING_MAX: u32 = 50_000;

pub(crate) fn compile(specifier: &str, source: &str, language: Language) -> Result<Compiled, ScriptError> {
    let input = Input { specifier, source };
    input.check_nesting()?;
    match (input.javascript(), language) {
        (Ok(compiled), _) => Ok(compiled),
        (Err(error), _) if error.kind != ErrorKind::Syntax => Err(error),
        (Err(error), Language::JavaScript) => {
            if input.parses_as_typescript() {
                Err(error.with_hint("this looks like TypeScript, which is only recognised in files named .ts"))
            } else {
                Err(error)
            }
        }
        (Err(error), Language::MaybeTypeScript) => input.typescript().map_err(|other| {
            // Of the two readings, the one that got further is the one the author meant.
            if other.kind == ErrorKind::Syntax
                && specifier == crate::specifier::STDIN
                && (error.line, error.column) > (other.line, other.column)
            {
                error
            } else {
                other
            }
        }),
    }
}

struct Input<'i> {
    specifier: &'i str,
    source: &'i str,
}

impl Input<'_> {
    fn javascript(&self) -> Result<Compiled, ScriptError> {
        let error = match self.javascript_as(SourceType::mjs()) {
            Ok((analysis, write)) => return self.finish(None, None, analysis, write),
            Err(error) => error,
        };
        // CommonJS allows what modules do not: `return` outside functions, `await` as a name.
        match self.javascript_as(SourceType::cjs()) {
            Ok((mut analysis, write)) if self.is_strict_function_body() => {
                analysis.is_esm = false;
                analysis.has_top_level_await = false;
                self.finish(None, None, analysis, write)
            }
            _ => Err(error),
        }
    }

    fn javascript_as(&self, source_type: SourceType) -> Result<(Analysis, Option<Write>), ScriptError> {
        let allocator = Allocator::default();
        let parsed = Parser::new(&allocator, self.source, source_type).parse();
        self.check(&parsed.diagnostics)?;
        let semantic = SemanticBuilder::new_compiler().build(&parsed.program);
        self.check(&semantic.diagnostics)?;
        let scoping = semantic.semantic.into_scoping();
        self.analysed(&parsed.program, &scoping)
    }

    fn typescript(&self) -> Result<Compiled, ScriptError> {
        let allocator = Allocator::default();
        let parsed = Parser::new(&allocator, self.source, SourceType::ts()).parse();
        self.check(&parsed.diagnostics)?;
        let mut program = parsed.program;
        let bind = || SemanticBuilder::new_compiler().with_excess_capacity(2.0).with_enum_eval(true);
        let semantic = bind().build(&program);
        self.check(&semantic.diagnostics)?;
        let mut scoping = semantic.semantic.into_scoping();
        if namespaces::qualify(&allocator, &mut program, &scoping) {
            scoping = bind().build(&program).semantic.into_scoping();
        }
        let path = Path::new(self.specifier);
        let options = TransformOptions::default();
        let transformed = Transformer::new(&allocator, path, &options).build_with_scoping(scoping, &mut program);
        self.check(&transformed.diagnostics)?;
        // The transformer changed the tree: bind names anew for the analysis.
        let scoping = SemanticBuilder::new().build(&program).semantic.into_scoping();
        let (analysis, write) = self.analysed(&program, &scoping)?;
        let options = CodegenOptions {
            source_map_path: Some(path.to_path_buf()),
            comments: CommentOptions::disabled(),
            ..CodegenOptions::default()
        };
        let printed = Codegen::new().with_options(options).build(&program);
        let map = printed.map.map(|map| {
            let tokens = map
                .get_tokens()
                .map(|token| (token.get_dst_line(), token.get_dst_col(), token.get_src_line(), token.get_src_col()));
            Map::from_tokens(self.specifier, tokens)
        });
        self.finish(Some(printed.code), map, analysis, write)
    }

    fn analysed(
        &self,
        program: &oxc_ast::ast::Program<'_>,
        scoping: &Scoping,
    ) -> Result<(Analysis, Option<Write>), ScriptError> {
        let analysis = analyze(program, scoping);
        if let Some(offset) = analysis.decorator {
            return Err(self
                .error(ErrorKind::Syntax, "decorators are not supported", offset, 1)
                .with_hint("compile the script with your own TypeScript compiler or bundler first"));
        }
        if analysis.is_esm
            && let Some((offset, name)) = &analysis.commonjs_use
        {
            let width = u32::try_from(name.len()).unwrap_or(1);
            return Err(self
                .error(ErrorKind::MixedStyles, mixed_styles_message(name), *offset, width)
                .with_hint("use import and export only, or require() and module.exports only"));
        }
        Ok((analysis, writes::find(program, scoping)))
    }

    /// Wraps CommonJS. `printed` is the JavaScript made from TypeScript.
    fn finish(
        &self,
        printed: Option<String>,
        map: Option<Map>,
        analysis: Analysis,
        write: Option<Write>,
    ) -> Result<Compiled, ScriptError> {
        let body = printed.as_deref().unwrap_or(self.source);
        let (code, kind, prefix_len) = if analysis.is_esm {
            let code = printed.unwrap_or_else(|| self.source.to_owned());
            (code, ModuleKind::Esm, 0)
        } else {
            (wrap(body), ModuleKind::CommonJs, PREFIX.len())
        };
        Ok(Compiled { code, kind, prefix_len: u32::try_from(prefix_len).unwrap_or(0), map, analysis, write })
    }

    /// Whether the source is valid as the body of the strict function that CommonJS is wrapped in.
    fn is_strict_function_body(&self) -> bool {
        let allocator = Allocator::default();
        let code = wrap(self.source);
        let parsed = Parser::new(&allocator, &code, SourceType::script()).parse();
        !parsed.diagnostics.has_errors()
            && !SemanticBuilder::new_compiler().build(&parsed.program).diagnostics.has_errors()
    }

    fn parses_as_typescript(&self) -> bool {
        let allocator = Allocator::default();
        let options = ParseOptions::default();
        let parsed = Parser::new(&allocator, self.source, SourceType::ts()).with_options(options).parse();
        !parsed.diagnostics.has_errors()
            && !SemanticBuilder::new_compiler().build(&parsed.program).diagnostics.has_errors()
    }

    /// Refuses sources that would overflow the compiler's stack. Brackets in strings and comments count, too: this is
    /// no parser, and the limit is far away.
    fn check_nesting(&self) -> Result<(), ScriptError> {
        let mut depth = 0_u32;
        for (byte, offset) in self.source.bytes().zip(0..) {
            match byte {
                b'(' | b'[' | b'{' => depth += 1,
                b')' | b']' | b'}' => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth > NESTING_MAX {
                let message = format!("brackets are nested deeper than {NESTING_MAX} levels");
                return Err(self.error(ErrorKind::Read, message, offset, 1));
            }
        }
        Ok(())
    }

    /// The first error among the compiler's diagnostics.
    fn check(&self, diagnostics: &Diagnostics) -> Result<(), ScriptError> {
        let Some(first) = diagnostics.errors().next() else {
            return Ok(());
        };
        let message = first.message.as_ref();
        let place = |label: &oxc_diagnostics::LabeledSpan| (label.offset(), label.len());
        let earlier = first.labels.first().map_or((0, 1), place);
        if message.ends_with("has already been declared") && first.labels.len() > 1 {
            // The first label is the declaration that is right.
            let line = Lines::new(self.source).position(self.source, earlier.0).line;
            let (offset, width) = first.labels.last().map_or(earlier, place);
            let hint = format!("the first declaration is in line {line}: rename one of them");
            return Err(self.error(ErrorKind::Syntax, message, offset, width).with_hint(hint));
        }
        let hint = if message.contains("JSX") {
            let is_page = self.source.trim_start().starts_with('<');
            if is_page { "this is an HTML page, not a script" } else { "compile JSX to JavaScript first" }
        } else {
            first.help.as_deref().unwrap_or("")
        };
        Err(self.error(ErrorKind::Syntax, message, earlier.0, earlier.1).with_hint(hint))
    }

    fn error(&self, kind: ErrorKind, message: impl Into<String>, offset: u32, width: u32) -> ScriptError {
        let position = Lines::new(self.source).position(self.source, offset);
        ScriptError::new(kind, self.specifier, message).at(self.source, position, width)
    }
}

fn wrap(source: &str) -> String {
    let mut code = String::with_capacity(PREFIX.len() + source.len() + SUFFIX.len());
    code.push_str(PREFIX);
    if let Some(rest) = source.strip_prefix("#!") {
        // Inside a function `#!` is no comment; `//` is as long.
        code.push_str("//");
        code.push_str(rest);
    } else {
        code.push_str(source);
    }
    code.push_str(SUFFIX);
    code
}
