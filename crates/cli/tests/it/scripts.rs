//! Where scripts come from, and what errors in them are called.

use crate::program::Program;

#[test]
fn from_standard_input() {
    let script =
        "import { helper } from './helper.ts'; export default function (): void { console.log(helper(__VU)); }";
    let helper =
        "export enum Kind { A = 3 } export function helper(vu: number): string { return `vu ${vu} kind ${Kind.A}`; }";
    Program::new(&["run", "-"])
        .file("helper.ts", helper)
        .stdin(script)
        .run()
        .expect(0)
        .expect_log("vu 1 kind 3")
        .expect_output("script: -");
    Program::new(&["run", "-"]).stdin("let b = ;").run().expect(107).expect_log("file:///-:1:9: ");
}

#[test]
fn typescript_keeps_its_positions() {
    let script = "interface Unused {\n  a: number;\n}\n\nconst fail = (text: string): never => {\n  throw new Error(text);\n};\n\nexport default function (): void {\n  fail('boom');\n}\n";
    let done = Program::new(&["run", "script.ts"]).file("script.ts", script).run().expect(0);
    let line = done.stderr.lines().find(|line| line.contains("source=stacktrace")).unwrap_or(&done.stderr);
    assert!(line.contains("script.ts:6:") && line.contains("script.ts:10:"), "{line}");
    assert!(line.contains("executor=per-vu-iterations scenario=default source=stacktrace"), "{line}");
}

#[test]
fn errors_in_imported_modules_name_their_file() {
    let done = Program::script(&[], "import './lib/a.js'; export default function () {}")
        .file("lib/a.js", "\n\nnull.x;")
        .run()
        .expect(107);
    assert!(done.stderr.contains("lib/a.js:3:"), "{}", done.stderr);
}

#[test]
fn commonjs_in_base_mode() {
    let script = "var k6 = require('k6'); module.exports.default = function () { console.log(typeof k6.sleep, typeof global); };";
    Program::script(&["--compatibility-mode=base"], script).run().expect(0).expect_log("function undefined");
    Program::script(&[], script).run().expect(0).expect_log("function object");
}

#[test]
fn a_vu_that_needs_too_much_memory_fails_its_iteration() {
    let script =
        "export default function () { const list = []; for (;;) { list.push('x'.repeat(1000) + list.length); } }";
    let done = Program::script(&["--vu-memory-limit=8MiB"], script).run().expect(0);
    done.expect_log("the VU's JavaScript heap reached its limit of 8 MiB; raise it with --vu-memory-limit");
}
