//! From the script's name to what its init code exports.

use std::sync::Arc;

use onrush_imports::Imports;
use onrush_js::{
    BUILTIN_MODULES, ScriptEnv, ThreadError,
    init::{self, Init, InitError},
};
use onrush_script::{CompatibilityMode, Computed, ErrorKind, LoadOptions, Program, ScriptError};
use onrush_secrets::Secrets;
use onrush_session::ExitCode;

use super::{
    dependencies::{self, MANIFEST},
    features::Features,
    imports,
    input::{Archived, Input, SOURCE_BYTES_MAX, is_url},
    repeated::Repeated,
};
use crate::{args::ScriptArgs, failure::Failure, flags::Flags, log::Logger, version::K6_VERSION};

/// A loaded script whose init code has run once.
pub(crate) struct Script {
    /// Its modules and surroundings.
    pub(crate) env: Arc<ScriptEnv>,
    /// What the init pass found.
    pub(crate) init: Init,
    /// What an archive brought, if it comes from one.
    pub(crate) archived: Option<Archived>,
}

/// The most modules with computed names: the init code runs once more for each.
const COMPUTED_MAX: usize = 1000;

/// Loads the script and runs its init code, again with each module whose name it computes.
///
/// # Errors
/// 255 for what cannot be read or exports no function, 107 for what is wrong in it, 108 when it aborts itself.
pub(crate) fn load(
    args: &ScriptArgs,
    features: &Features,
    flags: &Flags,
    logger: &Arc<Logger>,
) -> Result<Script, Failure> {
    let input = Input::find(args)?;
    let failed_to = failed_to(args, &input);
    let compatibility = input.compatibility(args)?;
    if compatibility == CompatibilityMode::ExperimentalEnhanced {
        logger.warn("the compatibility mode experimental_enhanced is deprecated and behaves as extended");
    }
    let imports = imports::imports(flags, &input, false)?;
    let mut program = compile(args, &input, BUILTIN_MODULES, &imports, &[])?;
    imports::report(&imports, &input, logger);
    check_dependencies(&program, flags, logger)
        .map_err(|failure| Failure { message: failed_to(failure.message), ..failure })?;
    for warning in &program.warnings {
        logger.warn(warning.clone());
    }
    let mut variables = input.archived.as_ref().and_then(|archived| archived.metadata.env.clone()).unwrap_or_default();
    variables.extend(args.env.clone());
    let secrets = match &args.secrets {
        Some(secrets) => Arc::clone(secrets),
        None => Arc::new(secrets(flags, logger)?),
    };
    let log = Arc::new(Repeated::new(logger.clone()));
    let mut computed = Vec::new();
    let (env, init) = loop {
        let mut env = ScriptEnv::new(Arc::new(program), variables.clone(), log.clone(), input.working_dir.clone());
        env.archived = input.archived.as_ref().map(|archived| archived.files.clone());
        env.memory_limit_bytes = args.vu_memory_bytes;
        env.secrets = secrets.clone();
        env.freezes_env = features.freezes_env();
        env.extended_mode = compatibility != CompatibilityMode::Base;
        env.accepts_computed = computed.len() < COMPUTED_MAX;
        let env = Arc::new(env);
        match init::run(&env, args.isolation) {
            Ok(init) => break (env, init),
            Err(InitError::NotLoaded(wanted)) => computed.extend(wanted),
            Err(error) => return Err(in_init(error, &failed_to)),
        }
        program = compile(args, &input, BUILTIN_MODULES, &imports, &computed)?;
        log.again();
    };
    log.end();
    if !computed.is_empty() {
        check_dependencies(&env.program, flags, logger)
            .map_err(|failure| Failure { message: failed_to(failure.message), ..failure })?;
    }
    let archived = input.archived;
    if let Some(name) = init.not_functions.iter().find(|name| *name != "handleSummary") {
        return Err(Failure::other(failed_to(format!("exported '{name}' must be a function"))));
    }
    if init.functions.is_empty() {
        return Err(Failure::other(failed_to("no exported functions in script".to_owned()))
            .hint("export a default function: it is what VUs run"));
    }
    Ok(Script { env, init, archived })
}

