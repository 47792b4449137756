//! Module records: whatever refers to one must not outlive it, and evaluating one must stand being asked for it again.
//! `fuzz/graphs` generates such programs; here are those that once went wrong.

use crate::harness::case;

/// Makes the freed memory of module records somebody else's.
const CHURN: &str = "function churn() { const all = []; for (let i = 0; i < 400; i++) all.push(`${i}`.repeat(1 + i % 90), { i, all: [i] }, new Uint8Array(i)); return all.length; }\n";

#[test]
fn namespaces_exported_by_others_are_read_later() {
    let script = format!(
        "import * as lib from './lib.js'; import {{ util as named, deep }} from './lib.js';\n{CHURN}
         export default function () {{
           churn();
           console.log(lib.util.hello(), Object.keys(lib).join(), named === lib.util, deep.deeper.util.n, lib.self.self.util.n);
           lib.util.inc();
         }}"
    );
    case(&script)
        .file(
            "lib.js",
            "export * as util from './util.js'; export * as deep from './deep.js'; export * as self from './lib.js';",
        )
        .file("deep.js", "export * as deeper from './lib.js'; export * as mid from './mid.js';")
        .file("mid.js", "export * from './util.js'; export * as again from './deep.js';")
        .file("util.js", "export let n = 0; export function inc() { n++; } export function hello() { return 'hello'; }")
        .vus(2, 2)
        .both(|report| {
            report.assert_clean();
            let said = report.said_sorted();
            let line = |n: u32| format!("hello deep,self,util true {n} {n}");
            assert_eq!(said, [line(0), line(0), line(1), line(1)], "{report:#?}");
        });
}

#[test]
fn import_is_refused_after_init_whatever_was_loaded() {
    let script = format!(
        "import {{ sleep }} from 'k6'; import * as meta from './meta.js'; import * as tla from './tla.js';\n{CHURN}
         const names = ['./meta.js', './tla.js', './util.js', 'k6/http', './missing.js', 'onrush:cjs', 'onrush:unlinked', ''];
         const seen = []; for (const name of names) await import(name).then((m) => seen.push(Object.keys(m).length > 0), () => seen.push('no'));
         export async function setup() {{ await look('setup'); }}
         export function teardown() {{ return look('teardown'); }}
         async function look(where) {{
           churn();
           let refused = 0;
           for (const name of [...names, './script.js', import.meta.url]) await import(name).catch((e) => {{ refused += /only available in the init stage/.test(String(e)); }});
           await Function('n', 'return import(n)')('./meta.js').catch(() => refused++);
           console.log(where, refused, seen.join(), meta.where(), tla.hello(), typeof import.meta.url);
         }}
         export default async function () {{ await look('default'); sleep(0.001); churn(); await look('default'); }}"
    );
    let seen = "true,true,true,true,no,no,no,no";
    case(&script)
        .file(
            "meta.js",
            "import { hello } from './util.js'; export const where = () => hello() + typeof import.meta.url;",
        )
        .file("tla.js", "export { hello } from './util.js'; await null; export const late = 1;")
        .file("util.js", "export function hello() { return 'hello'; }")
        .vus(2, 1)
        .both(|report| {
            report.assert_clean();
            let line = |at: &str| format!("{at} 11 {seen} hellostring hello string");
            let mut expect = vec![line("setup"), line("teardown")];
            expect.extend((0..4).map(|_| line("default")));
            expect.sort();
            assert_eq!(report.said_sorted(), expect, "{report:#?}");
        });
}

#[test]
fn a_module_is_required_while_it_is_evaluated() {
    // k6: what it exports so far, which is not initialised.
    let caught = "ReferenceError: b is not initialized";
    case(
        "import { x } from './b.js'; export const top = 1;
         console.log('entry', x); export default function () { console.log(x, top); }",
    )
    .file("b.js", "import { y } from './c.js'; console.log('b', y); export let b = 1; export let x = 'x' + y;")
    .file(
        "c.js",
        "console.log('c'); const seen = require('./b.js'); require('./script.js');
         try { console.log(seen.b); } catch (e) { console.log(String(e)); }
         import('./b.js').then((m) => console.log('later', m === seen, m.x));
         export let y = 'y';",
    )
    .both(|report| {
        report.assert_clean();
        let init = ["c", caught, "b y", "entry xy", "later true xy"];
        assert_eq!(report.said(), [&init[..], &init[..], &["xy 1"]].concat(), "{report:#?}");
    });
}

#[test]
fn required_modules_do_not_run_what_waits() {
    // k6: top-level await goes on when the script has run; until then its exports are not there.
    case(
        "import './first.js'; Promise.resolve().then(() => console.log('microtask'));
         const tla = require('./tla.js');
         try { tla.value; } catch (e) { console.log(e.name); }
         console.log('script');
         export default function () { console.log(tla.value); }",
    )
    .file("first.js", "setTimeout(() => console.log('timer'), 0);")
    .file("tla.js", "console.log('tla'); await null; export const value = 'value';")
    .both(|report| {
        report.assert_clean();
        let init = ["tla", "ReferenceError", "script", "microtask", "timer"];
        assert_eq!(report.said(), [&init[..], &init[..], &["value"]].concat(), "{report:#?}");
    });
}

