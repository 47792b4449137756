//! Which files are loaded, and how failures are reported.

use super::*;
use crate::{Computed, ErrorKind, ImportKind, load_with};

fn check(files: &[(&str, &str)], expect: &str) {
    let (project, program) = loaded(files);
    assert_eq!(project.graph(&program).trim_end(), expect);
    assert!(program.warnings.is_empty(), "{:?}", program.warnings);
    for module in &program.modules {
        assert_eq!(
            program.find(&module.specifier).and_then(|i| program.module(i)).map(|m| &m.code),
            Some(&module.code)
        );
    }
}

#[test]
fn follows_every_kind_of_import() {
    check(
        &[
            (
                "main.js",
                "import http, { get } from 'k6/http';\nimport './side.js';\nimport * as a from './lib/a.js';\n\
                 export * from './b.mjs';\nexport { c as d } from './c.js';\nexport default () => import(`./dyn.js`);\n",
            ),
            ("side.js", "globalThis.x = 1;\nexport {};"),
            ("lib/a.js", "import '../b.mjs';"),
            ("b.mjs", "export const b = 1;"),
            ("c.js", "export const c = await 1;"),
            ("dyn.js", "export const where = import.meta.url;"),
        ],
        "main.js esm Static:k6/http Static:side.js Static:lib/a.js Static:b.mjs Static:c.js Dynamic:dyn.js\n\
         side.js esm\n\
         lib/a.js esm Static:b.mjs\n\
         b.mjs esm\n\
         c.js esm\n\
         dyn.js esm",
    );
}

#[test]
fn cycles_and_self_imports() {
    check(
        &[
            ("a.js", "import { b } from './b.js'; export const a = 1; export default () => b;"),
            ("b.js", "import { a } from './a.js'; import * as self from './b.js'; export const b = 2;"),
        ],
        "a.js esm Static:b.js\nb.js esm Static:a.js Static:b.js",
    );
}

#[test]
fn one_file_has_one_identity() {
    check(
        &[
            (
                "sub dir/main.js",
                "import './é.js'; import '../sub dir/./é.js'; import './%C3%A9.js'; import '../sub%20dir/é.js'; export {}",
            ),
            ("sub dir/é.js", "export {}"),
        ],
        "sub%20dir/main.js esm Static:sub%20dir/%C3%A9.js Static:sub%20dir/%C3%A9.js Static:sub%20dir/%C3%A9.js \
         Static:sub%20dir/%C3%A9.js\nsub%20dir/%C3%A9.js esm",
    );
}

#[test]
fn requests_are_listed_once_a_kind_with_positions() {
    let (_, program) = loaded(&[(
        "a.js",
        "import k6 from 'k6';\nimport { sleep } from 'k6';\n  require('k6'); import('k6'); export {};",
    )]);
    let imports = &program.modules[0].imports;
    let places: Vec<_> = imports.iter().map(|i| (i.kind, i.line, i.column)).collect();
    use crate::ImportKind::{Dynamic, Require, Static};
    assert_eq!(places, [(Static, 1, 16), (Require, 3, 11), (Dynamic, 3, 25)]);
}

#[cfg(unix)]
#[test]
fn symbolic_links_are_not_followed() {
    let project =
        Project::new(&[("main.js", "import './link.js'; import './real.js'; export {}"), ("real.js", "export {}")]);
    std::os::unix::fs::symlink(project.dir.path().join("real.js"), project.dir.path().join("link.js")).unwrap();
    let program = project.load().unwrap();
    assert_eq!(
        project.graph(&program).trim_end(),
        "main.js esm Static:link.js Static:real.js\nlink.js esm\nreal.js esm"
    );
}

#[test]
fn what_may_never_run_may_be_missing() {
    check(
        &[
            (
                "main.js",
                "if (0) { require('./gone.js') }\ntry { require('./broken.js') } catch (e) {}\n\
                 function f() { import('lodash'); require('k6/x/sql'); require('./needs-gone.js'); require('./a.json') }\n\
                 export default f;",
            ),
            ("broken.js", "let x = ;"),
            ("needs-gone.js", "import './gone.js';"),
            ("a.json", "{}"),
        ],
        "main.js esm Require:!Resolve Require:!Syntax Dynamic:!Resolve Require:!Resolve Require:!Resolve Require:!Resolve",
    );
}

#[test]
fn missing_targets_carry_their_error() {
    let (project, program) = loaded(&[
        ("main.js", "export default () => {\n  require('./x.js') };"),
        ("x.js", "import './y.js'"),
        ("y.js", "export let\n"),
    ]);
    let Target::Missing(error) = &program.modules[0].imports[0].target else {
        panic!("found");
    };
    assert_eq!(project.relative(&error.to_string()), "file://~/y.js:2:1: Unexpected token");
}

