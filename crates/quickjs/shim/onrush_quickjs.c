/* Onrush's shim, #included at the end of the patched quickjs.c because it needs its
   internals. The public side is onrush_quickjs.h; the why is docs/design/003-patched-quickjs.md. */

/* ---- assumptions of the Rust side ---- */
#include "onrush_layout.h" /* made from src/layout.rs */
/* src/value.rs counts references inline */
_Static_assert(offsetof(JSMallocBlockHeader, user_data) -
               offsetof(JSMallocBlockHeader, ref_count) == 4,
               "the reference count sits 4 bytes before the payload");
_Static_assert(sizeof(JSValue) == 16, "64-bit, non NaN-boxed values");

/* ---- per-VU execution state ---- */

struct OnrushVm {
    OnrushLists *lists; /* swapped out: those below */
    OnrushModules *modules;
    size_t malloc_size, malloc_limit;
    size_t gc_threshold, gc_floor;
    struct JSStackFrame *stack_frame;
    JSValue exception;
    JSValueLink *parent_promise;
    bool in_out_of_memory, in_build_stack_trace, oom;
    /* dense only */
    JSContext *ctx;
    JSValue global_obj;
    JSValue global_var_obj; /* the realm's until the VU declares a global let, const or class */
    JSValue error_back_trace, error_prepare_stack, error_stack_trace_limit;
    uint64_t random_state;
    /* not touched by a swap */
    OnrushLists own_lists;
    OnrushModules own_modules;
};

#define ONRUSH_EXCHANGE(a, b) do { __typeof__(a) t_ = (a); (a) = (b); (b) = t_; } while (0)

void onrush_vm_swap(JSRuntime *rt, OnrushVm *vm)
{
    JSContext *ctx = vm->ctx;

    ONRUSH_EXCHANGE(rt->onrush_lists, vm->lists);
    ONRUSH_EXCHANGE(rt->malloc_state.malloc_size, vm->malloc_size);
    ONRUSH_EXCHANGE(rt->malloc_state.malloc_limit, vm->malloc_limit);
    ONRUSH_EXCHANGE(rt->malloc_gc_threshold, vm->gc_threshold);
    ONRUSH_EXCHANGE(rt->onrush_gc_floor, vm->gc_floor);
    ONRUSH_EXCHANGE(rt->current_stack_frame, vm->stack_frame);
    ONRUSH_EXCHANGE(rt->current_exception, vm->exception);
    ONRUSH_EXCHANGE(rt->parent_promise, vm->parent_promise);
    ONRUSH_EXCHANGE(rt->in_out_of_memory, vm->in_out_of_memory);
    ONRUSH_EXCHANGE(rt->in_build_stack_trace, vm->in_build_stack_trace);
    ONRUSH_EXCHANGE(rt->onrush_oom, vm->oom);
    if (ctx) {
        ONRUSH_EXCHANGE(ctx->onrush_modules, vm->modules);
        ONRUSH_EXCHANGE(ctx->global_obj, vm->global_obj);
        ONRUSH_EXCHANGE(ctx->global_var_obj, vm->global_var_obj);
        ONRUSH_EXCHANGE(ctx->error_back_trace, vm->error_back_trace);
        ONRUSH_EXCHANGE(ctx->error_prepare_stack, vm->error_prepare_stack);
        ONRUSH_EXCHANGE(ctx->error_stack_trace_limit, vm->error_stack_trace_limit);
        ONRUSH_EXCHANGE(ctx->random_state, vm->random_state);
    }
}

OnrushVm *onrush_vm_new(JSRuntime *rt, JSContext *dense_ctx, size_t memory_limit,
                        size_t gc_threshold, uint64_t random_seed)
{
    OnrushVm *vm;
    JSValue global;
    int ok;

    vm = rt->mf.js_calloc(rt->malloc_state.opaque, 1, sizeof(*vm));
    if (!vm)
        return NULL;
    vm->lists = &vm->own_lists;
    vm->modules = &vm->own_modules;
    init_list_head(&vm->own_lists.gc_objects);
    init_list_head(&vm->own_lists.jobs);
    init_list_head(&vm->own_lists.dead);
    init_list_head(&vm->own_modules.list);
    vm->malloc_limit = memory_limit;
    vm->gc_threshold = vm->gc_floor = gc_threshold;
    vm->exception = JS_UNINITIALIZED;
    vm->global_obj = JS_UNDEFINED;
    vm->global_var_obj = JS_UNDEFINED;
    vm->error_back_trace = JS_UNDEFINED;
    vm->error_prepare_stack = JS_UNDEFINED;
    vm->error_stack_trace_limit = js_int32(10);
    vm->random_state = random_seed ? random_seed : 1;
    if (!dense_ctx)
        return vm;

    vm->ctx = JS_DupContext(dense_ctx);
    vm->global_var_obj = js_dup(dense_ctx->global_var_obj);
    JSValue realm_global = js_dup(dense_ctx->global_obj);
    onrush_vm_swap(rt, vm);
    global = JS_NewObjectProto(dense_ctx, realm_global);
    JS_FreeValue(dense_ctx, realm_global);
    ok = !JS_IsException(global);
    if (ok) {
        dense_ctx->global_obj = global;
        ok = JS_DefinePropertyValue(dense_ctx, global, JS_ATOM_globalThis, js_dup(global),
                                    JS_PROP_CONFIGURABLE | JS_PROP_WRITABLE) >= 0;
    }
    onrush_vm_swap(rt, vm);
    if (!ok) {
        onrush_vm_free(rt, vm);
        return NULL;
    }
    return vm;
}

/* Drop everything a module definition refers to, so that the cycle collector can have
   it; the definition itself stays valid. */
