//! Web Crypto in scripts: in both layouts, in init code, while others run, and when a VU ends meanwhile. What its methods
//! answer is recorded from k6 in `conformance/webcrypto`.

use std::time::Duration;

use crate::harness::case;

const HEX: &str =
    "const hex = (b) => Array.from(new Uint8Array(b)).map((x) => x.toString(16).padStart(2, '0')).join('');\n";

#[test]
fn random_values_and_digests() {
    let script = format!(
        "{HEX}
         const early = crypto.randomUUID();
         const inInit = hex(await crypto.subtle.digest('SHA-1', new Uint8Array([97, 98, 99])));
         export default async function () {{
           const bytes = new Uint8Array(64), view = bytes.subarray(16, 48);
           console.log(crypto.getRandomValues(view) === view, bytes.slice(0, 16).every((x) => x === 0), view.some((x) => x !== 0), bytes.slice(48).every((x) => x === 0));
           console.log(early !== crypto.randomUUID(), crypto.randomUUID().length);
           try {{ crypto.getRandomValues(new Float32Array(1)); }} catch (e) {{ console.log(String(e), e.value.name); }}
           console.log(inInit, hex(await crypto.subtle.digest({{ name: 'sha-256' }}, bytes.subarray(0, 3).buffer.slice(0, 3))));
         }}"
    );
    case(&script).vus(2, 1).both(|report| {
        report.assert_clean();
        let said = report.said_sorted();
        assert_eq!(said.len(), 8, "{report:#?}");
        let expect = [
            "GoError: TypeMismatchError: typedArray parameter isn't a TypedArray instance TypeMismatchError",
            "a9993e364706816aba3e25717850c26c9cd0d89d 709e80c88487a2411e1ee4dfb9f22a861492d20c4765150c0c794abd70f8147c",
            "true 36",
            "true true true true",
        ];
        assert_eq!([said[0], said[2], said[4], said[6]], expect, "{report:#?}");
    });
}

#[test]
fn keys_belong_to_their_vu_and_what_they_show_is_not_what_counts() {
    let script = format!(
        "{HEX}
         import exec from 'k6/execution';
         const raw = new Uint8Array(16).fill(__VU);
         const key = await crypto.subtle.importKey('raw', raw, 'AES-GCM', false, ['encrypt']);
         export default async function () {{
           const iv = new Uint8Array(12);
           const sealed = hex(await crypto.subtle.encrypt({{ name: 'AES-GCM', iv }}, key, raw));
           key.extractable = true; key.usages = ['encrypt', 'decrypt']; key.algorithm = {{ name: 'AES-CBC' }}; key.type = 'public';
           const refused = [];
           for (const f of [() => crypto.subtle.exportKey('raw', key), () => crypto.subtle.decrypt({{ name: 'AES-GCM', iv }}, key, new Uint8Array(20))])
             await f().catch((e) => refused.push(e.name, e instanceof Error));
           const again = await crypto.subtle.importKey('raw', new Uint8Array(16).fill(exec.vu.idInTest), 'AES-GCM', true, ['encrypt']);
           console.log(sealed === hex(await crypto.subtle.encrypt({{ name: 'AES-GCM', iv }}, again, raw)), refused.join(), again instanceof crypto.CryptoKey);
         }}"
    );
    case(&script).vus(3, 1).both(|report| {
        report.assert_clean();
        assert_eq!(report.said(), ["true InvalidAccessError,true,InvalidAccessError,true true"; 3], "{report:#?}");
    });
}

#[test]
fn promises_are_settled_after_what_the_script_does_next() {
    case(
        "export default async function () {
           const order = [];
           const p = crypto.subtle.digest('SHA-1', new Uint8Array(1)).then(() => order.push('digest'));
           const q = crypto.subtle.digest('SHA-0', new Uint8Array(1)).catch((e) => order.push(e.name));
           Promise.resolve().then(() => order.push(1)).then(() => order.push(2));
           order.push(0);
           await p; await q;
           console.log(order.join());
           crypto.subtle.digest('SHA-1', new Uint8Array(1)).then(() => console.log('before the iteration ends'));
         }",
    )
    .both(|report| {
        report.assert_clean();
        assert_eq!(report.said(), ["0,1,2,digest,NotSupportedError", "before the iteration ends"]);
    });
}

