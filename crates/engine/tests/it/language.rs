//! The language across suspensions, and where errors say they happened. Every test runs under both layouts.

use std::time::Duration;

use onrush_session::ExitCode;

use crate::harness::case;

#[test]
fn errors_name_the_users_file_line_and_column() {
    case(
        "import { boom } from './lib/deep.js';\nfunction outer() {\n  boom();\n}\nexport default function () {\n  try { outer(); } catch (e) { console.log(e.stack); }\n  const o = {};\n  o.missing.x;\n}\n",
    )
    .file("lib/deep.js", "export function boom() {\n  throw new Error('deep');\n}\n")
    .both(|report| {
        let stack = report.said().join("\n");
        for place in ["at boom (file://DIR/lib/deep.js:2:", "at outer (file://DIR/script.js:3:", "file://DIR/script.js:6:"] {
            assert!(stack.contains(place), "{place} {report:#?}");
        }
        assert!(stack.starts_with("Error: deep\n    at boom ("), "a stack begins with the error: {stack}");
        let errors = report.level("error");
        assert!(errors[0].starts_with("TypeError") && errors[0].contains("file://DIR/script.js:8:"), "{report:#?}");
    });
}

#[test]
fn columns_of_the_first_line_are_right() {
    case("export default function () { throw new Error('first line'); }").both(|report| {
        let errors = report.level("error");
        assert!(errors[0].contains("file://DIR/script.js:1:"), "{report:#?}");
        let column: u32 = errors[0]
            .split("script.js:1:")
            .nth(1)
            .and_then(|rest| rest.split(')').next())
            .and_then(|text| text.parse().ok())
            .expect("a column");
        // `throw` is at 30, `new` at 36, `Error` at 40: all are right, 31 or 37 would not be.
        assert!([30, 36, 40, 45].contains(&column), "{column} {report:#?}");
    });
}

/// The engine's own record of places has none for a name that stands for itself in an object.
#[test]
fn an_undefined_name_in_an_object_is_where_it_stands() {
    case("export default function () {\n  const a = 1;\n  const o = { a,\n    b: 2,\n    missing };\n}").both(
        |report| {
            let errors = report.level("error");
            let place = "ReferenceError: missing is not defined\n\tat default (file://DIR/script.js:5:5)";
            assert!(errors[0].starts_with(place), "{report:#?}");
        },
    );
}

/// `stack` is what it was made, or what a script has set.
#[test]
fn stacks_of_all_kinds() {
    case(
        "class Mine extends Error { constructor(m) { super(m); this.name = 'Mine'; } }
export default function () {
  console.log(new Mine('x').stack.split('\\n')[0]);
  console.log(new TypeError('y').stack.split('\\n')[0]);
  const e = new Error('z'); e.stack = 'set'; console.log(e.stack);
  const o = {}; Error.captureStackTrace && Error.captureStackTrace(o); console.log(typeof o.stack);
  const odd = new Error('w'); odd.toString = () => { throw new Error('no'); }; 
  try { console.log(odd.stack); } catch (error) { console.log('threw', error.message); }
  try { JSON.parse('{'); } catch (error) { console.log(error.stack.startsWith('SyntaxError: ')); }
}",
    )
    .both(|report| {
        report.assert_clean();
        assert_eq!(report.said(), ["Mine: x", "TypeError: y", "set", "string", "threw no", "true"]);
    });
}

#[test]
fn typescript_positions_lead_to_the_typescript() {
    case(
        "interface A {\n  x: number;\n}\n\nenum E { One }\n\nexport default function (): void {\n  const a: A = { x: E.One };\n\n  throw new Error(`ts ${a.x}`);\n}\n",
    )
    .named("script.ts")
    .both(|report| {
        let errors = report.level("error");
        assert!(errors[0].starts_with("Error: ts 0") && errors[0].contains("file://DIR/script.ts:10:"), "{report:#?}");
    });
}

#[test]
fn stacks_of_one_vu_survive_the_others() {
    case(
        "import { sleep } from 'k6';
function thrower(n) { sleep(0.002 * n); throw new Error('from ' + n); }
export default function () {
  try { thrower(__VU); } catch (e) { sleep(0.003); console.log(e.message, /thrower.*script.js:2/.test(e.stack), e.stack.includes(':4:')); }
}",
    )
    .vus(4, 2)
    .both(|report| {
        report.assert_clean();
        assert_eq!(report.said().len(), 8);
        assert!(report.said().iter().all(|line| line.ends_with("true true")), "{report:#?}");
    });
}

