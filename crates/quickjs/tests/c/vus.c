/* Many VUs in one shared realm, swapped also in the middle of calls: cyclic garbage,
   exceptions, generators, async functions, module instances, lazy properties, weak
   references to shared objects, running out of memory, cancelling and freeing. */
#include "host.h"

#define VUS 40
#define STEPS 6000
#define SMALL_LIMIT (512 * 1024)

static const char lib_source[] =
    "export let counter = 0;\n"
    "export function bump() { return ++counter; }\n"
    "export class Node { constructor(n) { this.n = n; this.self = this; this.peers = []; } }\n"
    "export const tag = (strings, ...v) => strings.raw.join('|') + v.join(',');\n"
    "export const seen = new WeakMap();\n";

static const char main_source[] =
    "import { counter, bump, Node, tag, seen } from 'lib';\n"
    "import * as lib from 'lib';\n"
    "import { suspend, response, broken, fail } from 'host';\n"
    "import.meta.marker = 1;\n"
    "const mine = {}; const weak = new WeakRef(mine);\n"
    "const registry = new FinalizationRegistry(() => { bump(); });\n"
    "function* numbers(n) { try { for (let i = 0; i < n; i++) { suspend(); yield i; } } finally { mine.closed = true; } }\n"
    "async function later(x) { await null; suspend(); const y = await new Promise(r => { mine.resolve = r; r(x + 1); }); return y; }\n"
    "async function* stream(n) { for (let i = 0; i < n; i++) { yield await later(i); } }\n"
    "function thrower(depth) { if (depth == 0) { suspend(); throw new RangeError('deep ' + counter); } thrower(depth - 1); }\n"
    "class Shape { #area = 1; static made = 0; constructor() { Shape.made++; } grow() { this.#area++; return this.#area; } toString() { return 'Shape'; } }\n"
    "Shape.prototype.constructor = Shape;\n"
    "let kept = null;\n"
    "export function iterate(kind, size) {\n"
    "  bump();\n"
    "  switch (kind) {\n"
    "  case 0: { let a = new Node(0); for (let i = 1; i < size; i++) { const b = new Node(i); a.peers.push(b); b.peers.push(a); if (i % 7 == 0) suspend(); a = b; } return a.n; }\n"
    "  case 1: { try { thrower(5); } catch (e) { suspend(); return e.stack.length > 0 && e.message; } break; }\n"
    "  case 2: { let s = 0; for (const n of numbers(size)) { s += n; if (s > 100) break; } return s; }\n"
    "  case 3: { const it = numbers(3); it.next(); kept = { it, f: () => it }; it.kept = kept; return 1; }\n"
    "  case 4: { let out = 0; (async () => { for await (const v of stream(4)) out += v; mine.out = out; })(); return out; }\n"
    "  case 5: { const r = response(); const k = Object.keys(r).join(); suspend(); r.body = 5; return JSON.stringify(r) + k; }\n"
    "  case 6: { seen.set(Math, { m: seen, lib, r: registry }); seen.set(mine, [mine, seen]); registry.register({}, 'x'); registry.register(new Node(1), mine); return weak.deref() === mine; }\n"
    "  case 7: { const s = new Shape(); s.toString = () => 'own'; s.grow(); suspend(); return String(s) + s.grow() + tag`a${counter}b`; }\n"
    "  case 8: { try { Array.prototype.evil = 1; return 'hole'; } catch (e) { Error.stackTraceLimit = size; return e.message; } }\n"
    "  case 9: { globalThis.mineOnly = (globalThis.mineOnly ?? 0) + 1; suspend(); return globalThis.mineOnly; }\n"
    "  case 10: { const m = new Map(); for (let i = 0; i < size; i++) m.set('k' + i, { m }); const it = m.values(); it.next(); m.delete('k0'); kept = it; suspend(); return m.size; }\n"
    "  case 11: { return 'x'.repeat(size).replace(/x+(?=x)/g, s => { suspend(); return s.length; }); }\n"
    "  case 12: { fail(size % 3); return 0; }\n"
    "  case 13: { const p = Promise.reject(new Error('unhandled')); kept = p; return 0; }\n"
    "  case 14: { const o = {}; for (let i = 0; i < size; i++) { o['p' + i] = i; } for (const k in o) { if (o[k] % 3) delete o[k]; } suspend(); return Object.keys(o).length; }\n"
    "  case 15: { return [...Array(size).keys()].sort((a, b) => { if (a % 11 == 0) suspend(); return b - a; })[0]; }\n"
    "  case 16: { return import.meta.marker; }\n"
    "  case 17: { Error.prepareStackTrace = (e, s) => { suspend(); return s.length; }; const n = new Error('x').stack; Error.prepareStackTrace = undefined; return n; }\n"
    "  case 18: { const r = broken(); let said; Error.prepareStackTrace = () => { for (let i = 0; i < 40; i++) r['x' + i] = { i }; try { r.body; } catch (e) { } delete r.body; return 'mine'; }; try { said = r.body; } catch (e) { said = e.message; } Error.prepareStackTrace = undefined; return said + typeof r.body + Object.keys(r).length; }\n"
    "  }\n"
    "}\n"
    "export function hog() { const all = []; for (;;) { all.push(new Node(all.length), 'y'.repeat(1000) + all.length); if (all.length % 50 == 0) suspend(); } }\n"
    "export function state() { return counter; }\n";
