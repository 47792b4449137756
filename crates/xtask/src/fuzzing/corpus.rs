//! The inputs mutations start from: one file each in `fuzz/corpus/<target>/`.

use std::{fs, io, path::Path};

/// Inputs in a fixed order, so that a seed means the same everywhere.
#[derive(Debug, Clone)]
pub struct Corpus {
    inputs: Vec<Vec<u8>>,
}

impl Corpus {
    /// These inputs.
    pub fn new(inputs: Vec<Vec<u8>>) -> Self {
        Self { inputs }
    }

    /// The files of `fuzz/corpus/<name>` in the order of their names.
    ///
    /// # Errors
    /// When the folder or a file cannot be read, or there is none.
    pub fn read(fuzz: &Path, name: &str) -> io::Result<Self> {
        let folder = fuzz.join("corpus").join(name);
        let mut paths = Vec::new();
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            if entry.file_type()?.is_file() {
                paths.push(entry.path());
            }
        }
        paths.sort();
        if paths.is_empty() {
            return Err(io::Error::new(io::ErrorKind::NotFound, format!("{} holds no files", folder.display())));
        }
        let inputs = paths.iter().map(fs::read).collect::<io::Result<_>>()?;
        Ok(Self { inputs })
    }

    /// All inputs.
    pub fn inputs(&self) -> &[Vec<u8>] {
        &self.inputs
    }
}
