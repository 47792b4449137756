/* Module records: namespaces exported by others, cycles, top-level await, import.meta, and
   import() at any time; released after init, while what they exported is used on. In a
   shared realm and in realms of their own, suspended in the middle, freed at any point. */
#include "host.h"

#define VUS 12
#define STEPS 1500

static const struct { const char *name, *source; } modules[] = {
    { "main",
      "import * as lib from 'lib'; import { util as named, chain } from 'lib';\n"
      "import { odd } from 'even'; import * as meta from 'meta'; import * as tla from 'tla';\n"
      "import { suspend, bytes } from 'host';\n"
      "suspend(); const early = await import('util'); suspend();\n"
      "let failed = 0; await import('broken').catch(() => failed++); await import('broken').catch(() => failed++);\n"
      "await import('throws').catch(() => failed++); await import('absent').catch(() => failed++);\n"
      "import('never').then(() => {});\n"
      "const view = new Uint8Array(bytes()); let kept = [];\n"
      "export async function run(n) {\n"
      "  if (failed != 4) throw new Error('failed ' + failed);\n"
      "  suspend();\n"
      "  if (lib.util !== named || early !== named || lib.self.chain.lib.util.hello() !== 'hello') throw new Error('namespace');\n"
      "  if (Object.keys(chain).join() !== 'lib,util') throw new Error(Object.keys(chain).join());\n"
      "  named.bump(); if (lib.util.n !== n + 1) throw new Error('live binding');\n"
      "  if (!odd(5) || odd(6)) throw new Error('cycle');\n"
      "  if (meta.where() !== 'hello1' || tla.value() !== 'hello' || tla.self.value !== tla.value) throw new Error('kept');\n"
      "  let refused = 0;\n"
      "  for (const name of ['util', 'meta', 'tla', 'lib', 'main', 'never', 'absent', 'even', 'broken'])\n"
      "    await import(name).catch((e) => { suspend(); refused += /not now/.test(e.message); });\n"
      "  await Function('return import(\"meta\")')().catch(() => refused++);\n"
      "  if (refused !== 10) throw new Error('refused ' + refused);\n"
      "  for (const op of ['add', 'and', 'or', 'sub', 'xor', 'exchange', 'store'])\n"
      "    try { Atomics[op](view, 0, 90); throw 0; } catch (e) { if (!(e instanceof TypeError)) throw new Error(op); }\n"
      "  try { Atomics.compareExchange(view, 0, view[0], 90); throw 0; } catch (e) { if (!(e instanceof TypeError)) throw new Error('cas'); }\n"
      "  try { view[0] = 90; throw 0; } catch (e) { if (!(e instanceof TypeError)) throw new Error('element'); }\n"
      "  if (Atomics.load(view, 0) !== 65 || view[0] !== 65) throw new Error('changed');\n"
      "  kept.push({ lib, chain, kept }); if (kept.length > 5) kept = [];\n"
      "  const all = []; for (let i = 0; i < 60; i++) all.push('x'.repeat(i * 7) + i, { i, all });\n"
      "  return 'ok';\n"
      "}\n" },
    { "lib", "export * as util from 'util'; export * as self from 'lib'; export * as chain from 'chain'; import './meta';\n" },
    { "chain", "export * as lib from 'lib'; export * as util from 'util';\n" },
    { "util", "export let n = 0; export function bump() { n++; } export function hello() { return 'hello'; }\n" },
    { "even", "import { odd as o } from 'odd'; export const even = (n) => n === 0 || o(n - 1); export { odd } from 'odd';\n" },
    { "odd", "import { even } from 'even'; export const odd = (n) => n !== 0 && even(n - 1);\n" },
    { "./meta", "import 'meta';\n" },
    { "meta", "import { hello } from 'util'; import.meta.mark = 1; export const where = () => hello() + import.meta.mark;\n" },
    { "tla", "import { hello } from 'util'; import './tla2'; import { suspend } from 'host';\n"
             "export * as self from 'tla'; await null; suspend(); await import('late'); export const value = () => hello();\n" },
    { "./tla2", "import 'tla'; await new Promise((r) => r()); export const x = 1;\n" },
    { "late", "export * as util from 'util'; export const late = 1;\n" },
    { "broken", "import { missing } from 'util'; import 'odd'; export { missing };\n" },
    { "throws", "import 'util'; throw new Error('thrown');\n" },
    { "never", "import { hello } from 'util'; export * as util from 'util'; await new Promise(() => {}); export const x = hello;\n" },
};
#define MODULES ((int)(sizeof(modules) / sizeof(modules[0])))

