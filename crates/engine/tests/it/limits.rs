//! Scripts that take too much: stack, memory, time. Only they suffer. Every test runs under both layouts.

use std::time::Instant;

use onrush_js::init::IsolationMode;

use crate::harness::case;

#[test]
fn deep_recursion_is_a_range_error_others_do_not_notice() {
    case(
        "import { sleep } from 'k6';
         function down(n) { return n === 0 ? 0 : 1 + down(n - 1); }
         function forever(n) { return forever(n + 1) + 1; }
         export default function () {
           if (__VU === 1) { try { forever(0); console.log('no'); } catch (e) { console.log('caught', e instanceof RangeError, e.message.length > 0); } console.log('after', down(200)); }
           else { for (let i = 0; i < 5; i++) { sleep(0.002); if (down(300) !== 300) throw new Error('harmed'); } console.log('well'); }
         }",
    )
    .vus(3, 2)
    .both(|report| {
        assert_eq!(report.said_sorted(), ["after 200", "after 200", "caught true true", "caught true true", "well", "well", "well", "well"], "{report:#?}");
    });
}

#[test]
fn every_kind_of_deep_nesting_is_bounded() {
    for body in [
        "const o = {}; let p = o; for (let i = 0; i < 200000; i++) { p.x = {}; p = p.x; } JSON.stringify(o);",
        "JSON.parse('['.repeat(500000));",
        "let s = '('.repeat(100000); new RegExp(s + ')'.repeat(100000));",
        "const a = []; a[0] = a; a.flat(Infinity);",
        "eval('('.repeat(200000));",
        "let f = () => 1; for (let i = 0; i < 200000; i++) { f = f.bind(null); } f();",
        "let p = {}; for (let i = 0; i < 100000; i++) p = new Proxy(p, {}); p.x;",
        "const o = { toString() { return '' + o; } }; String(o);",
        "const o = { get x() { return this.x; } }; o.x;",
        "class A { constructor() { new A(); } } new A();",
        "[1].sort(function f() { [2, 1].sort(f); return 0; }); (function f() { [2, 1].sort(f); })();",
        "'a'.replace(/a/, function f() { return 'a'.replace(/a/, f); });",
        "/(?:a|b|c)*d/.test('abc'.repeat(1000));",
        "let s = ''; for (let i = 0; i < 100000; i++) s = s + 'x' + i; s.length; s.indexOf('zzz');",
        "async function f() { await f(); } f();",
        "const it = { [Symbol.iterator]() { return [...it]; } }; [...it];",
        "console.log(new Function('return ' + '[' .repeat(50000) + ']'.repeat(50000))().length);",
        "const o = {}; let p = o; for (let i = 0; i < 100000; i++) { p.x = [{}]; p = p.x[0]; } console.log(o);",
    ] {
        let script = format!(
            "export default function () {{ if (__ITER === 0) {{ try {{ {body} }} catch (e) {{ if (!(e instanceof Error)) throw e; }} }} else console.log('alive'); }}"
        );
        case(&script).vus(1, 2).both(|report| {
            assert_eq!(report.said().last(), Some(&"alive"), "{body} {report:#?}");
        });
    }
}

#[test]
fn the_limit_refuses_nothing_that_garbage_has_room_for() {
    case(
        "export default function () {
           const kept = Array.from({ length: 75000 }, (_, i) => ({ i, text: 't' + i }));
           for (let i = 0; i < 300000; i++) { const node = { i }; node.node = node; }
           console.log('kept', kept.length);
         }",
    )
    .vus(1, 2)
    .memory_limit(16 << 20)
    .both(|report| assert_eq!(report.said(), ["kept 75000", "kept 75000"], "{report:#?}"));
}

