//! Instances and calls.

use std::fmt;

use wasmi::{AsContext as _, Func, Memory, ResumableCall, Store, StoreLimits, StoreLimitsBuilder, Val, ValType};

use crate::{
    description::{parameters, place},
    imports::{self, Host},
    module::{ALLOCATE, DESCRIBE, Extension, INITIALIZE, RELEASE},
};

/// How much a call computes before it pauses: about a step of the interpreter each, some tenths of a millisecond.
pub const SLICE_FUEL: u64 = 100_000;

/// The most memory of an instance.
pub const MEMORY_BYTES_MAX: usize = 64 << 20;

/// The most references in one table.
const TABLE_ELEMENTS_MAX: usize = 100_000;

/// Tables of function references; compilers make one.
const TABLES_MAX: usize = 16;

/// The longest description.
const DESCRIPTION_BYTES_MAX: u32 = 256 << 10;

/// A number as it crosses.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Raw {
    /// 32 bits.
    I32(i32),
    /// 64 bits.
    I64(i64),
    /// A short floating-point number.
    F32(f32),
    /// A floating-point number.
    F64(f64),
}

/// Its type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RawType {
    I32,
    I64,
    F32,
    F64,
}

/// Why a call has no result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallError<P> {
    /// Whoever was asked to pause did not want it to go on. The instance is of no more use.
    Cut(P),
    /// It broke off: what is in its memory makes no sense any more, and the instance is of no more use.
    Trap(String),
    /// The extension says why. It can go on being called.
    Failed(String),
}

/// One copy of an extension's memory, and its functions in it.
pub struct Instance<H: Host> {
    store: Store<State<H>>,
    memory: Option<Memory>,
    functions: Vec<Func>,
    allocate: Option<Func>,
    release: Option<Func>,
    describe: Option<Func>,
    initialize: Option<Func>,
}

/// What belongs to an instance besides its memory.
pub(crate) struct State<H> {
    pub(crate) host: H,
    /// What the call under way is to fail with.
    pub(crate) failure: Option<String>,
    limits: StoreLimits,
}

impl RawType {
    pub(crate) fn of(kind: ValType) -> Option<Self> {
        Some(match kind {
            ValType::I32 => Self::I32,
            ValType::I64 => Self::I64,
            ValType::F32 => Self::F32,
            ValType::F64 => Self::F64,
            _ => return None,
        })
    }
}

impl fmt::Display for RawType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::I32 => "i32",
            Self::I64 => "i64",
            Self::F32 => "f32",
            Self::F64 => "f64",
        })
    }
}

impl From<Raw> for Val {
    fn from(raw: Raw) -> Self {
        match raw {
            Raw::I32(value) => Self::I32(value),
            Raw::I64(value) => Self::I64(value),
            Raw::F32(value) => Self::F32(value.into()),
            Raw::F64(value) => Self::F64(value.into()),
        }
    }
}

impl<H: Host> Instance<H> {
    /// A new instance. [`Instance::initialize`] has to come before any other call.
    ///
    /// # Errors
    /// It needs more memory or tables than it may have, or imports a function as something it is not.
    pub fn new(extension: &Extension, host: H) -> Result<Self, String> {
        let engine = extension.module.engine();
        let linker = imports::linker(engine).map_err(|error| error.to_string())?;
        let limits = StoreLimitsBuilder::new()
            .memory_size(MEMORY_BYTES_MAX)
            .table_elements(TABLE_ELEMENTS_MAX)
            .tables(TABLES_MAX)
            .memories(1)
            .instances(1)
            .build();
        let mut store = Store::new(engine, State { host, failure: None, limits });
        store.limiter(|state| &mut state.limits);
        let instance =
            linker.instantiate_and_start(&mut store, &extension.module).map_err(|error| error.to_string())?;
        let function = |name: &str| instance.get_func(&store, name);
        let functions = extension.functions().iter().filter_map(|described| function(&described.name)).collect();
        let (allocate, release) = (function(ALLOCATE), function(RELEASE));
        let (describe, initialize) = (function(DESCRIBE), function(INITIALIZE));
        let memory = instance.get_memory(&store, "memory");
        Ok(Self { store, memory, functions, allocate, release, describe, initialize })
    }

    /// What the host keeps for it.
    pub fn host(&mut self) -> &mut H {
        &mut self.store.data_mut().host
    }

    /// How large its memory is.
    pub fn memory_bytes(&self) -> usize {
        self.memory.map_or(0, |memory| memory.data_size(&self.store))
    }

    /// Has the code run that a toolchain wants to run first.
    ///
    /// # Errors
    /// As [`Instance::call`].
    pub fn initialize<P>(&mut self, pause: &mut dyn FnMut() -> Result<(), P>) -> Result<(), CallError<P>> {
        match self.initialize {
            Some(initialize) => self.run(initialize, &[], pause).map(drop),
            None => Ok(()),
        }
    }

    /// Calls the function with that number in [`Extension::functions`]. `pause` is called whenever it has computed for a
    /// slice, and may end it.
    ///
    /// # Errors
    /// It was ended, broke off, or failed.
    pub fn call<P>(
        &mut self,
        function: usize,
        arguments: &[Raw],
        pause: &mut dyn FnMut() -> Result<(), P>,
    ) -> Result<Option<Raw>, CallError<P>> {
        let Some(function) = self.functions.get(function).copied() else {
            return Err(CallError::Trap("there is no such function".to_owned()));
        };
        self.run(function, arguments, pause)
    }

