//! Micro-benchmarks of what the shim adds and of what the patches speed up.
//!
//! `cargo run --release -p onrush-quickjs-sys --example bench [filter]` prints nanoseconds per
//! operation, the best of several rounds. With `ONRUSH_BENCH_STOCK=<folder>` nothing here
//! changes: see docs/design/003-patched-quickjs.md for stock's numbers and how they were taken.
//!
//! SAFETY: one thread; every value is freed once, before its runtime.

use onrush_quickjs_sys::*;
use std::{
    ffi::{CString, c_int, c_void},
    hint::black_box,
    ptr::null_mut,
    time::Instant,
};

/// Rounds of each benchmark; the best one counts, for the machine is rarely quiet.
const ROUNDS: u32 = 7;

/// A page as load tests see them: markup, words, numbers, 11 KB.
const PAGE: &str = "
globalThis.page = (() => {
  let s = '<html><head><title>shop</title></head><body>';
  for (let i = 0; i < 118; i++) s += `<div class=\"row even\"><a href=\"/item/${i % 10}\">thing of beauty</a> for you to buy. <b>new</b></div>\\n`;
  return s + '<input name=\"x\" id=\"token\">abc123def456</input> 42 items, Welcome back</body></html>';
})();
globalThis.json = JSON.stringify(Array.from({ length: 10 }, (_, i) => ({ id: i, name: 'name ' + i, tags: ['a', 'b'], price: i * 1.5, ok: true })));
";

const SCRIPTS: &[(&str, &str)] = &[
    ("object create", "for (let i = 0; i < n; i++) ({ a: i, b: 2, c: 3, d: 'x' })"),
    ("object write", "const o = { a: 1, b: 2 }; for (let i = 0; i < n; i++) { o.a = i; o.b = i }"),
    ("array push", "let a = []; for (let i = 0; i < n; i++) { a.push(i); if (a.length > 100) a = [] }"),
    ("array element write", "const a = [1, 2, 3, 4]; for (let i = 0; i < n; i++) a[i & 3] = i"),
    ("closure call", "let c = 0; const f = x => { c += x }; for (let i = 0; i < n; i++) f(i)"),
    (
        "class method",
        "class A { #x = 0; m(v) { return this.#x += v } } const o = new A(); for (let i = 0; i < n; i++) o.m(i)",
    ),
    ("class instance", "class A { constructor(x) { this.x = x; this.y = 1 } } for (let i = 0; i < n; i++) new A(i)"),
    ("global lookup", "for (let i = 0; i < n; i++) Math"),
    ("template string", "for (let i = 0; i < n; i++) `id=${i}&name=x`"),
    ("Map set + get", "const m = new Map(); for (let i = 0; i < n; i++) { m.set(i & 63, i); m.get(i & 63) }"),
    ("try/throw/catch", "for (let i = 0; i < n; i++) { try { throw new Error('x') } catch (e) {} }"),
    ("JSON.parse 0.8 KB", "for (let i = 0; i < n; i++) JSON.parse(json)"),
    ("JSON.stringify 0.8 KB", "const o = JSON.parse(json); for (let i = 0; i < n; i++) JSON.stringify(o)"),
    ("includes in 11 KB", "for (let i = 0; i < n; i++) page.includes('Welcome back')"),
    ("indexOf, absent", "for (let i = 0; i < n; i++) page.indexOf('not in there')"),
    ("lastIndexOf, absent", "for (let i = 0; i < n; i++) page.lastIndexOf('not in there')"),
    ("split lines", "for (let i = 0; i < n; i++) page.split('\\n')"),
    ("/id=\"token\">([a-z0-9]+)</", "const r = /id=\"token\">([a-z0-9]+)</; for (let i = 0; i < n; i++) r.exec(page)"),
    ("/(\\d+) items/", "const r = /(\\d+) items/; for (let i = 0; i < n; i++) r.exec(page)"),
    ("/welcome/i", "const r = /welcome/i; for (let i = 0; i < n; i++) r.test(page)"),
    ("/[A-Z]\\w+ back/", "const r = /[A-Z]\\w+ back/; for (let i = 0; i < n; i++) r.test(page)"),
    ("/(foo|bar|token)\">/", "const r = /(foo|bar|token)\">/; for (let i = 0; i < n; i++) r.test(page)"),
    ("/.*Welcome/", "const r = /.*Welcome/; for (let i = 0; i < n; i++) r.test(page)"),
    ("replace /<[^>]+>/g", "for (let i = 0; i < n; i++) page.replace(/<[^>]+>/g, '')"),
];