#[test]
fn nested_shared_data_is_read_at_any_depth_of_the_stack() {
    case(
        "import { SharedArray } from 'k6/data';
         const nested = new SharedArray('nested', () => { let value = 1; for (let i = 0; i < 400; i++) value = { value }; return [value]; });
         function read() { let value = nested[0]; while (value.value !== undefined) value = value.value; return value; }
         function down(n) { return n === 0 ? read() : down(n - 1) + 0; }
         export default function () {
           for (let depth = 100; ; depth = Math.ceil(depth * 1.02)) {
             try { if (down(depth) !== 1) throw new Error('other data'); }
             catch (error) { if (!(error instanceof RangeError)) throw error; console.log('read'); break; }
           }
         }",
    )
    .vus(1, 2)
    .both(|report| assert_eq!(report.said(), ["read", "read"], "{report:#?}"));
}

#[test]
fn a_vu_out_of_memory_says_so_and_the_others_live() {
    for grow in [
        "const keep = []; for (;;) keep.push(new Array(1000).fill(__VU));",
        "const keep = []; for (let s = 'x';; s = s + s) keep.push(s + 'y', [...s]);",
        "const m = new Map(); for (let i = 0; ; i++) m.set('key' + i, { i });",
        "new ArrayBuffer(1 << 30);",
        "const keep = []; for (;;) keep.push(() => keep);",
        "'x'.repeat(1 << 28).split('');",
        "const keep = []; for (let i = 0; ; i++) keep['k' + i] = i;",
        "const keep = []; for (;;) keep.push(http.url`http://h/${'x'.repeat(100000)}`);",
        "const keep = []; for (;;) { try { keep.push(new Uint8Array(100000)); } catch (e) { keep.length = 0; throw e; } }",
    ] {
        let script = format!(
            "import {{ sleep }} from 'k6'; import http from 'k6/http'; const own = 'kept ' + __VU;
             export default function () {{
               if (__VU === 1 && __ITER === 0) {{ {grow} }}
               sleep(0.01); const list = []; for (let i = 0; i < 1000; i++) list.push({{ i }}); console.log(own, list.length);
             }}"
        );
        case(&script).vus(2, 2).memory_limit(16 << 20).both(|report| {
            assert_eq!(report.said_sorted(), ["kept 1 1000", "kept 2 1000", "kept 2 1000"], "{grow} {report:#?}");
            let errors = report.level("error");
            assert!(
                errors.len() == 1 && errors[0].contains("limit of 16 MiB") && errors[0].contains("--vu-memory-limit"),
                "{grow} {report:#?}"
            );
            assert_eq!(report.iterations(), 4.0, "{grow}");
        });
    }
}

#[test]
fn garbage_is_collected_under_the_limit() {
    case(
        "export default function () {
           for (let i = 0; i < 200; i++) { const a = { data: new Array(2000).fill(i) }; const b = { a }; a.b = b; }
           let text = ''; for (let i = 0; i < 50; i++) text = 'x'.repeat(100000); console.log(text.length);
         }",
    )
    .vus(2, 3)
    .memory_limit(4 << 20)
    .both(|report| {
        report.assert_clean();
        assert_eq!(report.said(), ["100000"; 6]);
    });
}

#[test]
fn cycles_are_collected_before_they_add_up() {
    // Some 100 KB of garbage that only a collection frees.
    let report = case(
        "function first() { const cycle = { list: [] }; cycle.self = cycle; return new WeakRef(cycle); }
         export default function () {
           const seen = first();
           for (let i = 0; i < 600; i++) { const cycle = { list: [i] }; cycle.self = cycle; }
           console.log(typeof seen.deref());
         }",
    )
    .isolation(IsolationMode::Dense)
    .vus(2, 2)
    .run();
    report.assert_clean();
    assert_eq!(report.said(), ["undefined"; 4]);
}

#[test]
fn an_error_says_that_memory_ran_out_however_little_is_left() {
    // Objects as small as an error itself: nothing is left when it is made.
    case(
        "export default function () {
           let head = null; const caught = [0, 0, 0];
           for (let i = 0; i < 3; i++) {
             try { for (;;) head = { head }; } catch (e) { caught[i] = e; }
           }
           head = null; console.log(caught.map((e) => `${e} ${e instanceof Error}`).join());
         }",
    )
    .vus(2, 2)
    .memory_limit(2 << 20)
    .both(|report| {
        let error = "InternalError: out of memory true";
        assert_eq!(report.said(), vec![[error; 3].join(","); 4], "{report:#?}");
    });
}