#[test]
fn a_rejection_nobody_handles_ends_the_iteration() {
    case(
        "export default async function () {
           await crypto.subtle.importKey('raw', new Uint8Array(3), 'AES-CBC', true, ['encrypt']);
           console.log('not reached');
         }",
    )
    .both(|report| {
        let said: Vec<&str> = report.level("error");
        assert!(said.iter().any(|line| line.contains("DataError: invalid key length 3 bytes")), "{report:#?}");
        assert!(report.said().is_empty(), "{report:#?}");
    });
}

#[test]
fn long_work_leaves_the_thread_to_others() {
    // One thread: while the pool derives, other VUs and this VU's own timers go on.
    case(
        "export const options = { scenarios: {
           long: { executor: 'per-vu-iterations', vus: 1, iterations: 1, exec: 'long' },
           short: { executor: 'per-vu-iterations', vus: 1, iterations: 200, exec: 'short' } } };
         let done = false;
         export async function long() {
           const key = await crypto.subtle.importKey('raw', new Uint8Array([1]), 'PBKDF2', false, ['deriveBits']);
           let ticks = 0;
           const tick = () => { if (!done) { ticks++; setTimeout(tick, 1); } };
           tick();
           const bits = await crypto.subtle.deriveBits({ name: 'PBKDF2', hash: 'SHA-512', salt: 'salt', iterations: 400000 }, key, 512);
           done = true;
           console.log('long', bits.byteLength, ticks > 5);
           const big = new Uint8Array(9 << 20);
           console.log('large', (await crypto.subtle.digest('SHA-384', big)).byteLength);
         }
         export function short() { JSON.stringify([1, 2, 3]); }",
    )
    .threads(1)
    .both(|report| {
        report.assert_clean();
        let said = report.said();
        assert_eq!(said, ["long 64 true", "large 48"], "{report:#?}");
    });
}

#[test]
fn a_vu_may_end_while_the_pool_works() {
    case(
        "export const options = { scenarios: { a: { executor: 'constant-vus', vus: 3, duration: '1s', gracefulStop: '0s' } } };
         export default async function () {
           const key = await crypto.subtle.importKey('raw', new Uint8Array([1]), 'PBKDF2', false, ['deriveBits']);
           const derive = () => crypto.subtle.deriveBits({ name: 'PBKDF2', hash: 'SHA-512', salt: 'salt', iterations: 6000000 }, key, 512);
           await Promise.all([derive(), derive()]);
           console.log('not reached');
         }",
    )
    .both(|report| {
        assert!(report.said().is_empty(), "{report:#?}");
        assert_eq!(report.iterations(), 0.0, "{report:#?}");
    });
}

#[test]
fn an_interrupt_ends_key_generation() {
    case(
        "export default async function () {
           await crypto.subtle.generateKey({ name: 'RSA-PSS', hash: 'SHA-256', modulusLength: 8192, publicExponent: new Uint8Array([1, 0, 1]) }, true, ['sign']);
           for (;;) await crypto.subtle.digest('SHA-1', new Uint8Array(1));
         }",
    )
    .interrupt_after(Duration::from_millis(300))
    .both(|report| assert_eq!(report.iterations(), 0.0, "{report:#?}"));
}

#[test]
fn keys_and_inputs_count_towards_the_memory_limit() {
    case(
        "export default async function () {
           const keep = [];
           try {
             for (let i = 0; i < 100000; i++)
               keep.push(await crypto.subtle.importKey('raw', new Uint8Array(1 << 16), { name: 'HMAC', hash: 'SHA-1' }, true, ['sign']));
             console.log('unlimited');
           } catch (e) { console.log(keep.length > 10 && keep.length < 600); }
         }",
    )
    .memory_limit(32 << 20)
    .both(|report| assert_eq!(report.said(), ["true"], "{report:#?}"));
}

