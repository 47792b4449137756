//! The init pass: the script's init code run once as VU 0, before options are known.
//!
//! It yields the exported options, the exported functions, the metrics the script declares, the files it opened and
//! the arrays it shares; and it decides which VU layout the script can run in.

mod options;

use std::{cell::RefCell, collections::BTreeMap, rc::Rc, sync::Arc};

use onrush_fiber::{Reactor, ReactorConfig};
use onrush_metrics::{Registry, Subscriptions};
use onrush_net::{Client, ClientOptions};
use onrush_script::{Computed, Target};

use crate::{
    HttpSettings, Isolation, IsolationChoice, JsThread, RunConfig, RunState, ScriptEnv, ScriptFailure, ThreadError,
    embed::{Handle, JsResult},
    go_json,
    log::{Level, Line},
    vu::Vu,
};

/// What `--vu-isolation` asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum IsolationMode {
    /// Dense unless the script writes to shared built-ins.
    #[default]
    Auto,
    /// Dense whatever the script does: such writes throw.
    Dense,
    /// Isolated.
    Isolated,
}

/// What the init pass found.
pub struct Init {
    /// `options` as JSON text; `{}` when the script exports none.
    pub options_json: String,
    /// Names of all exported functions.
    pub functions: Vec<String>,
    /// Exported names that must be functions but are something else (`setup`, `teardown`, `handleSummary`).
    pub not_functions: Vec<String>,
    /// Metrics declared so far, built-ins included.
    pub registry: Registry,
    /// The layout to run in.
    pub isolation: IsolationChoice,
    /// The JavaScript heap of one VU at the end of its init code, bytes.
    pub vu_heap_bytes: usize,
}