/// Iterations that take long enough to be measured.
fn iterations(name: &str) -> u32 {
    match name {
        _ if name.starts_with("replace") => 100,
        _ if name.contains("11 KB") || name.contains("absent") || name.contains("split") || name.starts_with('/') => {
            2_000
        }
        _ if name.starts_with("JSON") => 5_000,
        _ => 200_000,
    }
}

struct Bench {
    filter: String,
}

impl Bench {
    fn report(&self, name: &str, operations: u32, mut run: impl FnMut()) {
        if !name.contains(&self.filter) {
            return;
        }
        let mut best = f64::INFINITY;
        for _ in 0..ROUNDS {
            let start = Instant::now();
            run();
            best = best.min(start.elapsed().as_secs_f64() * 1e9 / f64::from(operations));
        }
        println!("{name:<40} {best:>12.1} ns");
    }
}

unsafe fn eval(ctx: *mut JSContext, source: &str) -> JSValue {
    let text = CString::new(source).expect("no NUL in the benchmarks");
    unsafe {
        let value = JS_Eval(ctx, text.as_ptr(), source.len(), c"bench.js".as_ptr(), JS_EVAL_TYPE_GLOBAL);
        if value.is_exception() {
            let error = JS_GetException(ctx);
            let message = JS_ToCString(ctx, error);
            panic!("{:?}", std::ffi::CStr::from_ptr(message));
        }
        value
    }
}

unsafe fn scripts(bench: &Bench, ctx: *mut JSContext, layout: &str) {
    unsafe {
        JS_FreeValue(ctx, eval(ctx, PAGE));
        for (name, body) in SCRIPTS {
            let function = eval(ctx, &format!("(n => {{ {body} }})"));
            let n = iterations(name);
            bench.report(&format!("{layout}: {name}"), n, || {
                let mut arg = js_uint32(n);
                let value = JS_Call(ctx, function, JS_UNDEFINED, 1, &mut arg);
                assert!(!value.is_exception());
                JS_FreeValue(ctx, value);
            });
            JS_FreeValue(ctx, function);
        }
    }
}

const VU_SOURCE: &str = "import { suspend } from 'host';
export const options = { vus: 10, duration: '30s', thresholds: { http_req_duration: ['p(95)<500'] } };
const headers = { 'Content-Type': 'application/json', Authorization: 'Bearer x' };
class Client { constructor(base) { this.base = base; this.count = 0; } url(path) { this.count++; return `${this.base}${path}`; } }
const client = new Client('http://test');
const users = Array.from({ length: 20 }, (_, i) => ({ id: i, name: `user${i}` }));
export function setup() { return { token: 'abc' }; }
export default function (data) { const u = users[client.count % users.length]; return suspend(client.url('/user/' + u.id), headers); }
export function teardown() {}
";

unsafe extern "C" fn host_suspend(_: *mut JSContext, _: JSValueConst, _: c_int, _: *mut JSValueConst) -> JSValue {
    JS_UNDEFINED
}

unsafe extern "C" fn host_init(ctx: *mut JSContext, m: *mut JSModuleDef) -> c_int {
    unsafe {
        JS_SetModuleExport(ctx, m, c"suspend".as_ptr(), JS_NewCFunction(ctx, host_suspend, c"suspend".as_ptr(), 0))
    }
}

