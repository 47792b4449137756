//! Extensions in scripts: what crosses, whose memory it is, and what becomes of modules that misbehave.

use std::fmt::Write as _;

use onrush_js::init::IsolationMode;

use crate::harness::{Case, case};

/// The worked example, as it is in the repository.
const CHECKSUMS: &[u8] = include_bytes!("../../../../examples/extensions/checksums/checksums.wasm");

/// A module with this description, a page of memory, and an allocator that starts anew with each argument of a call.
fn module(description: &str, more: &str) -> Vec<u8> {
    let packed = (1024_i64 << 32) | i64::try_from(description.len()).expect("it is short");
    let mut escaped = String::new();
    description.bytes().for_each(|byte| write!(escaped, "\\{byte:02x}").expect("a String takes it"));
    let text = format!(
        r#"(module
            (import "onrush" "log" (func $log (param i32 i32 i32)))
            (import "onrush" "fail" (func $fail (param i32 i32)))
            (memory (export "memory") 1)
            (global $free (mut i32) (i32.const 8192))
            (data (i32.const 1024) "{escaped}")
            (func (export "onrush_describe") (result i64) (i64.const {packed}))
            (func (export "onrush_allocate") (param $length i32) (result i32)
                (local $end i32)
                (local.set $end (i32.add (global.get $free) (local.get $length)))
                (drop (memory.grow (i32.shr_u (local.get $length) (i32.const 16))))
                (global.get $free)
                (global.set $free (local.get $end)))
            {more})"#
    );
    wat::parse_str(&text).expect("the test's text is a module")
}

fn with(description: &str, more: &str, script: &str) -> Case {
    case(script).file("ext.wasm", module(description, more))
}

#[test]
fn the_example_works_in_both_layouts() {
    let script = "
        import checksums, { crc32, luhn, card } from './checksums.wasm';
        import * as all from './checksums.wasm';
        const required = require('./checksums.wasm');
        const early = crc32('a');
        export default function () {
            console.log([early === 0xe8b7be43, crc32('123456789'), crc32(new Uint8Array([0, 255]).subarray(1))].join());
            console.log([luhn('7992739871'), /^4\\d{15}$/.test(card('4', 16)), crc32('é€😀')].join());
            console.log([checksums.crc32 === crc32, required.luhn === luhn, Object.keys(all).sort()].join());
            for (const call of [() => luhn('1x'), () => luhn(5), () => crc32(), () => card('4'), () => card('4', 1.5), () => card('4', 2 ** 32)]) {
                try { call(); } catch (error) { console.log(String(error)); }
            }
        }";
    case(script).file("checksums.wasm", CHECKSUMS).both(|report| {
        report.assert_clean();
        assert_eq!(
            report.said(),
            [
                "true,3421780262,4278190080",
                "79927398713,true,2228800934",
                "true,true,card,crc32,default,luhn",
                "GoError: checksums.wasm: luhn(): 'x' is not a digit",
                "TypeError: checksums.wasm: luhn(): digits has to be a string",
                "TypeError: checksums.wasm: crc32(): data has to be a string, an ArrayBuffer or a Uint8Array",
                "TypeError: checksums.wasm: card(): length has to be a whole number from 0 to 4294967295",
                "TypeError: checksums.wasm: card(): length has to be a whole number from 0 to 4294967295",
                "TypeError: checksums.wasm: card(): length has to be a whole number from 0 to 4294967295",
            ]
        );
    });
}