static void onrush_module_clear(JSContext *ctx, JSModuleDef *m)
{
    int i;
    JSValue *values[] = {
        &m->module_ns, &m->func_obj, &m->eval_exception, &m->meta_obj, &m->promise,
        &m->resolving_funcs[0], &m->resolving_funcs[1], &m->private_value, &m->attributes,
    };

    for (i = 0; i < m->export_entries_count; i++) {
        JSExportEntry *me = &m->export_entries[i];
        if (me->export_type == JS_EXPORT_TYPE_LOCAL && me->u.local.var_ref) {
            free_var_ref(ctx->rt, me->u.local.var_ref);
            me->u.local.var_ref = NULL;
        }
    }
    for (i = 0; i < m->req_module_entries_count; i++) {
        JS_FreeValue(ctx, m->req_module_entries[i].attributes);
        m->req_module_entries[i].attributes = JS_UNDEFINED;
    }
    for (i = 0; i < (int)countof(values); i++) {
        JSValue v = *values[i];
        *values[i] = JS_UNDEFINED;
        JS_FreeValue(ctx, v);
    }
}

void onrush_drop_jobs(JSRuntime *rt)
{
    /* Freeing an argument can run finalizers that queue a job (FinalizationRegistry): take one at a time. */
    while (!list_empty(&rt->job_list)) {
        JSJobEntry *e = list_entry(rt->job_list.next, JSJobEntry, link);
        list_del(&e->link);
        for (int i = 0; i < e->argc; i++)
            JS_FreeValueRT(rt, e->argv[i]);
        js_free_rt(rt, e);
    }
}

/* A weak map's values are held by its keys. When a key is not of this VM (a shared
   object), its values look referenced from outside; the VM is dying, so empty them. */
static void onrush_clear_weak_maps(JSRuntime *rt)
{
    struct list_head *el, *el1;

    list_for_each_safe(el, el1, &rt->gc_obj_list) {
        JSGCObjectHeader *h = list_entry(el, JSGCObjectHeader, link);
        JSObject *p = (JSObject *)h;
        JSMapState *s;
        if (JS_GC_TYPE(h) != JS_GC_OBJ_TYPE_JS_OBJECT ||
            (p->class_id != JS_CLASS_WEAKMAP && p->class_id != JS_CLASS_WEAKSET))
            continue;
        s = p->u.map_state;
        if (!s || list_empty(&s->records))
            continue;
        /* hold the map: a value may own the last reference to it */
        JS_REF_COUNT(p)++;
        /* freeing a value may remove other records: always take the first */
        while (!list_empty(&s->records))
            map_delete_record(rt, s, list_entry(s->records.next, JSMapRecord, link));
        JS_FreeValueRT(rt, JS_MKPTR(JS_TAG_OBJECT, p));
        /* the list may have changed anywhere: start again, each map is emptied once */
        el1 = rt->gc_obj_list.next;
    }
}

void onrush_vm_free(JSRuntime *rt, OnrushVm *vm)
{
    JSContext *ctx = vm->ctx;
    struct list_head *el, *el1;
    bool was_in_free = rt->in_free;

    onrush_vm_swap(rt, vm);
    rt->malloc_state.malloc_limit = 0;
    rt->in_free = true; /* finalization registries enqueue no more callbacks */
    JSValue exception = rt->current_exception;
    rt->current_exception = JS_UNINITIALIZED;
    JS_FreeValueRT(rt, exception);
    onrush_drop_jobs(rt);
    if (ctx) {
        list_for_each(el, &ctx->loaded_modules)
            onrush_module_clear(ctx, list_entry(el, JSModuleDef, link));
        JSValue *roots[] = { &ctx->global_obj, &ctx->global_var_obj, &ctx->error_back_trace,
                             &ctx->error_prepare_stack, &ctx->error_stack_trace_limit };
        for (int i = 0; i < (int)countof(roots); i++) {
            JSValue v = *roots[i];
            *roots[i] = JS_UNDEFINED;
            JS_FreeValue(ctx, v);
        }
    }
    JS_RunGC(rt);
    if (!list_empty(&rt->gc_obj_list)) {
        onrush_clear_weak_maps(rt);
        JS_RunGC(rt);
    }
    onrush_drop_jobs(rt);
    if (ctx) {
        list_for_each_safe(el, el1, &ctx->loaded_modules)
            js_free_module_def(ctx, list_entry(el, JSModuleDef, link));
    }
    rt->in_free = was_in_free;
    onrush_vm_swap(rt, vm);

    /* What is left is referenced from elsewhere: shapes other VUs use as well, values the
       host still holds. It lives on in the account of whatever is swapped in. */
    if (!list_empty(&vm->own_lists.gc_objects)) {
        struct list_head *first = vm->own_lists.gc_objects.next;
        struct list_head *last = vm->own_lists.gc_objects.prev;
        first->prev = rt->gc_obj_list.prev;
        rt->gc_obj_list.prev->next = first;
        last->next = &rt->gc_obj_list;
        rt->gc_obj_list.prev = last;
    }
    if (ctx)
        JS_FreeContext(ctx);
    rt->mf.js_free(rt->malloc_state.opaque, vm);
}

size_t onrush_vm_memory_used(const OnrushVm *vm) { return vm->malloc_size; }
size_t onrush_rt_memory_used(JSRuntime *rt) { return rt->malloc_state.malloc_size; }

int onrush_rt_charge(JSRuntime *rt, size_t size)
{
    JSMallocState *s = &rt->malloc_state;
    /* without a limit it is 0, and this the largest number */
    size_t most = s->malloc_limit - 1;
    if (size > most || s->malloc_size > most - size) {
        rt->onrush_oom = true;
        return 0;
    }
    s->malloc_size += size;
    return 1;
}

void onrush_rt_discharge(JSRuntime *rt, size_t size)
{
    JSMallocState *s = &rt->malloc_state;
    s->malloc_size -= size < s->malloc_size ? size : s->malloc_size;
}

/* An error with the text of its stack. The limit is swapped with the VM: what suspends in
   between (Error.prepareStackTrace may) returns what it was lent. */
#define ONRUSH_SPARE (16 << 10)

void onrush_rt_lend(JSRuntime *rt)
{
    if (rt->malloc_state.malloc_limit)
        rt->malloc_state.malloc_limit += ONRUSH_SPARE;
}

