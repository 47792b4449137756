//! What one VU does, the others must not see. Every test runs under both layouts.

use onrush_js::{Isolation, init::IsolationMode};

use crate::harness::case;

#[test]
fn module_state_is_per_vu() {
    case(
        "import { bump, state } from './lib.js';
         let own = 0; const list = [];
         export default function () { own += 1; list.push(__VU); bump(); console.log([__VU, own, list.length, new Set(list).size, state.n].join()); }",
    )
    .file("lib.js", "export const state = { n: 0 }; export function bump() { state.n += 1; }")
    .vus(3, 2)
    .threads(2)
    .both(|report| {
        report.assert_clean();
        assert_eq!(report.said_sorted(), ["1,1,1,1,1", "1,2,2,1,2", "2,1,1,1,1", "2,2,2,1,2", "3,1,1,1,1", "3,2,2,1,2"]);
    });
}

#[test]
fn globals_are_per_vu() {
    case(
        "import { sleep } from 'k6';
         globalThis.fromInit = __VU; global.alias = __VU; self_ = undefined;
         export default function () {
           if (typeof globalThis.count !== 'undefined' && globalThis.count !== __ITER) throw new Error('seen: ' + globalThis.count);
           globalThis.count = (globalThis.count || 0) + 1; sleep(0.005);
           console.log(__VU, globalThis.count, fromInit === __VU, alias === __VU, globalThis.hasOwnProperty('count'), Object.keys(globalThis).includes('count'), delete globalThis.fromInit || true);
           globalThis.fromInit = __VU;
         }
         var self_;",
    )
    .vus(3, 2)
    .both(|report| {
        report.assert_clean();
        let expected = ["1 1", "1 2", "2 1", "2 2", "3 1", "3 2"].map(|ids| format!("{ids} true true true true true"));
        assert_eq!(report.said_sorted(), expected);
    });
}

#[test]
fn globals_of_commonjs_are_per_vu() {
    case(
        "var k6 = require('k6');
         globalThis.counter = 0; var shared = { n: 0 };
         exports.default = function () { counter += 1; shared.n += 1; global.made = __VU; k6.sleep(0.005); console.log(__VU, counter, shared.n, made === __VU, typeof globalThis.counter, typeof globalThis.shared); };",
    )
    .vus(2, 2)
    .both(|report| {
        report.assert_clean();
        assert_eq!(report.said_sorted(), ["1 1 1 true number undefined", "1 2 2 true number undefined", "2 1 1 true number undefined", "2 2 2 true number undefined"]);
    });
}

#[test]
fn global_functions_can_be_replaced_per_vu() {
    case(
        "globalThis.console2 = console; const parse = globalThis.parseInt;
         if (__VU === 1) { globalThis.parseInt = () => 'mine'; globalThis.Math2 = 5; }
         var Map2 = Map; if (__VU === 2) globalThis.Map = class Fake {};
         export default function () { console.log(__VU, parseInt('7'), globalThis.parseInt === parse, Map === Map2, typeof globalThis.Math2); }",
    )
    .vus(3, 1)
    .both(|report| {
        report.assert_clean();
        assert_eq!(report.said_sorted(), ["1 mine false true number", "2 7 true false undefined", "3 7 true true undefined"]);
    });
}

#[test]
fn users_own_prototypes_are_per_vu() {
    case(
        "class A { who() { return 'a'; } } class B extends A {} class Mine extends Array { sum() { return this.reduce((x, y) => x + y, 0); } }
         A.prototype.vu = __VU; A.counter = 0;
         export default function () {
           A.counter += 1; if (__VU === 1) A.prototype.who = () => 'changed';
           const mine = Mine.from([1, 2, 3]);
           console.log(__VU, new B().who(), new B().vu === __VU, A.counter, mine.sum(), mine.map((x) => x * 2).sum(), mine instanceof Array);
         }",
    )
    .vus(2, 1)
    .both(|report| {
        report.assert_clean();
        assert_eq!(report.said_sorted(), ["1 changed true 1 6 12 true", "2 a true 1 6 12 true"]);
    });
}

