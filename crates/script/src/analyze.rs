//! One look at a parsed source: what it imports, whether it is an ES module or CommonJS, and which names it exports.
//!
//! Purely static and deliberately shallow: only literals are followed. What it misses is resolved at run time
//! ([`crate::Program::target`]) or through the importers ([`crate::facade`]).

use oxc_ast::ast::{
    Argument, ArrowFunctionExpression, AssignmentExpression, AssignmentTarget, AwaitExpression, CallExpression, Class,
    ConditionalExpression, Decorator, Expression, ForOfStatement, Function, IdentifierReference, IfStatement,
    ImportDeclarationSpecifier, ImportExpression, ImportMeta, LogicalExpression, MemberExpression, ModuleExportName,
    ObjectExpression, Program, Statement, StaticMemberExpression, TryStatement,
};
use oxc_ast_visit::{Visit, walk};
use oxc_semantic::{ScopeFlags, Scoping, SymbolId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::program::ImportKind;

/// What [`analyze`] finds. Offsets are bytes in the source.
#[derive(Debug, Default)]
pub(crate) struct Analysis {
    /// Each pair of text and kind once, in source order.
    pub(crate) requests: Vec<Request>,
    /// Whether there is an `import` or `export` declaration, `import.meta` or top-level await.
    pub(crate) is_esm: bool,
    pub(crate) uses_import_meta: bool,
    pub(crate) has_top_level_await: bool,
    /// The first use of `module` or `exports` in code that surely runs when the module is evaluated.
    pub(crate) commonjs_use: Option<(u32, String)>,
    /// The first decorator.
    pub(crate) decorator: Option<u32>,
    /// Names assigned to `exports`, without `default`.
    pub(crate) export_names: Vec<String>,
    /// Requests whose exports are passed on (`module.exports = require("x")`).
    pub(crate) reexports: Vec<String>,
}

#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) text: String,
    pub(crate) kind: ImportKind,
    /// Where the request's string literal begins, and its length.
    pub(crate) offset: u32,
    pub(crate) len: u32,
    /// The names a static request asks for; members of a namespace other than `default` are among them.
    pub(crate) names: FxHashSet<String>,
}

impl Analysis {
    /// Adds a request that no literal makes. It has no place in the source.
    pub(crate) fn request_computed(&mut self, text: &str, kind: ImportKind) {
        if !self.requests.iter().any(|known| known.text == text && known.kind == kind) {
            let names = FxHashSet::default();
            self.requests.push(Request { text: text.to_owned(), kind, offset: 0, len: 0, names });
        }
    }
}

pub(crate) fn analyze<'a>(program: &Program<'a>, scoping: &Scoping) -> Analysis {
    let mut visitor = Visitor {
        scoping,
        out: Analysis::default(),
        index: FxHashMap::default(),
        namespaces: FxHashMap::default(),
        keys_of: FxHashMap::default(),
        exported_objects: Vec::new(),
        function_depth: 0,
        condition_depth: 0,
    };
    for statement in &program.body {
        visitor.declaration(statement);
    }
    visitor.visit_program(program);
    let Visitor { mut out, mut keys_of, exported_objects, .. } = visitor;
    for symbol in exported_objects {
        out.export_names.extend(keys_of.remove(&symbol).unwrap_or_default());
    }
    let mut seen = FxHashSet::default();
    out.export_names.retain(|name| name != "default" && seen.insert(name.clone()));
    out.is_esm |= out.uses_import_meta || out.has_top_level_await;
    out
}

struct Visitor<'s> {
    scoping: &'s Scoping,
    out: Analysis,
    /// Where each pair of text and kind is in `out.requests`.
    index: FxHashMap<(String, ImportKind), usize>,
    /// Local names of `import * as x`, and the index of the request.
    namespaces: FxHashMap<SymbolId, usize>,
    /// Keys defined on local objects by `helper(object, { key: ... })`, as bundlers write it.
    keys_of: FxHashMap<SymbolId, Vec<String>>,
    /// Local objects that became `module.exports`.
    exported_objects: Vec<SymbolId>,
    function_depth: u32,
    /// Depth of code that may not run: branches and `try` blocks.
    condition_depth: u32,
}

