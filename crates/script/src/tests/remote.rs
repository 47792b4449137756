//! Modules on servers, from a table instead of a network.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use super::{Project, loaded};
use crate::{
    Entry, ErrorKind, LoadOptions, Program, ScriptError, load,
    remote::{Fetch, Remote, Unfetched},
};

/// Servers as a table of URLs; what is asked for at once is one line of `asked`.
#[derive(Debug, Default)]
struct Web {
    pages: BTreeMap<String, String>,
    asked: Mutex<Vec<String>>,
    /// Every `https://h/deep/N` imports its successor.
    is_endless: bool,
}

impl Remote for Web {
    fn begin(&self) -> Box<dyn Fetch + '_> {
        Box::new(self)
    }
}

impl Fetch for &Web {
    fn fetch(&mut self, urls: &[&str]) -> Vec<Result<Arc<[u8]>, Unfetched>> {
        self.asked.lock().unwrap().push(urls.join(" "));
        urls.iter()
            .map(|url| {
                if let Some(number) = url.strip_prefix("https://h/deep/").filter(|_| self.is_endless) {
                    let next = number.parse::<u32>().unwrap() + 1;
                    return Ok(format!("import './{next}'").into_bytes().into());
                }
                let missing = || Unfetched::new(format!("not found: {url}"), "look elsewhere");
                self.pages.get(*url).map(|page| page.as_bytes().into()).ok_or_else(missing)
            })
            .collect()
    }
}

fn web(pages: &[(&str, &str)]) -> Arc<Web> {
    let pages = pages.iter().map(|(url, page)| ((*url).to_owned(), (*page).to_owned())).collect();
    Arc::new(Web { pages, ..Web::default() })
}

fn fetching(project: &Project, web: &Arc<Web>) -> Result<Program, ScriptError> {
    let options = LoadOptions { remote: Some(web.clone()), ..project.options() };
    load(Entry::File(project.entry.clone()), &options)
}

fn failure(main: &str, web: &Arc<Web>) -> String {
    let project = Project::new(&[("main.js", main)]);
    project.relative(&fetching(&project, web).expect_err("loading should fail").render())
}

#[test]
fn a_graph_is_fetched_level_by_level() {
    let web = web(&[
        ("https://h/a/index.js", "import './b.js'; import '/c.js'; import 'https://g/d.ts?v=1';"),
        ("https://h/a/b.js", "exports.b = require('../c.js')"),
        ("https://h/c.js", "import './c.js'; export const c = 1;"),
        ("https://g/d.ts?v=1", "export const d: number = 1;"),
    ]);
    let files =
        [("main.js", "import 'https://h/a/index.js'; import './local.js';"), ("local.js", "import 'https://h/c.js'")];
    let project = Project::new(&files);
    let program = fetching(&project, &web).unwrap_or_else(|error| panic!("{}", error.render()));
    assert_eq!(
        project.graph(&program),
        "main.js esm Static:https://h/a/index.js Static:local.js\n\
         https://h/a/index.js esm Static:https://h/a/b.js Static:https://h/c.js Static:https://g/d.ts?v=1\n\
         local.js esm Static:https://h/c.js\n\
         https://h/c.js esm Static:https://h/c.js\n\
         https://h/a/b.js cjs Require:https://h/c.js\n\
         https://g/d.ts?v=1 esm\n"
    );
    let asked = web.asked.lock().unwrap().clone();
    assert_eq!(asked, ["https://h/a/index.js https://h/c.js", "https://h/a/b.js https://g/d.ts?v=1"]);
    let stack = "at f (https://h/c.js:1:2)\n at https://else/where.js:1:1";
    assert_eq!(program.remap_stack(stack), stack);
}

#[test]
fn nothing_is_asked_for_where_nothing_is_remote() {
    let web = web(&[]);
    let project = Project::new(&[("main.js", "import './a.js'"), ("a.js", "export {}")]);
    fetching(&project, &web).unwrap();
    assert!(web.asked.lock().unwrap().is_empty());
}