void onrush_rt_return(JSRuntime *rt)
{
    if (rt->malloc_state.malloc_limit)
        rt->malloc_state.malloc_limit -= ONRUSH_SPARE;
}

void onrush_throw_out_of_memory(JSContext *ctx)
{
    onrush_rt_lend(ctx->rt);
    JS_ThrowInternalError(ctx, "out of memory");
    onrush_rt_return(ctx->rt);
}

int onrush_rt_take_oom(JSRuntime *rt)
{
    int oom = rt->onrush_oom;
    rt->onrush_oom = false;
    return oom;
}

void onrush_vm_seed_random(JSContext *ctx, uint64_t seed)
{
    ctx->random_state = seed ? seed : 1; /* xorshift never leaves 0 */
}

void onrush_set_stack(JSRuntime *rt, uintptr_t top, size_t size)
{
    rt->stack_size = size;
    rt->stack_top = top;
    rt->stack_limit = size ? top - size : 0;
}

/* ---- shared realm and write traps ---- */

#define ONRUSH_SHARED_MESSAGE \
    "cannot change shared built-in property '%s': built-ins are shared by the VUs of a " \
    "thread in the dense layout; run with --vu-isolation=isolated"

static no_inline int onrush_shared_write_name(JSContext *ctx, const char *name)
{
    OnrushRuntimeState *s = &ctx->rt->onrush;
    s->shared_violations++;
    snprintf(s->last_violation, sizeof(s->last_violation), "%s", name);
    JS_ThrowTypeError(ctx, ONRUSH_SHARED_MESSAGE, name);
    return -1;
}

static no_inline int onrush_shared_write(JSContext *ctx, JSAtom prop)
{
    char buf[ATOM_GET_STR_BUF_SIZE];
    return onrush_shared_write_name(ctx, JS_AtomGetStr(ctx, buf, sizeof(buf), prop));
}

/* A dense VU gets its own scope for global let, const and class at its first declaration. */
static int onrush_own_global_vars(JSContext *ctx)
{
    if (likely(!JS_VALUE_GET_OBJ(ctx->global_var_obj)->is_shared) ||
        JS_VALUE_GET_OBJ(ctx->global_obj)->is_shared)
        return 0;
    JSValue own = JS_NewObjectProto(ctx, JS_NULL);
    if (JS_IsException(own))
        return -1;
    JS_FreeValue(ctx, ctx->global_var_obj);
    ctx->global_var_obj = own;
    return 0;
}

/* Where 'prop' is an own property in the eyes of a script: the VU's global object stands
   for the realm's, whose properties it inherits. */
static JSObject *onrush_holder(JSContext *ctx, JSObject *p, JSAtom prop)
{
    JSObject *proto = p->shape->proto;
    if (likely(p != JS_VALUE_GET_OBJ(ctx->global_obj)) || !proto || !proto->is_shared ||
        find_own_property1(p, prop) || !find_own_property1(proto, prop))
        return p;
    return proto;
}

/* -1 with an exception if the object is shared; 'slot' names the internal slot */
static int onrush_shared_write_slot(JSContext *ctx, JSValueConst obj, const char *slot)
{
    if (likely(JS_VALUE_GET_TAG(obj) != JS_TAG_OBJECT || !JS_VALUE_GET_OBJ(obj)->is_shared))
        return 0;
    return onrush_shared_write_name(ctx, slot);
}

/* A definition that cannot change anything: a frozen property, or a missing one of an
   object that takes no more. Stock code then answers as the specification says. */
static no_inline bool onrush_shared_noop(JSObject *p, JSAtom prop)
{
    JSProperty *pr;
    JSShapeProperty *prs = find_own_property(&pr, p, prop);
    if (!prs)
        return !p->extensible;
    return !(prs->flags & (JS_PROP_CONFIGURABLE | JS_PROP_WRITABLE)) &&
           (prs->flags & JS_PROP_TMASK) != JS_PROP_AUTOINIT;
}

static int onrush_materialise(JSContext *ctx, JSObject *p)
{
    for (int i = 0; i < p->shape->prop_count; i++) {
        JSShapeProperty *prs = get_shape_prop(p->shape) + i;
        if (prs->atom != JS_ATOM_NULL && (prs->flags & JS_PROP_TMASK) == JS_PROP_AUTOINIT &&
            JS_AutoInitProperty(ctx, p, prs->atom, &p->prop[i], prs))
            return -1;
    }
    return 0;
}

static int onrush_flag(JSContext *ctx, JSObject *p)
{
    if (p->is_shared)
        return 0;
    switch (p->class_id) {
    case JS_CLASS_ARRAY:
    case JS_CLASS_ARGUMENTS:
    case JS_CLASS_MAPPED_ARGUMENTS:
        /* without fast elements every write takes a path that checks the flag */
        if (p->fast_array) {
            bool std = ctx->std_array_prototype;
            if (convert_fast_array_to_array(ctx, p))
                return -1;
            ctx->std_array_prototype = std;
        }
        break;
    case JS_CLASS_ARRAY_BUFFER:
    case JS_CLASS_SHARED_ARRAY_BUFFER:
        p->u.array_buffer->immutable = true;
        break;
    default:
        break;
    }
    p->is_shared = 1;
    return 0;
}

/* Has lazy properties of the host: a template for clones, which nobody else sees. */
static bool onrush_is_template(JSObject *p)
{
    JSShapeProperty *prs = get_shape_prop(p->shape);
    for (int i = 0; i < p->shape->prop_count; i++) {
        if ((prs[i].flags & JS_PROP_TMASK) == JS_PROP_AUTOINIT &&
            js_autoinit_get_id(&p->prop[i]) == JS_AUTOINIT_ID_HOST)
            return true;
    }
    return false;
}

