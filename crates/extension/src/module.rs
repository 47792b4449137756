//! Loading: a module is checked, translated, and asked what it offers.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, OnceLock},
};

use wasmi::{CompilationMode, Config, Engine, ExternType, FuncType, Module, ValType};

use crate::{
    description::{Description, DescriptionError, Function, PARAMS_MAX, Type, is_name},
    imports::{self, Host, LogLevel},
    instance::{CallError, Instance, RawType},
};

/// A WebAssembly module whose functions scripts call. One serves all threads.
pub struct Extension {
    pub(crate) module: Module,
    bytes: Arc<[u8]>,
    functions: Vec<Function>,
    keeps_state: bool,
}

/// Why a file is no extension. The texts go on after "it".
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// Something else than WebAssembly.
    #[error("is not a WebAssembly module")]
    Other,
    /// A component, which wraps modules.
    #[error("is a WebAssembly component; extensions are core modules (for Rust, the target wasm32-unknown-unknown)")]
    Component,
    /// It is longer than [`MODULE_BYTES_MAX`].
    #[error("is larger than {MODULE_BYTES_MAX} bytes")]
    TooLarge,
    /// It is damaged, or needs what the interpreter does not have.
    #[error("is not a valid module: {0}")]
    Invalid(String),
    /// It imports something that extensions do not get.
    #[error(
        "imports \"{module}.{name}\", which extensions do not get: they import {} of the module \"onrush\" and nothing \
         else{hint}",
        imports::NAMES.join(", ")
    )]
    Import {
        /// The module it imports from.
        module: String,
        /// What it imports.
        name: String,
        /// What to do.
        hint: &'static str,
    },
    /// A function the host calls is not of the type it has to be.
    #[error("exports {name} as {found}; it has to be {expected}")]
    Export {
        /// The function.
        name: String,
        /// The type it is exported with.
        found: String,
        /// The type it has to have.
        expected: String,
    },
    /// A function is described that is not there.
    #[error("describes {0}, but exports no function of that name")]
    Missing(String),
    /// The description cannot be read.
    #[error(transparent)]
    Description(#[from] DescriptionError),
    /// It did not get to describe itself.
    #[error("could not be asked for its description: {0}")]
    Asked(String),
    /// It offers nothing.
    #[error("exports no function that scripts could call")]
    Empty,
    /// It offers more than [`FUNCTIONS_MAX`].
    #[error("offers more than {FUNCTIONS_MAX} functions")]
    TooMany,
}

/// The largest module that is loaded.
pub const MODULE_BYTES_MAX: usize = 16 << 20;

/// The most functions of an extension.
pub const FUNCTIONS_MAX: usize = 1000;

/// What a module may do to describe itself.
const DESCRIBE_SLICES_MAX: u32 = 20;

impl Extension {
    /// Checks and translates a module.
    ///
    /// # Errors
    /// It is no module, imports what extensions do not get, or describes itself wrongly.
    pub fn load(bytes: Arc<[u8]>) -> Result<Self, LoadError> {
        match bytes.get(..8) {
            Some([0, b'a', b's', b'm', 1, 0, 0, 0]) => {}
            // The layer in the last two bytes tells components from modules.
            Some([0, b'a', b's', b'm', .., 1, 0]) => return Err(LoadError::Component),
            _ => return Err(LoadError::Other),
        }
        if bytes.len() > MODULE_BYTES_MAX {
            return Err(LoadError::TooLarge);
        }
        let module = Module::new(engine(), &bytes).map_err(|error| LoadError::Invalid(error.to_string()))?;
        if let Some(import) = module.imports().find(|import| {
            import.module() != imports::MODULE
                || !imports::NAMES.contains(&import.name())
                || !matches!(import.ty(), ExternType::Func(_))
        }) {
            let is_wasi = import.module().starts_with("wasi");
            let hint =
                if is_wasi { "; build it without WASI (for Rust, the target wasm32-unknown-unknown)" } else { "" };
            return Err(LoadError::Import { module: import.module().to_owned(), name: import.name().to_owned(), hint });
        }
        let exports: BTreeMap<String, FuncType> = module
            .exports()
            .filter_map(|export| match export.ty() {
                ExternType::Func(function) => Some((export.name().to_owned(), function.clone())),
                _ => None,
            })
            .collect();
        for (name, params, result) in CALLED_BY_HOST {
            if let Some(found) = exports.get(*name) {
                check_type(name, found, params, *result)?;
            }
        }
        let mut this = Self { module, bytes, functions: Vec::new(), keeps_state: true };
        // Tried once, so that it works for every VU.
        drop(Instance::new(&this, Nobody).map_err(LoadError::Invalid)?);
        let described = if exports.contains_key(DESCRIBE) {
            Description::parse(&this.described()?)?
        } else {
            Description { functions: undescribed(&exports), keeps_state: true }
        };
        if described.functions.is_empty() {
            return Err(LoadError::Empty);
        }
        if described.functions.len() > FUNCTIONS_MAX {
            return Err(LoadError::TooMany);
        }
        for function in &described.functions {
            let Some(found) = exports.get(&function.name) else {
                return Err(LoadError::Missing(function.name.clone()));
            };
            check_type(&function.name, found, &function.raw_params(), function.raw_result())?;
            if function.params.iter().any(|(_, kind)| kind.is_in_memory()) && !exports.contains_key(ALLOCATE) {
                return Err(LoadError::Missing(ALLOCATE.to_owned()));
            }
        }
        this.functions = described.functions;
        this.keeps_state = described.keeps_state;
        Ok(this)
    }

    /// What scripts can call, in the order of its description.
    pub fn functions(&self) -> &[Function] {
        &self.functions
    }