#[test]
fn async_functions_of_many_vus_interleave() {
    case(
        "import { sleep } from 'k6'; import http from 'k6/http';
         const wait = (ms) => new Promise((r) => setTimeout(r, ms));
         export default async function () {
           const log = [];
           const worker = async (name, ms) => { for (let i = 0; i < 3; i++) { await wait(ms); log.push(name + i); } return name; };
           const names = await Promise.all([worker('a', 2), worker('b', 3), (async () => { const r = await http.asyncRequest('GET', `http://${__ENV.TARGET}/f/10`); log.push('h'); return r.status; })()]);
           sleep(0.001); await null;
           console.log(names.join(), log.filter((x) => x[0] === 'a').join(''), log.filter((x) => x[0] === 'b').join(''), log.length);
         }",
    )
    .vus(4, 2)
    .threads(2)
    .both(|report| {
        report.assert_clean();
        assert_eq!(report.said(), ["a,b,200 a0a1a2 b0b1b2 7"; 8]);
    });
}

#[test]
fn generators_suspend_across_sleep_and_requests() {
    case(
        "import { sleep } from 'k6'; import http from 'k6/http';
         function* steps(vu) { for (let i = 0; i < 3; i++) { sleep(0.001 * vu); const got = yield http.get(`http://${__ENV.TARGET}/get?n=${i}`).json('args.n'); if (got) console.log('sent', got); } return 'end'; }
         const kept = steps(1);
         export default function () {
           const own = []; const it = steps(__VU); let step = it.next(); while (!step.done) { own.push(step.value); step = it.next(); }
           const { value } = kept.next();
           try { for (const x of steps(1)) { if (x === '1') break; } for (const x of (function* () { try { yield 1; yield 2; } finally { sleep(0.001); own.push('closed'); } })()) break; } finally { own.push('f'); }
           console.log(own.join(), step.value, value === undefined ? 'end' : value);
         }",
    )
    .vus(3, 3)
    .both(|report| {
        report.assert_clean();
        let said = report.said_sorted();
        let expected: Vec<String> = ["0", "1", "2"].iter().flat_map(|n| std::iter::repeat_n(format!("0,1,2,closed,f end {n}"), 3)).collect();
        assert_eq!(said, expected);
    });
}

#[test]
fn exceptions_and_finally_cross_suspensions() {
    case(
        "import { sleep, group, check } from 'k6';
         export default function () {
           const log = [];
           const deep = (n) => { try { sleep(0.001); if (n === 0) throw new Error('bottom'); deep(n - 1); } finally { sleep(0.001); log.push(n); } };
           try { group('g', () => deep(3)); } catch (e) { log.push(e.message); }
           log.push((() => { try { return 'try'; } finally { sleep(0.001); } })());
           log.push((() => { for (const x of [1, 2]) { try { continue; } finally { sleep(0.001); } } return 'loop'; })());
           console.log(log.join());
           if (__ITER === 1) throw new Error('ends ' + __VU);
         }",
    )
    .vus(3, 3)
    .both(|report| {
        assert_eq!(report.said(), ["0,1,2,3,bottom,try,loop"; 9], "{report:#?}");
        assert_eq!(report.level("error").len(), 3);
        assert_eq!(report.iterations(), 9.0, "a throwing iteration is complete: {report:#?}");
    });
}

#[test]
fn an_abort_ends_all_vus_and_no_code_of_theirs_catches_it() {
    case(
        "import exec from 'k6/execution'; import { sleep } from 'k6';
         export default function () {
           try {
             if (__VU === 2) { sleep(0.05); try { exec.test.abort('because'); } catch (e) { console.log('caught abort'); } finally { console.log('finally of abort'); } }
             sleep(10);
             console.log('woke');
           } catch (e) { console.log('caught'); } finally { console.log('finally'); }
         }
         export function teardown() { console.log('teardown'); }",
    )
    .vus(4, 1)
    .threads(2)
    .both(|report| {
        assert_eq!((report.said(), report.exit), (vec!["teardown"], ExitCode::ScriptAborted), "{report:#?}");
        assert_eq!(
            report.stop.as_deref(),
            Some("test aborted: because at default (file://DIR/script.js:4:61)"),
            "k6: with the place"
        );
        assert_eq!(report.iterations(), 1.0, "k6: the one that aborts is complete");
    });
}

