//! The tree of groups with their checks, each with the id k6 gives it.

use md5::{Digest, Md5};
use rustc_hash::FxHashMap;

use super::input::{CheckInput, GroupInput};

/// Between the names of a path.
const SEPARATOR: &str = "::";

/// Deepest nesting kept as a tree; what lies deeper becomes one name, separators included. Each level is two in JSON,
/// whose readers commonly stop at 128 (serde_json does), and what renders the tree recurses.
const DEPTH_MAX: usize = 50;

/// A group, the root included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Its name; empty for the root.
    pub name: String,
    /// Its path, `::a::b`; empty for the root.
    pub path: String,
    /// The MD5 of its path in hexadecimal digits.
    pub id: String,
    /// Groups within it, in the order they were first seen.
    pub groups: Vec<Group>,
    /// Checks directly in it, in the order of their first outcome.
    pub checks: Vec<Check>,
}

/// A check in a group, over all scenarios.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// Its name.
    pub name: String,
    /// The group's path and its name.
    pub path: String,
    /// The MD5 of its path in hexadecimal digits.
    pub id: String,
    /// How often it held.
    pub passes: u64,
    /// How often it did not.
    pub fails: u64,
}

impl Group {
    /// The tree of all groups, in the order given, and of all checks.
    pub(super) fn tree(groups: &[GroupInput], checks: &[CheckInput]) -> Self {
        let mut paths = Paths::new();
        for group in groups.iter().filter(|group| group.is_entered) {
            paths.at(&group.path);
        }
        let mut inside: Vec<Vec<Check>> = Vec::new();
        let mut known: FxHashMap<(usize, &str), usize> = FxHashMap::default();
        for check in checks {
            let group = paths.at(&check.group);
            inside.resize_with(paths.len(), Vec::new);
            let place = *known.entry((group, &check.name)).or_insert_with(|| {
                let path = format!("{}{SEPARATOR}{}", paths.path(group), check.name);
                let id = id_of(&path);
                inside[group].push(Check { name: check.name.clone(), path, id, passes: 0, fails: 0 });
                inside[group].len() - 1
            });
            let total = &mut inside[group][place];
            total.passes = total.passes.saturating_add(check.passes);
            total.fails = total.fails.saturating_add(check.fails);
        }
        paths.into_tree(|index, name, path| {
            let checks = inside.get_mut(index).map(std::mem::take).unwrap_or_default();
            Self { name, id: id_of(&path), path, groups: Vec::new(), checks }
        })
    }
}

impl Nest for Group {
    fn inner(&mut self) -> &mut Vec<Self> {
        &mut self.groups
    }
}

/// A node of a tree of groups.
pub(super) trait Nest {
    /// The groups within it.
    fn inner(&mut self) -> &mut Vec<Self>
    where
        Self: Sized;
}

/// The paths of groups, each with all that lead to it, in first-seen order.
pub(super) struct Paths {
    nodes: Vec<Node>,
    by_path: FxHashMap<String, usize>,
}

struct Node {
    name: String,
    path: String,
    parent: usize,
}