/// Ways to write to a shared built-in; each must throw in a dense VU and work in an isolated one.
const WRITES: &[(&str, &str, &str)] = &[
    ("Array.prototype.last = function () { return 'l' + this.length; };", "last", "[1, 2].last()"),
    ("Array.prototype.push = function () { return 'own'; };", "push", "[].push()"),
    (
        "Object.defineProperty(String.prototype, 'shout', { value() { return this.toUpperCase(); } });",
        "shout",
        "'x'.shout()",
    ),
    ("Object.prototype.extra = 7;", "extra", "({}).extra"),
    ("Math.random = () => 4;", "random", "Math.random()"),
    ("JSON.stringify = () => 's';", "stringify", "JSON.stringify(1)"),
    ("delete Array.prototype.map;", "map", "typeof [].map"),
    ("Object.assign(Number.prototype, { twice() { return this * 2; } });", "twice", "(4).twice()"),
    ("Date.now = () => 5;", "now", "Date.now()"),
    ("Promise.prototype.then.own = 1;", "own", "Promise.prototype.then.own"),
    ("console.log2 = console.log; console.info = () => 1;", "log2", "typeof console.log2"),
    ("http.mine = 1;", "mine", "http.mine"),
    ("Object.setPrototypeOf(Math, null);", "__proto__", "Object.getPrototypeOf(Math)"),
    ("Object.freeze(Array.prototype);", "", "Object.isFrozen(Array.prototype)"),
    ("Object.prototype.__defineGetter__.call(RegExp.prototype, 'foo', () => 3);", "foo", "/x/.foo"),
    ("Reflect.set(Symbol.prototype, 'bar', 1);", "bar", "Symbol.prototype.bar"),
];

#[test]
fn writes_to_built_ins_are_trapped_in_dense_vus_and_work_in_isolated_ones() {
    for (write, property, read) in WRITES {
        let script = format!(
            "import http from 'k6/http';
             let before = String({read_safe});
             export default function () {{
               if (__VU === 1) {{ try {{ {write} console.log('wrote', String({read})); }} catch (e) {{ console.log('trapped', e.name, e.message); }} }}
               else console.log('other', String({read_safe}) === before);
             }}",
            read_safe = format_args!("(() => {{ try {{ return {read}; }} catch (e) {{ return e.name; }} }})()")
        );
        // Math.random and Date.now differ from call to call: only their type is compared.
        let script = if ["random", "now"].contains(property) {
            script.replace("=== before", "!== '4'").replace("let before", "let before_")
        } else {
            script
        };
        let report = case(&script).isolation(IsolationMode::Dense).vus(2, 1).run();
        assert!(report.said().contains(&"other true"), "{write} {report:#?}");
        let trapped = report.said().into_iter().find(|line| line.starts_with("trapped TypeError"));
        // A function stored on the spot and Reflect.set do not throw by themselves.
        match trapped {
            Some(line) => {
                assert!(line.contains("--vu-isolation") && line.contains(property), "{write}: {line}");
            }
            None => assert!(
                report.said().iter().any(|line| line.starts_with("wrote")) && *property == "bar",
                "{write} {report:#?}"
            ),
        }
        let report = case(&script).isolation(IsolationMode::Isolated).vus(2, 1).run();
        assert!(report.said().iter().any(|line| line.starts_with("wrote")), "{write} {report:#?}");
        assert!(report.said().contains(&"other true"), "{write} {report:#?}");
    }
}

#[test]
fn the_layout_is_chosen_by_what_init_code_does() {
    let check = |script: &str, expect: Isolation, reason: &str| {
        let report = case(script).run();
        assert!(report.stop.is_none(), "{script} {report:#?}");
        let choice = report.isolation.as_ref().expect("it ran");
        assert_eq!(choice.isolation, expect, "{script} {choice:?}");
        assert!(choice.reason.contains(reason), "{script} {choice:?}");
    };
    check("export default function () {}", Isolation::Dense, "default");
    check(
        "Array.prototype.x = 1; export default function () { if ([].x !== 1) throw 1; }",
        Isolation::Isolated,
        "Array.prototype",
    );
    check(
        "String.prototype.f = function () {}; export default function () { ''.f(); }",
        Isolation::Isolated,
        "String.prototype",
    );
    // Where only running it tells.
    let computed = "const p = Object.getPrototypeOf([]); p['computed' + 1] = 1; export default function () { if ([].computed1 !== 1) throw 1; }";
    check(computed, Isolation::Isolated, "computed1");
    let caught = "try { const p = Object.getPrototypeOf(''); p.caught = 1; } catch (e) {} export default function () { if (''.caught !== 1) throw 1; }";
    check(caught, Isolation::Isolated, "caught");
    // Writes to what is the script's own are no reason.
    check(
        "class A {} A.prototype.x = 1; globalThis.y = 2; const Array2 = Object.create(Array.prototype); Array2.z = 1; export default function () {}",
        Isolation::Dense,
        "default",
    );
}

