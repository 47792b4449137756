//! Files of a crate do not need each other in large circles: a circle can only be understood, tested and changed as a
//! whole.
//!
//! `names` reads what files need of each other; here the circles are found and judged.

mod names;

use std::collections::{BTreeMap, BTreeSet};

use super::{Finding, Report};
use crate::workspace::File;

/// The files each file needs, by path.
type Graph = BTreeMap<String, BTreeSet<String>>;

/// The most files that may need each other in a circle: as many as a reader can hold in mind together.
const FILES_MAX: usize = 6;

/// Looks for circles in all trees of modules.
pub(super) fn check(files: &[File], report: &mut Report) {
    for (root, graph) in names::graphs(files) {
        for circle in circles(&graph).iter().filter(|circle| circle.len() > FILES_MAX) {
            report.findings.push(Finding::new(
                &root,
                0,
                format!(
                    "{} files need each other in a circle, {FILES_MAX} at most may: {}",
                    circle.len(),
                    circle.join(", ")
                ),
            ));
        }
    }
}

/// The sets of files that all need each other, directly or not; single files are left out. (Tarjan's algorithm.)
fn circles(graph: &Graph) -> Vec<Vec<&str>> {
    let mut search = Search { graph, marks: BTreeMap::new(), stack: Vec::new(), found: Vec::new() };
    for file in graph.keys() {
        if !search.marks.contains_key(file.as_str()) {
            search.visit(file);
        }
    }
    search.found
}

struct Search<'a> {
    graph: &'a Graph,
    /// When a file was seen, the earliest file it reaches, and whether it is still on the stack.
    marks: BTreeMap<&'a str, (usize, usize, bool)>,
    stack: Vec<&'a str>,
    found: Vec<Vec<&'a str>>,
}

impl<'a> Search<'a> {
    /// Returns the earliest file that `file` reaches. Recursion is as deep as the longest chain of files.
    fn visit(&mut self, file: &'a str) -> usize {
        let own = self.marks.len();
        self.marks.insert(file, (own, own, true));
        self.stack.push(file);
        let mut low = own;
        for next in self.graph.get(file).into_iter().flatten() {
            low = match self.marks.get(next.as_str()) {
                None => low.min(self.visit(next)),
                Some((seen, _, true)) => low.min(*seen),
                Some(_) => low,
            };
        }
        if low == own {
            let start = self.stack.iter().rposition(|other| *other == file).unwrap_or_default();
            let mut circle = self.stack.split_off(start);
            for member in &circle {
                if let Some(mark) = self.marks.get_mut(member) {
                    mark.2 = false;
                }
            }
            if circle.len() > 1 {
                circle.sort_unstable();
                self.found.push(circle);
            }
        }
        if let Some(mark) = self.marks.get_mut(file) {
            mark.1 = low;
        }
        low
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_circles() {
        let check = |edges: &str, expect: &[&[&str]]| {
            let mut graph = Graph::new();
            for edge in edges.split_whitespace() {
                let (from, to) = edge.split_once('>').expect("an edge");
                graph.entry(from.to_owned()).or_default().insert(to.to_owned());
                graph.entry(to.to_owned()).or_default();
            }
            assert_eq!(circles(&graph), expect, "{edges}");
        };
        check("a>b b>c", &[]);
        check("a>b b>a", &[&["a", "b"]]);
        check("a>b b>c c>a c>d d>e e>d", &[&["d", "e"], &["a", "b", "c"]]);
        check("a>b a>c b>d c>d d>a", &[&["a", "b", "c", "d"]]);
    }

    #[test]
    fn large_circles_are_findings() {
        let file = |name: &str, text: String| File { path: format!("crates/x/src/{name}.rs"), text };
        let ring = |length: usize| -> Vec<File> {
            let mods: String = (0..length).map(|index| format!("mod m{index};")).collect();
            let mut files = vec![file("lib", mods)];
            files.extend((0..length).map(|index| {
                file(&format!("m{index}"), format!("use super::m{}::T as Next; pub struct T;", (index + 1) % length))
            }));
            files
        };
        let check = |length: usize, expect: usize| {
            let mut report = Report::default();
            check(&ring(length), &mut report);
            assert_eq!(report.findings.len(), expect, "{:?}", report.findings);
        };
        check(FILES_MAX, 0);
        check(FILES_MAX + 1, 1);
    }
}