impl Visitor<'_> {
    /// Records a module declaration at the top level; the rest is done while walking.
    fn declaration(&mut self, statement: &Statement<'_>) {
        match statement {
            Statement::ImportDeclaration(import) => {
                self.out.is_esm = true;
                if import.import_kind.is_type() {
                    return;
                }
                let request = self.request(&import.source.value, ImportKind::Static, import.source.span);
                for specifier in import.specifiers.iter().flatten() {
                    match specifier {
                        ImportDeclarationSpecifier::ImportSpecifier(named) => {
                            self.name(request, &named.imported);
                        }
                        ImportDeclarationSpecifier::ImportNamespaceSpecifier(namespace) => {
                            if let Some(symbol) = namespace.local.symbol_id.get() {
                                self.namespaces.insert(symbol, request);
                            }
                        }
                        ImportDeclarationSpecifier::ImportDefaultSpecifier(_) => {
                            self.out.requests[request].names.insert("default".to_owned());
                        }
                    }
                }
            }
            Statement::ExportFromDeclaration(export) => {
                self.out.is_esm = true;
                if export.export_kind.is_type() {
                    return;
                }
                let request = self.request(&export.source.value, ImportKind::Static, export.source.span);
                for specifier in &export.specifiers {
                    self.name(request, &specifier.local);
                }
            }
            Statement::ExportAllDeclaration(export) => {
                self.out.is_esm = true;
                if !export.export_kind.is_type() {
                    self.request(&export.source.value, ImportKind::Static, export.source.span);
                }
            }
            Statement::ExportNamedDeclaration(_)
            | Statement::ExportDeclaration(_)
            | Statement::ExportDefaultDeclaration(_) => self.out.is_esm = true,
            _ => {}
        }
    }

    fn request(&mut self, text: &str, kind: ImportKind, span: oxc_span::Span) -> usize {
        let requests = &mut self.out.requests;
        *self.index.entry((text.to_owned(), kind)).or_insert_with(|| {
            requests.push(Request {
                text: text.to_owned(),
                kind,
                offset: span.start,
                len: span.size(),
                names: FxHashSet::default(),
            });
            requests.len() - 1
        })
    }

    fn name(&mut self, request: usize, name: &ModuleExportName<'_>) {
        self.out.requests[request].names.insert(name.name().to_string());
    }

    fn is_global(&self, identifier: &IdentifierReference<'_>, name: &str) -> bool {
        identifier.name == name && self.symbol(identifier).is_none()
    }

    fn symbol(&self, identifier: &IdentifierReference<'_>) -> Option<SymbolId> {
        let reference = identifier.reference_id.get()?;
        self.scoping.get_reference(reference).symbol_id()
    }

    /// `exports`, `module.exports`, or `this` outside functions.
    fn is_exports(&self, expression: &Expression<'_>) -> bool {
        match expression.without_parentheses() {
            Expression::Identifier(identifier) => self.is_global(identifier, "exports"),
            Expression::StaticMemberExpression(member) => self.is_module_exports(member),
            Expression::ThisExpression(_) => self.function_depth == 0,
            _ => false,
        }
    }

    fn is_module_exports(&self, member: &StaticMemberExpression<'_>) -> bool {
        member.property.name == "exports"
            && matches!(&member.object, Expression::Identifier(object) if self.is_global(object, "module"))
    }

    /// The request of a `require("x")` call.
    fn required<'e>(&self, expression: &'e Expression<'_>) -> Option<(&'e str, oxc_span::Span)> {
        let Expression::CallExpression(call) = expression.without_parentheses() else {
            return None;
        };
        self.required_by(call)
    }

    fn required_by<'e>(&self, call: &'e CallExpression<'_>) -> Option<(&'e str, oxc_span::Span)> {
        let Expression::Identifier(callee) = call.callee.without_parentheses() else {
            return None;
        };
        if !self.is_global(callee, "require") {
            return None;
        }
        literal(call.arguments.first()?.as_expression()?)
    }

    /// `module.exports = value`.
    fn exports_value(&mut self, value: &Expression<'_>) {
        match value.without_parentheses() {
            Expression::ObjectExpression(object) => self.out.export_names.extend(keys(object)),
            Expression::Identifier(identifier) => self.exported_objects.extend(self.symbol(identifier)),
            Expression::AssignmentExpression(assignment) => self.exports_value(&assignment.right),
            other => {
                let request = self.required(other).map(|(text, _)| text.to_owned());
                self.out.reexports.extend(request);
            }
        }
    }

    /// Calls that define exports: `Object.defineProperty(exports, "x", ...)`, `helper(exports, { x: ... })`,
    /// `__exportStar(require("x"), exports)`.
    fn defining_call(&mut self, call: &CallExpression<'_>) {
        let mut arguments = call.arguments.iter().filter_map(Argument::as_expression);
        let (Some(first), Some(second)) = (arguments.next(), arguments.next()) else {
            return;
        };
        if let Some((request, _)) = self.required(first) {
            if self.is_exports(second) {
                self.out.reexports.push(request.to_owned());
            }
            return;
        }
        if let Expression::ObjectExpression(object) = second.without_parentheses() {
            if self.is_exports(first) {
                self.out.export_names.extend(keys(object));
            } else if let Expression::Identifier(identifier) = first
                && let Some(symbol) = self.symbol(identifier)
            {
                self.keys_of.entry(symbol).or_default().extend(keys(object));
            }
            return;
        }
        let defines =
            matches!(&call.callee, Expression::StaticMemberExpression(m) if m.property.name == "defineProperty");
        if defines
            && self.is_exports(first)
            && let Some((name, _)) = literal(second)
        {
            self.out.export_names.push(name.to_owned());
        }
    }

    fn conditional(&mut self, walk: impl FnOnce(&mut Self)) {
        self.condition_depth += 1;
        walk(self);
        self.condition_depth -= 1;
    }

    fn function(&mut self, walk: impl FnOnce(&mut Self)) {
        self.function_depth += 1;
        walk(self);
        self.function_depth -= 1;
    }
}

