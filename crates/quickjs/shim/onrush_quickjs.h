/* Onrush's shim over the patched QuickJS-ng: what the engine needs beyond quickjs.h.
   See docs/design/003-patched-quickjs.md. Everything here runs on the runtime's one
   thread; nothing is reentrant across threads. */
#ifndef ONRUSH_QUICKJS_H
#define ONRUSH_QUICKJS_H
#include "quickjs.h"

/* Defects put back in for the fuzzer of module graphs to find, by name: fuzz/README.md.
   Only builds with ONRUSH_QUICKJS_SANITIZE have them. */
#ifdef ONRUSH_PLANTS
#include <stdlib.h>
#include <string.h>
static inline int onrush_planted(const char *name)
{
    const char *planted = getenv("ONRUSH_PLANT");
    return planted && !strcmp(planted, name);
}
#define ONRUSH_PLANTED(name) onrush_planted(name)
#else
#define ONRUSH_PLANTED(name) 0
#endif

/* Longest property name kept for onrush_last_violation, with the closing NUL. */
#define ONRUSH_VIOLATION_NAME_MAX 64
/* Hidden classes kept although no object has them: those of the literals that one iteration
   of a script makes and drops. */
#define ONRUSH_KEPT_SHAPES 128
/* The most properties of one that is kept, and the longest name: together they hold no more
   than 128 * 16 * 128 characters. */
#define ONRUSH_KEPT_PROPERTIES_MAX 16
#define ONRUSH_KEPT_NAME_MAX 128

/* ---- per-VU execution state ---------------------------------------------------------
   One JSRuntime a thread; what is runtime-wide in stock QuickJS but belongs to a VU is
   exchanged on each fiber switch: the list of GC objects, the job queue, the malloc
   account with its limit and GC threshold, the current exception and stack frame and,
   for VUs that share a realm ("dense", ctx != NULL), the global object, the list of
   loaded modules, Error.stackTraceLimit and prepareStackTrace, the state of
   Math.random and the interrupt counter. */
typedef struct OnrushVm OnrushVm;

/* A VM that owns nothing yet. 'dense_ctx' is the realm the VU shares, or NULL when the
   VU gets a realm of its own (made while the VM is swapped in). A dense VM has its own
   global object, which inherits from the realm's. 'memory_limit' 0 means none;
   'gc_threshold' is when it is collected first, and never at less than that afterwards.
   Returns NULL when out of memory. */
OnrushVm *onrush_vm_new(JSRuntime *rt, JSContext *dense_ctx, size_t memory_limit,
                        size_t gc_threshold, uint64_t random_seed);
/* Exchange the runtime's execution state with the VM's. Its own inverse. O(1). */
void onrush_vm_swap(JSRuntime *rt, OnrushVm *vm);
/* Called swapped OUT, with no JavaScript of it on any stack: drops its jobs, modules and
   global object, collects its cycles, then frees the VM. Objects the host still holds
   references to survive on the list of whatever is swapped in. */
void onrush_vm_free(JSRuntime *rt, OnrushVm *vm);
/* Bytes in its malloc account; only meaningful swapped out. */
size_t onrush_vm_memory_used(const OnrushVm *vm);
/* Bytes in the account of whatever is swapped in. */
size_t onrush_rt_memory_used(JSRuntime *rt);
/* Memory of the host on the account of what is swapped in: charging gives 0 where the
   limit refuses it, and discharging more than there is leaves nothing. */
int onrush_rt_charge(JSRuntime *rt, size_t size);
void onrush_rt_discharge(JSRuntime *rt, size_t size);
/* Errors that say so when memory has run out need some: between the two, what is swapped in
   may take a little more than its limit. */
