//! A virtual user: its state and the calls the engine makes on it. Everything here runs on the VU's own fiber.

mod call;
pub(crate) mod context;
pub(crate) mod event_loop;
mod hint;
mod ids;
mod instances;
mod instantiate;
mod metadata;
pub(crate) mod modules;
mod rejections;
pub(crate) mod slices;
mod summary;
mod tags;
mod timers;

use std::{
    cell::{Cell, OnceCell, RefCell},
    collections::BTreeMap,
    rc::Rc,
    sync::Arc,
};

use onrush_fiber::FiberId;
use onrush_metrics::TagNode;
use onrush_net::Connections;
use onrush_quickjs_sys as sys;

pub use call::{CallEnd, ScriptFailure};
pub use ids::IterationIds;
pub use summary::HandleSummaryFile;

use self::{event_loop::EventLoop, instances::Instances};
use crate::{
    Isolation, JsThread, ScenarioContext, ScriptEnv,
    embed::{Ctx, Val},
    realm::Realm,
    slots::Slots,
    trace::IterationTrace,
};

/// What a VU is doing, which decides what scripts may call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum VuPhase {
    /// Running init code.
    Init,
    /// `setup()`, `teardown()` or `handleSummary()`.
    Lifecycle,
    /// An iteration of a scenario.
    Iteration,
}

/// One virtual user.
pub struct Vu {
    pub(crate) thread: Rc<JsThread>,
    pub(crate) vm: *mut sys::OnrushVm,
    /// Realm of its own in the isolated layout.
    own_realm: OnceCell<Box<Realm>>,
    /// Id in this instance; 0 for the init pass, setup, teardown and handleSummary.
    pub(crate) id: u64,
    pub(crate) id_in_test: u64,
    pub(crate) phase: Cell<VuPhase>,
    /// The call under way was cut or aborted the test: no more of its code may have an effect.
    pub(crate) is_halted: Cell<bool>,
    /// The call that runs, or ran last, is the one that ended the test.
    pub(crate) has_aborted: Cell<bool>,
    pub(crate) scenario: RefCell<Option<(usize, Arc<ScenarioContext>)>>,
    /// How long after its intended start the iteration began, milliseconds.
    late_ms: Cell<Option<f64>>,
    /// The trace of the iteration, from its first request on.
    pub(crate) trace: Cell<Option<IterationTrace>>,
    /// `__ITER`: iterations this VU has begun before this one, over all scenarios; `None` until the first.
    pub(crate) iteration: Cell<Option<u64>>,
    pub(crate) ids: Cell<IterationIds>,
    /// Run, scenario, group and VU tags interned for the samples to come.
    pub(crate) node: Cell<TagNode>,
    pub(crate) group: RefCell<Rc<str>>,
    /// `exec.vu.metrics.tags` that the script set in this activation, or deleted.
    pub(crate) custom_tags: RefCell<Option<BTreeMap<String, Option<String>>>>,
    pub(crate) event_loop: EventLoop,
    instances: RefCell<Instances>,
    /// The frame of the innermost `require()` under way, only to be compared; see [`modules`].
    requiring: Cell<*const std::ffi::c_void>,
    /// Exported functions by their index in `RunConfig::functions`.
    functions: RefCell<Vec<Val>>,
    /// The activated scenario's function, once it has been called.
    exec: RefCell<Option<Val>>,
    env: RefCell<Option<Val>>,
    /// `exec.vu.metrics.metadata` of this activation, and what `systemTags` adds to it.
    pub(crate) metadata: metadata::Metadata,
    /// Setup data, decoded once per VU; iterations share and may change it.
    data: RefCell<Option<Val>>,
    pub(crate) connections: Connections,
    /// What modules keep in it.
    pub(crate) slots: Slots,
    /// Calls made so far: iterations, `setup()`, `teardown()`. A module's state may belong to one of them.
    pub(crate) calls: Cell<u64>,
    pub(crate) fiber: Cell<Option<FiberId>>,
    /// Fibers of operations under way, which are cancelled when the call ends early.
    pub(crate) children: RefCell<Vec<FiberId>>,
}

impl Vu {
    pub(crate) fn new(thread: Rc<JsThread>, id: u64, id_in_test: u64) -> Rc<Self> {
        let seed = thread.next_seed();
        let vm = context::new_vm(&thread, seed);
        let connections = Connections::new(thread.client.clone());
        if let Some(pool) = &thread.config.local_ips {
            connections.set_local_ip(pool.address(id.saturating_sub(1)));
        }
        Rc::new(Self {
            vm,
            own_realm: OnceCell::new(),
            id,
            id_in_test,
            phase: Cell::new(VuPhase::Init),
            is_halted: Cell::new(false),
            has_aborted: Cell::new(false),
            scenario: RefCell::new(None),
            late_ms: Cell::new(None),
            trace: Cell::new(None),
            iteration: Cell::new(None),
            ids: Cell::new(IterationIds::default()),
            node: Cell::new(TagNode::ROOT),
            group: RefCell::new(thread.root_group.clone()),
            custom_tags: RefCell::new(None),
            event_loop: EventLoop::default(),
            instances: RefCell::new(Instances::default()),
            requiring: Cell::new(std::ptr::null()),
            functions: RefCell::new(Vec::new()),
            exec: RefCell::new(None),
            env: RefCell::new(None),
            metadata: metadata::Metadata::default(),
            data: RefCell::new(None),
            connections,
            slots: Slots::default(),
            calls: Cell::new(0),
            fiber: Cell::new(None),
            children: RefCell::new(Vec::new()),
            thread,
        })
    }

    /// The hooks a fiber that runs this VU must have. The caller keeps the VU alive while the fiber lives.
    pub fn hooks(self: &Rc<Self>) -> onrush_fiber::Hooks {
        context::hooks(self)
    }

    /// Id in this instance.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Its number in the whole test, `exec.vu.idInTest`.
    pub fn id_in_test(&self) -> u64 {
        self.id_in_test
    }

    pub(crate) fn script(&self) -> &ScriptEnv {
        &self.thread.config.script
    }

    pub(crate) fn realm(&self) -> &Realm {
        match self.thread.config.isolation {
            Isolation::Dense => &self.thread.realm,
            Isolation::Isolated => self.own_realm.get().map_or(&self.thread.realm, |realm| realm),
        }
    }

    pub(crate) fn ctx(&self) -> Ctx {
        self.realm().ctx
    }

    /// Bytes in this VU's JavaScript heap.
    pub fn memory_used(&self) -> usize {
        context::memory_used(self)
    }

    pub(crate) fn in_init(&self) -> bool {
        self.phase.get() == VuPhase::Init
    }

    /// Whether an iteration is under way.
    pub(crate) fn is_iterating(&self) -> bool {
        self.phase.get() == VuPhase::Iteration
    }
}

impl Drop for Vu {
    fn drop(&mut self) {
        let slots = std::mem::take(&mut self.slots);
        context::with_entered(self, || {
            drop(slots);
            self.functions.borrow_mut().clear();
            self.exec.take();
            self.env.take();
            self.data.take();
            self.event_loop.clear(0);
            self.instances.borrow_mut().clear();
        });
        context::free_vm(self);
    }
}