#[test]
fn an_init_time_write_fails_clearly_when_dense_is_asked_for() {
    let report = case("const p = Object.getPrototypeOf([]);\np.late = 1;\nexport default function () {}")
        .isolation(IsolationMode::Dense)
        .run();
    let stop = report.stop.as_deref().unwrap_or_default();
    assert!(
        stop.contains("TypeError")
            && stop.contains("late")
            && stop.contains("--vu-isolation")
            && stop.contains("script.js:2"),
        "{report:#?}"
    );
}

#[test]
fn regular_expressions_keep_their_place_per_vu() {
    case(
        "import { sleep } from 'k6';
         const sticky = /a/y, global_ = /\\d/g;
         export default function () {
           const text = '1234'; const found = [];
           for (let i = 0; i < 4; i++) { found.push(global_.exec(text)[0]); sleep(0.001 * __VU); }
           sticky.lastIndex = 2; sleep(0.002);
           console.log(__VU, found.join(''), sticky.lastIndex, RegExp.$1 === undefined || typeof RegExp.$1);
           global_.lastIndex = 0;
         }",
    )
    .vus(3, 2)
    .both(|report| {
        report.assert_clean();
        let said = report.said_sorted();
        assert!(said.iter().all(|line| line[2..].starts_with("1234 2")), "{said:?}");
    });
}

#[test]
fn the_symbol_registry_hands_out_usable_symbols() {
    case(
        "const key = Symbol.for('app'); const own = Symbol('app');
         const store = { [key]: __VU, [own]: 'o' };
         export default function () { store[Symbol.for('app')] += 10; console.log(__VU, store[key], Symbol.keyFor(key), Symbol.for('app') === key, own === Symbol('app'), String(own), own.description); }",
    )
    .vus(2, 2)
    .both(|report| {
        report.assert_clean();
        let said = report.said_sorted();
        assert_eq!(said, ["1 11 app true false Symbol(app) app", "1 21 app true false Symbol(app) app", "2 12 app true false Symbol(app) app", "2 22 app true false Symbol(app) app"]);
    });
}

#[test]
fn template_literal_sites_are_per_vu() {
    // The frozen strings array of a tagged template is made once per site and realm: VUs of a dense thread share code.
    case(
        "const seen = new WeakMap(); let n = 0;
         function tag(strings) { if (!seen.has(strings)) seen.set(strings, n += 1); return seen.get(strings); }
         export default function () { const r = []; for (let i = 0; i < 2; i++) r.push(tag`x${1}y`); r.push(tag`x${1}y`); console.log(__VU, r.join()); }",
    )
    .vus(2, 2)
    .both(|report| {
        report.assert_clean();
        let said = report.said_sorted();
        assert!(said.iter().all(|line| line.ends_with("1,1,2")), "{said:?}");
    });
}

#[test]
fn random_numbers_and_seeds_are_per_vu() {
    case(
        "import { randomSeed, sleep } from 'k6';
         export default function () {
           if (__ITER === 0) { const unseeded = Math.random(); console.log('unseeded', unseeded); }
           randomSeed(__VU <= 2 ? 7 : 8); const a = Math.random(); sleep(0.002); const b = Math.random();
           console.log('seeded', __VU, a, b);
         }",
    )
    .vus(3, 1)
    .both(|report| {
        report.assert_clean();
        let said = report.said();
        let seeded = |vu: &str| {
            said.iter().find_map(|line| line.strip_prefix(&format!("seeded {vu} "))).expect("said").to_owned()
        };
        assert_eq!(seeded("1"), seeded("2"), "the same seed gives the same numbers, whatever other VUs draw meanwhile");
        assert_ne!(seeded("1"), seeded("3"));
        let mut unseeded: Vec<&str> = said.iter().filter_map(|line| line.strip_prefix("unseeded ")).collect();
        unseeded.sort_unstable();
        unseeded.dedup();
        assert_eq!(unseeded.len(), 3, "{said:?}");
    });
}