unsafe extern "C" fn lazy(_: *mut JSContext, _: JSValueConst, _: *mut c_void, which: c_int) -> JSValue {
    js_int32(which)
}

/// One module instance in the VM that is swapped in.
unsafe fn instance(ctx: *mut JSContext, template: *mut JSModuleDef, host: *mut JSModuleDef) -> *mut JSModuleDef {
    unsafe {
        let module = onrush_module_clone(ctx, template);
        onrush_module_set_request(module, 0, host);
        let promise = onrush_module_evaluate(ctx, module);
        assert_eq!(JS_PromiseState(ctx, promise), JS_PROMISE_FULFILLED);
        JS_FreeValue(ctx, promise);
        module
    }
}

fn rss_kb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
    line.trim().trim_end_matches(" kB").parse().unwrap_or(0)
}

unsafe fn vus(bench: &Bench, rt: *mut JSRuntime, ctx: *mut JSContext, host: *mut JSModuleDef) {
    const VUS: usize = 10_000;
    unsafe {
        let value = {
            let text = CString::new(VU_SOURCE).expect("no NUL");
            let flags = JS_EVAL_TYPE_MODULE | JS_EVAL_FLAG_COMPILE_ONLY;
            JS_Eval(ctx, text.as_ptr(), VU_SOURCE.len(), c"vu.js".as_ptr(), flags)
        };
        let mut size = 0;
        let bytes = JS_WriteObject(ctx, &mut size, value, JS_WRITE_OBJ_BYTECODE);
        let read = JS_ReadObject(ctx, bytes, size, JS_READ_OBJ_BYTECODE);
        js_free(ctx, bytes.cast());
        let template: *mut JSModuleDef = read.ptr().cast();
        JS_FreeValue(ctx, read);
        onrush_module_detach(ctx, template);

        let before = rss_kb();
        let start = Instant::now();
        let vms: Vec<_> = (0..VUS)
            .map(|i| {
                let vm = onrush_vm_new(rt, ctx, 0, 256 * 1024, i as u64 + 1);
                onrush_vm_swap(rt, vm);
                let module = instance(ctx, template, host);
                onrush_vm_swap(rt, vm);
                (vm, module)
            })
            .collect();
        let each = start.elapsed().as_secs_f64() * 1e6 / VUS as f64;
        println!("{VUS} VUs: {each:.1} us and {:.2} KB RSS each", (rss_kb() - before) as f64 / VUS as f64);
        println!("malloc account of one VU: {} bytes", onrush_vm_memory_used(vms[0].0));

        let (vm, _) = vms[0];
        bench.report("swap in + out, warm", 100_000, || {
            for _ in 0..100_000 {
                onrush_vm_swap(rt, vm);
                onrush_vm_swap(rt, vm);
            }
        });
        bench.report("swap in + out, each VU in turn", VUS as u32, || {
            for (vm, _) in &vms {
                onrush_vm_swap(rt, *vm);
                onrush_vm_swap(rt, *vm);
            }
        });
        bench.report("swap + GC of an idle VU, in turn", VUS as u32, || {
            for (vm, _) in &vms {
                onrush_vm_swap(rt, *vm);
                JS_RunGC(rt);
                onrush_vm_swap(rt, *vm);
            }
        });
        bench.report("swap + GC of an idle VU, warm", 10_000, || {
            onrush_vm_swap(rt, vm);
            for _ in 0..10_000 {
                JS_RunGC(rt);
            }
            onrush_vm_swap(rt, vm);
        });
        let start = Instant::now();
        for (vm, module) in vms {
            onrush_vm_swap(rt, vm);
            onrush_module_free(ctx, module);
            onrush_vm_swap(rt, vm);
            onrush_vm_free(rt, vm);
        }
        println!("free: {:.1} us each", start.elapsed().as_secs_f64() * 1e6 / VUS as f64);
        onrush_module_free(ctx, template);
    }
}