#[test]
fn an_abort_says_where_the_script_made_it() {
    let check = |script: &str, expect: &str| {
        case(&format!("import exec from 'k6/execution'; {script}"))
            .file("lib.js", "export function die(exec) { exec.test.abort('lib'); }")
            .vus(1, 1)
            .both(|report| assert_eq!(report.stop.as_deref(), Some(expect), "{script}"));
    };
    check(
        "function deep() { exec.test.abort(); } export default function () { deep(); }",
        "test aborted at deep (file://DIR/script.js:1:61)",
    );
    check(
        "export default function () { [1].forEach(() => exec.test.abort({})); }",
        "test aborted: [object Object] at file://DIR/script.js:1:90",
    );
    check(
        "export default function () { [1].forEach(exec.test.abort); }",
        "test aborted: 1 at default (file://DIR/script.js:1:75)",
    );
    check(
        "import { die } from './lib.js'; export default function () { die(exec); }",
        "test aborted: lib at die (file://DIR/lib.js:1:38)",
    );
    check(
        "Error.prepareStackTrace = () => { throw 1; }; Error.stackTraceLimit = 0;
         export default async function () { await 1; exec.test.abort('x'); }",
        "test aborted: x at default (file://DIR/script.js:2:64)",
    );
    check("exec.test.abort('init'); export default function () {}", "test aborted: init at file://DIR/script.js:1:43");
    // k6: not in these.
    check("export function setup() { exec.test.abort('setup'); } export default function () {}", "test aborted: setup");
    check(
        "export default function () {} export function teardown() { exec.test.abort('teardown'); }",
        "test aborted: teardown",
    );
}

#[test]
fn an_abort_inside_async_code_and_callbacks_ends_the_test() {
    for body in [
        "export default async function () { await null; exec.test.abort('x'); console.log('no'); }",
        "export default function () { setTimeout(() => { exec.test.abort('x'); }, 1); setTimeout(() => console.log('no'), 50); }",
        "export default function () { [3, 1].sort(() => exec.test.abort('x')); console.log('no'); }",
        "export default function () { try { JSON.stringify({ toJSON() { exec.test.abort('x'); } }); } catch (e) { console.log('no'); } }",
        "export default function () { group('g', () => check(1, { c: () => exec.test.abort('x') })); console.log('no'); }",
        "export default function () { new Promise(() => exec.test.abort('x')).catch(() => console.log('no')); }",
        "export default function () { const it = (function* () { try { exec.test.abort('x'); } finally { console.log('no'); } })(); for (const x of it) console.log('no'); }",
        "export default async function () { try { await (async () => { await null; exec.test.abort('x'); })(); } catch (e) { console.log('no'); } finally { console.log('no'); } }",
        "export default function () { Promise.resolve().then(() => exec.test.abort('x')).finally(() => console.log('no')); setTimeout(() => console.log('no'), 20); }",
        "export default function () { 'abc'.replace(/b/, () => exec.test.abort('x')); console.log('no'); }",
    ] {
        case(&format!("import exec from 'k6/execution'; import {{ group, check }} from 'k6';\n{body}")).both(
            |report| {
                assert!(report.said().is_empty() && report.exit == ExitCode::ScriptAborted, "{body} {report:#?}");
                assert!(report.level("error").is_empty(), "{body} {report:#?}");
            },
        );
    }
}

#[test]
fn an_interrupted_iteration_runs_no_more_code() {
    for body in [
        "try { sleep(10); } catch (e) { console.log('no'); } finally { console.log('no'); }",
        "try { http.get(`http://${__ENV.TARGET}/delay/10`); } catch (e) { console.log('no'); } finally { console.log('no'); }",
        "try { http.batch([`http://${__ENV.TARGET}/delay/10`, `http://${__ENV.TARGET}/delay/9`]); console.log('no'); } finally { console.log('no'); }",
        "for (;;) { try { sleep(0.01); } catch (e) { console.log('no'); } }",
        "for (;;) { try { for (;;); } catch (e) { console.log('no'); } finally { console.log('no'); } }",
        "group('g', () => { try { sleep(10); } finally { console.log('no'); } });",
        "return (async () => { try { await http.asyncRequest('GET', `http://${__ENV.TARGET}/delay/10`); console.log('no'); } finally { console.log('no'); } })();",
        "return (async () => { try { await new Promise((r) => setTimeout(r, 10000)); console.log('no'); } finally { console.log('no'); } })();",
    ] {
        let script = format!(
            "import {{ sleep, group }} from 'k6'; import http from 'k6/http';
             export const options = {{ scenarios: {{ s: {{ executor: 'ramping-vus', startVUs: 2, stages: [{{ duration: '80ms', target: 2 }}], gracefulStop: '0s' }} }} }};
             export default function () {{ {body} }}"
        );
        case(&script).both(|report| {
            assert!(
                report.said().is_empty() && report.stop.is_none() && report.level("error").is_empty(),
                "{body} {report:#?}"
            );
            assert_eq!(report.iterations(), 0.0, "{body}");
        });
    }
}

