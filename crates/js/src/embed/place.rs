//! Where script code is.
#![expect(unsafe_code, reason = "calls into QuickJS")]

use onrush_quickjs_sys as sys;

use super::{Atom, Ctx, JsResult, Val};

impl Ctx {
    /// Where the script code that runs is, as a line of the engine's stack: `    at f (file:///x.js:1:2)`. Empty when none runs.
    pub(crate) fn frame(self) -> String {
        let (mut name, mut line, mut column) = (sys::JS_UNDEFINED, 0, 0);
        // SAFETY: the places outlive the call; the references it gives are ours.
        let (file, name) = unsafe {
            let file = sys::onrush_script_place(self.raw(), &mut name, &mut line, &mut column);
            (Atom::from_raw(file), Val::from_raw(name))
        };
        if file.raw() == 0 {
            return String::new();
        }
        let shown = |text: JsResult<String>| {
            text.unwrap_or_else(|_| {
                drop(self.take_exception_value());
                String::new()
            })
        };
        let name = if name.is_string() { shown(name.to_text(self)) } else { String::new() };
        let name = if name.is_empty() { "<anonymous>" } else { &name };
        format!("    at {name} ({}:{line}:{column})", shown(file.text(self)))
    }
}
