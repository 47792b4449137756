//! Variables exported from TypeScript namespaces.
//!
//! The transformer gives an exported variable a local copy, so later assignments would not be seen from outside. Here
//! uses of `export let` and `export var` inside their namespace become `Namespace.variable` first, as TypeScript does.

use oxc_allocator::Allocator;
use oxc_ast::{
    ast::{
        AssignmentTarget, BindingPattern, Declaration, Expression, IdentifierName, IdentifierReference, ObjectProperty,
        Program, SimpleAssignmentTarget, Statement, StaticMemberExpression, TSNamespaceDeclaration,
        TSNamespaceDeclarationBody,
    },
    builder::AstBuilder,
};
use oxc_ast_visit::{Visit, VisitMut, walk, walk_mut};
use oxc_semantic::{Scoping, SymbolId};
use rustc_hash::FxHashMap;

/// Rewrites the uses. Returns whether there were any exported variables: then names have to be bound anew.
pub(crate) fn qualify<'a>(allocator: &'a Allocator, program: &mut Program<'a>, scoping: &Scoping) -> bool {
    let mut variables = Variables::default();
    variables.visit_program(program);
    if variables.namespace_of.is_empty() {
        return false;
    }
    Qualify { builder: AstBuilder::new(allocator), scoping, namespace_of: variables.namespace_of }
        .visit_program(program);
    true
}

/// Collects the variables exported from namespaces, and the namespaces' names.
#[derive(Default)]
struct Variables<'a> {
    namespace_of: FxHashMap<SymbolId, &'a str>,
}

impl<'a> Visit<'a> for Variables<'a> {
    fn visit_ts_namespace_declaration(&mut self, it: &TSNamespaceDeclaration<'a>) {
        if it.declare {
            return;
        }
        if let TSNamespaceDeclarationBody::TSModuleBlock(block) = &it.body {
            for statement in &block.body {
                let Statement::ExportDeclaration(export) = statement else {
                    continue;
                };
                let Declaration::VariableDeclaration(variables) = &export.declaration else {
                    continue;
                };
                if variables.declare || variables.kind.is_const() {
                    continue;
                }
                for variable in &variables.declarations {
                    if let BindingPattern::BindingIdentifier(name) = &variable.id
                        && let Some(symbol) = name.symbol_id.get()
                    {
                        self.namespace_of.insert(symbol, it.id.name.as_str());
                    }
                }
            }
        }
        walk::walk_ts_namespace_declaration(self, it);
    }
}

struct Qualify<'a, 's> {
    builder: AstBuilder<'a>,
    scoping: &'s Scoping,
    namespace_of: FxHashMap<SymbolId, &'a str>,
}

impl<'a> Qualify<'a, '_> {
    fn namespace(&self, identifier: &IdentifierReference<'a>) -> Option<&'a str> {
        let reference = identifier.reference_id.get()?;
        let symbol = self.scoping.get_reference(reference).symbol_id()?;
        self.namespace_of.get(&symbol).copied()
    }

    /// `Namespace` and `variable` of `Namespace.variable`, if the identifier has to become that.
    fn member(&self, identifier: &IdentifierReference<'a>) -> Option<(Expression<'a>, IdentifierName<'a>)> {
        let namespace = self.namespace(identifier)?;
        let object = Expression::new_identifier(identifier.span, namespace, &self.builder);
        let property = IdentifierName::new(identifier.span, identifier.name, &self.builder);
        Some((object, property))
    }
}

impl<'a> VisitMut<'a> for Qualify<'a, '_> {
    fn visit_expression(&mut self, it: &mut Expression<'a>) {
        if let Expression::Identifier(identifier) = it
            && let Some((object, property)) = self.member(identifier)
        {
            let span = identifier.span;
            *it = Expression::new_static_member_expression(span, object, property, false, &self.builder);
            return;
        }
        walk_mut::walk_expression(self, it);
    }

    fn visit_simple_assignment_target(&mut self, it: &mut SimpleAssignmentTarget<'a>) {
        if let SimpleAssignmentTarget::AssignmentTargetIdentifier(identifier) = it
            && let Some((object, property)) = self.member(identifier)
        {
            let span = identifier.span;
            *it = SimpleAssignmentTarget::StaticMemberExpression(StaticMemberExpression::boxed(
                span,
                object,
                property,
                false,
                &self.builder,
            ));
            return;
        }
        walk_mut::walk_simple_assignment_target(self, it);
    }

    fn visit_assignment_target(&mut self, it: &mut AssignmentTarget<'a>) {
        if let AssignmentTarget::AssignmentTargetIdentifier(identifier) = it
            && let Some((object, property)) = self.member(identifier)
        {
            let span = identifier.span;
            *it = AssignmentTarget::StaticMemberExpression(StaticMemberExpression::boxed(
                span,
                object,
                property,
                false,
                &self.builder,
            ));
            return;
        }
        walk_mut::walk_assignment_target(self, it);
    }

    fn visit_object_property(&mut self, it: &mut ObjectProperty<'a>) {
        walk_mut::walk_object_property(self, it);
        it.shorthand &= matches!(it.value, Expression::Identifier(_));
    }
}
