//! Calls the engine makes: iterations, `setup`, `teardown`.

use std::sync::Arc;

use onrush_fiber::{Clock, Nanos};

use super::{IterationIds, Vu, VuPhase, context};
use crate::{
    ScenarioContext,
    embed::{Exception, JsResult, Throw, Val},
    go_json,
    log::{Level, Line},
};

/// How a call ended.
#[derive(Debug)]
pub enum CallEnd {
    /// It returned (or its promise was fulfilled).
    Returned,
    /// It threw; the failure has been logged.
    Threw(ScriptFailure),
    /// It ended the test itself, with `exec.test.abort()`.
    Aborted,
    /// It was cut from outside: cancelled, or another VU ended the test.
    Interrupted,
}

/// An uncaught exception, positions already mapped to the user's sources.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct ScriptFailure {
    /// Message and stack as printed.
    pub text: String,
    /// The script called `exec.test.abort()`.
    pub aborted: bool,
    /// The call was cut from outside.
    pub interrupted: bool,
}

impl ScriptFailure {
    pub(crate) fn from_throw(vu: &Vu, throw: Throw) -> Self {
        let exception = vu.ctx().take_exception(throw);
        Self::from_exception(vu, exception)
    }

    pub(crate) fn from_exception(vu: &Vu, exception: Exception) -> Self {
        let aborted = vu.thread.config.state.aborted();
        // What a halted call throws in its last throes is not the script's failure.
        let interrupted = exception.interrupted || vu.is_halted.get();
        if let (true, Some(abort)) = (interrupted, aborted) {
            return Self { text: abort.message, aborted: true, interrupted: true };
        }
        let mut text = exception.message;
        if context::take_out_of_memory() {
            let limit = vu.script().memory_limit_bytes >> 20;
            // Without memory for an error object QuickJS throws null.
            let thrown = if text == "null" { "InternalError: out of memory" } else { &text };
            text = format!(
                "the VU's JavaScript heap reached its limit of {limit} MiB; raise it with --vu-memory-limit\n{thrown}"
            );
            // The collector may not have run for long, as its next run is set by what was alive at the last one.
            context::collect_garbage();
        }
        if !exception.stack.is_empty() {
            text.push_str(&stack_lines(&vu.script().program.remap_stack(exception.stack.trim_end())));
        }
        Self { text, aborted: false, interrupted }
    }
}

impl Vu {
    /// Where the script code that runs is, as k6 shows a place: `at f (file:///x.js:1:2)`. Empty when none runs.
    pub(crate) fn place(&self) -> String {
        let frame = self.script().program.remap_stack(&self.ctx().frame());
        stack_lines(&frame).trim_start().to_owned()
    }
}

/// The engine's stack as k6 shows one: lines indented by a tab, functions without a name as their place alone, and no
/// places within texts that were parsed.
fn stack_lines(stack: &str) -> String {
    let mut text = String::with_capacity(stack.len());
    for line in stack.lines().filter(|line| !line.starts_with("    at <input>:")) {
        text.push('\n');
        match line.strip_prefix("    at ") {
            Some(frame) => {
                let nameless = frame.strip_prefix("<anonymous> (").and_then(|place| place.strip_suffix(')'));
                // What has no name is `native` at best: that is a place only together with one.
                let nameless = nameless.filter(|place| place.contains(':'));
                text.push_str("\tat ");
                text.push_str(nameless.unwrap_or(frame));
            }
            None => text.push_str(line),
        }
    }
    text
}

/// Timers of one call named in the log when they are dropped.
const STOPPED_TIMERS_SHOWN: usize = 10;

impl Vu {
    /// Prepares the VU for a scenario: environment, tags, counters. `None` for setup and teardown.
    pub fn activate(&self, scenario: Option<(usize, Arc<ScenarioContext>)>) {
        context::with_current(self, || drop((self.env.take(), self.exec.take())));
        self.metadata.clear();
        *self.scenario.borrow_mut() = scenario;
        self.custom_tags.take();
        self.group.replace(self.thread.root_group.clone());
        self.late_ms.set(None);
        self.ids.set(IterationIds::default());
        self.refresh_tags();
    }

