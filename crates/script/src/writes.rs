//! A static look for writes to built-in objects, which VUs of the dense layout share.
//!
//! Writes during a script's init code are caught by the engine in any case; what matters here are writes that only
//! happen during an iteration, when it is too late to choose another layout. The look is shallow: paths from globals
//! and from imported built-in modules, through local constants, are followed; computed keys, helper functions and
//! loops over constructors are not. It errs towards finding nothing.

use oxc_ast::ast::{
    Argument, BindingPattern, CallExpression, ChainElement, ConditionalExpression, Expression, IdentifierReference,
    IfStatement, ImportDeclarationSpecifier, LogicalExpression, MemberExpression, Program, SimpleAssignmentTarget,
    Statement, UnaryExpression, VariableDeclarator,
};
use oxc_ast_visit::{Visit, walk};
use oxc_semantic::{Scoping, SymbolId};
use oxc_span::GetSpan;
use oxc_syntax::operator::UnaryOperator;
use rustc_hash::FxHashMap;

/// A write that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Write {
    /// Byte offset in the source.
    pub(crate) offset: u32,
    /// What is written, such as `Array.prototype.last`.
    pub(crate) what: String,
}

/// The first write in source order.
pub(crate) fn find(program: &Program<'_>, scoping: &Scoping) -> Option<Write> {
    let mut names = Names { scoping, aliases: FxHashMap::default() };
    names.collect(program);
    let mut visitor = Visitor { names, guards: Vec::new(), found: None };
    visitor.visit_program(program);
    visitor.found
}

/// What identifiers and member expressions stand for.
struct Names<'s> {
    scoping: &'s Scoping,
    /// Local constants and imports that hold a shared object.
    aliases: FxHashMap<SymbolId, String>,
}

impl Names<'_> {
    fn collect(&mut self, program: &Program<'_>) {
        for statement in &program.body {
            let Statement::ImportDeclaration(import) = statement else {
                continue;
            };
            if !is_shared_module(&import.source.value) {
                continue;
            }
            for specifier in import.specifiers.iter().flatten() {
                let local = match specifier {
                    ImportDeclarationSpecifier::ImportSpecifier(s) => &s.local,
                    ImportDeclarationSpecifier::ImportDefaultSpecifier(s) => &s.local,
                    ImportDeclarationSpecifier::ImportNamespaceSpecifier(s) => &s.local,
                };
                if let Some(symbol) = local.symbol_id.get() {
                    self.aliases.insert(symbol, local.name.to_string());
                }
            }
        }
        Aliases { names: self }.visit_program(program);
    }

    fn symbol(&self, identifier: &IdentifierReference<'_>) -> Option<SymbolId> {
        let reference = identifier.reference_id.get()?;
        self.scoping.get_reference(reference).symbol_id()
    }

    fn is_global(&self, identifier: &IdentifierReference<'_>) -> bool {
        self.symbol(identifier).is_none()
    }

    /// `globalThis`, or k6's `global`.
    fn is_global_object(&self, expression: &Expression<'_>) -> bool {
        matches!(expression.without_parentheses(), Expression::Identifier(identifier)
            if (identifier.name == "globalThis" || identifier.name == "global") && self.is_global(identifier))
    }

    /// The path of an expression that stands for a shared object: `Array.prototype`.
    fn path(&self, expression: &Expression<'_>) -> Option<String> {
        match expression.without_parentheses() {
            Expression::Identifier(identifier) => match self.symbol(identifier) {
                Some(symbol) => self.aliases.get(&symbol).cloned(),
                None => is_shared_global(&identifier.name).then(|| identifier.name.to_string()),
            },
            Expression::CallExpression(call) => self.required(call),
            Expression::ChainExpression(chain) => match &chain.expression {
                ChainElement::CallExpression(call) => self.required(call),
                element => self.member_path(element.member_expression()?),
            },
            other => self.member_path(other.as_member_expression()?),
        }
    }

    fn member_path(&self, member: &MemberExpression<'_>) -> Option<String> {
        let key = member.static_property_name();
        if self.is_global_object(member.object()) {
            return key.filter(|key| is_shared_global(key)).map(str::to_owned);
        }
        let object = self.path(member.object())?;
        // What lies behind an unknown key is unknown.
        let known = !object.ends_with(UNKNOWN_KEY);
        known.then(|| match key {
            Some(key) => format!("{object}.{key}"),
            None => format!("{object}{UNKNOWN_KEY}"),
        })
    }

    /// `require("k6/http")`.
    fn required(&self, call: &CallExpression<'_>) -> Option<String> {
        let Expression::Identifier(callee) = &call.callee else {
            return None;
        };
        if callee.name != "require" || !self.is_global(callee) {
            return None;
        }
        let Some(Argument::StringLiteral(name)) = call.arguments.first() else {
            return None;
        };
        is_shared_module(&name.value).then(|| format!("require({:?})", name.value.as_str()))
    }
}

/// Collects `const AP = Array.prototype`.
struct Aliases<'n, 's> {
    names: &'n mut Names<'s>,
}

