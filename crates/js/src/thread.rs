//! One worker thread's JavaScript engine: its runtime, the shared realm and what VUs are instantiated from. `setup`
//! makes one.

mod setup;

use std::{
    cell::{Cell, OnceCell, RefCell},
    collections::BTreeMap,
    rc::Rc,
    sync::Arc,
};

use onrush_metrics::{Delta, MetricId, OwnDelay, Registry, SeriesIdx, Shard, SystemTag, TagNode};
use onrush_net::ClientShared;
use onrush_script::ScriptError;

use crate::{
    Isolation, RunConfig,
    bytecode::Bytecode,
    embed::{Ctx, Runtime},
    realm::Realm,
    slots::Slots,
    trace::Tracer,
    vu::{Vu, context},
};

/// A trend that gets a sample for each iteration of an arrival rate: the time from the start its schedule intended to its
/// end. It is there if a script declares it (in k6 it stays empty), if a threshold names it, or with `--intended-latency`.
pub const INTENDED_DURATION: &str = "iteration_intended_duration";
/// The same for each HTTP request of such iterations: its duration, and how late its iteration began. It tells what a user
/// would have seen who came when the schedule said.
pub const INTENDED_REQUEST_DURATION: &str = "http_req_intended_duration";

/// Why a worker thread's engine could not be set up.
#[derive(Debug, thiserror::Error)]
pub enum ThreadError {
    /// The network options do not make a client (bad certificate, unknown cipher, …).
    #[error("failed to set up networking: {0}")]
    Network(String),
    /// Built-in modules or the program could not be instantiated.
    #[error("failed to set up the script engine: {0}")]
    Engine(String),
    /// The engine does not compile a module of the program.
    #[error("{}", .0.render())]
    Script(Box<ScriptError>),
}

/// The engine of one worker thread. Everything in it, VUs included, stays on that thread.
pub struct JsThread {
    pub(crate) config: Arc<RunConfig>,
    pub(crate) runtime: Rc<Runtime>,
    /// The thread's shared realm in the dense layout; in the isolated layout a realm only used for bookkeeping.
    pub(crate) realm: Realm,
    pub(crate) bytecode: Arc<Bytecode>,
    pub(crate) shard: RefCell<Shard>,
    /// Declared metrics; only the init pass adds to it.
    pub(crate) registry: RefCell<Registry>,
    pub(crate) client: Rc<ClientShared>,
    /// What modules keep for all its VUs.
    pub(crate) slots: Slots,
    /// The series of iterations' own samples for the tags they were last added with.
    pub(crate) iteration_series: Cell<Option<(TagNode, [SeriesIdx; 4])>>,
    /// The name of the root group, which every VU is in most of the time.
    pub(crate) root_group: Rc<str>,
    /// Where the run is traced.
    pub(crate) tracer: OnceCell<Tracer>,
    /// Own delays since the last delta, by the scenario's place in the plan.
    own_delays: RefCell<BTreeMap<usize, OwnDelay>>,
    seeds: Cell<u64>,
    /// [`INTENDED_DURATION`], if anybody wants it.
    intended: Option<MetricId>,
    /// [`INTENDED_REQUEST_DURATION`], if anybody wants it.
    pub(crate) intended_request: Option<MetricId>,
    /// Tells the threads of the run apart.
    pub(crate) number: usize,
}

impl JsThread {
    /// A new VU, not yet initialised. `id` is its id in this instance (0 for setup, teardown and handleSummary), `id_in_test` the global one.
    pub fn new_vu(self: &Rc<Self>, id: u64, id_in_test: u64) -> Rc<Vu> {
        Vu::new(self.clone(), id, id_in_test)
    }

    /// Samples folded since the last call.
    pub fn drain(&self) -> Delta {
        self.shard.borrow_mut().drain()
    }