impl Paths {
    /// Only the root, whose path is empty and whose index is 0.
    pub(super) fn new() -> Self {
        Self {
            nodes: vec![Node { name: String::new(), path: String::new(), parent: 0 }],
            by_path: FxHashMap::default(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// The index of the group at `path`, made with all groups on the way if need be.
    pub(super) fn at(&mut self, path: &str) -> usize {
        if let Some(index) = self.by_path.get(path) {
            return *index;
        }
        let mut parent = 0;
        // A path starts with the separator; in front of it a script may have put a tag of its own, which k6 leaves out here.
        // k6: the root is the only group whose own group without a name is itself.
        let names = path.split_once(SEPARATOR).map_or("", |(_, names)| names);
        for name in names.splitn(DEPTH_MAX, SEPARATOR).filter(|_| !names.is_empty()) {
            let path = format!("{}{SEPARATOR}{name}", self.nodes[parent].path);
            parent = *self.by_path.entry(path).or_insert_with_key(|path| {
                self.nodes.push(Node { name: name.to_owned(), path: path.clone(), parent });
                self.nodes.len() - 1
            });
        }
        // Other spellings of a path are remembered as well.
        self.by_path.entry(path.to_owned()).or_insert(parent);
        parent
    }

    pub(super) fn path(&self, index: usize) -> &str {
        &self.nodes[index].path
    }

    /// The root of the tree whose nodes `make` makes of index, name and path.
    pub(super) fn into_tree<T: Nest>(self, mut make: impl FnMut(usize, String, String) -> T) -> T {
        let mut made: Vec<T> = Vec::with_capacity(self.nodes.len());
        let mut parents = Vec::with_capacity(self.nodes.len());
        for (index, node) in self.nodes.into_iter().enumerate() {
            made.push(make(index, node.name, node.path));
            parents.push(node.parent);
        }
        // A group comes after the one around it, so from the end each is complete when it is moved there.
        while made.len() > 1
            && let (Some(mut node), Some(parent)) = (made.pop(), parents.pop())
        {
            node.inner().reverse();
            made[parent].inner().push(node);
        }
        let mut root = made.swap_remove(0);
        root.inner().reverse();
        root
    }
}

fn id_of(path: &str) -> String {
    Md5::digest(path.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(path: &str) -> GroupInput {
        GroupInput { scenario: String::new(), path: path.to_owned(), is_entered: true }
    }

    fn check(scenario: &str, group: &str, name: &str, passes: u64, fails: u64) -> CheckInput {
        CheckInput { scenario: scenario.to_owned(), group: group.to_owned(), name: name.to_owned(), passes, fails }
    }

    #[test]
    fn ids_are_k6s() {
        let root = Group::tree(&[group("::setup::in setup")], &[check("", "", "root check", 6, 0)]);
        assert_eq!(root.id, "d41d8cd98f00b204e9800998ecf8427e");
        assert_eq!((&*root.groups[0].name, &*root.groups[0].id), ("setup", "5c0f8025f7e0b6654089e5b00e950f1a"));
        assert_eq!(root.groups[0].groups[0].id, "e1ef0866b9e0fbade845d1ac1455bc01");
        assert_eq!((&*root.checks[0].path, &*root.checks[0].id), ("::root check", "060bf8e804882ca89365ce6437b83055"));
    }

    #[test]
    fn scenarios_are_added_up() {
        let root = Group::tree(
            &[],
            &[check("a", "::g", "c", 1, 2), check("b", "::g", "c", 10, 20), check("b", "", "c", 5, 0)],
        );
        assert_eq!(root.groups.len(), 1);
        assert_eq!((root.groups[0].checks[0].passes, root.groups[0].checks[0].fails), (11, 22));
        assert_eq!((root.checks[0].passes, root.checks[0].fails), (5, 0));
    }

    #[test]
    fn order_is_that_of_appearance() {
        let root = Group::tree(
            &[group("::b::x"), group("::a"), group("::b::w"), group("::b"), group(""), group("::a::::y")],
            &[],
        );
        let names = |groups: &[Group]| groups.iter().map(|group| group.name.clone()).collect::<Vec<_>>();
        assert_eq!(names(&root.groups), ["b", "a"]);
        assert_eq!(names(&root.groups[0].groups), ["x", "w"]);
        // A group without a name within another one.
        let unnamed = &root.groups[1].groups[0];
        assert_eq!((&*unnamed.name, &*unnamed.path, &*unnamed.id), ("", "::a::", id_of("::a::").as_str()));
        assert_eq!(unnamed.groups[0].path, "::a::::y");
    }

    #[test]
    fn many_groups_and_checks_take_no_square_time() {
        let groups: Vec<_> = (0..50_000).map(|index| group(&format!("::{index}"))).collect();
        let checks: Vec<_> = (0..50_000).map(|index| check("", "::7", &format!("c{index}"), 1, 0)).collect();
        let root = Group::tree(&groups, &checks);
        assert_eq!((root.groups.len(), root.groups[7].checks.len()), (50_000, 50_000));
    }

    #[test]
    fn deep_paths_end_in_one_name() {
        let path = "::x".repeat(DEPTH_MAX + 5);
        let mut group = &Group::tree(&[group(&path)], &[]);
        let mut depth = 0;
        while let Some(next) = group.groups.first() {
            group = next;
            depth += 1;
        }
        assert_eq!((depth, &*group.path), (DEPTH_MAX, &*path));
    }
}
