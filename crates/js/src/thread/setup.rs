//! Setting up a thread's engine: its runtime, the hooks through which QuickJS reaches the running VU, the program.
#![expect(unsafe_code, reason = "registers callbacks with QuickJS")]

use std::{
    cell::{Cell, OnceCell, RefCell},
    rc::Rc,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use onrush_metrics::{Limits, MetricKind, Shard};
use onrush_quickjs_sys as sys;

use super::{INTENDED_DURATION, INTENDED_REQUEST_DURATION, JsThread, ThreadError};
use crate::{
    Isolation, RunConfig,
    bytecode::Bytecode,
    embed::Runtime,
    modules::declare_early,
    realm::Realm,
    slots::Slots,
    vu::{context, event_loop, modules, slices},
};

impl JsThread {
    /// Sets up the engine on the current thread, which must have a reactor.
    pub fn new(config: Arc<RunConfig>) -> Result<Rc<Self>, ThreadError> {
        let client = config.client.thread();
        // Setting up the realm runs on the thread's own stack, not on a fiber's.
        let here = std::ptr::from_ref(&client).addr();
        let runtime = Rc::new(Runtime::new(here, SETUP_STACK_BYTES));
        install_hooks(&runtime);
        slices::watch()
            .map_err(|error| ThreadError::Engine(format!("the thread that divides time cannot start: {error}")))?;
        let bytecode = compiled(&runtime, &config)?;
        let shared = config.isolation == Isolation::Dense;
        let realm = Realm::new(&runtime, &config.script, &bytecode, shared)
            .map_err(|error| ThreadError::Engine(error.message))?;
        let shard = Shard::sharing(
            &config.registry,
            config.subscriptions.clone(),
            Limits::default().value_bytes_max,
            config.census.clone(),
        );
        let trend = |name: &str| {
            let id = config.registry.lookup(name);
            id.filter(|id| config.registry.metric(*id).kind == MetricKind::Trend)
        };
        let (intended, intended_request) = (trend(INTENDED_DURATION), trend(INTENDED_REQUEST_DURATION));
        let seed = std::hash::BuildHasher::hash_one(&std::hash::RandomState::new(), here);
        let thread = Rc::new(Self {
            slots: Slots::default(),
            registry: RefCell::new(config.registry.clone()),
            config,
            runtime,
            realm,
            bytecode,
            shard: RefCell::new(shard),
            client,
            root_group: Rc::from(""),
            tracer: OnceCell::new(),
            own_delays: RefCell::default(),
            seeds: Cell::new(seed),
            intended,
            intended_request,
            number: number(),
            iteration_series: Cell::new(None),
        });
        declare_early(&thread).map_err(ThreadError::Engine)?;
        context::install_thread(&thread);
        Ok(thread)
    }
}

/// Registers the callbacks through which QuickJS reaches the current VU.
fn install_hooks(runtime: &Runtime) {
    // SAFETY: the callbacks have static lifetime and need no opaque pointer.
    unsafe {
        sys::JS_SetInterruptHandler(runtime.raw(), Some(context::interrupt), std::ptr::null_mut());
        sys::JS_SetHostPromiseRejectionTracker(runtime.raw(), Some(event_loop::track_rejection), std::ptr::null_mut());
        sys::JS_SetModuleLoaderFunc(runtime.raw(), Some(modules::normalize), modules::load, std::ptr::null_mut());
    }
}

/// The program's bytecode: compiled by the first thread that needs it, which is the init pass.
fn compiled(runtime: &Runtime, config: &RunConfig) -> Result<Arc<Bytecode>, ThreadError> {
    let mut slot = config.script.bytecode.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Some(bytecode) = slot.as_ref() {
        return Ok(bytecode.clone());
    }
    let ctx = runtime.new_realm();
    let bytecode = Bytecode::compile(ctx, &config.script.program).map_err(|throw| {
        let exception = ctx.take_exception(throw);
        let program = &config.script.program;
        match program.engine_syntax_error(&exception.message, &exception.stack) {
            Some(error) => ThreadError::Script(Box::new(error)),
            None => ThreadError::Engine(exception.message),
        }
    })?;
    *slot = Some(bytecode.clone());
    Ok(bytecode)
}

/// A number that no other thread of the process was given.
fn number() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Realm set-up runs below the thread's entry: standard built-ins need a few kilobytes.
const SETUP_STACK_BYTES: usize = 256 << 10;