    /// Whether a VU has an instance of its own, so that what a call leaves in memory is there for the VU's next. If not,
    /// any instance will do.
    pub fn keeps_state(&self) -> bool {
        self.keeps_state
    }

    /// The file.
    pub fn bytes(&self) -> &Arc<[u8]> {
        &self.bytes
    }

    /// Has it describe itself.
    fn described(&self) -> Result<String, LoadError> {
        let asked = |error: CallError<&'static str>| {
            LoadError::Asked(match error {
                CallError::Cut(reason) => reason.to_owned(),
                CallError::Trap(reason) | CallError::Failed(reason) => reason,
            })
        };
        let mut slices = 0;
        let mut pause = || {
            slices += 1;
            if slices < DESCRIBE_SLICES_MAX { Ok(()) } else { Err("it computed for too long") }
        };
        let mut instance = Instance::new(self, Nobody).map_err(LoadError::Asked)?;
        instance.initialize(&mut pause).map_err(asked)?;
        let bytes = instance.describe(&mut pause).map_err(asked)?;
        String::from_utf8(bytes).map_err(|_| LoadError::Asked("it is not UTF-8".to_owned()))
    }
}

impl fmt::Debug for Extension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Extension").field("functions", &self.functions).field("bytes", &self.bytes.len()).finish()
    }
}

/// Describes the extension; the result is a place and a length.
pub(crate) const DESCRIBE: &str = "onrush_describe";
/// Makes room for an argument, which then belongs to the function called.
pub(crate) const ALLOCATE: &str = "onrush_allocate";
/// Takes back a result that has been read.
pub(crate) const RELEASE: &str = "onrush_release";
/// What toolchains call before anything else, where it is there.
pub(crate) const INITIALIZE: &str = "_initialize";

const CALLED_BY_HOST: &[(&str, &[RawType], Option<RawType>)] = &[
    (DESCRIBE, &[], Some(RawType::I64)),
    (ALLOCATE, &[RawType::I32], Some(RawType::I32)),
    (RELEASE, &[RawType::I32, RawType::I32], None),
    (INITIALIZE, &[], None),
];

/// The functions of a module that does not describe itself: those with a plain name that take and return numbers.
fn undescribed(exports: &BTreeMap<String, FuncType>) -> Vec<Function> {
    exports
        .iter()
        .filter(|(name, _)| {
            is_name(name) && !name.starts_with('_') && !CALLED_BY_HOST.iter().any(|(known, ..)| known == name)
        })
        .filter_map(|(name, found)| {
            let raw = |kind: &ValType| RawType::of(*kind);
            let params: Option<Vec<RawType>> = found.params().iter().map(raw).collect();
            let result = match found.results() {
                [] => None,
                [one] => Some(Type::of(raw(one)?)),
                _ => return None,
            };
            let params =
                params?.into_iter().zip(1..).map(|(kind, number)| (format!("number {number}"), Type::of(kind)));
            Some(Function { name: name.clone(), params: params.collect(), result })
        })
        .filter(|function| function.params.len() <= PARAMS_MAX)
        .collect()
}

fn check_type(name: &str, found: &FuncType, params: &[RawType], result: Option<RawType>) -> Result<(), LoadError> {
    let raw = |kinds: &[ValType]| kinds.iter().map(|kind| RawType::of(*kind)).collect::<Option<Vec<_>>>();
    let results: Vec<RawType> = result.into_iter().collect();
    if raw(found.params()).as_deref() == Some(params) && raw(found.results()) == Some(results) {
        return Ok(());
    }
    let shown = |params: Vec<String>, results: Vec<String>| {
        let result = results.first().map(|result| format!(" -> {result}")).unwrap_or_default();
        format!("({}){result}", params.join(", "))
    };
    let names = |kinds: &[ValType]| {
        kinds
            .iter()
            .map(|kind| RawType::of(*kind).map_or_else(|| "a reference".to_owned(), |raw| raw.to_string()))
            .collect()
    };
    let texts = |kinds: &[RawType]| kinds.iter().map(ToString::to_string).collect();
    Err(LoadError::Export {
        name: name.to_owned(),
        found: shown(names(found.params()), names(found.results())),
        expected: shown(texts(params), texts(result.as_slice())),
    })
}

/// The interpreter, one a process: what is translated is shared by all threads.
fn engine() -> &'static Engine {
    static ENGINE: OnceLock<Engine> = OnceLock::new();
    ENGINE.get_or_init(|| {
        let mut config = Config::default();
        config
            .consume_fuel(true)
            // A start function could not be paused; `_initialize` can.
            .allow_start_fn(false)
            // Nothing is left to do while a VU waits.
            .compilation_mode(CompilationMode::Eager)
            .ignore_custom_sections(true)
            .set_max_recursion_depth(RECURSION_MAX)
            .set_max_stack_height(STACK_BYTES_MAX)
            .set_max_cached_stacks(STACKS_KEPT);
        Engine::new(&config)
    })
}

/// Calls within calls; what they need lies on the heap.
const RECURSION_MAX: usize = 10_000;
/// Locals of these calls, in bytes.
const STACK_BYTES_MAX: usize = 1 << 20;
/// Interpreter stacks kept for the next calls: as many as threads call at a time, on most machines.
const STACKS_KEPT: usize = 32;

/// The host of an extension that only describes itself.
struct Nobody;

impl Host for Nobody {
    fn log(&mut self, _: LogLevel, _: &str) {}

    fn now_ms(&mut self) -> f64 {
        0.0
    }

    fn random(&mut self, into: &mut [u8]) -> bool {
        into.fill(0);
        true
    }
}