/// Why the init pass failed.
#[derive(Debug, thiserror::Error)]
pub enum InitError {
    /// Init code threw, or aborted the test.
    #[error("{0}")]
    Script(ScriptFailure),
    /// The exported options have something that JSON cannot hold.
    #[error("{0}")]
    Options(String),
    /// The exported options are a function.
    #[error(
        "error parsing script options: exported 'options' must be an object, not a function: export what it returns"
    )]
    OptionsFunction,
    /// Init code asks for modules that are not in the program: their names are no literals. To be loaded with it
    /// ([`onrush_script::load_with`]), whereupon the pass is to be repeated.
    #[error("modules are missing")]
    NotLoaded(Vec<Computed>),
    /// The engine could not be set up.
    #[error(transparent)]
    Engine(#[from] ThreadError),
    /// The thread for the pass could not run.
    #[error("failed to start the init pass: {0}")]
    Io(#[from] std::io::Error),
}

/// Runs the init pass on a thread of its own.
pub fn run(script: &Arc<ScriptEnv>, mode: IsolationMode) -> Result<Init, InitError> {
    warn_of_old_names(script);
    let fixed = match mode {
        IsolationMode::Dense => Some((Isolation::Dense, ASKED_FOR.to_owned())),
        IsolationMode::Isolated => Some((Isolation::Isolated, ASKED_FOR.to_owned())),
        IsolationMode::Auto => script.program.shared_builtin_writes().map(|finding| {
            let module = &script.program.modules[finding.module.0 as usize].specifier;
            (
                Isolation::Isolated,
                format!("the script changes {} at {module}:{}:{}", finding.what, finding.line, finding.column),
            )
        }),
    };
    if let Some((isolation, reason)) = fixed {
        return Ok(pass(script, isolation, reason)?.0);
    }
    match pass(script, Isolation::Dense, "default".to_owned()) {
        Ok((init, None)) => Ok(init),
        Err((error, None)) => Err(error),
        // The trap fired: whether or not the script caught the error, only isolated VUs give it what it asked for.
        Ok((_, Some(property))) | Err((_, Some(property))) => {
            let reason = format!("init code changes the shared built-in property '{property}'");
            Ok(pass(script, Isolation::Isolated, reason)?.0)
        }
    }
}

/// k6's warning for a module that has got another name.
fn warn_of_old_names(script: &ScriptEnv) {
    let imports = script.program.modules.iter().flat_map(|module| &module.imports);
    let is_old = |target: &Target| matches!(target, Target::Builtin(name) if name == OLD_WEBSOCKETS);
    if imports.map(|import| &import.target).any(is_old) {
        let message = format!(
            "{OLD_WEBSOCKETS} is deprecated and will be removed in a future release. Please use k6/websockets instead."
        );
        script.log.line(Line { level: Level::Warn, message, fields: Vec::new() });
    }
}

type PassError = (InitError, Option<String>);

impl From<PassError> for InitError {
    fn from((error, _): PassError) -> Self {
        error
    }
}

/// One pass; beside its result, the property of a trapped write if there was one.
fn pass(script: &Arc<ScriptEnv>, isolation: Isolation, reason: String) -> Result<(Init, Option<String>), PassError> {
    let script = script.clone();
    let thread =
        std::thread::Builder::new().name("onrush-init".to_owned()).spawn(move || on_thread(&script, isolation, reason));
    let thread = thread.map_err(|error| (InitError::Io(error), None))?;
    // Panics of natives are caught where they happen; one that reaches this point is a bug worth its full message.
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

fn on_thread(
    script: &Arc<ScriptEnv>,
    isolation: Isolation,
    reason: String,
) -> Result<(Init, Option<String>), PassError> {
    let reactor = Reactor::new(ReactorConfig::default()).map_err(|error| (InitError::Io(error), None))?;
    let client = ClientOptions::default()
        .build()
        .map_err(|error| (InitError::Engine(ThreadError::Network(error.to_string())), None))?;
    let config = Arc::new(provisional_config(script, isolation, Arc::new(client)));
    let thread = JsThread::new(config).map_err(|error| (InitError::Engine(error), None))?;
    let outcome: Rc<RefCell<Option<Result<Found, ScriptFailure>>>> = Rc::default();
    let vu = thread.new_vu(0, 0);
    let hooks = vu.hooks();
    let (fiber_vu, slot) = (vu.clone(), outcome.clone());
    onrush_fiber::spawn(Some(hooks), move || {
        let found = fiber_vu.init_with(|exports| collect(&fiber_vu, exports));
        *slot.borrow_mut() = Some(found);
    });
    reactor.run();
    let wanted = std::mem::take(&mut *script.wanted.lock().unwrap_or_else(std::sync::PoisonError::into_inner));
    let (violations, property) = thread.trapped_writes();
    let trapped = (violations > 0).then_some(property);
    let found = outcome.take().unwrap_or_else(|| {
        Err(ScriptFailure { text: "the init pass ended early".to_owned(), aborted: false, interrupted: true })
    });
    drop(vu);
    if !wanted.is_empty() {
        return Err((InitError::NotLoaded(wanted), trapped));
    }
    match found {
        Ok(Found { wrong_kind: true, .. }) => Err((InitError::OptionsFunction, trapped)),
        Ok(Found { wrong_option: Some(what), .. }) => Err((InitError::Options(what), trapped)),
        Ok(found) => {
            let registry = thread.registry();
            let init = Init {
                options_json: found.options_json,
                functions: found.functions,
                not_functions: found.not_functions,
                registry,
                isolation: IsolationChoice { isolation, reason },
                vu_heap_bytes: found.heap_bytes,
            };
            Ok((init, trapped))
        }
        Err(failure) => Err((InitError::Script(failure), trapped)),
    }
}

struct Found {
    options_json: String,
    /// `options` is a function.
    wrong_kind: bool,
    /// What is wrong with an option, if something is.
    wrong_option: Option<String>,
    functions: Vec<String>,
    not_functions: Vec<String>,
    heap_bytes: usize,
}

fn collect(vu: &Vu, exports: &Handle) -> JsResult<Found> {
    let ctx = vu.ctx();
    let mut found = Found {
        options_json: "{}".to_owned(),
        wrong_kind: false,
        wrong_option: None,
        functions: Vec::new(),
        not_functions: Vec::new(),
        heap_bytes: vu.memory_used(),
    };
    for key in exports.keys(ctx)? {
        let name = key.text(ctx)?;
        let value = exports.get(ctx, &key)?;
        if name == "options" && value.is_function(ctx) {
            found.wrong_kind = true;
            continue;
        }
        if value.is_function(ctx) {
            found.functions.push(name);
        } else if name == "options" {
            found.wrong_option = options::lost_in_json(ctx, &value)?;
            if found.wrong_option.is_some() {
                continue;
            }
            if let Some(json) = go_json::options(ctx, &value)? {
                found.options_json = json;
            }
        } else if matches!(name.as_str(), "setup" | "teardown" | "handleSummary") && value.is_set() {
            found.not_functions.push(name);
        }
    }
    Ok(found)
}

/// The configuration of the pass itself: no options, no subscriptions.
fn provisional_config(script: &Arc<ScriptEnv>, isolation: Isolation, client: Arc<Client>) -> RunConfig {
    RunConfig {
        script: script.clone(),
        registry: Registry::new(),
        subscriptions: Arc::new(Subscriptions::builder().build()),
        census: Arc::new(onrush_metrics::Census::new(onrush_metrics::Census::LIMIT)),
        isolation,
        options_json: String::new(),
        export_json: String::new(),
        tags: BTreeMap::new(),
        http: HttpSettings::default(),
        client,
        state: Arc::new(RunState::default()),
        scenarios: Vec::new(),
        functions: Vec::new(),
        local_ips: None,
        init_pass: true,
    }
}

const OLD_WEBSOCKETS: &str = "k6/experimental/websockets";
const ASKED_FOR: &str = "asked for with --vu-isolation";
