//! What a VU remembers of its module instances; `modules` makes them.

use onrush_quickjs_sys as sys;

use crate::embed::Val;

/// One VU's module instances; emptied after init except for what `require` and `import()` may ask for again.
#[derive(Default)]
pub(crate) struct Instances {
    /// By module index.
    pub(super) esm: Vec<Option<Esm>>,
    /// `module` objects of CommonJS modules that have started, by module index.
    pub(super) cjs: Vec<Option<Val>>,
}

/// An ES module's record.
pub(super) struct Esm {
    pub(super) record: *mut sys::JSModuleDef,
    pub(super) evaluated: bool,
}

impl Instances {
    pub(crate) fn clear(&mut self) {
        self.cjs.clear();
        self.esm.clear();
    }
}