#define KINDS 19

static JSRuntime *rt;
static JSContext *ctx;
static JSModuleDef *lib_template, *main_template, *host_module;
static JSValue response_template, broken_template;
static JSClassID response_class;
static long lazy_calls, live_bodies;

typedef struct Vu {
    OnrushVm *vm;
    JSModuleDef *lib, *main;
    Fiber fiber;
    bool busy, small, hog;
    int iterations, kind, size;
} Vu;
static Vu vus[VUS];

static JSValue host_suspend(JSContext *c, JSValueConst this_val, int argc, JSValueConst *argv)
{
    if (!current_fiber || current_fiber->cancelled) {
        if (!current_fiber)
            return JS_UNDEFINED;
    } else {
        fiber_suspend();
    }
    if (current_fiber->cancelled) {
        JS_ThrowInternalError(c, "cancelled");
        JSValue e = JS_GetException(c);
        JS_SetUncatchableError(c, e);
        return JS_Throw(c, e);
    }
    return JS_UNDEFINED;
}

static JSValue host_fail(JSContext *c, JSValueConst this_val, int argc, JSValueConst *argv)
{
    int kind = 0;
    JS_ToInt32(c, &kind, argv[0]);
    switch (kind) {
    case 0: return JS_ThrowTypeError(c, "native %d", kind);
    case 1: return JS_Throw(c, JS_NewString(c, "a string"));
    default: return JS_Throw(c, JS_NewObject(c));
    }
}

static JSValue lazy_hook(JSContext *c, JSValueConst obj, void *opaque, int which)
{
    lazy_calls++;
    if (!opaque)
        return JS_UNDEFINED;
    if (which < 0)
        return JS_Throw(c, JS_NewPlainError(c, "broken"));
    if (which == 0)
        return onrush_new_string_latin1(c, opaque, strlen(opaque));
    JSValue o = JS_NewObject(c);
    if (!JS_IsException(o))
        JS_SetPropertyStr(c, o, "which", JS_NewInt32(c, which));
    return o;
}

static void response_finalizer(JSRuntime *r, JSValueConst val)
{
    char *body = JS_GetOpaque(val, response_class);
    if (body) {
        live_bodies--;
        free(body);
    }
}

static JSValue clone_response(JSContext *c, JSValueConst template)
{
    char *body = strdup("the body");
    JSValue vals[2] = { JS_NewInt32(c, 200), JS_NewString(c, "http://x/") };
    live_bodies++;
    JSValue r = onrush_clone_template(c, template, vals, 2, body);
    if (JS_IsException(r)) {
        live_bodies--;
        free(body);
    }
    return r;
}

static JSValue host_response(JSContext *c, JSValueConst this_val, int argc, JSValueConst *argv)
{
    return clone_response(c, response_template);
}

/* one whose body cannot be made */
static JSValue host_broken(JSContext *c, JSValueConst this_val, int argc, JSValueConst *argv)
{
    return clone_response(c, broken_template);
}

static int host_init(JSContext *c, JSModuleDef *m)
{
    JS_SetModuleExport(c, m, "suspend", JS_NewCFunction(c, host_suspend, "suspend", 0));
    JS_SetModuleExport(c, m, "fail", JS_NewCFunction(c, host_fail, "fail", 1));
    JS_SetModuleExport(c, m, "broken", JS_NewCFunction(c, host_broken, "broken", 0));
    JS_SetModuleExport(c, m, "response", JS_NewCFunction(c, host_response, "response", 0));
    return 0;
}