#[test]
fn keys_are_wrapped_and_derived() {
    let script = format!(
        "{HEX}
         import {{ crypto as imported }} from 'k6/experimental/webcrypto';
         const s = crypto.subtle, zeros = (n) => new Uint8Array(n);
         export default async function () {{
           const said = [imported === crypto];
           const kek = await s.importKey('raw', zeros(16), 'AES-KW', true, ['wrapKey', 'unwrapKey']);
           const secret = await s.importKey('raw', zeros(32).fill(7), 'AES-GCM', true, ['encrypt']);
           const wrapped = await s.wrapKey('raw', secret, kek, 'AES-KW');
           const back = await s.unwrapKey('raw', wrapped, kek, 'AES-KW', 'AES-GCM', true, ['encrypt']);
           said.push(wrapped.byteLength, hex(await s.exportKey('raw', back)) === hex(zeros(32).fill(7)));
           const gcm = await s.generateKey({{ name: 'AES-GCM', length: 256 }}, false, ['wrapKey', 'unwrapKey']);
           const pair = await s.generateKey('Ed25519', true, ['sign', 'verify']);
           const iv = zeros(12), jwk = await s.wrapKey('jwk', pair.privateKey, gcm, {{ name: 'AES-GCM', iv }});
           const signer = await s.unwrapKey('jwk', jwk, gcm, {{ name: 'AES-GCM', iv }}, 'Ed25519', false, ['sign']);
           const signature = await s.sign('Ed25519', signer, zeros(3));
           said.push(signature.byteLength, await s.verify('Ed25519', pair.publicKey, signature, zeros(3)));
           const [a, b] = [await s.generateKey('X25519', true, ['deriveBits', 'deriveKey']), await s.generateKey('X25519', true, ['deriveBits'])];
           said.push(hex(await s.deriveBits({{ name: 'X25519', public: b.publicKey }}, a.privateKey, 256)) === hex(await s.deriveBits({{ name: 'X25519', public: a.publicKey }}, b.privateKey, 256)));
           const base = await s.importKey('raw', zeros(22).fill(11), 'HKDF', false, ['deriveBits', 'deriveKey']);
           said.push(hex(await s.deriveBits({{ name: 'HKDF', hash: 'SHA-256', salt: zeros(13).map((_, i) => i), info: zeros(10).map((_, i) => 0xf0 + i) }}, base, 336)).slice(0, 8));
           const mac = await s.deriveKey({{ name: 'HKDF', hash: 'SHA-256', salt: zeros(0), info: zeros(0) }}, base, {{ name: 'HMAC', hash: 'SHA-256', length: 256 }}, true, ['sign']);
           const agreed = await s.deriveKey({{ name: 'X25519', public: b.publicKey }}, a.privateKey, {{ name: 'AES-CBC', length: 128 }}, true, ['encrypt']);
           said.push(mac.algorithm.length, agreed.algorithm.length);
           await s.wrapKey('raw', secret, gcm, {{ name: 'AES-GCM', iv }}).then(() => said.push('wrapped'));
           await s.wrapKey('raw', gcm, kek, 'AES-KW').catch((e) => said.push(e.name));
           await s.unwrapKey('raw', zeros(24), kek, 'AES-KW', 'AES-GCM', true, ['encrypt']).catch((e) => said.push(e.name));
           console.log(said.join());
         }}"
    );
    case(&script).both(|report| {
        report.assert_clean();
        assert_eq!(
            report.said(),
            ["true,40,true,64,true,true,3cb25f25,256,128,wrapped,InvalidAccessError,OperationError"],
            "{report:#?}"
        );
    });
}

#[test]
fn the_example_of_the_documentation_runs() {
    let page = include_str!("../../../../docs/reference/modules/webcrypto.md");
    let (_, rest) = page.split_once("```js\n").expect("the page has an example");
    let (example, _) = rest.split_once("```").expect("it ends");
    let printing = "import { check as k6Check } from 'k6'; const check = (...args) => console.log(k6Check(...args));";
    case(&example.replace("import { check } from 'k6';", printing)).both(|report| {
        report.assert_clean();
        assert_eq!(report.said(), ["true", "true"], "{report:#?}");
    });
}
