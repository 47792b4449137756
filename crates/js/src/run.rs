//! The plain data a run hands to every worker thread.

use std::{
    collections::BTreeMap,
    sync::{Arc, atomic::AtomicU64},
};

use onrush_metrics::{Census, Registry, Subscriptions};
use onrush_net::Client;
use onrush_plan::{Consolidated, FOREVER_NS, Plan, ScenarioPlan};

use crate::{Isolation, RunState, ScriptEnv};

/// HTTP options of the script that the request path reads.
#[derive(Debug, Clone)]
pub struct HttpSettings {
    /// `maxRedirects`.
    pub max_redirects: u32,
    /// Nobody chose `max_redirects`, so reaching it deserves a warning.
    pub warns_of_redirects: bool,
    /// `userAgent`; empty sends none.
    pub user_agent: String,
    /// `batch`: parallel requests of one `http.batch`.
    pub batch: usize,
    /// `batchPerHost`.
    pub batch_per_host: usize,
    /// `discardResponseBodies`.
    pub discard_response_bodies: bool,
    /// `noCookiesReset`.
    pub no_cookies_reset: bool,
    /// `noConnectionReuse`.
    pub no_connection_reuse: bool,
    /// `noVUConnectionReuse`.
    pub no_vu_connection_reuse: bool,
    /// `throw`.
    pub throw: bool,
    /// `rps`: requests a second over all VUs; 0 is unlimited. [`RunState::set_rps_share`] says what this agent has of them.
    pub rps: u64,
    /// `httpDebug`.
    pub debug: HttpDebug,
    /// What the body of a response may unfold to.
    pub limits: onrush_net::Limits,
}

impl HttpSettings {
    /// As the options of a test say; [`HttpSettings::limits`] are not among them.
    pub fn of(test: &Consolidated) -> Self {
        let settings = &test.settings;
        let count = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        let defaults = Self::default();
        Self {
            max_redirects: u32::try_from(settings.max_redirects).unwrap_or(u32::MAX),
            warns_of_redirects: test.options.max_redirects.is_none(),
            user_agent: settings.user_agent.clone().unwrap_or(defaults.user_agent),
            batch: count(settings.batch),
            batch_per_host: count(settings.batch_per_host),
            discard_response_bodies: settings.discard_response_bodies,
            no_cookies_reset: settings.no_cookies_reset,
            no_connection_reuse: settings.no_connection_reuse,
            no_vu_connection_reuse: settings.no_vu_connection_reuse,
            throw: settings.throw,
            rps: settings.rps.unwrap_or(0),
            debug: HttpDebug::from_option(test.options.http_debug.as_deref()),
            limits: defaults.limits,
        }
    }
}

/// What `httpDebug` logs of requests and responses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum HttpDebug {
    /// Nothing.
    #[default]
    Off,
    /// Their heads.
    Headers,
    /// Their bodies as well.
    Full,
}

impl HttpDebug {
    /// As k6 reads the option: `full` is all of it, anything else that is not empty the heads.
    pub fn from_option(text: Option<&str>) -> Self {
        match text {
            None | Some("") => Self::Off,
            Some("full") => Self::Full,
            Some(_) => Self::Headers,
        }
    }
}

impl Default for HttpSettings {
    fn default() -> Self {
        Self {
            max_redirects: 10,
            warns_of_redirects: true,
            user_agent: concat!("Onrush/", env!("CARGO_PKG_VERSION")).to_owned(),
            batch: 20,
            batch_per_host: 6,
            discard_response_bodies: false,
            no_cookies_reset: false,
            no_connection_reuse: false,
            no_vu_connection_reuse: false,
            throw: false,
            rps: 0,
            debug: HttpDebug::Off,
            limits: onrush_net::Limits::default(),
        }
    }
}

