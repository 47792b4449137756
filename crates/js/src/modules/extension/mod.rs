//! Extensions: functions of WebAssembly modules that scripts import as `./name.wasm`.
//!
//! Each realm has an object of functions an extension, shared as those of built-in modules are. A function knows its number;
//! the instance it runs in is the calling VU's own, or any idle one of the thread (`instances`). What crosses is in
//! `values`. The interpreter and its limits are `onrush_extension`'s.

mod instances;
mod values;

use onrush_extension::{CallError, FUNCTIONS_MAX, Function, Instance};
use onrush_script::Program;

use self::{
    instances::{Lease, World},
    values::Argument,
};
use crate::{
    embed::{Args, Ctx, Handle, JsResult, Throw, Val},
    realm::Realm,
    vu::context,
};

/// The objects of functions of a realm, by the extensions' place in the program.
struct Exports(Vec<Val>);

/// Makes the functions of all extensions in a realm; VUs share them where they share it.
pub(crate) fn install(realm: &Realm, program: &Program) -> JsResult<()> {
    let ctx = realm.ctx;
    let mut all = Vec::with_capacity(program.extensions.len());
    for (_, place) in program.extensions.iter().zip(0..) {
        let Some((_, extension)) = program.extension(place) else { continue };
        let exports = ctx.object()?;
        for (function, index) in extension.functions().iter().zip(0..) {
            let number = i16::try_from(place * FUNCTIONS_MAX + index)
                .map_err(|_| Throw::error("the extensions of the script offer too many functions"))?;
            let length = function.params.len() as i32;
            exports.define(ctx, function.name.as_str(), ctx.numbered(&function.name, length, number, call)?)?;
        }
        all.push(exports);
    }
    realm.slots.of_or_try(|| Ok(Exports(all))).map(drop)
}

/// `extension("<specifier>")` of the modules that stand for extensions.
pub(super) fn exports(ctx: Ctx, _: &Handle, args: Args<'_>) -> JsResult {
    let specifier = args.at(0).to_text(ctx)?;
    let vu = context::vu();
    let program = &vu.script().program;
    let place = program
        .extensions
        .iter()
        .position(|index| program.module(*index).is_some_and(|module| module.specifier == specifier));
    let exports = vu.realm().slots.find::<Exports>().zip(place).and_then(|(exports, place)| exports.0.get(place));
    exports.cloned().ok_or_else(|| Throw::error(format!("unknown extension {specifier}")))
}

/// Whose function is called: what errors begin with.
struct Callee<'a> {
    /// The extension's file name.
    extension: &'a str,
    function: &'a Function,
}

impl Callee<'_> {
    fn error(&self, reason: &str) -> Throw {
        Throw::error(format!("{}: {}(): {reason}", self.extension, self.function.name))
    }

    fn type_error(&self, reason: &str) -> Throw {
        Throw::type_error(format!("{}: {}(): {reason}", self.extension, self.function.name))
    }

    /// What a call's end without a result is to the script.
    fn thrown(&self, error: CallError<Throw>) -> Throw {
        match error {
            CallError::Cut(throw) => throw,
            CallError::Failed(reason) => self.error(&reason),
            CallError::Trap(reason) => self.error(&format!("the extension broke off: {reason}; its state is lost")),
        }
    }
}

fn call(ctx: Ctx, _: &Handle, args: Args<'_>, number: usize) -> JsResult {
    let vu = context::vu();
    let (place, index) = (number / FUNCTIONS_MAX, number % FUNCTIONS_MAX);
    let Some((module, extension)) = vu.script().program.extension(place) else {
        return Err(Throw::error("unknown extension"));
    };
    let Some(function) = extension.functions().get(index) else { return Err(Throw::error("unknown function")) };
    let name = module.specifier.rsplit('/').next().unwrap_or_default();
    let callee = Callee { extension: name, function };
    // Converting may run code of the script, which may call the extension again.
    let arguments: Vec<Argument> = function
        .params
        .iter()
        .enumerate()
        .map(|(index, (name, kind))| Argument::of(ctx, &callee, name, *kind, args.at(index)))
        .collect::<JsResult<_>>()?;
    let mut lease = Lease::take(vu, place, extension, &callee)?;
    let result = run(ctx, &callee, lease.instance(), index, &arguments);
    match result {
        Ok(result) => {
            lease.give_back(&callee)?;
            Ok(result)
        }
        Err(failed @ CallError::Failed(_)) => {
            lease.give_back(&callee)?;
            Err(callee.thrown(failed))
        }
        // The instance goes with the lease.
        Err(other) => Err(callee.thrown(other)),
    }
}

fn run(
    ctx: Ctx,
    callee: &Callee<'_>,
    instance: &mut Instance<World>,
    index: usize,
    arguments: &[Argument],
) -> Result<Val, CallError<Throw>> {
    let mut raw = Vec::with_capacity(arguments.len() * 2);
    for argument in arguments {
        argument.place(ctx, instance, &mut raw)?;
    }
    let result = instance.call(index, &raw, &mut context::pause)?;
    let Some((kind, result)) = callee.function.result.zip(result) else { return Ok(Val::undefined()) };
    values::lift(ctx, instance, kind, result)
}