static void make_response_template(void)
{
    static const JSClassDef def = { "Response", .finalizer = response_finalizer };
    JS_NewClassID(rt, &response_class);
    JS_NewClass(rt, response_class, &def);
    JSValue proto = JS_NewObject(ctx);
    JS_SetClassProto(ctx, response_class, proto);
    response_template = JS_NewObjectClass(ctx, response_class);
    JS_SetPropertyStr(ctx, response_template, "status", JS_NewInt32(ctx, 0));
    static const char *lazy[] = { "body", "headers", "timings" };
    for (int i = 0; i < 3; i++) {
        JSAtom a = JS_NewAtom(ctx, lazy[i]);
        CHECK(onrush_define_lazy(ctx, response_template, a, i) >= 0);
        JS_FreeAtom(ctx, a);
    }
    JS_SetPropertyStr(ctx, response_template, "url", JS_UNDEFINED);
    broken_template = JS_NewObjectClass(ctx, response_class);
    JS_SetPropertyStr(ctx, broken_template, "status", JS_NewInt32(ctx, 0));
    JSAtom body = JS_NewAtom(ctx, "body");
    CHECK(onrush_define_lazy(ctx, broken_template, body, -1) >= 0);
    JS_FreeAtom(ctx, body);
    JS_SetPropertyStr(ctx, broken_template, "url", JS_UNDEFINED);
    onrush_set_lazy_hook(rt, lazy_hook);
}

static JSModuleDef *clone(JSModuleDef *tmpl, JSModuleDef *lib)
{
    JSModuleDef *m = onrush_module_clone(ctx, tmpl);
    CHECK(m);
    for (int i = 0; i < onrush_module_request_count(m); i++) {
        JSAtom name = onrush_module_request_name(ctx, m, i);
        const char *s = JS_AtomToCString(ctx, name);
        onrush_module_set_request(m, i, strcmp(s, "host") ? lib : host_module);
        JS_FreeCString(ctx, s);
        JS_FreeAtom(ctx, name);
    }
    return m;
}

static void vu_start(Vu *vu)
{
    memset(vu, 0, sizeof(*vu));
    vu->small = rng(4) == 0;
    vu->vm = onrush_vm_new(rt, ctx, vu->small ? SMALL_LIMIT : 0, 64 * 1024, rng(1000));
    CHECK(vu->vm);
    onrush_vm_swap(rt, vu->vm);
    vu->lib = clone(lib_template, NULL);
    vu->main = clone(main_template, vu->lib);
    JSValue p = onrush_module_evaluate(ctx, vu->main);
    if (JS_IsException(p)) { print_exception(ctx, "evaluate"); abort(); }
    CHECK(JS_PromiseState(ctx, p) == JS_PROMISE_FULFILLED);
    JS_FreeValue(ctx, p);
    onrush_vm_swap(rt, vu->vm);
}

static int results[KINDS], exceptions[KINDS];

/* What iterate() returns, where that is fixed. */
static void check_result(Vu *vu, JSValueConst r)
{
    int32_t n = 0;
    const char *s = JS_ToCString(ctx, r);
    if (!s) { /* out of memory */
        CHECK(vu->small);
        JS_FreeValue(ctx, JS_GetException(ctx));
        return;
    }
    if (JS_IsNumber(r))
        JS_ToInt32(ctx, &n, r);
    switch (vu->kind) {
    case 0: CHECK(n == vu->size - 1); break;
    case 1: CHECK(!strncmp(s, "deep ", 5)); break;
    case 5: CHECK(!strcmp(s, "{\"status\":200,\"body\":5,\"headers\":{\"which\":1},\"timings\":{\"which\":2},"
                             "\"url\":\"http://x/\"}status,body,headers,timings,url")); break;
    case 6: CHECK(!strcmp(s, "true")); break;
    case 7: CHECK(!strncmp(s, "own3a|b", 7)); break;
    case 8: CHECK(!strncmp(s, "cannot change shared built-in property 'evil'", 45)); break;
    case 9: CHECK(n > 0 && n <= vu->iterations); break;
    case 10: CHECK(n == vu->size - 1); break;
    case 14: CHECK(n == (vu->size + 2) / 3); break;
    case 15: CHECK(n == vu->size - 1); break;
    case 16: CHECK(n == 1); break;
    case 18: CHECK(!strcmp(s, "brokenundefined3")); break;
    }
    JS_FreeCString(ctx, s);
}