/// What a scenario's VUs need to know; one per scenario, shared by all threads.
#[derive(Debug)]
pub struct ScenarioContext {
    /// The scenario's name.
    pub name: String,
    /// Executor name such as `constant-vus`.
    pub executor: String,
    /// The exported function to call.
    pub exec: String,
    /// Laid over `__ENV` while a VU runs this scenario.
    pub env: BTreeMap<String, String>,
    /// Added to all samples.
    pub tags: BTreeMap<String, String>,
    /// Nanoseconds from scenario start to its regular end, for `exec.scenario.progress`; 0 if unknown.
    pub duration_ns: u64,
    /// When it started, in the process clock; 0 until then.
    pub started_at: AtomicU64,
    /// Next `iterationInInstance`.
    pub iterations: AtomicU64,
    /// Iterations that ran to their end.
    pub done: crate::ShardedCounter,
    /// Iterations it will run in all, where the executor knows (shared-iterations, per-vu-iterations); else 0.
    pub iterations_total: u64,
    /// How often its code computed for a whole time slice, so that others of its thread had to wait.
    pub slices: AtomicU64,
}

impl RunConfig {
    /// The same test for another share of it, beside this one in the same process: with counters, marks and a limit of
    /// series of its own.
    #[must_use]
    pub fn for_share(&self, plan: &Plan) -> Self {
        Self {
            script: self.script.clone(),
            registry: self.registry.clone(),
            subscriptions: self.subscriptions.clone(),
            census: Arc::new(Census::new(Census::LIMIT)),
            isolation: self.isolation,
            options_json: self.options_json.clone(),
            export_json: self.export_json.clone(),
            tags: self.tags.clone(),
            http: self.http.clone(),
            client: self.client.clone(),
            local_ips: self.local_ips.clone(),
            state: Arc::new(RunState::default()),
            scenarios: plan.scenarios.iter().map(ScenarioContext::of).map(Arc::new).collect(),
            functions: self.functions.clone(),
            init_pass: self.init_pass,
        }
    }
}

impl ScenarioContext {
    /// That of a scenario which has not started.
    pub fn of(plan: &ScenarioPlan) -> Self {
        let scenario = &plan.scenario;
        Self {
            name: scenario.name.clone(),
            executor: scenario.executor.type_name().to_owned(),
            exec: scenario.exec.clone(),
            env: scenario.env.clone(),
            tags: scenario.tags.clone(),
            // Without an end there is no progress.
            duration_ns: if plan.regular_end_ns >= FOREVER_NS { 0 } else { plan.regular_end_ns },
            started_at: AtomicU64::new(0),
            iterations: AtomicU64::new(0),
            done: crate::ShardedCounter::default(),
            iterations_total: plan.total_iterations().unwrap_or(0),
            slices: AtomicU64::new(0),
        }
    }
}

/// Everything fixed once options are consolidated.
pub struct RunConfig {
    /// The script and its surroundings.
    pub script: Arc<ScriptEnv>,
    /// Metrics declared by init code.
    pub registry: Registry,
    /// Which tags are kept.
    pub subscriptions: Arc<Subscriptions>,
    /// Counts time series over all threads.
    pub census: Arc<Census>,
    /// VU layout in use.
    pub isolation: Isolation,
    /// Consolidated options as JSON text, for `exec.test.options`.
    pub options_json: String,
    /// The options that are set, as they were written, as JSON text: for the script's own `options` object. May be empty.
    pub export_json: String,
    /// Run-wide `tags`.
    pub tags: BTreeMap<String, String>,
    /// Request-path options.
    pub http: HttpSettings,
    /// The network side, shared by all threads.
    pub client: Arc<Client>,
    /// The addresses VUs connect from (`localIPs`): VU `i` takes number `i - 1`, going round.
    pub local_ips: Option<onrush_plan::IpPool>,
    /// Counters and marks.
    pub state: Arc<RunState>,
    /// Scenarios in plan order.
    pub scenarios: Vec<Arc<ScenarioContext>>,
    /// Names of exported functions that VUs must keep: every `exec`, plus `setup`, `teardown`, `handleSummary`.
    pub functions: Vec<String>,
    /// This is the init pass: metrics may be declared and files opened for the first time.
    pub init_pass: bool,
}