static JSRuntime *rt;

typedef struct Realm {
    JSContext *ctx;
    JSModuleDef *templates[MODULES], *host;
} Realm;

typedef struct Vu {
    OnrushVm *vm;
    Realm *realm; /* its own, or the shared one */
    JSModuleDef *records[MODULES];
    JSValue run;
    Fiber fiber;
    bool in_init, busy, own;
    int iterations;
} Vu;

static Realm shared;
static Vu vus[VUS];
static Vu *current; /* NULL while modules are compiled */
static int kept, finished, cancelled;

static int find(const char *name)
{
    for (int i = 0; i < MODULES; i++)
        if (!strcmp(modules[i].name, name))
            return i;
    return -1;
}

static JSModuleDef *record(Vu *vu, int index)
{
    Realm *realm = vu->realm;
    if (vu->records[index])
        return vu->records[index];
    JSModuleDef *m = vu->records[index] = onrush_module_clone(realm->ctx, realm->templates[index]);
    CHECK(m);
    for (int i = 0; i < onrush_module_request_count(m); i++) {
        JSAtom name = onrush_module_request_name(realm->ctx, m, i);
        const char *s = JS_AtomToCString(realm->ctx, name);
        onrush_module_set_request(m, i, strcmp(s, "host") ? record(vu, find(s)) : realm->host);
        JS_FreeCString(realm->ctx, s);
        JS_FreeAtom(realm->ctx, name);
    }
    return m;
}

static char *normalize(JSContext *ctx, const char *base, const char *name, void *opaque)
{
    if (!current)
        return js_strdup(ctx, "unlinked");
    if (!current->in_init || find(name) < 0) {
        JS_ThrowTypeError(ctx, "not now");
        return NULL;
    }
    return js_strdup(ctx, name);
}

static int placeholder(JSContext *ctx, JSModuleDef *m) { return 0; }

static JSModuleDef *load(JSContext *ctx, const char *name, void *opaque)
{
    return current ? record(current, find(name)) : JS_NewCModule(ctx, name, placeholder);
}

static JSValue host_suspend(JSContext *ctx, JSValueConst this_val, int argc, JSValueConst *argv)
{
    if (!current_fiber->cancelled)
        fiber_suspend();
    if (current_fiber->cancelled) {
        JS_ThrowInternalError(ctx, "cancelled");
        JSValue e = JS_GetException(ctx);
        JS_SetUncatchableError(ctx, e);
        return JS_Throw(ctx, e);
    }
    return JS_UNDEFINED;
}

static uint8_t file[8] = "AAAAAAA";
static void *keep_file(JSRuntime *r, void *opaque, void *ptr, size_t size) { return NULL; }

static JSValue host_bytes(JSContext *ctx, JSValueConst this_val, int argc, JSValueConst *argv)
{
    JSValue buffer = JS_NewArrayBuffer(ctx, file, sizeof(file), 0, keep_file, NULL, false);
    JS_SetImmutableArrayBuffer(buffer, true);
    return buffer;
}

static int host_init(JSContext *ctx, JSModuleDef *m)
{
    JS_SetModuleExport(ctx, m, "suspend", JS_NewCFunction(ctx, host_suspend, "suspend", 0));
    JS_SetModuleExport(ctx, m, "bytes", JS_NewCFunction(ctx, host_bytes, "bytes", 0));
    return 0;
}

static void realm_init(Realm *realm)
{
    Vu *was = current;
    current = NULL;
    JSContext *ctx = realm->ctx = JS_NewContext(rt);
    CHECK(ctx);
    realm->host = JS_NewCModule(ctx, "host", host_init);
    JS_AddModuleExport(ctx, realm->host, "suspend");
    JS_AddModuleExport(ctx, realm->host, "bytes");
    JSValue p = onrush_module_evaluate(ctx, realm->host);
    CHECK(!JS_IsException(p));
    JS_FreeValue(ctx, p);
    for (int i = 0; i < MODULES; i++)
        realm->templates[i] = make_template(ctx, modules[i].name, modules[i].source);
    current = was;
}

static void realm_free(Realm *realm)
{
    for (int i = 0; i < MODULES; i++)
        onrush_module_free(realm->ctx, realm->templates[i]);
    JS_FreeContext(realm->ctx);
}

