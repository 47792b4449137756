//! What becomes of TypeScript, and what does not count as TypeScript.

use super::*;

/// The code made of a TypeScript module, with white space collapsed.
fn check(source: &str, expect: &str) {
    let program = single("x.ts", source).unwrap_or_else(|error| panic!("{}", error.render()));
    let words: Vec<&str> = program.modules[0].code.split_whitespace().collect();
    assert_eq!(words.join(" "), expect, "{source}");
}

#[test]
fn types_are_removed() {
    check("export let a: number = 1 as number;", "export let a = 1;");
    check("interface A { x: string } type B = A | null; export {};", "export {};");
    check(
        "export function f<T extends object>(x?: T, ...r: any[]): x is T { return x! }",
        "export function f(x, ...r) { return x; }",
    );
    check("const g = 1; export default g satisfies number;", "const g = 1; export default g;");
    check(
        "export abstract class A<T> implements B { abstract m(): void; declare d: T; static s?: T }",
        "export class A { static s; }",
    );
    check("export function f(a: string): void; export function f(a: any) {}", "export function f(a) {}");
}

#[test]
fn enums_namespaces_and_parameter_properties_are_transformed() {
    check(
        "export enum A { X = 1, Y, Z = 'z' }",
        "export let A = function(A) { A[A[\"X\"] = 1] = \"X\"; A[A[\"Y\"] = 2] = \"Y\"; A[\"Z\"] = \"z\"; return A; }({});",
    );
    check(
        "const enum C { P = 1 << 3 } export const p: number = C.P;",
        "var C = function(C) { C[C[\"P\"] = 8] = \"P\"; return C; }(C || {}); export const p = C.P;",
    );
    check(
        "export namespace N { export const q: number = 1; export function f() { return q } }",
        "export let N; (function(_N) { const q = _N.q = 1; function f() { return q; } _N.f = f; })(N || (N = {}));",
    );
    check(
        "export namespace M { export let a: number = 1; export const b = 2; export function f() { a++; [a] = [{ a, b }]; } }",
        "export let M; (function(_M) { let a = _M.a = 1; const b = _M.b = 2; function f() { M.a++; [M.a] = [{ a: M.a, b }]; } \
         _M.f = f; })(M || (M = {}));",
    );
    check(
        "export class P { constructor(private readonly n: number, public s = '', plain?: string) { f(); } }",
        "export class P { n; s; constructor(n, s = \"\", plain) { this.n = n; this.s = s; f(); } }",
    );
    check(
        "export class Q extends R { constructor(private n: number) { super(n); g(); } }",
        "export class Q extends R { n; constructor(n) { super(n); this.n = n; g(); } }",
    );
}

#[test]
fn imports_used_only_as_types_are_dropped() {
    let source = "import http, { RefinedResponse } from 'k6/http';\nimport { Options } from 'k6/options';\n\
                  import type { X } from './gone';\nimport { type Y, z } from './z.ts';\nimport './side.ts';\n\
                  export type { W } from './gone2';\n\
                  export const options: Options = {};\nexport default function (): RefinedResponse { return http.get(z); }";
    let (project, program) = loaded(&[
        ("main.ts", source),
        ("z.ts", "export interface Y {} export const z: string = '';"),
        ("side.ts", "export {}"),
    ]);
    assert_eq!(
        project.graph(&program).trim_end(),
        "main.ts esm Static:k6/http Static:z.ts Static:side.ts\nz.ts esm\nside.ts esm"
    );
    let import = &program.modules[0].imports[1];
    assert_eq!((import.line, import.column), (4, 27));
}

#[test]
fn a_ts_file_that_is_javascript_is_left_alone() {
    let source = "// a comment\nexport   default function(){ return 1 }  \n";
    let program = single("x.ts", source).unwrap();
    assert_eq!(program.modules[0].code, source);
    assert!(program.modules[0].map.is_none());
}

#[test]
fn typescript_may_be_commonjs() {
    let (project, program) = loaded(&[(
        "main.ts",
        "import http = require('k6/http');\nconst n: number = 1;\nexport = { default: () => http.get(n) };",
    )]);
    assert_eq!(project.graph(&program).trim_end(), "main.ts cjs Require:k6/http");
    let code = &program.modules[0].code;
    assert!(code.starts_with("(function (module, exports, require) {\"use strict\";"), "{code}");
    assert!(code.contains("const http = require(\"k6/http\")"), "{code}");
    assert!(code.contains("module.exports = {"), "{code}");
}

/// What is wrong in either language has a hint of its own, at the place that is wrong.
#[test]
fn other_mistakes_are_not_called_typescript() {
    let check = |source: &str, expect: &[&str]| {
        let text = failure(&[("x.js", source)]);
        for part in expect {
            assert!(text.contains(part), "no {part:?} in\n{text}");
        }
        assert!(!text.contains("TypeScript"), "{text}");
    };
    check("let a = 1;\nconst b = 2;\nconst a = 3;\n", &[":3:7: ", "hint: the first declaration is in line 1"]);
    check("<html><body></body></html>\n", &["hint: this is an HTML page, not a script"]);
    check("export default () => <b/>;\n", &["hint: compile JSX to JavaScript first"]);
}

#[test]
fn typescript_in_other_files_is_a_syntax_error_with_a_hint() {
    let text = failure(&[("x.js", "export {};\nconst a: number = 1;\n")]);
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("file://~/x.js:2:7: "), "{text}");
    assert_eq!(lines[1..4], ["  1 | export {};", "  2 | const a: number = 1;", "    |       ^"], "{text}");
    assert!(lines[4].starts_with("hint: this looks like TypeScript"), "{text}");
    assert!(single("x.tsx", "const a: number = 1;").is_err());
}

#[test]
fn decorators_are_refused_clearly() {
    for name in ["x.js", "x.ts"] {
        let error = single(name, "export class A {\n  @dec m() {}\n}").unwrap_err();
        assert_eq!((error.message.as_str(), error.line, error.column), ("decorators are not supported", 2, 3));
    }
}

#[test]
fn syntax_errors_have_positions() {
    let check = |name: &str, source: &str, line: u32, column: u32| {
        let error = single(name, source).unwrap_err();
        assert_eq!((error.line, error.column), (line, column), "{}", error.render());
        assert!(error.frame.contains('^'));
    };
    check("x.js", "const a = ;", 1, 11);
    check("x.js", "let a = 1;\nlet a = 2;\nexport {}", 2, 5);
    check("x.js", "export {};\n'é'; a b", 2, 7);
    check("x.js", "export default function () {\n  return 1\n", 3, 1);
    check("x.ts", "const a: number = ;", 1, 19);
    check("x.ts", "enum A { X = }", 1, 14);
    check("x.js", "export { nope };", 1, 10);
    check("x.js", "with (a) {}", 1, 1);
    check("x.js", "var x = 010; module.exports = x", 1, 9);
    check("x.js", "return 1; export {}", 1, 1);
}
