//! CommonJS: what counts as it, its wrapper, and how ES modules see it.

use super::*;
use crate::ErrorKind;

const PREFIX: &str = "(function (module, exports, require) {\"use strict\";";

fn kind(source: &str) -> ModuleKind {
    single("x.js", source).unwrap_or_else(|error| panic!("{}", error.render())).modules[0].kind
}

#[test]
fn recognises_the_style() {
    use ModuleKind::{CommonJs, Esm};
    let check = |source: &str, expect| assert_eq!(kind(source), expect, "{source}");
    check("export default 1", Esm);
    check("import 'k6'", Esm);
    check("await 1", Esm);
    check("for await (const x of y) {}", Esm);
    check("import.meta.resolve('./x')", Esm);
    check("export {}; function f() { return typeof module }", Esm);
    check("export {}; if (x) { module.exports = 1 }", Esm);
    check("export {}; const module = 1; module.x;", Esm);
    check("module.exports = {}", CommonJs);
    check("exports.default = function () {}", CommonJs);
    check("const k6 = require('k6')", CommonJs);
    // k6: a file of neither style is CommonJS, too: `this` is its `exports`.
    check("function f() {}", CommonJs);
    check("", CommonJs);
    check("async function f() { await 1 }", CommonJs);
    check("import('k6')", CommonJs);
    check("if (x) { return } exports.a = 1", CommonJs);
    check("var await = 1; exports.a = await", CommonJs);
    check("#!/usr/bin/env k6\nexports.a = 1", CommonJs);
}

#[test]
fn code_is_one_function_around_the_untouched_source() {
    let check = |source: &str, body: &str| {
        let program = single("x.js", source).unwrap();
        assert_eq!(program.modules[0].code, format!("{PREFIX}{body}\n}})"));
    };
    check("exports.a = 1 // end", "exports.a = 1 // end");
    check("#!/bin/k6\nexports.a = 1\n", "///bin/k6\nexports.a = 1\n");
    check("\u{feff}exports.a = 1", "exports.a = 1");
}

#[test]
fn mixing_styles_is_k6s_error() {
    let check = |source: &str, name: &str, line: u32, column: u32| {
        let error = single("x.js", source).unwrap_err();
        assert_eq!(error.kind, ErrorKind::MixedStyles, "{source}");
        assert_eq!(
            error.message,
            format!(
                "you are trying to access identifier \"{name}\", this likely is due to mixing ECMAScript Modules (ESM) \
                 and CommonJS syntax. This isn't supported in the JavaScript standard, please use only one or the other"
            )
        );
        assert_eq!((error.line, error.column), (line, column));
    };
    check("import { sleep } from 'k6';\nmodule.exports.default = function () {};", "module", 2, 1);
    check("export default function () {}\n exports.x = 1;", "exports", 2, 2);
    check("await 1; module.exports = 2", "module", 1, 10);
    check("if (typeof module !== 'undefined') {} export {}", "module", 1, 12);
}

/// The names that an importer finds, in the facade of `lib.js`.
fn names(lib: &str, importer: &str) -> Vec<String> {
    let (_, program) =
        loaded(&[("main.js", importer), ("lib.js", lib), ("other.js", "exports.o1 = 1; exports.o2 = 2")]);
    let facade = &program.modules[1].facade;
    assert!(facade.starts_with("import { cjs } from \"onrush:cjs\";\nconst m = cjs(\"file://"), "{facade}");
    let imports_default = importer.contains("import x") || importer.contains("default as");
    assert_eq!(facade.contains("export default \"default\" in o ? o.default : m;"), imports_default, "{facade}");
    let language = crate::compile::Language::JavaScript;
    assert!(crate::compile::compile("facade", facade, language).is_ok(), "{facade}");
    facade.lines().filter_map(|l| l.split(" as ").nth(1)?.strip_suffix(" };")).map(str::to_owned).collect()
}