#[test]
fn environment_ids_and_setup_data_are_per_vu() {
    case(
        "export function setup() { return { list: [] }; }
         const initial = __VU;
         export default function (data) {
           data.list.push(__VU); __ENV.SEEN = (__ENV.SEEN || '') + __VU;
           console.log(__VU, initial === __VU, __ITER, data.list.join(''), __ENV.SEEN, __ENV.GIVEN);
         }",
    )
    .env("GIVEN", "yes")
    .vus(2, 2)
    .threads(2)
    .both(|report| {
        report.assert_clean();
        assert_eq!(
            report.said_sorted(),
            ["1 true 0 1 1 yes", "1 true 1 11 11 yes", "2 true 0 2 2 yes", "2 true 1 22 22 yes"]
        );
    });
}

#[test]
fn cookies_connections_and_tags_are_per_vu() {
    case(
        "import http from 'k6/http'; import exec from 'k6/execution';
         const base = `http://${__ENV.TARGET}`;
         export default function () {
           exec.vu.metrics.tags.mine = `v${__VU}`;
           http.get(`${base}/cookies/set?vu=${__VU}`);
           console.log(__VU, JSON.stringify(http.get(`${base}/cookies`).json('cookies')), exec.vu.metrics.tags.mine);
         }",
    )
    .vus(3, 2)
    .both(|report| {
        report.assert_clean();
        let said = report.said_sorted();
        assert!(
            said.iter().all(|line| {
                let vu = &line[..1];
                *line == format!("{vu} {{\"vu\":\"{vu}\"}} v{vu}")
            }),
            "{said:?}"
        );
    });
}

#[test]
fn shared_arrays_share_text_not_objects() {
    case(
        "import { SharedArray } from 'k6/data';
         const data = new SharedArray('d', () => { console.log('made by', __VU); return [{ n: 1 }]; });
         export default function () { const first = data[0]; try { 'use strict'; first.n = __VU; } catch (e) {} console.log(data[0].n, first === data[0]); }",
    )
    .vus(2, 1)
    .threads(2)
    .both(|report| {
        let said = report.said_sorted();
        assert_eq!(said.iter().filter(|line| **line == "1 false").count(), 2, "{report:#?}");
        assert_eq!(said.iter().filter(|line| line.starts_with("made by")).collect::<Vec<_>>(), [&"made by 0"], "{report:#?}");
    });
}

#[test]
fn opened_files_do_not_leak_writes() {
    case(
        "const bytes = open('b.bin', 'b'); const view = new Uint8Array(bytes);
         export default function () {
           const before = view[0]; let how = 'wrote';
           try { view[0] = 48 + __VU; } catch (e) { how = e.message; }
           Function('view', 'view[1] = 1')(view);
           const copy = new Uint8Array(bytes.slice(0)); copy[0] = 1; Atomics.add(copy, 0, 1);
           console.log(String.fromCharCode(before), how, copy[0], view.length, String.fromCharCode(...view));
         }",
    )
    .file("b.bin", "xyz")
    .vus(3, 1)
    .both(|report| {
        report.assert_clean();
        let how = "ArrayBuffer is immutable: VUs share what open() returns; change a copy, such as buffer.slice(0)";
        assert_eq!(report.said(), vec![format!("x {how} 2 3 xyz"); 3]);
    });
}

#[test]
fn atomics_do_not_change_opened_files() {
    case(
        "const bytes = open('b.bin', 'b');
         const kinds = [Int8Array, Uint8Array, Int16Array, Uint16Array, Int32Array, Uint32Array, BigInt64Array, BigUint64Array];
         const ops = ['store', 'add', 'sub', 'and', 'or', 'xor', 'exchange'];
         export default function () {
           let refused = 0;
           for (const Kind of kinds) {
             const view = new Kind(bytes), one = view[0] - view[0] + (typeof view[0] === 'bigint' ? 1n : 1);
             for (const op of ops) try { Atomics[op](view, 0, one); } catch (e) { refused += e instanceof TypeError; }
             try { Atomics.compareExchange(view, 0, view[0], one); } catch (e) { refused += e instanceof TypeError; }
             if (Atomics.load(view, 0) !== view[0]) throw new Error('load');
           }
           console.log(refused, String.fromCharCode(...new Uint8Array(bytes)));
         }",
    )
    .file("b.bin", "12345678")
    .vus(2, 1)
    .threads(2)
    .both(|report| {
        report.assert_clean();
        assert_eq!(report.said(), ["64 12345678"; 2]);
    });
}

