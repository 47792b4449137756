/* A minimal host for the sanitizer programs: a shared realm, module templates, VUs on
   coroutines. Not a model of the js crate, only enough to exercise the shim. */
#ifndef ONRUSH_TEST_HOST_H
#define ONRUSH_TEST_HOST_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include "onrush_quickjs.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#define FIBER_START(save, bottom, size) __sanitizer_start_switch_fiber(save, bottom, size)
#define FIBER_FINISH(save, bottom, size) __sanitizer_finish_switch_fiber(save, bottom, size)
#else
#define FIBER_START(save, bottom, size) ((void)0)
#define FIBER_FINISH(save, bottom, size) ((void)0)
#endif

#define CHECK(cond) \
    do { if (!(cond)) { fprintf(stderr, "%s:%d: check failed: %s\n", __FILE__, __LINE__, #cond); abort(); } } while (0)

/* Sanitized frames are several times larger than plain ones. */
#define FIBER_STACK (1024 * 1024)
#define FIBER_RESERVE (64 * 1024)

static uint64_t rng_state = 0x9e3779b97f4a7c15u;
static inline uint32_t rng(uint32_t below)
{
    rng_state ^= rng_state << 13;
    rng_state ^= rng_state >> 7;
    rng_state ^= rng_state << 17;
    return (uint32_t)(rng_state >> 32) % below;
}

typedef struct Fiber Fiber;
struct Fiber {
    ucontext_t context, caller;
    char *stack;
    void *fake_stack;
    const void *caller_bottom;
    size_t caller_size;
    void (*entry)(Fiber *);
    void *data;
    bool started, done, cancelled;
};
static Fiber *current_fiber;

static void fiber_main(unsigned lo, unsigned hi)
{
    Fiber *f = (Fiber *)((uintptr_t)lo | (uintptr_t)hi << 32);
    FIBER_FINISH(NULL, &f->caller_bottom, &f->caller_size);
    f->entry(f);
    f->done = true;
    FIBER_START(NULL, f->caller_bottom, f->caller_size);
    swapcontext(&f->context, &f->caller);
    abort();
}

static inline void fiber_init(Fiber *f, void (*entry)(Fiber *), void *data)
{
    memset(f, 0, sizeof(*f));
    f->stack = malloc(FIBER_STACK);
    f->entry = entry;
    f->data = data;
    getcontext(&f->context);
    f->context.uc_stack.ss_sp = f->stack;
    f->context.uc_stack.ss_size = FIBER_STACK;
    makecontext(&f->context, (void (*)(void))fiber_main, 2, (unsigned)(uintptr_t)f,
                (unsigned)((uintptr_t)f >> 32));
}

static inline void fiber_resume(Fiber *f)
{
    void *fake;
    Fiber *outer = current_fiber;
    CHECK(!f->done);
    current_fiber = f;
    f->started = true;
    FIBER_START(&fake, f->stack, FIBER_STACK);
    swapcontext(&f->caller, &f->context);
    FIBER_FINISH(fake, NULL, NULL);
    current_fiber = outer;
}

static inline void fiber_suspend(void)
{
    Fiber *f = current_fiber;
    FIBER_START(&f->fake_stack, f->caller_bottom, f->caller_size);
    swapcontext(&f->context, &f->caller);
    FIBER_FINISH(f->fake_stack, &f->caller_bottom, &f->caller_size);
}

static inline void print_exception(JSContext *ctx, const char *where)
{
    JSValue e = JS_GetException(ctx);
    const char *s = JS_ToCString(ctx, e);
    JSValue stack = JS_IsObject(e) ? JS_GetPropertyStr(ctx, e, "stack") : JS_UNDEFINED;
    const char *t = JS_ToCString(ctx, stack);
    fprintf(stderr, "%s: %s\n%s\n", where, s ? s : "?", t ? t : "");
    if (s) JS_FreeCString(ctx, s);
    if (t) JS_FreeCString(ctx, t);
    JS_FreeValue(ctx, stack);
    JS_FreeValue(ctx, e);
}

/* Compile a module to bytecode and read it back, as a detached template. */
static inline JSModuleDef *make_template(JSContext *ctx, const char *name, const char *source)
{
    size_t size;
    JSValue v = JS_Eval(ctx, source, strlen(source), name,
                        JS_EVAL_TYPE_MODULE | JS_EVAL_FLAG_COMPILE_ONLY);
    if (JS_IsException(v)) { print_exception(ctx, name); abort(); }
    uint8_t *bytes = JS_WriteObject(ctx, &size, v, JS_WRITE_OBJ_BYTECODE);
    CHECK(bytes);
    JSModuleDef *compiled = JS_VALUE_GET_PTR(v);
    JS_FreeValue(ctx, v);
    onrush_module_free(ctx, compiled);
    v = JS_ReadObject(ctx, bytes, size, JS_READ_OBJ_BYTECODE);
    js_free(ctx, bytes);
    CHECK(JS_IsModule(v));
    JSModuleDef *m = JS_VALUE_GET_PTR(v);
    JS_FreeValue(ctx, v);
    onrush_module_detach(ctx, m);
    return m;
}

static inline void run_jobs(JSRuntime *rt)
{
    JSContext *c;
    int ret;
    while ((ret = JS_ExecutePendingJob(rt, &c)) != 0) {
        if (ret < 0)
            JS_FreeValue(c, JS_GetException(c));
    }
}

#endif