    /// Says how long after its intended start the next iteration begins, milliseconds; `None` where no start is intended.
    pub fn set_late(&self, late_ms: Option<f64>) {
        self.late_ms.set(late_ms);
    }

    /// How long after its intended start the iteration began, milliseconds.
    pub(crate) fn late_ms(&self) -> Option<f64> {
        self.late_ms.get()
    }

    /// Runs one iteration of the activated scenario and emits its samples. `setup_data` is JSON text, decoded once.
    ///
    /// `now` is when it starts; afterwards, when it ended.
    ///
    /// Must be called on the VU's fiber. A cancelled fiber ends the iteration with [`CallEnd::Interrupted`] and stays
    /// cancelled; the caller clears that.
    pub fn run_iteration(&self, ids: IterationIds, setup_data: Option<&str>, now: &mut Nanos) -> CallEnd {
        self.phase.set(VuPhase::Iteration);
        context::begin_call(self);
        self.has_aborted.set(false);
        self.ids.set(ids);
        self.iteration.set(Some(self.iteration.get().map_or(0, |previous| previous + 1)));
        self.metadata.outdate();
        self.calls.set(self.calls.get() + 1);
        let start = *now;
        let result = self.setup_data(setup_data).and_then(|data| {
            let function = self.exec()?;
            self.call_kept(&function, &[&data])
        });
        let end = self.finish(result.map(drop));
        *now = Clock::now();
        if self.trace.get().is_some() {
            let error = match &end {
                CallEnd::Threw(failure) => failure.text.lines().next(),
                end => (!end.is_complete()).then_some("interrupted"),
            };
            self.end_trace(start, *now, error);
        }
        self.phase.set(VuPhase::Lifecycle);
        let duration_ms = end.is_complete().then(|| (*now - start).as_millis_f64());
        self.iteration_samples(duration_ms);
        if self.thread.config.http.no_vu_connection_reuse {
            self.connections.close_idle();
        }
        end
    }

    /// Counts an iteration that is over, as complete or as interrupted. k6: what it has to wait after its function is a part
    /// of it; and one that aborts the test has its samples, and is counted as interrupted all the same.
    pub fn count_iteration(&self, is_whole: bool) {
        let state = &self.thread.config.state;
        let ended = if is_whole { &state.iterations_completed } else { &state.iterations_interrupted };
        ended.increment(self.thread.number);
    }

    /// The function of the activated scenario.
    fn exec(&self) -> JsResult {
        if let Some(function) = &*self.exec.borrow() {
            return Ok(function.clone());
        }
        let scenario = self.scenario.borrow();
        let function = self.exported(scenario.as_ref().map_or("default", |(_, scenario)| &scenario.exec))?;
        *self.exec.borrow_mut() = Some(function.clone());
        Ok(function)
    }

    /// Runs `setup()`: JSON text of what it returned, `None` for undefined. The inner error is why that has none.
    ///
    /// # Errors
    /// When it throws.
    pub fn setup(&self) -> Result<Result<Option<String>, String>, ScriptFailure> {
        self.lifecycle("::setup", || {
            let result = self.call_exported("setup", &[])?;
            let json = go_json::data(self.ctx(), &result)?;
            Ok(json.map_err(|error| format!("error marshaling setup() data to JSON: {error}")))
        })
    }

    /// Runs `teardown(data)`.
    pub fn teardown(&self, setup_data: Option<&str>) -> Result<(), ScriptFailure> {
        self.lifecycle("::teardown", || {
            let data = self.setup_data(setup_data)?;
            self.call_exported("teardown", &[&data]).map(drop)
        })
    }

    fn lifecycle<R>(&self, group: &str, body: impl FnOnce() -> JsResult<R>) -> Result<R, ScriptFailure> {
        self.phase.set(VuPhase::Lifecycle);
        context::begin_call(self);
        self.calls.set(self.calls.get() + 1);
        self.in_group(group.into(), || {
            let result = body().map_err(|throw| ScriptFailure::from_throw(self, throw));
            self.abandon_pending();
            self.iteration_samples(None);
            result
        })
    }