#[test]
fn built_in_modules_asked_for_by_a_computed_name_are_shared_as_well() {
    let report = case(
        "const name = ['k6', 'execution'].join('/');
         const exec = require(name); const html = (await import(['k6', 'html'].join('/'))).default;
         export default function () {
           let how = 'wrote';
           try { html.mine = __VU; } catch (e) { how = e.name; }
           console.log(exec.vu.idInTest === __VU, how, html.mine);
         }",
    )
    .vus(3, 1)
    .isolation(IsolationMode::Dense)
    .run();
    assert_eq!(report.said(), ["true TypeError undefined"; 3], "{report:#?}");
}

#[test]
fn a_built_in_module_that_only_a_vu_asks_for_is_refused_in_both_layouts() {
    // As in k6, whose text it is.
    case(
        "let how = 'there';
         try { if (__VU > 0) require(['k6', 'encoding'].join('/')); } catch (e) { how = e.message; }
         let loaded = 'there';
         try { if (__VU > 0) await import(['k6', 'crypto'].join('/')); } catch (e) { loaded = e.message; }
         export default function () { console.log(how); console.log(loaded); }",
    )
    .both(|report| {
        let text =
            |name: &str| format!("the module \"{name}\" was not previously resolved during initialization (__VU==0)");
        assert_eq!(report.said(), [text("k6/encoding"), text("k6/crypto")], "{report:#?}");
    });
}

#[test]
fn a_module_that_hands_out_objects_of_another_has_it() {
    // Nothing of the script names `k6/experimental/streams`.
    let report = case(
        "import { Blob } from 'k6/websockets';
         export default async function () {
           const { value } = await new Blob(['abc']).stream().getReader().read();
           console.log(value.length);
         }",
    )
    .vus(2, 1)
    .isolation(IsolationMode::Dense)
    .run();
    assert_eq!(report.said(), ["3"; 2], "{report:#?}");
}

#[test]
fn built_in_globals_are_own_properties() {
    case(
        "export default function () {
           const own = ['Promise', 'setTimeout', '__VU', 'absent', 'globalThis'].map((name) => [
             Object.hasOwn(globalThis, name), globalThis.hasOwnProperty(name), !!Object.getOwnPropertyDescriptor(globalThis, name), !!Reflect.getOwnPropertyDescriptor(globalThis, name)].map(Number).join(''));
           console.log(own.join(), Object.hasOwn({ __proto__: globalThis }, 'Promise'));
           globalThis.Promise = 1; delete globalThis.Promise;
           console.log(Object.getOwnPropertyDescriptor(globalThis, 'Math').value === Math);
         }",
    )
    .both(|report| {
        report.assert_clean();
        assert_eq!(report.said(), ["1111,1111,1111,0000,1111 false", "true"], "{report:#?}");
    });
}

#[test]
fn a_patched_built_in_module_is_patched_for_all_who_import_it() {
    // k6: `require()` gives the default export, and named imports follow it.
    let report = case(
        "const http = require('k6/http'); http.get = (url) => 'patched ' + url;
         const lib = require('./lib.js'); Object.defineProperty(http, 'post', { value: () => 'defined' });
         console.log(lib.all('a'), lib.http === http, lib.ns.put === http.put, Object.keys(http).includes('default'));
         exports.default = function () { http.put = () => __VU; console.log(lib.all('b'), lib.ns.put()); };",
    )
    .file("lib.js", "import http, { get, post } from 'k6/http'; import * as ns from 'k6/http'; export { http, ns }; export const all = (x) => [http.get(x), get(x), ns.get(x), post()].join();")
    .vus(2, 1)
    .isolation(IsolationMode::Auto)
    .run();
    assert_eq!(report.isolation.as_ref().expect("it ran").isolation, Isolation::Isolated);
    let mut said = report.said();
    said.sort_unstable();
    said.dedup();
    let line = |x: &str, end: &str| format!("patched {x},patched {x},patched {x},defined {end}");
    assert_eq!(said, [line("a", "true true false"), line("b", "1"), line("b", "2")], "{report:#?}");
}
