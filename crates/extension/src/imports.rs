//! What extensions may import: a log, the time, random bytes, and the way to fail.

use wasmi::{Caller, Engine, Extern, Linker};

use crate::instance::State;

/// What an extension reaches of the world around it.
pub trait Host: 'static {
    /// It has something to say.
    fn log(&mut self, level: LogLevel, text: &str);

    /// Milliseconds since the epoch.
    fn now_ms(&mut self) -> f64;

    /// Fills `into` with random bytes. False if there are none.
    fn random(&mut self, into: &mut [u8]) -> bool;
}

/// Severity of a line an extension logs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogLevel {
    /// 0
    Debug,
    /// 1
    Info,
    /// 2
    Warn,
    /// 3 and above
    Error,
}

/// The module they are imported from.
pub(crate) const MODULE: &str = "onrush";

/// The functions of [`MODULE`].
pub(crate) const NAMES: [&str; 4] = ["fail", "log", "now", "random"];

/// The longest text an extension may log or fail with, and the most random bytes at once.
const BYTES_MAX: usize = 64 << 10;

pub(crate) fn linker<H: Host>(engine: &Engine) -> Result<Linker<State<H>>, wasmi::Error> {
    let mut linker = Linker::new(engine);
    // The call under way throws this text when it returns.
    linker.func_wrap(MODULE, "fail", |mut caller: Caller<'_, State<H>>, at: u32, length: u32| {
        let text = text(&caller, at, length)?;
        caller.data_mut().failure = Some(text);
        Ok::<(), wasmi::Error>(())
    })?;
    linker.func_wrap(MODULE, "log", |mut caller: Caller<'_, State<H>>, level: i32, at: u32, length: u32| {
        let level = match level {
            ..=0 => LogLevel::Debug,
            1 => LogLevel::Info,
            2 => LogLevel::Warn,
            _ => LogLevel::Error,
        };
        let text = text(&caller, at, length)?;
        caller.data_mut().host.log(level, &text);
        Ok::<(), wasmi::Error>(())
    })?;
    linker.func_wrap(MODULE, "now", |mut caller: Caller<'_, State<H>>| caller.data_mut().host.now_ms())?;
    linker.func_wrap(MODULE, "random", |mut caller: Caller<'_, State<H>>, at: u32, length: u32| {
        let Some(Extern::Memory(memory)) = caller.get_export("memory") else { return Err(without_memory("random")) };
        let (bytes, state) = memory.data_and_store_mut(&mut caller);
        let into = range(bytes.len(), at, length, "random")?;
        if state.host.random(&mut bytes[into]) {
            Ok(())
        } else {
            Err(wasmi::Error::new("the system has no randomness"))
        }
    })?;
    Ok(linker)
}

fn text<H: Host>(caller: &Caller<'_, State<H>>, at: u32, length: u32) -> Result<String, wasmi::Error> {
    let Some(Extern::Memory(memory)) = caller.get_export("memory") else { return Err(without_memory("a text")) };
    let bytes = memory.data(caller);
    let range = range(bytes.len(), at, length, "a text")?;
    Ok(String::from_utf8_lossy(&bytes[range]).into_owned())
}

fn range(size: usize, at: u32, length: u32, what: &str) -> Result<std::ops::Range<usize>, wasmi::Error> {
    let (at, length) = (at as usize, length as usize);
    if length > BYTES_MAX {
        return Err(wasmi::Error::new(format!("{what} of {length} bytes: at most {BYTES_MAX} are taken at once")));
    }
    match at.checked_add(length) {
        Some(end) if end <= size => Ok(at..end),
        _ => Err(wasmi::Error::new(format!("{what} at {at}, {length} bytes long, is not within the memory"))),
    }
}

fn without_memory(what: &str) -> wasmi::Error {
    wasmi::Error::new(format!("{what} lies in memory, which the extension does not export as \"memory\""))
}
