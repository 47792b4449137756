//! Outputs that are a file, written when the run is over.

use std::path::{Path, PathBuf};

use super::{
    asked::Asked,
    output::{Finished, Output, Started, Starting, Wish},
};
use crate::{failure::Failure, save::save};

/// One of them, wanted or, as nothing is written before the end, of a run under way.
#[derive(Clone)]
struct AtEnd {
    name: &'static str,
    /// What it is, for people.
    about: &'static str,
    path: PathBuf,
    content: fn(&Finished<'_>) -> Vec<u8>,
}

/// `name=FILE`.
///
/// # Errors
/// 255 for standard output.
pub(super) fn read(
    asked: &Asked<'_>,
    default: &str,
    about: &'static str,
    content: fn(&Finished<'_>) -> Vec<u8>,
) -> Result<Wish, Failure> {
    let path = asked.file(default)?;
    Ok(Wish::Folded(Box::new(AtEnd { name: asked.name, about, path, content })))
}

impl Output for AtEnd {
    fn described(&self) -> String {
        format!("{} ({})", self.name, self.path.display())
    }

    fn file(&self) -> Option<&Path> {
        Some(&self.path)
    }

    fn is_of_the_end(&self) -> bool {
        true
    }

    fn start(&self, _: &Starting<'_>) -> Result<Box<dyn Started>, Failure> {
        Ok(Box::new(self.clone()))
    }
}

impl Started for AtEnd {
    fn finish(self: Box<Self>, finished: &Finished<'_>) -> bool {
        let saved = save(&self.path.to_string_lossy(), (self.content)(finished));
        if let Err(error) = &saved {
            finished.cx.logger.error(format!("could not write the {} {}: {error}", self.about, self.path.display()));
        }
        saved.is_ok()
    }
}