void onrush_rt_lend(JSRuntime *rt);
void onrush_rt_return(JSRuntime *rt);
/* Part of JS_ThrowOutOfMemory. */
void onrush_throw_out_of_memory(JSContext *ctx);
/* 1 if the memory limit refused an allocation since last asked, of what is swapped in. */
int onrush_rt_take_oom(JSRuntime *rt);
/* Seed Math.random of what is swapped in. */
void onrush_vm_seed_random(JSContext *ctx, uint64_t seed);
/* Absolute stack bounds; 'top' is the highest address. 'size' 0 disables the check. */
void onrush_set_stack(JSRuntime *rt, uintptr_t top, size_t size);

/* ---- shared realm and write traps ---------------------------------------------------
   A write to a flagged object (add, set, define, delete, setPrototypeOf,
   preventExtensions, elements, internal slots) throws
   TypeError: cannot change shared built-in property '<prop>': ...
   and is counted, also when the script catches it. Reads, and writes to objects that
   merely inherit from a flagged one, behave as usual. */

/* Materialise the lazy properties of all built-ins and flag every object on the current
   list. Objects with lazy properties of the host (onrush_define_lazy) are templates: they
   are left alone. Returns the number of objects flagged, or -1 with an exception pending. */
int onrush_share_realm(JSContext *ctx);
/* Whether the object is flagged. */
int onrush_is_shared(JSValueConst obj);
uint64_t onrush_shared_violations(JSRuntime *rt);
/* Property name of the last violation, "" if there was none; owned by the runtime. */
const char *onrush_last_violation(JSRuntime *rt);

/* ---- modules ------------------------------------------------------------------------
   A template is a JSModuleDef read from bytecode (JS_ReadObject) and not linked. Clones
   share its bytecode; each has its own bindings. */

/* Unlink from the list of loaded modules; it must then be freed with onrush_module_free. */
void onrush_module_detach(JSContext *ctx, JSModuleDef *m);
/* Another, unlinked instance of a template; NULL with an exception pending. It belongs to
   the VM that is swapped in and is freed with it at the latest. */
JSModuleDef *onrush_module_clone(JSContext *ctx, JSModuleDef *tmpl);
int onrush_module_request_count(JSModuleDef *m);
/* New reference. */
JSAtom onrush_module_request_name(JSContext *ctx, JSModuleDef *m, int i);
/* Sets dependency i; the module counts as resolved when all are set. */
void onrush_module_set_request(JSModuleDef *m, int i, JSModuleDef *dep);
/* Create the functions, link and evaluate; dependencies that were not set are asked of the
   module loader. Value (a promise) or exception. */
JSValue onrush_module_evaluate(JSContext *ctx, JSModuleDef *m);
JSValue onrush_module_namespace(JSContext *ctx, JSModuleDef *m);
/* Frees a template, or an instance nothing else refers to. A module whose evaluation has
   not settled is kept until its VM is freed. */
void onrush_module_free(JSContext *ctx, JSModuleDef *m);
/* Frees the instances of the VM that is swapped in, for good: what they exported lives on
   through closures and namespaces. Kept until the VM is freed are those with import.meta,
   those whose evaluation has not settled, and all that these refer to. Returns how many were
   kept; -1 when a module is being evaluated or memory runs out, and then all are. Afterwards
   no instance may be used, and module loading must be refused in the normalizer. */
int onrush_modules_release(JSContext *ctx);
/* Makes the data properties of 'obj' that are named like exports of the evaluated native
   module 'm' its exports themselves: whoever assigns to one changes what others import. -1
   with an exception pending. */
int onrush_module_link_exports(JSContext *ctx, JSModuleDef *m, JSValueConst obj);
/* Has top-level await. */
int onrush_module_is_async(JSModuleDef *m);

/* ---- host objects -------------------------------------------------------------------
   Lazy properties: own, enumerable, writable data properties materialised from the
   object's opaque pointer at first touch. The hook must not switch fibers and must not
   touch the object's properties. */
typedef JSValue OnrushLazyHook(JSContext *ctx, JSValueConst obj, void *opaque, int which);
void onrush_set_lazy_hook(JSRuntime *rt, OnrushLazyHook *hook);
/* Define lazy property 'prop'; -1 with an exception pending. */
int onrush_define_lazy(JSContext *ctx, JSValueConst obj, JSAtom prop, int which);
/* Clone a template object: same hidden class, same class id. The first n non-lazy slots
   take vals (ownership moves, also on failure), the others the template's value. */