    /// Turns a call's result into its end: logs an exception, drops what is still pending.
    fn finish(&self, result: JsResult<()>) -> CallEnd {
        let Err(throw) = result else {
            self.event_loop.abandon_sources(self);
            return CallEnd::Returned;
        };
        let failure = ScriptFailure::from_throw(self, throw);
        self.abandon_pending();
        if failure.interrupted {
            return if self.has_aborted.get() { CallEnd::Aborted } else { CallEnd::Interrupted };
        }
        self.log_failure(&failure);
        CallEnd::Threw(failure)
    }

    /// After an exception or interruption nothing of the call may run on.
    fn abandon_pending(&self) {
        self.event_loop.abandon_sources(self);
        let (count, named) = self.event_loop.clear(STOPPED_TIMERS_SHOWN);
        for timer in &named {
            self.log(Level::Warn, format!("{timer} was stopped because the VU iteration was interrupted"));
        }
        if count > named.len() {
            self.log(
                Level::Warn,
                format!("{} more timers were stopped because the VU iteration was interrupted", count - named.len()),
            );
        }
        for child in self.children.borrow().iter() {
            onrush_fiber::cancel(*child);
        }
        self.await_operations();
        self.event_loop.clear(0);
    }

    fn log_failure(&self, failure: &ScriptFailure) {
        let mut fields = Vec::new();
        if let Some((_, scenario)) = self.scenario.borrow().as_ref() {
            fields.push(("executor".into(), scenario.executor.clone()));
            fields.push(("scenario".into(), scenario.name.clone()));
        }
        fields.extend(super::hint::of(&failure.text).map(|hint| ("hint".into(), hint)));
        // k6: rejections that nobody handles come from elsewhere.
        let is_rejection = failure.text.starts_with("Uncaught (in promise)");
        if !is_rejection {
            fields.push(("source".into(), "stacktrace".to_owned()));
        }
        // k6: frames end with a line break; what was rejected without any has none.
        let end = if is_rejection && !failure.text.contains('\n') { "" } else { "\n" };
        self.script().log.line(Line { level: Level::Error, message: format!("{}{end}", failure.text), fields });
    }

    /// Writes a line of the engine's own.
    pub(crate) fn log(&self, level: Level, message: String) {
        self.script().log.line(Line { level, message, fields: Vec::new() });
    }

    fn setup_data(&self, text: Option<&str>) -> JsResult {
        let Some(text) = text else { return Ok(Val::undefined()) };
        if let Some(data) = self.data.borrow().as_ref() {
            return Ok(data.clone());
        }
        let data = self.ctx().parse_json(text.as_bytes())?;
        *self.data.borrow_mut() = Some(data.clone());
        Ok(data)
    }

    /// `__ENV` of this activation: the run's environment with the scenario's laid over it.
    pub(crate) fn env(&self) -> JsResult {
        if let Some(env) = self.env.borrow().as_ref() {
            return Ok(env.clone());
        }
        let ctx = self.ctx();
        let object = ctx.object()?;
        let scenario = self.scenario.borrow().as_ref().map(|(_, scenario)| scenario.clone());
        let overlay = scenario.iter().flat_map(|scenario| scenario.env.iter());
        for (name, value) in self.script().env.iter().chain(overlay) {
            object.define(ctx, name, Val::string(ctx, value)?)?;
        }
        if self.script().freezes_env {
            object.freeze(ctx)?;
        }
        *self.env.borrow_mut() = Some(object.clone());
        Ok(object)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stacks_look_as_k6s() {
        let check = |stack: &str, expect: &str| assert_eq!(stack_lines(stack), expect);
        check("", "");
        check(
            "    at f (file:///a.js:4:15)\n    at <anonymous> (file:///a.js:6:21)\n    at forEach (native)",
            "\n\tat f (file:///a.js:4:15)\n\tat file:///a.js:6:21\n\tat forEach (native)",
        );
        check("    at <input>:1:2\n    at parse (native)", "\n\tat parse (native)");
        check("    at <anonymous> (native)", "\n\tat <anonymous> (native)");
    }
}