int onrush_share_realm(JSContext *ctx)
{
    JSRuntime *rt = ctx->rt;
    struct list_head *el;
    int n = 0;

    /* materialising appends to the list: what is appended gets its turn */
    list_for_each(el, &rt->gc_obj_list) {
        JSGCObjectHeader *h = list_entry(el, JSGCObjectHeader, link);
        if (JS_GC_TYPE(h) != JS_GC_OBJ_TYPE_JS_OBJECT || onrush_is_template((JSObject *)h))
            continue;
        JS_REF_COUNT(h)++; /* a collection below must not take it off the list */
        int ret = onrush_materialise(ctx, (JSObject *)h);
        JS_REF_COUNT(h)--;
        if (ret)
            return -1;
    }
    list_for_each(el, &rt->gc_obj_list) {
        JSGCObjectHeader *h = list_entry(el, JSGCObjectHeader, link);
        if (JS_GC_TYPE(h) != JS_GC_OBJ_TYPE_JS_OBJECT || onrush_is_template((JSObject *)h))
            continue;
        if (onrush_flag(ctx, (JSObject *)h))
            return -1;
        n++;
    }
    return n;
}

int onrush_is_shared(JSValueConst obj)
{
    return JS_VALUE_GET_TAG(obj) == JS_TAG_OBJECT && JS_VALUE_GET_OBJ(obj)->is_shared;
}

uint64_t onrush_shared_violations(JSRuntime *rt) { return rt->onrush.shared_violations; }
const char *onrush_last_violation(JSRuntime *rt) { return rt->onrush.last_violation; }

/* ---- hidden classes ---- */

/* A literal's names are short; those that a script computes may be megabytes each. */
static bool onrush_is_literal_name(JSRuntime *rt, JSAtom atom)
{
    if (atom == JS_ATOM_NULL || __JS_AtomIsTaggedInt(atom))
        return true;
    JSAtomStruct *name = rt->atom_array[atom];
    return name->atom_type == JS_ATOM_TYPE_STRING && name->len <= ONRUSH_KEPT_NAME_MAX;
}

/* Takes the reference that was the last, unless the class is none to keep. */
static bool onrush_keep_shape(JSRuntime *rt, JSShape *sh)
{
    if (!sh->is_hashed || !sh->proto || !sh->proto->is_shared ||
        sh->prop_count > ONRUSH_KEPT_PROPERTIES_MAX ||
        rt->gc_phase == JS_GC_PHASE_REMOVE_CYCLES || rt->in_free)
        return false;
    for (int i = 0; i < sh->prop_count; i++)
        if (!onrush_is_literal_name(rt, get_shape_prop(sh)[i].atom))
            return false;
    JSShape **place = &rt->onrush.kept_shapes[rt->onrush.kept_next++ % ONRUSH_KEPT_SHAPES];
    JSShape *oldest = *place;
    JS_REF_COUNT(sh) = 1;
    *place = sh;
    if (oldest && --JS_REF_COUNT(oldest) == 0)
        js_free_shape0(rt, oldest);
    return true;
}

/* The class with no properties that `{}` begins with: every literal asks for it. */
static void onrush_keep_empty_shape(JSRuntime *rt, JSShape *sh)
{
    JSShape *last = rt->onrush.empty_shape;
    rt->onrush.empty_shape = js_dup_shape(sh);
    js_free_shape_null(rt, last);
}

static void onrush_drop_shapes(JSRuntime *rt)
{
    JSShape *empty = rt->onrush.empty_shape;
    rt->onrush.empty_shape = NULL;
    js_free_shape_null(rt, empty);
    for (int i = 0; i < ONRUSH_KEPT_SHAPES; i++) {
        JSShape *sh = rt->onrush.kept_shapes[i];
        rt->onrush.kept_shapes[i] = NULL;
        if (sh && --JS_REF_COUNT(sh) == 0)
            js_free_shape0(rt, sh);
    }
}

/* ---- modules ---- */

void onrush_module_detach(JSContext *ctx, JSModuleDef *m)
{
    list_del(&m->link);
    init_list_head(&m->link);
}

/* An array of 'count' elements copied from 'src'; NULL with an exception, or for none. */
static int onrush_copy_entries(JSContext *ctx, void *pdst, const void *src, int count, size_t size)
{
    void *dst = NULL;
    if (count > 0) {
        dst = js_malloc(ctx, size * (size_t)count);
        if (!dst)
            return -1;
        memcpy(dst, src, size * (size_t)count);
    }
    memcpy(pdst, &dst, sizeof(dst));
    return 0;
}

