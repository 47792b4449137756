//! Metrics that a module brings with it: declared when the module is imported, as extensions of k6 do it, so that a script
//! without the module can use their names for metrics of its own.

use std::cell::RefCell;

use onrush_metrics::{Contains, MetricId, MetricKind, TagNode};
use onrush_script::{Program, Target};

use crate::{
    JsThread,
    embed::{JsResult, Throw},
    vu::{
        Vu,
        context::{thread, try_vu},
    },
};

/// A metric of a module: its name, its kind, what it contains.
pub(super) type OwnMetric = (&'static str, MetricKind, Contains);

thread_local! {
    /// Metrics of modules that were built before the thread's engine was there, in the realm that its VUs share.
    static EARLY: RefCell<Vec<Early>> = const { RefCell::new(Vec::new()) };
}

/// A module, one of its metrics, and which scripts have that.
type Early = (&'static str, OwnMetric, fn(&Program) -> bool);

/// Declares those of a module; to be called when it is built.
///
/// # Errors
/// When the script has declared another metric of that name, or imports the module after its metrics could be declared.
pub(super) fn declare(module: &'static str, metrics: &[OwnMetric]) -> JsResult<()> {
    if try_vu().is_none() {
        declare_later(module, metrics, |_| true);
        return Ok(());
    }
    declare_in(thread(), metrics).map_err(Throw::error)
}

/// Declares those of a module for scripts that may use them; others can have metrics of their own by these names.
///
/// # Errors
/// When the script has declared another metric of that name.
pub(super) fn declare_where(
    module: &'static str,
    metrics: &[OwnMetric],
    is_used: fn(&Program) -> bool,
) -> JsResult<()> {
    if try_vu().is_none() {
        declare_later(module, metrics, is_used);
        return Ok(());
    }
    // After the first run of the init code it is settled.
    if !thread().config.init_pass || !is_used(&thread().config.script.program) {
        return Ok(());
    }
    declare_in(thread(), metrics).map_err(Throw::error)
}

fn declare_later(module: &'static str, metrics: &[OwnMetric], is_used: fn(&Program) -> bool) {
    EARLY.with_borrow_mut(|early| early.extend(metrics.iter().map(|metric| (module, *metric, is_used))));
}

/// Declares those of the modules in a realm that was built for a thread: it has all modules, and the script imports some.
///
/// # Errors
/// As [`declare`].
pub(crate) fn declare_early(thread: &JsThread) -> Result<(), String> {
    let modules = &thread.config.script.program.modules;
    let is_imported = |name: &str| {
        let mut imports = modules.iter().flat_map(|module| &module.imports);
        imports.any(|import| matches!(&import.target, Target::Builtin(builtin) if builtin == name))
    };
    let program = &thread.config.script.program;
    let is_used = |(module, _, is_used): &Early| is_imported(module) && is_used(program);
    let metrics: Vec<_> = EARLY.take().into_iter().filter(is_used).map(|(_, metric, _)| metric).collect();
    declare_in(thread, &metrics)
}

fn declare_in(thread: &JsThread, metrics: &[OwnMetric]) -> Result<(), String> {
    let mut registry = thread.registry.borrow_mut();
    for &(name, kind, contains) in metrics {
        if registry.lookup(name).is_none() && !thread.config.init_pass {
            return Err(format!(
                "the module with the metric '{name}' must also be imported when the init code runs for the first time (__VU == 0)"
            ));
        }
        registry.declare(name, kind, contains).map_err(|error| error.to_string())?;
    }
    Ok(())
}

/// The id of one of them. A script that uses the module has imported it.
pub(super) fn id(metric: &OwnMetric) -> JsResult<MetricId> {
    let id = thread().registry.borrow().lookup(metric.0);
    id.ok_or_else(|| Throw::error(format!("metric '{}' is not declared", metric.0)))
}

/// Adds a sample.
pub(super) fn add(vu: &Vu, metric: MetricId, node: TagNode, value: f64) {
    let mut shard = vu.thread.shard.borrow_mut();
    let series = shard.series(metric, node);
    vu.annotate(&mut shard);
    shard.add(series, value);
}