static void vu_main(Fiber *f)
{
    Vu *vu = f->data;
    if (vu->in_init) {
        if (vu->own) {
            vu->realm = calloc(1, sizeof(Realm));
            realm_init(vu->realm);
        }
        JSContext *ctx = vu->realm->ctx;
        JSModuleDef *m = record(vu, 0);
        JSValue p = onrush_module_evaluate(ctx, m);
        if (!JS_IsException(p)) {
            run_jobs(rt);
            if (!f->cancelled)
                CHECK(JS_PromiseState(ctx, p) == JS_PROMISE_FULFILLED);
            JS_FreeValue(ctx, p);
        } else {
            CHECK(f->cancelled);
            JS_FreeValue(ctx, JS_GetException(ctx));
        }
        vu->in_init = false;
        memset(vu->records, 0, sizeof(vu->records));
        if (f->cancelled)
            return;
        JSValue ns = onrush_module_namespace(ctx, m);
        vu->run = JS_GetPropertyStr(ctx, ns, "run");
        JS_FreeValue(ctx, ns);
        int left = onrush_modules_release(ctx);
        /* never, and what it imports; meta. Not what only others import, such as odd. */
        CHECK(left >= 2 && left < MODULES + 3);
        kept += left;
        JS_RunGC(rt);
        return;
    }
    JSContext *ctx = vu->realm->ctx;
    JSValue n = JS_NewInt32(ctx, vu->iterations++);
    JSValue p = JS_Call(ctx, vu->run, JS_UNDEFINED, 1, &n);
    if (JS_IsException(p)) {
        CHECK(f->cancelled);
        JS_FreeValue(ctx, JS_GetException(ctx));
        return;
    }
    run_jobs(rt);
    JSPromiseStateEnum state = JS_PromiseState(ctx, p);
    if (!f->cancelled && state != JS_PROMISE_FULFILLED) {
        if (state == JS_PROMISE_REJECTED)
            JS_Throw(ctx, JS_PromiseResult(ctx, p));
        print_exception(ctx, "run");
        abort();
    }
    finished += !f->cancelled;
    JS_FreeValue(ctx, p);
}

static void vu_start(Vu *vu)
{
    memset(vu, 0, sizeof(*vu));
    vu->own = rng(3) == 0;
    vu->realm = &shared;
    vu->run = JS_UNDEFINED;
    vu->in_init = true;
    vu->vm = onrush_vm_new(rt, vu->own ? NULL : shared.ctx, 0, 16 * 1024, 1 + rng(1000));
    CHECK(vu->vm);
}

static void vu_step(Vu *vu)
{
    if (!vu->busy) {
        fiber_init(&vu->fiber, vu_main, vu);
        vu->busy = true;
    }
    current = vu;
    onrush_vm_swap(rt, vu->vm);
    onrush_set_stack(rt, (uintptr_t)vu->fiber.stack + FIBER_STACK, FIBER_STACK - FIBER_RESERVE);
    fiber_resume(&vu->fiber);
    if (rng(40) == 0)
        JS_RunGC(rt);
    onrush_vm_swap(rt, vu->vm);
    current = NULL;
    if (vu->fiber.done) {
        free(vu->fiber.stack);
        vu->busy = false;
    }
}

static void vu_end(Vu *vu)
{
    cancelled += vu->busy;
    while (vu->busy) {
        vu->fiber.cancelled = true;
        vu_step(vu);
    }
    onrush_vm_swap(rt, vu->vm);
    JS_FreeValue(shared.ctx, vu->run);
    if (vu->own && vu->realm != &shared) {
        realm_free(vu->realm);
        free(vu->realm);
    }
    onrush_vm_swap(rt, vu->vm);
    onrush_vm_free(rt, vu->vm);
}

int main(void)
{
    rt = JS_NewRuntime();
    JS_SetDumpFlags(rt, JS_ABORT_ON_LEAKS);
    JS_SetMaxStackSize(rt, 0);
    JS_SetModuleLoaderFunc(rt, normalize, load, NULL);
    realm_init(&shared);
    CHECK(onrush_share_realm(shared.ctx) > 500);
    for (int i = 0; i < VUS; i++)
        vu_start(&vus[i]);
    for (int step = 0; step < STEPS; step++) {
        Vu *vu = &vus[rng(VUS)];
        vu_step(vu);
        if (rng(60) == 0) {
            vu_end(vu);
            vu_start(vu);
        }
    }
    for (int i = 0; i < VUS; i++)
        vu_end(&vus[i]);
    CHECK(!strcmp((char *)file, "AAAAAAA"));
    CHECK(finished > 50 && cancelled > 5);
    onrush_set_stack(rt, 0, 0);
    printf("%d iterations, %d cancelled, %d records kept\n", finished, cancelled, kept);
    realm_free(&shared);
    JS_FreeRuntime(rt);
    puts("clean");
    return 0;
}