/// Reads the script and all it imports, and compiles it. `builtins` are the modules it may import without files,
/// `computed` those that its init code is known to ask for.
///
/// # Errors
/// As [`load`].
pub(crate) fn compile(
    args: &ScriptArgs,
    input: &Input,
    builtins: &'static [&'static str],
    imports: &Arc<Imports>,
    computed: &[Computed],
) -> Result<Program, Failure> {
    let options = LoadOptions {
        working_dir: input.working_dir.clone(),
        compatibility_mode: input.compatibility(args)?,
        builtins,
        source_bytes_max: SOURCE_BYTES_MAX,
        archived: input.archived.as_ref().map(|archived| archived.files.clone()),
        remote: Some(imports.clone()),
    };
    let failed_to = failed_to(args, input);
    onrush_script::load_with(input.entry.clone(), &options, computed).map_err(|error| in_script(&error, &failed_to))
}

/// What the script's directives ask for has to be there. k6 builds a binary that has it.
fn check_dependencies(program: &Program, flags: &Flags, logger: &Logger) -> Result<(), Failure> {
    // k6: where it may not build one, it does not look.
    if flags.env.get("K6_AUTO_EXTENSION_RESOLUTION").is_some_and(|value| value == "false") {
        return Ok(());
    }
    let manifest = flags.env.get(MANIFEST).map(String::as_str);
    let needed = dependencies::of(program, manifest).map_err(Failure::other)?;
    let unmet = dependencies::unmet(&needed);
    if let Some(constraint) = unmet.k6 {
        logger.warn(format!(
            "the script asks for k6 {constraint}; this version of Onrush runs scripts as k6 {K6_VERSION} does"
        ));
    }
    if unmet.extensions.is_empty() {
        return Ok(());
    }
    let names = unmet.extensions.join(", ");
    Err(Failure::other(format!("the script asks for extensions that are not in this version of Onrush: {names}")).hint(
        format!(
            "there are {}; an extension of your own is a WebAssembly module that the script imports as a file",
            BUILTIN_MODULES.iter().filter(|name| name.starts_with("k6/x/")).copied().collect::<Vec<_>>().join(", ")
        ),
    ))
}

/// k6: how its messages about scripts begin.
pub(crate) fn failed_to(args: &ScriptArgs, input: &Input) -> impl Fn(String) -> String + use<> {
    let what = if input.archived.is_some() { "JS from test archive bundle" } else { "JS test" };
    let scheme = if is_url(&input.name) { "" } else { "file://" };
    let start = format!("could not initialize '{}': could not load {what} '{scheme}{}'", args.file, input.name);
    move |reason| format!("{start}: {reason}")
}

/// The secret sources of the flags or, without any, of the variable.
fn secrets(flags: &Flags, logger: &Logger) -> Result<Secrets, Failure> {
    let mut specs = flags.values("secret-source");
    if specs.is_empty() {
        specs.extend(flags.env.get("K6_SECRET_SOURCE").filter(|spec| !spec.is_empty()).cloned());
    }
    Secrets::parse(&specs, &flags.env, logger.redactor())
        .map_err(|error| Failure { hint: error.hint, ..Failure::other(error.message) })
}

fn in_script(error: &ScriptError, failed_to: &dyn Fn(String) -> String) -> Failure {
    // The script itself is not there: k6 says so without its usual introduction, and with another code.
    if matches!(error.kind, ErrorKind::Resolve | ErrorKind::Fetch) && error.line == 0 {
        return with_hint(Failure::other(error.message.clone()), error);
    }
    let mut text = error.to_string();
    if !error.frame.is_empty() {
        text = format!("{text}\n{}", error.frame);
    }
    let code = if error.kind == ErrorKind::Internal { ExitCode::Panic } else { ExitCode::ScriptException };
    with_hint(Failure::new(code, failed_to(text)), error)
}

fn with_hint(failure: Failure, error: &ScriptError) -> Failure {
    if error.hint.is_empty() { failure } else { failure.hint(error.hint.clone()) }
}

fn in_init(error: InitError, failed_to: &dyn Fn(String) -> String) -> Failure {
    match error {
        InitError::Script(failure) if failure.aborted => Failure::new(ExitCode::ScriptAborted, failed_to(failure.text)),
        InitError::Options(what) => {
            let is_nan = what.ends_with("NaN");
            let failure = Failure::config(failed_to(what));
            if is_nan { failure.hint("parseInt() and Number() return NaN for an unset variable") } else { failure }
        }
        InitError::Script(failure) => Failure::new(ExitCode::ScriptException, failure.text).hint("script exception"),
        InitError::Engine(ThreadError::Script(error)) => in_script(&error, failed_to),
        other => Failure::other(failed_to(other.to_string())),
    }
}