#[test]
fn failures_are_at_the_import() {
    let web = web(&[
        ("https://h/a.js", "import './gone.js'"),
        ("https://h/page.js", "<!DOCTYPE html><html></html>"),
        ("https://h/bad.js", "export const a = ;"),
        ("https://h/file.js", "import 'file:///etc/passwd'"),
        ("https://h/sub/k6.js", "import 'k6/x/sql'"),
    ]);
    let check = |main: &str, parts: &[&str]| {
        let text = failure(main, &web);
        let mut lines = text.lines();
        for part in parts {
            assert!(lines.next().is_some_and(|line| line.contains(part)), "{part:?} in\n{text}");
        }
    };
    check(
        "import {} from 'https://h/gone.js'",
        &[
            "file://~/main.js:1:16: The moduleSpecifier \"https://h/gone.js\" couldn't be retrieved from the resolved url \
             \"https://h/gone.js\". Error : \"not found: https://h/gone.js\"",
            "  1 | import {} from 'https://h/gone.js'",
            "^^^",
            "hint: look elsewhere",
        ],
    );
    check(
        "import 'https://h/a.js'",
        &[
            "https://h/a.js:1:8: The moduleSpecifier \"./gone.js\" couldn't be retrieved from the resolved url \"https://h/gone.js\"",
        ],
    );
    check(
        "\nimport 'https://h/page.js'",
        &["file://~/main.js:2:8: ", "  1 |", "  2 | import", "^^", "hint: open the URL in a browser"],
    );
    check(
        "import 'https://h/bad.js'",
        &["https://h/bad.js:1:18: ", "  1 | export const a = ;", "^", "hint: file://~/main.js:1:8 imports it"],
    );
    check(
        "import 'https://h/file.js'",
        &["https://h/file.js:1:8: origin (https://h/) not allowed to load local file: file:///etc/passwd"],
    );
    check("import 'https://h/sub/k6.js'", &["https://h/sub/k6.js:1:8: unknown modules [\"k6/x/sql\"]"]);
    check("import 'http://h/a.js'", &["file://~/main.js:1:8: only supported schemes for imports are file and https"]);
}

#[test]
fn what_is_only_required_may_be_missing() {
    let web = web(&[]);
    let project = Project::new(&[("main.js", "try { require('https://h/gone.js') } catch { }")]);
    let program = fetching(&project, &web).unwrap();
    assert_eq!(project.graph(&program), "main.js cjs Require:!Fetch\n");
}

#[test]
fn the_script_itself_may_be_remote() {
    let web = web(&[("https://h/t/main.js", "import './b.js'"), ("https://h/t/b.js", "export {}")]);
    let project = Project::new(&[("x.js", "")]);
    let options = LoadOptions { remote: Some(web), ..project.options() };
    let program = load(Entry::File("https://h/t/main.js".into()), &options).unwrap();
    assert_eq!(project.graph(&program), "https://h/t/main.js esm Static:https://h/t/b.js\nhttps://h/t/b.js esm\n");
    let error = load(Entry::File("https://h/no.js".into()), &options).unwrap_err();
    assert_eq!((error.kind, error.line), (ErrorKind::Fetch, 0));
}

#[test]
fn an_endless_graph_ends() {
    let web = Arc::new(Web { is_endless: true, ..Web::default() });
    let text = failure("import 'https://h/deep/0'", &web);
    assert!(text.contains("more than 1000 modules import one another up to \"./1000\""), "{text}");
    assert_eq!(web.asked.lock().unwrap().len(), 1000);
}

#[test]
fn source_maps_of_remote_modules_are_fetched_last_and_may_be_missing() {
    let map = r#"{"version":3,"sources":["x.ts"],"names":[],"mappings":"AACA"}"#;
    let web = web(&[
        ("https://h/a.js", "export const a = 1;\n//# sourceMappingURL=a.js.map"),
        ("https://h/a.js.map", map),
        ("https://h/b.js", "export const b = 1;\n//# sourceMappingURL=gone.map"),
        ("https://h/c.js", "export const c = 1;\n//# sourceMappingURL=file:///etc/passwd"),
    ]);
    let project =
        Project::new(&[("main.js", "import 'https://h/a.js'; import 'https://h/b.js'; import 'https://h/c.js'")]);
    let program = fetching(&project, &web).unwrap();
    assert_eq!(program.remap_stack("at https://h/a.js:1:1"), "at https://h/x.ts:2:1");
    assert_eq!(program.assets.len(), 1);
    assert_eq!(
        program.warnings,
        [
            "couldn't load source map for https://h/c.js: file:///etc/passwd may not be read from https://h/c.js",
            "couldn't load source map for https://h/b.js: not found: https://h/gone.map",
        ]
    );
}

#[test]
fn without_a_network_imports_of_urls_fail() {
    let project = Project::new(&[("main.js", "import 'https://h/a.js'")]);
    let error = project.load().unwrap_err();
    assert_eq!(error.kind, ErrorKind::Fetch);
    assert!(error.hint.contains("download the module"));
    let (_, program) = loaded(&[("main.js", "if (0) require('https://h/a.js')")]);
    assert_eq!(program.modules.len(), 1);
}