JSValue onrush_clone_template(JSContext *ctx, JSValueConst tmpl, JSValue *vals, int n,
                              void *opaque);

/* ---- odds and ends ------------------------------------------------------------------ */
/* The frame that runs, only to be compared. */
void *onrush_stack_frame(JSContext *ctx);
/* The files of the script code that runs and of the outermost that led to it, not looking
   beyond the frame 'boundary' (NULL: none). New references; JS_ATOM_NULL where there is none. */
void onrush_script_files(JSContext *ctx, const void *boundary, JSAtom *caller, JSAtom *outermost);
/* Where the script code that runs is: its file (a new reference; JS_ATOM_NULL: none runs, and
   nothing else is set), line and column, and its function's name (a new reference; undefined
   if it has none). Runs no script code. */
JSAtom onrush_script_place(JSContext *ctx, JSValue *name, int *line, int *column);
/* Async function or async generator function. */
int onrush_is_async_function(JSValueConst func);
/* Objects (of any kind) on the swapped-in GC list. Walks it: for tests and reports. */
long onrush_gc_count(JSRuntime *rt);
/* Forget all pending jobs of the swapped-in VM without running them. */
void onrush_drop_jobs(JSRuntime *rt);
/* While this is not 0, the interrupt handler is called at each call, backward branch and
   round of a long loop of a built-in. Any thread may set it, atomically; the handler
   clears it. The handler may be called where a VU cannot be ended: what it answers
   there is not looked at, and it is asked again soon. ONRUSH_POKE_HALT says that the VU is
   to end. */
#define ONRUSH_POKE_HALT 1
uint32_t *onrush_rt_poke(JSRuntime *rt);
/* The bytes of a string if it is flat, 8-bit and pure ASCII, without copying (valid while
   the JSValue is alive and not zero terminated), else NULL. */
const uint8_t *onrush_string_ascii(JSValueConst str, size_t *len);
/* The same for the text of a property name, valid while the name has a reference; NULL also
   for an index. */
const uint8_t *onrush_atom_ascii(JSRuntime *rt, JSAtom atom, size_t *len);
/* The own enumerable properties of a plain object that has at most 'max' properties, none of
   them an index: how many they are, each name with a new reference. -1, and no reference,
   for all else: JS_GetOwnPropertyNames says what they are. Runs no script. */
int onrush_plain_keys(JSRuntime *rt, JSValueConst obj, JSAtom *names, int max);
/* Up to 'max' words that are the same for two plain objects only if these have the same
   properties in the same order with the same values: texts (those of a source file, and
   short ones), small numbers, booleans, undefined, null and objects of such. How many words
   they are; -1 for all else. Runs no script and takes no reference. */
int onrush_literals(JSRuntime *rt, JSValueConst obj, uint64_t *words, int max);
/* Takes references to all that such words name, or gives them back: as long as there are
   some, no other object has these words. */
void onrush_refer_literals(JSRuntime *rt, const uint64_t *words, int count, int is_kept);
/* A string from Latin-1 (so also ASCII) bytes, without UTF-8 validation. */
JSValue onrush_new_string_latin1(JSContext *ctx, const uint8_t *p, size_t len);
/* The characters of a flat string, 8 or 16 bits each, as long as it lives; NULL for anything else. */
const void *onrush_string_units(JSValueConst str, size_t *len, int *is_wide);
/* The tag of the value within a Number, Boolean, String, Symbol or BigInt object; that of undefined for anything else. */
int64_t onrush_boxed_tag(JSValueConst obj);
/* A Latin-1 string whose characters the caller writes to `*units` before anybody sees it. */
JSValue onrush_begin_string_latin1(JSContext *ctx, size_t len, uint8_t **units);
#endif
