//! `k6/encoding` and `k6/crypto` beyond what recorded scripts show: neighbours, memory, the end in the middle of a call.

use std::time::Duration;

use crate::harness::case;

/// Each call takes several slices; the other VU of the thread runs in between.
#[test]
fn long_inputs_do_not_hold_the_thread() {
    let calls = [
        "crypto.sha256(text, 'hex')",
        "crypto.ripemd160(bytes, 'hex')",
        "crypto.hmac('sha512', text, bytes, 'hex')",
        "hasher.update(bytes)",
        "crypto.hexEncode(bytes)",
        "encoding.b64decode(encoding.b64encode(bytes))",
        "crypto.md4(wide, 'hex')",
        "crypto.randomBytes(64 << 20)",
    ];
    let steps = calls.map(|call| format!("console.log('begin'); {call}; console.log('end'); sleep(0.01);")).concat();
    case(&format!(
        "import crypto from 'k6/crypto'; import encoding from 'k6/encoding'; import exec from 'k6/execution'; import {{ sleep }} from 'k6';
         export const options = {{ scenarios: {{
           long: {{ executor: 'per-vu-iterations', vus: 1, iterations: 1, exec: 'long' }},
           short: {{ executor: 'constant-vus', vus: 1, duration: '60s', gracefulStop: '0s', exec: 'short' }},
         }} }};
         export function short() {{ sleep(0.001); console.log('tick', __ITER); }}
         export function long() {{
           const text = 'abcdefghijklmnop'.repeat(4 << 20), bytes = new Uint8Array(64 << 20), wide = '日本'.repeat(4 << 20);
           const hasher = crypto.createHash('md5');
           sleep(0.01);
           {steps}
           exec.test.abort('done');
         }}"
    ))
    .both(|report| {
        let said = report.said();
        let mut within = said.split(|line| *line == "begin").skip(1);
        for call in calls {
            let Some(lines) = within.next() else { panic!("{call} was not reached: {:#?}", said.last()) };
            assert!(lines.iter().position(|line| *line == "end").is_some_and(|end| end > 0), "{call} held the thread: {lines:?}");
        }
    });
}

#[test]
fn what_does_not_fit_is_refused() {
    let body = "
        for (const [name, call] of [
          ['random', () => crypto.randomBytes(100e6)], ['more', () => crypto.randomBytes(2 ** 53)], ['most', () => crypto.randomBytes(1e300)],
          ['hex', () => crypto.hexEncode(bytes)], ['encode', () => encoding.b64encode(bytes)], ['decode', () => encoding.b64decode(text)],
        ]) {
          let result = 'made';
          try { call(); } catch (error) { result = error instanceof Error ? 'refused' : String(error); }
          console.log(name, result);
        }
        console.log(crypto.sha1(bytes, 'hex').length, encoding.b64decode('YQ==').byteLength);";
    case(&format!(
        "import crypto from 'k6/crypto'; import encoding from 'k6/encoding';
         export default function () {{ const bytes = new Uint8Array(20 << 20), text = 'YWJj'.repeat(5 << 20); {body} }}"
    ))
    .memory_limit(64 << 20)
    .vus(1, 2)
    .both(|report| {
        let once =
            ["random refused", "more refused", "most refused", "hex refused", "encode refused", "decode made", "40 1"];
        assert_eq!(report.said(), [once, once].concat(), "{report:#?}");
    });
}

/// A VU is told to stop while it is between two pieces.
#[test]
fn a_long_call_ends_with_its_iteration() {
    case(
        "import crypto from 'k6/crypto';
         export const options = { scenarios: { one: { executor: 'constant-vus', vus: 2, duration: '300ms', gracefulStop: '0s' } } };
         export default function () {
           const hasher = crypto.createHash('ripemd160'), bytes = new Uint8Array(64 << 20);
           try { for (;;) hasher.update(bytes); } catch (error) { console.log('caught'); }
           console.log('went on');
         }",
    )
    .interrupt_after(Duration::from_secs(10))
    .both(|report| assert_eq!(report.said(), [""; 0], "{report:#?}"));
}

/// Hashers belong to their VU, whatever the layout.
#[test]
fn hashers_are_a_vus_own() {
    case(
        "import { createHash, createHMAC, hmac, md5 } from 'k6/crypto'; import { sleep } from 'k6';
         const hash = createHash('md5'), keyed = createHMAC('sha256', 'key');
         export default function () {
           for (const part of ['a', __VU, 'b']) { hash.update(`${part}`); keyed.update(`${part}`); sleep(0.002); }
           const all = `a${__VU}b`.repeat(__ITER + 1);
           console.log(hash.digest('hex') === md5(all, 'hex') && keyed.digest('hex') === hmac('sha256', 'key', all, 'hex'));
         }",
    )
    .vus(4, 3)
    .threads(2)
    .both(|report| assert_eq!(report.said(), ["true"; 12], "{report:#?}"));
}

/// Values that are no hashers, and calls within calls.
#[test]
fn hashers_are_not_confused() {
    case(
        "import crypto from 'k6/crypto';
         export default function () {
           const hasher = crypto.createHash('md5');
           for (const call of [
             () => hasher.update.call({}, 'a'), () => hasher.digest.call(crypto, 'hex'), () => hasher.update.call(null, 'a'),
             () => hasher.digest({ toString() { hasher.update('inner'); return 'hex'; } }) === crypto.md5('inner', 'hex'),
             () => crypto.hmac({ toString() { hasher.update('!'); return 'md5'; } }, '', '', 'hex') && hasher.digest('hex') === crypto.md5('inner!', 'hex'),
             () => { const bytes = new Uint8Array(8); bytes.buffer.transfer(); return crypto.sha1(bytes, 'hex') === crypto.sha1('', 'hex'); },
           ]) { try { console.log(call()); } catch (error) { console.log(error.name); } }
         }",
    )
    .both(|report| {
        assert_eq!(report.said(), ["TypeError", "TypeError", "TypeError", "true", "true", "true"], "{report:#?}");
    });
}
