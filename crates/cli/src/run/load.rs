//! From the script's name to what its init code exports.

use std::{
    io::{self, Read as _},
    path::{Path, PathBuf},
    sync::Arc,
};

use onrush_js::{
    BUILTIN_MODULES, ScriptEnv,
    init::{self, Init, InitError},
};
use onrush_script::{CompatibilityMode, Entry, ErrorKind, LoadOptions, ScriptError};
use onrush_secrets::Secrets;
use onrush_session::ExitCode;

use crate::{
    args::{RunArgs, archives_not_yet},
    failure::Failure,
    flags::Given,
    log::Logger,
};

/// A loaded script whose init code has run once.
pub(crate) struct Script {
    /// Its modules and surroundings.
    pub(crate) env: Arc<ScriptEnv>,
    /// What the init pass found.
    pub(crate) init: Init,
}

/// Largest source file that is read: bundles of real test suites have a few megabytes.
const SOURCE_BYTES_MAX: u64 = 64 << 20;

/// Loads the script and runs its init code.
///
/// # Errors
/// 255 for what cannot be read or exports no function, 107 for what is wrong in it, 108 when it aborts itself.
pub(crate) fn load(args: &RunArgs, given: &Given, logger: &Arc<Logger>) -> Result<Script, Failure> {
    let working_dir = std::env::current_dir()
        .map_err(|error| Failure::other(format!("failed to find the working directory: {error}")))?;
    let (entry, name) = entry(args, &working_dir)?;
    let could_not = |reason: String| {
        format!("could not initialize '{}': could not load JS test 'file://{name}': {reason}", args.file)
    };
    let options = LoadOptions {
        working_dir: working_dir.clone(),
        compatibility_mode: args.compatibility,
        builtins: BUILTIN_MODULES,
        source_bytes_max: SOURCE_BYTES_MAX,
    };
    if args.compatibility == CompatibilityMode::ExperimentalEnhanced {
        logger.warn("the compatibility mode experimental_enhanced is deprecated and behaves as extended");
    }
    let program = onrush_script::load(entry, &options).map_err(|error| in_script(&error, &could_not))?;
    for warning in &program.warnings {
        logger.warn(warning.clone());
    }
    let mut env = ScriptEnv::new(Arc::new(program), args.env.clone(), logger.clone(), working_dir);
    env.memory_limit_bytes = args.vu_memory_bytes;
    env.secrets = Arc::new(secrets(given, logger)?);
    env.extended_mode = args.compatibility != CompatibilityMode::Base;
    let env = Arc::new(env);
    let init = init::run(&env, args.isolation).map_err(|error| in_init(error, &could_not))?;
    if let Some(name) = init.not_functions.iter().find(|name| *name != "handleSummary") {
        return Err(Failure::other(could_not(format!("exported '{name}' must be a function"))));
    }
    if init.functions.is_empty() {
        return Err(Failure::other(could_not("no exported functions in script".to_owned()))
            .hint("export a default function: it is what VUs run"));
    }
    Ok(Script { env, init })
}

/// The secret sources of the flags or, without any, of the variable.
fn secrets(given: &Given, logger: &Logger) -> Result<Secrets, Failure> {
    let mut specs = given.values("secret-source");
    if specs.is_empty() {
        specs.extend(given.env.get("K6_SECRET_SOURCE").filter(|spec| !spec.is_empty()).cloned());
    }
    Secrets::parse(&specs, &given.env, logger.redactor())
        .map_err(|error| Failure { hint: error.hint, ..Failure::other(error.message) })
}

/// What to load, and the path errors name it by.
fn entry(args: &RunArgs, working_dir: &Path) -> Result<(Entry, String), Failure> {
    if args.file == "-" {
        let mut source = String::new();
        let read = io::stdin().lock().take(SOURCE_BYTES_MAX + 1).read_to_string(&mut source);
        read.map_err(|error| Failure::other(format!("failed to read the script from standard input: {error}")))?;
        if source.len() as u64 > SOURCE_BYTES_MAX {
            return Err(Failure::other(format!(
                "the script from standard input is larger than {SOURCE_BYTES_MAX} bytes"
            )));
        }
        return Ok((Entry::Stdin(source), "/-".to_owned()));
    }
    let path = PathBuf::from(args.file.strip_prefix("file://").unwrap_or(&args.file));
    let absolute = working_dir.join(&path);
    if is_archive(&absolute) {
        return Err(archives_not_yet());
    }
    Ok((Entry::File(path), absolute.display().to_string()))
}

/// Whether the file has the header of a tar archive.
fn is_archive(path: &Path) -> bool {
    const MAGIC_AT: usize = 257;
    let mut header = [0; MAGIC_AT + 5];
    std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut header)).is_ok() && header.ends_with(b"ustar")
}

fn in_script(error: &ScriptError, could_not: &dyn Fn(String) -> String) -> Failure {
    // The script itself is not there: k6 says so without its usual introduction, and with another code.
    if error.kind == ErrorKind::Resolve && error.line == 0 {
        return with_hint(Failure::other(error.message.clone()), error);
    }
    let mut text = error.to_string();
    if !error.frame.is_empty() {
        text = format!("{text}\n{}", error.frame);
    }
    let code = if error.kind == ErrorKind::Internal { ExitCode::Panic } else { ExitCode::ScriptException };
    with_hint(Failure::new(code, could_not(text)), error)
}

fn with_hint(failure: Failure, error: &ScriptError) -> Failure {
    if error.hint.is_empty() { failure } else { failure.hint(error.hint.clone()) }
}

fn in_init(error: InitError, could_not: &dyn Fn(String) -> String) -> Failure {
    match error {
        InitError::Script(failure) if failure.aborted => Failure::new(ExitCode::ScriptAborted, could_not(failure.text)),
        InitError::Script(failure) => Failure::new(ExitCode::ScriptException, failure.text).hint("script exception"),
        other => Failure::other(could_not(other.to_string())),
    }
}