impl<'a> Visit<'a> for Aliases<'_, '_> {
    fn visit_variable_declarator(&mut self, it: &VariableDeclarator<'a>) {
        if let BindingPattern::BindingIdentifier(name) = &it.id
            && let Some(symbol) = name.symbol_id.get()
            && let Some(init) = &it.init
            && !self.names.scoping.symbol_is_mutated(symbol)
            && let Some(path) = self.names.path(init)
        {
            let path = if path.starts_with("require(") { name.name.to_string() } else { path };
            self.names.aliases.insert(symbol, path);
        }
        walk::walk_variable_declarator(self, it);
    }
}

struct Visitor<'s> {
    names: Names<'s>,
    /// Paths that the conditions around the current code ask for, as polyfills do.
    guards: Vec<String>,
    found: Option<Write>,
}

impl<'a> Visitor<'_> {
    fn report(&mut self, offset: u32, what: String) {
        if self.found.is_none() && !IGNORED.contains(&what.as_str()) && !self.is_polyfill(&what) {
            self.found = Some(Write { offset, what });
        }
    }

    /// `if (!String.prototype.padStart) String.prototype.padStart = ...`: never executed, the engine has it.
    fn is_polyfill(&self, what: &str) -> bool {
        let name = what.rsplit('.').next().unwrap_or(what);
        self.guards.iter().any(|guard| guard == what) && POLYFILLED.contains(&name)
    }

    fn member(&mut self, member: &MemberExpression<'a>) {
        // A global object is each VU's own.
        if !self.names.is_global_object(member.object())
            && let Some(path) = self.names.member_path(member)
        {
            self.report(member.span().start, path);
        }
    }

    /// `Object.defineProperty(Array.prototype, "last", ...)` and its kin.
    fn defining_call(&mut self, call: &CallExpression<'a>) {
        let Expression::StaticMemberExpression(callee) = &call.callee else {
            return;
        };
        let method = callee.property.name.as_str();
        if method == "__defineGetter__" || method == "__defineSetter__" {
            if let Some(path) = self.names.path(&callee.object) {
                let what = keyed(&path, call.arguments.first());
                self.report(call.span.start, what);
            }
            return;
        }
        let Expression::Identifier(object) = &callee.object else {
            return;
        };
        let keyed_method = match (object.name.as_str(), method) {
            ("Object" | "Reflect", "defineProperty")
            | ("Reflect", "set" | "deleteProperty")
            | ("Object", "assign" | "defineProperties") => true,
            ("Object", "setPrototypeOf" | "freeze" | "seal" | "preventExtensions")
            | ("Reflect", "setPrototypeOf" | "preventExtensions") => false,
            _ => return,
        };
        if !self.names.is_global(object) {
            return;
        }
        let Some(path) =
            call.arguments.first().and_then(Argument::as_expression).and_then(|target| self.names.path(target))
        else {
            return;
        };
        let what = if keyed_method {
            keyed(&path, call.arguments.get(1))
        } else {
            format!("{path} ({}.{method})", object.name)
        };
        self.report(call.span.start, what);
    }

    fn guarded(&mut self, test: &Expression<'a>, walk: impl FnOnce(&mut Self)) {
        let before = self.guards.len();
        let mut paths = Paths { names: &self.names, paths: Vec::new() };
        paths.visit_expression(test);
        let paths = paths.paths;
        self.guards.extend(paths);
        walk(self);
        self.guards.truncate(before);
    }
}

impl<'a> Visit<'a> for Visitor<'_> {
    fn visit_simple_assignment_target(&mut self, it: &SimpleAssignmentTarget<'a>) {
        if let SimpleAssignmentTarget::AssignmentTargetIdentifier(identifier) = it {
            if self.names.is_global(identifier) && is_shared_global(&identifier.name) {
                self.report(identifier.span.start, identifier.name.to_string());
            }
        } else if let Some(member) = it.as_member_expression() {
            self.member(member);
        }
        walk::walk_simple_assignment_target(self, it);
    }

    fn visit_unary_expression(&mut self, it: &UnaryExpression<'a>) {
        if it.operator == UnaryOperator::Delete {
            let member = match it.argument.without_parentheses() {
                Expression::ChainExpression(chain) => chain.expression.member_expression(),
                other => other.as_member_expression(),
            };
            // Deleting by an unknown key is how core-js replaces a missing `defineProperty`: never executed here.
            if let Some(member) = member
                && member.static_property_name().is_some()
            {
                self.member(member);
            }
        }
        walk::walk_unary_expression(self, it);
    }

    fn visit_call_expression(&mut self, it: &CallExpression<'a>) {
        self.defining_call(it);
        walk::walk_call_expression(self, it);
    }

    fn visit_if_statement(&mut self, it: &IfStatement<'a>) {
        self.visit_expression(&it.test);
        self.guarded(&it.test, |this| {
            this.visit_statement(&it.consequent);
            if let Some(alternate) = &it.alternate {
                this.visit_statement(alternate);
            }
        });
    }

    fn visit_conditional_expression(&mut self, it: &ConditionalExpression<'a>) {
        self.visit_expression(&it.test);
        self.guarded(&it.test, |this| {
            this.visit_expression(&it.consequent);
            this.visit_expression(&it.alternate);
        });
    }

    fn visit_logical_expression(&mut self, it: &LogicalExpression<'a>) {
        self.visit_expression(&it.left);
        self.guarded(&it.left, |this| this.visit_expression(&it.right));
    }
}

