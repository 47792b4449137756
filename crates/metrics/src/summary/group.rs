//! The tree of groups with their checks, each with the id k6 gives it.

use md5::{Digest, Md5};

use super::input::{CheckInput, GroupInput};

/// Between the names of a path.
const SEPARATOR: &str = "::";

/// Deepest nesting kept as a tree; what lies deeper becomes one name, separators
/// included. The text indents by two columns a level, so more is unreadable anyway.
const DEPTH_MAX: usize = 128;

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
        let mut root = Self::new(String::new(), String::new());
        for group in groups {
            root.descend(&group.path);
        }
        for check in checks {
            let group = root.descend(&check.group);
            match group.checks.iter_mut().find(|known| known.name == check.name) {
                Some(known) => {
                    known.passes = known.passes.saturating_add(check.passes);
                    known.fails = known.fails.saturating_add(check.fails);
                }
                None => {
                    let path = format!("{}{SEPARATOR}{}", group.path, check.name);
                    let id = id_of(&path);
                    group.checks.push(Check { name: check.name.clone(), path, id, passes: check.passes, fails: check.fails });
                }
            }
        }
        root
    }

    fn new(name: String, path: String) -> Self {
        let id = id_of(&path);
        Self { name, path, id, groups: Vec::new(), checks: Vec::new() }
    }

    /// The group at `path`, made with all groups on the way if need be.
    fn descend(&mut self, path: &str) -> &mut Self {
        let mut group = self;
        for name in names(path) {
            let index = match group.groups.iter().position(|known| known.name == name) {
                Some(index) => index,
                None => {
                    let path = format!("{}{SEPARATOR}{name}", group.path);
                    group.groups.push(Self::new(name.to_owned(), path));
                    group.groups.len() - 1
                }
            };
            group = &mut group.groups[index];
        }
        group
    }
}

/// The names along a path, outermost first; at most [`DEPTH_MAX`].
pub(super) fn names(path: &str) -> impl Iterator<Item = &str> {
    // A path starts with the separator, so what precedes it is no group; k6 gives none to an empty name either.
    path.splitn(DEPTH_MAX + 1, SEPARATOR).filter(|name| !name.is_empty())
}

fn id_of(path: &str) -> String {
    Md5::digest(path.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(path: &str) -> GroupInput {
        GroupInput { scenario: String::new(), path: path.to_owned() }
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
        let root = Group::tree(&[], &[check("a", "::g", "c", 1, 2), check("b", "::g", "c", 10, 20), check("b", "", "c", 5, 0)]);
        assert_eq!(root.groups.len(), 1);
        assert_eq!((root.groups[0].checks[0].passes, root.groups[0].checks[0].fails), (11, 22));
        assert_eq!((root.checks[0].passes, root.checks[0].fails), (5, 0));
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