#[test]
fn init_code_out_of_memory_fails_the_script() {
    case("const keep = []; for (;;) keep.push(new Array(1000).fill(1)); export default function () {}")
        .memory_limit(8 << 20)
        .both(|report| {
            assert!(report.stop.as_deref().unwrap_or_default().contains("limit of 8 MiB"), "{report:#?}");
        });
}

#[test]
fn an_endless_loop_neither_starves_the_others_nor_outlives_its_time() {
    let began = Instant::now();
    case(
        "import { sleep } from 'k6'; import http from 'k6/http';
         export const options = { scenarios: { s: { executor: 'ramping-vus', startVUs: 3, stages: [{ duration: '600ms', target: 3 }], gracefulStop: '100ms' } } };
         export default function () {
           if (__VU === 1) { console.log('loops'); for (;;); }
           sleep(0.005); http.get(`http://${__ENV.TARGET}/f/10`); console.log('other');
         }",
    )
    .both(|report| {
        let said = report.said();
        assert_eq!(said.iter().filter(|line| **line == "loops").count(), 1, "{report:#?}");
        assert!(said.iter().filter(|line| **line == "other").count() >= 4, "the others went on: {}", said.len());
        assert!(report.level("error").is_empty() && report.stop.is_none(), "{report:#?}");
    });
    assert!(began.elapsed().as_secs() < 15);
}

#[test]
fn endless_work_inside_built_ins_is_cut_too() {
    for body in [
        "/(a*)*b/.test('a'.repeat(40));",
        "'a'.repeat(60).match(/^(a|a)*$|x/); /^(a+)+$/.test('a'.repeat(35) + 'b');",
        "new Array(1e7).join('').length; for (;;);",
        "for (;;) [1, 2].sort(() => 0);",
        "for (;;) JSON.parse('[1]');",
        "(async () => { for (;;) await null; })();",
        "const f = () => Promise.resolve().then(f); f();",
        "setInterval(() => {}, 0);",
        "new Array(1e7).indexOf(1); for (;;);",
        "const it = { [Symbol.iterator]: () => ({ next: () => ({ done: false }) }) }; new Set(it);",
    ] {
        let script = format!(
            "export const options = {{ scenarios: {{ s: {{ executor: 'ramping-vus', startVUs: 1, stages: [{{ duration: '60ms', target: 1 }}], gracefulStop: '60ms' }} }} }};
             export default function () {{ {body} }}"
        );
        let began = Instant::now();
        case(&script).both(|report| assert!(report.stop.is_none(), "{body} {report:#?}"));
        assert!(began.elapsed().as_secs() < 8, "{body} took {:?}", began.elapsed());
    }
}

#[test]
fn many_vus_that_fail_in_every_way_leave_the_thread_whole() {
    case(
        "import { sleep, fail } from 'k6'; import http from 'k6/http';
         export default function () {
           sleep(0.001 * (__VU % 3));
           switch ((__VU + __ITER) % 6) {
             case 0: (function f() { f(); })(); break;
             case 1: { const keep = []; for (;;) keep.push(new Array(1000).fill(0)); }
             case 2: fail('on purpose');
             case 3: http.get('http://127.0.0.1:1/', { throw: true }); break;
             case 4: return Promise.reject(new Error('rejected'));
             default: console.log('fine', __VU);
           }
         }",
    )
    .vus(12, 6)
    .threads(2)
    .memory_limit(8 << 20)
    .both(|report| {
        assert_eq!((report.said().len(), report.level("error").len()), (12, 60), "{report:#?}");
        assert_eq!(report.iterations(), 72.0);
    });
}