#[test]
fn an_interrupted_vu_can_run_again() {
    case(
        "import { sleep } from 'k6'; let n = 0;
         export const options = { scenarios: {
           first: { executor: 'ramping-vus', startVUs: 1, stages: [{ duration: '50ms', target: 1 }], gracefulStop: '0s', exec: 'hang' },
           second: { executor: 'per-vu-iterations', vus: 1, iterations: 2, startTime: '150ms', exec: 'go' } } };
         export function hang() { n += 1; setTimeout(() => console.log('no'), 60); Promise.resolve().then(() => console.log('no')); sleep(10); }
         export function go() { n += 1; setTimeout(() => console.log('timer'), 1); console.log(n, __VU); }",
    )
    .both(|report| assert_eq!(report.said(), ["2 1", "timer", "3 1", "timer"], "{report:#?}"));
}

#[test]
fn ctrl_c_cuts_everything_and_still_runs_teardown() {
    case("import { sleep } from 'k6'; export default function () { console.log('began'); sleep(10); console.log('no'); } export function teardown() { sleep(0.01); console.log('teardown'); }")
        .vus(2, 1)
        .interrupt_after(Duration::from_millis(300))
        .both(|report| assert_eq!((report.said(), report.exit), (vec!["began", "began", "teardown"], ExitCode::ExternalAbort), "{report:#?}"));
}

#[test]
fn the_event_loop_runs_in_order() {
    case(
        "export default function () {
           const log = []; const add = (x) => () => log.push(x);
           setTimeout(add('t2'), 2); setTimeout(add('t0'), 0); setTimeout(() => { log.push('t1'); Promise.resolve().then(add('m of t1')); }, 1); setTimeout(add('t1b'), 1);
           Promise.resolve().then(add('m1')).then(add('m2')); (async () => { log.push('sync'); await null; log.push('awaited'); })();
           setTimeout(() => console.log(log.join()), 30); log.push('end');
         }",
    )
    .vus(2, 2)
    .both(|report| {
        report.assert_clean();
        assert_eq!(report.said(), ["sync,end,m1,awaited,m2,t0,t1,m of t1,t1b,t2"; 4]);
    });
}

#[test]
fn unhandled_rejections_end_the_iteration_only() {
    case(
        "export default function () {
           if (__ITER === 0) { Promise.reject(new TypeError('nobody listens')); setTimeout(() => console.log('no'), 5); }
           if (__ITER === 1) { const p = Promise.reject(new Error('x')); setTimeout(() => console.log('later'), 1); p.catch(() => console.log('handled')); }
           if (__ITER === 2) console.log('goes on');
         }",
    )
    .vus(1, 3)
    .both(|report| {
        assert_eq!(report.said(), ["handled", "later", "goes on"], "{report:#?}");
        let errors = report.level("error");
        assert!(errors.len() == 1 && errors[0].starts_with("Uncaught (in promise) TypeError: nobody listens") && errors[0].contains("script.js:2:"), "{report:#?}");
    });
}

#[test]
fn a_rejection_of_an_async_function_that_nobody_awaits_is_told() {
    case(
        "export default async function () {
           if (__ITER === 0) Promise.reject(new TypeError('at once'));
           if (__ITER === 1) (async () => { await null; throw new Error('later'); })();
           if (__ITER === 2) Promise.reject(null);
           if (__ITER === 3) console.log('goes on');
         }",
    )
    .vus(1, 4)
    .both(|report| {
        assert_eq!(report.said(), ["goes on"], "{report:#?}");
        let errors = report.level("error");
        let expect = ["TypeError: at once", "Error: later", "null"].map(|text| format!("Uncaught (in promise) {text}"));
        assert_eq!(errors.len(), expect.len(), "{report:#?}");
        assert!(errors.iter().zip(&expect).all(|(error, expect)| error.starts_with(expect)), "{report:#?}");
    });
}

