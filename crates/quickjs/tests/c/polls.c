/* Built-ins with long work, interrupted at every poll: others run in the middle of them, allocate, free and collect;
   and each is ended at its first poll, its second, and so on. The cases are those of tests/polls/cases.rs. */
#include "host.h"
#include "polls_cases.h"

#define ENOUGH 3000 /* a loop that polls each 1024 rounds polls */
#define MANY_POLLS 400
/* after these there may be none that can end it: a loop that cannot fail only lets others run */
#define LAST_POLLS 64

typedef struct Host {
    OnrushVm *self, *other;
    JSContext *ctx;
    JSValue step;
    uint32_t polls, end_at;
    bool nested;
} Host;

static const char neighbour[] =
    "var kept = [], count = 0, text = '';\n"
    "(function step() {\n"
    "    const cycle = { count: count++ }; cycle.cycle = cycle;\n"
    "    kept.push({ ['key' + count % 97]: [cycle, /a+b/.exec('caab')], map: new Map([[cycle, 1]]) });\n"
    "    if (kept.length > 60) kept = [JSON.parse(JSON.stringify(Object.keys(kept[7])))];\n"
    "    text += String.fromCharCode(32 + count % 400); if (text.length > 90) text = '';\n"
    "})";

/* Others run: while a VU is suspended, its thread belongs to them. */
static int handler(JSRuntime *rt, void *opaque)
{
    Host *host = opaque;
    if (host->nested)
        return 0;
    host->polls++;
    if (host->end_at && host->polls >= host->end_at)
        return 1;
    host->nested = true;
    onrush_vm_swap(rt, host->self);
    onrush_vm_swap(rt, host->other);
    if (host->polls < MANY_POLLS || host->polls % 64 == 0) {
        JSValue v = JS_Call(host->ctx, host->step, JS_UNDEFINED, 0, NULL);
        if (JS_IsException(v)) { print_exception(host->ctx, "neighbour"); abort(); }
        JS_FreeValue(host->ctx, v);
    }
    if (host->polls % 128 == 5)
        JS_RunGC(rt);
    onrush_vm_swap(rt, host->other);
    onrush_vm_swap(rt, host->self);
    host->nested = false;
    return 0;
}

/* A result as text; NULL if it is an exception. */
static char *text_of(JSContext *ctx, JSValue v)
{
    if (JS_IsException(v)) {
        JS_FreeValue(ctx, JS_GetException(ctx));
        return NULL;
    }
    const char *s = JS_ToCString(ctx, v);
    char *copy = s ? strdup(s) : NULL;
    JS_FreeCString(ctx, s);
    JS_FreeValue(ctx, v);
    return copy;
}

static char *eval(JSContext *ctx, const char *what, const char *source)
{
    return text_of(ctx, JS_Eval(ctx, source, strlen(source), what, JS_EVAL_TYPE_GLOBAL));
}

/* Runs a case as a new VU; what came of it, or NULL if it threw. */
static char *run_case(JSRuntime *rt, Host *host, const PollCase *c, bool poked, uint32_t end_at)
{
    char size[64], *result;
    uint32_t *poke = onrush_rt_poke(rt);
    host->self = onrush_vm_new(rt, host->ctx, 0, 64 * 1024, 1);
    host->polls = 0;
    host->end_at = end_at;
    onrush_vm_swap(rt, host->self);
    snprintf(size, sizeof size, "var N = %d", ENOUGH);
    free(eval(host->ctx, "size.js", size));
    char *made = eval(host->ctx, "make.js", c->input);
    CHECK(made);
    free(made);
    JSValue work = JS_Eval(host->ctx, c->work, strlen(c->work), "work.js", JS_EVAL_TYPE_GLOBAL);
    CHECK(JS_IsFunction(host->ctx, work));
    *poke = poked;
    result = text_of(host->ctx, JS_Call(host->ctx, work, JS_UNDEFINED, 0, NULL));
    *poke = 0;
    JS_FreeValue(host->ctx, work);
    char *after = eval(host->ctx, "after.js", "[3, 1, 2].sort().join()");
    CHECK(after && !strcmp(after, "1,2,3"));
    free(after);
    if (end_at & 1)
        JS_RunGC(rt);
    onrush_vm_swap(rt, host->self);
    onrush_vm_free(rt, host->self);
    return result;
}

int main(void)
{
    JSRuntime *rt = JS_NewRuntime();
    JS_SetDumpFlags(rt, JS_ABORT_ON_LEAKS);
    JS_SetMaxStackSize(rt, 0);
    JSContext *ctx = JS_NewContext(rt);
    onrush_share_realm(ctx);
    Host host = { .ctx = ctx };
    host.other = onrush_vm_new(rt, ctx, 0, 16 * 1024, 2);
    onrush_vm_swap(rt, host.other);
    host.step = JS_Eval(ctx, neighbour, strlen(neighbour), "neighbour.js", JS_EVAL_TYPE_GLOBAL);
    CHECK(JS_IsFunction(ctx, host.step));
    onrush_vm_swap(rt, host.other);
    JS_SetInterruptHandler(rt, handler, &host);

    long ended = 0;
    for (const PollCase *c = poll_cases; c->what; c++) {
        char *alone = run_case(rt, &host, c, false, 0);
        char *beside = run_case(rt, &host, c, true, 0);
        if (!alone || !beside || strcmp(alone, beside)) {
            fprintf(stderr, "%s: %s instead of %s\n", c->what, beside, alone);
            abort();
        }
        free(alone);
        free(beside);
        uint32_t polls = host.polls;
        CHECK(polls > 0);
        /* each of the first, then rarer and at random */
        for (uint32_t at = 1; at <= polls; at += 1 + (at > 12 ? rng(at / 2) : 0)) {
            char *cut = run_case(rt, &host, c, true, at);
            if (cut && at + LAST_POLLS < polls) {
                fprintf(stderr, "%s: goes on after it was ended at poll %u\n", c->what, at);
                abort();
            }
            ended += !cut;
            free(cut);
        }
    }
    onrush_vm_swap(rt, host.other);
    JS_FreeValue(ctx, host.step);
    onrush_vm_swap(rt, host.other);
    onrush_vm_free(rt, host.other);
    JS_FreeContext(ctx);
    JS_FreeRuntime(rt);
    printf("clean: ended %ld times\n", ended);
    return 0;
}