#[test]
fn what_a_module_threw_is_thrown_again() {
    // k6: a failed module is not run again.
    case(
        "const ask = { esm: () => require('./esm.js'), cjs: () => require('./cjs.js') };
         for (const kind of ['esm', 'esm', 'cjs', 'cjs', 'esm'])
           try { ask[kind](); } catch (e) { console.log('caught', e.message, (globalThis.last ??= e) === e); }
         await import('./esm.js').catch((e) => console.log('import', e === globalThis.last));
         export default function () { console.log('ran'); }",
    )
    .file("esm.js", "console.log('esm runs'); throw new Error('esm');")
    .file("cjs.js", "console.log('cjs runs'); exports.a = 1; throw new Error('cjs');")
    .both(|report| {
        report.assert_clean();
        let init = [
            "esm runs",
            "caught esm true",
            "caught esm true",
            "cjs runs",
            "caught cjs false",
            "caught cjs false",
            "caught esm true",
            "import true",
        ];
        assert_eq!(report.said(), [&init[..], &init[..], &["ran"]].concat(), "{report:#?}");
    });
}

#[test]
fn top_level_await_that_never_ends_keeps_what_it_needs() {
    let script = format!(
        "import {{ f }} from './dep.js';\n{CHURN}
         export default function () {{ churn(); console.log(f()); }}
         globalThis.again = () => f(); await new Promise(() => {{}});"
    );
    case(&script)
        .file("dep.js", "import * as self from './dep.js'; export const f = () => Object.keys(self).join();")
        .vus(1, 2)
        .both(|report| {
            report.assert_clean();
            assert_eq!(report.said(), ["f", "f"], "{report:#?}");
        });
}

#[test]
fn a_module_of_a_cycle_that_has_ended_can_be_imported_at_any_time() {
    // The cycle of b and c is entered at b, waits in c, and has ended when c is asked for: found by `xtask fuzz graphs`.
    case(
        "import './b.js';
         const { value } = await import('./c.js');
         export default function () { console.log(value); }",
    )
    .file("b.js", "import './c.js'; export const b = 'b';")
    .file("c.js", "import './b.js'; await null; export const value = 'c';")
    .both(|report| {
        report.assert_clean();
        assert_eq!(report.said(), ["c"], "{report:#?}");
    });
}

#[test]
fn a_module_required_late_does_not_wait_for_what_has_ended() {
    // Its import has waited, and ended, before it was asked for: found by `xtask fuzz graphs`.
    case(
        "import './waits.js';
         const { value } = require('./late.js');
         export default function () { console.log(value()); }",
    )
    .file("waits.js", "await null; export const text = 'there';")
    .file("late.js", "import { text } from './waits.js'; let own = text; export const value = () => own;")
    .both(|report| {
        report.assert_clean();
        assert_eq!(report.said(), ["there"], "{report:#?}");
    });
}

#[test]
fn open_is_relative_to_the_module_being_evaluated() {
    // k6: a required module is evaluated by itself; a function that is called later opens for whoever calls it.
    case(
        "import { top, viaSub, made, f } from './l1/e.js'; import { now } from './l1/sub/e.js'; import * as tla from './l2/tla.js'; import './l2/later.js';
         const c = require('./l1/c.js'); const esm = require('./l1/req.js');
         const say = (...all) => console.log(...all.map((text) => text.trim()));
         say('e', top, viaSub, made, now, f('d.txt')); say('c', ...c.r, c.f('d.txt')); say('esm', ...esm.r); say('tla', tla.before, tla.after);
         say('here', open('./d.txt'), open('l1/d.txt'), open('./l1/../d.txt'), open(import.meta.resolve('./l1/d.txt')), ['d.txt'].map((p) => open(p))[0]);
         say('text', Function('return open(\"d.txt\")')());
         export default function () { try { f('d.txt'); } catch (e) { console.log(/only available in the init stage/.test(e.message)); } }",
    )
    .file("d.txt", "top").file("l1/d.txt", "l1").file("l2/d.txt", "l2").file("l1/sub/d.txt", "sub")
    .file("l1/e.js", "import { f as sub } from './sub/e.js'; import { SharedArray } from 'k6/data'; export const top = open('d.txt'); export const viaSub = sub('d.txt'); export const made = new SharedArray('a', () => [open('d.txt')])[0]; export const f = (path) => open(path);")
    .file("l1/sub/e.js", "export const f = (path) => open(path); export const now = f('d.txt');")
    .file("l1/c.js", "const a = open('d.txt'); const s = require('./sub/c.js'); exports.r = [a, s.r, open('d.txt'), s.f('d.txt')]; exports.f = (path) => open(path);")
    .file("l1/sub/c.js", "exports.r = open('d.txt'); exports.f = (path) => open(path);")
    .file("l1/req.js", "const m = require('./sub/esm.js'); exports.r = [m.top, m.f('d.txt'), open('d.txt')];")
    .file("l1/sub/esm.js", "export const top = open('d.txt'); export const f = (path) => open(path);")
    .file("l2/tla.js", "export const before = open('d.txt'); await null; export const after = open('d.txt');")
    .file("l2/later.js", "setTimeout(() => console.log('timer', open('d.txt').trim()), 0);")
    .both(|report| {
        let init = ["e l1 l1 l1 sub top", "c l1 sub l1 l1 top", "esm sub l1 l1", "tla l2 l2", "here top l1 top l1 top", "text top", "timer l2"];
        assert_eq!(report.said(), [&init[..], &init[..], &["true"]].concat(), "{report:#?}");
        // In the init pass only; `warned` says from where to where.
        let warned: Vec<String> = report
            .level("warning")
            .iter()
            .map(|line| {
                let mut quoted = line.split('\'').skip(1).step_by(2).map(|url| url.replace("file://DIR/", ""));
                let mut next = || quoted.next().unwrap_or_default();
                format!("{} {}", next(), next())
            })
            .collect();
        assert_eq!(
            warned,
            ["l1/ l1/sub/e.js", "l1/ l1/sub/c.js", "l1/ l1/sub/esm.js", " l1/e.js", " l1/c.js", " <eval>"],
            "{report:#?}"
        );
    });
}