    /// Room for an argument of `length` bytes, to be filled by [`Instance::write`].
    ///
    /// # Errors
    /// As [`Instance::call`].
    pub fn allocate<P>(
        &mut self,
        length: usize,
        pause: &mut dyn FnMut() -> Result<(), P>,
    ) -> Result<u32, CallError<P>> {
        let (Some(allocate), Some(memory)) = (self.allocate, self.memory) else {
            return Err(CallError::Trap("it exports no memory to put arguments into".to_owned()));
        };
        let Some(short) = u32::try_from(length).ok().filter(|_| length <= MEMORY_BYTES_MAX) else {
            return Err(CallError::Failed(format!("an argument is longer than {MEMORY_BYTES_MAX} bytes")));
        };
        let at = match self.run(allocate, &[Raw::I32(short as i32)], pause)? {
            Some(Raw::I32(at)) => at as u32,
            _ => return Err(CallError::Trap(format!("{ALLOCATE} returned nothing"))),
        };
        // Nothing is allocated at 0 where there is something to allocate.
        if (at == 0 && length > 0) || at as usize + length > memory.data_size(&self.store) {
            return Err(CallError::Trap(format!("there is no room for {length} bytes in its memory")));
        }
        Ok(at)
    }

    /// Writes a piece of an argument. False if that is not within the memory.
    #[must_use]
    pub fn write(&mut self, at: usize, bytes: &[u8]) -> bool {
        self.memory.is_some_and(|memory| memory.write(&mut self.store, at, bytes).is_ok())
    }

    /// An argument that has been written, as the two numbers it crosses as.
    pub fn argument(at: u32, length: usize) -> [Raw; 2] {
        parameters(at, length as u32)
    }

    /// The bytes of a result that lies in memory.
    ///
    /// # Errors
    /// They do not.
    pub fn result(&self, packed: i64) -> Result<&[u8], String> {
        let (at, length) = place(packed);
        let bytes = self.memory.map_or(&[][..], |memory| memory.data(self.store.as_context()));
        bytes
            .get(at as usize..at as usize + length as usize)
            .ok_or_else(|| format!("its result at {at}, {length} bytes long, is not within its memory"))
    }

    /// Gives such a result back to the extension.
    ///
    /// # Errors
    /// As [`Instance::call`].
    pub fn release<P>(&mut self, packed: i64, pause: &mut dyn FnMut() -> Result<(), P>) -> Result<(), CallError<P>> {
        let Some(release) = self.release else { return Ok(()) };
        let (at, length) = place(packed);
        self.run(release, &parameters(at, length), pause).map(drop)
    }

    /// The extension's description.
    pub(crate) fn describe<P>(&mut self, pause: &mut dyn FnMut() -> Result<(), P>) -> Result<Vec<u8>, CallError<P>> {
        let Some(describe) = self.describe else { return Ok(Vec::new()) };
        let Some(Raw::I64(packed)) = self.run(describe, &[], pause)? else { return Ok(Vec::new()) };
        if place(packed).1 > DESCRIPTION_BYTES_MAX {
            return Err(CallError::Failed(format!("it is longer than {DESCRIPTION_BYTES_MAX} bytes")));
        }
        self.result(packed).map(<[u8]>::to_vec).map_err(CallError::Failed)
    }

    fn run<P>(
        &mut self,
        function: Func,
        arguments: &[Raw],
        pause: &mut dyn FnMut() -> Result<(), P>,
    ) -> Result<Option<Raw>, CallError<P>> {
        let trap = |error: wasmi::Error| CallError::Trap(reason(&error));
        let mut inputs = [const { Val::I32(0) }; INPUTS_MAX];
        for (input, argument) in inputs.iter_mut().zip(arguments) {
            *input = (*argument).into();
        }
        let inputs = inputs.get(..arguments.len()).unwrap_or_default();
        let has_result = !function.ty(&self.store).results().is_empty();
        let mut outputs = [Val::I32(0)];
        let outputs = &mut outputs[..usize::from(has_result)];
        self.store.data_mut().failure = None;
        self.store.set_fuel(SLICE_FUEL).map_err(trap)?;
        let mut step = function.call_resumable(&mut self.store, inputs, outputs).map_err(trap)?;
        loop {
            step = match step {
                ResumableCall::Finished => break,
                ResumableCall::OutOfFuel(paused) => {
                    pause().map_err(CallError::Cut)?;
                    // Filling much memory is one step that costs more than a slice.
                    self.store.set_fuel(SLICE_FUEL.max(paused.required_fuel())).map_err(trap)?;
                    paused.resume(&mut self.store, outputs).map_err(trap)?
                }
                ResumableCall::HostTrap(trapped) => return Err(trap(trapped.into_host_error())),
            }
        }
        if let Some(failure) = self.store.data_mut().failure.take() {
            return Err(CallError::Failed(failure));
        }
        Ok(match outputs {
            [Val::I32(value)] => Some(Raw::I32(*value)),
            [Val::I64(value)] => Some(Raw::I64(*value)),
            [Val::F32(value)] => Some(Raw::F32((*value).into())),
            [Val::F64(value)] => Some(Raw::F64((*value).into())),
            _ => None,
        })
    }
}

/// Two for each parameter, as those in memory take two.
const INPUTS_MAX: usize = 2 * crate::description::PARAMS_MAX;

/// Why a call broke off, in words.
fn reason(error: &wasmi::Error) -> String {
    use wasmi::TrapCode;
    match error.as_trap_code() {
        Some(TrapCode::UnreachableCodeReached) => "it reached code that must not be reached (a panic?)".to_owned(),
        Some(TrapCode::MemoryOutOfBounds) => "it accessed memory it does not have".to_owned(),
        Some(TrapCode::StackOverflow) => "its calls nest too deeply".to_owned(),
        Some(TrapCode::GrowthOperationLimited) => "it needs more memory than it may have".to_owned(),
        _ => error.to_string(),
    }
}
