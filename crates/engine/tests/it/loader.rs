//! Modules: what can be imported and required, what cannot, and how that is said.

use onrush_script::mixed_styles_message;
use onrush_session::ExitCode;

use crate::harness::case;

#[test]
fn commonjs_and_es_modules_import_each_other() {
    case(
        "import cjs, { named, later } from './a.cjs.js'; import { fromEsm } from './b.js';
         export default function () { console.log(cjs.named, named, later, fromEsm, cjs.esm.default, cjs.esm.x, cjs.self === cjs); }",
    )
    .file("a.cjs.js", "const esm = require('./c.js'); exports.named = 'n' + __VU; exports.esm = esm; module.exports.later = 'l'; exports.self = module.exports;")
    .file("b.js", "import * as a from './a.cjs.js'; export const fromEsm = a.named + typeof a.default;")
    .file("c.js", "export default 'def'; export const x = 1;")
    .vus(2, 1)
    .both(|report| {
        report.assert_clean();
        assert_eq!(report.said_sorted(), ["n1 n1 l n1object def 1 true", "n2 n2 l n2object def 1 true"]);
    });
}

#[test]
fn commonjs_this_and_default_are_those_of_k6() {
    case("import d from './default.js'; import f from './function.js'; import { a } from './this.js'; export default function () { console.log(d, f(2), a); }")
        .file("default.js", "exports.default = 'the default'; exports.other = 1;")
        .file("function.js", "module.exports = function (n) { return n * 2; };")
        .file("this.js", "this.a = this === module.exports && this === exports;")
        .both(|report| {
            report.assert_clean();
            assert_eq!(report.said(), ["the default 4 true"]);
        });
}

#[test]
fn commonjs_cycles_see_unfinished_exports() {
    case("const a = require('./a.js'); exports.default = function () { console.log(a.done, a.b.sawA, a.b.late()); };")
        .file("a.js", "exports.done = false; exports.b = require('./b.js'); exports.done = true;")
        .file("b.js", "const a = require('./a.js'); exports.sawA = a.done; exports.late = () => a.done;")
        .vus(2, 1)
        .both(|report| {
            report.assert_clean();
            assert_eq!(report.said(), ["true false true"; 2]);
        });
}

#[test]
fn module_and_exports_in_an_es_module_are_explained() {
    for (identifier, code) in [
        ("module", "module.exports = {};"),
        ("exports", "exports.x = 1;"),
        ("module", "if (__VU === 0) { console.log(typeof module.exports); }"),
    ] {
        case(&format!("import 'k6';\n{code}\nexport default function () {{}}")).both(|report| {
            let stop = report.stop.as_deref().unwrap_or_default();
            assert!(stop.contains(&mixed_styles_message(identifier)), "{code} {report:#?}");
        });
    }
    // Names of the script's own are no mix of styles, and asking whether they exist is fine.
    case(
        "import 'k6'; const exports = { x: 1 };
         export default function () { const module = { y: 2 }; console.log(exports.x, module.y, typeof globalThis.process); }",
    )
    .both(|report| {
        report.assert_clean();
        assert_eq!(report.said(), ["1 2 undefined"]);
    });
}

#[test]
fn modules_of_later_versions_fail_by_name() {
    for name in ["k6/browser", "k6/experimental/grpc"] {
        let report = case(&format!("import x from '{name}';\nexport default function () {{}}")).run();
        let stop = report.stop.as_deref().unwrap_or_default();
        assert!(
            report.exit == ExitCode::ScriptException && stop.contains(name) && stop.contains("script.js:1"),
            "{name} {report:#?}"
        );
    }
    let report = case("import x from 'k6/x/kubernetes';\nexport default function () {}").run();
    assert!(report.stop.as_deref().unwrap_or_default().contains("k6/x/kubernetes"), "{report:#?}");
}

#[test]
fn exports_scenarios_call_may_be_any_function() {
    case(
        "export const options = { scenarios: {
           a: { executor: 'per-vu-iterations', exec: 'arrow', vus: 1, iterations: 1 }, b: { executor: 'per-vu-iterations', exec: 'later', vus: 1, iterations: 1, startTime: '50ms' },
           c: { executor: 'per-vu-iterations', exec: 'asynchronous', vus: 1, iterations: 1, startTime: '100ms' }, d: { executor: 'per-vu-iterations', exec: 'method', vus: 1, iterations: 1, startTime: '150ms' } } };
         export const arrow = () => console.log('arrow', this === undefined); let later_ = () => console.log('bound'); export { later_ as later };
         export async function asynchronous() { await null; console.log('async'); } const o = { method() { console.log('method', this === undefined); } }; export const method = o.method;",
    )
    .both(|report| assert_eq!(report.said(), ["arrow true", "bound", "async", "method true"], "{report:#?}"));
}

#[test]
fn a_script_that_throws_in_a_vus_init_only_does_not_start() {
    case("if (__VU === 2) throw new Error('only in VU 2'); export default function () { console.log('no'); }")
        .vus(3, 1)
        .both(|report| {
            assert!(
                report.exit == ExitCode::ScriptException
                    && report.stop.as_deref().unwrap_or_default().contains("only in VU 2"),
                "{report:#?}"
            );
            assert!(report.said().is_empty(), "{report:#?}");
        });
}

#[test]
fn metrics_and_files_must_be_known_to_the_first_pass() {
    case(
        "import { Counter } from 'k6/metrics'; if (__VU > 0) new Counter('late_metric'); export default function () {}",
    )
    .both(|report| {
        assert!(report.stop.as_deref().unwrap_or_default().contains("late_metric"), "{report:#?}");
    });
    case("if (__VU > 0) open('./late.txt'); export default function () {}").file("late.txt", "x").both(|report| {
        assert!(report.stop.as_deref().unwrap_or_default().contains("open() can't be used with files that weren't previously opened during initialization (__VU==0), path: \"DIR/late.txt\""), "{report:#?}");
    });
}

#[test]
fn a_file_that_cannot_be_opened_is_told_to_all_vus_alike() {
    case(
        "let why = [];
         for (const path of ['missing.txt', '.', '']) { try { open(path); } catch (e) { why.push(String(e)); } }
         export default function () { console.log(why.join(' | ')); }",
    )
    .vus(2, 1)
    .both(|report| {
        report.assert_clean();
        let told = "GoError: stat DIR/missing.txt: no such file or directory | GoError: open() can't be used with directories, path: \"DIR\" | GoError: open() can't be used with an empty filename";
        assert_eq!(report.said(), [told, told], "{report:#?}");
    });
}
