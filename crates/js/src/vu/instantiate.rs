//! Bringing a VU to life: its realm if it has its own, its module instances, and the functions it keeps.

use onrush_script::{Import, ModuleKind, Program};

use super::{CallEnd, ScriptFailure, Vu, VuPhase};
use crate::{
    Isolation,
    embed::{Handle, JsResult, Throw, Val},
    realm::Realm,
};

impl Vu {
    /// Runs the init code. Must be called on the VU's fiber, once.
    pub fn init(&self) -> Result<(), ScriptFailure> {
        self.fiber.set(onrush_fiber::current());
        self.init_with(|exports| self.keep_functions(exports))
    }

    /// Runs the init code and hands the exports to `then` before module records are released.
    pub(crate) fn init_with<R>(&self, then: impl FnOnce(&Handle) -> JsResult<R>) -> Result<R, ScriptFailure> {
        if self.thread.config.isolation == Isolation::Isolated && self.own_realm.get().is_none() {
            let realm = Realm::new(&self.thread.runtime, self.script(), &self.thread.bytecode, false)
                .map_err(|error| ScriptFailure::from_exception(self, error))?;
            let _ = self.own_realm.set(Box::new(realm));
        }
        self.phase.set(VuPhase::Init);
        super::context::begin_call(self);
        self.refresh_tags();
        let result = self.evaluate().and_then(|exports| then(&exports));
        let result = result.map_err(|throw| {
            let failure = ScriptFailure::from_throw(self, throw);
            let text = missing_export(&self.script().program, &failure.text).unwrap_or(failure.text);
            ScriptFailure { text, ..failure }
        });
        self.release_records();
        // Evaluating modules leaves cycles behind (promises, namespaces): they would stay until the first collection,
        // which most VUs never reach.
        super::context::collect_garbage();
        self.phase.set(VuPhase::Lifecycle);
        result
    }

    fn evaluate(&self) -> JsResult {
        let program = self.script().program.clone();
        let exports = match program.modules[program.entry.0 as usize].kind {
            ModuleKind::Esm => self.import_entry(program.entry)?,
            ModuleKind::CommonJs => self.require(program.entry)?,
        };
        self.drain()?;
        Ok(exports)
    }

    /// Keeps the exported functions scenarios call, and shows the script its final options.
    fn keep_functions(&self, exports: &Handle) -> JsResult<()> {
        let ctx = self.ctx();
        let mut functions = Vec::with_capacity(self.thread.config.functions.len());
        for name in &self.thread.config.functions {
            let function = exports.get(ctx, name)?;
            functions.push(if function.is_function(ctx) { function } else { Val::undefined() });
        }
        *self.functions.borrow_mut() = functions;
        self.rewrite_options(exports)
    }

    /// k6 overwrites the properties of an exported `options` object with what is set anywhere, in every VU.
    fn rewrite_options(&self, exports: &Handle) -> JsResult<()> {
        let ctx = self.ctx();
        let options = exports.get(ctx, "options")?;
        if !options.is_object() || self.thread.config.export_json.is_empty() {
            return Ok(());
        }
        let set = ctx.parse_json(self.thread.config.export_json.as_bytes())?;
        for key in set.keys(ctx)? {
            let value = set.get(ctx, &key)?;
            // A frozen options object stays as it is.
            if value.is_set() && options.set(ctx, &key, value).is_err() {
                drop(ctx.take_exception_value());
                return Ok(());
            }
        }
        Ok(())
    }

    /// The kept function of that name, if the script exports it.
    pub(crate) fn function(&self, name: &str) -> Option<Val> {
        let index = self.thread.config.functions.iter().position(|known| known == name)?;
        self.functions.borrow().get(index).filter(|function| function.is_object()).cloned()
    }

    /// Whether the script exports that function.
    pub fn exports(&self, name: &str) -> bool {
        self.function(name).is_some()
    }

    /// As [`Vu::function`]; an error if there is none.
    pub(crate) fn exported(&self, name: &str) -> JsResult {
        self.function(name).ok_or_else(|| Throw::error(format!("function '{name}' not found in exports")))
    }

    pub(crate) fn call_exported(&self, name: &str, args: &[&Handle]) -> JsResult {
        let function = self.exported(name)?;
        self.call_kept(&function, args)
    }

    /// Calls a function and waits until nothing it started is left to run.
    pub(crate) fn call_kept(&self, function: &Handle, args: &[&Handle]) -> JsResult {
        let result = self.ctx().call(function, Handle::UNDEFINED, args)?;
        let result = if result.is_promise() { self.settle_call(result)? } else { result };
        self.drain()?;
        Ok(result)
    }

    /// Not inlined: its frame would be saved with every VU that waits in a synchronous function.
    #[inline(never)]
    fn settle_call(&self, promise: Val) -> JsResult {
        self.settle(promise).map_err(|throw| match throw {
            // k6: what an async function throws is a rejection nobody handles.
            Throw::Pending => {
                let exception = self.ctx().take_exception(throw);
                if exception.interrupted { Throw::Interrupted } else { Throw::Uncaught(Box::new(exception)) }
            }
            other => other,
        })
    }
}

impl CallEnd {
    /// Whether the call ran to an end of its own, throwing or not. k6: ending the test is one.
    pub fn is_complete(&self) -> bool {
        !matches!(self, Self::Interrupted)
    }
}

/// k6's text for an export that is not there, and the import that asks for it: QuickJS names only who lacks it.
fn missing_export(program: &Program, text: &str) -> Option<String> {
    let (export, rest) = text.strip_prefix("SyntaxError: Could not find export '")?.split_once("' in module '")?;
    let (module, import) = program.import_of(rest.split_once('\'')?.0, export)?;
    let Import { request, line, column, .. } = import;
    let at = format!("{}:{line}:{column}", module.specifier);
    Some(format!(
        "SyntaxError: The requested module \"{request}\" does not provide an export named \"{export}\"\n\tat {at}"
    ))
}