    /// Adds a request of a scenario whose response the kernel timed, milliseconds.
    pub(crate) fn note_own_delay(&self, scenario: usize, own_ms: f64, reported_ms: f64) {
        self.own_delays.borrow_mut().entry(scenario).or_default().note(own_ms, reported_ms);
    }

    /// Own delays since the last call, by the scenario's place in the plan.
    pub fn take_own_delays(&self) -> BTreeMap<usize, OwnDelay> {
        self.own_delays.take()
    }

    /// Hands every sample to `tap` as well, which must come before the first VU.
    pub fn tap(&self, tap: onrush_metrics::Tap) {
        self.shard.borrow_mut().tap(tap);
    }

    /// Traces what VUs do, which must come before the first VU.
    pub fn trace(&self, tracer: Tracer) {
        // There is one for each thread.
        let _ = self.tracer.set(tracer);
    }

    /// Whether raw samples or spans are wanted.
    pub fn is_tapped(&self) -> bool {
        self.shard.borrow().is_tapped() || self.tracer.get().is_some()
    }

    /// Hands over the raw samples and spans since the last call.
    pub fn hand_over(&self) {
        self.shard.borrow_mut().hand_over();
        if let Some(tracer) = self.tracer.get() {
            tracer.hand_over();
        }
    }

    /// Adds to a metric outside any iteration, with the tags of the run.
    pub fn add_sample(&self, metric: MetricId, value: f64) {
        self.add_tagged(metric, None, None, value);
    }

    /// Adds to `dropped_iterations`. `vu` is the number in the test of the VU that would have run them, if it is known.
    pub fn add_dropped(&self, scenario: usize, vu: Option<u64>, count: f64) {
        self.add_tagged(onrush_metrics::builtin::DROPPED_ITERATIONS, Some(scenario), vu, count);
    }

    /// Adds to [`INTENDED_DURATION`], if anybody wants it.
    pub fn add_intended(&self, scenario: usize, ms: f64) {
        if let Some(metric) = self.intended {
            self.add_tagged(metric, Some(scenario), None, ms);
        }
    }

    fn add_tagged(&self, metric: MetricId, scenario: Option<usize>, vu: Option<u64>, value: f64) {
        let mut shard = self.shard.borrow_mut();
        let mut node = context::base_node(&mut shard, &self.config, None, &|_| false);
        // k6: the scenario's name, but not its tags.
        if let Some(scenario) = scenario.and_then(|index| self.config.scenarios.get(index)) {
            node = shard.with_system(node, SystemTag::Scenario, &scenario.name);
        }
        // k6: here, and only here, `vu` is a tag.
        if let Some(vu) = vu.filter(|_| self.config.subscriptions.is_enabled(SystemTag::Vu)) {
            node = context::with_named(&mut shard, node, SystemTag::Vu.as_str(), &vu.to_string());
        }
        let series = shard.series(metric, node);
        shard.annotate(None);
        shard.add(series, value);
    }

    /// A fresh seed for a VU's `Math.random`.
    pub(crate) fn next_seed(&self) -> u64 {
        // SplitMix64: any 64-bit sequence without short cycles will do.
        let mut z = self.seeds.get().wrapping_add(0x9E37_79B9_7F4A_7C15);
        self.seeds.set(z);
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) | 1
    }

    /// The metrics known on this thread.
    pub(crate) fn registry(&self) -> Registry {
        self.registry.borrow().clone()
    }

    pub(crate) fn shared_realm(&self) -> Option<Ctx> {
        (self.config.isolation == Isolation::Dense).then_some(self.realm.ctx)
    }

    /// Writes to shared built-ins that iterations tried, and the last property; for the run's report.
    pub fn trapped_writes(&self) -> (u64, String) {
        (self.runtime.shared_violations(), self.runtime.last_violation())
    }
}

/// Stack that scripts may not use: QuickJS checks its limit before a call, then natives (a TLS handshake, a decoder)
/// and its own C functions need room below the deepest script frame.
pub(crate) const STACK_RESERVE_BYTES: usize = 1 << 20;
