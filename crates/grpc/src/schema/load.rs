//! `.proto` files: found among import paths, compiled by protox, whoever reads them.

use std::{cell::RefCell, path::Path, rc::Rc};

use protox::{
    Compiler, Error,
    file::{File, FileResolver, GoogleFileResolver},
};

use super::Schema;

/// Where the text of a file comes from: the disk, or an archive.
pub trait Sources {
    /// The text of a file by its path below the import path with that number; `None` where there is no such file.
    ///
    /// # Errors
    /// Why it cannot be read.
    fn read(&self, import_path: usize, name: &str) -> Result<Option<String>, String>;

    /// How many import paths there are.
    fn import_paths(&self) -> usize;
}

/// Files that cannot be compiled.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LoadError {
    /// One of the files asked for does not exist.
    #[error("{0} does not exist")]
    Missing(String),
    /// `file:line:column: reason`
    #[error("{0}")]
    Invalid(String),
}

impl Schema {
    /// Compiles files and what they import. `google/protobuf/*.proto` are built in.
    ///
    /// # Errors
    /// The first file that is missing or wrong.
    pub fn compile(sources: Rc<dyn Sources>, files: &[String]) -> Result<Self, LoadError> {
        compile(sources, files).map(|compiler| Self::from_pool(&compiler.descriptor_pool()))
    }
}

/// Files and what they import as a serialised `FileDescriptorSet`.
///
/// # Errors
/// As [`Schema::compile`].
pub fn descriptor_set(sources: Rc<dyn Sources>, files: &[String]) -> Result<Vec<u8>, LoadError> {
    compile(sources, files).map(|compiler| compiler.encode_file_descriptor_set())
}

fn compile(sources: Rc<dyn Sources>, files: &[String]) -> Result<Compiler, LoadError> {
    let resolver = Rc::new(Resolver { sources, google: GoogleFileResolver::new(), failed: RefCell::default() });
    let mut compiler = Compiler::with_file_resolver(Shared(Rc::clone(&resolver)));
    compiler.include_imports(true).include_source_info(false);
    for file in files {
        compiler.open_file(Path::new(file)).map_err(|error| resolver.explain(file, &error))?;
    }
    Ok(compiler)
}

struct Resolver {
    sources: Rc<dyn Sources>,
    google: GoogleFileResolver,
    /// Why the last file could not be read.
    failed: RefCell<Option<String>>,
}

struct Shared(Rc<Resolver>);

impl FileResolver for Shared {
    fn open_file(&self, name: &str) -> Result<File, Error> {
        let own = &self.0;
        for import_path in 0..own.sources.import_paths() {
            match own.sources.read(import_path, name) {
                Ok(Some(text)) => return File::from_source(name, &text),
                Ok(None) => {}
                Err(reason) => {
                    own.failed.replace(Some(reason.clone()));
                    return Err(Error::new(reason));
                }
            }
        }
        own.google.open_file(name)
    }
}

impl Resolver {
    fn explain(&self, file: &str, error: &Error) -> LoadError {
        if let Some(reason) = self.failed.take() {
            return LoadError::Invalid(reason);
        }
        let text = format!("{error:?}");
        // A file that was asked for, not an import of one.
        if error.is_file_not_found() && error.file().is_none_or(|missing| missing == file) {
            return LoadError::Missing(file.to_owned());
        }
        LoadError::Invalid(text)
    }
}

/// The schema of a file that is part of this crate; tests have compiled it.
pub(crate) fn built_in(name: &'static str, text: &'static str) -> Schema {
    struct One(&'static str, &'static str);
    impl Sources for One {
        fn read(&self, _: usize, name: &str) -> Result<Option<String>, String> {
            Ok((name == self.0).then(|| self.1.to_owned()))
        }

        fn import_paths(&self) -> usize {
            1
        }
    }
    // A file that does not compile gives no types, and callers say so.
    Schema::compile(Rc::new(One(name, text)), &[name.to_owned()]).unwrap_or_default()
}
