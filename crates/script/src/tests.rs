//! Tests over whole scripts: files in a temporary folder, loaded, and what came out.

mod commonjs;
mod hostile;
mod loading;
mod positions;
mod remote;
mod typescript;
mod writes;

use std::path::PathBuf;

use crate::{CompatibilityMode, Entry, LoadOptions, Module, ModuleKind, Program, ScriptError, Target, load};

/// Files in a folder of their own; the first is the script.
struct Project {
    dir: tempfile::TempDir,
    entry: PathBuf,
}

impl Project {
    fn new(files: &[(&str, &str)]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        for (name, content) in files {
            let path = dir.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, content).unwrap();
        }
        let entry = PathBuf::from(files[0].0);
        Self { dir, entry }
    }

    fn options(&self) -> LoadOptions {
        LoadOptions {
            working_dir: self.dir.path().to_path_buf(),
            compatibility_mode: CompatibilityMode::Extended,
            builtins: &["k6", "k6/crypto", "k6/execution", "k6/http", "k6/metrics"],
            source_bytes_max: 1 << 20,
            archived: None,
            remote: None,
        }
    }

    fn load(&self) -> Result<Program, ScriptError> {
        load(Entry::File(self.entry.clone()), &self.options())
    }

    /// `text` with the folder replaced by `~`.
    fn relative(&self, text: &str) -> String {
        text.replace(self.dir.path().to_str().unwrap(), "~")
    }

    /// The name of a module relative to the folder.
    fn name(&self, module: &Module) -> String {
        self.relative(&module.specifier).replace("file://~/", "")
    }

    /// One line a module: name, kind, and what each request stands for.
    fn graph(&self, program: &Program) -> String {
        let mut out = String::new();
        for module in &program.modules {
            let kind = match module.kind {
                ModuleKind::Esm => "esm",
                ModuleKind::CommonJs => "cjs",
            };
            out.push_str(&format!("{} {kind}", self.name(module)));
            for import in &module.imports {
                let target = match &import.target {
                    Target::Module(index) => self.name(program.module(*index).unwrap()),
                    Target::Builtin(name) => name.clone(),
                    Target::Missing(error) => format!("!{:?}", error.kind),
                };
                out.push_str(&format!(" {:?}:{target}", import.kind));
            }
            out.push('\n');
        }
        out
    }
}

fn loaded(files: &[(&str, &str)]) -> (Project, Program) {
    let project = Project::new(files);
    let program = project.load().unwrap_or_else(|error| panic!("{}", error.render()));
    (project, program)
}

/// Loads one file and returns the result.
fn single(name: &str, source: &str) -> Result<Program, ScriptError> {
    Project::new(&[(name, source)]).load()
}

/// The one line and the frame of the error that loading gives.
fn failure(files: &[(&str, &str)]) -> String {
    let project = Project::new(files);
    let error = project.load().expect_err("loading should fail");
    project.relative(&error.render())
}
