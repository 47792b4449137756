//! `k6/metrics`: Counter, Gauge, Rate, Trend.

use onrush_metrics::{Contains, MetricId, MetricKind, Registry};

use super::{export::export_class, tag_value};
use crate::{
    embed::{Args, Ctx, Handle, HostClass, HostObject, JsResult, Throw, Val},
    log::Level,
    vu::context::{thread, vu, with_named},
};

/// A metric as scripts hold it.
struct ScriptMetric {
    id: MetricId,
    kind: MetricKind,
}

impl HostObject for ScriptMetric {
    const NAME: &'static str = "Metric";
}

pub(super) fn install_classes(ctx: Ctx) -> JsResult<()> {
    let prototype = ctx.object()?;
    prototype.method(ctx, "add", 2, add)?;
    prototype.define_getter(ctx, "name", ctx.getter("name", name)?)?;
    HostClass::<ScriptMetric>::set_prototype(ctx, prototype);
    Ok(())
}

pub(super) fn build(ctx: Ctx) -> JsResult {
    let exports = ctx.object()?;
    let base = HostClass::<ScriptMetric>::prototype(ctx);
    let prototype = || -> JsResult {
        let prototype = ctx.object()?;
        prototype.set_prototype(ctx, &base)?;
        Ok(prototype)
    };
    export_class(ctx, &exports, "Counter", &prototype()?, |ctx, target, args| {
        construct(ctx, target, args, MetricKind::Counter)
    })?;
    export_class(ctx, &exports, "Gauge", &prototype()?, |ctx, target, args| {
        construct(ctx, target, args, MetricKind::Gauge)
    })?;
    export_class(ctx, &exports, "Rate", &prototype()?, |ctx, target, args| {
        construct(ctx, target, args, MetricKind::Rate)
    })?;
    export_class(ctx, &exports, "Trend", &prototype()?, |ctx, target, args| {
        construct(ctx, target, args, MetricKind::Trend)
    })?;
    Ok(exports)
}

fn construct(ctx: Ctx, target: &Handle, args: Args<'_>, kind: MetricKind) -> JsResult {
    let vu = vu();
    if !vu.in_init() {
        return Err(Throw::error("metrics must be declared in the init context"));
    }
    let name = args.at(0).to_text(ctx)?;
    let contains = if args.at(1).truthy(ctx) { Contains::Time } else { Contains::Default };
    let thread = thread();
    let id = {
        let mut registry = thread.registry.borrow_mut();
        if registry.lookup(&name).is_none() && !thread.config.init_pass {
            // A name no metric can have is what is wrong first.
            Registry::new().declare(&name, kind, contains).map_err(|error| Throw::error(error.to_string()))?;
            // Thresholds and subscriptions are fixed by now, and other threads would not know the metric.
            return Err(Throw::error(format!(
                "metric '{name}' must also be declared when the init code runs for the first time (__VU == 0)"
            )));
        }
        registry.declare(&name, kind, contains).map_err(|error| Throw::error(error.to_string()))?
    };
    let object = HostClass::create(ctx, ScriptMetric { id, kind })?;
    // Without `new` there is no target.
    if target.is_object() {
        let prototype = target.get(ctx, "prototype")?;
        if prototype.is_object() {
            object.set_prototype(ctx, &prototype)?;
        }
    }
    Ok(object)
}

fn name(ctx: Ctx, this: &Handle) -> JsResult {
    let metric = HostClass::<ScriptMetric>::expect(this)?;
    Val::string(ctx, &metric.name())
}

impl ScriptMetric {
    /// A copy: nobody may hold the registry while script code runs, which may wait and let another VU declare metrics.
    fn name(&self) -> String {
        thread().registry.borrow().metric(self.id).name.to_string()
    }
}

/// `metric.add(value, tags?)`: whether the value was taken.
fn add(ctx: Ctx, this: &Handle, args: Args<'_>) -> JsResult {
    let metric = HostClass::<ScriptMetric>::expect(this)?;
    let vu = vu();
    if vu.in_init() {
        return Err(Throw::error("Adding to metrics in the init context is not supported"));
    }
    let value = match number(ctx, metric, args)? {
        Ok(value) => value,
        Err(problem) if thread().config.http.throw => return Err(Throw::error(problem)),
        Err(problem) => {
            vu.log(Level::Warn, problem);
            return Ok(Val::bool(false));
        }
    };
    let mut node = vu.node.get();
    let outcome = tag_value::for_each(ctx, args.at(1), |name, text| {
        node = with_named(&mut vu.thread.shard.borrow_mut(), node, name, text);
    })?;
    if let Err(tag) = outcome {
        return Err(Throw::error(format!(
            "cannot add tags for the '{}' custom metric: {}",
            metric.name(),
            tag_value::complaint(&tag)
        )));
    }
    let mut shard = vu.thread.shard.borrow_mut();
    let series = shard.series(metric.id, node);
    vu.annotate(&mut shard);
    if metric.kind == MetricKind::Gauge {
        // Its last value is the latest of all threads.
        shard.set_time(onrush_fiber::Clock::now().0);
    }
    shard.add(series, value);
    Ok(Val::bool(true))
}

/// The sample's value, or the text of k6's complaint about it.
fn number(ctx: Ctx, metric: &ScriptMetric, args: Args<'_>) -> JsResult<Result<f64, String>> {
    let given = args.at(0);
    if args.len() == 0 {
        return Ok(Err(format!(
            "no value was provided for metric '{}', a number or a boolean value is expected",
            metric.name()
        )));
    }
    let value =
        if given.is_null() || given.is_bigint() || given.is_symbol() { f64::NAN } else { given.to_number(ctx)? };
    if value.is_nan() {
        let shown = if given.is_symbol() { "Symbol()".to_owned() } else { given.to_text(ctx)? };
        return Ok(Err(format!(
            "'{shown}' is an invalid value for metric '{}', a number or a boolean value is expected",
            metric.name()
        )));
    }
    Ok(Ok(if metric.kind == MetricKind::Rate { f64::from(u8::from(value != 0.0)) } else { value }))
}