#[test]
fn every_type_crosses() {
    let same =
        |name: &str, kind: &str| format!(r#"(func (export "{name}") (param {kind}) (result {kind}) (local.get 0))"#);
    let packed = |name: &str| {
        format!(
            r#"(func (export "{name}") (param i32 i32) (result i64)
                (i64.or (i64.shl (i64.extend_i32_u (local.get 0)) (i64.const 32)) (i64.extend_i32_u (local.get 1))))"#
        )
    };
    let more = [("b", "i32"), ("i", "i32"), ("u", "i32"), ("l", "i64"), ("ul", "i64"), ("f", "f32"), ("d", "f64")]
        .map(|(name, kind)| same(name, kind))
        .into_iter()
        .chain(["s", "y", "j"].map(packed))
        .chain([r#"(func (export "none"))"#.to_owned()])
        .collect::<String>();
    let description = "onrush 1\nstate none\nb(a: bool) -> bool\ni(a: i32) -> i32\nu(a: u32) -> u32\nl(a: i64) -> i64\n\
        ul(a: u64) -> u64\nf(a: f32) -> f32\nd(a: f64) -> f64\ns(a: string) -> string\ny(a: bytes) -> bytes\n\
        j(a: json) -> json\nnone()";
    let script = "
        import x from './ext.wasm';
        const big = 'aé€😀'.repeat(60000);
        export default function () {
            console.log([x.b(true), x.b(false), x.i(-5), x.u(4294967295), x.l(-5n), x.l(7), x.ul(2n ** 64n - 1n)].join());
            console.log([typeof x.l(7), x.f(0.5), x.d(1e300), x.s(''), x.s('é\\u{1f600}'), x.none()].join());
            console.log([x.s(big) === big, x.s('\\ud800') === '\\ufffd', new Uint8Array(x.y('é')).join(' ')].join());
            console.log([new Uint8Array(x.y(new Uint8Array(300000).fill(9))).every((byte) => byte === 9)].join());
            console.log(JSON.stringify([x.j({ a: [1, 'é', null] }), x.j(undefined), x.j('text'), x.j([])]));
            for (const call of [() => x.b(1), () => x.i(2147483648), () => x.u(-1), () => x.l(0.5), () => x.ul(-1), () => x.d('1'), () => x.y(Symbol('a')), () => x.y({})]) {
                try { call(); } catch (error) { console.log(error.message); }
            }
        }";
    with(description, &more, script).both(|report| {
        report.assert_clean();
        assert_eq!(
            report.said(),
            [
                "true,false,-5,4294967295,-5,7,18446744073709551615",
                "bigint,0.5,1e+300,,é😀,",
                "true,true,195 169",
                "true",
                r#"[{"a":[1,"é",null]},null,"text",[]]"#,
                "ext.wasm: b(): a has to be true or false",
                "ext.wasm: i(): a has to be a whole number from -2147483648 to 2147483647",
                "ext.wasm: u(): a has to be a whole number from 0 to 4294967295",
                "ext.wasm: l(): a has to be a BigInt or a whole number",
                "ext.wasm: ul(): a has to be a BigInt or a whole number",
                "ext.wasm: d(): a has to be a number",
                "ext.wasm: y(): a has to be a string, an ArrayBuffer or a Uint8Array",
                "ext.wasm: y(): a has to be a string, an ArrayBuffer or a Uint8Array",
            ]
        );
    });
}

#[test]
fn state_is_the_vus_own() {
    let counter = r#"(global $count (mut i32) (i32.const 0))
        (func (export "next") (result i32)
            (global.set $count (i32.add (global.get $count) (i32.const 1)))
            (global.get $count))"#;
    let script = "
        import { next } from './ext.wasm';
        export default function () { console.log(__ITER + 1 === next()); }";
    with("onrush 1\nnext() -> i32", counter, script).vus(4, 5).threads(2).both(|report| {
        report.assert_clean();
        assert_eq!(report.said(), ["true"; 20]);
    });
}

#[test]
fn what_breaks_off_says_so_and_starts_anew() {
    let more = r#"(global $count (mut i32) (i32.const 0))
        (data (i32.const 100) "not today")
        (func (export "next") (param $how i32) (result i64)
            (global.set $count (i32.add (global.get $count) (i32.const 1)))
            (if (i32.eq (local.get $how) (i32.const 1)) (then unreachable))
            (if (i32.eq (local.get $how) (i32.const 2)) (then (return (i64.const -1))))
            (if (i32.eq (local.get $how) (i32.const 3)) (then (call $fail (i32.const 100) (i32.const 9))))
            (if (i32.eq (local.get $how) (i32.const 4)) (then (return (i64.const 429496729609))))
            (call $log (i32.const 2) (i32.const 100) (i32.const 9))
            (i32.store8 (i32.const 50) (i32.add (i32.const 48) (global.get $count)))
            (i64.or (i64.shl (i64.const 50) (i64.const 32)) (i64.const 1)))"#;
    let script = "
        import { next } from './ext.wasm';
        export default function () {
            for (const how of [0, 0, 1, 0, 2, 0, 3, 0, 4]) {
                try { console.log(next(how)); } catch (error) { console.log(error.message); }
            }
        }";
    with("onrush 1\nnext(how: u32) -> json", more, script).both(|report| {
        assert_eq!(
            report.said(),
            [
                "1",
                "2",
                "ext.wasm: next(): the extension broke off: it reached code that must not be reached (a panic?); its state is lost",
                "1",
                "ext.wasm: next(): the extension broke off: its result at 4294967295, 4294967295 bytes long, is not within its memory; its state is lost",
                "1",
                "ext.wasm: next(): not today",
                "3",
                "ext.wasm: next(): its result is not JSON: SyntaxError: unexpected token: 'not'",
            ]
        );
        assert_eq!(report.level("warning").len(), 6);
    });
}

/// A call without end lets the VUs of its thread run, and ends when its time is over.
#[test]
fn a_call_without_end_holds_nobody_up() {
    let more = r#"(func (export "spin") (loop $on (br $on)))"#;
    let script = "
        import { sleep } from 'k6';
        import { spin } from './ext.wasm';
        export const options = { scenarios: {
            spinner: { executor: 'per-vu-iterations', vus: 1, iterations: 1, exec: 'spinner', maxDuration: '2s', gracefulStop: '0s' },
            neighbour: { executor: 'per-vu-iterations', vus: 1, iterations: 20, exec: 'neighbour', maxDuration: '10s' },
        } };
        export function spinner() {
            try { spin(); } catch (error) { console.log('caught'); } finally { console.log('ended'); }
        }
        export function neighbour() { sleep(0.001); }";
    for state in ["vu", "none"] {
        with(&format!("onrush 1\nstate {state}\nspin()"), more, script).both(|report| {
            assert_eq!(report.said(), Vec::<&str>::new());
            assert_eq!(report.iterations(), 20.0);
        });
    }
}

#[test]
fn memory_counts_towards_the_vus_limit() {
    let more = r#"(func (export "grow") (param i32) (result i32) (memory.grow (local.get 0)))"#;
    let script = "
        import { grow } from './ext.wasm';
        export default function () {
            for (const pages of [2, 100, 1]) {
                try { console.log(grow(pages)); } catch (error) { console.log(error.message); }
            }
        }";
    for state in ["vu", "none"] {
        let case = with(&format!("onrush 1\nstate {state}\ngrow(pages: u32) -> i32"), more, script);
        case.memory_limit(2 << 20).both(|report| {
            assert_eq!(
                report.said(),
                ["1", "ext.wasm: grow(): its memory of 6754304 bytes does not fit the VU's limit", "1"],
                "{state}"
            );
        });
    }
}

#[test]
fn what_is_no_extension_is_refused_where_it_is_imported() {
    let refused = |bytes: &[u8], reason: &str| {
        let report = case("import './ext.wasm'; export default function () {}").file("ext.wasm", bytes).run();
        let stop = report.stop.unwrap_or_default();
        assert!(stop.contains("ext.wasm") && stop.contains(reason), "{stop}");
    };
    refused(b"export const a = 1;", "the extension is not a WebAssembly module");
    refused(b"\0asm\x01\0\0\0", "the extension exports no function that scripts could call");
    let wasi = wat::parse_str(r#"(module (import "wasi_snapshot_preview1" "proc_exit" (func (param i32))))"#);
    refused(&wasi.expect("a module"), "imports \"wasi_snapshot_preview1.proc_exit\", which extensions do not get");
    let missing = case("import { nope } from './checksums.wasm'; export default function () {}")
        .file("checksums.wasm", CHECKSUMS)
        .run();
    assert!(missing.stop.unwrap_or_default().contains("nope"));
}

/// Many VUs that call at a time share a few instances and get their own results.
#[test]
fn calls_that_overlap_do_not_mix() {
    let script = "
        import { crc32 } from './checksums.wasm';
        const data = 'x'.repeat(300000 + __VU);
        const right = crc32(data);
        export default function () { console.log(crc32(data) === right); }";
    let case = case(script).file("checksums.wasm", CHECKSUMS).vus(12, 3).isolation(IsolationMode::Dense);
    let report = case.run();
    report.assert_clean();
    assert_eq!(report.said(), ["true"; 36]);
}