#[test]
fn top_level_await_works() {
    case(
        "import { value } from './lib.js';
         const own = await new Promise((r) => setTimeout(() => r(__VU), 2)); let later = 0; (async () => { await null; later = 1; })();
         export const options = await Promise.resolve({ iterations: 1 });
         export default function () { console.log(own === __VU, value === __VU, later); }",
    )
    .file("lib.js", "export let value = await Promise.resolve(__VU); export const made = await import('./lib2.js');")
    .file("lib2.js", "export default 5;")
    .vus(2, 1)
    .both(|report| {
        report.assert_clean();
        assert_eq!(report.said(), ["true true 1"; 2]);
    });
}

#[test]
fn a_rejected_top_level_await_fails_the_script() {
    case("import './lib.js'; export default function () {}")
        .file("lib.js", "await null;\nawait Promise.reject(new Error('no module'));")
        .both(|report| {
            let stop = report.stop.as_deref().unwrap_or_default();
            assert!(
                report.exit == ExitCode::ScriptException
                    && stop.contains("Error: no module")
                    && stop.contains("lib.js:2"),
                "{report:#?}"
            );
        });
}

#[test]
fn circular_imports_link() {
    case(
        "import { even } from './even.js'; import * as self from './script.js';
         export const mark = 'm'; export function odd() {}
         export default function () { console.log(even(10), even(7), self.mark, Object.keys(self).join(), typeof self.default); }",
    )
    .file("even.js", "import { odd } from './odd.js'; export let calls = 0; export function even(n) { calls += 1; return n === 0 ? true : odd(n - 1); }")
    .file("odd.js", "import { even, calls } from './even.js'; export function odd(n) { return n === 0 ? false : even(n - 1); } export const seen = () => calls;")
    .vus(2, 1)
    .both(|report| {
        report.assert_clean();
        assert_eq!(report.said(), ["true false m default,mark,odd function"; 2]);
    });
}

#[test]
fn live_bindings_and_reexports_are_per_vu() {
    case(
        "import { n, bump, renamed as r, ns, def } from './index.js';
         export default function () { bump(); console.log(__VU, n, r(), ns.n, def); try { n = 5; } catch (e) { console.log(e.name); } }",
    )
    .file("counter.js", "export let n = 0; export function bump() { n += 1; } export function original() { return n * 10; } export default 'd';")
    .file("index.js", "export { n, bump, original as renamed, default as def } from './counter.js'; export * as ns from './counter.js'; export * from './counter.js';")
    .vus(2, 2)
    .both(|report| {
        report.assert_clean();
        assert_eq!(report.said_sorted(), ["1 1 10 1 d", "1 2 20 2 d", "2 1 10 1 d", "2 2 20 2 d", "TypeError", "TypeError", "TypeError", "TypeError"]);
    });
}

#[test]
fn classes_closures_and_collections_keep_their_state_across_suspensions() {
    case(
        "import { sleep } from 'k6';
         class Account { #balance = 0; static made = 0; constructor() { Account.made += 1; } deposit(n) { const before = this.#balance; sleep(0.001); this.#balance = before + n; return this; } get balance() { return this.#balance; } }
         const accounts = new Map(); const weak = new WeakMap();
         export default function () {
           const account = accounts.get('a') || new Account(); accounts.set('a', account); weak.set(account, __ITER);
           [1, 2, 3].forEach((n) => account.deposit(n)); const sorted = [3, 1, 2].sort((a, b) => { sleep(0.0005); return a - b; });
           const text = 'a-b-c'.replace(/-/g, () => { sleep(0.0005); return '+'; }); const parsed = JSON.parse('[1,2]', (k, v) => { sleep(0.0005); return v; });
           console.log(account.balance === 6 * (__ITER + 1), Account.made, sorted.join(''), text, JSON.stringify(parsed), weak.get(account) === __ITER, [...accounts.keys()].join());
         }",
    )
    .vus(4, 2)
    .both(|report| {
        report.assert_clean();
        assert_eq!(report.said(), ["true 1 123 a+b+c [1,2] true a"; 8]);
    });
}

#[test]
fn dates_follow_the_clock() {
    case(
        "import { sleep } from 'k6';
         export default function () { const a = Date.now(), b = new Date(); sleep(0.03); const d = Date.now() - a; console.log(d >= 29 && d < 5000, new Date() - b >= 29, Math.abs(b.getTime() - a) < 50, b.getFullYear() > 2023, typeof Date()); }",
    )
    .vus(2, 1)
    .both(|report| {
        report.assert_clean();
        assert_eq!(report.said(), ["true true true true string"; 2]);
    });
}