/// Collects the paths a condition mentions.
struct Paths<'n, 's> {
    names: &'n Names<'s>,
    paths: Vec<String>,
}

impl<'a> Visit<'a> for Paths<'_, '_> {
    fn visit_member_expression(&mut self, it: &MemberExpression<'a>) {
        self.paths.extend(self.names.member_path(it));
        walk::walk_member_expression(self, it);
    }

    fn visit_identifier_reference(&mut self, it: &IdentifierReference<'a>) {
        if self.names.is_global(it) && is_shared_global(&it.name) {
            self.paths.push(it.name.to_string());
        }
    }
}

/// `path.key` where the second argument tells the key.
fn keyed(path: &str, argument: Option<&Argument<'_>>) -> String {
    let key = match argument {
        Some(Argument::StringLiteral(key)) => Some(key.value.to_string()),
        Some(Argument::ObjectExpression(object)) => object
            .properties
            .first()
            .and_then(|property| property.as_property())
            .and_then(|property| property.key.static_name())
            .map(|name| name.into_owned()),
        _ => None,
    };
    key.map_or_else(|| format!("{path}{UNKNOWN_KEY}"), |key| format!("{path}.{key}"))
}

fn is_shared_global(name: &str) -> bool {
    SHARED_GLOBALS.binary_search(&name).is_ok()
}

/// k6: members of `k6/execution` are meant to be written (`exec.vu.tags.x = ...`).
fn is_shared_module(name: &str) -> bool {
    crate::builtin::is_builtin_name(name) && name != "k6/execution"
}

/// How a key that is not a literal is shown.
const UNKNOWN_KEY: &str = "[...]";

/// Harmless writes: the same in every VU, and read by the engine only.
const IGNORED: &[&str] = &["Error.stackTraceLimit"];

/// The globals whose objects VUs share; sorted.
const SHARED_GLOBALS: &[&str] = &[
    "AggregateError",
    "Array",
    "ArrayBuffer",
    "AsyncDisposableStack",
    "Atomics",
    "BigInt",
    "BigInt64Array",
    "BigUint64Array",
    "Boolean",
    "DOMException",
    "DataView",
    "Date",
    "DisposableStack",
    "Error",
    "EvalError",
    "FinalizationRegistry",
    "Float16Array",
    "Float32Array",
    "Float64Array",
    "Function",
    "Int16Array",
    "Int32Array",
    "Int8Array",
    "InternalError",
    "Iterator",
    "JSON",
    "Map",
    "Math",
    "Number",
    "Object",
    "Promise",
    "Proxy",
    "RangeError",
    "ReferenceError",
    "Reflect",
    "RegExp",
    "Set",
    "SharedArrayBuffer",
    "String",
    "SuppressedError",
    "Symbol",
    "SyntaxError",
    "TextDecoder",
    "TextEncoder",
    "TypeError",
    "URIError",
    "Uint16Array",
    "Uint32Array",
    "Uint8Array",
    "Uint8ClampedArray",
    "WeakMap",
    "WeakRef",
    "WeakSet",
    "atob",
    "btoa",
    "clearInterval",
    "clearTimeout",
    "console",
    "crypto",
    "decodeURI",
    "decodeURIComponent",
    "encodeURI",
    "encodeURIComponent",
    "escape",
    "eval",
    "isFinite",
    "isNaN",
    "parseFloat",
    "parseInt",
    "performance",
    "queueMicrotask",
    "setInterval",
    "setTimeout",
    "unescape",
];

/// Members that polyfills define when they are missing, and that the engine has.
const POLYFILLED: &[&str] = &[
    "allSettled",
    "any",
    "assign",
    "at",
    "bind",
    "codePointAt",
    "copyWithin",
    "create",
    "endsWith",
    "entries",
    "every",
    "fill",
    "filter",
    "finally",
    "find",
    "findIndex",
    "findLast",
    "findLastIndex",
    "flat",
    "flatMap",
    "forEach",
    "from",
    "fromCodePoint",
    "fromEntries",
    "getOwnPropertyDescriptors",
    "groupBy",
    "hasOwn",
    "includes",
    "indexOf",
    "isArray",
    "isFinite",
    "isInteger",
    "isNaN",
    "isSafeInteger",
    "keys",
    "lastIndexOf",
    "log10",
    "log2",
    "map",
    "matchAll",
    "now",
    "of",
    "padEnd",
    "padStart",
    "parseFloat",
    "parseInt",
    "race",
    "reduce",
    "reduceRight",
    "repeat",
    "replaceAll",
    "setPrototypeOf",
    "sign",
    "some",
    "startsWith",
    "toISOString",
    "toReversed",
    "toSorted",
    "toSpliced",
    "trim",
    "trimEnd",
    "trimLeft",
    "trimRight",
    "trimStart",
    "trunc",
    "values",
    "with",
    "withResolvers",
];
