/* VUs with a realm each in one runtime (the isolated layout): contexts made, used and freed
   while their VM is swapped in; built-ins changed freely; jobs and cycles left behind. */
#include "host.h"

#define VUS 6
#define ROUNDS 3

static const char source[] =
    "import { value, bump } from 'dep';\n"
    "Array.prototype.mine = ID; globalThis.own = ID; Error.stackTraceLimit = ID;\n"
    "class Box { constructor(v) { this.v = v; this.self = this; } }\n"
    "let boxes = [];\n"
    "export async function run(n) { for (let i = 0; i < n; i++) { boxes.push(new Box(i)); if (boxes.length > 20) boxes = []; await null; } bump(); return [].mine + value; }\n"
    "Promise.reject(new Error('left behind')); new Promise(() => {}).then(run);\n"
    "await run(3);\n";
static const char dep[] = "export let value = 100; export const bump = () => ++value;\n";

typedef struct Vu {
    OnrushVm *vm;
    JSContext *ctx;
    JSModuleDef *main, *dep;
} Vu;

static JSModuleDef *loader(JSContext *ctx, const char *name, void *opaque)
{
    JSModuleDef *m = opaque;
    (void)name;
    return m ? m : (JS_ThrowReferenceError(ctx, "no module"), NULL);
}

int main(void)
{
    JSRuntime *rt = JS_NewRuntime();
    JS_SetDumpFlags(rt, JS_ABORT_ON_LEAKS);
    JS_SetMaxStackSize(rt, 0);
    JSContext *main_ctx = JS_NewContext(rt); /* the runtime's own account has a realm, too */
    for (int round = 0; round < ROUNDS; round++) {
        Vu vus[VUS];
        for (int i = 0; i < VUS; i++) {
            Vu *vu = &vus[i];
            char text[sizeof(source) + 64];
            size_t n = 0;
            for (const char *s = source; *s; s++) {
                if (s[0] == 'I' && s[1] == 'D') { n += sprintf(text + n, "%d", i + 1); s++; }
                else text[n++] = *s;
            }
            text[n] = 0;
            vu->vm = onrush_vm_new(rt, NULL, 0, 256 * 1024, 1);
            onrush_vm_swap(rt, vu->vm);
            vu->ctx = JS_NewContext(rt);
            vu->dep = make_template(vu->ctx, "dep", dep);
            JS_SetModuleLoaderFunc(rt, NULL, loader, vu->dep);
            JSModuleDef *tmpl = make_template(vu->ctx, "main", text);
            CHECK(onrush_module_is_async(tmpl));
            vu->main = onrush_module_clone(vu->ctx, tmpl);
            onrush_module_free(vu->ctx, tmpl);
            /* one dependency by hand, the other way round through the loader */
            if (i & 1)
                onrush_module_set_request(vu->main, 0, vu->dep);
            JSValue p = onrush_module_evaluate(vu->ctx, vu->main);
            CHECK(JS_IsPromise(p));
            onrush_vm_swap(rt, vu->vm);
            /* the others run in between: jobs wait in their VM */
            CHECK(!JS_IsJobPending(rt));
            onrush_vm_swap(rt, vu->vm);
            if (i != 2) { /* one never gets on */
                run_jobs(rt);
                CHECK(JS_PromiseState(vu->ctx, p) == JS_PROMISE_FULFILLED);
                JSValue mine = JS_Eval(vu->ctx, "own * 1000 + [].mine * 100 + Error.stackTraceLimit", 50 - 4, "x", 0);
                int32_t got;
                CHECK(!JS_ToInt32(vu->ctx, &got, mine));
                CHECK(got == (i + 1) * 1101);
            }
            JS_FreeValue(vu->ctx, p);
            onrush_vm_swap(rt, vu->vm);
        }
        for (int i = 0; i < VUS; i++) {
            Vu *vu = &vus[i];
            onrush_vm_swap(rt, vu->vm);
            if (i & 1)
                JS_RunGC(rt);
            onrush_module_free(vu->ctx, vu->main);
            onrush_module_free(vu->ctx, vu->dep);
            JS_FreeContext(vu->ctx);
            onrush_vm_swap(rt, vu->vm);
            onrush_vm_free(rt, vu->vm);
        }
    }
    JS_FreeContext(main_ctx);
    JS_FreeRuntime(rt);
    puts("clean");
    return 0;
}