static void vu_call(Fiber *f)
{
    Vu *vu = f->data;
    JSValue ns = onrush_module_namespace(ctx, vu->main);
    CHECK(!JS_IsException(ns));
    JSValue fn = JS_GetPropertyStr(ctx, ns, vu->hog ? "hog" : "iterate");
    JSValue args[2] = { JS_NewInt32(ctx, vu->kind), JS_NewInt32(ctx, vu->size) };
    JSValue r = JS_Call(ctx, fn, JS_UNDEFINED, 2, args);
    if (JS_IsException(r)) {
        JSValue e = JS_GetException(ctx);
        JS_FreeValue(ctx, e);
        if (vu->hog && !f->cancelled)
            CHECK(onrush_rt_take_oom(rt) == 1);
    }
    if (JS_IsException(r)) {
        CHECK(vu->small || f->cancelled || vu->kind == 12);
        exceptions[vu->kind]++;
    } else {
        check_result(vu, r);
        results[vu->kind]++;
    }
    JS_FreeValue(ctx, r);
    JS_FreeValue(ctx, fn);
    JS_FreeValue(ctx, ns);
    run_jobs(rt);
}

static void vu_step(Vu *vu)
{
    if (!vu->busy) {
        vu->hog = vu->small && rng(10) == 0;
        vu->kind = rng(KINDS);
        vu->size = 5 + rng(60);
        fiber_init(&vu->fiber, vu_call, vu);
        vu->busy = true;
        vu->iterations++;
    }
    onrush_vm_swap(rt, vu->vm);
    onrush_set_stack(rt, (uintptr_t)vu->fiber.stack + FIBER_STACK, FIBER_STACK - FIBER_RESERVE);
    fiber_resume(&vu->fiber);
    onrush_vm_swap(rt, vu->vm);
    if (vu->fiber.done) {
        free(vu->fiber.stack);
        vu->busy = false;
    }
}

static void vu_end(Vu *vu)
{
    vu->fiber.cancelled = true;
    while (vu->busy) {
        vu_step(vu);
    }
    onrush_vm_free(rt, vu->vm);
    vu->vm = NULL;
}

int main(void)
{
    rt = JS_NewRuntime();
#ifdef ENABLE_DUMPS
    JS_SetDumpFlags(rt, JS_ABORT_ON_LEAKS);
#endif
    JS_SetMaxStackSize(rt, 0);
    ctx = JS_NewContext(rt);
    host_module = JS_NewCModule(ctx, "host", host_init);
    JS_AddModuleExport(ctx, host_module, "suspend");
    JS_AddModuleExport(ctx, host_module, "fail");
    JS_AddModuleExport(ctx, host_module, "response");
    JS_AddModuleExport(ctx, host_module, "broken");
    lib_template = make_template(ctx, "lib", lib_source);
    /* while the native module is loaded, for the compiler resolves imports */
    JSModuleDef *lib_loaded = onrush_module_clone(ctx, lib_template);
    CHECK(lib_loaded);
    main_template = make_template(ctx, "main", main_source);
    onrush_module_free(ctx, lib_loaded);
    JSValue p = onrush_module_evaluate(ctx, host_module);
    CHECK(!JS_IsException(p));
    JS_FreeValue(ctx, p);
    make_response_template();
    int shared = onrush_share_realm(ctx);
    CHECK(shared > 500);
    long realm_objects = onrush_gc_count(rt);

    for (int i = 0; i < VUS; i++)
        vu_start(&vus[i]);
    for (int step = 0; step < STEPS; step++) {
        Vu *vu = &vus[rng(VUS)];
        vu_step(vu);
        if (rng(50) == 0) {
            onrush_vm_swap(rt, vu->vm);
            JS_RunGC(rt);
            onrush_vm_swap(rt, vu->vm);
        }
        if (rng(400) == 0)
            JS_RunGC(rt); /* of the realm */
        if (rng(60) == 0) {
            vu_end(vu);
            vu_start(vu);
        }
    }
    uint64_t violations = onrush_shared_violations(rt);
    CHECK(violations > 0);
    CHECK(!strcmp(onrush_last_violation(rt), "evil"));
    CHECK(lazy_calls > 0);
    for (int i = 0; i < VUS; i++)
        vu_end(&vus[i]);
    CHECK(live_bodies == 0);
    onrush_set_stack(rt, 0, 0);
    JS_RunGC(rt);
    for (int i = 0; i < KINDS; i++)
        printf("kind %d: %d results, %d exceptions\n", i, results[i], exceptions[i]);
    printf("shared %d, violations %lu, realm objects %ld -> %ld, lazy %ld\n", shared,
           (unsigned long)violations, realm_objects, onrush_gc_count(rt), lazy_calls);

    JS_FreeValue(ctx, response_template);
    JS_FreeValue(ctx, broken_template);
    onrush_module_free(ctx, lib_template);
    onrush_module_free(ctx, main_template);
    JS_FreeContext(ctx);
    JS_FreeRuntime(rt);
    return 0;
}
