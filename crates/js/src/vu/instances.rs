//! What a VU remembers of its module instances; `modules` makes them.

use onrush_quickjs_sys as sys;

use crate::embed::Val;

/// One VU's module instances; emptied after init, when nothing may ask for them any more.
#[derive(Default)]
pub(crate) struct Instances {
    /// Records by module index. They belong to the VU's VM, which frees those left when it goes.
    pub(super) esm: Vec<Option<*mut sys::JSModuleDef>>,
    /// CommonJS modules that have started, by module index.
    pub(super) cjs: Vec<Option<CommonJs>>,
}

/// A CommonJS module that has started.
#[derive(Clone)]
pub(super) struct CommonJs {
    /// Its `module` object.
    pub(super) module: Val,
    /// What it threw. k6: whoever asks for it again gets the same.
    pub(super) thrown: Option<Val>,
}

impl Instances {
    pub(crate) fn clear(&mut self) {
        self.cjs.clear();
        self.esm.clear();
    }
}
