//! From drafts to the program: what is kept, under which numbers, and what CommonJS modules look like to ES modules.

use std::sync::OnceLock;

use rustc_hash::{FxHashMap, FxHashSet};

use super::{Draft, EdgeTarget, Loader};
use crate::{
    error::ScriptError,
    facade::{facade, is_exportable},
    position::Lines,
    program::{Finding, Import, ImportKind, Module, ModuleIndex, ModuleKind, Program, Target},
};

impl Loader<'_> {
    pub(super) fn assemble(self, failed: &[bool]) -> Program {
        let kept = self.reachable(failed);
        let mut indices = vec![None; self.drafts.len()];
        for (new, &old) in kept.iter().enumerate() {
            indices[old] = Some(ModuleIndex(u32::try_from(new).unwrap_or(u32::MAX)));
        }
        let facades = self.facades(&kept);
        // Errors of failed drafts have to be taken before the drafts are taken apart.
        let errors: FxHashMap<usize, ScriptError> = (0..self.drafts.len())
            .filter(|&index| failed[index])
            .map(|index| (index, self.failure(index, failed)))
            .collect();
        let mut finding = None;
        let mut modules = Vec::with_capacity(kept.len());
        let mut drafts: Vec<Option<Draft>> = self.drafts.into_iter().map(Some).collect();
        for (&old, facade) in kept.iter().zip(facades) {
            let Some(Draft { specifier, base, source, outcome: Ok(compiled), edges, extension, .. }) =
                drafts[old].take()
            else {
                continue;
            };
            if finding.is_none()
                && let Some(write) = &compiled.write
            {
                let position = Lines::new(&source).position(&source, write.offset);
                finding = Some(Finding {
                    module: ModuleIndex(u32::try_from(modules.len()).unwrap_or(u32::MAX)),
                    line: position.line,
                    column: position.column,
                    what: write.what.clone(),
                });
            }
            let imports = edges
                .into_iter()
                .zip(compiled.analysis.requests)
                .map(|(edge, request)| Import {
                    request: request.text,
                    kind: edge.kind,
                    line: edge.position.line,
                    column: edge.position.column,
                    target: match edge.target {
                        Ok(EdgeTarget::Builtin(name)) => Target::Builtin(name),
                        Ok(EdgeTarget::Draft(target)) => match indices[target] {
                            Some(index) => Target::Module(index),
                            None => Target::Missing(Box::new(errors[&target].clone())),
                        },
                        Err(error) => Target::Missing(Box::new(error)),
                    },
                })
                .collect();
            modules.push(Module {
                specifier,
                code: compiled.code,
                kind: compiled.kind,
                imports,
                facade,
                uses_import_meta: compiled.analysis.uses_import_meta,
                has_top_level_await: compiled.analysis.has_top_level_await,
                source,
                extension,
                map: compiled.map,
                prefix_len: compiled.prefix_len,
                base,
                lines: OnceLock::new(),
            });
        }
        let by_specifier =
            modules.iter().zip(0..).map(|(module, index)| (module.specifier.clone(), ModuleIndex(index))).collect();
        let extensions = modules
            .iter()
            .zip(0..)
            .filter(|(module, _): &(&Module, u32)| module.extension.is_some())
            .map(|(_, index)| ModuleIndex(index))
            .collect();
        Program {
            modules,
            extensions,
            entry: ModuleIndex(0),
            warnings: self.warnings,
            assets: self.assets,
            by_specifier,
            builtins: self.options.builtins,
            finding,
        }
    }

    /// The drafts the script can get at, in the order they were found. Those that failed are left out.
    fn reachable(&self, failed: &[bool]) -> Vec<usize> {
        let mut seen = vec![false; self.drafts.len()];
        let mut stack = vec![0];
        while let Some(index) = stack.pop() {
            if failed[index] || std::mem::replace(&mut seen[index], true) {
                continue;
            }
            for edge in &self.drafts[index].edges {
                if let Ok(EdgeTarget::Draft(target)) = edge.target {
                    stack.push(target);
                }
            }
        }
        (0..self.drafts.len()).filter(|&index| seen[index]).collect()
    }

    /// The facades of the kept drafts; empty for ES modules.
    fn facades(&self, kept: &[usize]) -> Vec<String> {
        // Names that importers ask for, by draft.
        let mut asked: FxHashMap<usize, FxHashSet<&str>> = FxHashMap::default();
        for &index in kept {
            let draft = &self.drafts[index];
            let Ok(compiled) = &draft.outcome else {
                continue;
            };
            for (edge, request) in draft.edges.iter().zip(&compiled.analysis.requests) {
                if let Ok(EdgeTarget::Draft(target)) = edge.target {
                    let names = asked.entry(target).or_default();
                    names.extend(request.names.iter().map(String::as_str));
                    // Nothing tells what becomes of its namespace, and k6 has no import().
                    names.extend((request.kind == ImportKind::Dynamic).then_some("default"));
                }
            }
        }
        kept.iter()
            .map(|&index| {
                let draft = &self.drafts[index];
                match &draft.outcome {
                    Ok(compiled) if compiled.kind == ModuleKind::CommonJs => {
                        let mut names = self.export_names(index);
                        let asked = asked.remove(&index).unwrap_or_default();
                        let has_default = asked.contains("default");
                        names.extend(asked);
                        let mut names: Vec<&str> = names.into_iter().filter(|name| is_exportable(name)).collect();
                        names.sort_unstable();
                        facade(&draft.specifier, has_default, names.into_iter())
                    }
                    _ => String::new(),
                }
            })
            .collect()
    }

    /// The names a CommonJS module exports, as far as a static look tells, through modules it passes on.
    fn export_names(&self, index: usize) -> FxHashSet<&str> {
        let mut names = FxHashSet::default();
        let mut seen = FxHashSet::default();
        let mut stack = vec![index];
        while let Some(index) = stack.pop() {
            let draft = &self.drafts[index];
            let Ok(compiled) = &draft.outcome else {
                continue;
            };
            if !seen.insert(index) {
                continue;
            }
            let analysis = &compiled.analysis;
            names.extend(analysis.export_names.iter().map(String::as_str));
            for (edge, request) in draft.edges.iter().zip(&analysis.requests) {
                if let Ok(EdgeTarget::Draft(target)) = edge.target
                    && request.kind == ImportKind::Require
                    && analysis.reexports.contains(&request.text)
                {
                    stack.push(target);
                }
            }
        }
        names
    }
}