JSModuleDef *onrush_module_clone(JSContext *ctx, JSModuleDef *t)
{
    int i;
    JSModuleDef *m = js_new_module_def(ctx, JS_DupAtom(ctx, t->module_name));
    if (!m)
        return NULL;
    /* The counts are set array by array, so that freeing a half-made clone is right. */
#define ONRUSH_COPY(f) \
    if (onrush_copy_entries(ctx, &m->f, t->f, t->f##_count, sizeof(*t->f))) goto fail; \
    m->f##_count = m->f##_size = t->f##_count
    ONRUSH_COPY(req_module_entries);
    for (i = 0; i < m->req_module_entries_count; i++) {
        JSReqModuleEntry *e = &m->req_module_entries[i];
        JS_DupAtom(ctx, e->module_name);
        js_dup(e->attributes);
        e->module = NULL;
    }
    ONRUSH_COPY(export_entries);
    for (i = 0; i < m->export_entries_count; i++) {
        JSExportEntry *e = &m->export_entries[i];
        JS_DupAtom(ctx, e->export_name);
        JS_DupAtom(ctx, e->local_name);
        if (e->export_type == JS_EXPORT_TYPE_LOCAL)
            e->u.local.var_ref = NULL;
    }
    ONRUSH_COPY(star_export_entries);
    ONRUSH_COPY(import_entries);
    for (i = 0; i < m->import_entries_count; i++)
        JS_DupAtom(ctx, m->import_entries[i].import_name);
#undef ONRUSH_COPY
    m->func_obj = js_dup(t->func_obj);
    m->attributes = js_dup(t->attributes);
    m->has_tla = t->has_tla;
    m->resolved = m->req_module_entries_count == 0;
    return m;
 fail:
    js_free_module_def(ctx, m);
    return NULL;
}

int onrush_module_request_count(JSModuleDef *m) { return m->req_module_entries_count; }

JSAtom onrush_module_request_name(JSContext *ctx, JSModuleDef *m, int i)
{
    return JS_DupAtom(ctx, m->req_module_entries[i].module_name);
}

void onrush_module_set_request(JSModuleDef *m, int i, JSModuleDef *dep)
{
    bool all = true;
    m->req_module_entries[i].module = dep;
    for (i = 0; i < m->req_module_entries_count; i++)
        all = all && m->req_module_entries[i].module;
    m->resolved = all;
}

/* Ask the module loader for what was not set by hand, in the whole graph below 'm'. */
static int onrush_resolve_graph(JSContext *ctx, JSModuleDef *m)
{
    JSModuleDef **seen = NULL;
    int count = 0, size = 0, ret = -1;

    for (int next = -1; next < count; next++) {
        JSModuleDef *cur = next < 0 ? m : seen[next];
        if (js_resolve_module(ctx, cur) < 0)
            goto done;
        for (int i = 0; i < cur->req_module_entries_count; i++) {
            JSModuleDef *dep = cur->req_module_entries[i].module;
            int k = 0;
            /* what is linked or native has its dependencies */
            if (dep == m || dep->func_created || dep->init_func)
                continue;
            while (k < count && seen[k] != dep)
                k++;
            if (k < count)
                continue;
            if (js_resize_array(ctx, (void **)&seen, sizeof(seen[0]), &size, count + 1))
                goto done;
            seen[count++] = dep;
        }
    }
    ret = 0;
 done:
    js_free(ctx, seen);
    return ret;
}

JSValue onrush_module_evaluate(JSContext *ctx, JSModuleDef *m)
{
    if (onrush_resolve_graph(ctx, m) < 0)
        return JS_EXCEPTION;
    /* JS_EvalFunction drops one reference to the module */
    return JS_EvalFunction(ctx, JS_NewModuleValue(ctx, m));
}

JSValue onrush_module_namespace(JSContext *ctx, JSModuleDef *m)
{
    return JS_GetModuleNamespace(ctx, m);
}

void onrush_module_free(JSContext *ctx, JSModuleDef *m)
{
    /* Promise reactions of an evaluation under way hold the definition. */
    if (m->status == JS_MODULE_STATUS_EVALUATING ||
        m->status == JS_MODULE_STATUS_EVALUATING_ASYNC || JS_REF_COUNT(m) > 1) {
        if (list_empty(&m->link)) /* detached */
            list_add_tail(&m->link, &ctx->loaded_modules);
        return;
    }
    js_free_module_def(ctx, m);
}

int onrush_module_is_async(JSModuleDef *m) { return m->has_tla; }

int onrush_module_link_exports(JSContext *ctx, JSModuleDef *m, JSValueConst obj)
{
    JSObject *p = JS_VALUE_GET_OBJ(obj);
    JSShapeProperty *prs;

    /* the shape is this object's alone, so that its flags can change */
    if (js_shape_prepare_update(ctx, p, NULL))
        return -1;
    for (int i = 0; i < m->export_entries_count; i++) {
        JSExportEntry *me = &m->export_entries[i];
        JSProperty *pr;
        if (me->export_type != JS_EXPORT_TYPE_LOCAL || !me->u.local.var_ref)
            continue;
        prs = find_own_property(&pr, p, me->export_name);
        if (!prs || (prs->flags & JS_PROP_TMASK) != JS_PROP_NORMAL)
            continue;
        JSValue value = pr->u.value;
        prs->flags |= JS_PROP_VARREF;
        JS_REF_COUNT(me->u.local.var_ref)++;
        pr->u.var_ref = me->u.local.var_ref;
        JS_FreeValue(ctx, value);
    }
    return 0;
}

/* ---- releasing the modules of a VM ----
   What may hold a definition without counting it: the requests, cycle_root and
   async_parent_modules of other definitions, and lazy properties of namespaces
   (`export * as name from`). All else (promise reactions, jobs) counts. */

/* Marks a definition that stays; link and evaluation set dfs_index before they read it. */
#define ONRUSH_KEPT (-2)

static void onrush_push_module(JSModuleDef **stack, JSModuleDef *m)
{
    m->stack_prev = *stack;
    *stack = m;
}

static JSModuleDef *onrush_pop_module(JSModuleDef **stack)
{
    JSModuleDef *m = *stack;
    *stack = m->stack_prev;
    m->stack_prev = NULL;
    return m;
}

/* Builds the namespaces that built ones refer to, so that none refers to a definition. */
static int onrush_build_namespaces(JSContext *ctx)
{
    JSModuleDef *stack = NULL;
    struct list_head *el;

    list_for_each(el, &ctx->loaded_modules) {
        JSModuleDef *m = list_entry(el, JSModuleDef, link);
        if (JS_IsObject(m->module_ns))
            onrush_push_module(&stack, m);
    }
    while (stack) {
        JSObject *p = JS_VALUE_GET_OBJ(onrush_pop_module(&stack)->module_ns);
        for (int i = 0; i < p->shape->prop_count; i++) {
            JSShapeProperty *prs = get_shape_prop(p->shape) + i;
            JSProperty *pr = &p->prop[i];
            if (prs->atom == JS_ATOM_NULL || (prs->flags & JS_PROP_TMASK) != JS_PROP_AUTOINIT ||
                js_autoinit_get_id(pr) != JS_AUTOINIT_ID_MODULE_NS)
                continue;
            JSModuleDef *dep = pr->u.init.opaque;
            bool is_new = JS_IsUndefined(dep->module_ns);
            /* first by itself: a lazy property that fails is lost */
            JSValue ns = JS_GetModuleNamespace(ctx, dep);
            JS_FreeValue(ctx, ns);
            if (JS_IsException(ns) || JS_AutoInitProperty(ctx, p, prs->atom, pr, prs))
                goto fail;
            if (is_new)
                onrush_push_module(&stack, dep);
        }
    }
    return 0;
 fail:
    while (stack)
        onrush_pop_module(&stack);
    return -1;
}

static void onrush_keep_module(JSModuleDef **stack, JSModuleDef *m)
{
    /* native modules belong to the realm */
    if (m && !m->init_func && m->dfs_index != ONRUSH_KEPT) {
        m->dfs_index = ONRUSH_KEPT;
        onrush_push_module(stack, m);
    }
}

int onrush_modules_release(JSContext *ctx)
{
    struct list_head *el, *el1;
    JSModuleDef *stack = NULL;
    int kept = 0;

    list_for_each(el, &ctx->loaded_modules) {
        JSModuleDef *m = list_entry(el, JSModuleDef, link);
        if (m->status == JS_MODULE_STATUS_LINKING || m->status == JS_MODULE_STATUS_EVALUATING)
            return -1; /* called from within an evaluation */
    }
    if (!ONRUSH_PLANTED("namespaces") && onrush_build_namespaces(ctx)) {
        JS_FreeValue(ctx, JS_GetException(ctx));
        return -1;
    }
    list_for_each(el, &ctx->loaded_modules) {
        JSModuleDef *m = list_entry(el, JSModuleDef, link);
        if (m->status != JS_MODULE_STATUS_EVALUATED || !JS_IsUndefined(m->meta_obj) ||
            JS_REF_COUNT(m) > 1)
            onrush_keep_module(&stack, m);
    }
    while (stack) {
        JSModuleDef *m = onrush_pop_module(&stack);
        if (ONRUSH_PLANTED("records"))
            continue;
        for (int i = 0; i < m->req_module_entries_count; i++)
            onrush_keep_module(&stack, m->req_module_entries[i].module);
        for (int i = 0; i < m->async_parent_modules_count; i++)
            onrush_keep_module(&stack, m->async_parent_modules[i]);
        onrush_keep_module(&stack, m->cycle_root);
    }
    list_for_each_safe(el, el1, &ctx->loaded_modules) {
        JSModuleDef *m = list_entry(el, JSModuleDef, link);
        if (m->init_func || m->dfs_index == ONRUSH_KEPT) {
            m->dfs_index = 0;
            kept++;
        } else {
            js_free_module_def(ctx, m);
        }
    }
    return kept;
}

/* ---- host objects ---- */

static JSValue onrush_lazy_autoinit(JSContext *ctx, JSObject *p, JSAtom atom, void *opaque)
{
    OnrushLazyHook *hook = ctx->rt->onrush.lazy_hook;
    if (!hook)
        return JS_UNDEFINED;
    return hook(ctx, JS_MKPTR(JS_TAG_OBJECT, p), p->u.opaque, (int)(intptr_t)opaque);
}

void onrush_set_lazy_hook(JSRuntime *rt, OnrushLazyHook *hook) { rt->onrush.lazy_hook = hook; }

int onrush_define_lazy(JSContext *ctx, JSValueConst obj, JSAtom prop, int which)
{
    return JS_DefineAutoInitProperty(ctx, obj, prop, JS_AUTOINIT_ID_HOST,
                                     (void *)(intptr_t)which, JS_PROP_C_W_E);
}

JSValue onrush_clone_template(JSContext *ctx, JSValueConst tmpl, JSValue *vals, int n, void *opaque)
{
    JSObject *t = JS_VALUE_GET_OBJ(tmpl), *p;
    JSShapeProperty *prs;
    int i, count, k = 0, lazy = 0;
    JSContext *realm = NULL;
    JSValue obj = JS_NewObjectFromShape(ctx, js_dup_shape(t->shape), t->class_id, NULL);

    if (JS_IsException(obj)) {
        for (i = 0; i < n; i++)
            JS_FreeValue(ctx, vals[i]);
        return obj;
    }
    p = JS_VALUE_GET_OBJ(obj);
    prs = get_shape_prop(t->shape);
    count = t->shape->prop_count;
    for (i = 0; i < count; i++) {
        switch (prs[i].flags & JS_PROP_TMASK) {
        case JS_PROP_AUTOINIT:
            /* most of them, and of one realm: it is told of all at once */
            p->prop[i] = t->prop[i];
            if (unlikely(js_autoinit_get_realm(&t->prop[i]) != realm)) {
                if (realm)
                    JS_REF_COUNT(realm) += lazy;
                realm = js_autoinit_get_realm(&t->prop[i]);
                lazy = 0;
            }
            lazy++;
            break;
        case JS_PROP_GETSET:
            p->prop[i] = t->prop[i];
            if (p->prop[i].u.getset.getter)
                JS_REF_COUNT(p->prop[i].u.getset.getter)++;
            if (p->prop[i].u.getset.setter)
                JS_REF_COUNT(p->prop[i].u.getset.setter)++;
            break;
        case JS_PROP_VARREF:
            p->prop[i] = t->prop[i];
            JS_REF_COUNT(p->prop[i].u.var_ref)++;
            break;
        default:
            if (prs[i].atom != JS_ATOM_NULL && k < n)
                p->prop[i].u.value = vals[k++];
            else
                p->prop[i].u.value = js_dup(t->prop[i].u.value);
        }
    }
    if (realm)
        JS_REF_COUNT(realm) += lazy;
    for (; k < n; k++) /* more values than slots: a host bug, but no leak */
        JS_FreeValue(ctx, vals[k]);
    p->u.opaque = opaque;
    return obj;
}

/* ---- odds and ends ---- */

void *onrush_stack_frame(JSContext *ctx) { return ctx->rt->current_stack_frame; }

void onrush_script_files(JSContext *ctx, const void *boundary, JSAtom *caller, JSAtom *outermost)
{
    JSFunctionBytecode *first = NULL, *last = NULL;

    for (JSStackFrame *sf = ctx->rt->current_stack_frame; sf && sf != boundary; sf = sf->prev_frame) {
        if (JS_VALUE_GET_TAG(sf->cur_func) != JS_TAG_OBJECT)
            continue;
        JSObject *p = JS_VALUE_GET_OBJ(sf->cur_func);
        if (!js_class_has_bytecode(p->class_id))
            continue;
        last = p->u.func.function_bytecode;
        if (!first)
            first = last;
    }
    *caller = first ? JS_DupAtom(ctx, first->filename) : JS_ATOM_NULL;
    *outermost = last ? JS_DupAtom(ctx, last->filename) : JS_ATOM_NULL;
}

JSAtom onrush_script_place(JSContext *ctx, JSValue *name, int *line, int *column)
{
    for (JSStackFrame *sf = ctx->rt->current_stack_frame; sf; sf = sf->prev_frame) {
        if (JS_VALUE_GET_TAG(sf->cur_func) != JS_TAG_OBJECT)
            continue;
        JSObject *p = JS_VALUE_GET_OBJ(sf->cur_func);
        if (!js_class_has_bytecode(p->class_id) || !sf->cur_pc)
            continue;
        JSFunctionBytecode *b = p->u.func.function_bytecode;
        JSProperty *pr;
        JSShapeProperty *prs = find_own_property(&pr, p, JS_ATOM_name);

        *line = find_line_num(ctx, b, sf->cur_pc - b->byte_code_buf - 1, column);
        *name = JS_UNDEFINED;
        if (prs && (prs->flags & JS_PROP_TMASK) == JS_PROP_NORMAL && JS_IsString(pr->u.value))
            *name = js_dup(pr->u.value);
        return JS_DupAtom(ctx, b->filename);
    }
    return JS_ATOM_NULL;
}

int onrush_is_async_function(JSValueConst func)
{
    if (JS_VALUE_GET_TAG(func) != JS_TAG_OBJECT)
        return 0;
    JSObject *p = JS_VALUE_GET_OBJ(func);
    return js_class_has_bytecode(p->class_id) &&
           (p->u.func.function_bytecode->func_kind & JS_FUNC_ASYNC) != 0;
}

long onrush_gc_count(JSRuntime *rt)
{
    long n = 0;
    struct list_head *el;
    list_for_each(el, &rt->gc_obj_list)
        n++;
    return n;
}

uint32_t *onrush_rt_poke(JSRuntime *rt) { return &rt->onrush_poke; }

static const uint8_t *onrush_ascii(JSString *p, size_t *len)
{
    if (p->is_wide_char)
        return NULL;
    const uint8_t *s = str8(p);
    size_t n = p->len, i = 0;
    /* blocks without an early exit are vectorised */
    for (; i + 64 <= n; i += 64) {
        uint8_t bits = 0;
        for (int k = 0; k < 64; k++)
            bits |= s[i + k];
        if (bits & 0x80)
            return NULL;
    }
    /* short texts are the rule: words, the last of which may overlap the one before */
    uint64_t word = 0, last;
    if (n >= 8) {
        for (; i + 8 <= n; i += 8) {
            memcpy(&last, s + i, 8);
            word |= last;
        }
        memcpy(&last, s + n - 8, 8);
        word |= last;
    } else {
        for (; i < n; i++)
            word |= s[i];
    }
    if (word & 0x8080808080808080)
        return NULL;
    *len = n;
    return s;
}

const uint8_t *onrush_string_ascii(JSValueConst str, size_t *len)
{
    return JS_VALUE_GET_TAG(str) == JS_TAG_STRING ? onrush_ascii(JS_VALUE_GET_STRING(str), len) : NULL;
}

const uint8_t *onrush_atom_ascii(JSRuntime *rt, JSAtom atom, size_t *len)
{
    if (__JS_AtomIsTaggedInt(atom) || rt->atom_array[atom]->atom_type != JS_ATOM_TYPE_STRING)
        return NULL;
    return onrush_ascii(rt->atom_array[atom], len);
}

int onrush_plain_keys(JSRuntime *rt, JSValueConst obj, JSAtom *names, int max)
{
    if (JS_VALUE_GET_TAG(obj) != JS_TAG_OBJECT)
        return -1;
    JSObject *p = JS_VALUE_GET_OBJ(obj);
    JSShape *sh = p->shape;
    if (p->class_id != JS_CLASS_OBJECT || p->is_exotic || sh->prop_count > max)
        return -1;
    JSShapeProperty *prs = get_shape_prop(sh);
    int n = 0;
    for (int i = 0; i < sh->prop_count; i++, prs++) {
        if (prs->atom == JS_ATOM_NULL)
            continue;
        if (__JS_AtomIsTaggedInt(prs->atom) || (prs->flags & JS_PROP_TMASK) == JS_PROP_VARREF)
            return -1;
        JSAtomStruct *name = rt->atom_array[prs->atom];
        if (name->atom_type != JS_ATOM_TYPE_STRING || !(prs->flags & JS_PROP_ENUMERABLE))
            continue;
        /* an index begins with a digit */
        if (name->len > 0) {
            uint32_t first = name->is_wide_char ? str16(name)[0] : str8(name)[0];
            if (first >= '0' && first <= '9')
                return -1;
        }
        names[n++] = prs->atom;
    }
    for (int i = 0; i < n; i++)
        JS_DupAtomRT(rt, names[i]);
    return n;
}

/* the words of one property begin with its name, what it is, and how much of it there is */
enum { LITERAL_NAME, LITERAL_TEXT, LITERAL_INT, LITERAL_CONSTANT, LITERAL_OBJECT };

#define LITERAL(name, kind, n) ((uint64_t)(name) | (uint64_t)(kind) << 32 | (uint64_t)(n) << 40)
#define LITERAL_ATOM(word) ((JSAtom)(word))
#define LITERAL_KIND(word) ((word) >> 32 & 0xff)
#define LITERAL_COUNT(word) ((word) >> 40)

/* Texts of this many bytes are told apart by what they say, longer ones by being the same name. */
#define LITERAL_TEXT_MAX 64
#define LITERAL_NAME_MAX 1024

/* How many words there are now, -1 where the object is not one that source text spells out. */
static int onrush_describe(JSRuntime *rt, JSObject *p, uint64_t *words, int n, int max, int depth)
{
    JSShape *sh = p->shape;
    if (p->class_id != JS_CLASS_OBJECT || p->is_exotic || depth > 2)
        return -1;
    JSShapeProperty *prs = get_shape_prop(sh);
    for (int i = 0; i < sh->prop_count; i++, prs++) {
        if ((prs->flags & (JS_PROP_TMASK | JS_PROP_ENUMERABLE)) != JS_PROP_ENUMERABLE ||
            prs->atom == JS_ATOM_NULL || n + 2 > max)
            return -1;
        if (!__JS_AtomIsTaggedInt(prs->atom)) {
            JSAtomStruct *name = rt->atom_array[prs->atom];
            if (name->atom_type != JS_ATOM_TYPE_STRING || name->len > LITERAL_NAME_MAX)
                return -1;
        }
        JSValue val = p->prop[i].u.value;
        switch (JS_VALUE_GET_TAG(val)) {
        case JS_TAG_STRING: {
            JSString *str = JS_VALUE_GET_STRING(val);
            if (str->atom_type == JS_ATOM_TYPE_STRING && str->len <= LITERAL_NAME_MAX) {
                words[n++] = LITERAL(prs->atom, LITERAL_NAME, 1);
                words[n++] = (uintptr_t)str;
                break;
            }
            int count = (str->len + 7) / 8;
            if (str->is_wide_char || str->len > LITERAL_TEXT_MAX || n + 1 + count > max)
                return -1;
            words[n++] = LITERAL(prs->atom, LITERAL_TEXT, str->len);
            if (count > 0)
                words[n + count - 1] = 0;
            memcpy(&words[n], str8(str), str->len);
            n += count;
            break;
        }
        case JS_TAG_INT:
            words[n++] = LITERAL(prs->atom, LITERAL_INT, 1);
            words[n++] = (uint32_t)JS_VALUE_GET_INT(val);
            break;
        case JS_TAG_BOOL:
            words[n++] = LITERAL(prs->atom, LITERAL_CONSTANT, JS_VALUE_GET_BOOL(val) ? 1 : 0);
            break;
        case JS_TAG_UNDEFINED:
            words[n++] = LITERAL(prs->atom, LITERAL_CONSTANT, 2);
            break;
        case JS_TAG_NULL:
            words[n++] = LITERAL(prs->atom, LITERAL_CONSTANT, 3);
            break;
        case JS_TAG_OBJECT: {
            JSObject *inner = JS_VALUE_GET_OBJ(val);
            words[n++] = LITERAL(prs->atom, LITERAL_OBJECT, inner->shape->prop_count);
            n = onrush_describe(rt, inner, words, n, max, depth + 1);
            if (n < 0)
                return -1;
            break;
        }
        default:
            return -1;
        }
    }
    return n;
}

int onrush_literals(JSRuntime *rt, JSValueConst obj, uint64_t *words, int max)
{
    if (JS_VALUE_GET_TAG(obj) != JS_TAG_OBJECT)
        return -1;
    return onrush_describe(rt, JS_VALUE_GET_OBJ(obj), words, 0, max, 0);
}

void onrush_refer_literals(JSRuntime *rt, const uint64_t *words, int count, int is_kept)
{
    for (int n = 0; n < count;) {
        uint64_t word = words[n++];
        if (is_kept)
            JS_DupAtomRT(rt, LITERAL_ATOM(word));
        switch (LITERAL_KIND(word)) {
        case LITERAL_NAME: {
            JSValue name = JS_MKPTR(JS_TAG_STRING, (void *)(uintptr_t)words[n++]);
            if (is_kept)
                js_dup(name);
            else
                JS_FreeValueRT(rt, name);
            break;
        }
        case LITERAL_TEXT:
            n += (LITERAL_COUNT(word) + 7) / 8;
            break;
        case LITERAL_INT:
            n++;
            break;
        }
        if (!is_kept)
            JS_FreeAtomRT(rt, LITERAL_ATOM(word));
    }
}

JSValue onrush_new_string_latin1(JSContext *ctx, const uint8_t *p, size_t len)
{
    if (len > JS_STRING_LEN_MAX)
        return JS_ThrowRangeError(ctx, "invalid string length");
    return js_new_string8_len(ctx, (const char *)p, (int)len);
}

const void *onrush_string_units(JSValueConst str, size_t *len, int *is_wide)
{
    if (JS_VALUE_GET_TAG(str) != JS_TAG_STRING)
        return NULL;
    JSString *p = JS_VALUE_GET_STRING(str);
    *len = p->len;
    *is_wide = p->is_wide_char;
    return p->is_wide_char ? (const void *)str16(p) : (const void *)str8(p);
}

int64_t onrush_boxed_tag(JSValueConst obj)
{
    if (JS_VALUE_GET_TAG(obj) != JS_TAG_OBJECT)
        return JS_TAG_UNDEFINED;
    JSObject *p = JS_VALUE_GET_OBJ(obj);
    switch (p->class_id) {
    case JS_CLASS_NUMBER:
    case JS_CLASS_STRING:
    case JS_CLASS_BOOLEAN:
    case JS_CLASS_SYMBOL:
    case JS_CLASS_BIG_INT:
        return JS_VALUE_GET_NORM_TAG(p->u.object_data);
    default:
        return JS_TAG_UNDEFINED;
    }
}

JSValue onrush_begin_string_latin1(JSContext *ctx, size_t len, uint8_t **units)
{
    if (len > JS_STRING_LEN_MAX)
        return JS_ThrowRangeError(ctx, "invalid string length");
    JSString *p = js_alloc_string(ctx, (int)len, 0);
    if (!p)
        return JS_EXCEPTION;
    *units = str8(p);
    /* what js_new_string8_len has beyond the last character */
    (*units)[len] = '\0';
    return JS_MKPTR(JS_TAG_STRING, p);
}
