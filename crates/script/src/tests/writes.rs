//! Writes to shared built-ins: found, and not found where there are none.

use super::*;

fn finding(source: &str) -> Option<(String, u32)> {
    let source = format!("{source}\nexport {{}};");
    let program = single("x.js", &source).unwrap_or_else(|error| panic!("{}", error.render()));
    program.shared_builtin_writes().map(|f| (f.what, f.column))
}

#[test]
fn finds_writes() {
    let check = |source: &str, what: &str, column: u32| {
        assert_eq!(finding(source), Some((what.to_owned(), column)), "{source}");
    };
    check("Array.prototype.last = function () {}", "Array.prototype.last", 1);
    check("  String.prototype['x'] = 1", "String.prototype.x", 3);
    check("String.prototype[k] = 1", "String.prototype[...]", 1);
    check("globalThis.Array.prototype.last = 1", "Array.prototype.last", 1);
    check("global.Array.prototype.last = 1", "Array.prototype.last", 1);
    check("(Array.prototype).last = 1", "Array.prototype.last", 1);
    check("Math.random = () => 4", "Math.random", 1);
    check("JSON.x += 1", "JSON.x", 1);
    check("Date.now++", "Date.now", 1);
    check("Promise = 1", "Promise", 1);
    check("delete Array.prototype.at", "Array.prototype.at", 8);
    check("delete Array.prototype?.at", "Array.prototype.at", 8);
    check("[Math.random] = [1]", "Math.random", 2);
    check("({ a: Math.random, ...JSON.y } = {})", "Math.random", 7);
    check("for (Math.x of []) {}", "Math.x", 6);
    check("Array.prototype.__proto__ = null", "Array.prototype.__proto__", 1);
    check("Array.prototype.at.call = 1", "Array.prototype.at.call", 1);
    check("console.log = () => {}", "console.log", 1);
    check("Object.defineProperty(Object.prototype, 'x', {})", "Object.prototype.x", 1);
    check("Object.defineProperties(Object.prototype, { x: {} })", "Object.prototype.x", 1);
    check("Object.assign(Array.prototype, { last() {} })", "Array.prototype.last", 1);
    check("Object.assign(Array.prototype, more)", "Array.prototype[...]", 1);
    check("Object.setPrototypeOf(Array.prototype, x)", "Array.prototype (Object.setPrototypeOf)", 1);
    check("Object.freeze(Array.prototype)", "Array.prototype (Object.freeze)", 1);
    check("Reflect.set(Math, 'x', 1)", "Math.x", 1);
    check("Reflect.deleteProperty(Math, 'random')", "Math.random", 1);
    check("Array.prototype.__defineGetter__('x', f)", "Array.prototype.x", 1);
    check("const AP = Array.prototype; AP.last = 1", "Array.prototype.last", 29);
    check("const A = Array, AP = A.prototype; function f() { AP.last = 1 }", "Array.prototype.last", 51);
    check("export default function () { Array.prototype.last = 1 }", "Array.prototype.last", 30);
    check("if (!Array.prototype.last) Array.prototype.last = 1", "Array.prototype.last", 28);
    check("import http from 'k6/http'; http.get = 1", "http.get", 29);
    check("import * as http from 'k6/http'; http.get = 1", "http.get", 34);
    check("import { Response } from 'k6/http'; Response.prototype.x = 1", "Response.prototype.x", 37);
    check("const http = require('k6/http'); function f() { http.get = 1 }", "http.get", 49);
    check("require('k6/http').get = 1", "require(\"k6/http\").get", 1);
    check("Error.prepareStackTrace = f", "Error.prepareStackTrace", 1);
}

#[test]
fn leaves_others_alone() {
    let check = |source: &str| assert_eq!(finding(source), None, "{source}");
    check("const x = Array.prototype.slice.call([])");
    check("class Array {} Array.prototype.last = 1");
    check("function f(Math) { Math.random = 1 }");
    check("const Promise = 1; { let JSON = {}; JSON.x = 1 }");
    check("let AP = Array.prototype; AP = {}; AP.x = 1");
    check("class X extends Array {} X.prototype.y = 1");
    check("globalThis.foo = 1; globalThis.Promise = Promise; global.x = 2");
    check("const o = {}; Object.assign(o, Math); Object.freeze(o); Object.defineProperty(o, 'x', {})");
    check("import exec from 'k6/execution'; exec.vu.tags.x = 1; exec.vu.metrics.tags['y'] = 2");
    check("import lib from 'k6/http'; const r = lib.get('x'); r.body = 1; lib.get('y').x = 2");
    check("__ENV.X = 1");
    check("const P = Object[p]; P[x] = 1; P.y = 2; delete Array.prototype[k]");
    check("Error.stackTraceLimit = 50");
    check("if (!Array.prototype.at) { Array.prototype.at = function () {} }");
    check("Array.prototype.at || (Array.prototype.at = 1)");
    check("typeof Object.assign != 'function' && (Object.assign = 1)");
    check("function f(x) { delete x.y }");
    check("const { prototype } = X; prototype.y = 1");
}

#[test]
fn the_first_module_with_a_write_is_named() {
    let (project, program) = loaded(&[
        ("main.js", "import './a.js'; import './b.js'; export {}"),
        ("a.js", "export {}"),
        ("b.js", "\n\n  Math.random = 1; export {}"),
    ]);
    let finding = program.shared_builtin_writes().unwrap();
    assert_eq!(project.name(program.module(finding.module).unwrap()), "b.js");
    assert_eq!((finding.line, finding.column), (3, 3));
}

#[test]
fn typescript_positions_are_the_users() {
    let program = single("x.ts", "type A = 1;\n  (Array.prototype as any).last = 1; export {}").unwrap();
    let finding = program.shared_builtin_writes().unwrap();
    assert_eq!((finding.line, finding.column, finding.what.as_str()), (2, 3, "Array.prototype.last"));
}
