//! Which file needs which, read from `use` declarations and paths.
//!
//! A name stands for the file that defines it, whichever module hands it on: a file that imports from a folder does
//! not need all that is in there. What only the compiler knows (methods, what macros write) is not seen, and neither
//! are tests.

use std::collections::{BTreeMap, BTreeSet};

use syn::{
    Attribute, Expr, Item, ItemUse, Macro, UseTree, Visibility,
    parse::Parser,
    punctuated::Punctuated,
    visit::{self, Visit},
};

use super::Graph;
use crate::workspace::File;

/// Segments from the root of a tree to a module.
type Place = Vec<String>;

/// The graph of each tree of modules, by the file at its root.
pub(super) fn graphs(files: &[File]) -> BTreeMap<String, Graph> {
    let roots = files.iter().map(|file| file.path.as_str()).filter(|path| is_root(path));
    roots.map(|root| (root.to_owned(), Tree::read(files, root).graph())).collect()
}

fn is_root(path: &str) -> bool {
    path.starts_with("crates/") && (path.ends_with("/src/lib.rs") || path.ends_with("/main.rs"))
}

/// The modules that one root file leads to.
struct Tree {
    modules: BTreeMap<Place, Module>,
}

#[derive(Default)]
struct Module {
    file: String,
    /// What it defines.
    items: BTreeSet<String>,
    /// What its `use` declarations name: the name here, where it comes from.
    imports: Vec<(String, Place)>,
    /// Modules all of whose names it has.
    globs: Vec<Place>,
    /// Paths in its code, imports for its own use among them.
    paths: Vec<Place>,
}

impl Tree {
    fn read(files: &[File], root: &str) -> Self {
        let mut tree = Self { modules: BTreeMap::new() };
        let folder = root.rsplit_once('/').map_or("", |(folder, _)| folder);
        tree.read_file(files, root, folder, Place::new());
        tree
    }

    /// Reads a file and those its `mod` declarations name, which are below `folder`.
    fn read_file(&mut self, files: &[File], path: &str, folder: &str, place: Place) {
        let Some(file) = files.iter().find(|file| file.path == path) else { return };
        // What does not parse does not compile either.
        let Ok(parsed) = syn::parse_file(&file.text) else { return };
        let mut below = Vec::new();
        self.read_items(path, &parsed.items, place, &mut below);
        for place in below {
            let Some(name) = place.last() else { continue };
            // An inline module's folder is below that of its file, which `place` knows and `folder` does not.
            let flat = format!("{folder}/{name}.rs");
            if files.iter().any(|file| file.path == flat) {
                self.read_file(files, &flat, &format!("{folder}/{name}"), place);
            } else {
                let nested = format!("{folder}/{name}");
                self.read_file(files, &format!("{nested}/mod.rs"), &nested, place);
            }
        }
    }

    fn read_items(&mut self, path: &str, items: &[Item], place: Place, below: &mut Vec<Place>) {
        let mut module = Module { file: path.to_owned(), ..Module::default() };
        for item in items.iter().filter(|item| !is_for_tests(attributes(item))) {
            if let Some(name) = defined(item) {
                module.items.insert(name);
            }
            match item {
                Item::Mod(inner) => {
                    let mut place = place.clone();
                    place.push(inner.ident.to_string());
                    match &inner.content {
                        Some((_, items)) => self.read_items(path, items, place, below),
                        None => below.push(place),
                    }
                }
                Item::Use(item) => module.import(item),
                _ => Paths(&mut module).visit_item(item),
            }
        }
        self.modules.insert(place, module);
    }

    fn graph(&self) -> Graph {
        let mut graph = Graph::new();
        for (place, module) in &self.modules {
            let needs = graph.entry(module.file.clone()).or_default();
            let found = module.paths.iter().filter_map(|path| self.resolve(place, path, 0));
            needs.extend(found.filter(|file| **file != module.file).cloned());
        }
        graph
    }

    /// The file that defines what `path` names in the module at `place`.
    fn resolve(&self, place: &[String], path: &[String], depth: usize) -> Option<&String> {
        let (first, rest) = path.split_first()?;
        match first.as_str() {
            "crate" => self.resolve(&[], rest, depth),
            "self" => self.resolve(place, rest, depth),
            "super" => self.resolve(place.split_last()?.1, rest, depth),
            name => {
                let module = self.modules.get(place)?;
                let mut inner = place.to_vec();
                inner.push(name.to_owned());
                if self.modules.contains_key(&inner) {
                    return self.resolve(&inner, rest, depth);
                }
                if module.items.contains(name) {
                    return Some(&module.file);
                }
                if depth > HOPS_MAX {
                    return None;
                }
                let imported = module.imports.iter().filter(|(known, _)| known == name).find_map(|(_, target)| {
                    let target: Place = target.iter().chain(rest).cloned().collect();
                    self.resolve(place, &target, depth + 1)
                });
                imported.or_else(|| {
                    module.globs.iter().find_map(|glob| {
                        let target: Place = glob.iter().chain(path).cloned().collect();
                        self.resolve(place, &target, depth + 1)
                    })
                })
            }
        }
    }
}

/// Modules a name may be handed on through: an end for those that hand it on to each other.
const HOPS_MAX: usize = 16;