#[test]
fn finds_exported_names() {
    let check =
        |lib: &str, expect: &[&str]| assert_eq!(names(lib, "import x from './lib.js'; export {}"), expect, "{lib}");
    check("exports.a = exports.b = void 0; exports.a = 1; exports['c'] = 2; exports['d-e'] = 3", &["a", "b", "c"]);
    check("module.exports.a = 1; this.b = 2; exports.default = 3", &["a", "b"]);
    check(
        "module.exports = { a, 'b': 1, c() {}, get d() { return 1 }, ...rest, [e]: 1, delete: 2 }",
        &["a", "b", "c", "d", "delete"],
    );
    check("exports = module.exports = { a: 1 }; module.exports.b = 2", &["a", "b"]);
    check(
        "Object.defineProperty(exports, '__esModule', { value: true }); Object.defineProperty(module.exports, 'a', {})",
        &["__esModule", "a"],
    );
    check("Object.assign(exports, { a: 1 }); Object.defineProperties(exports, { b: {} })", &["a", "b"]);
    check("function f() { exports.late = 1 }", &["late"]);
    check("module.exports = require('./other.js')", &["o1", "o2"]);
    check("__exportStar(require('./other.js'), exports); exports.a = 1", &["a", "o1", "o2"]);
    check("var t = {}; n.d(t, { default: () => d, options: () => o }); module.exports = t", &["options"]);
    check(
        "var s = {}; __export(s, { a: () => a }); module.exports = __toCommonJS(s); 0 && (module.exports = { a })",
        &["a"],
    );
    check("const exports2 = {}; exports2.a = 1; (function (exports) { exports.b = 1 })({})", &[]);
    check("module.exports = 42", &[]);
    check("module.exports = function () {}", &[]);
}

#[test]
fn importers_ask_for_names_the_scan_cannot_see() {
    let lib = "const k = 'd' + 'yn'; exports[k] = 1;";
    let check = |importer: &str, expect: &[&str]| assert_eq!(names(lib, importer), expect, "{importer}");
    check("import { dyn, default as d } from './lib.js'; export {}", &["dyn"]);
    check("export { dyn as x } from './lib.js';", &["dyn"]);
    check(
        "import * as ns from './lib.js'; ns.dyn; ns['two']; ns.default; function f(ns) { ns.three } export {}",
        &["dyn", "two"],
    );
    check("import * as ns from './lib.js'; ns.dyn.deep = 1; ns?.opt; export {}", &["dyn", "opt"]);
}

#[test]
fn es_modules_have_no_facade() {
    let (_, program) = loaded(&[("main.js", "const m = require('./lib.js')"), ("lib.js", "export const a = 1")]);
    assert_eq!(program.modules[1].facade, "");
}

/// What webpack makes of a script (mode production, library type commonjs).
const WEBPACK: &str = r#"(()=>{"use strict";var e={n:t=>{var o=t&&t.__esModule?()=>t.default:()=>t;return e.d(o,{a:o}),o},d:(t,o)=>{for(var r in o)e.o(o,r)&&!e.o(t,r)&&Object.defineProperty(t,r,{enumerable:!0,get:o[r]})},o:(e,t)=>Object.prototype.hasOwnProperty.call(e,t),r:e=>{"undefined"!=typeof Symbol&&Symbol.toStringTag&&Object.defineProperty(e,Symbol.toStringTag,{value:"Module"}),Object.defineProperty(e,"__esModule",{value:!0})}},t={};e.r(t),e.d(t,{default:()=>a,options:()=>s});const o=require("k6/http");var r=e.n(o);const n=require("k6"),s={vus:1};function a(){(0,n.check)(r().get("http://x"),{ok:e=>200===e.status})}var i=exports;for(var c in t)i[c]=t[c];t.__esModule&&Object.defineProperty(i,"__esModule",{value:!0})})();
//# sourceMappingURL=bundle.js.map"#;

#[test]
fn webpack_bundles_load() {
    let map = r#"{"version":3,"file":"bundle.js","mappings":"AAAA","sources":["webpack://app/./src/main.ts"]}"#;
    let (project, program) = loaded(&[("dist/bundle.js", WEBPACK), ("dist/bundle.js.map", map)]);
    assert_eq!(project.graph(&program).trim_end(), "dist/bundle.js cjs Require:k6/http Require:k6");
    assert!(program.warnings.is_empty());
    assert_eq!(program.shared_builtin_writes(), None);
    let module = &program.modules[0];
    assert_eq!(module.code, format!("{PREFIX}{WEBPACK}\n}})"));
    // A position far into the line, behind the wrapper.
    let stack = format!("    at a ({}:1:700)", module.specifier);
    assert_eq!(program.remap_stack(&stack), "    at a (webpack://app/./src/main.ts:1:1)");
}