unsafe fn templates(bench: &Bench, rt: *mut JSRuntime, ctx: *mut JSContext) {
    const N: u32 = 100_000;
    unsafe {
        onrush_set_lazy_hook(rt, Some(lazy));
        let mut class = 0;
        JS_NewClassID(rt, &mut class);
        let definition = JSClassDef {
            class_name: c"Response".as_ptr(),
            finalizer: None,
            gc_mark: None,
            call: None,
            exotic: std::ptr::null(),
        };
        JS_NewClass(rt, class, &definition);
        JS_SetClassProto(ctx, class, JS_NewObject(ctx));
        let template = JS_NewObjectClass(ctx, class);
        for (i, name) in ["body", "headers", "timings", "cookies", "request"].iter().enumerate() {
            let atom = js_new_atom(ctx, name);
            assert!(onrush_define_lazy(ctx, template, atom, i as c_int) >= 0);
            JS_FreeAtom(ctx, atom);
        }
        for name in [c"status", c"status_text", c"url", c"proto", c"error", c"error_code", c"remote_ip", c"remote_port"]
        {
            JS_SetPropertyStr(ctx, template, name.as_ptr(), js_int32(1));
        }
        bench.report("clone_template + free (13 properties)", N, || {
            for _ in 0..N {
                let mut values = [js_int32(200), JS_UNDEFINED];
                let object = onrush_clone_template(ctx, template, values.as_mut_ptr(), 2, null_mut());
                js_free_value(ctx, black_box(object));
            }
        });
        let body = js_new_atom(ctx, "body");
        bench.report("clone_template + touch one lazy + free", N, || {
            for _ in 0..N {
                let mut values = [js_int32(200), JS_UNDEFINED];
                let object = onrush_clone_template(ctx, template, values.as_mut_ptr(), 2, null_mut());
                JS_FreeValue(ctx, JS_GetProperty(ctx, object, body));
                js_free_value(ctx, object);
            }
        });
        JS_FreeAtom(ctx, body);
        let text = vec![b'x'; 11 * 1024];
        bench.report("new_string_latin1 11 KB + free", N, || {
            for _ in 0..N {
                js_free_value(ctx, onrush_new_string_latin1(ctx, text.as_ptr(), text.len()));
            }
        });
        let string = onrush_new_string_latin1(ctx, text.as_ptr(), text.len());
        bench.report("string_ascii 11 KB", N, || {
            for _ in 0..N {
                let mut len = 0;
                assert!(!black_box(onrush_string_ascii(string, &mut len)).is_null());
            }
        });
        JS_FreeValue(ctx, string);
        JS_FreeValue(ctx, template);
    }
}

fn main() {
    let bench = Bench { filter: std::env::args().nth(1).unwrap_or_default() };
    // SAFETY: one thread; every value made here is freed here, the realm last.
    unsafe {
        let rt = JS_NewRuntime();
        let ctx = JS_NewContext(rt);
        scripts(&bench, ctx, "plain");
        JS_FreeContext(ctx);
        JS_FreeRuntime(rt);

        let rt = JS_NewRuntime();
        let ctx = JS_NewContext(rt);
        let host = JS_NewCModule(ctx, c"host".as_ptr(), host_init);
        JS_AddModuleExport(ctx, host, c"suspend".as_ptr());
        JS_FreeValue(ctx, onrush_module_evaluate(ctx, host));
        let start = Instant::now();
        let shared = onrush_share_realm(ctx);
        println!("share_realm: {shared} objects, {:.1} us", start.elapsed().as_secs_f64() * 1e6);
        let vm = onrush_vm_new(rt, ctx, 0, 256 * 1024, 1);
        onrush_vm_swap(rt, vm);
        scripts(&bench, ctx, "shared");
        onrush_vm_swap(rt, vm);
        onrush_vm_free(rt, vm);
        templates(&bench, rt, ctx);
        vus(&bench, rt, ctx, host);
        JS_FreeContext(ctx);
        JS_FreeRuntime(rt);
    }
}