impl Module {
    fn import(&mut self, item: &ItemUse) {
        let mut leaves = Vec::new();
        let own = matches!(item.vis, Visibility::Inherited);
        flatten(&item.tree, &mut Place::new(), &mut leaves);
        for (name, path) in leaves {
            match name {
                Some(name) => {
                    // What it hands on is not what it needs.
                    if own {
                        self.paths.push(path.clone());
                    }
                    self.imports.push((name, path));
                }
                None => self.globs.push(path),
            }
        }
    }
}

/// The names a `use` tree brings in and what they stand for; no name is a glob.
fn flatten(tree: &UseTree, path: &mut Place, leaves: &mut Vec<(Option<String>, Place)>) {
    match tree {
        UseTree::Path(step) => {
            path.push(step.ident.to_string());
            flatten(&step.tree, path, leaves);
            path.pop();
        }
        UseTree::Name(name) if name.ident == "self" => leaves.push((path.last().cloned(), path.clone())),
        UseTree::Name(name) => leaves.push((Some(name.ident.to_string()), with(path, &name.ident))),
        UseTree::Rename(rename) if rename.ident == "self" => {
            leaves.push((Some(rename.rename.to_string()), path.clone()));
        }
        UseTree::Rename(rename) => leaves.push((Some(rename.rename.to_string()), with(path, &rename.ident))),
        UseTree::Glob(_) => leaves.push((None, path.clone())),
        UseTree::Group(group) => group.items.iter().for_each(|tree| flatten(tree, path, leaves)),
    }
}

fn with(path: &Place, last: &syn::Ident) -> Place {
    path.iter().cloned().chain([last.to_string()]).collect()
}

/// Collects the paths in items.
struct Paths<'a>(&'a mut Module);

impl<'ast> Visit<'ast> for Paths<'_> {
    fn visit_path(&mut self, path: &'ast syn::Path) {
        if path.leading_colon.is_none() {
            self.0.paths.push(path.segments.iter().map(|segment| segment.ident.to_string()).collect());
        }
        visit::visit_path(self, path);
    }

    /// `use` within a function.
    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        self.0.import(item);
    }

    /// Most macros take expressions.
    fn visit_macro(&mut self, found: &'ast Macro) {
        let parser = Punctuated::<Expr, syn::Token![,]>::parse_terminated;
        if let Ok(arguments) = parser.parse2(found.tokens.clone()) {
            // They are of this call, which `'ast` outlives.
            Paths(self.0).read(&arguments);
        }
    }
}

impl Paths<'_> {
    fn read(&mut self, arguments: &Punctuated<Expr, syn::Token![,]>) {
        arguments.iter().for_each(|argument| self.visit_expr(argument));
    }
}

/// The name an item defines.
fn defined(item: &Item) -> Option<String> {
    let ident = match item {
        Item::Const(item) => &item.ident,
        Item::Enum(item) => &item.ident,
        Item::Fn(item) => &item.sig.ident,
        Item::Macro(item) => item.ident.as_ref()?,
        Item::Static(item) => &item.ident,
        Item::Struct(item) => &item.ident,
        Item::Trait(item) => &item.ident,
        Item::TraitAlias(item) => &item.ident,
        Item::Type(item) => &item.ident,
        Item::Union(item) => &item.ident,
        _ => return None,
    };
    Some(ident.to_string())
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

/// Whether `#[cfg(test)]` is among the attributes.
fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute.parse_args::<syn::Path>().is_ok_and(|condition| condition.is_ident("test"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn follows_names_to_their_files() {
        let file = |name: &str, text: &str| File { path: format!("crates/x/src/{name}.rs"), text: text.to_owned() };
        let check = |text: &str, expect: &[&str]| {
            let files = [
                file("lib", "mod a; mod b; mod user; pub use b::Thing;"),
                file("a", "pub fn run() {} pub mod inner { pub struct Deep; }"),
                file("b/mod", "mod c; pub(crate) use c::*; pub(crate) use c::Other as Renamed; pub struct Thing;"),
                file("b/c", "pub struct Other; pub fn free() {}"),
                file("user", text),
            ];
            let graphs = graphs(&files);
            let needs = &graphs["crates/x/src/lib.rs"]["crates/x/src/user.rs"];
            let expect: BTreeSet<String> = expect.iter().map(|name| format!("crates/x/src/{name}.rs")).collect();
            assert_eq!(*needs, expect, "{text}");
        };
        check("use crate::a::run;", &["a"]);
        check("use crate::a;", &[]);
        check("use crate::a; fn f() { a::run() }", &["a"]);
        check("use crate::a::inner::Deep;", &["a"]);
        // Handed on by a folder, by another name, by the root.
        check("use crate::b::Other;", &["b/c"]);
        check("fn f() -> super::b::Renamed { todo!() }", &["b/c"]);
        check("use crate::Thing;", &["b/mod"]);
        check("pub(crate) use crate::b::Other;", &[]);
        check("pub(crate) use crate::b::Other; struct S(Other);", &["b/c"]);
        check("use std::io; use other::Thing;", &[]);
        // In macros, in functions, and not in tests.
        check("fn f() { println!(\"{:?}\", crate::b::free()) }", &["b/c"]);
        check("fn f() { use crate::a::run; run() }", &["a"]);
        check("#[cfg(test)] mod tests { use crate::a::run; }", &[]);
    }
}
