//! WebAssembly among the modules of a script: an ES module is generated for each, so importers need not know.

use std::{path::Path, sync::Arc};

use onrush_extension::Extension;

use super::Loader;
use crate::{
    compile::Compiled,
    error::{ErrorKind, ScriptError},
    facade,
    program::ModuleKind,
    specifier::Unresolved,
};

/// The most extensions of a script.
pub(super) const EXTENSIONS_MAX: usize = 32;

/// Whether a file is one by its name.
pub(super) fn is_extension(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("wasm"))
}

impl Loader<'_> {
    /// A script imports one more.
    pub(super) fn count_extension(&mut self) -> Result<(), Unresolved> {
        self.extensions += 1;
        if self.extensions > EXTENSIONS_MAX {
            return Err(Unresolved::new(
                format!("the script imports more than {EXTENSIONS_MAX} extensions"),
                "build some of them into one module",
            ));
        }
        Ok(())
    }

    pub(super) fn extension(&mut self, index: usize, bytes: Arc<[u8]>) {
        let draft = &mut self.drafts[index];
        draft.outcome = match Extension::load(bytes) {
            Ok(extension) => {
                let names = extension.functions().iter().map(|function| function.name.as_str());
                let code = facade::of_extension(&draft.specifier, names);
                draft.extension = Some(Arc::new(extension));
                Ok(Compiled { code, ..Compiled::generated(ModuleKind::Esm) })
            }
            Err(error) => {
                let message = format!("the extension {error}");
                Err(ScriptError::new(ErrorKind::Extension, &draft.specifier, message))
            }
        };
    }
}