#[test]
fn static_failures_are_reported_at_the_import() {
    let check = |files: &[(&str, &str)], expect: &[&str]| {
        let text = failure(files);
        let mut lines = text.lines();
        for part in expect {
            assert!(lines.next().is_some_and(|line| line.contains(part)), "{part:?} in\n{text}");
        }
    };
    check(
        &[("main.js", "import './a.js';\nexport {}"), ("a.js", "import {} from './gone.js';")],
        &[
            "file://~/a.js:1:16: The moduleSpecifier \"./gone.js\" couldn't be found on local disk. Make sure",
            "  1 | import {} from './gone.js';",
            "    |                ^^^^^^^^^^^",
        ],
    );
    check(
        &[("main.js", "import x from 'https://jslib.k6.io/x.js';")],
        &[
            "file://~/main.js:1:15: The moduleSpecifier \"https://jslib.k6.io/x.js\" couldn't be retrieved from the resolved \
             url \"https://jslib.k6.io/x.js\". Error : \"remote modules are not fetched here\"",
            "",
            "",
            "hint: download",
        ],
    );
    check(
        &[("main.js", "import a from './a.json';"), ("a.json", "{\"a\":1}")],
        &["file://~/main.js:1:15: JSON files cannot be imported", "", "", "hint: use JSON.parse(open(\"./a.json\"))"],
    );
    check(
        &[("main.js", "import a from './d';"), ("d/index.js", "")],
        &["file://~/main.js:1:15: read ~/d: is a directory"],
    );
    check(
        &[("main.js", "import html from 'k6/html';")],
        &["main.js:1:18: k6/html is not available in this version of Onrush"],
    );
    check(
        &[("main.js", "import './b.js'; import './c.js'"), ("b.js", "import './c.js';"), ("c.js", "x y")],
        &["file://~/c.js:1:2: "],
    );
    // The first in evaluation order, also through cycles.
    check(
        &[
            ("main.js", "import './b.js'; import './z.js'"),
            ("b.js", "import './main.js'; import './c.js';"),
            ("c.js", "import './b.js'; import './late.js'"),
            ("late.js", "1 = 2"),
            ("z.js", "3 = 4"),
        ],
        &["file://~/late.js:1:1: "],
    );
}

#[test]
fn entries_that_cannot_be_read() {
    let project = Project::new(&[("main.js", "export {}")]);
    let load = |path: &str| {
        let error = load(Entry::File(path.into()), &project.options()).unwrap_err();
        (error.kind, project.relative(&error.message))
    };
    let (kind, message) = load("nope.js");
    assert_eq!(kind, ErrorKind::Resolve);
    assert!(message.starts_with("The moduleSpecifier \"nope.js\" couldn't be found on local disk."));
    assert_eq!(load("."), (ErrorKind::Read, "read ~: is a directory".into()));
    let (kind, message) = load("https://example.com/x.js");
    assert_eq!(kind, ErrorKind::Fetch);
    assert!(message.ends_with("Error : \"remote modules are not fetched here\""), "{message}");
    assert!(load("http://example.com/x.js").1.starts_with("only supported schemes"));
    let absolute = project.dir.path().join("x/../main.js");
    assert!(crate::load(Entry::File(absolute), &project.options()).is_ok());
}

#[test]
fn standard_input_resolves_from_the_working_directory() {
    let project = Project::new(&[("lib.ts", "export const n: number = 1;")]);
    let source = "import { n } from './lib.ts';\nexport default function (): void { n; }";
    let program = load(Entry::Stdin(source.into()), &project.options()).unwrap();
    assert_eq!(program.modules[0].specifier, "file:///-");
    assert_eq!(&*program.modules[0].source, source);
    assert_eq!(project.name(&program.modules[1]), "lib.ts");
    let error = load(Entry::Stdin("let x: number = ;".into()), &project.options()).unwrap_err();
    assert_eq!((error.line, error.column), (1, 17));
    assert_eq!(error.specifier, "file:///-");
}

#[test]
fn computed_requests_resolve_to_what_was_loaded() {
    let (project, program) =
        loaded(&[("d/main.js", "import './a.js'; export {}"), ("d/a.js", "export {}"), ("d/b.js", "export {}")]);
    let target = |request: &str| match program.target(program.entry, request) {
        Ok(Target::Module(index)) => project.name(program.module(index).unwrap()),
        Ok(Target::Builtin(name)) => name,
        Ok(Target::Missing(_)) => "missing".into(),
        Err(error) => error.message,
    };
    assert_eq!(target("./a.js"), "d/a.js");
    assert_eq!(target("../d/a.js"), "d/a.js");
    assert_eq!(target("k6/http"), "k6/http");
    assert!(target("./b.js").contains("no literal"));
    assert!(target("nope").contains("couldn't be recognised"));
    let resolved = program.resolve(program.entry, "./y z.js").unwrap();
    let crate::Resolved::File { specifier, .. } = resolved else { panic!() };
    assert_eq!(project.relative(&specifier), "file://~/d/y%20z.js");
}

#[test]
fn computed_requests_are_loaded_with_the_script_once_they_are_known() {
    let project = Project::new(&[
        ("main.js", "import './d/a.js'; export {}"),
        ("d/a.js", "export const a = require('./' + name)"),
        ("d/b.js", "module.exports = require('./c.js')"),
        ("d/c.js", "exports.x = 1"),
    ]);
    let first = project.load().unwrap();
    let asks = first.modules.iter().find(|module| project.name(module) == "d/a.js").unwrap();
    let computed = |request: &str| Computed {
        importer: asks.specifier.clone(),
        request: request.to_owned(),
        kind: ImportKind::Require,
    };
    let entry = Entry::File(project.entry.clone());
    let wanted = [computed("./b.js"), computed("./b.js"), computed("./none.js")];
    let program = load_with(entry, &project.options(), &wanted).unwrap();
    assert_eq!(
        project.graph(&program),
        "main.js esm Static:d/a.js\nd/a.js esm Require:d/b.js Require:!Resolve\nd/b.js cjs Require:d/c.js\nd/c.js cjs\n"
    );
}

#[test]
fn programs_are_shared_between_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<Program>();
    shared::<ScriptError>();
}