impl<'a> Visit<'a> for Visitor<'_> {
    fn visit_identifier_reference(&mut self, it: &IdentifierReference<'a>) {
        if self.function_depth == 0
            && self.condition_depth == 0
            && self.out.commonjs_use.is_none()
            && (self.is_global(it, "module") || self.is_global(it, "exports"))
        {
            self.out.commonjs_use = Some((it.span.start, it.name.to_string()));
        }
    }

    fn visit_import_meta(&mut self, _: &ImportMeta) {
        self.out.uses_import_meta = true;
    }

    fn visit_await_expression(&mut self, it: &AwaitExpression<'a>) {
        self.out.has_top_level_await |= self.function_depth == 0;
        walk::walk_await_expression(self, it);
    }

    fn visit_for_of_statement(&mut self, it: &ForOfStatement<'a>) {
        self.out.has_top_level_await |= it.r#await && self.function_depth == 0;
        walk::walk_for_of_statement(self, it);
    }

    fn visit_import_expression(&mut self, it: &ImportExpression<'a>) {
        if let Some((text, span)) = literal(&it.source) {
            self.request(text, ImportKind::Dynamic, span);
        }
        walk::walk_import_expression(self, it);
    }

    fn visit_call_expression(&mut self, it: &CallExpression<'a>) {
        if let Some((text, span)) = self.required_by(it) {
            self.request(text, ImportKind::Require, span);
        }
        self.defining_call(it);
        walk::walk_call_expression(self, it);
    }

    fn visit_assignment_expression(&mut self, it: &AssignmentExpression<'a>) {
        let name = match &it.left {
            AssignmentTarget::StaticMemberExpression(member) if self.is_exports(&member.object) => {
                Some(member.property.name.to_string())
            }
            AssignmentTarget::ComputedMemberExpression(member) if self.is_exports(&member.object) => {
                literal(&member.expression).map(|(name, _)| name.to_owned())
            }
            AssignmentTarget::StaticMemberExpression(member) if self.is_module_exports(member) => {
                self.exports_value(&it.right);
                None
            }
            _ => None,
        };
        self.out.export_names.extend(name);
        walk::walk_assignment_expression(self, it);
    }

    fn visit_member_expression(&mut self, it: &MemberExpression<'a>) {
        if let Expression::Identifier(object) = it.object()
            && let Some(symbol) = self.symbol(object)
            && let Some(&request) = self.namespaces.get(&symbol)
            && let Some(name) = it.static_property_name()
            && name != "default"
        {
            self.out.requests[request].names.insert(name.to_owned());
        }
        walk::walk_member_expression(self, it);
    }

    fn visit_function(&mut self, it: &Function<'a>, flags: ScopeFlags) {
        self.function(|this| walk::walk_function(this, it, flags));
    }

    fn visit_arrow_function_expression(&mut self, it: &ArrowFunctionExpression<'a>) {
        self.function(|this| walk::walk_arrow_function_expression(this, it));
    }

    fn visit_class(&mut self, it: &Class<'a>) {
        // Most code in a class runs later, if at all; the few exceptions (computed keys) do not matter here.
        self.function(|this| walk::walk_class(this, it));
    }

    fn visit_decorator(&mut self, it: &Decorator<'a>) {
        self.out.decorator.get_or_insert(it.span.start);
    }

    fn visit_if_statement(&mut self, it: &IfStatement<'a>) {
        self.visit_expression(&it.test);
        self.conditional(|this| {
            this.visit_statement(&it.consequent);
            if let Some(alternate) = &it.alternate {
                this.visit_statement(alternate);
            }
        });
    }

    fn visit_conditional_expression(&mut self, it: &ConditionalExpression<'a>) {
        self.visit_expression(&it.test);
        self.conditional(|this| {
            this.visit_expression(&it.consequent);
            this.visit_expression(&it.alternate);
        });
    }

    fn visit_logical_expression(&mut self, it: &LogicalExpression<'a>) {
        self.visit_expression(&it.left);
        self.conditional(|this| this.visit_expression(&it.right));
    }

    fn visit_try_statement(&mut self, it: &TryStatement<'a>) {
        self.conditional(|this| walk::walk_try_statement(this, it));
    }
}

/// The text of a string literal or of a template without substitutions.
fn literal<'e>(expression: &'e Expression<'_>) -> Option<(&'e str, oxc_span::Span)> {
    match expression.without_parentheses() {
        Expression::StringLiteral(literal) => Some((literal.value.as_str(), literal.span)),
        Expression::TemplateLiteral(template) if template.expressions.is_empty() => {
            let quasi = template.quasis.first()?;
            Some((quasi.value.cooked.as_ref()?.as_str(), template.span))
        }
        _ => None,
    }
}

/// The static keys of an object literal.
fn keys<'e>(object: &'e ObjectExpression<'_>) -> impl Iterator<Item = String> + 'e {
    object
        .properties
        .iter()
        .filter_map(|property| property.as_property())
        .filter_map(|property| property.key.static_name())
        .map(|name| name.into_owned())
}
